//! What a condition multiplies, as it is written.
//!
//! Owns just enough of the expressions' grammar to find the two operands of every `*`: names, numbers, texts and what stands in
//! brackets, with the keys, calls and filters behind them. Knows no values.

use std::ops::Range;

/// Words that no value ends with.
const OPERATORS: [&str; 7] = ["and", "or", "not", "in", "is", "if", "else"];

/// The operands of the products in `text`, the shortest first: one that contains a product comes behind that product's own.
pub(super) fn factors(text: &str) -> Vec<String> {
    let tokens = tokens(text);
    let word = |at: usize| &text[tokens[at].clone()];
    let products = (0..tokens.len()).filter(|at| word(*at) == "*");
    let operands = products.flat_map(|at| [before(at, &word), after(at, tokens.len(), &word)]).flatten();
    let mut found: Vec<String> =
        operands.map(|of| text[tokens[of.start].start..tokens[of.end - 1].end].to_owned()).collect();
    found.sort_by(|a, b| (a.len(), a).cmp(&(b.len(), b)));
    found.dedup();
    found
}

/// Names and numbers, texts with their quotes, `**`, and every other sign by itself.
fn tokens(text: &str) -> Vec<Range<usize>> {
    let in_word = |c: char| c.is_alphanumeric() || c == '_';
    let mut tokens = Vec::new();
    let mut rest = text.char_indices().peekable();
    while let Some((start, first)) = rest.next() {
        let mut end = start + first.len_utf8();
        if first.is_whitespace() {
            continue;
        }
        if first == '\'' || first == '"' {
            let mut escaped = false;
            for (at, c) in rest.by_ref() {
                end = at + c.len_utf8();
                if c == first && !escaped {
                    break;
                }
                escaped = c == '\\' && !escaped;
            }
        }
        let goes_on = |c: char| in_word(first) && in_word(c) || first == '*' && c == '*';
        while let Some((at, c)) = rest.next_if(|(_, c)| goes_on(*c)) {
            end = at + c.len_utf8();
        }
        tokens.push(start..end);
    }
    tokens
}

/// Whether a value may end with this token.
fn ends_value(word: &str) -> bool {
    let sign = !word.starts_with(|c: char| c.is_alphanumeric() || matches!(c, '_' | '\'' | '"'));
    if sign { matches!(word, ")" | "]" | "}") } else { !OPERATORS.contains(&word) }
}

/// The tokens of the operand in front of the `*` at `star`.
fn before<'a>(star: usize, word: &dyn Fn(usize) -> &'a str) -> Option<Range<usize>> {
    let mut first = star;
    loop {
        let mut at = first.checked_sub(1).filter(|at| ends_value(word(*at)))?;
        if matches!(word(at), ")" | "]" | "}") {
            let mut depth = 0;
            loop {
                depth += matches!(word(at), ")" | "]" | "}") as usize;
                depth -= matches!(word(at), "(" | "[" | "{") as usize;
                if depth == 0 {
                    break;
                }
                at = at.checked_sub(1)?;
            }
            first = at;
            // A call, or a place in what stands in front.
            if at > 0 && ends_value(word(at - 1)) {
                continue;
            }
            return Some(first..star);
        }
        first = at;
        match at.checked_sub(1).filter(|at| matches!(word(*at), "." | "|")) {
            Some(link) => first = link,
            None => return Some(first..star),
        }
    }
}

/// The tokens of the operand behind the `*` at `star`, of `count` in all.
fn after<'a>(star: usize, count: usize, word: &dyn Fn(usize) -> &'a str) -> Option<Range<usize>> {
    let word = |at: usize| if at < count { word(at) } else { "" };
    let mut end = star + 1;
    while matches!(word(end), "-" | "+") {
        end += 1;
    }
    let first = end;
    loop {
        match word(end) {
            "(" | "[" | "{" => {
                let mut depth = 0;
                loop {
                    depth += matches!(word(end), "(" | "[" | "{") as usize;
                    depth -= matches!(word(end), ")" | "]" | "}") as usize;
                    end += 1;
                    if depth == 0 {
                        break;
                    }
                    if end >= count {
                        return None;
                    }
                }
            }
            "." | "|" if end > first => end += 2,
            other if end == first && ends_value(other) => end += 1,
            _ => break,
        }
    }
    (end > first && end <= count).then_some(star + 1..end)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operands_are_whole() {
        for (text, operands) in [
            ("a*b", &["a", "b"][..]),
            ("x + a.b[0]['c'].d|max * -(1 + f(2)).e < 3", &["-(1 + f(2)).e", "a.b[0]['c'].d|max"]),
            ("not a * 2 and 'x*y' == 1", &["2", "a"]),
            ("not ('a') * 2 ** 3", &["2", "('a')"]),
            ("2 ** 3", &[]),
            ("1 if seed else [1, (2)]|max(3)|int * 2", &["2", "[1, (2)]|max(3)|int"]),
            ("1 * (2 * (3))", &["1", "2", "(3)", "(2 * (3))"]),
            ("* 2) * (", &["2"]),
            ("'a", &[]),
            ("", &[]),
        ] {
            let mut wanted = operands.to_vec();
            wanted.sort_by_key(|operand| (operand.len(), *operand));
            assert_eq!(factors(text), wanted, "{text}");
        }
    }
}
