//! Where the engine's source can be changed, and into what.
//!
//! Works on syntax alone: what does not compile is found out by building and left out then. Places whose change cannot
//! matter or cannot be switched are passed over: constants and `const fn`, patterns, types, the insides of macros (so of
//! assertions too), test code, `Debug` and `Display`, and functions that only fetch ahead of a use (`expect...`).

use std::collections::BTreeMap;
use std::ops::Range;

use syn::spanned::Spanned;
use syn::visit::{self, Visit};
use syn::{BinOp, Expr, Stmt};

use super::mutant::{Form, Kind, Mutant, hash};
use crate::tidy::repo::{attributes, is_test_item};

/// All mutants of a file, in the order of the text.
pub fn find(file: &str, text: &str) -> Result<Vec<Mutant>, String> {
    let tree = syn::parse_file(text).map_err(|e| format!("{file}:{}: not Rust: {e}", e.span().start().line))?;
    let mut finder = Finder { file, text, place: Vec::new(), found: Vec::new(), seen: BTreeMap::new() };
    finder.visit_file(&tree);
    finder.found.sort_by_key(|m| (m.range.start, std::cmp::Reverse(m.range.end)));
    Ok(finder.found)
}

struct Finder<'a> {
    file: &'a str,
    text: &'a str,
    /// The type and the function around.
    place: Vec<String>,
    found: Vec<Mutant>,
    /// How often the same change has been found in the same function.
    seen: BTreeMap<u64, u32>,
}

impl Finder<'_> {
    fn of(&self, node: &impl Spanned) -> &str {
        &self.text[node.span().byte_range()]
    }

    fn note(&mut self, kind: Kind, range: Range<usize>, from: &str, form: Form) {
        let to = match &form {
            Form::Instead(text) | Form::First(text) => text.clone(),
            Form::Skip => "(left out)".into(),
            Form::Negate => format!("!({from})"),
            Form::Always => "true".into(),
        };
        let (from, to, function) = (one_line(from), one_line(&to), self.place.join("::"));
        let key = [self.file, function.as_str(), kind.name(), from.as_str(), to.as_str()].map(|part| part.as_bytes());
        let same = hash(0, &key);
        let before = self.seen.entry(same).or_default();
        let id = format!("{:08x}", hash(same, &[&before.to_le_bytes()]) as u32);
        *before += 1;
        let line = self.text[..range.start].matches('\n').count() + 1;
        self.found.push(Mutant { id, kind, file: self.file.into(), line, function, from, to, range, form });
    }

    /// `node` written with `part` of it changed to `new`.
    fn swap(&mut self, kind: Kind, node: &impl Spanned, part: Range<usize>, new: &str) {
        let whole = node.span().byte_range();
        let from = &self.text[whole.clone()];
        let changed = format!("{}{new}{}", &self.text[whole.start..part.start], &self.text[part.end..whole.end]);
        self.note(kind, whole, from, Form::Instead(changed));
    }

    fn binary(&mut self, node: &syn::ExprBinary) {
        if contains_let(&node.left) || contains_let(&node.right) {
            return;
        }
        let (kind, new) = match node.op {
            BinOp::Lt(_) => (Kind::Boundary, "<="),
            BinOp::Le(_) => (Kind::Boundary, "<"),
            BinOp::Gt(_) => (Kind::Boundary, ">="),
            BinOp::Ge(_) => (Kind::Boundary, ">"),
            BinOp::Eq(_) => (Kind::Equality, "!="),
            BinOp::Ne(_) => (Kind::Equality, "=="),
            BinOp::And(_) => (Kind::Logic, "||"),
            BinOp::Or(_) => (Kind::Logic, "&&"),
            BinOp::BitAnd(_) => (Kind::Logic, "|"),
            BinOp::BitOr(_) => (Kind::Logic, "&"),
            BinOp::Add(_) => (Kind::Arithmetic, "-"),
            BinOp::Sub(_) => (Kind::Arithmetic, "+"),
            BinOp::AddAssign(_) => (Kind::Arithmetic, "-="),
            BinOp::SubAssign(_) => (Kind::Arithmetic, "+="),
            _ => return,
        };
        self.swap(kind, node, node.op.span().byte_range(), new);
        if matches!(node.op, BinOp::Add(_) | BinOp::Sub(_)) {
            let left = self.of(&node.left).to_owned();
            let from = self.of(node).to_owned();
            self.note(Kind::Operand, node.span().byte_range(), &from, Form::Instead(left));
        }
    }

    fn condition(&mut self, condition: &Expr) {
        if !contains_let(condition) {
            let from = self.of(condition).to_owned();
            self.note(Kind::Condition, condition.span().byte_range(), &from, Form::Negate);
        }
    }

    fn call(&mut self, node: &syn::ExprMethodCall) {
        let other = match (node.method.to_string().as_str(), node.args.len()) {
            ("min", 1) => "max",
            ("max", 1) => "min",
            ("min_by_key", 1) => "max_by_key",
            ("max_by_key", 1) => "min_by_key",
            ("min_by", 1) => "max_by",
            ("max_by", 1) => "min_by",
            ("any", 1) => "all",
            ("all", 1) => "any",
            _ => return,
        };
        let kind = if matches!(other, "any" | "all") { Kind::Logic } else { Kind::Extreme };
        self.swap(kind, node, node.method.span().byte_range(), other);
    }

    fn literal(&mut self, literal: &syn::LitInt) {
        let Ok(value) = literal.base10_parse::<u64>() else { return };
        let more = format!("{}{}", u128::from(value) + 1, literal.suffix());
        let from = self.of(literal).to_owned();
        self.note(Kind::Literal, literal.span().byte_range(), &from, Form::Instead(more));
    }

    fn function(&mut self, attrs: &[syn::Attribute], sig: &syn::Signature, block: &syn::Block) {
        let name = sig.ident.to_string();
        let only_fetches = name.starts_with("expect") && name != "expectations" || name.starts_with("prefetch");
        if is_test_item(attrs) || sig.constness.is_some() || only_fetches {
            return;
        }
        self.place.push(name);
        let open = block.brace_token.span.open().byte_range().end;
        let body = self.text[open..block.brace_token.span.close().byte_range().start].trim().to_owned();
        let returns: &[&str] = match &sig.output {
            syn::ReturnType::Default if !body.is_empty() => &[""],
            syn::ReturnType::Default => &[],
            syn::ReturnType::Type(_, of) => match self.of(of).split('<').next().unwrap_or_default() {
                "bool" => &["true", "false"],
                "Option" => &["None"],
                _ => &[],
            },
        };
        for value in returns.iter().filter(|&&value| body != value || value.is_empty()) {
            let statement = format!("return {value};").replace(" ;", ";");
            self.note(Kind::Body, open..open, &body, Form::First(statement));
        }
        self.visit_block(block);
        self.place.pop();
    }
}

/// Text in one line, cut where it is long.
fn one_line(text: &str) -> String {
    const LONG: usize = 90;
    let words: Vec<&str> = text.split_whitespace().collect();
    let line = words.join(" ");
    if line.chars().count() <= LONG { line } else { line.chars().take(LONG - 3).chain("...".chars()).collect() }
}

/// Whether a condition binds names: such a part cannot move into another expression.
fn contains_let(expr: &Expr) -> bool {
    match expr {
        Expr::Let(_) => true,
        Expr::Binary(node) => contains_let(&node.left) || contains_let(&node.right),
        Expr::Paren(node) => contains_let(&node.expr),
        _ => false,
    }
}

/// Whether the statement may be left out: a call or an assignment whose value nobody takes.
fn may_be_left_out(expr: &Expr) -> bool {
    match expr {
        Expr::MethodCall(call) => !call.method.to_string().starts_with("expect"),
        Expr::Call(_) | Expr::Assign(_) => true,
        Expr::Binary(node) => matches!(
            node.op,
            BinOp::AddAssign(_)
                | BinOp::SubAssign(_)
                | BinOp::MulAssign(_)
                | BinOp::BitAndAssign(_)
                | BinOp::BitOrAssign(_)
                | BinOp::BitXorAssign(_)
                | BinOp::ShlAssign(_)
                | BinOp::ShrAssign(_)
        ),
        _ => false,
    }
}

impl<'a> Visit<'a> for Finder<'_> {
    fn visit_item(&mut self, item: &'a syn::Item) {
        if is_test_item(attributes(item)) {
            return;
        }
        match item {
            syn::Item::Fn(item) => self.function(&item.attrs, &item.sig, &item.block),
            syn::Item::Mod(item) => visit::visit_item_mod(self, item),
            syn::Item::Trait(item) => {
                self.place.push(item.ident.to_string());
                visit::visit_item_trait(self, item);
                self.place.pop();
            }
            syn::Item::Impl(item) => {
                let of = item.trait_.as_ref().and_then(|(path, _)| path.segments.last()).map(|s| s.ident.to_string());
                if !matches!(of.as_deref(), Some("Debug" | "Display" | "Error")) {
                    self.place.push(one_line(self.of(&item.self_ty)));
                    visit::visit_item_impl(self, item);
                    self.place.pop();
                }
            }
            _ => {}
        }
    }

    fn visit_impl_item(&mut self, item: &'a syn::ImplItem) {
        if let syn::ImplItem::Fn(item) = item {
            self.function(&item.attrs, &item.sig, &item.block);
        }
    }

    fn visit_trait_item(&mut self, item: &'a syn::TraitItem) {
        if let syn::TraitItem::Fn(syn::TraitItemFn { attrs, sig, default: Some(block), .. }) = item {
            self.function(attrs, sig, block);
        }
    }

    fn visit_stmt(&mut self, stmt: &'a Stmt) {
        if let Stmt::Expr(expr, Some(_)) = stmt
            && may_be_left_out(expr)
        {
            let from = self.of(stmt).to_owned();
            self.note(Kind::Statement, stmt.span().byte_range(), &from, Form::Skip);
        }
        visit::visit_stmt(self, stmt);
    }

    fn visit_arm(&mut self, arm: &'a syn::Arm) {
        if let syn::Pat::Guard(guarded) = &arm.pat {
            let guard = &guarded.guard;
            if !contains_let(guard) {
                let from = self.of(guard).to_owned();
                self.note(Kind::Guard, guard.span().byte_range(), &from, Form::Always);
            }
            self.visit_expr(guard);
        }
        self.visit_expr(&arm.body);
    }

    fn visit_expr(&mut self, expr: &'a Expr) {
        match expr {
            Expr::Binary(node) => self.binary(node),
            Expr::If(node) => self.condition(&node.cond),
            Expr::MethodCall(node) => self.call(node),
            Expr::Unary(node) if matches!(node.op, syn::UnOp::Not(_)) => {
                let (from, operand) = (self.of(node).to_owned(), self.of(&node.expr).to_owned());
                self.note(Kind::Negation, node.span().byte_range(), &from, Form::Instead(operand));
            }
            Expr::Lit(syn::ExprLit { lit: syn::Lit::Int(literal), .. }) => self.literal(literal),
            // The length is a constant.
            Expr::Repeat(node) => return self.visit_expr(&node.expr),
            Expr::Let(node) => return self.visit_expr(&node.expr),
            Expr::Const(_) => return,
            _ => {}
        }
        visit::visit_expr(self, expr);
    }

    fn visit_pat(&mut self, _: &'a syn::Pat) {}
    fn visit_type(&mut self, _: &'a syn::Type) {}
    fn visit_attribute(&mut self, _: &'a syn::Attribute) {}
    fn visit_generics(&mut self, _: &'a syn::Generics) {}
    fn visit_generic_argument(&mut self, _: &'a syn::GenericArgument) {}
}

#[cfg(test)]
#[path = "operators_tests.rs"]
mod tests;
