"""Runs and comparisons: the program's bytes, its errors, and rows that are not copied."""

import copy
import html
import json
import os
import pickle
import re
import signal
import subprocess
import sys
import textwrap
import threading
import time
from pathlib import Path

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import flashlane as fl
from conftest import DOCUMENT


def test_schedulers_below_elevators(small: Path) -> None:
    """A scheduler below each elevator of the block layer, with what flows waited for there."""
    made = fl.compare(small, schedulers=["fcfs", "late"], set={"block.elevators": ["none", "kyber"], "block.depth": 2})
    names = ["fcfs+none", "fcfs+kyber", "late+none", "late+kyber"]
    assert sorted(one["name"] for one in made.summary["schedulers"]) == sorted(names)
    assert {one["block"]["elevator"] for one in made.summary["schedulers"]} == {"none", "kyber"}


def test_the_bytes_are_the_programs(small: Path, program: str, tmp_path: Path) -> None:
    out = tmp_path / "out"
    subprocess.run([program, "compare", str(small), "--out", str(out), "--transactions"], check=True, capture_output=True)
    result = fl.compare(small, transactions=True)
    assert result.summary.to_json() == (out / "summary.json").read_text()
    # From a dict, the same keys give the same figures.
    assert fl.compare(DOCUMENT).summary.to_json() == result.summary.to_json()
    for scheduler in ("fcfs", "read-first"):
        for table in ("requests", "transactions"):
            rows = pa.table(getattr(result, table)(scheduler))
            written = pq.read_table(out / scheduler / f"{table}.parquet")
            assert rows.num_rows == len(getattr(result, table)(scheduler)) == written.num_rows >= 300
            for name in written.column_names:
                assert rows[name].cast(written[name].type).equals(written[name]), (scheduler, table, name)
    printed = subprocess.run([program, "compare", str(small)], check=True, capture_output=True, text=True).stdout
    assert repr(result).strip() == printed.strip()
    printed = subprocess.run([program, "compare", str(small), "--full"], check=True, capture_output=True, text=True).stdout
    assert result.summary.tables().strip() == printed.strip()


def test_ceilings_are_the_programs(small: Path, program: str, tmp_path: Path) -> None:
    out = tmp_path / "out"
    subprocess.run([program, "compare", str(small), "--ceiling", "--out", str(out)], check=True, capture_output=True)
    summary = fl.compare(small, ceiling=True).summary
    assert summary.to_json() == (out / "summary.json").read_text()
    bound, run = summary.ceiling.static_every_write, summary.schedulers[0]
    assert 0 < bound.mean_ns <= run.total.all.mean_ns and bound.p99_ns <= bound.p99_9_ns <= bound.worst_ns <= run.total.all.max_ns
    assert run.ceiling.mean_static == pytest.approx(run.total.all.mean_ns / bound.mean_ns)
    assert "no scheduler's mean can be below" in repr(summary)


def test_keys_replace_those_of_the_file(small: Path, program: str, tmp_path: Path) -> None:
    result = fl.compare(small, schedulers=["sprinkler"], seed=7, set={"flow.writer.synthetic.requests": np.int64(50)})
    summary = result.summary
    assert [run.name for run in summary.schedulers] == ["sprinkler"] and summary.made_by.seed == 7
    assert summary.schedulers[0].flows[1].figures.completed == 50
    assert fl.run(small).summary.baseline == "fcfs"
    mixed = fl.compare(small, schedulers=["fcfs", {"name": "mine", "base": "read-first", "pick": "largest-group"}])
    assert [run.name for run in mixed.summary.schedulers] == ["fcfs", "mine"]
    assert fl.run(device="unit-cycle", flow=[{"request": [{"at_ns": 0, "op": "read", "pages": [0]}]}]).summary.schedulers


def test_a_device_may_come_from_a_file(tmp_path: Path) -> None:
    (tmp_path / "my.toml").write_text("[device]\npreset = \"flin-isca18\"\nnand.read_ns = 60_000\n")
    keys = {"flow": [{"request": [{"at_ns": 0, "op": "read", "pages": [0]}]}]}
    own = fl.run(device=str(tmp_path / "my.toml"), **keys).summary
    same = fl.run(device={"preset": "flin-isca18", "nand": {"read_ns": 60_000}}, **keys).summary
    assert own.made_by.scenario_hash == same.made_by.scenario_hash and own.made_by.device == "my.toml"


def test_a_key_has_one_value(small: Path) -> None:
    """Whatever gives a key twice gives it the same value, or both values are named."""
    flows = DOCUMENT["flow"]
    for scenario in (small, DOCUMENT):
        for given, message in [
            ({"seed": 7, "set": {"seed": 9}}, "keys: seed = 9: an argument gives seed the value 7; give seed one value"),
            ({"device": {"preset": "flin-isca18", "gc": {"start_percent": 5}}, "set": {"device.gc.start_percent": 7}},
             "keys: device.gc.start_percent = 7.*: an argument gives device.gc.start_percent the value 5"),
            ({"device": "flin-isca18", "set": {"device.preset": "modern-tlc"}}, "an argument gives device.preset the value flin-isca18"),
            ({"run": {"seeds": 3}, "seeds": 5}, "keys: run.seeds = 5: an argument gives run.seeds the value 3"),
            ({"set": {"run.seeds": 3}, "seeds": 5}, "seeds = 5 and set"),
            ({"flow": flows, "set": {"flow[0].name": "other"}}, r"keys: flow\[0\].name = .other.: an argument gives flow\[0\].name the value reader"),
            ({"flow": flows, "trace": "a.csv"}, "flow: trace and flow give the flows"),
            ({"trace": "a.csv", "set": {"flow": flows}}, "flow: trace and set give the flows"),
        ]:
            with pytest.raises(fl.Error, match=message):
                fl.run(scenario, **given)
        for given, message in [
            ({"scheduler": "fcfs", "set": {"schedulers": ["sprinkler"]}}, r"schedulers = \['sprinkler'\]: set gives it"),
            ({"scheduler": "fcfs", "schedulers": ["sprinkler"]}, r"schedulers = \['sprinkler'\]: an argument gives it"),
            ({"scheduler": "fcfs", "set": {"schedulers[1]": "sprinkler"}}, "the schedulers are fcfs; give them once"),
        ]:
            with pytest.raises(fl.Error, match=message):
                fl.run(scenario, **given)
        both = fl.run(scenario, scheduler="fcfs", seed=7, seeds=2, set={"seed": 7, "run.seeds": 2, "schedulers": ["fcfs"]})
        assert both.summary.made_by.seed == 7


def test_summaries_read_like_dataclasses(small: Path) -> None:
    result = fl.compare(small)
    first = result.summary.schedulers[0]
    assert first.total.read.p99_ns == json.loads(result.summary.to_json())["schedulers"][0]["total"]["read"]["p99_ns"]
    assert first.flows[0]["name"] == "reader" and "made_by" in dir(result.summary)
    with pytest.raises(AttributeError, match="there is no 'p98_ns'; there are .*p99_ns"):
        first.total.read.p98_ns
    page = result._repr_html_()
    assert page.startswith("<ul><li>") and page.count("<tr>") == 1 + 2 * (3 + 2) and "slowdown" in page


def test_summaries_are_copied_and_sent(small: Path) -> None:
    result = fl.compare(small)
    summary, part = result.summary, result.summary.schedulers[0]
    ways = [copy.copy, copy.deepcopy, *(lambda value, n=n: pickle.loads(pickle.dumps(value, n)) for n in range(pickle.HIGHEST_PROTOCOL + 1))]
    for way in ways:
        again = way(summary)
        assert again == summary and again.to_json() == summary.to_json() and repr(again) == repr(summary)
        assert type(again) is type(summary) and again.schedulers[0].total == part.total
        assert way(part) == part and way(part).total.all.requests == part.total.all.requests
        assert [way(flow) for flow in part.flows] == part.flows
    # One that was never filled, as whoever unpickles by hand makes it.
    with pytest.raises(AttributeError):
        type(part).__new__(type(part)).total
    assert copy.deepcopy(result).summary == summary and len(copy.deepcopy(result).requests("fcfs")) == len(result.requests("fcfs"))
    with pytest.raises(TypeError, match="send its `summary`"):
        pickle.dumps(result)


@pytest.mark.parametrize("take", [
    lambda rows: pl.DataFrame(rows)["response_ns"].sum(),
    lambda rows: pa.table(rows).to_pandas()["response_ns"].sum(),
    lambda rows: pd.DataFrame.from_arrow(rows)["response_ns"].sum() if hasattr(pd.DataFrame, "from_arrow") else pa.table(rows).to_pandas()["response_ns"].sum(),
    lambda rows: duckdb.sql("select sum(response_ns) from rows").fetchall()[0][0],
])
def test_every_library_takes_the_rows(small: Path, take) -> None:
    result = fl.run(small)
    total = result.summary.schedulers[0].total.all
    assert int(take(result.requests())) == round(total.mean_ns * total.requests)


def test_what_takes_no_stream_is_told_what_does(small: Path) -> None:
    rows = fl.run(small).requests()
    for take in (pd.DataFrame, list, iter):
        with pytest.raises(fl.Error, match=r"pandas\.DataFrame\.from_arrow\(rows\) .*pyarrow\.table\(rows\)\.to_pandas\(\)"):
            take(rows)


def test_numbers_are_not_copied(small: Path) -> None:
    rows = fl.run(small).requests()
    table = pa.table(rows)
    for name in ("id", "arrival_ns", "response_ns", "flow"):
        addresses = [chunk.buffers()[1].address for chunk in table[name].chunks]
        assert addresses == rows.addresses(name)
    frame = pl.DataFrame(rows)
    assert frame["response_ns"].to_arrow().buffers()[1].address == rows.addresses("response_ns")[0]
    # The rows live as long as what was made of them.
    column = table["response_ns"]
    before = column.to_pylist()
    del rows, table, frame
    assert column.to_pylist() == before


REQUESTS = [(1000 * i, "read" if i % 3 else "write", 4096 * (i % 50), 4096) for i in range(300)]


def frame() -> pd.DataFrame:
    return pd.DataFrame(REQUESTS, columns=["time_ns", "op", "offset", "length"])


@pytest.mark.parametrize("requests", [
    lambda: frame(),
    lambda: pl.from_pandas(frame()),
    lambda: pa.Table.from_pandas(frame()),
    lambda: iter(REQUESTS),
    lambda: frame().assign(time_us=lambda f: f.time_ns / 1000).drop(columns="time_ns"),
    lambda: frame().assign(op=lambda f: f.op.str[0].str.upper()).astype({"offset": float}),
    lambda: {name: frame()[name].to_numpy() for name in frame()},
])
def test_workloads_come_from_frames(requests, tmp_path: Path) -> None:
    trace = tmp_path / "flow0.csv"
    trace.write_text("time_ns,op,offset,length\n" + "".join(f"{t},{'RW'[op == 'write']},{o},{n}\n" for t, op, o, n in REQUESTS))
    device = {"preset": "flin-isca18", "geometry": {"blocks_per_plane": 32}, "ftl": {"over_provisioning_percent": 28}}
    wanted = fl.run(device=device, flow=[{"name": "flow0", "trace": {"path": str(trace), "format": "csv"}}])
    made = fl.run(device=device, trace=requests())
    assert made.summary.to_json() == wanted.summary.to_json()
    assert made.summary.schedulers[0].total.completed == 300


VOLATILE = {"preset": "flin-isca18", "geometry": {"blocks_per_plane": 32}, "ftl": {"over_provisioning_percent": 28},
            "buffer": {"pages": 64, "write_back": True, "flush_above": 32}}
#: Each kind, each 20 ms after the one before, so that each is served alone.
KINDS = [("write", 0, 16384), ("write-fua", 16384, 8192), ("trim", 65536, 131072), ("write-zeroes", 0, 8192), ("flush", 0, 0), ("read", 0, 16384)]


@pytest.mark.parametrize("trace", [
    lambda: [(20_000_000 * at, *kind) for at, kind in enumerate(KINDS)],
    lambda: pd.DataFrame([(20 * at, *kind) for at, kind in enumerate(KINDS)], columns=["time_ms", "op", "offset", "length"]),
    lambda: pl.DataFrame({"time_ms": range(0, 120, 20), "op": ["w", "W", "TRIM", "write-zeroes", "flush", "r"], "offset": [k[1] for k in KINDS],
                          "length": [k[2] for k in KINDS], "fua": [False, True, False, False, False, False]}),
])
def test_workloads_have_requests_of_every_kind(trace) -> None:
    result = fl.run(device=VOLATILE, trace=trace(), audit=True)
    total = result.summary.schedulers[0].total
    received = {kind.kind: (kind.issued, kind.completed, kind.rejected) for kind in total.commands.received}
    assert received == {"read": (1, 1, 0), "write": (2, 2, 0), "trim": (1, 1, 0), "write-zeroes": (1, 1, 0), "flush": (1, 1, 0)}
    assert all(issued == completed + rejected for issued, completed, rejected in received.values())
    rows = pl.DataFrame(result.requests())
    assert rows["op"].to_list() == ["write", "write", "trim", "write-zeroes", "flush", "read"]
    took = dict(zip([kind[0] for kind in KINDS], rows["response_ns"].to_list()))
    # A write ends in the buffer, one with FUA with its program of 1.3 ms, a flush with that of the page that is dirty.
    assert took["write"] < 100_000 and took["write-fua"] > 1_300_000 and took["flush"] > 1_300_000, took


def test_flows_of_a_scenario_have_requests_of_every_kind() -> None:
    log = {"read_ratio": 0.2, "rate_iops": 2000, "requests": 400, "flush_every_writes": 5, "fua_ratio": 0.2, "trim_ratio": 0.1,
           "trim_size": {"constant": 65536}}
    request = [{"at_ns": 1000, "op": "write-zeroes", "offset": 0, "length": 65536}, {"at_ns": 2000, "op": "write", "pages": [3], "fua": True},
               {"at_ns": 3000, "op": "flush"}]
    flows = [{"name": "log", "synthetic": log}, {"name": "by hand", "request": request}]
    run = fl.run(device=VOLATILE, flow=flows, audit=True).summary.schedulers[0]
    log, by_hand = ({kind.kind: kind for kind in flow.figures.commands.received} for flow in run.flows)
    assert set(log) == {"read", "write", "trim", "flush"} and set(by_hand) == {"write", "write-zeroes", "flush"}
    for kind in [*log.values(), *by_hand.values()]:
        assert kind.issued == kind.completed + kind.rejected > 0, kind
    assert log["flush"].issued == log["write"].issued // 5
    assert log["flush"].issued + sum(log[kind].issued for kind in ("read", "write", "trim")) in (400, 400 + log["flush"].issued)


def test_a_trace_may_be_a_csv_read_by_its_columns(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    frame().to_csv("own.csv", index=False)
    lines = [f"{o // 512};{n};{'RW'[op == 'write']};{t / 1000}\n" for t, op, o, n in REQUESTS]
    Path("other.csv").write_text("lba;bytes;rw;ts\n" + "".join(lines))
    wanted = fl.run(device="flin-isca18", trace=frame()).summary.schedulers[0].total
    other = {"path": "other.csv", "columns": "time=ts:us,op=rw,offset=lba:sectors,length=bytes"}
    for trace in ("own.csv", {"path": "own.csv"}, other, [other], {**other, "columns": "time=4,op=3,offset=1:sectors,length=2", "time_unit": "us"}):
        assert fl.run(device="flin-isca18", trace=trace).summary.schedulers[0].total == wanted
    with pytest.raises(fl.Error, match="there is no column `at`; legal is one of `lba`, `bytes`, `rw`, `ts`"):
        fl.run(device="flin-isca18", trace={**other, "columns": "time=ts:us,op=rw,offset=at,length=bytes"})
    with pytest.raises(fl.Error, match="--columns"):
        fl.run(device="flin-isca18", trace="other.csv")
    # Times of a CSV that is off by a thousand give a warning.
    assert "times may be in other units" in repr(fl.run(device="flin-isca18", trace={**other, "columns": other["columns"].replace("us", "ns")}))


def test_volumes_of_a_trace_and_closed_replays(tmp_path: Path) -> None:
    path = tmp_path / "disks.spc"
    path.write_text("".join(f"{i % 2},{i * 16},8192,{'rw'[i % 3 == 0]},{i / 1000:.6f}\n" for i in range(400)))
    keys = {"device": "flin-isca18", "schedulers": ["fcfs"], "requests": False}
    shared = fl.compare(trace={"path": path}, **keys)
    assert shared.summary.flows[0].recorded.volumes == 2
    assert any("2 volumes share addresses" in text for _, text in shared.remarks)
    apart = fl.compare(trace={"path": path, "volumes": "apart"}, **keys)
    assert [flow.name for flow in apart.summary.flows] == ["disks:0", "disks:1"]
    assert apart.summary.schedulers[0].flows[1].figures.first_arrival_ns == 1_000_000
    closed = fl.compare(trace={"path": path, "replay": "closed", "depth": 4, "order": "sort"}, **keys)
    assert closed.summary.flows[0].depth == 4 and closed.summary.schedulers[0].total.completed == 400
    with pytest.raises(fl.Error, match="a depth of 4 has no meaning without replay closed"):
        fl.compare(trace={"path": path, "depth": 4}, **keys)


@pytest.mark.parametrize("requests, message", [
    (lambda: frame().rename(columns={"time_ns": "time"}), r"workload: has the columns time, op, .*legal columns are time_ns"),
    (lambda: frame().drop(columns="length"), "legal columns are"),
    (lambda: frame().assign(time_s=1), "legal columns are"),
    (lambda: frame().assign(op="erase"), r"row 0: op = 'erase': must be read, write, write-fua, trim, write-zeroes or flush"),
    (lambda: [(0, "read", 0, 4096), (1, "flush", 4096, 0)], "row 1: offset and length of a flush must be 0, not 4096, 0"),
    (lambda: [(0, "flush", 0, 512)], "row 0: offset and length of a flush must be 0, not 0, 512"),
    (lambda: frame().assign(fua=2), "fua is int64: must be booleans, or 0 and 1"),
    (lambda: frame().assign(fua="yes"), "fua is .*: must be booleans, or 0 and 1"),
    (lambda: frame().assign(op="trim", fua=True), "row 0: fua = 1: only a write can have it"),
    (lambda: frame().assign(offset=0.5), r"row 0: offset = 0.5: must be a whole number of bytes"),
    (lambda: frame().assign(length="x"), "length is .*must be whole numbers of bytes"),
    (lambda: frame().assign(length=-4096), "row 0: length = -4096: must be 0 or more"),
    (lambda: frame().assign(offset=np.uint64(2**63 + 4096)), f"row 0: offset = {2**63 + 4096}: must be at most {2**63 - 1}"),
    (lambda: frame().assign(length=np.uint64(2**64 - 1)), f"row 0: length = {2**64 - 1}: must be at most"),
    (lambda: frame().assign(time_ns=np.uint64(2**64 - 1)), f"time_ns = {2**64 - 1}: is later than the last instant"),
    (lambda: frame().drop(columns="time_ns").assign(time_s=-(2**62) - 1), f"row 0: time_s = {-(2**62) - 1}: must be a time of 0 or more"),
    (lambda: frame().assign(time_ns=float("nan")), "row 0: time_ns = nan"),
    (lambda: frame().iloc[:0], "has no requests"),
    (lambda: [(1, 2)], r"\(1, 2\) is no request"),
    (lambda: 7, "is a int"),
    (lambda: frame().assign(length=0), "(?i)length|size"),
])
def test_wrong_workloads_are_named(requests, message: str) -> None:
    with pytest.raises(fl.Error, match=message):
        fl.run(device="flin-isca18", trace=requests())


def test_errors_are_the_programs(small: Path, program: str, tmp_path: Path) -> None:
    (tmp_path / "wrong.toml").write_text(small.read_text().replace("blocks_per_plane", "blocks_per_plain"))
    (tmp_path / "name.toml").write_text(small.read_text().replace('"read-first"', '"read-frist"'))
    for name in ("wrong.toml", "name.toml", "absent.toml"):
        printed = subprocess.run([program, "compare", str(tmp_path / name)], capture_output=True, text=True).stderr
        with pytest.raises(fl.Error) as raised:
            fl.compare(tmp_path / name)
        assert f"error: {raised.value}\n" == printed
    for call, message in [
        (lambda: fl.compare(small, set={"device.nand.program": 1}), "keys: device.nand.program = 1: unknown key"),
        (lambda: fl.compare(small, sed=1), "keys: sed = 1: unknown key"),
        (lambda: fl.compare({**DOCUMENT, "sed": 1}), "scenario: sed.*: unknown key `sed`.*did you mean `seed`"),
        (lambda: fl.compare(small, schedulers=["fcsf"]), "did you mean \"fcfs\""),
        (lambda: fl.compare(), "must have at least one|flow"),
        (lambda: fl.compare(small, jobs=0), "jobs = 0: must be a whole number, 1 to 1024"),
        (lambda: fl.compare(small, jobs=True), "jobs = True: must be a whole number, 1 to 1024"),
        (lambda: fl.recommend(small, jobs=2_000), "jobs = 2000: must be a whole number, 1 to 1024"),
        (lambda: fl.compare(small, seed=pd.Series([1])), "is a Series; must be a number"),
        (lambda: fl.compare(small, schedulers=["fcfs", {}]), "is empty; a mix has a base"),
        (lambda: fl.compare({**DOCUMENT, "seed": float("nan")}), "scenario: "),
        (lambda: fl.compare({**DOCUMENT, "seed": object()}), "must be a number"),
        (lambda: fl.compare(small).requests(), "say of which scheduler; there are fcfs, read-first"),
        (lambda: fl.run(small).transactions(), "run with transactions=True"),
        (lambda: fl.run(small).requests("x"), "no such scheduler: 'x'"),
    ]:
        with pytest.raises(fl.Error, match=message):
            call()


def test_python_runs_meanwhile(small: Path) -> None:
    ticks = []
    over = threading.Event()

    def tick() -> None:
        while not over.is_set():
            ticks.append(time.monotonic())
            time.sleep(0.005)

    thread = threading.Thread(target=tick)
    thread.start()
    begun = time.monotonic()
    fl.run(small, set={"flow.reader.synthetic.requests": 200_000, "run.alone": False})
    took = time.monotonic() - begun
    over.set()
    thread.join()
    during = [at for at in ticks if begun < at < begun + took]
    # A busy machine delays ticks; a held lock would leave none.
    assert len(during) > 5 or took < 0.1, (took, len(during))


@pytest.mark.skipif(sys.platform != "linux", reason="the limit of address space is asked for on Linux alone")
def test_a_drive_that_does_not_fit_is_refused(small: Path, tmp_path: Path, program: str) -> None:
    """Under a limit that stands for a small machine: an error with the program's text, and Python goes on."""
    import resource

    large = small.read_text().replace("blocks_per_plane = 32", "blocks_per_plane = 16384").replace("pages_per_block = 16", "pages_per_block = 1024")
    (tmp_path / "large.toml").write_text(large)
    (tmp_path / "sweep.toml").write_text(large + "[sweep]\nseeds = 2\n")
    script = """
    import flashlane as fl
    for call in [lambda: fl.compare("large.toml", jobs=1), lambda: fl.sweep("sweep.toml", "store", jobs=1)]:
        try:
            call()
        except fl.Error as error:
            print("error:", error)
    print(fl.run("small.toml", jobs=1).summary.schedulers[0].total.completed)
    """

    def limited(command: list[str]) -> subprocess.CompletedProcess[str]:
        limit = lambda: resource.setrlimit(resource.RLIMIT_AS, (4 << 30, 4 << 30))
        return subprocess.run(command, cwd=tmp_path, preexec_fn=limit, capture_output=True, text=True, timeout=120)

    by_program = limited([program, "compare", "large.toml", "--jobs", "1"])
    assert by_program.returncode == 2, by_program
    assert by_program.stderr.startswith("error: a run needs up to ") and "ulimit -v" in by_program.stderr, by_program
    in_python = limited([sys.executable, "-c", textwrap.dedent(script)])
    # How much is available depends on the process.
    told = [re.sub(r"[\d.]+ [MG]B are available", "N are available", text) for text in (by_program.stderr, in_python.stdout)]
    assert told[1] == 2 * told[0] + "300\n", in_python
    assert not (tmp_path / "store").exists()


def test_ctrl_c_ends_a_run_at_once_and_python_goes_on(small: Path) -> None:
    script = f"""
    import os, signal, threading, time
    import flashlane as fl
    def interrupt():
        time.sleep(1.0)
        os.kill(os.getpid(), signal.SIGINT)
    threading.Thread(target=interrupt).start()
    try:
        fl.run({str(small)!r}, requests=False, set={{"flow.reader.synthetic.requests": 2_000_000_000, "run.alone": False}})
    except KeyboardInterrupt:
        print("interrupted")
    print(fl.run({str(small)!r}).summary.schedulers[0].total.completed)
    """
    begun = time.monotonic()
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(script)], capture_output=True, text=True, timeout=120)
    assert done.stdout == "interrupted\n300\n" and done.returncode == 0, done
    assert time.monotonic() - begun < 60


def test_reports_and_pictures_show_the_figures(small: Path, tmp_path: Path) -> None:
    result = fl.compare(small)
    page = tmp_path / "r.html"
    result.report(page)
    assert "<!doctype html>" in page.read_text() and "read-first" in page.read_text()
    (tmp_path / "mine.html").write_text("mine")
    with pytest.raises(fl.Error, match="is no report of flashlane"):
        result.report(tmp_path / "mine.html")
    ax = result.plot.cdf("read")
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("response time (µs)", "share of requests")
    labels = [line.get_label() for line in ax.get_lines()]
    assert labels == ["fcfs", "read-first"]
    cdf = result.summary.schedulers[0].total.read.cdf
    xs, ys = ax.get_lines()[0].get_data()
    assert xs[-1] == cdf.at_most_ns[-1] / 1e3 and ys[-1] == 1.0
    assert xs[0] == result.summary.schedulers[0].total.read.min_ns / 1e3 and ys[0] == 0.0
    chart = result.plot.timeline("p99_ns", flow="writer", backend="altair").to_dict()
    assert chart["encoding"]["y"]["field"] == "p99 response time (µs)" and len(chart["data"]["values"]) > 2
    with pytest.raises(fl.Error, match="no such flow: 'x'; there are reader, writer"):
        result.plot.cdf(flow="x")
    with pytest.raises(fl.Error, match="must be all, read or write"):
        result.plot.cdf("trim")


def test_rows_have_the_names_of_flows(small: Path) -> None:
    result = fl.compare(small, transactions=True)
    for rows in (result.requests("fcfs"), result.transactions("fcfs")):
        table = pa.table(rows)
        assert rows.columns[-1] == "flow_name"
        assert table["flow_name"].to_pylist() == [["reader", "writer"][flow] for flow in table["flow"].to_pylist()]
    # The names point at the numbers, which are not copied.
    assert set(pl.DataFrame(result.requests("fcfs"))["flow_name"].unique()) == {"reader", "writer"}
    assert duckdb.sql("select 1").fetchall() and pd.DataFrame(pa.table(result.requests("fcfs")).to_pandas()).flow_name.nunique() == 2


def test_a_notebook_shows_verdict_and_warnings_above_the_table(small: Path) -> None:
    result = fl.compare(small, set={"flow.reader.name": "<b>"})
    page, printed = result._repr_html_(), repr(result)
    shown, table = page.split("<table>")
    verdict = [line for line in printed.split("\n\n")[0].splitlines()]
    assert len(verdict) > 1 and any(line.startswith("Warning: ") for line in verdict), printed
    plain = html.unescape(re.sub("<.*?>", "", shown.replace("</li>", "\n"))).splitlines()
    assert plain == verdict
    assert "&lt;b&gt;" in page and "<td>" in table and "drive steady at the start" in table


def test_what_there_is_is_listed() -> None:
    assert "flin" in [name for name, _, _ in fl.schedulers()] and "flin-isca18" in fl.devices()
