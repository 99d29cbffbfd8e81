// The questions of this tab: one shown, one in hand. Answers are sent in the order they were given;
// the next question never waits for them.

import { get, post } from "./server.js";

const ASK_AGAIN_MS = 3000;

export class Desk {
  shown = null;
  inHand = [];
  kind = "pair";
  size = null;
  reason = "looking";
  nWaiting = 0; // answers not yet acknowledged
  nAnswered = 0;
  nBefore = 0; // answers when the page was opened
  #line = Promise.resolve();
  #shownAt = 0;
  #sitting = 0; // counts who sat here, and what they wanted
  #told;

  /** `told` is called with "question", "saved", "conflict" or "refused", and what there is to say. */
  constructor(told) {
    this.#told = told;
  }

  async start() {
    const { answered, unsure } = await get("/api/progress");
    this.nAnswered = this.nBefore = answered + unsure;
    this.#told("saved");
    this.look();
  }

  setKind(kind, size = null) {
    if (kind === this.kind && size === this.size) return;
    [this.kind, this.size] = [kind, size];
    this.beginAnew();
  }

  /** Another kind is wanted, or another person sits here: what is in hand is not theirs. */
  beginAnew() {
    this.#sitting += 1;
    [this.inHand, this.reason] = [[], "looking"];
    this.#show(null);
    this.look();
  }

  /** Have one to show and one in hand. */
  look() {
    return this.#inLine(async () => {
      const sitting = this.#sitting;
      while (this.inHand.length < 1) {
        const { question, reason } = await post("/api/next", this.#wanted());
        if (sitting !== this.#sitting) return; // what came was for somebody else
        if (!question) {
          this.#nothing(reason);
          return;
        }
        if (!this.#take(question)) return;
      }
    });
  }

  answer(answer) {
    const question = this.shown;
    if (!question) return;
    const seconds = (performance.now() - this.#shownAt) / 1000;
    this.nWaiting += 1;
    this.nAnswered += 1;
    this.reason = "looking";
    this.#show(this.inHand.shift() ?? null);
    this.#inLine(async () => {
      const sitting = this.#sitting;
      try {
        const reply = await post("/api/answer", { question: question.id, answer, seconds, ...this.#wanted() });
        this.#answered(sitting === this.#sitting ? reply : { ...reply, next: null });
      } catch (error) {
        this.nAnswered -= 1;
        throw error;
      } finally {
        this.nWaiting -= 1;
        this.#told("saved");
      }
    }).then(() => this.inHand.length || this.look());
  }

  undo() {
    return this.#inLine(async () => {
      const { number, question } = await post("/api/undo", this.#wanted());
      if (number === null) {
        this.#told("nothing to undo");
        return;
      }
      this.nAnswered -= 1;
      this.#told("undone");
      if (question) this.put(question);
      this.#told("saved");
    });
  }

  /** Show this one now; the one shown comes after it. */
  put(question) {
    if (this.shown) this.inHand.unshift(this.shown);
    this.#show(question);
  }

  #wanted() {
    const have = [this.shown, ...this.inHand].filter(Boolean).map((question) => question.id);
    return { have, kind: this.kind, ...(this.size ? { size: this.size } : {}) };
  }

  #answered({ next, reason, conflict, settled = [] }) {
    this.inHand = this.inHand.filter((question) => !settled.includes(question.id));
    if (next) this.#take(next);
    else if (!this.shown) this.#nothing(reason);
    if (conflict) this.#told("conflict", conflict);
  }

  #take(question) {
    const isHeld = [this.shown, ...this.inHand].some((held) => held?.id === question.id);
    if (isHeld || question.kind !== this.kind) return false;
    if (this.shown) this.inHand.push(question);
    else this.#show(question);
    return true;
  }

  #nothing(reason = "looking") {
    this.reason = reason;
    if (!this.shown) this.#told("question");
    // The server says when there is one; if its word gets lost we ask ourselves.
    clearTimeout(this.again);
    if (reason === "looking") this.again = setTimeout(() => this.look(), ASK_AGAIN_MS);
  }

  #show(question) {
    this.shown = question;
    this.#shownAt = performance.now();
    this.#told("question");
  }

  #inLine(task) {
    this.#line = this.#line.then(task).catch((error) => this.#told("refused", error.message));
    return this.#line;
  }
}
