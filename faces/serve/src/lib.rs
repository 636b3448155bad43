//! The modelled SSD as a block device in real time: clients read and write it over NBD or as files, and every command takes as long as the model says.
//!
//! Owns the protocol, the clock, the bytes and the server around the device. Promises that a command is answered once, not before the
//! modelled drive has ended it and, for a write, not before its bytes are where `--data` says; that a power cut takes nothing that was flushed; that a client which breaks the protocol
//! disturbs no other; and that the memory a client can make the server hold is bounded.

mod address;
mod backing;
pub mod control_line;
pub mod nbd;
mod power_cut;
mod snapshot;
mod statistics;

#[cfg(target_os = "linux")]
mod chunks;
#[cfg(target_os = "linux")]
mod connection;
#[cfg(target_os = "linux")]
mod contents;
#[cfg(target_os = "linux")]
mod control;
#[cfg(target_os = "linux")]
mod dashboard;
#[cfg(target_os = "linux")]
mod fuse;
#[cfg(target_os = "linux")]
mod limited;
#[cfg(target_os = "linux")]
mod listener;
#[cfg(target_os = "linux")]
mod metrics;
#[cfg(target_os = "linux")]
mod real_time;
#[cfg(target_os = "linux")]
mod record;
#[cfg(target_os = "linux")]
mod server;
#[cfg(target_os = "linux")]
mod state_file;
#[cfg(target_os = "linux")]
mod volatile;
#[cfg(target_os = "linux")]
mod wakeup;

pub use address::Address;
pub use backing::Backing;
pub use power_cut::PowerCut;
pub use snapshot::{Snapshot, UnitView};
pub use statistics::{ExportReport, Message, Report, lateness};

#[cfg(target_os = "linux")]
pub use dashboard::Live;
#[cfg(target_os = "linux")]
pub use linux::{Options, Ready, ServerHandle, Stop, open, send};

#[cfg(target_os = "linux")]
mod linux {
    use std::os::unix::net::UnixStream;
    use std::time::Duration;

    pub use crate::control::{ServerHandle, send};
    use crate::server::Server;
    use crate::{Address, Backing, Message, Report};

    /// How a drive is served.
    #[derive(Clone, Debug)]
    pub struct Options {
        /// Where clients find it over NBD.
        pub nbd: Option<Address>,
        /// The empty folder at which its exports are mounted as files.
        pub fuse: Option<std::path::PathBuf>,
        /// Where its bytes are.
        pub data: Backing,
        /// Real seconds that a simulated one takes.
        pub time_scale: f64,
        /// How long before an event the server stops sleeping and polls.
        pub spin: Duration,
        /// Where what the drive is given is recorded.
        pub record: Option<std::path::PathBuf>,
        /// Where the drive's state is from one session to the next: taken away when a session begins, so that there is none after one that
        /// did not end by itself.
        pub state: Option<std::path::PathBuf>,
        /// The power is cut once the drive has been given so many commands.
        pub power_cut: Option<u64>,
        /// Where it is controlled: a socket of this user's.
        pub control: Option<std::path::PathBuf>,
        /// Where its figures are for Prometheus, at `/metrics`.
        pub metrics: Option<std::net::SocketAddr>,
        /// How long a client of NBD may take to open an export.
        pub handshake: Duration,
        /// Flushes and FUA are answered as if they had been done, so that a test of what a power cut takes can be seen to fail.
        pub ignores_flushes: bool,
    }

    /// A drive in memory without a way to it, as fast as the model says.
    impl Default for Options {
        fn default() -> Options {
            Options {
                nbd: None,
                fuse: None,
                data: Backing::Memory,
                time_scale: 1.0,
                spin: Duration::from_micros(20),
                record: None,
                state: None,
                power_cut: None,
                control: None,
                metrics: None,
                handshake: Duration::from_secs(10),
                ignores_flushes: false,
            }
        }
    }

    /// Of 1 to 99: above programs, and below what the system itself does in real time.
    const REAL_TIME_PRIORITY: u8 = 10;

    /// What ends a server.
    #[derive(Debug)]
    pub struct Stop(UnixStream);

    impl Stop {
        /// The server ends.
        pub fn now(self) {
            // Signals have copies of it, so that dropping it would not be enough.
            let _ = self.0.shutdown(std::net::Shutdown::Both);
        }
    }

    /// A server that clients can connect to.
    pub struct Ready {
        server: Server,
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
        Ok((Ready { server }, Stop(theirs)))
    }

    impl Ready {
        /// Asks for real-time priority for this thread, which is to call [`Ready::run`]. The threads of files and clients keep theirs.
        ///
        /// # Errors
        /// The system refuses it: why, in words.
        pub fn ask_for_real_time(&self) -> Result<(), String> {
            use thread_priority::{
                RealtimeThreadSchedulePolicy, ThreadPriority, ThreadPriorityValue, ThreadSchedulePolicy,
            };
            let policy = ThreadSchedulePolicy::Realtime(RealtimeThreadSchedulePolicy::Fifo);
            let priority = ThreadPriority::Crossplatform(ThreadPriorityValue::try_from(REAL_TIME_PRIORITY)?);
            let asked =
                thread_priority::set_thread_priority_and_policy(thread_priority::thread_native_id(), priority, policy);
            asked.map_err(|why| match why {
                thread_priority::Error::OS(number) => std::io::Error::from_raw_os_error(number).to_string(),
                other => other.to_string(),
            })
        }

        /// What other threads control the server with.
        pub fn handle(&self) -> ServerHandle {
            self.server.handle()
        }

        /// Where clients find it over NBD, and its figures: with a port of the system's choice where port 0 was asked for.
        pub fn addresses(&self) -> (Option<Address>, Option<std::net::SocketAddr>) {
            self.server.addresses()
        }

        /// Serves until it is stopped, and says meanwhile what happens.
        ///
        /// # Errors
        /// The machine fails, in words.
        pub fn run(self, say: &mut dyn FnMut(Message<'_>)) -> Result<Report, String> {
            self.server.run(say)
        }
    }
}
