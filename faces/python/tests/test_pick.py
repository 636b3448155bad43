"""Schedulers written in Python: the built-in's bytes, the auditor's rules, and what goes wrong in them."""

import re
from pathlib import Path
from typing import Optional

import numpy as np
import pytest

import flashlane as fl
from conftest import DOCUMENT


class Again(fl.Pick):
    """What `read-first` does: the first read, or else the first write."""

    def pick(self, board: fl.Board, unit: int) -> int:
        return 0


BUSY = {
    **DOCUMENT,
    "flow": [
        {"name": "reader", "synthetic": {"read_ratio": 0.7, "size": {"constant": 16384}, "rate_iops": 60_000, "requests": 3000}},
        {"name": "writer", "synthetic": {"read_ratio": 0.0, "size": {"constant": 32768}, "rate_iops": 5_000, "requests": 300}},
    ],
}


def test_repeating_read_first_gives_its_bytes() -> None:
    result = fl.compare(BUSY, schedulers=["read-first", Again], audit=True, transactions=True)
    ours, own = result.summary.schedulers
    assert (ours.name, own.name) == ("read-first", "again")
    assert ours.total == own.total and ours.device == own.device
    for one, other in zip(ours.flows, own.flows):
        assert (one.figures, one.alone, one.slowdown) == (other.figures, other.alone, other.slowdown)
    import polars as pl

    for rows in (result.requests, result.transactions):
        assert pl.DataFrame(rows("read-first")).equals(pl.DataFrame(rows("again")))
    assert result.audited and ours.device.advanced_commands > 0


class ShortestRequest(fl.Pick):
    def pick(self, board: fl.Board, unit: int) -> int:
        left = board.request_pages_left
        assert len(left) == len(board) > 0 and not left.flags.writeable and left.dtype == np.int64
        assert 0 <= board.enqueued_ns.max() <= board.now_ns
        assert sorted(board.is_read, reverse=True) == list(board.is_read)
        return int(np.lexsort((board.serial, left))[0])


def test_it_mixes_with_built_in_answers_and_changes_the_order() -> None:
    mix = {"name": "mine", "base": "sprinkler", "pick": ShortestRequest}
    result = fl.compare(BUSY, schedulers=["read-first", ShortestRequest, mix], audit=True)
    base, short, mixed = result.summary.schedulers
    assert [short.name, mixed.name] == ["shortest-request", "mine"]
    assert short.total.completed == base.total.completed == 3300
    assert short.total.all.mean_ns != base.total.all.mean_ns
    assert mixed.decisions.to_dict() != short.decisions.to_dict()


def test_only_named_columns_are_shown() -> None:
    class Oldest(fl.Pick):
        columns = ("serial",)

        def pick(self, board: fl.Board, unit: int) -> int:
            return board.serial.argmin()

    class Looks(Oldest):
        def pick(self, board: fl.Board, unit: int) -> int:
            return board.flow.argmin()

    class Misspelt(Oldest):
        columns = ("seriel",)

    assert fl.run(BUSY, scheduler=Oldest, audit=True).summary.schedulers[0].total.completed == 3300
    with pytest.raises(fl.Error, match="flow is not among the columns"):
        fl.run(BUSY, scheduler=Looks)
    with pytest.raises(fl.Error, match="'?\"seriel\": no such column; there are is_read, flow"):
        fl.run(BUSY, scheduler=Misspelt)


def test_each_run_has_an_instance_of_its_own() -> None:
    class Counts(Again):
        made = []

        def __init__(self) -> None:
            self.count = 0
            Counts.made.append(self)

        def pick(self, board: fl.Board, unit: int) -> int:
            self.count += 1
            return 0

    fl.compare(DOCUMENT, schedulers=[Counts, "fcfs"], seeds=2)
    # The shared run, one for each flow alone, and the shared run under another seed.
    assert len(Counts.made) == 4 and all(one.count > 0 for one in Counts.made)
    own = Again()
    assert fl.run(DOCUMENT, scheduler=own).summary.schedulers[0].name == "again"


@pytest.mark.parametrize("choose, message", [
    (lambda board: len(board), r"pick returned \d+: must be below len\(board\)"),
    (lambda board: "first", "pick returned 'first': must be None, a place on the board, or a list"),
    (lambda board: [0, 0], "pick returned 0 as a companion of 0: it cannot share the command"),
    (lambda board: 1 / 0, "ZeroDivisionError: division by zero"),
    (lambda board: board.flow.__setitem__(0, 3), "ValueError: .*read-only"),
    (lambda board: np.zeros(3).reshape(2, 2), "ValueError: cannot reshape"),
    (lambda board: board.nothing, "AttributeError: "),
])
def test_what_goes_wrong_is_raised(choose, message: str) -> None:
    class Wrong(fl.Pick):
        def pick(self, board: fl.Board, unit: int):
            return choose(board)

    with pytest.raises(fl.Error, match=f"^wrong: {message}") as raised:
        fl.run(BUSY, scheduler=Wrong)
    # The line of the scheduler, and what was raised as the cause.
    line = re.search(rf"\({re.escape(__file__)}:(\d+), in ", str(raised.value))
    assert line, str(raised.value)
    assert raised.value.__cause__ is not None
    lines = Path(__file__).read_text().splitlines()
    shown = lines[int(line[1]) - 1].strip()
    assert shown.startswith("def pick(" if message.startswith("pick returned") else "(lambda board: "), shown
    assert str(raised.value).endswith(f": {shown})")
    # The interpreter is sound.
    assert fl.run(DOCUMENT, scheduler="fcfs").summary.schedulers


def test_what_goes_wrong_before_the_first_pick_is_raised_too() -> None:
    class Unmade(Again):
        def __init__(self) -> None:
            raise KeyError("nothing")

    class Unwritten(fl.Pick):
        pass

    class Strange(Again):
        base = 7

    class Narrow(Again):
        columns = "serial"

    with pytest.raises(fl.Error, match=r"^unmade: KeyError: 'nothing' \(.*test_pick.py:\d+, in __init__: raise KeyError"):
        fl.run(DOCUMENT, scheduler=Unmade)
    with pytest.raises(fl.Error, match="^unwritten: NotImplementedError: Unwritten does not say what to pick"):
        fl.run(DOCUMENT, scheduler=Unwritten)
    with pytest.raises(fl.Error, match="^strange: base = 7: must be a name"):
        fl.run(DOCUMENT, scheduler=Strange)
    with pytest.raises(fl.Error, match="^narrow: columns = 'serial': must be names of columns"):
        fl.run(DOCUMENT, scheduler=Narrow)


def test_one_that_never_picks_is_an_error() -> None:
    class Idle(fl.Pick):
        def pick(self, board: fl.Board, unit: int) -> None:
            return None

    with pytest.raises(fl.Error):
        fl.run(DOCUMENT, scheduler=Idle)


def test_names_and_bases_are_checked() -> None:
    class Fcfs(fl.Pick):
        pass

    class Lost(Again):
        base = "fcsf"

    with pytest.raises(fl.Error, match="fcfs"):
        fl.run(DOCUMENT, scheduler=Fcfs)
    with pytest.raises(fl.Error, match="no such scheduler; there are .*fcfs"):
        fl.run(DOCUMENT, scheduler=Lost)


@pytest.mark.parametrize("picks, message", [(0, "every-none: pick returned None"), (50, "then-none: pick returned None")])
def test_a_pick_that_never_picks_is_named(picks: int, message: str) -> None:
    class Declines(fl.Pick):
        name = message.split(":")[0]

        def __init__(self) -> None:
            self.left = picks

        def pick(self, board: fl.Board, unit: int) -> Optional[int]:
            self.left -= 1
            return 0 if self.left >= 0 else None

    with pytest.raises(fl.Error, match=f"{message} .* times in a row, the last time with .* transactions waiting"):
        fl.compare(DOCUMENT, schedulers=["fcfs", Declines])

