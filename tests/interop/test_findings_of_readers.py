"""Findings about readers that are hard to tell: several growths, several ways to begin, and clients that share a name. Each group is of
unmodified clients, and each number is compared with what they were given."""

import subprocess
import time

import confluent_kafka
import pytest

import harness
import insight
from test_findings import BROKER_PROPERTIES, Reader, produce  # noqa: F401 (the broker of this module has the same)

pytestmark = pytest.mark.skipif(harness.TARGET != "partita", reason="findings are Partita's own")

# Longer than the broker takes to tie a start to a group.
JUDGED_S = 8


def in_new(placed, old_count):
    return sum(count for partition, count in placed.items() if partition >= old_count)


def delete_group(broker, group):
    client = insight.admin(broker)  # Must outlive the future.
    client.delete_consumer_groups([group])[group].result(60)


class Kcat:
    """A member of a group in a process of its own. Everybody of librdkafka is called `rdkafka`."""

    def __init__(self, broker, *arguments):
        self.process = subprocess.Popen(["kcat", "-b", broker.bootstrap, "-u", "-f", "%p %o\n", *map(str, arguments)],
                                        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)

    def end(self):
        self.process.terminate()
        return [tuple(map(int, line.split())) for line in self.process.communicate(timeout=60)[0].splitlines()]


def members_of(broker, group):
    client = insight.admin(broker)  # Must outlive the future.
    description = client.describe_consumer_groups([group])[group].result(60)
    return [partition for member in description.members for partition in member.assignment.topic_partitions]


def test_a_group_that_missed_two_growths_is_told_of_both(broker, unique):
    topic, group = unique("topic"), unique("group")
    insight.create(broker, topic, 6)
    reader = Reader(broker, group, [topic], 15_000, **{"auto.offset.reset": "latest"})
    harness.wait_until(lambda: reader.assigned == 6, 20, "an assignment")
    harness.wait_until(lambda: produce(broker, topic, 60) and reader.keys, 20, "the reader reads")
    insight.grow(broker, topic, 8)
    skipped = in_new(produce(broker, topic, 300), 6)
    insight.grow(broker, topic, 12)
    skipped += in_new(produce(broker, topic, 300), 6)
    lost = insight.wait_for_count(broker, topic, "H20", skipped, seconds=60, group=group)
    assert lost["numbers"] == {"skipped_records": skipped, "partitions": 6, "is_exact": 1}
    reader.stop()
    # The finding is the group's, and ends with it.
    delete_group(broker, group)
    insight.wait_until_closed(broker, topic, "H20")


def test_a_group_that_begins_at_a_time_is_told_what_is_older(broker, tools, unique):
    """Kafka 4: auto.offset.reset=by_duration asks for the first record of that age, and for the end when there is none."""
    topic, group = unique("topic"), unique("group")
    insight.create(broker, topic, 1)
    producer = confluent_kafka.Producer({"bootstrap.servers": broker.bootstrap, "topic.metadata.refresh.interval.ms": 500})
    old = confluent_kafka.Consumer({"bootstrap.servers": broker.bootstrap, "group.id": group})
    old.commit(offsets=[confluent_kafka.TopicPartition(topic, 0, 0)], asynchronous=False)
    old.close()
    insight.grow(broker, topic, 2)
    # Half of them an hour old.
    hour_ms = 3_600_000
    for number in range(80):
        producer.produce(topic, value=str(number), partition=1,
                         timestamp=int(time.time() * 1000) - (hour_ms if number < 40 else 0))
    assert producer.flush(60) == 0
    read = tools("kafka-console-consumer", "--topic", topic, "--group", group, "--max-messages", 40, "--timeout-ms", 20000,
                 "--command-property", "auto.offset.reset=by_duration:PT10M").succeeded()
    assert read.lines == [str(number) for number in range(40, 80)], read
    lost = insight.wait_for(broker, topic, "H20", group=group)
    assert lost["count"] == 40 and lost["severity"] == "warn"
    assert "by_duration" in lost["condition"]


def test_partita_consume_in_a_group_is_told_what_it_skipped(broker, unique):
    topic, group = unique("topic"), unique("group")
    insight.create(broker, topic, 2)
    reader = subprocess.Popen([harness.partita_binary(), "consume", "-b", broker.bootstrap, "--topic", topic, "--group", group,
                               "--command-property", "metadata.max.age.ms=4000"], stdout=subprocess.DEVNULL)
    try:
        harness.wait_until(lambda: len(members_of(broker, group)) == 2, 20, "an assignment")
        insight.grow(broker, topic, 4)
        skipped = in_new(produce(broker, topic, 300), 2)
        lost = insight.wait_for_count(broker, topic, "H20", skipped, seconds=60, group=group)
        assert lost["numbers"] == {"skipped_records": skipped, "partitions": 2, "is_exact": 1}
    finally:
        reader.terminate()
        assert reader.wait(60) in (0, 130, 143)


def test_a_group_without_a_policy_is_told_when_it_crashes_again(broker, tools, unique):
    topic, group = unique("topic"), unique("group")
    insight.create(broker, topic, 1)
    old = confluent_kafka.Consumer({"bootstrap.servers": broker.bootstrap, "group.id": group})
    old.commit(offsets=[confluent_kafka.TopicPartition(topic, 0, 0)], asynchronous=False)
    old.close()
    insight.grow(broker, topic, 2)
    produce(broker, topic, 20)
    # Its supervisor starts it again and again; a restart that falls between two looks of the broker's does not count.
    for restart in range(6):
        assert restart > 0 or insight.finding(broker, topic, "H21") is None, "once may be a consumer that was closed"
        crashed = tools("kafka-console-consumer", "--topic", topic, "--group", group, "--timeout-ms", 15000,
                        "--command-property", "auto.offset.reset=none")
        assert "NoOffsetForPartition" in crashed.err + crashed.out, crashed
        harness.wait_until(lambda: not members_of(broker, group), 20, "the consumer has left")
        time.sleep(6)  # The broker looks at groups every five seconds, and has to see that it is gone.
        if insight.finding(broker, topic, "H21"):
            break
    told = insight.wait_for(broker, topic, "H21", seconds=40)
    assert told["subject"]["group"] == group


def test_consumers_that_close_when_they_got_partitions_have_not_crashed(broker, unique):
    topic, group = unique("topic"), unique("group")
    insight.create(broker, topic, 2)
    insight.grow(broker, topic, 4)
    produce(broker, topic, 20)
    for _ in range(3):
        assigned = []
        consumer = confluent_kafka.Consumer({"bootstrap.servers": broker.bootstrap, "group.id": group, "auto.offset.reset": "earliest"})
        consumer.subscribe([topic], on_assign=lambda _, partitions: assigned.extend(partitions))
        harness.wait_until(lambda: consumer.poll(0.05) or assigned, 20, "an assignment")
        consumer.close()
    time.sleep(15)  # kNoneCrashMs, and a look of the broker's.
    assert insight.finding(broker, topic, "H21") is None


def test_of_two_groups_of_one_name_the_one_that_skipped_is_told(broker, unique):
    topic, late, whole = unique("topic"), unique("late"), unique("whole")
    insight.create(broker, topic, 2)
    readers = {}
    for group, policy in ((late, "latest"), (whole, "earliest")):
        readers[group] = Kcat(broker, "-X", f"auto.offset.reset={policy}", "-X", "topic.metadata.refresh.interval.ms=15000", "-G", group, topic)
    for group in readers:
        harness.wait_until(lambda group=group: len(members_of(broker, group)) == 2, 30, f"{group} has both partitions")
    produce(broker, topic, 20)
    insight.grow(broker, topic, 4)
    placed = produce(broker, topic, 400)
    skipped = in_new(placed, 2)
    lost = insight.wait_for_count(broker, topic, "H20", skipped, seconds=60, group=late)
    assert lost["severity"] == "block", "the kernel tells the two programs apart"
    # A stranger of the same name reads everything, and that is nothing to the group.
    stranger = subprocess.run(["kcat", "-b", broker.bootstrap, "-C", "-t", topic, "-o", "beginning", "-e", "-q"],
                              capture_output=True, text=True, timeout=60, check=True)
    assert len(stranger.stdout.splitlines()) >= 420
    time.sleep(JUDGED_S)
    assert insight.finding(broker, topic, "H20", group=late)["count"] == skipped
    assert insight.finding(broker, topic, "H20", group=whole) is None
    assert not any(offset == 0 and partition >= 2 for partition, offset in readers[late].end())
    assert {partition for partition, offset in readers[whole].end() if offset == 0} >= {2, 3}


def test_what_a_stale_producer_wrote_is_told_until_it_is_read(broker, unique):
    """The producer writes on by the old count, and then learns the new one: its records are older than what others wrote meanwhile."""
    topic, group = unique("topic"), unique("group")
    insight.create(broker, topic, 2)
    stale = confluent_kafka.Producer({"bootstrap.servers": broker.bootstrap, "client.id": f"stale-{topic}", "partitioner": "murmur2_random",
                                      "topic.metadata.refresh.interval.ms": 600_000})
    keys = [f"user-{number}" for number in range(200)]

    def send(producer):
        placed = {}
        for key in keys:
            producer.produce(topic, key=key, value=b"value", on_delivery=lambda _, message: placed.update({message.key().decode(): (message.partition(), message.offset())}))
        assert producer.flush(60) == 0
        return placed

    before = send(stale)
    insight.grow(broker, topic, 4)
    old = send(stale)
    assert {partition for partition, _ in old.values()} == {0, 1}, "it has not looked"
    fresh = confluent_kafka.Producer({"bootstrap.servers": broker.bootstrap, "client.id": f"fresh-{topic}", "partitioner": "murmur2_random"})
    new = send(fresh)
    consumer = confluent_kafka.Consumer({"bootstrap.servers": broker.bootstrap, "group.id": group, "enable.auto.commit": False})
    ends = [max(offset for partition, offset in before.values() if partition == index) + 1 for index in range(2)]
    # Everything of before the growth is done, and nothing that the stale producer wrote after it ...
    consumer.commit(offsets=[confluent_kafka.TopicPartition(topic, index, ends[index]) for index in range(2)], asynchronous=False)
    last = max(offset for partition, offset in new.values() if partition == 2)
    consumer.commit(offsets=[confluent_kafka.TopicPartition(topic, 2, last + 1)], asynchronous=False)
    # ... while newer records of the same keys are.
    overtaken = sum(1 for partition, _ in new.values() if partition == 2)
    assert overtaken > 20
    inversion = insight.wait_for_count(broker, topic, "H06", overtaken, group=group)
    assert inversion["numbers"] == {"keys": overtaken, "processed_keys": overtaken, "overlapping_keys": 0, "is_exact": 1}
    assert insight.finding(broker, topic, "H03", group=group) is None, "of before the growth there is nothing left"
    # Now the stale one learns the count.
    told = insight.wait_for(broker, topic, "H04", client_id=f"stale-{topic}")
    assert told["count"] > 50
    stale.list_topics(topic, timeout=60)
    assert {partition for partition, _ in send(stale).values()} == {0, 1, 2, 3}, "it knows the count"
    harness.wait_until(lambda: group in insight.wait_for(broker, topic, "H04", kind="harm", client_id=f"stale-{topic}")["condition"], 25,
                       "it has switched, and what it wrote is still before the group")
    ends = [max(offset for partition, offset in old.values() if partition == index) + 1 for index in range(2)]
    consumer.commit(offsets=[confluent_kafka.TopicPartition(topic, index, ends[index]) for index in range(2)], asynchronous=False)
    harness.wait_until(lambda: group not in insight.wait_for(broker, topic, "H04", kind="harm", client_id=f"stale-{topic}")["condition"], 25,
                       "the group is beyond it; the harm stays")
    assert insight.finding(broker, topic, "H06", group=group), "what was read too late stays so"
    delete_group(broker, group)
    insight.wait_until_closed(broker, topic, "H06")
    consumer.close()
