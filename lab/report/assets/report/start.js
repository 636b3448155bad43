"use strict";
// Last of all scripts: the first drawing.
(() => {
  const { $, root, start, draws } = flashlane;
  if (navigator.clipboard) {
    $("copy").hidden = false;
    $("copy").addEventListener("click", async () => {
      await navigator.clipboard.writeText($("command").textContent);
      $("copy").textContent = "Copied";
    });
  }
  document.querySelectorAll(".controls").forEach((controls) => (controls.hidden = false));
  // Tables and charts scroll inside their sections; the page itself never does.
  start(() => draws.forEach((draw) => draw()));
  root.dataset.cues = String(document.querySelectorAll(".scroll.wide.more").length);
})();
