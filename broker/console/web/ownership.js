// The owners of a group's partitions, and the causes of its rebalances.

import { ago, card, chip, clock, count, date, duration, empty, h, note, pager, plural, show, table, tile, tiles } from "./dom.js";
import { get, page, path } from "./api.js";
import { groupHead } from "./groups.js";

const kPartitions = 100;
const kTakeoversShown = 50;
const kKindOf = { normal: "good", left: "quiet", restarted: "quiet", lost: "bad" };
const kWordOf = { normal: "rebalanced", left: "the owner left", restarted: "the owner restarted", lost: "the owner was lost" };
export const kCauses = {
  joined: "joined", rejoined: "rejoined for a new assignment", restarted: "restarted under another id", left: "left", session_expired: "sent no heartbeat within its session timeout",
  did_not_rejoin: "did not rejoin in time", did_not_sync: "did not ask for its assignment in time", did_not_revoke: "did not release its partitions in time", left_out: "found the group full",
  subscription_changed: "subscribes to other topics", topics_changed: "topics came, went or grew", converted: "the group changed to the other protocol", fenced: "was refused as an old owner (fenced)",
};

/** The cause of a takeover, and whether it was a fault. */
const why = (one) => [one.kind === "stolen" ? chip("stolen: the previous owner was alive", "bad") : chip(kWordOf[one.cause], kKindOf[one.cause]), one.flapping ? chip("flapping", "warn") : null];
const checkpoint = (one, who) => (one === null ? "–" : h("span", { title: one.time_ms === null ? "" : `committed ${date(one.time_ms)}` }, count(one.offset), one.member_id === null ? null : h("small", {}, "by ", who(one.member_id)[0])));

/** The owner of each partition, and every takeover with its cause. */
export async function ownership(place, [name], visit) {
  const body = h("div", {});
  const state = { search: "", skip: 0 };
  const search = h("input", { type: "search", placeholder: "Find a topic", "aria-label": "Find a topic", "data-search": true, oninput: () => { state.search = search.value; state.skip = 0; draw(); } });
  show(place, groupHead(name, "ownership"), h("div", { class: "tools" }, search), body);
  async function draw() {
    const wanted = { ...state };
    const known = await get(path("groups", name, "ownership"), { ...state, limit: kPartitions });
    if (wanted.search !== state.search || wanted.skip !== state.skip) return;
    const members = new Map(known.members.map((member) => [member.member_id, member]));
    const who = (id) => (id === null ? h("em", { class: "quiet" }, "no owner") : [h("span", { class: "name" }, members.get(id)?.client_id || id), h("small", {}, members.get(id)?.instance_id || id)]);
    // Members of one application share a name, so show their ids.
    const fromTo = (from, to) => {
      const [one, other] = [from, to].map((id) => members.get(id)?.client_id || id);
      return one === other ? `${members.get(from)?.instance_id || from} → ${members.get(to)?.instance_id || to}` : `${one} → ${other}`;
    };
    const counts = known.takeover_counts;
    show(body, tiles(tile("Partitions", count(known.total), known.partitions_left_out ? "more partitions are not followed" : ""), tile("Rebalanced", count(counts.normal), "takeovers by rebalancing"),
      tile("Left", count(counts.left), "takeovers"), tile("Restarted", count(counts.restarted), "takeovers: static members"), tile("Lost", count(known.takeover_kinds.lost), "takeovers: the owner was dropped"),
      tile("Stolen", count(known.takeover_kinds.stolen), "takeovers: the owner was alive"), tile("Flapping", count(known.takeover_kinds.flapping), "takeovers back to an earlier owner")),
    card("Owners", known.partitions.length ? [table("Partitions", [
      ["Topic", (one) => h("a", { href: page("topics", one.topic), class: "name" }, one.topic), "wide"],
      ["Partition", (one) => count(one.partition), "number"],
      ["Owner", (one) => who(one.member_id)],
      ["Claim", (one) => (one.claim === null ? "–" : count(one.claim)), "number"],
      ["For", (one) => (one.member_id === null ? chip(`free for ${ago(one.free_since_ms)}`, "warn") : one.since_ms === null ? "unknown" : h("span", { title: date(one.since_ms) }, ago(one.since_ms))), "number"],
      ["Before", (one) => (one.previous_member_id === null ? "–" : who(one.previous_member_id))],
      ["Why", (one) => (one.cause === null ? "–" : why(one))],
      ["Committed", (one) => checkpoint(one.checkpoint, who), "number"],
      ["Behind", (one) => (one.checkpoint?.lag ?? null) === null ? "–" : count(one.checkpoint.lag), "number"],
    ], known.partitions), pager(state.skip, kPartitions, known.total, (to) => { state.skip = to; draw(); })] : note(state.search ? "No topic whose name contains this has an owner." : "The broker has seen no owner yet.")),
    card("Takeovers", known.takeovers.length ? h("ol", { class: "timeline" }, known.takeovers.slice(0, kTakeoversShown).map((one) => h("li", {}, h("time", {}, clock(one.time_ms)), why(one),
      h("span", { class: "name" }, `${one.topic} ${one.partition}`), ` ${fromTo(one.from, one.to)}`,
      one.unowned_ms ? h("small", {}, `without an owner for ${duration(one.unowned_ms)}`) : null))) : note("No partition changed its owner.")));
  }
  visit.every(2000, draw);
  return draw();
}

/** One rebalance in a sentence or two. */
function story(one) {
  const lines = [];
  if (one.ended_ms === null) lines.push("The rebalance is in progress. ");
  lines.push(one.stands_still ? `All members stopped for ${duration(one.duration_ms)}. ` : `The rebalance took ${duration(one.duration_ms)}; only partitions that moved stopped. `);
  if (one.joined_ms !== null && one.protocol === "classic") {
    lines.push(`${duration(one.joined_ms - one.began_ms)} passed until all members had joined`, one.slowest_member_id ? [", the last one ", h("code", {}, one.slowest_member_id)] : null,
      one.ended_ms === null ? ". " : `; ${duration(one.ended_ms - one.joined_ms)} more until the leader had assigned the partitions. `);
  } else if (one.slowest_member_id) {
    lines.push("The slowest member was ", h("code", {}, one.slowest_member_id), ". ");
  }
  if (one.interruptions) lines.push(`The rebalance restarted ${plural(one.interruptions, "time")}. `);
  lines.push(one.partitions_moved || one.partitions_first_owned ? `${plural(one.partitions_moved, "partition")} went to another member${one.partitions_first_owned ? `, ${one.partitions_first_owned} got their first owner` : ""}.` : "No partition changed hands.");
  return h("p", {}, lines);
}

/** The last rebalances, each with its causes, its slowest member and its duration. */
export async function rebalances(place, [name], visit) {
  const body = h("div", {});
  show(place, groupHead(name, "rebalances"), body);
  async function draw() {
    const known = await get(path("groups", name, "rebalances"));
    const still = known.rebalances.filter((one) => one.stands_still).reduce((sum, one) => sum + one.duration_ms, 0);
    const longest = Math.max(0, ...known.rebalances.map((one) => one.duration_ms));
    if (!known.rebalances.length) {
      show(body, empty("No rebalance yet", "When members come and go, each rebalance shows here with its cause."));
      return;
    }
    show(body, tiles(tile("Rebalances", count(known.total), known.total > known.rebalances.length ? `the last ${known.rebalances.length} are below` : "all are below"), tile("Stopped", duration(still), "in those below"), tile("The longest", duration(longest))),
      card("The newest first", h("ol", { class: "timeline rebalances" }, known.rebalances.map((one) => h("li", {}, h("time", {}, date(one.began_ms)), chip(one.ended_ms === null ? "in progress" : duration(one.duration_ms), one.ended_ms === null ? "warn" : one.stands_still ? "" : "good"),
        h("strong", {}, `${one.protocol === "classic" ? "generation" : "epoch"} ${one.generation}`), h("small", {}, `${plural(one.members, "member")}${one.assignor ? `, ${one.assignor}` : ""}`),
        h("ul", {}, one.events.map((event) => h("li", {}, event.client_id ? h("span", { class: "name", title: event.member_id }, event.client_id) : null, ` ${kCauses[event.cause]}${event.times > 1 ? ` (${event.times} times)` : ""}`)),
          one.events_left_out ? h("li", {}, `and ${plural(one.events_left_out, "more event")}`) : null), story(one))))));
  }
  visit.every(2000, draw);
  return draw();
}
