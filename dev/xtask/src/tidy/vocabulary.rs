//! Rule on words that the project gave up for the field's terms: names in Rust, keys, columns, options, and whole sentences.
//!
//! The closed list is `dev/xtask/vocabulary.toml`. A name is refused where it is declared, in the crate or type that the list names; a text
//! wherever it stands as a word of its own; a sentence also where it runs over several lines of a comment, a string or a page. Anything else
//! is plain English and none of this rule's business.

use std::fmt::Write as _;

use syn::visit::{self, Visit};

use super::Finding;
use super::repo::{File, Repo};

/// The list, from the top of the repository.
const LIST: &str = "dev/xtask/vocabulary.toml";

/// The list.
#[derive(Default)]
struct Vocabulary {
    /// Names declared in Rust.
    names: Vec<Entry>,
    /// Keys, columns, options, names of answers and parameters.
    texts: Vec<Entry>,
    /// Sentences.
    sentences: Vec<Entry>,
}

/// A line of the list.
struct Entry {
    /// What is refused: `HEAPS`, `Parcel::ahead`, `--versus`.
    old: String,
    /// What stands in its place.
    standard: String,
    /// The crates (of a name), or files and folders (of a text or sentence) in which it is refused; none for everywhere.
    places: Vec<String>,
}

/// Rule: nothing of the list.
pub fn check(repo: &Repo) -> Vec<Finding> {
    let Some(text) = repo.file(LIST).and_then(|file| file.text.as_deref()) else { return Vec::new() };
    let list = match Vocabulary::read(text) {
        Ok(list) => list,
        Err(why) => return vec![Finding::error(LIST, 1, why)],
    };
    let mut findings = Vec::new();
    for (file, rust) in repo.rust() {
        let mut declared = Declared::default();
        declared.visit_file(&rust.tree);
        findings
            .extend(declared.found.iter().filter_map(|(owner, name, line)| list.name(&file.path, owner, name, *line)));
    }
    for file in repo.files.iter().filter(|file| file.path != LIST && !file.is_lock()) {
        list.texts_in(file, &mut findings);
        list.sentences_in(file, &mut findings);
    }
    findings
}

impl Vocabulary {
    /// Reads the list.
    fn read(text: &str) -> Result<Vocabulary, String> {
        let table: toml::Table = text.parse().map_err(|why| format!("{why}"))?;
        let entries = |key: &str| -> Result<Vec<Entry>, String> {
            let Some(value) = table.get(key) else { return Ok(Vec::new()) };
            let list = value.as_array().ok_or(format!("{key}: must be a list"))?;
            list.iter().map(|value| Entry::read(key, value)).collect()
        };
        if let Some(other) = table.keys().find(|key| !["name", "text", "sentence"].contains(&key.as_str())) {
            return Err(format!("{other}: must be name, text or sentence"));
        }
        Ok(Vocabulary { names: entries("name")?, texts: entries("text")?, sentences: entries("sentence")? })
    }

    /// What there is to say against a declared name.
    fn name(&self, path: &str, owner: &str, name: &str, line: usize) -> Option<Finding> {
        let krate = path.split('/').next().unwrap_or_default();
        let is_it = |entry: &&Entry| {
            let named = match entry.old.split_once("::") {
                Some((of, own)) => of == owner && own == name,
                None => entry.old == name,
            };
            named && entry.is_at(krate)
        };
        let entry = self.names.iter().find(is_it)?;
        Some(Finding::error(path, line, entry.message()))
    }

    fn texts_in(&self, file: &File, findings: &mut Vec<Finding>) {
        for entry in self.texts.iter().filter(|entry| entry.is_at(&file.path)) {
            let lines = file.lines().filter(|(_, line)| stands_in(line, &entry.old));
            findings.extend(lines.map(|(number, _)| Finding::error(&file.path, number, entry.message())));
        }
    }

    fn sentences_in(&self, file: &File, findings: &mut Vec<Finding>) {
        let here: Vec<&Entry> = self.sentences.iter().filter(|entry| entry.is_at(&file.path)).collect();
        let Some(text) = file.text.as_deref().filter(|_| !here.is_empty()) else { return };
        let (joined, starts) = join(text);
        for entry in here {
            for (at, _) in joined.match_indices(&entry.old) {
                let line = starts.partition_point(|start| *start <= at);
                findings.push(Finding::error(&file.path, line, entry.message()));
            }
        }
    }
}

impl Entry {
    fn read(key: &str, value: &toml::Value) -> Result<Entry, String> {
        let text = |field: &str| {
            let found = value.get(field).and_then(toml::Value::as_str).filter(|found| !found.is_empty());
            found.map(str::to_owned).ok_or(format!("{key}: every entry needs `{field}`, a text"))
        };
        let places = value.get("where").and_then(toml::Value::as_array).map_or(&[][..], Vec::as_slice);
        let places = places.iter().map(|place| place.as_str().map(str::to_owned));
        let places = places.collect::<Option<Vec<_>>>().ok_or(format!("{key}: `where` must be a list of texts"))?;
        Ok(Entry { old: text("old")?, standard: text("standard")?, places })
    }

    /// Whether it is refused at this path, or in this crate.
    fn is_at(&self, path: &str) -> bool {
        let lies_in = |place: &String| {
            path == place || path.strip_prefix(place.as_str()).is_some_and(|rest| rest.starts_with('/'))
        };
        self.places.is_empty() || self.places.iter().any(lies_in)
    }

    fn message(&self) -> String {
        let mut message = format!("`{}`: ", self.old);
        let _ = write!(message, "the term is `{}` ({LIST})", self.standard);
        message
    }
}

/// Names that a file declares, with the type, trait or enum they belong to, and their lines.
#[derive(Default)]
struct Declared {
    owner: String,
    found: Vec<(String, String, usize)>,
}

impl Declared {
    fn note(&mut self, ident: &syn::Ident) {
        self.found.push((self.owner.clone(), ident.to_string(), ident.span().start().line));
    }

    fn inside(&mut self, owner: String, visit: impl FnOnce(&mut Self)) {
        let outer = std::mem::replace(&mut self.owner, owner);
        visit(self);
        self.owner = outer;
    }
}

impl<'a> Visit<'a> for Declared {
    fn visit_item_struct(&mut self, item: &'a syn::ItemStruct) {
        self.note(&item.ident);
        self.inside(item.ident.to_string(), |inner| visit::visit_item_struct(inner, item));
    }

    fn visit_item_enum(&mut self, item: &'a syn::ItemEnum) {
        self.note(&item.ident);
        self.inside(item.ident.to_string(), |inner| visit::visit_item_enum(inner, item));
    }

    fn visit_item_trait(&mut self, item: &'a syn::ItemTrait) {
        self.note(&item.ident);
        self.inside(item.ident.to_string(), |inner| visit::visit_item_trait(inner, item));
    }

    fn visit_item_impl(&mut self, item: &'a syn::ItemImpl) {
        let owner = match &*item.self_ty {
            syn::Type::Path(path) => path.path.segments.last().map(|segment| segment.ident.to_string()),
            _ => None,
        };
        // What a trait demands is named where the trait is declared.
        if item.trait_.is_none() {
            self.inside(owner.unwrap_or_default(), |inner| visit::visit_item_impl(inner, item));
        }
    }

    fn visit_item_fn(&mut self, item: &'a syn::ItemFn) {
        self.note(&item.sig.ident);
        self.inside(String::new(), |inner| visit::visit_item_fn(inner, item));
    }

    fn visit_item_const(&mut self, item: &'a syn::ItemConst) {
        self.note(&item.ident);
        visit::visit_item_const(self, item);
    }

    fn visit_item_static(&mut self, item: &'a syn::ItemStatic) {
        self.note(&item.ident);
        visit::visit_item_static(self, item);
    }

    fn visit_item_type(&mut self, item: &'a syn::ItemType) {
        self.note(&item.ident);
    }

    fn visit_item_mod(&mut self, item: &'a syn::ItemMod) {
        self.note(&item.ident);
        visit::visit_item_mod(self, item);
    }

    fn visit_impl_item_fn(&mut self, item: &'a syn::ImplItemFn) {
        self.note(&item.sig.ident);
        visit::visit_impl_item_fn(self, item);
    }

    fn visit_trait_item_fn(&mut self, item: &'a syn::TraitItemFn) {
        self.note(&item.sig.ident);
        visit::visit_trait_item_fn(self, item);
    }

    fn visit_impl_item_const(&mut self, item: &'a syn::ImplItemConst) {
        self.note(&item.ident);
    }

    fn visit_trait_item_const(&mut self, item: &'a syn::TraitItemConst) {
        self.note(&item.ident);
    }

    fn visit_field(&mut self, field: &'a syn::Field) {
        if let Some(ident) = &field.ident {
            self.note(ident);
        }
    }

    fn visit_variant(&mut self, variant: &'a syn::Variant) {
        self.note(&variant.ident);
        visit::visit_variant(self, variant);
    }
}

/// Whether `text` stands in `line` as a word of its own.
fn stands_in(line: &str, text: &str) -> bool {
    let joins = |c: char| c.is_alphanumeric() || c == '_';
    let (first, last) = (text.starts_with(joins), text.ends_with(joins));
    line.match_indices(text).any(|(at, _)| {
        let before = line[..at].chars().next_back().is_some_and(|c| joins(c) || c == '-' && text.starts_with('-'));
        let after =
            line[at + text.len()..].chars().next().is_some_and(|c| joins(c) || c == '-' && text.starts_with('-'));
        !((first || text.starts_with('-')) && before) && !(last && after)
    })
}

/// A file's text on one line: breaks, indentation, marks of comments and continued strings become one space. And where in it each line
/// begins.
fn join(text: &str) -> (String, Vec<usize>) {
    let (mut joined, mut starts) = (String::with_capacity(text.len()), Vec::new());
    for line in text.lines() {
        starts.push(joined.len());
        let line = line.trim();
        let line =
            line.trim_start_matches('/').trim_start_matches('!').trim_start_matches("# ").trim_start_matches("> ");
        joined.extend(line.trim().trim_end_matches('\\').split_whitespace().flat_map(|word| [word, " "]));
    }
    (joined, starts)
}

#[cfg(test)]
mod tests {
    use super::*;

    const WORDS: &str = r#"
        name = [
            { old = "Parcel::ahead", standard = "blocked_by", where = ["core"] },
            { old = "HEAPS", standard = "MAX_..." },
        ]
        text = [
            { old = "--versus", standard = "--beside" },
            { old = "tier_at_once", standard = "rank_at_once", where = ["docs", "engine/sched/src"] },
        ]
        sentence = [{ old = "a quirk of the engine, such as a loud bang", standard = "plain words" }]
    "#;

    fn found(path: &str, text: &str) -> Vec<usize> {
        check(&Repo::of(&[(LIST, WORDS), (path, text)])).into_iter().map(|finding| finding.line).collect()
    }

    #[test]
    fn a_name_is_refused_where_it_is_declared_and_in_its_type_alone() {
        let of_transaction = "struct Parcel {\n    ahead: u32,\n}\nimpl Parcel {\n    fn ahead(&self) {}\n}\n";
        assert_eq!(found("engine/core/src/a.rs", of_transaction), [2, 5]);
        assert_eq!(found("lab/sim/src/a.rs", of_transaction), [0usize; 0], "another crate");
        assert_eq!(
            found("engine/core/src/a.rs", "struct Position { ahead: u32 }\nfn ahead() {}\n"),
            [0usize; 0],
            "another type"
        );
        assert_eq!(
            found("engine/core/src/a.rs", "// ahead\nfn f(t: &Parcel) { let ahead = t.x; }\n"),
            [0usize; 0],
            "no declaration"
        );
        let everywhere = "const HEAPS: u32 = 1;\nmod inner {\n    fn f() {\n        const HEAPS: u32 = 2;\n    }\n}\n";
        assert_eq!(found("lab/sim/src/a.rs", everywhere), [1, 4]);
        assert_eq!(found("lab/sim/src/a.rs", "const HEAPS_OF: u32 = 1;\nenum E {\n    Heaps,\n}\n"), [0usize; 0]);
    }

    #[test]
    fn every_kind_of_declaration_is_seen() {
        for declaration in [
            "struct HEAPS;",
            "enum HEAPS {}",
            "trait HEAPS {}",
            "type HEAPS = u8;",
            "static HEAPS: u8 = 1;",
            "fn HEAPS() {}",
            "mod HEAPS {}",
            "enum E { HEAPS }",
            "struct S { HEAPS: u8 }",
            "enum E { V { HEAPS: u8 } }",
            "trait T { fn HEAPS(); }",
            "trait T { const HEAPS: u8; }",
            "impl S { const HEAPS: u8 = 1; }",
            "impl S { fn HEAPS() {} }",
        ] {
            assert_eq!(found("lab/sim/src/a.rs", declaration), [1], "{declaration}");
        }
        assert_eq!(
            found("lab/sim/src/a.rs", "impl T for S { fn HEAPS() {} }"),
            [0usize; 0],
            "the trait is where it is named"
        );
    }

    #[test]
    fn texts_are_words_of_their_own_and_may_be_bound_to_places() {
        assert_eq!(found("faces/cli/tests/a.rs", "f(\"--versus\");\n// --versus-all, x--versus, --versuses\n"), [1]);
        assert_eq!(found("README.md", "run `--versus NAME`\n"), [1]);
        assert_eq!(found("docs/a.md", "`tier_at_once`\n"), [1]);
        assert_eq!(found("engine/sched/src/a.rs", "// tier_at_once, my_tier_at_once\n// tier_at_once_more\n"), [1]);
        assert_eq!(found("sim/a.toml", "tier_at_once = 1\n"), [0usize; 0], "elsewhere");
    }

    #[test]
    fn sentences_are_found_over_several_lines() {
        let page = "x\nof it; a quirk of the\nengine, such as a loud bang, ends with 1.\n";
        assert_eq!(found("README.md", page), [2]);
        let comment = "fn f() {\n    /// See: a quirk of the engine,\n    /// such as a loud bang.\n    fn g() {}\n}\n";
        assert_eq!(found("lab/sim/src/a.rs", comment), [2]);
        let string = "const T: &str = \"a quirk of the \\\n    engine, such as a loud bang\";\n";
        assert_eq!(found("lab/sim/src/a.rs", string), [1]);
        assert_eq!(found("README.md", "a quirk of the engine, which is a loud bang\n"), [0usize; 0]);
    }

    #[test]
    fn a_list_that_is_none_is_an_error() {
        for wrong in [
            "names = []",
            "name = 3",
            "name = [{ old = \"a\" }]",
            "text = [{ old = \"a\", standard = \"b\", where = [1] }]",
        ] {
            let findings = check(&Repo::of(&[(LIST, wrong)]));
            assert_eq!(findings.len(), 1, "{wrong}");
            assert_eq!(findings[0].path, LIST);
        }
        assert_eq!(check(&Repo::of(&[("a.rs", "const HEAPS: u8 = 1;")])).len(), 0, "no list, nothing refused");
    }
}
