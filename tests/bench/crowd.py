"""A broker with a crowd on it: many topics of one count, many groups whose members subscribe to hundreds of them each. What do
others notice while such a topic grows?

Groups are joined over a few connections with sessions that outlast the measurement, so that the crowd needs no heartbeats and
what the broker does afterwards it does by itself.

Run alone it measures a broker that is running:

    crowd.py --port 9092 --pid 4711 --topics 2000 --groups 2000 --subscribed 300 --growths 10
"""

import argparse
import json
import os
import struct
import threading
import time

from start_client import CREATE_PARTITIONS, CREATE_TOPICS, Connection, ProtocolError, array, record_batch, string

FIND_COORDINATOR, JOIN_GROUP, SYNC_GROUP, OFFSET_COMMIT = 10, 11, 14, 8
SESSION_MS = 1_800_000
CALM_S = 5  # of what a neighbour sees when nothing grows
GROWTH_PAUSE_S = 0.1
LARGE_REQUEST = 500  # topics that one request makes or grows


def name_of(number):
    return f"crowd-topic-{number:05}"


def group_of(number):
    return f"crowd-group-{number:05}"


def bytes_field(data):
    return struct.pack(">i", len(data)) + data


def find_coordinator(connection, group):
    """There is none before somebody looks for it."""
    reader = connection.exchange(connection.prepare(FIND_COORDINATOR, 0, string(group)))
    if error := reader.take(">h"):
        raise ProtocolError(f"FindCoordinator answered error {error}")


def join(connection, group, topics, partitions):
    """The group has one member, which holds every partition of the topics."""
    subscription = struct.pack(">h", 0) + array([string(topic) for topic in topics]) + struct.pack(">i", -1)
    body = string(group) + struct.pack(">ii", SESSION_MS, SESSION_MS) + string("") + string("consumer")
    body += array([string("range") + bytes_field(subscription)])
    reader = connection.exchange(connection.prepare(JOIN_GROUP, 2, body))
    reader.take(">i")
    error, generation = reader.take(">hi")
    reader.string()
    reader.string()
    member = reader.string()
    if error:
        raise ProtocolError(f"JoinGroup answered error {error}")
    held = array([struct.pack(">i", index) for index in range(partitions)])
    assignment = struct.pack(">h", 0) + array([string(topic) + held for topic in topics]) + struct.pack(">i", -1)
    body = string(group) + struct.pack(">i", generation) + string(member) + array([string(member) + bytes_field(assignment)])
    reader = connection.exchange(connection.prepare(SYNC_GROUP, 1, body))
    reader.take(">i")
    if error := reader.take(">h"):
        raise ProtocolError(f"SyncGroup answered error {error}")


def commit(connection, group, topics, partitions, offset):
    """Commits of nobody's member: the group only stores offsets."""
    parts = array([struct.pack(">iq", index, offset) + string("") for index in range(partitions)])
    body = string(group) + struct.pack(">i", -1) + string("") + struct.pack(">q", -1)
    reader = connection.exchange(connection.prepare(OFFSET_COMMIT, 3, body + array([string(topic) + parts for topic in topics])))
    reader.take(">i")
    for _ in range(reader.take(">i")):
        reader.string()
        for _ in range(reader.take(">i")):
            _, error = reader.take(">ih")
            if error:
                raise ProtocolError(f"OffsetCommit answered error {error}")


def expect_no_error(reader, api):
    """Reads what CreateTopics and CreatePartitions say of each topic."""
    reader.take(">i")
    for _ in range(reader.take(">i")):
        reader.string()
        error = reader.take(">h")
        text = reader.string()
        if error:
            raise ProtocolError(f"{api} answered error {error}: {text}")


def create_topics(connection, names, partitions, configs=()):
    for first in range(0, len(names), LARGE_REQUEST):
        entries = array([string(key) + string(value) for key, value in configs])
        topics = [string(name) + struct.pack(">ih", partitions, 1) + array([]) + entries for name in names[first:first + LARGE_REQUEST]]
        reader = connection.exchange(connection.prepare(CREATE_TOPICS, 4, array(topics) + struct.pack(">ib", 60000, 0)))
        expect_no_error(reader, "CreateTopics")


def grow(connection, names, count):
    """Grows all of them by one request; returns the seconds it took."""
    topics = [string(name) + struct.pack(">ii", count, -1) for name in names]
    prepared = connection.prepare(CREATE_PARTITIONS, 1, array(topics) + struct.pack(">ib", 600000, 0))
    began = time.monotonic()
    reader = connection.exchange(prepared)
    took = time.monotonic() - began
    expect_no_error(reader, "CreatePartitions")
    return took


def processor_s(pid):
    with open(f"/proc/{pid}/stat") as stat:
        fields = stat.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


class Neighbour:
    """Somebody else's producer: one small record after the other to a topic of its own, with the time that each took."""

    def __init__(self, port, topic):
        self.port, self.topic = port, topic
        self.took = []
        self.failure = None
        self.stopping = threading.Event()
        self.thread = threading.Thread(target=self.run)

    def run(self):
        try:
            with Connection(self.port, timeout=600) as connection:
                while not self.stopping.is_set():
                    batch = record_batch(b"key", b"value", int(time.time() * 1000))
                    prepared = connection.prepare_produce(self.topic, [0], batch)
                    began = time.monotonic()
                    answer = connection.exchange(prepared)
                    self.took.append(time.monotonic() - began)
                    if connection.read_produce(answer)[0][0]:
                        raise ProtocolError("a record was refused")
                    time.sleep(0.001)
        except Exception as failure:  # told by whoever joins the thread
            self.failure = failure

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.stopping.set()
        self.thread.join()
        if self.failure:
            raise self.failure

    def take(self):
        """What was measured since the last call."""
        taken, self.took = self.took, []
        return taken


def share(values, part):
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(part * len(ordered)))]


class Crowd:
    def __init__(self, port, topics, groups, subscribed, committed=0, partitions=2, mode=None):
        self.port, self.partitions = port, partitions
        self.names = [name_of(number) for number in range(topics)]
        configs = [("partita.expansion.mode", mode)] if mode else []
        with Connection(port, timeout=600) as connection:
            create_topics(connection, self.names, partitions, configs)
            create_topics(connection, ["crowd-neighbour"], 1)
            find_coordinator(connection, group_of(0))
            for number in range(groups):
                # Neighbouring groups share most of what they read; together they read everything.
                first = number * topics // max(1, groups)
                read = [self.names[(first + index) % topics] for index in range(max(subscribed, committed))]
                if committed:
                    commit(connection, group_of(number), read[:committed], partitions, 0)
                if subscribed:
                    join(connection, group_of(number), read[:subscribed], partitions)

    def measure(self, growths, at_once, pid=None, idle_s=5):
        """Grows `at_once` topics `growths` times; what the requests took, and what a neighbour noticed."""
        with Neighbour(self.port, "crowd-neighbour") as neighbour, Connection(self.port, timeout=600) as connection:
            time.sleep(CALM_S)
            calm = neighbour.take()
            took = []
            spent = -processor_s(pid) if pid else 0
            for number in range(growths):
                first = number * at_once * 37 % len(self.names)
                names = sorted({self.names[(first + index) % len(self.names)] for index in range(at_once)})
                took.append(grow(connection, names, self.partitions + 1 + number))
                time.sleep(GROWTH_PAUSE_S)
            spent += processor_s(pid) if pid else 0
            beside = neighbour.take()
            time.sleep(2)
            after = neighbour.take()
        figures = {
            "create_partitions_median_ms": 1000 * share(took, 0.5), "create_partitions_max_ms": 1000 * max(took),
            "produce_alone_p99_ms": 1000 * share(calm, 0.99), "produce_alone_max_ms": 1000 * max(calm),
            "produce_beside_p99_ms": 1000 * share(beside, 0.99), "produce_beside_max_ms": 1000 * max(beside),
            "produce_longer_ms": 1000 * max(0, max(beside) - max(calm)), "produce_after_max_ms": 1000 * max(after),
        }
        if pid:
            # With what the neighbour costs meanwhile.
            figures["processor_per_growth_ms"] = 1000 * spent / growths
            before = processor_s(pid)
            time.sleep(idle_s)
            figures["idle_share"] = (processor_s(pid) - before) / idle_s
        return figures


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--pid", type=int)
    parser.add_argument("--topics", type=int, default=2000)
    parser.add_argument("--groups", type=int, default=2000)
    parser.add_argument("--subscribed", type=int, default=300)
    parser.add_argument("--committed", type=int, default=0)
    parser.add_argument("--growths", type=int, default=10)
    parser.add_argument("--at-once", type=int, default=1)
    parser.add_argument("--mode")
    arguments = parser.parse_args()
    crowd = Crowd(arguments.port, arguments.topics, arguments.groups, arguments.subscribed, arguments.committed,
                  mode=arguments.mode)
    print(json.dumps(crowd.measure(arguments.growths, arguments.at_once, arguments.pid), indent=1))


if __name__ == "__main__":
    main()
