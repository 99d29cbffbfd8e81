// The answers page: everything said, the doubtful first.

import { conflictDialog, statement, word } from "./dialogs.js";
import { announce, button, make, name, toast } from "./dom.js";
import { get, listen, post } from "./server.js";
import { moment, phrase, say, share, since } from "./words.js";

const PAGE = 100;

export class AnswersPage {
  name = "answers";
  #order = "suspects";
  #answers = [];
  #total = 0;
  #isShown = false;
  #count = make("p", { class: "soft" });
  #conflicts = make("div");
  #list = make("ol", { class: "answered" });
  #more = button(say("answers.more"), () => this.#load(this.#answers.length), { hidden: true });

  /** `askAgain` is called with a question to be put on the question page. */
  constructor(askAgain) {
    this.askAgain = askAgain;
    this.heading = make("h1", { tabindex: "-1" }, say("nav.answers"));
    const order = (which) => make("label", {}, make("input", { type: "radio", name: "order", value: which, checked: which === this.#order, change: () => { this.#order = which; this.#load(0); } }), make("span", {}, say(`answers.${which}`)));
    this.element = make("section", { class: "reading", "aria-label": say("nav.answers") },
      this.heading,
      make("div", { class: "above" }, make("fieldset", { class: "switch" }, make("legend", { class: "unseen" }, say("answers.order")), order("suspects"), order("time")), this.#count),
      this.#conflicts, this.#list, this.#more);
    listen("answers", () => this.#isShown && this.#refresh());
    listen("labels", () => this.#isShown && this.#refresh());
  }

  focus() {
    this.heading.focus({ preventScroll: true });
  }

  async show() {
    this.#isShown = true;
    await this.#load(0);
  }

  hide() {
    this.#isShown = false;
  }

  key() {
    return false;
  }

  /** What others said meanwhile, without taking the focus away from a button. */
  #refresh() {
    if (!this.#list.contains(document.activeElement)) this.#load(0);
  }

  async #load(offset) {
    const { total, answers } = await get(`/api/answers?offset=${offset}&limit=${PAGE}&order=${this.#order}`);
    this.#total = total;
    this.#answers = offset ? [...this.#answers, ...answers] : answers;
    this.#render();
    if (!offset) this.#showConflicts(await get("/api/conflicts"));
  }

  #render() {
    const nSuspect = this.#answers.filter((one) => one.suspect).length;
    this.#count.textContent = [say("ask.answered", { n: this.#total }), nSuspect ? say("answers.suspected", { n: nSuspect }) : null].filter(Boolean).join(" · ");
    this.#list.replaceChildren(...(this.#answers.length ? this.#answers.map((one) => this.#line(one)) : [make("li", { class: "soft nothing" }, say("answers.nothing"))]));
    this.#more.hidden = this.#answers.length >= this.#total;
  }

  #showConflicts(conflicts) {
    this.#conflicts.replaceChildren(...(conflicts.length ? [make("section", { class: "panel warn", "aria-labelledby": "clash" },
      make("h2", { id: "clash" }, say("answers.conflicts", { n: conflicts.length })),
      make("ul", { class: "listed" }, conflicts.slice(0, 20).map((conflict) => make("li", {}, make("span", { dir: "auto" }, conflict.sentence), " ",
        button(say("answers.resolve"), async () => { await conflictDialog(conflict); this.#load(0); }, { class: "second" })))))] : []));
  }

  #line(one) {
    return make("li", { class: one.suspect ? "suspect" : null },
      make("div", { class: "what" }, make("p", { class: "said" }, statement(one)), make("p", {}, make("b", {}, this.#words(one)), one.kept ? make("span", { class: "badge" }, say("answers.kept")) : null, one.conflict ? make("span", { class: "badge bad" }, say("answers.conflict")) : null)),
      make("p", { class: "soft by" }, phrase("said.by", { by: name(one.by ?? "", 40), when: make("time", { title: moment(one.when) }, since(one.when)) }), one.from && one.from !== "page" ? ` · ${say(`from.${one.from}`)}` : null),
      make("div", { class: "verbs" }, this.#verbs(one)),
      one.suspect ? make("p", { class: "doubt" }, this.#doubt(one)) : null);
  }

  #words(one) {
    if (typeof one.answer === "string") return word(one.kind, one.answer);
    if (one.kind === "triple") {
      const i = one.samples.indexOf(one.answer);
      return say("said.odd", { name: one.names[i >= 0 ? i : one.answer] ?? "" });
    }
    return say("said.piles", { n: new Set(one.answer.flat().length === one.answer.length ? one.answer : one.answer.map(String)).size });
  }

  #doubt(one) {
    return typeof one.doubt === "number" ? say("answers.doubt", { share: share(one.doubt) }) : say("answers.doubted");
  }

  #verbs(one) {
    const verb = (key, pressed, look) => button([say(`answers.${key}`), make("span", { class: "unseen" }, ` ${one.names.join(", ")}`)], () => this.#act(pressed), { class: look });
    const drop = () => post("/api/retract", { numbers: [one.number] }).then(() => toast(say("answers.dropped")));
    if (!one.suspect) return [verb("undo", drop, "quiet")];
    return [
      verb("keep", () => post("/api/keep", { number: one.number }).then(() => toast(say("answers.keptNow"))), "second"),
      verb("drop", drop, "second"),
      verb("again", async () => this.askAgain((await post("/api/pose", { samples: one.samples, kind: one.kind })).question), "second"),
    ];
  }

  async #act(pressed) {
    try {
      await pressed();
      if (!this.#isShown) return;
      await this.#load(0);
      this.focus();
      announce(this.#count.textContent);
    } catch (error) {
      toast(error.message, null, true);
    }
  }
}
