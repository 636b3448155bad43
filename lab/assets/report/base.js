"use strict";
// What all parts of the page share: the data, times as text, colours, which schedulers are shown.
const flashlane = (() => {
  const $ = (id) => document.getElementById(id);
  const root = document.documentElement;
  const summary = JSON.parse($("summary").textContent);
  const maps = JSON.parse($("maps").textContent);
  const runs = summary.schedulers;
  const colour = (name) => getComputedStyle(root).getPropertyValue(name).trim();

  // A time in ns as people read it; the same rule as the tables'.
  const UNITS = [["ns", 1], ["\u00b5s", 1e3], ["ms", 1e6], ["s", 1e9]];
  const time = (ns, figures = 4) => {
    if (ns == null) return "-";
    const [unit, size] = UNITS.find(([, size]) => ns < 999.95 * size) || UNITS[3];
    return Number((ns / size).toPrecision(figures)) + " " + unit;
  };
  const instant = (ns) => (ns === 0 ? "0" : time(ns, 6));
  const number = (value) => (value >= 100 ? Math.round(value).toLocaleString("en") : String(Number(value.toPrecision(3))));
  const percent = (share) => Number((100 * share).toFixed(4)) + "%";
  // Marks of a logarithmic axis with room for `most` of them: 1, 2, 5 of each power of ten, or fewer.
  const decades = (from, to, most = 12) => {
    for (const [steps, every] of [[[1, 2, 5], 1], [[1, 3], 1], [[1], 1], [[1], 2], [[1], 3]]) {
      const marks = [];
      for (let power = Math.floor(Math.log10(from)); 10 ** power <= to; power++)
        if (power % every === 0)
          for (const step of steps) if (step * 10 ** power >= from && step * 10 ** power <= to) marks.push(step * 10 ** power);
      if (marks.length <= most) return marks;
    }
    return [];
  };

  // The figures of a run: of one flow, or of all together.
  const figures = (run, flow) => (flow === "" ? run.total : run.flows[+flow].figures);
  // When the last request of any run completed, ns: the end of every axis of time.
  const end = Math.max(1, ...runs.map((run) => run.total.last_completion_ns));

  // At most so many schedulers are shown at first: the one compared with, and the fastest.
  const SHOWN = 8;
  const mean = (run) => run.total.all?.mean_ns ?? Infinity;
  const against = Math.max(0, runs.findIndex((run) => run.name === summary.against));
  const fastest = runs.map((_, i) => i).filter((i) => i !== against).sort((a, b) => mean(runs[a]) - mean(runs[b]));
  const shown = new Set([against, ...fastest.slice(0, SHOWN - 1)]);

  const dark = () => (root.dataset.theme ?? (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light")) === "dark";
  // Each part of the page adds how it draws itself anew, and how it shows that the pointer is at a scheduler.
  const draws = [];
  const points = [];
  let pointed = null;
  const point = (run) => {
    if (run === pointed) return;
    pointed = run;
    for (const element of document.querySelectorAll("[data-run]")) element.classList.toggle("pointed", run !== null && element.dataset.run === String(run));
    root.classList.toggle("pointing", run !== null);
    points.forEach((show) => show(run));
  };
  const width = (box) => Math.max(240, box.clientWidth);
  const narrow = () => root.clientWidth < 640;
  return { $, root, summary, maps, runs, colour, time, instant, number, percent, decades, figures, end, shown, dark, draws, points, point, width, narrow };
})();
