"""What every client library must be able to do, written once. A module of a family derives ClientScenarios and sets
`family` (an entry of clients.py) and whatever differs between the libraries.
"""

import collections

import pytest

import clients
import harness

SESSION_TIMEOUT_MS = 6000
REBALANCE_DEADLINE_S = 30
METADATA_AGE_MS = 300

TOPIC_ALREADY_EXISTS = 36
UNKNOWN_TOPIC_OR_PARTITION = 3
INVALID_PARTITIONS = 37
MESSAGE_TOO_LARGE = 10


def sample_records(partition=0):
    """Records with every shape of key, value and header."""
    start = 1_700_000_000_000
    records = [
        {"key": "key", "value": "value", "headers": [["a", "1"], ["b", "2"], ["a", "3"]]},
        {"key": None, "value": "no key", "headers": []},
        {"key": "tombstone", "value": None, "headers": [["null", None], ["empty", ""]]},
        {"key": "", "value": "", "headers": []},
        {"key": None, "value": None, "headers": []},
        {"key": "naïve ключ 鍵", "value": "ünïcode", "headers": [["ключ", "значение"]]},
    ]
    records += [{"key": f"k{n}", "value": f"{n} " + "compressible " * 20, "headers": []} for n in range(40)]
    for n, record in enumerate(records):
        record.update(partition=partition, timestamp=start + n)
    return records


def content(records):
    """The part of records that must come back as it was sent, ordered by offset."""
    return [(r["partition"], r["timestamp"], r["key"], r["value"], [tuple(h) for h in r["headers"]]) for r in records]


class Scenario:
    """One test's agents and events; closes whatever is left of them."""

    def __init__(self, family, bootstrap):
        self.family, self.bootstrap = family, bootstrap
        self.events = clients.EventLog()
        self.agents = []

    def agent(self):
        agent = clients.Agent(self.family, self.bootstrap, self.events)
        self.agents.append(agent)
        return agent

    def wait_for_shares(self, shares, partition_count, what):
        """Waits until the members of `shares` own all partitions, without overlap, as many each as it says."""
        def settled(_):
            owned = {name: list_ for name, list_ in self.events.owned().items() if name in shares}
            if {name: len(list_) for name, list_ in owned.items()} != shares:
                return False
            return sorted(p for list_ in owned.values() for p in list_) == list(range(partition_count))
        self.events.wait(settled, REBALANCE_DEADLINE_S, f"{what}: shares {shares} of {partition_count} partitions")

    def wait_for_values(self, values, what, seconds=30):
        def missing():
            return values - {int(record["value"]) for record in self.events.records()}
        try:
            self.events.wait(lambda _: not missing(), seconds, what)
        except harness.Deadline as e:
            raise harness.Deadline(f"{e}\n{len(missing())} missing, among them {sorted(missing())[:20]}")

    def counts(self):
        return collections.Counter(int(record["value"]) for record in self.events.records())

    def story_of(self, partitions):
        """What the members told in order, the records of a partition as runs of offsets; for failures."""
        lines, runs = [], {}
        for event in self.events.events:
            if event.get("event") == "record":
                place = (event["member"], event["partition"])
                if event["partition"] in partitions:
                    first, last = runs.get(place, (event["offset"], event["offset"] - 1))
                    if event["offset"] != last + 1:
                        lines.append(f"{place}: {first} to {last}")
                        first = event["offset"]
                    runs[place] = (first, event["offset"])
            elif "member" in event:
                lines += [f"{place}: {first} to {last}" for place, (first, last) in runs.items()] + [str(event)]
                runs = {}
        return "\n".join(lines + [f"{place}: {first} to {last}" for place, (first, last) in runs.items()])

    def close(self):
        for agent in self.agents:
            agent.kill()


@pytest.fixture
def scenario(request, broker):
    started = Scenario(request.cls.family, broker.bootstrap)
    yield started
    started.close()


@pytest.fixture(scope="class")
def agent(request, broker):
    """One client process that serves the simple tests of a class."""
    started = clients.Agent(request.cls.family, broker.bootstrap)
    yield started
    started.close()


class ClientScenarios:
    """The tests; a deriving class names its family."""

    family = None
    #: Error codes with which the library reports a topic that nobody created.
    unknown_topic_codes = (UNKNOWN_TOPIC_OR_PARTITION,)
    too_large_codes = (MESSAGE_TOO_LARGE,)
    #: True if the library itself commits too early in a rebalance: it sends the old generation while its new one is
    #: on the way, and then reads again what it could not commit. librdkafka 2.0.2 takes that refusal for the loss of
    #: all its partitions, so it reads again what it had not committed of any of them. Seen against Apache Kafka, too.
    commits_in_rebalances = False

    def may_read_again(self, scenario):
        if not self.commits_in_rebalances:
            return set()
        return scenario.events.refused_commits() | scenario.events.lost_after_refused_commits()

    def test_creates_widens_and_deletes_a_topic(self, agent, unique):
        topic = unique("topic")
        agent.create_topic(topic, partitions=3, configs={"retention.ms": "3600000"})
        agent.create_partitions(topic, 5)
        agent.call("delete_topic", topic=topic)
        with pytest.raises(clients.ClientError) as gone:
            agent.call("create_partitions", topic=topic, count=6)
        assert gone.value.code == UNKNOWN_TOPIC_OR_PARTITION

    def test_reports_an_existing_topic(self, agent, unique):
        topic = unique("topic")
        agent.create_topic(topic, partitions=1)
        with pytest.raises(clients.ClientError) as refused:
            agent.call("create_topic", topic=topic, partitions=1)
        assert refused.value.code == TOPIC_ALREADY_EXISTS
        assert f"Topic '{topic}' already exists." in refused.value.message

    def test_reports_counts_that_are_no_increase(self, agent, unique):
        topic = unique("topic")
        agent.create_topic(topic, partitions=3)
        for count, text in ((3, "Topic already has 3 partition(s)."),
                            (2, f"The topic {topic} currently has 3 partition(s); 2 would not be an increase.")):
            with pytest.raises(clients.ClientError) as refused:
                agent.call("create_partitions", topic=topic, count=count)
            assert refused.value.code == INVALID_PARTITIONS
            assert text in refused.value.message

    def test_reports_an_unknown_topic(self, agent, unique):
        ack, = agent.call("produce", topic=unique("missing"), records=[{"key": None, "value": "x"}],
                          unknown_topic_wait_ms=1000)["acks"]
        assert ack.get("code") in self.unknown_topic_codes, ack

    def test_reports_a_record_that_is_too_large(self, agent, unique):
        topic = unique("topic")
        agent.create_topic(topic, partitions=1, configs={"max.message.bytes": "10000"})
        small, large = ({"key": None, "value": "x" * size} for size in (9000, 11000))
        ack, = agent.call("produce", topic=topic, records=[large])["acks"]
        assert ack.get("code") in self.too_large_codes, ack
        ack, = agent.call("produce", topic=topic, records=[small])["acks"]
        assert ack["offset"] == 0

    @pytest.mark.parametrize("codec", ["none", "gzip", "snappy", "lz4", "zstd"])
    def test_reads_back_what_it_produced(self, agent, unique, codec):
        topic = unique("topic")
        agent.create_topic(topic, partitions=2)
        sent = sample_records(0) + sample_records(1)
        acks = agent.call("produce", topic=topic, codec=codec, records=sent)["acks"]
        for partition in (0, 1):
            offsets = [ack["offset"] for ack in acks if ack["partition"] == partition]
            assert offsets == list(range(len(sent) // 2))
        read = agent.call("read", topic=topic, count=len(sent), timeout_ms=20000)["records"]
        read.sort(key=lambda record: (record["partition"], record["offset"]))
        assert content(read) == content(sent)

    @pytest.mark.parametrize("acks", ["0", "1"])
    def test_produces_without_waiting_for_all(self, agent, unique, acks):
        topic = unique("topic")
        agent.create_topic(topic, partitions=1)
        sent = sample_records()
        agent.call("produce", topic=topic, acks=acks, idempotence=False, records=sent)
        read = agent.call("read", topic=topic, count=len(sent), timeout_ms=20000)["records"]
        assert content(read) == content(sent)

    def test_finds_offsets_by_time(self, agent, unique):
        topic = unique("topic")
        agent.create_topic(topic, partitions=2)
        sent = sample_records(0)
        agent.call("produce", topic=topic, records=sent)
        first, last = sent[0]["timestamp"], sent[-1]["timestamp"]
        for timestamp, offset in ((first - 1000, 0), (first, 0), (first + 7, 7), (last, len(sent) - 1), (last + 1, -1)):
            answer = agent.call("offsets_for_time", topic=topic, timestamp=timestamp)["offsets"]
            assert answer == {"0": offset, "1": -1}, timestamp

    def test_idempotent_producers_write_everything_once_and_in_order(self, scenario, unique):
        topic = unique("topic")
        agent = scenario.agent()
        agent.create_topic(topic, partitions=3)
        agent.call("stream_start", name="s", topic=topic, interval_us=20, keys=50)
        scenario.events.wait(lambda events: any(e.get("acked", 0) >= 3000 for e in events), 30, "3000 records acknowledged")
        stopped = agent.call("stream_stop", name="s")
        assert stopped["failed"] == []
        read = agent.call("read", topic=topic, count=len(stopped["acked"]), timeout_ms=30000)["records"]
        found = sorted([int(r["value"]), r["partition"], r["offset"]] for r in read)
        assert found == sorted(stopped["acked"])
        by_partition = collections.defaultdict(list)
        for value, partition, offset in found:
            by_partition[partition].append((offset, value))
        for partition, list_ in by_partition.items():
            assert [offset for offset, _ in sorted(list_)] == list(range(len(list_))), partition
            # Kept order: later values lie at later offsets.
            assert [value for _, value in sorted(list_)] == [value for _, value in list_], partition

    def test_a_group_resumes_where_it_committed(self, scenario, unique):
        topic, group = unique("topic"), unique("group")
        agent = scenario.agent()
        agent.create_topic(topic, partitions=2)
        records = [{"key": None, "value": str(n), "partition": n % 2} for n in range(20)]
        agent.call("produce", topic=topic, records=records[:12])
        agent.call("member_start", name="first", group=group, topic=topic)
        scenario.wait_for_values(set(range(12)), "the first member reads 12 records")
        agent.call("member_stop", name="first")
        assert agent.call("committed", group=group, topic=topic)["offsets"] == {"0": 6, "1": 6}
        agent.call("produce", topic=topic, records=records[12:])
        agent.call("member_start", name="second", group=group, topic=topic)
        scenario.wait_for_values(set(range(20)), "the second member reads the other 8 records")
        agent.call("member_stop", name="second")
        assert {int(r["value"]) for r in scenario.events.records() if r["member"] == "second"} == set(range(12, 20))
        assert agent.call("committed", group=group, topic=topic)["offsets"] == {"0": 10, "1": 10}

    @pytest.mark.parametrize("assignor", ["range", "cooperative"])
    def test_a_group_survives_a_leave_and_a_death(self, scenario, unique, assignor):
        topic, group = unique("topic"), unique("group")
        agent, mortal = scenario.agent(), scenario.agent()
        agent.create_topic(topic, partitions=6)
        agent.call("stream_start", name="s", topic=topic)
        member = dict(group=group, topic=topic, assignor=assignor, session_timeout_ms=SESSION_TIMEOUT_MS)
        agent.call("member_start", name="one", **member)
        scenario.wait_for_shares({"one": 6}, 6, "alone")
        agent.call("member_start", name="two", **member)
        mortal.call("member_start", name="three", **member)
        scenario.wait_for_shares({"one": 2, "two": 2, "three": 2}, 6, "three members")
        agent.call("member_stop", name="two")
        scenario.wait_for_shares({"one": 3, "three": 3}, 6, "after one left")
        dead_owned = set(scenario.events.owned()["three"])
        mortal.kill()
        scenario.wait_for_shares({"one": 6}, 6, "after one died")
        stopped = agent.call("stream_stop", name="s")
        assert stopped["failed"] == []
        acked = {value for value, _, _ in stopped["acked"]}
        scenario.wait_for_values(acked, "everything acknowledged is read")
        counts = scenario.counts()
        assert set(counts) == acked
        # Only what the dead member had read and not yet committed may be seen again.
        partition_of = {value: partition for value, partition, _ in stopped["acked"]}
        again = {partition_of[value] for value, count in counts.items() if count > 1}
        allowed = dead_owned | self.may_read_again(scenario)
        assert again <= allowed, scenario.story_of(again - allowed)

    @pytest.mark.parametrize("assignor", ["range", "cooperative"])
    def test_sees_an_expansion_under_way(self, scenario, unique, assignor):
        topic, group = unique("topic"), unique("group")
        agent = scenario.agent()
        agent.create_topic(topic, partitions=3)
        member = dict(group=group, topic=topic, assignor=assignor, metadata_age_ms=METADATA_AGE_MS)
        agent.call("stream_start", name="s", topic=topic, metadata_age_ms=METADATA_AGE_MS)
        agent.call("member_start", name="one", **member)
        agent.call("member_start", name="two", **member)
        agent.call("member_start", name="three", **member)
        scenario.wait_for_shares({"one": 1, "two": 1, "three": 1}, 3, "before the expansion")
        agent.create_partitions(topic, 6)
        scenario.events.wait(
            lambda events: {3, 4, 5} <= {e["partition"] for e in events if e.get("event") == "partition"},
            30, "the producer writes to the new partitions")
        scenario.wait_for_shares({"one": 2, "two": 2, "three": 2}, 6, "after the expansion")
        stopped = agent.call("stream_stop", name="s")
        assert stopped["failed"] == []
        acked = {value for value, _, _ in stopped["acked"]}
        scenario.wait_for_values(acked, "everything acknowledged is read")
        for name in ("one", "two", "three"):
            agent.call("member_stop", name=name)
        assert set(scenario.counts()) == acked
        partition_of = {value: partition for value, partition, _ in stopped["acked"]}
        twice = {partition_of[value] for value, count in scenario.counts().items() if count > 1}
        allowed = self.may_read_again(scenario)
        assert twice <= allowed, "every record exactly once\n" + scenario.story_of(twice - allowed)
        assert {r["partition"] for r in scenario.events.records()} == set(range(6))
        ends = collections.Counter(partition for _, partition, _ in stopped["acked"])
        committed = agent.call("committed", group=group, topic=topic)["offsets"]
        assert committed == {str(partition): ends[partition] for partition in range(6)}
