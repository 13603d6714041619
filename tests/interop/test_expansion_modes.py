"""The modes of an expansion and the test controls, with real clients: what each of them does with a nudge, with seeded
offsets and with a fence is told in docs/expansion.md, and shown here."""

import concurrent.futures
import os
import random
import subprocess
import time

import confluent_kafka
import confluent_kafka.admin
import pytest

import clients
import harness
import insight
import matrix
from scenarios import Scenario

# Members that start together are to share from the first record on.
BROKER_PROPERTIES = {"auto.create.topics.enable": "false", "group.initial.rebalance.delay.ms": 1000,
                     "group.consumer.min.heartbeat.interval.ms": 500, "group.consumer.heartbeat.interval.ms": 500}

pytestmark = pytest.mark.skipif(harness.TARGET != "partita", reason="modes are Partita's own")

LIBRARIES = ["java", "librdkafka", "franz-go", "sarama", "kafkajs"]
#: Those with the group protocol of KIP-848.
NEW_PROTOCOL = ["java", "librdkafka"]
#: Metadata that is as good as never refreshed by itself.
STALE_MS = 600_000
FRESH_MS = 300
#: Keys of a stream. The values of a key are so far apart that one is acknowledged before the next is sent: what is in
#: flight at the same time has no order in Kafka, either.
KEYS = 499
#: Expansions under way that the fence is tried with; each writes at least RECORDS.
ROUNDS = 20 if harness.LONG_TESTS else 1
RECORDS = 5000


@pytest.fixture(params=LIBRARIES)
def scenario(request, broker):
    """Agents of one library, and what they report."""
    started = Scenario(matrix.CLIENTS[request.param], broker.bootstrap)
    yield started
    started.close()


def owned(scenario, member, partitions, seconds=20):
    scenario.events.wait(lambda _: scenario.events.owned().get(member) == list(range(partitions)), seconds,
                         f"{member} owns {partitions} partitions")


def delivered(scenario, topic):
    """Values in the order in which members were given them (the machine's clock is the same for all of them), each
    once: what is read again after a restart is not out of order."""
    records = sorted((record for record in scenario.events.records() if record["topic"] == topic),
                     key=lambda record: record["at_ns"])
    return list(dict.fromkeys(int(record["value"]) for record in records))


def overtaken(values):
    """Records that came before an earlier one of their key."""
    newest, count = {}, 0
    for value in values:
        key = value % KEYS
        count += value < newest.get(key, -1)
        newest[key] = max(value, newest.get(key, -1))
    return count


# What refusals say, through Kafka's own tool ----------------------------------------------------------


def create(tools, topic, partitions, **configs):
    """kafka-topics refuses configs that it does not know before it asks any broker; kafka-configs does not."""
    tools("kafka-topics", "--create", "--topic", topic, "--partitions", partitions).succeeded()
    given = ",".join(f"partita.{name.replace('_', '.')}={value}" for name, value in configs.items())
    tools("kafka-configs", "--alter", "--entity-type", "topics", "--entity-name", topic,
          "--add-config", given).succeeded()


def test_kafka_topics_prints_why_a_guarded_topic_does_not_grow(tools, unique):
    topic, group = unique("topic"), unique("group")
    create(tools, topic, 2, expansion_mode="guarded", expansion_guard_quiet_ms=0)
    tools("kafka-console-producer", "--topic", topic, input="1\n2\n3\n").succeeded()
    tools("kafka-consumer-groups", "--group", group, "--topic", topic, "--reset-offsets", "--to-earliest",
          "--execute").succeeded()
    refused = tools("kafka-topics", "--alter", "--topic", topic, "--partitions", 4)
    assert refused.code == 1
    assert f"group {group} has not read 3 records (H03)" in refused.out + refused.err
    assert "growing from 2 to 4 partitions is refused" in refused.out + refused.err
    # Asked again, it is done.
    tools("kafka-topics", "--alter", "--topic", topic, "--partitions", 4).succeeded()
    tools("kafka-consumer-groups", "--group", group, "--topic", topic, "--reset-offsets", "--to-latest",
          "--execute").succeeded()
    # Drained, so nobody has to insist.
    tools("kafka-topics", "--alter", "--topic", topic, "--partitions", 6).succeeded()


def test_kafka_topics_prints_which_count_can_be_fenced(tools, unique):
    topic = unique("topic")
    create(tools, topic, 6, expansion_mode="fenced")
    refused = tools("kafka-topics", "--alter", "--topic", topic, "--partitions", 8)
    assert refused.code == 1
    assert "8 is not a multiple of 6" in refused.out + refused.err
    assert "Use 12 instead" in refused.out + refused.err
    tools("kafka-topics", "--alter", "--topic", topic, "--partitions", 12).succeeded()


# Seeds ------------------------------------------------------------------------------------------------

MODES = pytest.mark.parametrize("mode, skipped", [("faithful", 40), ("safe-offsets", 0)])


def read_until(scenario, agent, topic, partitions):
    """Writes markers until one of each of these partitions is read: whoever reads on `latest` may have begun behind the
    first ones."""
    def marker_is_read():
        agent.call("produce", topic=topic, records=[{"partition": p, "key": f"marker-{p}", "value": str(p * 1000)} for p in partitions])
        return {p * 1000 for p in partitions} <= set(delivered(scenario, topic))
    harness.wait_until(marker_is_read, 20, f"a record of each of {partitions} is read")


def write_early_records(agent, topic):
    agent.call("produce", topic=topic,
               records=[{"partition": p, "value": str(1 + 20 * (p - 2) + n)} for p in (2, 3) for n in range(20)])


def expect_skipped(scenario, broker, topic, group, mode, skipped):
    """Of the 40 early records so many were never read; the broker counts exactly the records before the first one that
    was, and says which groups it gave offsets to."""
    seeds = insight.ask(broker, f"topics/{topic}/protection")["seeds"]
    assert [epoch["groups"][0]["group"] for epoch in seeds] == ([] if mode == "faithful" else [group])
    values = delivered(scenario, topic)
    assert 40 - len([value for value in values if 1 <= value <= 40]) == skipped
    first = {p: min(record["offset"] for record in scenario.events.records() if record["partition"] == p) for p in (2, 3)}
    never_read = sum(first.values())
    assert (never_read == 0) == (skipped == 0)
    if never_read:
        insight.wait_for_count(broker, topic, "H20", never_read, group=group)
    else:
        # In the same look as it finds something that is there, the broker does not find this.
        witness = confluent_kafka.Consumer({"bootstrap.servers": broker.bootstrap, "group.id": f"witness-{group}"})
        witness.commit(offsets=[confluent_kafka.TopicPartition(topic, p, p - 1) for p in (1, 2)], asynchronous=False)
        insight.wait_for(broker, topic, "H03", group=f"witness-{group}")
        witness.close()
        assert insight.finding(broker, topic, "H20") is None


@MODES
def test_what_a_group_on_latest_skips(scenario, broker, unique, mode, skipped):
    agent, topic, group = scenario.agent(), unique("topic"), unique("group")
    # Consumers learn of the expansion last, every time.
    agent.create_topic(topic, 2, configs={"partita.expansion.mode": mode,
                                          "partita.visibility.consumers.delay.ms": "-1"})
    agent.call("member_start", name="m", group=group, topic=topic, reset="latest", client_id=group,
               metadata_age_ms=FRESH_MS)
    owned(scenario, "m", 2)
    # The group has commits from its first record on.
    read_until(scenario, agent, topic, (0, 1))
    agent.call("create_partitions", topic=topic, count=4)
    write_early_records(agent, topic)
    assert scenario.events.owned()["m"] == [0, 1]
    insight.ask(broker, f"topics/{topic}/visibility?consumers=released", "POST")
    owned(scenario, "m", 4)
    read_until(scenario, agent, topic, (2, 3))
    expect_skipped(scenario, broker, topic, group, mode, skipped)
    agent.call("member_stop", name="m")


@pytest.mark.parametrize("scenario", NEW_PROTOCOL, indirect=True)
@MODES
def test_what_a_group_of_kip_848_on_latest_skips(scenario, broker, unique, mode, skipped):
    """Its members are given new partitions within a heartbeat; so it is away when the topic grows."""
    agent, topic, group = scenario.agent(), unique("topic"), unique("group")
    agent.create_topic(topic, 2, configs={"partita.expansion.mode": mode})
    member = dict(group=group, topic=topic, reset="latest", client_id=group, protocol="consumer")
    agent.call("member_start", name="before", **member)
    owned(scenario, "before", 2)
    read_until(scenario, agent, topic, (0, 1))
    agent.call("member_stop", name="before")
    agent.create_partitions(topic, 4)
    write_early_records(agent, topic)
    agent.call("member_start", name="after", **member)
    owned(scenario, "after", 4)
    read_until(scenario, agent, topic, (2, 3))
    expect_skipped(scenario, broker, topic, group, mode, skipped)
    agent.call("member_stop", name="after")


# The fence --------------------------------------------------------------------------------------------


class Growth:
    """Rounds in which a topic grows from 6 to 12 while a producer writes, and of a group of two members the one that has
    the old partitions stands still."""

    def __init__(self, scenario, broker, unique, mode, protocol):
        self.scenario, self.broker, self.unique, self.mode, self.protocol = scenario, broker, unique, mode, protocol
        self.agents = {"one": scenario.agent(), "two": scenario.agent()}
        # Whatever the readers are, the writer is the Java client: it paces itself, others queue up what they send.
        self.writer = clients.Agent(matrix.CLIENTS["java"], broker.bootstrap, scenario.events)
        scenario.agents.append(self.writer)
        self.records = self.overtaken = 0

    def run(self):
        """How many records were overtaken in all rounds."""
        for seed in range(ROUNDS):
            self.round(seed)
            self.scenario.events.forget()
        assert self.records >= ROUNDS * RECORDS
        return self.overtaken

    def round(self, seed):
        topic, group = self.unique("topic"), self.unique("group")
        self.writer.create_topic(topic, 6, configs={"partita.expansion.mode": self.mode})
        # That the group has read nothing is known, and so it can be proven what it reads too early.
        by_hand = confluent_kafka.Consumer({"bootstrap.servers": self.broker.bootstrap, "group.id": group})
        by_hand.commit(offsets=[confluent_kafka.TopicPartition(topic, p, 0) for p in range(6)], asynchronous=False)
        by_hand.close()
        names = {f"{name}-{seed}": agent for name, agent in self.agents.items()}
        if not self.records:
            # A JVM that has had a consumer before makes the next one soon enough for the group's first generation.
            for agent in self.agents.values():
                agent.call("read", topic=topic, count=1, timeout_ms=500)
        choreography = self.join_behind_the_growth if self.protocol == "classic" else self.be_there_when_it_grows
        values = choreography(names, topic, group, random.Random(seed))
        self.scenario.wait_for_values(values, "everything acknowledged is read", topic=topic)
        for name, agent in names.items():
            agent.call("member_stop", name=name)
        self.records += len(values)
        self.overtaken += overtaken(delivered(self.scenario, topic))
        # The broker has proven what was read out of order, and accuses nobody else.
        assert (insight.finding(self.broker, topic, "H06", group=group) is None) == (self.mode == "fenced")

    def join_behind_the_growth(self, names, topic, group, chance):
        """A classic group with a backlog: a member that stands still would hold up every rebalance."""
        values = self.write_while_it_grows(topic, chance)
        slow = self.start(names, topic, group, 12)
        with names[slow].process.stopped():
            self.wait_for_what_the_other_does(topic, group)
        return values

    def be_there_when_it_grows(self, names, topic, group, chance):
        """A group of KIP-848, whose coordinator gives the new partitions to the member that is awake."""
        slow = self.start(names, topic, group, 6, protocol=self.protocol)
        with names[slow].process.stopped():
            values = self.write_while_it_grows(topic, chance)
            self.wait_for_what_the_other_does(topic, group)
        return values

    def start(self, names, topic, group, partitions, **protocol):
        """Returns the member that has partition 0."""
        settings = {"assignor": "range", **protocol}
        if self.scenario.client.name == "kafkajs":
            # Its own assignor gives a new partition and the old one that its keys come from to one member. And it reads all
            # that there is before anybody can stop it.
            settings = {"assignor": "own-range", "batch_ms": 1000}
        # At the same time: kafkajs answers when the member has joined, and a first member alone would read everything.
        with concurrent.futures.ThreadPoolExecutor() as pool:
            for started in [pool.submit(agent.call, "member_start", name=name, group=group, topic=topic, client_id=name,
                                        **settings) for name, agent in names.items()]:
                started.result()
        self.scenario.wait_for_shares({name: partitions // 2 for name in names}, partitions, "each member has its half")
        slow, = (name for name, owned_now in self.scenario.events.owned().items() if name in names and 0 in owned_now)
        return slow

    def write_while_it_grows(self, topic, chance):
        """Returns the values that were acknowledged. When the topic grows is different each time."""
        events = self.scenario.events
        self.writer.call("stream_start", name=topic, topic=topic, keys=KEYS, interval_us=150, metadata_age_ms=FRESH_MS)

        def acked(count):
            events.wait(lambda told: any(e.get("stream") == topic and e.get("acked", 0) >= count for e in told), 60,
                        f"{count} records are written")
        before = chance.randint(2, 5) * 1000
        acked(before)
        self.writer.call("create_partitions", topic=topic, count=12)
        events.wait(lambda told: any(e.get("stream") == topic and e.get("partition", 0) >= 6 for e in told), 60,
                    "the producer knows the new partitions")
        acked(max(before + 2000, RECORDS))
        return {value for value, _, _ in self.writer.call("stream_stop", name=topic)["acked"]}

    def wait_for_what_the_other_does(self, topic, group):
        """It is made to wait; or the broker has proven what became of the order."""
        def done():
            if self.mode == "fenced":
                fence = insight.ask(self.broker, f"topics/{topic}/protection")["fence"]
                return any(waiting["group"] == group for waiting in fence["waiting"])
            return insight.finding(self.broker, topic, "H06", group=group)
        def told():
            producers = insight.ask(self.broker, f"topics/{topic}/producers")
            return (f"the other member reads, or waits; open: {insight.ask(self.broker, f'findings?topic={topic}')['findings']}; "
                    f"keys: {producers['keys'] and producers['keys']['distinct_by_partition']}")
        harness.wait_until(done, 20, told)


@pytest.mark.parametrize("scenario, protocol", [("java", "classic"), ("java", "consumer"), ("librdkafka", "classic"),
                                                ("franz-go", "classic"), ("sarama", "classic"), ("kafkajs", "classic")],
                         indirect=["scenario"])
def test_a_fenced_topic_keeps_the_order_of_keys(scenario, broker, unique, protocol):
    assert Growth(scenario, broker, unique, "fenced", protocol).run() == 0


@pytest.mark.parametrize("scenario, protocol", [("java", "classic"), ("java", "consumer")], indirect=["scenario"])
def test_a_faithful_topic_does_not_keep_the_order_of_keys(scenario, broker, unique, protocol):
    """And the broker proves it while it happens."""
    assert Growth(scenario, broker, unique, "faithful", protocol).run() > 0


# Controls ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("scenario, by", [("java", "HTTP"), ("java", "config"), ("librdkafka", "HTTP"), ("franz-go", "config"),
                                          ("sarama", "HTTP"), ("kafkajs", "config")], indirect=["scenario"])
def test_a_nudged_consumer_finds_new_partitions_at_once(scenario, broker, unique, by):
    agent, topic, group = scenario.agent(), unique("topic"), unique("group")
    agent.create_topic(topic, 2)
    agent.call("member_start", name="m", group=group, topic=topic, client_id=group, metadata_age_ms=STALE_MS)
    owned(scenario, "m", 2)
    agent.call("produce", topic=topic, records=[{"partition": p, "value": str(p)} for p in (0, 1)])
    scenario.wait_for_values({0, 1}, "the consumer fetches")
    agent.call("create_partitions", topic=topic, count=4)
    if by == "HTTP":
        insight.ask(broker, f"topics/{topic}/nudge", "POST")
    else:
        agent.call("set_topic_config", topic=topic, config="partita.nudge", value="1")
    # The others ask for the leader again, but look at partition counts only when their metadata's age is over.
    finds = 4 if scenario.client.name in ("java", "franz-go", "kafkajs") else 2
    owned(scenario, "m", finds)
    # Nothing is lost or read again by it.
    agent.call("produce", topic=topic, records=[{"partition": p, "value": str(p + 10)} for p in range(finds)])
    scenario.wait_for_values({p + 10 for p in range(finds)}, "the consumer goes on")
    assert sorted(scenario.counts().elements()) == [0, 1] + [p + 10 for p in range(finds)]
    agent.call("member_stop", name="m")


def control(broker, *arguments):
    """`partita control ...`, asked of the broker's HTTP side."""
    binary = os.environ.get("PARTITA_BINARY") or harness.HERE.parents[1] / "build" / "release" / "partita"
    subprocess.run([binary, "control", *arguments, "--http", insight.address(broker)], check=True, capture_output=True, timeout=60)


class Sighting:
    """A producer and a consumer of a topic, that have shown by what they do which of both they are."""

    def __init__(self, broker, topic, unique):
        self.topic = topic
        common = {"bootstrap.servers": broker.bootstrap}
        self.producer = confluent_kafka.Producer({**common, "client.id": unique("producer")})
        self.producer.produce(topic, b"value", partition=0)
        assert self.producer.flush(60) == 0
        self.consumer = confluent_kafka.Consumer({**common, "client.id": unique("consumer"), "group.id": "unused",
                                                  "enable.auto.commit": False})
        self.consumer.assign([confluent_kafka.TopicPartition(topic, 0, 0)])
        assert harness.wait_until(lambda: self.consumer.poll(0.1), 20, "the consumer reads").error() is None
        # A role is known by client id and address: a name that others use, too, would be both.
        self.stranger = confluent_kafka.admin.AdminClient({**common, "client.id": unique("stranger")})

    def counts(self):
        """How many partitions each of them sees."""
        return {role: len(client.list_topics(self.topic, timeout=60).topics[self.topic].partitions)
                for role, client in (("producers", self.producer), ("consumers", self.consumer), ("strangers", self.stranger))}


@pytest.mark.parametrize("hidden", ["producers", "consumers"])
def test_one_role_sees_new_partitions_when_it_is_released(broker, unique, hidden):
    topic = unique("topic")
    insight.create(broker, topic, 2)
    clients_of_topic = Sighting(broker, topic, unique)
    control(broker, "visibility", topic, f"--{hidden}", "until-released")
    insight.grow(broker, topic, 4)
    assert clients_of_topic.counts() == {"producers": 4, "consumers": 4, "strangers": 4, hidden: 2}
    control(broker, "visibility", topic, f"--{hidden}", "released")
    assert clients_of_topic.counts() == {"producers": 4, "consumers": 4, "strangers": 4}


@pytest.mark.parametrize("hidden", ["producers", "consumers"])
def test_one_role_sees_new_partitions_after_its_delay(broker, unique, hidden):
    topic, delay_s = unique("topic"), 2
    insight.create(broker, topic, 2, **{f"partita.visibility.{hidden}.delay.ms": str(delay_s * 1000)})
    clients_of_topic = Sighting(broker, topic, unique)
    before = time.time()
    insight.grow(broker, topic, 4)

    def seen():
        counts = clients_of_topic.counts()
        assert {count for role, count in counts.items() if role != hidden} == {4}
        return counts[hidden] == 4
    harness.wait_until(seen, 20, f"{hidden} see the new partitions")
    # The broker's clock is in milliseconds.
    assert time.time() - before >= delay_s - 0.001
