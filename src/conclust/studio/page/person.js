// Who sits here. The name is kept by the browser; each tab has a number, so that two of them share no question.

/** What the browser kept, "localStorage" or "sessionStorage"; null where storage is switched off. */
export function stored(storage, key) {
  try {
    return window[storage].getItem(key);
  } catch {
    return null;
  }
}

export function store(storage, key, value) {
  try {
    window[storage].setItem(key, value);
  } catch {
    // It holds until the page is closed.
  }
}

const NAME = "conclust-person";
const TAB = "conclust-tab";
const MAX_NAME = 40;

let called = stored("localStorage", NAME) || "me";

export const person = () => called;

export function setPerson(name) {
  called = name.trim().slice(0, MAX_NAME) || "me";
  store("localStorage", NAME, called);
}

// A duplicated tab inherits the storage of the first, so only a reload keeps the number.
const isReload = performance.getEntriesByType("navigation")[0]?.type === "reload";
export const tab = (isReload && stored("sessionStorage", TAB)) || Math.random().toString(36).slice(2);
store("sessionStorage", TAB, tab);
