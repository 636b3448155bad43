"""Workloads from data frames and other iterables of requests."""

from __future__ import annotations

import itertools
import os
import shutil
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Optional

import numpy as np

from ._native import Error, write_trace

#: Nanoseconds in a unit of time, by the name of its column.
TIMES = {"time_ns": 1, "time_us": 10**3, "time_ms": 10**6, "time_s": 10**9}
#: Codes of the operations; those of ``faces/python/src/workload.rs``.
OPS = {"write": 0, "w": 0, "read": 1, "r": 1, "write-fua": 2, "trim": 3, "write-zeroes": 4, "flush": 5}
WRITE, WRITE_FUA = OPS["write"], OPS["write-fua"]
LEGAL_OPS = "read, write, write-fua, trim, write-zeroes or flush"
LEGAL = f"legal columns are time_ns (or time_us, time_ms, time_s), op ({LEGAL_OPS}), offset and length (bytes), and fua (of writes)"


def is_path(value: Any) -> bool:
    return isinstance(value, (str, os.PathLike))


#: Requests that are looked at together, so that a workload takes little memory beside its own.
CHUNK = 1 << 18
#: The least bytes of a request in the file that the laboratory reads.
LEAST_BYTES = 8


def write(requests: Any, path: Path) -> None:
    """Writes ``requests`` as a trace.

    They are a data frame (pandas, polars, pyarrow), a mapping of columns, or an iterable of tuples (time in ns, op, offset, length).
    """
    names = _names(requests)
    if names is None:
        first = 0
        for columns in _of_tuples(requests):
            _write(columns, "time_ns", path, first)
            first += len(columns["op"])
        if not first:
            raise Error("workload: has no requests")
        return
    times = [name for name in names if name in TIMES]
    unknown = [name for name in names if name not in TIMES and name not in ("op", "offset", "length", "fua")]
    missing = [name for name in ("op", "offset", "length") if name not in names]
    if unknown or missing or len(times) != 1:
        message = f"has the columns {_short(', '.join(map(str, names))) or '(none)'}"
        raise Error(f"workload: {message}; {LEGAL}")
    columns = {name: np.asarray(requests[name]) for name in names}
    for name, values in columns.items():
        if values.ndim != 1:
            raise Error(f"workload: {name} has {values.ndim} dimensions; must have one, with an entry for each request")
    lengths = {name: len(values) for name, values in columns.items()}
    if len(set(lengths.values())) != 1:
        raise Error(f"workload: columns differ in length: {lengths}")
    count = lengths["op"]
    if not count:
        raise Error("workload: has no requests")
    _fits(count, path)
    for first in range(0, count, CHUNK):
        _write({name: values[first : first + CHUNK] for name, values in columns.items()}, times[0], path, first)


def _names(requests: Any) -> Optional[list[Any]]:
    """The columns of a table; ``None`` if it is none."""
    if isinstance(requests, Mapping):
        return list(requests)
    names = getattr(requests, "column_names", None)  # pyarrow
    if names is None and hasattr(requests, "columns"):  # pandas, polars
        names = requests.columns
    return None if names is None else list(names)


def _of_tuples(requests: Any) -> Iterator[dict[str, np.ndarray]]:
    """The columns of this many tuples at a time."""
    if not isinstance(requests, Iterable):
        raise Error(f"workload: is a {type(requests).__name__}; give a path, a data frame, or tuples (time_ns, op, offset, length)")
    rest = iter(requests)
    while rows := list(itertools.islice(rest, CHUNK)):
        wrong = next((row for row in rows if not isinstance(row, (tuple, list)) or len(row) != 4), None)
        if wrong is not None:
            raise Error(f"workload: {_short(repr(wrong))} is no request; give tuples (time_ns, op, offset, length)")
        names = ("time_ns", "op", "offset", "length")
        op = lambda name, values: np.array(values, dtype=object) if name == "op" else np.asarray(values)  # noqa: E731
        yield {name: op(name, list(values)) for name, values in zip(names, zip(*rows))}


def _fits(count: int, path: Path) -> None:
    """Refuses more requests than the disk has room for, before the first is written."""
    free = shutil.disk_usage(path.parent).free
    if count * LEAST_BYTES > free:
        need, there = (f"{amount / 1e9:.1f} GB" for amount in (count * LEAST_BYTES, free))
        raise Error(
            f"workload: {count} requests take at least {need} in {path.parent.parent}, which has {there}; "
            "TMPDIR names another folder"
        )


def _write(columns: dict[str, np.ndarray], time: str, path: Path, first: int) -> None:
    """Writes these requests behind those in the file; ``first`` is the number of the first."""
    at = _time(columns[time], time, first)
    op = _op(columns["op"], first)
    if "fua" in columns:
        op = _forced(op, columns["fua"], first)
    write_trace(path, first, at, op, _whole(columns["offset"], "offset", first), _whole(columns["length"], "length", first))


def _short(text: str) -> str:
    """A text short enough for a message."""
    return text if len(text) <= 200 else f"{text[:200]}..."


def _first(wrong: np.ndarray, values: np.ndarray, before: int) -> tuple[int, Any]:
    """The row of the first value that is wrong, and the value; ``before`` rows stand before these."""
    row = int(np.flatnonzero(wrong)[0])
    return before + row, values[row]


def _time(values: np.ndarray, name: str, before: int) -> np.ndarray:
    unit = TIMES[name]
    if values.dtype.kind in "iu":
        largest, smallest = (int(values.max()), int(values.min())) if len(values) else (0, 0)
        if largest > (2**63 - 1) // unit:
            raise Error(f"workload: {name} = {largest}: is later than the last instant, 292 years after the start")
        if smallest < 0:
            row, value = _first(values < 0, values, before)
            raise Error(f"workload: row {row}: {name} = {value}: must be a time of 0 or more")
        return np.ascontiguousarray(values.astype(np.int64) * unit)
    if values.dtype.kind != "f":
        raise Error(f"workload: {name} is {values.dtype}: must be numbers, since the start of the run")
    wrong = ~np.isfinite(values) | (values < 0) | (values * unit >= 2**63)
    if wrong.any():
        row, value = _first(wrong, values, before)
        raise Error(f"workload: row {row}: {name} = {value}: must be a time of 0 or more")
    return np.ascontiguousarray(np.rint(values * unit).astype(np.int64))


def _op(values: np.ndarray, before: int) -> np.ndarray:
    # One by one: as an array of text, every word would take the memory of the longest.
    words = values.tolist()
    try:
        codes = [OPS.get(word) for word in words]
    except TypeError:  # one that is no word
        codes = [None] * len(words)
    if None in codes:
        for row, code in enumerate(codes):
            if code is None:
                text = str(words[row])
                codes[row] = OPS.get(text.lower()) if len(text) <= 12 else None
                if codes[row] is None:
                    raise Error(f"workload: row {before + row}: op = {_short(repr(text))}: must be {LEGAL_OPS}")
    return np.array(codes, dtype=np.int64)


def _forced(op: np.ndarray, values: np.ndarray, before: int) -> np.ndarray:
    """The operations where writes for which ``values`` says so have force unit access."""
    if values.dtype.kind not in "biu" or not np.isin(values, (0, 1)).all():
        raise Error(f"workload: fua is {values.dtype}: must be booleans, or 0 and 1")
    forced = values.astype(bool)
    wrong = forced & (op != WRITE) & (op != WRITE_FUA)
    if wrong.any():
        row, _ = _first(wrong, values, before)
        raise Error(f"workload: row {row}: fua = 1: only a write can have it")
    return np.where(forced, WRITE_FUA, op)


def _whole(values: np.ndarray, name: str, before: int) -> np.ndarray:
    if values.dtype.kind in "iu":
        wrong = values > 2**63 - 1 if values.dtype.kind == "u" else values < 0
        if wrong.any():
            row, value = _first(wrong, values, before)
            legal = "0 or more" if value < 0 else f"at most {2**63 - 1}"
            raise Error(f"workload: row {row}: {name} = {value}: must be {legal}")
        return np.ascontiguousarray(values.astype(np.int64))
    if values.dtype.kind != "f":
        raise Error(f"workload: {name} is {values.dtype}: must be whole numbers of bytes")
    wrong = ~np.isfinite(values) | (values != np.floor(values)) | (np.abs(values) >= 2**53)
    if wrong.any():
        row, value = _first(wrong, values, before)
        raise Error(f"workload: row {row}: {name} = {value}: must be a whole number of bytes")
    return np.ascontiguousarray(values.astype(np.int64))
