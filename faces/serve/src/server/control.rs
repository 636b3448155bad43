//! What others ask of the server: figures, another scheduler or priority, a power cut.

use std::sync::mpsc::Sender;

use flashlane_core::decide::Scheduler;
use flashlane_core::{FlowId, Time};
use flashlane_scenario::Change as RecordedChange;

use super::Server;
use crate::control::{self, ControlRequest, Reply};
use crate::real_time::Ended;
use crate::snapshot::{self, Snapshot};

/// A change of scheduler that waits until the drive has drained.
pub(super) struct Change {
    at: Time,
    name: String,
    scheduler: Box<Scheduler>,
    answer: Sender<Reply>,
}

impl Server {
    /// Advances the drive; whether it has drained and another scheduler waits for that.
    pub(super) fn advance(&mut self, ended: &mut Vec<Ended<u64>>) -> bool {
        match self.change {
            Some(_) => self.drive.drain(ended),
            None => {
                self.drive.advance(ended);
                false
            }
        }
    }

    /// Serves the requests in order; those behind a change of scheduler wait until that is made.
    pub(super) fn serve_control(&mut self) {
        while self.change.is_none()
            && let Some(request) = self.deferred.pop_front()
        {
            match request {
                ControlRequest::Snapshot(answer) => drop(answer.send(self.snapshot())),
                ControlRequest::Scheduler(name, answer) => self.begin_change(name, answer),
                ControlRequest::PowerCut(answer) => {
                    self.cut_after = Some(0);
                    drop(answer.send(Ok(control::CUT.to_owned())));
                }
                ControlRequest::Priority(flow, priority, answer) => {
                    drop(answer.send(self.set_priority(&flow, priority)))
                }
            }
        }
        let snapshot = (!self.deferred.is_empty()).then(|| self.snapshot());
        for request in std::mem::take(&mut self.deferred) {
            match (request, &snapshot) {
                (ControlRequest::Snapshot(answer), Some(snapshot)) => drop(answer.send(snapshot.clone())),
                (request, _) => self.deferred.push_back(request),
            }
        }
    }

    /// From now on the drive gets no commands, until it has drained and its scheduler is another.
    fn begin_change(&mut self, name: String, answer: Sender<Reply>) {
        if let Some(fault) = &self.fault {
            let _ = answer.send(Err(fault.clone()));
            return;
        }
        match self.schedulers.named(&name) {
            Ok((scheduler, change)) => {
                let at = self.drive.now();
                self.record_change(at, &change);
                self.drive.begins_to_drain(at);
                self.change = Some(Change { at, name, scheduler: Box::new(scheduler), answer });
            }
            Err(why) => drop(answer.send(Err(why.to_string()))),
        }
    }

    /// The drive has drained, or will not: the next scheduler decides.
    pub(super) fn change_scheduler(&mut self) {
        let Some(Change { at, name, scheduler, answer }) = self.change.take() else { return };
        let reply = match &self.fault {
            Some(fault) => Err(fault.clone()),
            None => {
                self.drive.change_scheduler(at, self.schedulers.config(), *scheduler);
                self.scheduler = name;
                Ok(format!("the scheduler is {} now", self.scheduler))
            }
        };
        let _ = answer.send(reply);
        let held_back = std::mem::take(&mut self.held_back);
        self.submit_all(self.drive.now(), held_back);
        self.serve_control();
    }

    fn set_priority(&mut self, flow: &str, priority: u8) -> Reply {
        let Some(number) = self.exports.iter().position(|export| export.name == flow) else {
            let names: Vec<&str> = self.exports.iter().map(|export| export.name.as_str()).collect();
            return Err(format!("{flow}: no such flow; there are {}", names.join(", ")));
        };
        let levels = self.schedulers.config().priorities;
        if priority >= levels {
            let most = levels - 1;
            return Err(format!(
                "priority {priority}: must be from 0 to {most} (device.front.priority_levels is {levels})"
            ));
        }
        let now = self.drive.now();
        self.record_change(now, &RecordedChange::Priority { flow: number as u16, priority });
        self.drive.set_priority(now, FlowId(number as u16), priority);
        Ok(format!("{flow} has priority {priority} from now on"))
    }

    fn record_change(&mut self, now: Time, change: &RecordedChange) {
        if let Some(record) = &mut self.record {
            record.add_line(&change.line(now.ns()));
        }
    }

    fn snapshot(&mut self) -> Snapshot {
        let (exports, late) = self.statistics.so_far(&self.exports);
        let mut under_way = vec![0; self.exports.len()];
        self.pending.values().chain(&self.held_back).for_each(|command| under_way[command.export] += 1);
        let simulated_ns = self.drive.now().ns();
        let device = self.drive.device();
        Snapshot {
            real: self.drive.elapsed(),
            simulated_ns,
            time_scale: self.drive.scale(),
            scheduler: self.scheduler.clone(),
            fault: self.fault.clone(),
            next_scheduler: self.change.as_ref().map(|change| change.name.clone()),
            exports,
            priorities: device.board().flows.iter().map(|flow| flow.priority()).collect(),
            under_way,
            late,
            connections: self.connections.iter().flatten().count(),
            units: snapshot::units(device),
            units_per_channel: device.board().facts.geometry.units_per_channel() as usize,
            drive: device.totals(),
        }
    }
}
