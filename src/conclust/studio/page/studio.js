// The studio begins here: words, project, pages, and which of them is shown.

import { AnswersPage } from "./answers.js";
import { helpDialog, isOpen, personDialog } from "./dialogs.js";
import { announce, button, isTyping, make, name, toast } from "./dom.js";
import { MapPage } from "./map.js";
import { isDark } from "./marks.js";
import { person, store, stored } from "./person.js";
import { ProgressPage } from "./progress.js";
import { QuestionPage } from "./question.js";
import { get, listen, Lost, Refused, startListening } from "./server.js";
import { loadWords, say } from "./words.js";

const PAGES = ["question", "map", "answers", "progress"];
const main = document.getElementById("main");
let pages = {};
let current = null;
let areKeysOn = stored("localStorage", "conclust-keys") !== "off";

function top(project) {
  const links = PAGES.map((page) => make("li", {}, make("a", { href: `#${page}`, id: `to-${page}` }, say(`nav.${page}`))));
  const who = button([make("span", { "aria-hidden": "true" }, "☺ "), make("span", { class: "unseen" }, say("person.is")), name(person(), 24)], rename, { class: "who", id: "who" });
  return [
    make("p", { class: "project" }, make("img", { src: "/static/icon.svg", alt: "", width: "28", height: "28" }), name(project.name, 40), make("span", { class: "soft rows" }, say("project.rows", { n: project.n_rows }))),
    make("nav", { "aria-label": say("nav.label") }, make("ul", {}, links)),
    make("div", { class: "tools-top" }, who,
      button("◐", changeTheme, { class: "round", "aria-label": say("theme"), title: say("theme") }),
      button("?", help, { class: "round", id: "help", "aria-label": say("help.open"), title: say("help.open"), "aria-keyshortcuts": "?" })),
    make("p", { class: "line", id: "line", role: "status", hidden: true }, say("line.lost")),
  ];
}

async function rename() {
  const before = person();
  await personDialog();
  if (person() === before) return;
  document.getElementById("who").lastChild.replaceWith(name(person(), 24));
  pages.question.desk.beginAnew();
}

function changeTheme() {
  const theme = isDark() ? "light" : "dark";
  document.documentElement.dataset.theme = theme;
  store("localStorage", "conclust-theme", theme);
  document.dispatchEvent(new Event("ground"));
  announce(say(`theme.${theme}`));
}

function help() {
  return helpDialog(areKeysOn, (isOn) => {
    areKeysOn = isOn;
    store("localStorage", "conclust-keys", isOn ? "on" : "off");
  });
}

async function turnTo(page, isFirst = false) {
  if (current?.name === page) return;
  current?.hide?.();
  current = pages[page];
  document.title = say("title", { page: say(`nav.${page}`), project: document.body.dataset.project });
  for (const one of PAGES) document.getElementById(`to-${one}`).toggleAttribute("aria-current", false);
  document.getElementById(`to-${page}`).setAttribute("aria-current", "page");
  main.replaceChildren(current.element);
  document.getElementById("toasts").replaceChildren();
  scrollTo(0, 0);
  if (!isFirst) current.focus();
  await current.show?.();
}

const pageInAddress = () => (PAGES.includes(location.hash.slice(1)) ? location.hash.slice(1) : PAGES[0]);

/** Put a question first and go to it. */
function askAgain(question) {
  pages.question.desk.put(question);
  location.hash = "question";
}

function pressed(event) {
  if (event.ctrlKey || event.metaKey || event.altKey || event.repeat || isOpen() || isTyping(event.target)) return;
  const presses = event.key === " " || event.key === "Enter";
  if (presses && event.target.closest("button, a, summary, input, [role=application]")) return;
  if (!areKeysOn && event.key.length === 1) return;
  if (event.key === "?") help();
  else if (!current?.key(event)) return;
  event.preventDefault();
}

async function start() {
  await loadWords();
  document.getElementById("skip").textContent = say("skip");
  const project = await get("/api/project");
  document.body.dataset.project = project.name;
  document.getElementById("top").replaceChildren(...top(project));
  pages = { question: new QuestionPage(project), map: new MapPage(), answers: new AnswersPage(askAgain), progress: new ProgressPage(project) };
  listen("line", (isOnline) => {
    document.getElementById("line").hidden = isOnline;
    if (isOnline) current?.show?.(); // what was told meanwhile
  });
  startListening();
  addEventListener("hashchange", () => PAGES.includes(location.hash.slice(1)) && turnTo(pageInAddress()));
  addEventListener("keydown", pressed);
  addEventListener("unhandledrejection", (event) => {
    if (event.reason instanceof Refused) toast(event.reason.message, null, true);
    if (event.reason instanceof Refused || event.reason instanceof Lost) event.preventDefault();
  });
  await turnTo(pageInAddress(), true);
}

start().catch((error) => {
  main.replaceChildren(make("p", { class: "lead", role: "alert" }, error.message));
  throw error;
});
