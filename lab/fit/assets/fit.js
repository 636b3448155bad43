"use strict";
(() => {
  const { $, time, colour, axis, start } = page;
  // Job and rank, measured and modelled time in ns, and whether values were fitted to it.
  const points = JSON.parse($("points").textContent).sort((a, b) => a.measured - b.measured);
  const all = points.flatMap(({ measured, modelled }) => [measured, modelled]);
  let chart = null;

  const draw = () => {
    chart?.destroy();
    // One range for both axes, so that the line of equal times is the diagonal.
    const range = [0.8 * Math.min(...all), 1.25 * Math.max(...all)];
    const xs = [range[0], ...points.map((point) => point.measured), range[1]];
    const ys = (is) => [null, ...points.map((point) => (point.is_fitted === is ? point.modelled : null)), null];
    const data = [xs, xs, ys(true), ys(false)];
    // Round times within the range, the fewer of each power of ten the wider it is.
    const ratio = range[1] / range[0];
    const steps = ratio > 1000 ? [1] : ratio > 10 ? [1, 2, 5] : [1, 1.5, 2, 3, 4, 5, 7];
    const powers = Array.from({ length: 16 }, (_, power) => 10 ** power);
    const splits = powers.flatMap((power) => steps.map((step) => step * power)).filter((at) => at >= range[0] && at <= range[1]);
    const ticks = { splits: () => splits, filter: (_, all) => all, values: () => splits.map((at) => time(at, 3)) };
    const value = (_, y, __, at) => (y == null ? "-" : `${points[at - 1].name}: ${time(xs[at])} measured, ${time(y)} modelled`);
    const dots = (label, name) => {
      const stroke = () => colour(name);
      return { label, stroke, paths: () => null, points: { show: true, size: 8, fill: stroke }, value };
    };
    const side = Math.max(280, Math.min(600, $("measured").clientWidth));
    const scale = { time: false, distr: 3, range: () => range };
    const options = {
      width: side,
      height: side,
      padding: [12, 24, 0, 0],
      cursor: { drag: { x: false, y: false } },
      scales: { x: scale, y: scale },
      axes: [axis({ label: "measured", ...ticks }), axis({ label: "modelled", size: 76, ...ticks })],
      series: [
        { label: "measured", value: (_, x) => time(x) },
        { label: "equal", stroke: () => colour("--muted"), width: 1, points: { show: false }, value: (_, y) => time(y) },
        dots("fitted", "--s0"),
        dots("held out", "--s1"),
      ],
    };
    chart = new uPlot(options, data, $("measured"));
    // Kept on the page for the test to compare.
    const drawn = (series) => data[series].map((y, i) => [xs[i], y]).filter(([, y]) => y != null);
    $("measured").dataset.drawn = JSON.stringify({ range, fitted: drawn(2), held_out: drawn(3) });
  };
  start(() => {
    if (points.length) draw();
  });
})();
