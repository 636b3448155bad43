//! Pages that a write covers in part, and of which the flash has the rest: that is read before the page is programmed (`read_modify_write`).
//!
//! Where writes end in the flash, the program of the page waits for the read. In a write-back buffer that merges writes the page waits (model
//! 0.10): it has no program yet, and is not written out before it has its rest. Owns which pages of the buffer these are. The reads are
//! transactions of the flow that wrote the part, and of no request.

use alloc::collections::BTreeMap;

use flashlane_core::transaction::FlashOp;
use flashlane_core::{FlowId, Lpn, Owner, TxnId};

use super::Device;
use super::effects::Effect;
use super::transactions::create;
use super::translation::Waits;
use crate::config::Config;
use crate::frontend::RequestSlot;

/// The pages of the buffer that lack their rest: the flow that wrote the part, and the read, once there is one.
#[derive(Debug, Default)]
pub(super) struct Rests(BTreeMap<Lpn, (FlowId, TxnId)>);

impl Rests {
    /// None yet, on a device of `config`, if pages of its buffer may lack their rest.
    pub(super) fn of(config: &Config) -> Option<Rests> {
        config.buffer_reads_rests().then(Rests::default)
    }

    /// A page lacks its rest.
    pub(super) fn add(&mut self, lpn: Lpn, flow: FlowId) {
        self.0.insert(lpn, (flow, TxnId::NONE));
    }

    /// A page is written whole or trimmed: nothing is to be read of it any more. Returns the flow that wrote a part of it, if it lacked its rest.
    pub(super) fn forget(&mut self, lpn: Lpn) -> Option<FlowId> {
        self.0.remove(&lpn).map(|(flow, _)| flow)
    }
}

impl Device {
    /// A page of the buffer lacks its rest, which is read once its entry is in memory; or it does so no longer, and may be written out.
    pub(super) fn looks_for_rest(&mut self, lpn: Lpn, flow: FlowId) {
        if self.rests.as_ref().is_none_or(|rests| !rests.0.contains_key(&lpn)) {
            self.is_written_out_if_awaited(lpn, flow);
        } else if !self.look_up_entry(lpn, flow, Waits::Rest) {
            self.read_rest_of_page(lpn);
        }
    }

    /// Reads the rest of a page of the buffer, if it lacks that and is not being read.
    pub(super) fn read_rest_of_page(&mut self, lpn: Lpn) {
        let missing = self.rests.as_ref().and_then(|rests| rests.0.get(&lpn)).copied();
        let Some((flow, TxnId::NONE)) = missing else { return };
        let read = self.read_whole(lpn, flow, TxnId::NONE);
        self.rests.iter_mut().for_each(|rests| _ = rests.0.insert(lpn, (flow, read)));
    }

    /// The read of a rest for the buffer has ended: its page may be written out, unless it was written whole or trimmed meanwhile.
    #[cold]
    pub(super) fn rest_was_read(&mut self, read: TxnId, lpn: Lpn) {
        let (Some(rests), Some(buffer)) = (&mut self.rests, &mut self.buffer) else { return };
        let Some(&(flow, id)) = rests.0.get(&lpn) else { return };
        if id != read {
            return;
        }
        rests.forget(lpn);
        buffer.is_dirty_again(lpn);
        let must_flush = buffer.must_flush(flow);
        self.rewrites_entries();
        if must_flush {
            self.effects.push(Effect::FlushPart(flow));
        }
        self.is_written_out_if_awaited(lpn, flow);
    }

    /// Reads the rest of the page of a program that is held for that.
    #[inline(always)]
    pub(super) fn read_rest(&mut self, program: TxnId) {
        let txn = self.state.board.txn(program);
        self.read_whole(txn.lpn, txn.flow, program);
    }

    /// Creates the read of a page of which a write covers a part, and for which `program` is held, if there is one.
    #[inline(always)]
    fn read_whole(&mut self, lpn: Lpn, flow: FlowId, program: TxnId) -> TxnId {
        let (from, bytes) = (self.ftl.map.plane_of(lpn), self.transactions.page_on_bus());
        let no_request = RequestSlot::MAX;
        let read = create(no_request, flow, Owner::User, FlashOp::Read, lpn, from, bytes, &mut self.state);
        self.state.board.txn_mut(read).on_completion = program;
        self.transactions.partial_reads += 1;
        self.page_order.add_read(lpn, read);
        if self.transactions.address_reads {
            self.address_read(read, lpn);
        }
        self.transactions.overtaking.joins_late();
        self.transactions.enqueue(read, &mut self.policy, &mut self.state);
        read
    }
}
