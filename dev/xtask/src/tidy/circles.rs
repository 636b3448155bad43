//! Rule on circles of files inside a crate: no file needs another that needs it, directly or through others.
//!
//! A file needs another if its code names an item that the other defines. Names are followed through re-exports and
//! through the imports of parents to the file of the definition, so a `mod.rs` that only passes names on needs nothing.
//! Test code does not count, and neither do method calls, which name no file, but for those of the device: its methods are spread over the
//! files of a folder, which lie in layers, and a method calls only those of its own file and of the layers below.
//!
//! In a circle between neighbours no file is understood before the other. A module that calls its children, which use its types through
//! `super`, is read from the module down, and is not such a circle.

use std::collections::{BTreeMap, BTreeSet};

use syn::visit::{self, Visit};

use super::Finding;
use super::imports::{Names, module_of};
use super::reexports::leaves;
use super::repo::{Repo, attributes, is_test_item};

/// Names are followed through at most this many imports.
const HOPS: usize = 16;

/// What a file says about names.
#[derive(Default)]
struct Module {
    /// Items it defines.
    items: BTreeSet<String>,
    /// Names it imports or re-exports, with the full path behind each.
    aliases: BTreeMap<String, Vec<String>>,
    /// Paths that it imports everything from.
    globs: Vec<Vec<String>>,
    /// Paths that its code needs.
    needs: Vec<Vec<String>>,
    /// First names of the paths in its code, which may come from a glob.
    used: BTreeSet<String>,
}

/// Files by module path, crate first.
struct Modules<'a>(BTreeMap<Vec<String>, (&'a str, Module)>);

/// For each file, the files it needs.
type Needs<'a> = BTreeMap<&'a str, BTreeSet<&'a str>>;

/// Rule: no circles but those of a module and its children.
pub fn check(repo: &Repo) -> Vec<Finding> {
    let modules = Modules::of(repo);
    let mut needs = modules.needs();
    let ancestors = modules.ancestors();
    needs.iter_mut().for_each(|(&file, all)| all.retain(|&other| !ancestors.contains(&(file, other))));
    let finding = |circle: &Vec<&str>| {
        Finding::error(circle[0], 1, format!("files that need one another: {}", circle.join(", ")))
    };
    circles(&needs).iter().map(finding).collect()
}

impl<'a> Modules<'a> {
    fn of(repo: &'a Repo) -> Modules<'a> {
        let mut all = BTreeMap::new();
        for (file, rust) in repo.rust().filter(|(file, _)| !file.is_test()) {
            let Some(path) = module_of(file) else { continue };
            let mut reader = Reader::new(path.clone(), &rust.tree);
            reader.visit_file(&rust.tree);
            all.insert(path, (file.path.as_str(), reader.finish()));
        }
        Modules(all)
    }

    fn needs(&self) -> Needs<'a> {
        let mut all = Needs::new();
        for (path, (file, module)) in &self.0 {
            let opened = module.used.iter().filter_map(|name| self.through_glob(module, name));
            let names = module.needs.iter().cloned().chain(opened).filter(|name| name[0] == path[0]);
            let files = names.filter_map(|name| self.file_of(&name));
            all.insert(file, files.filter(|other| other != file).collect());
        }
        all
    }

    /// Every file with every module above it.
    fn ancestors(&self) -> BTreeSet<(&'a str, &'a str)> {
        let above = |path: &'_ [String]| {
            (1..path.len()).filter_map(|n| self.0.get(&path[..n])).map(|(file, _)| *file).collect::<Vec<_>>()
        };
        self.0.iter().flat_map(|(path, (file, _))| above(path).into_iter().map(move |parent| (*file, parent))).collect()
    }

    /// The file that defines what `name` means; none if nothing of it is known here.
    fn file_of(&self, name: &[String]) -> Option<&'a str> {
        let mut name = name.to_vec();
        for _ in 0..HOPS {
            let depth = (1..=name.len()).rev().find(|&depth| self.0.contains_key(&name[..depth]))?;
            let (file, module) = &self.0[&name[..depth]];
            let Some(item) = name.get(depth).filter(|item| !module.items.contains(*item)) else { return Some(file) };
            let target = module.aliases.get(item).cloned().or_else(|| self.through_glob(module, item));
            match target {
                Some(target) => name = target.iter().chain(&name[depth + 1..]).cloned().collect(),
                None => return Some(file),
            }
        }
        None
    }

    fn through_glob(&self, module: &Module, item: &str) -> Option<Vec<String>> {
        let has = |path: &&Vec<String>| {
            self.0.get(*path).is_some_and(|(_, other)| other.items.contains(item) || other.aliases.contains_key(item))
        };
        let path = module.globs.iter().find(has)?;
        Some(path.iter().cloned().chain([item.to_string()]).collect())
    }
}

/// Groups of files each of which needs all others, directly or through others; files in order of their paths.
fn circles<'a>(needs: &Needs<'a>) -> Vec<Vec<&'a str>> {
    let reached = |from: &'a str| {
        let (mut seen, mut open) = (BTreeSet::new(), vec![from]);
        while let Some(file) = open.pop() {
            open.extend(needs.get(file).into_iter().flatten().filter(|&&next| seen.insert(next)));
        }
        seen
    };
    let all: BTreeMap<&str, BTreeSet<&str>> = needs.keys().map(|&file| (file, reached(file))).collect();
    let mut found: Vec<Vec<&str>> = Vec::new();
    for (&file, reached) in all.iter().filter(|(file, reached)| reached.contains(*file)) {
        if !found.iter().any(|circle| circle.contains(&file)) {
            found.push(reached.iter().copied().filter(|other| all[other].contains(file)).collect());
        }
    }
    found
}

// The device: `self.method(` from file to file.

/// Where the files lie.
const DEVICE: &str = "engine/ssd/src/device/";

/// The files with methods of `Device`, from the lowest layer to the caller's side. Files of a layer do not call one another.
const LAYERS: [&[&str]; 12] = [
    &["effects", "timers", "followers"],
    &["page_order"],
    &["binding"],
    &["write_back", "translation", "wordlines", "durability"],
    &["rests"],
    &["programs", "serial"],
    &["trim"],
    &["pages"],
    &["scheduling", "ends"],
    &["mod", "build"],
    &["change", "totals"],
    &["used"],
];

/// Rule: a method of the device calls only those of its own file and of lower layers.
pub fn layers(repo: &Repo) -> Vec<Finding> {
    let stem = |path: &'_ str| Some(path.strip_prefix(DEVICE)?.strip_suffix(".rs")?.to_owned());
    let mut all: Vec<(String, &str, Methods)> = Vec::new();
    for (file, rust) in repo.rust().filter(|(file, _)| !file.is_test()) {
        let Some(stem) = stem(&file.path) else { continue };
        let mut methods = Methods::default();
        methods.visit_file(&rust.tree);
        all.push((stem, &file.path, methods));
    }
    let layer = |stem: &str| LAYERS.iter().position(|files| files.contains(&stem));
    let owner = |name: &String| all.iter().find(|(.., methods)| methods.defined.contains(name));
    let mut found = Vec::new();
    for (stem, path, methods) in all.iter().filter(|(.., methods)| !methods.defined.is_empty()) {
        let Some(own) = layer(stem) else {
            found.push(Finding::error(path, 1, "has methods of the device, and no layer in circles.rs".to_owned()));
            continue;
        };
        for (name, line) in &methods.called {
            let Some((other, ..)) = owner(name).filter(|(other, ..)| other != stem) else { continue };
            if layer(other).is_some_and(|other| other >= own) {
                let why =
                    format!("`self.{name}` of {other}.rs does not lie below {stem}.rs: leave an effect, or move it");
                found.push(Finding::error(path, *line, why));
            }
        }
    }
    found
}

/// Methods of `Device` in a file, and those that they call on `self`, each with its line.
#[derive(Default)]
struct Methods {
    defined: BTreeSet<String>,
    called: Vec<(String, usize)>,
    is_inside: bool,
}

impl<'a> Visit<'a> for Methods {
    fn visit_item_impl(&mut self, item: &'a syn::ItemImpl) {
        let of_device = matches!(&*item.self_ty, syn::Type::Path(path) if path.path.is_ident("Device"));
        if of_device && item.trait_.is_none() {
            self.is_inside = true;
            visit::visit_item_impl(self, item);
            self.is_inside = false;
        }
    }

    fn visit_item_mod(&mut self, item: &'a syn::ItemMod) {
        if !is_test_item(&item.attrs) {
            visit::visit_item_mod(self, item);
        }
    }

    fn visit_impl_item_fn(&mut self, item: &'a syn::ImplItemFn) {
        if self.is_inside {
            self.defined.insert(item.sig.ident.to_string());
            visit::visit_impl_item_fn(self, item);
        }
    }

    fn visit_expr_method_call(&mut self, call: &'a syn::ExprMethodCall) {
        if self.is_inside && matches!(&*call.receiver, syn::Expr::Path(path) if path.path.is_ident("self")) {
            self.called.push((call.method.to_string(), call.method.span().start().line));
        }
        visit::visit_expr_method_call(self, call);
    }
}

/// Reads one file.
struct Reader {
    names: Names,
    module: Module,
    /// Modules that the file declares.
    children: BTreeSet<String>,
    /// Re-exports: they count as a need only if the file's own code uses the name.
    passed_on: Vec<(String, Vec<String>)>,
    /// Depth of modules inside the file; what these import is not visible outside them.
    inside: usize,
}

impl Reader {
    fn new(path: Vec<String>, tree: &syn::File) -> Reader {
        let child = |item: &syn::Item| match item {
            syn::Item::Mod(item) => Some(item.ident.to_string()),
            _ => None,
        };
        Reader {
            names: Names::new(path),
            module: Module::default(),
            children: tree.items.iter().filter_map(child).collect(),
            passed_on: Vec::new(),
            inside: 0,
        }
    }

    /// The full path, crate first, of a path as written.
    fn resolve(&self, written: &[String]) -> Option<Vec<String>> {
        let is_child = self.inside == 0 && written.first().is_some_and(|first| self.children.contains(first));
        let own = ["self".to_string()].into_iter().filter(|_| is_child);
        self.names.resolve(&own.chain(written.iter().cloned()).collect::<Vec<_>>())
    }

    fn finish(mut self) -> Module {
        let Module { used, needs, .. } = &mut self.module;
        needs.extend(self.passed_on.into_iter().filter(|(name, _)| used.contains(name)).map(|(_, path)| path));
        self.module
    }
}

impl<'a> Visit<'a> for Reader {
    fn visit_item(&mut self, item: &'a syn::Item) {
        if is_test_item(attributes(item)) {
            return;
        }
        let name = match item {
            syn::Item::Struct(item) => Some(&item.ident),
            syn::Item::Enum(item) => Some(&item.ident),
            syn::Item::Trait(item) => Some(&item.ident),
            syn::Item::Type(item) => Some(&item.ident),
            syn::Item::Const(item) => Some(&item.ident),
            syn::Item::Static(item) => Some(&item.ident),
            syn::Item::Fn(item) => Some(&item.sig.ident),
            _ => None,
        };
        if self.inside == 0 {
            self.module.items.extend(name.map(ToString::to_string));
        }
        visit::visit_item(self, item);
    }

    fn visit_item_mod(&mut self, item: &'a syn::ItemMod) {
        if item.content.is_some() {
            self.inside += 1;
            self.names.enter(&item.ident.to_string());
            visit::visit_item_mod(self, item);
            self.names.leave();
            self.inside -= 1;
        }
    }

    fn visit_item_use(&mut self, item: &'a syn::ItemUse) {
        let is_private = matches!(item.vis, syn::Visibility::Inherited);
        for leaf in leaves(&item.tree) {
            let Some(path) = self.resolve(&leaf.path) else { continue };
            if leaf.name == "*" {
                self.module.globs.push(path.clone());
            } else if self.inside == 0 {
                self.module.aliases.insert(leaf.name.clone(), path.clone());
            }
            if is_private {
                self.module.needs.push(path);
            } else {
                self.passed_on.push((leaf.name, path));
            }
        }
    }

    fn visit_path(&mut self, path: &'a syn::Path) {
        let written: Vec<String> = path.segments.iter().map(|segment| segment.ident.to_string()).collect();
        self.module.used.extend(written.first().cloned());
        if written.len() > 1 {
            self.module.needs.extend(self.resolve(&written));
        }
        visit::visit_path(self, path);
    }

    fn visit_macro(&mut self, call: &'a syn::Macro) {
        self.visit_path(&call.path);
        for (written, _) in Names::in_tokens(call.tokens.clone()) {
            self.module.used.extend(written.first().cloned());
            if written.len() > 1 {
                self.module.needs.extend(self.resolve(&written));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::Weight;

    fn found(files: &[(&str, &str)]) -> Vec<(Weight, String)> {
        check(&Repo::of(files)).into_iter().map(|finding| (finding.weight, finding.message)).collect()
    }

    const ROOT: (&str, &str) = ("lab/sim/src/lib.rs", "mod a;\nmod b;\nmod c;\npub use a::A;\npub use b::B;\n");

    #[test]
    fn neighbours_that_need_one_another_fail() {
        let a = ("lab/sim/src/a.rs", "use crate::b::B;\npub struct A(B);\n");
        let b = ("lab/sim/src/b.rs", "pub struct B;\nfn f() { crate::c::g() }\n");
        let c = ("lab/sim/src/c.rs", "pub fn g() {}\n");
        assert_eq!(found(&[ROOT, a, b, c]), []);
        // Directly, through a third file, by the root's re-export, by a glob, in a macro.
        for text in [
            "use crate::a::A;\npub fn g() {}\n",
            "use super::A;\npub fn g() {}\n",
            "use crate::*;\npub fn g() { let _: A; }\n",
            "pub fn g() { assert!(crate::a::A::ok()) }\n",
        ] {
            let circle = found(&[ROOT, a, b, ("lab/sim/src/c.rs", text)]);
            let files = "files that need one another: lab/sim/src/a.rs, lab/sim/src/b.rs, lab/sim/src/c.rs";
            assert_eq!(circle, [(Weight::Error, files.to_string())], "{text}");
        }
    }

    #[test]
    fn a_module_and_its_children_may_need_one_another() {
        let module = ("lab/sim/src/a/mod.rs", "mod inner;\npub struct A;\npub fn f(a: A) { inner::g(a) }\n");
        let inner = ("lab/sim/src/a/inner.rs", "use super::A;\npub fn g(_: A) {}\n");
        assert_eq!(found(&[module, inner]), []);
        // Two children may not, though one reaches the other by way of the module.
        let module = ("lab/sim/src/a/mod.rs", "mod inner;\nmod other;\npub use inner::g;\n");
        let inner = ("lab/sim/src/a/inner.rs", "use super::other::B;\npub fn g(_: B) {}\n");
        let other = ("lab/sim/src/a/other.rs", "pub struct B;\nfn f() { super::g(B) }\n");
        assert_eq!(found(&[module, inner, other]).len(), 1);
    }

    #[test]
    fn tests_do_not_count() {
        let a = ("lab/sim/src/a.rs", "use crate::b::B;\npub struct A(B);\n");
        let b = ("lab/sim/src/b.rs", "pub struct B;\n#[cfg(test)]\nmod tests {\n    use crate::a::A;\n}\n");
        let tests = ("lab/sim/src/b/tests.rs", "use crate::a::A;\n");
        assert_eq!(found(&[ROOT, a, b, tests]), []);
    }

    /// What the layers say of `programs.rs` and `translation.rs` with these methods.
    fn of_layers(programs: &str, translation: &str) -> Vec<String> {
        let files =
            [("engine/ssd/src/device/programs.rs", programs), ("engine/ssd/src/device/translation.rs", translation)];
        layers(&Repo::of(&files)).into_iter().map(|finding| finding.message).collect()
    }

    #[test]
    fn methods_of_the_device_call_down() {
        let (upper, lower) = ("fn program(&mut self) { self.look_up(); }", "fn look_up(&mut self) {}");
        let device = |methods: &str| {
            format!("impl Device {{ {methods} }}\nimpl Other {{ fn go(&self) {{ self.program(); }} }}\n")
        };
        assert!(of_layers(&device(upper), &device(lower)).is_empty());
        let up = "fn look_up(&mut self) { if true { self.program(); } self.look_up(); }";
        let found = of_layers(&device("fn program(&mut self) {}"), &device(up));
        assert_eq!(
            found,
            ["`self.program` of programs.rs does not lie below translation.rs: leave an effect, or move it"]
        );
        let tests = format!("{}#[cfg(test)]\nmod tests {{ {} }}\n", device(lower), device(up));
        assert!(of_layers(&device(upper), &tests).is_empty(), "tests may call what they like");
    }

    #[test]
    fn files_of_a_layer_do_not_call_one_another_and_each_has_one() {
        let wordlines =
            ("engine/ssd/src/device/wordlines.rs", "impl Device { fn gather(&self) { self.look_up(); } }\n");
        let translation = ("engine/ssd/src/device/translation.rs", "impl Device { fn look_up(&self) {} }\n");
        assert_eq!(layers(&Repo::of(&[wordlines, translation])).len(), 1);
        let nowhere = ("engine/ssd/src/device/other.rs", "impl Device { fn go(&self) {} }\n");
        assert_eq!(layers(&Repo::of(&[nowhere, translation])).len(), 1);
    }
}
