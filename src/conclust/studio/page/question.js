// The question page: rows side by side, big buttons, keys.

import { conflictDialog, isOpen, word } from "./dialogs.js";
import { Desk } from "./desk.js";
import { announce, key, make, toast } from "./dom.js";
import { comparison } from "./item.js";
import { Piles } from "./piles.js";
import { listen } from "./server.js";
import { say } from "./words.js";

// dedupe's keys first, Prodigy's second.
export const KEYS = {
  "must-link": ["y", "a"],
  "cannot-link": ["n", "x"],
  unsure: ["u"],
  skip: ["s", " "],
  undo: ["z", "Backspace"],
};
const SIGNS = { "must-link": "=", "cannot-link": "≠", unsure: "?", skip: "→", undo: "↶" };
const PILE_SIZE = 8;

const actionOf = (pressed) => Object.keys(KEYS).find((action) => KEYS[action].includes(pressed));

export class QuestionPage {
  name = "question";
  #heading = make("h1", { tabindex: "-1" });
  #why = make("p", { class: "why soft" });
  #items = make("div", { class: "items" });
  #buttons = make("div", { class: "answers", role: "group", "aria-label": say("ask.yours") });
  #saved = make("p", { class: "saved soft" });
  #busy = make("p", { class: "busy soft", hidden: true }, make("span", { class: "spin", "aria-hidden": "true" }), make("span"));
  #piles = null;
  #conflicts = [];

  constructor(project) {
    this.desk = new Desk((event, what) => this.#told(event, what));
    this.element = make("section", { class: "ask", "aria-label": say("nav.question") },
      make("div", { class: "above" }, this.#kinds(project.kinds), make("div", { class: "state" }, this.#busy, this.#saved)),
      make("div", { class: "asked" }, this.#heading, this.#why),
      this.#items, this.#buttons);
    listen("question", () => this.desk.look());
    listen("busy", ({ stage }) => this.#setBusy(stage));
    listen("line", () => this.#showSaved());
    addEventListener("beforeunload", (event) => this.desk.nWaiting && event.preventDefault());
    this.#render();
    this.desk.start();
  }

  focus() {
    this.#heading.focus({ preventScroll: true });
  }

  key(event) {
    const { shown } = this.desk;
    const action = actionOf(event.key.length === 1 ? event.key.toLowerCase() : event.key);
    if (action === "undo") return this.#undo();
    if (!shown) return false;
    if (shown.kind === "piles" && this.#piles.key(event)) return true;
    if (shown.kind === "triple" && "123".includes(event.key)) return this.#answer(shown.samples[Number(event.key) - 1]);
    if (action === "unsure" || action === "skip") return this.#answer(action);
    return shown.kind !== "piles" && action ? this.#answer(action) : false;
  }

  #kinds(kinds) {
    return make("fieldset", { class: "switch" }, make("legend", { class: "unseen" }, say("ask.kinds")),
      kinds.map((kind) => make("label", {},
        make("input", { type: "radio", name: "kind", value: kind, checked: kind === this.desk.kind,
          change: () => this.desk.setKind(kind, kind === "piles" ? PILE_SIZE : null) }),
        make("span", {}, say(`kind.${kind}`)))));
  }

  #answer(answer) {
    announce(say("ask.said", { answer: typeof answer === "string" ? word(this.desk.shown?.kind, answer) : say("said.other") }));
    this.desk.answer(answer);
    return true;
  }

  #undo() {
    this.desk.undo();
    return true;
  }

  #told(event, what) {
    if (event === "question") this.#render();
    if (event === "saved") this.#showSaved();
    if (event === "undone") announce(say("ask.undone"));
    if (event === "nothing to undo") toast(say("ask.nothingToUndo"));
    if (event === "refused") toast(what, null, true);
    if (event === "conflict") this.#conflict(what);
  }

  async #conflict(conflict) {
    this.#conflicts.push(conflict);
    if (isOpen()) return;
    while (this.#conflicts.length) await conflictDialog(this.#conflicts.shift());
    this.focus();
  }

  #render() {
    const { shown } = this.desk;
    // The first question does not take the focus away from the beginning of the page.
    const isAnswering = this.desk.nAnswered > this.desk.nBefore && document.activeElement === document.body;
    const hadFocus = this.element.contains(document.activeElement) || isAnswering;
    this.#piles = shown?.kind === "piles" ? new Piles(shown, (piles) => this.#answer(piles)) : null;
    this.#heading.textContent = shown ? say(`asked.${shown.kind}`) : say(this.desk.reason === "looking" ? "ask.looking" : "ask.nothing");
    this.#why.textContent = shown ? shown.why ?? "" : say(this.desk.reason === "looking" ? "ask.lookingMore" : "ask.nothingMore");
    this.#items.replaceChildren(...(shown ? [this.#piles?.element ?? this.#table(shown)] : []));
    this.#buttons.replaceChildren(...this.#choices(shown));
    this.element.dataset.kind = shown?.kind ?? "none";
    this.element.dataset.question = shown?.id ?? "";
    if (!hadFocus) return;
    if (this.#piles) this.#piles.focus();
    else this.focus();
    if (shown) announce(`${say(`asked.${shown.kind}`)} ${shown.items.map((item) => item.name).join("; ")}`);
  }

  #table(question) {
    return make("div", { class: "panel" }, comparison(question.items, question.differing ?? [], question.kind === "triple"));
  }

  #choices(shown) {
    const main = !shown ? [] : {
      pair: () => this.#same(),
      triple: () => [...shown.items.map((item, i) => this.#odd(item, i)), ...this.#same()],
      piles: () => [this.#piles.done],
    }[shown.kind]();
    const small = (shown ? ["unsure", "skip", "undo"] : ["undo"]).map((action) => this.#choice(action, "small"));
    return [make("div", { class: "main" }, main), make("div", { class: "rest" }, small)];
  }

  #same() {
    return ["must-link", "cannot-link"].map((action) => this.#choice(action, "big"));
  }

  #choice(action, size) {
    const pressed = () => (action === "undo" ? this.#undo() : this.#answer(action));
    return make("button", { type: "button", class: `${size} ${action}`, click: pressed, "aria-keyshortcuts": KEYS[action][0] },
      make("span", { class: "sign", "aria-hidden": "true" }, SIGNS[action]), make("span", {}, word(this.desk.shown?.kind, action)), key(KEYS[action][0].toUpperCase()));
  }

  #odd(item, i) {
    return make("button", { type: "button", class: "big odd", click: () => this.#answer(item.row), "aria-keyshortcuts": String(i + 1) },
      key(String(i + 1)), make("bdi", { class: "cut" }, item.name));
  }

  #showSaved() {
    const { nAnswered, nWaiting } = this.desk;
    this.#saved.textContent = nWaiting > 1
      ? say("ask.waiting", { n: nWaiting })
      : say("ask.answered", { n: nAnswered });
    this.#saved.classList.toggle("bad", nWaiting > 1);
  }

  #setBusy(stage) {
    this.#busy.hidden = !stage;
    this.#busy.lastChild.textContent = stage ? say("ask.busy", { stage }) : "";
  }
}
