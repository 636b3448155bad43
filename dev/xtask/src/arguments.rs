//! The words of the command line, which the system may hand over as any bytes.

/// The arguments; an error names the one that is no text.
pub fn read() -> Result<Vec<String>, String> {
    let text = |(i, arg): (usize, std::ffi::OsString)| {
        arg.into_string().map_err(|arg| format!("argument {i}, {arg:?}: is not UTF-8; legal is text"))
    };
    std::env::args_os().enumerate().skip(1).map(text).collect()
}
