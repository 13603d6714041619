"""Transactions as they lie in the files: Kafka's own tools read ours, a Kafka's directory is taken over with what is open in it, and
Kafka's tester of compaction agrees."""

import re
import shutil

import confluent_kafka
import pytest

import harness

pytestmark = pytest.mark.skipif(harness.TARGET not in ("partita", "kafka"), reason="needs the broker's files")

BROKER_PROPERTIES = {"group.initial.rebalance.delay.ms": 0, "offsets.topic.num.partitions": 1,
                     "transaction.state.log.num.partitions": 2}
TOPIC_CONFIGS = {"segment.bytes": "1048576", "retention.ms": "-1"}
MARKER = re.compile(r"offset: (\d+) .*?endTxnMarker: (COMMIT|ABORT) coordinatorEpoch: (\d+)")
ABORTED = re.compile(r"version: 0 producerId: (\d+) firstOffset: (\d+) lastOffset: (\d+) lastStableOffset: (\d+)")


def producer(broker, transactional_id):
    made = confluent_kafka.Producer({"bootstrap.servers": broker.bootstrap, "transactional.id": transactional_id,
                                     "transaction.timeout.ms": 60000, "linger.ms": 0})
    made.init_transactions(30)
    return made


def write(made, topic, *values):
    for value in values:
        made.produce(topic, value, partition=0)
    assert made.flush(60) == 0


def read(broker, topic, isolation="read_committed"):
    """All values there are up to what the isolation lets one see."""
    consumer = confluent_kafka.Consumer({"bootstrap.servers": broker.bootstrap, "group.id": "reader", "isolation.level": isolation,
                                         "enable.auto.commit": False, "enable.partition.eof": True})
    consumer.assign([confluent_kafka.TopicPartition(topic, 0, 0)])
    values = []
    while True:
        message = consumer.poll(30)
        assert message is not None, f"nothing came for 30 s after {values}"
        if message.error():
            assert message.error().code() == confluent_kafka.KafkaError._PARTITION_EOF, message.error()
            break
        values.append(message.value().decode())
    consumer.close()
    return values


def interleaved(broker, topic):
    """Transactions of two producers that overlap, ended in all ways; what they committed."""
    one, two = producer(broker, "one"), producer(broker, "two")
    one.begin_transaction()
    write(one, topic, "a1")
    two.begin_transaction()
    write(two, topic, "b1", "b2")
    two.abort_transaction(30)
    write(one, topic, "a2")
    one.abort_transaction(30)
    two.begin_transaction()
    write(two, topic, "b3")
    one.begin_transaction()
    write(one, topic, "a3")
    two.commit_transaction(30)
    one.commit_transaction(30)
    one.begin_transaction()
    write(one, topic, "a4")
    one.abort_transaction(30)
    return ["b3", "a3"]


def create(tools, topic, configs):
    tools("kafka-topics", "--create", "--topic", topic, "--partitions", 1, "--replication-factor", 1,
          *(part for name, value in configs.items() for part in ("--config", f"{name}={value}"))).succeeded()


def dumped(tools, directory):
    """Markers, and aborted transactions with producers named in the order of their ids."""
    log = tools("kafka-dump-log", "--files", ",".join(map(str, sorted(directory.glob("*.log")))), "--print-data-log").succeeded().out
    assert "isvalid: false" not in log
    markers = [(int(offset), kind) for offset, kind, _ in MARKER.findall(log)]
    indexes = sorted(directory.glob("*.txnindex"))
    out = tools("kafka-dump-log", "--files", ",".join(map(str, indexes))).succeeded().out if indexes else ""
    aborted = [tuple(map(int, found)) for found in ABORTED.findall(out)]
    names = {producer_id: n for n, producer_id in enumerate(sorted({entry[0] for entry in aborted}))}
    return markers, [(names[entry[0]], *entry[1:]) for entry in aborted]


def test_kafka_reads_markers_and_aborted_transactions(broker, tools, unique):
    topic = unique("topic")
    create(tools, topic, TOPIC_CONFIGS)
    committed = interleaved(broker, topic)
    assert read(broker, topic) == committed
    assert len(read(broker, topic, "read_uncommitted")) == 7
    broker.stop()
    try:
        markers, aborted = dumped(tools, broker.partition_directory(topic, 0))
    finally:
        broker.restart()
    # 0 a1, 1-2 b1 b2, 3 abort, 4 a2, 5 abort, 6 b3, 7 a3, 8 commit, 9 commit, 10 a4, 11 abort
    assert markers == [(3, "ABORT"), (5, "ABORT"), (8, "COMMIT"), (9, "COMMIT"), (11, "ABORT")]
    assert aborted == [(1, 1, 3, 0), (0, 0, 5, 6), (0, 10, 11, 12)]
    assert read(broker, topic) == committed


@pytest.mark.skipif(harness.TARGET != "partita", reason="a Kafka's directory is taken over by the broker under test")
@pytest.mark.parametrize("how", ["stop", "kill"])
def test_a_kafkas_transactions_are_taken_over(how, unique, tmp_path):
    topic = unique("topic")
    with harness.KafkaBroker(BROKER_PROPERTIES) as kafka:
        tools = harness.Tools(kafka.bootstrap)
        create(tools, topic, TOPIC_CONFIGS)
        committed = interleaved(kafka, topic)
        left = producer(kafka, "left-open")
        left.begin_transaction()
        write(left, topic, "open")
        plain = confluent_kafka.Producer({"bootstrap.servers": kafka.bootstrap})
        write(plain, topic, "behind")
        assert read(kafka, topic) == committed
        getattr(kafka, how)()
        # Kafka answers before all markers are there, so that the next record may stand before them.
        _, aborted_by_kafka = dumped(tools, kafka.partition_directory(topic, 0))
        assert len(aborted_by_kafka) == 3
        shutil.copytree(kafka.data_directory, tmp_path / "data")
        tools.close()
    broker = harness.PartitaBroker(BROKER_PROPERTIES)
    shutil.copytree(tmp_path / "data", broker.data_directory)
    with broker:
        tools = harness.Tools(broker.bootstrap)
        assert read(broker, topic) == committed, "what is open hides itself and what is behind it"
        assert "left-open" in tools("kafka-transactions", "--bootstrap-server", broker.bootstrap, "list").succeeded().out
        # Whoever has the id now ends what was open.
        again = producer(broker, "left-open")
        assert read(broker, topic) == [*committed, "behind"]
        again.begin_transaction()
        write(again, topic, "anew")
        again.commit_transaction(30)
        assert read(broker, topic) == [*committed, "behind", "anew"]
        broker.stop()
        _, aborted = dumped(tools, broker.partition_directory(topic, 0))
        assert aborted[:3] == aborted_by_kafka
        assert [entry[1:] for entry in aborted[3:]] == [(12, 14, 15)]
        tools.close()


def test_kafkas_tester_of_compaction_agrees():
    """It writes keyed records with duplicates and deletions, waits, and compares what is left with what it wrote."""
    with harness.start_broker({**BROKER_PROPERTIES, "log.cleaner.backoff.ms": 100, "log.cleaner.min.cleanable.ratio": 0.01,
                               "log.roll.ms": 50}) as cleaned:
        for codec in ("none", "zstd"):
            result = harness.run_java("org.apache.kafka.tools.LogCompactionTester", "--bootstrap-server", cleaned.bootstrap,
                                      "--messages", "40000", "--duplicates", "20", "--percent-deletes", "15", "--topics", "2",
                                      "--compression-type", codec, "--sleep", "6")
            assert "Data verification is completed" in result.stdout, result.stdout[-3000:] + result.stderr[-3000:]
            assert "0 mismatches" in result.stdout, result.stdout[-3000:]
            produced, consumed = map(int, re.search(r"(\d+) rows of data produced, (\d+) rows of data consumed",
                                                    result.stdout).groups())
            assert consumed < produced * 0.9, "it was compacted"
