//! The protocol of network block devices: whatever a client sends, commands lie within the export, and it does not matter how the
//! bytes are cut.

use flashlane_serve::nbd::{Close, Command, Export, Kind, MAX_PAYLOAD, Session};

use crate::Target;

/// The target of this module. The input is what a client sends.
pub const TARGET: Target = Target {
    name: "nbd",
    about: "what a client of a served drive sends: commands within the export, an answer, or the end of the connection, however it is cut",
    seeds: || {
        let head: &[u8] = b"\0\0\0\x03";
        let options: [&[u8]; 4] = [
            b"IHAVEOPT\0\0\0\x08\0\0\0\0",
            b"IHAVEOPT\0\0\0\x03\0\0\0\0",
            b"IHAVEOPT\0\0\0\x07\0\0\0\x0a\0\0\0\x02db\0\x01\0\x03",
            b"IHAVEOPT\0\0\0\x01\0\0\0\x02db",
        ];
        let read = [b"\x25\x60\x95\x13".as_slice(), &[0, 0, 0, 0], &[1; 8], &[0; 6], &[2, 0], &[0, 0, 2, 0]].concat();
        let write =
            [b"\x25\x60\x95\x13".as_slice(), &[0, 0, 0, 1], &[2; 8], &[0; 8], &[0, 0, 2, 0], &[7; 512]].concat();
        let trim = [b"\x25\x60\x95\x13".as_slice(), &[0, 0, 0, 4], &[3; 8], &[0; 8], &[0, 0, 64, 0]].concat();
        let zeroes = [b"\x25\x60\x95\x13".as_slice(), &[0, 3, 0, 6], &[4; 8], &[0; 8], &[0, 0, 2, 0]].concat();
        let leave = [b"\x25\x60\x95\x13".as_slice(), &[0, 0, 0, 2], &[0; 20]].concat();
        vec![
            [head, options[0], options[1], options[2], &read, &write, &leave].concat(),
            [head, options[3], &write, &read].concat(),
            [head, options[3], &trim, &zeroes, &read].concat(),
            [head, options[1]].concat(),
        ]
    },
    words: &["IHAVEOPT", "\0\0\0\x03", "\0\0\0\x07", "\0\0\x02\0", "%`", "db", "backup"],
    feed,
};

fn feed(input: &[u8]) -> String {
    let whole = talk(input, input.len().max(1), usize::MAX);
    assert_eq!(talk(input, 7, usize::MAX), whole, "in pieces");
    assert_eq!(talk(input, 1000, 1), whole, "with commands one by one");
    refused(input);
    whole.0
}

/// A client that is not served opens nothing, whatever it says.
fn refused(input: &[u8]) {
    let export = Export { name: "db".into(), bytes: 1 << 20, preferred: 16 << 10 };
    let (mut out, mut commands) = (Vec::new(), Vec::new());
    let mut session = Session::refusing(vec![export].into(), &mut out);
    let _ = input.chunks(7).try_for_each(|piece| session.receive(piece, usize::MAX, &mut out, &mut commands));
    assert!(session.export().is_none() && commands.is_empty());
}

/// How the conversation ends, what is said, and the commands.
fn talk(input: &[u8], size: usize, budget: usize) -> (String, Vec<u8>, Vec<Command>) {
    let export = |name: &str, bytes| Export { name: name.into(), bytes, preferred: 16 << 10 };
    let exports = [export("db", 1 << 20), export("backup", 4 << 20)];
    let (mut out, mut commands) = (Vec::new(), Vec::new());
    let mut session = Session::new(exports.clone().into(), &mut out);
    let mut result = Ok(());
    for piece in input.chunks(size) {
        result = session.receive(piece, budget, &mut out, &mut commands);
        while result.is_ok() && session.is_paused() {
            result = session.receive(&[], budget, &mut out, &mut commands);
        }
        if result.is_err() {
            break;
        }
    }
    for command in &commands {
        let export = &exports[session.export().expect("open")];
        assert!(command.offset + command.length <= export.bytes);
        match &command.kind {
            Kind::Read => assert!(command.length > 0 && command.length <= u64::from(MAX_PAYLOAD)),
            Kind::Write(data) => assert_eq!(data.len() as u64, command.length),
            Kind::Trim | Kind::WriteZeroes { .. } => assert!(command.length > 0),
            Kind::Flush => assert_eq!((command.offset, command.length), (0, 0)),
        }
    }
    let end = match result {
        Ok(()) => "it waits".into(),
        Err(Close::Asked) => "it leaves".into(),
        Err(Close::Full) => "it is refused".into(),
        Err(Close::Broken(reason)) => reason.into(),
    };
    (end, out, commands)
}
