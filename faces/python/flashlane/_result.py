"""Results: the figures, the rows, the pages and the pictures."""

from __future__ import annotations

import html
import json
import os
import sys
from typing import Any, Iterator, Optional

from . import _native
from ._native import Error, Rows
from ._plot import Plot


class Record:
    """A part of a summary, with its keys as attributes; docs/summary.md describes every one."""

    __slots__ = ("_keys",)

    def __init__(self, keys: dict[str, Any]) -> None:
        self._keys = keys

    def __getattr__(self, name: str) -> Any:
        if name in Record.__slots__:  # not there yet: whoever makes copies asks before it is
            raise AttributeError(name)
        try:
            return _shown(self._keys[name])
        except KeyError:
            raise AttributeError(f"there is no {name!r}; there are {', '.join(self._keys)}") from None

    def __getitem__(self, name: str) -> Any:
        return _shown(self._keys[name])

    def __iter__(self) -> Iterator[str]:
        return iter(self._keys)

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *self._keys]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Record) and self._keys == other._keys

    __hash__ = None  # type: ignore[assignment]

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self._keys,)

    def to_dict(self) -> dict[str, Any]:
        """The keys as plain dicts and lists."""
        return json.loads(json.dumps(self._keys))

    def __repr__(self) -> str:
        def brief(value: Any) -> str:
            if isinstance(value, dict):
                return "{...}"
            if isinstance(value, list) and value and (len(value) > 4 or isinstance(value[0], (dict, list))):
                return f"[{len(value)} entries]"
            return repr(value)

        return f"{type(self).__name__}({', '.join(f'{key}={brief(value)}' for key, value in self._keys.items())})"


def _shown(value: Any) -> Any:
    if isinstance(value, dict):
        return Record(value)
    if isinstance(value, list):
        return [_shown(inner) for inner in value]
    return value


class Summary(Record):
    """All figures of a run or a comparison: `summary.json` with its keys as attributes."""

    __slots__ = ("_json",)

    def __init__(self, text: str) -> None:
        super().__init__(json.loads(text))
        self._json = text

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self._json,)

    def to_json(self) -> str:
        """The bytes of `summary.json`, as the program writes them."""
        return self._json

    def tables(self) -> str:
        """The verdict and every table, as the program prints them with ``--full``."""
        return _native.render(self._json, True)

    def __repr__(self) -> str:
        return _native.render(self._json, False)

    def _repr_html_(self) -> str:
        head = ("scheduler", "flow", "requests", "served IOPS", "mean", "p50", "p99", "p99.9", "slowdown")
        rows = []
        for run in self._keys["schedulers"]:
            flows = [("all flows" if len(run["flows"]) > 1 else run["flows"][0]["name"], run["total"], None)]
            if len(run["flows"]) > 1:
                flows += [(flow["name"], flow["figures"], flow["slowdown"]) for flow in run["flows"]]
            for flow, figures, slowdown in flows:
                commands = figures.get("commands") or {}
                of = {op: figures[op] for op in ("all", "read", "write")} | {op: commands.get(op) for op in ("trim", "write_zeroes", "flush")}
                for op, responses in of.items():
                    if responses is None or (op != "all" and responses["requests"] == figures["completed"]):
                        continue
                    times = [_time(responses[key]) for key in ("mean_ns", "p50_ns", "p99_ns", "p99_9_ns")]
                    slow = f"{slowdown:.2f}" if slowdown is not None and op == "all" else ""
                    plural = {"all": "", "write_zeroes": " write zeroes", "flush": " flushes"}
                    kind = plural.get(op, f" {op}s")
                    rows.append((run["name"], flow + kind, f"{responses['requests']:,}", "-" if responses["iops"] is None else f"{responses['iops']:,.0f}", *times, slow))
        cells = lambda tag, row: "".join(f"<{tag}>{html.escape(cell)}</{tag}>" for cell in row)  # noqa: E731
        body = "".join(f"<tr>{cells('td', row)}</tr>" for row in rows)
        made = self._keys["made_by"]
        state = f", drive {made['drive_state']} at the start" if made.get("drive_state") else ""
        caption = html.escape(f"{made['scenario']} on {made['device']}{state}, against {self._keys['baseline']}")
        findings, warnings = _native.verdict(self._json)
        lines = [html.escape(finding) for finding in findings] + [f"<b>Warning:</b> {html.escape(warning)}" for warning in warnings]
        verdict = "".join(f"<li>{line}</li>" for line in lines)
        return f"<ul>{verdict}</ul><table><caption>{caption}</caption><thead><tr>{cells('th', head)}</tr></thead><tbody>{body}</tbody></table>"


def _time(ns: float) -> str:
    for unit, size in (("ns", 1), ("µs", 1e3), ("ms", 1e6)):
        if ns < 999.95 * size:
            return f"{ns / size:.4g} {unit}"
    return f"{ns / 1e9:.4g} s"


class Result:
    """The outcome of a run or a comparison."""

    def __init__(self, outcome: Any) -> None:
        self._outcome = outcome
        #: The figures.
        self.summary = Summary(outcome.summary_json())
        #: Remarks of trace readers: the flow and the text.
        self.remarks: list[tuple[str, str]] = outcome.remarks()
        #: Number of events that the auditor checked; None without an audit.
        self.audited: Optional[int] = outcome.audited()
        #: Pictures.
        self.plot = Plot(self.summary)

    def _rows(self, table: str, scheduler: Optional[str]) -> Rows:
        names = [run.name for run in self.summary.schedulers]
        if scheduler is None:
            if len(names) > 1:
                raise Error(f"{table}: say of which scheduler; there are {', '.join(names)}")
            scheduler = names[0]
        if scheduler not in names:
            raise Error(f"{table}: no such scheduler: {scheduler!r}; there are {', '.join(names)}")
        rows = self._outcome.rows(table, scheduler)
        if rows is None:
            raise Error(f"{table}: were not kept; run with {table}=True")
        return rows

    def requests(self, scheduler: Optional[str] = None) -> Rows:
        """A row for each request: an Arrow stream that ``polars.DataFrame``, ``pandas.DataFrame.from_arrow``, ``pyarrow.table`` and duckdb take without
        copying the numbers.

        docs/columns.md has the columns, beside which ``flow_name`` has the name of the flow; times are nanoseconds. Requests of the
        warm-up have 0 in ``counted``. ``scheduler`` may be left out if there is one.
        """
        return self._rows("requests", scheduler)

    def transactions(self, scheduler: Optional[str] = None) -> Rows:
        """A row for each flash transaction; only with ``transactions=True``."""
        return self._rows("transactions", scheduler)

    def report(self, path: "str | os.PathLike[str]") -> None:
        """Writes the page with all tables and charts, which opens without a network; with heat maps of the dies if the runs were made
        with ``activity=True``."""
        self._outcome.report(os.fspath(path), f"# in Python: {' '.join(sys.argv) or 'interactive'}")

    def __copy__(self) -> "Result":
        return Result(self._outcome)

    def __deepcopy__(self, memo: Any) -> "Result":
        return Result(self._outcome)  # rows are read-only, so the copy shares them

    def __reduce__(self) -> Any:
        message = (
            "a Result cannot be pickled, since its rows stay in the memory of this process: send its `summary`, "
            "and rows as a table of your own, such as pyarrow.table(result.requests())"
        )
        raise TypeError(message)

    def __repr__(self) -> str:
        return repr(self.summary)

    def _repr_html_(self) -> str:
        return self.summary._repr_html_()
