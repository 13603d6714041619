"""The modes of an expansion and the test controls, with real clients: what each of them does with a nudge, with seeded
offsets and with a fence is told in docs/expansion.md, and shown here."""

import json
import os
import re
import signal
import urllib.request

import confluent_kafka
import confluent_kafka.admin
import pytest

import clients
import harness
import matrix
from scenarios import Scenario

# Members that start together are to share from the first record on.
BROKER_PROPERTIES = {"auto.create.topics.enable": "false", "group.initial.rebalance.delay.ms": 1000}

pytestmark = pytest.mark.skipif(harness.TARGET != "partita", reason="modes are Partita's own")

LIBRARIES = ["java", "librdkafka", "franz-go"]
#: Those whose agents say when a record came, and take `reset`.
EXACT = ["java", "librdkafka"]
if harness.LONG_TESTS:
    LIBRARIES += ["sarama", "kafkajs"]
#: Metadata that is as good as never refreshed by itself.
STALE_MS = 600_000
FRESH_MS = 300
#: Keys of a stream. The values of a key are so far apart that one is acknowledged before the next is sent: what is in
#: flight at the same time has no order in Kafka, either.
KEYS = 499


@pytest.fixture(params=LIBRARIES)
def scenario(request, broker):
    """Agents of one library, and what they report."""
    started = Scenario(matrix.CLIENTS[request.param], broker.bootstrap)
    yield started
    started.close()


def http(broker, method, path):
    address = re.findall(r"http listening address=(\S+)", broker.log_path.read_text())[-1]
    request = urllib.request.Request(f"http://{address}/v1/topics/{path}", method=method)
    with urllib.request.urlopen(request, timeout=10) as answer:
        return json.load(answer)


def owned(scenario, member, partitions, seconds=20):
    scenario.events.wait(lambda _: scenario.events.owned().get(member) == list(range(partitions)), seconds,
                         f"{member} owns {partitions} partitions")


def delivered(scenario):
    """Values in the order in which members were given them (the machine's clock is the same for all of them), each
    once: what is read again after a restart is not out of order."""
    records = sorted(scenario.events.records(), key=lambda record: record["at_ns"])
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
    assert "Take 12 instead" in refused.out + refused.err
    tools("kafka-topics", "--alter", "--topic", topic, "--partitions", 12).succeeded()


# Seeds ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("scenario", EXACT, indirect=True)
@pytest.mark.parametrize("mode, skipped", [("faithful", 40), ("safe-offsets", 0)])
def test_what_a_group_on_latest_skips(scenario, broker, unique, mode, skipped):
    agent, topic, group = scenario.agent(), unique("topic"), unique("group")
    # Consumers learn of the expansion last, every time.
    agent.create_topic(topic, 2, configs={"partita.expansion.mode": mode,
                                          "partita.visibility.consumers.delay.ms": -1})
    agent.call("member_start", name="m", group=group, topic=topic, reset="latest", client_id=group,
               metadata_age_ms=FRESH_MS)
    owned(scenario, "m", 2)
    # The group has commits from its first record on.
    def one_is_read():
        agent.call("produce", topic=topic, records=[{"partition": p, "value": "-1"} for p in (0, 1)])
        return scenario.events.records()
    harness.wait_until(one_is_read, 20, "a record is read")
    agent.call("create_partitions", topic=topic, count=4)
    agent.call("produce", topic=topic,
               records=[{"partition": p, "value": str(20 * (p - 2) + n)} for p in (2, 3) for n in range(20)])
    assert scenario.events.owned()["m"] == [0, 1]
    http(broker, "POST", f"{topic}/visibility?consumers=released")
    owned(scenario, "m", 4)
    def marker_is_read():
        agent.call("produce", topic=topic, records=[{"partition": p, "value": str(p * 1000)} for p in (2, 3)])
        return {2000, 3000} <= set(delivered(scenario))
    harness.wait_until(marker_is_read, 20, "markers behind the skipped records are read")
    assert 40 - len([value for value in delivered(scenario) if 0 <= value < 40]) == skipped
    seeds = http(broker, "GET", f"{topic}/protection")["seeds"]
    assert [epoch["groups"][0]["group"] for epoch in seeds] == ([] if mode == "faithful" else [group])
    agent.call("member_stop", name="m")


class ConsumerProtocolReader:
    """librdkafka's consumer with the group protocol of KIP-848, on `latest`."""

    def __init__(self, broker, group, topic):
        self.broker, self.topic, self.values, self.owned = broker, topic, [], 0
        self.consumer = confluent_kafka.Consumer({
            "bootstrap.servers": broker.bootstrap, "group.id": group, "group.protocol": "consumer",
            "auto.offset.reset": "latest", "enable.auto.commit": False})
        self.consumer.subscribe([topic], on_assign=self.assigned)

    def assigned(self, consumer, partitions):
        self.owned += len(partitions)
        consumer.incremental_assign(partitions)

    def read_until(self, done, seconds=30):
        def reached():
            message = self.consumer.poll(0.2)
            if message is not None and message.error() is None:
                self.values.append(message.value().decode())
            return done()
        harness.wait_until(reached, seconds, lambda: f"{self.values} of {self.owned} partitions are not enough")

    def leave_with_a_commit(self):
        self.consumer.commit(asynchronous=False)
        self.consumer.close()


@pytest.mark.parametrize("mode, skipped", [("faithful", 40), ("safe-offsets", 0)])
def test_what_a_group_of_kip_848_on_latest_skips(broker, unique, mode, skipped):
    topic, group = unique("topic"), unique("group")
    admin = confluent_kafka.admin.AdminClient({"bootstrap.servers": broker.bootstrap})
    admin.create_topics([confluent_kafka.admin.NewTopic(topic, 2, 1, config={"partita.expansion.mode": mode})])[topic].result(20)
    producer = confluent_kafka.Producer({"bootstrap.servers": broker.bootstrap})

    def produce(partition, value):
        producer.produce(topic, partition=partition, value=value)
        assert producer.flush(20) == 0
    reader = ConsumerProtocolReader(broker, group, topic)
    reader.read_until(lambda: reader.owned == 2)
    def one_of_each_is_read():
        for partition in {0, 1} - {int(value) for value in reader.values}:
            produce(partition, str(partition))
        return len(set(reader.values)) == 2
    reader.read_until(one_of_each_is_read)
    reader.leave_with_a_commit()

    # While the group is away, the topic grows and records come.
    admin.create_partitions([confluent_kafka.admin.NewPartitions(topic, 4)])[topic].result(20)
    producer = confluent_kafka.Producer({"bootstrap.servers": broker.bootstrap})
    for number in range(40):
        producer.produce(topic, partition=2 + number % 2, value=f"early {number}")
    assert producer.flush(20) == 0
    reader = ConsumerProtocolReader(broker, group, topic)
    reader.read_until(lambda: reader.owned == 4)
    def markers_are_read():
        for partition in {2, 3} - {int(value[7:]) for value in reader.values if value.startswith("marker ")}:
            produce(partition, f"marker {partition}")
        return {"marker 2", "marker 3"} <= set(reader.values)
    reader.read_until(markers_are_read)
    assert 40 - len({value for value in reader.values if value.startswith("early ")}) == skipped
    reader.consumer.close()
    seeds = http(broker, "GET", f"{topic}/protection")["seeds"]
    assert [epoch["groups"][0]["group"] for epoch in seeds] == ([] if mode == "faithful" else [group])


# The fence --------------------------------------------------------------------------------------------


def overtaken_by_growing(scenario, broker, unique, mode):
    """Grows a topic from 6 to 12 while a producer writes and a group lags behind. Then the member that has the old
    partitions stands still for a moment. How many records the group was given too early."""
    agents = {"one": scenario.agent(), "two": scenario.agent()}
    # Whatever the readers are, the writer is the Java client: it paces itself, others queue up what they send.
    writer = clients.Agent(matrix.CLIENTS["java"], broker.bootstrap, scenario.events)
    scenario.agents.append(writer)
    topic, group = unique("topic"), unique("group")
    writer.create_topic(topic, 6, configs={"partita.expansion.mode": mode})
    writer.call("stream_start", name="s", topic=topic, keys=KEYS, interval_us=150, metadata_age_ms=FRESH_MS)

    def acked(count):
        scenario.events.wait(lambda events: any(e.get("stream") == "s" and e.get("acked", 0) >= count for e in events),
                             30, f"{count} records are written")
    acked(5000)
    writer.call("create_partitions", topic=topic, count=12)
    scenario.events.wait(lambda events: any(e.get("stream") == "s" and e.get("partition", 0) >= 6 for e in events), 30,
                         "the producer knows the new partitions")
    acked(7000)
    values = {value for value, _, _ in writer.call("stream_stop", name="s")["acked"]}
    for agent in agents.values():
        # A JVM that has had a consumer before makes the next one soon enough for the group's first generation.
        agent.call("read", topic=topic, count=1, timeout_ms=10_000)
    for name, agent in agents.items():
        agent.call("member_start", name=name, group=group, topic=topic, client_id=name, assignor="range")
    scenario.wait_for_shares({"one": 6, "two": 6}, 12, "each member has its half")
    slow, = (name for name, partitions in scenario.events.owned().items() if 0 in partitions)
    fast, = agents.keys() - {slow}
    os.kill(agents[slow].process.process.pid, signal.SIGSTOP)
    try:
        def fast_has_shown_what_it_may_do():
            if mode == "fenced":
                return any(waiting["group"] == group for waiting in http(broker, "GET", f"{topic}/protection")["fence"]["waiting"])
            return any(record["member"] == fast for record in scenario.events.records())
        harness.wait_until(fast_has_shown_what_it_may_do, 10, "the other member reads, or waits")
    finally:
        os.kill(agents[slow].process.process.pid, signal.SIGCONT)
    scenario.wait_for_values(values, "everything acknowledged is read")
    return overtaken(delivered(scenario))


@pytest.mark.parametrize("scenario", EXACT, indirect=True)
def test_a_fenced_topic_keeps_the_order_of_keys(scenario, broker, unique):
    assert overtaken_by_growing(scenario, broker, unique, "fenced") == 0


@pytest.mark.parametrize("scenario", ["java"], indirect=True)
def test_a_faithful_topic_does_not_keep_the_order_of_keys(scenario, broker, unique):
    assert overtaken_by_growing(scenario, broker, unique, "faithful") > 0


# Controls ---------------------------------------------------------------------------------------------


def test_a_nudged_consumer_finds_new_partitions_at_once(scenario, broker, unique):
    agent, topic, group = scenario.agent(), unique("topic"), unique("group")
    agent.create_topic(topic, 2)
    agent.call("member_start", name="m", group=group, topic=topic, client_id=group, metadata_age_ms=STALE_MS)
    owned(scenario, "m", 2)
    agent.call("produce", topic=topic, records=[{"partition": p, "value": str(p)} for p in (0, 1)])
    scenario.wait_for_values({0, 1}, "the consumer fetches")
    agent.call("create_partitions", topic=topic, count=4)
    http(broker, "POST", f"{topic}/nudge")
    # The others ask for the leader again, but look at partition counts only when their metadata's age is over.
    finds = 4 if scenario.client.name in ("java", "franz-go", "kafkajs") else 2
    owned(scenario, "m", finds)
    # Nothing is lost or read again by it.
    agent.call("produce", topic=topic, records=[{"partition": p, "value": str(p + 10)} for p in range(finds)])
    scenario.wait_for_values({p + 10 for p in range(finds)}, "the consumer goes on")
    assert sorted(scenario.counts().elements()) == [0, 1] + [p + 10 for p in range(finds)]
    agent.call("member_stop", name="m")
