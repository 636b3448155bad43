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
        for (request, page, time, rule) in [
            (0, 4, Some(11), "a page has the time it took in its request"),
            (0, 5, Some(10), "a page has the time it took in its request"),
            (0, 6, None, "a page that its request did not name has none"),
            (1, 9, Some(2), "a page has the time it took in its request"),
            (1, 5, None, "a page that another request named has none"),
            (2, 9, None, "a request without a page has none"),
            (3, 7, Some(40), "a page that a request names twice has its longer time"),
            (4, 7, None, "a request behind the last has none"),
        ] {
            let known = table.of(RequestId(request), Lpn(page)).map(Duration::ns);
            assert_eq!(known, time, "{rule}: page {page} of request {request}");
        }
        assert_eq!(KnownResponses::default().of(RequestId(0), Lpn(0)), None, "an empty table knows nothing");
    }
}
