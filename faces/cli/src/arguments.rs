//! The arguments of the command line, which may be any bytes: reading them, reporting errors in them, quoting them.
//!
//! Promises that no argument makes the program panic: paths may be any that the system allows, everything else must be
//! text, and an error names the argument with unprintable characters escaped.

use std::ffi::OsString;
use std::path::Path;
use std::process::ExitCode;

use clap::Parser;
use clap::error::{Error, ErrorKind};
use flashlane_outputs::shown::{bytes, escaped_lines};

use crate::args::Cli;
use crate::fail::Failure;
use crate::text;

/// The parsed command line; or, when its error or help text has been printed, the exit code.
pub fn read() -> Result<Cli, ExitCode> {
    let given: Vec<OsString> = std::env::args_os().collect();
    let error = match Cli::try_parse_from(&given) {
        Ok(cli) => return Ok(cli),
        Err(error) if error.kind() == ErrorKind::InvalidUtf8 => {
            let failure = Failure::Input(not_text(&given));
            text::complain(&failure);
            return Err(ExitCode::from(failure.code()));
        }
        Err(error) => error,
    };
    say(&given, error)
}

/// Prints help or an error in the arguments: unchanged if the arguments are printable, else escaped.
fn say(given: &[OsString], error: Error) -> Result<Cli, ExitCode> {
    let code = ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(2));
    if let Some(text) = with_legal_numbers(&error.render().to_string()) {
        text::note(escaped_lines(&text).trim_end());
        return Err(code);
    }
    let shown: Vec<OsString> = given.iter().map(|arg| bytes(arg.as_encoded_bytes()).into()).collect();
    if shown == given {
        // A closed output pipe is no failure.
        let _ = error.print();
        return Err(code);
    }
    match Cli::try_parse_from(&shown) {
        Err(same) if same.kind() == error.kind() => {
            let _ = same.print();
        }
        _ => text::note(&escaped_lines(&error.render().to_string())),
    }
    Err(code)
}

/// The text of an error about a number, with what would be legal; `None` if it is about another thing.
fn with_legal_numbers(text: &str) -> Option<String> {
    const WHOLE: &str = "must be a whole number in digits alone, such as 20";
    const SMALLER: &str = "must be a smaller whole number: it does not fit 64 bits";
    const NUMBER: &str = "must be a number, such as 1.5";
    let said = [
        ("invalid digit found in string", WHOLE),
        ("cannot parse integer from empty string", WHOLE),
        ("number too large to fit in target type", SMALLER),
        ("number too small to fit in target type", SMALLER),
        ("invalid float literal", NUMBER),
        ("cannot parse float from empty string", NUMBER),
    ];
    let (before, legal) = said.iter().find(|(before, _)| text.contains(&format!("': {before}")))?;
    Some(text.replacen(before, legal, 1))
}

/// The argument that must be text and is not: the one whose replacement removes the error.
fn not_text(given: &[OsString]) -> String {
    let mut mended = given.to_vec();
    let broken =
        |args: &[OsString]| matches!(Cli::try_parse_from(args), Err(error) if error.kind() == ErrorKind::InvalidUtf8);
    for at in 0..given.len() {
        if given[at].to_str().is_some() {
            continue;
        }
        mended[at] = bytes(given[at].as_encoded_bytes()).into();
        if !broken(&mended) {
            let word = bytes(given[at].as_encoded_bytes());
            return format!(
                "argument {at}, `{word}`: is not UTF-8; only the names of files and folders may be other bytes"
            );
        }
    }
    "an argument is not UTF-8; only the names of files and folders may be other bytes".into()
}

/// The command line quoted for a shell, to run it again: the program by its name without its folder.
pub fn command_line() -> String {
    let mut given = std::env::args_os();
    let program = given.next().and_then(|path| Path::new(&path).file_stem().map(OsString::from));
    let program = program.map_or_else(|| "flashlane".to_owned(), quoted);
    std::iter::once(program).chain(given.map(quoted)).collect::<Vec<_>>().join(" ")
}

/// One argument of it, with bytes that are not UTF-8 as `$'\xFF'`, which bash, zsh and others read.
pub fn quoted(arg: OsString) -> String {
    let text = match arg.into_string() {
        Ok(text) => text,
        Err(arg) => {
            let plain = |byte: &u8| byte.is_ascii_graphic() && !b"'\\".contains(byte) || *byte == b' ';
            let shown = arg.as_encoded_bytes().iter().map(|byte| match byte {
                byte if plain(byte) => char::from(*byte).to_string(),
                byte => format!("\\x{byte:02x}"),
            });
            return format!("$'{}'", shown.collect::<String>());
        }
    };
    let plain = !text.is_empty() && text.chars().all(|c| c.is_ascii_alphanumeric() || "-_./,=:+@%".contains(c));
    if plain { text } else { format!("'{}'", text.replace('\'', "'\\''")) }
}
