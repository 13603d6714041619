"""Broker configs that are changed while the broker runs, by what they do to requests: DescribeConfigs is in configs.py.

Every conversation changes what all share, so each is alone, on a broker that looks at its logs often.
"""

import time

import records
from talk import conversation
from scripts.configs import BROKER, DELETE, SET, change, describe
from scripts.transactions import commit_offsets, describe as describe_transactions, init, serve_transactions, write

QUICK = {"log.retention.check.interval.ms": 200, "log.initial.task.delay.ms": 200, "log.cleaner.backoff.ms": 200}


def alone(script):
    return conversation(script, alone=True, properties=QUICK)


def alter(talk, *entries, broker=""):
    """entries: (key, value), None to go back to what was given at the start. Of all brokers, or of one."""
    change(talk, 1, BROKER, broker, *((key, DELETE if value is None else SET, value) for key, value in entries))


def produce(talk, name, *entries, wanted="NONE", **fields):
    """Until the answer is what a config that takes effect soon leads to."""
    data = records.batch(*entries, **fields)
    answer = talk.ask_until("Produce", 9, wanted, TransactionalId=None, Acks=-1, TimeoutMs=5000, TopicData=[
        {"Name": name, "PartitionData": [{"Index": 0, "Records": data}]}])
    # How often it had to be asked, and what is deleted by now, is not the subject.
    first_partition(answer).update(BaseOffset=-1, LogStartOffset=-1)
    return answer


def earliest(talk, name, wanted):
    return talk.quietly("ListOffsets", 7, wanted, seconds=20, ReplicaId=-1, Topics=[{"Name": name, "Partitions": [
        {"PartitionIndex": 0, "CurrentLeaderEpoch": -1, "Timestamp": -2}]}])


def first_offset(answer):
    return answer["Topics"][0]["Partitions"][0]["Offset"]


def gone(talk, name, least):
    """Notes whether the records below an offset go away."""
    there = first_offset(earliest(talk, name, lambda answer: first_offset(answer) >= least))
    talk.note(f"what is older than offset {least} is " + ("deleted" if there >= least else "kept"))


@alone
def message_max_bytes_changes(talk):
    name, _ = talk.topic()
    own, _ = talk.topic("own", max_message_bytes=1000)
    large = ("k", "x" * 300)
    for broker in ("", "1"):
        alter(talk, ("message.max.bytes", "200"), broker=broker)
        produce(talk, name, large, wanted="MESSAGE_TOO_LARGE")
        produce(talk, own, large)
        alter(talk, ("message.max.bytes", None), broker=broker)
        produce(talk, name, large)


@alone
def kinds_of_timestamps_change(talk):
    name, _ = talk.topic()
    alter(talk, ("log.message.timestamp.type", "LogAppendTime"))
    produce(talk, name, ("k", "v"), wanted=lambda answer: first_partition(answer)["LogAppendTimeMs"] > 0)
    alter(talk, ("log.message.timestamp.type", None), ("log.message.timestamp.before.max.ms", "3600000"))
    produce(talk, name, ("k", "v"), wanted="INVALID_TIMESTAMP")
    alter(talk, ("log.message.timestamp.before.max.ms", None))
    produce(talk, name, ("k", "v"))
    alter(talk, ("log.message.timestamp.after.max.ms", "9223372036854775807"))
    produce(talk, name, ("k", "v"), timestamp=32_503_680_000_000)  # The year 3000.
    alter(talk, ("log.message.timestamp.after.max.ms", None))
    produce(talk, name, ("k", "v"), timestamp=32_503_680_000_000, wanted="INVALID_TIMESTAMP")


def first_partition(answer):
    return answer["Responses"][0]["PartitionResponses"][0]


@alone
def compression_changes(talk):
    name, _ = talk.topic()
    codecs = {"gzip": 1, "snappy": 2, "lz4": 3, "zstd": 4, "uncompressed": 0}
    for codec, attributes in codecs.items():
        alter(talk, ("compression.type", codec))
        talk.note(codec if stored_as(talk, name, attributes) else "the batch is stored otherwise")
    alter(talk, ("compression.type", None))


def stored_as(talk, name, attributes):
    """Produces until a batch is stored with these attributes."""
    def holds(answer):
        offset = first_partition(answer)["BaseOffset"]
        fetched = talk.ask("Fetch", 11, ReplicaId=-1, MaxWaitMs=0, MinBytes=0, MaxBytes=100000, SessionEpoch=-1, Topics=[
            {"Topic": name, "Partitions": [{"Partition": 0, "FetchOffset": offset, "PartitionMaxBytes": 100000}]}])
        del talk.steps[-1]
        found = records.describe(fetched["Responses"][0]["Partitions"][0]["Records"])
        return found[0]["Attributes"] == attributes
    answer = produce_quietly(talk, name, holds)
    return holds(answer)


def produce_quietly(talk, name, holds):
    return talk.quietly("Produce", 9, holds, TransactionalId=None, Acks=-1, TimeoutMs=5000, TopicData=[
        {"Name": name, "PartitionData": [{"Index": 0, "Records": records.batch(("k", "v" * 100))}]}])


@alone
def retention_by_time_changes(talk):
    name, _ = talk.topic()
    own, _ = talk.topic("own", retention_ms=-1)
    produce(talk, name, ("k", "v"))
    produce(talk, own, ("k", "v"))
    alter(talk, ("log.retention.ms", "1000"))
    gone(talk, name, 1)
    alter(talk, ("log.retention.ms", None))
    talk.note(f"the topic with a retention of its own begins at {first_offset(earliest(talk, own, 'NONE'))}")


@alone
def segments_and_retention_by_size_change(talk):
    name, _ = talk.topic()
    alter(talk, ("log.segment.bytes", "1048576"), ("log.retention.bytes", "1"))
    time.sleep(1)
    for _ in range(3):
        produce(talk, name, ("k", "x" * 700_000))
    gone(talk, name, 2)
    alter(talk, ("log.segment.bytes", None), ("log.retention.bytes", None))
    rolled, _ = talk.topic("rolled")
    alter(talk, ("log.roll.ms", "1"), ("log.retention.bytes", "1"))
    time.sleep(1)  # Until the log has it, which nothing shows.
    for moment in (1000, 2000, 3000):
        produce(talk, rolled, ("k", "v"), timestamp=moment)
    gone(talk, rolled, 2)
    alter(talk, ("log.roll.ms", None), ("log.retention.bytes", None))


@alone
def cleanup_changes(talk):
    name, _ = talk.topic()
    alter(talk, ("log.cleanup.policy", "compact"), ("log.roll.ms", "1"), ("log.cleaner.min.cleanable.ratio", "0"),
          ("log.cleaner.backoff.ms", "100"))
    other, _ = talk.topic("other")
    produce(talk, other, (None, "v"), wanted="INVALID_RECORD")
    for moment in (1000, 2000, 3000):
        produce(talk, name, ("k", f"v{moment}"), timestamp=moment)

    def cleaned(answer):
        found = records.describe(answer["Responses"][0]["Partitions"][0]["Records"])
        return not any(entry[3] == "v1000" for batch in found for entry in batch.get("Records", ()))
    answer = talk.quietly("Fetch", 11, cleaned, seconds=30, ReplicaId=-1, MaxWaitMs=0, MinBytes=0, MaxBytes=100000,
                          SessionEpoch=-1, Topics=[{"Topic": name, "Partitions": [
                              {"Partition": 0, "FetchOffset": 0, "PartitionMaxBytes": 100000}]}])
    talk.note("the older value is " + ("cleaned away" if cleaned(answer) else "kept"))
    alter(talk, ("log.cleanup.policy", None), ("log.roll.ms", None), ("log.cleaner.min.cleanable.ratio", None),
          ("log.cleaner.backoff.ms", None))
    produce(talk, other, (None, "v"))


@alone
def transaction_partition_verification_enable_changes(talk):
    name, topic_id = talk.topic(partitions=2)
    serve_transactions(talk)
    key, txn, group = "transaction.partition.verification.enable", talk.named("t"), talk.named("g")
    for broker in ("", "1"):
        producer = init(talk, txn, error=None)
        alter(talk, (key, "false"), broker=broker)
        time.sleep(0.5)  # A real Kafka acts on it a moment later.
        write(talk, 9, txn, producer, name, topic_id, 0, "unverified")
        commit_offsets(talk, 4, txn, producer, group, name, (0, 1))
        describe_transactions(talk, txn)
        talk.note("clients of the second protocol are looked at all the same")
        write(talk, 13, txn, (5_000_000, 0), name, topic_id, 0, "unknown", index=1, error=None)
        alter(talk, (key, None), broker=broker)
        time.sleep(0.5)
        write(talk, 9, txn, producer, name, topic_id, 0, "verified", index=1, error="INVALID_TXN_STATE")


@alone
def what_one_node_cannot_show_is_accepted(talk):
    name, _ = talk.topic()
    for key, value in (("min.insync.replicas", "2"), ("unclean.leader.election.enable", "true"), ("num.io.threads", "4"),
                       ("num.network.threads", "2"), ("background.threads", "5"), ("num.replica.fetchers", "2"),
                       ("num.recovery.threads.per.data.dir", "1"), ("log.cleaner.threads", "2"),
                       ("log.cleaner.io.max.bytes.per.second", "1000000"), ("log.cleaner.dedupe.buffer.size", "20000000"),
                       ("log.flush.interval.messages", "1"), ("log.flush.interval.ms", "1000"),
                       ("log.index.interval.bytes", "100"), ("log.preallocate", "true"),
                       ("log.segment.delete.delay.ms", "1000"), ("producer.id.expiration.ms", "5000"),
                       ("group.consumer.assignment.interval.ms", "0"),
                       ("max.connection.creation.rate", "1000"),
                       ("compression.gzip.level", "9")):
        talk.note(key)
        change(talk, 1, BROKER, "", (key, SET, value), error=None)
        produce(talk, name, ("k", "v"))
        change(talk, 1, BROKER, "", (key, DELETE, None), error=None)
    # A real Kafka shows what was removed a moment longer.
    talk.quietly("DescribeConfigs", 4, lambda answer: len(answer["Results"][0]["Configs"]) == 1,
                 Resources=[{"ResourceType": BROKER, "ResourceName": "", "ConfigurationKeys": None}])
    describe(talk, 4, (BROKER, ""))


@alone
def connections_of_an_address_are_limited(talk):
    served = lambda on: talk.ask("Metadata", 12, on=on, Topics=[])
    refused = lambda on: talk.ask("Metadata", 12, on=on, Topics=[], error="closed")
    limits_follow = lambda *entries: (alter(talk, *entries, broker="1"), time.sleep(1))
    limits_follow(("max.connections.per.ip", "6"))
    for number in range(5):  # With the one that altered it: six.
        served(f"c{number}")
    refused("c5")
    limits_follow(("max.connections.per.ip.overrides", "127.0.0.1:7"))
    served("c6")
    refused("c7")
    limits_follow(("max.connections.per.ip", None), ("max.connections.per.ip.overrides", None))
    served("c8")


@alone
def connections_in_all_are_limited(talk):
    metadata = lambda on: talk.ask("Metadata", 12, on=on, Topics=[])
    alter(talk, ("max.connections", "3"), broker="1")
    time.sleep(1)
    describe(talk, 4, (BROKER, "1", ["max.connections"]))
    metadata("one"), metadata("two")
    waiting = talk.send("Metadata", 12, on="three", Topics=[])
    talk.waits(waiting, 1.0)
    talk.drop("two")
    talk.answer(waiting)
    waiting = talk.send("Metadata", 12, on="four", Topics=[])
    talk.waits(waiting, 1.0)
    alter(talk, ("max.connections", None), broker="1")
    talk.answer(waiting)
    metadata("five")


@alone
def log_directories_are_cordoned(talk):
    existing, _ = talk.topic()
    where = talk.quietly("DescribeLogDirs", 4, Topics=[])["Results"][0]["LogDir"]
    change(talk, 1, BROKER, "1", ("cordoned.log.dirs", SET, "/nowhere"), error=None)
    change(talk, 1, BROKER, "1", ("cordoned.log.dirs", SET, where), error=None)
    topic = {"Name": talk.named("t"), "NumPartitions": 1, "ReplicationFactor": 1}
    cordoned = lambda wanted: talk.ask_until(
        "DescribeLogDirs", 5, lambda answer: answer["Results"][0]["IsCordoned"] == wanted, Topics=[])
    cordoned(True)
    talk.ask_until("CreateTopics", 7, lambda answer: answer["Topics"][0]["ErrorCode"], Topics=[topic], TimeoutMs=5000,
                   ValidateOnly=True)
    talk.ask("CreatePartitions", 3, Topics=[{"Name": existing, "Count": 2, "Assignments": None}], TimeoutMs=5000,
             ValidateOnly=True, error=None)
    without_configs(talk.ask("CreateTopics", 7, TimeoutMs=5000, ValidateOnly=True, error=None, Topics=[
        {"Name": talk.named("t"), "NumPartitions": -1, "ReplicationFactor": -1,
         "Assignments": [{"PartitionIndex": 0, "BrokerIds": [1]}]}]))
    change(talk, 1, BROKER, "1", ("cordoned.log.dirs", DELETE, None), error=None)
    cordoned(False)
    without_configs(talk.ask_until("CreateTopics", 7, Topics=[topic], TimeoutMs=5000, ValidateOnly=True))


def without_configs(answer):
    """Those of the broker, which are not the subject, depend on what other conversations left."""
    answer["Topics"][0]["Configs"] = []
