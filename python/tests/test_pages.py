"""docs/data-frames.md as a reader runs it: its blocks, on results that its own command made."""

import shlex
import subprocess
from pathlib import Path

import duckdb
import pandas as pd
import polars as pl
import pytest

ROOT = Path(__file__).parents[2]


def blocks(page: str) -> list[tuple[str, str]]:
    """The kinds and texts of a page's blocks of code."""
    parts = (ROOT / "docs" / page).read_text().split("```")[1::2]
    return [tuple(part.split("\n", 1)) for part in parts]


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory, program: str) -> Path:
    """A folder with the results that the page's command makes."""
    desk = tmp_path_factory.mktemp("desk")
    (desk / "scenarios").symlink_to(ROOT / "scenarios")
    (command,) = [text for kind, text in blocks("data-frames.md") if kind == "sh"]
    name, *arguments = shlex.split(command)
    assert name == "flashlane"
    subprocess.run([program, *arguments], cwd=desk, check=True, capture_output=True, timeout=600)
    return desk


def run(code: str, desk: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> tuple[dict, str]:
    """Runs a block in the folder; returns its names, and what it printed."""
    monkeypatch.chdir(desk)
    names: dict = {}
    exec(compile(code, "docs/data-frames.md", "exec"), names)
    return names, capsys.readouterr().out


def python_block(library: str) -> str:
    (code,) = [text for kind, text in blocks("data-frames.md") if kind == "python" and f"import {library}" in text]
    return code


def test_pandas(desk: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    names, printed = run(python_block("pandas"), desk, monkeypatch, capsys)
    assert isinstance(names["rows"], pd.DataFrame)
    assert all(word in printed for word in ["read", "write", "75%", "max"]), printed
    # The figures are those of the summary.
    summary = pd.read_json(desk / "results/summary.json", typ="series")
    (run_of,) = [run for run in summary["schedulers"] if run["name"] == "sprinkler"]
    rows = names["rows"]
    for i, flow in enumerate(run_of["flows"]):
        own = rows[(rows.counted == 1) & (rows.flow == i)].response_ns
        assert len(own) == flow["figures"]["all"]["requests"]
        assert own.mean() == pytest.approx(flow["figures"]["all"]["mean_ns"])


def test_polars(desk: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    names, printed = run(python_block("polars"), desk, monkeypatch, capsys)
    slowest = names["slowest"].collect()
    # Four schedulers, two flows.
    assert slowest.height == 4 * 2 and printed.startswith("shape: (8, 3)"), printed
    of = lambda scheduler, flow: slowest.filter(pl.col("file").str.contains(f"/{scheduler}/") & (pl.col("flow") == flow))["response_ns"][0]
    assert of("sprinkler", 0) < of("fcfs", 0), "the reader's slowest requests"


def test_rows_in_python(desk: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """The quantiles of docs/python.md are those of the requests that figures count, by the names of the flows."""
    code = [text for kind, text in blocks("python.md") if kind == "python"]
    (rows,) = [text for text in code if "quantile" in text]
    names, printed = run(code[0].split("result.report")[0] + rows, desk, monkeypatch, capsys)
    found = names["counted"].group_by("flow_name", "op").agg(pl.len(), pl.col("response_ns").quantile(0.999))
    assert printed.startswith("shape: "), printed
    result = names["result"]
    (of,) = [one for one in result.summary.schedulers if one.name == "sprinkler"]
    of_flow = {one.name: one.figures for one in of.flows}
    assert len(pl.DataFrame(names["rows"])) > sum(figures.all.requests for figures in of_flow.values()), "there is a warm-up"
    for flow, op, requests, quantile in found.iter_rows():
        figures = of_flow[flow][op]
        assert (requests, quantile) == (figures.requests, pytest.approx(figures.p99_9_ns, rel=0.01)), (flow, op)
    assert found.height == 2


def test_duckdb(desk: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (query,) = [text for kind, text in blocks("data-frames.md") if kind == "sql"]
    monkeypatch.chdir(desk)
    gains = duckdb.sql(query).df().set_index(["flow", "op"]).gain_ns
    # The page's question, answered another way.
    one, other = (pd.read_parquet(f"results/{name}/requests.parquet").set_index("id") for name in ("fcfs", "sprinkler"))
    both = one[one.counted == 1].join(other.response_ns.rename("response_ns_other"), how="inner")
    expected = (both.response_ns - both.response_ns_other).groupby([both.flow, both.op]).mean()
    assert len(gains) == len(expected) >= 2
    for key, gain in expected.items():
        assert gains[key] == pytest.approx(gain)
    assert gains[(0, "read")] > 0, "the reader gains"


def test_a_scheduler_in_python(desk: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """The blocks of docs/tutorials/scheduler-in-python.md, one after the other."""
    code = "".join(text for kind, text in blocks("tutorials/scheduler-in-python.md") if kind == "python")
    names, printed = run(code, desk, monkeypatch, capsys)
    rows = [line for line in printed.splitlines() if line.startswith("  shortest-request-first ")]
    assert rows, printed
    assert names["rows"].height == 600 and "response_ns" in printed, printed
