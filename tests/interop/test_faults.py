"""Faults on purpose (docs/test-bench.md), as the clients of several libraries meet them."""

import concurrent.futures
import contextlib
import json
import socket
import struct
import time
import urllib.error
import urllib.request

import confluent_kafka
import confluent_kafka.admin
import pytest

import clients
import harness
import insight
import matrix

BROKER_PROPERTIES = {"partita.test.bench.enable": "true", "group.initial.rebalance.delay.ms": 0}

LIBRARIES = ["java", "librdkafka", "franz-go", "aiokafka", "kafkajs", "sarama"]


def faults(broker, path="", method="GET", body=None):
    """The answer of /v1/faults, from JSON."""
    request = urllib.request.Request(f"http://{insight.address(broker)}/v1/faults{path}", method=method,
                                     data=None if body is None else json.dumps(body).encode(),
                                     headers={"Content-Type": "application/json"})
    with urllib.request.urlopen(request, timeout=60) as answer:
        return json.load(answer)


def add(broker, match, do, **when):
    """The id of a rule with these members."""
    return faults(broker, method="POST", body={"match": match, "when": when, "do": do})["ids"][0]


def acted(broker, rule):
    return faults(broker, f"/{rule}")["acted"]


@pytest.fixture(autouse=True)
def no_faults_remain(broker):
    yield
    faults(broker, method="DELETE")


@pytest.fixture(params=LIBRARIES)
def agent(request, broker):
    if not harness.HAS_ALL_CLIENTS and request.param not in harness.BASIC_CLIENTS:
        pytest.skip("needs all clients")
    with contextlib.closing(clients.Agent(matrix.CLIENTS[request.param], broker.bootstrap)) as started:
        yield started


def values(broker, topic):
    """All records of the topic, by partition and offset."""
    consumer = confluent_kafka.Consumer({"bootstrap.servers": broker.bootstrap, "group.id": "reader", "enable.partition.eof": True})
    partitions = consumer.list_topics(topic, 30).topics[topic].partitions
    consumer.assign([confluent_kafka.TopicPartition(topic, partition, confluent_kafka.OFFSET_BEGINNING) for partition in partitions])
    found, open_partitions = [], set(partitions)
    while open_partitions:
        message = consumer.poll(30)
        assert message is not None
        if message.error():
            open_partitions.discard(message.partition())
        else:
            found.append(message.value().decode())
    consumer.close()
    return found


def produce(agent, topic, value):
    agent.call("produce", topic=topic, partition=0, records=[{"value": value}])


@pytest.mark.parametrize("do", [{"error": "NOT_LEADER_OR_FOLLOWER"}, {"error": "NOT_ENOUGH_REPLICAS"}, {"disconnect": True}, {"delay_ms": 300},
                                {"throttle_ms": 300}, {"slow_bytes_per_s": 100}],
                         ids=lambda do: "-".join(str(part).lower() for pair in do.items() for part in pair))
def test_a_producer_of_each_library_sends_again(broker, unique, agent, do):
    topic = unique("topic")
    agent.create_topic(topic, 1)
    rule = add(broker, {"api": "Produce", "topic": topic}, do, times=2)
    produce(agent, topic, "first")
    produce(agent, topic, "second")
    assert acted(broker, rule) == 2
    assert values(broker, topic) == ["first", "second"]


def test_a_producer_of_each_library_survives_a_reset_in_the_middle_of_the_answer(broker, unique, agent):
    topic = unique("topic")
    agent.create_topic(topic, 1)
    rule = add(broker, {"api": "Produce", "topic": topic}, {"reset_after_bytes": 10}, times=1)
    produce(agent, topic, "first")
    produce(agent, topic, "second")
    assert acted(broker, rule) == 1
    found = values(broker, topic)
    # The request took effect: a producer that is not idempotent writes the record again.
    assert found in (["first", "second"], ["first", "first", "second"])


def batches_of(broker, topic, count):
    """Writes so many batches of one record each."""
    insight.create(broker, topic, 1)
    writer = producer_of(broker)
    for number in range(count):
        writer.produce(topic, f"value {number} " + "x" * 1000)
        assert writer.flush(30) == 0


def numbers_of(agent):
    return [int(record["value"].split()[1]) for record in agent.events.records()]


def test_a_reader_of_each_library_reads_on_behind_a_batch_that_was_cut(broker, unique, agent):
    topic = unique("topic")
    batches_of(broker, topic, 6)
    rule = add(broker, {"topic": topic}, {"truncate_records": True}, times=2)
    agent.call("member_start", name="reader", group=unique("group"), topic=topic, reset="earliest", client_id="reader")
    agent.events.wait(lambda _: len(agent.events.records()) >= 6, 60, "all records")
    agent.call("member_stop", name="reader")
    assert numbers_of(agent) == list(range(6))
    assert acted(broker, rule) >= 1


def failure(agent):
    return agent.events.wait(lambda events: next((event for event in events if event["event"] == "failed"), None), 60, "the failure")


@pytest.mark.parametrize("agent", ["java"], indirect=True)
def test_a_rule_meets_records_in_a_session_that_is_older_and_no_answer_without(broker, unique, agent):
    topic = unique("topic")
    batches_of(broker, topic, 1)
    agent.events.may_fail("reader")
    agent.call("member_start", name="reader", group=unique("group"), topic=topic, reset="earliest", client_id="reader")
    agent.events.wait(lambda _: agent.events.records(), 60, "the record")
    # Its requests name the topic no more.
    rule = add(broker, {"topic": topic}, {"corrupt_records": True}, times=1)
    harness.wait_until(lambda: faults(broker, f"/{rule}")["matched"] >= 2, 30, "an answer without records")
    producer = producer_of(broker)
    producer.produce(topic, "value 1")
    assert producer.flush(30) == 0
    failure(agent)
    assert acted(broker, rule) == 1


def read_damaged(broker, unique, agent, **more):
    """Starts a reader whose first records come damaged once."""
    topic = unique("topic")
    batches_of(broker, topic, 3)
    rule = add(broker, {"topic": topic, "partition": 0}, {"corrupt_records": True}, times=1)
    agent.events.may_fail("reader")
    agent.call("member_start", name="reader", group=unique("group"), topic=topic, reset="earliest", client_id="reader", **more)
    return rule


@pytest.mark.parametrize("agent", ["java"], indirect=True)
def test_a_damaged_batch_fails_a_reader_in_java(broker, unique, agent):
    rule = read_damaged(broker, unique, agent)
    failed = failure(agent)
    assert "Received exception when fetching the next record" in failed["message"]
    assert acted(broker, rule) == 1 and not agent.events.records()


@pytest.mark.parametrize("agent", ["librdkafka"], indirect=True)
def test_a_damaged_batch_is_an_error_with_librdkafka_only_if_it_checks(broker, unique, agent):
    rule = read_damaged(broker, unique, agent, settings={"check.crcs": "true"})
    assert "failed CRC32C check" in failure(agent)["message"]
    assert acted(broker, rule) == 1
    agent.events.forget()
    rule = read_damaged(broker, unique, agent)
    agent.events.wait(lambda _: len(agent.events.records()) >= 3, 60, "all records")
    values = [record["value"] for record in agent.events.records()]
    assert acted(broker, rule) == 1
    assert [value == f"value {number} " + "x" * 1000 for number, value in enumerate(values)] == [False, True, True]


@pytest.mark.parametrize("agent", ["java", "librdkafka"], indirect=True)
def test_a_reader_goes_on_at_the_log_start_that_a_rule_moved(broker, unique, agent):
    topic = unique("topic")
    batches_of(broker, topic, 6)
    # The reader stands at the beginning when the rule comes.
    held = add(broker, {"api": "Fetch", "client_id": "reader"}, {"hold": True, "error": "NOT_LEADER_OR_FOLLOWER"}, times=1)
    agent.call("member_start", name="reader", group=unique("group"), topic=topic, reset="earliest", client_id="reader")
    harness.wait_until(lambda: faults(broker, f"/{held}")["waiting"] == 1, 60, "the first fetch")
    rule = add(broker, {"topic": topic}, {"log_start": 4})
    faults(broker, f"/{held}/release", method="POST")
    agent.events.wait(lambda _: len(agent.events.records()) >= 2, 60, "the records")
    agent.call("member_stop", name="reader")
    assert numbers_of(agent) == [4, 5]
    assert acted(broker, rule) == 2, "a fetch, and the search for the earliest offset"


@pytest.mark.parametrize("preset", ["flaky-network", "slow-broker", "hot-partition", "rolling-restart"])
@pytest.mark.parametrize("agent", ["java", "librdkafka"], indirect=True)
def test_an_idempotent_producer_loses_nothing_by_a_preset(broker, unique, agent, preset):
    topic = unique("topic")
    agent.create_topic(topic, 2)
    faults(broker, method="POST", body={"preset": preset, "topic": topic})
    # Chance needs more requests to act.
    expected = [str(number) for number in range(20 if preset == "flaky-network" else 6)]
    for value in expected:
        agent.call("produce", topic=topic, records=[{"value": value, "partition": 0}], idempotence=True)
    assert sum(fault["acted"] for fault in faults(broker)["faults"]) >= 1
    faults(broker, method="DELETE")
    assert values(broker, topic) == expected


@pytest.mark.parametrize("preset", ["rebalance-storm", "coordinator-failover"])
@pytest.mark.parametrize("agent", ["java", "librdkafka"], indirect=True)
def test_a_member_reads_on_through_a_preset(broker, unique, agent, preset):
    topic, group = unique("topic"), unique("group")
    batches_of(broker, topic, 1)
    agent.events.may_fail("reader")
    faults(broker, method="POST", body={"preset": preset, "group": group})
    agent.call("member_start", name="reader", group=group, topic=topic, reset="earliest", client_id="reader")
    agent.events.wait(lambda _: agent.events.records(), 60, "the first record")
    harness.wait_until(lambda: sum(fault["acted"] for fault in faults(broker)["faults"]) >= 2, 60, "the faults")
    producer = producer_of(broker)
    producer.produce(topic, "value 1")
    assert producer.flush(30) == 0
    agent.events.wait(lambda _: 1 in numbers_of(agent), 60, "the next record")
    faults(broker, method="DELETE")
    agent.call("member_stop", name="reader")


def test_a_transaction_of_a_fenced_producer_fails(broker, unique):
    topic, name = unique("topic"), unique("transaction")
    insight.create(broker, topic, 1)
    faults(broker, method="POST", body={"preset": "producer-fenced", "group": name})
    producer = producer_of(broker, **{"transactional.id": name, "socket.timeout.ms": 60_000})
    producer.init_transactions(30)
    producer.begin_transaction()
    producer.produce(topic, "fenced")
    with pytest.raises(confluent_kafka.KafkaException) as refused:
        producer.commit_transaction(30)
    assert refused.value.args[0].code() in (confluent_kafka.KafkaError._FENCED, confluent_kafka.KafkaError.PRODUCER_FENCED)
    assert refused.value.args[0].fatal()


def keyed(agent, topic, count=60):
    """Writes keys with a new producer, and returns the partitions that it chose."""
    acks = agent.call("produce", topic=topic, records=[{"key": f"key {number}", "value": "v"} for number in range(count)])["acks"]
    return {ack["partition"] for ack in acks}


@pytest.mark.parametrize("agent", ["java", "librdkafka"], indirect=True)
def test_a_producer_places_keys_by_the_partitions_of_older_metadata(broker, unique, agent):
    topic = unique("topic")
    agent.create_topic(topic, 6)
    rule = add(broker, {"topic": topic}, {"stale_metadata": {"partitions": 3}})
    assert keyed(agent, topic) == {0, 1, 2}
    assert acted(broker, rule) >= 1
    faults(broker, f"/{rule}", method="DELETE")
    assert keyed(agent, topic) == set(range(6))


@pytest.mark.parametrize("agent", ["java", "librdkafka"], indirect=True)
def test_the_order_of_partitions_in_metadata_changes_no_placement(broker, unique, agent):
    def placed():
        records = [{"key": f"key {number}", "value": "v"} for number in range(60)]
        return [ack["partition"] for ack in agent.call("produce", topic=topic, records=records)["acks"]]
    topic = unique("topic")
    agent.create_topic(topic, 6)
    before = placed()
    rule = add(broker, {"topic": topic}, {"stale_metadata": {"shuffled": True}})
    assert placed() == before
    assert acted(broker, rule) >= 1


@pytest.mark.parametrize("stale", [{"missing": True}, {"leader": 77}, {"leader": -1}], ids=["missing", "another-leader", "no-leader"])
@pytest.mark.parametrize("agent", ["java", "librdkafka"], indirect=True)
def test_a_producer_asks_again_while_metadata_has_no_leader(broker, unique, agent, stale):
    topic = unique("topic")
    agent.create_topic(topic, 1)
    rule = add(broker, {"api": "Metadata", "topic": topic}, {"stale_metadata": stale}, times=2)
    agent.call("produce", topic=topic, partition=0, records=[{"value": "arrived"}], unknown_topic_wait_ms=30_000)
    assert acted(broker, rule) == 2
    assert values(broker, topic) == ["arrived"]


def test_a_missing_topic_is_in_no_list(broker, unique):
    topics = [unique("one"), unique("two")]
    for topic in topics:
        insight.create(broker, topic, 2)
    admin = confluent_kafka.admin.AdminClient({"bootstrap.servers": broker.bootstrap})
    rule = add(broker, {"topic": topics[0]}, {"stale_metadata": {"missing": True}})
    listed = admin.list_topics(timeout=30).topics
    assert topics[0] not in listed and len(listed[topics[1]].partitions) == 2
    faults(broker, f"/{rule}", method="DELETE")
    assert topics[0] in admin.list_topics(timeout=30).topics


@pytest.mark.parametrize("agent", ["java", "librdkafka"], indirect=True)
def test_a_producer_survives_a_second_answer_to_produce(broker, unique, agent):
    topic = unique("topic")
    agent.create_topic(topic, 1)
    rule = add(broker, {"api": "Produce"}, {"duplicate_response": True}, times=2)
    for number in range(5):
        produce(agent, topic, str(number))
    assert acted(broker, rule) == 2
    assert values(broker, topic) == list("01234")


def read_second_answers(broker, unique, agent):
    """Starts a reader that gets some answers twice, and returns the topic."""
    topic = unique("topic")
    agent.create_topic(topic, 1)
    produce(agent, topic, "first")
    add(broker, {"api": "Fetch", "client_id": "reader"}, {"duplicate_response": True}, times=3)
    agent.events.may_fail("reader")
    agent.call("member_start", name="reader", group=unique("group"), topic=topic, reset="earliest", client_id="reader")
    return topic


@pytest.mark.parametrize("agent", ["librdkafka"], indirect=True)
def test_a_reader_with_librdkafka_ignores_a_second_answer(broker, unique, agent):
    topic = read_second_answers(broker, unique, agent)
    agent.events.wait(lambda _: agent.events.records(), 60, "the record")
    produce(agent, topic, "second")
    agent.events.wait(lambda _: len(agent.events.records()) >= 2, 60, "the next record")
    agent.call("member_stop", name="reader")
    assert [record["value"] for record in agent.events.records()] == ["first", "second"]


@pytest.mark.parametrize("agent", ["java"], indirect=True)
def test_a_second_answer_fails_a_reader_in_java(broker, unique, agent):
    read_second_answers(broker, unique, agent)
    failed = failure(agent)
    assert "Correlation id for response" in failed["message"] or "no in-flight requests" in failed["message"]


def test_a_slow_answer_slows_no_other_connection(broker, unique):
    topic = unique("topic")
    insight.create(broker, topic, 1)
    writer = producer_of(broker)
    writer.produce(topic, b"x" * 100_000)
    assert writer.flush(30) == 0
    rule = add(broker, {"api": "Fetch", "client_id": "slow"}, {"slow_bytes_per_s": 50_000})

    def read(client_id):
        began = time.monotonic()
        consumer = confluent_kafka.Consumer({"bootstrap.servers": broker.bootstrap, "group.id": "reader", "client.id": client_id})
        consumer.assign([confluent_kafka.TopicPartition(topic, 0, 0)])
        message = consumer.poll(60)
        assert message.error() is None and len(message.value()) == 100_000
        consumer.close()
        return time.monotonic() - began

    with concurrent.futures.ThreadPoolExecutor() as threads:
        slow = threads.submit(read, "slow")
        harness.wait_until(lambda: acted(broker, rule) == 1, 30, "the fetch")
        for _ in range(3):
            read("quick")
        assert not slow.done()
        assert slow.result() >= 2


def test_a_reader_of_each_library_reads_on_after_a_reset_in_the_middle_of_the_records(broker, unique, agent):
    topic, group = unique("topic"), unique("group")
    agent.create_topic(topic, 1)
    produce(agent, topic, "first" * 1000)
    rule = add(broker, {"api": "Fetch", "topic": topic}, {"reset_after_bytes": 1000}, times=2)
    agent.events.may_fail("reader")
    agent.call("member_start", name="reader", group=group, topic=topic, reset="earliest", client_id="reader")
    agent.events.wait(lambda _: agent.events.records(), 60, "the record")
    agent.call("member_stop", name="reader")
    assert acted(broker, rule) >= 1


def test_a_reader_of_each_library_reads_on(broker, unique, agent):
    topic, group = unique("topic"), unique("group")
    agent.create_topic(topic, 1)
    produce(agent, topic, "first")
    rules = [add(broker, {"api": "Fetch", "topic": topic}, {"error": "NOT_LEADER_OR_FOLLOWER"}, times=1),
             add(broker, {"api": "Fetch"}, {"disconnect": True}, times=1),
             add(broker, {"group": group, "api": "FindCoordinator"}, {"error": "COORDINATOR_NOT_AVAILABLE"}, times=1),
             add(broker, {"group": group, "api": "JoinGroup"}, {"error": "NOT_COORDINATOR"}, times=1)]
    # sarama tells the application of the connection that ended, and goes on.
    agent.events.may_fail("reader")
    agent.call("member_start", name="reader", group=group, topic=topic, reset="earliest", client_id="reader")
    agent.events.wait(lambda _: agent.events.records(), 60, "the record")
    agent.call("member_stop", name="reader")
    assert [acted(broker, rule) for rule in rules] == [1, 1, 1, 1]


def test_metadata_with_an_error_still_names_the_brokers(broker, unique):
    topic = unique("topic")
    insight.create(broker, topic, 1)
    add(broker, {"api": "Metadata", "topic": topic}, {"error": "TOPIC_AUTHORIZATION_FAILED"})
    told = insight.admin(broker).list_topics(topic, timeout=30)
    assert told.topics[topic].error.code() == confluent_kafka.KafkaError.TOPIC_AUTHORIZATION_FAILED
    assert len(told.brokers) == 1 and told.cluster_id


def test_a_fetch_with_an_error_tells_no_end_of_the_partition(broker, unique):
    topic = unique("topic")
    insight.create(broker, topic, 1)
    produce_one = producer_of(broker)
    produce_one.produce(topic, "there")
    assert produce_one.flush(30) == 0
    rule = add(broker, {"api": "Fetch", "topic": topic}, {"error": "NOT_LEADER_OR_FOLLOWER"}, times=2)
    assert values(broker, topic) == ["there"]
    assert acted(broker, rule) == 2


def producer_of(broker, **config):
    return confluent_kafka.Producer({"bootstrap.servers": broker.bootstrap, "linger.ms": 0, "socket.timeout.ms": 2000, **config})


@pytest.mark.parametrize("idempotent, times", [(True, 1), (False, 2)])
def test_a_lost_answer_duplicates_a_record_unless_the_producer_is_idempotent(broker, unique, idempotent, times):
    topic = unique("topic")
    insight.create(broker, topic, 1)
    rule = add(broker, {"api": "Produce", "topic": topic}, {"drop_response": True}, times=1)
    producer = producer_of(broker, **{"enable.idempotence": idempotent, "request.timeout.ms": 1000})
    producer.produce(topic, "paid")
    assert producer.flush(30) == 0
    assert acted(broker, rule) == 1
    assert values(broker, topic) == ["paid"] * times


def test_a_dropped_request_takes_no_effect(broker, unique):
    topic = unique("topic")
    insight.create(broker, topic, 1)
    add(broker, {"api": "Produce", "topic": topic}, {"drop_request": True})
    failures = []
    producer = producer_of(broker, **{"message.timeout.ms": 3000, "request.timeout.ms": 1000})
    producer.produce(topic, "lost", on_delivery=lambda error, _: failures.append(error))
    producer.flush(30)
    assert [error.code() for error in failures] == [confluent_kafka.KafkaError._MSG_TIMED_OUT]
    faults(broker, method="DELETE")
    assert values(broker, topic) == []


def connections(broker):
    """How many connections the broker has open to clients."""
    with urllib.request.urlopen(f"http://{insight.address(broker)}/metrics", timeout=60) as answer:
        lines = answer.read().decode().splitlines()
    return int(next(line for line in lines if line.startswith("kafka_server_socketservermetrics_connection_count ")).split()[1])


@pytest.mark.parametrize("do", ["drop_request", "drop_response"])
def test_a_client_that_sends_more_and_goes_away_leaves_nothing(broker, do):
    rule = add(broker, {"api": "ApiVersions", "client_id": "pipe"}, {do: True})
    before = connections(broker)
    host, port = broker.bootstrap.rsplit(":", 1)
    request = struct.pack(">hhih4s", 18, 0, 1, 4, b"pipe")
    with socket.create_connection((host, int(port)), timeout=30) as client:
        client.sendall((struct.pack(">i", len(request)) + request) * 3)
        harness.wait_until(lambda: acted(broker, rule) == 1, 30, "the first request")
        client.sendall((struct.pack(">i", len(request)) + request) * 3)
        assert connections(broker) == before + 1
    harness.wait_until(lambda: connections(broker) == before, 30, "the end of the connection")
    assert acted(broker, rule) == 1, "requests behind it are not served"


def test_a_held_request_takes_effect_when_it_is_released(broker, unique):
    topic = unique("topic")
    insight.create(broker, topic, 1)
    rule = add(broker, {"api": "Produce", "topic": topic}, {"hold": True}, times=1)
    producer = producer_of(broker, **{"socket.timeout.ms": 60_000})
    producer.produce(topic, "held")
    with concurrent.futures.ThreadPoolExecutor() as threads:
        flushed = threads.submit(producer.flush, 60)
        harness.wait_until(lambda: faults(broker, f"/{rule}")["waiting"] == 1, 30, "the request")
        assert values(broker, topic) == [] and not flushed.done()
        assert faults(broker, f"/{rule}/release", method="POST")["released"] == 1
        assert flushed.result() == 0
    assert values(broker, topic) == ["held"]
    assert faults(broker, f"/{rule}")["waiting"] == 0


def test_a_removed_rule_lets_its_requests_go_on_unharmed(broker, unique):
    topic = unique("topic")
    insight.create(broker, topic, 1)
    rule = add(broker, {"api": "Produce", "topic": topic}, {"hold": True, "error": "TOPIC_AUTHORIZATION_FAILED"})
    producer = producer_of(broker, **{"socket.timeout.ms": 60_000})
    producer.produce(topic, "held")
    with concurrent.futures.ThreadPoolExecutor() as threads:
        flushed = threads.submit(producer.flush, 60)
        harness.wait_until(lambda: faults(broker, f"/{rule}")["waiting"] == 1, 30, "the request")
        faults(broker, f"/{rule}", method="DELETE")
        assert flushed.result() == 0
    assert values(broker, topic) == ["held"]


def test_a_delayed_request_delays_those_behind_it_and_no_other_connection(broker, unique):
    topic = unique("topic")
    insight.create(broker, topic, 1)
    rule = add(broker, {"client_id": "slow", "api": "Produce"}, {"delay_ms": 1500}, times=1)
    slow = producer_of(broker, **{"client.id": "slow"})
    began = time.monotonic()
    slow.produce(topic, "slow")
    harness.wait_until(lambda: acted(broker, rule) == 1, 30, "the request")
    fast = producer_of(broker)
    fast.produce(topic, "fast")
    assert fast.flush(30) == 0
    assert slow.flush(30) == 0
    assert time.monotonic() - began >= 1.5
    assert sorted(values(broker, topic)) == ["fast", "slow"]


def test_a_client_that_goes_away_waits_no_longer(broker, unique):
    topic = unique("topic")
    insight.create(broker, topic, 1)
    rule = add(broker, {"api": "Produce", "topic": topic}, {"hold": True})
    producer = producer_of(broker, **{"message.timeout.ms": 1000, "request.timeout.ms": 500, "socket.timeout.ms": 1000})
    producer.produce(topic, "given up")
    producer.flush(30)
    del producer
    harness.wait_until(lambda: faults(broker, f"/{rule}")["waiting"] == 0, 30, "the end of its connections")


def test_a_broker_without_a_test_bench_has_no_faults():
    with harness.PartitaBroker() as broker, pytest.raises(urllib.error.HTTPError) as refused:
        add(broker, {}, {"disconnect": True})
    assert refused.value.code == 404
    assert json.load(refused.value)["error"] == "this broker has no test bench; start it with --test-bench"


def test_a_full_disk_refuses_records_of_its_partition_and_keeps_the_others(broker, unique):
    topic = unique("topic")
    insight.create(broker, topic, 2)
    producer = confluent_kafka.Producer({"bootstrap.servers": broker.bootstrap, "message.timeout.ms": 60_000, "retry.backoff.ms": 20,
                                         "partitioner": "murmur2_random"})
    rule = add(broker, {"topic": topic, "partition": 0}, {"disk_full": True})
    producer.produce(topic, b"elsewhere", partition=1)
    assert producer.flush(30) == 0
    producer.produce(topic, b"waits", partition=0)
    deadline = time.monotonic() + 30
    while acted(broker, rule) < 3:
        assert time.monotonic() < deadline
        producer.poll(0.05)
    assert values(broker, topic) == ["elsewhere"]
    matches = faults(broker, f"/{rule}/matches")["matches"]
    assert matches[0]["file"].startswith(f"{topic}-0") and matches[0]["acted"]
    faults(broker, f"/{rule}", method="DELETE")
    assert producer.flush(30) == 0, "writes resume without a restart"
    assert sorted(values(broker, topic)) == ["elsewhere", "waits"]


def test_a_full_disk_refuses_topics_and_commits(broker, unique):
    topic, group = unique("topic"), unique("group")
    insight.create(broker, topic, 1)
    admin = confluent_kafka.admin.AdminClient({"bootstrap.servers": broker.bootstrap})
    rule = add(broker, {}, {"disk_full": True})
    with pytest.raises(confluent_kafka.KafkaException) as refusal:
        admin.create_topics([confluent_kafka.admin.NewTopic(f"{topic}-more", 1)])[f"{topic}-more"].result(30)
    assert refusal.value.args[0].name() == "KAFKA_STORAGE_ERROR"
    faults(broker, f"/{rule}", method="DELETE")
    admin.create_topics([confluent_kafka.admin.NewTopic(f"{topic}-more", 1)])[f"{topic}-more"].result(30)

    consumer = confluent_kafka.Consumer({"bootstrap.servers": broker.bootstrap, "group.id": group, "enable.auto.commit": False})
    place = [confluent_kafka.TopicPartition(topic, 0, 7)]
    consumer.commit(offsets=place, asynchronous=False)
    rule = add(broker, {"topic": "__consumer_offsets"}, {"disk_full": True}, times=1)
    place[0].offset = 8
    consumer.commit(offsets=place, asynchronous=False)
    assert acted(broker, rule) == 1, "the client tried again"
    assert consumer.committed(place, timeout=30)[0].offset == 8
    consumer.close()


def test_a_sync_that_fails_ends_the_broker_and_the_next_start_has_what_was_acknowledged(broker, unique):
    topic = unique("topic")
    insight.create(broker, topic, 1, **{"flush.messages": "1"})
    producer = confluent_kafka.Producer({"bootstrap.servers": broker.bootstrap, "acks": "all"})
    producer.produce(topic, b"synced")
    assert producer.flush(30) == 0
    add(broker, {"topic": topic}, {"sync_fails": True})
    producer.produce(topic, b"sent again")
    producer.poll(0)
    assert broker.process.wait(timeout=30) not in broker.clean_exit_codes
    assert "cannot sync" in broker.log_text()
    broker.restart()
    assert producer.flush(60) == 0
    # The file may have kept the record of the first attempt; the producer is not idempotent.
    assert values(broker, topic)[0] == "synced" and set(values(broker, topic)[1:]) == {"sent again"}


@pytest.mark.parametrize("agent", ["java", "librdkafka"], indirect=True)
def test_a_request_that_took_effect_is_answered_with_an_error_and_repeated(broker, unique, agent):
    topic = unique("topic")
    agent.create_topic(topic, 1)
    rule = add(broker, {"api": "Produce"}, {"error": "REQUEST_TIMED_OUT", "takes_effect": True}, times=1)
    produce(agent, topic, "once")
    assert acted(broker, rule) == 1
    assert set(values(broker, topic)) == {"once"}


def test_a_producer_that_is_not_idempotent_writes_twice_what_took_effect(broker, unique):
    topic = unique("topic")
    insight.create(broker, topic, 1)
    rule = add(broker, {"api": "Produce"}, {"error": "NOT_ENOUGH_REPLICAS_AFTER_APPEND", "takes_effect": True}, times=1)
    for idempotent in (False, True):
        producer = confluent_kafka.Producer({"bootstrap.servers": broker.bootstrap, "enable.idempotence": idempotent,
                                             "retry.backoff.ms": 20})
        producer.produce(topic, b"idempotent" if idempotent else b"plain")
        assert producer.flush(30) == 0
        assert acted(broker, rule) == 1
        faults(broker, f"/{rule}", method="DELETE")
        rule = add(broker, {"api": "Produce"}, {"error": "NOT_ENOUGH_REPLICAS_AFTER_APPEND", "takes_effect": True}, times=1)
    assert values(broker, topic) == ["plain", "plain", "idempotent"]
