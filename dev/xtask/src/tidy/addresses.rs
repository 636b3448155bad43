//! Rule on addresses of package registries: only lock files have them.
//!
//! What is fetched is fetched by a registry's own client, which knows of mirrors, proxies and what a machine may reach. The hosts are a
//! closed list: those that Rust's, Python's, JavaScript's, Go's and Ruby's clients ask unless told otherwise, their web pages, and
//! what serves their files.

use super::Finding;
use super::repo::Repo;

// Written in pieces, so that this file does not hold what it forbids.
const HOSTS: &[&str] = &[
    concat!("crates", ".io"),
    concat!("pypi", ".org"),
    concat!("python", "hosted.org"),
    concat!("npm", "js.org"),
    concat!("npm", "js.com"),
    concat!("yarn", "pkg.com"),
    concat!("un", "pkg.com"),
    concat!("js", "delivr.net"),
    concat!("proxy.go", "lang.org"),
    concat!("sum.go", "lang.org"),
    concat!("ruby", "gems.org"),
];

/// Rule: no registry's host outside of lock files.
pub fn check(repo: &Repo) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in repo.files.iter().filter(|file| !file.is_lock()) {
        for (number, line) in file.lines() {
            let line = line.to_ascii_lowercase();
            for host in HOSTS.iter().filter(|host| stands_in(&line, host)) {
                let message = format!("`{host}` is a package registry; name the package, and let its client find it");
                findings.push(Finding::error(&file.path, number, message));
            }
        }
    }
    findings
}

/// Whether `host`, or a host below it, stands in `line`.
fn stands_in(line: &str, host: &str) -> bool {
    line.match_indices(host).any(|(at, _)| {
        let before = line[..at].chars().next_back();
        let after = line[at + host.len()..].chars().next();
        !before.is_some_and(|c| c.is_alphanumeric() || c == '-') && !after.is_some_and(char::is_alphanumeric)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(path: &str, text: &str) -> Vec<usize> {
        check(&Repo::of(&[(path, text)])).into_iter().map(|finding| finding.line).collect()
    }

    #[test]
    fn every_host_is_found_wherever_it_stands() {
        for host in HOSTS {
            let address =
                format!("fine\nurl=https://registry.{host}/a/-/a-1.tgz\nfine\nsee <{}>\n", host.to_uppercase());
            for path in
                ["tools/get.sh", "a/README.md", "a/src/b.rs", "a/tests/c.rs", "Makefile", "faces/python/pyproject.toml"]
            {
                assert_eq!(lines(path, &address), [2, 4], "{host} in {path}");
            }
        }
    }

    #[test]
    fn lock_files_and_other_hosts_are_fine() {
        for host in HOSTS {
            let address = format!("https://{host}/a\n");
            assert!(lines("Cargo.lock", &address).is_empty() && lines("python/package-lock.json", &address).is_empty());
            assert!(lines("a/b.md", &format!("my{host} my-{host} {host}x\n")).is_empty(), "{host}");
        }
    }
}
