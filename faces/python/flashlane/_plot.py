"""Pictures of a result, with matplotlib or altair if they are installed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Optional

from ._native import Error

if TYPE_CHECKING:
    from ._result import Summary


class Plot:
    """Pictures of a result. ``backend`` is ``"matplotlib"``, which returns Axes, or ``"altair"``, which returns a Chart."""

    def __init__(self, summary: "Summary") -> None:
        self._summary = summary

    def _figures(self, flow: Optional[str]) -> list[tuple[str, Any]]:
        found = []
        for run in self._summary.schedulers:
            if flow is None:
                found.append((run.name, run.total))
                continue
            own = [one.figures for one in run.flows if one.name == flow]
            if not own:
                names = ", ".join(one.name for one in run.flows)
                raise Error(f"plot: no such flow: {flow!r}; there are {names}")
            found.append((run.name, own[0]))
        return found

    def cdf(self, op: str = "all", flow: Optional[str] = None, *, backend: str = "matplotlib", ax: Any = None) -> Any:
        """Share of the requests that took at most a time (µs, logarithmic), a line per scheduler.

        :param op: ``all``, ``read`` or ``write``
        :param flow: a flow's name; by default all together
        """
        _check(op)
        lines = []
        for name, figures in self._figures(flow):
            cdf = figures[op].cdf if figures[op] is not None else None
            if cdf is not None:
                total = cdf.requests[-1]
                # From 0 on: nothing is faster than the fastest request.
                times = [figures[op].min_ns, *cdf.at_most_ns]
                lines.append((name, [ns / 1e3 for ns in times], [count / total for count in (0, *cdf.requests)]))
        return _draw(lines, "response time (µs)", "share of requests", True, False, "steps-post", backend, ax)

    def timeline(
        self, figure: str = "mean_ns", op: str = "all", flow: Optional[str] = None, *, backend: str = "matplotlib", ax: Any = None
    ) -> Any:
        """Response time (µs, logarithmic) of the requests that completed in each window of time (ms), a line per scheduler.

        :param figure: ``mean_ns`` or ``p99_ns``
        """
        _check(op)
        if figure not in ("mean_ns", "p99_ns"):
            raise Error(f"plot: figure = {figure!r}: must be mean_ns or p99_ns")
        lines = []
        for name, figures in self._figures(flow):
            over = figures.over_time
            at = [(ns + over.width_ns / 2) / 1e6 for ns in over[op].at_ns]
            lines.append((name, at, [ns / 1e3 for ns in over[op][figure]]))
        label = {"mean_ns": "mean response time (µs)", "p99_ns": "p99 response time (µs)"}[figure]
        return _draw(lines, "simulated time (ms)", label, False, True, "default", backend, ax)


def _check(op: str) -> None:
    if op not in ("all", "read", "write"):
        raise Error(f"plot: op = {op!r}: must be all, read or write")


def _draw(lines: Any, x: str, y: str, log_x: bool, log_y: bool, style: str, backend: str, ax: Any) -> Any:
    if backend == "matplotlib":
        try:
            import matplotlib.pyplot as plt
        except ImportError:
            raise Error("plot: needs matplotlib: pip install 'flashlane[plot]'") from None
        if ax is None:
            _, ax = plt.subplots(figsize=(7, 4), layout="constrained")
        for name, xs, ys in lines:
            ax.plot(xs, ys, label=name, drawstyle=style)
        ax.set(xlabel=x, ylabel=y, xscale="log" if log_x else "linear", yscale="log" if log_y else "linear")
        ax.grid(alpha=0.3)
        ax.legend()
        return ax
    if backend == "altair":
        try:
            import altair as alt
        except ImportError:
            raise Error("plot: needs altair: pip install 'flashlane[altair]'") from None
        values = [{"scheduler": name, x: a, y: b} for name, xs, ys in lines for a, b in zip(xs, ys)]
        scale = lambda log: alt.Scale(type="log") if log else alt.Scale()  # noqa: E731
        interpolate = "step-after" if style == "steps-post" else "linear"
        return (
            alt.Chart(alt.Data(values=values))
            .mark_line(interpolate=interpolate)
            .encode(
                x=alt.X(field=x, type="quantitative", scale=scale(log_x)),
                y=alt.Y(field=y, type="quantitative", scale=scale(log_y)),
                color=alt.Color(field="scheduler", type="nominal"),
            )
        )
    raise Error(f"plot: backend = {backend!r}: must be matplotlib or altair")
