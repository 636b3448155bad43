//! Clients that mean no good, and the memory of a server that has them.

use std::io::Write;
use std::os::unix::net::UnixStream;

use flashlane_testing::Random;

use super::common::folder;
use super::serve::Served;
use client::{Client, greeted};

#[path = "../../../serve/tests/all/client.rs"]
#[expect(dead_code, reason = "the tests of the server itself need more of it")]
pub(super) mod client;

/// What the server holds for idle connections, after ten thousand that sent half of something, and for writes that are not all there is what
/// docs/serve.md says; another client is served all the time.
#[test]
fn memory_is_bounded() {
    let folder = folder();
    let desk = folder.path();
    let socket = desk.join("socket");
    // What is written is not in memory.
    let served = Served::begin(desk, &["--time-scale", "0.01", "--data", "contents"]);
    let mut good = Client::open(&socket, "reader", true);
    good.write(0, &[5; 4096]);
    let before = served.memory();

    let idle: Vec<Client> = (0..200).map(|_| Client::open(&socket, "writer", false)).collect();
    let each = (served.memory() - before) / idle.len() as i64;
    assert!(each < 32, "{each} KiB per connection");
    assert_eq!(good.read(0, 4096), [5; 4096]);
    drop(idle);

    for number in 0..10_000 {
        let Ok(mut client) = UnixStream::connect(&socket) else { continue };
        // Nothing, a part of the flags, a part of an option.
        let _ = client.write_all(&b"\0\0\0\x03IHAVEOPT\0\0\0\x01\0\0\0\x06wri"[..number % 24]);
    }
    assert_eq!(good.read(0, 4096), [5; 4096]);
    let after = served.memory() - before;
    assert!(after < 8 << 10, "{after} KiB more than before");

    // All but the last byte of the largest writes; 32 MiB each, and at most 100 MiB.
    let part = vec![7; (32 << 20) - 1];
    let half: Vec<Client> = (0..6)
        .map(|_| {
            let mut client = Client::open(&socket, "writer", false);
            client.send(1, 0, 32 << 20, &part);
            client
        })
        .collect();
    assert_eq!(good.read(0, 4096), [5; 4096]);
    let each = (served.memory() - before) / half.len() as i64;
    assert!((31 << 10..100 << 10).contains(&each), "{each} KiB per write that is not all there");
    drop(half);
    assert_eq!(Client::open(&socket, "writer", true).read(0, 4096), [0; 4096], "they were none");
    let said = served.end();
    assert!(said.contains(" + 0 failed + 0 refused"), "{said}");
}

/// Eight clients trim all of an export, a hundred times each, without taking an answer, while the other export's client writes and reads.
#[test]
fn trims_of_everything_disturb_nobody() {
    let folder = folder();
    let desk = folder.path();
    let socket = desk.join("socket");
    let served = Served::begin(desk, &["--time-scale", "0.01", "--data", "contents"]);
    let mut good = Client::open(&socket, "reader", true);
    let mut own = Client::open(&socket, "writer", true);
    own.write(0, &[7; 1 << 20]);
    let trims: Vec<Client> = (0..8)
        .map(|_| {
            let mut client = Client::open(&socket, "writer", false);
            let all = client.bytes as u32;
            (0..100).for_each(|_| _ = client.send(4, 0, all, &[]));
            client
        })
        .collect();
    for round in 0..50_u64 {
        good.write(round * 4096, &[round as u8; 4096]);
        assert_eq!(good.read(round * 4096, 4096), [round as u8; 4096]);
    }
    for mut client in trims {
        (0..100).for_each(|_| assert_eq!(client.answer(0).1, 0));
    }
    assert!(own.read(0, 1 << 20).iter().all(|byte| *byte == 0));
    assert_eq!(good.read(49 * 4096, 4096), [49; 4096]);
    let said = served.end();
    assert!(said.contains(" + 0 failed + 0 refused"), "{said}");
}

/// Clients send random bytes instead of a handshake or of commands, and commands with random fields. The server answers or closes the connection
/// of that client; other connections are not affected.
#[test]
fn random_clients_disturb_nobody() {
    let folder = folder();
    let desk = folder.path();
    let socket = desk.join("socket");
    let served = Served::begin(desk, &["--time-scale", "0.01", "--spare", "1"]);
    let mut good = Client::open(&socket, "reader", false);
    good.write(0, &[5; 4096]);
    let mut numbers = Random(3);
    let mut random = || numbers.bits() >> 16;
    for round in 0..400 {
        let bytes: Vec<u8> = (0..random() % 3000).map(|_| random() as u8).collect();
        // The server may have closed the connection before all is sent.
        match round % 4 {
            0 => _ = greeted(&socket).write_all(&bytes),
            1 => _ = greeted(&socket).write_all(&[b"\0\0\0\x03IHAVEOPT", &bytes[..]].concat()),
            2 => _ = Client::open(&socket, "writer", round % 8 == 2).socket.write_all(&bytes),
            _ => {
                let mut client = Client::open(&socket, "writer", round % 8 == 3);
                for _ in 0..20 {
                    let (offset, length) = (random() % (client.bytes + 8192), random() as u32 % (40 << 20));
                    let whole = if random().is_multiple_of(2) { !511 } else { !0 };
                    let kind = (random() % 8) as u16;
                    let sent = client.try_send(kind, offset & whole, length & whole as u32, &bytes);
                    if sent.is_err() {
                        break;
                    }
                }
            }
        }
    }
    assert_eq!(good.read(0, 4096), [5; 4096]);
    drop(good);
    served.end();
}

/// What a power cut found under way is counted, and was not done.
#[test]
fn a_power_cut_says_what_was_not_answered() {
    let folder = folder();
    let desk = folder.path();
    let served = Served::begin(desk, &["--time-scale", "1000", "--power-cut", "3"]);
    let mut client = Client::open(&desk.join("socket"), "reader", true);
    (0..2).for_each(|at| _ = client.send(0, at << 16, 4096, &[]));
    client.send(1, 0, 1024, &[1; 1024]);
    let said = served.ended();
    assert!(said.contains("commands: 3 read = 0 done + 0 failed + 3 not answered + 0 refused"), "{said}");
    assert!(said.contains("the power was cut during 1 writes, trims and write zeroes; "), "{said}");
}
