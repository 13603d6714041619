import { ask, button, chip, count, date, empty, field, h, hexOfBytes, plural, say, show, size } from "./dom.js";
import { get, page, path, post } from "./api.js";
import { topicHead } from "./topics.js";

const kPage = 50;
const kFollowMs = 1000;
const kShownMax = 500;
/** The most bytes of a key or a value that are drawn, so that the page stays usable. All of them can be saved. */
const kDrawnMax = 65536;
/** The choice of all partitions, for topics with at most `kTogetherMax` partitions. */
const kAll = "all", kTogetherMax = 50;

/** Lines of 16 bytes: position, hex digits, letters. */
export function hexLines(hex) {
  const lines = [];
  for (let at = 0; at < hex.length; at += 32) {
    const bytes = hex.slice(at, at + 32).match(/../g);
    const letters = bytes.map((byte) => { const code = parseInt(byte, 16); return code > 31 && code < 127 ? String.fromCharCode(code) : "·"; }).join("");
    lines.push(`${(at / 2).toString(16).padStart(6, "0")}  ${bytes.join(" ").padEnd(47)}  ${letters}`);
  }
  return lines.join("\n");
}

/** JSON with highlighting; null if the text is not a JSON object or array. */
export function prettyJson(text) {
  let value;
  try {
    value = JSON.parse(text);
  } catch {
    return null;
  }
  if (value === null || typeof value !== "object") return null;
  // A script would change larger numbers, so show such a text unchanged.
  if (/\d{16}/.test(text)) return null;
  const parts = [];
  const words = /("(?:[^"\\]|\\.)*")(\s*:)?|\b(?:true|false|null)\b|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g;
  const lines = JSON.stringify(value, null, 2);
  let last = 0;
  for (const match of lines.matchAll(words)) {
    parts.push(lines.slice(last, match.index));
    const kind = match[2] ? "key" : match[1] ? "text" : "value";
    parts.push(h("span", { class: `json-${kind}` }, match[1] || match[0]), match[2] || "");
    last = match.index + match[0].length;
  }
  parts.push(lines.slice(last));
  return h("pre", {}, parts);
}

/** The bytes as {text} or {hex}, or null. */
function bytesOf(object, name) {
  if (object[`${name}_hex`] !== undefined) return { hex: object[`${name}_hex`] };
  return object[name] === null || object[name] === undefined ? null : { text: object[name] };
}

function brief(bytes) {
  if (bytes === null) return h("em", { class: "quiet" }, "null");
  if (bytes.hex !== undefined) return h("code", {}, `0x${bytes.hex.slice(0, 40)}${bytes.hex.length > 40 ? "…" : ""}`);
  return bytes.text === "" ? h("em", { class: "quiet" }, "empty") : bytes.text.slice(0, 200);
}

/** Hands these bytes to the browser as a file. */
function save(bytes, name) {
  const link = h("a", { download: name });
  link.href = URL.createObjectURL(new Blob([bytes]));
  link.click();
  URL.revokeObjectURL(link.href);
}

/** A key or a value in the form that fits best, with the others behind a click; of a large one the beginning. */
function whole(title, value) {
  if (value === null) return h("div", { class: "bytes" }, h("h3", {}, title), h("em", { class: "quiet" }, "null"));
  const bytes = value.text !== undefined ? new TextEncoder().encode(value.text) : Uint8Array.from(value.hex.match(/../g) ?? [], (two) => parseInt(two, 16));
  const isCut = bytes.length > kDrawnMax;
  const begin = bytes.subarray(0, kDrawnMax);
  const forms = [];
  const json = value.text !== undefined && !isCut ? prettyJson(value.text) : null;
  if (json) forms.push(["JSON", () => json]);
  if (value.text !== undefined) forms.push(["Text", () => h("pre", {}, isCut ? value.text.slice(0, kDrawnMax) : value.text)]);
  forms.push(["Hex", () => h("pre", {}, hexLines(hexOfBytes(begin)))]);
  const body = h("div", {});
  const choose = forms.map(([name, make], index) => button(name, () => pick(index), "mini"));
  function pick(index) {
    choose.forEach((one, at) => one.setAttribute("aria-pressed", String(at === index)));
    show(body, forms[index][1]());
  }
  pick(0);
  const rest = isCut ? h("p", { class: "quiet" }, `The beginning of ${size(bytes.length)}. `, button("Save all of it", () => save(bytes, title.toLowerCase()), "mini")) : null;
  return h("div", { class: "bytes" }, h("h3", {}, title, h("small", {}, size(bytes.length)), h("span", { class: "forms" }, choose)), body, rest);
}

function recordRow(record, partition) {
  const key = bytesOf(record, "key");
  const value = bytesOf(record, "value");
  const inside = h("div", { class: "inside" });
  const row = h("details", { class: "record", "data-offset": record.offset }, h("summary", {},
    h("span", { class: "offset" }, partition === undefined ? count(record.offset) : `${partition} · ${count(record.offset)}`), h("time", {}, date(record.timestamp_ms)),
    h("span", { class: "key" }, brief(key)), h("span", { class: "value" }, brief(value)),
    record.headers.length ? chip(plural(record.headers.length, "header"), "quiet") : null), inside);
  row.addEventListener("toggle", () => {
    if (!row.open || inside.childNodes.length) return;
    show(inside, whole("Key", key), whole("Value", value), record.headers.length ? h("div", { class: "bytes" }, h("h3", {}, "Headers"),
      h("dl", { class: "pairs" }, record.headers.map((header) => [h("dt", {}, brief(bytesOf(header, "name"))), h("dd", {}, brief(bytesOf(header, "value")))]))) : null);
  });
  return row;
}

/** Records of a topic: from an offset or a time on, with a key, or the newest as they come; of one partition or of all. */
export async function records(place, [name], visit, query) {
  const topic = await get(path("topics", name));
  const parts = topic.partitions.length;
  const wanted = query.get("partition");
  // If there are too many to show together, begin with the first one that has records.
  const first = topic.partitions.find((partition) => partition.end > partition.start)?.partition ?? 0;
  const state = { partition: wanted === null && parts <= kTogetherMax && parts > 1 ? kAll : Math.min(wanted === null ? first : Number(wanted) || 0, parts - 1), next: new Map(), follow: false, turn: 0 };
  const list = h("div", { class: "records" });
  const where = h("p", { class: "pager", "aria-live": "polite" });
  const problem = h("p", { class: "problem", role: "alert" });
  const choice = parts <= 500
    ? h("select", { onchange: () => jump(choice.value) }, parts > 1 && parts <= kTogetherMax ? h("option", { value: kAll, selected: state.partition === kAll }, "all") : null, topic.partitions.map((partition) =>
      h("option", { value: partition.partition, selected: partition.partition === state.partition },
        `${partition.partition} (${plural(partition.end - partition.start, "record")})`)))
    : h("input", { type: "number", min: 0, max: parts - 1, value: state.partition, onchange: () => jump(choice.value) });
  const from = h("input", { type: "number", min: 0, placeholder: "the first", onchange: () => { time.value = key.value = ""; load({ from: from.value === "" ? undefined : Number(from.value) }); } });
  const time = h("input", { type: "datetime-local", step: 1, onchange: () => { from.value = key.value = ""; const ms = new Date(time.value).getTime(); if (Number.isFinite(ms)) load({ time_ms: ms }); } });
  const key = h("input", { type: "search", placeholder: "any", spellcheck: "false", "data-search": true, onchange: () => { from.value = ""; key.value === "" ? newest() : find(); } });
  const follow = h("button", { type: "button", "aria-pressed": "false", onclick: () => setFollow(!state.follow) }, "Follow");

  const those = () => (state.partition === kAll ? topic.partitions.map((one) => one.partition) : [state.partition]);
  const shown = (partition) => (state.partition === kAll ? partition : undefined);
  const ask_page = (partition, wish) => get(path("topics", name, "partitions", partition, "records"), { limit: kPage, ...wish });
  const row = ([partition, record]) => recordRow(record, shown(partition));
  const newestFirst = (all) => all.sort(([p, one], [q, other]) => other.timestamp_ms - one.timestamp_ms || (p === q ? other.offset - one.offset : q - p));
  /** Only the answer to the latest request counts. */
  function begin() {
    setFollow(false, true);
    state.turn += 1;
    show(problem);
    return state.turn;
  }
  const holds = (start, end) => (start < end ? `The partition holds offsets ${count(start)} to ${count(end - 1)}` : `The partition holds nothing; offset ${count(end)} comes next`);
  const step = (text, isThere, wish) => h("button", { type: "button", disabled: isThere, onclick: () => load(wish) }, text);
  function jump(partition) {
    state.partition = partition === kAll ? kAll : Number(partition);
    from.value = time.value = key.value = "";
    newest();
  }
  function setFollow(on, quietly) {
    state.follow = on;
    follow.setAttribute("aria-pressed", String(on));
    if (on && !quietly) newest(true);
  }
  async function load(wish) {
    const turn = begin();
    try {
      const all = [];
      let answer = null;
      for (const partition of those()) {
        answer = await ask_page(partition, wish);
        if (turn !== state.turn) return;
        all.push(...answer.records.map((record) => [partition, record]));
        state.next.set(partition, answer.next);
        if (answer.damage.length) show(problem, `${answer.damage.length} places could not be read: ${answer.damage[0].reason}`);
      }
      if (state.partition === kAll) all.sort(([p, one], [q, other]) => one.timestamp_ms - other.timestamp_ms || p - q || one.offset - other.offset);
      show(list, all.length ? all.slice(0, kShownMax).map(row) : empty("Nothing here", "No records from there on.", button("Write a record", write, "primary")));
      if (state.partition === kAll) { show(where, `${plural(all.length, "record")} of ${plural(parts, "partition")}, the oldest first.`); return; }
      const first = all.length ? all[0][1].offset : answer.end;
      show(where, `${holds(answer.start, answer.end)}.`, step("‹ Older", first <= answer.start, { from: Math.max(answer.start, first - kPage) }),
        step("Newer ›", answer.next >= answer.end, { from: answer.next }));
    } catch (error) {
      show(list);
      show(problem, error.message);
    }
  }
  async function newest(following) {
    const turn = begin();
    if (following) setFollow(true, true);
    const sizes = (await get(path("topics", name))).partitions;
    const each = Math.ceil(kPage / those().length);
    const all = [];
    for (const partition of those()) {
      const size_ = sizes[partition];
      const start = Math.max(size_.start, size_.end - each);
      state.next.set(partition, start);
      if (start === size_.end) continue;
      const answer = await ask_page(partition, { from: start });
      if (turn !== state.turn) return;
      state.next.set(partition, answer.next);
      all.push(...answer.records.map((record) => [partition, record]));
    }
    if (turn !== state.turn) return;
    show(list, all.length ? newestFirst(all).map(row) : empty("Nothing here", "There are no records.", button("Write a record", write, "primary")));
    tellPlace(sizes);
  }
  function tellPlace(sizes) {
    if (state.partition === kAll) { show(where, `The newest of ${plural(parts, "partition")} first; ${count(sizes.reduce((sum, one) => sum + one.end - one.start, 0))} records in all.`); return; }
    const { start, end } = sizes[state.partition];
    show(where, `${holds(start, end)}, the newest first.`, step("‹ Older", end - kPage <= start, { from: Math.max(start, end - 2 * kPage) }));
  }
  async function more() {
    if (!state.follow) return;
    const turn = state.turn;
    const sizes = (await get(path("topics", name))).partitions;
    const all = [];
    for (const partition of those()) {
      if (sizes[partition].end <= (state.next.get(partition) ?? 0)) continue;
      const answer = await ask_page(partition, { from: Math.max(sizes[partition].start, state.next.get(partition) ?? 0) });
      if (turn !== state.turn) return;
      state.next.set(partition, answer.next);
      all.push(...answer.records.map((record) => [partition, record]));
    }
    if (!all.length) return;
    list.querySelector(".empty")?.remove();
    list.prepend(...newestFirst(all).map(row));
    while (list.children.length > kShownMax) list.lastChild.remove();
    tellPlace(sizes);
  }
  /** Finds the records of a key in all partitions, because only producers know a key's partition. */
  async function find() {
    const turn = begin();
    const found = [];
    let looked = 0;
    const time_ms = new Date(time.value).getTime();
    for (const [index, partition] of those().entries()) {
      let wish = Number.isFinite(time_ms) ? { time_ms } : {};
      for (;;) {
        let answer;
        try {
          answer = await ask_page(partition, { key: key.value, limit: kShownMax, ...wish });
        } catch (error) {
          show(problem, error.message);
          return;
        }
        if (turn !== state.turn || visit.over) return;
        looked += answer.looked_at;
        found.push(...answer.records.map((record) => [partition, record]));
        if (newestFirst(found).length > kShownMax) found.length = kShownMax;
        show(list, found.map(row));
        show(where, `${plural(found.length, "record")} of this key, the newest first; searched ${count(looked)} in ${index + 1} of ${plural(those().length, "partition")}.`);
        if (answer.next >= answer.end) break;
        wish = { from: answer.next };
      }
    }
    if (!found.length) show(list, empty("No record has this key", `${plural(looked, "record")} were searched.`));
  }
  function write() {
    ask("Write a record", [
      field("Key", h("textarea", { name: "key", rows: 1, spellcheck: "false" }), "Empty: no key"),
      field("Value", h("textarea", { name: "value", rows: 6, spellcheck: "false", autofocus: true })),
      h("label", { class: "check" }, h("input", { type: "checkbox", name: "tombstone" }), "null as the value: deletes the key of a compacted topic"),
      field("Headers", h("textarea", { name: "headers", rows: 2, placeholder: "name: value", spellcheck: "false" }), "One per line"),
      field("Partition", h("input", { name: "partition", type: "number", min: 0, max: topic.partitions.length - 1, placeholder: "by the key" }),
        "Default: where the Java client puts the key, or 0 without a key"),
    ], "Write", async (data) => {
      const headers = {};
      for (const line of data.get("headers").split("\n").filter((text) => text.trim())) {
        const colon = line.indexOf(":");
        if (colon < 1) throw new Error("a header is a line of the form name: value");
        headers[line.slice(0, colon).trim()] = line.slice(colon + 1).trim();
      }
      const written = await post(path("topics", name, "records"), {
        key: data.get("key") === "" ? null : data.get("key"), value: data.get("tombstone") ? null : data.get("value"), headers,
        partition: data.get("partition") === "" ? null : Number(data.get("partition")) });
      say(`Written to partition ${written.partition} at offset ${written.offset}`);
      if (state.partition !== kAll) choice.value = state.partition = written.partition;
      if (!state.follow) await newest();
    });
  }

  show(place, topicHead(name, "records"), h("div", { class: "tools" }, field("Partition", choice), field("From offset", from), field("From time", time), field("With the key", key),
    button("Newest", () => { from.value = time.value = key.value = ""; newest(); }), follow, button("Write a record", write, "primary")), problem, where, list);
  visit.every(kFollowMs, more);
  if (query.get("from") === null || state.partition === kAll) return newest();
  from.value = query.get("from");
  return load({ from: Number(from.value) });
}
