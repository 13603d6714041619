"""What becomes of senders and readers when partitions are added while they run (docs/expansion.md, "Who notices what"): the behaviours
that a managed event service documents for its own clients, with unmodified clients of Kafka, and what the broker finds in each.

All of it happens at once, in one broker: a topic for each behaviour of each client, all of them grown together. The tests say what is
to be seen afterwards."""

import collections
import contextlib
import threading
import time
import zlib

import pytest

import clients
import harness
import insight
import matrix
import test_findings

BROKER_PROPERTIES = {"auto.create.topics.enable": "false", "group.initial.rebalance.delay.ms": "0",
                     "group.consumer.min.heartbeat.interval.ms": "500", "group.consumer.heartbeat.interval.ms": "500"}

CLIENTS = ["java", "librdkafka", "aiokafka"]
#: From 4 to 6 keys move between old partitions, too.
OLD, NEW = 4, 6
KEYS = 60
INTERVAL_US = 10_000
#: How old what a client knows of a topic may be: of those that are to notice soon, of senders with keys, and of groups on `latest`, which are to
#: notice after the senders. These begin a few seconds before the topics grow.
SOON_MS, LATE_MS, LATEST_MS = 1_000, 6_000, 10_000
#: In which somebody should have written to a new partition; ten minutes by default.
WINDOW = {"partita.expansion.window.ms": "2000"}
#: Progress is told at every thousandth record: ten seconds of a stream.
RECORDS = 1_000
ROUND_ROBIN = {"partitioner.class": "org.apache.kafka.clients.producer.RoundRobinPartitioner"}
LATEST = {"java": {"auto.offset.reset": "latest"}, "librdkafka": {"auto.offset.reset": "latest"}, "aiokafka": {"auto_offset_reset": "latest"}}
#: Those whose coordinator tells them of new partitions.
HAS_KIP_848 = ("java", "librdkafka")

#: Senders by what they do, and for whom there is such a sender: what stream_start is asked besides.
SENDERS = {
    "round": lambda client: dict(keys=0, metadata_age_ms=SOON_MS, settings=ROUND_ROBIN if client == "java" else {}),
    "sticky": lambda client: dict(keys=0, metadata_age_ms=SOON_MS, value_bytes=2000) if client == "java" else None,
    "keys": lambda client: dict(keys=KEYS, metadata_age_ms=LATE_MS),
    "partition": lambda client: dict(keys=0, partition=1, metadata_age_ms=SOON_MS),
    "direct": lambda client: dict(keys=0, metadata_age_ms=SOON_MS, settings=ROUND_ROBIN if client == "java" else {}),
    "processors": lambda client: dict(keys=0, metadata_age_ms=SOON_MS, settings=ROUND_ROBIN if client == "java" else {}),
    "latest": lambda client: dict(keys=0, metadata_age_ms=SOON_MS, settings=ROUND_ROBIN if client == "java" else {}),
}


class World:
    """Everybody at work while all topics grow, and what they told."""

    def __init__(self, broker):
        self.broker = broker
        self.events = clients.EventLog()
        self.names = [name for name in CLIENTS if harness.HAS_ALL_CLIENTS or name in harness.BASIC_CLIENTS]
        self.agents = {name: clients.Agent(matrix.CLIENTS[name], broker.bootstrap, self.events) for name in self.names}
        self.senders = {(role, name): request for role, shape in SENDERS.items() for name in self.names if (request := shape(name))}
        self.lines = test_findings.Lines(broker) if harness.TARGET == "partita" else None
        self.readers = collections.defaultdict(list)
        #: What was acknowledged, of each sender: value, partition, offset.
        self.sent = {}

    def everywhere(self, action):
        """Runs an action with each client's name at the same time; an error of one is an error."""
        errors = []

        def run(name):
            try:
                action(name)
            except BaseException as e:  # noqa: B902 (told by the thread that waits)
                errors.append(e)
        threads = [threading.Thread(target=run, args=[name]) for name in self.names]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        if errors:
            raise errors[0]

    def of(self, name):
        return [(role, request) for (role, client), request in self.senders.items() if client == name]

    def start_senders(self, name):
        for role, request in self.of(name):
            self.agents[name].call("stream_start", name=f"{role}-{name}", topic=f"{role}-{name}", client_id=f"{role}-{name}-sender",
                                   interval_us=INTERVAL_US, **request)

    def start_readers(self, name):
        def start(role, number, **request):
            self.agents[name].call("member_start", name=f"{role}-{name}-{number}", client_id=f"{role}-{name}-{number}", **request)
            self.readers[name].append(f"{role}-{name}-{number}")
        start("direct", 0, topic=f"direct-{name}", assign=list(range(OLD)), metadata_age_ms=SOON_MS)
        for number in range(2):
            start("processors", number, topic=f"processors-{name}", group=f"processors-{name}", metadata_age_ms=SOON_MS, assignor="range", session_timeout_ms=6000)
            if name in HAS_KIP_848:
                start("assigned", number, topic=f"processors-{name}", group=f"assigned-{name}", protocol="consumer")
        start("latest", 0, topic=f"latest-{name}", group=f"latest-{name}", metadata_age_ms=LATEST_MS, settings=LATEST[name])

    def owners(self):
        """Who owns how many, of those that belong to a group: group -> member -> partitions."""
        groups = collections.defaultdict(dict)
        for member, partitions in self.events.owned().items():
            groups[member.rsplit("-", 1)[0]][member] = partitions
        return groups

    def groups(self):
        return [f"{role}-{name}" for name in self.names for role in ("processors", "assigned", "latest")
                if role != "assigned" or name in HAS_KIP_848]

    def is_shared_out(self, count):
        owners = self.owners()
        return all(sorted(p for partitions in owners[group].values() for p in partitions) == list(range(count)) and
                   (group.startswith("latest") or all(len(partitions) == count // 2 for partitions in owners[group].values()))
                   for group in self.groups())

    def first_writes(self, stream):
        """Partition -> when a stream's first record of it was acknowledged."""
        return {event["partition"]: event["at_ns"] for event in self.events.events if event.get("stream") == stream and event["event"] == "partition"}

    def writes_to(self, stream, partitions):
        return partitions <= set(self.first_writes(stream))

    def play(self):
        for role, name in self.senders:
            insight.create(self.broker, f"{role}-{name}", OLD, **(WINDOW if self.lines and role == "partition" else {}))
        self.everywhere(self.start_readers)
        self.events.wait(lambda _: self.is_shared_out(OLD), 30, "the groups share the old partitions out")
        self.everywhere(self.start_senders)
        self.events.wait(lambda _: all(self.writes_to(f"{role}-{name}", set(range(OLD))) if role in ("keys", "direct", "processors", "latest")
                                       else self.first_writes(f"{role}-{name}") for role, name in self.senders), 30, "everybody writes")
        self.grown_ns = time.monotonic_ns()
        for role, name in self.senders:
            insight.grow(self.broker, f"{role}-{name}", NEW)
        self.events.wait(lambda _: self.is_shared_out(NEW), 30, "the groups share all partitions out")
        for role, name in self.senders:
            self.events.wait(lambda _: role == "partition" or self.writes_to(f"{role}-{name}", set(range(NEW))), 30,
                             f"{role} of {name} writes to the new partitions")
            self.events.wait(lambda events: any(event.get("stream") == f"{role}-{name}" and event["acked"] >= RECORDS for event in events),
                             30, f"{role} of {name} writes on")
        if self.lines:
            for name in self.names:
                self.told("direct", name, "H23")
                self.told("latest", name, "H20")
        self.everywhere(self.stop_senders)
        self.everywhere(self.expect_read)
        if self.lines:
            self.ownership = {group: insight.ask(self.broker, f"groups/{group}/ownership") for group in self.groups()}
            self.rebalances = {group: insight.ask(self.broker, f"groups/{group}/rebalances")["rebalances"] for group in self.groups()}
        self.everywhere(self.stop_readers)

    def stop_senders(self, name):
        for role, _ in self.of(name):
            answer = self.agents[name].call("stream_stop", name=f"{role}-{name}")
            assert answer["failed"] == []
            self.sent[role, name] = answer["acked"]

    def expect_read(self, name):
        """Everybody who has a partition has read it to its end."""
        for role, topic in (("processors", "processors"), ("assigned", "processors"), ("direct", "direct")):
            if f"{role}-{name}" in self.groups() or role == "direct":
                wanted = {value for value, partition, _ in self.sent[topic, name] if role != "direct" or partition < OLD}
                self.events.wait(lambda _: wanted <= set(self.read(role, name)), 30, f"{role} of {name} have read everything")

    def stop_readers(self, name):
        for member in self.readers[name]:
            self.agents[name].call("member_stop", name=member)

    def read(self, role, name):
        """Value -> how often it was read."""
        return collections.Counter(int(event["value"]) for event in self.events.records() if event["member"].startswith(f"{role}-{name}-"))

    def told(self, role, name, hazard, seconds=30):
        return harness.wait_until(lambda: [event["finding"] for event in self.lines.events if event["finding"]["id"] == hazard and
                                           event["finding"]["subject"].get("topic") == f"{role}-{name}"], seconds, f"{hazard} for {role}-{name}")

    def findings(self, role, name):
        """The ids of all that was found about a topic."""
        return {event["finding"]["id"] for event in self.lines.events if event["finding"]["subject"].get("topic") == f"{role}-{name}"}

    def close(self):
        for agent in self.agents.values():
            agent.kill()


@pytest.fixture(scope="module")
def world(broker):
    with contextlib.closing(World(broker)) as started:
        started.play()
        yield started


def expect_found(world, role, name, always, sometimes=()):
    """What was found about a topic: all of the first, and besides them at most some of the others, which hold for moments."""
    if harness.TARGET == "partita":
        found = world.findings(role, name)
        assert set(always) <= found <= {*always, *sometimes}, found


def new_partitions(world, role, name):
    return {value for value, partition, _ in world.sent[role, name] if partition >= OLD}


@pytest.mark.parametrize("name", CLIENTS)
@pytest.mark.parametrize("role", ["round", "sticky"])
def test_senders_without_keys_use_new_partitions_within_seconds_of_the_next_refresh(world, role, name):
    clients.require(name)
    if (role, name) not in world.senders:
        pytest.skip("Java's default without keys, which stays with a partition for batch.size bytes; the others' is among those of round robin")
    first = world.first_writes(f"{role}-{name}")
    assert all(first[partition] - world.grown_ns < (SOON_MS / 1_000 + 7) * 1e9 for partition in range(OLD, NEW))
    expect_found(world, role, name, [])


@pytest.mark.parametrize("name", CLIENTS)
def test_senders_with_keys_place_them_anew(world, name):
    clients.require(name)
    places = collections.defaultdict(list)
    for value, partition, _ in sorted(world.sent["keys", name]):
        places[value % KEYS].append(partition)
    before, after = ({key: found[index] for key, found in places.items()} for index in (0, -1))
    assert len(places) == KEYS and set(before.values()) == set(range(OLD)) and set(after.values()) == set(range(NEW))
    moved = {key for key in places if before[key] != after[key]}
    # Two of three, from 4 to 6, by any good hash; and a third of all only change places among the old partitions.
    assert 0.5 * KEYS < len(moved) < 0.85 * KEYS and any(after[key] < OLD for key in moved)
    # Each key once: there is no way back, and no third place.
    assert all(found == [before[key]] * found.count(before[key]) + [after[key]] * found.count(after[key])
               for key, found in places.items() if key in moved)
    if name == "librdkafka":
        assert all((before[key], after[key]) == tuple(zlib.crc32(f"k{key}".encode()) % count for count in (OLD, NEW)) for key in places)
    elif name == "aiokafka":
        java = dict((value % KEYS, partition) for value, partition, _ in sorted(world.sent["keys", "java"]))
        assert after == java, "both hash as Java does"
    expect_found(world, "keys", name, ["H04"])
    if harness.TARGET == "partita":
        # Until it looked again it went on by the old count, and that is over.
        stale = world.told("keys", name, "H04")[-1]
        assert stale["subject"]["client_id"] == f"keys-{name}-sender" and stale["count"] > 0
        insight.wait_until_closed(world.broker, f"keys-{name}", "H04", kind="danger")
        growth, = insight.ask(world.broker, f"topics/keys-{name}/expansions")["expansions"]
        assert [switch["client_id"] for switch in growth["producer_switches"]] == [f"keys-{name}-sender"]


@pytest.mark.parametrize("name", CLIENTS)
def test_senders_that_choose_the_partition_are_not_affected(world, name):
    clients.require(name)
    sent = world.sent["partition", name]
    assert len(sent) >= RECORDS and {partition for _, partition, _ in sent} == {1}
    assert sorted(offset for _, _, offset in sent) == list(range(len(sent)))
    # Nothing of this sender's is wrong; but nobody else writes to the new partitions either, until the window is over.
    expect_found(world, "partition", name, ["H12"])


@pytest.mark.parametrize("name", CLIENTS)
def test_direct_readers_notice_nothing_and_miss_the_new_partitions(world, name):
    clients.require(name)
    read, missed = world.read("direct", name), new_partitions(world, "direct", name)
    assert missed and read == {value: 1 for value, partition, _ in world.sent["direct", name] if partition < OLD}
    # Also, when the topic grew between a record and the fetch that had it: what it reads after the growth is older than that.
    expect_found(world, "direct", name, ["H23"], ["H07"])
    if harness.TARGET == "partita":
        told = world.told("direct", name, "H23")[-1]
        assert told["subject"]["client_id"] == f"direct-{name}-0" and told["count"] == OLD


@pytest.mark.parametrize("name", CLIENTS)
@pytest.mark.parametrize("role", ["processors", "assigned"])
def test_processors_rebalance_and_read_everything_once(world, role, name):
    clients.require(name)
    if f"{role}-{name}" not in world.groups():
        pytest.skip("has no consumer protocol (KIP-848)")
    assert new_partitions(world, "processors", name)
    assert world.read(role, name) == {value: 1 for value, _, _ in world.sent["processors", name]}
    expect_found(world, "processors", name, [], ["H22", "H24"])
    if harness.TARGET == "partita":
        kinds = world.ownership[f"{role}-{name}"]["takeover_kinds"]
        assert kinds["normal"] > 0 and kinds["lost"] == kinds["stolen"] == kinds["flapping"] == 0
        causes = {event["cause"] for rebalance in world.rebalances[f"{role}-{name}"] for event in rebalance["events"]}
        # With KIP-848 the coordinator knows; else a member that looked joins again, and a Java client says what it knows of the topic then.
        assert causes & ({"topics_changed"} if role == "assigned" else {"rejoined", "subscription_changed"}), causes


@pytest.mark.parametrize("name", CLIENTS)
def test_processors_on_latest_never_read_what_came_before_they_looked(world, name):
    clients.require(name)
    read = world.read("latest", name)
    missed = {value for value, _, _ in world.sent["latest", name]} - set(read)
    assert missed and missed < new_partitions(world, "latest", name) and set(read.values()) == {1}
    expect_found(world, "latest", name, ["H20"], ["H22", "H24"])
    if harness.TARGET == "partita":
        # It may be told first when the reader has begun with one of the partitions only.
        harness.wait_until(lambda: world.told("latest", name, "H20")[-1]["count"] == len(missed), 25, f"{len(missed)} records")
        assert world.told("latest", name, "H20")[-1]["subject"]["group"] == f"latest-{name}"
