//! Conversations in bytes, written out as the protocol's description has them.

use super::*;

fn exports() -> Arc<[Export]> {
    let export = |name: &str, bytes| Export { name: name.into(), bytes, preferred: 16 << 10 };
    [export("db", 1 << 20), export("backup", 4 << 20)].into()
}

fn option(number: u32, data: &[u8]) -> Vec<u8> {
    let mut bytes = b"IHAVEOPT".to_vec();
    bytes.extend_from_slice(&number.to_be_bytes());
    bytes.extend_from_slice(&(data.len() as u32).to_be_bytes());
    bytes.extend_from_slice(data);
    bytes
}

fn look_at(name: &str) -> Vec<u8> {
    let mut data = (name.len() as u32).to_be_bytes().to_vec();
    data.extend_from_slice(name.as_bytes());
    data.extend_from_slice(&[0, 1, 0, 3]);
    data
}

fn request(kind: u16, cookie: u64, offset: u64, length: u32, data: &[u8]) -> Vec<u8> {
    let mut bytes = 0x2560_9513_u32.to_be_bytes().to_vec();
    bytes.extend_from_slice(&[0, 0]);
    bytes.extend_from_slice(&kind.to_be_bytes());
    bytes.extend_from_slice(&cookie.to_be_bytes());
    bytes.extend_from_slice(&offset.to_be_bytes());
    bytes.extend_from_slice(&length.to_be_bytes());
    bytes.extend_from_slice(data);
    bytes
}

/// What a session says to `bytes` in pieces of `size`, the commands it hands out, and how it ends.
fn talk(bytes: &[u8], size: usize) -> (Vec<u8>, Vec<Command>, Result<(), Close>, Session) {
    let (mut out, mut commands) = (Vec::new(), Vec::new());
    let mut session = Session::new(exports(), &mut out);
    assert_eq!(out, b"NBDMAGICIHAVEOPT\0\x03");
    out.clear();
    let mut result = Ok(());
    for piece in bytes.chunks(size) {
        result = session.receive(piece, usize::MAX, &mut out, &mut commands);
        if result.is_err() {
            break;
        }
    }
    (out, commands, result, session)
}

/// The client's flags, and then `parts`.
fn client(parts: &[Vec<u8>]) -> Vec<u8> {
    let mut bytes = vec![0, 0, 0, 3];
    parts.iter().for_each(|part| bytes.extend_from_slice(part));
    bytes
}

#[test]
fn a_client_looks_opens_reads_and_writes() {
    let data = vec![7; 512];
    let bytes = client(&[
        option(8, &[]),
        option(3, &[]),
        option(6, &look_at("backup")),
        option(7, &look_at("db")),
        request(0, 41, 512, 4096, &[]),
        request(1, 42, 1024, 512, &data),
        request(2, 43, 0, 0, &[]),
    ]);
    let whole = talk(&bytes, bytes.len());
    let (out, commands, result, session) = &whole;
    assert_eq!((session.export(), session.refused(), *result), (Some(0), 0, Err(Close::Asked)));
    let read = Command { cookie: 41, offset: 512, length: 4096, force: false, kind: Kind::Read };
    let write = Command { cookie: 42, offset: 1024, length: 512, force: false, kind: Kind::Write(data) };
    assert_eq!(commands, &[read, write]);

    let mut said = Vec::new();
    let mut reply = |option: u32, kind: u32, body: &[u8]| {
        said.extend_from_slice(&0x0003_e889_0455_65a9_u64.to_be_bytes());
        said.extend_from_slice(&option.to_be_bytes());
        said.extend_from_slice(&kind.to_be_bytes());
        said.extend_from_slice(&(body.len() as u32).to_be_bytes());
        said.extend_from_slice(body);
    };
    reply(8, 1, &[]);
    reply(3, 2, b"\0\0\0\x02db");
    reply(3, 2, b"\0\0\0\x06backup");
    reply(3, 1, &[]);
    for (option, size) in [(6, 4_u64 << 20), (7, 1 << 20)] {
        let mut body = vec![0, 0];
        body.extend_from_slice(&size.to_be_bytes());
        // There are flags; flush, FUA, trim, write zeroes; several connections may use it.
        body.extend_from_slice(&[1, 0b0110_1101]);
        reply(option, 3, &body);
        // 512, 16 KiB, 32 MiB.
        reply(option, 3, &[0, 3, 0, 0, 2, 0, 0, 0, 0x40, 0, 2, 0, 0, 0]);
        reply(option, 1, &[]);
    }
    assert_eq!(out, &said);

    // However the bytes are cut, it says and does the same.
    for size in [1, 3, 100] {
        let (out, commands, result, _) = talk(&bytes, size);
        assert_eq!((&out, &commands, &result), (&whole.0, &whole.1, &whole.2), "in pieces of {size}");
    }
}

#[test]
fn answers_are_simple_or_in_chunks() {
    for structured in [false, true] {
        let mut parts = vec![option(7, &look_at(""))];
        if structured {
            parts.insert(0, option(8, &[]));
        }
        let session = talk(&client(&parts), 1000).3;
        assert_eq!(session.export(), Some(0), "the first has the empty name too");
        let said = |answer: &dyn Fn(&mut Vec<u8>)| {
            let mut out = Vec::new();
            answer(&mut out);
            out
        };
        let simple = |error: u8, rest: &[u8]| {
            [b"\x67\x44\x66\x98\0\0\0".as_slice(), &[error, 0, 0, 0, 0, 0, 0, 0, 9], rest].concat()
        };
        let chunk = |kind: [u8; 2], length: u8, rest: &[u8]| {
            [b"\x66\x8e\x33\xef\0\x01".as_slice(), &kind, &[0, 0, 0, 0, 0, 0, 0, 9, 0, 0, 0, length], rest].concat()
        };
        let read = said(&|out| session.answer_read(out, 9, 512, b"data"));
        let failed = said(&|out| session.fail(out, 9, true, Error::Io));
        if structured {
            assert_eq!(read, chunk([0, 1], 12, b"\0\0\0\0\0\0\x02\0data"));
            assert_eq!(failed, chunk([0x80, 1], 6, &[0, 0, 0, 5, 0, 0]));
        } else {
            assert_eq!(read, simple(0, b"data"));
            assert_eq!(failed, simple(5, &[]));
        }
        assert_eq!(said(&|out| session.answer_done(out, 9)), simple(0, &[]));
        assert_eq!(said(&|out| session.fail(out, 9, false, Error::Shutdown)), simple(108, &[]));
    }
}

/// The old way of opening an export has no refusal, and zeroes for clients that do not know better.
#[test]
fn an_export_is_opened_by_its_name_alone() {
    let open = |flags: u8, name: &str| {
        let bytes = [vec![0, 0, 0, flags], option(1, name.as_bytes())].concat();
        let (out, _, result, session) = talk(&bytes, 1000);
        (out, result, session.export())
    };
    let size = [0, 0, 0, 0, 0, 0x40, 0, 0, 1, 0b0110_1101];
    assert_eq!(open(3, "backup"), (size.to_vec(), Ok(()), Some(1)));
    assert_eq!(open(1, "backup"), ([size.to_vec(), vec![0; 124]].concat(), Ok(()), Some(1)));
    assert_eq!(open(3, "none"), (Vec::new(), Err(Close::Broken("there is no such export")), None));
}

#[test]
fn commands_that_the_export_has_not_are_refused_one_by_one() {
    let end = 1 << 20;
    let zeroes = [0; 1024];
    let cases = [
        (request(3, 1, 0, 512, &[]), 22),
        (request(4, 2, end, 4096, &[]), 22),
        (request(4, 20, 0, 0, &[]), 22),
        (request(4, 21, 256, 4096, &[]), 22),
        (request(6, 22, end - 512, 1024, &[]), 28),
        (request(5, 23, 0, 4096, &[]), 22),
        (request(0, 3, 0, 0, &[]), 22),
        (request(0, 4, 100, 512, &[]), 22),
        (request(0, 5, 0, 100, &[]), 22),
        (request(0, 6, end, 512, &[]), 22),
        (request(0, 7, u64::MAX - 511, 512, &[]), 22),
        (request(0, 8, 0, (32 << 20) + 512, &[]), 22),
        (request(1, 9, end - 512, 1024, &zeroes), 28),
        (request(99, 10, 0, 512, &[]), 22),
    ];
    for (bytes, error) in &cases {
        let last = request(0, 99, end - 512, 512, &[]);
        let (out, commands, result, session) = talk(&client(&[option(1, b""), bytes.clone(), last]), 64);
        assert_eq!((result, session.refused(), commands.len()), (Ok(()), 1, 1), "{bytes:?}: the next is served");
        assert_eq!(commands[0].cookie, 99);
        let answer = &out[10..];
        assert_eq!((u32_at(answer, 0), u32_at(answer, 4)), (0x6744_6698, *error), "{bytes:?}");
        assert_eq!(answer[8..], bytes[8..16], "its cookie");
    }
    // With a flag that was not offered.
    let mut fast = request(6, 11, 0, 512, &[]);
    fast[5] = 1 << 4;
    let (_, commands, _, session) = talk(&client(&[option(1, b""), fast]), 1000);
    assert_eq!((commands.len(), session.refused()), (0, 1));
}

#[test]
fn options_that_are_none_are_answered_and_what_breaks_the_protocol_ends_it() {
    let answered = |part: Vec<u8>| {
        let (out, _, result, _) = talk(&client(&[part]), 1000);
        (u32_at(&out, 12), result)
    };
    assert_eq!(answered(option(5, &[])), (1 << 31 | 1, Ok(())), "no TLS");
    assert_eq!(answered(option(10, b"base:allocation")), (1 << 31 | 1, Ok(())));
    assert_eq!(answered(option(3, b"x")), (1 << 31 | 3, Ok(())));
    assert_eq!(answered(option(8, b"x")), (1 << 31 | 3, Ok(())));
    assert_eq!(answered(option(7, b"")), (1 << 31 | 3, Ok(())));
    assert_eq!(answered(option(7, &[0, 0, 0, 9, b'd', b'b'])), (1 << 31 | 3, Ok(())), "a name longer than the data");
    assert_eq!(answered(option(7, &look_at("none"))), (1 << 31 | 6, Ok(())));
    assert_eq!(answered(option(2, &[])), (1, Err(Close::Asked)));
    assert!(
        matches!(answered(option(3, &vec![0; 20_000])), (too_big, Err(Close::Broken(_))) if too_big == 1 << 31 | 9)
    );

    let ended = |bytes: &[u8]| matches!(talk(bytes, 1000).2, Err(Close::Broken(_)));
    assert!(ended(&[0, 0, 0, 4]), "flags that there are not");
    assert!(ended(&client(&[b"GET / HTTP/1.1\r\n\r\n".to_vec()])));
    assert!(ended(&client(&[option(1, b"db"), vec![0; 28]])));
    assert!(ended(&client(&[option(1, b"db"), request(1, 1, 0, (32 << 20) + 1, &[])])));
}

/// With a budget of 1,000 bytes a call, commands of 512 come two by two, those that wait without further bytes.
#[test]
fn commands_beyond_the_budget_wait() {
    let reads: Vec<Vec<u8>> = (0..5).map(|cookie| request(0, cookie, 0, 512, &[])).collect();
    let (mut out, mut commands) = (Vec::new(), Vec::new());
    let mut session = Session::new(exports(), &mut out);
    let bytes = client(&[vec![option(1, b"db")], reads].concat());
    for (piece, handed_out, paused) in [(&bytes[..], 2, true), (&[], 4, true), (&[], 5, false), (&[], 5, false)] {
        assert_eq!(session.receive(piece, 1000, &mut out, &mut commands), Ok(()));
        assert_eq!((commands.len(), session.is_paused()), (handed_out, paused));
    }
    assert!(commands.iter().map(|command| command.cookie).eq(0..5));
    // A trim counts a sixty-fourth of its bytes, here 16 KiB.
    let trims: Vec<Vec<u8>> = (0..3).map(|cookie| request(4, cookie, 0, 1 << 20, &[])).collect();
    let bytes = client(&[vec![option(1, b"db")], trims].concat());
    for budget in [16 << 10, (16 << 10) + 1] {
        let (mut session, mut commands) = (Session::new(exports(), &mut out), Vec::new());
        assert_eq!(session.receive(&bytes, budget, &mut out, &mut commands), Ok(()));
        assert_eq!((commands.len(), session.is_paused()), (if budget == 16 << 10 { 1 } else { 2 }, true));
    }
}

/// Flushes, trims and zeroes, FUA with all of them; a trim and zeroes may be longer than what moves data.
#[test]
fn commands_without_data() {
    let data = [7; 512];
    let flagged = |mut bytes: Vec<u8>, flags: u8| {
        bytes[5] = flags;
        bytes
    };
    let parts = [
        option(1, b"backup"),
        flagged(request(1, 1, 0, 512, &data), 1),
        request(3, 2, 0, 0, &[]),
        flagged(request(0, 3, 0, 512, &[]), 1),
        request(3, 4, 512, 512, &[]),
        flagged(request(1, 5, 0, 512, &data), 3),
        request(4, 6, 512, 3 << 20, &[]),
        flagged(request(4, 7, 0, 4 << 20, &[]), 1),
        request(6, 8, 0, 4 << 20, &[]),
        flagged(request(6, 9, 512, 1024, &[]), 3),
    ];
    let (_, commands, result, session) = talk(&client(&parts), 9);
    let wanted = [
        (1, 0, 512, true, Kind::Write(data.to_vec())),
        (2, 0, 0, false, Kind::Flush),
        (3, 0, 512, true, Kind::Read),
        (6, 512, 3 << 20, false, Kind::Trim),
        (7, 0, 4 << 20, true, Kind::Trim),
        (8, 0, 4 << 20, false, Kind::WriteZeroes { keep: false }),
        (9, 512, 1024, true, Kind::WriteZeroes { keep: true }),
    ];
    assert_eq!(
        commands,
        wanted.map(|(cookie, offset, length, force, kind)| Command { cookie, offset, length, force, kind })
    );
    assert_eq!((result, session.refused()), (Ok(()), 2), "a flush of a range, and a write without a hole");
}
