"use strict";
// What all parts of the report share: the data, numbers as text, which schedulers are shown. `summary` has the single figures of
// summary.json by their keys, `lines` what charts draw (results/report/lines.rs).
const flashlane = (() => {
  const { $, root, time } = page;
  const summary = JSON.parse($("summary").textContent);
  const lines = JSON.parse($("lines").textContent);
  const maps = JSON.parse($("maps").textContent);
  const runs = summary.schedulers;
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

  // Times of two letters each (results/report/codes.rs): the first code is no value, the others are equal ratios.
  const LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  const SIX = Object.fromEntries([...LETTERS].map((letter, i) => [letter, i]));
  const TIMES = Array.from({ length: 4096 }, (_, code) => (code ? lines.least_ns * (lines.most_ns / lines.least_ns) ** ((code - 1) / 4094) : null));
  const times = (text) => Array.from({ length: text.length / 2 }, (_, i) => TIMES[64 * SIX[text[2 * i]] + SIX[text[2 * i + 1]]]);
  // What charts draw of a flow of a run, or of all together (""): of requests of one kind. A single flow is all together, and a kind that
  // is all there is has the lines of all.
  const lineOf = (run, flow, kind) => {
    const of = flow === "" || lines.width_ns[run].length === 1 ? 0 : +flow + 1;
    const requests = lines[kind].requests[run][of];
    const { cdf, mean, p99 } = requests && requests === lines.all.requests[run][of] ? lines.all : lines[kind];
    const text = { cdf, mean_ns: mean, p99_ns: p99 };
    return { requests, width_ns: lines.width_ns[run][of], times: (name) => times(text[name][run][of]) };
  };
  // When the last request of any run completed, ns: the end of every axis of time.
  const end = Math.max(1, ...runs.map((run) => run.total.last_completion_ns));

  // At most this many schedulers are shown at first: the one compared with, and the fastest.
  const SHOWN = 8;
  const mean = (run) => run.total.all?.mean_ns ?? Infinity;
  const baseline = Math.max(0, runs.findIndex((run) => run.name === summary.baseline));
  const fastest = runs.map((_, i) => i).filter((i) => i !== baseline).sort((a, b) => mean(runs[a]) - mean(runs[b]));
  const shown = new Set([baseline, ...fastest.slice(0, SHOWN - 1)]);

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
  return { ...page, summary, maps, runs, instant, number, percent, decades, lines, lineOf, end, shown, draws, points, point, width, narrow };
})();
