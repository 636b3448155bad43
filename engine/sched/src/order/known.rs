//! Response times known beforehand: what each page of each request took in an earlier run of the same arrivals. With
//! them eq. 8 needs no estimate; the control shows what perfect estimates would be worth.

use alloc::vec::Vec;

use flashlane_core::{Duration, Lpn, RequestId};

/// Response times by request and page, from a page's transaction joining its queue to its end.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct KnownResponses {
    /// Sorted by request, then page; a page a request names twice has its longer time last.
    times: Vec<(RequestId, Lpn, Duration)>,
    /// Where each request begins in `times`, one more at the end.
    starts: Vec<u32>,
}

impl KnownResponses {
    /// A table of these, in any order.
    pub fn new(mut times: Vec<(RequestId, Lpn, Duration)>) -> KnownResponses {
        times.sort_unstable();
        let requests = times.last().map_or(0, |&(request, ..)| request.0 as usize + 1);
        let mut starts = Vec::with_capacity(requests + 1);
        for (i, &(request, ..)) in times.iter().enumerate() {
            starts.resize(starts.len().max(request.0 as usize + 1), i as u32);
        }
        starts.push(times.len() as u32);
        KnownResponses { times, starts }
    }

    /// How long this page of this request took; `None` if it was not served by the flash then.
    pub fn of(&self, request: RequestId, lpn: Lpn) -> Option<Duration> {
        let from = *self.starts.get(request.0 as usize)?;
        let to = *self.starts.get(request.0 as usize + 1)?;
        let pages = &self.times[from as usize..to as usize];
        let end = pages.partition_point(|&(_, page, _)| page <= lpn);
        pages[..end].last().filter(|&&(_, page, _)| page == lpn).map(|&(.., time)| time)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec;

    #[test]
    fn by_request_and_page() {
        let entry = |request, page, ns| (RequestId(request), Lpn(page), Duration::from_ns(ns));
        let table = KnownResponses::new(vec![
            entry(3, 7, 30),
            entry(0, 5, 10),
            entry(0, 4, 11),
            entry(3, 7, 40),
            entry(1, 9, 2),
        ]);
        let of = |request, page| table.of(RequestId(request), Lpn(page)).map(Duration::ns);
        assert_eq!((of(0, 4), of(0, 5), of(0, 6)), (Some(11), Some(10), None));
        assert_eq!((of(1, 9), of(1, 5), of(2, 9)), (Some(2), None, None));
        assert_eq!((of(3, 7), of(4, 7)), (Some(40), None));
        assert_eq!(KnownResponses::default().of(RequestId(0), Lpn(0)), None);
    }
}
