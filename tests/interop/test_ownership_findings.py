"""What goes wrong in a group, done by clients as they are, and what the broker finds (docs/ownership.md): G01 and G02."""

import contextlib
import subprocess
import sys

import confluent_kafka
import pytest

import claims_processor
import harness
import insight

pytestmark = pytest.mark.skipif(harness.TARGET != "partita", reason="findings are Partita's own")


def wait_for_group(broker, group, hazard):
    """The open finding of that id about the group."""
    def found():
        every = insight.ask(broker, "findings")["findings"]
        return next((one for one in every if one["id"] == hazard and one["subject"].get("group") == group), None)
    return harness.wait_until(found, 25, lambda: f"{hazard} for {group}: {insight.ask(broker, 'findings')}")


def consumer(broker, group, **settings):
    return confluent_kafka.Consumer({"bootstrap.servers": broker.bootstrap, "group.id": group, "enable.auto.commit": False,
                                     "auto.offset.reset": "earliest", **settings})


def read_one(reader, what):
    message = harness.wait_until(lambda: reader.poll(0.1), 30, what)
    assert message.error() is None
    return message


def test_processes_with_one_instance_id_are_owners_at_once(broker, unique):
    topic, group = unique("topic"), unique("group")
    insight.create(broker, topic, 1)
    producer = confluent_kafka.Producer({"bootstrap.servers": broker.bootstrap})
    producer.produce(topic, "value")
    assert producer.flush(60) == 0
    # Each hears of the next one with its next request. Its heartbeat is far away, so that will be a commit.
    patient = {"group.instance.id": "the-only-one", "heartbeat.interval.ms": 20_000, "session.timeout.ms": 60_000}
    processes = []
    for number in range(4):
        latest = consumer(broker, group, **{"client.id": f"web-{number}"}, **patient)
        latest.subscribe([topic])
        record = read_one(latest, f"a record for web-{number}, which has the partition now")
        if processes:
            # The library ends at the first refusal.
            with pytest.raises(confluent_kafka.KafkaException) as refused:
                processes[-1].commit(record, asynchronous=False)
            assert refused.value.args[0].name() == "FENCED_INSTANCE_ID"
        processes.append(latest)
    two_owners = wait_for_group(broker, group, "G01")
    late = wait_for_group(broker, group, "G02")
    assert (two_owners["subject"]["topic"], two_owners["subject"]["partition"]) == (topic, 0)
    number = int(two_owners["subject"]["client_id"].removeprefix("web-"))
    assert f"web-{number} of " in two_owners["condition"] and f"web-{number + 1} of " in two_owners["condition"]
    assert two_owners["numbers"]["refused_offset"] == record.offset() + 1
    assert (late["numbers"]["refused_commits"], late["numbers"]["members"]) == (3, 3)
    assert insight.ask(broker, f"groups/{group}/ownership")["takeover_kinds"]["stolen"] == 3
    # What was refused is not there, and the one that has the partition may commit.
    assert latest.committed([confluent_kafka.TopicPartition(topic, 0)], timeout=60)[0].offset < 0
    latest.commit(record, asynchronous=False)
    assert latest.committed([confluent_kafka.TopicPartition(topic, 0)], timeout=60)[0].offset == record.offset() + 1
    for process in processes:
        process.close()


def test_a_processor_that_goes_on_after_its_claim_was_stolen_is_a_second_owner(broker, unique):
    topic, group = unique("topic"), unique("group")
    insight.create(broker, topic, 1)
    store = claims_processor.Store(insight.address(broker), group)
    tag = store.ask("claims", {"owner": "web-1", "claims": [{"topic": topic, "partition": 0}]})["claims"][0]["tag"]
    store.ask("claims", {"owner": "web-2", "claims": [{"topic": topic, "partition": 0, "tag": tag}]})
    for offset in range(3):
        refused = store.ask("checkpoints", {"owner": "web-1", "checkpoints": [{"topic": topic, "partition": 0, "offset": offset}]})["refused"]
        assert refused[0]["reason"] == "stolen" and refused[0]["current"]["owner"] == "web-2"
    assert wait_for_group(broker, group, "G01")["numbers"]["refused_commits"] == 3
    assert wait_for_group(broker, group, "G02")["numbers"]["refused_commits"] == 3
    assert store.ask("checkpoints")["checkpoints"] == []


#: A member of a classic group that sends no heartbeat until it is told to rejoin, and fetches over a connection of its own. It knows no
#: library that would stop it. Says "reads PARTITIONS" when it has an assignment, and "fetched COUNT" after each round of fetches.
FORGETFUL = """
import select, socket, struct, sys, time
port, group, topic, client, reads_on = sys.argv[1:]
text = lambda value: struct.pack(">h", len(value)) + value.encode()
data = lambda value: struct.pack(">i", len(value)) + value
read_text = lambda answer, at: (answer[at + 2:at + 2 + struct.unpack_from(">h", answer, at)[0]].decode(), at + 2 + struct.unpack_from(">h", answer, at)[0])

def exactly(connection, size):
    got = b""
    while len(got) < size:
        more = connection.recv(size - len(got))
        if not more:
            sys.exit("the broker closed the connection")
        got += more
    return got

def ask(connection, key, version, body):
    frame = struct.pack(">hhi", key, version, 7) + text(client) + body
    connection.sendall(data(frame))
    return exactly(connection, struct.unpack(">i", exactly(connection, 4))[0])[4:]

def join():
    subscription = struct.pack(">hi", 0, 1) + text(topic) + struct.pack(">i", -1)
    answer = ask(coordinator, 11, 2, text(group) + struct.pack(">ii", 6000, 6000) + text("") + text("consumer") + struct.pack(">i", 1) + text("range") + data(subscription))
    error, generation = struct.unpack_from(">hi", answer, 4)
    protocol, at = read_text(answer, 10)
    leader, at = read_text(answer, at)
    member, at = read_text(answer, at)
    assert error == 0, error
    everything = struct.pack(">hi", 0, 1) + text(topic) + struct.pack(">iiii", 2, 0, 1, -1)
    given = struct.pack(">i", 1) + text(member) + data(everything) if leader == member else struct.pack(">i", 0)
    answer = ask(coordinator, 14, 1, text(group) + struct.pack(">i", generation) + text(member) + given)
    assert struct.unpack_from(">h", answer, 4)[0] == 0
    assignment = answer[10:]
    partitions = []
    if assignment and struct.unpack_from(">i", assignment, 2)[0]:
        _, at = read_text(assignment, 6)
        count = struct.unpack_from(">i", assignment, at)[0]
        partitions = list(struct.unpack_from(f">{count}i", assignment, at + 4))
    print("reads", *partitions, flush=True)
    return member, generation, partitions

def fetch(partition):
    answer = ask(reader, 1, 4, struct.pack(">iiiibi", -1, 100, 1, 1 << 20, 0, 1) + text(topic) + struct.pack(">iiqi", 1, partition, 0, 1 << 20))
    assert struct.unpack_from(">i", answer, 4)[0] == 1

coordinator, reader = (socket.create_connection(("127.0.0.1", int(port))) for _ in range(2))
member, generation, partitions = join()
heeds = False
fetched = 0
for partition in partitions:
    fetch(partition)
while True:
    told = select.select([sys.stdin], [], [], 0.2)[0]
    if told and not sys.stdin.readline():
        break
    if told:
        member, generation, partitions = join()
        heeds = True
    if heeds:
        error = struct.unpack_from(">h", ask(coordinator, 12, 1, text(group) + struct.pack(">i", generation) + text(member)), 4)[0]
        if error:
            member, generation, partitions = join()
    if heeds or reads_on == "yes":
        for partition in partitions:
            fetch(partition)
        fetched += 1
        print("fetched", fetched, flush=True)
"""


class Forgetful:
    """A process that is such a member."""

    def __init__(self, broker, group, topic, reads_on):
        self.process = subprocess.Popen([sys.executable, "-c", FORGETFUL, str(broker.port), group, topic, "web-1", reads_on],
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.stdin.close()
        self.process.wait(60)

    def wait_for(self, what):
        """The rest of the next line that begins so."""
        for line in self.process.stdout:
            if line.startswith(what):
                return line.removeprefix(what).strip()
        raise AssertionError(f"it ended without {what}")

    def rejoin(self):
        self.process.stdin.write("\n")
        self.process.stdin.flush()


def wait_for_assignment(reader, count):
    def assigned():
        reader.poll(0.1)
        return len(reader.assignment()) == count
    harness.wait_until(assigned, 40, lambda: f"{count} partitions: {reader.assignment()}")


def owners_of(broker, group):
    return insight.ask(broker, f"groups/{group}/ownership")


def test_who_goes_on_reading_what_another_member_has_is_a_second_owner(broker, unique):
    topic, group = unique("topic"), unique("group")
    insight.create(broker, topic, 2)
    with Forgetful(broker, group, topic, "yes") as forgetful:
        assert forgetful.wait_for("reads") == "0 1"
        latest = consumer(broker, group, **{"client.id": "web-2"})
        latest.subscribe([topic])
        wait_for_assignment(latest, 2)
        found = wait_for_group(broker, group, "G01")
        assert (found["subject"]["topic"], found["subject"]["client_id"]) == (topic, "web-1")
        assert f"(pid {forgetful.process.pid}" in found["condition"] and "still reads" in found["condition"]
        assert "web-2 of " in found["condition"] and "session_expired" in found["condition"]
        both = harness.wait_until(lambda: wait_for_group(broker, group, "G01")["numbers"]["late_fetched_partitions"] == 2, 20, "both partitions")
        assert both and found["count"] >= 2
        owners = owners_of(broker, group)
        late = [one["late_reader"] for one in owners["partitions"]]
        gone = next(one for one in owners["members"] if one["client_id"] == "web-1")
        assert [one["member_id"] for one in late] == [gone["member_id"]] * 2
        assert all(one["fetches"] >= 2 and f"(pid {forgetful.process.pid}" in one["process"] for one in late)
        # It sent nothing that was refused: it may not know.
        assert owners["takeover_kinds"]["stolen"] == 0 and owners["takeover_kinds"]["lost"] == 2
        latest.close()


#: A static member of its own process, by the library, which hears late that another process has its place. Says each offset that it is given.
PATIENT = """
import confluent_kafka, sys
bootstrap, group, topic = sys.argv[1:]
reader = confluent_kafka.Consumer({"bootstrap.servers": bootstrap, "group.id": group, "group.instance.id": "the-only-one", "heartbeat.interval.ms": 20000,
                                   "session.timeout.ms": 60000, "enable.auto.commit": False, "auto.offset.reset": "earliest"})
reader.subscribe([topic])
while True:
    message = reader.poll(0.1)
    if message and not message.error():
        print(message.offset(), flush=True)
"""


def test_a_process_whose_instance_id_another_took_goes_on_reading(broker, unique):
    topic, group = unique("topic"), unique("group")
    insight.create(broker, topic, 1)
    producer = confluent_kafka.Producer({"bootstrap.servers": broker.bootstrap, "client.id": "writer"})
    producer.produce(topic, "value")
    assert producer.flush(60) == 0
    with contextlib.ExitStack() as ends:
        processes = []
        for _ in range(2):
            process = subprocess.Popen([sys.executable, "-c", PATIENT, broker.bootstrap, group, topic], stdout=subprocess.PIPE, text=True)
            ends.callback(process.wait, 20)
            ends.callback(process.kill)
            assert process.stdout.readline() == "0\n"
            processes.append(process)
        # Both are called rdkafka, and so are others of this machine: their processes tell them apart.
        found = wait_for_group(broker, group, "G01")
        assert f"(pid {processes[0].pid}" in found["condition"] and f"(pid {processes[1].pid}" not in found["condition"]
        assert "(restarted), but still reads" in found["condition"] and found["numbers"]["late_fetches"] == found["count"] >= 2
        (partition,) = owners_of(broker, group)["partitions"]
        assert partition["member_id"] != partition["late_reader"]["member_id"] == partition["previous_member_id"]
        assert partition["kind"] == "normal"


def test_a_member_that_comes_back_and_reads_what_it_has_is_no_second_owner(broker, unique):
    topic, group = unique("topic"), unique("group")
    insight.create(broker, topic, 2)
    with Forgetful(broker, group, topic, "no") as forgetful:
        assert forgetful.wait_for("reads") == "0 1"
        latest = consumer(broker, group, **{"client.id": "web-2"})
        latest.subscribe([topic])
        wait_for_assignment(latest, 2)
        assert owners_of(broker, group)["takeover_kinds"]["lost"] == 2
        forgetful.rejoin()
        wait_for_assignment(latest, 1)
        assert len(forgetful.wait_for("reads").split()) == 1
        while int(forgetful.wait_for("fetched")) < 15:
            latest.poll(0)
        told = insight.ask(broker, "findings")["findings"]
        assert not [one for one in told if one["id"] == "G01" and one["subject"].get("group") == group]
        assert [one["late_reader"] for one in owners_of(broker, group)["partitions"]] == [None, None]
        latest.close()
