"""Metadata, DescribeCluster and DescribeTopicPartitions."""

import wire
from talk import conversation, ends, versions

OPERATIONS = {"IncludeClusterAuthorizedOperations": True, "IncludeTopicAuthorizedOperations": True}


@conversation
def metadata_of_a_topic_at_every_version(talk):
    name, _ = talk.topic(partitions=3)
    for version in versions("Metadata"):
        talk.ask("Metadata", version, Topics=[{"Name": name}], AllowAutoTopicCreation=False)
    for version in ends("Metadata"):
        talk.ask("Metadata", version, Topics=[{"Name": name}], AllowAutoTopicCreation=False, **OPERATIONS)
    for version in (8, 10):
        talk.ask("Metadata", version, Topics=[{"Name": name}], AllowAutoTopicCreation=False, **OPERATIONS)


@conversation
def metadata_of_no_topic(talk):
    for version in range(1, wire.newest("Metadata") + 1):
        talk.ask("Metadata", version, Topics=[])


@conversation(alone=True)
def metadata_of_all_topics(talk):
    talk.topic("b"), talk.topic("a")
    for version in versions("Metadata"):
        talk.ask("Metadata", version, Topics=None if version else [])


@conversation
def metadata_of_unknown_topics(talk):
    for version in versions("Metadata"):
        if version < 4:
            continue  # These always create the topic.
        talk.ask("Metadata", version, Topics=[{"Name": talk.named("nobody")}], AllowAutoTopicCreation=False,
                 error="UNKNOWN_TOPIC_OR_PARTITION")
    name, _ = talk.topic()
    talk.ask("Metadata", 12, Topics=[{"Name": name}, {"Name": talk.named("nobody")}], AllowAutoTopicCreation=False,
             error="UNKNOWN_TOPIC_OR_PARTITION")
    talk.ask("Metadata", 12, Topics=[{"Name": name}, {"Name": name}], AllowAutoTopicCreation=False)


@conversation
def metadata_of_names_that_cannot_be(talk):
    for version in (4, 9, 13):
        for name in ("", ".", "..", "a b", "a/b", "ü", "x" * 250):
            talk.ask("Metadata", version, Topics=[{"Name": name}], AllowAutoTopicCreation=False, error=None)
            talk.ask("Metadata", version, Topics=[{"Name": name}], AllowAutoTopicCreation=True, error=None)


@conversation
def metadata_by_topic_id(talk):
    name, topic_id = talk.topic(partitions=2)
    for version in (12, 13):
        talk.ask("Metadata", version, Topics=[{"TopicId": topic_id, "Name": None}])
        talk.ask("Metadata", version, Topics=[{"TopicId": wire.random_id(), "Name": None}], error="UNKNOWN_TOPIC_ID")
        talk.ask("Metadata", version, Topics=[{"TopicId": topic_id, "Name": name}], error=None)
        talk.ask("Metadata", version, Topics=[{"TopicId": wire.NO_ID, "Name": None}], error=None)
        talk.ask("Metadata", version, Topics=[{"TopicId": topic_id, "Name": None}, {"TopicId": wire.NO_ID, "Name": name}],
                 error=None)
    for version in (10, 11):
        talk.ask("Metadata", version, Topics=[{"TopicId": topic_id, "Name": name}], error=None)
        talk.ask("Metadata", version, Topics=[{"TopicId": topic_id, "Name": None}], error=None)


@conversation
def metadata_creates_topics(talk):
    for version in versions("Metadata"):
        name = talk.named(f"auto-{version}")
        talk.ask("Metadata", version, Topics=[{"Name": name}], AllowAutoTopicCreation=True, error=None)
        talk.ask_until("Metadata", version, Topics=[{"Name": name}], AllowAutoTopicCreation=True)


@conversation
def metadata_creates_no_topic_beside_one_whose_name_collides(talk):
    dotted, _ = talk.topic("a.b")
    wanted = talk.named("a_b")
    for version in (1, 4, 9, 12, 13):
        for _ in range(2):
            talk.ask("Metadata", version, Topics=[{"Name": wanted}], AllowAutoTopicCreation=True,
                     error="UNKNOWN_TOPIC_OR_PARTITION")
        talk.ask("Metadata", version, Topics=[{"Name": dotted}, {"Name": wanted}], AllowAutoTopicCreation=True,
                 error="UNKNOWN_TOPIC_OR_PARTITION")


@conversation(properties={"auto.create.topics.enable": "false", "num.partitions": 3})
def metadata_creates_no_topics_when_that_is_off(talk):
    for version in ends("Metadata"):
        talk.ask("Metadata", version, Topics=[{"Name": talk.named("auto")}], AllowAutoTopicCreation=True,
                 error="UNKNOWN_TOPIC_OR_PARTITION")
    talk.ask("Metadata", 12, Topics=[{"Name": ""}], AllowAutoTopicCreation=True, error=None)


@conversation
def internal_topics_are_marked(talk):
    for version in (1, 9, 13):
        talk.ask("Metadata", version, Topics=[{"Name": "__consumer_offsets"}], AllowAutoTopicCreation=True)


@conversation
def describe_cluster_of_every_version(talk):
    for version in versions("DescribeCluster"):
        talk.ask("DescribeCluster", version)
        talk.ask("DescribeCluster", version, IncludeClusterAuthorizedOperations=True)
    talk.ask("DescribeCluster", 1, EndpointType=2, error=None)
    talk.ask("DescribeCluster", 1, EndpointType=3, error=None)
    talk.ask("DescribeCluster", 2, EndpointType=0, error=None)
    talk.ask("DescribeCluster", 2, IncludeFencedBrokers=True)


def names(*topics):
    return [{"Name": topic} for topic in topics]


@conversation
def describe_topic_partitions(talk):
    first, _ = talk.topic("a", partitions=3)
    second, _ = talk.topic("b", partitions=2)
    talk.ask("DescribeTopicPartitions", 0, Topics=names(first))
    talk.ask("DescribeTopicPartitions", 0, Topics=names(second, first))
    talk.ask("DescribeTopicPartitions", 0, Topics=names(first, first))
    nobody = talk.named("0-nobody")
    talk.ask("DescribeTopicPartitions", 0, Topics=names(second, nobody), error="UNKNOWN_TOPIC_OR_PARTITION")
    talk.ask("DescribeTopicPartitions", 0, Topics=names(""), error=None)
    talk.ask("DescribeTopicPartitions", 0, Topics=names("a b"), error=None)
    talk.ask("DescribeTopicPartitions", 0, Topics=names("__consumer_offsets"), ResponsePartitionLimit=1)


@conversation
def describe_topic_partitions_page_by_page(talk):
    first, _ = talk.topic("a", partitions=3)
    second, _ = talk.topic("b", partitions=2)
    both = names(first, second)
    for limit in (1, 2, 3, 4, 5, 6, 2000, 2001, 0, -1):
        talk.ask("DescribeTopicPartitions", 0, Topics=both, ResponsePartitionLimit=limit, error=None)
    for topic in (first, second):
        for partition in (0, 1, 2, 3, 7):
            talk.ask("DescribeTopicPartitions", 0, Topics=both, ResponsePartitionLimit=2, error=None,
                     Cursor={"TopicName": topic, "PartitionIndex": partition})
    talk.ask("DescribeTopicPartitions", 0, Topics=both, Cursor={"TopicName": first, "PartitionIndex": -1}, error=None)
    talk.ask("DescribeTopicPartitions", 0, Topics=both, error=None,
             Cursor={"TopicName": talk.named("aa-not-listed"), "PartitionIndex": 0})
    talk.ask("DescribeTopicPartitions", 0, Topics=names(talk.named("0-nobody"), first, second),
             ResponsePartitionLimit=2, error=None)
    talk.ask("DescribeTopicPartitions", 0, Topics=names(talk.named("0-nobody"), first, second),
             ResponsePartitionLimit=2, Cursor={"TopicName": first, "PartitionIndex": 1}, error=None)


@conversation(alone=True)
def describe_topic_partitions_of_all_topics(talk):
    talk.topic("a", partitions=2)
    answer = talk.ask("DescribeTopicPartitions", 0, Topics=[], ResponsePartitionLimit=3)
    while answer.get("NextCursor"):
        answer = talk.ask("DescribeTopicPartitions", 0, Topics=[], ResponsePartitionLimit=3,
                          Cursor=answer["NextCursor"])
