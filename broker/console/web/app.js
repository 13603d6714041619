// The frame around the pages, and which page an address means: #/topics/orders/records?partition=3.

import { chip, h, show } from "./dom.js";
import { kAddedTabs } from "./addons.js";
import { get, live, path } from "./api.js";
import { partitions, topicConfigs, topicGroups, topics } from "./topics.js";

// Loads a page's script at its first use, so that the first page stays small.
const later = (file, name) => async (...all) => (await import(`./${file}`))[name](...all);

const broker = later("broker.js", "broker");

const kPages = [
  [["topics"], topics], [["topics", null], partitions], [["topics", null, "records"], later("records.js", "records")], [["topics", null, "groups"], topicGroups],
  [["topics", null, "configs"], topicConfigs], [["topics", null, "expansion"], later("expansion.js", "expansion")], [["groups"], later("groups.js", "groups")], [["groups", null], later("groups.js", "group")],
  [["groups", null, "ownership"], later("ownership.js", "ownership")], [["groups", null, "rebalances"], later("ownership.js", "rebalances")],
  [["findings"], later("expansion.js", "findings")], [["broker"], broker], [["broker", "requests"], broker], [["broker", "errors"], broker], ...kAddedTabs.map((tab) => [["broker", tab], broker]), [["broker", "settings"], broker],
];
const kPlaces = [["topics", "Topics", "t"], ["groups", "Groups", "g"], ["findings", "Findings", "f"], ["broker", "Broker", "b"]];

const main = h("main", { id: "main", tabindex: "-1" });
const state = h("span", { class: "state", role: "status" });
const badge = h("span", { class: "badge" });
const links = new Map(kPlaces.map(([name, title, letter]) => [name, h("a", { href: `#/${name}`, title: `g ${letter}` }, title, name === "findings" ? badge : null)]));
const identity = h("p", { class: "identity" });
const bench = h("p", { class: "bench", hidden: true }, "This broker has a test bench: it may fail on purpose, and its clock may be moved.");

/** The work of a page while it is shown. A hidden tab asks for nothing. */
class Visit {
  constructor() { this.ends = []; this.over = false; this.hash = location.hash; }
  every(ms, work) {
    let busy = false;
    const timer = setInterval(async () => {
      if (document.hidden || busy || this.over || document.querySelector("dialog[open]")) return;
      busy = true;
      try {
        await work();
      } catch {
        // The state in the corner says that the broker is away; the page stays as it was.
      }
      busy = false;
    }, ms);
    this.ends.push(() => clearInterval(timer));
  }
  watch(work) {
    live.watchers.add(work);
    this.ends.push(() => live.watchers.delete(work));
  }
  onleave(work) { this.ends.push(work); }
  leave() { this.over = true; for (const end of this.ends) end(); }
}

let visit = null;
async function go() {
  if (visit) visit.leave();
  const mine = (visit = new Visit());
  const [where, query = ""] = location.hash.replace(/^#\//, "").split("?");
  let parts;
  try {
    parts = where.split("/").filter(Boolean).map(decodeURIComponent);
  } catch {
    parts = ["?"];
  }
  if (!parts.length) { location.replace("#/topics"); return; }
  const found = kPages.find(([form]) => form.length === parts.length && form.every((part, index) => part === null || part === parts[index]));
  for (const [name, link] of links) link.toggleAttribute("aria-current", name === parts[0]);
  document.title = `${parts.slice(0, 2).join(" · ")} · Partita`;
  // Each page draws into its own element, so a late answer for an earlier page stays invisible.
  const place = h("div", { class: "page" });
  if (!found) {
    show(main, h("h1", {}, "Page not found"), h("p", {}, h("a", { href: "#/topics" }, "All topics")));
    return;
  }
  show(main, place);
  document.querySelector(".skip").blur();
  window.scrollTo(0, 0);
  try {
    const names = found[0].map((part, index) => (part === null ? parts[index] : undefined)).filter((part) => part !== undefined);
    await found[1](place, names.length ? names : parts.slice(1), mine, new URLSearchParams(query));
  } catch (error) {
    place.append(h("p", { class: "problem", role: "alert" }, error.message));
  }
  // Marks the page as drawn, for tests.
  place.dataset.ready = mine.hash;
}

function drawState() {
  state.className = `state ${live.connected ? "good" : "bad"}`;
  show(state, live.connected ? "live" : "not connected");
  const worst = live.findings().filter((one) => one.severity !== "info").length;
  show(badge, worst || "");
  badge.hidden = !worst;
}

function setTheme(theme) {
  if (theme) document.documentElement.dataset.theme = theme;
  else delete document.documentElement.dataset.theme;
}
function otherTheme() {
  const dark = document.documentElement.dataset.theme ? document.documentElement.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  const theme = dark ? "light" : "dark";
  localStorage.setItem("partita-theme", theme);
  setTheme(theme);
}

let pressed = 0;
function onKey(event) {
  if (event.ctrlKey || event.metaKey || event.altKey || /^(INPUT|TEXTAREA|SELECT)$/.test(event.target.tagName) || document.querySelector("dialog[open]")) return;
  if (event.key === "/") {
    const search = document.querySelector("[data-search]");
    if (search) { event.preventDefault(); search.focus(); }
  } else if (event.key === "g") {
    pressed = Date.now();
  } else if (Date.now() - pressed < 1500) {
    const place = kPlaces.find(([, , letter]) => letter === event.key);
    if (place) location.hash = `#/${place[0]}`;
    pressed = 0;
  }
}

setTheme(localStorage.getItem("partita-theme"));
show(document.body, h("button", { class: "skip", type: "button", onclick: () => main.focus() }, "Go to the content"),
  bench, h("aside", {}, h("div", { class: "brand" }, h("i", {}), h("i", {}), h("i", {}), h("i", {}), h("strong", {}, "Partita")), h("nav", { "aria-label": "Pages" }, [...links.values()]),
    h("div", { class: "foot" }, state, identity, h("button", { type: "button", class: "mini", onclick: otherTheme }, "Light or dark"))),
  main, h("div", { id: "said", role: "status", "aria-live": "polite" }));
window.addEventListener("hashchange", go);
document.addEventListener("keydown", onKey);
live.watchers.add(drawState);
live.start();
drawState();
go();
get(path("broker")).then((now) => {
  show(identity, now.broker.kafka, h("br"), `Partita ${now.version}`);
  bench.hidden = !now.test_bench;
  if (now.brokers > 1) bench.append(` This process shows itself to clients as ${now.brokers} brokers over one log.`);
}).catch((error) => show(identity, error.message));
