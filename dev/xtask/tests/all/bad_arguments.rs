//! The program as one calls it: what it refuses.
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::process::{Command, Output};

fn xtask(args: &[&OsStr]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_xtask")).args(args).output().expect("the program runs")
}

#[test]
fn words_that_are_no_text_are_refused_by_number() {
    let output = xtask(&[OsStr::new("tidy"), OsStr::from_bytes(b"a\xffb")]);
    assert_eq!(output.status.code(), Some(2));
    let message = String::from_utf8(output.stderr).expect("text");
    assert_eq!(message, "xtask: argument 2, \"a\\xFFb\": is not UTF-8; legal is text\n");
}

#[test]
fn bless_without_a_legal_name_is_refused() {
    for args in [&["bless"][..], &["bless", "everything"]] {
        let args: Vec<&OsStr> = args.iter().map(OsStr::new).collect();
        let output = xtask(&args);
        assert_eq!(output.status.code(), Some(2), "{args:?}");
        assert!(String::from_utf8_lossy(&output.stderr).contains("golden, docs, report"), "{args:?}");
    }
}
