"""Kafka's own kafka-dump-log reads the broker's segments, and the broker serves segments that a real Kafka wrote."""

import re
import shutil

import pytest

import clients
import harness
from scenarios import content, sample_records

# Records of years ago stay. Small segments, so that there are several of them; an index entry every 256 bytes, so that the indexes have some.
TOPIC_CONFIGS = {"segment.bytes": "1048576", "index.interval.bytes": "256"}
BROKER_PROPERTIES = {"auto.create.topics.enable": "false", "group.initial.rebalance.delay.ms": 0,
                     "offsets.topic.num.partitions": 4, "log.cleaner.backoff.ms": 100, "log.retention.ms": -1}
CODECS = ["none", "gzip", "snappy", "lz4", "zstd"]
RECORDS_PER_CODEC = 600

BATCH = re.compile(
    r"baseOffset: (?P<base>\d+) lastOffset: (?P<last>\d+) count: (?P<count>\d+) baseSequence: (?P<sequence>-?\d+) "
    r"lastSequence: -?\d+ producerId: (?P<producer>-?\d+) producerEpoch: -?\d+ partitionLeaderEpoch: (?P<epoch>\d+) "
    r"isTransactional: (true|false) isControl: (true|false) deleteHorizonMs: \S+ position: (?P<position>\d+) "
    r"CreateTime: (?P<time>\d+) size: (?P<size>\d+) magic: 2 compresscodec: (?P<codec>\S+) crc: \d+ "
    r"isvalid: (?P<valid>true|false)")
RECORD = re.compile(r"\| offset: (?P<offset>\d+) CreateTime: (?P<time>\d+) .*?payload: (?P<payload>\S+)")
COMPLAINTS = ("Exception", "Mismatches in", "Index timestamp", "Out of order", "unreadable", "non-consecutive",
              "Found timestamp mismatch", "Found out of order")


pytestmark = pytest.mark.skipif(harness.TARGET not in ("partita", "kafka"), reason="needs the broker's files")


def dump(tools, files, *more):
    result = tools("kafka-dump-log", "--files", ",".join(map(str, files)), *more).succeeded()
    for complaint in COMPLAINTS:
        assert complaint not in result.out + result.err, result.out[-3000:] + result.err[-3000:]
    return result.out


@pytest.fixture(scope="module")
def written(broker, unique_topic, tmp_path_factory):
    """A partition of several segments with batches of every codec, from a broker that was stopped in order."""
    agent = clients.Agent(clients.java, broker.bootstrap)
    agent.create_topic(unique_topic, 1, configs=TOPIC_CONFIGS)
    for codec in CODECS:
        # Noise, which no codec can make small, in batches of 30 records.
        records = [{"partition": 0, "key": f"{codec}-{n}", "value": noise(n), "headers": [["n", str(n)]]}
                   for n in range(RECORDS_PER_CODEC)]
        for start in range(0, RECORDS_PER_CODEC, 30):
            acks = agent.call("produce", topic=unique_topic, codec=codec, records=records[start:start + 30])["acks"]
            assert all("offset" in ack for ack in acks)
    agent.close()
    broker.stop()
    copy = tmp_path_factory.mktemp("segments") / f"{unique_topic}-0"
    shutil.copytree(broker.partition_directory(unique_topic, 0), copy)
    broker.restart()
    return copy


@pytest.fixture(scope="module")
def unique_topic():
    return "dump-log-topic"


def noise(seed):
    state, digits = seed * 2654435761 % 2**32 + 1, []
    for _ in range(110):
        state = (1103515245 * state + 12345) % 2**31
        digits.append(f"{state:x}")
    return "".join(digits)


def test_segments_are_read_deeply(written, tools):
    logs = sorted(written.glob("*.log"))
    assert len(logs) >= 2, f"several segments: {sorted(written.iterdir())}"
    offset, codecs = 0, set()
    for log in logs:
        assert int(log.stem) == offset and len(log.stem) == 20, "a segment is named by its first offset"
        out = dump(tools, [log], "--deep-iteration", "--print-data-log")
        assert f"Log starting offset: {offset}" in out.splitlines()
        batches = [BATCH.match(line) for line in out.splitlines() if line.startswith("baseOffset: ")]
        assert batches and all(batches)
        position = 0
        for batch in batches:
            assert batch["valid"] == "true"
            assert int(batch["position"]) == position, "batches lie one behind the other"
            position += int(batch["size"])
            codecs.add(batch["codec"])
        assert position == log.stat().st_size, "nothing lies behind the last batch"
        for match in RECORD.finditer(out):
            assert int(match["offset"]) == offset
            assert match["payload"] == noise(offset % RECORDS_PER_CODEC)
            offset += 1
    assert offset == len(CODECS) * RECORDS_PER_CODEC
    assert codecs == set(CODECS)


@pytest.mark.parametrize("option", [[], ["--index-sanity-check"], ["--verify-index-only"]])
@pytest.mark.parametrize("kind", ["index", "timeindex"])
def test_indexes_are_found_sane(written, tools, kind, option):
    indexes = sorted(written.glob(f"*.{kind}"))
    assert [i.stem for i in indexes] == [log.stem for log in sorted(written.glob("*.log"))]
    out = dump(tools, indexes, *option)
    if option == ["--index-sanity-check"]:
        assert out.count("passed sanity check") == len(indexes), out
    elif not option:
        entry = r"offset: \d+ position: \d+" if kind == "index" else r"timestamp: \d+ offset: \d+"
        assert len(re.findall(entry, out)) >= len(indexes), "the indexes have entries"


def test_compacted_segments_are_read_deeply(broker, tools, unique):
    """Batches with holes, without records and with a delete horizon are what Kafka expects of a compacted log."""
    topic = unique("topic")
    agent = clients.Agent(clients.java, broker.bootstrap)
    agent.create_topic(topic, 1, configs={**TOPIC_CONFIGS, "cleanup.policy": "compact", "min.cleanable.dirty.ratio": "0.01"})
    rounds = 40
    for codec in ("none", "lz4"):
        for number in range(rounds):
            records = [{"partition": 0, "key": f"k{key}", "value": noise(number * 100 + key) * 4} for key in range(20)]
            agent.call("produce", topic=topic, codec=codec, records=records)
        agent.call("produce", topic=topic, records=[{"partition": 0, "key": "k0", "value": None}])
    directory = broker.partition_directory(topic, 0)
    harness.wait_until(lambda: next(iter(sorted(directory.glob("*.log")))).stat().st_size < 500_000, 20, "a cleaning")
    broker.stop()
    try:
        logs = sorted(directory.glob("*.log"))
        out = tools("kafka-dump-log", "--files", ",".join(map(str, logs)), "--deep-iteration", "--print-data-log").succeeded().out
        dump(tools, sorted(directory.glob("*.index")), "--index-sanity-check")
        dump(tools, sorted(directory.glob("*.timeindex")), "--index-sanity-check")
    finally:
        broker.restart()
    batches = [line for line in out.splitlines() if line.startswith("baseOffset: ")]
    assert batches and all("isvalid: true" in line for line in batches), out[-3000:]
    kept = len(RECORD.findall(out))
    assert kept < 2 * rounds * 20 * 0.8, f"{kept} records are left"
    read = agent.call("read", topic=topic, count=kept, timeout_ms=20000)["records"]
    last = {record["key"]: record["value"] for record in read}
    assert last["k1"] == noise((rounds - 1) * 100 + 1) * 4 and last["k0"] is None
    agent.close()


def test_committed_offsets_are_readable_records(broker, tools, unique):
    agent = clients.Agent(clients.confluent, broker.bootstrap)
    topic, group = unique("topic"), unique("group")
    agent.create_topic(topic, 1)
    agent.call("produce", topic=topic, records=[{"key": None, "value": str(n)} for n in range(7)])
    agent.call("member_start", name="m", group=group, topic=topic)
    agent.expect_committed(group, topic, {"0": 7})
    agent.call("member_stop", name="m")
    agent.close()
    assert "__consumer_offsets" in tools("kafka-topics", "--list").succeeded().lines
    broker.stop()
    try:
        logs = sorted(broker.data_directory.rglob("__consumer_offsets-*/*.log"))
        out = dump(tools, logs, "--offsets-decoder")
    finally:
        broker.restart()
    lines = [line for line in out.splitlines() if group in line]
    commits = [line for line in lines if f'"topic":"{topic}"' in line.replace('": "', '":"')]
    assert commits and '"offset":7' in commits[-1].replace(" ", ""), lines
    members = [line for line in lines if '"protocolType":"consumer"' in line.replace(" ", "")]
    assert members, lines


def test_segments_of_a_real_kafka_are_recovered_and_served(broker, tools, unique):
    """Their .log files put in the place of ours; the indexes are rebuilt from them."""
    topic = unique("topic")
    agent = clients.Agent(clients.confluent, broker.bootstrap)
    agent.create_topic(topic, 1, configs=TOPIC_CONFIGS)
    agent.call("produce", topic=topic, records=[{"key": None, "value": "to be replaced"}])

    sent = [record for codec in CODECS for record in sample_records()]
    for record in sent:
        record.setdefault("headers", [])
    foreign = harness.KafkaBroker(BROKER_PROPERTIES)
    with foreign:
        other = clients.Agent(clients.java, foreign.bootstrap)
        other.create_topic(topic, 1, configs=TOPIC_CONFIGS)
        for codec in CODECS:
            other.call("produce", topic=topic, codec=codec, records=sample_records())
        # One more segment behind the first: another megabyte.
        filler = [{"key": None, "value": noise(n) * 20, "partition": 0, "timestamp": 1_700_000_100_000 + n, "headers": []}
                  for n in range(70)]
        for start in range(0, len(filler), 10):
            other.call("produce", topic=topic, records=filler[start:start + 10])
        sent += filler
        other.close()
        foreign.stop()
        theirs = foreign.partition_directory(topic, 0)
        assert len(list(theirs.glob("*.log"))) >= 2

        # Killed, not stopped: without the mark of a clean stop the broker looks at what it finds.
        broker.kill()
        ours = broker.partition_directory(topic, 0)
        for old in ours.iterdir():
            if old.name != "partition.metadata":
                old.unlink()
        for log in theirs.glob("*.log"):
            shutil.copy(log, ours / log.name)
        broker.restart()

    read = agent.call("read", topic=topic, count=len(sent), timeout_ms=20000)["records"]
    assert [record["offset"] for record in read] == list(range(len(sent)))
    assert content(read) == content(sent)
    # The rebuilt indexes are used: look up by time, then append.
    answer = agent.call("offsets_for_time", topic=topic, timestamp=filler[50]["timestamp"])["offsets"]
    assert answer == {"0": len(sent) - 20}
    ack, = agent.call("produce", topic=topic, records=[{"key": None, "value": "next"}])["acks"]
    assert ack["offset"] == len(sent)
    agent.close()
