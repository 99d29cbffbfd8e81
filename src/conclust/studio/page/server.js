// All talk with the server. What is posted carries a number of its own, so that it can be sent again.

import { person, tab } from "./person.js";

/** The server said no, and why. */
export class Refused extends Error {}

/** The server cannot be reached; the top of the page says so. */
export class Lost extends Error {}

const RETRY_MS = [300, 600, 1200, 2500, 5000];

const listeners = new Map();

/** Be called with what the server tells: labels, answers, question, progress, busy, conflict, line. */
export function listen(event, told) {
  const all = listeners.get(event) ?? listeners.set(event, new Set()).get(event);
  all.add(told);
  return () => all.delete(told);
}

function tell(event, data) {
  for (const told of listeners.get(event) ?? []) told(data);
}

let isOnline = true;

function setOnline(value) {
  if (value === isOnline) return;
  isOnline = value;
  tell("line", value);
}

const EVENTS = ["labels", "answers", "question", "progress", "busy", "conflict"];

let source = null;

function connect() {
  source = new EventSource("/api/events");
  for (const event of EVENTS) {
    source.addEventListener(event, ({ data }) => tell(event, data ? JSON.parse(data) : {}));
  }
  source.addEventListener("open", () => setOnline(true));
  source.addEventListener("error", () => setOnline(false));
}

/** Hear of what happens, as long as the page is seen: a browser has six connections for all its tabs. */
export function startListening() {
  connect();
  document.addEventListener("visibilitychange", () => {
    source.close();
    if (document.visibilityState === "hidden") return;
    connect();
    tell("line", isOnline); // what was told meanwhile was not heard
  });
}

async function exchanged(path, options) {
  const response = await fetch(path, options).catch(() => null);
  if (!response || response.status >= 500) {
    setOnline(false);
    throw new Lost(path);
  }
  const reply = await response.json().catch(() => ({ error: `${path}: ${response.status}` }));
  if (!response.ok) throw new Refused(reply.error ?? `${path}: ${response.status}`);
  return reply;
}

export const get = (path) => exchanged(path, {});

/** Post until it arrives; the same `request` twice is one action to the server. */
export async function post(path, body = {}) {
  const content = JSON.stringify({ person: person(), tab, request: uuid(), ...body });
  const options = { method: "POST", body: content, headers: { "Content-Type": "application/json" } };
  for (let n = 0; ; n++) {
    try {
      const reply = await exchanged(path, options);
      setOnline(true);
      return reply;
    } catch (error) {
      if (!(error instanceof Lost)) throw error;
      await new Promise((wake) => setTimeout(wake, RETRY_MS[Math.min(n, RETRY_MS.length - 1)]));
    }
  }
}

/** A file of the user, as it is. */
export function upload(file) {
  return exchanged(`/api/import?name=${encodeURIComponent(file.name)}`, { method: "POST", body: file });
}

/** randomUUID exists only where the page counts as secure, which another computer's is not. */
export function uuid() {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}
