//! Where a crate's root re-exports things from: `pub use controller::Device` makes `crate::Device` mean
//! `crate::controller::Device`, and the import rule must see through that.

use syn::UseTree;

use super::repo::{Repo, crate_of, is_test_item};

/// Re-exports of all crate roots: (crate, name) to the path behind it.
pub struct Reexports(Vec<(String, String, Vec<String>)>);

impl Reexports {
    /// Reads the crate roots.
    pub fn of(repo: &Repo) -> Reexports {
        let mut found = Vec::new();
        for (file, rust) in repo.rust() {
            let Some(krate) = crate_of(&file.path).filter(|_| file.path.ends_with("/src/lib.rs")) else { continue };
            for item in &rust.tree.items {
                let syn::Item::Use(item) = item else { continue };
                if matches!(item.vis, syn::Visibility::Inherited) || is_test_item(&item.attrs) {
                    continue;
                }
                for leaf in leaves(&item.tree) {
                    let mut path = leaf.path;
                    if matches!(path.first().map(String::as_str), Some("crate" | "self")) {
                        path.remove(0);
                    }
                    path.insert(0, krate.to_string());
                    found.push((krate.to_string(), leaf.name, path));
                }
            }
        }
        Reexports(found)
    }

    /// `path` (crate first) with a re-exported name replaced by what it stands for.
    pub fn expand(&self, path: Vec<String>) -> Vec<String> {
        let [krate, name, rest @ ..] = path.as_slice() else { return path };
        match self.0.iter().find(|(k, n, _)| k == krate && n == name) {
            Some((_, _, target)) => target.iter().chain(rest).cloned().collect(),
            None => path,
        }
    }
}

/// One name that a `use` brings in.
pub struct Leaf {
    /// The path behind it, as written.
    pub path: Vec<String>,
    /// The name it gets here; `*` for a glob, whose path is what it opens.
    pub name: String,
    /// Where it stands.
    pub line: usize,
}

/// The names a `use` brings in.
pub fn leaves(tree: &UseTree) -> Vec<Leaf> {
    let mut found = Vec::new();
    walk(tree, &mut Vec::new(), &mut found);
    found
}

fn walk(tree: &UseTree, path: &mut Vec<String>, found: &mut Vec<Leaf>) {
    match tree {
        UseTree::Path(part) => {
            path.push(part.ident.to_string());
            walk(&part.tree, path, found);
            path.pop();
        }
        UseTree::Group(group) => group.items.iter().for_each(|tree| walk(tree, path, found)),
        UseTree::Glob(glob) => {
            let line = glob.star_token.spans[0].start().line;
            found.push(Leaf { path: path.clone(), name: "*".into(), line });
        }
        UseTree::Name(name) => found.push(leaf(path, &name.ident, &name.ident)),
        UseTree::Rename(rename) => found.push(leaf(path, &rename.ident, &rename.rename)),
    }
}

fn leaf(path: &[String], last: &syn::Ident, name: &syn::Ident) -> Leaf {
    let mut path = path.to_vec();
    if last != "self" || path.is_empty() {
        path.push(last.to_string());
    }
    Leaf { path, name: name.to_string(), line: last.span().start().line }
}
