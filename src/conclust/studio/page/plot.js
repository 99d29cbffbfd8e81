// The drawing of the map: points as stamps on one canvas, what moves with the pointer on another.

import { color, isDark, N_LOOKS, shape } from "./marks.js";

const MARGIN = 28; // px around the points
const REACH = 18; // px within which a point is meant
const FADE_MS = 450;
const [MIN_ZOOM, MAX_ZOOM] = [0.8, 60];
const CLICK_PX = 5; // the pointer may tremble
const PER_CELL = 4; // points in a cell of the grid, on average
const MANY = 5000; // points; more are moved as a picture and drawn anew when they rest
const REST_MS = 90;
const MAX_TAGS = 30;
const MAX_TAG = 24;

const INK = { light: "#1c2530", dark: "#e6eaf0" };
const RED = { light: "#b3001b", dark: "#ff8a8a" };
const GROUND = { light: "#ffffff", dark: "#171d24" };
const of = (colors) => colors[isDark() ? "dark" : "light"];

const wantsCalm = matchMedia("(prefers-reduced-motion: reduce)");

/** Values moved into 0 … 1. */
function unit(values) {
  let [low, high] = [Infinity, -Infinity];
  for (const value of values) {
    if (value < low) low = value;
    if (value > high) high = value;
  }
  const span = high - low || 1;
  return Float32Array.from(values, (value) => (high > low ? (value - low) / span : 0.5));
}

/** Cells of the unit square, and the points in each: those of cell c are order[start[c] … start[c + 1]). */
class Grid {
  constructor(x, y) {
    this.side = Math.max(1, Math.ceil(Math.sqrt(x.length / PER_CELL)));
    const cells = Int32Array.from(x, (_, i) => this.at(x[i]) + this.side * this.at(y[i]));
    this.start = new Int32Array(this.side ** 2 + 1);
    for (const cell of cells) this.start[cell + 1] += 1;
    for (let c = 0; c < this.side ** 2; c++) this.start[c + 1] += this.start[c];
    const next = this.start.slice();
    this.order = new Int32Array(x.length);
    cells.forEach((cell, i) => { this.order[next[cell]++] = i; });
  }

  at(value) {
    return Math.max(0, Math.min(this.side - 1, Math.floor(value * this.side)));
  }

  /** Call with every point of the cells that touch the box. */
  within(x0, y0, x1, y1, visit) {
    for (let row = this.at(y0); row <= this.at(y1); row++) {
      const [from, to] = [row * this.side + this.at(x0), row * this.side + this.at(x1)];
      for (let k = this.start[from]; k < this.start[to + 1]; k++) visit(this.order[k]);
    }
  }
}

function isInside(x, y, polygon) {
  let isIn = false;
  for (let i = 0, j = polygon.length - 1; i < polygon.length; j = i++) {
    const [[xi, yi], [xj, yj]] = [polygon[i], polygon[j]];
    if (yi > y !== yj > y && x < ((xj - xi) * (y - yi)) / (yj - yi) + xi) isIn = !isIn;
  }
  return isIn;
}

/** A name short enough for the map; of several phrases the first. */
function shortened(name) {
  const first = name.length > MAX_TAG ? name.split(/[,;·]/)[0].trim() : name;
  return first.length > MAX_TAG ? `${first.slice(0, MAX_TAG - 1)}…` : first;
}

export class Plot {
  n = 0;
  cluster = new Int32Array(0);
  marked = new Set(); // points with a ring
  lit = new Set(); // the only clusters in full colour; all, if empty
  lines = { must: [], cannot: [] };
  shows = { must: true, cannot: true };
  mode = "move";
  #x; #y; #grid; #names = []; #tags = [];
  #old = null; #since = 0;
  #zoom = 1; #cx = 0.5; #cy = 0.5;
  #width = 1; #height = 1; #ratio = 1;
  #hovered = -1;
  #lasso = null;
  #pointers = new Map();
  #moved = 0;
  #stamps = new Map();
  #isDue = false;
  #still = null; // the picture as last drawn, and from where
  #rest = null;

  /** `told` has hover(i), pick(i), pickCluster(c) and lasso(points). */
  constructor(points, overlay, told) {
    this.points = points;
    this.overlay = overlay;
    this.told = told;
    overlay.addEventListener("pointerdown", (event) => this.#down(event));
    overlay.addEventListener("pointermove", (event) => this.#move(event));
    overlay.addEventListener("pointerup", (event) => this.#up(event));
    overlay.addEventListener("pointercancel", (event) => this.#up(event));
    overlay.addEventListener("pointerleave", () => this.hover(-1));
    overlay.addEventListener("wheel", (event) => this.#wheel(event), { passive: false });
    new ResizeObserver(() => this.#resize()).observe(overlay);
  }

  setPoints(x, y, cluster, names) {
    [this.#x, this.#y] = [unit(x), unit(y).map((value) => 1 - value)];
    this.n = this.#x.length;
    this.#grid = new Grid(this.#x, this.#y);
    this.cluster = Int32Array.from(cluster, (c) => c ?? -1);
    this.#setNames(names);
    this.redraw();
  }

  /** Points change colour, softly unless the reader wants calm. */
  setClusters(cluster, names) {
    this.#old = wantsCalm.matches ? null : this.cluster;
    this.#since = performance.now();
    this.cluster = Int32Array.from(cluster, (c) => c ?? -1);
    this.#setNames(names);
    this.redraw();
  }

  /** The colours of the ground changed. */
  repaint() {
    this.#stamps.clear();
    this.redraw();
  }

  redraw() {
    if (this.#isDue) return;
    this.#isDue = true;
    requestAnimationFrame((now) => {
      this.#isDue = false;
      this.#draw(now);
    });
  }

  get hovered() {
    return this.#hovered;
  }

  hover(i) {
    if (i === this.#hovered) return;
    this.#hovered = i;
    this.#drawOver();
    this.told.hover(i);
  }

  zoomBy(factor, x = this.#width / 2, y = this.#height / 2) {
    const [u, v] = this.#unitOf(x, y);
    this.#zoom = Math.max(MIN_ZOOM, Math.min(MAX_ZOOM, this.#zoom * factor));
    const [w, h] = this.#unitOf(x, y);
    this.#cx += u - w;
    this.#cy += v - h;
    this.#glide();
  }

  panBy(x, y) {
    this.#cx -= x / this.#spanX();
    this.#cy -= y / this.#spanY();
    this.#glide();
  }

  showAll() {
    [this.#zoom, this.#cx, this.#cy] = [1, 0.5, 0.5];
    this.redraw();
  }

  /** Bring a point into sight, with some of its neighbourhood. */
  goTo(i) {
    const [x, y] = this.screen(i);
    const isSeen = x > MARGIN && y > MARGIN && x < this.#width - MARGIN && y < this.#height - MARGIN;
    if (!isSeen) [this.#cx, this.#cy] = [this.#x[i], this.#y[i]];
    this.hover(i);
    this.redraw();
  }

  /** The next point from `i` in a direction, by keys. */
  towards(i, dx, dy) {
    if (i < 0) return this.#nearest(this.#width / 2, this.#height / 2, Infinity);
    const [x, y] = this.screen(i);
    let [best, least] = [i, Infinity];
    for (let j = 0; j < this.n; j++) {
      const [u, v] = this.screen(j);
      const along = (u - x) * dx + (v - y) * dy;
      const aside = Math.abs((u - x) * dy - (v - y) * dx);
      if (along > 0.5 && along >= aside && along + 2 * aside < least) [best, least] = [j, along + 2 * aside];
    }
    return best;
  }

  screen(i) {
    return [(this.#x[i] - this.#cx) * this.#spanX() + this.#width / 2, (this.#y[i] - this.#cy) * this.#spanY() + this.#height / 2];
  }

  #spanX() {
    return (this.#width - 2 * MARGIN) * this.#zoom;
  }

  #spanY() {
    return (this.#height - 2 * MARGIN) * this.#zoom;
  }

  #unitOf(x, y) {
    return [(x - this.#width / 2) / this.#spanX() + this.#cx, (y - this.#height / 2) / this.#spanY() + this.#cy];
  }

  #radius() {
    const base = this.n <= 200 ? 7 : this.n <= 600 ? 5.5 : this.n <= 4000 ? 4.2 : 3;
    return Math.min(10, base * Math.max(1, this.#zoom ** 0.35)) * this.#scale();
  }

  /** Marks grow with a wall of a screen. */
  #scale() {
    return Math.max(1, this.#width / 1800);
  }

  #nearest(x, y, reach = REACH) {
    const [du, dv] = reach === Infinity ? [1, 1] : [reach / this.#spanX(), reach / this.#spanY()];
    const [u, v] = this.#unitOf(x, y);
    let [best, least] = [-1, reach ** 2];
    this.#grid?.within(u - du, v - dv, u + du, v + dv, (i) => {
      const [a, b] = this.screen(i);
      const far = (a - x) ** 2 + (b - y) ** 2;
      if (far < least) [best, least] = [i, far];
    });
    return best;
  }

  #inLasso() {
    const polygon = this.#lasso.map(([x, y]) => this.#unitOf(x, y));
    const [us, vs] = [polygon.map(([u]) => u), polygon.map(([, v]) => v)];
    const found = [];
    this.#grid?.within(Math.min(...us), Math.min(...vs), Math.max(...us), Math.max(...vs), (i) => {
      if (isInside(this.#x[i], this.#y[i], polygon)) found.push(i);
    });
    return found;
  }

  #resize() {
    const { clientWidth, clientHeight } = this.overlay;
    if (!clientWidth) return;
    this.#ratio = devicePixelRatio || 1;
    [this.#width, this.#height] = [clientWidth, clientHeight];
    for (const canvas of [this.points, this.overlay]) {
      [canvas.width, canvas.height] = [Math.round(clientWidth * this.#ratio), Math.round(clientHeight * this.#ratio)];
    }
    this.#stamps.clear();
    this.redraw();
  }

  #at(event) {
    const box = this.overlay.getBoundingClientRect();
    return [event.clientX - box.left, event.clientY - box.top];
  }

  #down(event) {
    if (event.button) return;
    this.overlay.setPointerCapture(event.pointerId);
    const at = this.#at(event);
    this.#pointers.set(event.pointerId, at);
    this.#moved = 0;
    const isLasso = (this.mode === "lasso") !== event.shiftKey;
    this.#lasso = isLasso && this.#pointers.size === 1 ? [at] : null;
  }

  #move(event) {
    const at = this.#at(event);
    const before = this.#pointers.get(event.pointerId);
    if (!before) {
      this.hover(this.#nearest(...at));
      return;
    }
    const others = [...this.#pointers].filter(([id]) => id !== event.pointerId).map(([, place]) => place);
    this.#pointers.set(event.pointerId, at);
    this.#moved += Math.hypot(at[0] - before[0], at[1] - before[1]);
    if (others.length) this.#pinch(before, at, others[0]);
    else if (this.#lasso) this.#draggedLasso(at);
    else if (this.#moved > CLICK_PX) this.panBy(at[0] - before[0], at[1] - before[1]);
  }

  #pinch(before, at, other) {
    this.#lasso = null;
    const [was, is] = [before, at].map(([x, y]) => Math.hypot(x - other[0], y - other[1]));
    this.panBy((at[0] - before[0]) / 2, (at[1] - before[1]) / 2);
    if (was > 0) this.zoomBy(is / was, (at[0] + other[0]) / 2, (at[1] + other[1]) / 2);
  }

  #draggedLasso(at) {
    this.#lasso.push(at);
    this.#drawOver();
  }

  #up(event) {
    if (!this.#pointers.delete(event.pointerId)) return;
    const wasClick = this.#moved <= CLICK_PX && event.type === "pointerup";
    if (wasClick) this.#click(this.#at(event));
    else if (this.#lasso && event.type === "pointerup") this.told.lasso(this.#inLasso());
    this.#lasso = null;
    this.#drawOver();
  }

  #click([x, y]) {
    const tag = this.#tags.find((one) => Math.abs(one.x - x) < one.halfWidth && Math.abs(one.y - y) < one.halfHeight);
    if (tag) {
      this.told.pickCluster(tag.cluster);
      return;
    }
    const i = this.#nearest(x, y);
    this.hover(i);
    this.told.pick(i);
  }

  #wheel(event) {
    event.preventDefault();
    this.zoomBy(Math.exp(-event.deltaY * (event.ctrlKey ? 0.01 : 0.0015)), ...this.#at(event));
  }

  #setNames(names) {
    this.#names = names ?? [];
    const places = new Map();
    for (let i = 0; i < this.n; i++) {
      const c = this.cluster[i];
      if (c >= 0) (places.get(c) ?? places.set(c, []).get(c)).push(i);
    }
    const median = (values) => values.sort()[values.length >> 1];
    this.middles = [...places].sort((a, b) => b[1].length - a[1].length).slice(0, MAX_TAGS).map(([c, rows]) =>
      ({ cluster: c, u: median(Float32Array.from(rows, (i) => this.#x[i])), v: median(Float32Array.from(rows, (i) => this.#y[i])) }));
  }

  #stamp(cluster, radius) {
    const look = cluster < 0 ? -1 : cluster % N_LOOKS;
    const made = this.#stamps.get(look);
    if (made?.radius === radius) return made;
    const half = Math.ceil(radius * 1.4 * this.#ratio) + 1;
    const canvas = new OffscreenCanvas(2 * half, 2 * half);
    const pen = canvas.getContext("2d");
    pen.translate(half, half);
    pen.scale((radius / 5) * this.#ratio, (radius / 5) * this.#ratio);
    const path = new Path2D(shape(cluster));
    pen.lineWidth = 1;
    pen.strokeStyle = of(GROUND);
    pen.fillStyle = color(cluster);
    pen.fill(path);
    pen.stroke(path);
    const stamp = { canvas, half, radius };
    this.#stamps.set(look, stamp);
    return stamp;
  }

  #draw(now) {
    if (!this.n) return;
    const pen = this.points.getContext("2d");
    pen.setTransform(1, 0, 0, 1, 0, 0);
    pen.globalAlpha = 1;
    pen.fillStyle = of(GROUND);
    pen.fillRect(0, 0, this.points.width, this.points.height);
    const done = this.#old ? Math.min(1, (now - this.#since) / FADE_MS) : 1;
    this.#drawPoints(pen, done);
    pen.setTransform(this.#ratio, 0, 0, this.#ratio, 0, 0);
    this.#drawLines(pen);
    this.#drawTags(pen);
    this.#drawOver();
    if (done < 1) {
      this.redraw();
      return;
    }
    this.#old = null;
    if (this.n > MANY) this.#keepStill();
  }

  /** After a pan or a zoom: many points are moved as a picture, and drawn anew when they rest. */
  #glide() {
    if (!this.#still) {
      this.redraw();
      return;
    }
    clearTimeout(this.#rest);
    this.#rest = setTimeout(() => this.redraw(), REST_MS);
    requestAnimationFrame(() => this.#drawStill());
  }

  #drawStill() {
    if (!this.#still) return;
    const { picture, zoom, cx, cy } = this.#still;
    const pen = this.points.getContext("2d");
    const scale = this.#zoom / zoom;
    const shift = (middle, was, span, side) => ((was - middle) * span + (side / 2) * (1 - scale)) * this.#ratio;
    pen.setTransform(1, 0, 0, 1, 0, 0);
    pen.fillStyle = of(GROUND);
    pen.fillRect(0, 0, this.points.width, this.points.height);
    pen.setTransform(scale, 0, 0, scale, shift(this.#cx, cx, this.#spanX(), this.#width), shift(this.#cy, cy, this.#spanY(), this.#height));
    pen.drawImage(picture, 0, 0);
    this.#drawOver();
  }

  #keepStill() {
    const { width, height } = this.points;
    const picture = this.#still?.picture ?? new OffscreenCanvas(width, height);
    [picture.width, picture.height] = [width, height];
    picture.getContext("2d").drawImage(this.points, 0, 0);
    this.#still = { picture, zoom: this.#zoom, cx: this.#cx, cy: this.#cy };
  }

  #drawPoints(pen, done) {
    const radius = this.#radius();
    const ratio = this.#ratio;
    const [kx, ky] = [this.#spanX() * ratio, this.#spanY() * ratio];
    const [ox, oy] = [(this.#width / 2) * ratio - this.#cx * kx, (this.#height / 2) * ratio - this.#cy * ky];
    const [right, below] = [this.points.width, this.points.height];
    const edge = 2 * radius * ratio;
    let alpha = 1;
    const stamped = (cluster, x, y, strength) => {
      if (strength !== alpha) pen.globalAlpha = alpha = strength;
      const { canvas, half } = this.#stamp(cluster, radius);
      pen.drawImage(canvas, x - half, y - half);
    };
    for (let i = 0; i < this.n; i++) {
      const [x, y] = [Math.round(ox + this.#x[i] * kx), Math.round(oy + this.#y[i] * ky)];
      if (x < -edge || y < -edge || x > right + edge || y > below + edge) continue;
      const cluster = this.cluster[i];
      const strength = !this.lit.size || this.lit.has(cluster) ? 0.9 : 0.12;
      if (done < 1 && this.#old[i] !== cluster) {
        stamped(this.#old[i], x, y, strength * (1 - done));
        stamped(cluster, x, y, strength * done);
      } else stamped(cluster, x, y, strength);
    }
    pen.globalAlpha = 1;
  }

  #drawLines(pen) {
    const sorts = [["must", of(INK), []], ["cannot", of(RED), [6, 4]]];
    for (const [sort, stroke, dash] of sorts) {
      if (!this.shows[sort] || !this.lines[sort].length) continue;
      pen.beginPath();
      for (const [i, j] of this.lines[sort]) {
        pen.moveTo(...this.screen(i));
        pen.lineTo(...this.screen(j));
      }
      const isMany = this.lines[sort].length > 100;
      const scale = this.#scale();
      pen.setLineDash([]);
      pen.strokeStyle = of(GROUND); // a halo, to be seen on any colour
      pen.lineWidth = scale * (isMany ? 2 : 3.4);
      pen.stroke();
      pen.setLineDash(dash.map((length) => scale * length));
      pen.strokeStyle = stroke;
      pen.lineWidth = scale * (isMany ? 1 : 1.6);
      pen.stroke();
    }
    pen.setLineDash([]);
  }

  #drawTags(pen) {
    const size = Math.max(13, this.#width / 90);
    pen.font = `650 ${size}px system-ui, sans-serif`;
    pen.textAlign = "center";
    pen.textBaseline = "middle";
    pen.lineJoin = "round";
    this.#tags = [];
    for (const { cluster, u, v } of this.middles ?? []) {
      const name = String(this.#names[cluster] ?? cluster);
      const words = shortened(name);
      const halfWidth = pen.measureText(words).width / 2 + 4;
      const halfHeight = size * 0.8;
      const middle = (u - this.#cx) * this.#spanX() + this.#width / 2;
      const isSeen = middle > 0 && middle < this.#width; // then all of its name is
      const x = isSeen ? Math.min(Math.max(middle, halfWidth), this.#width - halfWidth) : middle;
      let y = (v - this.#cy) * this.#spanY() + this.#height / 2;
      const hides = (other) => Math.abs(other.x - x) < other.halfWidth + halfWidth && Math.abs(other.y - y) < 2 * halfHeight;
      for (let n = 0; n < 12 && this.#tags.some(hides); n++) y += halfHeight;
      this.#tags.push({ cluster, x, y, halfWidth, halfHeight });
      pen.lineWidth = 4;
      pen.strokeStyle = of(GROUND);
      pen.strokeText(words, x, y);
      pen.fillStyle = of(INK);
      pen.fillText(words, x, y);
    }
  }

  #drawOver() {
    const pen = this.overlay.getContext("2d");
    pen.setTransform(this.#ratio, 0, 0, this.#ratio, 0, 0);
    pen.clearRect(0, 0, this.#width, this.#height);
    const ring = (i, width) => {
      pen.beginPath();
      pen.arc(...this.screen(i), this.#radius() + 5, 0, 2 * Math.PI);
      pen.strokeStyle = of(GROUND);
      pen.lineWidth = width + 2.5;
      pen.stroke();
      pen.strokeStyle = of(INK);
      pen.lineWidth = width;
      pen.stroke();
    };
    if (this.marked.size <= 2000) for (const i of this.marked) ring(i, this.marked.size > 40 ? 1.2 : 2.4);
    if (this.#hovered >= 0 && this.#hovered < this.n) ring(this.#hovered, 1.6);
    if (this.#lasso?.length > 1) this.#drawLasso(pen);
  }

  #drawLasso(pen) {
    pen.beginPath();
    for (const [x, y] of this.#lasso) pen.lineTo(x, y);
    pen.closePath();
    pen.fillStyle = isDark() ? "rgb(116 179 240 / .18)" : "rgb(11 90 157 / .12)";
    pen.fill();
    pen.setLineDash([5, 4]);
    pen.strokeStyle = of(INK);
    pen.lineWidth = 1.4;
    pen.stroke();
    pen.setLineDash([]);
  }
}
