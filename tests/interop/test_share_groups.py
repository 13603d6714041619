"""Share groups (KIP-932) as Kafka's own programs use them: the console share consumer, a Java KafkaShareConsumer in processes that
die, and kafka-share-groups."""

import re
import signal
import subprocess
import threading

import pytest

import harness

BROKER_PROPERTIES = {
    "auto.create.topics.enable": "false",
    # Short, so that members and records whose holder died are missed within seconds.
    "group.share.min.heartbeat.interval.ms": 500,
    "group.share.heartbeat.interval.ms": 500,
    "group.share.min.session.timeout.ms": 3000,
    "group.share.session.timeout.ms": 3000,
    "group.share.min.record.lock.duration.ms": 1000,
    "group.share.record.lock.duration.ms": 2000,
    "group.share.assignment.interval.ms": 0,
}


@pytest.fixture
def queue(tools, unique):
    """A topic with two partitions and a share group that reads it from the beginning."""
    topic, group = unique("topic"), unique("group")
    tools("kafka-topics", "--create", "--topic", topic, "--partitions", 2).succeeded()
    tools("kafka-configs", "--alter", "--entity-type", "groups", "--entity-name", group, "--add-config",
          "share.auto.offset.reset=earliest").succeeded()
    return topic, group


def produce(tools, topic, values):
    tools("kafka-console-producer", "--topic", topic, input="".join(f"{value}\n" for value in values)).succeeded()


def consume(tools, topic, group, count, *more):
    done = tools("kafka-console-share-consumer", "--topic", topic, "--group", group, "--max-messages", count, "--timeout-ms",
                 20000, *more)
    return [line for line in done.out.splitlines() if line]


def share_groups(tools, *arguments):
    return tools("kafka-share-groups", *arguments)


def described_members(tools, group):
    described = share_groups(tools, "--describe", "--members", "--group", group).out
    return len(re.findall(rf"^{group}\s", described, re.M))


class Member:
    """A console share consumer in a process of its own."""

    def __init__(self, broker, topic, group, *more):
        self.values = []
        self.process = subprocess.Popen(
            [*harness.java_command(), "org.apache.kafka.tools.consumer.ConsoleShareConsumer", "--bootstrap-server",
             broker.bootstrap, "--topic", topic, "--group", group, *more],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        self.reader = threading.Thread(target=self._read, daemon=True)
        self.reader.start()

    def _read(self):
        for line in self.process.stdout:
            self.values.append(line.strip())

    def leave(self):
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(60)
        self.reader.join()

    def die(self):
        self.process.kill()
        self.process.wait()
        self.reader.join()


def test_each_record_is_delivered_once(tools, queue):
    topic, group = queue
    produce(tools, topic, range(50))
    assert sorted(consume(tools, topic, group, 50), key=int) == [str(n) for n in range(50)]
    produce(tools, topic, ["later"])
    assert consume(tools, topic, group, 1) == ["later"]


def test_members_share_the_records(broker, tools, queue):
    topic, group = queue
    members = [Member(broker, topic, group) for _ in range(3)]
    try:
        harness.wait_until(lambda: described_members(tools, group) == 3, 60, "three members")
        produce(tools, topic, range(300))
        harness.wait_until(lambda: sum(len(member.values) for member in members) >= 300, 60, "all records")
    finally:
        for member in members:
            member.leave()
    assert sorted(int(value) for member in members for value in member.values) == list(range(300))


def test_records_of_a_member_that_died_go_to_another(broker, tools, queue):
    topic, group = queue
    member = Member(broker, topic, group, "--reject")
    produce(tools, topic, range(10))
    harness.wait_until(lambda: len(member.values) >= 10, 60, "all records")
    member.die()
    # The last records may have been printed before they were rejected: those come again, and nothing else is left behind.
    produce(tools, topic, ["end-a", "end-b"])
    values = consume(tools, topic, group, 2)
    assert values


def test_released_records_come_again_until_the_limit(tools, queue):
    topic, group = queue
    produce(tools, topic, ["poison"])
    assert consume(tools, topic, group, 5, "--release") == ["poison"] * 5
    produce(tools, topic, ["fine"])
    assert consume(tools, topic, group, 1) == ["fine"]


def test_a_restarted_broker_remembers_what_is_done(broker, tools, queue):
    topic, group = queue
    produce(tools, topic, range(10))
    assert len(consume(tools, topic, group, 10)) == 10
    broker.kill()
    broker.restart()
    produce(tools, topic, ["after"])
    assert consume(tools, topic, group, 1) == ["after"]


def test_the_tool_lists_describes_resets_and_deletes(tools, queue):
    topic, group = queue
    produce(tools, topic, range(10))
    assert len(consume(tools, topic, group, 10)) == 10
    assert group in share_groups(tools, "--list").succeeded().out
    assert re.search(rf"^{group}\s+Share\s+share\s*$", tools("kafka-groups", "--list").succeeded().out, re.M)
    state = share_groups(tools, "--describe", "--state", "--group", group).succeeded().out
    assert re.search(rf"{group}\s.*Empty", state), state
    offsets = share_groups(tools, "--describe", "--group", group).succeeded().out
    # A partition that nobody has got records of has no start yet.
    lags = re.findall(rf"{topic}\s+\d\s+(?:\d+|-)\s+(\d+|-)\s*$", offsets, re.M)
    assert sorted(lags) in (["-", "0"], ["0", "0"]), offsets
    done = share_groups(tools, "--reset-offsets", "--to-earliest", "--topic", topic, "--group", group, "--execute")
    assert topic in done.succeeded().out
    assert len(consume(tools, topic, group, 10)) == 10
    deleted = share_groups(tools, "--delete-offsets", "--topic", topic, "--group", group).succeeded().out
    assert "Successful" in deleted, deleted
    share_groups(tools, "--delete", "--group", group).succeeded()
    assert group not in share_groups(tools, "--list").succeeded().out
