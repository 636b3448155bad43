//! Text from outside (names of files, flows and devices, keys, lines of traces) made safe to print on a terminal.
//!
//! Owns which characters are printed as escapes: control characters, which a terminal obeys, and those that are
//! invisible or reorder the text around them. Promises one line for one line. Files contain names unchanged; only
//! printing escapes them.

use std::borrow::Cow;
use std::fmt::Write;
use std::path::Path;

/// The characters of a name or value that a message shows.
const SHORT: usize = 60;

/// `text` on one line: line breaks are escaped too, as `\n`.
pub fn escaped(text: &str) -> Cow<'_, str> {
    if text.chars().all(is_plain) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        match c {
            c if is_plain(c) => shown.push(c),
            '\n' | '\r' | '\t' => shown.extend(c.escape_default()),
            c => shown.extend(c.escape_unicode()),
        }
    }
    Cow::Owned(shown)
}

/// `text` on one line, and of a long one its first [`SHORT`] characters and how many there are.
pub fn short(text: &str) -> String {
    match text.char_indices().nth(SHORT) {
        Some((end, _)) => format!("{}... ({})", escaped(&text[..end]), counted(text.chars().count(), "character")),
        None => escaped(text).into_owned(),
    }
}

/// Escapes a text but keeps its line breaks.
pub fn escaped_lines(text: &str) -> Cow<'_, str> {
    if text.chars().all(|c| c == '\n' || is_plain(c)) {
        return Cow::Borrowed(text);
    }
    Cow::Owned(text.split('\n').map(escaped).collect::<Vec<_>>().join("\n"))
}

/// A path, with bytes that are not UTF-8 as `\xFF`.
pub fn path(path: &Path) -> String {
    bytes(path.as_os_str().as_encoded_bytes())
}

/// Bytes that are meant to be UTF-8, those that are not as `\xFF`.
pub fn bytes(bytes: &[u8]) -> String {
    let mut shown = String::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        shown.push_str(&escaped(chunk.valid()));
        for byte in chunk.invalid() {
            let _ = write!(shown, "\\x{byte:02X}");
        }
    }
    shown
}

/// JSON with the same characters written as JSON escapes: a reader gets the same data.
pub fn escaped_json(json: &str) -> Cow<'_, str> {
    if json.chars().all(|c| c == '\n' || is_plain(c)) {
        return Cow::Borrowed(json);
    }
    let mut shown = String::with_capacity(json.len() + 16);
    for c in json.chars() {
        if c == '\n' || is_plain(c) {
            shown.push(c);
        } else {
            for unit in c.encode_utf16(&mut [0; 2]) {
                let _ = write!(shown, "\\u{unit:04x}");
            }
        }
    }
    Cow::Owned(shown)
}

/// Whether a character is visible and has no other effect. The standard library's `Debug` knows which characters are
/// invisible; it is asked about the character behind a letter, where a combining mark (of a decomposed umlaut) is
/// visible.
pub fn is_plain(c: char) -> bool {
    // Letters and marks by category, yet invisible.
    const UNSEEN: [char; 8] =
        ['\u{34f}', '\u{115f}', '\u{1160}', '\u{17b4}', '\u{17b5}', '\u{3164}', '\u{ffa0}', '\u{180b}'];
    if c.is_ascii() {
        return !c.is_ascii_control();
    }
    let selector = ('\u{e0100}'..='\u{e01ef}').contains(&c) || ('\u{180c}'..='\u{180f}').contains(&c);
    if selector || UNSEEN.contains(&c) {
        return false;
    }
    let mut buffer = [b'a', 0, 0, 0, 0];
    let length = 1 + c.encode_utf8(&mut buffer[1..]).len();
    std::str::from_utf8(&buffer[..length]).is_ok_and(|text| text.escape_debug().nth(1) == Some(c))
}

/// A number of things in words: `1 request`, `2 requests`.
pub fn counted(count: impl TryInto<u64>, thing: &str) -> String {
    match count.try_into() {
        Ok(1) => format!("1 {thing}"),
        Ok(count) => format!("{count} {thing}s"),
        Err(_) => format!("many {thing}s"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_thing_has_no_s() {
        assert_eq!([0u64, 1, 2].map(|n| counted(n, "request")), ["0 requests", "1 request", "2 requests"]);
        assert_eq!(counted([7].len(), "flow"), "1 flow");
    }

    #[test]
    fn what_is_seen_stays() {
        for text in ["plain \\ 'quotes' \"\"", "Δ mean 24.31 µs ± 2 §5.5 —", "größe", "gro\u{308}ße", "日本語", "🚀"]
        {
            assert!(matches!(escaped(text), Cow::Borrowed(same) if same == text), "{text}");
        }
    }

    #[test]
    fn what_acts_or_hides_is_escaped() {
        for (text, shown) in [
            ("\x1b[2Jgone", "\\u{1b}[2Jgone"),
            ("a\nerror: b\r\t", "a\\nerror: b\\r\\t"),
            ("\u{9b}31m", "\\u{9b}31m"),
            ("a\u{202e}b\u{2066}c\u{200f}", "a\\u{202e}b\\u{2066}c\\u{200f}"),
            ("zero\u{200b}width\u{feff}\u{ad}", "zero\\u{200b}width\\u{feff}\\u{ad}"),
            ("tag\u{e0041} filler\u{3164} line\u{2028}", "tag\\u{e0041} filler\\u{3164} line\\u{2028}"),
            ("\0\x7f", "\\u{0}\\u{7f}"),
        ] {
            assert_eq!(escaped(text), shown);
        }
        assert_eq!(escaped_lines("a\n\x1bb\n"), "a\n\\u{1b}b\n");
        assert_eq!(bytes(b"b\xffd\n.csv"), "b\\xFFd\\n.csv");
    }

    #[test]
    fn escaped_json_is_the_same_data() {
        let data = serde_json::json!({ "name": "a\u{9b}\u{202e}\u{e0041}\n\x1b" });
        let json = escaped_json(&format!("{data:#}")).into_owned();
        assert!(json.chars().all(|c| c == '\n' || is_plain(c)), "{json}");
        assert_eq!(serde_json::from_str::<serde_json::Value>(&json).unwrap(), data);
    }
}
