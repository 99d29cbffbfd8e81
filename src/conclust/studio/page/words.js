// Every word of the page comes from one file, strings.LANGUAGE.json.

const language = document.documentElement.lang;
const plural = new Intl.PluralRules(language);
const numbers = new Intl.NumberFormat(language);
const shares = new Intl.NumberFormat(language, { style: "percent", maximumFractionDigits: 0 });
const fineShares = new Intl.NumberFormat(language, { style: "percent", maximumFractionDigits: 1 });
const ago = new Intl.RelativeTimeFormat(language, { numeric: "auto" });
const moments = new Intl.DateTimeFormat(language, { dateStyle: "medium", timeStyle: "short" });

let strings = {};

export async function loadWords() {
  strings = await (await fetch(`/static/strings.${language}.json`)).json();
}

function template(key, values) {
  const found = strings[key] ?? key;
  return typeof found === "string" ? found : found[plural.select(values.n)] ?? found.other;
}

/** The sentence of that key with its values; a number `n` chooses the plural. */
export function say(key, values = {}) {
  return template(key, values).replace(/\{(\w+)\}/g, (hole, name) =>
    typeof values[name] === "number" ? numbers.format(values[name]) : values[name] ?? hole);
}

/** The same as nodes: values may be elements. */
export function phrase(key, values = {}) {
  return template(key, values).split(/\{(\w+)\}/).map((part, i) => {
    if (i % 2 === 0) return part;
    return typeof values[part] === "number" ? numbers.format(values[part]) : values[part] ?? "";
  });
}

export const number = (value) => numbers.format(value);
export const share = (value) => (value > 0 && value < 0.1 ? fineShares : shares).format(value);

/** How long ago, in words; `when` is seconds since 1970 or an ISO date. */
export function since(when) {
  const seconds = (asDate(when) - Date.now()) / 1000;
  for (const [unit, size] of [["day", 86400], ["hour", 3600], ["minute", 60]]) {
    if (Math.abs(seconds) >= size) return ago.format(Math.round(seconds / size), unit);
  }
  return ago.format(Math.round(seconds), "second");
}

export const moment = (when) => moments.format(asDate(when));

function asDate(when) {
  return typeof when === "number" ? new Date(1000 * when) : new Date(when);
}
