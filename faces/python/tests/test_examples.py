"""The examples as a reader runs them."""

import os
import subprocess
import sys
from pathlib import Path

import matplotlib.image
import numpy as np
import polars as pl
import pytest

EXAMPLES = Path(__file__).parent.parent / "examples"


def run(name: str, folder: Path, *args: str) -> str:
    command = [sys.executable, str(EXAMPLES / name), *args]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=600, env={**os.environ, "MPLBACKEND": "Agg"})
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_two_traces_are_compared_and_drawn(tmp_path: Path) -> None:
    printed = run("compare_traces.py", tmp_path, "picture.png")
    assert "web" in printed and "sprinkler" in printed
    picture = matplotlib.image.imread(tmp_path / "picture.png")
    assert picture.shape[0] > 300 and picture.shape[1] > 500
    # Not blank: lines in at least three colours that are no grey, within the frame.
    inner = picture[40:-60, 80:-20, :3]
    coloured = inner[(inner.max(axis=2) - inner.min(axis=2)) > 0.3]
    hues = {tuple(np.round(pixel, 1)) for pixel in coloured}
    assert len(coloured) > 200 and len(hues) >= 3, len(coloured)


def test_the_picture_has_labels(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(EXAMPLES)
    import compare_traces
    import matplotlib.pyplot as plt

    compare_traces.main(str(tmp_path / "picture.png"))
    ax = plt.gcf().axes[0]
    assert ax.get_xlabel() == "response time (µs)" and ax.get_ylabel() == "share of requests"
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["fcfs", "read-first", "sprinkler"]
    # Nothing is cut off: the labels lie inside the picture.
    figure = ax.figure
    figure.canvas.draw()
    for label in (ax.xaxis.label, ax.yaxis.label, ax.title):
        box = label.get_window_extent()
        assert box.width > 0 and figure.bbox.x0 <= box.x0 and box.x1 <= figure.bbox.x1 and figure.bbox.y0 <= box.y0


def test_a_scheduler_of_ones_own(tmp_path: Path) -> None:
    printed = run("own_scheduler.py", tmp_path)
    assert "shortest-request-first" in printed


def test_a_sweep_survives_a_killed_worker(tmp_path: Path) -> None:
    printed = run("sweep_on_cluster.py", tmp_path, "store")
    assert "killed a worker after" in printed and "50 runs in" in printed
    table = pl.read_parquet(tmp_path / "store" / "results.parquet")
    # All and each of: 50 runs, 2 schedulers, all flows and the one flow, three kinds of request.
    assert table.height == 50 * 2 * 2 * 3 and table["mean_ns"].null_count() == 0
