"""State that could outlive a topic: each API after the topic is deleted, and after another one of its name is made."""

import records
import wire
from scripts import consumer_groups, offsets, transactions
from scripts.classic_groups import settle
from scripts.fetch import fetch, wanted
from scripts.produce import partition, produce
from talk import conversation, ends


def delete(talk, name):
    talk.ask("DeleteTopics", 6, Topics=[{"Name": name}], TimeoutMs=30000)
    talk.quietly("Metadata", 12, "UNKNOWN_TOPIC_OR_PARTITION", Topics=[{"Name": name}], AllowAutoTopicCreation=False)


def look(talk, name, topic_id, group):
    """Asks about the topic by all the ways that there are: by its name, and by the id that the former one had."""
    place = {"PartitionIndex": 0, "CurrentLeaderEpoch": 0}
    for partition_index in (0, 1):
        for version in (4, 12, 13, 18):
            fetch(talk, version, wanted(name, (partition_index, 2, 1 << 20, 0), topic_id=topic_id), error=None)
        for version in ends("ListOffsets"):
            talk.ask("ListOffsets", version, ReplicaId=-1, error=None, Topics=[{"Name": name, "Partitions": [
                {"PartitionIndex": partition_index, "CurrentLeaderEpoch": -1, "Timestamp": -1}]}])
        talk.ask("OffsetForLeaderEpoch", 4, ReplicaId=-1, error=None, Topics=[{"Topic": name, "Partitions": [
            {"Partition": partition_index, "CurrentLeaderEpoch": 0, "LeaderEpoch": 0}]}])
        talk.ask("DescribeProducers", 0, error=None, Topics=[{"Name": name, "PartitionIndexes": [partition_index]}])
    talk.ask("ListOffsets", 7, ReplicaId=-1, error=None, Topics=[{"Name": name, "Partitions": [{**place, "Timestamp": -2}]}])
    for version in (7, 9, 10):
        offsets.fetch(talk, version, group, [(name, topic_id, [0, 1])], error=None)
        offsets.fetch(talk, version, group, None)
    talk.ask("Metadata", 12, Topics=[{"TopicId": topic_id, "Name": None}], error=None)
    talk.ask("DescribeTopicPartitions", 0, Topics=[{"Name": name}], error=None)
    talk.ask("DescribeConfigs", 4, error=None, Resources=[
        {"ResourceType": 2, "ResourceName": name, "ConfigurationKeys": ["retention.ms"]}])
    talk.ask("ElectLeaders", 2, ElectionType=0, TimeoutMs=5000, error=None, TopicPartitions=[{"Topic": name, "Partitions": [0]}])


def change(talk, name, topic_id, group):
    """Tries to change the former topic, by its id where that is possible."""
    produce(talk, 13, name, partition(0, records.batch(("k", "late"))), topic_id=topic_id, error=None)
    for version in (9, 10):
        offsets.commit(talk, version, group, name, (1, 9), topic_id=topic_id, error=None)
        offsets.fetch(talk, 9, group, None)
    talk.ask("OffsetDelete", 0, GroupId=group, error=None, Topics=[{"Name": name, "Partitions": [{"PartitionIndex": 1}]}])
    talk.ask("DeleteTopics", 6, Topics=[{"Name": None, "TopicId": topic_id}], TimeoutMs=30000, error=None)
    talk.ask("DeleteRecords", 2, TimeoutMs=5000, error=None, Topics=[{"Name": name, "Partitions": [
        {"PartitionIndex": 1, "Offset": 0}]}])


@conversation
def nothing_of_a_topic_outlives_it(talk):
    name, topic_id = talk.topic(partitions=2, retention_ms=-1)
    kept, kept_id = talk.topic("kept")
    group = talk.named("g")
    producer = talk.ask("InitProducerId", 4, TransactionalId=None, TransactionTimeoutMs=60000)
    sent = lambda sequence, value: partition(0, records.batch((None, value), producer_id=producer["ProducerId"], sequence=sequence,
                                                              producer_epoch=producer["ProducerEpoch"]))
    for sequence in range(3):
        produce(talk, 9, name, sent(sequence, f"{sequence}"))
    talk.ask("DeleteRecords", 2, TimeoutMs=5000, Topics=[{"Name": name, "Partitions": [{"PartitionIndex": 0, "Offset": 2}]}])
    offsets.commit(talk, 9, group, name, (0, 3), (1, 0))
    offsets.commit(talk, 9, group, kept, (0, 1))
    look(talk, name, topic_id, group)
    delete(talk, name)
    talk.quietly("OffsetFetch", 8, lambda answer: len(answer["Groups"][0]["Topics"]) == 1, Groups=[
        {"GroupId": group, "Topics": None}])
    look(talk, name, topic_id, group)
    change(talk, name, topic_id, group)
    talk.topic()
    look(talk, name, topic_id, group)
    change(talk, name, topic_id, group)
    # A producer that goes on where it was is welcome: nobody knows what it wrote.
    produce(talk, 9, name, sent(3, "next"), error=None)
    produce(talk, 9, name, sent(2, "again"), error=None)
    produce(talk, 9, name, sent(4, "and on"), error=None)
    look(talk, name, topic_id, group)


@conversation
def a_group_of_heartbeats_outlives_its_topic(talk):
    name, topic_id = talk.topic(partitions=2)
    group, member = talk.named("g"), consumer_groups.member_id(talk, "m")
    epoch = consumer_groups.enter(talk, 1, group, member, name).get("MemberEpoch", 1)
    consumer_groups.say(talk, 1, group, member, epoch, TopicPartitions=[{"TopicId": topic_id, "Partitions": [0, 1]}])
    offsets.commit(talk, 9, group, name, (0, 5), member=member, generation=epoch)
    given = lambda epoch: talk.ask_until("ConsumerGroupHeartbeat", 1, lambda answer: answer.get("Assignment") is not None,
                                         GroupId=group, MemberId=member, MemberEpoch=epoch)
    delete(talk, name)
    given(epoch)
    epoch = talk.ask_until("ConsumerGroupHeartbeat", 1, lambda answer: answer.get("MemberEpoch", 0) > epoch, GroupId=group,
                           MemberId=member, MemberEpoch=epoch, TopicPartitions=[]).get("MemberEpoch", 2)
    talk.ask("ConsumerGroupDescribe", 1, GroupIds=[group])
    _, again_id = talk.topic(partitions=1)
    epoch = given(epoch).get("MemberEpoch", 3)
    consumer_groups.say(talk, 1, group, member, epoch, TopicPartitions=[{"TopicId": again_id, "Partitions": [0]}])
    talk.ask("ConsumerGroupDescribe", 1, GroupIds=[group])
    for version in (9, 10):
        for which in (topic_id, again_id):
            offsets.fetch(talk, version, group, [(name, which, [0])], member=member, epoch=epoch, error=None)
            offsets.commit(talk, version, group, name, (0, 7), member=member, generation=epoch, topic_id=which, error=None)
    offsets.fetch(talk, 10, group, [(name, again_id, [0])], member=member, epoch=epoch)


@conversation
def a_classic_group_outlives_its_topic(talk):
    name, topic_id = talk.topic(partitions=2)
    group = talk.named("g")
    member = settle(talk, group, protocols=[("range", records.subscription(name))])
    offsets.commit(talk, 8, group, name, (0, 5), member=member, generation=1)
    delete(talk, name)
    talk.ask_until("OffsetFetch", 8, lambda answer: not answer["Groups"][0]["Topics"], Groups=[{"GroupId": group, "Topics": None}])
    offsets.commit(talk, 8, group, name, (0, 6), member=member, generation=1, error=None)
    offsets.fetch(talk, 8, group, [(name, topic_id, [0])])
    _, again_id = talk.topic(partitions=1)
    offsets.fetch(talk, 8, group, None)
    for which in (topic_id, again_id):
        offsets.fetch(talk, 10, group, [(name, which, [0])], error=None)
        offsets.commit(talk, 10, group, name, (0, 7), member=member, generation=1, topic_id=which, error=None)
    offsets.fetch(talk, 10, group, [(name, again_id, [0])])
    talk.ask("DescribeGroups", 6, Groups=[group])


@transactions.conversation
def a_transaction_outlives_its_topic(talk):
    name, topic_id = talk.topic(partitions=2)
    other, other_id = talk.topic("other")
    for version, committed in ((13, True), (12, True), (13, False)):
        txn, group = talk.named(f"t{version}{committed}"), talk.named(f"g{version}{committed}")
        producer = transactions.init(talk, txn)
        if version < 13:
            transactions.add(talk, 3, txn, producer, (name, 0), (other, 0))
        transactions.write(talk, version, txn, producer, name, topic_id, 0, "gone")
        transactions.write(talk, version, txn, producer, other, other_id, 0, "stays")
        if version >= 13:
            transactions.commit_offsets(talk, 5, txn, producer, group, name, (0, 1))
        delete(talk, name)
        _, again_id = talk.topic(partitions=1)
        transactions.describe(talk, txn)
        # What the former topic had of the transaction is in nobody's way.
        produce(talk, 13, name, partition(0, records.batch(("k", "plain"))), topic_id=again_id)
        fetch(talk, 13, wanted(name, (0, 0), topic_id=again_id), isolation=1)
        talk.ask("DescribeProducers", 0, Topics=[{"Name": name, "PartitionIndexes": [0]}])
        transactions.end(talk, 5 if version >= 13 else 4, txn, producer, committed)
        transactions.ended(talk, txn)
        fetch(talk, 13, wanted(other, (0, 0), topic_id=other_id), isolation=1)
        fetch(talk, 13, wanted(name, (0, 0), topic_id=again_id), isolation=1)
        offsets.fetch(talk, 7, group, None, stable=True)
        topic_id = again_id
