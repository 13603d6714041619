"""After an expansion the members of a group of KIP-848 own its partitions within two heartbeats, without any refresh of
their metadata: the Java consumer and librdkafka's, and both in one group."""

import json
import subprocess
import threading
import time

import pytest

import harness

# Seconds between two heartbeats. The classic way, a leader that refreshes its metadata, would take five minutes.
HEARTBEAT_S = 2
# What clients may need besides, to look at what they are given and to call back.
GRACE_S = 1.5
BROKER_PROPERTIES = {
    "auto.create.topics.enable": "false",
    "group.consumer.min.heartbeat.interval.ms": 500,
    "group.consumer.heartbeat.interval.ms": HEARTBEAT_S * 1000,
    "group.consumer.min.session.timeout.ms": 3000,
}
BEFORE, AFTER = 4, 12


class Member:
    """A consumer in a process of its own; when it was given which partition."""

    def __init__(self, command):
        self.given = {}
        self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                        stderr=subprocess.DEVNULL, text=True)
        self.reader = threading.Thread(target=self._read, daemon=True)
        self.reader.start()

    def _read(self):
        for line in self.process.stdout:
            event = json.loads(line) if line.startswith("{") else {}
            for partition in partitions_of(event):
                self.given[partition] = time.time()

    def end(self):
        self.process.kill()
        self.process.wait()
        self.reader.join()


def partitions_of(event):
    """Of librdkafka_assignment.py, or of Kafka's verifiable consumer."""
    if event.get("event") == "assigned":
        return event["partitions"]
    if event.get("name") == "partitions_assigned":
        return [entry["partition"] for entry in event["partitions"]]
    return []


def python(*arguments):
    return [str(harness.TOOLS / "venv/bin/python"), str(harness.HERE / "clients/python/librdkafka_assignment.py"),
            *map(str, arguments)]


def start(kind, broker, group, topic):
    if kind == "librdkafka":
        return Member(python(broker.bootstrap, group, topic))
    return Member(harness.java_command() + [
        "org.apache.kafka.tools.VerifiableConsumer", "--bootstrap-server", broker.bootstrap, "--topic", topic,
        "--group-id", group, "--group-protocol", "consumer"])


@pytest.mark.parametrize("kinds", [("java", "java"), ("librdkafka", "librdkafka"), ("java", "librdkafka")], ids="+".join)
def test_an_expansion_reaches_all_members_within_two_heartbeats(broker, tools, unique, kinds):
    topic, group = unique("topic"), unique("group")
    tools("kafka-topics", "--create", "--topic", topic, "--partitions", BEFORE).succeeded()
    members = [start(kind, broker, group, topic) for kind in kinds]
    try:
        harness.wait_until(lambda: all(member.given for member in members) and
                           set(range(BEFORE)) <= set().union(*(member.given for member in members)), 40,
                           lambda: f"both have partitions: {[member.given for member in members]}")
        time.sleep(HEARTBEAT_S)  # Until what one of them gave up was given to the other.
        watch = harness.Stopwatch()
        told = subprocess.run(python(broker.bootstrap, "--expand", topic, AFTER), capture_output=True, text=True, timeout=60)
        assert told.returncode == 0, told
        expanded = json.loads(told.stdout)["time"]
        added = set(range(BEFORE, AFTER))
        harness.wait_until(lambda: added <= set().union(*(member.given for member in members)), 30,
                           lambda: f"what was added is owned: {[member.given for member in members]}")
        took = {partition: round(when - expanded, 1) for member in members for partition, when in member.given.items()
                if partition in added}
        assert max(took.values()) <= 2 * HEARTBEAT_S + GRACE_S + watch.short_s(), took
        shares = [len(added & set(member.given)) for member in members]
        assert sum(shares) == len(added) and min(shares) == max(shares), shares
    finally:
        for member in members:
            member.end()
