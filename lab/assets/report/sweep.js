"use strict";
(() => {
  const $ = (id) => document.getElementById(id);
  const root = document.documentElement;
  const bands = JSON.parse($("bands").textContent);
  const colour = (name) => getComputedStyle(root).getPropertyValue(name).trim();

  // A figure as people read it: times in the largest unit that leaves a whole part.
  const UNITS = [["ns", 1], ["\u00b5s", 1e3], ["ms", 1e6], ["s", 1e9]];
  const shown = (name, value, figures = 4) => {
    if (value == null) return "-";
    if (!name.endsWith("_ns")) return String(Number(value.toPrecision(figures)));
    const [unit, size] = UNITS.find(([, size]) => Math.abs(value) < 999.95 * size) || UNITS[3];
    return Number((value / size).toPrecision(figures)) + " " + unit;
  };

  const axis = (extra) => ({
    stroke: () => colour("--muted"),
    grid: { stroke: () => colour("--line"), width: 1 },
    ticks: { stroke: () => colour("--line"), width: 1 },
    font: "12px system-ui, sans-serif",
    labelFont: "12px system-ui, sans-serif",
    labelSize: 22,
    ...extra,
  });

  // The places of an axis on paper: its numbers, or 0, 1, 2 for words.
  const places = (axis) => axis.numbers ?? axis.labels.map((_, i) => i);
  // Whether an axis reads better on a logarithmic scale: its steps are nearer to equal ratios than to equal differences.
  const isLog = (axis) => {
    const xs = [...places(axis)].sort((a, b) => a - b);
    if (!axis.numbers || xs.length < 3 || xs[0] <= 0) return false;
    const spread = (steps) => Math.max(...steps) / Math.min(...steps);
    return spread(xs.slice(1).map((x, i) => x / xs[i])) < spread(xs.slice(1).map((x, i) => x - xs[i]));
  };

  // The lines of a chart: for each scheduler, mean, lower and upper end of its interval at each place.
  const lines = (at, against, figure, op, flow) => {
    const order = places(bands.axes[against]).map((x, i) => [x, i]).sort((a, b) => a[0] - b[0]);
    const series = bands.schedulers.map((_, scheduler) => {
      const found = new Map();
      for (const cell of bands.cells) {
        const same = cell.at.every((value, axis) => axis === against || value === at[axis]);
        if (same && cell.scheduler === scheduler && cell.op === op && cell.flow === flow)
          found.set(cell.at[against], cell.figures[figure]);
      }
      const pick = (choose) => order.map(([, i]) => (found.get(i) == null ? null : choose(found.get(i))));
      return [pick(([mean]) => mean), pick(([mean, half]) => mean - (half ?? 0)), pick(([mean, half]) => mean + (half ?? 0))];
    });
    return { xs: order.map(([x]) => x), labels: order.map(([, i]) => bands.axes[against].labels[i]), series };
  };

  let charts = [];
  const chart = (box, title, at, against, figure, op, flow) => {
    const name = bands.figures[figure];
    const { xs, labels, series } = lines(at, against, figure, op, flow);
    const used = bands.schedulers.map((_, i) => i).filter((i) => series[i][0].some((y) => y != null));
    if (title) {
      const head = document.createElement("h3");
      head.textContent = title;
      box.append(head);
    }
    if (!used.length) {
      const none = document.createElement("p");
      none.className = "none";
      none.textContent = "No run has this figure.";
      box.append(none);
      return { title, points: 0 };
    }
    const log = isLog(bands.axes[against]);
    const data = [xs, ...used.flatMap((i) => series[i])];
    const options = {
      width: Math.max(280, box.clientWidth),
      height: 320,
      padding: [12, 40, 0, 0],
      cursor: { drag: { x: true, y: false } },
      legend: { live: true },
      scales: { x: { time: false, distr: log ? 3 : 1 } },
      axes: [
        axis({ label: bands.axes[against].path, splits: () => xs, filter: (_, ticks) => ticks, values: () => labels }),
        axis({ label: name, size: 76, values: (_, ticks) => ticks.map((tick) => (tick == null ? "" : shown(name, tick, 3))) }),
      ],
      series: [
        { label: "at", value: (_, x) => labels[xs.indexOf(x)] ?? "-" },
        ...used.flatMap((i) => {
          const stroke = () => colour("--s" + (i % 8));
          const edge = { stroke: "transparent", points: { show: false }, value: (_, y) => shown(name, y) };
          return [
            { label: bands.schedulers[i], stroke, width: 2, points: { show: true, size: 6 }, value: (_, y) => shown(name, y) },
            { ...edge, label: "from" },
            { ...edge, label: "to" },
          ];
        }),
      ],
      bands: used.map((i, k) => ({ series: [3 * k + 3, 3 * k + 2], fill: () => colour("--s" + (i % 8)) + "33" })),
    };
    charts.push(new uPlot(options, data, box));
    const drawn = used.map((i) => ({ scheduler: bands.schedulers[i], mean: series[i][0], from: series[i][1], to: series[i][2] }));
    return { title, against: bands.axes[against].path, figure: name, xs, lines: drawn };
  };

  const draw = () => {
    charts.forEach((made) => made.destroy());
    charts = [];
    $("charts").replaceChildren();
    const against = +$("against").value;
    const facet = $("facet").value === "" || +$("facet").value === against ? null : +$("facet").value;
    const flow = $("flow").value === "" ? null : +$("flow").value;
    const at = bands.axes.map(() => 0);
    document.querySelectorAll(".fixed").forEach((label) => {
      const own = +label.dataset.axis;
      label.style.display = own === against || own === facet ? "none" : "";
      at[own] = +label.querySelector("select").value;
    });
    const values = facet == null ? [null] : bands.axes[facet].labels.map((_, i) => i);
    const drawn = values.map((value) => {
      const box = document.createElement("div");
      box.className = "chart";
      $("charts").append(box);
      const here = at.map((place, own) => (own === facet ? value : place));
      const title = value == null ? "" : `${bands.axes[facet].path} = ${bands.axes[facet].labels[value]}`;
      return chart(box, title, here, against, +$("figure").value, $("op").value, flow);
    });
    // Kept on the page for the test to compare.
    $("charts").dataset.drawn = JSON.stringify(drawn);
  };

  const dark = () => (root.dataset.theme ?? (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light")) === "dark";
  const drawAll = () => {
    $("theme").textContent = dark() ? "Light" : "Dark";
    draw();
  };
  $("theme").addEventListener("click", () => {
    root.dataset.theme = dark() ? "light" : "dark";
    drawAll();
  });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", drawAll);
  document.querySelectorAll("#controls select").forEach((select) => select.addEventListener("change", draw));
  let resizing = 0;
  addEventListener("resize", () => {
    cancelAnimationFrame(resizing);
    resizing = requestAnimationFrame(() => charts.forEach((made) => made.setSize({ width: Math.max(280, made.root.parentNode.clientWidth), height: 320 })));
  });
  $("theme").hidden = false;
  $("controls").hidden = bands.axes.length === 0;
  if (bands.axes.length) {
    if (bands.axes.length > 1) $("facet").value = "1";
    drawAll();
  } else {
    $("charts").textContent = "Seeds and schedulers are the only axes: there is nothing to draw figures against.";
  }
  // Whether anything is wider than the window: for the test.
  root.dataset.wide = String(root.scrollWidth > root.clientWidth);
  root.dataset.ready = "true";
})();
