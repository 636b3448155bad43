"use strict";
(() => {
  const $ = (id) => document.getElementById(id);
  const root = document.documentElement;
  const summary = JSON.parse($("summary").textContent);
  const runs = summary.schedulers;
  const colour = (name) => getComputedStyle(root).getPropertyValue(name).trim();
  const DASHES = [[], [8, 4], [3, 3], [10, 4, 2, 4]];

  // A time in ns as people read it; the same rule as the tables'.
  const UNITS = [["ns", 1], ["\u00b5s", 1e3], ["ms", 1e6], ["s", 1e9]];
  const time = (ns, figures = 4) => {
    if (ns == null) return "-";
    const [unit, size] = UNITS.find(([, size]) => ns < 999.95 * size) || UNITS[3];
    return Number((ns / size).toPrecision(figures)) + " " + unit;
  };
  const instant = (ns) => (ns === 0 ? "0" : time(ns, 6));
  // Marks of a logarithmic axis: 1, 2, 5 of each power of ten, or the powers alone where they are many.
  const decades = (least, most) => {
    const marks = [];
    const steps = most / least > 1e4 ? [1] : [1, 2, 5];
    for (let power = 10 ** Math.floor(Math.log10(least)); power <= most; power *= 10)
      for (const step of steps) if (step * power >= least && step * power <= most) marks.push(step * power);
    return marks;
  };
  // How far 1 - share is from 1, in powers of ten: the tail's own scale. 0.9 is 1, 0.99 is 2.
  const nines = (share) => -Math.log10(1 - share);
  const percent = (share) => Number((100 * share).toFixed(4)) + "%";

  const axis = (extra) => ({
    stroke: () => colour("--muted"),
    grid: { stroke: () => colour("--line"), width: 1 },
    ticks: { stroke: () => colour("--line"), width: 1 },
    font: "12px system-ui, sans-serif",
    labelFont: "12px system-ui, sans-serif",
    labelSize: 22,
    ...extra,
  });
  const line = (index, run, extra) => ({
    label: run.name,
    stroke: () => colour("--s" + (index % 8)),
    width: 2,
    dash: DASHES[Math.floor(index / 2) % 4],
    points: { show: false },
    ...extra,
  });

  // The figures of a run: of one flow, or of all together.
  const figures = (run, flow) => (flow === "" ? run.total : run.flows[+flow].figures);

  // Draws into `box`, or says that there is nothing to draw. `drawn` goes on the page for the test to compare.
  const charts = {};
  const draw = (id, options, data, drawn) => {
    const box = $(id);
    charts[id]?.destroy();
    delete charts[id];
    box.replaceChildren();
    if (!data[0].length) {
      const none = document.createElement("p");
      none.className = "none";
      none.textContent = "No request of this kind completed.";
      box.append(none);
    } else {
      const size = { width: Math.max(280, box.clientWidth), height: 380 };
      charts[id] = new uPlot({ ...size, cursor: { drag: { x: true, y: false } }, ...options }, data, box);
    }
    box.dataset.drawn = JSON.stringify(drawn);
  };

  // A distribution as steps on the union of all runs' times.
  const drawCdf = () => {
    const [part, flow, tail] = [$("cdf-part").value, $("cdf-flow").value, $("cdf-scale").value === "tail"];
    const cdfs = runs.map((run) => figures(run, flow)[part]?.cdf);
    const xs = [...new Set(cdfs.flatMap((cdf) => cdf?.at_most_ns ?? []))].filter((x) => x > 0).sort((a, b) => a - b);
    const most = Math.max(0, ...cdfs.map((cdf) => cdf?.requests.at(-1) ?? 0));
    const height = (upto, total) => {
      if (!tail) return upto / total;
      // All requests would be infinitely many nines: the last stands half a request below.
      return nines(Math.min(upto / total, 1 - 0.5 / total));
    };
    const ys = cdfs.map((cdf) => {
      if (!cdf) return xs.map(() => null);
      const total = cdf.requests.at(-1);
      let next = 0;
      return xs.map((x) => {
        while (next < cdf.at_most_ns.length && cdf.at_most_ns[next] <= x) next++;
        // A line begins with its first request and ends with its last.
        return next === 0 || x > cdf.at_most_ns.at(-1) ? null : height(cdf.requests[next - 1], total);
      });
    });
    const top = tail ? Math.max(1, nines(1 - 0.5 / Math.max(most, 1))) : 1;
    const marks = tail ? [0, nines(0.5), 1, 2, 3, 4, 5, 6, 7, 8].filter((mark) => mark <= top) : [0, 0.25, 0.5, 0.75, 1];
    const share = (y) => (y == null ? "-" : percent(tail ? 1 - 10 ** -y : y));
    const options = {
      scales: {
        x: { time: false, distr: 3, range: (_, least, most) => [least, Math.max(most, 1.01 * least)] },
        y: { range: [0, top * 1.02] },
      },
      axes: [
        axis({
          label: "response time",
          splits: (_, axis, least, most) => decades(least, most),
          filter: (_, ticks) => ticks,
          values: (_, ticks) => ticks.map((tick) => time(tick, 3)),
        }),
        axis({ label: "share of requests", size: 76, splits: () => marks, values: (_, ticks) => ticks.map(share) }),
      ],
      series: [
        { label: "at most", value: (_, x) => time(x) },
        ...runs.map((run, i) => line(i, run, { paths: uPlot.paths.stepped({ align: 1 }), value: (_, y) => share(y) })),
      ],
    };
    const drawn = runs.map((run, i) => ({
      name: run.name,
      points: cdfs[i]?.at_most_ns.length ?? 0,
      last_ns: cdfs[i]?.at_most_ns.at(-1) ?? null,
      requests: cdfs[i]?.requests.at(-1) ?? 0,
    }));
    draw("cdf", options, [xs, ...ys], drawn);
  };

  // Response time over time: each run has windows of its own width; a window stands at its middle.
  const drawTime = () => {
    const [figure, part, flow] = [$("time-figure").value, $("time-part").value, $("time-flow").value];
    const columns = runs.map((run) => {
      const over = figures(run, flow).over_time;
      const [xs, ys] = [[], []];
      over[part].at_ns.forEach((at, i) => {
        // Nothing completed in the windows between: a gap, not a line.
        if (i > 0 && at > over[part].at_ns[i - 1] + over.width_ns) {
          xs.push(over[part].at_ns[i - 1] + 1.5 * over.width_ns);
          ys.push(null);
        }
        xs.push(at + over.width_ns / 2);
        ys.push(over[part][figure][i]);
      });
      return [xs, ys];
    });
    const data = uPlot.join(columns);
    const options = {
      scales: { x: { time: false }, y: { distr: 3 } },
      axes: [
        axis({ label: "simulated time", values: (_, ticks) => ticks.map(instant) }),
        axis({ label: "response time", size: 76, values: (_, ticks) => ticks.map((tick) => (tick == null ? "" : time(tick, 3))) }),
      ],
      series: [
        { label: "at", value: (_, x) => instant(x) },
        ...runs.map((run, i) => line(i, run, { spanGaps: false, points: { show: true, size: 3 }, value: (_, y) => time(y) })),
      ],
    };
    const sum = (values) => values.reduce((a, b) => a + b, 0);
    const drawn = runs.map((run, i) => ({ name: run.name, points: columns[i][1].filter((y) => y != null).length, sum: sum(columns[i][1]) }));
    draw("time", options, data, drawn);
  };

  const dark = () => (root.dataset.theme ?? (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light")) === "dark";
  const drawAll = () => {
    $("theme").textContent = dark() ? "Light" : "Dark";
    drawCdf();
    drawTime();
  };
  $("theme").addEventListener("click", () => {
    root.dataset.theme = dark() ? "light" : "dark";
    drawAll();
  });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", drawAll);
  for (const [name, redraw] of [["cdf", drawCdf], ["time", drawTime]])
    for (const select of document.querySelectorAll(`select[id^="${name}-"]`)) select.addEventListener("change", redraw);
  let resizing = 0;
  addEventListener("resize", () => {
    cancelAnimationFrame(resizing);
    resizing = requestAnimationFrame(() => {
      for (const id in charts) charts[id].setSize({ width: Math.max(280, $(id).clientWidth), height: 380 });
    });
  });
  if (navigator.clipboard) {
    $("copy").hidden = false;
    $("copy").addEventListener("click", async () => {
      await navigator.clipboard.writeText($("command").textContent);
      $("copy").textContent = "Copied";
    });
  }
  $("theme").hidden = false;
  document.querySelectorAll(".controls").forEach((controls) => (controls.hidden = false));
  drawAll();
  // Tables and charts scroll inside their sections; the page itself never does.
  root.dataset.wide = String(root.scrollWidth > root.clientWidth);
  root.dataset.ready = "true";
})();
