"""What misbehaving schedulers and huge workloads cost: an error that names them, and a Python that goes on."""

import itertools
import resource
import shutil
import subprocess
import sys
import textwrap
import time
from collections import namedtuple
from pathlib import Path
from typing import Any, Callable, Iterator

import numpy as np
import pandas as pd
import polars as pl
import pytest

import flashlane as fl
from conftest import DOCUMENT
from flashlane import _compare, _workload

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="limits and signals are tried on Linux alone")

#: Enough decisions for a scheduler to go wrong late.
LONG = {**DOCUMENT, "run": {"alone": False}, "flow": [
    {"name": "reader", "synthetic": {"read_ratio": 1.0, "size": {"constant": 4096}, "rate_iops": 100_000, "requests": 40_000}},
]}

PRELUDE = """
import json, os, signal, sys, threading, time
import numpy as np
import flashlane as fl
LONG = json.loads(sys.argv[1])
def interrupt(after=1.0):
    def kill():
        time.sleep(after)
        os.kill(os.getpid(), signal.SIGINT)
    threading.Thread(target=kill, daemon=True).start()
def goes_on():
    print(fl.run(LONG, scheduler="fcfs", requests=False).summary.schedulers[0].total.completed)
"""


def program(tmp_path: Path, text: str, limits: Callable[[], None] = lambda: None) -> subprocess.CompletedProcess[str]:
    """Runs a script of its own, as a user would have it in a file."""
    import json

    file = tmp_path / "script.py"
    file.write_text(PRELUDE + textwrap.dedent(text))
    command = [sys.executable, str(file), json.dumps(LONG)]
    return subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=240, preexec_fn=limits)


def test_ctrl_c_interrupts_a_scheduler_that_loops_for_ever_and_names_its_line(tmp_path: Path) -> None:
    done = program(tmp_path, """
    class Loops(fl.Pick):
        def pick(self, board, unit):
            while True:
                try:
                    unit += 1
                except Exception:
                    pass
    interrupt()
    try:
        fl.run(LONG, scheduler=Loops)
    except KeyboardInterrupt as cause:
        print(cause)
    goes_on()
    print(threading.active_count())
    """)
    lines = done.stdout.splitlines()
    assert done.returncode == 0 and len(lines) == 3, done
    assert lines[0].startswith("loops: a call had not returned for "), done
    assert f"({tmp_path}/script.py:" in lines[0] and ", in pick: " in lines[0] and "cannot be interrupted" not in lines[0], done
    assert lines[1] == "40000", done


def test_one_that_cannot_be_interrupted_is_left_behind_and_named(tmp_path: Path) -> None:
    begun = time.monotonic()
    done = program(tmp_path, """
    class Sleeps(fl.Pick):
        def pick(self, board, unit):
            time.sleep(3600)
    interrupt()
    try:
        fl.run(LONG, scheduler=Sleeps)
    except KeyboardInterrupt as cause:
        print(cause)
    goes_on()
    """)
    lines = done.stdout.splitlines()
    assert done.returncode == 0 and len(lines) == 2, done
    assert lines[0].startswith("sleeps: ") and "in pick: time.sleep(3600)), and cannot be interrupted: its thread goes on" in lines[0], done
    assert lines[1] == "40000" and time.monotonic() - begun < 60, done


def test_a_call_that_takes_long_is_warned_of(monkeypatch: pytest.MonkeyPatch) -> None:
    class Slow(fl.Pick):
        def __init__(self) -> None:
            self.slept = False

        def pick(self, board: fl.Board, unit: int) -> int:
            if not self.slept:
                self.slept = True
                time.sleep(1.5)
            return 0

    monkeypatch.setattr(_compare, "_LONG_CALL", 0.3)
    with pytest.warns(RuntimeWarning, match=r"^slow: a call has not returned for .* s \(.*test_limits.py:\d+, in pick: time.sleep\(1.5\)\); Ctrl-C"):
        assert fl.run(DOCUMENT, scheduler=Slow, jobs=1).summary.schedulers[0].total.completed == 300


def test_what_is_raised_late_is_raised(tmp_path: Path) -> None:
    class Overdue(fl.Pick):
        count = 0

        def pick(self, board: fl.Board, unit: int) -> int:
            Overdue.count += 1
            if Overdue.count == 30_000:
                raise ValueError("the thirty thousandth")
            return 0

    with pytest.raises(fl.Error, match=r"^overdue: ValueError: the thirty thousandth \(.*, in pick: raise ValueError"):
        fl.run(LONG, scheduler=Overdue, jobs=1)
    assert Overdue.count == 30_000


def test_boards_that_are_kept_are_harmless() -> None:
    class Keeps(fl.Pick):
        kept: list[Any] = []

        def pick(self, board: fl.Board, unit: int) -> int:
            Keeps.kept.append((board, board.serial, board.flow))
            return 0

    assert fl.run(LONG, scheduler=Keeps, jobs=1).summary.schedulers[0].total.completed == 40_000
    assert len(Keeps.kept) > 1_000
    # The memory is used again: one board, whose arrays are those of a later decision or of none, and can be read.
    assert len({id(board) for board, *_ in Keeps.kept}) == 1
    assert all(serial.dtype == np.int64 and (serial >= 0).all() and (flow == 0).all() for _, serial, flow in Keeps.kept)


@pytest.mark.parametrize("piece", [1 << 27, 1 << 18])
def test_one_that_takes_all_memory_is_an_error(tmp_path: Path, piece: int) -> None:
    """Under a limit that stands for a small machine, in large pieces and in small ones."""
    limit = 2 << 30
    done = program(tmp_path, f"""
    class Hoards(fl.Pick):
        def __init__(self):
            self.kept = []
        def pick(self, board, unit):
            self.kept.append(bytearray({piece}))
            return 0
    try:
        fl.run(LONG, scheduler=Hoards, jobs=1)
    except fl.Error as cause:
        print(cause)
    goes_on()
    """, lambda: resource.setrlimit(resource.RLIMIT_AS, (limit, limit)))
    lines = done.stdout.splitlines()
    assert done.returncode == 0 and len(lines) == 2, done
    assert "hoards: MemoryError" in lines[0] or "of memory are left, so the runs were ended" in lines[0], done
    assert lines[1] == "40000", done


COUNT = 300_000


def frame(**columns: Any) -> dict[str, Any]:
    return {"time_ns": np.arange(4), "op": ["read"] * 4, "offset": np.zeros(4, int), "length": np.full(4, 4096), **columns}


def claimed(count: int, **columns: Any) -> dict[str, Any]:
    """A table of this many rows that takes no memory."""
    of = lambda value: np.broadcast_to(np.asarray(value), count)  # noqa: E731
    return {"time_ns": of(0), "op": of("read"), "offset": of(0), "length": of(4096), **columns}


def tuples(last: tuple[Any, ...]) -> Iterator[tuple[Any, ...]]:
    return itertools.chain(itertools.repeat((0, "read", 0, 4096), COUNT), [last])


@pytest.mark.parametrize("requests, message", [
    (lambda: claimed(10**12), r"1000000000000 requests take at least 8000.0 GB in .*, which has .* GB; TMPDIR names another folder"),
    (lambda: claimed(COUNT, length=np.append(np.full(COUNT - 1, 4096), -1)), f"row {COUNT - 1}: length = -1: must be 0 or more"),
    (lambda: claimed(COUNT, op=["read"] * (COUNT - 1) + ["erase"]), f"row {COUNT - 1}: op = 'erase': must be read, write, write-fua, trim, write-zeroes or flush"),
    (lambda: claimed(COUNT, time_ns=np.append(np.zeros(COUNT - 1), np.nan)), f"row {COUNT - 1}: time_ns = nan"),
    (lambda: tuples((0, "read", -512, 4096)), f"row {COUNT}: offset = -512: must be 0 or more"),
    (lambda: tuples((0, "read", 0)), r"\(0, 'read', 0\) is no request"),
    (lambda: tuples((0, "read", 0, None)), "length is object: must be whole numbers"),
    (lambda: frame(length=[2**70] * 4), "length is object: must be whole numbers of bytes"),
    (lambda: frame(length=["4096"] * 4), "length is .*U4: must be whole numbers of bytes"),
    (lambda: frame(offset=np.zeros(4, complex)), "offset is complex128: must be whole numbers"),
    (lambda: frame(offset=np.zeros(4, bool)), "offset is bool: must be whole numbers"),
    (lambda: frame(time_ns=pd.date_range("2026-01-01", periods=4)), "time_ns is datetime64.*: must be numbers"),
    (lambda: pd.DataFrame(frame()).astype({"length": "Int64"}).assign(length=pd.array([1, None, 3, 4], "Int64")), "length"),
    (lambda: pl.DataFrame(frame()).with_columns(offset=pl.Series([0, None, 0, 0])), "row 1: offset = nan"),
    (lambda: frame(offset=[1e300] * 4), "row 0: offset = 1e.300: must be a whole number of bytes"),
    (lambda: frame(offset=np.zeros((4, 2), int)), "offset has 2 dimensions; must have one"),
    (lambda: frame(offset=0), "offset has 0 dimensions; must have one"),
    (lambda: frame(op=["read", "read", None, "read"]), "row 2: op = 'None': must be read, write, write-fua"),
    (lambda: frame(**{"x" * 10**6: [0] * 4}), "has the columns .*; legal columns are"),
])
def test_wrong_and_huge_workloads_are_refused_in_few_words(requests: Callable[[], Any], message: str) -> None:
    with pytest.raises(fl.Error, match=message) as raised:
        fl.run(device="flin-isca18", trace=requests())
    assert len(str(raised.value)) < 1_000


def test_one_long_word_does_not_make_every_word_long(tmp_path: Path) -> None:
    """As an array of text, 4,000 words would take 50 GB."""
    limit = 4 << 30
    done = program(tmp_path, """
    words = np.array(["read"] * 4000, dtype=object)
    words[3999] = "x" * 3_000_000
    try:
        fl.run(device="flin-isca18", trace={"time_ns": np.arange(4000), "op": words, "offset": np.zeros(4000, int), "length": np.full(4000, 4096)})
    except fl.Error as cause:
        print(str(cause)[:39], len(str(cause)) < 1000)
    """, lambda: resource.setrlimit(resource.RLIMIT_AS, (limit, limit)))
    assert done.stdout == "workload: row 3999: op = 'xxxxxxxxxxxxx True\n", done


def test_workloads_are_the_same_in_one_piece_and_in_many(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = [(100 * i, "write" if i % 5 == 0 else "R", 4096 * (i % 97), 4096 + 512 * (i % 3)) for i in range(1_000)]
    table = pd.DataFrame(rows, columns=["time_ns", "op", "offset", "length"])
    made = []
    for chunk in (1 << 18, 333, 1):
        monkeypatch.setattr(_workload, "CHUNK", chunk)
        made += [fl.run(device="flin-isca18", trace=trace()).summary.to_json() for trace in (lambda: table, lambda: iter(rows))]
    assert len(set(made)) == 1


def test_a_small_disk_is_refused_before_the_first_request(monkeypatch: pytest.MonkeyPatch) -> None:
    usage = namedtuple("usage", "total used free")
    monkeypatch.setattr(shutil, "disk_usage", lambda path: usage(100, 50, 8 * 4 - 1))
    with pytest.raises(fl.Error, match="4 requests take at least 0.0 GB"):
        fl.run(device="flin-isca18", trace=frame())
    monkeypatch.setattr(shutil, "disk_usage", lambda path: usage(100, 50, 8 * 4))
    assert fl.run(device="flin-isca18", trace=frame()).summary.schedulers[0].total.completed == 4


def test_a_limit_of_file_sizes_is_an_error_and_leaves_nothing(tmp_path: Path) -> None:
    done = program(tmp_path, """
    os.environ["TMPDIR"] = os.getcwd() + "/temporary"
    os.mkdir("temporary")
    result = fl.run(LONG)
    result.report("page.html")
    before = open("page.html").read()
    import resource
    resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, resource.RLIM_INFINITY))
    def endless():
        while True:
            yield (0, "read", 0, 4096)
    for call in (lambda: fl.run(device="flin-isca18", trace=endless()), lambda: result.report("page.html"), lambda: result.report("other.html")):
        try:
            call()
        except fl.Error as cause:
            print(cause)
    print(open("page.html").read() == before, os.listdir("temporary"), sorted(os.listdir()))
    """)
    lines = done.stdout.splitlines()
    assert done.returncode == 0 and len(lines) == 4, done
    assert all("File too large" in line for line in lines[:3]), done
    assert "flow0.csv" in lines[0] and lines[1].startswith("page.html: ") and lines[2].startswith("other.html: "), done
    assert lines[3] == "True [] ['page.html', 'script.py', 'temporary']", done


def test_a_full_disk_is_an_error_and_leaves_nothing(tmp_path: Path) -> None:
    text = """
    frame = {"time_ns": np.arange(50_000), "op": ["read"] * 50_000, "offset": np.zeros(50_000, int), "length": np.full(50_000, 4096)}
    import shutil
    real, shutil.disk_usage = shutil.disk_usage, lambda path: shutil._ntuple_diskusage(10**9, 0, 10**9)
    try:
        fl.run(device="flin-isca18", trace=frame)
    except fl.Error as cause:
        print(cause)
    print(os.listdir("m"))
    """
    (tmp_path / "script.py").write_text(PRELUDE + textwrap.dedent(text))
    (tmp_path / "m").mkdir()
    mounted = f"mount -t tmpfs -o size=256k tmpfs m && TMPDIR=$PWD/m exec {sys.executable} script.py '{{}}'"
    command = ["unshare", "-r", "-m", "sh", "-c", mounted]
    try:
        tried = subprocess.run(["unshare", "-r", "-m", "sh", "-c", "mount -t tmpfs tmpfs m"], cwd=tmp_path, capture_output=True)
    except FileNotFoundError:
        tried = None
    if tried is None or tried.returncode != 0:
        pytest.skip("no file system can be mounted here (unshare -r -m)")
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=120)
    lines = done.stdout.splitlines()
    assert len(lines) == 2 and "No space left on device" in lines[0] and lines[1] == "[]", done
