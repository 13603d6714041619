"""Produce and InitProducerId."""

import pathlib
import time

import records
import wire
from talk import conversation, ends, versions

GOLDEN = pathlib.Path(wire.ROOT) / "tests/golden/batches"


def partition(index, data):
    return {"Index": index, "Records": data}


def produce(talk, version, name, *partitions, topic_id=None, acks=-1, error="NONE", transactional_id=None, on="",
            timeout=5000):
    return talk.ask("Produce", version, TransactionalId=transactional_id, Acks=acks, TimeoutMs=timeout, error=error, on=on,
                    TopicData=[{"Name": name, "TopicId": topic_id or wire.NO_ID, "PartitionData": list(partitions)}])


ONE = records.batch(("k", "v"))


@conversation
def produce_at_every_version(talk):
    name, topic_id = talk.topic(partitions=2)
    for version in versions("Produce"):
        produce(talk, version, name, partition(0, ONE), partition(1, records.batch(("a", "b"), (None, None), ("", ""))),
                topic_id=topic_id)
        produce(talk, version, name, partition(0, ONE), topic_id=topic_id, acks=1)
        talk.ask("Produce", version, TransactionalId=None, Acks=-1, TimeoutMs=1000, TopicData=[])
    talk.ask("ListOffsets", 7, ReplicaId=-1, Topics=[{"Name": name, "Partitions": [
        {"PartitionIndex": index, "CurrentLeaderEpoch": -1, "Timestamp": -1} for index in range(2)]}])


@conversation
def produce_to_what_is_not_there(talk):
    name, topic_id = talk.topic()
    for version in versions("Produce"):
        if version < 13:
            produce(talk, version, talk.named("nobody"), partition(0, ONE), error="UNKNOWN_TOPIC_OR_PARTITION")
            produce(talk, version, "a b", partition(0, ONE), error=None)
        else:
            produce(talk, version, "", partition(0, ONE), topic_id=wire.random_id(), error="UNKNOWN_TOPIC_ID")
            produce(talk, version, "", partition(0, ONE), error="UNKNOWN_TOPIC_ID")
        produce(talk, version, name, partition(1, ONE), topic_id=topic_id, error="UNKNOWN_TOPIC_OR_PARTITION")
        produce(talk, version, name, partition(-1, ONE), topic_id=topic_id, error="UNKNOWN_TOPIC_OR_PARTITION")
        produce(talk, version, name, partition(0, ONE), partition(5, ONE), topic_id=topic_id,
                error="UNKNOWN_TOPIC_OR_PARTITION")


@conversation
def produce_with_strange_acks(talk):
    name, topic_id = talk.topic()
    for version in ends("Produce"):
        for acks in (2, -2, 32767):
            produce(talk, version, name, partition(0, ONE), topic_id=topic_id, acks=acks, error="INVALID_REQUIRED_ACKS")
        produce(talk, version, name, partition(0, ONE), partition(9, ONE), topic_id=topic_id, acks=2, error=None)


@conversation
def produce_without_acknowledgement(talk):
    name, topic_id = talk.topic()
    for version in (3, 9, 13):
        pending = talk.send("Produce", version, TransactionalId=None, Acks=0, TimeoutMs=1000, TopicData=[
            {"Name": name, "TopicId": topic_id, "PartitionData": [partition(0, ONE)]}])
        pending.connection.waiting.remove(pending)  # Nothing will answer it.
        talk.ask("Metadata", 12, Topics=[])
        pending = talk.send("Produce", version, on="refused", TransactionalId=None, Acks=0, TimeoutMs=1000, TopicData=[
            {"Name": talk.named("nobody"), "TopicId": wire.random_id(), "PartitionData": [partition(0, ONE)]}])
        talk.answer(pending, error="closed")
    talk.ask("ListOffsets", 7, ReplicaId=-1, Topics=[{"Name": name, "Partitions": [
        {"PartitionIndex": 0, "CurrentLeaderEpoch": -1, "Timestamp": -1}]}])


@conversation
def produce_batches_that_lie(talk):
    name, topic_id = talk.topic()
    batch = records.batch
    two = (("a", "1"), ("b", "2"))
    bad = [
        ("a wrong checksum", batch(*two, crc=1)),
        ("magic 1", batch(*two, magic=1)),
        ("magic 0", batch(*two, magic=0)),
        ("magic 3", batch(*two, magic=3)),
        ("a count that is too large", batch(*two, count=3, last_offset_delta=2)),
        ("a count that is too small", batch(*two, count=1, last_offset_delta=0)),
        ("a last offset that does not fit the count", batch(*two, last_offset_delta=5)),
        ("no records", batch()),
        ("a negative count", batch(*two, count=-1)),
        ("two batches", batch(*two) + batch(*two)),
        ("no batch", b""),
        ("null", None),
        ("20 bytes of nothing", bytes(20)),
        ("a cut batch", batch(*two)[:-3]),
        ("a length beyond the end", batch(*two, length=5000)),
        ("a length below the header", batch(*two, length=10)),
        ("a control batch", batch(*two, attributes=0x20)),
        ("a base offset of 5", batch(*two, base_offset=5)),
        ("a leader epoch of 7", batch(*two, leader_epoch=7)),
        ("LogAppendTime", batch(*two, attributes=0x08)),
        ("an unknown codec", batch(*two, attributes=0x05)),
        ("gzip that is none", batch(*two, attributes=0x01)),
        ("a producer id without sequence", batch(*two, producer_id=5, producer_epoch=0)),
        ("a producer id without epoch", batch(*two, producer_id=5, sequence=0)),
        ("a transactional batch", batch(*two, attributes=0x10)),
        ("a largest timestamp that is too small", batch(("a", "1", 7), max_timestamp=3)),
        ("an unused attribute bit", batch(*two, attributes=0x80)),
        ("bytes after the last record", batch(*two) + b"xx"),
    ]
    for version in (3, 8, 13):
        for what, data in bad:
            talk.note(what)
            produce(talk, version, name, partition(0, data), topic_id=topic_id, error=None)
    talk.ask("ListOffsets", 7, ReplicaId=-1, Topics=[{"Name": name, "Partitions": [
        {"PartitionIndex": 0, "CurrentLeaderEpoch": -1, "Timestamp": -1}]}])


@conversation
def produce_timestamps(talk):
    now = int(time.time() * 1000)
    hour, day = 3_600_000, 86_400_000
    name, topic_id = talk.topic("plain")
    for what, when in (("now", now), ("half an hour ahead", now + hour // 2), ("two hours ahead", now + 2 * hour),
                       ("-1", -1), ("-2", -2), ("0", 0)):
        talk.note(what)
        talk.steps[-1]["note"] = what
        produce(talk, 9, name, partition(0, records.batch(("k", "v"), timestamp=when)), error=None)
    narrow, _ = talk.topic("narrow", message_timestamp_before_max_ms=day)
    for what, when in (("now", now), ("two days ago", now - 2 * day)):
        talk.note(what)
        produce(talk, 9, narrow, partition(0, records.batch(("k", "v"), timestamp=when)), error=None)
    append, append_id = talk.topic("append", message_timestamp_type="LogAppendTime")
    for version in versions("Produce"):
        produce(talk, version, append, partition(0, records.batch(("k", "v"), ("l", "w", 5))), topic_id=append_id)


@conversation
def produce_too_much(talk):
    name, topic_id = talk.topic("small", max_message_bytes=200)
    big = records.batch(("k", "x" * 200))
    for version in (3, 7, 8, 9, 13):
        produce(talk, version, name, partition(0, big), topic_id=topic_id, error="MESSAGE_TOO_LARGE")
    exact = records.batch(("k", "x" * 100))
    other, _ = talk.topic("exact", max_message_bytes=len(exact))
    produce(talk, 9, other, partition(0, exact))
    below, _ = talk.topic("below", max_message_bytes=len(exact) - 1)
    produce(talk, 9, below, partition(0, exact), error="MESSAGE_TOO_LARGE")


@conversation
def produce_to_a_compacted_topic(talk):
    name, topic_id = talk.topic(cleanup_policy="compact")
    for version in (3, 7, 8, 9, 13):
        produce(talk, version, name, partition(0, records.batch(("k", "v"), (None, "no key"), (None, "none either"))),
                topic_id=topic_id, error="INVALID_RECORD")
    produce(talk, 9, name, partition(0, records.batch(("k", None), ("", "v"))))


@conversation
def produce_to_internal_topics(talk):
    for version in (3, 9):
        produce(talk, version, "__consumer_offsets", partition(0, ONE), error="INVALID_TOPIC_EXCEPTION")


@conversation
def produce_every_codec(talk):
    name, topic_id = talk.topic()
    for version in (3, 7, 13):
        for path in ("java_none", "java_gzip", "java_snappy", "java_lz4", "java_zstd", "kcat_gzip", "kcat_snappy",
                     "kcat_lz4", "kcat_zstd"):
            data = bytes.fromhex("".join((GOLDEN / f"{path}.hex").read_text().split()))
            talk.note(path)
            produce(talk, version, name, partition(0, data), topic_id=topic_id, error=None)
    produce(talk, 9, name, partition(0, records.batch(("k", "v"), codec="gzip")))


@conversation
def produce_headers(talk):
    name, _ = talk.topic()
    produce(talk, 9, name, partition(0, records.batch(("k", "v", 0, [("h", "x"), ("h", None), ("", "")]), (None, None))))
    talk.ask("Fetch", 11, ReplicaId=-1, MaxWaitMs=100, MinBytes=1, MaxBytes=1000000, Topics=[
        {"Topic": name, "Partitions": [{"Partition": 0, "FetchOffset": 0, "PartitionMaxBytes": 1000000}]}])


@conversation
def produce_names_a_partition_twice(talk):
    name, topic_id = talk.topic()
    for version in ends("Produce"):
        produce(talk, version, name, partition(0, ONE), partition(0, ONE), topic_id=topic_id, error=None)


def idempotent(talk, name, producer_id, epoch, sequence, count=1, error="NONE", version=9, topic_id=None, value="v"):
    data = records.batch(*(("k", value) for _ in range(count)), producer_id=producer_id, producer_epoch=epoch,
                         sequence=sequence)
    return produce(talk, version, name, partition(0, data), topic_id=topic_id, error=error)


@conversation
def init_producer_id_at_every_version(talk):
    for version in versions("InitProducerId"):
        ask = lambda error, **fields: talk.ask("InitProducerId", version, error=error, **fields)
        ask("NONE", TransactionalId=None, TransactionTimeoutMs=60000)
        ask("NONE", TransactionalId=None, TransactionTimeoutMs=2147483647)
        ask("INVALID_REQUEST", TransactionalId="", TransactionTimeoutMs=60000)
        if version >= 3:
            ask("INVALID_REQUEST", TransactionalId=None, TransactionTimeoutMs=60000, ProducerId=5_000_000)
            ask("INVALID_REQUEST", TransactionalId=None, TransactionTimeoutMs=60000, ProducerEpoch=5)
            ask(None, TransactionalId=None, TransactionTimeoutMs=60000, ProducerId=5_000_000, ProducerEpoch=5)


@conversation
def idempotent_sequences(talk):
    name, topic_id = talk.topic()
    producer = talk.ask("InitProducerId", 4, TransactionalId=None, TransactionTimeoutMs=60000)["ProducerId"]
    step = lambda epoch, sequence, count=1, error="NONE", **more: idempotent(talk, name, producer, epoch, sequence, count,
                                                                            error, **more)
    step(0, 0, 3)
    step(0, 3)
    step(0, 0, 3)  # A repetition is answered with the offset of the first time.
    step(0, 3)
    step(0, 5, error="OUT_OF_ORDER_SEQUENCE_NUMBER")
    step(0, 2, error=None)
    step(0, 0, 2, error=None)
    for sequence in range(4, 10):
        step(0, sequence)
    step(0, 0, 3, error=None)  # Beyond the five batches that are remembered.
    step(0, 5)
    step(1, 4, error="OUT_OF_ORDER_SEQUENCE_NUMBER")
    step(1, 0)
    step(0, 10, error="INVALID_PRODUCER_EPOCH")
    step(1, 1, version=13, topic_id=topic_id)
    step(0, 11, version=13, topic_id=topic_id, error="INVALID_PRODUCER_EPOCH")
    step(1, 9, version=3, error="OUT_OF_ORDER_SEQUENCE_NUMBER")


@conversation
def a_producer_that_nobody_knows_may_start_anywhere(talk):
    name, _ = talk.topic()
    idempotent(talk, name, 4_000_000, 3, 77)
    idempotent(talk, name, 4_000_000, 3, 78)
    idempotent(talk, name, 4_000_000, 3, 80, error="OUT_OF_ORDER_SEQUENCE_NUMBER")
    idempotent(talk, name, 4_000_001, 0, 2147483647)
    idempotent(talk, name, 4_000_001, 0, 0)
    idempotent(talk, name, 4_000_002, 0, 2147483646, 3)
    idempotent(talk, name, 4_000_002, 0, 1)
