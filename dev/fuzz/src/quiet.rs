//! Catches a panic with its message and place, without the usual output on standard error.

use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind, set_hook, take_hook};
use std::sync::Once;

thread_local! {
    /// `Some` while this thread catches panics: the message of the panic.
    static CAUGHT: RefCell<Option<String>> = const { RefCell::new(None) };
}

static HOOK: Once = Once::new();

/// Runs `work`; turns a panic into an error with its place and message.
pub fn catch<T>(work: impl FnOnce() -> T) -> Result<T, String> {
    HOOK.call_once(|| {
        let usual = take_hook();
        set_hook(Box::new(move |panic| {
            let ours =
                CAUGHT.with_borrow_mut(|caught| caught.as_mut().map(|printed| *printed = panic.to_string()).is_some());
            if !ours {
                usual(panic);
            }
        }));
    });
    CAUGHT.set(Some(String::new()));
    let outcome = catch_unwind(AssertUnwindSafe(work));
    let printed = CAUGHT.take().unwrap_or_default();
    outcome.map_err(|_| printed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_becomes_a_message_with_its_place() {
        assert_eq!(catch(|| 7), Ok(7));
        let printed = catch(|| panic!("number {}", 42)).unwrap_err();
        assert!(printed.contains("number 42") && printed.contains("quiet.rs"), "{printed}");
        assert_eq!(catch(|| 8), Ok(8));
    }
}
