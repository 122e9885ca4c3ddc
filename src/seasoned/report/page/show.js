// Draws every plot into its place. Expressions are interpreted, never compiled: the page forbids eval.
"use strict";
(() => {
  const { config, side, plots } = JSON.parse(document.getElementById("plots").textContent);
  const NARROW = 520;
  const views = new Map();
  // Data stands in the specifications; whatever asks for an address gets none.
  const loader = {
    load: () => Promise.reject(new Error("a report loads nothing")),
    sanitize: () => Promise.reject(new Error("a report links to nothing")),
  };

  function fitted(spec, room) {
    const copy = structuredClone(spec);
    for (const part of copy.vconcat ?? [copy]) part.width = copy.vconcat ? room - side : room;
    return copy;
  }

  async function draw({ name, wide, narrow }) {
    const place = document.getElementById(`plot-${name}`);
    const room = Math.floor(place.clientWidth);
    const last = views.get(name);
    if (!room || last?.room === room) return;
    last?.view.finalize();
    // Vega gives a role to what it draws; for a screen reader the name on the place and the table are the plot.
    const container = document.createElement("div");
    container.setAttribute("aria-hidden", "true");
    place.replaceChildren(container);
    try {
      const compiled = vegaLite.compile(fitted(room < NARROW ? narrow : wide, room), { config }).spec;
      const view = new vega.View(vega.parse(compiled, null, { ast: true }), {
        expr: vegaInterpreter.expressionInterpreter,
        renderer: "svg",
        container,
        loader,
      });
      views.set(name, { room, view });
      await view.runAsync();
      place.dataset.drawn = "yes";
    } catch (error) {
      // The table says the same: open it, and say in the console what went wrong.
      place.textContent = "This plot could not be drawn here; its table follows.";
      place.closest("figure").querySelector("details").open = true;
      console.error(name, error);
    }
  }

  function drawAll() {
    for (const plot of plots) draw(plot);
  }

  let waiting = 0;
  addEventListener("resize", () => {
    clearTimeout(waiting);
    waiting = setTimeout(drawAll, 120);
  });
  drawAll();
})();
