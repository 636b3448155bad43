//! Predicted completions, and when their messages are due.

use core::cmp::Reverse;

use flashlane_core::transaction::FlashOp;
use flashlane_core::{RequestId, Sequence, Time};

use super::channel::Channel;
use super::{Timers, Tracked, Tracker};
use crate::meter::Meter;

impl Tracker {
    /// Predicts anew every read that is to go out on a channel.
    pub(super) fn predict_channel(&mut self, channel: usize, at: Time) {
        let Tracker { channels, units, transfer, link, ios, timers, .. } = self;
        let Channel { busy_until, entries } = &channels[channel];
        let mut free = (*busy_until).max(at);
        for entry in entries {
            let command = &units[entry.unit.index()];
            let mut end = if entry.on_bus { at } else { entry.ready.max(free) };
            let mut on_bus = entry.on_bus;
            for page in &command.pages[command.out()..] {
                let crossing = transfer.mean(page.bytes);
                end = if on_bus { *busy_until } else { end + crossing.unwrap_or_default() };
                on_bus = false;
                if page.op == FlashOp::Read
                    && let (Some(id), Some(_), Some(link)) = (page.request, crossing, link.mean(page.bytes))
                {
                    predict(ios, timers, id, end + link, at);
                }
            }
            free = end;
        }
    }

    /// A read is predicted to complete at `predicted`.
    #[inline]
    pub(super) fn predict_read(&mut self, id: RequestId, predicted: Time, now: Time) {
        predict(&mut self.ios, &mut self.timers, id, predicted, now);
    }

    /// When the next message is due.
    #[inline]
    pub fn next_timer(&self) -> Time {
        self.timers.peek().map_or(Time::NEVER, |&Reverse((at, _))| at)
    }

    /// Takes the next message that is due at `now`: the I/O, and the instant its completion is predicted for.
    pub fn due(&mut self, now: Time, meter: &mut Meter) -> Option<(RequestId, Time)> {
        while let Some(&Reverse((at, id))) = self.timers.peek() {
            if at > now {
                return None;
            }
            self.timers.pop();
            let Some(io) = self.ios.get_mut(id.0).filter(|io| io.entered == at && !io.sent) else { continue };
            if io.timer > at {
                io.entered = io.timer;
                self.timers.push(Reverse((io.timer, id)));
                continue;
            }
            io.sent = true;
            meter.messages += 1;
            return Some((id, io.predicted));
        }
        None
    }
}

/// Sets the predicted completion of an I/O, and when its message is due.
#[inline]
fn predict(ios: &mut Sequence<Tracked>, timers: &mut Timers, id: RequestId, predicted: Time, now: Time) {
    let Some(io) = ios.get_mut(id.0) else { return };
    if predicted == io.predicted || !io.small_read || io.sent {
        return;
    }
    if io.at_issue == Time::NEVER {
        io.at_issue = predicted;
    }
    io.predicted = predicted;
    // A window longer than the time that is left: at once (D-PRE-05).
    io.timer = Time::from_ns(predicted.ns().saturating_sub(io.window.ns())).max(now);
    // Predictions mostly move to later: the entry is moved when it comes up.
    if io.timer < io.entered {
        io.entered = io.timer;
        timers.push(Reverse((io.timer, id)));
    }
}
