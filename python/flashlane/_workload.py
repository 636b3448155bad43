"""Workloads from data frames and other iterables of requests."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from ._native import Error, write_trace

#: Nanoseconds in a unit of time, by the name of its column.
TIMES = {"time_ns": 1, "time_us": 10**3, "time_ms": 10**6, "time_s": 10**9}
OPS = {"read": 1, "r": 1, "write": 0, "w": 0}
LEGAL = "legal columns are time_ns (or time_us, time_ms, time_s), op (read or write), offset and length (bytes)"


def is_path(value: Any) -> bool:
    return isinstance(value, (str, os.PathLike))


def write(requests: Any, path: Path) -> None:
    """Writes ``requests`` as a trace.

    They are a data frame (pandas, polars, pyarrow), a mapping of columns, or an iterable of tuples (time in ns, op, offset, length).
    """
    columns = _columns(requests)
    times = [name for name in columns if name in TIMES]
    unknown = [name for name in columns if name not in TIMES and name not in ("op", "offset", "length")]
    missing = [name for name in ("op", "offset", "length") if name not in columns]
    if unknown or missing or len(times) != 1:
        said = f"has the columns {', '.join(map(str, columns)) or '(none)'}"
        raise Error(f"workload: {said}; {LEGAL}")
    lengths = {name: len(values) for name, values in columns.items()}
    if len(set(lengths.values())) != 1:
        raise Error(f"workload: columns differ in length: {lengths}")
    if not lengths["op"]:
        raise Error("workload: has no requests")
    time = _time(columns[times[0]], times[0])
    write_trace(path, time, _op(columns["op"]), _whole(columns["offset"], "offset"), _whole(columns["length"], "length"))


def _columns(requests: Any) -> dict[str, np.ndarray]:
    if isinstance(requests, Mapping):
        return {name: np.asarray(values) for name, values in requests.items()}
    names = getattr(requests, "column_names", None)  # pyarrow
    if names is None and hasattr(requests, "columns"):  # pandas, polars
        names = list(requests.columns)
    if names is not None:
        return {name: np.asarray(requests[name]) for name in names}
    if not isinstance(requests, Iterable):
        raise Error(f"workload: is a {type(requests).__name__}; give a path, a data frame, or tuples (time_ns, op, offset, length)")
    rows = list(requests)
    wrong = next((row for row in rows if not isinstance(row, (tuple, list)) or len(row) != 4), None)
    if wrong is not None:
        raise Error(f"workload: {wrong!r} is no request; give tuples (time_ns, op, offset, length)")
    names = ("time_ns", "op", "offset", "length")
    return {name: np.asarray(list(values)) for name, values in zip(names, zip(*rows))} if rows else {n: np.zeros(0) for n in names}


def _first(wrong: np.ndarray, values: np.ndarray) -> tuple[int, Any]:
    row = int(np.flatnonzero(wrong)[0])
    return row, values[row]


def _time(values: np.ndarray, name: str) -> np.ndarray:
    unit = TIMES[name]
    if values.dtype.kind in "iu":
        largest, smallest = (int(values.max()), int(values.min())) if len(values) else (0, 0)
        if largest > (2**63 - 1) // unit:
            raise Error(f"workload: {name} = {largest}: is later than the last instant, 292 years after the start")
        if smallest < 0:
            row, value = _first(values < 0, values)
            raise Error(f"workload: row {row}: {name} = {value}: must be a time of 0 or more")
        return np.ascontiguousarray(values.astype(np.int64) * unit)
    if values.dtype.kind != "f":
        raise Error(f"workload: {name} is {values.dtype}: must be numbers, since the start of the run")
    wrong = ~np.isfinite(values) | (values < 0) | (values * unit >= 2**63)
    if wrong.any():
        row, value = _first(wrong, values)
        raise Error(f"workload: row {row}: {name} = {value}: must be a time of 0 or more")
    return np.ascontiguousarray(np.rint(values * unit).astype(np.int64))


def _op(values: np.ndarray) -> np.ndarray:
    words = np.asarray(values).astype(str)
    known, places = np.unique(words, return_inverse=True)
    codes = []
    for word in known:
        if word.lower() not in OPS:
            row = int(np.flatnonzero(words == word)[0])
            raise Error(f"workload: row {row}: op = {str(word)!r}: must be read or write")
        codes.append(OPS[word.lower()])
    return np.ascontiguousarray(np.asarray(codes, dtype=np.int64)[places])


def _whole(values: np.ndarray, name: str) -> np.ndarray:
    if values.dtype.kind in "iu":
        wrong = values > 2**63 - 1 if values.dtype.kind == "u" else values < 0
        if wrong.any():
            row, value = _first(wrong, values)
            legal = "0 or more" if value < 0 else f"at most {2**63 - 1}"
            raise Error(f"workload: row {row}: {name} = {value}: must be {legal}")
        return np.ascontiguousarray(values.astype(np.int64))
    if values.dtype.kind != "f":
        raise Error(f"workload: {name} is {values.dtype}: must be whole numbers of bytes")
    wrong = ~np.isfinite(values) | (values != np.floor(values)) | (np.abs(values) >= 2**53)
    if wrong.any():
        row, value = _first(wrong, values)
        raise Error(f"workload: row {row}: {name} = {value}: must be a whole number of bytes")
    return np.ascontiguousarray(values.astype(np.int64))
