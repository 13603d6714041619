import { ask, bar, button, card, chip, clock, count, duration, empty, field, h, line, note, pager, plural, say, short, show, table, tabs, tile, tiles } from "./dom.js";
import { get, page, path, post, remove } from "./api.js";

const kPage = 50;
const stateChip = (state) => chip(state, { Stable: "good", Empty: "quiet", Dead: "bad" }[state] || "accent");

/** The list of groups. */
export function groups(place, parts, visit) {
  const state = { search: "", skip: 0 };
  const list = h("div", { "aria-live": "polite" });
  const search = h("input", { type: "search", placeholder: "Find a group", "aria-label": "Find a group", "data-search": true,
    oninput: () => { state.search = search.value; state.skip = 0; draw(); } });
  async function draw() {
    const wanted = { ...state };
    const answer = await get(path("groups"), { search: state.search, skip: state.skip, limit: kPage, lag: 1 });
    if (wanted.search !== state.search || wanted.skip !== state.skip) return;
    const most = Math.max(1, ...answer.groups.map((group) => group.lag || 0));
    if (answer.total === 0) {
      show(list, state.search ? empty("No group name contains this", "Try fewer letters.")
        : empty("No group yet", "A group appears when a consumer joins or commits."));
      return;
    }
    show(list, table("Groups", [
      ["Group", (group) => h("a", { href: page("groups", group.group), class: "name" }, group.group), "wide"],
      ["State", (group) => stateChip(group.state)],
      ["Members", (group) => count(group.members), "number"],
      ["Behind", (group) => [h("span", {}, count(group.lag)), group.lag === null ? null : bar(group.lag / most, `${count(group.lag)} records behind`)], "number sized"],
      ["Protocol", (group) => group.type],
      ["Kind", (group) => group.protocol_type || "offsets only"],
    ], answer.groups), pager(state.skip, kPage, answer.total, (skip) => { state.skip = skip; draw(); }));
  }
  show(place, h("header", { class: "head" }, h("h1", {}, "Groups")), h("div", { class: "tools" }, search), list);
  visit.every(5000, draw);
  return draw();
}

const kPartitions = 200;

/** The head of all pages of a group. */
export function groupHead(name, tab, actions) {
  return [h("nav", { class: "crumbs", "aria-label": "Where you are" }, h("a", { href: "#/groups" }, "Groups"), " / "),
    h("header", { class: "head" }, h("h1", { class: "name" }, name), h("div", { class: "actions" }, actions)),
    tabs("Parts of the group", [["", "Now"], ["ownership", "Ownership"], ["rebalances", "Rebalances"]], tab,
      (part) => (part ? page("groups", name, part) : page("groups", name)))];
}

// Samples of each group's lag, which only open pages take.
const kLagsKept = 150, kGroupsKept = 20;
const lags = new Map();
function lagsOf(name, time, lag) {
  const seen = lags.get(name) || [];
  lags.delete(name);
  lags.set(name, seen);
  if (lags.size > kGroupsKept) lags.delete(lags.keys().next().value);
  seen.push([time, lag]);
  if (seen.length > kLagsKept) seen.shift();
  return seen;
}

/** One group: its members, their partitions and its lag. */
export async function group(place, [name], visit) {
  const body = h("div", {});
  show(place, groupHead(name, "", [button("Reset offsets", () => reset()), button("Delete", () => erase(), "danger")]), body);
  let known = null;
  let skip = 0;

  async function draw() {
    known = await get(path("groups", name));
    const most = Math.max(1, ...known.partitions.map((partition) => partition.lag || 0));
    const of = new Map(known.members.map((member) => [member.member_id, member.client_id]));
    show(body, tiles(tile("State", stateChip(known.state)), tile("Members", count(known.members.length)), tile("Behind", count(known.lag), "records"),
      tile("Protocol", known.type, [known.assignor, known.epoch === null ? "" : `epoch ${known.epoch}`].filter(Boolean).join(", "))),
    lagCard(lagsOf(name, Date.now(), known.lag)),
    card("Members", known.members.length ? table("Members", [
      ["Client", (member) => [h("span", { class: "name" }, member.client_id), h("small", {}, member.member_id)], "wide"],
      ["From", (member) => member.address],
      ["Static", (member) => member.instance_id || "–"],
      ["Holds", (member) => held(member)],
    ], known.members) : note("The group has no members now.")),
    card("Progress", known.partitions.length ? [table("Partitions", [
      ["Topic", (partition) => h("a", { href: page("topics", partition.topic), class: "name" }, partition.topic), "wide"],
      ["Partition", (partition) => count(partition.partition), "number"],
      ["Committed", (partition) => count(partition.committed), "number"],
      ["End", (partition) => count(partition.end), "number"],
      ["Behind", (partition) => [h("span", {}, count(partition.lag)), partition.lag === null ? null : bar(partition.lag / most, `${count(partition.lag)} records behind`)], "number sized"],
      ["Held by", (partition) => (partition.member_id === null ? "–" : of.get(partition.member_id) || partition.member_id)],
    ], known.partitions.slice(skip, skip + kPartitions)), pager(skip, kPartitions, known.partitions.length, (to) => { skip = to; draw(); })]
      : note("The group has committed nothing.")));
  }
  /** The lag since the page was opened, as a line. */
  function lagCard(seen) {
    if (seen.length < 2) return null;
    const [[began, first], [time, last]] = [seen[0], seen.at(-1)];
    const most = Math.max(...seen.map(([, lag]) => lag));
    return card("Lag over time", h("figure", { class: "over-time" }, h("span", { class: "axis" }, h("small", {}, short(most)), h("small", {}, "0")),
      line(seen, `${count(first)} records behind ${duration(time - began)} ago, ${count(last)} now, ${count(most)} at most`),
      h("figcaption", {}, h("small", {}, clock(began)), h("small", {}, "while this page was open"), h("small", {}, clock(time)))));
  }
  function held(member) {
    if (!member.assigned.length) return h("em", { class: "quiet" }, "nothing");
    return member.assigned.map((topic) => h("div", {}, h("span", { class: "name" }, topic.topic), " ",
      topic.partitions.slice(0, 24).map((partition) => chip(partition, "part")),
      topic.partitions.length > 24 ? ` and ${topic.partitions.length - 24} more` : ""));
  }
  function erase() {
    ask("Delete this group", h("p", {}, "This deletes the committed offsets of ", h("strong", {}, name), ". Its consumers start where auto.offset.reset says."),
      "Delete for good", async () => {
        await remove(path("groups", name));
        say(`${name} is deleted`);
        location.hash = "#/groups";
      }, "danger");
  }
  function reset() {
    const topics = [...new Set((known ? known.partitions : []).map((partition) => partition.topic))];
    const preview = h("div", { "aria-live": "polite" });
    const names = topics.length ? h("select", { name: "topic" }, topics.map((topic) => h("option", { value: topic }, topic)))
      : h("input", { name: "topic", required: true, spellcheck: "false" });
    const to = h("select", { name: "to", onchange: () => fit() }, [["earliest", "the beginning"], ["latest", "the end"], ["time", "a time"], ["offset", "an offset"]]
      .map(([value, text]) => h("option", { value }, text)));
    const time = field("Time", h("input", { name: "time", type: "datetime-local", step: 1 }), "The first record from this time on");
    const offset = field("Offset", h("input", { name: "offset", type: "number", min: 0, value: 0 }), "Limited to the offsets that each partition holds");
    const fit = () => { time.hidden = to.value !== "time"; offset.hidden = to.value !== "offset"; show(preview); };
    fit();
    const wish = (data, dry_run) => {
      const body_ = { topic: data.get("topic"), to: data.get("to"), dry_run };
      if (body_.to === "time") body_.time_ms = new Date(data.get("time")).getTime();
      if (body_.to === "time" && !Number.isFinite(body_.time_ms)) throw new Error("choose a time");
      if (body_.to === "offset") body_.offset = Number(data.get("offset"));
      return post(path("groups", name, "offsets"), body_);
    };
    const look = async (event) => {
      try {
        const answer = await wish(new FormData(event.target.form), true);
        show(preview, table("Preview of the reset", [["Partition", (row) => row.partition, "number"], ["Now", (row) => count(row.from), "number"],
          ["Then", (row) => count(row.to), "number"],
          ["", (row) => (row.from === null ? "begins there" : row.to < row.from ? `${plural(row.from - row.to, "record")} again` : row.to > row.from ? `skips ${plural(row.to - row.from, "record")}` : "unchanged")],
        ], answer.partitions));
      } catch (error) {
        show(preview, h("p", { class: "problem" }, error.message));
      }
    };
    ask("Reset offsets", [known && known.members.length ? note("The group has members. The broker refuses a reset until they have left.") : null,
      field("Topic", names), field("Read next from", to), time, offset, button("Preview", look), preview],
    "Reset", async (data) => {
      const done = await wish(data, false);
      say(`${plural(done.partitions.length, "partition")} of ${done.topic} reset`);
      await draw();
    }, "danger");
  }
  visit.every(2000, draw);
  return draw();
}
