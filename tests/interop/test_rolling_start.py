"""A rolling start: as many members as partitions come one after the other, and each takes its share from those that came before. Then they
are closed and started again, one after the other. Counted are takeovers by kind, how long partitions had no owner, and what was read twice or
never, of each way to share partitions out.

The members' own callbacks say it of any broker; Partita says it itself, too (GET /v1/groups/G/ownership), and is held to what they say.
docs/ownership.md has the table of the whole form, which runs with PARTITA_LONG_TESTS=1."""

import collections
import contextlib
import dataclasses
import json
import time

import pytest

import clients
import harness
import insight

#: The whole form has what brokers and clients have by themselves, but for the pause before a first rebalance, which is not what it is about.
BROKER_PROPERTIES = {"auto.create.topics.enable": "false", "group.initial.rebalance.delay.ms": "0"}
SHORT_PROPERTIES = {**BROKER_PROPERTIES, "group.consumer.min.heartbeat.interval.ms": "500", "group.consumer.heartbeat.interval.ms": "500"}
ROUND_ROBIN = {"partitioner.class": "org.apache.kafka.clients.producer.RoundRobinPartitioner"}


@dataclasses.dataclass(frozen=True)
class Form:
    """How many members start, how far apart, on a topic of as many partitions."""

    members: int
    apart_s: float
    properties: dict
    #: What member_start is asked besides, of those that speak the classic protocol.
    classic: dict


SHORT = Form(members=8, apart_s=0.3, properties=SHORT_PROPERTIES, classic={"session_timeout_ms": 6_000})
WHOLE = Form(members=32, apart_s=1, properties=BROKER_PROPERTIES, classic={})

KINDS = {
    "eager": lambda number: {"assignor": "range"},
    "cooperative": lambda number: {"assignor": "cooperative"},
    "static": lambda number: {"assignor": "range", "instance_id": f"instance-{number}"},
    "KIP-848": lambda number: {"protocol": "consumer"},
}


class Ledger:
    """Who had which partition when, by the callbacks of members."""

    def __init__(self):
        self.owned = collections.defaultdict(set)
        #: Partition -> who has it; -> who has it or had it last; -> since when nobody has it, and by which callback.
        self.owner, self.last_owner, self.given_up = {}, {}, {}
        self.begin()

    def begin(self):
        """Begins to count anew; who has what stays known."""
        self.takeovers = collections.Counter()
        #: Partition -> seconds without an owner, since it had its first one.
        self.unowned_s = collections.Counter()
        #: How often a partition was given up and then given to somebody, the same member or another.
        self.pauses = 0

    def take(self, events):
        """Counts what clients.EventLog has of the members, in order of arrival."""
        for event in events:
            if event.get("event") == "owned":
                self.change(event["member"], set(event["partitions"]), event["change"], event["at_ns"] / 1e9)

    def change(self, member, now, how, at_s):
        for partition in self.owned[member] - now:
            if self.owner.get(partition) == member:
                del self.owner[partition]
                self.given_up[partition] = at_s, how
        for partition in now - self.owned[member]:
            self.gain(member, partition, at_s)
        self.owned[member] = now

    def gain(self, member, partition, at_s):
        since_s, how = self.given_up.pop(partition, (None, None))
        if since_s is not None:
            self.unowned_s[partition] += at_s - since_s
            self.pauses += 1
        if self.last_owner.get(partition, member) != member:
            self.takeovers["stolen" if partition in self.owner else {"revoked": "normal", "lost": "lost"}[how]] += 1
        self.owner[partition] = self.last_owner[partition] = member


@contextlib.contextmanager
def one_process(broker):
    """All members, and the sender, in one JVM."""
    agent = clients.Agent(clients.java, broker.bootstrap)
    try:
        yield agent
    finally:
        # Its members need not take leave of each other: that would be as many rebalances more.
        agent.kill()


class Rolling:
    """One group of as many members as its topic has partitions, of one kind, with a sender that writes all the time."""

    def __init__(self, form, kind, broker, agent, topic, group):
        self.form, self.kind, self.broker, self.agent, self.topic, self.group = form, kind, broker, agent, topic, group
        self.events, self.ledger = agent.events, Ledger()
        self.seen = 0
        insight.create(broker, topic, form.members)
        agent.call("stream_start", name="s", topic=topic, keys=0, interval_us=10_000, settings=ROUND_ROBIN)
        self.events.wait(lambda events: form.members <= len({event["partition"] for event in events if event.get("event") == "partition"}), 30,
                         "every partition is written to")

    def start(self, number, life):
        member = KINDS[self.kind](number)
        self.agent.call("member_start", name=f"m{number}-{life}", group=self.group, topic=self.topic, client_id=f"m{number}", **member,
                        **({} if "protocol" in member else self.form.classic))

    def start_again(self, number):
        self.agent.call("member_stop", name=f"m{number}-1")
        self.start(number, 2)

    def told(self):
        """The broker's own count of takeovers."""
        return insight.ask(self.broker, f"groups/{self.group}/ownership")["takeover_kinds"] if harness.TARGET == "partita" else {}

    def found(self):
        """The ids of what the broker has found about the group by now."""
        if harness.TARGET != "partita":
            return []
        return sorted({one["id"] for one in insight.ask(self.broker, "findings")["findings"] if one["subject"].get("group") == self.group})

    def roll(self, phase, act):
        """Does it for one member after the other, and waits until each has a partition. Returns a row of the table."""
        told_before = self.told() if self.seen else {}
        self.ledger.begin()
        begin_s = time.monotonic()
        for number in range(self.form.members):
            # At these moments, whatever became of those before.
            time.sleep(max(begin_s + number * self.form.apart_s - time.monotonic(), 0))
            act(number)
        last_s = time.monotonic()
        self.events.wait(lambda _: sorted(self.events.owned().values()) == [[partition] for partition in range(self.form.members)], 120,
                         "each has one partition")
        settled_s = time.monotonic() - last_s
        events = list(self.events.events)
        self.ledger.take(events[self.seen:])
        self.seen = len(events)
        kinds = self.ledger.takeovers
        return {"broker": harness.TARGET, "kind": self.kind, "phase": phase, "members": self.form.members,
                "normal": kinds["normal"], "lost": kinds["lost"], "stolen": kinds["stolen"], "pauses": self.ledger.pauses,
                "unowned_mean_s": round(sum(self.ledger.unowned_s.values()) / self.form.members, 3),
                "unowned_worst_s": round(max(self.ledger.unowned_s.values(), default=0), 3), "settled_s": round(settled_s, 1),
                "told": {kind: count - told_before.get(kind, 0) for kind, count in self.told().items()}, "found": self.found()}

    def finish(self):
        """What became of the records: how many there were, how often one was read again, how many were never read."""
        sent = self.agent.call("stream_stop", name="s")
        assert sent["failed"] == []
        written = {value for value, _, _ in sent["acked"]}
        read = collections.Counter()

        def everything_is_read(_):
            read.clear()
            read.update(int(event["value"]) for event in self.events.records())
            return written <= set(read)
        with contextlib.suppress(harness.Deadline):
            self.events.wait(everything_is_read, 30, "everything is read")
        return {"kind": self.kind, "records": len(written), "twice": sum(read.values()) - len(read), "never": len(written - set(read))}


def check(row):
    print("\n" + json.dumps(row))
    # A member that is closed while its group rebalances says of what it has that it lost it (Java); its coordinator knows that it left.
    assert row["stolen"] == 0 < row["normal"] and (row["lost"] == 0 or row["phase"] == "restart"), row
    if harness.TARGET == "partita":
        # A member that is told of its partitions after the next rebalance began need not have taken them.
        assert row["told"]["lost"] == row["told"]["stolen"] == 0 and row["told"]["normal"] >= row["normal"], row
        assert row["kind"] != "static" or row["phase"] != "restart" or not row["found"], "nobody had to share anything out anew"


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("form", [SHORT, pytest.param(WHOLE, marks=pytest.mark.long)], ids=["short", "whole"])
def test_a_rolling_start_loses_nothing_and_steals_nothing(unique, form, kind):
    with harness.start_broker(form.properties) as broker, one_process(broker) as agent:
        group = Rolling(form, kind, broker, agent, unique("topic"), unique("group"))
        check(group.roll("start", lambda number: group.start(number, 1)))
        check(group.roll("restart", group.start_again))
        records = group.finish()
        print("\n" + json.dumps(records))
        assert records["never"] == 0
