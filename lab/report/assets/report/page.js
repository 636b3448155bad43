"use strict";
// What pages with charts share: elements, colours, times as text, the axes of charts, and when a page is drawn.
const page = (() => {
  const $ = (id) => document.getElementById(id);
  const root = document.documentElement;
  const colour = (name) => getComputedStyle(root).getPropertyValue(name).trim();

  // A time in ns as people read it; the same rule as the tables'.
  const UNITS = [["ns", 1], ["\u00b5s", 1e3], ["ms", 1e6], ["s", 1e9]];
  const time = (ns, figures = 4) => {
    if (ns == null) return "-";
    const [unit, size] = UNITS.find(([, size]) => Math.abs(ns) < 999.95 * size) || UNITS[3];
    return Number((ns / size).toPrecision(figures)) + " " + unit;
  };

  // An axis of uPlot in the page's colours.
  const axis = (extra) => ({
    stroke: () => colour("--muted"),
    grid: { stroke: () => colour("--line"), width: 1 },
    ticks: { stroke: () => colour("--line"), width: 1 },
    font: "12px system-ui, sans-serif",
    labelFont: "12px system-ui, sans-serif",
    labelSize: 22,
    ...extra,
  });

  const scheme = matchMedia("(prefers-color-scheme: dark)");
  const dark = () => (root.dataset.theme ?? (scheme.matches ? "dark" : "light")) === "dark";
  // Draws with `draw` now, and again when the theme or the width of the window changes.
  const start = (draw) => {
    const drawAll = () => {
      $("theme").textContent = dark() ? "Light" : "Dark";
      draw();
    };
    $("theme").addEventListener("click", () => {
      root.dataset.theme = dark() ? "light" : "dark";
      drawAll();
    });
    scheme.addEventListener("change", drawAll);
    let resizing = 0;
    let wide = root.clientWidth;
    addEventListener("resize", () => {
      if (root.clientWidth === wide) return;
      wide = root.clientWidth;
      cancelAnimationFrame(resizing);
      resizing = requestAnimationFrame(drawAll);
    });
    $("theme").hidden = false;
    drawAll();
    // For the tests: whether anything is wider than the window, and that the scripts came to the end.
    root.dataset.wide = String(root.scrollWidth > root.clientWidth);
    root.dataset.ready = "true";
  };
  return { $, root, colour, time, axis, dark, start };
})();
