"""Runs and comparisons."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Callable, Optional, Sequence, Union

from . import _native, _workload
from ._native import Error
from ._pick import _Picks
from ._progress import bar
from ._result import Result

#: How long the main thread sleeps between looks at the progress, s; a signal wakes it.
_LOOK = 0.1

Scenario = Union[str, "os.PathLike[str]", Mapping[str, Any], None]


def compare(
    scenario: Scenario = None,
    *,
    schedulers: Optional[Sequence[Any]] = None,
    trace: Any = None,
    set: Optional[Mapping[str, Any]] = None,
    requests: bool = True,
    transactions: bool = False,
    audit: bool = False,
    activity: bool = False,
    jobs: Optional[int] = None,
    progress: Optional[bool] = None,
    **keys: Any,
) -> Result:
    """Runs several schedulers on the same requests and compares them with the first.

    ``scenario`` is the path of a scenario, or a dict with its keys; further keys (``device``, ``seed``, ``flow``, ``run``...) may be
    given by name and replace those. A flow's ``trace`` may be a data frame or an iterable instead of a path.

    :param schedulers: names, tables of answers, or :class:`Pick` classes; by default the scenario's
    :param trace: a trace, or a list of traces, each a flow; replaces the scenario's flows. A path, a dict with the keys of a trace
        (``{"path": "my.csv", "columns": "time=ts:us,op=rw,offset=lba:sectors,length=bytes"}``), a data frame with the columns
        ``time_ns`` (or ``time_us``, ``time_ms``, ``time_s``), ``op``, ``offset`` and ``length`` (bytes), or an iterable of such tuples
    :param set: keys by their path: ``{"device.gc.start_percent": 7, "flow.reader.priority": 3}``
    :param requests: whether the result has a row for each request (about 56 bytes a request and scheduler)
    :param transactions: whether it has a row for each flash transaction
    :param audit: checks every rule of the device during the run; slower
    :param activity: records what the dies do over time, for heat maps in the report; slower
    :param jobs: runs at a time; by default one for each processor
    :param progress: whether a progress bar is shown; by default in notebooks and terminals, if tqdm is installed
    :raises Error: with the text that the program prints
    """
    return _start(scenario, keys, schedulers, False, trace, set, (requests, transactions, audit, activity), jobs, progress)


def run(
    scenario: Scenario = None,
    *,
    scheduler: Any = None,
    trace: Any = None,
    set: Optional[Mapping[str, Any]] = None,
    requests: bool = True,
    transactions: bool = False,
    audit: bool = False,
    activity: bool = False,
    jobs: Optional[int] = None,
    progress: Optional[bool] = None,
    **keys: Any,
) -> Result:
    """Runs one scheduler; by default the scenario's first. The parameters are those of :func:`compare`."""
    chosen = None if scheduler is None else [scheduler]
    return _start(scenario, keys, chosen, True, trace, set, (requests, transactions, audit, activity), jobs, progress)


def _start(
    scenario: Scenario,
    keys: Mapping[str, Any],
    schedulers: Optional[Sequence[Any]],
    one: bool,
    trace: Any,
    set: Optional[Mapping[str, Any]],
    kept: tuple[bool, bool, bool, bool],
    jobs: Optional[int],
    progress: Optional[bool],
) -> Result:
    if isinstance(schedulers, str):
        schedulers = [schedulers]
    picks = _Picks()
    with tempfile.TemporaryDirectory(prefix="flashlane-") as folder:
        path = None if scenario is None or isinstance(scenario, Mapping) else Path(os.fspath(scenario))
        document = dict(scenario) if isinstance(scenario, Mapping) else None
        sets = dict(set or {})
        if document is None and path is None:
            document = dict(keys)
        elif document is not None:
            document.update(keys)
        else:
            sets = {**keys, **sets}
        if trace is not None:
            traces = trace if isinstance(trace, list) and all(not isinstance(t, tuple) for t in trace) else [trace]
            flows = [{"trace": one_trace} for one_trace in traces]
            if document is not None:
                document["flow"] = flows
            else:
                sets["flow"] = flows
        flows_of = document if document is not None else sets
        if "flow" in flows_of:
            flows_of["flow"] = _flows(flows_of["flow"], Path(folder))
        chosen = None
        if schedulers is not None:
            schedulers = picks.replaced(list(schedulers))
            if all(isinstance(name, str) for name in schedulers):
                chosen = schedulers
            else:
                flows_of["schedulers"] = schedulers
                flows_of.pop("scheduler", None)
        document = None if document is None else _json(picks.replaced(document))
        texts = [(key, _json(picks.replaced(value))) for key, value in sets.items()]
        job = _native.start(path, document, texts, chosen, one, picks.native(), *kept, jobs)
        return Result(wait(job, "requests", progress))


def _json(value: Any) -> str:
    def plain(value: Any) -> Any:
        if hasattr(value, "item"):  # a number of numpy's
            return value.item()
        if isinstance(value, os.PathLike):
            return os.fspath(value)
        raise Error(f"scenario: {value!r} is a {type(value).__name__}; must be a number, a text, true or false, a list or a table")

    def without_none(value: Any) -> Any:
        if isinstance(value, Mapping):
            return {str(key): without_none(inner) for key, inner in value.items() if inner is not None}
        if isinstance(value, (list, tuple)):
            return [without_none(inner) for inner in value]
        return value

    try:
        return json.dumps(without_none(value), default=plain, allow_nan=False)
    except ValueError as cause:
        raise Error(f"scenario: {cause}") from None


def _flows(flows: Any, folder: Path) -> Any:
    """The flows with traces that are no paths written into ``folder``."""
    if not isinstance(flows, (list, tuple)):
        return flows
    written = []
    for number, flow in enumerate(flows):
        if isinstance(flow, Mapping) and "trace" in flow:
            flow = dict(flow)
            trace = flow["trace"]
            if _workload.is_path(trace):
                flow["trace"] = os.path.abspath(os.fspath(trace))
            elif _is_table_of_a_trace(trace):
                flow["trace"] = {**trace, "path": os.path.abspath(os.fspath(trace["path"]))}
            else:
                name = str(flow.setdefault("name", f"flow{number}"))
                place = folder / str(number)
                place.mkdir()
                file = place / f"{''.join(c if c.isalnum() else '-' for c in name)}.replayer"
                _workload.write(trace, file)
                flow["trace"] = {"path": str(file), "format": "replayer"}
        written.append(flow)
    return written


def _is_table_of_a_trace(trace: Any) -> bool:
    return isinstance(trace, Mapping) and "path" in trace


def wait(job: Any, unit: str, progress: Optional[bool]) -> Any:
    """Waits for a job and returns its result; an exception, such as Ctrl-C, ends the job."""
    with bar(unit, progress) as show:
        try:
            while not job.wait(_LOOK):
                show(*job.progress())
            show(*job.progress())
        except BaseException:
            job.stop()
            # So that no thread of it runs when the interpreter ends; what takes longer, such as reading a trace, is left.
            job.wait(2.0)
            raise
    return job.result()
