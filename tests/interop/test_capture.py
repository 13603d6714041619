"""Capture: topics as Avro files, read by two Avro libraries, through kills of the broker and a full directory."""

import contextlib
import json
import re
import subprocess
import time
import urllib.request

import pytest
from confluent_kafka import Producer

import clients
import harness
import insight

BROKER_PROPERTIES = {"auto.create.topics.enable": "false", "partita.capture.directory": "{directory}/captured",
                     "partita.capture.namespace": "mine", "log.retention.ms": -1}
#: Of the documentation of the managed service.
FIELDS = [{"name": "SequenceNumber", "type": "long"}, {"name": "Offset", "type": "string"},
          {"name": "EnqueuedTimeUtc", "type": "string"},
          {"name": "SystemProperties", "type": {"type": "map", "values": ["long", "double", "string", "bytes"]}},
          {"name": "Properties", "type": {"type": "map", "values": ["long", "double", "string", "bytes"]}},
          {"name": "Body", "type": ["null", "bytes"]}]

pytestmark = pytest.mark.skipif(harness.TARGET != "partita", reason="capture is Partita's own")


def files_of(broker, topic):
    """The files of a topic, as both libraries read them."""
    directory = broker.directory / "captured" / "mine" / topic
    done = subprocess.run([harness.TOOLS / "avro/bin/python", "-B", harness.HERE / "clients/python/capture_reader.py", directory],
                          capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def events_of(broker, topic, partition=0):
    return [event for file in files_of(broker, topic) if file["path"].startswith(f"{partition}/") for event in file["events"]]


def metric(broker, name):
    text = urllib.request.urlopen(f"http://{insight.address(broker)}/metrics", timeout=60).read().decode()
    return int(re.search(rf"^{name} (\d+)$", text, re.M).group(1))


def create(broker, topic, partitions=1, **configs):
    insight.create(broker, topic, partitions, **{"partita.capture.enable": "true", "partita.capture.interval.ms": "1000",
                                                 "partita.capture.skip.empty": "true", **configs})


def wait_for_events(broker, topic, count):
    harness.wait_until(lambda: len(events_of(broker, topic)) >= count, 60,
                       lambda: f"{len(events_of(broker, topic))} are captured\n{broker.log_text()}")


def test_two_libraries_read_the_documented_record(broker, unique):
    topic = unique("orders")
    create(broker, topic)
    producer = Producer({"bootstrap.servers": broker.bootstrap})
    producer.produce(topic, key=b"k\xff", value=b"v\x00", headers=[("trace", b"\x01\x02"), ("again", b"1"), ("again", b"2")],
                     timestamp=1770260649123)
    producer.produce(topic, value=None, timestamp=1770260650000)
    assert producer.flush(60) == 0
    wait_for_events(broker, topic, 2)
    [file] = files_of(broker, topic)
    assert file["schema"] == {"type": "record", "name": "EventData", "namespace": "Microsoft.ServiceBus.Messaging", "fields": FIELDS}
    assert re.fullmatch(r"0/\d{4}/\d\d/\d\d/\d\d/\d\d/\d\d\.avro", file["path"]), file["path"]
    assert file["events"] == [
        {"SequenceNumber": 0, "Offset": "0", "EnqueuedTimeUtc": "2/5/2026 3:04:09 AM", "Body": {"hex": b"v\x00".hex()},
         "SystemProperties": {"x-opt-enqueued-time": 1770260649123, "x-opt-kafka-key": {"hex": b"k\xff".hex()}},
         "Properties": {"trace": {"hex": "0102"}, "again": {"hex": b"2".hex()}}},
        {"SequenceNumber": 1, "Offset": "1", "EnqueuedTimeUtc": "2/5/2026 3:04:10 AM", "Body": None,
         "SystemProperties": {"x-opt-enqueued-time": 1770260650000}, "Properties": {}}]


@pytest.mark.parametrize("codec", ["none", "gzip", "snappy", "lz4", "zstd"])
def test_records_of_every_codec_are_captured(broker, unique, codec):
    topic = unique("orders")
    create(broker, topic)
    producer = Producer({"bootstrap.servers": broker.bootstrap, "compression.codec": codec, "linger.ms": 50})
    for number in range(1000):
        producer.produce(topic, value=f"{number}-{'x' * 200}".encode())
    assert producer.flush(60) == 0
    wait_for_events(broker, topic, 1000)
    assert [int(bytes.fromhex(event["Body"]["hex"]).split(b"-")[0]) for event in events_of(broker, topic)] == list(range(1000))


def test_aborted_transactions_are_left_out(broker, unique):
    topic = unique("orders")
    create(broker, topic)
    producer = Producer({"bootstrap.servers": broker.bootstrap, "transactional.id": unique("id")})
    producer.init_transactions()
    for number in range(6):
        producer.begin_transaction()
        producer.produce(topic, value=str(number).encode())
        producer.flush()
        producer.commit_transaction() if number % 2 else producer.abort_transaction()
    wait_for_events(broker, topic, 3)
    assert [bytes.fromhex(event["Body"]["hex"]) for event in events_of(broker, topic)] == [b"1", b"3", b"5"]


def test_kills_leave_neither_holes_nor_duplicates(broker, unique):
    topic = unique("orders")
    create(broker, topic, 2, **{"partita.capture.size.bytes": "20000"})
    agent = clients.Agent(clients.confluent, broker.bootstrap)
    agent.call("stream_start", name="s", topic=topic, interval_us=300, keys=50)

    def acked():
        return max([e["acked"] for e in agent.events.events if e.get("stream")], default=0)

    for _ in range(4):
        goal = acked() + 2500
        agent.events.wait(lambda _: acked() >= goal, 90, "acknowledgements")
        broker.kill()
        broker.restart()
    stopped = agent.call("stream_stop", seconds=90, name="s")
    agent.close()
    expected = {partition: [] for partition in (0, 1)}
    for value, partition, offset in stopped["acked"]:
        expected[partition].append((offset, value))
    last = {partition: max(offset for offset, _ in records) for partition, records in expected.items()}

    def is_captured():
        return all((events_of(broker, topic, partition) or [{"SequenceNumber": -1}])[-1]["SequenceNumber"] >= last[partition]
                   for partition in (0, 1))

    harness.wait_until(is_captured, 60, broker.log_text)
    for partition in (0, 1):
        events = events_of(broker, topic, partition)
        assert [event["SequenceNumber"] for event in events] == list(range(len(events))), "each once, in order"
        values = {event["SequenceNumber"]: int(bytes.fromhex(event["Body"]["hex"])) for event in events}
        assert all(values[offset] == value for offset, value in expected[partition])


def test_a_directory_that_cannot_be_written_is_told_and_nothing_is_lost(broker, unique):
    topic = unique("orders")
    create(broker, topic)
    producer = Producer({"bootstrap.servers": broker.bootstrap})
    # Where the partition's directories would be is a file: also for root, who may write anywhere.
    place = broker.directory / "captured" / "mine" / topic
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text("in the way")
    producer.produce(topic, value=b"1")
    assert producer.flush(60) == 0
    harness.wait_until(lambda: metric(broker, "partita_capture_failing_partitions") == 1, 30, broker.log_text)
    assert metric(broker, "partita_capture_backlog_messages") == 1
    assert "could not rename a finished file" in broker.log_text() or "cannot name a file" in broker.log_text()
    captured = metric(broker, "partita_captured_messages_total")
    place.unlink()
    wait_for_events(broker, topic, 1)
    assert metric(broker, "partita_captured_messages_total") == captured + 1
    assert [event["SequenceNumber"] for event in events_of(broker, topic)] == [0]


def test_settings_that_cannot_be_are_refused(broker, unique):
    for config, value, told in (("partita.capture.name.format", "../{Namespace}", "must not begin with a dot"),
                                ("partita.capture.name.format", "{Namespace}/{EventHub}", "{PartitionId} is missing"),
                                ("partita.capture.interval.ms", "900001", "no more than 900000"),
                                ("partita.capture.size.bytes", "10", "at least 1024")):
        with pytest.raises(Exception, match=re.escape(told)):
            create(broker, unique("orders"), **{config: value})


@contextlib.contextmanager
def small_disk(directory, size_bytes):
    """A file system of that size at a directory; a test that may not mount one is skipped."""
    directory.mkdir(parents=True)
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size_bytes},mode=755", "partita-capture", directory],
                             capture_output=True, text=True, timeout=30)
    if mounted.returncode != 0:
        pytest.skip(f"needs to mount a small file system: {mounted.stderr.strip()}")
    try:
        yield directory
    finally:
        subprocess.run(["umount", "--lazy", directory], check=True, timeout=60)


def fill(path):
    """Takes all the room that is left."""
    with open(path, "wb", buffering=0) as filler:
        with contextlib.suppress(OSError):
            for size in (65_536, 4_096, 1):
                while True:
                    filler.write(b"\0" * size)


def kill(broker):
    broker.kill()
    broker.restart()


def stop(broker):
    broker.stop()
    broker.restart()


@pytest.mark.parametrize("is_quite_full, meanwhile", [(False, None), (True, stop), (True, kill)])
def test_a_full_disk_is_told_nothing_is_lost_and_it_goes_on_when_there_is_room(unique, meanwhile, is_quite_full):
    topic, other = unique("orders"), unique("free")
    count, value = 300, b"v" * 2_000
    broker = harness.start_broker(BROKER_PROPERTIES)
    with small_disk(broker.directory / "captured", 1_000_000) as disk, broker:
        create(broker, topic)
        insight.create(broker, other, 1)
        producer = Producer({"bootstrap.servers": broker.bootstrap})

        def send(to):
            for _ in range(count):
                producer.produce(to, value=value)
            assert producer.flush(60) == 0

        send(topic)
        wait_for_events(broker, topic, count)
        first = events_of(broker, topic)
        files = {file["path"] for file in files_of(broker, topic)}
        if is_quite_full:
            fill(disk / "filler")
        # So much does not fit beside the first file.
        send(topic)
        harness.wait_until(lambda: metric(broker, "partita_capture_failures_total") >= 1, 30, broker.log_text)
        assert metric(broker, "partita_capture_failing_partitions") == 1 and metric(broker, "partita_capture_lost_messages_total") == 0
        assert metric(broker, "partita_capture_backlog_messages") == count
        told = [line for line in broker.log_text().splitlines() if "No space left on device" in line]
        assert told and topic in told[0], broker.log_text()
        assert {file["path"] for file in files_of(broker, topic)} == files, "nothing that is not whole has a name"
        # Nothing else is touched: topics are written and read, this one, too.
        send(other)
        read = clients.Agent(clients.confluent, broker.bootstrap)
        with contextlib.closing(read):
            assert len(read.call("read", topic=topic, count=2 * count, timeout_ms=20_000)["records"]) == 2 * count
        if meanwhile:
            # The directory is locked, looked through and gone on with, although nothing can be written there.
            meanwhile(broker)
            harness.wait_until(lambda: metric(broker, "partita_capture_failures_total") >= 1, 30, broker.log_text)
        if is_quite_full:
            (disk / "filler").unlink()
        # Whoever has read a file may take it away.
        for path in files:
            (disk / "mine" / topic / path).unlink()
        wait_for_events(broker, topic, count)
        harness.wait_until(lambda: metric(broker, "partita_capture_failing_partitions") == 0, 30, broker.log_text)
        assert [event["SequenceNumber"] for event in first + events_of(broker, topic)] == list(range(2 * count))
        assert metric(broker, "partita_capture_lost_messages_total") == metric(broker, "partita_capture_backlog_messages") == 0
