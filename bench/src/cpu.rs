//! CPU time of processes that this one starts.

use std::fs;

/// CPU time of all processes that this one has started and that have ended, in seconds; whole ticks of the clock.
///
/// # Errors
/// A system that does not say.
pub fn seconds_of_children() -> Result<f64, String> {
    let stat = fs::read_to_string("/proc/self/stat").map_err(|e| format!("/proc/self/stat: {e}"))?;
    let ticks = ticks(&stat).ok_or_else(|| format!("/proc/self/stat has no times of children: {stat:?}"))?;
    Ok(ticks as f64 / rustix::param::clock_ticks_per_second() as f64)
}

/// `cutime` and `cstime`: the 16th and the 17th field, the second being a name in brackets (proc(5)).
fn ticks(stat: &str) -> Option<u64> {
    let (_, rest) = stat.rsplit_once(") ")?;
    let mut fields = rest.split(' ').skip(13);
    let (user, system): (u64, u64) = (fields.next()?.parse().ok()?, fields.next()?.parse().ok()?);
    Some(user + system)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_of_children_is_the_sum_of_two_fields() {
        let stat = "12 (a ) b) S 1 2 3 4 5 6 7 8 9 10 11 12 300 45 20 0 1 0 99 1000 200";
        assert_eq!(ticks(stat), Some(345));
        assert_eq!(ticks("12 (name) S 1 2"), None);
    }
}
