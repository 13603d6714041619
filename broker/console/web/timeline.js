// A topic's expansions on a timeline, with their effects: findings as they open and close, stale producers, fences.

import { card, chip, clock, date, duration, h, note, plural } from "./dom.js";
import { get, path } from "./api.js";

const kEventsTopic = "__partita_expansions";
const kPagesMax = 10, kLanesMax = 40, kMarginMs = 2000;
const kKindOf = { block: "bad", warn: "warn", info: "quiet" };

/** The topic's events in the broker's events topic, oldest first; none if that topic is missing or may not be read. */
export async function eventsOf(topic) {
  const events = [];
  // A broker that found nothing has no such topic.
  if (!(await get(path("topics"), { search: kEventsTopic, limit: 1 })).total) return events;
  try {
    let wish = {};
    for (let read = 0; read < kPagesMax; read += 1) {
      const answer = await get(path("topics", kEventsTopic, "partitions", 0, "records"), { key: topic, limit: 1000, ...wish });
      events.push(...answer.records.map((record) => JSON.parse(record.value)));
      if (answer.next >= answer.end) break;
      wish = { from: answer.next };
    }
  } catch {
    return [];
  }
  return events;
}

const who = (subject) => [subject.group && `group ${subject.group}`, subject.client_id && `client ${subject.client_id}`, subject.partition !== undefined && `partition ${subject.partition}`].filter(Boolean).join(", ");

/** [{label, kind, from, to (null: goes on), said}], in the order in which they began. */
export function lanes(log, protection, events, open) {
  const all = [];
  const findings = new Map();
  for (const event of [...events, ...open.map((one) => ({ event: "opened", time_ms: one.opened_ms, opened_ms: one.opened_ms, finding: one }))]) {
    const { id, subject, severity, title, condition } = event.finding;
    const key = JSON.stringify([id, subject.group, subject.client_id, subject.client_port, subject.partition, event.opened_ms]);
    const lane = findings.get(key) || { label: `${id} ${title}`, about: who(subject), kind: kKindOf[severity], from: event.opened_ms, to: null };
    lane.said = condition;
    lane.kind = kKindOf[severity];
    if (event.event === "closed") lane.to = event.time_ms;
    findings.set(key, lane);
  }
  // Findings that were open when the broker stopped have no closing event; `open` has those that are open now.
  const openNow = new Set(open.map((one) => JSON.stringify([one.id, one.subject.group, one.subject.client_id, one.subject.client_port, one.subject.partition, one.opened_ms])));
  for (const [key, lane] of findings) all.push(lane.to === null && !openNow.has(key) ? { ...lane, to: lane.from, about: `${lane.about ? `${lane.about}; ` : ""}the broker stopped meanwhile` } : lane);
  for (const growth of log.expansions) {
    // A producer without such a record was not stale: it began to write later, or knew the new count at once.
    for (const producer of growth.producer_switches.filter((one) => one.stale_records > 0)) {
      all.push({ label: "stale producer", about: `${producer.client_id || "(no name)"} at ${producer.address}, ${plural(producer.stale_records, "record")} by the old count`, kind: "warn", from: growth.time_ms, to: producer.time_ms,
        said: `It placed keys by ${growth.from} partitions until then.` });
    }
  }
  if (protection.fence && protection.fence.window !== "none") {
    all.push({ label: "fence", about: `${plural(protection.fence.held_fetches, "fetch", "fetches")} wait, ${plural(protection.fence.unproven_producers, "producer")} not yet seen in new partitions`, kind: "new", from: protection.fence.opened_ms,
      to: protection.fence.window === "open" ? null : undefined, said: `Its window is ${protection.fence.window.replaceAll("_", " ")}.` });
  }
  return all.sort((one, other) => one.from - other.from);
}

/** The card. */
export function timeline(log, protection, events, open, now) {
  const all = lanes(log, protection, events, open);
  if (!log.expansions.length) return null;
  const begin = Math.min(...log.expansions.map((one) => one.time_ms), ...all.map((one) => one.from)) - kMarginMs;
  const end = Math.max(now, ...all.map((one) => one.to || 0)) + kMarginMs;
  const at = (time) => `${(100 * (time - begin)) / (end - begin)}%`;
  const shown = all.slice(-kLanesMax);
  const lane = (one) => {
    const to = one.to === undefined ? one.from : one.to ?? now;
    const words = `${one.label}${one.about ? `, ${one.about}` : ""}: ${one.to === null ? `since ${date(one.from)}` : `${date(one.from)}, for ${duration(to - one.from)}`}`;
    return h("li", { class: "lane", title: one.said }, h("div", {}, chip(one.label, one.kind), h("small", {}, one.about)),
      h("span", { class: "track", role: "img", "aria-label": words }, log.expansions.map((growth) => h("i", { class: "growth", style: { left: at(growth.time_ms) } })),
        h("i", { class: `bar-in-time ${one.kind}`, style: { left: at(one.from), width: `max(5px, ${(100 * (to - one.from)) / (end - begin)}%)` } })),
      h("small", { class: "number" }, one.to === null ? `since ${clock(one.from)}` : one.to === undefined || one.to === one.from ? clock(one.from) : duration(to - one.from)));
  };
  return card("Timeline", h("ol", { class: "lanes" }, h("li", { class: "lane head-lane" }, h("small", {}, "growths"), h("span", { class: "track", role: "img", "aria-label": `growths: ${log.expansions.map((one) => `${one.from} to ${one.to} at ${date(one.time_ms)}`).join(", ")}` },
    log.expansions.map((growth) => [h("i", { class: "growth", style: { left: at(growth.time_ms) } }), h("b", { style: { left: at(growth.time_ms) } }, `${growth.from} → ${growth.to}`)])), h("small", { class: "number" }, clock(end))),
  shown.map(lane)), all.length > shown.length ? note(`The last ${shown.length} of ${all.length}.`) : all.length ? null : note("No finding was opened, and no record is held back."));
}
