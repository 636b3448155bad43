"""Sweeps from Python: the program's bytes, on the local cores and on a cluster whose worker is killed."""

import json
import os
import signal
import subprocess
import threading
import time
from pathlib import Path

import polars as pl
import pytest

import flashlane as fl
from conftest import AXES, DOCUMENT, SCENARIO


def files(store: Path) -> dict[str, bytes]:
    """What must be the same however the runs were made."""
    results = fl.SweepResult(store, 0, 0)
    names = pl.read_parquet(results.results)["run"].unique().to_list()
    return {**{name: results.summary(name).to_json().encode() for name in names}, "results": results.results.read_bytes()}


def packed(store: Path) -> int:
    """The bytes of the packs of a store."""
    return sum(path.stat().st_size for path in (store / "packs").glob("*") if path.exists())


def test_the_results_are_the_programs(sweep_file: Path, program: str, tmp_path: Path) -> None:
    subprocess.run([program, "sweep", str(sweep_file), "--out", str(tmp_path / "by-program")], check=True, capture_output=True)
    made = fl.sweep(sweep_file, tmp_path / "by-python", report=True)
    assert (made.runs, made.made) == (24, 24)
    assert files(made.path) == files(tmp_path / "by-program")
    assert "<!doctype html>" in (made.path / "report.html").read_text()
    assert fl.sweep(sweep_file, tmp_path / "by-program").made == 0, "the store is shared with the program"
    name, at = fl.Sweep(sweep_file).runs()[0]
    assert made.summary(name).made_by.seed == 1 and at == [0, 0, 0]


def test_a_damaged_run_is_made_again_and_named(sweep_file: Path, tmp_path: Path) -> None:
    made = fl.sweep(sweep_file, tmp_path / "store")
    whole = files(made.path)
    name = fl.Sweep(sweep_file).runs()[3][0]
    (pack,) = (made.path / "packs").iterdir()
    content = bytearray(pack.read_bytes())
    content[content.index(name.encode()) + 100] ^= 1
    pack.write_bytes(content)
    with pytest.raises(fl.Error, match=f"summary.json of the result {name} is damaged"):
        made.summary(name)
    with pytest.warns(UserWarning, match=f"runs were damaged and are made again: {name}"):
        again = fl.sweep(sweep_file, tmp_path / "store")
    assert again.made == 1 and files(again.path) == whole and again.summary(name).made_by.seed


def test_parts_rows_as_text_and_audits(sweep_file: Path, program: str, tmp_path: Path) -> None:
    store = tmp_path / "parts"
    first = fl.sweep(sweep_file, store, shard="1/2", audit=True)
    assert (first.runs, first.made, first.missing) == (12, 12, 12)
    assert not (store / "results.parquet").exists()
    with pytest.raises(fl.Error, match="results: 12 runs are missing"):
        first.results
    with pytest.raises(fl.Error, match='shard = "3/2": must be I/N with I from 1 to N'):
        fl.sweep(sweep_file, store, shard="3/2")
    second = fl.sweep(sweep_file, store, shard="2/2", csv=True)
    assert (second.runs, second.made, second.missing) == (12, 12, 0)
    by_program = tmp_path / "by-program"
    subprocess.run([program, "sweep", str(sweep_file), "--out", str(by_program), "--csv"], check=True, capture_output=True)
    assert files(store) == files(by_program)
    assert (store / "results.csv").read_bytes() == (by_program / "results.csv").read_bytes()


def test_a_dict_is_a_sweep_too(tmp_path: Path) -> None:
    spec = {**DOCUMENT, "sweep": {"device": {"nand": {"program_ns": [200_000, 600_000]}}, "seeds": 2, "requests": True}}
    made = fl.sweep(spec, tmp_path / "store")
    table = pl.read_parquet(made.results)
    means = table.filter((pl.col("op") == "write") & (pl.col("flow") == "writer") & (pl.col("scheduler") == "fcfs"))
    assert means["device.nand.program_ns"].to_list() == [200_000, 200_000, 600_000, 600_000]
    assert means["seed"].to_list() == [1, 2, 1, 2]
    assert means["mean_ns"][0] < means["mean_ns"][2]
    one = fl.compare(DOCUMENT, seed=2, seeds=1, set={"device.nand.program_ns": 600_000})
    name = means["run"][3]
    # A sweep does not run other seeds, and says nothing of them.
    summaries = [json.loads(summary.to_json()) for summary in (one.summary, made.summary(name))]
    alike = [{key: value for key, value in summary.items() if key not in ("replications", "verdict")} for summary in summaries]
    assert alike[0] == alike[1]
    rows = pl.read_parquet(made.path / "runs" / name / "fcfs" / "requests.parquet")
    assert rows["response_ns"].to_list() == pl.DataFrame(one.requests("fcfs"))["response_ns"].to_list()


def test_wrong_sweeps_are_named(sweep_file: Path, tmp_path: Path) -> None:
    for text, message in [
        (SCENARIO, "the file has no \\[sweep\\]"),
        (SCENARIO + "[sweep]\ndevice.nand.program = [1]\n", "unknown key `program`"),
        (SCENARIO + "[sweep]\nseeds = []\n", "at least one value"),
    ]:
        sweep_file.write_text(text)
        with pytest.raises(fl.Error, match=message):
            fl.sweep(sweep_file, tmp_path / "store")
        assert not (tmp_path / "store").exists()
    with pytest.raises(fl.Error, match="name the folder of the runs"):
        fl.sweep({**DOCUMENT, "sweep": {"seeds": 1}})
    sweep_file.write_text(SCENARIO + AXES)
    (tmp_path / "store").mkdir()
    (tmp_path / "store" / "store.json").write_text('{"layout": 1, "flashlane": "0.0.9"}')
    with pytest.raises(fl.Error, match="holds runs of flashlane 0.0.9"):
        fl.sweep(sweep_file, tmp_path / "store")


def test_a_cluster_loses_a_worker_and_no_run(sweep_file: Path, tmp_path: Path) -> None:
    distributed = pytest.importorskip("distributed")
    sweep_file.write_text((SCENARIO + AXES).replace("seeds = 3", "seeds = 12").replace("requests = 200", "requests = 4000"))
    local = fl.sweep(sweep_file, tmp_path / "local")
    cluster = distributed.LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None)
    with cluster, distributed.Client(cluster) as client:
        before = set(client.run(os.getpid).values())
        killed = []

        def kill() -> None:
            whole = packed(local.path)
            while packed(tmp_path / "cluster") < whole / 5:
                time.sleep(0.005)
            victim = min(before)
            os.kill(victim, signal.SIGKILL)
            killed.append((victim, packed(tmp_path / "cluster") / whole))

        thread = threading.Thread(target=kill)
        thread.start()
        made = fl.sweep(sweep_file, tmp_path / "cluster", client=client)
        thread.join()
    assert killed and killed[0][1] < 0.95, f"the worker was killed half-way: {killed}"
    assert made.runs == 96 and files(made.path) == files(local.path)
    assert not list((made.path / "claims").iterdir())
    # Both engines share a store.
    with distributed.LocalCluster(n_workers=1, threads_per_worker=1, dashboard_address=None) as one, distributed.Client(one) as client:
        assert fl.sweep(sweep_file, local.path, client=client).made == 0
