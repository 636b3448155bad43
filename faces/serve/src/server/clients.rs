//! Network clients: accepts their connections, reads their commands, sends their answers, and polls the sockets.

use std::io;
use std::sync::Arc;
use std::time::{Duration, Instant};

use rustix::event::epoll::{self, EventData, EventFlags};
use rustix::fd::OwnedFd;

use super::commands::{Client, PendingCommand};
use super::{LISTENER, Server};
use crate::connection::Connection;
use crate::fuse::{Files, Requested};
use crate::listener::{ACCEPT_PAUSE, Listener};
use crate::nbd::Command;
use crate::record::Record;

/// The most connections at a time.
const MAX_CONNECTIONS: usize = 256;

/// So many more are told, when they ask for an export, that there is no room for them; others are closed at once.
const MAX_REFUSED: usize = 32;

impl Server {
    /// How long no clients are to be accepted; accepts them again once that is over.
    pub(super) fn accept_pause(&mut self) -> Option<Duration> {
        let left = self.accept_paused_until?.saturating_duration_since(Instant::now());
        if left.is_zero() {
            self.accept_paused_until = None;
            if let Some(listener) = &self.listener {
                let _ = epoll::add(&self.poll, listener, EventData::new_u64(LISTENER), EventFlags::IN);
            }
            return None;
        }
        Some(left)
    }

    /// How long until a handshake may take too long; closes the connections of those that have. Looks at the connections only once the
    /// first of them can be due.
    pub(super) fn end_handshakes(&mut self) -> Option<Duration> {
        let left = self.handshakes_until?.saturating_duration_since(Instant::now());
        if !left.is_zero() {
            return Some(left);
        }
        let mut next: Option<Duration> = None;
        for connection in self.connections.iter_mut().flatten() {
            match connection.handshake_left(self.handshake) {
                Some(Duration::ZERO) => {
                    connection.abandon();
                    self.statistics.broke("no export was opened in time");
                }
                Some(left) => next = Some(next.map_or(left, |next| next.min(left))),
                None => {}
            }
        }
        self.handshakes_until = next.map(|left| Instant::now() + left);
        next
    }

    /// Accepts every client that waits.
    pub(super) fn accept(&mut self) {
        while let Some(accepted) = self.listener.as_ref().map(Listener::accept) {
            let socket = match accepted {
                Ok(socket) => socket,
                Err(why) if why.kind() == io::ErrorKind::WouldBlock => return,
                Err(why) if matches!(why.kind(), io::ErrorKind::Interrupted | io::ErrorKind::ConnectionAborted) => {
                    continue;
                }
                Err(_) => {
                    // Without a pause the listener would report it again and again.
                    if let Some(listener) = &self.listener {
                        let _ = epoll::delete(&self.poll, listener);
                        self.accept_paused_until = Some(Instant::now() + ACCEPT_PAUSE);
                    }
                    return;
                }
            };
            let free = self.connections.iter().position(Option::is_none);
            let number = free.unwrap_or(self.connections.len());
            let is_refused = number >= MAX_CONNECTIONS;
            self.statistics.turned_away += u64::from(is_refused);
            if number >= MAX_CONNECTIONS + MAX_REFUSED {
                continue;
            }
            if epoll::add(&self.poll, &socket, EventData::new_u64(number as u64), EventFlags::IN).is_err() {
                continue;
            }
            self.accepted += 1;
            self.handshakes_until.get_or_insert(Instant::now() + self.handshake);
            let connection = Some(Connection::new(socket, Arc::clone(&self.exports), self.accepted, is_refused));
            if number == self.connections.len() {
                self.connections.push(connection);
            } else {
                self.connections[number] = connection;
            }
        }
    }

    /// Gives the drive what these clients have sent, and what was requested of files.
    pub(super) fn receive(&mut self, readable: &[usize], requested: Vec<Requested>) {
        let mut buffer = std::mem::take(&mut self.buffer);
        self.give(readable, requested, |connection, commands| {
            if connection.wanted().0 && !connection.session.is_paused() {
                return connection.receive(&mut buffer, commands);
            }
            None
        });
        self.buffer = buffer;
    }

    /// Sends what can be sent, and gives the drive the commands that had to wait until others of their client were answered and sent. Some
    /// of them are answered at once, which makes room for more: until nothing is left to do but to wait.
    pub(super) fn exchange(&mut self) {
        loop {
            self.send_all();
            let waits = |slot: &Option<Connection>| slot.as_ref().is_some_and(Connection::is_resumable);
            let waiting: Vec<usize> = (0..self.connections.len()).filter(|&i| waits(&self.connections[i])).collect();
            if waiting.is_empty() {
                return;
            }
            self.give(&waiting, Vec::new(), |connection, commands| connection.understand(&[], commands));
        }
    }

    /// Gives the drive the commands that `take` finds at these connections, and those requested of files, all at one instant.
    fn give(
        &mut self,
        numbers: &[usize],
        requested: Vec<Requested>,
        mut take: impl FnMut(&mut Connection, &mut Vec<Command>) -> Option<&'static str>,
    ) {
        let now = self.drive.now();
        let mut commands = Vec::new();
        let of_file = |Requested { export, command, answer }| {
            let client = Client::File(answer);
            PendingCommand { client, export, command, ended: None }
        };
        let mut all: Vec<PendingCommand> = requested.into_iter().map(of_file).collect();
        for &number in numbers {
            let Some(connection) = self.connections.get_mut(number).and_then(Option::as_mut) else { continue };
            if let Some(reason) = take(connection, &mut commands) {
                self.statistics.broke(reason);
            }
            let (generation, Some(export)) = (connection.generation, connection.session.export()) else { continue };
            for command in commands.drain(..) {
                connection.under_way += 1;
                connection.held += command.held();
                let client = Client::Connection { number, generation };
                all.push(PendingCommand { client, export, command, ended: None });
            }
        }
        match self.change {
            Some(_) => self.held_back.append(&mut all),
            None => self.submit_all(now, all),
        }
    }

    /// Sends what waits to be sent, closes what is over, and watches for what can come.
    pub(super) fn send_all(&mut self) {
        // The file has what is answered: a replay of what a killed server left shows all that clients have seen.
        self.record.iter_mut().for_each(Record::flush);
        self.files.iter_mut().for_each(Files::send);
        for (number, slot) in self.connections.iter_mut().enumerate() {
            let Some(connection) = slot else { continue };
            connection.send();
            if connection.is_over() {
                self.statistics.closed(connection.session.refused());
                *slot = None;
                continue;
            }
            watch(&self.poll, number, connection);
        }
    }
}

/// Watches a connection for what can be done with it. What is watched for nothing is taken out: the poll would report again and again that
/// the client is gone.
fn watch(poll: &OwnedFd, number: usize, connection: &mut Connection) {
    let wanted = connection.wanted();
    let watched = std::mem::replace(&mut connection.watched, wanted);
    if wanted == watched {
        return;
    }
    let mut flags = EventFlags::empty();
    flags.set(EventFlags::IN, wanted.0);
    flags.set(EventFlags::OUT, wanted.1);
    let (socket, data) = (&connection.socket, EventData::new_u64(number as u64));
    let changed = match (watched, wanted) {
        (_, (false, false)) => epoll::delete(poll, socket),
        ((false, false), _) => epoll::add(poll, socket, data, flags),
        _ => epoll::modify(poll, socket, data, flags),
    };
    if changed.is_err() {
        connection.abandon();
    }
}
