"use strict";
// Heat maps: dies over time, response times over time. The maps come as one byte a cell, base64, with zeros as a zero and their number
// (results/activity.rs).
(() => {
  const { $, maps, runs, colour, time, instant, number, percent, decades, end, dark, draws, width, narrow } = flashlane;
  if (!maps.runs.length) return;
  const cells = new Map();
  const unpacked = (text) => {
    const packed = atob(text);
    const cells = [];
    for (let i = 0; i < packed.length; i++) {
      const byte = packed.charCodeAt(i);
      for (let times = byte ? 1 : packed.charCodeAt(++i); times > 0; times--) cells.push(byte);
    }
    return Uint8Array.from(cells);
  };
  const bytes = (text) => {
    if (!cells.has(text)) cells.set(text, unpacked(text));
    return cells.get(text);
  };
  // The opposite of the encoding's `logarithmic`.
  const count = (byte) => 2 ** (byte / 12) - 1;
  const RAMPS = {
    light: ["#f3f6fb", "#bcd3f4", "#6f9fe6", "#2c62c0", "#173b82", "#081c45"],
    dark: ["#1d2531", "#1f3c6c", "#2b66b6", "#58a0f0", "#a6d4ff", "#f4fbff"],
  };
  const ramp = () => RAMPS[dark() ? "dark" : "light"];
  const mixed = (part) => {
    const colours = ramp();
    const at = Math.min(Math.max(part, 0), 1) * (colours.length - 1);
    const i = Math.min(Math.floor(at), colours.length - 2);
    const [a, b] = [colours[i], colours[i + 1]].map((hex) => [1, 3, 5].map((from) => parseInt(hex.slice(from, from + 2), 16)));
    return `rgb(${a.map((value, k) => Math.round(value + (at - i) * (b[k] - value))).join(" ")})`;
  };
  const shades = () => Array.from({ length: 256 }, (_, i) => mixed(i / 255));

  // What a map shows: its cells, its rows from the top, and how a cell reads.
  const ofDies = (what) => ({
    rows: maps.rows.length,
    data: (run) => bytes(run[what]),
    value: (byte) => (what === "waiting" ? count(byte) : byte / 255),
    text: (value) => (what === "waiting" ? number(value) + " waiting" : percent(Number(value.toFixed(3))) + (what === "busy" ? " busy" : " collecting")),
    bound: (value) => (what === "waiting" ? number(value) : percent(value)),
    most: what === "waiting" ? Math.max(1, ...maps.runs.map((run) => bytes(run.waiting).reduce((a, b) => Math.max(a, b), 0))) : 255,
    row: (row) => maps.rows[row],
    // The rows of a channel stand together: its first one is named.
    marks: (height) => {
      const marks = [];
      let last = -Infinity;
      maps.rows.forEach((name, row) => {
        const channel = name.split(",")[0];
        const at = (row / maps.rows.length) * height;
        if ((row === 0 || maps.rows[row - 1].split(",")[0] !== channel) && at - last >= 14) {
          marks.push([at, channel.replace("channel ", "ch ")]);
          last = at;
        }
      });
      return marks.map(([at, text]) => [at + 6, text]);
    },
    empty: false,
  });
  const ofTimes = (what) => {
    const steps = [...new Set(maps.runs.flatMap((run) => run.steps_ns))].sort((a, b) => a - b);
    const rows = Math.max(1, steps.length - 1);
    const added = (run) => {
      const own = run.steps_ns.length - 1;
      const from = steps.indexOf(run.steps_ns[0]);
      const data = new Uint8Array(run.windows * rows);
      const [reads, writes] = [bytes(run.reads), bytes(run.writes)];
      for (let window = 0; window < run.windows; window++)
        for (let step = 0; step < own; step++) {
          const i = window * own + step;
          const sum = (what === "writes" ? 0 : count(reads[i])) + (what === "reads" ? 0 : count(writes[i]));
          // The fastest at the bottom.
          data[window * rows + rows - 1 - from - step] = sum > 0 ? Math.max(1, Math.min(255, Math.round(12 * Math.log2(1 + sum)))) : 0;
        }
      return data;
    };
    const data = new Map(maps.runs.map((run) => [run, added(run)]));
    const height = (ns) => Math.log(ns / steps[0]) / Math.log(steps.at(-1) / steps[0]);
    return {
      rows,
      data: (run) => data.get(run),
      value: count,
      text: (value) => number(value) + (value > 0 && value < 1.5 ? " request" : " requests"),
      bound: number,
      most: Math.max(1, ...[...data.values()].map((cells) => cells.reduce((a, b) => Math.max(a, b), 0))),
      row: (row) => time(steps[rows - 1 - row], 3) + " to " + time(steps[rows - row], 3),
      marks: (size) => decades(steps[0], steps.at(-1), size / 18).map((ns) => [(1 - height(ns)) * size, time(ns, 3)]),
      empty: true,
    };
  };

  const LEFT = 58;
  const BOTTOM = 22;
  const draw = (id, kind) => {
    const what = $(id + "-what").value;
    const map = kind(what);
    const colours = shades();
    const drawn = [];
    for (const panel of [0, 1]) {
      const box = $(`${id}-${panel}`);
      if (!box) continue;
      const index = +$(`${id}-run-${panel}`).value;
      const run = maps.runs[index];
      const data = map.data(run);
      const [w, h] = [width(box), narrow() ? 220 : 280];
      const [plotW, plotH] = [w - LEFT - 8, h - BOTTOM - 8];
      const canvas = document.createElement("canvas");
      const scale = devicePixelRatio || 1;
      [canvas.width, canvas.height] = [Math.round(w * scale), Math.round(h * scale)];
      canvas.style.cssText = `inline-size: ${w}px; block-size: ${h}px`;
      const c = canvas.getContext("2d");
      c.scale(scale, scale);
      c.save();
      c.beginPath();
      c.rect(LEFT, 4, plotW, plotH);
      c.clip();
      c.fillStyle = colours[0];
      c.fillRect(LEFT, 4, plotW, plotH);
      const cellH = plotH / map.rows;
      for (let window = 0; window < run.windows; window++) {
        const x = LEFT + (window * run.width_ns * plotW) / end;
        const cellW = (run.width_ns * plotW) / end;
        for (let row = 0; row < map.rows; row++) {
          const byte = data[window * map.rows + row];
          if (!byte) continue;
          c.fillStyle = colours[Math.min(255, Math.round((255 * byte) / map.most))];
          // A little overlap, so that no seams show between cells.
          c.fillRect(x, 4 + row * cellH, cellW + 0.5, cellH + (map.rows > 24 ? 0.5 : -1));
        }
      }
      c.restore();
      c.fillStyle = colour("--muted");
      c.font = "12px system-ui, sans-serif";
      c.textAlign = "right";
      c.textBaseline = "middle";
      for (const [y, text] of map.marks(plotH)) c.fillText(text, LEFT - 6, Math.min(Math.max(4 + y, 10), plotH));
      c.textBaseline = "top";
      const marks = narrow() ? 2 : 4;
      for (let i = 0; i <= marks; i++) {
        c.textAlign = i === 0 ? "left" : i === marks ? "right" : "center";
        c.fillText(i === 0 ? "0" : time((end * i) / marks, 3), LEFT + (plotW * i) / marks, plotH + 10);
      }
      box.replaceChildren(canvas);
      // In words, for who cannot see it: the mean and the most.
      const inside = Math.min(run.windows, Math.ceil(end / run.width_ns));
      let [sum, most, place] = [0, 0, 0];
      data.forEach((byte, i) => {
        const value = map.value(byte);
        sum += value;
        if (value > most) [most, place] = [value, i];
      });
      const at = `${instant(Math.floor(place / map.rows) * run.width_ns)}, ${map.row(place % map.rows)}`;
      const mean = map.empty ? "" : `mean ${map.text((sum * run.width_ns) / (map.rows * end))}, `;
      const said = most > 0 ? `${mean}most ${map.text(most)} (at ${at})` : "nothing";
      $(`${id}-sum-${panel}`).textContent = said;
      box.setAttribute("aria-label", `${runs[index].name}: ${said}`);
      const read = (row, window) => {
        const value = map.value(data[window * map.rows + row]);
        $(id + "-readout").textContent = `${runs[index].name} from ${instant(window * run.width_ns)} for ${time(run.width_ns, 3)}, ${map.row(row)}: ${map.text(value)}`;
      };
      canvas.addEventListener("pointermove", (event) => {
        const row = Math.floor(((event.offsetY - 4) / plotH) * map.rows);
        const window = Math.floor((((event.offsetX - LEFT) / plotW) * end) / run.width_ns);
        if (row >= 0 && row < map.rows && window >= 0 && window < inside) read(row, window);
      });
      // With the keyboard: a cell is chosen, first the one with the most, and read.
      const cell = document.createElement("span");
      cell.className = "cell";
      let [row, window] = [place % map.rows, Math.min(Math.floor(place / map.rows), inside - 1)];
      const show = () => {
        const cellW = (run.width_ns * plotW) / end;
        cell.style.cssText = `inset-inline-start: ${LEFT + window * cellW - 2}px; inset-block-start: ${4 + row * cellH - 2}px; inline-size: ${cellW + 4}px; block-size: ${cellH + 4}px`;
        box.append(cell);
        read(row, window);
      };
      const STEPS = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0], Home: [0, -Infinity], End: [0, Infinity] };
      box.onkeydown = (event) => {
        const step = STEPS[event.key];
        if (!step) return;
        event.preventDefault();
        if (cell.isConnected) {
          row = Math.min(Math.max(row + step[0], 0), map.rows - 1);
          window = Math.min(Math.max(window + step[1], 0), inside - 1);
        }
        show();
      };
      box.onblur = () => cell.remove();
      drawn.push({ name: runs[index].name, what, cells: data.length, filled: data.filter((byte) => byte > 0).length, sum: data.reduce((a, b) => a + b, 0) });
    }
    $(id + "-most").textContent = map.bound(map.value(map.most));
    document.querySelectorAll(".ramp .bar").forEach((bar) => (bar.style.background = `linear-gradient(to right, ${ramp().join(", ")})`));
    $(id + "-0").dataset.drawn = JSON.stringify(drawn);
  };
  const drawDies = () => draw("dies", ofDies);
  const drawTimes = () => draw("latency", ofTimes);
  draws.push(drawDies, drawTimes);
  $("dies-what").addEventListener("change", drawDies);
  $("latency-what").addEventListener("change", drawTimes);
  // The same scheduler in both.
  for (const panel of [0, 1])
    for (const select of document.querySelectorAll(`.run-of-${panel}`))
      select.addEventListener("change", () => {
        document.querySelectorAll(`.run-of-${panel}`).forEach((other) => (other.value = select.value));
        drawDies();
        drawTimes();
      });
})();
