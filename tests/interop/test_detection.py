"""What our broker finds out about real producers: which partitioner they use, and whether they know the new count."""

import re

import confluent_kafka
import pytest

import clients
import harness
import insight

BROKER_PROPERTIES = {"auto.create.topics.enable": "false"}

# Kafka looks at no keys.
pytestmark = pytest.mark.skipif(harness.TARGET != "partita", reason="detection is Partita's own")

KEYS = [f"user-{number}" for number in range(120)]


def produce_with_java(tools, topic, keys):
    tools("kafka-console-producer", "--topic", topic, "--reader-property", "parse.key=true",
          "--reader-property", "key.separator=:", input="".join(f"{key}:value\n" for key in keys)).succeeded()


class Librdkafka:
    """A producer that refreshes its metadata only when it is told to."""

    def __init__(self, broker, name, **settings):
        self.producer = confluent_kafka.Producer({
            "bootstrap.servers": broker.bootstrap, "client.id": name, "topic.metadata.refresh.interval.ms": -1,
            "metadata.max.age.ms": 86_400_000, "linger.ms": 5, **settings})

    def produce(self, topic, keys, value=b"value"):
        placed = {}
        for key in keys:
            self.producer.produce(topic, key=key, value=value,
                                  on_delivery=lambda error, message: placed.update({message.key().decode(): message.partition()}))
        assert self.producer.flush(60) == 0
        assert placed.keys() == set(keys)
        return placed

    def choose(self, topic, partition_of, value=b"value"):
        """Gives the partition of each key explicitly."""
        for key, partition in partition_of.items():
            self.producer.produce(topic, key=key, value=value, partition=partition)
        assert self.producer.flush(60) == 0

    def refresh(self, topic):
        self.producer.list_topics(topic, timeout=60)


def events(broker, topic, finding, kind=""):
    """opened, updated and closed of a finding, in order, with their whole lines; of a danger or harm alone where `kind` says so."""
    text = broker.log_path.read_text(errors="replace")
    lines = [line for line in text.splitlines() if f"finding={finding} " in line and f"topic={topic} " in line and f" kind={kind}" in line]
    return [(re.search(r" event=(\w+) ", line).group(1), line) for line in lines]


def wait_for_event(broker, topic, finding, event, kind=""):
    def last():
        seen = events(broker, topic, finding, kind)
        return seen[-1][1] if seen and seen[-1][0] == event else None
    harness.wait_until(last, 15, f"{finding} {event} for {topic}; there is {events(broker, topic, finding)}")
    return last()


def test_producers_that_disagree_are_named_with_their_partitioners(broker, tools, unique):
    topic = unique("topic")
    insight.create(broker, topic, 6)
    Librdkafka(broker, "c-service").produce(topic, KEYS)
    produce_with_java(tools, topic, KEYS)
    line = wait_for_event(broker, topic, "H08", "opened")
    assert "severity=block" in line
    assert re.search(r"c-service \(/127\.0\.0\.1, librdkafka [^)]*\): crc32-uns", line) or "crc32-uns" in line
    assert "murmur2-pos" in line and "apache-kafka-java" in line
    # Every key that the two place differently lies in two partitions.
    assert wait_for_event(broker, topic, "H09", "opened")


def test_a_stale_producer_is_proven_and_cleared(broker, unique):
    topic = unique("topic")
    insight.create(broker, topic, 6)
    producer = Librdkafka(broker, "stale-service")
    before = producer.produce(topic, KEYS)
    insight.grow(broker, topic, 12)
    still = producer.produce(topic, KEYS)
    assert still == before, "it did not refresh by itself"
    line = wait_for_event(broker, topic, "H04", "opened")
    assert "client=stale-service" in line

    producer.refresh(topic)
    after = producer.produce(topic, KEYS)
    assert max(after.values()) > 5, "it knows the new count"
    moved = [key for key in KEYS if before[key] != after[key]]
    closed = wait_for_event(broker, topic, "H04", "closed", "danger")
    # Each record of a moved key that came for its old partition is a proof, no more and no less.
    assert f"count={len(moved)} " in closed
    # They lie where they lie.
    assert f"count={len(moved)} " in wait_for_event(broker, topic, "H04", "opened", "harm")


@pytest.mark.parametrize("partitioner", ["murmur2_random", "fnv1a_random", "consistent_random"])
def test_agreement_is_silence(broker, unique, partitioner):
    topic = unique("topic")
    insight.create(broker, topic, 3)
    for name in ("one", "two"):
        Librdkafka(broker, name, partitioner=partitioner).produce(topic, KEYS)
    disagreeing = unique("marker")
    insight.create(broker, disagreeing, 3)
    for kind in ("murmur2_random", "fnv1a_random"):
        Librdkafka(broker, kind, partitioner=kind).produce(disagreeing, KEYS)
    # What came later was found; so what came before had its chance.
    wait_for_event(broker, disagreeing, "H08", "opened")
    assert [event for finding in ("H04", "H08", "H09", "H11") for event in events(broker, topic, finding)] == []


def test_a_tombstone_that_misses_its_value_is_proven(broker, unique):
    topic = unique("topic")
    insight.create(broker, topic, 6, **{"cleanup.policy": "compact"})
    producer = Librdkafka(broker, "store")
    before = producer.produce(topic, KEYS)
    insight.grow(broker, topic, 8)
    fresh = Librdkafka(broker, "store-after-restart")
    orphans = wait_for_event(broker, topic, "H40", "opened")
    deleted = fresh.produce(topic, KEYS, value=None)
    missed = [key for key in KEYS if before[key] != deleted[key]]
    line = wait_for_event(broker, topic, "H41", "opened")
    assert f"count={len(missed)} " in line
    assert f"count={len(missed)} " in orphans


CHOSEN = {key: index % 5 for index, key in enumerate(KEYS)}


def expect_choosing(broker, topic):
    """Waits until the one producer of the topic is listed as choosing its partitions, and the plan says so as well."""
    def habits():
        return [producer["verdict"]["habit"] for producer in insight.ask(broker, f"topics/{topic}/producers")["producers"]]
    harness.wait_until(lambda: habits() == ["explicit-or-custom"], 15, habits)
    judged = insight.ask(broker, f"topics/{topic}/expansion?to=12")
    assert judged["partitioner"]["name"] == "explicit-or-custom", judged["partitioner"]
    assert judged["verdict"] == "unknown" and judged["moved"] is None
    unused, = [one for one in judged["findings"] if one["id"] == "H12"]
    assert "chooses partitions explicitly" in unused["condition"]


def test_a_librdkafka_producer_that_gives_the_partition_is_named_before_and_after_the_growth(broker, unique):
    topic = unique("topic")
    insight.create(broker, topic, 6, **{"partita.expansion.window.ms": "1000"})
    producer = Librdkafka(broker, "chooser")
    for _ in range(8):
        producer.choose(topic, CHOSEN)
    expect_choosing(broker, topic)
    insight.grow(broker, topic, 12)
    for _ in range(8):
        producer.choose(topic, CHOSEN)
    unused = insight.wait_for(broker, topic, "H12")
    harness.wait_until(lambda: "chooser" in insight.finding(broker, topic, "H12")["condition"], 15, "H12 names the producer")
    assert unused["count"] == 6
    assert [event for finding in ("H04", "H05", "H08", "H11") for event in events(broker, topic, finding)] == []


def test_a_java_producer_that_gives_the_partition_is_named(broker, unique):
    topic = unique("topic")
    insight.create(broker, topic, 6)
    # Far more than fits into a few batches: what a batch holds may have been sent at once, and on a busy machine what several hold.
    records = [{"key": key, "value": "v" * 200, "partition": partition} for _ in range(160) for key, partition in CHOSEN.items()]
    agent = clients.Agent(clients.java, broker.bootstrap)
    try:
        agent.expect_partitions(topic, 6)
        agent.call("produce", topic=topic, records=records)
        expect_choosing(broker, topic)
    finally:
        agent.close()


def test_keys_that_all_go_to_one_chosen_partition_are_named(broker, unique):
    topic = unique("topic")
    insight.create(broker, topic, 6)
    Librdkafka(broker, "fixed").choose(topic, dict.fromkeys(KEYS, 4))
    def habits():
        return [producer["verdict"]["habit"] for producer in insight.ask(broker, f"topics/{topic}/producers")["producers"]]
    harness.wait_until(lambda: habits() == ["one-partition"], 15, habits)
    assert insight.ask(broker, f"topics/{topic}/expansion?to=12")["partitioner"]["name"] == "one-partition"
