"""A broker that a test brings back to a snapshot (docs/test-bench.md#snapshots), as clients meet it."""

import json
import os
import shutil
import socket
import struct
import threading
import urllib.error
import urllib.request

import confluent_kafka
import confluent_kafka.admin
import pytest

import clients
import harness
import insight
import matrix
import test_clock

BROKER_PROPERTIES = {"partita.test.bench.enable": "true", "group.initial.rebalance.delay.ms": 0, "transaction.state.log.replication.factor": 1,
                     "auto.create.topics.enable": "false"}


def ask(broker, path, method="GET"):
    request = urllib.request.Request(f"http://{insight.address(broker)}/v1/{path}", method=method)
    with urllib.request.urlopen(request, timeout=90) as answer:
        return json.load(answer)


def take(broker, name="one"):
    return ask(broker, f"snapshots/{name}", "PUT")["snapshot"]


def restore(broker, name="one"):
    return ask(broker, f"snapshots/{name}/restore", "POST")["snapshot"]


def refusal(broker, path, method="GET"):
    with pytest.raises(urllib.error.HTTPError) as refused:
        ask(broker, path, method)
    return refused.value.code, json.load(refused.value)["error"]


@pytest.fixture(autouse=True)
def clean(broker):
    yield
    ask(broker, "everything", "DELETE")
    for snapshot in ask(broker, "snapshots")["snapshots"]:
        ask(broker, f"snapshots/{snapshot['name']}", "DELETE")


def topics(broker):
    return {one["topic"]: one["partitions"] for one in ask(broker, "topics")["topics"] if not one["topic"].startswith("__")}


def committed(broker, group, topic):
    consumer = confluent_kafka.Consumer({"bootstrap.servers": broker.bootstrap, "group.id": group})
    try:
        return consumer.committed([confluent_kafka.TopicPartition(topic, 0)], timeout=30)[0].offset
    finally:
        consumer.close()


def commit(broker, group, topic, offset):
    consumer = confluent_kafka.Consumer({"bootstrap.servers": broker.bootstrap, "group.id": group})
    try:
        consumer.commit(offsets=[confluent_kafka.TopicPartition(topic, 0, offset)], asynchronous=False)
    finally:
        consumer.close()


def alter(broker, name, value):
    resource = confluent_kafka.admin.ConfigResource(confluent_kafka.admin.ConfigResource.Type.BROKER, "1")
    resource.add_incremental_config(confluent_kafka.admin.ConfigEntry(
        name, value, incremental_operation=confluent_kafka.admin.AlterConfigOpType.SET))
    admin = insight.admin(broker)
    admin.incremental_alter_configs([resource])[resource].result(30)


def config(broker, name):
    admin = insight.admin(broker)
    described = admin.describe_configs([confluent_kafka.admin.ConfigResource(confluent_kafka.admin.ConfigResource.Type.BROKER, "1")])
    return next(iter(described.values())).result(30)[name].value


def test_a_restore_brings_back_what_the_snapshot_had(broker, unique):
    topic, other, group = unique("topic"), unique("other"), unique("group")
    insight.create(broker, topic, 2)
    for value in "abcde":
        producer = confluent_kafka.Producer({"bootstrap.servers": broker.bootstrap})
        producer.produce(topic, value, partition=0)
        assert producer.flush(30) == 0
    ends = test_clock.offsets(broker, topic)
    commit(broker, group, topic, 1)
    alter(broker, "message.max.bytes", "12345")
    before = {one["topic"]: one["topic_id"] for one in ask(broker, "topics")["topics"]}
    taken = take(broker)
    assert taken["name"] == "one" and taken["files"] > 0

    test_clock.produce(broker, topic, *"fgh")
    commit(broker, group, topic, 2)
    alter(broker, "message.max.bytes", "54321")
    insight.create(broker, other, 1)
    insight.grow(broker, topic, 5)
    restored = restore(broker)
    assert restored == taken
    assert topics(broker) == {topic: 2}
    assert {one["topic"]: one["topic_id"] for one in ask(broker, "topics")["topics"]} == before
    assert test_clock.offsets(broker, topic) == ends
    assert committed(broker, group, topic) == 1
    assert config(broker, "message.max.bytes") == "12345"
    # The next life of the records does not reach into the snapshot.
    test_clock.produce(broker, topic, *"fghij")
    restore(broker)
    assert test_clock.offsets(broker, topic) == ends


def test_findings_come_back_too(broker, unique):
    topic, group = unique("topic"), unique("group")
    insight.create(broker, topic, 2)
    test_clock.produce(broker, topic, *"abcdefgh")
    commit(broker, group, topic, 0)
    insight.grow(broker, topic, 4)
    insight.wait_for(broker, topic, "H03")
    take(broker)
    ask(broker, "everything", "DELETE")
    restore(broker)
    insight.wait_for(broker, topic, "H03")


API_VERSIONS = struct.pack(">ihhihb", 11, 18, 0, 7, 1, ord("x"))


def greet(connection):
    connection.sendall(API_VERSIONS)
    size, correlation = struct.unpack(">ii", harness.read_exactly(connection, 8))
    harness.read_exactly(connection, size - 4)
    return correlation


def test_a_connection_stays_open(broker):
    with socket.create_connection((broker.host, broker.port), timeout=30) as connection:
        assert greet(connection) == 7
        # Half a request waits, too.
        connection.sendall(API_VERSIONS[:6])
        take(broker)
        restore(broker)
        connection.sendall(API_VERSIONS[6:])
        size, correlation = struct.unpack(">ii", harness.read_exactly(connection, 8))
        harness.read_exactly(connection, size - 4)
        assert correlation == 7
        assert greet(connection) == 7


@pytest.mark.parametrize("library", ["java", "librdkafka", "franz-go", "kafkajs"])
def test_a_program_goes_on(broker, unique, library):
    if not harness.HAS_ALL_CLIENTS and library not in harness.BASIC_CLIENTS:
        pytest.skip("needs all clients")
    topic, group = unique("topic"), unique("group")
    insight.create(broker, topic, 1)
    agent = clients.Agent(matrix.CLIENTS[library], broker.bootstrap)
    # A commit that comes while the coordinator is away fails, which some libraries tell the application.
    agent.events.may_fail("reader")
    agent.call("member_start", name="reader", group=group, topic=topic, reset="earliest", client_id="reader")

    def goes_on(value):
        agent.call("produce", topic=topic, partition=0, records=[{"value": value}])
        agent.events.wait(lambda _: any(one["value"] == value for one in agent.events.records()), 90, f"the record {value}")

    goes_on("before")
    take(broker)
    goes_on("after the snapshot")
    restore(broker)
    # The position of the consumer may lie behind the log end now: it begins anew, as after a lost tail.
    goes_on("after the restore")
    assert test_clock.offsets(broker, topic)[1] == 2, "the record in between is gone"
    agent.close()


def test_an_open_transaction_survives_a_snapshot(broker, unique):
    topic = unique("topic")
    insight.create(broker, topic, 1)
    producer = confluent_kafka.Producer({"bootstrap.servers": broker.bootstrap, "transactional.id": unique("transactional")})
    producer.init_transactions(30)
    producer.begin_transaction()
    producer.produce(topic, "open")
    producer.flush(30)
    take(broker)
    producer.produce(topic, "and more")
    producer.commit_transaction(30)
    consumer = confluent_kafka.Consumer({"bootstrap.servers": broker.bootstrap, "group.id": unique("group"), "auto.offset.reset": "earliest"})
    consumer.assign([confluent_kafka.TopicPartition(topic, 0)])
    assert [consumer.poll(30).value() for _ in range(2)] == [b"open", b"and more"]
    consumer.close()


def test_a_restore_survives_a_crash_and_completes_after_one(broker, unique):
    topic = unique("topic")
    insight.create(broker, topic, 1)
    test_clock.produce(broker, topic, "kept")
    take(broker)
    test_clock.produce(broker, topic, "gone")
    restore(broker)
    broker.kill()
    broker.restart()
    assert test_clock.offsets(broker, topic) == (0, 1)
    test_clock.produce(broker, topic, "gone")
    broker.kill()
    # As a crash in the middle of a restore leaves it.
    folder = broker.data_directory / "partita-snapshots"
    shutil.copytree(folder / "one", folder / ".staged")
    (broker.data_directory / "partita.properties").unlink()
    broker.restart()
    assert test_clock.offsets(broker, topic) == (0, 1)


def test_a_broker_that_has_to_go_on_in_a_shared_segment_copies_it(broker, unique):
    topic = unique("topic")
    insight.create(broker, topic, 1)
    test_clock.produce(broker, topic, *(os.urandom(500_000) for _ in range(4)))
    take(broker)
    restore(broker)
    live = broker.data_directory / f"{topic}-0"
    kept = broker.data_directory / "partita-snapshots" / "one" / f"{topic}-0"
    first, newest = sorted(live.glob("*.log"))
    assert first.stat().st_ino == (kept / first.name).stat().st_ino and newest.stat().st_size == 0
    size = first.stat().st_size
    broker.kill()
    # As a power failure may leave it.
    newest.unlink()
    broker.restart()
    test_clock.produce(broker, topic, "more")
    assert test_clock.offsets(broker, topic) == (0, 5)
    assert (kept / first.name).stat().st_size == size
    restore(broker)
    assert test_clock.offsets(broker, topic) == (0, 4)


def test_restores_under_load_lose_nothing_of_the_snapshot(broker, unique):
    topic = unique("topic")
    insight.create(broker, topic, 1)
    test_clock.produce(broker, topic, *(str(number) for number in range(100)))
    kept = (0, 100)
    take(broker)
    ends = threading.Event()

    def load():
        producer = confluent_kafka.Producer({"bootstrap.servers": broker.bootstrap, "linger.ms": 0})
        while not ends.is_set():
            producer.produce(topic, os.urandom(100))
            producer.poll(0.001)
        # What the last restore took away is no record any more.
        producer.purge()

    threads = [threading.Thread(target=load) for _ in range(3)]
    for thread in threads:
        thread.start()
    for _ in range(20):
        restore(broker)
    ends.set()
    for thread in threads:
        thread.join()
    restore(broker)
    assert test_clock.offsets(broker, topic) == kept
    test_clock.produce(broker, topic, "after")
    assert test_clock.offsets(broker, topic) == (0, 101)


class FixtureBroker(harness.PartitaBroker):
    """A broker that begins with a folder that somebody else made."""

    def __init__(self, folder, properties):
        super().__init__(properties)
        self.folder = folder

    def command(self):
        return [*super().command(), "--from-snapshot", str(self.folder)]


def test_another_broker_begins_with_a_snapshot(broker, unique):
    topic = unique("topic")
    insight.create(broker, topic, 2)
    test_clock.produce(broker, topic, *"abc")
    take(broker, "fixture")
    folder = broker.data_directory / "partita-snapshots" / "fixture"
    with FixtureBroker(folder, BROKER_PROPERTIES) as other:
        assert topics(other) == {topic: 2}
        assert test_clock.offsets(other, topic) == test_clock.offsets(broker, topic)
        test_clock.produce(other, topic, "d")
    restore(broker, "fixture")
    assert test_clock.offsets(broker, topic)[1] <= 3
    # A directory with data is not overwritten.
    done = harness.run_partita("serve", "--data-dir", broker.data_directory, "--port", "0", "--http-port", "off", "--from-snapshot", folder)
    assert done.code == 2 and "not empty" in done.err


def test_refusals(broker):
    assert refusal(broker, "snapshots/none") == (404, "there is no snapshot none")
    assert refusal(broker, "snapshots/none/restore", "POST") == (404, "there is no snapshot none")
    assert refusal(broker, "snapshots/none", "DELETE") == (404, "there is no snapshot none")
    assert refusal(broker, "snapshots/.hidden", "PUT")[0] == 400
    assert refusal(broker, "snapshots/..%2F..", "PUT")[0] == 400
    with harness.PartitaBroker() as other:
        assert refusal(other, "snapshots") == (404, "this broker has no test bench; start it with --test-bench")
        assert refusal(other, "snapshots/one", "PUT")[0] == 404


def test_the_command(broker, unique):
    place = ("--http", insight.address(broker))
    topic = unique("topic")
    insight.create(broker, topic, 1)
    assert harness.run_partita("snapshot", "list", *place).out == "there are no snapshots\n"
    assert harness.run_partita("snapshot", "take", "one", *place).out.startswith("one: taken 20")
    assert harness.run_partita("snapshot", "list", *place).out.startswith("one: taken 20")
    test_clock.produce(broker, topic, "gone")
    assert harness.run_partita("snapshot", "restore", "one", *place).out.startswith("restored one: taken 20")
    assert test_clock.offsets(broker, topic) == (0, 0)
    assert harness.run_partita("snapshot", "remove", "one", *place).out == "removed one\n"
    missing = harness.run_partita("snapshot", "restore", "one", *place)
    assert missing.code != 0 and "there is no snapshot one" in missing.err
    assert harness.run_partita("snapshot", "take", "../x", *place).code == 2
