"""Runs and comparisons."""

from __future__ import annotations

import ctypes
import json
import linecache
import operator
import os
import re
import sys
import tempfile
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Callable, Optional, Sequence, Union

from . import _native, _workload
from ._answers import _Written
from ._native import Error
from ._progress import bar
from ._result import Result

#: How long the main thread sleeps between looks at the progress, s; a signal wakes it.
_POLL_INTERVAL = 0.1
#: After how long a call of a scheduler is warned of, s.
_LONG_CALL = 10.0
#: How long a job that was stopped is waited for, s; after that its schedulers are interrupted, and it is waited for as long again.
_STOP_TIMEOUT = 1.5

Scenario = Union[str, "os.PathLike[str]", Mapping[str, Any], None]
#: Keys by their paths, with their values as JSON, and whether an argument of that name gives them (else ``set`` does).
Texts = list[tuple[bool, str, str]]


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
    ceiling: bool = False,
    seeds: Optional[int] = None,
    jobs: Optional[int] = None,
    progress: Optional[bool] = None,
    **keys: Any,
) -> Result:
    """Runs several schedulers on the same requests and compares them with the first.

    ``scenario`` is the path of a scenario, or a dict with its keys; further keys (``device``, ``seed``, ``flow``, ``run``...) may be
    given by name and replace those. A flow's ``trace`` may be a data frame or an iterable instead of a path.

    :param schedulers: names, tables of answers, or answers written in Python (:class:`Pick`, :class:`Place`...); by default the scenario's
    :param trace: a trace, or a list of traces, each a flow; replaces the scenario's flows. A path, a dict with the keys of a trace
        (``{"path": "my.csv", "columns": "time=ts:us,op=rw,offset=lba:sectors,length=bytes"}``), a data frame with the columns
        ``time_ns`` (or ``time_us``, ``time_ms``, ``time_s``), ``op``, ``offset`` and ``length`` (bytes), or an iterable of such tuples
    :param set: keys by their path: ``{"device.gc.start_percent": 7, "flow.reader.priority": 3}``; one that an argument gives another value
        is refused
    :param requests: whether the result has a row for each request (about 56 bytes per request and scheduler)
    :param transactions: whether it has a row for each flash transaction
    :param audit: checks every rule of the device during the run; slower
    :param activity: records what the dies do over time, for heat maps in the report; slower
    :param ceiling: computes what no scheduler can beat on these requests: ``summary.ceiling``, and ``ceiling`` of each scheduler
    :param seeds: under how many seeds the schedulers are compared, the scenario's own and those that follow it: ``summary.replications``. By
        default 5 where requests times schedulers are at most 1,000,000, else 1; on replayed drives 1. Rows and all other figures are of the
        scenario's own seed
    :param jobs: runs at a time; by default one for each processor
    :param progress: whether a progress bar is shown; by default in notebooks and terminals, if tqdm is installed
    :raises Error: with the text that the program prints
    """
    set = _with_seeds(set, seeds)
    return _start(scenario, keys, schedulers, False, trace, set, (requests, transactions, audit, activity, ceiling), jobs, progress)


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
    ceiling: bool = False,
    seeds: Optional[int] = None,
    jobs: Optional[int] = None,
    progress: Optional[bool] = None,
    **keys: Any,
) -> Result:
    """Runs one scheduler; by default the scenario's first. The parameters are those of :func:`compare`; by default there is one seed."""
    set = _with_seeds(set, seeds)
    chosen = None if scheduler is None else [scheduler]
    return _start(scenario, keys, chosen, True, trace, set, (requests, transactions, audit, activity, ceiling), jobs, progress)


def warn_of_seeds(seeds: Optional[int], function: str, level: int = 3) -> None:
    """Says that ``function`` does not use the number of seeds that a scenario has."""
    if seeds is not None:
        message = f"run.seeds = {seeds} is not used by flashlane.{function}: only run and compare try other seeds"
        warnings.warn(message, stacklevel=level)


def whole(name: str, value: Any, most: int) -> None:
    """Refuses an argument that is neither left out nor a whole number of 1 to ``most``."""
    try:
        is_legal = value is None or not isinstance(value, bool) and 1 <= operator.index(value) <= most
    except TypeError:
        is_legal = False
    if not is_legal:
        raise Error(f"{name} = {value!r}: must be a whole number, 1 to {most}")


#: The most runs at a time.
JOBS = 1_024


def _with_seeds(set: Optional[Mapping[str, Any]], seeds: Optional[int]) -> Optional[Mapping[str, Any]]:
    """The keys, with the number of seeds."""
    if seeds is None:
        return set
    whole("seeds", seeds, 1_000)
    given = (set or {}).get("run.seeds", seeds)
    if given != seeds:
        raise Error(f"seeds = {seeds} and set = {{'run.seeds': {given!r}}}: give one of them")
    return {**(set or {}), "run.seeds": seeds}


def _start(
    scenario: Scenario,
    keys: Mapping[str, Any],
    schedulers: Optional[Sequence[Any]],
    one: bool,
    trace: Any,
    set: Optional[Mapping[str, Any]],
    kept: tuple[bool, bool, bool, bool, bool],
    jobs: Optional[int],
    progress: Optional[bool],
) -> Result:
    whole("jobs", jobs, JOBS)

    def start(path: Optional[Path], document: Optional[str], texts: Texts, chosen: Optional[list[str]], answers: Any) -> Result:
        job = _native.start(path, document, texts, chosen, one, answers, *kept, jobs)
        return Result(wait(job, "requests", progress))

    return with_scenario(scenario, keys, schedulers, trace, set, start)


def with_scenario(
    scenario: Scenario,
    keys: Mapping[str, Any],
    schedulers: Optional[Sequence[Any]],
    trace: Any,
    set: Optional[Mapping[str, Any]],
    start: Callable[[Optional[Path], Optional[str], Texts, Optional[list[str]], Any], Any],
) -> Any:
    """What ``start`` makes of the scenario, while traces that were no files are there."""
    if isinstance(schedulers, str):
        schedulers = [schedulers]
    sets = dict(set or {})
    _one_value(keys, sets, schedulers, trace)
    written = _Written()
    with tempfile.TemporaryDirectory(prefix="flashlane-") as folder:
        path = None if scenario is None or isinstance(scenario, Mapping) else Path(os.fspath(scenario))
        named = dict(keys)
        if trace is not None:
            traces = trace if isinstance(trace, list) and all(not isinstance(t, tuple) for t in trace) else [trace]
            named["flow"] = [{"trace": one_trace} for one_trace in traces]
        # A scenario that is no file is one document with the arguments.
        document = None if path else {**(scenario or {}), **named}
        for name, place in (("scenario", named if document is None else document), ("set", sets)):
            if "flow" in place:
                place["flow"] = _flows(place["flow"], Path(folder) / name)
        chosen = None
        if schedulers is not None:
            schedulers = written.replaced(list(schedulers))
            if all(isinstance(name, str) for name in schedulers):
                chosen = schedulers
            else:
                place = named if document is None else document
                place["schedulers"] = schedulers
                place.pop("scheduler", None)
        if document is not None:
            document = written.replaced(document)
            # Of the document those are given once more that `set` may give another value.
            below = [re.split(r"[.\[]", key.strip(), maxsplit=1)[0] for key in sets]
            named = {key: document[key] for key in named if key in below and document[key] is not None}
        document = None if document is None else _json(document)
        texts = [(place is named, key, _json(written.replaced(value))) for place in (named, sets) for key, value in place.items()]
        return start(path, document, texts, chosen, written.native())


def _one_value(keys: Mapping[str, Any], sets: Mapping[str, Any], schedulers: Optional[Sequence[Any]], trace: Any) -> None:
    """Refuses flows and schedulers that are given twice; of other keys the laboratory compares the values."""
    flows = [name for name, given in (("trace", trace is not None), ("flow", "flow" in keys), ("set", "flow" in sets)) if given]
    if len(flows) > 1:
        raise Error(f"flow: {' and '.join(flows)} give the flows; give them once")
    if schedulers is None:
        return
    for name, place in (("an argument", keys), ("set", sets)):
        for key in ("scheduler", "schedulers"):
            value = place.get(key)
            several = list(value) if isinstance(value, (list, tuple)) else [value]
            if value is not None and several != list(schedulers):
                raise Error(f"{key} = {value!r}: {name} gives it, and the schedulers are {list(schedulers)!r}; give them once")


def _json(value: Any) -> str:
    def plain(value: Any) -> Any:
        if hasattr(value, "item") and getattr(value, "shape", None) == ():  # a number of numpy's
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
                place.mkdir(parents=True)
                file = place / f"{''.join(c if c.isalnum() else '-' for c in name)}.csv"
                _workload.write(trace, file)
                flow["trace"] = {"path": str(file), "format": "csv"}
        written.append(flow)
    return written


def _is_table_of_a_trace(trace: Any) -> bool:
    return isinstance(trace, Mapping) and "path" in trace


class _Interrupted(BaseException):
    """Raised inside a scheduler that does not return."""


def wait(job: Any, unit: str, progress: Optional[bool]) -> Any:
    """Waits for a job and returns its result; an exception, such as Ctrl-C, ends the job."""
    warned: set[str] = set()
    with bar(unit, progress) as show:
        try:
            while not job.wait(_POLL_INTERVAL):
                show(*job.progress())
                for name, thread, seconds in _calls(job):
                    if seconds > _LONG_CALL and name not in warned:
                        warned.add(name)
                        message = f"{name}: a call has not returned for {seconds:.0f} s{_line(thread)}; Ctrl-C ends it"
                        warnings.warn(message, RuntimeWarning, stacklevel=4)
            show(*job.progress())
        except BaseException as cause:
            job.stop()
            # So that no thread of it runs when the interpreter ends; what takes longer, such as reading a trace, is left.
            message = _end(job)
            if message and isinstance(cause, KeyboardInterrupt):
                raise KeyboardInterrupt(message) from None
            raise
    return job.result()


def _calls(job: Any) -> list[tuple[str, int, float]]:
    calls = getattr(job, "calls", None)
    return [] if calls is None else calls()


def _end(job: Any) -> str:
    """Waits for a job that was stopped, and interrupts the schedulers that keep it from ending; returns a message about them."""
    message = ""
    for interrupts in (False, True):
        for _ in range(int(_STOP_TIMEOUT / _POLL_INTERVAL)):
            if interrupts:
                for name, thread, seconds in _calls(job):
                    message = message or f"{name}: a call had not returned for {seconds:.1f} s{_line(thread)}"
                    ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread), ctypes.py_object(_Interrupted))
            if job.wait(_POLL_INTERVAL):
                return message
    return message and f"{message}, and cannot be interrupted: its thread goes on"


def _line(thread: int) -> str:
    """The line at which a scheduler is that runs in this thread: the innermost of the file of its method."""
    frame = sys._current_frames().get(thread)
    stack = []
    while frame is not None:
        stack.append(frame)
        frame = frame.f_back
    if not stack:
        return ""
    own = stack[-1].f_code.co_filename
    at = next(frame for frame in stack if frame.f_code.co_filename == own)
    text = linecache.getline(own, at.f_lineno).strip()
    return f" ({own}:{at.f_lineno}, in {at.f_code.co_name}{': ' if text else ''}{text})"
