// Elements are made here and nowhere else. Whatever comes from the table enters as text.

const SVG = "http://www.w3.org/2000/svg";

function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (typeof value === "function") element.addEventListener(name, value);
    else element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.flat(2).filter((child) => child !== null && child !== undefined));
  return element;
}

/** An element; functions among the attributes are listeners, strings among the children are text. */
export function make(tag, attributes = {}, ...children) {
  return fill(document.createElement(tag), attributes, children);
}

/** The same in a drawing. */
export function draw(tag, attributes = {}, ...children) {
  return fill(document.createElementNS(SVG, tag), attributes, children);
}

/** Text of the user, its reading direction kept inside. */
export function name(text, length = 80) {
  const whole = String(text);
  const cut = whole.length > length ? `${whole.slice(0, length - 1)}…` : whole;
  return make("bdi", { title: cut === whole ? null : whole.slice(0, 1000) }, cut);
}

export function button(label, pressed, attributes = {}) {
  return make("button", { type: "button", click: pressed, ...attributes }, label);
}

/** A key as printed on the keyboard. */
export function key(text) {
  return make("kbd", { "aria-hidden": "true" }, text);
}

const told = () => document.getElementById("told");

/** Say something to those who do not see the page. */
export function announce(text) {
  // The same words twice would not be read again: a no-break space makes them other words.
  told().textContent = told().textContent === text ? `${text}\u00a0` : text;
}

const TOAST_MS = 7000;

/** A short word at the edge of the page. With a button it stays until it is pressed, the next word or another page. */
export function toast(text, action = null, isBad = false) {
  const box = make("div", { class: isBad ? "toast bad" : "toast" }, make("span", {}, text), action);
  document.getElementById("toasts").replaceChildren(box);
  if (action) action.addEventListener("click", () => box.remove());
  else setTimeout(() => box.remove(), TOAST_MS);
}

/** Is the key meant for what has the focus? */
export function isTyping(target) {
  return Boolean(target.closest?.("input:not([type=radio]):not([type=checkbox]), textarea, select, dialog"));
}
