// Dialogs: keys and help, the name, a contradiction.

import { announce, button, make, name, toast } from "./dom.js";
import { person, setPerson } from "./person.js";
import { post } from "./server.js";
import { moment, phrase, say, since } from "./words.js";

export const isOpen = () => Boolean(document.querySelector("dialog[open]"));

/** Show it, wait until it is closed, give back what was chosen. */
function ask(title, ...content) {
  const heading = make("h2", { id: "dialog-title", tabindex: "-1" }, title);
  const dialog = make("dialog", { "aria-labelledby": "dialog-title" }, heading, content);
  const from = document.activeElement;
  document.body.append(dialog);
  dialog.showModal();
  (dialog.querySelector("input[type=text]") ?? heading).focus();
  return new Promise((resolve) => {
    dialog.addEventListener("close", () => {
      const { returnValue } = dialog;
      dialog.remove();
      if (from?.isConnected) from.focus({ preventScroll: true });
      resolve(returnValue);
    });
  });
}

const close = (event, value = "") => event.target.closest("dialog").close(value);

export function helpDialog(areKeysOn, setKeys) {
  const rows = [["Y A", "must-link"], ["N X", "cannot-link"], ["U", "unsure"], ["S Space", "skip"], ["Z ⌫", "undo"], ["1 2 3", "odd"], ["Y N", "all"], ["1 … 9", "pile"], ["← →", "card"], ["↵", "done"], ["?", "help"]];
  return ask(say("help.title"),
    make("p", {}, say("help.text")),
    make("table", { class: "keys" }, make("caption", { class: "unseen" }, say("help.title")),
      make("tbody", {}, rows.map(([keys, what]) => make("tr", {},
        make("th", { scope: "row" }, keys.split(" ").map((one) => make("kbd", {}, one === "Space" ? say("help.space") : one))),
        make("td", {}, say(`help.${what}`)))))),
    make("p", { class: "soft" }, say("help.habits")),
    make("label", { class: "check" }, make("input", { type: "checkbox", checked: areKeysOn, change: ({ target }) => setKeys(target.checked) }), say("help.keys")),
    make("div", { class: "dialog-end" }, button(say("close"), close, { class: "primary" })));
}

export async function personDialog() {
  const input = make("input", { id: "person", type: "text", maxlength: "40", autocomplete: "nickname", value: person(), required: true });
  const chosen = await ask(say("person.title"),
    make("form", { method: "dialog", submit: (event) => { event.preventDefault(); close(event, input.value || "me"); } },
      make("label", { for: "person" }, say("person.label")), input,
      make("p", { class: "soft" }, say("person.text")),
      make("div", { class: "dialog-end" }, make("button", { type: "submit", class: "primary" }, say("person.set")), button(say("cancel"), close))));
  if (chosen) setPerson(chosen);
  return chosen;
}

const SIGN = { "must-link": "=", "cannot-link": "≠" };

/** An answer that is a word: of two rows, or of all three. */
export const word = (kind, answer) => (kind === "triple" && SIGN[answer] ? say(`all.${answer}`) : say(`said.${answer}`));

/** One statement: a = b. */
export function statement({ names, kind, answer }) {
  const sign = make("span", { class: "sign", "aria-hidden": "true" }, ` ${SIGN[answer] ?? "·"} `);
  return [...names.flatMap((one, i) => (i ? [sign.cloneNode(true), name(one, 60)] : [name(one, 60)])),
    make("span", { class: "unseen" }, `: ${SIGN[answer] ? word(kind, answer) : say(`said.${kind}`)}`)];
}

/** A statement, said by whom and when. */
function step(one) {
  const { by, when } = one;
  return make("li", {},
    make("span", { class: "said" }, statement(one)),
    make("span", { class: "soft by", title: when ? moment(when) : null }, phrase("said.by", { by: name(by ?? "", 40), when: when ? since(when) : "" })));
}

/** What an option takes back, in the words of the page where it is one answer. */
function choice({ label, retract }, conflict) {
  if (retract.length !== 1) return label;
  if (retract[0] === conflict.new) return say("conflict.new");
  const one = conflict.path.find(({ number }) => number === retract[0]);
  if (!one || !SIGN[one.answer]) return label;
  return make("span", {}, phrase("conflict.old", { said: make("span", {}, statement(one)), by: name(one.by ?? "", 40) }));
}

/** The path that says the opposite, and the choice of what to take back. */
export async function conflictDialog(conflict) {
  announce(conflict.sentence);
  const options = conflict.options.map((option, i) =>
    button(choice(option, conflict), (event) => close(event, String(i)), { class: i ? null : "primary" }));
  const chosen = await ask(say("conflict.title"),
    make("p", { class: "lead", dir: "auto" }, conflict.sentence),
    make("ol", { class: "path" }, conflict.path.map(step)),
    make("div", { class: "options" }, options),
    make("div", { class: "dialog-end" }, button(say("conflict.later"), close, { class: "quiet" })));
  if (chosen === "") return null;
  const { retract } = conflict.options[Number(chosen)];
  if (retract.length) await post("/api/retract", { numbers: retract });
  toast(say(retract.length ? "answers.dropped" : "conflict.kept"));
  return retract;
}
