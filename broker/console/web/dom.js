// The only place that creates elements. Everything else becomes a text node, so a name with markup in it is text. Nothing here, or in
// any other file of the console, parses markup.

const SVG = "http://www.w3.org/2000/svg";

function fill(element, properties, children) {
  for (const [name, value] of Object.entries(properties || {})) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name === "style") for (const [key, text] of Object.entries(value)) element.style.setProperty(key, text);
    else if (name === "value") element.value = value;
    else element.setAttribute(name, value === true ? "" : String(value));
  }
  // Links lead to pages of the console, by their first letter.
  const href = element.getAttribute("href");
  if (href !== null && !href.startsWith("#")) throw new Error("a link that leads out of the console");
  add(element, children);
  return element;
}

function add(element, children) {
  for (const child of children) {
    if (Array.isArray(child)) add(element, child);
    else if (child instanceof Node) element.append(child);
    else if (child !== null && child !== undefined && child !== false) element.append(String(child));
  }
}

/** h("td", {class: "number"}, 17): an element with attributes, listeners (onclick) and children. */
export const h = (tag, properties, ...children) => fill(document.createElement(tag), properties, children);
export const svg = (tag, properties, ...children) => fill(document.createElementNS(SVG, tag), properties, children);

/** Replaces the content of `element` with `children`. */
export function show(element, ...children) {
  element.replaceChildren();
  add(element, children);
  return element;
}

// Numbers, sizes and times as people read them.

const counts = new Intl.NumberFormat("en");
export const count = (number) => (number === null || number === undefined ? "–" : counts.format(number));

export function short(number) {
  if (number === null || number === undefined) return "–";
  for (const [unit, letter] of [[1e9, "G"], [1e6, "M"], [1e4, "k"]])
    if (number >= unit) return `${(number / (letter === "k" ? 1e3 : unit)).toFixed(number >= unit * 100 ? 0 : 1)}${letter}`;
  return counts.format(number);
}

export function size(bytes) {
  const units = ["B", "KiB", "MiB", "GiB", "TiB"];
  let unit = 0;
  while (bytes >= 1024 && unit < units.length - 1) { bytes /= 1024; unit += 1; }
  return `${unit === 0 || bytes >= 100 ? Math.round(bytes) : bytes.toFixed(1)} ${units[unit]}`;
}

export const percent = (share) => `${(share * 100).toFixed(share > 0 && share < 0.1 ? 1 : 0)} %`;
export const plural = (number, one, many = `${one}s`) => `${count(number)} ${number === 1 ? one : many}`;

const two = (number) => String(number).padStart(2, "0");
export function clock(ms) {
  const time = new Date(ms);
  return `${two(time.getHours())}:${two(time.getMinutes())}:${two(time.getSeconds())}`;
}
export function date(ms) {
  if (ms === null || ms === undefined || ms < 0) return "–";
  const time = new Date(ms);
  return `${time.getFullYear()}-${two(time.getMonth() + 1)}-${two(time.getDate())} ${clock(ms)}`;
}
export function ago(ms) {
  const seconds = Math.max(0, Math.round((Date.now() - ms) / 1000));
  if (seconds < 60) return `${seconds} s`;
  if (seconds < 3600) return `${Math.round(seconds / 60)} min`;
  return seconds < 172800 ? `${Math.round(seconds / 3600)} h` : `${Math.round(seconds / 86400)} days`;
}

/** How long: 40 ms, 2.1 s, 3 min. */
export function duration(ms) {
  if (ms < 1000) return `${Math.round(ms)} ms`;
  if (ms < 60000) return `${(ms / 1000).toFixed(ms < 10000 ? 1 : 0)} s`;
  return ms < 7200000 ? `${Math.round(ms / 60000)} min` : `${Math.round(ms / 3600000)} h`;
}

/** The number of a setting in a readable unit: 7 days, 1.0 GiB. Empty if the number is readable. */
export function meaning(name, value) {
  if (value === "9223372036854775807") return "no limit";
  const number = /^\d+$/.test(value || "") ? Number(value) : 0;
  const isTime = /\bms$/.test(name) && number >= 1000;
  if (isTime && number >= 86400000) return plural(Math.round(number / 8640000) / 10, "day");
  if (isTime) return number % 3600000 === 0 ? plural(number / 3600000, "hour") : duration(number);
  return /\bbytes$/.test(name) && number >= 1024 ? size(number) : "";
}

// Parts that every page uses.

export const tile = (label, value, note) =>
  h("div", { class: "tile" }, h("dt", {}, label), h("dd", {}, value, note ? h("small", {}, note) : null));
export const tiles = (...all) => h("dl", { class: "tiles" }, all);
export const card = (title, ...content) => h("section", { class: "card" }, title ? h("h2", {}, title) : null, content);
export const chip = (text, kind) => h("span", { class: `chip ${kind || ""}` }, text);
export const note = (text) => h("p", { class: "note" }, text);
export const empty = (title, text, ...more) => h("div", { class: "empty" }, h("strong", {}, title), h("p", {}, text), more);
export const button = (text, onclick, kind) => h("button", { type: "button", class: kind || "", onclick }, text);
export const bar = (share, label) =>
  h("span", { class: "bar", role: "img", "aria-label": label }, h("i", { style: { width: `${Math.max(0, Math.min(1, share)) * 100}%` } }));

/** Numbers of the last minutes as bars; `label` says them. */
export function spark(values, label) {
  const most = Math.max(1, ...values);
  return h("span", { class: "spark", role: "img", "aria-label": label }, values.map((value) => h("i", { style: { height: `${Math.max(2, (value / most) * 100)}%` } })));
}

/** Values over time, each [time, value], as a line from 0 to the highest; `label` says them. */
export function line(points, label) {
  const [begin, end] = [points[0][0], Math.max(points.at(-1)[0], points[0][0] + 1)];
  const most = Math.max(1, ...points.map(([, value]) => value));
  const places = points.map(([time, value]) => `${((1000 * (time - begin)) / (end - begin)).toFixed(1)},${(100 - (98 * value) / most).toFixed(1)}`);
  return svg("svg", { class: "line", viewBox: "0 0 1000 100", preserveAspectRatio: "none", role: "img", "aria-label": label },
    svg("polygon", { points: `0,100 ${places.join(" ")} 1000,100` }), svg("polyline", { points: places.join(" ") }));
}

/** A table: `columns` are [title, cell of a row, "number" or another class]. */
export function table(caption, columns, rows) {
  return h("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": caption },
    h("table", {}, h("caption", {}, caption),
      h("thead", {}, h("tr", {}, columns.map(([title, , kind]) => h("th", { scope: "col", class: kind }, title)))),
      h("tbody", {}, rows.map((row) => h("tr", {}, columns.map(([title, cell, kind]) =>
        h("td", { class: kind, "data-title": title }, cell(row))))))));
}

/** The parts of a page, each [part, title]; `href` says where one is. The one that is shown is in sight, however narrow the window is. */
export function tabs(label, parts, shown, href) {
  const links = parts.map(([part, title]) => h("a", { href: href(part), "aria-current": part === shown ? "page" : null }, title));
  const all = h("nav", { class: "tabs", "aria-label": label }, links);
  const here = links[parts.findIndex(([part]) => part === shown)];
  if (here) requestAnimationFrame(() => { all.scrollLeft = here.offsetLeft + here.offsetWidth - all.offsetLeft - all.clientWidth; });
  return all;
}

/** Pages of a list: `go(skip)` shows another one. */
export function pager(skip, limit, total, go) {
  if (total <= limit) return h("p", { class: "pager" }, h("span", {}, plural(total, "entry", "entries")));
  const last = Math.min(total, skip + limit);
  const step = (text, to, off) => h("button", { type: "button", disabled: off, onclick: () => go(to) }, text);
  return h("p", { class: "pager" }, step("‹ Previous", Math.max(0, skip - limit), skip === 0),
    h("span", {}, `${count(skip + 1)}–${count(last)} of ${count(total)}`), step("Next ›", skip + limit, last >= total));
}

let fields = 0;
/** A labelled input of a form; `hint` stands below it. */
export function field(label, input, hint) {
  const id = `field-${(fields += 1)}`;
  input.id = id;
  if (hint) input.setAttribute("aria-describedby", `${id}-hint`);
  return h("div", { class: "field" }, h("label", { for: id }, label), input, hint ? h("small", { id: `${id}-hint` }, hint) : null);
}

/** A dialog with a form. `act` performs the action; if it throws, the dialog shows the error and stays open. */
export function ask(title, content, verb, act, kind) {
  const problem = h("p", { class: "problem", role: "alert" });
  const go = h("button", { type: "submit", class: kind || "primary" }, verb);
  const form = h("form", {}, h("h2", {}, title), content, problem,
    h("div", { class: "actions" }, button("Cancel", () => dialog.close()), go));
  const dialog = h("dialog", { "aria-label": title }, form);
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    go.disabled = true;
    show(problem);
    try {
      await act(new FormData(form));
      dialog.close();
    } catch (error) {
      show(problem, error.message);
    }
    go.disabled = false;
  });
  dialog.addEventListener("close", () => dialog.remove());
  document.body.append(dialog);
  dialog.showModal();
}

/** The bytes of a text in UTF-8, two digits each. */
export const hexOfBytes = (bytes) => Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
export const hexOf = (text) => hexOfBytes(new TextEncoder().encode(text));

/** Says for a moment that something was done. */
export function say(text) {
  const place = document.getElementById("said");
  show(place, text);
  clearTimeout(place.timer);
  place.timer = setTimeout(() => show(place), 4000);
}
