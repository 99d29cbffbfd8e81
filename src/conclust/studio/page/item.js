// What is known of a row: cells of the table, safe to look at.

import { button, make, name } from "./dom.js";
import { marker } from "./marks.js";
import { say } from "./words.js";

const LONG = 360; // characters of a cell before it is folded
const MAX_WORDS = 80; // of cells whose words are compared
const MANY_FIELDS = 12; // more of them: equal ones are folded

/** The address, if it is one that a page may open. */
export function safeAddress(text) {
  try {
    const url = new URL(text);
    return url.protocol === "http:" || url.protocol === "https:" ? url.href : null;
  } catch {
    return null;
  }
}

function foldable(content, n_characters) {
  const box = make("div", { class: "fold folded" }, content);
  const unfold = button(say("item.all", { n: n_characters }), () => {
    const isFolded = box.classList.toggle("folded");
    unfold.setAttribute("aria-expanded", String(!isFolded));
    unfold.textContent = isFolded ? say("item.all", { n: n_characters }) : say("item.less");
  }, { class: "quiet", "aria-expanded": "false" });
  return [box, unfold];
}

function words(value, others) {
  const parts = value.split(/([\p{L}\p{N}]+)/u);
  const elsewhere = others.map((other) => new Set(other.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []));
  const isOwn = (part, i) => i % 2 === 1 && elsewhere.every((set) => !set.has(part.toLowerCase()));
  const nWords = (parts.length - 1) / 2;
  const nOwn = parts.filter(isOwn).length;
  // Where nothing is common, or nothing differs, marks would say nothing.
  if (nWords > MAX_WORDS || nOwn === 0 || nOwn === nWords) return [value];
  return parts.map((part, i) => (isOwn(part, i) ? make("mark", {}, part) : part));
}

/** The content of one cell; `others` are the values beside it, to mark the words that none of them has. */
export function cell(field, others = []) {
  const value = field.value ?? "";
  if (field.type === "image" && field.url) {
    return make("a", { href: field.url, target: "_blank", rel: "noopener noreferrer", class: "picture" },
      make("img", { src: field.url, alt: say("item.image", { name: value, column: field.column }), loading: "lazy" }));
  }
  const address = field.type === "link" ? safeAddress(field.url ?? value) : null;
  if (address) {
    return make("a", { href: address, target: "_blank", rel: "noopener noreferrer" }, make("bdi", {}, value));
  }
  if (value === "") {
    return make("span", { class: "soft" }, make("span", { "aria-hidden": "true" }, "—"),
      make("span", { class: "unseen" }, say("item.empty")));
  }
  const isWords = field.type === "text" || field.type === "category";
  const text = make("div", { class: `value ${field.type}`, dir: "auto" }, isWords ? words(value, others) : value);
  if (field.cut) text.append(make("p", { class: "soft" }, say("item.cut", { n: value.length })));
  return value.length > LONG ? make("div", {}, foldable(text, value.length)) : text;
}

/** The name of a row with the mark of its cluster. */
export function title(item) {
  return make("span", { class: "title" }, item.cluster === null || item.cluster === undefined ? null : marker(item.cluster), name(item.name));
}

function line(column, items, index, differs) {
  const values = items.map((item) => item.fields[index]?.value ?? "");
  return make("tr", { role: "row", class: differs ? "differs" : null },
    make("th", { role: "rowheader", scope: "row" },
      make("span", { class: "sign", "aria-hidden": "true" }, differs ? "≠" : "="),
      make("bdi", {}, column), make("span", { class: "unseen" }, differs ? say("item.differs") : say("item.equal"))),
    items.map((item, i) => make("td", { role: "cell" },
      cell(item.fields[index], differs ? values.filter((_, j) => j !== i) : []))));
}

function head(items, isNumbered) {
  return make("thead", { role: "rowgroup" }, make("tr", { role: "row" },
    make("td", { role: "cell" }),
    items.map((item, i) => make("th", { role: "columnheader", scope: "col" },
      isNumbered ? make("span", { class: "place" }, String(i + 1)) : null, title(item)))));
}

/** Rows side by side, a line for each field; what differs is marked. */
export function comparison(items, differing, isNumbered = false) {
  const isName = (i) => items.every((item) => item.fields[i].value === item.name); // it stands above
  const fields = items[0].fields.map((field, i) => [field.column, i, differing.includes(field.column)]).filter(([, i]) => !isName(i));
  const isFolded = fields.length > MANY_FIELDS;
  const shown = isFolded ? fields.filter(([, , differs]) => differs) : fields;
  const equal = isFolded ? fields.filter(([, , differs]) => !differs) : [];
  const lines = (some) => some.map(([column, i, differs]) => line(column, items, i, differs));
  const table = make("table", { role: "table", class: "comparison" },
    make("caption", { class: "unseen" }, say("item.caption")),
    head(items, isNumbered), make("tbody", { role: "rowgroup" }, lines(shown)));
  table.style.setProperty("--items", items.length);
  if (equal.length) {
    const rest = make("tbody", { role: "rowgroup", hidden: true }, lines(equal));
    table.append(rest);
    const more = button(say("item.equalFields", { n: equal.length }), () => {
      rest.hidden = !rest.hidden;
      more.setAttribute("aria-expanded", String(!rest.hidden));
    }, { class: "quiet", "aria-expanded": "false" });
    return make("div", {}, table, more);
  }
  return table;
}

/** One row on its own. */
export function card(item) {
  return make("dl", { class: "card-fields" }, item.fields.filter((field) => field.value !== item.name).map((field) =>
    make("div", {}, make("dt", {}, make("bdi", {}, field.column)), make("dd", {}, cell(field)))));
}
