//! Where the bytes of a drive are kept.

use std::path::{Path, PathBuf};

/// Where the bytes are kept.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Backing {
    /// In memory, until the server ends.
    Memory,
    /// In this file, which is made if there is none.
    File(PathBuf),
}

/// As a user names it: the word `memory`, or a file. A file of that name is `./memory`.
impl From<PathBuf> for Backing {
    fn from(named: PathBuf) -> Backing {
        // As a path it would equal `./memory`; as text it does not.
        if named.as_os_str() == Path::new("memory").as_os_str() { Backing::Memory } else { Backing::File(named) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_word_memory_means_memory() {
        assert_eq!(Backing::from(PathBuf::from("memory")), Backing::Memory);
        for file in ["./memory", "Memory", "memory.img", "a/memory", "memory/"] {
            assert_eq!(Backing::from(PathBuf::from(file)), Backing::File(file.into()));
        }
    }
}
