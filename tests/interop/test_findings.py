"""Live findings about readers, with real clients, on every channel: log, topic, HTTP, WebSocket, metrics."""

import base64
import hashlib
import json
import os
import re
import socket
import struct
import subprocess
import threading
import urllib.request

import confluent_kafka
import pytest

import harness
import insight

BROKER_PROPERTIES = {"auto.create.topics.enable": "false"}
EVENTS_TOPIC = "__partita_expansions"
WEBSOCKET_GUID = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"  # RFC 6455, section 1.3

pytestmark = pytest.mark.skipif(harness.TARGET != "partita", reason="findings are Partita's own")


def get(broker, path):
    return urllib.request.urlopen(f"http://{insight.address(broker)}{path}", timeout=60).read().decode()


class Lines:
    """/v1/events as lines, collected in the background."""

    def __init__(self, broker):
        self.response = urllib.request.urlopen(f"http://{insight.address(broker)}/v1/events", timeout=60)
        self.events = []
        threading.Thread(target=self.read, daemon=True).start()

    def read(self):
        try:
            for line in self.response:
                self.events.append(json.loads(line))
        except (OSError, ValueError, AttributeError):
            pass  # The broker ended, or the test closed the response.

    def wait_for(self, topic, hazard, kinds, count):
        def seen():
            return [event for event in self.events if event["event"] in kinds and event["finding"]["id"] == hazard
                    and event["finding"]["subject"]["topic"] == topic and event["finding"]["count"] == count]
        return harness.wait_until(seen, 25, lambda: f"{hazard} {kinds}; there is {self.events}")[-1]


class WebSocket:
    """As much of RFC 6455 as reading text messages takes."""

    def __init__(self, broker):
        host, port = insight.address(broker).rsplit(":", 1)
        self.socket = socket.create_connection((host, int(port)), timeout=60)
        key = base64.b64encode(os.urandom(16)).decode()
        self.socket.sendall((f"GET /v1/events HTTP/1.1\r\nHost: {host}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                             f"Sec-WebSocket-Key: {key}\r\nSec-WebSocket-Version: 13\r\n\r\n").encode())
        self.stream = self.socket.makefile("rb")
        head = b"".join(iter(self.stream.readline, b"\r\n")).decode()
        assert head.startswith("HTTP/1.1 101 "), head
        accept = base64.b64encode(hashlib.sha1((key + WEBSOCKET_GUID).encode()).digest()).decode()
        assert f"Sec-WebSocket-Accept: {accept}" in head

    def message(self):
        first, length = self.stream.read(2)
        assert first == 0x81 and length < 128, "one whole, unmasked text message"
        if length == 126:
            length, = struct.unpack(">H", self.stream.read(2))
        elif length == 127:
            length, = struct.unpack(">Q", self.stream.read(8))
        return json.loads(self.stream.read(length))


class Reader:
    """A librdkafka consumer that polls all the time; it refreshes its metadata every `refresh_ms`."""

    def __init__(self, broker, group, topics, refresh_ms, **settings):
        self.keys = []
        self.consumer = confluent_kafka.Consumer({
            "bootstrap.servers": broker.bootstrap, "group.id": group, "client.id": f"app-{group}",
            "topic.metadata.refresh.interval.ms": refresh_ms, "auto.commit.interval.ms": 100, **settings})
        self.assigned = 0
        self.consumer.subscribe(topics, on_assign=self.on_assign)
        self.running = True
        self.thread = threading.Thread(target=self.run, daemon=True)
        self.thread.start()

    def on_assign(self, _, partitions):
        self.assigned = len(partitions)

    def run(self):
        while self.running:
            message = self.consumer.poll(0.1)
            if message is not None and message.error() is None:
                self.keys.append(message.key())
        self.consumer.close()

    def stop(self):
        self.running = False
        self.thread.join(30)


def produce(broker, topic, count, partitioner=None):
    """A producer of its own, which knows the count of this moment. Returns how many records went to which partition."""
    placed = {}
    producer = confluent_kafka.Producer({"bootstrap.servers": broker.bootstrap, "linger.ms": 5,
                                         **({"partitioner": partitioner} if partitioner else {})})
    for number in range(count):
        producer.produce(topic, key=f"user-{number}", value=b"value",
                         on_delivery=lambda _, message: placed.update({message.partition(): placed.get(message.partition(), 0) + 1}))
    assert producer.flush(60) == 0
    return placed


def test_no_topic_of_events_is_made_before_a_topic_has_grown(broker, unique):
    topic = unique("topic")
    insight.create(broker, topic, 4)
    producer = confluent_kafka.Producer({"bootstrap.servers": broker.bootstrap})
    for number in range(400):
        # Keys that say nothing about the partition: a finding about a topic that never grew (H11).
        producer.produce(topic, key=f"user-{number % 40}", value=b"value", partition=number % 4 if number < 200 else (number + 1) % 4)
    assert producer.flush(60) == 0
    assert insight.wait_for(broker, topic, "H11") or insight.finding(broker, topic, "H09")
    assert EVENTS_TOPIC not in insight.admin(broker).list_topics(timeout=60).topics
    insight.grow(broker, topic, 8)
    produce(broker, topic, 40)
    reader = confluent_kafka.Consumer({"bootstrap.servers": broker.bootstrap, "group.id": unique("group"), "client.id": "late"})
    reader.commit(offsets=[confluent_kafka.TopicPartition(topic, 5, 0), confluent_kafka.TopicPartition(topic, 0, 0)], asynchronous=False)
    reader.commit(offsets=[confluent_kafka.TopicPartition(topic, 5, 1)], asynchronous=False)
    assert insight.wait_for(broker, topic, "H03")
    harness.wait_until(lambda: EVENTS_TOPIC in insight.admin(broker).list_topics(timeout=60).topics, 10, "the topic of events")
    reader.close()
    told = subprocess.run(["kcat", "-b", broker.bootstrap, "-C", "-t", EVENTS_TOPIC, "-o", "beginning", "-e", "-q"],
                          capture_output=True, text=True, timeout=30, check=True).stdout
    assert {"H11", "H03"} <= {json.loads(line)["finding"]["id"] for line in told.splitlines()}, "what was told before is there too"


def test_a_group_on_latest_is_told_exactly_what_it_skipped(broker, unique):
    topic, group = unique("topic"), unique("group")
    insight.create(broker, topic, 3)
    lines = Lines(broker)
    # Long enough to be seen without the new partitions: that is told ten seconds after the growth, which comes soon after this.
    reader = Reader(broker, group, [topic], 14_000, **{"auto.offset.reset": "latest"})
    harness.wait_until(lambda: reader.assigned == 3, 20, "an assignment")
    harness.wait_until(lambda: produce(broker, topic, 50) and reader.keys, 20, "the reader reads")
    insight.grow(broker, topic, 6)
    placed = produce(broker, topic, 300)
    skipped = sum(count for partition, count in placed.items() if partition >= 3)
    assert skipped > 50
    blind = insight.wait_for(broker, topic, "H22")
    assert blind["subject"]["group"] == group and blind["count"] == skipped
    # It may be seen while the reader has begun with some of the partitions only.
    lost = insight.wait_for_count(broker, topic, "H20", skipped)
    assert lost["subject"]["group"] == group
    assert lost["numbers"] == {"skipped_records": skipped, "partitions": 3, "is_exact": 1}
    insight.wait_until_closed(broker, topic, "H22")
    # Every channel said the same.
    told = lines.wait_for(topic, "H20", ("opened", "updated"), skipped)
    lines.wait_for(topic, "H22", ("closed",), skipped)
    assert WebSocket(broker).message()["finding"]["subject"]
    assert re.search(r'partita_expansion_findings\{id="H20",severity="block"\} [1-9]', get(broker, "/metrics"))
    read = subprocess.run(["kcat", "-b", broker.bootstrap, "-C", "-t", EVENTS_TOPIC, "-o", "beginning", "-e", "-q", "-f", "%k\t%s\n"],
                          capture_output=True, text=True, timeout=30, check=True).stdout
    events = [json.loads(line.split("\t")[1]) for line in read.splitlines() if line.split("\t")[0] == topic]
    assert told in events
    sequences = [event["sequence"] for event in events]
    assert sequences == sorted(set(sequences))
    # The group goes back: what it skipped is read after all.
    reader.stop()
    again = confluent_kafka.Consumer({"bootstrap.servers": broker.bootstrap, "group.id": group})
    again.commit(offsets=[confluent_kafka.TopicPartition(topic, partition, 0) for partition in range(6)], asynchronous=False)
    again.close()
    insight.wait_until_closed(broker, topic, "H20")


def test_a_backlog_that_is_overtaken_is_proven_by_commits(broker, unique):
    topic, group = unique("topic"), unique("group")
    insight.create(broker, topic, 2)
    produce(broker, topic, 200)
    consumer = confluent_kafka.Consumer({"bootstrap.servers": broker.bootstrap, "group.id": group, "enable.auto.commit": False,
                                         "auto.offset.reset": "earliest", "client.id": "by-hand"})
    # The group stands at the beginning of the old partitions ...
    consumer.commit(offsets=[confluent_kafka.TopicPartition(topic, partition, 1) for partition in range(2)], asynchronous=False)
    insight.grow(broker, topic, 4)
    placed = produce(broker, topic, 200)
    # ... and is through with a new one.
    consumer.commit(offsets=[confluent_kafka.TopicPartition(topic, 2, placed[2])], asynchronous=False)
    inversion = insight.wait_for(broker, topic, "H06")
    # Every key of the new partition was in an old one before, beyond the first record.
    assert placed[2] - 2 <= inversion["count"] <= placed[2]
    assert {example["to"] for example in inversion["examples"]} == {2}
    consumer.close()


def test_a_reader_without_a_group_is_named(broker, unique):
    topic = unique("topic")
    insight.create(broker, topic, 2)
    produce(broker, topic, 20)
    insight.grow(broker, topic, 4)
    consumer = confluent_kafka.Consumer({"bootstrap.servers": broker.bootstrap, "group.id": "unused", "client.id": "by-itself",
                                         "enable.auto.commit": False})
    consumer.assign([confluent_kafka.TopicPartition(topic, partition, 0) for partition in range(2)])
    stop = threading.Event()
    poller = threading.Thread(target=lambda: [consumer.poll(0.1) for _ in iter(stop.is_set, True)])
    poller.start()
    manual = insight.wait_for(broker, topic, "H23")
    assert manual["subject"]["client_id"] == "by-itself" and manual["count"] == 2
    stop.set()
    poller.join()
    consumer.assign([confluent_kafka.TopicPartition(topic, partition, 0) for partition in range(4)])
    harness.wait_until(lambda: consumer.poll(0.1) or not insight.finding(broker, topic, "H23"), 25, "H23 ends")
    consumer.close()


def test_a_broken_join_is_told_until_the_other_topic_follows(broker, unique):
    """Beyond the rebalance, too: the assignment that it brings is the broken one."""
    topic, other, group = unique("topic"), unique("other"), unique("group")
    insight.create(broker, topic, 2)
    insight.create(broker, other, 2)
    members = [Reader(broker, group, [topic, other], 1000, **{"partition.assignment.strategy": "range"}) for _ in range(2)]
    harness.wait_until(lambda: [member.assigned for member in members] == [2, 2], 30, "each has a partition of both")
    insight.ask(broker, f"topics/{topic}/visibility?consumers=until-released", "POST")
    insight.grow(broker, topic, 4)
    joined = insight.wait_for(broker, topic, "H27", group=group)
    assert other in joined["condition"]
    due = insight.wait_for(broker, topic, "H24", group=group)
    assert due["numbers"]["members"] == 2
    insight.ask(broker, f"topics/{topic}/visibility?consumers=released", "POST")
    harness.wait_until(lambda: [member.assigned for member in members] == [3, 3], 30, "the new partitions are assigned")
    insight.wait_until_closed(broker, topic, "H24")
    assert insight.finding(broker, topic, "H27", group=group)
    insight.grow(broker, other, 4)
    insight.wait_until_closed(broker, topic, "H27")
    for member in members:
        member.stop()


def test_kafkas_own_topic_that_grew_is_told(broker, unique):
    """Last in this module: from here on groups may not find their coordinator's offsets."""
    group = unique("group")
    topic = unique("topic")
    insight.create(broker, topic, 1)
    reader = confluent_kafka.Consumer({"bootstrap.servers": broker.bootstrap, "group.id": group})
    reader.commit(offsets=[confluent_kafka.TopicPartition(topic, 0, 0)], asynchronous=False)
    reader.close()
    own = "__consumer_offsets"
    count = len(insight.admin(broker).list_topics(own, timeout=60).topics[own].partitions)
    insight.grow(broker, own, count + 1)
    found = insight.wait_for(broker, own, "H42")
    assert found["severity"] == "block" and "clients find coordinators by a hash" in found["condition"]
