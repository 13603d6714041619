// Requests by API, and why a client got an error.

import { ago, card, chip, clock, count, date, duration, empty, h, note, plural, short, show, table, tile, tiles } from "./dom.js";
import { get, path } from "./api.js";

const took = (ms) => (ms < 1 ? `${Math.round(ms * 1000)} µs` : duration(ms));
const quotaNames = { producer_byte_rate: "bytes produced a second", consumer_byte_rate: "bytes fetched a second", request_percentage: "percent of a thread", controller_mutation_rate: "partitions made or deleted a second", connection_creation_rate: "connections a second" };

/** How many requests of each API, and how long they take while this page is open. */
export async function requests(body, visit) {
  let before = null;
  async function draw() {
    const [now, quotas] = await Promise.all([get(path("requests")), get(path("quotas"))]);
    const seconds = before ? Math.max(0.1, (now.time_ms - before.time_ms) / 1000) : 0;
    const last = new Map(before ? before.requests.map((one) => [one.api, one.requests]) : []);
    before = now;
    const rows = [...now.requests].sort((one, other) => other.requests - one.requests);
    const percentile = (name) => (one) => (one.latency ? took(one.latency[name]) : "–");
    show(body, card("Requests by API", rows.length ? [table("Requests by API", [
      ["API", (one) => h("span", { class: "name" }, one.api), "wide"],
      ["Requests", (one) => h("span", { title: count(one.requests) }, short(one.requests)), "number"],
      ["A second", (one) => (seconds ? short(Math.round((one.requests - (last.get(one.api) || 0)) / seconds)) : "…"), "number"],
      ["With errors", (one) => (one.with_errors ? chip(short(one.with_errors), "warn") : "0"), "number"],
      ["Median", percentile("p50_ms"), "number"], ["95 %", percentile("p95_ms"), "number"], ["99 %", percentile("p99_ms"), "number"], ["Longest", percentile("max_ms"), "number"],
    ], rows), note(`Times are of the requests since ${clock(now.measured_since_ms)}: the broker measures only while a page like this is open. They include waits: a fetch waits for records, a join for the other members.`)]
      : note("No client has sent a request.")),
    card("Quotas", quotas.quotas.length ? table("Quotas", [
      ["Entity", (one) => Object.entries(one.entity).map(([type, name]) => h("div", {}, `${type} `, name === null ? h("em", { class: "quiet" }, "by default") : h("span", { class: "name" }, name)))],
      ["Limits", (one) => Object.entries(one.limits).map(([name, limit]) => h("div", {}, `${count(limit)} ${quotaNames[name] || name}`))],
    ], quotas.quotas) : note("No quota is set."),
    quotas.throttled.length ? table("Clients that had to wait", [
      ["Client", (one) => [h("span", { class: "name" }, one.client_id || "(no name)"), h("small", {}, `${one.principal}, ${one.address}`)], "wide"],
      ["Had to wait", (one) => plural(one.times, "time"), "number"], ["Total wait", (one) => duration(one.total_ms), "number"], ["Last wait", (one) => duration(one.last_ms), "number"], ["Ago", (one) => ago(one.time_ms), "number"],
    ], quotas.throttled) : note("No client had to wait because of a quota.")));
  }
  visit.every(2000, draw);
  return draw();
}

/** One error: its meaning, the client and the request. */
const errorRow = (one) => h("details", { class: "record error" }, h("summary", {}, h("time", { title: date(one.last_ms) }, clock(one.last_ms)),
  h("span", {}, chip(one.code, one.code === "CONNECTION_CLOSED" ? "bad" : "warn"), one.times > 1 ? h("small", {}, `${count(one.times)} times`) : null),
  h("span", { class: "key" }, one.client.client_id || `${one.client.address}:${one.client.port}`), h("span", { class: "value" }, [one.api || "", ...Object.values(one.about), one.message].filter(Boolean).join(" · "))),
h("div", { class: "inside" }, h("p", {}, one.meaning), one.message ? h("p", {}, one.message) : null,
  h("dl", { class: "pairs" }, [["Request", one.api ? `${one.api} v${one.version}` : null], ...Object.entries(one.about), ["Client", `${one.client.client_id || "(no name)"} at ${one.client.address}:${one.client.port}, ${one.client.principal}, listener ${one.client.listener}`],
    ["Software", one.client.software ? `${one.client.software} ${one.client.version}` : "unknown"], ["First", date(one.first_ms)], ["Last", date(one.last_ms)],
    ["Also", one.more_in_reply ? `${plural(one.more_in_reply, "more error")} in the same reply` : null]].filter(([, value]) => value).map(([name, value]) => [h("dt", {}, name), h("dd", {}, value)])),
  one.request ? [h("h3", {}, "The request"), h("pre", {}, one.request)] : null));

/** Recent errors, each with the request that caused it. */
export async function errors(body, visit) {
  const state = { search: "", seen: "" };
  const list = h("div", {});
  const search = h("input", { type: "search", placeholder: "Find a client, an error, a topic", "aria-label": "Find an error", "data-search": true, oninput: () => { state.search = search.value.toLowerCase(); state.seen = ""; draw(); } });
  async function draw() {
    const now = await get(path("errors"));
    // Keep opened rows while no new error comes.
    const seen = JSON.stringify([now.total, state.search]);
    if (seen === state.seen) return;
    state.seen = seen;
    const open = new Set([...list.querySelectorAll("details[open]")].map((one) => one.dataset.key));
    const wanted = now.errors.filter((one) => JSON.stringify(one).toLowerCase().includes(state.search));
    show(list, tiles(tile("Errors", count(now.total), "since the start")), wanted.length ? h("div", { class: "records" }, wanted.map((one) => {
      const row = errorRow(one);
      row.dataset.key = `${one.first_ms} ${one.code} ${one.client.port}`;
      row.open = open.has(row.dataset.key);
      return row;
    })) : empty(now.total ? "No error matches" : "No client got an error", now.total ? "Try fewer letters." : "Errors of clients show here, with the requests that caused them. Some errors are part of the protocol: MEMBER_ID_REQUIRED comes with every join of a new member."));
  }
  show(body, note("“Why did my client get this?” The last 200, the newest first; the same error of the same connection is one line."), h("div", { class: "tools" }, search), list);
  visit.every(2000, draw);
  return draw();
}
