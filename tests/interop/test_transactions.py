"""Transactions of real clients: commits, aborts, fencing, offsets; and copies that are exactly once whatever is killed."""

import collections
import json
import re
import signal
import subprocess
import sys
import threading

import pytest
from confluent_kafka import Consumer, KafkaException, Producer, TopicPartition

import clients
import harness
import insight
from connect import read

BROKER_PROPERTIES = {"auto.create.topics.enable": "false", "group.initial.rebalance.delay.ms": 0,
                     "transaction.state.log.num.partitions": 5,
                     "group.consumer.session.timeout.ms": 6000, "group.consumer.min.session.timeout.ms": 6000,
                     "transaction.abort.timed.out.transaction.cleanup.interval.ms": 500}
CALL_S = 30
ours = pytest.mark.skipif(harness.TARGET not in ("partita", "kafka"), reason="the broker is not ours to kill")


# What the tests speak with -----------------------------------------------------------------------------------------


def common(broker):
    return {"bootstrap.servers": broker.bootstrap, "reconnect.backoff.max.ms": 200,
            "topic.metadata.refresh.fast.interval.ms": 50}


def transactional(broker, transactional_id, **properties):
    producer = Producer({**common(broker), "transactional.id": transactional_id, "linger.ms": 2, **properties})
    producer.init_transactions(CALL_S)
    return producer


def send(producer, topic, *values, partition=0):
    for value in values:
        producer.produce(topic, value=str(value), partition=partition)
    assert producer.flush(CALL_S) == 0


class Opened:
    """A topic with an open transaction of one record in its first partition, `name` the transactional id."""

    def __init__(self, broker, tools, unique, value="open", partitions=1, **properties):
        self.topic, self.name = unique("topic"), unique("id")
        create(tools, self.topic, partitions)
        self.producer = transactional(broker, self.name, **properties)
        self.producer.begin_transaction()
        send(self.producer, self.topic, value)


def create(tools, topic, partitions=1):
    tools("kafka-topics", "--create", "--topic", topic, "--partitions", partitions).succeeded()


def code_of(failure):
    return failure.value.args[0].name()


def look_at(tools, broker, command, *arguments):
    """kafka-transactions, whose address stands before the command."""
    return tools("kafka-transactions", "--bootstrap-server", broker.bootstrap, command, *arguments)


def rows(result):
    """A table that a tool printed: the values by their titles."""
    lines = result.succeeded().lines
    titles = lines[0].split()
    return [dict(zip(titles, line.split())) for line in lines[1:]]


# One producer ------------------------------------------------------------------------------------------------------


def test_what_is_committed_is_read_and_what_is_aborted_is_not(broker, tools, unique):
    topic = unique("topic")
    create(tools, topic, 2)
    producer = transactional(broker, unique("id"))
    for number, commits in enumerate([True, False, True, False, False, True]):
        producer.begin_transaction()
        send(producer, topic, f"{number}a", f"{number}b")
        send(producer, topic, f"{number}c", partition=1)
        producer.commit_transaction(CALL_S) if commits else producer.abort_transaction(CALL_S)
    assert read(broker, topic, 2) == {0: ["0a", "0b", "2a", "2b", "5a", "5b"], 1: ["0c", "2c", "5c"]}
    assert len(read(broker, topic, 2, "read_uncommitted")[0]) == 12


def test_nobody_reads_past_an_open_transaction(broker, tools, unique):
    topic = unique("topic")
    create(tools, topic)
    producer, other = transactional(broker, unique("id")), Producer(common(broker))
    send(other, topic, "before")
    producer.begin_transaction()
    send(producer, topic, "open")
    send(other, topic, "behind")
    assert read(broker, topic) == {0: ["before"]}
    producer.commit_transaction(CALL_S)
    assert read(broker, topic) == {0: ["before", "open", "behind"]}


def test_a_later_producer_fences_an_earlier_one(broker, tools, unique):
    zombie = Opened(broker, tools, unique, "zombie")
    topic = zombie.topic
    producer = transactional(broker, zombie.name)
    producer.begin_transaction()
    send(producer, topic, "alive")
    with pytest.raises(KafkaException) as fenced:
        zombie.producer.commit_transaction(CALL_S)
    assert fenced.value.args[0].fatal() and code_of(fenced) == "_FENCED"
    producer.commit_transaction(CALL_S)
    assert read(broker, topic) == {0: ["alive"]}


def test_a_transaction_that_takes_too_long_is_aborted(broker, tools, unique):
    opened = Opened(broker, tools, unique, "late", **{"transaction.timeout.ms": 1000})
    topic = opened.topic
    harness.wait_until(lambda: read_to_the_end(broker, topic), 20, "the broker aborts it")
    with pytest.raises(KafkaException):
        opened.producer.commit_transaction(CALL_S)
    assert read(broker, topic) == {}


def read_to_the_end(broker, topic, partitions=1):
    """Whether nothing is open in the partitions: the last stable offset is the end."""
    def ends(isolation):
        consumer = Consumer({**common(broker), "group.id": "unused", "isolation.level": isolation})
        try:
            return [consumer.get_watermark_offsets(TopicPartition(topic, partition), timeout=CALL_S, cached=False)
                    for partition in range(partitions)]
        finally:
            consumer.close()
    return ends("read_committed") == ends("read_uncommitted")


@pytest.mark.parametrize("protocol", ["classic", "consumer"])
def test_offsets_count_with_their_transaction(broker, tools, unique, protocol):
    topic, target, group = unique("topic"), unique("target"), unique("group")
    create(tools, topic)
    create(tools, target)
    send(Producer(common(broker)), topic, *range(10))
    consumer = Consumer({**common(broker), "group.id": group, "group.protocol": protocol, "enable.auto.commit": False,
                         "auto.offset.reset": "earliest"})
    consumer.subscribe([topic])
    batch = []
    while len(batch) < 10:
        batch += [message for message in consumer.consume(10, CALL_S) if message.error() is None]
    producer = transactional(broker, unique("id"))
    here = [TopicPartition(topic, 0)]
    for offset, commits in ((4, False), (6, True)):
        producer.begin_transaction()
        send(producer, target, offset)
        producer.send_offsets_to_transaction([TopicPartition(topic, 0, offset)], consumer.consumer_group_metadata(), CALL_S)
        producer.commit_transaction(CALL_S) if commits else producer.abort_transaction(CALL_S)
        committed = consumer.committed(here, timeout=CALL_S)[0].offset
        assert committed == (offset if commits else -1001)
    member = consumer.consumer_group_metadata()
    consumer.close()
    producer.begin_transaction()
    with pytest.raises(KafkaException):  # The member is gone, and its group knows.
        producer.send_offsets_to_transaction([TopicPartition(topic, 0, 9)], member, CALL_S)
    producer.abort_transaction(CALL_S)


# kafka-transactions ------------------------------------------------------------------------------------------------


def test_transactions_are_listed_and_described(broker, tools, unique):
    topic, name = unique("topic"), unique("id")
    create(tools, topic, 3)
    producer = transactional(broker, name)
    producer.begin_transaction()
    send(producer, topic, "a", partition=2)
    send(producer, topic, "b")

    def listed(*arguments):
        return {row["TransactionalId"]: row for row in rows(look_at(tools, broker, "list", *arguments))}
    assert listed()[name]["TransactionState"] == "Ongoing"
    assert set(listed("--transactional-id-pattern", name + ".*")) == {name}
    assert name not in listed("--duration-filter", 3_600_000)
    described = rows(look_at(tools, broker, "describe", "--transactional-id", name))
    assert len(described) == 1
    assert described[0]["TransactionState"] == "Ongoing" and described[0]["TransactionTimeoutMs"] == "60000"
    assert set(described[0]["TopicPartitions"].split(",")) == {f"{topic}-0", f"{topic}-2"}
    producer.commit_transaction(CALL_S)
    assert listed()[name]["TransactionState"] in ("CompleteCommit", "PrepareCommit")
    missing = look_at(tools, broker, "describe", "--transactional-id", unique("nobody"))
    assert missing.code != 0 and "the ID could not be found" in missing.out + missing.err


def test_open_transactions_of_a_partition_are_described_and_aborted(broker, tools, unique):
    opened = Opened(broker, tools, unique)
    topic = opened.topic
    here = ("--topic", topic, "--partition", 0)
    described = rows(look_at(tools, broker, "describe-producers", *here))
    assert [row["CurrentTransactionStartOffset"] for row in described] == ["0"]
    look_at(tools, broker, "abort", *here, "--start-offset", 0).succeeded()
    described = rows(look_at(tools, broker, "describe-producers", *here))
    assert [row["CurrentTransactionStartOffset"] for row in described] == ["None"]
    assert read(broker, topic) == {} and read_to_the_end(broker, topic)


@ours
def test_a_guarded_topic_does_not_grow_within_a_transaction(broker, tools, unique):
    opened = Opened(broker, tools, unique, partitions=3)
    topic, name = opened.topic, opened.name
    tools("kafka-configs", "--alter", "--topic", topic, "--add-config",
          "partita.expansion.mode=guarded,partita.expansion.guard.quiet.ms=0").succeeded()
    grow = ("kafka-topics", "--alter", "--topic", topic, "--partitions", 6)
    refused = tools(*grow)
    assert refused.code != 0
    assert re.search(rf"transaction {name} \(producer \d+\) is open in 1 partition \(H46\)", refused.out + refused.err)
    plan = insight.ask(broker, f"topics/{topic}/expansion?to=6")
    found = [finding for finding in plan["findings"] if finding["id"] == "H46"]
    assert len(found) == 1 and f"{name} (producer" in found[0]["condition"], plan
    opened.producer.commit_transaction(CALL_S)
    harness.wait_until(lambda: tools(*grow).code == 0, 30, "it grows, as nothing is open")


def test_a_producer_is_forced_to_end(broker, tools, unique):
    opened = Opened(broker, tools, unique)
    look_at(tools, broker, "forceTerminateTransaction", "--transactionalId", opened.name).succeeded()
    assert read(broker, opened.topic) == {}
    with pytest.raises(KafkaException):
        opened.producer.commit_transaction(CALL_S)


def test_hanging_transactions_are_searched_for(broker, tools, unique):
    opened = Opened(broker, tools, unique)
    # Its coordinator knows this one, so it does not hang.
    found = rows(look_at(tools, broker, "find-hanging", "--topic", opened.topic, "--max-transaction-timeout", 0))
    assert found == []
    opened.producer.abort_transaction(CALL_S)


# Copies ------------------------------------------------------------------------------------------------------------


class Copier:
    """A process that copies, with what it said it has copied."""

    def __init__(self, command):
        self.command = command
        self.copied = 0
        self.start()

    def start(self):
        self.process = subprocess.Popen(self.command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        threading.Thread(target=self._listen, args=(self.process,), daemon=True).start()

    def _listen(self, process):
        for line in process.stdout:
            said = json.loads(line) if line.startswith("{") else {}
            self.copied = max(self.copied, said.get("copied", 0), said.get("totalProcessed", 0))

    def kill(self):
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()
        self.copied = 0

    def keep_alive(self):
        """A fenced or otherwise doomed producer ends, and is started again, as an operator would."""
        if self.process.poll() is not None:
            self.copied = 0
            self.start()

    def wait_for(self, count, feed=None):
        """`feed` keeps them busy: else others may have copied everything."""
        def is_there():
            self.keep_alive()
            if feed:
                feed()
            return self.copied >= count
        harness.wait_until(is_there, 120, lambda: f"{count} are copied; it says {self.copied}")


#: How each library's copier starts; all take the same arguments.
COPIERS = {"librdkafka": [sys.executable, "-B", str(harness.HERE / "clients/python/librdkafka_copier.py")],
           "franz-go": [str(harness.TOOLS / "franz-go/copier")]}


def copier_of(library, broker, source, target, group, name, protocol):
    return Copier([*COPIERS[library], broker.bootstrap, source, target, group, name, protocol])


def fill(broker, topic, numbers, partitions):
    producer = Producer(common(broker))
    for number in numbers:
        producer.produce(topic, value=str(number), partition=number % partitions)
        producer.poll(0)
    assert producer.flush(CALL_S) == 0


def end_offsets_committed(broker, group, topic, counts):
    """Whether the group has committed the ends of all partitions, and nothing is undecided."""
    consumer = Consumer({**common(broker), "group.id": group})
    try:
        places = consumer.committed([TopicPartition(topic, partition) for partition in counts], timeout=CALL_S)
        return {place.partition: place.offset for place in places} == counts
    except KafkaException:
        return False  # While the coordinator loads, or an offset is undecided.
    finally:
        consumer.close()


def check_copy(broker, target, count, partitions):
    # A copier that was killed within a transaction, and has nothing to copy since, leaves it open until it takes too long; whoever
    # reads what is committed waits for that.
    harness.wait_until(lambda: read_to_the_end(broker, target, partitions), 60, "every transaction has ended")
    values = collections.Counter(int(value) for values in read(broker, target, partitions).values() for value in values)
    assert [number for number in range(count) if values[number] == 0] == [], "nothing is lost"
    assert {number: times for number, times in values.items() if times > 1} == {}, "nothing is there twice"


def copy_under_kills(broker, tools, unique, library, protocol, count, rounds):
    clients.require(library)
    source, target, group = unique("source"), unique("target"), unique("group")
    partitions = 4
    create(tools, source, partitions)
    create(tools, target, partitions)
    fill(broker, source, range(count), partitions)

    def feed():
        nonlocal count
        fill(broker, source, range(count, count + partitions), partitions)
        count += partitions

    copiers = [copier_of(library, broker, source, target, group, unique("copier"), protocol) for _ in range(2)]
    try:
        for round_number in range(rounds):
            victim = copiers[round_number % 2]
            victim.wait_for(1, feed)
            victim.kill()
            victim.start()
            copiers[(round_number + 1) % 2].keep_alive()
            broker.kill()
            broker.restart()

        def is_copied():
            for copier in copiers:
                copier.keep_alive()
            return end_offsets_committed(broker, group, source, {partition: count // partitions for partition in range(partitions)})
        harness.wait_until(is_copied, 240, "everything is copied")
    finally:
        for copier in copiers:
            copier.kill()
    check_copy(broker, target, count, partitions)


@ours
@pytest.mark.parametrize("library", list(COPIERS))
@pytest.mark.parametrize("protocol", ["classic", "consumer"])
def test_a_copy_is_exact_whatever_is_killed(broker, tools, unique, library, protocol):
    copy_under_kills(broker, tools, unique, library, protocol, count=400, rounds=2)


@ours
@pytest.mark.long
@pytest.mark.parametrize("library", list(COPIERS))
@pytest.mark.parametrize("protocol", ["classic", "consumer"])
def test_a_long_copy_is_exact_whatever_is_killed(broker, tools, unique, library, protocol):
    copy_under_kills(broker, tools, unique, library, protocol, count=20_000, rounds=10)


def java_copier(broker, source, partition, target, group, name, count):
    return Copier([*harness.java_command(), "org.apache.kafka.tools.TransactionalMessageCopier", "--broker-list", broker.bootstrap,
                   "--input-topic", source, "--input-partition", str(partition), "--output-topic", target, "--consumer-group", group,
                   "--transactional-id", name, "--transaction-size", "25", "--transaction-timeout", "20000", "--max-messages",
                   str(count), "--enable-random-aborts"])


def copy_by_kafkas_copier(broker, tools, unique, count, rounds):
    source, target, group, name = unique("source"), unique("target"), unique("group"), unique("copier")
    create(tools, source)
    create(tools, target)
    fill(broker, source, range(count), 1)
    copier = java_copier(broker, source, 0, target, group, name, count)
    try:
        for round_number in range(rounds):
            copier.wait_for(1)
            if round_number % 2 == 0:
                copier.kill()
                copier.start()
            else:
                broker.kill()
                broker.restart()

        def is_copied():
            copier.keep_alive()
            return end_offsets_committed(broker, group, source, {0: count})
        harness.wait_until(is_copied, 240, "everything is copied")
    finally:
        copier.kill()
    check_copy(broker, target, count, 1)


@ours
def test_kafkas_copier_copies_exactly(broker, tools, unique):
    copy_by_kafkas_copier(broker, tools, unique, count=500, rounds=1)


@ours
@pytest.mark.long
def test_kafkas_copier_copies_exactly_for_long(broker, tools, unique):
    copy_by_kafkas_copier(broker, tools, unique, count=20_000, rounds=12)
