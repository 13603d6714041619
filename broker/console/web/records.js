import { ask, button, chip, count, date, empty, field, h, plural, say, show, size } from "./dom.js";
import { get, page, path, post } from "./api.js";
import { topicHead } from "./topics.js";

const kPage = 50;
const kFollowMs = 1000;
const kShownMax = 500;

const utf8 = new TextEncoder();
const hexOf = (text) => Array.from(utf8.encode(text), (byte) => byte.toString(16).padStart(2, "0")).join("");

/** 16 bytes in a line: where, in hex, as letters. */
export function hexLines(hex) {
  const lines = [];
  for (let at = 0; at < hex.length; at += 32) {
    const bytes = hex.slice(at, at + 32).match(/../g);
    const letters = bytes.map((byte) => { const code = parseInt(byte, 16); return code > 31 && code < 127 ? String.fromCharCode(code) : "·"; }).join("");
    lines.push(`${(at / 2).toString(16).padStart(6, "0")}  ${bytes.join(" ").padEnd(47)}  ${letters}`);
  }
  return lines.join("\n");
}

/** JSON with its words told apart; null where the text is no JSON object or array. */
export function prettyJson(text) {
  let value;
  try {
    value = JSON.parse(text);
  } catch {
    return null;
  }
  if (value === null || typeof value !== "object") return null;
  // Numbers beyond what a script can count would come back as others: then the text is shown as it is.
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

/** Bytes as they came: {text} or {hex}, or null. */
function bytesOf(object, name) {
  if (object[`${name}_hex`] !== undefined) return { hex: object[`${name}_hex`] };
  return object[name] === null || object[name] === undefined ? null : { text: object[name] };
}

function brief(bytes) {
  if (bytes === null) return h("em", { class: "quiet" }, "null");
  if (bytes.hex !== undefined) return h("code", {}, `0x${bytes.hex.slice(0, 40)}${bytes.hex.length > 40 ? "…" : ""}`);
  return bytes.text === "" ? h("em", { class: "quiet" }, "empty") : bytes.text.slice(0, 200);
}

/** A key or a value in full, in the form that fits best, with the others behind a click. */
function whole(title, bytes) {
  if (bytes === null) return h("div", { class: "bytes" }, h("h3", {}, title), h("em", { class: "quiet" }, "null"));
  const hex = bytes.hex !== undefined ? bytes.hex : hexOf(bytes.text);
  const forms = [];
  const json = bytes.text !== undefined ? prettyJson(bytes.text) : null;
  if (json) forms.push(["JSON", () => json]);
  if (bytes.text !== undefined) forms.push(["Text", () => h("pre", {}, bytes.text)]);
  forms.push(["Hex", () => h("pre", {}, hexLines(hex))]);
  const body = h("div", {});
  const choose = forms.map(([name, make], index) => button(name, () => pick(index), "mini"));
  function pick(index) {
    choose.forEach((one, at) => one.setAttribute("aria-pressed", String(at === index)));
    show(body, forms[index][1]());
  }
  pick(0);
  return h("div", { class: "bytes" }, h("h3", {}, title, h("small", {}, size(hex.length / 2)), h("span", { class: "forms" }, choose)), body);
}

function recordRow(record) {
  const key = bytesOf(record, "key");
  const value = bytesOf(record, "value");
  const inside = h("div", { class: "inside" });
  const row = h("details", { class: "record", "data-offset": record.offset }, h("summary", {},
    h("span", { class: "offset" }, count(record.offset)), h("time", {}, date(record.timestamp_ms)),
    h("span", { class: "key" }, brief(key)), h("span", { class: "value" }, brief(value)),
    record.headers.length ? chip(plural(record.headers.length, "header"), "quiet") : null), inside);
  row.addEventListener("toggle", () => {
    if (!row.open || inside.childNodes.length) return;
    show(inside, whole("Key", key), whole("Value", value), record.headers.length ? h("div", { class: "bytes" }, h("h3", {}, "Headers"),
      h("dl", { class: "pairs" }, record.headers.map((header) => [h("dt", {}, brief(bytesOf(header, "name"))), h("dd", {}, brief(bytesOf(header, "value")))]))) : null);
  });
  return row;
}

/** Records of one partition: from an offset, or the newest as they come. */
export async function records(place, [name], visit, query) {
  const topic = await get(path("topics", name));
  const state = { partition: Math.min(Number(query.get("partition")) || 0, topic.partitions.length - 1), from: null, next: 0, follow: false };
  const list = h("div", { class: "records" });
  const where = h("p", { class: "pager", "aria-live": "polite" });
  const problem = h("p", { class: "problem", role: "alert" });
  const choice = topic.partitions.length <= 500
    ? h("select", { onchange: () => jump(Number(choice.value)) }, topic.partitions.map((partition) =>
      h("option", { value: partition.partition, selected: partition.partition === state.partition },
        `${partition.partition} (${count(partition.end - partition.start)} records)`)))
    : h("input", { type: "number", min: 0, max: topic.partitions.length - 1, value: state.partition, onchange: () => jump(Number(choice.value)) });
  const from = h("input", { type: "number", min: 0, placeholder: "the first", onchange: () => load(from.value === "" ? null : Number(from.value)) });
  const follow = h("button", { type: "button", "aria-pressed": "false", onclick: () => setFollow(!state.follow) }, "Follow");

  const ask_page = (offset, limit) => get(path("topics", name, "partitions", state.partition, "records"), { from: offset === null ? undefined : offset, limit });
  function jump(partition) {
    state.partition = partition;
    from.value = "";
    newest();
  }
  function setFollow(on) {
    state.follow = on;
    follow.setAttribute("aria-pressed", String(on));
    if (on) newest();
  }
  function tell(answer) {
    state.next = answer.next;
    show(where, `The partition holds offsets ${count(answer.start)} to ${count(answer.end)}. `,
      button("‹ Older", () => { setFollow(false); load(Math.max(answer.start, (state.first ?? answer.end) - kPage)); }),
      button("Newer ›", () => { setFollow(false); load(answer.next < answer.end ? answer.next : Math.max(answer.start, answer.end - kPage)); }));
    show(problem, answer.damage.length ? `${answer.damage.length} places could not be read: ${answer.damage[0].reason}` : "");
  }
  async function load(offset) {
    try {
      const answer = await ask_page(offset, kPage);
      state.first = answer.records.length ? answer.records[0].offset : answer.end;
      show(list, answer.records.length ? answer.records.map(recordRow)
        : empty("Nothing here", "The partition has no records from there on.", button("Write a record", write, "primary")));
      tell(answer);
    } catch (error) {
      show(list);
      show(problem, error.message);
    }
  }
  async function newest() {
    const sizes = (await get(path("topics", name))).partitions[state.partition];
    const first = Math.max(sizes.start, sizes.end - kPage);
    await load(first);
    list.prepend(...[...list.querySelectorAll(".record")].reverse());
  }
  async function more() {
    if (!state.follow) return;
    const answer = await ask_page(state.next, kPage);
    if (answer.records.length) {
      list.querySelector(".empty")?.remove();
      list.prepend(...answer.records.map(recordRow).reverse());
      while (list.children.length > kShownMax) list.lastChild.remove();
    }
    tell(answer);
  }
  function write() {
    ask("Write a record", [
      field("Key", h("textarea", { name: "key", rows: 1, spellcheck: "false" }), "Empty: no key"),
      field("Value", h("textarea", { name: "value", rows: 6, spellcheck: "false", autofocus: true })),
      h("label", { class: "check" }, h("input", { type: "checkbox", name: "tombstone" }), "null as the value: deletes the key of a compacted topic"),
      field("Headers", h("textarea", { name: "headers", rows: 2, placeholder: "name: value", spellcheck: "false" }), "One in a line"),
      field("Partition", h("input", { name: "partition", type: "number", min: 0, max: topic.partitions.length - 1, placeholder: "by the key" }),
        "Without one: where the Java client puts the key; without a key in 0"),
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
      state.partition = written.partition;
      choice.value = written.partition;
      if (!state.follow) await newest();
    });
  }

  show(place, topicHead(name, "records"), h("div", { class: "tools" }, field("Partition", choice), field("From offset", from),
    button("Newest", () => { from.value = ""; newest(); }), follow, button("Write a record", write, "primary")), problem, where, list);
  visit.every(kFollowMs, more);
  return newest();
}
