//! Where clients find the server.

use std::fmt;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::str::FromStr;

use flashlane_outputs::shown;

/// `unix:PATH` or `tcp:127.0.0.1:PORT`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Address {
    /// A socket in the file system.
    Unix(PathBuf),
    /// A port of this machine, which other machines cannot reach.
    Tcp(SocketAddr),
}

impl FromStr for Address {
    type Err = String;

    fn from_str(text: &str) -> Result<Address, String> {
        let legal = "must be unix:PATH, or tcp:127.0.0.1:PORT";
        match text.split_once(':') {
            Some(("unix", path)) if !path.is_empty() => Ok(Address::Unix(path.into())),
            Some(("tcp", address)) => {
                let address: SocketAddr = address.parse().map_err(|_| legal.to_owned())?;
                // The protocol has no passwords here.
                if !address.ip().is_loopback() {
                    return Err(format!(
                        "{legal}: other machines must not reach it, the protocol asks for no password"
                    ));
                }
                Ok(Address::Tcp(address))
            }
            _ => Err(legal.to_owned()),
        }
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Address::Unix(path) => write!(f, "unix:{}", shown::path(path)),
            Address::Tcp(address) => write!(f, "tcp:{address}"),
        }
    }
}

impl Address {
    /// The URI of an export, as clients such as `nbdinfo` and fio take it, from any folder.
    pub fn uri(&self, export: &str) -> String {
        let export: String = export.bytes().map(escaped).collect();
        match self {
            Address::Unix(path) => {
                let path = std::path::absolute(path).unwrap_or_else(|_| path.clone());
                let byte = |byte| if byte == b'/' { "/".to_owned() } else { escaped(byte) };
                let path: String = path.as_os_str().as_encoded_bytes().iter().copied().map(byte).collect();
                format!("nbd+unix:///{export}?socket={path}")
            }
            Address::Tcp(address) => format!("nbd://{address}/{export}"),
        }
    }
}

/// A byte of a name, as a URI has it.
fn escaped(byte: u8) -> String {
    if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
        char::from(byte).to_string()
    } else {
        format!("%{byte:02X}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_read_and_shown() {
        for text in ["unix:/run/drive", "unix:drive sock", "tcp:127.0.0.1:10809", "tcp:[::1]:0"] {
            assert_eq!(text.parse::<Address>().expect(text).to_string(), text);
        }
        for text in
            ["", "unix:", "tcp:", "tcp:localhost:1", "tcp:127.0.0.1", "udp:1", "/run/drive", "tcp:127.0.0.1:70000"]
        {
            assert!(text.parse::<Address>().expect_err(text).starts_with("must be unix:PATH"), "{text}");
        }
        let why = "tcp:0.0.0.0:10809".parse::<Address>().expect_err("every machine");
        assert!(why.contains("other machines must not reach it"), "{why}");
        let uri = |text: &str| text.parse::<Address>().expect(text).uri("my db");
        assert_eq!(uri("unix:/run/d"), "nbd+unix:///my%20db?socket=/run/d");
        assert_eq!(uri("unix:/a b/c&d"), "nbd+unix:///my%20db?socket=/a%20b/c%26d");
        assert_eq!(uri("tcp:127.0.0.1:9"), "nbd://127.0.0.1:9/my%20db");
    }
}
