//! Each operator on a small source, what is passed over, and that what is written is Rust.

use super::super::mutant::render;
use super::*;

fn found(text: &str) -> Vec<(&'static str, String, String)> {
    find("a.rs", text).unwrap().into_iter().map(|m| (m.kind.name(), m.from, m.to)).collect()
}

/// The changes of one kind in `fn f(...) BODY`, as `from -> to`.
fn of_kind(kind: Kind, text: &str) -> Vec<String> {
    let all = find("a.rs", text).unwrap();
    all.into_iter().filter(|m| m.kind == kind).map(|m| format!("{} -> {}", m.from, m.to)).collect()
}

#[test]
fn comparisons() {
    let text = "fn f() -> u8 { g(a < b, a <= b, a > b, a >= b, a == b, a != b) }";
    assert_eq!(
        of_kind(Kind::Boundary, text),
        ["a < b -> a <= b", "a <= b -> a < b", "a > b -> a >= b", "a >= b -> a > b"]
    );
    assert_eq!(of_kind(Kind::Equality, text), ["a == b -> a != b", "a != b -> a == b"]);
}

#[test]
fn logic_and_conditions() {
    let text = "fn f() -> u8 { if a && !b { 0 } else { c.iter().any(|x| x | y) } }";
    assert_eq!(
        of_kind(Kind::Logic, text),
        ["a && !b -> a || !b", "c.iter().any(|x| x | y) -> c.iter().all(|x| x | y)", "x | y -> x & y"]
    );
    assert_eq!(of_kind(Kind::Negation, text), ["!b -> b"]);
    assert_eq!(of_kind(Kind::Condition, text), ["a && !b -> !(a && !b)"]);
}

#[test]
fn conditions_that_bind_names_keep_their_shape() {
    let text = "fn f() -> u8 { if a < b && let Some(c) = d(e == g) && c { 0 } else { 1 } }";
    assert_eq!(of_kind(Kind::Condition, text), [""; 0]);
    assert_eq!(of_kind(Kind::Logic, text), [""; 0]);
    assert_eq!(of_kind(Kind::Boundary, text), ["a < b -> a <= b"]);
    assert_eq!(of_kind(Kind::Equality, text), ["e == g -> e != g"]);
}

#[test]
fn sums_and_numbers() {
    let text = "fn f() -> u8 { x += a; (a + b * 2) - 0u64 }";
    assert_eq!(
        of_kind(Kind::Arithmetic, text),
        ["x += a -> x -= a", "(a + b * 2) - 0u64 -> (a + b * 2) + 0u64", "a + b * 2 -> a - b * 2"]
    );
    assert_eq!(of_kind(Kind::Operand, text), ["(a + b * 2) - 0u64 -> (a + b * 2)", "a + b * 2 -> a"]);
    assert_eq!(of_kind(Kind::Literal, text), ["2 -> 3", "0u64 -> 1u64"]);
    assert_eq!(of_kind(Kind::Literal, "fn f() -> u8 { g(1_000, 0x0f) }"), ["1_000 -> 1001", "0x0f -> 16"]);
}

#[test]
fn least_and_greatest() {
    let text = "fn f() -> u8 { a.min(b).max(c); d.min_by_key(|x| x); i.min() }";
    assert_eq!(
        of_kind(Kind::Extreme, text),
        ["a.min(b).max(c) -> a.min(b).min(c)", "a.min(b) -> a.max(b)", "d.min_by_key(|x| x) -> d.max_by_key(|x| x)"]
    );
}

#[test]
fn statements() {
    let text = "fn f() -> u8 { a.b(); c(); self.d = e; x |= y; let z = a.b(); a.expect(z); assert!(p); return q(); }";
    let left_out: Vec<String> =
        ["a.b();", "c();", "self.d = e;", "x |= y;"].map(|s| format!("{s} -> (left out)")).into();
    assert_eq!(of_kind(Kind::Statement, text), left_out);
}

#[test]
fn bodies_and_guards() {
    let text = "fn f() -> bool { true } fn g() -> Option<u8> { h() } fn i() { j() } fn k() {} fn l() -> u8 { 0 }";
    assert_eq!(of_kind(Kind::Body, text), ["true -> return false;", "h() -> return None;", "j() -> return;"]);
    let text = "fn f() -> u8 { match a { B(1) if c(d) => 0, E if let F = g => 0, _ => h } }";
    assert_eq!(of_kind(Kind::Guard, text), ["c(d) -> true"]);
}

#[test]
fn what_is_passed_over() {
    let text = "
        const A: u8 = 1 + 1;
        static B: &[fn() -> bool] = &[|| 1 < 2];
        enum C { D = 1 }
        struct E([u8; 4 + 1]);
        const fn f() -> bool { 1 < 2 }
        impl core::fmt::Display for E { fn fmt(&self) -> bool { 1 < 2 } }
        impl E { const G: u8 = 1; const fn h(&self) -> bool { 1 < 2 } }
        #[cfg(test)] mod tests { fn i() -> bool { 1 < 2 } }
        #[test] fn j() { k(1) }
        fn expect_page() { fetch(1 + 1); }
        macro_rules! m { () => { 1 < 2 } }
        fn n() -> [u8; 3] { debug_assert!(1 < 2); assert_eq!(1 + 1, 2); let _ = p::<4>(q); match r { 1..=2 => s, _ => t }; [u; 5] }
    ";
    assert_eq!(found(text), []);
}

#[test]
fn names_stay_when_other_code_comes_or_goes() {
    let before = find("a.rs", "fn f(a: u8) -> bool { a < 1 }\nfn g(a: u8) -> u8 { a + 1 + 1 }").unwrap();
    let after =
        find("a.rs", "fn new() {}\n\nfn f(a: u8) -> bool {\n    a < 1\n}\nfn g(a: u8) -> u8 { a + 1 + 1 }").unwrap();
    let ids = |of: &[Mutant]| of.iter().map(|m| m.id.clone()).collect::<Vec<_>>();
    assert_eq!(ids(&before), ids(&after));
    let mut each = ids(&before);
    each.sort();
    each.dedup();
    assert_eq!(each.len(), before.len(), "the two ones of g are told apart");
    assert_ne!(ids(&before)[0], ids(&find("b.rs", "fn f(a: u8) -> bool { a < 1 }").unwrap())[0]);
}

#[test]
fn everything_at_once_is_still_rust() {
    let text = "
        impl S {
            fn f(&mut self, a: u64, b: u64) -> bool {
                if a < b && self.ok(!c) { self.x += a - 1; self.note(a.max(b)); return false; }
                match a { 0 if b == 2 => self.go(), n if n > b => {} _ => self.y = a }
                while a + 1 < b && self.step() {}
                for i in 0..a + 1 { self.z[i as usize] = i; }
                (a | b) & 3 == 1
            }
        }
    ";
    let all = find("a.rs", text).unwrap();
    assert!(all.len() > 30, "{}", all.len());
    let numbered: Vec<(u32, &Mutant)> = all.iter().enumerate().map(|(i, m)| (i as u32, m)).collect();
    let out = render(text, &numbered, "crate::mutants::active");
    syn::parse_file(&out.text).unwrap_or_else(|e| panic!("{e}\n{}", out.text));
    for (place, (number, mutant)) in out.places.iter().zip(&numbered) {
        let written = &out.text[place.clone()];
        assert!(written.contains(&format!("active({number})")), "{}: {written}", mutant.description());
    }
}
