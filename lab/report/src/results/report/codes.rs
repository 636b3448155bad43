//! Times as a page's script reads them: two letters a number.
//!
//! A code is one of 4,096: 0 is no value, the others are equal ratios from the shortest time of the page to the longest. Over nine powers
//! of ten a step is 0.5 %, so that a time is at most 0.25 % off. `assets/report/base.js` reads them.

/// What stands for six bits.
const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
/// The highest code.
const LAST: u16 = 4_095;

/// The times that the codes of a page are between.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Codes {
    /// The time of code 1, ns.
    pub(super) least: f64,
    /// The time of the highest code, ns.
    pub(super) most: f64,
}

impl Codes {
    /// For times of these.
    pub(super) fn over(times: impl Iterator<Item = f64>) -> Codes {
        let (mut least, mut most) = (f64::INFINITY, 1.0f64);
        for time in times {
            (least, most) = (least.min(time.max(1.0)), most.max(time));
        }
        Codes { least: least.min(most), most }
    }

    /// The code of a time.
    fn code(self, time: Option<f64>) -> u16 {
        let Some(time) = time else { return 0 };
        let ratio = libm::log(self.most / self.least);
        if ratio <= 0.0 {
            return 1;
        }
        let part = libm::log(time.max(self.least) / self.least) / ratio;
        1 + ((f64::from(LAST) - 1.0) * part.min(1.0)).round() as u16
    }

    /// Times as text.
    pub(super) fn text(self, times: impl Iterator<Item = Option<f64>>) -> String {
        let letters = times.flat_map(|time| {
            let code = self.code(time);
            [code >> 6, code & 63].map(|six| char::from(LETTERS[usize::from(six)]))
        });
        letters.collect()
    }

    /// The times of a text.
    #[cfg(test)]
    pub(super) fn times(self, text: &str) -> Vec<Option<f64>> {
        let six = |letter: u8| LETTERS.iter().position(|&own| own == letter).unwrap() as f64;
        let pairs = text.as_bytes().chunks_exact(2).map(|pair| 64.0 * six(pair[0]) + six(pair[1]));
        let time = |code: f64| self.least * (self.most / self.least).powf((code - 1.0) / (f64::from(LAST) - 1.0));
        pairs.map(|code| (code > 0.0).then(|| time(code))).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_decode_to_their_times_and_absent_times_stay_absent() {
        let times = [Some(1_000.0), None, Some(1_003.0), Some(77_777.0), Some(1e12)];
        let codes = Codes::over(times.iter().flatten().copied());
        let text = codes.text(times.into_iter());
        assert_eq!((text.len(), &text[2..4], &text[8..]), (10, "AA", "//"));
        for (back, time) in codes.times(&text).into_iter().zip(times) {
            assert_eq!(back.is_some(), time.is_some());
            let (back, time) = (back.unwrap_or(1.0), time.unwrap_or(1.0));
            assert!((back / time - 1.0).abs() < 0.0026, "{back} for {time}");
        }
    }

    #[test]
    fn one_time_or_none_is_no_special_case() {
        let one = Codes::over([500.0].into_iter());
        assert_eq!(one.times(&one.text([Some(500.0), None].into_iter())), [Some(500.0), None]);
        let none = Codes::over(std::iter::empty());
        assert_eq!((none.least, none.most, none.text(std::iter::empty())), (1.0, 1.0, String::new()));
        assert_eq!(Codes::over([0.0].into_iter()), none, "a time of nothing is the shortest");
    }
}
