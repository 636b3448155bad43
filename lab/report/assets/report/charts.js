"use strict";
// Lines: percentiles of response times, and response time over time.
(() => {
  const { $, summary, runs, colour, axis, time, instant, percent, decades, lines, lineOf, end, shown, draws, points, width, narrow } = flashlane;
  const DASHES = [[], [8, 4], [3, 3], [10, 4, 2, 4]];
  // How far 1 - share is from 1, in powers of ten: the tail's own scale. 0.9 is 1, 0.99 is 2.
  const nines = (share) => -Math.log10(1 - share);
  const share = (nines) => 1 - 10 ** -nines;

  const line = (index, run, extra) => ({
    label: run.name,
    stroke: () => colour("--s" + (index % 8)),
    width: 2,
    dash: DASHES[Math.floor(index / 8) % 4],
    points: { show: false },
    ...extra,
  });
  const timeAxis = (extra) =>
    axis({
      size: narrow() ? 60 : 72,
      splits: (chart, axis, least, most) => decades(least, most, chart.height / 36),
      filter: (_, ticks) => ticks,
      values: (_, ticks) => ticks.map((tick) => (tick == null ? "" : time(tick, 3))),
      ...extra,
    });
  const order = () => [...shown].sort((a, b) => a - b);

  // Draws into `box`, or says that there is nothing to draw.
  const charts = new Map();
  const clear = (box) => {
    for (const [chart, place] of [...charts]) if (box.contains(place)) (chart.destroy(), charts.delete(chart));
    box.replaceChildren();
  };
  const chart = (box, place, options, data, height) => {
    if (!data[0].length) {
      const none = document.createElement("p");
      none.className = "none";
      none.textContent = "No request of this kind completed.";
      place.append(none);
      return;
    }
    const size = { width: width(place), height };
    const unzoom = (chart, _, handler) => (event) => {
      chart.zoomed = false;
      return handler(event);
    };
    const cursor = { drag: { x: true, y: false }, focus: { prox: 24 }, bind: { dblclick: unzoom } };
    charts.set(new uPlot({ ...size, cursor, focus: { alpha: 0.25 }, ...options }, data, place), place);
  };
  points.push((run) => {
    const at = run === null ? -1 : order().indexOf(run);
    for (const one of charts.keys()) one.setSeries(at < 0 ? null : at + 1, { focus: at >= 0 });
  });

  // A distribution: the response time of each of `lines.shares` of the requests.
  const at = (cdf, share) => cdf.times[lines.shares.findIndex((one) => one >= share - 1e-9)];
  // How many of the lines before it each coincides with: it is dashed over them, so that both are seen.
  const twins = (columns) => {
    const seen = new Map();
    return columns.map((column) => {
      const key = column.join();
      const before = key === "" ? 0 : seen.get(key) ?? 0;
      seen.set(key, before + 1);
      return before;
    });
  };
  const over = (twins) => (twins ? { dash: [9 - 2 * Math.min(twins, 3), 3 + 6 * Math.min(twins, 3)] } : {});

  // A percentile of a few requests says nothing: a line ends where fewer than ten take longer, but not before the median.
  const BEYOND = 10;
  const tells = (share, requests) => requests > 0 && (share <= 0.5 || (1 - share) * requests >= BEYOND - 1e-6);
  const percentiles = (box, place, cdfs, shared) => {
    const top = nines(1 - BEYOND / shared.most);
    const named = [0, 0.5, 0.9, 0.95, 0.99, 0.999, 0.9999, 0.99999, 0.999999, 0.9999999].map((part) => (part ? nines(part) : 0)).filter((x) => x <= top);
    const shares = lines.shares.filter((one) => one < 1);
    const xs = cdfs.some((cdf) => cdf.requests) ? shares.map(nines) : [];
    const ys = cdfs.map((cdf) => shares.map((one, i) => (tells(one, cdf.requests) ? cdf.times[i] : null)));
    const same = twins(ys);
    const room = (width(place) - 110) / top;
    let last = -Infinity;
    const marks = named.filter((x) => (x - last) * room >= 46 && ((last = x), true));
    const options = {
      scales: { x: { time: false, range: [0, top] }, y: { distr: 3, range: () => shared.percentiles } },
      axes: [
        axis({ label: shared.small ? undefined : "percent of the requests", splits: () => marks, filter: (_, ticks) => ticks, values: (_, ticks) => ticks.map((x) => (x ? percent(share(x)) : "0")) }),
        timeAxis({ label: shared.small ? undefined : "response time" }),
      ],
      series: [
        { label: "percent", value: (_, x) => (x == null ? "-" : percent(share(x))) },
        ...order().map((i, k) => line(i, runs[i], { ...over(same[k]), value: (_, y) => time(y, 3) })),
      ],
      legend: { show: !shared.small },
    };
    chart(box, place, options, [xs, ...ys], shared.height);
  };
  // The other way round: the share of the requests that took at most so long.
  const shares = (box, place, cdfs, shared) => {
    const columns = cdfs.map((cdf) => {
      // From 0 on: nothing is faster than the fastest request.
      const [xs, ys] = cdf.times.length ? [[cdf.times[0] * (1 - 1e-9)], [0]] : [[], []];
      cdf.times.forEach((x, i) => {
        if (x === xs.at(-1)) ys[ys.length - 1] = lines.shares[i];
        else (xs.push(x), ys.push(lines.shares[i]));
      });
      return [xs, ys];
    });
    box.dataset.begins = JSON.stringify(columns.map(([, ys]) => ys[0] ?? null));
    const same = twins(cdfs.map((cdf) => cdf.times));
    const marks = [0, 0.25, 0.5, 0.75, 1];
    const options = {
      scales: { x: { time: false, distr: 3, range: (chart, from, to) => (chart.zoomed ? [from, to] : shared.times) }, y: { range: [0, 1.02] } },
      hooks: { setSelect: [(chart) => (chart.zoomed = chart.select.width > 0)] },
      axes: [
        axis({
          label: shared.small ? undefined : "response time",
          splits: (_, axis, least, most) => decades(least, most, (width(place) - 110) / 60),
          filter: (_, ticks) => ticks,
          values: (_, ticks) => ticks.map((tick) => time(tick, 3)),
        }),
        axis({ label: shared.small ? undefined : "share of requests", size: 72, splits: () => marks, values: (_, ticks) => ticks.map(percent) }),
      ],
      series: [
        { label: "at most", value: (_, x) => time(x, 3) },
        ...order().map((i, k) => line(i, runs[i], { ...over(same[k]), value: (_, y) => (y == null ? "-" : percent(y)) })),
      ],
      legend: { show: !shared.small },
    };
    const data = columns.some(([xs]) => xs.length) ? uPlot.join(columns) : [[]];
    chart(box, place, options, data, shared.height);
  };
  // A panel for each flow, with the same axes, or one for all.
  const drawCdf = () => {
    const box = $("cdf");
    const [part, choice] = [$("cdf-part").value, $("cdf-flow").value];
    const draw = $("cdf-scale").value === "share" ? shares : percentiles;
    const flows = choice === "each" ? summary.flows.map((flow, i) => [String(i), flow.name]) : [[choice, ""]];
    const all = flows.map(([flow]) =>
      runs.map((_, run) => {
        const own = lineOf(run, flow, part);
        return { requests: own.requests, times: own.requests ? own.times("cdf") : [] };
      }),
    );
    const seen = all.flatMap((cdfs) => order().map((i) => cdfs[i])).filter((cdf) => cdf.requests);
    const times = seen.flatMap((cdf) => cdf.times);
    const told = seen.flatMap((cdf) => cdf.times.filter((_, i) => tells(lines.shares[i], cdf.requests)));
    const range = (values) => {
      const [least, most] = [values.reduce((a, b) => Math.min(a, b), Infinity), values.reduce((a, b) => Math.max(a, b), 0)];
      return [Math.max(least, 1), Math.max(most, 1.01 * least, 1.01)];
    };
    const [least, most] = range(told);
    const several = flows.length > 1;
    const shared = {
      most: Math.max(2 * BEYOND, ...seen.map((cdf) => cdf.requests)),
      times: range(times),
      percentiles: [0.9 * least, 1.1 * most],
      small: flows.length > 4,
      height: flows.length > 4 ? 170 : several ? 260 : narrow() ? 300 : 380,
    };
    clear(box);
    box.classList.toggle("grid", several);
    box.classList.toggle("small", flows.length > 4);
    const places = flows.map(() => document.createElement("div"));
    box.append(...places);
    const drawn = flows.map(([flow, name], nth) => {
      const place = places[nth];
      if (name) {
        const title = document.createElement("h3");
        title.textContent = name;
        place.append(title);
      }
      const cdfs = all[nth];
      draw(box, place, order().map((i) => cdfs[i]), shared);
      const same = twins(cdfs.map((cdf) => cdf.times));
      return {
        flow,
        range: shared.percentiles,
        runs: runs.map((run, i) => ({
          name: run.name,
          points: cdfs[i].times.length,
          last_ns: cdfs[i].times.at(-1) ?? null,
          requests: cdfs[i].requests,
          p99_ns: at(cdfs[i], 0.99) ?? null,
          // What the line of percentiles ends with, and how many lines it coincides with that were drawn before it.
          upto: lines.shares.filter((share) => tells(share, cdfs[i].requests)).at(-1) ?? null,
          twins: same[i],
        })),
      };
    });
    box.dataset.drawn = JSON.stringify(drawn);
  };

  // Response time over time: a window stands at its middle. Where nothing completed there is a gap and no line.
  const column = (own, figure) => {
    const [xs, ys] = [[], []];
    own.times(figure).forEach((value, i) => {
      if (value === null && (!ys.length || ys.at(-1) === null)) return;
      xs.push((i + 0.5) * own.width_ns);
      ys.push(value);
    });
    return [xs, ys];
  };
  // The least and the most that any figure of any flow and run shows.
  const bounds = (part) => {
    const [least, most] = lines[part].range_ns;
    return [0.8 * Math.max(least, 1), 1.25 * Math.max(most, 1)];
  };
  // The windows that stand between gaps: no line shows them, so they are drawn as points.
  const alone = (chart, series) => {
    const ys = chart.data[series];
    const known = ys.map((_, i) => i).filter((i) => ys[i] !== undefined);
    return known.filter((i, nth) => ys[i] !== null && ys[known[nth - 1]] == null && ys[known[nth + 1]] == null);
  };
  const drawTime = () => {
    const box = $("time");
    const [figure, part, choice] = [$("time-figure").value, $("time-part").value, $("time-flow").value];
    const range = bounds(part);
    const flows = choice === "each" ? summary.flows.map((flow, i) => [String(i), flow.name]) : [[choice, ""]];
    clear(box);
    box.classList.toggle("grid", flows.length > 1);
    box.classList.toggle("small", flows.length > 4);
    const drawn = [];
    // All at once, so that each has its final width.
    const places = flows.map(() => document.createElement("div"));
    box.append(...places);
    for (const [nth, [flow, name]] of flows.entries()) {
      const columns = runs.map((_, run) => column(lineOf(run, flow, part), figure));
      const own = order().map((i) => columns[i]);
      const same = twins(own.map(([, ys]) => ys));
      const place = places[nth];
      if (name) {
        const title = document.createElement("h3");
        title.textContent = name;
        place.append(title);
      }
      const data = own.some(([xs]) => xs.length) ? uPlot.join(own) : [[]];
      const options = {
        // The whole run, whatever part of it this flow filled; or what the reader zoomed to.
        scales: { x: { time: false, range: (chart, from, to) => (chart.zoomed ? [from, to] : [0, end]) }, y: { distr: 3, range: () => range } },
        hooks: { setSelect: [(chart) => (chart.zoomed = chart.select.width > 0)] },
        axes: [axis({ label: name ? undefined : "simulated time", space: 80, values: (_, ticks) => ticks.map((x) => (x ? time(x, 4) : "0")) }), timeAxis({ label: name ? undefined : "response time" })],
        series: [
          { label: "at", value: (_, x) => instant(x) },
          ...order().map((i, k) => line(i, runs[i], { ...over(same[k]), spanGaps: false, width: 1.5, points: { show: true, size: 3, filter: alone }, value: (_, y) => time(y, 3) })),
        ],
        legend: { show: !name || flows.length <= 4 },
      };
      chart(box, place, options, data, flows.length > 4 ? 150 : name ? 220 : narrow() ? 300 : 380);
      const sum = (values) => values.reduce((a, b) => a + b, 0);
      drawn.push({
        flow,
        range,
        runs: runs.map((run, i) => ({ name: run.name, points: columns[i][1].filter((y) => y != null).length, gaps: columns[i][1].filter((y) => y === null).length, sum: sum(columns[i][1]) })),
      });
    }
    box.dataset.drawn = JSON.stringify(drawn);
  };

  draws.push(drawCdf, drawTime);
  for (const [name, redraw] of [["cdf", drawCdf], ["time", drawTime]])
    for (const select of document.querySelectorAll(`select[id^="${name}-"]`)) select.addEventListener("change", redraw);
})();
