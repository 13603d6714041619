"""What becomes of keys when a topic grows under real producers of several languages: who is stale and when that ends, who
parts from whom, what a compacted topic keeps, and that no client ever sees a partition missing."""

import contextlib

import pytest

import clients
import harness
import insight
import matrix

BROKER_PROPERTIES = {"auto.create.topics.enable": "false"}

pytestmark = pytest.mark.skipif(harness.TARGET != "partita", reason="findings are Partita's own")

KEYS = [f"user-{number}" for number in range(200)]
FAMILIES = {"java": "murmur2-pos", "platformatic": "murmur2-uns", "librdkafka": "crc32-uns", "sarama": "fnv1a-sabs"}


@contextlib.contextmanager
def agent_of(name, broker, events=None):
    started = clients.Agent(matrix.CLIENTS[name], broker.bootstrap, events)
    try:
        yield started
    finally:
        started.close()


def place(broker, name, topic, partitions):
    """Where a producer of that library, which begins now, puts KEYS: key -> partition."""
    with agent_of(name, broker) as agent:
        agent.expect_partitions(topic, partitions)
        acks = agent.call("produce", topic=topic, records=[{"key": key, "value": "value"} for key in KEYS])["acks"]
    return {key: ack["partition"] for key, ack in zip(KEYS, acks)}


def expect_scattered(broker, topic, before, now):
    """Waits until H09 counts the keys that producers put into different partitions. One of these may be where the key lay
    before the growth: then a stale producer explains it as well, and it is no proof."""
    apart = [key for key in KEYS if len({placed[key] for placed in now}) > 1]
    proven = [key for key in apart if before[key] not in {placed[key] for placed in now}]
    assert proven

    def counted():
        found = insight.finding(broker, topic, "H09")
        return found if found and len(proven) <= found["count"] <= len(apart) else None
    found = harness.wait_until(counted, 25, lambda: f"{len(proven)} to {len(apart)}: {insight.finding(broker, topic, 'H09')}")
    assert {one["key"] for one in found["examples"]} <= set(apart)


def plan(broker, topic, to):
    return insight.ask(broker, f"topics/{topic}/expansion?to={to}")


@pytest.mark.parametrize("name", ["java", "sarama"])
def test_a_stale_producer_is_proven_to_the_record_until_it_learns(broker, unique, name):
    topic, client_id = unique("topic"), unique("producer")[-20:]
    insight.create(broker, topic, 6)
    events = clients.EventLog()

    def told(condition, what):
        return events.wait(lambda all_events: any(condition(event) for event in all_events), 40, what)
    with agent_of(name, broker, events) as agent:
        agent.call("stream_start", name="s", topic=topic, keys=len(KEYS), interval_us=2000, metadata_age_ms=12_000,
                   client_id=client_id)
        told(lambda event: event.get("acked", 0) >= 1000, "every key was written")
        insight.grow(broker, topic, 12)
        stale = insight.wait_for(broker, topic, "H04", client_id=client_id)
        assert stale["count"] > 0 and stale["examples"]
        told(lambda event: event.get("partition", 0) >= 6, "the producer knows the new partitions")
        insight.wait_until_closed(broker, topic, "H04", kind="danger")
        assert insight.wait_for(broker, topic, "H04", kind="harm", client_id=client_id)["evidence"], "its records lie where they lie"
        written = max(event.get("acked", 0) for event in events.events)
        told(lambda event: event.get("acked", 0) >= written + 2 * len(KEYS), "every key was written once more")
        stopped = agent.call("stream_stop", name="s")
    # The count is exact: the producer's own acknowledgements are the truth.
    growth, = insight.ask(broker, f"topics/{topic}/expansions")["expansions"]
    cut = growth["log_end_offsets"]
    after = [(value % len(KEYS), partition, offset) for value, partition, offset in stopped["acked"]
             if partition >= 6 or offset >= cut[partition]]
    final = {key: partition for key, partition, _ in after}
    proofs = [(key, partition) for key, partition, _ in after if partition != final[key]]
    assert all(partition < 6 <= final[key] for key, partition in proofs), "from 6 to 12 keys move to new partitions alone"
    counted, = insight.ask(broker, f"topics/{topic}/producers")["producers"]
    assert counted["stale_records_seen"] == len(proofs) > 0
    # The epoch log has the moment at which it learned.
    switch, = growth["producer_switches"]
    assert switch["client_id"] == client_id
    assert switch["partition"] >= 6 and 0 < switch["stale_records"] <= len(proofs)


def test_clients_that_agree_at_8_part_at_12(broker, unique):
    topic = unique("topic")
    insight.create(broker, topic, 8)
    at_8, other = (place(broker, name, topic, 8) for name in ("java", "platformatic"))
    assert at_8 == other
    # Before: nothing is wrong yet, and the plan names both families. (The library does not say its name where it produces.)
    assert insight.finding(broker, topic, "H08") is insight.finding(broker, topic, "H09") is None
    judged = plan(broker, topic, 12)
    mixed, = [one for one in judged["findings"] if one["id"] == "H08"]
    assert "murmur2-pos" in mixed["condition"] and "murmur2-uns" in mixed["condition"]
    assert not [one for one in plan(broker, topic, 16)["findings"] if one["id"] == "H08"], "16 is a power of two as well"

    insight.grow(broker, topic, 12)
    expect_scattered(broker, topic, at_8, [place(broker, name, topic, 12) for name in ("java", "platformatic")])
    now = insight.wait_for(broker, topic, "H08")
    assert now["severity"] == "block"


def test_from_one_partition_on_every_family_goes_its_own_way(broker, unique):
    topic = unique("topic")
    insight.create(broker, topic, 1)
    for name in FAMILIES:
        assert set(place(broker, name, topic, 1).values()) == {0}
    judged = plan(broker, topic, 4)
    assert judged["verdict"] in ("unknown", "blocked") and judged["moved"] is None, "nothing can be known, and nothing is invented"
    assert [one["severity"] for one in judged["findings"] if one["id"] == "H08"] == ["warn"]
    insight.grow(broker, topic, 4)
    placed = {name: place(broker, name, topic, 4) for name in FAMILIES}
    names = list(FAMILIES)
    for first, second in [(one, other) for one in names for other in names if one < other]:
        if {first, second} != {"java", "platformatic"}:  # 4 is a power of two.
            assert placed[first] != placed[second], (first, second)
    mixed = harness.wait_until(lambda: all_named(insight.finding(broker, topic, "H08")), 25, "H08 names all")
    assert mixed["severity"] == "block"
    expect_scattered(broker, topic, dict.fromkeys(KEYS, 0), placed.values())


def all_named(mixed):
    return mixed if mixed and all(family in mixed["condition"] for family in FAMILIES.values()) else None


def test_a_compacted_topic_keeps_exactly_the_orphans_that_were_foretold(broker, unique):
    topic = unique("topic")
    insight.create(broker, topic, 4, **{"cleanup.policy": "compact"})
    with agent_of("java", broker) as agent:
        before = place(broker, "java", topic, 4)
        orphans, = [one for one in plan(broker, topic, 6)["findings"] if one["id"] == "H40"]
        moving = {one["key"]: one["to"] for one in orphans["examples"]}
        kept = sorted(moving)[:7]
        # What is deleted leaves nothing behind; of the others every one is listed.
        agent.call("produce", topic=topic, records=[{"key": key, "value": None} for key in KEYS if key not in kept])
        foretold, = [one for one in plan(broker, topic, 6)["findings"] if one["id"] == "H40"]
        assert foretold["count"] == len(kept)
        assert {one["key"]: (one["from"], one["to"]) for one in foretold["examples"]} == {
            key: (before[key], moving[key]) for key in kept}
        insight.grow(broker, topic, 6)
        agent.expect_partitions(topic, 6)
        # At 4 the producer's partitioner has a twin, which would put half of the keys elsewhere at 6; those are not counted
        # until what is written now tells the two apart.
        agent.call("produce", topic=topic, records=[{"key": key, "value": "new"} for key in KEYS if key not in kept])
        found = insight.wait_for_count(broker, topic, "H40", len(kept))
        assert sorted(one["key"] for one in found["examples"]) == kept
        # A tombstone of a producer that knows the new count does not reach its value: proven for those three.
        acks = agent.call("produce", topic=topic, records=[{"key": key, "value": None} for key in kept[:3]])["acks"]
        assert [ack["partition"] for ack in acks] == [moving[key] for key in kept[:3]]
        missed = insight.wait_for_count(broker, topic, "H41", 3)
        assert sorted(one["key"] for one in missed["examples"]) == kept[:3]
        # Tombstones where the values are end it.
        agent.call("produce", topic=topic, records=[{"key": key, "value": None, "partition": before[key]} for key in kept])
        insight.wait_until_closed(broker, topic, "H41")
        insight.wait_until_closed(broker, topic, "H40")


@pytest.mark.parametrize("name", ["java", "librdkafka", "franz-go", "sarama", "kafkajs"])
def test_metadata_is_whole_for_every_client_at_every_moment(broker, unique, name):
    topic, last = unique("topic"), 24
    with agent_of(name, broker) as agent:
        agent.create_topic(topic, 1)
        for count in range(2, last + 1):
            insight.grow(broker, topic, count)
            assert agent.call("partitions", topic=topic)["partitions"] == list(range(count))
