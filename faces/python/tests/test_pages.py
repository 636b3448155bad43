"""The pages as a reader of Python runs them: every block of code is run as written, or listed as not run with a reason."""

import gzip
import re
import shlex
import shutil
import sys
import subprocess
from pathlib import Path

import duckdb
import pandas as pd
import polars as pl
import pytest

import flashlane as fl

ROOT = Path(__file__).parents[3]

#: Pages whose blocks of Python are run one after the other, in order, with the names of those before.
IN_ORDER = ["docs/python.md", "docs/tutorials/scheduler-in-python.md", "README.md", "faces/python/README.md"]

#: Pages whose blocks are run one by one, by the tests of data frames below.
ONE_BY_ONE = ["docs/outputs.md"]

#: Blocks that are not run as written: the page, how the block begins, the reason.
NOT_RUN = [
    ("docs/python.md", "from distributed import", "needs /shared, a folder that eight workers see; faces/python/examples/sweep_on_cluster.py runs such a sweep"),
]

#: A scenario of the reader's own.
MINE = """\
name = "mine"
[device]
preset = "flin-isca18"
[[flow]]
name = "reader"
synthetic = { read_ratio = 0.8, size = { constant = 8192 }, rate_iops = 20_000, requests = 2_000 }
"""


def blocks(page: str) -> list[tuple[str, str]]:
    """The kinds and texts of a page's blocks of code."""
    parts = (ROOT / "docs" / page).read_text().split("```")[1::2]
    return [tuple(part.split("\n", 1)) for part in parts]


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory, program: str) -> Path:
    """A folder with the results that the page's command makes."""
    desk = tmp_path_factory.mktemp("desk")
    (desk / "scenarios").symlink_to(ROOT / "scenarios")
    (command,) = [text for kind, text in blocks("outputs.md") if kind == "sh"]
    name, *arguments = shlex.split(command)
    assert name == "flashlane"
    subprocess.run([program, *arguments], cwd=desk, check=True, capture_output=True, timeout=600)
    return desk


def run(code: str, desk: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> tuple[dict, str]:
    """Runs a block in the folder; returns its names, and what it printed."""
    monkeypatch.chdir(desk)
    names: dict = {}
    exec(compile(code, "docs/outputs.md", "exec"), names)
    return names, capsys.readouterr().out


def python_block(library: str) -> str:
    (code,) = [text for kind, text in blocks("outputs.md") if kind == "python" and f"import {library}" in text]
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
    (query,) = [text for kind, text in blocks("outputs.md") if kind == "sql"]
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


def code_of(page: str) -> list[str]:
    """The blocks of Python of a page, fenced."""
    text = (ROOT / page).read_text()
    return re.findall(r"^```(?:python|py|pycon)\n(.*?)^```", text, re.MULTILINE | re.DOTALL)


def reason(page: str, code: str) -> "str | None":
    """Why a block is not run; None if it is."""
    return next((why for own, begins, why in NOT_RUN if own == page and code.startswith(begins)), None)


def test_every_block_is_run_or_listed() -> None:
    pages = sorted(str(path.relative_to(ROOT)) for folder in (ROOT / "docs", ROOT / "faces/python") for path in folder.rglob("*.md"))
    seen = set()
    for page in ["README.md", "CONTRIBUTING.md", *pages]:
        text = (ROOT / page).read_text()
        for code in code_of(page):
            seen.add(page)
            assert page in IN_ORDER or page in ONE_BY_ONE or reason(page, code), f"{page}: a block that no test runs:\n{code}"
        others = re.sub(r"^```(?:python|py|pycon)\n.*?^```", "", text, flags=re.MULTILINE | re.DOTALL)
        assert not re.search(r"^\s*(import flashlane|from flashlane)", others, re.MULTILINE), f"{page}: code outside of blocks of Python"
        for line in re.findall(r"^\s*python3? -m flashlane.*$", others, re.MULTILINE):
            assert line in (ROOT / "docs/python.md").read_text(), f"{page}: {line}"
    assert seen == {*IN_ORDER, *ONE_BY_ONE}
    for page, begins, _ in NOT_RUN:
        assert any(code.startswith(begins) for code in code_of(page)), f"{page}: no block begins with {begins}"


@pytest.mark.parametrize("page", IN_ORDER)
def test_blocks_run_in_order(page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "scenarios").symlink_to(ROOT / "scenarios")
    (tmp_path / "mine.toml").write_text(MINE)
    (tmp_path / "my.csv").write_text("ts,rw,lba,bytes\n0,read,8,4096\n1000,write,16,8192\n")
    with gzip.open(tmp_path / "db.csv.gz", "wb") as packed, (ROOT / "scenarios/example-trace.csv").open("rb") as trace:
        shutil.copyfileobj(trace, packed)
    (rates,) = [text for kind, text in blocks("sweeps.md") if kind == "toml"][:1]
    (tmp_path / "rates.toml").write_text(rates)
    monkeypatch.chdir(tmp_path)
    names: dict = {}
    for code in code_of(page):
        if reason(page, code) is None:
            exec(compile(code, page, "exec"), names)
    assert isinstance(names["result"], fl.Result)
    if page == "docs/python.md":
        printed = capsys.readouterr().out
        assert names["advice"].line in printed and 0 < names["advice"].taken.ratio < 1, printed
        assert (tmp_path / "two-tenants.html").is_file() and (tmp_path / "rates").is_dir()


def test_a_python_scheduler_on_the_command_line(tmp_path: Path) -> None:
    """The command of docs/python.md, with the scheduler of the page."""
    (tmp_path / "scenarios").symlink_to(ROOT / "scenarios")
    (tmp_path / "mine.toml").write_text(MINE)
    (scheduler,) = [code for code in code_of("docs/python.md") if "class ShortestRequestFirst" in code]
    (tmp_path / "own.py").write_text("import flashlane as fl\n" + scheduler.split("\nfl.compare")[0])
    (command,) = [text.strip() for kind, text in blocks("python.md") if kind == "sh" and "-m flashlane" in text]
    name, *arguments = shlex.split(command)
    assert name == "python"
    done = subprocess.run([sys.executable, *arguments], cwd=tmp_path, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr
    assert "shortest-request-first" in done.stdout and (tmp_path / "own.html").is_file()


def test_a_scheduler_in_python(desk: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """The blocks of docs/tutorials/scheduler-in-python.md, one after the other."""
    code = "".join(text for kind, text in blocks("tutorials/scheduler-in-python.md") if kind == "python")
    names, printed = run(code, desk, monkeypatch, capsys)
    rows = [line for line in printed.splitlines() if line.startswith("  shortest-request-first ")]
    assert rows, printed
    assert names["rows"].height == 600 and "response_ns" in printed, printed
