"""Logs with records in the message formats 0 and 1: what clients and tools see of them is what they see of a real Kafka."""

import os
import re
import shutil
import subprocess

import pytest

import harness
from old_formats import batch, entries

pytestmark = pytest.mark.skipif(harness.TARGET != "partita", reason="needs the broker's files, and a Kafka beside it")

TIME = 1_500_000_000_000
PROPERTIES = {"log.cleaner.backoff.ms": 200, "log.retention.check.interval.ms": 500, "log.initial.task.delay.ms": 100}
TOPICS = {"mixed": {"retention.ms": "-1"}, "times": {"retention.ms": "-1"}, "retained": {"retention.ms": "604800000"},
          "compacted": {"cleanup.policy": "compact", "min.cleanable.dirty.ratio": "0.01"}}
TIMES = [TIME + more for more in (-100_000_000_000, -100_000, -99_999, 0, 1, 102, 205, 400, 401, 500, 1_001, 2_000, 9_000)]


def numbered(first, count, time):
    return [(first + n, time + n if time >= 0 else -1, b"k%d" % (n % 2), b"v%d" % (first + n)) for n in range(count)]


def segments(now):
    """(time of the file, content) by base offset, by topic."""
    mixed = entries(0, numbered(0, 2, -1))
    for n, codec in enumerate(["gzip", "snappy", "lz4"]):
        mixed += entries(0, numbered(2 + 3 * n, 3, -1), codec)
    mixed += entries(1, numbered(11, 2, TIME))
    for n, codec in enumerate(["gzip", "snappy", "lz4"]):
        mixed += entries(1, numbered(13 + 3 * n, 3, TIME + 100 * (n + 1)), codec)
    mixed += entries(1, numbered(22, 3, TIME), "gzip", append_time=TIME + 400) + batch(numbered(25, 2, TIME + 500))
    old = [(0, -1, b"a", b"0"), (1, -1, None, b"no key"), (2, -1, b"b", b"2")]
    packed = [(3, TIME, b"c", None), (4, TIME + 1, b"a", b"4"), (5, TIME + 2, b"d", b"5"), (6, TIME + 3, b"d", b"6")]
    return {
        "mixed": {0: (TIME, mixed)},
        "times": {0: (TIME - 100_000, entries(0, numbered(0, 5, -1), "gzip")),
                  5: (TIME, entries(1, numbered(5, 3, TIME), "snappy") + entries(1, numbered(8, 2, TIME + 1000))),
                  10: (TIME, batch(numbered(10, 2, TIME + 2000)))},
        "retained": {0: (TIME, entries(0, numbered(0, 3, -1))), 3: (now, entries(1, numbered(3, 3, TIME), "gzip")),
                     6: (now, entries(0, numbered(6, 2, -1))), 8: (now, batch(numbered(8, 1, now)))},
        "compacted": {0: (TIME, entries(0, old)), 3: (TIME, entries(1, packed, "lz4")), 7: (now, batch([(7, now, b"z", b"7")]))},
    }


def kcat(bootstrap, *arguments):
    done = subprocess.run(["kcat", "-b", bootstrap, *arguments], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    return done.stdout


def seen(broker):
    """What clients and tools say of the topics, once retention and cleaner have done their work."""
    log = broker.partition_directory("compacted", 0)
    harness.wait_until(lambda: not (log / f"{3:020}.log").exists(), 60, "the cleaner's work")
    retained = broker.partition_directory("retained", 0)
    harness.wait_until(lambda: not (retained / f"{3:020}.log").exists(), 60, "retention's work")
    tools = harness.Tools(broker.bootstrap)
    told = {}
    for topic in TOPICS:
        told[topic] = kcat(broker.bootstrap, "-C", "-t", topic, "-o", "beginning", "-e", "-q", "-f", "%o %T %k %s\n")
        for time in [-1, -2, *TIMES]:
            told[topic, time] = kcat(broker.bootstrap, "-Q", "-t", f"{topic}:0:{time}")
        told[topic, "newest"] = tools("kafka-get-offsets", "--topic", topic, "--time", "-3").succeeded().out
    dump = tools("kafka-dump-log", "--print-data-log", "--files", str(log / f"{0:020}.log")).succeeded().out
    told["dump"] = re.sub(r"Dumping .*|deleteHorizonMs: OptionalLong\[\d+\]|position: \d+|size: \d+|crc: \d+", "", dump)
    told["file time"] = int((log / f"{0:020}.log").stat().st_mtime)
    tools.close()
    return told


def test_old_records_look_as_they_do_in_kafka():
    with harness.KafkaBroker(PROPERTIES) as kafka, harness.PartitaBroker(PROPERTIES) as partita:
        tools = harness.Tools(kafka.bootstrap)
        for topic, configs in TOPICS.items():
            more = [word for key, value in configs.items() for word in ("--config", f"{key}={value}")]
            tools("kafka-topics", "--create", "--topic", topic, "--partitions", "1", *more).succeeded()
        tools.close()
        kafka.stop()
        partita.stop()
        for topic, files in segments(now=int(kafka.log_path.stat().st_mtime) * 1000).items():
            directory = kafka.partition_directory(topic, 0)
            for path in directory.iterdir():
                if path.name != "partition.metadata":
                    path.unlink()
            for base, (time, content) in files.items():
                path = directory / f"{base:020}.log"
                path.write_bytes(content)
                os.utime(path, (time / 1000, time / 1000))
        # Without these both brokers recover, and believe nothing about what was there before.
        for path in [kafka.data_directory / ".kafka_cleanshutdown", *kafka.data_directory.glob("*-checkpoint")]:
            path.unlink(missing_ok=True)
        shutil.rmtree(partita.data_directory)
        shutil.copytree(kafka.data_directory, partita.data_directory)
        kafka.restart()
        partita.restart()
        theirs, ours = seen(kafka), seen(partita)
        assert theirs["mixed"].count("\n") == 27 and theirs["mixed", TIMES[0]] == "mixed [0] offset 11\n"
        for what, expected in theirs.items():
            assert ours[what] == expected, what
