"""Answers to place, order, preempt and collect written in Python: the built-in's bytes, the auditor's rules, and what goes wrong in them."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import flashlane as fl
from conftest import DOCUMENT
from test_pick import BUSY

#: A small drive that is full of stale pages, so that writes make it collect.
FULL = {
    **BUSY,
    "device": {**DOCUMENT["device"], "precondition": {"state": "steady"}, "gc": {"start_blocks": 5, "hard_blocks": 1}},
    "flow": [
        {"name": "reader", "synthetic": {"read_ratio": 1.0, "size": {"constant": 4096}, "rate_iops": 20_000, "requests": 1000}},
        {"name": "writer", "synthetic": {"read_ratio": 0.0, "size": {"mix": [[8192, 3], [65536, 1]]}, "rate_iops": 1_500, "requests": 3000}},
    ],
}


class Home(fl.Place):
    base = "fr-fcfs"

    def plane(self, board: fl.Board, lpn: int, home: int, at: int) -> int:
        assert len(board) == 0 and at == home
        return home


class Last(fl.Order):
    base = "fr-fcfs"

    def position(self, board: fl.Board, unit: int) -> int:
        assert board.serial[-1] == board.serial.max() and (board.is_read == board.is_read[0]).all()
        return len(board) - 1


class Always(fl.Preempt):
    columns = ("is_read", "unit_command", "unit_state")

    def pause(self, board: fl.Board, unit: int) -> bool:
        assert board.is_read.all() and board.unit_command[unit] in (2, 3) and board.unit_state[unit] == 2
        return True


class Semi(fl.Collect):
    """`semi-preemptive`: at or below the hard threshold, one block on this drive, collection goes first."""

    base = "fr-fcfs"
    columns = ("plane_unit", "plane_collecting", "plane_free_blocks", "unit_gc")

    def goes_first(self, board: fl.Board, unit: int) -> np.bool_:
        assert board.unit_gc[unit] > 0
        own = (board.plane_unit == unit) & (board.plane_collecting == 1)
        return (own & (board.plane_free_blocks <= 1)).any()


@pytest.mark.parametrize("answer, built_in", [
    (Home, {"base": "fr-fcfs", "place": "static"}),
    (Last, {"base": "fr-fcfs", "order": "tail"}),
    (Always, "read-first-suspend"),
    (Semi, {"base": "fr-fcfs", "collect": "semi-preemptive"}),
])
def test_repeating_a_built_in_answer_gives_its_bytes(answer: type, built_in: object) -> None:
    import polars as pl

    result = fl.compare(FULL, schedulers=[built_in, answer], audit=True, transactions=True)
    ours, own = result.summary.schedulers
    assert ours.device == own.device and ours.total == own.total
    assert ours.device.gc.erases > 0
    if answer is Always:
        assert ours.device.pauses > 0
    for rows in (result.requests, result.transactions):
        assert pl.DataFrame(rows(ours.name)).equals(pl.DataFrame(rows(own.name)))


class MostPages(fl.Place):
    """A write goes, when it can begin, to the idle unit's plane with most free pages."""

    base = "fr-fcfs"
    binds_at_dispatch = True
    columns = ("serial", "unit_state", "unit_reads", "unit_programs", "plane_unit", "plane_free_pages", "plane_has_free_page")

    def place_at_dispatch(self, board: fl.Board):
        assert 0 < len(board) <= self.window and (np.diff(board.serial) > 0).all()
        free = (board.unit_state == 0) & (board.unit_reads == 0) & (board.unit_programs == 0)
        fits = free[board.plane_unit] & (board.plane_has_free_page == 1)
        return (0, int(np.where(fits, board.plane_free_pages, -1).argmax())) if fits.any() else None


class ShortFirst(fl.Order):
    base = "fr-fcfs"
    columns = ("request_pages",)

    def position(self, board: fl.Board, unit: int) -> int:
        return int((board.request_pages[:-1] <= board.request_pages[-1]).sum())


class UserFirst(fl.Collect):
    base = "fr-fcfs"
    columns = ("plane_unit", "plane_valid_pages")

    def goes_first(self, board: fl.Board, unit: int) -> bool:
        assert board.plane_valid_pages[board.plane_unit == unit].min() > 0
        return False


def test_each_changes_its_decision_and_they_mix() -> None:
    mix = {"name": "mine", "base": "sprinkler", "place": MostPages, "order": ShortFirst, "preempt": Always, "collect": UserFirst}
    # Collection goes first where a scheduler leaves that open, so that users first is another decision.
    chosen = ["fr-fcfs", MostPages, ShortFirst, UserFirst, mix]
    result = fl.compare(FULL, schedulers=chosen, audit=True, set={"run.collect": "atomic"})
    runs = result.summary.schedulers
    assert [run.name for run in runs] == ["fr-fcfs", "most-pages", "short-first", "user-first", "mine"]
    assert all(run.total.completed == 4000 for run in runs)
    assert len({run.total.all.mean_ns for run in runs}) == 5
    # Late binding is where the room is: writes do not wait for one chip while others could begin them.
    assert runs[1].total.write.mean_ns < runs[0].total.write.mean_ns
    assert runs[4].device.pauses > 0


class OneOn(fl.Place):
    """A write goes to the plane behind the one that has its page, which is where a write before it went."""

    base = "fr-fcfs"
    columns = ("plane_unit", "plane_next_page", "plane_victim_pages", "plane_collecting", "flow_moved", "flow_valid_pages", "flow_programmed", "flow_in_flight")

    def __init__(self) -> None:
        self.went: dict[int, set[int]] = {}

    def plane(self, board: fl.Board, lpn: int, home: int, at: int) -> int:
        planes = self.went.setdefault(lpn, {home})
        assert at in planes
        to = (at + 1) % len(board.plane_unit)
        planes.add(to)
        assert len(board.flow_moved) == 2 and board.flow_programmed[0] == 0 and board.flow_in_flight[1] > 0
        assert board.flow_valid_pages.min() > 0 and board.waiting_for_buffer == 0
        assert (board.plane_victim_pages[board.plane_collecting == 0] == 0).all() and board.plane_next_page.max() > 0
        return to


class FewUnits(fl.Pick):
    """A request whose transactions are at fewest units goes first."""

    base = "fr-fcfs"
    columns = ("serial", "is_read", "plane", "page_at", "request_units", "request_pages_left")

    def pick(self, board: fl.Board, unit: int) -> int:
        assert (board.request_units >= 1).all() and (board.request_units <= board.request_pages_left).all()
        writes = board.is_read == 0
        assert (board.page_at[writes] == board.plane[writes]).all(), "pages stay at home"
        return int(np.lexsort((board.serial, board.request_units))[0])


def test_facts_that_only_few_look_at() -> None:
    result = fl.compare(FULL, schedulers=["fr-fcfs", OneOn, FewUnits], audit=True)
    runs = result.summary.schedulers
    assert len({run.total.all.mean_ns for run in runs}) == 3 and all(run.total.completed == 4000 for run in runs)
    with pytest.raises(fl.Error, match="request_units is not among the columns"):
        fl.run(FULL, scheduler=made(fl.Pick, pick=lambda self, board, unit: board.request_units[0]))


def made(of: type, **methods: object) -> type:
    return type("Wrong", (of,), {"base": "fr-fcfs", **methods})


@pytest.mark.parametrize("answer, message", [
    (made(fl.Place, plane=lambda self, board, lpn, home, at: 10_000), r"plane returned plane 10000: must be below \d+, the planes of the device"),
    (made(fl.Place, plane=lambda self, board, lpn, home, at: "a"), "plane returned 'a': must be a plane"),
    (made(fl.Place, plane=lambda self, board, lpn, home, at: 1 // 0), "ZeroDivisionError"),
    (made(fl.Place), "NotImplementedError: Wrong does not say which plane"),
    (made(fl.Place, binds_at_dispatch=True), "NotImplementedError: Wrong does not say which write gets which plane"),
    (made(fl.Place, binds_at_dispatch=True, place_at_dispatch=lambda self, board: 3), "place_at_dispatch returned 3: must be None, or the place of a write"),
    (made(fl.Place, binds_at_dispatch=True, place_at_dispatch=lambda self, board: (64, 0)), r"place_at_dispatch returned 64: must be below len\(board\)"),
    (made(fl.Place, binds_at_dispatch=True, place_at_dispatch=lambda self, board: None), "place_at_dispatch returned None .* times in a row"),
    (made(fl.Place, binds_at_dispatch=1), "binds_at_dispatch = 1: must be True or False"),
    (made(fl.Place, window=0), "window = 0: must be a number from 1"),
    (made(fl.Order, position=lambda self, board, unit: len(board)), r"position returned \d+: must be below len\(board\) = \d+"),
    (made(fl.Order, position=lambda self, board, unit: None), "position returned None: must be the place at which the last"),
    (made(fl.Preempt, pause=lambda self, board, unit: 2), "pause returned 2: must be True or False"),
    (made(fl.Preempt, pause=lambda self, board, unit: True, serve=lambda self, board, unit: []), r"serve returned \[\]: must be True or False"),
    (made(fl.Collect, goes_first=lambda self, board, unit: board.lpn[0] / 0 and None), "goes_first returned|IndexError"),
    (made(fl.Collect, columns=("plane_unit",), goes_first=lambda self, board, unit: board.plane_free_blocks), "plane_free_blocks is not among the columns"),
])
def test_what_goes_wrong_is_raised(answer: type, message: str) -> None:
    with pytest.raises(fl.Error, match=f"^wrong: ({message})"):
        fl.run(FULL, scheduler=answer)
    # The interpreter is sound.
    assert fl.run(DOCUMENT, scheduler="fcfs").summary.schedulers


def test_an_answer_is_to_one_question() -> None:
    class Both(fl.Pick, fl.Place):
        pass

    with pytest.raises(fl.Error, match="^both: must be a subclass of one of Place, Order, Pick, Preempt, Collect, and answers 2 questions"):
        fl.run(DOCUMENT, scheduler=Both)
    with pytest.raises(fl.Error, match="most-pages"):
        fl.run(DOCUMENT, scheduler={"base": "fcfs", "pick": MostPages})


FILE = '''
import flashlane as fl


class Oldest(fl.Pick):
    base = "fr-fcfs"
    columns = ("serial",)

    def pick(self, board, unit):
        return int(board.serial.argmin())


class Stays(fl.Place):
    def plane(self, board, lpn, home, at):
        return home
'''


def command(*arguments: object, at: Path) -> "subprocess.CompletedProcess[str]":
    words = [sys.executable, "-m", "flashlane", *map(str, arguments)]
    return subprocess.run(words, cwd=at, capture_output=True, text=True, timeout=120)


def test_a_file_of_schedulers_on_the_command_line(tmp_path: Path, small: Path) -> None:
    own = tmp_path / "own.py"
    own.write_text(FILE)
    page = tmp_path / "page.html"
    done = command("compare", small, "--python-scheduler", own, "--audit", "--report", page, at=tmp_path)
    assert done.returncode == 0 and done.stderr == "", done.stderr
    for word in ("fr-fcfs", "oldest", "read-first", "stays", "no rule broken"):
        assert word in done.stdout
    assert "oldest" in page.read_text()
    # The same figures as in Python, and a list that says which.
    own.write_text(FILE + '\nschedulers = [{"name": "both", "base": "flin", "pick": Oldest, "place": Stays}]\n')
    done = command("compare", small, "--python-scheduler", own, "--schedulers", "both,fcfs", "--set", "seed=7", "--baseline", "fcfs", "--json", at=tmp_path)
    assert done.returncode == 0, done.stderr
    summary = fl.Summary(done.stdout)
    assert [run.name for run in summary.schedulers] == ["both", "fcfs"] and summary.baseline == "fcfs"
    assert summary.schedulers[1].total == fl.run(small, scheduler="fcfs", set={"seed": 7}).summary.schedulers[0].total


@pytest.mark.parametrize("text, words, message", [
    (None, [], "own.py: no such file"),
    ("x = 1\n", [], "own.py: has no scheduler; it must define subclasses of flashlane.Place"),
    ("import flashlane\n1 / 0\n", [], r"own.py: ZeroDivisionError: division by zero (line 2)"),
    ("def broken(:\n", [], "own.py: SyntaxError: "),
    (FILE, ["--schedulers", "oldest,none"], "none"),
    (FILE, ["--set", "seed"], "'seed': must be KEY=VALUE"),
    (FILE, ["--set", "sed=1"], "sed"),
    (FILE, ["--set", "seed=7", "--set", "seed=9"], "--set: seed = 9: it is given the value 7 too; give seed one value"),
    (FILE, ["--set", "run.baseline=oldest", "--baseline", "read-first"], "run.baseline = oldest: it is given the value read-first too"),
    (FILE, ["--jobs", "0"], "jobs"),
])
def test_what_is_wrong_on_the_command_line_exits_with_2(tmp_path: Path, small: Path, text: object, words: list, message: str) -> None:
    own = tmp_path / "own.py"
    if text is not None:
        own.write_text(str(text))
    done = command("compare", small, "--python-scheduler", own, *words, at=tmp_path)
    assert done.returncode == 2 and message in done.stderr and done.stdout == "", done.stderr
    assert "Traceback" not in done.stderr and not any(tmp_path.glob("*.html"))
