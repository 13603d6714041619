import { ask, bar, button, card, chip, count, empty, field, h, meaning, note, pager, plural, say, short, show, size, table, tabs, tile, tiles } from "./dom.js";
import { get, page, path, post, remove } from "./api.js";

const kPage = 50;

/** Records per second between two refreshes of this page; "…" after the first. */
export function rates() {
  let before = new Map(), now = new Map(), looked = 0;
  return (name, written) => {
    const time = Date.now();
    if (time - looked > 500) [before, now, looked] = [now, new Map(), time];
    now.set(name, { written, time });
    const known = before.get(name);
    return known ? short(Math.round(Math.max(0, written - known.written) / Math.max(0.1, (time - known.time) / 1000))) : "…";
  };
}

/** The list of topics: search, pages, a new one. */
export function topics(place, parts, visit) {
  const state = { search: "", skip: 0, internal: false };
  const list = h("div", { "aria-live": "polite" });
  const rate = rates();
  const search = h("input", { type: "search", placeholder: "Find a topic", "aria-label": "Find a topic", "data-search": true,
    oninput: () => { state.search = search.value; state.skip = 0; draw(); } });
  const internal = h("input", { type: "checkbox", onchange: () => { state.internal = internal.checked; state.skip = 0; draw(); } });

  async function draw() {
    const wanted = { ...state };
    const answer = await get(path("topics"), { search: state.search, skip: state.skip, limit: kPage, internal: state.internal ? 1 : 0 });
    // A later answer may have come before.
    if (wanted.search !== state.search || wanted.skip !== state.skip || wanted.internal !== state.internal) return;
    const most = Math.max(1, ...answer.topics.map((topic) => topic.bytes));
    if (answer.total === 0) {
      show(list, state.search ? empty("No topic name contains this", "Try fewer letters.")
        : empty("No topic yet", "A client creates one when it writes, or you create one here.", button("New topic", newTopic, "primary")));
      return;
    }
    show(list, table("Topics", [
      ["Topic", (topic) => h("a", { href: page("topics", topic.topic), class: "name" }, topic.topic), "wide"],
      ["Partitions", (topic) => count(topic.partitions), "number"],
      ["Records", (topic) => h("span", { title: count(topic.offsets) }, short(topic.offsets)), "number"],
      ["A second", (topic) => rate(topic.topic, topic.written), "number"],
      ["Size", (topic) => [h("span", {}, size(topic.bytes)), bar(topic.bytes / most, `${size(topic.bytes)} of at most ${size(most)}`)], "number sized"],
    ], answer.topics), pager(state.skip, kPage, answer.total, (skip) => { state.skip = skip; draw(); }));
  }

  show(place, h("header", { class: "head" }, h("h1", {}, "Topics"), button("New topic", newTopic, "primary")),
    h("div", { class: "tools" }, search, h("label", { class: "check" }, internal, "include internal topics")), list);
  visit.every(5000, draw);
  return draw();
}

function newTopic() {
  ask("New topic", [
    field("Name", h("input", { name: "topic", required: true, maxlength: 249, autofocus: true, spellcheck: "false", autocomplete: "off" }), "Letters, digits, '.', '_' and '-'"),
    field("Partitions", h("input", { name: "partitions", type: "number", min: 1, value: 6, required: true }),
      "Leave room to double: doubling moves half of the keys, and none between old partitions"),
    field("Cleanup", h("select", { name: "cleanup" }, h("option", { value: "" }, "broker default"), h("option", { value: "delete" }, "delete old records"),
      h("option", { value: "compact" }, "compact: keep the last of each key"))),
    field("When it grows", h("select", { name: "mode" }, h("option", { value: "" }, "broker default"),
      ["faithful", "safe-offsets", "guarded", "fenced"].map((mode) => h("option", { value: mode }, mode))), "How the broker protects keys and readers"),
  ], "Create", async (data) => {
    const configs = {};
    if (data.get("cleanup")) configs["cleanup.policy"] = data.get("cleanup");
    if (data.get("mode")) configs["partita.expansion.mode"] = data.get("mode");
    const made = await post(path("topics"), { topic: data.get("topic"), partitions: Number(data.get("partitions")), configs });
    say(`${made.topic} has ${plural(made.partitions, "partition")}`);
    location.hash = page("topics", made.topic);
  });
}

const kTabs = [["", "Partitions"], ["records", "Records"], ["groups", "Groups"], ["configs", "Configs"], ["expansion", "Expansion"]];

/** The head of all pages of a topic. */
export function topicHead(name, tab) {
  return [h("nav", { class: "crumbs", "aria-label": "Where you are" }, h("a", { href: "#/topics" }, "Topics"), " / "),
    h("header", { class: "head" }, h("h1", { class: "name" }, name), h("div", { class: "actions" },
      h("a", { class: "button", href: page("topics", name, "expansion") }, "Add partitions"),
      button("Delete", () => deleteTopic(name), "danger"))),
    tabs("Parts of the topic", kTabs, tab, (part) => (part ? page("topics", name, part) : page("topics", name)))];
}

function deleteTopic(name) {
  ask("Delete this topic", [h("p", {}, "This deletes all records of ", h("strong", {}, name), " and all committed offsets for it."),
    field("Type the topic's name to confirm", h("input", { name: "name", autocomplete: "off", spellcheck: "false", autofocus: true }))],
  "Delete for good", async (data) => {
    if (data.get("name") !== name) throw new Error("that is not the topic's name");
    await remove(path("topics", name));
    say(`${name} is deleted`);
    location.hash = "#/topics";
  }, "danger");
}

const kPartitions = 100;

/** The partitions with their contents. */
export async function partitions(place, [name], visit) {
  const body = h("div", {});
  show(place, topicHead(name, ""), body);
  const rate = rates();
  let skip = 0;
  async function draw() {
    const topic = await get(path("topics", name));
    const held = (partition) => partition.end - partition.start;
    const most = Math.max(1, ...topic.partitions.map(held));
    const even = topic.offsets / topic.partitions.length;
    const open = topic.partitions.filter((partition) => partition.stable_end < partition.end).length;
    show(body, tiles(tile("Partitions", count(topic.partitions.length)), tile("Records", short(topic.offsets), topic.offsets >= 1e4 ? count(topic.offsets) : ""), tile("A second", rate(name, topic.written), "records written"), tile("Size", size(topic.bytes)),
      tile("Fullest partition", even > 0 ? `${(most / even).toFixed(2)}×` : "–", "of an even share")),
    open ? note(`In ${plural(open, "partition")} a transaction is open.`) : null,
    card(null, table("Partitions", [
      ["Partition", (partition) => h("a", { href: `${page("topics", name, "records")}?partition=${partition.partition}` }, partition.partition)],
      ["Records", (partition) => [h("span", {}, count(held(partition))), bar(held(partition) / most, `${count(held(partition))} records`)], "number sized"],
      ["From", (partition) => count(partition.start), "number"],
      ["To", (partition) => count(partition.end), "number"],
      ["Size", (partition) => size(partition.bytes), "number"],
    ], topic.partitions.slice(skip, skip + kPartitions)), pager(skip, kPartitions, topic.partitions.length, (to) => { skip = to; draw(); })));
  }
  visit.every(3000, draw);
  return draw();
}

/** The groups that read the topic. */
export async function topicGroups(place, [name], visit) {
  const body = h("div", {});
  show(place, topicHead(name, "groups"), body);
  async function draw() {
    const answer = await get(path("topics", name, "groups"));
    if (!answer.groups.length) {
      show(body, empty("No group reads this topic", "Groups show here when they subscribe or commit."));
      return;
    }
    const most = Math.max(1, ...answer.groups.map((group) => group.lag));
    show(body, card(null, table("Groups", [
      ["Group", (group) => h("a", { href: page("groups", group.group), class: "name" }, group.group), "wide"],
      ["Members", (group) => count(group.members), "number"],
      ["Behind", (group) => [h("span", {}, count(group.lag)), bar(group.lag / most, `${count(group.lag)} records behind`)], "number sized"],
      ["Never committed", (group) => count(group.partitions.filter((partition) => partition.committed === null).length), "number"],
    ], answer.groups)));
  }
  visit.every(3000, draw);
  return draw();
}

/** Settings with their sources: of a topic, where they can be changed, or of the broker. */
export async function configs(place, where, change) {
  const state = { search: "", changed: false };
  const list = h("div", {});
  const search = h("input", { type: "search", placeholder: "Find a setting", "aria-label": "Find a setting", "data-search": true,
    oninput: () => { state.search = search.value.toLowerCase(); draw(); } });
  const only = h("input", { type: "checkbox", onchange: () => { state.changed = only.checked; draw(); } });
  let all = [];
  function draw() {
    const wanted = all.filter((config) => (!state.changed || config.source !== "default") &&
      (config.name + (config.documentation || "")).toLowerCase().includes(state.search));
    show(list, wanted.length ? table("Settings", [
      ["Setting", (config) => [h("span", { class: "name" }, config.name), h("small", {}, config.documentation || "")], "wide"],
      ["Value", (config) => [h("code", {}, config.sensitive ? "(secret)" : config.value === null ? "–" : config.value === "" ? "(empty)" : config.value),
        meaning(config.name, config.value) ? h("small", {}, meaning(config.name, config.value)) : null], "setting"],
      ["From", (config) => chip(config.source, config.source === "default" ? "quiet" : "accent")],
      ...(change ? [["", (config) => button("Change", () => change(config, load), "mini")]] : []),
    ], wanted) : empty("No setting matches", "Try fewer letters."));
  }
  async function load() {
    all = (await get(where)).configs;
    draw();
  }
  show(place, h("div", { class: "tools" }, search, h("label", { class: "check" }, only, "only changed settings")), list);
  return load();
}

export async function topicConfigs(place, [name]) {
  const body = h("section", { class: "card" });
  show(place, topicHead(name, "configs"), body);
  return configs(body, path("topics", name, "configs"), (config, done) => {
    const input = config.type === "boolean"
      ? h("select", { name: "value" }, ["true", "false"].map((value) => h("option", { value, selected: value === config.value }, value)))
      : h("input", { name: "value", value: config.value || "", spellcheck: "false", autofocus: true });
    const set = async (value) => {
      await post(path("topics", name, "configs"), { set: { [config.name]: value } });
      say(`${config.name} is ${value === null ? "reset" : `now ${value}`}`);
      await done();
    };
    const instead = config.instead[0];
    ask(config.name, [h("p", {}, config.documentation || ""), field("Value", input, `${config.type}; now from: ${config.source}`),
      config.source === "topic" ? h("label", { class: "check" }, h("input", { type: "checkbox", name: "take_back" }),
        `remove this value${instead ? ` (then ${instead.value})` : ""}`) : null],
    "Set", async (data) => set(data.get("take_back") ? null : data.get("value")));
  });
}
