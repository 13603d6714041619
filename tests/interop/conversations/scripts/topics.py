"""CreateTopics, DeleteTopics, CreatePartitions, DeleteRecords."""

import records
import wire
from talk import conversation, ends, versions


def creatable(name, partitions=1, replicas=1, configs=(), assignments=()):
    return {"Name": name, "NumPartitions": partitions, "ReplicationFactor": replicas,
            "Configs": [{"Name": key, "Value": value} for key, value in configs],
            "Assignments": [{"PartitionIndex": index, "BrokerIds": brokers} for index, brokers in assignments]}


def create(talk, version, *topics, error="NONE", validate=False):
    return talk.ask("CreateTopics", version, Topics=list(topics), TimeoutMs=30000, ValidateOnly=validate, error=error)


@conversation
def create_topics_at_every_version(talk):
    for version in versions("CreateTopics"):
        create(talk, version, creatable(talk.named(f"one-{version}"), 2, 1, [("retention.ms", "60000")]))
        create(talk, version, creatable(talk.named(f"two-{version}"), -1, -1, assignments=[(0, [1]), (1, [1])]))
        create(talk, version, creatable(talk.named(f"one-{version}")), error="TOPIC_ALREADY_EXISTS")
        create(talk, version, creatable(talk.named(f"three-{version}"), 4), validate=True)
        create(talk, version)


@conversation
def create_topics_with_defaults(talk):
    for version in (4, 5, 7):
        create(talk, version, creatable(talk.named(f"defaults-{version}"), -1, -1))
    for version in (2, 3):
        create(talk, version, creatable(talk.named(f"defaults-{version}"), -1, -1), error=None)


@conversation
def create_topics_with_bad_names(talk):
    for version in ends("CreateTopics"):
        for name in ("", ".", "..", "a b", "a/b", "ü", "x" * 250, "a\nb"):
            create(talk, version, creatable(name), error="INVALID_TOPIC_EXCEPTION")
        create(talk, version, creatable("__cluster_metadata"), error="INVALID_REQUEST")
    create(talk, 7, creatable("topics" + "x" * 243))
    create(talk, 7, creatable(talk.named("a.b")))
    create(talk, 7, creatable(talk.named("a_b")), error="INVALID_TOPIC_EXCEPTION")
    create(talk, 7, creatable(talk.named("a.b")), error="TOPIC_ALREADY_EXISTS")
    create(talk, 7, creatable("__consumer_offsets"), error="TOPIC_ALREADY_EXISTS")
    create(talk, 7, creatable(talk.named("c.d")), creatable(talk.named("c_d")), error=None)


@conversation
def create_topics_with_bad_counts(talk):
    for version in ends("CreateTopics"):
        for partitions in (0, -2, -2147483648):
            create(talk, version, creatable(talk.named("bad"), partitions), error="INVALID_PARTITIONS")
        for replicas in (0, -2, 2, 32767):
            create(talk, version, creatable(talk.named("bad"), 1, replicas), error="INVALID_REPLICATION_FACTOR")
        create(talk, version, creatable(talk.named("bad"), 0, 0), error=None)
        create(talk, version, creatable("a b", 0, 0), error=None)


@conversation
def create_topics_with_bad_assignments(talk):
    bad = talk.named("bad")
    for version in ends("CreateTopics"):
        for assignments in ([(0, [2])], [(0, [])], [(0, [1, 1])], [(1, [1])], [(0, [1]), (2, [1])], [(0, [1]), (0, [1])],
                            [(0, [1]), (1, [1, 2])], [(-1, [1])], [(0, [-1])], [(0, [1]), (1, [])]):
            create(talk, version, creatable(bad, -1, -1, assignments=assignments), error=None)
        create(talk, version, creatable(bad, 1, -1, assignments=[(0, [1])]), error="INVALID_REQUEST")
        create(talk, version, creatable(bad, -1, 1, assignments=[(0, [1])]), error="INVALID_REQUEST")
        create(talk, version, creatable(bad, 1, 1, assignments=[(0, [1])]), error="INVALID_REQUEST")


@conversation
def create_topics_with_bad_configs(talk):
    bad = talk.named("bad")
    for version in ends("CreateTopics"):
        for key, value in (("nonsense", "1"), ("retention.ms", "x"), ("retention.ms", "-2"), ("cleanup.policy", "compost"),
                           ("segment.bytes", "13"), ("compression.type", "rar"), ("max.message.bytes", "-1"),
                           ("min.insync.replicas", "0"), ("retention.ms", None), ("", ""), ("retention.ms", ""),
                           ("message.format.version", "3.0"), ("min.cleanable.dirty.ratio", "1.5"),
                           ("preallocate", "maybe"), ("segment.ms", "99999999999999999999"),
                           ("compression.gzip.level", "0"), ("message.timestamp.type", "now"),
                           ("remote.storage.enable", "true"), ("leader.replication.throttled.replicas", "x"),
                           ("local.retention.ms", "-3")):
            create(talk, version, creatable(bad, configs=[(key, value)]), error=None, validate=True)
    create(talk, 7, creatable(bad, configs=[("retention.ms", "1"), ("retention.ms", "2")]), error=None, validate=True)
    create(talk, 7, creatable(bad, configs=[("min.compaction.lag.ms", "9"), ("max.compaction.lag.ms", "8")]), error=None,
           validate=True)
    create(talk, 7, creatable(bad, configs=[("retention.ms", "x"), ("segment.ms", "y")]), error=None, validate=True)


@conversation
def create_topics_where_some_fail(talk):
    good, bad = talk.named("good"), talk.named("bad")
    for version in ends("CreateTopics"):
        create(talk, version, creatable(f"{good}-{version}"), creatable(bad, 0), creatable("a b"), error=None)
        create(talk, version, creatable(bad), creatable(bad), error="INVALID_REQUEST")
        create(talk, version, creatable(bad), creatable(f"{good}-{version}-other"), creatable(bad), error=None)


@conversation
def create_topics_gives_all_configs(talk):
    create(talk, 7, creatable(talk.named("with"), configs=[("cleanup.policy", "compact,delete"), ("segment.ms", "70000"),
                                                          ("retention.bytes", "1000")]))
    create(talk, 5, creatable(talk.named("validated")), validate=True)


@conversation
def delete_topics_at_every_version(talk):
    for version in versions("DeleteTopics"):
        name, _ = talk.topic(f"t{version}")
        nobody = talk.named("nobody")
        fields = {"TimeoutMs": 30000}
        for topics, error in (([name, nobody], "UNKNOWN_TOPIC_OR_PARTITION"), ([], "NONE"), ([""], None),
                              ([nobody, nobody], None), (["a b"], None)):
            talk.ask("DeleteTopics", version, TopicNames=topics, Topics=[{"Name": topic} for topic in topics],
                     error=error, **fields)
        talk.ask_until("Metadata", 12, "UNKNOWN_TOPIC_OR_PARTITION", Topics=[{"Name": name}],
                       AllowAutoTopicCreation=False)


@conversation
def delete_topics_by_id(talk):
    name, topic_id = talk.topic()
    other, other_id = talk.topic("other")
    ask = lambda *topics, error: talk.ask("DeleteTopics", 6, Topics=list(topics), TimeoutMs=30000, error=error)
    ask({"TopicId": wire.random_id(), "Name": None}, error="UNKNOWN_TOPIC_ID")
    ask({"TopicId": topic_id, "Name": name}, error="INVALID_REQUEST")
    ask({"TopicId": wire.NO_ID, "Name": None}, error="INVALID_REQUEST")
    ask({"TopicId": topic_id, "Name": None}, {"TopicId": topic_id, "Name": None}, error="INVALID_REQUEST")
    ask({"TopicId": topic_id, "Name": None}, {"TopicId": wire.NO_ID, "Name": name}, error=None)
    ask({"TopicId": topic_id, "Name": None}, {"TopicId": wire.NO_ID, "Name": other}, error=None)
    talk.ask_until("Metadata", 12, "UNKNOWN_TOPIC_ID", Topics=[{"TopicId": other_id, "Name": None}])


@conversation
def a_topic_that_comes_back_has_another_id(talk):
    name, _ = talk.topic()
    talk.ask("DeleteTopics", 6, Topics=[{"Name": name}], TimeoutMs=30000)
    talk.topic()
    talk.ask("Metadata", 12, Topics=[{"Name": name}])


def grow(talk, version, *topics, error="NONE", validate=False):
    return talk.ask("CreatePartitions", version, TimeoutMs=30000, ValidateOnly=validate, error=error, Topics=[
        {"Name": name, "Count": count, "Assignments": rest[0] and [{"BrokerIds": brokers} for brokers in rest[0]]}
        if rest else {"Name": name, "Count": count, "Assignments": None} for name, count, *rest in topics])


@conversation
def create_partitions_at_every_version(talk):
    for version in versions("CreatePartitions"):
        name, _ = talk.topic(f"t{version}", partitions=2)
        grow(talk, version, (name, 3))
        grow(talk, version, (name, 5, [[1], [1]]))
        grow(talk, version, (name, 9), validate=True)
        talk.served_now(name, range(5))
        talk.ask("Metadata", 12, Topics=[{"Name": name}])


@conversation
def create_partitions_that_cannot_be(talk):
    for version in ends("CreatePartitions"):
        name, _ = talk.topic(f"t{version}", partitions=3)
        for count in (3, 2, 0, -1):
            grow(talk, version, (name, count), error="INVALID_PARTITIONS")
        grow(talk, version, (talk.named("nobody"), 3), error="UNKNOWN_TOPIC_OR_PARTITION")
        grow(talk, version, ("", 3), error=None)
        grow(talk, version, (name, 4), (name, 5), error="INVALID_REQUEST")
        grow(talk, version, (name, 4), (talk.named("nobody"), 4), error="UNKNOWN_TOPIC_OR_PARTITION", validate=True)
        for assignments in ([], [[1], [1]], [[2]], [[]], [[1, 1]], [[-1]], [[1, 2]]):
            grow(talk, version, (name, 4, assignments), error=None, validate=True)
        grow(talk, version, (name, 2147483647), error=None, validate=True)
        grow(talk, version, (name, 10001), error=None, validate=True)
        grow(talk, version, (name, 4, [[1], [1]]), (talk.named("nobody"), 1), error=None)
        grow(talk, version)


@conversation
def create_partitions_of_internal_topics(talk):
    grow(talk, 3, ("__consumer_offsets", 2), error=None, validate=True)
    grow(talk, 3, ("__consumer_offsets", 6), error=None, validate=True)


def trim(talk, version, *partitions, error="NONE", **fields):
    topics = {}
    for name, index, offset in partitions:
        topics.setdefault(name, []).append({"PartitionIndex": index, "Offset": offset})
    return talk.ask("DeleteRecords", version, TimeoutMs=5000, error=error, Topics=[
        {"Name": name, "Partitions": entries} for name, entries in topics.items()], **fields)


def fill(talk, name, count=10, partition=0, **fields):
    data = records.batch(*((f"k{index}", f"v{index}", index) for index in range(count)), **fields)
    talk.ask("Produce", 9, TransactionalId=None, Acks=-1, TimeoutMs=5000, TopicData=[
        {"Name": name, "PartitionData": [{"Index": partition, "Records": data}]}])


@conversation
def delete_records_at_every_version(talk):
    name, _ = talk.topic(partitions=2)
    fill(talk, name)
    for version in versions("DeleteRecords"):
        trim(talk, version, (name, 0, version + 1), (name, 1, 0))
        trim(talk, version, (name, 0, 0))
        trim(talk, version, (name, 0, 11), error="OFFSET_OUT_OF_RANGE")
        trim(talk, version, (name, 0, -2), error="OFFSET_OUT_OF_RANGE")
        trim(talk, version, (name, 7, 0), (talk.named("nobody"), 0, 0), error=None)
        trim(talk, version, ("a b", 0, 0), error=None)
    trim(talk, 2, (name, 0, -1), (name, 1, -1))
    trim(talk, 2)
    compacted, _ = talk.topic("compacted", cleanup_policy="compact")
    trim(talk, 2, (compacted, 0, 0), error="POLICY_VIOLATION")
    both, _ = talk.topic("both", cleanup_policy="compact,delete")
    trim(talk, 2, (both, 0, 0))
    trim(talk, 2, ("__consumer_offsets", 0, 0), error=None)
