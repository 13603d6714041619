"""A process that is several brokers (docs/test-bench.md#several-brokers), as clients meet it: leaders and coordinators are spread, a
test kills, pauses and isolates brokers, and nothing that was acknowledged is lost."""

import json
import re
import socket
import struct
import time
import urllib.error
import urllib.request

import confluent_kafka
import confluent_kafka.admin
import pytest

import harness
import insight

BROKERS = (1, 2, 3)
RACKS = {1: "a", 2: "b", 3: "c"}
BROKER_PROPERTIES = {"partita.test.bench.enable": "true", "partita.test.bench.brokers": 3, "partita.test.bench.racks": "a,b,c",
                     "listeners": "PLAINTEXT://127.0.0.1:0", "default.replication.factor": 3, "group.initial.rebalance.delay.ms": 0,
                     "replica.selector.class": "org.apache.kafka.common.replica.RackAwareReplicaSelector"}


@pytest.fixture(scope="module")
def broker():
    if harness.TARGET != "partita":
        pytest.skip("only a Partita is several brokers in one process")
    with harness.start_broker(BROKER_PROPERTIES, any_port=True) as started:
        yield started


def ask(broker, path, method="GET", body=None):
    request = urllib.request.Request(f"http://{insight.address(broker)}/v1/{path}", method=method,
                                     data=None if body is None else json.dumps(body).encode(),
                                     headers={"Content-Type": "application/json"})
    with urllib.request.urlopen(request, timeout=60) as answer:
        return json.load(answer)


def act(broker, node, action, body=None):
    return ask(broker, f"brokers/{node}/{action}", "POST", body)["changed"]


def nodes(broker):
    return {one["id"]: one for one in ask(broker, "brokers")["brokers"]}


def port(broker, node):
    return nodes(broker)[node]["listeners"][0]["port"]


def bootstrap(broker, *only):
    return ",".join(f"127.0.0.1:{port(broker, node)}" for node in only or BROKERS)


@pytest.fixture(autouse=True)
def all_up(broker):
    yield
    undo = {"killed": "restart", "paused": "resume", "isolated": "join"}
    for node, one in nodes(broker).items():
        if one["state"] != "up":
            act(broker, node, undo[one["state"]])
    ask(broker, "faults", "DELETE")


def admin(broker, *only):
    return confluent_kafka.admin.AdminClient({"bootstrap.servers": bootstrap(broker, *only)})


def create(broker, topic, partitions=1, factor=3, config=None, assignment=None):
    made = confluent_kafka.admin.NewTopic(topic, len(assignment), replica_assignment=assignment, config=config or {}) if assignment else \
        confluent_kafka.admin.NewTopic(topic, partitions, factor, config=config or {})
    client = admin(broker)  # Must outlive the future.
    client.create_topics([made])[topic].result(30)


def partitions(broker, topic, *only):
    return admin(broker, *only).list_topics(topic, timeout=30).topics[topic].partitions


def leader(broker, topic, partition=0, *only):
    return partitions(broker, topic, *only)[partition].leader


def producer(broker, **settings):
    return confluent_kafka.Producer({"bootstrap.servers": bootstrap(broker), "topic.metadata.refresh.interval.ms": 500,
                                     "retry.backoff.max.ms": 100, **settings})


def consumed(broker, topic, count, **settings):
    consumer = confluent_kafka.Consumer({"bootstrap.servers": bootstrap(broker), "group.id": f"reads-{topic}", "auto.offset.reset": "earliest",
                                         "topic.metadata.refresh.interval.ms": 500, **settings})
    try:
        consumer.subscribe([topic])
        values = []
        deadline = time.monotonic() + 60
        while len(values) < count and time.monotonic() < deadline:
            message = consumer.poll(1)
            if message is not None and message.error() is None:
                values.append(message.value())
        return values
    finally:
        consumer.close()


class Deliveries:
    """What became of the messages of a producer."""

    def __init__(self):
        self.good, self.errors = [], []

    def __call__(self, error, message):
        (self.errors.append(error) if error else self.good.append(message.value()))


def send(sending, topic, values, deliveries, **where):
    for value in values:
        sending.produce(topic, value=value, key=value, on_delivery=deliveries, **where)
        sending.poll(0)


def transactions_at(broker, node):
    """The answer of one broker to ListTransactions, version 0, as bytes that hold the names."""
    with socket.create_connection(("127.0.0.1", port(broker, node)), timeout=30) as connection:
        # No states, no producer ids.
        connection.sendall(struct.pack(">ihhihb", 14, 66, 0, 7, -1, 0) + b"\1\1\0")
        size = struct.unpack(">i", harness.read_exactly(connection, 4))[0]
        return harness.read_exactly(connection, size).decode("latin-1")


def refuses_connections(number):
    try:
        socket.create_connection(("127.0.0.1", number), timeout=10).close()
    except ConnectionRefusedError:
        return True
    return False


def test_leaders_and_replicas_are_spread(broker, tools, unique):
    topic = unique("topic")
    assert tools("kafka-topics", "--create", "--topic", topic, "--partitions", "6", "--replication-factor", "3").succeeded()
    described = tools("kafka-topics", "--describe", "--topic", topic).succeeded().out
    rows = re.findall(r"Leader: (\d+)\tReplicas: (\S+)\tIsr: (\S+)\tElr: *\tLastKnownElr:", described)
    assert len(rows) == 6, described
    assert sorted(row[0] for row in rows) == list("112233")
    for first, replicas, isr in rows:
        assert replicas == isr and sorted(replicas.split(",")) == list("123") and replicas[0] == first
    assert admin(broker).list_topics(timeout=30).controller_id == 1


def test_records_go_to_and_come_from_all_brokers(broker, unique):
    topic = unique("topic")
    create(broker, topic, 6)
    sending, deliveries = producer(broker), Deliveries()
    values = [f"{i}".encode() for i in range(600)]
    send(sending, topic, values, deliveries)
    assert sending.flush(60) == 0 and not deliveries.errors
    assert sorted(consumed(broker, topic, 600)) == sorted(values)


def test_a_kill_under_a_producer_loses_nothing_that_was_acknowledged(broker, tools, unique):
    topic = unique("topic")
    create(broker, topic, 3)
    before = partitions(broker, topic)
    sending, deliveries = producer(broker, acks="all", **{"enable.idempotence": True, "linger.ms": 1}), Deliveries()
    values = [f"{i}".encode() for i in range(900)]
    send(sending, topic, values[:300], deliveries)
    harness.wait_until(lambda: sending.poll(0.05) is not None and len(deliveries.good) >= 1, 30, "the first answers")
    dead = before[0].leader
    assert act(broker, dead, "kill")["state"] == "killed"
    assert refuses_connections(port(broker, dead))
    send(sending, topic, values[300:600], deliveries)
    assert sending.flush(60) == 0 and not deliveries.errors
    described = tools("kafka-topics", "--describe", "--topic", topic, "--bootstrap-server", bootstrap(broker)).out
    for first, isr in re.findall(r"Leader: (\d+)\tReplicas: \S+\tIsr: (\S+)", described):
        assert int(first) != dead and str(dead) not in isr.split(",") and len(isr.split(",")) == 2
    alive = [node for node in BROKERS if node != dead]
    assert sorted(admin(broker, *alive).list_topics(timeout=30).brokers) == alive
    act(broker, dead, "restart")
    assert not refuses_connections(port(broker, dead))
    send(sending, topic, values[600:], deliveries)
    assert sending.flush(60) == 0 and not deliveries.errors
    assert sorted(consumed(broker, topic, 900)) == sorted(values)
    now = partitions(broker, topic)
    assert now[0].leader != dead and sorted(now[0].isrs) == list(BROKERS)


@pytest.mark.parametrize("protocol", ("classic", "consumer"))
def test_a_group_goes_on_when_its_coordinator_dies(broker, unique, protocol):
    topic, group = unique("topic"), unique("group")
    create(broker, topic, 2)
    sending, deliveries = producer(broker), Deliveries()
    send(sending, topic, [b"1", b"2"], deliveries)
    assert sending.flush(30) == 0
    consumer = confluent_kafka.Consumer({"bootstrap.servers": bootstrap(broker), "group.id": group, "auto.offset.reset": "earliest",
                                         "group.protocol": protocol, "enable.auto.commit": False, "topic.metadata.refresh.interval.ms": 500})
    try:
        consumer.subscribe([topic])
        seen = []

        def take(count):
            message = consumer.poll(0.2)
            if message is not None and message.error() is None:
                seen.append(message.value())
            return len(seen) >= count

        harness.wait_until(lambda: take(2), 60, "two records")
        consumer.commit(asynchronous=False)
        client = admin(broker)
        coordinator = client.describe_consumer_groups([group])[group].result().coordinator.id
        act(broker, coordinator, "kill")
        send(sending, topic, [b"3", b"4"], deliveries)
        assert sending.flush(60) == 0 and not deliveries.errors
        harness.wait_until(lambda: take(4), 60, "two more records")

        def commits():
            consumer.poll(0.1)
            try:
                return consumer.commit(asynchronous=False) is not None
            except confluent_kafka.KafkaException as refused:
                # The client has not found the new coordinator yet.
                assert refused.args[0].code() in (confluent_kafka.KafkaError.NOT_COORDINATOR, confluent_kafka.KafkaError._WAIT_COORD,
                                                  confluent_kafka.KafkaError._TRANSPORT, confluent_kafka.KafkaError._TIMED_OUT,
                                                  confluent_kafka.KafkaError._NO_OFFSET, confluent_kafka.KafkaError.UNKNOWN_MEMBER_ID), refused
                return False

        harness.wait_until(commits, 60, "a commit at the new coordinator")
        # A client that knows the old coordinator would ask that one.
        client = admin(broker)
        after = client.describe_consumer_groups([group])[group].result()
        assert after.coordinator.id != coordinator and len(after.members) == 1
        assert sorted(seen) == [b"1", b"2", b"3", b"4"]
    finally:
        consumer.close()
    assert [one.group_id for one in client.list_consumer_groups().result().valid].count(group) == 1


def test_a_transaction_survives_the_death_of_its_coordinator(broker, unique):
    topic, name = unique("topic"), unique("transaction")
    create(broker, topic, 3)
    sending, deliveries = producer(broker, **{"transactional.id": name}), Deliveries()
    sending.init_transactions(30)
    sending.begin_transaction()
    send(sending, topic, [b"1", b"2", b"3"], deliveries)
    assert sending.flush(30) == 0
    client = admin(broker)
    before = next(node for node in BROKERS if name in transactions_at(broker, node))
    act(broker, before, "kill")
    send(sending, topic, [b"4"], deliveries)
    sending.commit_transaction(60)
    assert not deliveries.errors
    assert sorted(consumed(broker, topic, 4, **{"isolation.level": "read_committed"})) == [b"1", b"2", b"3", b"4"]
    after = [node for node in BROKERS if node != before and name in transactions_at(broker, node)]
    assert len(after) == 1, "one broker lists it"
    assert client.list_topics(timeout=30).brokers.keys() == set(BROKERS) - {before}


def test_too_few_replicas_refuse_writes_that_wait_for_all(broker, unique):
    topic = unique("topic")
    create(broker, topic, config={"min.insync.replicas": "2"})
    first = leader(broker, topic)
    for node in BROKERS:
        if node != first:
            act(broker, node, "kill")
    alive = bootstrap(broker, first)

    def outcome(acks):
        sending, deliveries = confluent_kafka.Producer({"bootstrap.servers": alive, "acks": acks, "retries": 0}), Deliveries()
        send(sending, topic, [b"x"], deliveries)
        assert sending.flush(30) == 0
        return deliveries.errors[0].name() if deliveries.errors else "written"

    assert outcome("all") == "NOT_ENOUGH_REPLICAS"
    assert outcome("1") == "written"
    row = partitions(broker, topic, first)[0]
    assert (row.leader, row.isrs) == (first, [first])
    act(broker, next(node for node in BROKERS if node != first), "restart")
    assert outcome("all") == "written"
    assert len(consumed(broker, topic, 2)) == 2, "a refused record is not in the log"


def test_a_preferred_election_gives_the_lead_back(broker, tools, unique):
    topic = unique("topic")
    create(broker, topic, assignment=[[2, 3, 1]])
    act(broker, 2, "kill")
    assert leader(broker, topic) == 3
    elect = ("kafka-leader-election", "--election-type", "preferred", "--topic", topic, "--partition", "0")
    assert "preferred leader was not available" in tools(*elect).err
    act(broker, 2, "restart")
    assert leader(broker, topic) == 3
    assert f"Successfully completed leader election (PREFERRED) for partitions {topic}-0" in tools(*elect).succeeded().out
    assert leader(broker, topic) == 2
    assert "already" in tools(*elect).out


def test_a_partition_without_a_living_replica_has_no_leader(broker, tools, unique):
    topic = unique("topic")
    create(broker, topic, assignment=[[3]])
    act(broker, 3, "kill")
    row = partitions(broker, topic)[0]
    assert row.leader == -1 and row.error.name() == "LEADER_NOT_AVAILABLE" and row.replicas == [3]
    described = tools("kafka-topics", "--describe", "--topic", topic).succeeded().out
    assert "Leader: none\tReplicas: 3\tIsr: \tElr: 3\tLastKnownElr: 3" in described
    assert topic in tools("kafka-topics", "--describe", "--unavailable-partitions").succeeded().out
    act(broker, 3, "restart")
    assert leader(broker, topic) == 3


def test_topics_are_placed_on_brokers_that_are_there(broker, unique):
    def refusal(**wish):
        with pytest.raises(confluent_kafka.KafkaException) as refused:
            create(broker, unique("topic"), **wish)
        return refused.value.args[0].name(), refused.value.args[0].str()

    assert refusal(factor=4) == ("INVALID_REPLICATION_FACTOR",
                                 "Unable to replicate the partition 4 time(s): The target replication factor of 4 cannot be reached because only "
                                 "3 broker(s) are registered or some brokers have all their log directories cordoned.")
    assert refusal(assignment=[[1, 7]]) == ("INVALID_REPLICA_ASSIGNMENT",
                                            "The manual partition assignment includes broker 7, but no such broker is registered.")
    act(broker, 2, "kill")
    assert refusal(assignment=[[2]]) == ("INVALID_REPLICA_ASSIGNMENT", "All brokers specified in the manual partition assignment for "
                                         "partition 0 are fenced or in controlled shutdown.")
    topic = unique("topic")
    create(broker, topic, 6)
    for row in partitions(broker, topic).values():
        assert row.leader != 2 and sorted(row.replicas) == [1, 2, 3] and sorted(row.isrs) == [1, 3]
    client = admin(broker)
    client.create_partitions([confluent_kafka.admin.NewPartitions(topic, 7, [[3, 1, 2]])])[topic].result(30)
    assert partitions(broker, topic)[6].replicas == [3, 1, 2]


def test_replicas_move_by_a_reassignment(broker, tools, unique, tmp_path):
    topic = unique("topic")
    create(broker, topic, assignment=[[1, 2]])
    plan = tmp_path / "plan.json"
    plan.write_text(json.dumps({"version": 1, "partitions": [{"topic": topic, "partition": 0, "replicas": [3, 2]}]}))
    reassign = ("kafka-reassign-partitions", "--reassignment-json-file", str(plan))
    assert "Successfully started partition reassignment" in tools(*reassign, "--execute").succeeded().out
    assert "No partition reassignments found" in tools("kafka-reassign-partitions", "--list").succeeded().out
    assert f"Reassignment of partition {topic}-0 is completed." in tools(*reassign, "--verify").succeeded().out
    row = partitions(broker, topic)[0]
    assert row.replicas == [3, 2] and sorted(row.isrs) == [2, 3] and row.leader in (2, 3)


def test_a_paused_broker_is_silent_and_loses_its_lead_with_its_session(broker, unique):
    topic = unique("topic")
    create(broker, topic, assignment=[[2, 1]])
    act(broker, 2, "pause")
    with socket.create_connection(("127.0.0.1", port(broker, 2)), timeout=30) as held:
        # ApiVersions in version 0, without a client id.
        held.sendall(struct.pack(">ihhih", 10, 18, 0, 7, -1))
        held.settimeout(0.3)
        with pytest.raises(TimeoutError):
            held.recv(8)
        assert leader(broker, topic, 0, 1) == 2
        ask(broker, "clock", "POST", {"advance_ms": 10_000})
        assert leader(broker, topic, 0, 1) == 1
        assert nodes(broker)[2]["fenced"]
        act(broker, 2, "resume")
        held.settimeout(30)
        assert struct.unpack(">ii", harness.read_exactly(held, 8))[1] == 7, "the answer to the request that came meanwhile"
    assert leader(broker, topic, 0, 2) == 1 and sorted(partitions(broker, topic)[0].isrs) == [1, 2]


def test_an_isolated_broker_believes_what_it_knew(broker, unique):
    topic = unique("topic")
    create(broker, topic, assignment=[[2, 1]])
    act(broker, 2, "isolate")
    ask(broker, "clock", "POST", {"advance_ms": 10_000})
    assert leader(broker, topic, 0, 1) == 1
    assert leader(broker, topic, 0, 2) == 2
    sending, deliveries = confluent_kafka.Producer({"bootstrap.servers": bootstrap(broker, 2), "message.timeout.ms": 1500}), Deliveries()
    sending.list_topics(topic, timeout=30)
    # Its metadata names the others; without them the producer has only the isolated broker.
    for node in (1, 3):
        act(broker, node, "pause")
    send(sending, topic, [b"x"], deliveries)
    assert sending.flush(30) == 0
    assert deliveries.errors[0].name() == "_MSG_TIMED_OUT"
    for node in (1, 3):
        act(broker, node, "resume")
    act(broker, 2, "join")
    assert leader(broker, topic, 0, 2) == 1


def test_a_death_that_nobody_notices_counts_after_the_session(broker, unique):
    topic = unique("topic")
    create(broker, topic, assignment=[[2, 1]])
    act(broker, 2, "kill", {"noticed": False})
    assert leader(broker, topic, 0, 1) == 2 and refuses_connections(port(broker, 2))
    ask(broker, "clock", "POST", {"advance_ms": 10_000})
    assert leader(broker, topic, 0, 1) == 1


def test_a_consumer_reads_from_the_replica_in_its_rack(broker, unique):
    topic = unique("topic")
    create(broker, topic, assignment=[[1, 2, 3]])
    sending, deliveries = producer(broker), Deliveries()
    send(sending, topic, [b"x"] * 10, deliveries)
    assert sending.flush(30) == 0
    places = []

    def note(text):
        for one in json.loads(text)["topics"].get(topic, {}).get("partitions", {}).values():
            places.append((one["leader"], one["broker"]))

    consumer = confluent_kafka.Consumer({"bootstrap.servers": bootstrap(broker), "group.id": unique("group"), "client.rack": "c",
                                         "auto.offset.reset": "earliest", "statistics.interval.ms": 50, "stats_cb": note})
    try:
        consumer.subscribe([topic])
        seen = []

        def reads_there():
            message = consumer.poll(0.2)
            seen.extend([] if message is None else [message.value()])
            return (1, 3) in places and len(seen) == 10

        harness.wait_until(reads_there, 30, "ten records, from broker 3")
    finally:
        consumer.close()


def test_a_restart_of_the_process_keeps_places_and_epochs(unique):
    topic = unique("topic")
    with harness.start_broker(BROKER_PROPERTIES, any_port=True) as broker:
        create(broker, topic, assignment=[[2, 3], [3, 1]])
        act(broker, 2, "kill")
        broker.stop()
        broker.start()
        rows = partitions(broker, topic)
        assert [(rows[i].leader, rows[i].replicas, sorted(rows[i].isrs)) for i in (0, 1)] == [(3, [2, 3], [2, 3]), (3, [3, 1], [1, 3])]
        text = (broker.data_directory / "partita-brokers").read_text()
        assert re.search(r" 0 3 1 2,3 2,3 -$", text, re.MULTILINE), text
        broker.kill()
        broker.start()
        assert leader(broker, topic) == 3


def test_a_snapshot_has_the_places_and_its_restore_brings_all_brokers_back(broker, unique):
    topic = unique("topic")
    create(broker, topic, assignment=[[2, 3]])
    before = {node: port(broker, node) for node in BROKERS}
    ask(broker, "snapshots/one", "PUT")
    act(broker, 2, "kill")
    admin(broker).list_topics(timeout=30)
    ask(broker, "snapshots/one/restore", "POST")
    assert {node: port(broker, node) for node in BROKERS} == before
    assert all(one["state"] == "up" for one in nodes(broker).values()) and not refuses_connections(before[2])
    row = partitions(broker, topic)[0]
    assert (row.leader, row.replicas, row.isrs) == (2, [2, 3], [2, 3])
    ask(broker, "snapshots/one", "DELETE")


def test_a_fault_concerns_one_broker(broker):
    def metadata(node, version=1):
        """What comes of a request for the metadata of no topic."""
        with socket.create_connection(("127.0.0.1", port(broker, node)), timeout=30) as connection:
            connection.sendall(struct.pack(">ihhihi", 14, 3, version, 7, -1, 0))
            return connection.recv(4)

    ask(broker, "faults", "POST", {"id": "second", "match": {"api": "Metadata", "broker": 2}, "do": {"disconnect": True}})
    assert metadata(1) and metadata(3) and metadata(2) == b""
    assert [one["acted"] for one in ask(broker, "faults")["faults"]] == [1]


def test_the_command_and_a_reset(broker, unique):
    http = insight.address(broker)

    def run(*line):
        return harness.run_partita("broker", *line, "--http", http)

    assert [line.split(",")[0] for line in run("list").out.splitlines()] == ["1: up", "2: up", "3: up"]
    killed = run("kill", "2").out
    assert killed.startswith(f"2: killed, fenced, PLAINTEXT at port {port(broker, 2)}, leads 0 of its ") and killed.endswith(", rack b\n")
    again = run("kill", "2")
    assert again.code == 2 and "cannot kill broker 2: it is killed, not up" in again.err
    assert "unknown broker 9; there are 1, 2, 3" in run("pause", "9").err
    ask(broker, "everything", "DELETE")
    harness.wait_until(lambda: nodes(broker)[2]["state"] == "up", 30, "the broker is back")


def test_several_brokers_need_a_test_bench():
    refused = harness.run_partita("serve", "--brokers", "3", "--ephemeral", "--port", "0", "--http-port", "off")
    assert refused.code == 2 and "partita.test.bench.brokers needs a test bench: start the broker with --test-bench" in refused.err
    many = harness.run_partita("serve", "--test-bench", "--brokers", "33", "--ephemeral", "--port", "0", "--http-port", "off")
    assert many.code == 2 and "Value must be no more than 32" in many.err
