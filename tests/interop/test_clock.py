"""A broker whose clock a test moves (docs/test-bench.md#the-clock), as clients meet it."""

import json
import time
import urllib.error
import urllib.request

import confluent_kafka
import pytest

import browser as browsers
import clients
import harness
import insight
import matrix

BROKER_PROPERTIES = {"partita.test.bench.enable": "true", "group.initial.rebalance.delay.ms": 0,
                     "transaction.state.log.replication.factor": 1}
HOUR_MS = 3_600_000
DAY_MS = 24 * HOUR_MS


def clock(broker, **wish):
    """The answer of /v1/clock: of a move, if there is a wish."""
    request = urllib.request.Request(f"http://{insight.address(broker)}/v1/clock", method="POST" if wish else "GET",
                                     data=json.dumps(wish).encode() if wish else None, headers={"Content-Type": "application/json"})
    with urllib.request.urlopen(request, timeout=90) as answer:
        return json.load(answer)


def advance(broker, duration_ms):
    moved = clock(broker, advance_ms=duration_ms)
    assert moved["unfinished"] == []
    return moved


def deeds(moved, message, **fields):
    return [one for one in moved["done"] if one["message"] == message and fields.items() <= one["fields"].items()]


@pytest.fixture(autouse=True)
def the_clock_runs(broker):
    yield
    clock(broker, freeze=False)


def offsets(broker, topic):
    """The first and the last offset of partition 0."""
    consumer = confluent_kafka.Consumer({"bootstrap.servers": broker.bootstrap, "group.id": "offsets"})
    try:
        return consumer.get_watermark_offsets(confluent_kafka.TopicPartition(topic, 0), timeout=30)
    finally:
        consumer.close()


def produce(broker, topic, *values, **config):
    producer = confluent_kafka.Producer({"bootstrap.servers": broker.bootstrap, "linger.ms": 0, **config})
    for value in values:
        producer.produce(topic, value, key="k")
    assert producer.flush(30) == 0


@pytest.mark.parametrize("library", ["java", "librdkafka", "franz-go", "kafkajs"])
def test_a_member_whose_session_ends_joins_again(broker, unique, library):
    if not harness.HAS_ALL_CLIENTS and library not in harness.BASIC_CLIENTS:
        pytest.skip("needs all clients")
    topic, group = unique("topic"), unique("group")
    insight.create(broker, topic, 1)
    agent = clients.Agent(matrix.CLIENTS[library], broker.bootstrap)
    # Some libraries tell the application of it.
    agent.events.may_fail("reader")
    agent.call("member_start", name="reader", group=group, topic=topic, reset="earliest", client_id="reader")
    produce(broker, topic, "before")
    agent.events.wait(lambda _: len(agent.events.records()) == 1, 60, "the first record")
    moved = advance(broker, 60_000)
    assert [one["fields"]["cause"] for one in deeds(moved, "a member is gone", group=group)] == ["session_expired"]
    # The offset may have been committed or not, so the first record may come again.
    produce(broker, topic, "after")
    agent.events.wait(lambda _: any(record["value"] == "after" for record in agent.events.records()), 60, "the second record")
    agent.call("member_stop", name="reader")
    agent.close()


def test_sessions_end_in_their_order(broker, unique):
    topic = unique("topic")
    insight.create(broker, topic, 1)
    groups, consumers = {unique("slow"): 50_000, unique("fast"): 20_000}, []
    for group, session_ms in groups.items():
        consumer = confluent_kafka.Consumer({"bootstrap.servers": broker.bootstrap, "group.id": group, "session.timeout.ms": session_ms,
                                             "heartbeat.interval.ms": 10_000, "auto.offset.reset": "earliest"})
        consumer.subscribe([topic])
        harness.wait_until(lambda consumer=consumer: consumer.poll(0.1) is not None or consumer.assignment(), 60, "the assignment")
        consumers.append(consumer)
    began = clock(broker, freeze=True)["time_ms"]
    moved = advance(broker, 60_000)
    gone = {one["fields"]["group"]: one["time_ms"] - began for one in deeds(moved, "a member is gone") if one["fields"]["group"] in groups}
    assert list(gone) == sorted(groups, key=groups.get), "the shorter session ends first"
    assert all(0 < gone[group] <= session_ms for group, session_ms in groups.items())
    for consumer in consumers:
        consumer.close()


def test_retention_removes_what_is_too_old_by_the_moved_clock(broker, unique):
    topic = unique("topic")
    insight.create(broker, topic, 1, **{"retention.ms": HOUR_MS})
    produce(broker, topic, "a", "b")
    advance(broker, HOUR_MS // 2)
    assert offsets(broker, topic) == (0, 2)
    moved = advance(broker, HOUR_MS)
    assert len(deeds(moved, "retention removed segments")) >= 1
    assert offsets(broker, topic) == (2, 2)


def test_compaction_follows_the_moved_clock(broker, unique):
    topic = unique("topic")
    # By the producer's clock both records are of the same time.
    insight.create(broker, topic, 1, **{"message.timestamp.type": "LogAppendTime", "cleanup.policy": "compact", "min.cleanable.dirty.ratio": 0.01,
                                        "segment.ms": 60_000, "min.compaction.lag.ms": HOUR_MS})
    produce(broker, topic, *map(str, range(50)))
    advance(broker, 120_000)
    produce(broker, topic, "the first of the next segment")
    moved = advance(broker, HOUR_MS // 2)
    assert not deeds(moved, "compacted a log", partition=f"{topic}-0")
    moved = advance(broker, HOUR_MS)
    assert deeds(moved, "compacted a log", partition=f"{topic}-0")


def test_a_transaction_ends_at_its_timeout(broker, unique):
    topic, transactional_id = unique("topic"), unique("transactional")
    insight.create(broker, topic, 1)
    producer = confluent_kafka.Producer({"bootstrap.servers": broker.bootstrap, "transactional.id": transactional_id,
                                         "transaction.timeout.ms": 60_000})
    producer.init_transactions(60)
    producer.begin_transaction()
    producer.produce(topic, "lost")
    assert producer.flush(30) == 0
    moved = advance(broker, 80_000)
    assert len(deeds(moved, "aborts a transaction that took longer than its timeout", transactional_id=transactional_id)) == 1
    with pytest.raises(confluent_kafka.KafkaException) as refused:
        producer.commit_transaction(60)
    assert refused.value.args[0].code() in (confluent_kafka.KafkaError._FENCED, confluent_kafka.KafkaError.INVALID_PRODUCER_EPOCH,
                                            confluent_kafka.KafkaError.PRODUCER_FENCED)


def test_sockets_and_waiting_fetches_keep_the_machine_s_time(broker, unique):
    topic = unique("topic")
    insight.create(broker, topic, 1)
    admin = insight.admin(broker)
    admin.list_topics(timeout=30)
    clock(broker, freeze=True)
    # Longer than connections.max.idle.ms.
    advance(broker, DAY_MS)
    errors = []
    consumer = confluent_kafka.Consumer({"bootstrap.servers": broker.bootstrap, "group.id": unique("group"), "enable.partition.eof": True,
                                         "fetch.wait.max.ms": 500, "fetch.min.bytes": 1_000_000, "error_cb": errors.append})
    consumer.assign([confluent_kafka.TopicPartition(topic, 0, 0)])
    produce(broker, topic, "small")
    assert consumer.poll(30).value() == b"small"
    assert consumer.poll(30).error().code() == confluent_kafka.KafkaError._PARTITION_EOF
    advance(broker, DAY_MS)
    produce(broker, topic, "more")
    assert consumer.poll(30).value() == b"more"
    admin.list_topics(timeout=30)
    assert errors == []
    consumer.close()


def test_records_get_the_moved_time(broker, unique):
    topic = unique("topic")
    insight.create(broker, topic, 1, **{"message.timestamp.type": "LogAppendTime"})
    moved = clock(broker, set="2040-02-29T12:00:00Z", freeze=True)
    assert moved["time"] == "2040-02-29T12:00:00.000Z" and moved["frozen"]
    produce(broker, topic, "in the future")
    consumer = confluent_kafka.Consumer({"bootstrap.servers": broker.bootstrap, "group.id": unique("group")})
    consumer.assign([confluent_kafka.TopicPartition(topic, 0, 0)])
    assert consumer.poll(30).timestamp() == (confluent_kafka.TIMESTAMP_LOG_APPEND_TIME, moved["time_ms"])
    consumer.close()
    back = clock(broker, set=int(time.time() * 1000), freeze=False)
    assert back["stops"] == 0 and abs(back["ahead_ms"]) < 60_000


@pytest.mark.parametrize("wish, sentence", [
    ({"advance_ms": -1}, '"advance_ms" is not a number of at least 0'),
    ({"advance_ms": "soon"}, '"advance_ms" is not a number of at least 0'),
    ({"advance_ms": 10**18}, '"advance_ms" is not a number of at least 0'),
    ({"set": "yesterday"}, '"set" is neither a time such as'),
    ({"set": -1}, '"set" is neither a time such as'),
    ({"set": 10**18}, '"set" is neither a time such as'),
    ({"set": 2**64 - 1}, '"set" is neither a time such as'),
    ({"freeze": "yes"}, '"freeze" is neither true nor false'),
    ({"advance_ms": 1, "set": 1}, '"advance_ms" and "set" do not go together'),
    ({"forward": 1}, 'the body has none of "advance_ms", "set" and "freeze"')], ids=str)
def test_a_bad_wish_is_refused_with_a_sentence(broker, wish, sentence):
    with pytest.raises(urllib.error.HTTPError) as refused:
        clock(broker, **wish)
    assert refused.value.code == 400
    assert sentence in json.load(refused.value)["error"]


@pytest.mark.parametrize("width", (400, 1600))
def test_each_page_of_the_console_says_that_the_broker_has_a_test_bench(broker, width):
    browser = browsers.Browser()
    try:
        browser.size(width, 800)
        for page in ("topics", "groups", "findings", "broker"):
            browser.go(f"http://{insight.address(broker)}/#/{page}")
            browser.wait("(one => one && one.offsetHeight > 0)(document.querySelector('.bench'))", "the banner")
            assert "has a test bench" in browser.run("document.querySelector('.bench').textContent")
            assert browser.run("document.documentElement.scrollWidth <= window.innerWidth"), "the page is wider than the window"
        assert browser.take_problems() == []
    finally:
        browser.close()


def test_a_broker_without_a_test_bench_keeps_its_clock():
    with harness.PartitaBroker() as broker:
        for wish in {}, {"advance_ms": 1}:
            with pytest.raises(urllib.error.HTTPError) as refused:
                clock(broker, **wish)
            assert refused.value.code == 404
            assert json.load(refused.value)["error"] == "this broker has no test bench; start it with --test-bench"


def test_a_broker_whose_clock_stands_still_stops_and_starts_again(unique):
    topic = unique("topic")
    with harness.PartitaBroker(BROKER_PROPERTIES) as broker:
        insight.create(broker, topic, 1)
        clock(broker, advance_ms=DAY_MS, freeze=True)
        produce(broker, topic, "kept")
        began = time.monotonic()
        broker.stop()
        broker.restart()
        assert time.monotonic() - began < 20
        assert offsets(broker, topic) == (0, 1)
        assert abs(clock(broker)["ahead_ms"]) < 60_000


def command(broker, *words):
    return harness.run_partita("clock", *words, "--http", insight.address(broker))


def test_the_command_moves_the_clock(broker):
    assert command(broker, "freeze").out.endswith("frozen\n")
    before = clock(broker)["time_ms"]
    advanced = command(broker, "advance", "90s")
    assert advanced.code == 0 and clock(broker)["time_ms"] == before + 90_000
    assert "frozen" not in command(broker, "resume").out
    assert command(broker, "set", "2041-01-01").out.startswith("2041-01-01T00:00:0")
    assert "ahead of the machine" in command(broker, "show").out
    assert json.loads(command(broker, "show", "--json").out)["frozen"] is False
    refused = command(broker, "advance", "soon")
    assert refused.code == 2 and "250ms, 45s, 15m, 2h or 7d" in refused.err
