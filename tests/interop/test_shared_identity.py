"""Two programs of one machine with the client id that librdkafka gives to everybody: the broker tells them apart by what they cannot
share, and says which is which."""

import os
import subprocess
import sys

import confluent_kafka
import pytest

import harness
import insight

BROKER_PROPERTIES = {"auto.create.topics.enable": "false", "group.initial.rebalance.delay.ms": 0}

pytestmark = pytest.mark.skipif(harness.TARGET != "partita", reason="what Partita knows of its clients")

#: A producer of its own process: sends the keyed records that it is told of by its standard input, and says so when they are acknowledged.
WRITER = """
import confluent_kafka, sys
bootstrap, topic, refresh_ms, idempotent = sys.argv[1:]
producer = confluent_kafka.Producer({"bootstrap.servers": bootstrap, "topic.metadata.refresh.interval.ms": int(refresh_ms),
                                     "metadata.max.age.ms": 86400000, "linger.ms": 1, "enable.idempotence": idempotent})
for line in sys.stdin:
    for key in range(int(line)):
        producer.produce(topic, key=f"key-{key}", value=f"value-{key}")
    producer.flush(60)
    print("done", flush=True)
"""
FRESH_MS = 200
#: Never.
STALE_MS = -1

#: A consumer of its own process that is in no group: reads all partitions to their ends, and says how many records there were.
READER = """
import confluent_kafka, sys
bootstrap, topic, partitions = sys.argv[1:]
reader = confluent_kafka.Consumer({"bootstrap.servers": bootstrap, "group.id": "unused", "enable.auto.commit": False, "enable.partition.eof": True})
reader.assign([confluent_kafka.TopicPartition(topic, p, 0) for p in range(int(partitions))])
read, ended = 0, set()
while len(ended) < int(partitions):
    message = reader.poll(20)
    assert message is not None, (read, ended)
    if message.error():
        assert message.error().code() == confluent_kafka.KafkaError._PARTITION_EOF, message.error()
        ended.add(message.partition())
    else:
        read += 1
print(read, flush=True)
sys.stdin.readline()
reader.close()
"""


class Writer:
    def __init__(self, broker, topic, refresh_ms, idempotent):
        self.process = subprocess.Popen([sys.executable, "-c", WRITER, broker.bootstrap, topic, str(refresh_ms), idempotent],
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def write(self, keys=200):
        self.process.stdin.write(f"{keys}\n")
        self.process.stdin.flush()
        assert self.process.stdout.readline() == "done\n"

    @property
    def pid(self):
        return self.process.pid

    def close(self):
        self.process.stdin.close()
        assert self.process.wait(60) == 0


@pytest.fixture
def writer(broker):
    started = []

    def start(topic, refresh_ms, idempotent="false"):
        started.append(Writer(broker, topic, refresh_ms, idempotent))
        return started[-1]
    yield start
    for one in started:
        if one.process.poll() is None:
            one.process.kill()
            one.process.wait()


def fence(broker, topic):
    return insight.ask(broker, f"topics/{topic}/protection")["fence"]


def partitions_written(broker, topic):
    """As far as the broker looked already; it looks at what was written a little later."""
    keys = insight.ask(broker, f"topics/{topic}/producers")["keys"]
    return sum(count > 0 for count in keys["distinct_by_partition"]) if keys else 0


def test_a_window_waits_for_the_stale_one_of_two_producers_of_one_name(broker, unique, writer):
    topic = unique("topic")
    insight.create(broker, topic, 6, **{"partita.expansion.mode": "fenced"})
    fresh, stale = writer(topic, FRESH_MS), writer(topic, STALE_MS)
    fresh.write()
    stale.write()
    insight.grow(broker, topic, 12)

    def fresh_knows():
        fresh.write()
        return partitions_written(broker, topic) > 6
    harness.wait_until(fresh_knows, 30, "the fresh producer writes to new partitions")
    stale.write()

    def waits_for_the_stale_one():
        waiting = fence(broker, topic)["waiting_for_producers"]
        return len(waiting) == 1 and waiting[0]["program"] and f"(pid {stale.pid}" in waiting[0]["program"]
    harness.wait_until(waits_for_the_stale_one, 20, lambda: f"the window waits for {stale.pid}: {fence(broker, topic)}")
    waiting, = fence(broker, topic)["waiting_for_producers"]
    assert waiting["client_id"] == "rdkafka" and waiting["connected"]
    # Once it has ended, nobody is left who could write by the old count.
    stale.close()
    harness.wait_until(lambda: not fence(broker, topic)["unproven_producers"], 20, lambda: f"nobody is waited for: {fence(broker, topic)}")
    assert fence(broker, topic)["window"] == "open", "what the fresh one placed before may still be under way"
    fresh.close()


@pytest.mark.parametrize("idempotent", ["false", "true"])
def test_the_stale_one_of_two_producers_of_one_name_is_told(broker, unique, writer, idempotent):
    topic = unique("topic")
    insight.create(broker, topic, 6)
    fresh, stale = writer(topic, FRESH_MS, idempotent), writer(topic, STALE_MS, idempotent)
    fresh.write()
    stale.write()
    insight.grow(broker, topic, 12)

    def both_go_on():
        fresh.write()
        stale.write()
        found = insight.finding(broker, topic, "H04")
        return found if found and found["subject"].get("program") else None
    found = harness.wait_until(both_go_on, 40, 
                               lambda: f"H04 with a program: {insight.ask(broker, f'findings?topic={topic}')}, "
                                       f"{insight.ask(broker, f'topics/{topic}/producers')['producers']}")
    assert f"(pid {stale.pid}" in found["subject"]["program"]
    assert found["subject"]["program"] in found["condition"]
    assert found["subject"]["client_id"] == "rdkafka"
    reports = insight.ask(broker, f"topics/{topic}/producers")["producers"]
    assert len(reports) == 2
    for report in reports:
        assert report["stale"] == (f"(pid {stale.pid}" in (report["program"] or ""))
    fresh.close()
    stale.close()


def backlog_before_growth(broker, unique):
    """A fenced topic and a group that stands at its beginning: 3,000 records were written before the topic grew, and 3,000 after."""
    topic, group = unique("topic"), unique("group")
    insight.create(broker, topic, 6, **{"partita.expansion.mode": "fenced"})
    producer = confluent_kafka.Producer({"bootstrap.servers": broker.bootstrap, "client.id": "writer"})
    for number in range(3000):
        producer.produce(topic, key=f"key-{number % 300}", value="before")
    assert producer.flush(60) == 0
    by_hand = confluent_kafka.Consumer({"bootstrap.servers": broker.bootstrap, "group.id": group})
    by_hand.commit(offsets=[confluent_kafka.TopicPartition(topic, p, 0) for p in range(6)], asynchronous=False)
    by_hand.close()
    insight.grow(broker, topic, 12)
    producer = confluent_kafka.Producer({"bootstrap.servers": broker.bootstrap, "client.id": "writer"})
    for number in range(3000):
        producer.produce(topic, key=f"key-{number % 300}", value="after")
    assert producer.flush(60) == 0
    return topic, group


@pytest.fixture
def stalled_group(broker, unique):
    """That, with a member of the group, called rdkafka, that reads and commits nothing."""
    topic, group = backlog_before_growth(broker, unique)
    member = confluent_kafka.Consumer({"bootstrap.servers": broker.bootstrap, "group.id": group, "auto.offset.reset": "earliest",
                                       "enable.auto.commit": False})
    member.subscribe([topic])
    harness.wait_until(lambda: member.poll(0.2) is not None, 20, "the member reads")
    harness.wait_until(lambda: fence(broker, topic)["waiting"], 20, "the member is held")
    yield topic, group
    member.close()


def kcat_output(broker, topic):
    return subprocess.run(["kcat", "-b", broker.bootstrap, "-C", "-e", "-q", "-t", topic, "-o", "beginning"], capture_output=True, text=True, timeout=60, check=True).stdout


def test_a_reader_in_no_group_is_not_held_for_a_member_of_its_name(broker, stalled_group):
    topic, group = stalled_group
    lines = kcat_output(broker, topic).splitlines()
    assert len(lines) == 6000
    assert lines.count("before") == lines.count("after") == 3000
    told = fence(broker, topic)
    assert {(outsider["client_id"], outsider["partition"]) for outsider in told["unattributed"]} == {("rdkafka", p) for p in range(6, 12)}
    assert {waiting["group"] for waiting in told["waiting"]} == {group}
    assert insight.finding(broker, topic, "H52") is None


def test_a_reader_is_not_taken_for_a_member_that_died(broker, unique):
    """Until its session ends the group keeps the dead member, and nothing tells any more that somebody of its name is not it."""
    topic, group = backlog_before_growth(broker, unique)
    # Nobody takes what it prints, so it stands still when the pipe is full.
    command = ["kcat", "-b", broker.bootstrap, "-f", "%p %o" + "." * 200 + "\n", "-X", "auto.offset.reset=earliest", "-X", "session.timeout.ms=10000",
               "-G", group, topic]
    with subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as member:
        try:
            harness.wait_until(lambda: fence(broker, topic)["waiting"], 20, "the member is held")
        finally:
            member.kill()
    assert len(kcat_output(broker, topic).splitlines()) == 6000, "all of them, if need be when the session is over"


def test_a_reader_of_the_members_software_is_told_from_it_by_its_process(broker, stalled_group):
    topic, group = stalled_group
    with subprocess.Popen([sys.executable, "-c", READER, broker.bootstrap, topic, "12"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                          text=True) as reader:
        assert reader.stdout.readline() == "6000\n"

        def programs():
            return {outsider["program"] for outsider in fence(broker, topic)["unattributed"]}
        harness.wait_until(lambda: len(programs()) == 1 and f"(pid {reader.pid}" in (programs().pop() or ""), 20,
                           lambda: f"the outsider is {reader.pid}: {fence(broker, topic)}")
        assert {waiting["group"] for waiting in fence(broker, topic)["waiting"]} == {group}
        assert insight.finding(broker, topic, "H52") is None
        reader.communicate("\n", timeout=60)


def test_a_reader_that_may_be_a_member_is_held_and_told(broker, stalled_group):
    """Of the member's own process, as an application may have both."""
    topic, group = stalled_group
    outsider = confluent_kafka.Consumer({"bootstrap.servers": broker.bootstrap, "group.id": "unused", "enable.auto.commit": False})
    outsider.assign([confluent_kafka.TopicPartition(topic, p, 0) for p in range(12)])
    read = 0

    def is_told():
        nonlocal read
        read += sum(message.error() is None for message in outsider.consume(1000, 0.2))
        return insight.finding(broker, topic, "H52")
    found = harness.wait_until(is_told, 30, "H52")
    assert f"one of group {group}, or a reader in no group" in found["condition"]
    assert f"(pid {os.getpid()}" in found["subject"]["program"]
    assert read < 6000
    outsider.close()
