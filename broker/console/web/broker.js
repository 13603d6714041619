import { ago, card, count, date, empty, h, note, plural, short, show, size, spark, table, tabs, tile, tiles } from "./dom.js";
import { kAddedTabs } from "./addons.js";
import { get, path } from "./api.js";
import { configs } from "./topics.js";

const titled = (name) => [name, name[0].toUpperCase() + name.slice(1)];
const kTabs = [["", "Now"], ["requests", "Requests"], ["errors", "Errors"], ...kAddedTabs.map(titled), ["settings", "Settings"]];
const kKept = 60;

const sparkOf = (values) => spark(values, `from ${short(values[0] || 0)} to ${short(values.at(-1) || 0)} a second`);

/** The broker, its connections and its settings. */
export async function broker(place, [tab = ""], visit) {
  const body = h("div", {});
  show(place, h("header", { class: "head" }, h("h1", {}, "Broker")), tabs("Parts of the broker", kTabs, tab, (part) => (part ? `#/broker/${part}` : "#/broker")), body);
  if (tab === "settings") {
    const section = h("section", { class: "card" });
    show(body, section);
    return configs(section, path("broker", "configs"), null);
  }
  if (tab === "requests" || tab === "errors") return (await import("./requests.js"))[tab](body, visit);
  if (kAddedTabs.includes(tab)) return (await import(`./${tab}.js`))[tab](body, visit);
  let before = null;
  const rates = { requests: [], records_in: [], bytes_in: [], bytes_out: [] };
  async function draw() {
    const [now, clients] = await Promise.all([get(path("broker")), get(path("connections"), { limit: 200 })]);
    for (const [name, values] of Object.entries(rates)) {
      const seconds = before ? Math.max(0.1, (now.time_ms - before.time_ms) / 1000) : 0;
      if (before) values.push(Math.max(0, (now.since_start[name] - before.since_start[name]) / seconds));
      if (values.length > kKept) values.shift();
    }
    before = now;
    const rate = (title, name, form, unit) => tile(title, rates[name].length ? `${form(Math.round(rates[name].at(-1)))}${unit}` : "…", sparkOf(rates[name]));
    const refused = now.since_start.refused_produces + now.since_start.refused_fetches;
    show(body, tiles(rate("Requests", "requests", short, "/s"), rate("Records in", "records_in", short, "/s"), rate("In", "bytes_in", size, "/s"), rate("Out", "bytes_out", size, "/s")),
      tiles(tile("Topics", count(now.topics), plural(now.partitions, "partition")), tile("Groups", count(now.groups)), tile("Connections", count(now.connections)), tile("Memory", size(now.resident_bytes), "resident")),
      card("This broker", h("dl", { class: "pairs" }, [["Version", `Partita ${now.version}`], ["Node", now.broker.node_id], ["Clients connect to", now.broker.kafka], ["Cluster", now.broker.cluster_id], ["Data", now.broker.data_directory],
        ["Since its start", `${plural(now.since_start.requests, "request")}, ${plural(now.since_start.records_in, "record")} in; refused ${plural(refused, "partition")} in requests; closed ${plural(now.since_start.connections_closed_for_bad_input, "connection")} for bad input`]]
        .map(([name, value]) => [h("dt", {}, name), h("dd", {}, value)]))),
      card("Producers and consumers", clients.connections.length ? [table("Connections", [
        ["Client", (client) => h("span", { class: "name" }, client.client_id || "(no name)"), "wide"],
        ["Software", (client) => (client.software ? `${client.software} ${client.version}` : "unknown")],
        ["Principal", (client) => client.principal || "–"],
        ["From", (client) => `${client.address}:${client.port}`],
        ["Program", (client) => client.program || "–"],
        ["For", (client) => h("span", { title: date(client.since_ms) }, ago(client.since_ms)), "number"],
      ], clients.connections), clients.total > clients.connections.length ? note(`${clients.total} in all.`) : null]
        : empty("No client produces or reads", "Connections show here with their software, after their first record or fetch.")));
  }
  visit.every(2000, draw);
  return draw();
}
