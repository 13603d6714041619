"""A growth under readers of committed records and under groups that commit within transactions: findings, and what the modes keep."""

import threading
import time

import confluent_kafka
import pytest
from confluent_kafka import Consumer, Producer, TopicPartition

import harness
import insight

BROKER_PROPERTIES = {"auto.create.topics.enable": "false", "group.initial.rebalance.delay.ms": 0,
                     "transaction.state.log.num.partitions": 5}
CALL_S = 30

pytestmark = pytest.mark.skipif(harness.TARGET != "partita", reason="findings and modes are Partita's own")


def plain(broker):
    """A producer without transactions, which knows the count of this moment."""
    return Producer({"bootstrap.servers": broker.bootstrap})


def producer_of(broker, transactional_id):
    producer = Producer({"bootstrap.servers": broker.bootstrap, "transactional.id": transactional_id, "linger.ms": 2,
                         "reconnect.backoff.max.ms": 200})
    producer.init_transactions(CALL_S)
    return producer


def send(producer, topic, values, partition=-1):
    """Each value is its own key. Where they went, as far as they were acknowledged: all."""
    placed = {}
    for value in values:
        producer.produce(topic, key=str(value), value=str(value), partition=partition,
                         on_delivery=lambda _, message: placed.setdefault(message.partition(), []).append(message.offset()))
    assert producer.flush(CALL_S) == 0
    return placed


def transaction(producer, topic, values, partition=-1, commits=True):
    producer.begin_transaction()
    placed = send(producer, topic, values, partition)
    producer.commit_transaction(CALL_S) if commits else producer.abort_transaction(CALL_S)
    return placed


class Loop:
    """The committing half of an exactly-once loop: its group moves with its transactions alone."""

    def __init__(self, broker, topic, group):
        self.topic, self.group = topic, group
        self.consumer = Consumer({"bootstrap.servers": broker.bootstrap, "group.id": group, "enable.auto.commit": False})
        self.producer = producer_of(broker, f"loop-{group}")

    def move(self, positions, ends=True, commits=True):
        """Ends the transaction, unless it is to stay open."""
        self.producer.begin_transaction()
        offsets = [TopicPartition(self.topic, partition, offset) for partition, offset in positions.items()]
        self.producer.send_offsets_to_transaction(offsets, self.consumer.consumer_group_metadata(), CALL_S)
        if ends:
            self.producer.commit_transaction(CALL_S) if commits else self.producer.abort_transaction(CALL_S)


class Reader:
    """A member that reads committed records and polls all the time."""

    def __init__(self, broker, group, topic, **settings):
        self.values = []
        self.assigned = set()
        self.consumer = Consumer({"bootstrap.servers": broker.bootstrap, "group.id": group, "client.id": f"app-{group}",
                                  "isolation.level": "read_committed", "topic.metadata.refresh.interval.ms": 300,
                                  "auto.commit.interval.ms": 100, "auto.offset.reset": "earliest", "fetch.wait.max.ms": 100,
                                  **settings})
        self.consumer.subscribe([topic], on_assign=lambda _, given: self.assigned.update(p.partition for p in given))
        self.is_over = threading.Event()
        self.thread = threading.Thread(target=self._run, daemon=True)
        self.thread.start()

    def _run(self):
        while not self.is_over.is_set():
            message = self.consumer.poll(0.1)
            if message is not None and message.error() is None:
                self.values.append(message.value().decode())
        self.consumer.close()

    def wait_for(self, values):
        expected = sorted(map(str, values))
        harness.wait_until(lambda: sorted(self.values) == expected, CALL_S,
                           lambda: f"read: {sorted(self.values)}, expected: {expected}")

    def owns(self, partitions):
        harness.wait_until(lambda: self.assigned >= set(range(partitions)), CALL_S, f"it has all {partitions} partitions")

    def close(self):
        self.is_over.set()
        self.thread.join(CALL_S)


@pytest.fixture
def reader(broker):
    """reader(group, topic, ...) is a Reader that is closed at the end."""
    readers = []

    def start(*arguments, **settings):
        readers.append(Reader(broker, *arguments, **settings))
        return readers[-1]
    yield start
    for one in readers:
        one.close()


def committed(broker, group, topic, partition):
    consumer = Consumer({"bootstrap.servers": broker.bootstrap, "group.id": group})
    try:
        return consumer.committed([TopicPartition(topic, partition)], CALL_S)[0].offset
    finally:
        consumer.close()


# Findings ---------------------------------------------------------------------------------------------


def test_what_an_exactly_once_loop_is_through_with_is_what_its_transactions_committed(broker, unique):
    topic, group = unique("topic"), unique("group")
    insight.create(broker, topic, 2)
    before = transaction(producer_of(broker, unique("writer")), topic, range(200))
    loop = Loop(broker, topic, group)
    # The group stands at the beginning of the old partitions.
    loop.move({partition: 1 for partition in range(2)})
    insight.grow(broker, topic, 4)
    placed = transaction(producer_of(broker, unique("writer")), topic, range(200))
    new = {partition: offsets[-1] + 1 for partition, offsets in placed.items() if partition >= 2}
    moved = sum(len(offsets) for partition, offsets in placed.items() if partition in new)

    def proven(loop):
        """Every key of a new partition was in an old one before, beyond the first record."""
        inversion = insight.wait_for(broker, topic, "H06", group=loop.group)
        assert moved - 2 <= inversion["count"] <= moved
        assert {example["to"] for example in inversion["examples"]} <= set(new)

    def another_is_proven():
        """Whatever came before that was taken note of."""
        other = Loop(broker, topic, unique("other"))
        other.move({partition: 1 for partition in range(2)})
        other.move(new)
        proven(other)

    # What is aborted never happened, and what is pending has not happened yet.
    loop.move(new, commits=False)
    loop.move(new, ends=False)
    another_is_proven()
    assert insight.finding(broker, topic, "H06", group=group) is None
    assert "already reads new" not in insight.wait_for(broker, topic, "H03", group=group)["condition"]
    loop.producer.commit_transaction(CALL_S)
    proven(loop)
    # 200 records and a marker in each partition, of which it has two records.
    def reads_new():
        found = insight.finding(broker, topic, "H03", group=group)
        return found if found and "already reads new" in found["condition"] else None
    backlog = harness.wait_until(reads_new, 25, "H03 says that the group reads new partitions")
    assert (backlog["numbers"]["backlog_records"], backlog["numbers"]["is_exact"]) == (198, 1), backlog

    # It commits what it was given: the marker behind the last record is nobody's backlog.
    loop.move({partition: before[partition][-1] + 1 for partition in range(2)})
    insight.wait_until_closed(broker, topic, "H03", group=group)


def test_what_was_aborted_was_not_read_too_late(broker, unique):
    topic, group = unique("topic"), unique("group")
    insight.create(broker, topic, 2)
    writer = producer_of(broker, unique("writer"))
    transaction(writer, topic, range(100))
    transaction(writer, topic, range(100, 200), commits=False)
    loop = Loop(broker, topic, group)
    loop.move({partition: 1 for partition in range(2)})
    insight.grow(broker, topic, 4)
    writer = producer_of(broker, unique("writer"))
    of_committed = transaction(writer, topic, range(100))
    of_aborted = transaction(writer, topic, range(100, 200))
    new = [partition for partition in range(2, 4) if partition in of_aborted]
    loop.move({partition: of_aborted[partition][-1] + 1 for partition in new})
    moved = sum(len(of_committed.get(partition, ())) for partition in new)
    inversion = insight.wait_for(broker, topic, "H06", group=group)
    assert moved - 2 <= inversion["count"] <= moved


# Modes ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("commits", [True, False], ids=["committed", "aborted"])
def test_a_fence_waits_for_a_transaction_that_is_open_in_the_parent(broker, unique, reader, commits):
    """However long that takes: nobody who reads committed records can be given what is in it."""
    topic, group, timeout_s = unique("topic"), unique("group"), 1.5
    insight.create(broker, topic, 2, **{"partita.expansion.mode": "fenced",
                                        "partita.expansion.fence.timeout.ms": str(int(timeout_s * 1000))})
    member = reader(group, topic)
    member.owns(2)
    writer = producer_of(broker, unique("writer"))
    send(plain(broker), topic, ["first"], partition=0)
    member.wait_for(["first"])
    writer.begin_transaction()
    send(writer, topic, ["earlier"], partition=0)
    insight.grow(broker, topic, 4)
    member.owns(4)
    send(plain(broker), topic, ["later"], partition=2)

    def fence():
        return insight.ask(broker, f"topics/{topic}/protection")["fence"]
    harness.wait_until(lambda: any(waiting["group"] == group for waiting in fence()["waiting"]), CALL_S, "the group waits")
    until = time.monotonic() + 2 * timeout_s
    while time.monotonic() < until:
        assert member.values == ["first"]
        time.sleep(0.1)
    assert fence()["timeouts"] == 0
    writer.commit_transaction(CALL_S) if commits else writer.abort_transaction(CALL_S)
    expected = ["first", *(["earlier"] if commits else []), "later"]
    harness.wait_until(lambda: len(member.values) >= len(expected), CALL_S, lambda: f"read: {member.values}")
    assert member.values == expected
    assert fence()["timeouts"] == 0


def test_a_group_on_latest_loses_nothing_that_is_committed_in_new_partitions(broker, unique, reader):
    topic, group = unique("topic"), unique("group")
    insight.create(broker, topic, 2, **{"partita.expansion.mode": "safe-offsets"})
    latest = {"auto.offset.reset": "latest"}
    across = producer_of(broker, unique("across"))
    # It is caught up, and away when the topic grows.
    Loop(broker, topic, group).move({0: 0, 1: 0})
    member = reader(group, topic, **latest)
    send(plain(broker), topic, ["first"], partition=0)
    member.wait_for(["first"])
    member.close()
    across.begin_transaction()
    send(across, topic, range(10), partition=0)
    insight.grow(broker, topic, 4)
    assert [committed(broker, group, topic, partition) for partition in (2, 3)] == [0, 0]
    writer = producer_of(broker, unique("writer"))
    transaction(writer, topic, range(100, 120), partition=2)
    transaction(writer, topic, ["aborted"], partition=2, commits=False)
    transaction(writer, topic, range(120, 140), partition=3)
    writer.begin_transaction()
    send(writer, topic, range(140, 150), partition=2)
    again = reader(group, topic, **latest)
    again.wait_for(range(100, 140))
    across.commit_transaction(CALL_S)
    again.wait_for([*range(10), *range(100, 140)])
    writer.commit_transaction(CALL_S)
    again.wait_for([*range(10), *range(100, 150)])


def test_a_guarded_topic_is_drained_when_all_that_is_committed_is_done(broker, unique, reader):
    """Markers and what was aborted are given to nobody who reads committed records, and so are behind its commits for ever."""
    topic, group = unique("topic"), unique("group")
    insight.create(broker, topic, 2, **{"partita.expansion.mode": "guarded", "partita.expansion.guard.quiet.ms": "0"})
    writer = producer_of(broker, unique("writer"))
    transaction(writer, topic, ["done"], partition=0)
    transaction(writer, topic, ["done, too"], partition=1)
    loop = Loop(broker, topic, group)
    loop.move({0: 1, 1: 0})
    writer.begin_transaction()
    send(writer, topic, ["undone"], partition=0)

    def refusal(partitions):
        """The same wish a second time would be granted."""
        with pytest.raises(confluent_kafka.KafkaException) as refused:
            insight.grow(broker, topic, partitions)
        return refused.value.args[0].str()
    words = refusal(3)
    assert "(H46)" in words and f"group {group} has not read" in words, words
    writer.abort_transaction(CALL_S)
    # What is unread is unread, also when its commit is pending.
    loop.move({1: 1}, ends=False)
    words = refusal(5)
    assert "(H46)" not in words and f"group {group} has not read" in words, words
    loop.producer.commit_transaction(CALL_S)
    insight.grow(broker, topic, 4)
    transaction(producer_of(broker, unique("writer")), topic, range(10), partition=3)
    reader(group, topic, **{"auto.offset.reset": "latest"}).wait_for(range(10))
