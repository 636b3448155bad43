"use strict";
// Tables that sort, the choice of schedulers in the charts, and flows as small multiples.
(() => {
  const { $, root, summary, runs, time, number, decades, shown, draws, point, narrow } = flashlane;

  // The value of summary.json that a cell shows.
  const at = (path) => path.split("/").slice(1).reduce((value, key) => value?.[key], summary);
  // Where in summary.json a cell's value is: a table may say it for all its cells, with the run's number in the place of the star.
  const path = (cell) => {
    if (cell.dataset.path) return cell.dataset.path;
    const [table, row] = [cell.closest("table"), cell.parentElement];
    const key = table.dataset.path && table.tHead.rows[0].cells[cell.cellIndex].dataset.path;
    return key && table.dataset.path.replace("*", row.dataset.run) + key;
  };
  flashlane.path = path;
  const value = (cell) => (path(cell) ? at(path(cell)) : cell.textContent);
  const compare = (a, b) => (a == null) - (b == null) || (typeof a === "number" ? a - b : String(a).localeCompare(String(b)));
  const sort = (table, column, down) => {
    for (const body of table.tBodies) {
      const rows = [...body.rows].filter((row) => row.dataset.run !== undefined);
      rows.sort((a, b) => (down ? -1 : 1) * compare(value(a.cells[column]), value(b.cells[column])));
      body.append(...rows);
    }
  };
  for (const table of document.querySelectorAll("table")) {
    if (![...table.tBodies].some((body) => [...body.rows].filter((row) => row.dataset.run !== undefined).length > 1)) continue;
    for (const head of table.tHead.rows[0].cells) {
      const button = document.createElement("button");
      button.type = "button";
      button.className = "sort";
      button.append(...head.childNodes);
      head.append(button);
      button.addEventListener("click", () => {
        const down = head.getAttribute("aria-sort") === "ascending";
        for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
        head.setAttribute("aria-sort", down ? "descending" : "ascending");
        sort(table, head.cellIndex, down);
      });
    }
  }

  // A table that goes on beyond the edge of its place says so.
  const cue = (box) => {
    box.classList.toggle("wide", box.scrollWidth > box.clientWidth + 1);
    box.classList.toggle("more", box.scrollLeft + box.clientWidth + 1 < box.scrollWidth);
  };
  for (const box of document.querySelectorAll(".scroll")) {
    box.addEventListener("scroll", () => cue(box), { passive: true });
    new ResizeObserver(() => cue(box)).observe(box);
    cue(box);
  }

  // Which schedulers the charts show.
  const redraw = () => draws.forEach((draw) => draw());
  if ($("choose")) {
    $("choose").hidden = false;
    for (const chip of document.querySelectorAll(".chip")) {
      const run = +chip.dataset.run;
      const show = () => chip.setAttribute("aria-pressed", String(shown.has(run)));
      show();
      chip.addEventListener("click", () => {
        if (!shown.delete(run)) shown.add(run);
        show();
        redraw();
      });
    }
  }

  // Pointing at a scheduler anywhere finds it everywhere.
  const pointedAt = (event) => event.target.closest?.("[data-run]");
  document.addEventListener("pointerover", (event) => point(pointedAt(event) ? +pointedAt(event).dataset.run : null));
  root.addEventListener("pointerleave", () => point(null));

  // Flows as small multiples: a line per scheduler, one axis for all.
  const box = $("multiples");
  if (!box) return;
  const element = (name, className, text) => {
    const made = document.createElement(name);
    made.className = className;
    if (text !== undefined) made.textContent = text;
    return made;
  };
  const drawFlows = () => {
    const figure = $("flows-figure").value;
    const of = (run, flow) => (figure === "slowdown" ? run.flows[flow].slowdown : run.flows[flow].figures.all?.[figure]) ?? null;
    const text = (value) => (figure === "slowdown" ? number(value) + "x" : time(value));
    const values = summary.flows.map((_, flow) => runs.map((run) => of(run, flow)));
    const known = values.flat().filter((value) => value > 0);
    box.replaceChildren();
    if (!known.length) return;
    const [least, most] = [known.reduce((a, b) => Math.min(a, b)) * 0.9, known.reduce((a, b) => Math.max(a, b)) * 1.1];
    const place = (value) => (100 * Math.log(value / least)) / Math.log(most / least);
    const worst = (flow) => Math.max(0, ...values[flow].filter((value) => value > 0));
    const best = (flow) => Math.min(Infinity, ...values[flow].filter((value) => value > 0));
    const flows = summary.flows.map((_, flow) => flow);
    const order = $("flows-order").value;
    if (order === "worst") flows.sort((a, b) => worst(b) - worst(a));
    if (order === "spread") flows.sort((a, b) => worst(b) / best(b) - worst(a) / best(a));
    const marks = decades(least, most, 3);
    const named = runs.length <= 12;
    for (const flow of flows) {
      const card = element("div", "multiple" + (named ? " named" : ""));
      card.append(element("h3", "", summary.flows[flow].name));
      const lines = element("div", "lines");
      const runsOf = runs.map((_, i) => i);
      if ($("flows-sort").value) runsOf.sort((a, b) => (values[flow][a] ?? Infinity) - (values[flow][b] ?? Infinity));
      for (const i of runsOf) {
        const value = values[flow][i];
        const row = element("div", "line s" + (i % 8));
        row.dataset.run = String(i);
        row.title = `${runs[i].name}: ${value > 0 ? text(value) : "-"}`;
        if (named) row.append(element("span", "name", runs[i].name));
        const track = element("span", "track");
        if (value > 0) {
          const dot = element("span", "dot");
          dot.style.inlineSize = `${place(value).toFixed(2)}%`;
          track.append(dot);
        }
        row.append(track);
        if (named) row.append(element("span", "value", value > 0 ? text(value) : "-"));
        lines.append(row);
      }
      card.append(lines);
      const axis = element("div", "axis");
      for (const mark of marks) {
        const label = element("span", "", text(mark));
        label.style.insetInlineStart = `${place(mark).toFixed(2)}%`;
        axis.append(label);
      }
      if (!named) card.append(axis);
      const range = values[flow].filter((value) => value > 0);
      const first = runs[values[flow].indexOf(Math.min(...range))];
      if (!named && range.length) card.append(element("p", "sum", `${text(Math.min(...range))} (${first.name}) to ${text(Math.max(...range))}`));
      box.append(card);
    }
    box.dataset.drawn = JSON.stringify({ flows: flows.length, lines: flows.length * runs.length, figure });
  };
  draws.push(drawFlows);
  for (const name of ["figure", "sort", "order"]) $("flows-" + name).addEventListener("change", drawFlows);
})();
