//! The modelled SSD as a block device in real time: clients read and write it over NBD, and every command takes as long as the model says.
//!
//! Owns the protocol, the clock, the bytes and the server around the device. Promises that a command is answered once, not before the
//! modelled drive has ended it and, for a write, not before its bytes are where `--data` says; that a client which breaks the protocol
//! disturbs no other; and that the memory a client can make the server hold is bounded.

mod address;
pub mod nbd;
mod statistics;

#[cfg(target_os = "linux")]
mod connection;
#[cfg(target_os = "linux")]
mod contents;
#[cfg(target_os = "linux")]
mod real_time;
#[cfg(target_os = "linux")]
mod record;
#[cfg(target_os = "linux")]
mod server;

pub use address::Address;
pub use statistics::{ExportReport, Report};

#[cfg(target_os = "linux")]
pub use linux::{Options, Place, Ready, Stop, open};

#[cfg(target_os = "linux")]
mod linux {
    use std::os::unix::net::UnixStream;
    use std::time::Duration;

    pub use crate::contents::Place;
    use crate::server::Server;
    use crate::{Address, Report};

    /// How a drive is served.
    #[derive(Clone, Debug)]
    pub struct Options {
        /// Where clients find it.
        pub nbd: Address,
        /// Where its bytes are.
        pub data: Place,
        /// Real seconds that a simulated one takes.
        pub time_scale: f64,
        /// How long before an event the server stops sleeping and polls.
        pub spin: Duration,
        /// Where what the drive is given is recorded.
        pub record: Option<std::path::PathBuf>,
    }

    /// What ends a server.
    #[derive(Debug)]
    pub struct Stop(UnixStream);

    impl Stop {
        /// The server ends.
        pub fn now(self) {
            drop(self.0);
        }
    }

    /// A server that clients can connect to.
    pub struct Ready {
        server: Server,
        nbd: Address,
    }

    /// Opens a server of `drive`: from now on clients can connect. It ends on these signals, and by the handle that is
    /// returned.
    ///
    /// # Errors
    /// An address or a file that cannot be used, in words.
    pub fn open(drive: flashlane_sim::Drive, options: &Options, signals: &[i32]) -> Result<(Ready, Stop), String> {
        let failed = |why: std::io::Error| format!("cannot wait for signals: {why}");
        let (ours, theirs) = UnixStream::pair().map_err(failed)?;
        for &signal in signals {
            let end = theirs.try_clone().map_err(failed)?;
            signal_hook::low_level::pipe::register(signal, end).map_err(failed)?;
        }
        // Without it a sleeping thread is woken 50 us late.
        let _ = rustix::thread::set_current_timer_slack(std::num::NonZeroU64::new(1));
        let server = Server::open(drive, options, ours.into())?;
        Ok((Ready { server, nbd: options.nbd.clone() }, Stop(theirs)))
    }

    impl Ready {
        /// Serves until it is stopped; `show` gets a line about the last second, at most once a second.
        ///
        /// # Errors
        /// The machine fails, in words.
        pub fn run(self, show: &mut dyn FnMut(&str)) -> Result<Report, String> {
            let report = self.server.run(show);
            if let Address::Unix(path) = &self.nbd {
                let _ = std::fs::remove_file(path);
            }
            report
        }
    }
}
