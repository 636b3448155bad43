"use strict";
(() => {
  const { $, time, colour, axis, start } = page;
  const bands = JSON.parse($("bands").textContent);

  // A figure as people read it.
  const shown = (unit, value, figures = 4) => {
    if (value == null) return "-";
    if (unit === "change") return (value > 0 ? "+" : "") + Number(value.toPrecision(figures)) + "%";
    if (unit === "ns") return time(value, figures);
    return Number(value.toPrecision(figures)).toLocaleString("en", { maximumSignificantDigits: figures });
  };
  // The title of an axis. Times have their unit at each number.
  const titled = (text, unit) => (unit == null || unit === "ns" || unit === "change" ? text : `${text}, ${unit}`);

  // The places of an axis on paper: its numbers, or 0, 1, 2 for words.
  const places = (axis) => axis.numbers ?? axis.labels.map((_, i) => i);
  // Whether an axis reads better on a logarithmic scale: its steps are nearer to equal ratios than to equal differences.
  const isLog = (axis) => {
    const xs = [...places(axis)].sort((a, b) => a - b);
    if (!axis.numbers || xs.length < 3 || xs[0] <= 0) return false;
    const spread = (steps) => Math.max(...steps) / Math.min(...steps);
    return xs.at(-1) > 10 * xs[0] || spread(xs.slice(1).map((x, i) => x / xs[i])) < spread(xs.slice(1).map((x, i) => x - xs[i]));
  };

  // The lines of a chart: for each scheduler, mean, lower and upper end of its interval at each place. `as` is "values" or "changes".
  const lines = (at, against, { figure, op, flow, as }) => {
    const order = places(bands.axes[against]).map((x, i) => [x, i]).sort((a, b) => a[0] - b[0]);
    const series = bands.schedulers.map((_, scheduler) => {
      const found = new Map();
      for (const cell of bands.cells) {
        const same = cell.at.every((value, axis) => axis === against || value === at[axis]);
        if (same && cell.scheduler === scheduler && cell.op === op && cell.flow === flow)
          found.set(cell.at[against], (as === "changes" ? cell.changes : cell.figures)[figure]);
      }
      const pick = (choose) => order.map(([, i]) => (found.get(i) == null ? null : choose(found.get(i))));
      return [pick(([mean]) => mean), pick(([mean, half]) => mean - (half ?? 0)), pick(([mean, half]) => mean + (half ?? 0))];
    });
    const { labels, numbers, unit } = bands.axes[against];
    const label = (i) => (numbers ? shown(unit, numbers[i], 6) : labels[i]);
    return { xs: order.map(([x]) => x), labels: order.map(([, i]) => label(i)), series };
  };

  let charts = [];
  const chart = (box, title, against, { xs, labels, series }, choice, range) => {
    const { name, words, unit: own } = bands.figures[choice.figure];
    const unit = choice.as === "changes" ? "change" : own;
    const used = bands.schedulers.map((_, i) => i).filter((i) => series[i][0].some((y) => y != null));
    if (title) {
      const head = document.createElement("h3");
      head.textContent = title;
      box.append(head);
    }
    if (!used.length) {
      const none = document.createElement("p");
      none.className = "none";
      none.textContent = choice.as === "changes" ? "No run has this change." : "No run has this figure.";
      box.append(none);
      return { title, points: 0 };
    }
    const log = isLog(bands.axes[against]);
    // Words have no order and no distances: their points are not joined.
    const joined = bands.axes[against].numbers != null;
    const none = () => null;
    // Values that span more than tenfold are drawn by their ratios; an interval then ends where the axis does.
    const [least, most] = range;
    const logs = choice.as !== "changes" && least > 0 && most > 10 * least;
    const inside = (ys) => (logs ? ys.map((y) => (y == null ? y : Math.max(y, least))) : ys);
    const across = titled(bands.axes[against].path, bands.axes[against].unit);
    const label = choice.as === "changes" ? `change of ${words} against ${bands.schedulers[0]}` : titled(words, unit);
    const data = [xs, ...used.flatMap((i) => series[i].map(inside))];
    const options = {
      width: Math.max(280, box.clientWidth),
      height: 320,
      padding: [12, 40, 0, 0],
      cursor: { drag: { x: true, y: false } },
      legend: { live: true },
      scales: { x: { time: false, distr: log ? 3 : 1, range: (_, from, to) => (from === to ? [0.9 * from - 0.1, 1.1 * to + 0.1] : [from, to]) }, y: logs ? { distr: 3, range: () => uPlot.rangeLog(least, most, 10, false) } : { range: () => uPlot.rangeNum(least, most, 0.1, true) } },
      axes: [
        axis({ label: across, splits: () => xs, filter: (_, ticks) => ticks, values: () => labels }),
        axis({ label, size: 84, values: (_, ticks) => ticks.map((tick) => (tick == null ? "" : shown(unit, tick, 3))) }),
      ],
      series: [
        { label: "at", value: (_, x) => labels[xs.indexOf(x)] ?? "-" },
        ...used.flatMap((i) => {
          const stroke = () => colour("--s" + (i % 8));
          const edge = { stroke: "transparent", points: { show: false }, class: "edge" };
          if (!joined) edge.paths = none;
          // The mean and its interval, in words.
          const value = (chart, y, series, at) => {
            const [from, to] = [1, 2].map((end) => chart.data[series + end][at]);
            return shown(unit, y) + (y == null || from === to ? "" : ` (95% interval ${shown(unit, from)} to ${shown(unit, to)})`);
          };
          return [{ label: bands.schedulers[i], stroke, width: 2, points: { show: true, size: joined ? 6 : 10 }, ...(joined ? {} : { paths: none }), value }, edge, edge];
        }),
      ],
      bands: used.map((i, k) => ({ series: [3 * k + 3, 3 * k + 2], fill: () => colour("--s" + (i % 8)) + "33" })),
    };
    charts.push(new uPlot(options, data, box));
    const drawn = used.map((i) => ({ scheduler: bands.schedulers[i], mean: series[i][0], from: series[i][1], to: series[i][2] }));
    return { title, across, label, figure: name, range, log: logs, across_log: log, joined, xs, lines: drawn };
  };
  // The least and the most of all lines and intervals: the vertical axis that all charts have in common. Where means alone are above 0 and
  // span more than tenfold, intervals that reach below count no more than the least mean.
  const rangeOf = (all) => {
    const means = all.flatMap(({ series }) => series.flatMap(([mean]) => mean)).filter((y) => y != null);
    const [low, high] = [means.reduce((a, b) => Math.min(a, b), Infinity), means.reduce((a, b) => Math.max(a, b), -Infinity)];
    const floor = low > 0 && high > 10 * low ? low / 2 : -Infinity;
    const ys = all.flatMap(({ series }) => series.flat(2)).filter((y) => y != null).map((y) => Math.max(y, floor));
    return [ys.reduce((a, b) => Math.min(a, b), Infinity), ys.reduce((a, b) => Math.max(a, b), -Infinity)];
  };

  const draw = () => {
    charts.forEach((made) => made.destroy());
    charts = [];
    $("charts").replaceChildren();
    const against = +$("against").value;
    const facet = $("facet").value === "" || +$("facet").value === against ? null : +$("facet").value;
    const flow = $("flow").value === "" ? null : +$("flow").value;
    const choice = { figure: +$("figure").value, op: $("op").value, flow, as: $("as")?.value ?? "values" };
    const at = bands.axes.map(() => 0);
    document.querySelectorAll(".fixed").forEach((label) => {
      const own = +label.dataset.axis;
      label.style.display = own === against || own === facet ? "none" : "";
      at[own] = +label.querySelector("select").value;
    });
    const values = facet == null ? [null] : bands.axes[facet].labels.map((_, i) => i);
    const all = values.map((value) => lines(at.map((place, own) => (own === facet ? value : place)), against, choice));
    const range = rangeOf(all);
    const drawn = values.map((value, nth) => {
      const box = document.createElement("div");
      box.className = "chart";
      $("charts").append(box);
      const title = value == null ? "" : `${bands.axes[facet].path} = ${bands.axes[facet].labels[value]}`;
      return chart(box, title, against, all[nth], choice, range);
    });
    // Kept on the page for the test to compare.
    $("charts").dataset.drawn = JSON.stringify(drawn);
  };

  document.querySelectorAll("#controls select").forEach((select) => select.addEventListener("change", draw));
  $("controls").hidden = bands.axes.length === 0;
  start(() => {
    if (bands.axes.length) draw();
    else $("charts").textContent = "Seeds and schedulers are the only axes: there is nothing to draw figures against.";
  });
})();
