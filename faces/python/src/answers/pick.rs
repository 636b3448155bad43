//! What an idle unit does next, decided in Python.

use flashlane_core::decide::{Group, Pick, PickDeclares, Scope};
use flashlane_core::{Board, UnitId};
use flashlane_sched::pick::widen;
use pyo3::prelude::*;

use super::asked::{Asked, candidates, place, unfit};
use crate::error::error;

pub(super) struct PythonPick(pub(super) Asked);

/// The places of the lead and its companions; the companions are `None` if they are left to Flashlane.
type Chosen = (usize, Option<Vec<usize>>);

impl PythonPick {
    fn choose(&mut self, board: &Board, unit: UnitId) -> Option<Option<Chosen>> {
        self.0.ask(board, |py, state, rows| {
            let chosen = state.call(py, "pick", (&state.board, unit.0))?;
            if chosen.is_none() {
                return Ok(None);
            }
            if let Ok(lead) = chosen.extract::<usize>() {
                return Ok(Some((place("pick", lead, rows.len())?, None)));
            }
            let Ok(places) = chosen.extract::<Vec<usize>>() else {
                return Err(unfit("pick", &chosen, "None, a place on the board, or a list of places, the lead first"));
            };
            let places = places.into_iter().map(|one| place("pick", one, rows.len())).collect::<PyResult<Vec<_>>>()?;
            let Some((&lead, others)) = places.split_first() else { return Ok(None) };
            // The companions must fit with what has joined before them.
            let mut group = Group::new();
            group.push(board, rows[lead]);
            for &other in others {
                if !board.may_join(&group, rows[other]) {
                    let message =
                        format!("pick returned {other} as a companion of {lead}: it cannot share the command");
                    return Err(error(message));
                }
                group.push(board, rows[other]);
            }
            Ok(Some((lead, Some(others.to_vec()))))
        })
    }
}

impl Pick for PythonPick {
    fn declares(&self) -> PickDeclares {
        PickDeclares { skips_when_single: self.0.written.skips_when_single, keeps: self.0.keeps(), ..PickDeclares::ASK }
    }

    fn pick(&mut self, board: &Board, unit: UnitId, scope: Scope, group: &mut Group) {
        candidates(board, unit, scope, &mut self.0.rows);
        if self.0.rows.is_empty() {
            return;
        }
        let chosen = self.choose(board, unit);
        // Where something went wrong the runs end soon; until then the device goes on as it may.
        let Some(chosen) = chosen else { return group.push(board, self.0.rows[0]) };
        self.0.decided(chosen.is_some());
        match chosen {
            None => {}
            Some((lead, None)) => widen(board, self.0.rows[lead], group),
            Some((lead, Some(others))) => {
                group.push(board, self.0.rows[lead]);
                others.into_iter().for_each(|other| group.push(board, self.0.rows[other]));
            }
        }
    }
}
