"""Order that broke, as the application suffers it: readers at full speed, compared with what the broker tells (H03 and H06)."""

import contextlib
import os
import pty
import subprocess
import tempfile
import threading
import time

import confluent_kafka
import pytest

import clients
import harness
import insight
import matrix
import writing

OLD, NEW = 6, 8
KEYS = 2000
BEFORE, AFTER = 20_000, 4_000


class Application:
    """What the members of one group received, in the order in which they received it."""

    def __init__(self, broker, writer, group, **config):
        self.config = {"bootstrap.servers": broker.bootstrap, "group.id": group, "auto.offset.reset": "earliest",
                       "auto.commit.interval.ms": 1000, "topic.metadata.refresh.interval.ms": 500, **config}
        self.writer = writer
        self.topic = writer.topic
        self.received = []
        self.lock = threading.Lock()

    def read(self, consumer, is_enough):
        while not is_enough():
            for message in consumer.consume(500, 0.2):
                if not message.error():
                    with self.lock:
                        self.received.append(int(message.value()))

    def run(self, members, count):
        """Reads until the group has received so many records; closes at the end."""
        def is_enough():
            with self.lock:
                return len(set(self.received)) >= count or time.monotonic() > deadline

        def member():
            consumer = confluent_kafka.Consumer(self.config)
            consumer.subscribe([self.topic])
            self.read(consumer, is_enough)
            consumer.close()

        deadline = time.monotonic() + 60
        threads = [threading.Thread(target=member) for _ in range(members)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(set(self.received)) >= count

    def wrong_keys(self):
        return self.writer.wrong_keys(self.received)


def write_new(writer):
    writer.write(AFTER)
    return AFTER


def write_by_both_counts(writer):
    """A producer has not learned of the growth; then one comes that has."""
    writer.write_late(AFTER)
    writer.write(AFTER)
    return 2 * AFTER


def grown_under_a_backlog(broker, unique, write=write_new, read=BEFORE // 4):
    """A topic that grew, with new records, while a group that had read so many of the older ones was away. Also returns how many
    records there are."""
    topic, group = unique("topic"), unique("group")
    insight.create(broker, topic, OLD)
    writer = writing.Writer(broker, topic, KEYS)
    writer.write(BEFORE)
    application = Application(broker, writer, group)
    application.run(1, read)
    insight.grow(broker, topic, NEW)
    return topic, group, application, BEFORE + write(writer)


def settled(broker, topic, group):
    """H06 once the broker has judged everything that the group received: H03 is over then, too."""
    insight.wait_until_closed(broker, topic, "H03", group=group)
    return insight.wait_for(broker, topic, "H06", group=group)


def test_every_key_that_an_application_received_in_wrong_order_is_told(broker, unique):
    topic, group = unique("topic"), unique("group")
    insight.create(broker, topic, OLD)
    writer = writing.Writer(broker, topic, KEYS)
    writer.write(BEFORE)
    application = Application(broker, writer, group)
    application.run(1, BEFORE // 4)
    insight.grow(broker, topic, NEW)
    danger = insight.wait_for(broker, topic, "H03", group=group)
    assert danger["kind"] == "danger"
    assert danger["numbers"]["backlog_records"] == BEFORE - len(application.received)
    assert 0.7 < danger["numbers"]["moved_backlog_records"] / danger["numbers"]["backlog_records"] < 0.8
    writer.write(AFTER)
    application.run(1, BEFORE + AFTER)
    wrong = application.wrong_keys()
    assert wrong
    told = settled(broker, topic, group)
    assert (told["count"], told["numbers"]["is_exact"], told["kind"], told["severity"]) == (len(wrong), 1, "harm", "block"), told
    assert told["numbers"]["processed_keys"] == len(wrong), "its commits are behind all of them"
    keys = insight.wrong_keys(broker, topic, group=group)
    assert {key["key"] for key in keys} == wrong
    assert all(key["newer"]["handed_out_ms"] <= key["older"]["handed_out_ms"] for key in keys)
    shown = harness.run_partita("findings", "--http", insight.address(broker), "--topic", topic, "--group", group, "--keys")
    assert {line.split("\t")[0] for line in shown.out.splitlines()} == wrong


def test_a_group_that_comes_after_the_growth_and_begins_at_the_start_is_told(broker, unique):
    topic, group = unique("topic"), unique("group")
    insight.create(broker, topic, OLD)
    writer = writing.Writer(broker, topic, KEYS)
    writer.write(BEFORE)
    insight.grow(broker, topic, NEW)
    writer.write(BEFORE)
    application = Application(broker, writer, group)
    application.run(1, 2 * BEFORE)
    wrong = application.wrong_keys()
    told = settled(broker, topic, group)
    assert told["count"] == len(wrong) > 0, told


def test_with_several_members_the_application_lies_within_what_is_told(broker, unique):
    """Two members take their records at their own pace: the broker says of which keys only they know the order."""
    topic, group, application, records = grown_under_a_backlog(broker, unique)
    application.run(3, records)
    wrong = len(application.wrong_keys())
    numbers = settled(broker, topic, group)["numbers"]
    certain = numbers["keys"] - numbers["two_member_keys"]
    assert certain <= wrong <= numbers["keys"] + numbers["overlapping_keys"] + numbers["given_back_keys"], (wrong, numbers)


# Without a backlog only the producer puts the order in danger.
@pytest.mark.parametrize("read", [BEFORE // 4, BEFORE], ids=["backlog", "none"])
def test_keys_of_a_producer_that_learns_late_are_told_too(broker, unique, read):
    topic, group, application, records = grown_under_a_backlog(broker, unique, write_by_both_counts, read)
    application.run(1, records)
    wrong = application.wrong_keys()
    assert wrong
    insight.wait_for_count(broker, topic, "H06", len(wrong), exact=True, group=group)
    assert {key["key"] for key in insight.wrong_keys(broker, topic, group=group)} == wrong


@pytest.mark.parametrize("write", [write_new, write_by_both_counts])
def test_a_broker_that_dies_between_the_growth_and_the_return_still_tells(unique, write):
    with harness.PartitaBroker() as broker:
        topic, group, application, records = grown_under_a_backlog(broker, unique, write)
        broker.kill()
        broker.start()
        application.run(1, records)
        wrong = application.wrong_keys()
        assert wrong
        insight.wait_for_count(broker, topic, "H06", len(wrong), group=group)


def test_a_group_without_a_backlog_at_the_growth_is_told_nothing(broker, unique):
    topic, group = unique("topic"), unique("group")
    insight.create(broker, topic, OLD)
    writer = writing.Writer(broker, topic, KEYS)
    writer.write(BEFORE)
    application = Application(broker, writer, group)
    application.run(1, BEFORE)
    insight.grow(broker, topic, NEW)
    writer.write(AFTER)
    application.run(1, BEFORE + AFTER)
    assert not application.wrong_keys()
    assert not harness.is_seen_within(lambda: insight.finding(broker, topic, "H06", group=group), 3)
    assert not insight.finding(broker, topic, "H03", group=group)


def test_mode_fenced_prevents_it(broker, unique):
    topic, group = unique("topic"), unique("group")
    insight.create(broker, topic, NEW // 2, **{"partita.expansion.mode": "fenced"})
    writer = writing.Writer(broker, topic, KEYS)
    writer.write(BEFORE)
    application = Application(broker, writer, group)
    application.run(1, BEFORE // 4)
    insight.grow(broker, topic, NEW)
    writer.write(AFTER)
    application.run(1, BEFORE + AFTER)
    assert not application.wrong_keys()
    insight.wait_until_closed(broker, topic, "H03", group=group)
    assert not insight.finding(broker, topic, "H06", group=group)


def alter_on(errors, broker, topic, partitions):
    return subprocess.run([harness.partita_binary(), "topics", "--alter", "--topic", topic, "--partitions", str(partitions), "--bootstrap-server",
                           broker.bootstrap], stderr=errors, stdout=subprocess.PIPE, text=True, timeout=60, check=True)


def test_a_person_at_a_terminal_is_told_which_group_has_older_records_to_read(broker, unique):
    topic, group = unique("topic"), unique("group")
    insight.create(broker, topic, OLD)
    writer = writing.Writer(broker, topic, KEYS)
    writer.write(1000)
    Application(broker, writer, group).run(1, 1000)
    behind = confluent_kafka.Consumer({"bootstrap.servers": broker.bootstrap, "group.id": f"behind-{group}"})
    behind.commit(offsets=[confluent_kafka.TopicPartition(topic, 0, 0)], asynchronous=False)
    behind.close()
    shown, terminal = pty.openpty()
    try:
        alter_on(terminal, broker, topic, NEW)
        told = os.read(shown, 10_000).decode().splitlines()
    finally:
        os.close(terminal)
        os.close(shown)
    assert told[0].startswith(f"{topic} grew from {OLD} to {NEW} partitions") and len(told) == 2, told
    assert told[1].startswith(f"Group behind-{group} has ") and "offsets from before it to read: newer" in told[1], told
    with tempfile.TemporaryFile() as errors:
        alter_on(errors, broker, topic, NEW + 1)
        errors.seek(0)
        assert errors.read() == b"", "a script is told nothing"


# sarama is missing: it hands each partition to a goroutine of its own, whose order is not fixed.
@pytest.mark.parametrize("name", ["java", "franz-go", "aiokafka", "kafkajs"])
def test_an_application_of_each_library_suffers_what_is_told(broker, unique, name):
    if not harness.HAS_ALL_CLIENTS and name not in harness.BASIC_CLIENTS:
        pytest.skip("needs all clients")
    topic, group = unique("topic"), unique("group")
    insight.create(broker, topic, OLD)
    writer = writing.Writer(broker, topic, KEYS)
    writer.write(BEFORE)
    with contextlib.closing(clients.Agent(matrix.CLIENTS[name], broker.bootstrap)) as agent:
        def values():
            records = sorted(agent.events.records(), key=lambda record: record["at_ns"])
            return [int(record["value"]) for record in records if record["topic"] == topic]

        def read(member, count):
            agent.call("member_start", name=member, group=group, topic=topic, reset="earliest", client_id=member)
            agent.events.wait(lambda _: len(set(values())) >= count, 120, f"{count} records")
            agent.call("member_stop", name=member)

        read("first", BEFORE // 4)
        insight.grow(broker, topic, NEW)
        writer.write(AFTER)
        read("again", BEFORE + AFTER)
        wrong = writer.wrong_keys(values())
    insight.wait_until_closed(broker, topic, "H03", group=group)
    if wrong:
        # A member that has left is known ten seconds after its last answer at the latest.
        insight.wait_for_count(broker, topic, "H06", len(wrong), group=group)
    else:
        assert not insight.finding(broker, topic, "H06", group=group)


# Java's consumer asks for the offsets of its group.id, though it never commits any.
@pytest.mark.parametrize("name", ["java", "librdkafka", "aiokafka"])
def test_a_consumer_that_assigns_itself_all_partitions_suffers_what_is_told(broker, unique, name):
    if not harness.HAS_ALL_CLIENTS and name not in harness.BASIC_CLIENTS:
        pytest.skip("needs all clients")
    topic, client_id = unique("topic"), unique("client")
    insight.create(broker, topic, OLD)
    writer = writing.Writer(broker, topic, KEYS)
    writer.write(BEFORE)
    insight.grow(broker, topic, NEW)
    writer.write(BEFORE)
    with contextlib.closing(clients.Agent(matrix.CLIENTS[name], broker.bootstrap)) as agent:
        def values():
            records = sorted(agent.events.records(), key=lambda record: record["at_ns"])
            return [int(record["value"]) for record in records if record["topic"] == topic]
        agent.call("member_start", name="reader", group=unique("group"), topic=topic, assign=list(range(NEW)), client_id=client_id)
        agent.events.wait(lambda _: len(set(values())) >= 2 * BEFORE, 120, "all records")
        agent.call("member_stop", name="reader")
        wrong = writer.wrong_keys(values())
    assert wrong
    insight.wait_for_count(broker, topic, "H06", len(wrong), client_id=client_id)
    assert {key["key"] for key in insight.wrong_keys(broker, topic, client_id=client_id)} == wrong
    shown = harness.run_partita("findings", "--http", insight.address(broker), "--topic", topic, "--client-id", client_id, "--keys")
    assert {line.split("\t")[0] for line in shown.out.splitlines()} == wrong
