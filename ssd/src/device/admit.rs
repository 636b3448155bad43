//! Admission: commands enter the device in the order of the admit decision.

use flashlane_core::board::ActiveRequest;
use flashlane_core::transaction::FlashOp;
use flashlane_core::{Op, Time};

use super::Device;
use crate::host::{RequestSlot, WaitingCommands};
use crate::policy::Admission;

impl Device {
    /// Fetches commands as long as the admit decision names one and the device has space.
    pub(super) fn admit(&mut self) {
        let mut again = Time::NEVER;
        while self.host.could_admit() {
            let Device { host, ftl, state, policy, buffer, .. } = self;
            let capacity = host.queue_capacity;
            let (board, bound_at_dispatch) = (&state.board, policy.binds_at_dispatch());
            let full = |slot: RequestSlot, request: &ActiveRequest| {
                capacity != [u32::MAX; 2]
                    && (0..request.pages).any(|i| {
                        let unit = board.home_of(ftl.plane_of(host.requests.page(slot, request, i))).0;
                        let op = if request.op == Op::Read { FlashOp::Read } else { FlashOp::Program };
                        if bound_at_dispatch && op == FlashOp::Program {
                            // The one queue of writes without a plane has the capacity of all units' write queues together.
                            let waiting = u64::from(board.queues[board.unplaced().index()].len);
                            return waiting >= u64::from(capacity[1]) * board.units.len() as u64;
                        }
                        board.waiting(unit, op) >= capacity[request.op.index()]
                    })
            };
            let missing = |slot: RequestSlot, request: &ActiveRequest| match &*buffer {
                Some(buffer) if request.op == Op::Read || buffer.write_back => {
                    let misses = |i: &u32| !buffer.contains(host.requests.page(slot, request, *i));
                    (0..request.pages).filter(misses).count() as u32
                }
                _ => request.pages,
            };
            match policy.admit(board, &WaitingCommands { host, board, full, missing }) {
                Admission::Enter(fetch) => {
                    let slot = self.host.fetch(fetch, &mut self.state);
                    let request = self.state.board.requests[slot as usize];
                    self.split_request(slot, &request);
                }
                Admission::AskAgain(at) => {
                    again = at;
                    break;
                }
            }
        }
        self.host.ask_again_at(again);
    }
}
