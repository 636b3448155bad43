//! A mutant: one small change of the source, and how it is written into the copy beside the original.
//!
//! Every change becomes code that asks, when it runs, whether this mutant is the one switched on, and does what the
//! original does otherwise. So one build holds many mutants, and they may lie inside one another: inside the changed
//! text of one there are no others, for only one is ever on.

use std::fmt::Write as _;
use std::ops::Range;

use crate::tidy::repo::crate_of;

/// What kind of change it is.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Kind {
    /// `<` for `<=`, `>` for `>=`, and back.
    Boundary,
    /// `==` for `!=`, and back.
    Equality,
    /// `&&` for `||`, `&` for `|`, `any` for `all`, and back.
    Logic,
    /// The condition of an `if` turned round.
    Condition,
    /// A `!` left out.
    Negation,
    /// `+` for `-`, and back, with assignment too.
    Arithmetic,
    /// The second operand of a sum or a difference left out.
    Operand,
    /// A whole number by one.
    Literal,
    /// The least for the greatest, and back.
    Extreme,
    /// A statement left out: a call or an assignment.
    Statement,
    /// A function that returns at once: `true`, `false`, `None` or nothing.
    Body,
    /// A match arm without its guard.
    Guard,
}

impl Kind {
    /// All kinds.
    pub const ALL: [Kind; 12] = [
        Kind::Boundary,
        Kind::Equality,
        Kind::Logic,
        Kind::Condition,
        Kind::Negation,
        Kind::Arithmetic,
        Kind::Operand,
        Kind::Literal,
        Kind::Extreme,
        Kind::Statement,
        Kind::Body,
        Kind::Guard,
    ];

    /// What tables and `--only` call it.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Boundary => "boundary",
            Kind::Equality => "equality",
            Kind::Logic => "logic",
            Kind::Condition => "condition",
            Kind::Negation => "negation",
            Kind::Arithmetic => "arithmetic",
            Kind::Operand => "operand",
            Kind::Literal => "literal",
            Kind::Extreme => "extreme",
            Kind::Statement => "statement",
            Kind::Body => "body",
            Kind::Guard => "guard",
        }
    }
}

/// How a change stands in the source.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Form {
    /// Another expression.
    Instead(String),
    /// A statement that is not executed.
    Skip,
    /// A condition turned round.
    Negate,
    /// A condition that always holds.
    Always,
    /// At the head of a function body: this statement.
    First(String),
}

/// A change of the source.
#[derive(Clone, Debug)]
pub struct Mutant {
    /// A name that stays while the code around it changes.
    pub id: String,
    /// Its kind.
    pub kind: Kind,
    /// The file, from the top of the repository.
    pub file: String,
    /// The line, counted from 1.
    pub line: usize,
    /// The function, with its type.
    pub function: String,
    /// The original text, in one line.
    pub from: String,
    /// What stands there instead.
    pub to: String,
    /// The bytes it takes the place of.
    pub range: Range<usize>,
    /// How it is written.
    pub form: Form,
}

impl Mutant {
    /// The name of the crate's folder.
    pub fn krate(&self) -> &str {
        crate_of(&self.file).unwrap_or_default()
    }

    /// File, line, and what becomes what.
    pub fn description(&self) -> String {
        format!("{}:{} {} in {}: {} -> {}", self.file, self.line, self.kind.name(), self.function, self.from, self.to)
    }
}

/// A file with mutants in it.
pub struct Rendered {
    /// The text.
    pub text: String,
    /// Where in it each mutant lies, original and changed text together.
    pub places: Vec<Range<usize>>,
}

/// Writes mutants into the text of their file. `active` is the path of the function that says which is on; each mutant
/// comes with its number.
pub fn render(text: &str, mutants: &[(u32, &Mutant)], active: &str) -> Rendered {
    let mut order: Vec<usize> = (0..mutants.len()).collect();
    let range = |i: usize| &mutants[i].1.range;
    // The outer before the inner.
    order.sort_by_key(|&i| (range(i).start, std::cmp::Reverse(range(i).end), i));
    let mut out = Rendered { text: String::with_capacity(text.len() * 2), places: vec![0..0; mutants.len()] };
    let mut open: Vec<usize> = Vec::new();
    let mut at = 0;
    for i in order {
        while let Some(&outer) = open.last().filter(|&&outer| range(outer).end <= range(i).start) {
            out.close(&text[at..range(outer).end], outer, &mutants[outer].1.form);
            at = range(outer).end;
            open.pop();
        }
        out.text.push_str(&text[at..range(i).start]);
        at = range(i).start;
        out.places[i].start = out.text.len();
        out.open(&format!("{active}({})", mutants[i].0), &mutants[i].1.form);
        open.push(i);
    }
    while let Some(outer) = open.pop() {
        out.close(&text[at..range(outer).end], outer, &mutants[outer].1.form);
        at = range(outer).end;
    }
    out.text.push_str(&text[at..]);
    out
}

impl Rendered {
    fn open(&mut self, on: &str, form: &Form) {
        let _ = match form {
            Form::Instead(changed) => write!(self.text, "(if {on} {{ {changed} }} else {{ "),
            Form::Skip => write!(self.text, "if {on} {{}} else {{ "),
            Form::Negate => write!(self.text, "({on} != ("),
            Form::Always => write!(self.text, "({on} || ("),
            Form::First(statement) => write!(self.text, " if {on} {{ {statement} }} "),
        };
    }

    fn close(&mut self, rest: &str, which: usize, form: &Form) {
        self.text.push_str(rest);
        self.text.push_str(match form {
            Form::Instead(_) => " })",
            Form::Skip => " }",
            Form::Negate | Form::Always => "))",
            Form::First(_) => "",
        });
        self.places[which].end = self.text.len();
    }
}

/// FNV-1a: a short hash that is the same on every machine.
pub fn hash(seed: u64, parts: &[&[u8]]) -> u64 {
    let mut state = 0xcbf2_9ce4_8422_2325 ^ seed;
    for part in parts {
        // Lengths keep `ab, c` and `a, bc` apart.
        for &byte in part.len().to_le_bytes().iter().chain(*part) {
            state = (state ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }
    // The last bytes reach the upper bits too.
    state ^= state >> 32;
    state.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ (state >> 29)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mutant(range: Range<usize>, form: Form) -> Mutant {
        let kind = Kind::Logic;
        let text = String::new;
        Mutant { id: text(), kind, file: text(), line: 1, function: text(), from: text(), to: text(), range, form }
    }

    #[test]
    fn changes_nest_and_both_texts_are_there() {
        let text = "fn f() -> bool { a + 1 < b }";
        let whole = mutant(17..26, Form::Instead("a + 1 <= b".into()));
        let sum = mutant(17..22, Form::Instead("a - 1".into()));
        let one = mutant(21..22, Form::Instead("2".into()));
        let first = mutant(16..16, Form::First("return true;".into()));
        let out = render(text, &[(1, &one), (2, &whole), (3, &sum), (4, &first)], "on");
        assert_eq!(
            out.text,
            "fn f() -> bool { if on(4) { return true; }  (if on(2) { a + 1 <= b } else { (if on(3) { a - 1 } else { \
             a + (if on(1) { 2 } else { 1 }) }) < b }) }"
        );
        assert_eq!(&out.text[out.places[0].clone()], "(if on(1) { 2 } else { 1 })");
        assert!(out.text[out.places[1].clone()].starts_with("(if on(2)"));
        assert!(syn::parse_file(&out.text).is_ok());
    }

    #[test]
    fn neighbours_and_the_same_place_twice() {
        let text = "a < b; c();";
        let both = [mutant(0..5, Form::Negate), mutant(0..5, Form::Always), mutant(7..11, Form::Skip)];
        let numbered: Vec<(u32, &Mutant)> = both.iter().enumerate().map(|(i, m)| (i as u32 + 1, m)).collect();
        let out = render(text, &numbered, "on");
        assert_eq!(out.text, "(on(1) != ((on(2) || (a < b)))); if on(3) {} else { c(); }");
    }

    #[test]
    fn hashes_tell_parts_apart() {
        assert_ne!(hash(0, &[b"ab", b"c"]), hash(0, &[b"a", b"bc"]));
        assert_ne!(hash(0, &[b"ab"]), hash(1, &[b"ab"]));
        assert_eq!(hash(7, &[b"ab"]), hash(7, &[b"ab"]));
    }
}
