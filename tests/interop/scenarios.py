"""What every client library must be able to do, written once; test_matrix.py derives ClientScenarios for each client of
the matrix. A scenario says by `column` where in docs/clients.md it counts, by `long` that it takes long, by `needs`
what a library may lack, and by `lacking` that it shows what a library does that lacks something.
"""

import collections

import pytest

import clients
import harness

SESSION_TIMEOUT_MS = 6000
REBALANCE_DEADLINE_S = 30
METADATA_AGE_MS = 300
MAXIMUM_PARTITIONS = 16

TOPIC_ALREADY_EXISTS = 36
UNKNOWN_TOPIC_OR_PARTITION = 3
INVALID_PARTITIONS = 37
NON_EMPTY_GROUP = 68
UNKNOWN_MEMBER_ID = 25

DEFAULT_MESSAGE_BYTES = 1_048_588


#: What takes long, and which most clients therefore run only with PARTITA_LONG_TESTS=1.
long = pytest.mark.long


def column(name):
    """The column of docs/clients.md in which a scenario counts."""
    return pytest.mark.column(name)


def needs(*features):
    """Skips a scenario for a client that lacks one of these, with the client's reason."""
    return pytest.mark.needs(*features)


def lacking(feature):
    """Only for clients that lack this: what they do instead."""
    return pytest.mark.lacking(feature)


def sample_records(partition=0, lacks=()):
    """Records with every shape of key, value and header, but for shapes that a library lacks."""
    start = 1_700_000_000_000
    shapes = [
        ("repeated_header", {"key": "key", "value": "value", "headers": [["a", "1"], ["b", "2"], ["a", "3"]]}),
        ("header", {"key": "key", "value": "value", "headers": [["a", "1"], ["b", "2"]]}),
        ("null_key", {"key": None, "value": "no key", "headers": []}),
        ("tombstone", {"key": "tombstone", "value": None, "headers": []}),
        ("empty_header", {"key": "empty header", "value": "value", "headers": [["empty", ""]]}),
        ("null_header", {"key": "null header", "value": "value", "headers": [["null", None]]}),
        ("empty", {"key": "", "value": "", "headers": []}),
        ("null_record", {"key": None, "value": None, "headers": []}),
        ("unicode", {"key": "naïve ключ 鍵", "value": "ünïcode", "headers": [["ключ", "значение"]]}),
    ]
    records = [record for shape, record in shapes if shape not in lacks]
    records += [{"key": f"k{n}", "value": f"{n} " + "compressible " * 20, "headers": []} for n in range(40)]
    for n, record in enumerate(records):
        record.update(partition=partition, timestamp=start + n)
    return records


def content(records):
    """The part of records that must come back as it was sent, ordered by offset."""
    return [(r["partition"], r["timestamp"], r["key"], r["value"], [tuple(h) for h in r["headers"]]) for r in records]


class Scenario:
    """One test's agents and events; closes whatever is left of them."""

    def __init__(self, client, bootstrap):
        self.client, self.bootstrap = client, bootstrap
        self.events = clients.EventLog()
        self.agents = []

    def agent(self, client=None):
        """A new process of this client, the test's own if none is named."""
        agent = clients.Agent(client or self.client, self.bootstrap, self.events)
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

    def wait_for_values(self, values, what, seconds=30, topic=None):
        def missing():
            return values - {int(record["value"]) for record in self.events.records() if topic in (None, record["topic"])}
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
    started = Scenario(request.cls.client, broker.bootstrap)
    yield started
    started.close()


@pytest.fixture(scope="class")
def agent(request, broker):
    """One client process that serves the simple tests of a class."""
    started = clients.Agent(request.cls.client, broker.bootstrap)
    yield started
    started.close()


class ClientScenarios:
    """The scenarios; a deriving class names its client."""

    #: A matrix.Client.
    client = None

    def samples(self, partition=0):
        return sample_records(partition, self.client.lacks)

    def can(self, feature):
        return feature not in self.client.lacks

    def with_configs(self, configs):
        """The configs of a topic to create, if the library can set any."""
        return {"configs": configs} if self.can("topic_configs") else {}

    def expect_text(self, text, error):
        if self.client.error_texts:
            assert text in error.message

    def may_read_again(self, scenario):
        """The partitions whose records may be seen twice, because the library itself commits too early or too late in
        a rebalance: it sends the old generation while its new one is on the way, and then reads again what it could
        not commit."""
        if self.client.reads_again:
            return set(range(MAXIMUM_PARTITIONS))
        if not self.client.commits_in_rebalances:
            return set()
        return scenario.events.refused_commits() | scenario.events.lost_after_refused_commits()

    def test_tells_its_version(self, agent, record_property):
        version = agent.call("version")["version"].lstrip("v")
        assert version[:1].isdigit()
        record_property("version", version)

    @column("topics")
    def test_creates_widens_and_deletes_a_topic(self, agent, unique):
        topic = unique("topic")
        agent.create_topic(topic, partitions=3, **self.with_configs({"retention.ms": "3600000"}))
        if self.can("create_partitions"):
            agent.create_partitions(topic, 5)
        agent.call("delete_topic", topic=topic)
        with pytest.raises(clients.ClientError) as gone:
            if self.can("create_partitions"):
                agent.call("create_partitions", topic=topic, count=6)
            else:
                agent.call("delete_topic", topic=topic)
        assert gone.value.code == UNKNOWN_TOPIC_OR_PARTITION

    @column("errors")
    def test_reports_an_existing_topic(self, agent, unique):
        topic = unique("topic")
        agent.create_topic(topic, partitions=1)
        with pytest.raises(clients.ClientError) as refused:
            agent.call("create_topic", topic=topic, partitions=1)
        assert refused.value.code == TOPIC_ALREADY_EXISTS
        self.expect_text(f"Topic '{topic}' already exists.", refused.value)

    @column("errors")
    @needs("create_partitions")
    def test_reports_counts_that_are_no_increase(self, agent, unique):
        topic = unique("topic")
        agent.create_topic(topic, partitions=3)
        for count, text in ((3, "Topic already has 3 partition(s)."),
                            (2, f"The topic {topic} currently has 3 partition(s); 2 would not be an increase.")):
            with pytest.raises(clients.ClientError) as refused:
                agent.call("create_partitions", topic=topic, count=count)
            assert refused.value.code == INVALID_PARTITIONS
            self.expect_text(text, refused.value)

    @column("errors")
    @needs("unknown_topic")
    def test_reports_an_unknown_topic(self, agent, unique):
        ack, = agent.call("produce", topic=unique("missing"), records=[{"key": None, "value": "x"}],
                          unknown_topic_wait_ms=1000)["acks"]
        assert ack.get("code") in self.client.unknown_topic_codes, ack

    @column("errors")
    @lacking("unknown_topic")
    def test_waits_for_a_topic_that_is_unknown(self, scenario, unique):
        topic = unique("missing")
        agent, creator = scenario.agent(), scenario.agent()
        with pytest.raises(harness.Deadline):
            agent.call("produce", seconds=3, topic=topic, records=[{"key": None, "value": "x"}],
                       unknown_topic_wait_ms=1000)
        creator.create_topic(topic, partitions=1)
        assert [r["value"] for r in creator.call("read", topic=topic, count=1, timeout_ms=20000)["records"]] == ["x"]

    @column("errors")
    def test_reports_a_record_that_is_too_large(self, agent, unique):
        topic = unique("topic")
        limit = 10_000 if self.can("topic_configs") else DEFAULT_MESSAGE_BYTES
        agent.create_topic(topic, partitions=1, **self.with_configs({"max.message.bytes": str(limit)}))
        small, large = ({"key": None, "value": "x" * size} for size in (limit - 1000, limit + 1000))
        ack, = agent.call("produce", topic=topic, records=[large])["acks"]
        assert ack.get("code") in self.client.too_large_codes, ack
        ack, = agent.call("produce", topic=topic, records=[small])["acks"]
        assert ack["offset"] == 0

    @column("codecs, headers, nulls")
    @pytest.mark.parametrize("codec", ["none"] + [
        pytest.param(codec, marks=needs(codec)) for codec in ("gzip", "snappy", "lz4", "zstd")])
    def test_reads_back_what_it_produced(self, agent, unique, codec):
        topic = unique("topic")
        agent.create_topic(topic, partitions=2)
        sent = self.samples(0) + self.samples(1)
        acks = agent.call("produce", topic=topic, codec=codec, records=sent)["acks"]
        for partition in (0, 1):
            offsets = [ack["offset"] for ack in acks if ack["partition"] == partition]
            assert offsets == list(range(len(sent) // 2))
        read = agent.call("read", topic=topic, count=len(sent), timeout_ms=20000)["records"]
        read.sort(key=lambda record: (record["partition"], record["offset"]))
        assert content(read) == content(sent)

    @column("acks 0, 1")
    @needs("acks")
    @pytest.mark.parametrize("acks", ["0", "1"])
    def test_produces_without_waiting_for_all(self, agent, unique, acks):
        topic = unique("topic")
        agent.create_topic(topic, partitions=1)
        sent = self.samples()
        agent.call("produce", topic=topic, acks=acks, idempotence=False, records=sent)
        read = agent.call("read", topic=topic, count=len(sent), timeout_ms=20000)["records"]
        assert content(read) == content(sent)

    @column("offsets by time")
    @needs("offsets_for_time")
    def test_finds_offsets_by_time(self, agent, unique):
        topic = unique("topic")
        agent.create_topic(topic, partitions=2)
        sent = self.samples(0)
        agent.call("produce", topic=topic, records=sent)
        first, last = sent[0]["timestamp"], sent[-1]["timestamp"]
        for timestamp, offset in ((first - 1000, 0), (first, 0), (first + 7, 7), (last, len(sent) - 1), (last + 1, -1)):
            answer = agent.call("offsets_for_time", topic=topic, timestamp=timestamp)["offsets"]
            assert answer == {"0": offset, "1": -1}, timestamp

    @column("idempotence")
    @needs("idempotence")
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

    @column("resume")
    @needs("groups")
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

    @column("leave and death")
    @needs("groups")
    @pytest.mark.parametrize("assignor", ["range", pytest.param("cooperative", marks=[long, needs("cooperative")])])
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

    @column("expansion")
    @needs("groups", "create_partitions", "consumer_expansion")
    @pytest.mark.parametrize("assignor", ["range", pytest.param("cooperative", marks=[long, needs("cooperative")])])
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
        self.wait_for_writes(scenario, {3, 4, 5})
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

    def wait_for_writes(self, scenario, partitions):
        scenario.events.wait(
            lambda events: partitions <= {e["partition"] for e in events if e.get("event") == "partition"},
            30, "the producer writes to the new partitions")

    @column("expansion")
    @lacking("consumer_expansion")
    def test_sees_an_expansion_at_the_next_rebalance(self, scenario, unique):
        topic, group = unique("topic"), unique("group")
        agent = scenario.agent()
        agent.create_topic(topic, partitions=3)
        member = dict(group=group, topic=topic, assignor="range", metadata_age_ms=METADATA_AGE_MS)
        agent.call("stream_start", name="s", topic=topic, metadata_age_ms=METADATA_AGE_MS)
        agent.call("member_start", name="one", **member)
        scenario.wait_for_shares({"one": 3}, 3, "before the expansion")
        agent.create_partitions(topic, 6)
        self.wait_for_writes(scenario, {3, 4, 5})
        assert scenario.events.owned() == {"one": [0, 1, 2]}
        agent.call("member_start", name="two", **member)
        scenario.wait_for_shares({"one": 3, "two": 3}, 6, "after a second member came")
        stopped = agent.call("stream_stop", name="s")
        assert stopped["failed"] == []
        acked = {value for value, _, _ in stopped["acked"]}
        scenario.wait_for_values(acked, "everything acknowledged is read")

    @column("expansion")
    @lacking("groups")
    def test_writes_and_reads_through_an_expansion(self, scenario, unique):
        """Another client widens the topic, for the library may lack that, too."""
        topic = unique("topic")
        agent, other = scenario.agent(), scenario.agent(clients.franz)
        agent.create_topic(topic, partitions=3)
        agent.call("stream_start", name="s", topic=topic, metadata_age_ms=METADATA_AGE_MS)
        self.wait_for_writes(scenario, {0, 1, 2})
        other.create_partitions(topic, 6)
        self.wait_for_writes(scenario, {3, 4, 5})
        stopped = agent.call("stream_stop", name="s")
        assert stopped["failed"] == []
        read = agent.call("read", topic=topic, count=len(stopped["acked"]), timeout_ms=30000)["records"]
        assert sorted([int(r["value"]), r["partition"], r["offset"]] for r in read) == sorted(stopped["acked"])

    @column("fenced")
    @long
    @needs("groups", "comes_back")
    def test_a_member_that_slept_too_long_is_fenced_and_comes_back(self, scenario, unique):
        """Its session ends while its process is stopped; nothing that it says afterwards counts, and it joins anew."""
        agent, slept = self.let_a_member_sleep(scenario, unique)
        scenario.wait_for_shares({"awake": 2, "sleeper": 2}, 4, "the sleeper is back")
        stopped = agent.call("stream_stop", name="s")
        assert stopped["failed"] == []
        acked = {value for value, _, _ in stopped["acked"]}
        scenario.wait_for_values(acked, "everything acknowledged is read")
        partition_of = {value: partition for value, partition, _ in stopped["acked"]}
        again = {partition_of[value] for value, count in scenario.counts().items() if count > 1}
        allowed = slept | self.may_read_again(scenario)
        assert again <= allowed, scenario.story_of(again - allowed)

    def let_a_member_sleep(self, scenario, unique):
        """A member has slept until its session ended, while another process's stream and member went on. Returns that
        process's agent, and what the sleeper owned."""
        topic, group = unique("topic"), unique("group")
        agent, sleeper = scenario.agent(), scenario.agent()
        agent.create_topic(topic, partitions=4)
        agent.call("stream_start", name="s", topic=topic, interval_us=5000)
        member = dict(group=group, topic=topic, assignor="range", session_timeout_ms=SESSION_TIMEOUT_MS)
        agent.call("member_start", name="awake", **member)
        sleeper.call("member_start", name="sleeper", **member)
        scenario.wait_for_shares({"awake": 2, "sleeper": 2}, 4, "two members")
        slept = set(scenario.events.owned()["sleeper"])
        # It sleeps while it reads, not while it still asks where to begin: librdkafka tells the application of such a
        # question when time has passed over it, and this agent gives up then.
        scenario.events.wait(
            lambda events: slept <= {e["partition"] for e in events if e.get("event") == "record" and
                                     e["member"] == "sleeper"}, 30, "the member that will sleep reads its partitions")
        with sleeper.process.stopped():
            scenario.wait_for_shares({"awake": 4}, 4, "the sleeper's session ended")
        return agent, slept

    @column("fenced")
    @long
    @lacking("comes_back")
    def test_a_member_that_slept_too_long_is_fenced_and_stays_away(self, scenario, unique):
        agent, _ = self.let_a_member_sleep(scenario, unique)
        scenario.events.may_fail("sleeper")
        scenario.events.wait(
            lambda events: [e for e in events if e.get("member") == "sleeper" and e["event"] == "failed" and
                            e["code"] == UNKNOWN_MEMBER_ID], 30, "the sleeper is told and gives up")
        stopped = agent.call("stream_stop", name="s")
        assert stopped["failed"] == []
        scenario.wait_for_values({value for value, _, _ in stopped["acked"]}, "the other member reads everything")

    @column("fenced")
    @needs("static_members")
    def test_a_second_member_of_an_instance_fences_the_first(self, scenario, unique):
        topic, group = unique("topic"), unique("group")
        first, second = scenario.agent(), scenario.agent()
        first.create_topic(topic, partitions=2)
        member = dict(group=group, topic=topic, assignor="range", instance_id="i", session_timeout_ms=SESSION_TIMEOUT_MS)
        first.call("member_start", name="first", **member)
        scenario.wait_for_shares({"first": 2}, 2, "the first member")
        scenario.events.may_fail("first")
        second.call("member_start", name="second", **member)
        scenario.wait_for_shares({"second": 2}, 2, "the second member")
        if "told_when_fenced" in self.client.lacks:
            return
        codes = scenario.events.wait(
            lambda events: [e["code"] for e in events if e.get("member") == "first" and e["event"] == "failed"], 30,
            "the first member is told")
        assert codes[0] in self.client.fenced_codes, codes

    @column("static members")
    @long
    @needs("static_members")
    def test_static_members_come_back_without_a_rebalance(self, scenario, unique):
        topic, group = unique("topic"), unique("group")
        agent, mortal = scenario.agent(), scenario.agent()
        agent.create_topic(topic, partitions=4)
        member = dict(group=group, topic=topic, assignor="range", session_timeout_ms=3 * SESSION_TIMEOUT_MS)
        agent.call("member_start", name="stays", instance_id="a", **member)
        mortal.call("member_start", name="before", instance_id="b", **member)
        scenario.wait_for_shares({"stays": 2, "before": 2}, 4, "two static members")
        share = scenario.events.owned()["before"]
        changes = len([e for e in scenario.events.events if e.get("member") == "stays"])
        mortal.kill()
        reborn = scenario.agent()
        reborn.call("member_start", name="after", instance_id="b", **member)
        scenario.wait_for_shares({"stays": 2, "after": 2}, 4, "the instance is back")
        assert scenario.events.owned()["after"] == share
        assert len([e for e in scenario.events.events if e.get("member") == "stays"]) == changes, \
            "the other member saw no rebalance"

    @column("admin")
    @needs("admin")
    def test_serves_the_usual_admin_calls(self, scenario, unique):
        topic, group = unique("topic"), unique("group")
        agent = scenario.agent()

        agent.create_topic(topic, partitions=1, **self.with_configs({"retention.ms": "3600000"}))
        assert topic in agent.call("list_topics")["topics"]
        if self.can("topic_config"):
            assert agent.call("topic_config", topic=topic, config="retention.ms")["value"] == "3600000"
        if self.can("set_topic_config"):
            agent.call("set_topic_config", topic=topic, config="retention.ms", value="7200000")
            harness.at_once(lambda: self.expect_config(agent, topic, "retention.ms", "7200000"))
        agent.call("produce", topic=topic, records=[{"key": None, "value": str(n)} for n in range(5)])
        if self.can("delete_records"):
            low = agent.call("delete_records", topic=topic, partition=0, offset=2)["low_watermark"]
            assert low == 2
            read = agent.call("read", topic=topic, count=3, timeout_ms=20000)["records"]
            assert [record["offset"] for record in read] == [2, 3, 4]
        if self.can("groups"):
            self.check_group_calls(agent, scenario, topic, group)

    def expect_config(self, agent, topic, config, value):
        assert agent.call("topic_config", topic=topic, config=config)["value"] == value

    def check_group_calls(self, agent, scenario, topic, group):
        agent.call("member_start", name="m", group=group, topic=topic, assignor="range")
        scenario.wait_for_shares({"m": 1}, 1, "the member")
        assert group in agent.call("list_groups")["groups"]
        if self.can("describe_group"):
            described = agent.call("describe_group", group=group)
            assert (described["state"].title(), described["members"]) == ("Stable", 1)
        if self.can("delete_group"):
            with pytest.raises(clients.ClientError) as refused:
                agent.call("delete_group", group=group)
            assert refused.value.code == NON_EMPTY_GROUP
        agent.call("member_stop", name="m")
        if self.can("delete_group"):
            agent.call("delete_group", group=group)
            assert group not in agent.call("list_groups")["groups"]
