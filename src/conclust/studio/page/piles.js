// Rows sorted into piles, by drag, by tap and by keys.

import { announce, button, key, make } from "./dom.js";
import { card, title } from "./item.js";
import { say } from "./words.js";

const MAX_PILES = 9;
const DRAG_PX = 6; // less is a click
const FREE = -1;

export class Piles {
  #items;
  #pileOf;
  #cards;
  #boxes = [];
  #current = 0;
  #answered;

  /** `answered` is called with lists of rows when all lie in piles. */
  constructor(question, answered) {
    this.#items = question.items;
    this.#pileOf = question.items.map(() => FREE);
    this.#answered = answered;
    this.#cards = question.items.map((item, i) => this.#card(item, i));
    this.done = make("button", { type: "button", class: "big must-link", click: () => this.#finish(), "aria-keyshortcuts": "Enter" },
      make("span", { class: "sign", "aria-hidden": "true" }, "✓"), make("span"), key("↵"));
    this.element = make("div", { class: "board" });
    this.element.addEventListener("focusin", ({ target }) => this.#noteFocus(target));
    this.#layOut();
  }

  focus() {
    this.#cards[this.#current].focus({ preventScroll: true });
  }

  key(event) {
    const { key: pressed } = event;
    if (pressed === "Enter") return this.#isInBoard(event.target) ? this.#finish() : false;
    if (pressed === "ArrowRight" || pressed === "ArrowDown") return this.#step(1);
    if (pressed === "ArrowLeft" || pressed === "ArrowUp") return this.#step(-1);
    if (pressed >= "1" && pressed <= String(MAX_PILES)) return this.#put(this.#current, Number(pressed) - 1);
    return pressed === "0" ? this.#put(this.#current, FREE) : false;
  }

  #isInBoard(target) {
    return !target.closest("button, a") || target.closest(".pile-card");
  }

  #noteFocus(target) {
    const i = this.#cards.indexOf(target.closest(".pile-card"));
    if (i >= 0) this.#setCurrent(i);
  }

  #setCurrent(i) {
    this.#current = i;
    this.#cards.forEach((one, j) => one.setAttribute("tabindex", j === i ? "0" : "-1"));
  }

  #step(by) {
    this.#setCurrent((this.#current + by + this.#cards.length) % this.#cards.length);
    this.#cards[this.#current].focus();
    return true;
  }

  #nPiles() {
    return Math.min(Math.max(...this.#pileOf) + 2, MAX_PILES); // one more than there are
  }

  #put(i, pile) {
    if (pile >= this.#nPiles()) pile = this.#nPiles() - 1;
    this.#pileOf[i] = pile;
    this.#closeGaps();
    const free = this.#pileOf.indexOf(FREE);
    announce(say(pile === FREE ? "piles.taken" : "piles.put", { name: this.#items[i].name, pile: this.#pileOf[i] + 1 }));
    this.#setCurrent(free >= 0 ? free : i);
    this.#layOut();
    this.focus();
    return true;
  }

  #closeGaps() {
    const used = [...new Set(this.#pileOf)].filter((pile) => pile !== FREE).sort((a, b) => a - b);
    this.#pileOf = this.#pileOf.map((pile) => (pile === FREE ? FREE : used.indexOf(pile)));
  }

  #nFree() {
    return this.#pileOf.filter((pile) => pile === FREE).length;
  }

  #finish() {
    if (this.#nFree()) {
      announce(say("piles.left", { n: this.#nFree() }));
      return true;
    }
    const piles = [];
    this.#pileOf.forEach((pile, i) => (piles[pile] ??= []).push(this.#items[i].row));
    this.#answered(piles);
    return true;
  }

  #layOut() {
    this.#boxes = Array.from({ length: this.#nPiles() }, (_, pile) => this.#box(pile));
    const tray = this.#box(FREE);
    this.element.replaceChildren(tray, make("div", { class: "piles" }, this.#boxes));
    this.#boxes.push(tray);
    const n = this.#nFree();
    this.done.setAttribute("aria-disabled", String(n > 0));
    this.done.children[1].textContent = n ? say("piles.left", { n }) : say("piles.done");
  }

  #box(pile) {
    const cards = this.#cards.filter((_, i) => this.#pileOf[i] === pile);
    const isTray = pile === FREE;
    const label = isTray ? say("piles.tray", { n: cards.length }) : say(cards.length ? "piles.pile" : "piles.new", { pile: pile + 1 });
    const head = make("div", { class: "pile-head" }, make("h2", {}, label),
      isTray ? make("p", { class: "soft" }, say("piles.how")) : button([say("piles.here"), key(String(pile + 1))], () => this.#put(this.#current, pile),
        { class: "quiet", "aria-label": say("piles.hereFull", { pile: pile + 1 }) }));
    const box = make("section", { class: isTray ? "tray" : "pile", "aria-label": label }, head, make("div", { class: "pile-cards" }, cards));
    box.dataset.pile = pile;
    return box;
  }

  #card(item, i) {
    const one = make("div", { class: "pile-card", tabindex: i === 0 ? "0" : "-1", role: "group", "aria-label": item.name,
      pointerdown: (event) => this.#grab(event, i) },
    make("div", { class: "pile-name" }, make("span", { class: "handle", "aria-hidden": "true" }, "⠿"), title(item)), card(item));
    return one;
  }

  #grab(event, i) {
    const isTouch = event.pointerType !== "mouse";
    // A finger scrolls unless it takes the handle.
    if (event.button || event.target.closest("a, button") || (isTouch && !event.target.closest(".handle"))) return;
    const one = this.#cards[i];
    const from = [event.clientX, event.clientY];
    let over = null;
    const move = ({ clientX, clientY }) => {
      const [x, y] = [clientX - from[0], clientY - from[1]];
      if (!one.classList.contains("dragged") && Math.hypot(x, y) < DRAG_PX) return;
      one.classList.add("dragged");
      one.style.transform = `translate(${x}px, ${y}px)`;
      over?.classList.remove("over");
      over = document.elementsFromPoint(clientX, clientY).find((element) => element.matches("[data-pile]")) ?? null;
      over?.classList.add("over");
    };
    const drop = (last) => {
      removeEventListener("pointermove", move);
      const wasDragged = one.classList.contains("dragged");
      one.classList.remove("dragged");
      one.style.transform = "";
      over?.classList.remove("over");
      if (wasDragged && over && last.type === "pointerup") this.#put(i, Number(over.dataset.pile));
    };
    addEventListener("pointermove", move);
    for (const end of ["pointerup", "pointercancel"]) addEventListener(end, drop, { once: true });
    if (!isTouch) event.preventDefault(); // no selection of text on the way
    one.focus();
  }
}
