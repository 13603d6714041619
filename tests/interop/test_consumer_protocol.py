"""Consumer groups by the protocol of KIP-848: Java's and librdkafka's consumers, Kafka's tools, and the way from the
classic protocol and back."""

import re
import signal
import subprocess
import threading

import pytest

import harness

# Shorter than Kafka allows by default, so that a member that died is missed within seconds.
BROKER_PROPERTIES = {
    "auto.create.topics.enable": "false",
    "group.initial.rebalance.delay.ms": 0,
    "group.consumer.min.heartbeat.interval.ms": 500,
    "group.consumer.heartbeat.interval.ms": 500,
    "group.consumer.min.session.timeout.ms": 3000,
    "group.consumer.session.timeout.ms": 3000,
}
PARTITIONS = 4


class Member:
    """A consumer in a process of its own that prints what it reads."""

    def __init__(self, command):
        self.values = set()
        self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                        stderr=subprocess.STDOUT, text=True)
        self.reader = threading.Thread(target=self._read, daemon=True)
        self.reader.start()

    def _read(self):
        for line in self.process.stdout:
            self.values.add(line.strip())

    def leave(self):
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(60)
        self.reader.join()

    def die(self):
        self.process.kill()
        self.process.wait()


class Group:
    def __init__(self, broker, tools, unique):
        self.broker, self.tools = broker, tools
        self.topic, self.name = unique("topic"), unique("group")
        self.members = []
        self.produced = 0
        tools("kafka-topics", "--create", "--topic", self.topic, "--partitions", PARTITIONS).succeeded()

    def java(self, protocol="consumer"):
        return self.add(harness.java_command() + [
            "org.apache.kafka.tools.consumer.ConsoleConsumer", "--bootstrap-server", self.broker.bootstrap, "--topic",
            self.topic, "--group", self.name, "--from-beginning", "--command-property", f"group.protocol={protocol}"])

    def librdkafka(self, topic=None):
        return self.add([str(harness.TOOLS / "venv/bin/python"),
                         str(harness.HERE / "clients/python/librdkafka_consumer_protocol.py"), self.broker.bootstrap,
                         self.name, topic or self.topic])

    def add(self, command):
        self.members.append(Member(command))
        return self.members[-1]

    def produce(self, count=40):
        """Values that nobody has seen, spread over all partitions by their keys."""
        values = [f"v{self.produced + i}" for i in range(count)]
        self.produced += count
        self.tools("kafka-console-producer", "--topic", self.topic, "--reader-property", "parse.key=true",
                   "--reader-property", "key.separator=:",
                   input="".join(f"{value}:{value}\n" for value in values)).succeeded()
        return set(values)

    def wait_read(self, values, members=None):
        harness.wait_until(lambda: values <= set().union(*(m.values for m in members or self.members)), 30,
                           lambda: f"all of {sorted(values)} are read; {[sorted(m.values) for m in self.members]}")

    def wait_described(self, pattern, what):
        last = None

        def shown():
            nonlocal last
            last = self.tools("kafka-consumer-groups", "--describe", "--group", self.name, *what)
            return re.search(pattern, last.out, re.M)
        return harness.wait_until(shown, 30, lambda: f"{pattern}\n{last}")

    def wait_members(self, count):
        self.wait_described(rf"^{self.name}\s+\S+\s+\(\d+\)\s+\S*\s*Stable\s+{count}\s*$", ["--state"])

    def end(self):
        for member in self.members:
            if member.process.poll() is None:
                member.die()


@pytest.fixture
def group(broker, tools, unique):
    group = Group(broker, tools, unique)
    yield group
    group.end()


def test_members_come_leave_and_die_and_the_topic_grows(group):
    one, two = group.java(), group.java()
    group.wait_members(2)
    first = group.produce()
    group.wait_read(first)
    assert one.values and two.values and not one.values & two.values
    group.tools("kafka-topics", "--alter", "--topic", group.topic, "--partitions", 2 * PARTITIONS).succeeded()
    group.wait_described(rf"{group.topic}:\d", ["--members", "--verbose"])
    group.wait_read(group.produce(80))
    two.die()
    group.wait_members(1)
    group.wait_read(group.produce(), [one])
    one.leave()
    group.wait_described(rf"^{group.name}\s+\S+\s+\(\d+\)\s+\S*\s*Empty\s+0\s*$", ["--state"])


def test_tools_see_a_consumer_group(group):
    member = group.java()
    group.wait_read(group.produce(), [member])
    group.wait_members(1)
    listed = group.tools("kafka-consumer-groups", "--list", "--type").succeeded()
    assert re.search(rf"^{group.name}\s+Consumer\s*$", listed.out, re.M), listed
    assert group.name in group.tools("kafka-consumer-groups", "--list", "--state", "stable").succeeded().out
    members = group.tools("kafka-consumer-groups", "--describe", "--group", group.name, "--members",
                          "--verbose").succeeded()
    assert re.search(rf"^{group.name}\s+\S+\s+\S+\s+console-consumer\s+{PARTITIONS}\s", members.out, re.M), members
    refused = group.tools("kafka-consumer-groups", "--delete", "--group", group.name)
    assert "GroupNotEmptyException" in refused.out + refused.err, refused
    member.leave()
    reset = group.tools("kafka-consumer-groups", "--reset-offsets", "--group", group.name, "--topic", group.topic,
                        "--to-earliest", "--execute").succeeded()
    assert len(re.findall(rf"^{group.name}\s+{group.topic}\s+\d+\s+0\s*$", reset.out, re.M)) == PARTITIONS, reset
    again = group.java()
    group.wait_read({f"v{i}" for i in range(group.produced)}, [again])
    again.leave()
    deleted = group.tools("kafka-consumer-groups", "--delete", "--group", group.name).succeeded()
    assert "was successful" in deleted.out, deleted


def test_group_moves_to_the_new_protocol_and_back(group):
    classic = group.java("classic")
    group.wait_read(group.produce(), [classic])
    new = group.java("consumer")
    group.wait_members(2)
    listed = group.tools("kafka-consumer-groups", "--list", "--type").succeeded()
    assert re.search(rf"^{group.name}\s+Consumer\s*$", listed.out, re.M), listed
    group.wait_read(group.produce(80))
    assert new.values and classic.values
    new.leave()
    group.wait_members(1)
    listed = group.tools("kafka-consumer-groups", "--list", "--type").succeeded()
    assert re.search(rf"^{group.name}\s+Classic\s*$", listed.out, re.M), listed
    group.wait_read(group.produce(), [classic])


def test_librdkafka_shares_with_java(group):
    c, java = group.librdkafka(), group.java()
    group.wait_members(2)
    group.wait_read(group.produce(80))
    assert c.values and java.values
    c.die()
    group.wait_members(1)
    group.wait_read(group.produce(), [java])


def test_librdkafka_subscribes_by_a_regular_expression(group):
    member = group.librdkafka("^" + group.topic[:-2] + ".*")
    group.wait_read(group.produce(), [member])
    member.leave()
    assert not [value for value in member.values if value.startswith("error")]


def test_group_survives_a_crash_of_the_broker(group):
    if harness.TARGET != "partita":
        pytest.skip("kills the broker that other tests use")
    member = group.java()
    group.wait_read(group.produce(), [member])
    group.wait_members(1)
    group.broker.kill()
    group.broker.restart()
    group.wait_members(1)
    group.wait_read(group.produce(), [member])
