//! A TOML text without one of its tables, in which every other line keeps its number.

use std::ops::Range;

use toml::Spanned;
use toml::de::DeValue;

/// A text from which lines are removed without moving the others.
pub(super) struct MaskedToml<'a> {
    text: &'a str,
    gone: Vec<Range<usize>>,
}

impl MaskedToml<'_> {
    /// All of `text`.
    pub fn new(text: &str) -> MaskedToml<'_> {
        MaskedToml { text, gone: Vec::new() }
    }

    /// Removes the lines that `span` touches.
    pub fn remove(&mut self, span: Range<usize>) {
        self.gone.push(span);
    }

    /// Removes a value with everything below it.
    pub fn remove_all(&mut self, value: &Spanned<DeValue<'_>>) {
        self.remove(value.span());
        if let DeValue::Table(table) = value.get_ref() {
            for (key, value) in table {
                self.remove(key.span());
                self.remove_all(value);
            }
        }
    }

    /// What is left.
    pub fn text(mut self) -> String {
        self.gone.sort_by_key(|span| span.start);
        let mut text = String::with_capacity(self.text.len());
        let mut spans = self.gone.iter().peekable();
        // The first byte behind all spans so far.
        let mut behind = 0;
        let mut at = 0;
        for line in self.text.split_inclusive('\n') {
            let (start, end) = (at, at + line.len());
            at = end;
            while let Some(span) = spans.next_if(|span| span.start < end) {
                behind = behind.max(span.end).max(span.start + 1);
            }
            text.push_str(if start >= behind {
                line
            } else if line.ends_with('\n') {
                "\n"
            } else {
                ""
            });
        }
        text
    }
}
