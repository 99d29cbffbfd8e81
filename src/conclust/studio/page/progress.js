// The progress page: how far, how sure, what to take home.

import { curve } from "./curve.js";
import { make, name, toast } from "./dom.js";
import { get, listen, upload } from "./server.js";
import { number, say, share } from "./words.js";

const EXPORTS = ["labels.csv", "constraints.csv", "answers.jsonl", "report.html", "model"];

export class ProgressPage {
  name = "progress";
  #isShown = false;
  #facts = make("div", { class: "stack" });

  constructor(project) {
    this.project = project;
    this.heading = make("h1", { tabindex: "-1" }, say("nav.progress"));
    this.element = make("section", { class: "reading", "aria-label": say("nav.progress") }, this.heading, this.#facts, this.#out(), this.#in(), this.#notes());
    listen("progress", () => this.#isShown && this.#load());
  }

  focus() {
    this.heading.focus({ preventScroll: true });
  }

  show() {
    this.#isShown = true;
    return this.#load();
  }

  hide() {
    this.#isShown = false;
  }

  key() {
    return false;
  }

  async #load() {
    const progress = await get("/api/progress");
    this.#facts.replaceChildren(...[this.#lead(progress), this.#numbers(progress), this.#stability(progress), this.#rates(progress), this.#people(progress)].filter(Boolean));
  }

  #lead({ expected_change: change, trouble }) {
    return make("div", {}, make("p", { class: "lead" }, change?.sentence || say("progress.soon")),
      trouble ? make("p", { class: "panel warn", role: "alert", dir: "auto" }, trouble) : null);
  }

  #numbers(progress) {
    const facts = [
      [number(progress.answered ?? 0), say("progress.answered")],
      [number(progress.unsure ?? 0), say("progress.unsure")],
      [this.#share(progress.kept_share), say("progress.kept")],
      [this.#share(progress.expected_change?.share), say("progress.change")],
      ...(progress.agreement?.pairs ? [[this.#share(progress.agreement.share), say("progress.agreement", { n: progress.agreement.pairs })]] : []),
    ];
    return make("ul", { class: "facts" }, facts.map(([value, what]) => make("li", {}, make("b", {}, value), make("span", {}, what))));
  }

  #share(value) {
    return typeof value === "number" ? share(value) : "–";
  }

  #stability({ stability }) {
    const told = (stability ?? []).filter(({ n }) => n > 0); // before the first answer nothing moves
    if (told.length < 2) return null;
    return make("section", { class: "panel", "aria-labelledby": "stable" }, make("h2", { id: "stable" }, say("progress.stability")),
      make("figure", {}, curve(told.map(({ n, share: kept }) => [n, kept])), make("figcaption", { class: "soft" }, say("progress.stabilityText"))));
  }

  #rates({ flip_rate: rate }) {
    if (!rate || typeof rate.must !== "number") return null;
    return make("p", {}, say("progress.rates", { must: share(rate.must), cannot: share(rate.cannot) }));
  }

  #people({ people }) {
    if (!people?.length) return null;
    const columns = ["name", "answers", "seconds", "errorMust", "errorCannot", "disagreements"];
    return make("div", { class: "panel" }, make("h2", { id: "people" }, say("progress.people")),
      make("div", { class: "wide", tabindex: "0", role: "region", "aria-labelledby": "people" },
        make("table", {}, make("thead", {}, make("tr", {}, columns.map((column, i) => make("th", { scope: "col", class: i ? "n" : null }, say(`people.${column}`))))),
          make("tbody", {}, people.map((one) => make("tr", {}, make("th", { scope: "row" }, name(one.name, 40)),
            [number(one.answers), typeof one.seconds_median === "number" ? say("people.time", { seconds: Math.round(10 * one.seconds_median) / 10 }) : "–", this.#share(one.error_must), this.#share(one.error_cannot), number(one.disagreements ?? 0)]
              .map((text) => make("td", { class: "n" }, text))))))),
      make("p", { class: "soft" }, say("people.text")));
  }

  #out() {
    return make("section", { class: "panel", "aria-labelledby": "out" }, make("h2", { id: "out" }, say("out.title")), make("p", { class: "soft" }, say("out.text")),
      make("ul", { class: "exports" }, EXPORTS.map((file) => make("li", {},
        make("a", { class: "button", href: `/api/export/${file}`, download: file === "model" ? "" : file }, make("b", {}, file), make("span", { class: "soft" }, say(`out.${file}`)))))));
  }

  #in() {
    const told = make("p", { role: "status" });
    const input = make("input", { id: "import", type: "file", accept: ".csv,.json,.jsonl", change: () => this.#import(input, told) });
    return make("section", { class: "panel", "aria-labelledby": "in" }, make("h2", { id: "in" }, say("in.title")),
      make("label", { for: "import" }, say("in.text")), input, told);
  }

  async #import(input, told) {
    const [file] = input.files;
    if (!file) return;
    try {
      const { taken, known, unknown, conflicts } = await upload(file);
      const nClashes = Array.isArray(conflicts) ? conflicts.length : conflicts ?? 0;
      told.textContent = [say("in.taken", { n: taken }), known ? say("in.known", { n: known }) : "", unknown?.length ? say("in.unknown", { n: unknown.length, names: unknown.slice(0, 5).join(", ") }) : "", nClashes ? say("in.conflicts", { n: nClashes }) : ""].filter(Boolean).join(" ");
    } catch (error) {
      toast(error.message, null, true);
    }
    input.value = "";
  }

  #notes() {
    const notes = [...(this.project.warnings ?? []), ...(this.project.notes ?? [])];
    if (!notes.length) return null;
    return make("details", {}, make("summary", {}, say("notes.title")), make("ul", {}, notes.map((note) => make("li", { dir: "auto" }, note))));
  }
}
