"use strict";
// Tables wider than the screen say that they scroll.
(() => {
  const look = () => {
    for (const box of document.querySelectorAll(".wide")) {
      box.classList.toggle("more", box.scrollWidth > box.clientWidth + 1);
    }
  };
  look();
  window.addEventListener("resize", look);
  document.addEventListener("toggle", look, true);
})();
// The map reads everything it draws from the data block, so names of rows never become markup.
(() => {
  const block = document.getElementById("map-data");
  if (!block) return;
  const data = JSON.parse(block.textContent);
  const map = document.getElementById("map");
  const told = document.getElementById("told");
  const ring = document.getElementById("ring");
  const isCanvas = map.tagName === "CANVAS";
  let chosen = -1; // the row with a ring
  let shown = null; // the only cluster in full colour
  const lines = { kept: true, broken: true }; // statements drawn

  const draw = () => {
    const ratio = window.devicePixelRatio || 1;
    const width = map.clientWidth;
    if (!width) return;
    const scale = (width / data.width) * ratio;
    map.width = Math.round(width * ratio);
    map.height = Math.round(data.height * scale);
    const pen = map.getContext("2d");
    pen.scale(scale, scale);
    const pixel = ratio / scale; // one pixel of the screen
    const thin = data.many || width < 500; // little room for lines
    const strokes = (segments, colour, thick, dash) => {
      pen.beginPath();
      for (const [x1, y1, x2, y2] of segments) { pen.moveTo(x1, y1); pen.lineTo(x2, y2); }
      pen.strokeStyle = "#fff"; // a halo, to be seen on any colour
      pen.lineWidth = thick + (thin ? 1 : 1.8) * pixel;
      pen.stroke();
      pen.strokeStyle = colour;
      pen.lineWidth = thick;
      pen.setLineDash(dash);
      pen.stroke();
      pen.setLineDash([]);
    };
    const shapes = data.shapes.map((d) => new Path2D(d));
    for (let i = 0; i < data.x.length; i++) {
      const label = data.labels[i];
      pen.globalAlpha = shown === null || shown === label ? 0.85 : 0.07;
      pen.fillStyle = label < 0 ? "#4a5568" : data.colours[label % data.colours.length];
      pen.save();
      pen.translate(data.x[i], data.y[i]);
      pen.fill(shapes[Math.max(label, 0) % shapes.length]);
      pen.restore();
    }
    pen.globalAlpha = 1;
    pen.globalAlpha = data.many ? 0.7 : 1;
    if (lines.kept) strokes(data.kept, "#1c2530", (thin ? 0.8 : 1.5) * pixel, []);
    if (lines.broken) strokes(data.broken, "#d0021b", (thin ? 1.2 : 2.2) * pixel, [6 * pixel, 3 * pixel]);
    pen.globalAlpha = 1;
    pen.font = "700 " + Math.max(22, 13 * pixel) + "px system-ui, sans-serif";
    pen.textAlign = "center";
    pen.textBaseline = "middle";
    pen.lineWidth = 5;
    for (const [x, y, name] of data.tags) {
      pen.strokeStyle = "#fff"; pen.strokeText(name, x, y);
      pen.fillStyle = "#111"; pen.fillText(name, x, y);
    }
    if (chosen >= 0) {
      pen.strokeStyle = "#000";
      pen.lineWidth = 3;
      pen.beginPath();
      pen.arc(data.x[chosen], data.y[chosen], 14, 0, 2 * Math.PI);
      pen.stroke();
    }
  };

  const refresh = () => {
    if (isCanvas) { draw(); return; }
    for (const sort of ["kept", "broken"]) {
      map.querySelector("g." + sort).setAttribute("visibility", lines[sort] ? "visible" : "hidden");
    }
    for (const path of map.querySelectorAll(".points path")) {
      path.classList.toggle("faded", shown !== null && Number(path.dataset.cluster) !== shown);
    }
    if (chosen >= 0) {
      ring.setAttribute("cx", data.x[chosen]);
      ring.setAttribute("cy", data.y[chosen]);
    }
    ring.setAttribute("visibility", chosen >= 0 ? "visible" : "hidden");
  };

  const choose = (i) => {
    if (i === chosen) return;
    chosen = i;
    const label = data.labels[i];
    const where = label < 0 ? "in no cluster" : "cluster " + data.names[label];
    told.textContent = i < 0 ? "" : "Row " + data.ids[i] + ": " + where;
    refresh();
  };

  const nearest = (event) => {
    const box = map.getBoundingClientRect();
    const x = ((event.clientX - box.left) / box.width) * data.width;
    const y = ((event.clientY - box.top) / box.height) * data.height;
    let best = -1, least = (18 * data.width / box.width) ** 2;
    for (let i = 0; i < data.x.length; i++) {
      const far = (data.x[i] - x) ** 2 + (data.y[i] - y) ** 2;
      if (far < least) { least = far; best = i; }
    }
    return best;
  };

  map.addEventListener("pointermove", (event) => choose(nearest(event)));
  map.addEventListener("pointerdown", (event) => choose(nearest(event)));

  const clusters = document.querySelectorAll("button[data-cluster]");
  for (const button of clusters) {
    button.addEventListener("click", () => {
      const cluster = Number(button.dataset.cluster);
      shown = shown === cluster ? null : cluster;
      for (const other of clusters) {
        other.setAttribute("aria-pressed", String(Number(other.dataset.cluster) === shown));
      }
      refresh();
    });
  }

  for (const button of document.querySelectorAll("button[data-lines]")) {
    button.addEventListener("click", () => {
      const sort = button.dataset.lines;
      lines[sort] = !lines[sort];
      button.setAttribute("aria-pressed", String(lines[sort]));
      refresh();
    });
  }

  const find = document.getElementById("find");
  find.addEventListener("input", () => {
    const text = find.value;
    if (!text) { choose(-1); return; }
    let i = data.ids.indexOf(text);
    if (i < 0) i = data.ids.findIndex((id) => id.startsWith(text));
    if (i < 0) { choose(-1); told.textContent = "No row of that name is drawn."; } else choose(i);
  });
  document.getElementById("tools").hidden = false;

  if (isCanvas) {
    draw();
    new ResizeObserver(draw).observe(map);
  }
})();
