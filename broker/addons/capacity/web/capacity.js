// Capacity in units: limits, traffic, waits and changes.

import { ask, bar, button, card, count, date, ago, duration, empty, field, h, note, plural, say, short, show, size, spark, table, tile, tiles } from "./dom.js";
import { get, path, put } from "./api.js";

const kKept = 60;
const units = (number) => (number === null ? "no limit" : plural(number, "unit"));

/** The traffic of a direction, beside its limit. */
const used = (now, limit, form, what) => (limit === null ? `${form(now)} ${what}` : [`${form(now)} of ${form(limit)} ${what} `, bar(now / limit, `${Math.round((100 * now) / limit)} % of the limit`)]);

function change(now, draw) {
  const number = (name, value, extra) => h("input", { name, type: "number", min: 1, value: value === null ? "" : value, ...extra });
  ask("Change the capacity", [
    field("Units", number("units", now.units === null ? 1 : now.units, { required: true }), `Each unit allows ${size(now.ingress.per_unit.bytes)} or ${count(now.ingress.per_unit.events)} records in per second, and twice the bytes out.`),
    field("Grows automatically up to", number("units_max", now.units_max), "Empty: it stays as it is."),
  ], "Change", async (form) => {
    const most = form.get("units_max");
    await put(path("capacity"), { units: Number(form.get("units")), units_max: Number(most) });
    say("The capacity is changed.");
    await draw();
  });
}

export async function capacity(body, visit) {
  let before = null;
  const waits = [];
  async function draw() {
    const now = await get(path("capacity"));
    const time = performance.now();
    const seconds = before ? Math.max(0.1, (time - before.time) / 1000) : 0;
    const rate = (name) => (before ? Math.max(0, Math.round((now.counts[name] - before.counts[name]) / seconds)) : 0);
    if (before) waits.push(rate("throttled_requests"));
    if (waits.length > kKept) waits.shift();
    const rates = { in: rate("incoming_bytes"), records: rate("incoming_messages"), out: rate("outgoing_bytes"), read: rate("outgoing_messages") };
    before = { time, counts: now.counts };
    if (now.units === null) {
      show(body, empty("No limit", "A cluster that gives a team units of capacity makes clients wait that need more. Set a number of units, and see what your application does.", button("Set the units", () => change(now, draw), "primary")), h("p", { class: "note" }, h("a", { href: "#/broker/settings" }, "The settings"), " partita.capacity.* hold the size of a unit."));
      return;
    }
    show(body, tiles(tile("Capacity", units(now.units), now.units_max === null ? "does not grow automatically" : `grows automatically up to ${count(now.units_max)}`),
      tile("Requests that wait", short(now.counts.throttled_requests), spark(waits, `${waits.at(-1) || 0} a second`)),
      tile("Wait of a request now", duration(Math.max(now.ingress.wait_ms, now.egress.wait_ms))),
      tile("Refused", short(now.counts.server_errors + now.counts.user_errors))),
    card("Traffic", h("dl", { class: "pairs" }, [
      ["In", used(rates.in, now.ingress.per_second.bytes, size, "a second")], ["", used(rates.records, now.ingress.per_second.events, count, "records a second")],
      ["Out", used(rates.out, now.egress.per_second.bytes, size, "a second")], ["", used(rates.read, now.egress.per_second.events, count, "records a second")],
      ["Commits", now.commits_per_partition_and_second ? `${count(now.commits_per_partition_and_second)} a second for each partition of a group` : "no limit"],
    ].map(([name, value]) => [h("dt", {}, name), h("dd", {}, value)])),
    h("div", { class: "actions" }, button("Change", () => change(now, draw), "primary")),
      note(`To remove the limit: partita configs --bootstrap-server ${now.broker.kafka} --alter --entity-type brokers --entity-name ${now.broker.node_id} --add-config partita.capacity.units=0`)),
    card("Changes", now.steps.length ? table("Changes of the capacity", [
      ["When", (step) => h("span", { title: date(step.time_ms) }, ago(step.time_ms))],
      ["From", (step) => units(step.units_before)], ["To", (step) => units(step.units)],
      ["By", (step) => (step.automatic ? "the broker: traffic exceeded the capacity" : "a request")],
    ], [...now.steps].reverse()) : note("The capacity has not changed since the broker started.")));
  }
  visit.every(1000, draw);
  return draw();
}
