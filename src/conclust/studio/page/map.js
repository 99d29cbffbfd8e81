// The map page: see the clusters, say what belongs together.

import { conflictDialog } from "./dialogs.js";
import { announce, button, key, make, name, toast } from "./dom.js";
import { card, title } from "./item.js";
import { marker, onGround } from "./marks.js";
import { Plot } from "./plot.js";
import { get, listen, post } from "./server.js";
import { number, phrase, say } from "./words.js";

const HOVER_MS = 90; // the pointer rests before the row is fetched
const MAX_LISTED = 12; // rows named of a selection
const ZOOM = 1.5;
const ARROWS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
const STEP = 60; // px by shift and arrow
const AS_KEYS = { y: "y", a: "y", n: "n", x: "n" };

export class MapPage {
  name = "map";
  #rows = [];
  #place = new Map(); // row -> point
  #names = [];
  #sizes = [];
  #version = -1;
  #chosen = { rows: [], clusters: [] };
  #items = new Map(); // row -> promise of what is known of it
  #row = make("div", { class: "row-card" });
  #panel = make("section", { class: "panel chosen", "aria-labelledby": "chosen-title" });
  #table = make("tbody");
  #caption = make("p", { class: "soft" });

  constructor() {
    const points = make("canvas", { class: "points" });
    this.overlay = make("canvas", { class: "over", tabindex: "0", role: "application", "aria-label": say("map.label"), keydown: (event) => this.#canvasKey(event) });
    this.plot = new Plot(points, this.overlay, {
      hover: (i) => this.#hover(i),
      pick: (i) => this.#pick(i),
      pickCluster: (c) => this.#toggleCluster(c),
      lasso: (found) => this.#choose({ rows: found.map((i) => this.#rows[i]), clusters: [] }),
    });
    this.heading = make("h1", { tabindex: "-1" }, say("nav.map"));
    this.element = make("section", { class: "mapping", "aria-label": say("nav.map") },
      make("div", { class: "map-head" }, this.heading, this.#tools()),
      make("div", { class: "map-main" },
        make("div", { class: "map-box" }, points, this.overlay, this.#zooms()),
        make("div", { class: "map-side" }, this.#panel, make("section", { class: "panel", "aria-labelledby": "row-title" }, make("h2", { id: "row-title" }, say("map.row")), this.#row))),
      this.#caption, this.#clusters());
    onGround(() => this.plot.repaint());
    listen("labels", () => this.#isShown && this.#labels());
    listen("answers", () => this.#isShown && this.#lines());
    this.#choose({ rows: [], clusters: [] });
    this.#hover(-1);
  }

  #isShown = false;

  focus() {
    this.heading.focus({ preventScroll: true });
  }

  async show() {
    this.#isShown = true;
    if (!this.#rows.length) await this.#load();
    else await this.#labels();
    await this.#lines();
  }

  hide() {
    this.#isShown = false;
  }

  key(event) {
    if (event.key === "Escape") {
      this.#choose({ rows: [], clusters: [] });
      return true;
    }
    const zoom = { "+": ZOOM, "=": ZOOM, "-": 1 / ZOOM }[event.key];
    if (zoom) {
      this.plot.zoomBy(zoom);
      return true;
    }
    if (event.key === "0") {
      this.plot.showAll();
      return true;
    }
    const wanted = AS_KEYS[event.key.toLowerCase()];
    const action = wanted && this.#actions().find((one) => one.key === wanted);
    if (!action) return false;
    this.#say(action);
    return true;
  }

  async #load() {
    const map = await get("/api/map");
    this.#rows = map.rows;
    this.#rows.forEach((row, i) => this.#place.set(row, i));
    this.#named(map);
    this.plot.setPoints(map.x, map.y, map.cluster, this.#tagNames());
    this.#caption.textContent = [map.caption ?? "", map.n_rows > map.rows.length ? say("map.some", { n: map.rows.length, all: map.n_rows }) : "", say("map.lines")].join(" ").trim();
  }

  async #labels() {
    const labels = await get(`/api/labels?version=${this.#version}`);
    if (labels.version === this.#version || !labels.cluster) return;
    const before = this.plot.cluster;
    this.#named(labels);
    this.plot.setClusters(labels.cluster, this.#tagNames());
    const nMoved = before.reduce((n, c, i) => n + (c !== this.plot.cluster[i]), 0);
    if (nMoved) announce(say("map.moved", { n: nMoved }));
    this.#items.clear();
  }

  #named({ version, names, sizes, cluster }) {
    this.#version = version;
    this.#names = names ?? [];
    this.#sizes = sizes ?? this.#counted(cluster);
    this.#listClusters();
  }

  #counted(cluster) {
    const sizes = this.#names.map(() => 0);
    for (const c of cluster) if (c >= 0) sizes[c] = (sizes[c] ?? 0) + 1;
    return sizes;
  }

  #tagNames() {
    return this.#names.map((one, c) => this.#clusterName(c));
  }

  #clusterName(c) {
    return this.#names[c] || say("cluster.number", { number: c });
  }

  async #lines() {
    const { must, cannot } = await get("/api/lines");
    const drawn = (pairs) => pairs.map((pair) => pair.map((row) => this.#place.get(row))).filter(([i, j]) => i !== undefined && j !== undefined);
    this.plot.lines = { must: drawn(must), cannot: drawn(cannot) };
    this.plot.redraw();
  }

  #tools() {
    const mode = (which) => make("label", {}, make("input", { type: "radio", name: "mode", value: which, checked: which === "move", change: () => { this.plot.mode = which; this.overlay.classList.toggle("lassoing", which === "lasso"); } }), make("span", {}, say(`map.${which}`)));
    const lines = (sort) => button([make("span", { class: `stroke ${sort}`, "aria-hidden": "true" }), say(`map.${sort}`)], ({ currentTarget }) => {
      this.plot.shows[sort] = !this.plot.shows[sort];
      currentTarget.setAttribute("aria-pressed", String(this.plot.shows[sort]));
      this.plot.redraw();
    }, { class: "chip", "aria-pressed": "true" });
    return make("div", { class: "tools" },
      make("fieldset", { class: "switch" }, make("legend", { class: "unseen" }, say("map.mode")), mode("move"), mode("lasso")),
      lines("must"), lines("cannot"), this.#finder());
  }

  #zooms() {
    return make("div", { class: "zooms", role: "group", "aria-label": say("map.zoom") },
      button("+", () => this.plot.zoomBy(ZOOM), { "aria-label": say("map.in"), title: say("map.in") }),
      button("−", () => this.plot.zoomBy(1 / ZOOM), { "aria-label": say("map.out"), title: say("map.out") }),
      button("⤢", () => this.plot.showAll(), { "aria-label": say("map.all"), title: say("map.all") }));
  }

  #finder() {
    const found = make("datalist", { id: "found" });
    const input = make("input", { id: "find", type: "search", list: "found", placeholder: say("map.find"), "aria-label": say("map.find"), autocomplete: "off", spellcheck: "false" });
    let asked;
    const look = async () => {
      const text = input.value.trim();
      if (!text) return;
      const { rows } = await get(`/api/find?text=${encodeURIComponent(text)}`);
      found.replaceChildren(...rows.map((one) => make("option", { value: one.name })));
      const drawn = rows.find((one) => this.#place.has(one.row));
      if (drawn) this.plot.goTo(this.#place.get(drawn.row));
      else announce(say("map.notFound"));
    };
    input.addEventListener("input", () => { clearTimeout(asked); asked = setTimeout(look, 200); });
    input.addEventListener("keydown", (event) => { if (event.key === "Enter" && this.plot.hovered >= 0) this.#pick(this.plot.hovered); });
    return make("span", { class: "find" }, input, found);
  }

  #item(row) {
    if (!this.#items.has(row)) {
      const item = get(`/api/row/${row}`);
      item.catch(() => this.#items.delete(row)); // to be asked for again
      this.#items.set(row, item);
    }
    return this.#items.get(row);
  }

  #hovering = null;

  #hover(i) {
    clearTimeout(this.#hovering);
    if (i < 0) {
      this.#row.replaceChildren(make("p", { class: "soft" }, say("map.rest")));
      return;
    }
    this.#hovering = setTimeout(async () => {
      const item = await this.#item(this.#rows[i]);
      if (this.plot.hovered !== i) return;
      this.#row.replaceChildren(make("p", { class: "row-name" }, title(item)), card(item));
      announce(say("map.at", { name: item.name, cluster: this.#where(this.plot.cluster[i]) }));
    }, HOVER_MS);
  }

  #where(cluster) {
    return cluster >= 0 ? this.#clusterName(cluster) : say("cluster.none");
  }

  #canvasKey(event) {
    const arrow = ARROWS[event.key];
    if (arrow && event.shiftKey) this.plot.panBy(-arrow[0] * STEP, -arrow[1] * STEP);
    else if (arrow) this.plot.goTo(this.plot.towards(this.plot.hovered, ...arrow));
    else if (event.key === "Enter" || event.key === " ") this.#pick(this.plot.hovered);
    else return;
    event.preventDefault();
    event.stopPropagation();
  }

  #pick(i) {
    if (i < 0) {
      this.#choose({ rows: [], clusters: [] });
      return;
    }
    const row = this.#rows[i];
    const { rows } = this.#chosen;
    this.#choose({ rows: rows.includes(row) ? rows.filter((one) => one !== row) : [...rows, row], clusters: [] });
  }

  #toggleCluster(c) {
    const { clusters } = this.#chosen;
    this.#choose({ rows: [], clusters: clusters.includes(c) ? clusters.filter((one) => one !== c) : [...clusters, c] });
  }

  #choose(chosen) {
    this.#chosen = chosen;
    this.plot.marked = new Set(chosen.rows.map((row) => this.#place.get(row)));
    this.plot.lit = new Set(chosen.clusters);
    this.plot.redraw();
    for (const box of this.#table.querySelectorAll("input")) box.checked = chosen.clusters.includes(Number(box.value));
    this.#showChosen();
  }

  /** What can be said of what is chosen. */
  #actions() {
    const { rows, clusters } = this.#chosen;
    if (clusters.length === 1) return [{ verb: "split", clusters }];
    if (clusters.length > 1) return [{ verb: "merge", clusters, key: "y" }, ...(clusters.length === 2 ? [{ verb: "apart", clusters, key: "n" }] : [])];
    if (rows.length === 2) return [{ verb: "link", rows, key: "y" }, { verb: "apart", rows, key: "n" }];
    if (rows.length < 2) return [];
    const within = [...new Set(rows.map((row) => this.plot.cluster[this.#place.get(row)]))];
    const isPart = within.length === 1 && within[0] >= 0 && rows.length < this.#sizes[within[0]];
    return [{ verb: "together", rows, key: "y" }, ...(isPart ? [{ verb: "split", rows, clusters: within, key: "n", name: "splitOff" }] : [])];
  }

  async #say({ verb, rows, clusters }) {
    const body = { verb, ...(rows ? { rows } : {}), ...(clusters ? { clusters } : {}) };
    this.#choose({ rows: [], clusters: [] });
    try {
      const { numbers, sentence, conflict } = await post("/api/say", body);
      toast(sentence, numbers?.length ? button(say("undo"), () => post("/api/retract", { numbers }), { class: "quiet" }) : null);
      if (conflict) await conflictDialog(conflict);
    } catch (error) {
      toast(error.message, null, true);
    }
  }

  #showChosen() {
    const { rows, clusters } = this.#chosen;
    const isNothing = !rows.length && !clusters.length;
    this.#panel.classList.toggle("active", !isNothing);
    const heading = make("h2", { id: "chosen-title" }, isNothing ? say("map.nothing") : rows.length ? say("map.rows", { n: rows.length }) : say("map.clusters", { n: clusters.length }));
    const actions = this.#actions().map((action, i) => button([say(`verb.${action.name ?? action.verb}`), action.key ? key(action.key.toUpperCase()) : null], () => this.#say(action), { class: i ? "second" : "primary" }));
    const clear = isNothing ? [] : [button([say("map.clear"), key("Esc")], () => this.#choose({ rows: [], clusters: [] }), { class: "quiet" })];
    const list = make("ul", { class: "listed" });
    this.#panel.replaceChildren(heading, isNothing ? make("p", { class: "soft" }, say("map.how")) : list, make("div", { class: "verbs" }, actions, clear));
    if (rows.length === 1) this.#panel.append(make("p", { class: "soft" }, say("map.another")));
    this.#list(list, rows, clusters);
    if (!isNothing) announce(`${heading.textContent}. ${this.#actions().map((one) => say(`verb.${one.name ?? one.verb}`)).join(", ")}`);
  }

  async #list(list, rows, clusters) {
    const line = (...content) => make("li", {}, content);
    list.append(...clusters.map((c) => line(marker(c), name(this.#clusterName(c)), make("span", { class: "soft" }, ` ${say("cluster.rows", { n: this.#sizes[c] ?? 0 })}`))));
    if (clusters.length === 1) await this.#profile(list, clusters[0]);
    const items = await Promise.all(rows.slice(0, MAX_LISTED).map((row) => this.#item(row)));
    list.append(...items.map((item) => line(title(item))));
    if (rows.length > MAX_LISTED) list.append(line(make("span", { class: "soft" }, say("map.more", { n: rows.length - MAX_LISTED }))));
  }

  async #profile(list, c) {
    const { profile, typical } = await get(`/api/cluster/${c}`);
    list.after(make("div", {}, profile ? make("p", { dir: "auto" }, profile) : null,
      typical?.length ? [make("h3", {}, say("map.typical")), make("ul", { class: "listed" }, typical.slice(0, 5).map((item) => make("li", {}, title(item))))] : null));
  }

  #clusters() {
    return make("div", { class: "panel" },
      make("h2", { id: "list-title" }, say("map.list")), make("p", { class: "soft" }, say("map.listText")),
      make("div", { class: "wide", tabindex: "0", role: "region", "aria-labelledby": "list-title" },
        make("table", { class: "clusters" }, make("thead", {}, make("tr", {}, ["choose", "cluster", "size", "do"].map((column) => make("th", { scope: "col" }, say(`list.${column}`))))), this.#table)));
  }

  #listClusters() {
    const all = this.#sizes.map((size, c) => [c, size]).filter(([, size]) => size > 0);
    this.#table.replaceChildren(...all.map(([c, size]) => make("tr", {},
      make("td", {}, make("input", { type: "checkbox", value: c, "aria-label": say("list.chooseOne", { name: this.#clusterName(c) }), checked: this.#chosen.clusters.includes(c), change: () => this.#toggleCluster(c) })),
      make("th", { scope: "row" }, marker(c), " ", name(this.#clusterName(c))),
      make("td", { class: "n" }, number(size)),
      make("td", {}, button(phrase("list.split", { name: make("span", { class: "unseen" }, this.#clusterName(c)) }), () => this.#say({ verb: "split", clusters: [c] }), { class: "quiet" })))));
  }
}
