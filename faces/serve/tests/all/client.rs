//! A client of block devices over the network, as small as will do, with bad manners where a test wants them.

use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::Duration;

/// A connection with an open export.
pub struct Client {
    pub socket: UnixStream,
    pub bytes: u64,
    structured: bool,
    cookie: u64,
}

/// A connection after the greeting, before any option.
pub fn greeted(path: &Path) -> UnixStream {
    let mut socket = UnixStream::connect(path).expect("a server");
    socket.set_read_timeout(Some(Duration::from_secs(20))).expect("a limit");
    let mut greeting = [0; 18];
    socket.read_exact(&mut greeting).expect("a greeting");
    assert_eq!(&greeting[..16], b"NBDMAGICIHAVEOPT");
    socket
}

impl Client {
    pub fn open(path: &Path, export: &str, structured: bool) -> Client {
        let mut socket = greeted(path);
        socket.write_all(&3_u32.to_be_bytes()).expect("flags");
        let option = |socket: &mut UnixStream, number: u32, data: &[u8]| {
            let head = [b"IHAVEOPT".as_slice(), &number.to_be_bytes(), &(data.len() as u32).to_be_bytes(), data];
            socket.write_all(&head.concat()).expect("an option");
        };
        if structured {
            option(&mut socket, 8, &[]);
            let mut reply = [0; 20];
            socket.read_exact(&mut reply).expect("a reply");
            assert_eq!(reply[12..16], [0, 0, 0, 1]);
        }
        option(&mut socket, 1, export.as_bytes());
        let mut opened = [0; 10];
        socket.read_exact(&mut opened).expect("an export");
        let bytes = u64::from_be_bytes(opened[..8].try_into().expect("eight"));
        Client { socket, bytes, structured, cookie: 0 }
    }

    /// The same connection once more, to send through while answers come.
    pub fn again(&self) -> Client {
        let socket = self.socket.try_clone().expect("a socket");
        Client { socket, bytes: self.bytes, structured: self.structured, cookie: self.cookie }
    }

    /// Sends a command without waiting for its answer; returns its cookie.
    pub fn send(&mut self, kind: u16, offset: u64, length: u32, data: &[u8]) -> u64 {
        self.try_send(kind, offset, length, data).expect("a command")
    }

    /// As [`Client::send`], to a server that may have ended.
    pub fn try_send(&mut self, kind: u16, offset: u64, length: u32, data: &[u8]) -> std::io::Result<u64> {
        self.try_send_with(0, kind, offset, length, data)
    }

    /// As [`Client::send`], with the flag that it must be durable when it is answered (FUA).
    pub fn send_forced(&mut self, kind: u16, offset: u64, length: u32, data: &[u8]) -> u64 {
        self.try_send_with(1, kind, offset, length, data).expect("a command")
    }

    fn try_send_with(&mut self, flags: u16, kind: u16, offset: u64, length: u32, data: &[u8]) -> std::io::Result<u64> {
        self.cookie += 1;
        let head = [
            &[0x25, 0x60, 0x95, 0x13][..],
            &flags.to_be_bytes(),
            &kind.to_be_bytes(),
            &self.cookie.to_be_bytes(),
            &offset.to_be_bytes(),
            &length.to_be_bytes(),
            data,
        ];
        self.socket.write_all(&head.concat())?;
        Ok(self.cookie)
    }

    /// The next answer, to a command that reads `length` bytes: its cookie, the error's number, the bytes.
    pub fn answer(&mut self, length: u32) -> (u64, u32, Vec<u8>) {
        self.answer_of(|_| length)
    }

    /// The next answer, to any command: `length` says how many bytes the one of a cookie reads.
    pub fn answer_of(&mut self, length: impl Fn(u64) -> u32) -> (u64, u32, Vec<u8>) {
        let number = |bytes: &[u8]| u32::from_be_bytes(bytes.try_into().expect("four"));
        let cookie = |bytes: &[u8]| u64::from_be_bytes(bytes.try_into().expect("eight"));
        let mut head = [0; 16];
        self.socket.read_exact(&mut head).expect("an answer");
        if number(&head[..4]) == 0x6744_6698 {
            let error = number(&head[4..8]);
            let mut data = vec![0; if error == 0 { length(cookie(&head[8..])) as usize } else { 0 }];
            self.socket.read_exact(&mut data).expect("data");
            return (cookie(&head[8..]), error, data);
        }
        assert!(self.structured && number(&head[..4]) == 0x668e_33ef, "{head:?}");
        let mut rest = [0; 4];
        self.socket.read_exact(&mut rest).expect("a length");
        let mut body = vec![0; number(&rest) as usize];
        self.socket.read_exact(&mut body).expect("a chunk");
        match head[4..8] {
            [0, 1, 0, 1] => (cookie(&head[8..]), 0, body.split_off(8)),
            _ => (cookie(&head[8..]), number(&body[..4]), Vec::new()),
        }
    }

    pub fn read(&mut self, offset: u64, length: u32) -> Vec<u8> {
        let cookie = self.send(0, offset, length, &[]);
        let (answered, error, data) = self.answer(length);
        assert_eq!((answered, error), (cookie, 0));
        data
    }

    pub fn write(&mut self, offset: u64, data: &[u8]) {
        self.change(1, offset, data.len() as u32, data);
    }

    /// A command that reads nothing, up to its answer.
    pub fn change(&mut self, kind: u16, offset: u64, length: u32, data: &[u8]) {
        let cookie = self.send(kind, offset, length, data);
        let (answered, error, _) = self.answer(0);
        assert_eq!((answered, error), (cookie, 0));
    }
}
