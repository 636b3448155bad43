"use strict";
// Last of all scripts: themes, sizes, and the first drawing.
(() => {
  const { $, root, dark, draws } = flashlane;
  const drawAll = () => {
    $("theme").textContent = dark() ? "Light" : "Dark";
    draws.forEach((draw) => draw());
  };
  $("theme").addEventListener("click", () => {
    root.dataset.theme = dark() ? "light" : "dark";
    drawAll();
  });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", drawAll);
  let resizing = 0;
  let wide = root.clientWidth;
  addEventListener("resize", () => {
    if (root.clientWidth === wide) return;
    wide = root.clientWidth;
    cancelAnimationFrame(resizing);
    resizing = requestAnimationFrame(drawAll);
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
  root.dataset.cues = String(document.querySelectorAll(".scroll.wide.more").length);
  root.dataset.ready = "true";
})();
