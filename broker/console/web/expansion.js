import { ask, button, card, chip, clock, count, date, empty, field, h, note, pager, percent, plural, say, short, show, size, svg, table, tile, tiles } from "./dom.js";
import { get, live, page, path, post } from "./api.js";
import { topicHead } from "./topics.js";

const kDrawnMax = 48;
const kWordOf = { block: "breaks something", warn: "puts something at risk", info: "good to know" };
const kKindOf = { block: "bad", warn: "warn", info: "quiet" };

/** Where the keys of old partitions go: [{from, to, kind: "stay" | "new" | "old"}], all of the same share. */
export function ways(from, partitions) {
  const all = [];
  for (const partition of partitions)
    for (const parent of partition.parents)
      all.push({ from: parent, to: partition.partition, kind: parent === partition.partition ? "stay" : partition.partition >= from ? "new" : "old" });
  return all;
}

/** The picture: partitions before on the left, after on the right, and a ribbon for each way that keys take. */
export function picture(plan) {
  const { from, to } = plan;
  const row = Math.max(14, Math.min(30, 420 / to));
  // Use the width of the window, so that the words keep their size.
  const width = Math.max(280, Math.min(640, window.innerWidth - 64));
  const left = width < 480 ? 64 : 92, right = width - (width < 480 ? 40 : 92), top = 26;
  const height = top + row * to + 8;
  const bars = row * 0.72;
  const thick = new Map(), used = new Map();
  const all = ways(from, plan.partitions);
  for (const way of all) {
    thick.set(`l${way.from}`, (thick.get(`l${way.from}`) || 0) + 1);
    thick.set(`r${way.to}`, (thick.get(`r${way.to}`) || 0) + 1);
  }
  // The old partitions are spread over the height of the new ones.
  const step = (row * to) / from;
  const leftOf = (partition) => top + step * partition + (step - Math.min(step * 0.8, bars * 2)) / 2;
  const leftBar = Math.min(step * 0.8, bars * 2);
  const rightOf = (partition) => top + row * partition + (row - bars) / 2;
  const take = (side, partition, whole) => {
    const name = `${side}${partition}`;
    const share = whole / thick.get(name);
    const at = used.get(name) || 0;
    used.set(name, at + share);
    return [at, share];
  };
  const ribbon = (way) => {
    const [fromAt, fromShare] = take("l", way.from, leftBar);
    const [toAt, toShare] = take("r", way.to, bars);
    const y1 = leftOf(way.from) + fromAt, y2 = rightOf(way.to) + toAt, middle = (left + right) / 2;
    const d = `M${left},${y1} C${middle},${y1} ${middle},${y2} ${right},${y2} L${right},${y2 + toShare} C${middle},${y2 + toShare} ${middle},${y1 + fromShare} ${left},${y1 + fromShare} Z`;
    const words = { stay: "stay", new: "move to a new partition", old: "move between old partitions" };
    return svg("path", { d, class: `way ${way.kind}` }, svg("title", {}, `keys of ${way.from} that ${words[way.kind]}${way.kind === "stay" ? "" : `: ${way.to}`}`));
  };
  const box = (x, y, tall, text, kind, anchor) => [svg("rect", { x, y, width: 8, height: tall, rx: 2, class: `node ${kind}` }),
    svg("text", { x: anchor === "end" ? x - 8 : x + 16, y: y + tall / 2, "text-anchor": anchor, "dominant-baseline": "central" }, text)];
  const held = new Map(plan.partitions.map((partition) => [partition.partition, partition.records]));
  const label = `${plural(from, "partition")} become${from === 1 ? "s" : ""} ${to}: ${percent(plan.expected_key_share)} of evenly spread keys move`;
  return h("figure", { class: "picture" }, svg("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": label },
    svg("text", { x: left - 8, y: 12, "text-anchor": "end", class: "side" }, "before"), svg("text", { x: right + 8, y: 12, class: "side" }, "after"),
    // Draw keys that move above keys that stay.
    ["stay", "new", "old"].map((kind) => svg("g", {}, all.filter((way) => way.kind === kind).map(ribbon))),
    Array.from({ length: from }, (_, index) => box(left - 8, leftOf(index), leftBar, `${index} · ${short(held.get(index) || 0)}`, "", "end")),
    Array.from({ length: to }, (_, index) => box(right, rightOf(index), bars, index, index >= from ? "new" : "", "start"))),
  legend(new Set(all.map((way) => way.kind))));
}

const legend = (kinds) => h("figcaption", { class: "legend" }, [["stay", "keys stay"], ["new", "move to a new partition"], ["old", "move between old ones: harm without gain"]]
  .filter(([kind]) => kinds.has(kind)).map(([kind, text]) => h("span", {}, h("i", { class: kind }), text)));

/** A bar with the shares of all keys, also for counts that are too large to draw. */
function shares(plan) {
  const gcd = (one, other) => (other ? gcd(other, one % other) : one);
  const common = gcd(plan.from, plan.to);
  const parts = [["stay", common / plan.to], ["new", (plan.to - plan.from) / plan.to], ["old", (plan.from - common) / plan.to]];
  return h("figure", { class: "shares" }, h("div", { role: "img", "aria-label": parts.map(([kind, share]) => `${kind} ${percent(share)}`).join(", ") },
    parts.filter(([, share]) => share > 0).map(([kind, share]) => h("span", { class: kind, style: { "flex-grow": share } }, share >= 0.07 ? percent(share) : ""))), plan.to <= kDrawnMax ? null : legend(new Set(parts.filter(([, share]) => share > 0).map(([kind]) => kind))));
}

export const finding = (one, more) => h("article", { class: `finding ${one.severity}` }, h("header", {}, chip(one.id, kKindOf[one.severity]),
  h("h3", {}, one.title), h("small", {}, one.kind === "harm" ? "harm was done" : kWordOf[one.severity])), h("p", {}, one.condition), one.advice ? h("p", { class: "advice" }, one.advice) : null,
one.examples && one.examples.length ? h("p", { class: "keys" }, "For example ", one.examples.slice(0, 5).map((example) => h("code", {},
  `${example.key ?? example.key_hex ?? example.key_hash}${example.from !== undefined && example.to !== undefined ? ` ${example.from} → ${example.to}` : ""}`))) : null, more);

const about = (one, topic) => (one.subject.topic && one.subject.topic !== topic ? [h("a", { href: page("topics", one.subject.topic, "expansion") }, one.subject.topic), " "] : null);

async function markSeen(one) {
  const { topic, group, client_id } = one.subject;
  const answer = await post(path("findings", "seen"), { id: one.id, topic, group, client_id, opened_ms: one.opened_ms });
  say(answer.seen ? `${one.id} is marked as seen` : `${one.id} is over already`);
}

/** An open finding; `topic` is the one that the page is about, if any. `keys`: the page's tables of keys, by finding. */
const openFinding = (one, topic, keys) => finding(one, [h("small", {}, about(one, topic), `since ${date(one.opened_ms)}`, one.restored ? ", before the broker's last start" : ""),
  one.id === "H06" && !one.restored ? wrongKeys(one.subject, keys) : null,
  one.kind === "harm" ? button("Mark as seen", () => markSeen(one).catch((error) => say(error.message)), "mini") : null]);

const kKeysOnPage = 50;
const handedOut = (place) => (place.handed_out_ms ? clock(place.handed_out_ms) : "–");

/** A button for the keys that a reader was handed in wrong order, with links to both records of each. */
function wrongKeys({ topic, group, client_id, client_address }, keys) {
  const whose = JSON.stringify([topic, group, client_id, client_address]);
  // Each event draws the findings anew. A table that is shown stays.
  if (keys.has(whose)) return keys.get(whose);
  const box = h("div", { "aria-live": "polite" });
  keys.set(whose, box);
  const at = (place) => h("a", { href: page("topics", topic, "records") + `?partition=${place.partition}&from=${place.offset}` }, `${place.partition} / ${count(place.offset)}`);
  const draw = async (skip) => {
    try {
      const answer = await get(path("findings", "keys"), { topic, ...(group ? { group } : { client_id, client_address }), skip, limit: kKeysOnPage });
      show(box, table("Keys in wrong order", [["Key", (one) => one.key ?? one.key_hex ?? "–", "wide"], ["Newer: partition / offset", (one) => at(one.newer), "number"], ["handed out", (one) => handedOut(one.newer), "number"],
        ["Older: partition / offset", (one) => at(one.older), "number"], ["handed out", (one) => handedOut(one.older), "number"], ["Committed", (one) => (one.is_processed ? "yes" : "no")]], answer.keys),
      pager(skip, kKeysOnPage, answer.total, draw));
    } catch (error) {
      say(error.message);
    }
  };
  show(box, button("Show the keys", () => draw(0), "mini"));
  return box;
}

const kOverMax = 50, kOverMs = 1000;
const kEndOf = { over: "", seen: ", marked as seen", stopped: ", when the broker stopped" };

/** The findings that are over, of one topic or all; `draw` is called when they changed. `list` is null until they are known. */
function overFindings(topic, draw) {
  const over = { list: null, asked: 0, told: null, timer: 0 };
  over.look = () => {
    const closed = live.events.find((event) => event.event === "closed");
    const last = closed ? closed.sequence : 0;
    if (over.told === last || over.timer) return;
    if (Date.now() - over.asked < kOverMs) {
      over.timer = setTimeout(() => { over.timer = 0; over.look(); }, kOverMs);
      return;
    }
    over.told = last;
    over.asked = Date.now();
    get(path("findings"), { state: "over", topic }).then((answer) => { over.list = answer.findings; draw(); }, () => {});
  };
  over.card = () => (over.list && over.list.length ? card("Over", over.list.slice(0, kOverMax).map((one) => finding(one, h("small", {}, about(one, topic),
    `${date(one.opened_ms)} to ${date(one.closed_ms)}${kEndOf[one.ended]}${one.largest_count > one.count ? `, at most ${count(one.largest_count)}` : ""}`))),
  over.list.length > kOverMax ? note(`The last ${kOverMax} of ${count(over.list.length)}.`) : null) : null);
  return over;
}

const kVerdicts = {
  safe: ["good", "Safe"], findings: ["warn", "Safe only with care"], blocked: ["bad", "Something would break"], unknown: ["warn", "Unknown"],
};

function planView(plan, retry, grow) {
  const [kind, word] = kVerdicts[plan.verdict] || kVerdicts.unknown;
  const better = plan.better_targets.filter((target) => target !== plan.to);
  return [h("section", { class: `verdict ${kind}`, role: "status" }, h("div", {}, h("strong", {}, `${word}: ${plan.from} → ${plan.to}`), h("p", {}, plan.summary)),
    h("div", { class: "actions" }, better.map((target) => button(`Better: ${target}`, () => retry(target))), button(`Grow to ${plan.to}`, grow, plan.verdict === "safe" ? "primary" : "danger"))),
  tiles(tile("Keys that move", plan.moved ? percent(plan.moved.key_share) : percent(plan.expected_key_share), plan.moved ? `${count(plan.moved.keys)} of ${count(plan.scanned ? plan.scanned.keys : 0)}` : "if evenly spread"),
    tile("Among old partitions", plan.moved ? count(plan.moved.keys_among_old) : "–", "keys: harm without gain"),
    tile("Records that move", plan.moved ? short(plan.moved.records) : "–", plan.moved ? size(plan.moved.bytes) : ""),
    tile("Partitioner of the producers", plan.partitioner.name, plan.partitioner.keys ? `${count(plan.partitioner.agreeing_keys)} of ${count(plan.partitioner.keys)} keys agree` : "")),
  card("Where the keys go", shares(plan), plan.to <= kDrawnMax ? picture(plan) : note(`${plan.to} partitions are too many to draw one by one.`)),
  card("Before you expand", plan.findings.length ? plan.findings.map((one) => finding(one)) : note("Nothing."), plan.unknown.length ? note(`Unknown: ${plan.unknown.join("; ")}`) : null),
  plan.groups.length ? card("Readers", table("Groups", [["Group", (group) => h("a", { href: page("groups", group.group), class: "name" }, group.group), "wide"], ["State", (group) => group.state || "–"],
    ["Members", (group) => count(group.members), "number"], ["Behind", (group) => count(group.lag), "number"], ["Unread records of moving keys", (group) => count(group.moved_backlog), "number"]], plan.groups)) : null];
}

/** The preview of more partitions, and the history of earlier expansions. */
export async function expansion(place, [name], visit, query) {
  const result = h("div", { "aria-live": "polite" });
  const past = h("div", {});
  const input = h("input", { type: "number", min: 1, max: 100000, required: true, name: "to" });
  const form = h("form", { class: "tools" }, field("Partitions after", input), h("button", { type: "submit", class: "primary" }, "Preview"));
  form.addEventListener("submit", (event) => { event.preventDefault(); plan(Number(input.value)); });
  show(place, topicHead(name, "expansion"), card("Add partitions", note("The preview reads the topic and says what would happen. It changes nothing."), form), result, past);
  let asked = null;
  visit.onleave(() => asked && asked.abort());

  async function plan(to) {
    input.value = to;
    if (asked) asked.abort();
    asked = new AbortController();
    show(result, h("p", { class: "busy" }, "Reading the topic…"));
    try {
      const answer = await get(path("topics", name, "expansion"), { to }, asked.signal);
      show(result, planView(answer, plan, () => grow(answer)));
    } catch (error) {
      if (error.name !== "AbortError") show(result, h("p", { class: "problem", role: "alert" }, error.message));
    }
  }
  function grow(answer) {
    ask(`Grow to ${answer.to} partitions`, [h("p", {}, h("strong", {}, name), ` has ${answer.from} now. A topic never shrinks again.`),
      answer.verdict === "safe" ? null : h("p", { class: "problem" }, answer.summary)], `Grow to ${answer.to}`, async () => {
      const grown = await post(path("topics", name, "partitions"), { count: answer.to });
      say(grown.message || `${name} has ${plural(grown.partitions, "partition")} now`);
      show(result);
      await history();
      // The next thing to read is what the growth opened.
      told.scrollIntoView({ behavior: "smooth" });
    }, answer.verdict === "safe" ? "primary" : "danger");
  }
  async function history() {
    const [log, protection] = await Promise.all([get(path("topics", name, "expansions")), get(path("topics", name, "protection"))]);
    if (!input.value) input.value = log.partitions * 2;
    const { eventsOf, timeline } = await import("./timeline.js");
    const earlier = log.expansions.length ? await eventsOf(name) : [];
    drawTime = () => show(inTime, timeline(log, protection, [...earlier, ...live.events.filter((event) => event.finding.subject.topic === name).reverse()], mine(), Date.now()));
    drawTime();
    show(past, inTime, card("History", h("ol", { class: "timeline" }, [...log.expansions].reverse().map((one) => h("li", {}, h("time", {}, date(one.time_ms)),
      h("strong", {}, `${one.from} → ${one.to}`), one.requested_by && one.requested_by.client_id ? ` by ${one.requested_by.client_id}` : "", one.mode ? chip(one.mode, "quiet") : null,
      one.verdict ? h("small", {}, `verdict then: ${one.verdict}`) : null, one.producer_switches.length ? h("small", {}, plural(one.producer_switches.length, "producer"), " known to place keys by the new count") : null)),
    log.created_time_ms ? h("li", {}, h("time", {}, date(log.created_time_ms)), "created") : null)), protectionView(protection), findings());
  }
  const protectionView = (protection) => card("Protection", tiles(tile("Mode", protection.mode), tile("Fence", protection.fence ? protection.fence.window : "none",
    protection.fence && protection.fence.held_fetches ? `${count(protection.fence.held_fetches)} fetches wait` : ""), tile("Seeds", count(protection.seeds ? protection.seeds.length : 0), "expansions with seeded offsets")),
  protection.fence && protection.fence.waiting.length ? table("Groups that wait", [["Group", (one) => one.group, "wide"], ["Partition", (one) => one.partition, "number"], ["From offset", (one) => count(one.held_from_offset), "number"], ["For", (one) => `${count(Math.round(one.waiting_ms / 1000))} s`, "number"]], protection.fence.waiting) : null);
  const told = h("div", {}), inTime = h("div", {}), keys = new Map();
  const over = overFindings(name, () => drawFindings());
  let drawTime = () => {};
  const mine = () => live.findings().filter((one) => one.subject.topic === name);
  const findings = () => { drawFindings(); return told; };
  function drawFindings() {
    const open = mine();
    over.look();
    drawTime();
    show(told, card("Open findings", open.length ? open.map((one) => openFinding(one, name, keys)) : note("No finding is open for this topic.")), over.card());
  }
  visit.watch(drawFindings);
  await history();
  if (query.get("to")) await plan(Number(query.get("to")));
}

/** All findings as they open and close. */
export function findings(place, parts, visit) {
  const body = h("div", { "aria-live": "polite" });
  show(place, h("header", { class: "head" }, h("h1", {}, "Findings")), note("Problems of expanded topics that the broker can prove, live: dangers while they last, and harm until its records are gone."), body);
  const keys = new Map();
  const over = overFindings(undefined, () => draw());
  // Say "Nothing is at risk" only if there never was a finding: one that is over may be harm that a person marked as seen.
  const nothing = () => (!over.list ? note("No finding is open.") : over.list.length ? empty("No finding is open", `${plural(over.list.length, "finding is", "findings are")} over; see below.`)
    : empty("Nothing is at risk", "Findings show here the moment the broker sees them: a producer that has not learned of new partitions, a group that skipped records, order that broke."));
  function draw() {
    const open = live.findings();
    over.look();
    show(body, open.length ? h("section", { class: "card" }, open.map((one) => openFinding(one, undefined, keys))) : nothing(), over.card(),
    live.events.length ? card("Since this page was opened", h("ol", { class: "timeline" }, live.events.map((event) => h("li", {}, h("time", {}, clock(event.time_ms)), chip(event.event, { opened: "warn", closed: "good" }[event.event] || "quiet"),
      h("strong", {}, `${event.finding.id} ${event.finding.title}`), h("small", {}, event.finding.condition))))) : null);
  }
  visit.watch(draw);
  draw();
}
