"""Sweeps: many values of a scenario's keys, on the local cores or on a Dask cluster."""

from __future__ import annotations

import os
import warnings
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Optional, Union

from . import _native
from ._compare import JOBS, _json, wait, warn_of_seeds, whole
from ._native import Error
from ._progress import bar

#: The most runs of a task on a cluster: a lost worker costs at most this many.
TASK_RUNS = 16


class Sweep:
    """A sweep: a scenario with a table ``sweep`` (docs/sweeps.md).

    :param spec: the path of a sweep file, or a dict with the keys of one: ``{..., "sweep": {"device.nand.program_ns": [1, 2]}}``
    """

    def __init__(self, spec: "Union[str, os.PathLike[str], Mapping[str, Any]]") -> None:
        self._path, self._text, self._document = "sweep.toml", None, None
        if isinstance(spec, Mapping):
            self._document = _json({"name": "sweep", **spec})
            # Traces are relative to the working directory; errors call the sweep a scenario.
            self._path = os.path.join(os.getcwd(), "<dict>")
        else:
            self._path = os.fspath(spec)
        self._native = _native.NativeSweep(self._path, self._text, self._document)

    @property
    def axes(self) -> dict[str, list[str]]:
        """The axes by their paths, with their values as text."""
        return dict(self._native.axes())

    def runs(self) -> list[tuple[str, list[int]]]:
        """All runs: the name of each, and for each axis the place of its value.

        :raises Error: if any of them is wrong
        """
        return self._native.plan()

    def missing(self, out: "Union[str, os.PathLike[str]]") -> int:
        """How many runs are missing in the store ``out``."""
        return len(self._native.missing(out, self.runs()))


@dataclass(frozen=True)
class SweepResult:
    """A sweep, or a part of one, whose runs are all there."""

    #: The store.
    path: Path
    #: Runs of the sweep, or of the part.
    runs: int
    #: Runs made now; the others were there.
    made: int
    #: Runs of the whole sweep that are missing yet; ``results.parquet`` is written once none is.
    missing: int = 0

    @property
    def results(self) -> Path:
        """``results.parquet``: a row for each run, scheduler, flow and kind of request.

        :raises Error: if runs are missing yet
        """
        if self.missing:
            raise Error(f"results: {self.missing} runs are missing; results.parquet is written once all are there")
        return self.path / "results.parquet"

    def summary(self, name: str) -> Any:
        """The summary of the run ``name``."""
        from ._result import Summary

        return Summary(_native.summary_of(self.path, name))


def sweep(
    spec: "Union[Sweep, str, os.PathLike[str], Mapping[str, Any]]",
    out: "Union[str, os.PathLike[str], None]" = None,
    *,
    client: Any = None,
    jobs: Optional[int] = None,
    shard: Optional[str] = None,
    csv: bool = False,
    report: bool = False,
    audit: bool = False,
    progress: Optional[bool] = None,
) -> SweepResult:
    """Makes the runs of a sweep that are missing in the store ``out``, and writes ``results.parquet`` there.

    ``run.seeds`` of its scenario is not used: a sweep has seeds of its own.

    :param spec: a :class:`Sweep`, the path of a sweep file, or a dict
    :param out: the store, which the program and other processes may use too; by default the file's name without ``.toml``
    :param client: a ``dask.distributed.Client``: its workers make the runs. They must see ``out`` (and traces) at the same path. The
        runs of a worker that is lost are made again elsewhere. By default the local cores make them
    :param jobs: runs at a time without a client; by default one for each processor
    :param shard: makes one part of the runs only, such as ``"3/8"``
    :param csv: also writes ``results.csv``
    :param report: also writes ``report.html``
    :param audit: checks every rule of the device during the runs; slower
    :raises Error: with the text that the program prints
    """
    whole("jobs", jobs, JOBS)
    parsed = spec if isinstance(spec, Sweep) else Sweep(spec)
    if out is None:
        if parsed._document is not None:
            raise Error("out: name the folder of the runs, since the sweep is no file")
        out = Path(parsed._path).stem
    warn_of_seeds(parsed._native.seeds(), "sweep")
    store = Path(os.path.abspath(os.fspath(out)))
    command = f"# in Python: flashlane.sweep({parsed._path!r})"
    if client is None:
        made, there, damaged = wait(parsed._native.start(store, command, jobs, shard, audit), "runs", progress)
        _warn(damaged)
        result = SweepResult(store, made + there, made)
    else:
        result = _on_cluster(parsed, store, (command, shard, audit), client, progress)
    if shard is not None:
        result = replace(result, missing=parsed.missing(store))
    if not result.missing:
        parsed._native.finish(store, command, csv, report)
    return result


def _warn(damaged: list[str]) -> None:
    if damaged:
        more = f" and {len(damaged) - 1} more" if len(damaged) > 1 else ""
        warnings.warn(f"runs were damaged and are made again: {damaged[0]}{more}", stacklevel=3)


def _on_cluster(
    parsed: Sweep, store: Path, how: tuple[str, Optional[str], bool], client: Any, progress: Optional[bool]
) -> SweepResult:
    from distributed import as_completed

    command, shard, audit = how
    runs = parsed._native.part(parsed.runs(), shard)
    missing = parsed._native.missing(store, runs)
    _warn(parsed._native.damaged(store, missing))
    text = parsed._text
    if text is None and parsed._document is None:
        text = Path(parsed._path).read_text()
    workers = max(1, sum(client.nthreads().values()))
    size = max(1, min(TASK_RUNS, len(missing) // (4 * workers)))
    parts = [missing[start : start + size] for start in range(0, len(missing), size)]
    spec = (os.path.abspath(parsed._path), text, parsed._document)
    futures = client.map(_make, parts, spec=spec, store=str(store), command=command, audit=audit, pure=False)
    done = 0
    with bar("runs", progress) as show:
        try:
            for future in as_completed(futures):
                done += future.result()[1]
                show(done, len(missing))
        except BaseException:
            client.cancel(futures)
            raise
    return SweepResult(store, len(runs), len(missing))


def _make(
    runs: list[tuple[str, list[int]]], *, spec: tuple[str, Optional[str], Optional[str]], store: str, command: str, audit: bool
) -> tuple[str, int]:
    """On a worker: makes these runs, unless they are there. What is sent back is small: the runs stay in the store."""
    _native.NativeSweep(*spec).make(store, runs, command, audit)
    return store, len(runs)
