//! Where the bytes of a drive are kept.

use std::path::{Path, PathBuf};

/// Where the bytes are kept.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Place {
    /// In memory, until the server ends.
    Memory,
    /// In this file, which is made if there is none.
    File(PathBuf),
}

/// As a user names it: the word `memory`, or a file. A file of that name is `./memory`.
impl From<PathBuf> for Place {
    fn from(named: PathBuf) -> Place {
        // Paths with and without `./` are equal; texts are not.
        if named.as_os_str() == Path::new("memory").as_os_str() { Place::Memory } else { Place::File(named) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_word_memory_means_memory() {
        assert_eq!(Place::from(PathBuf::from("memory")), Place::Memory);
        for file in ["./memory", "Memory", "memory.img", "a/memory", "memory/"] {
            assert_eq!(Place::from(PathBuf::from(file)), Place::File(file.into()));
        }
    }
}
