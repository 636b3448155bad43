//! Which plane a write goes to, decided in Python.

use flashlane_core::decide::{Keeps, PageWrite, Place, PlaceDeclares, Placement};
use flashlane_core::{Board, PlaneId, TxnId};
use pyo3::prelude::*;

use super::asked::{Asked, place, unfit};
use crate::error::error;

pub(super) struct PythonPlace(pub(super) Asked);

/// A plane of the device that `method` returned.
fn plane(board: &Board, method: &str, plane: usize) -> PyResult<PlaneId> {
    let planes = board.facts.geometry.planes() as usize;
    if plane < planes {
        return Ok(PlaneId(plane as u16));
    }
    Err(error(format!("{method} returned plane {plane}: must be below {planes}, the planes of the device")))
}

impl Place for PythonPlace {
    fn declares(&self) -> PlaceDeclares {
        PlaceDeclares {
            binds_at_dispatch: self.0.written.binds_at_dispatch,
            keeps: Keeps { page_planes: true, ..self.0.keeps() },
            ..PlaceDeclares::ASK
        }
    }

    fn plane(&mut self, board: &Board, PageWrite { lpn, home, at }: PageWrite) -> PlaneId {
        self.0.rows.clear();
        let chosen = self.0.ask(board, |py, state, _| {
            let chosen = state.call(py, "plane", (&state.board, lpn.0, home.0, at.0))?;
            let Ok(number) = chosen.extract::<usize>() else { return Err(unfit("plane", &chosen, "a plane")) };
            plane(board, "plane", number)
        });
        chosen.unwrap_or(home)
    }

    fn place_at_dispatch(&mut self, board: &Board, oldest: TxnId) -> Option<Placement> {
        const METHOD: &str = "place_at_dispatch";
        let waiting = board.walk(board.unplaced()).filter(|&txn| board.eligible(txn));
        self.0.rows.clear();
        self.0.rows.extend(waiting.take(self.0.written.window));
        let chosen = self.0.ask(board, |py, state, rows| {
            let chosen = state.call(py, METHOD, (&state.board,))?;
            if chosen.is_none() {
                return Ok(None);
            }
            let Ok((write, number)) = chosen.extract::<(usize, usize)>() else {
                return Err(unfit(METHOD, &chosen, "None, or the place of a write on the board and a plane"));
            };
            let write = rows[place(METHOD, write, rows.len())?];
            Ok(Some(Placement { write, to: plane(board, METHOD, number)? }))
        });
        // Where something went wrong the runs end soon; until then the oldest goes home.
        let Some(chosen) = chosen else { return Some(Placement { write: oldest, to: board.txn(oldest).plane }) };
        self.0.decided(chosen.is_some());
        chosen
    }
}
