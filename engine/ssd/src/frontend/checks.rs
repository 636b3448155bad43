//! Checks of submitted requests: which pages a request touches, and whether the device can serve it.

use flashlane_core::{Divisor, Extent, FlowId, Lpn, Op};

use crate::config::Config;

/// Why the device refuses a request.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Refusal {
    /// It reaches past the last logical page.
    BeyondDrive {
        /// Pages the drive has.
        pages: u32,
    },
    /// It has no bytes or pages.
    Empty,
    /// It is a flush of a part of the drive.
    FlushOfPart,
    /// Its flow is not configured.
    UnknownFlow,
}

/// What a request touches: its first page, the number of pages, the bytes of the first page before the request begins (`skip`),
/// and the bytes in total.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shape {
    pub(crate) first: Lpn,
    pub(crate) pages: u32,
    pub(crate) skip: u32,
    pub(crate) bytes: u64,
}

/// The limits that requests are checked against.
#[derive(Debug)]
pub(crate) struct RequestValidator {
    page_bytes: u32,
    page_size: Divisor,
    logical_pages: u32,
    flows: usize,
}

impl RequestValidator {
    /// The limits of `config`.
    pub(super) fn new(config: &Config) -> RequestValidator {
        RequestValidator {
            page_bytes: config.geometry.page_bytes,
            page_size: Divisor::new(config.geometry.page_bytes),
            logical_pages: config.ftl.logical_pages,
            flows: config.flows.len(),
        }
    }

    /// What a request of `flow` touches.
    ///
    /// # Errors
    /// A request that the device could not serve.
    #[inline(always)]
    pub(crate) fn check(&self, flow: FlowId, op: Op, extent: &Extent<'_>) -> Result<Shape, Refusal> {
        let shape = match *extent {
            _ if !op.is_data() => self.without_data(op, extent)?,
            Extent::Bytes { offset, length } => self.bytes(offset, length)?,
            Extent::Pages(list) => self.pages(list)?,
        };
        if flow.index() < self.flows { Ok(shape) } else { Err(Refusal::UnknownFlow) }
    }

    /// What a request for consecutive bytes touches.
    #[inline(always)]
    fn bytes(&self, offset: u64, length: u64) -> Result<Shape, Refusal> {
        if length == 0 {
            return Err(Refusal::Empty);
        }
        let page = u64::from(self.page_bytes);
        let beyond = Refusal::BeyondDrive { pages: self.logical_pages };
        let end = offset.checked_add(length).ok_or(beyond)?;
        if end > u64::from(self.logical_pages) * page {
            return Err(beyond);
        }
        let (first, skip) = self.page_size.split(offset);
        let pages = self.page_size.quotient(skip + length + page - 1);
        Ok(Shape { first: Lpn(first as u32), pages: pages as u32, skip: skip as u32, bytes: length })
    }

    /// What a request without data touches: of a trim the whole pages inside its range.
    #[cold]
    fn without_data(&self, op: Op, extent: &Extent<'_>) -> Result<Shape, Refusal> {
        match *extent {
            Extent::Bytes { offset: 0, length: 0 } if op == Op::Flush => {
                Ok(Shape { first: Lpn(0), pages: 0, skip: 0, bytes: 0 })
            }
            _ if op == Op::Flush => Err(Refusal::FlushOfPart),
            Extent::Pages(list) => self.pages(list),
            Extent::Bytes { offset, length } => {
                let touched = self.bytes(offset, length)?;
                let page = u64::from(self.page_bytes);
                let (first, end) = (offset.div_ceil(page), (offset + length) / page);
                let pages = end.saturating_sub(first) as u32;
                Ok(Shape {
                    first: Lpn(if pages > 0 { first as u32 } else { touched.first.0 }),
                    pages,
                    skip: 0,
                    ..touched
                })
            }
        }
    }

    /// What a request for a list of whole pages touches.
    #[cold]
    fn pages(&self, list: &[Lpn]) -> Result<Shape, Refusal> {
        let Some(&first) = list.first() else { return Err(Refusal::Empty) };
        if list.iter().any(|lpn| lpn.0 >= self.logical_pages) {
            return Err(Refusal::BeyondDrive { pages: self.logical_pages });
        }
        let bytes = list.len() as u64 * u64::from(self.page_bytes);
        Ok(Shape { first, pages: list.len() as u32, skip: 0, bytes })
    }

    /// The page that contains byte `offset`.
    #[inline]
    pub(crate) fn page_at(&self, offset: u64) -> Lpn {
        Lpn(self.page_size.quotient(offset) as u32)
    }
}
