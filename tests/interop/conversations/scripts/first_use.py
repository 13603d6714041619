"""What a broker says of groups before anybody looked for a coordinator, which is what makes their topic."""

import wire
from talk import conversation, ends
from scripts.classic_groups import beat, join, leave, sync
from scripts.consumer_groups import enter as enter_by_heartbeats, member_id, say
from scripts.offsets import commit, fetch
from scripts.transactions import add, add_offsets, commit_offsets, describe, end, init, write

NOBODY = "NOT_COORDINATOR"


@conversation(fresh=True)
def groups_before_their_topic(talk):
    name, topic_id = talk.topic()
    group = talk.named("g")
    for version in ends("OffsetFetch"):
        fetch(talk, version, group, [(name, topic_id, [0])], error=NOBODY)
    for version in (2, 5, 7, 8, 9):
        fetch(talk, version, group, [(name, topic_id, [0])], error=NOBODY)
        fetch(talk, version, group, None, error=NOBODY)
    talk.ask("OffsetFetch", 8, RequireStable=True, error=NOBODY,
             Groups=[{"GroupId": talk.named(word), "Topics": None} for word in "ab"])
    for version in ends("OffsetCommit"):
        commit(talk, version, group, name, (0, 1), topic_id=topic_id, error=NOBODY)
        commit(talk, version, group, talk.named("nobody"), (0, 1), topic_id=wire.random_id(), error=None)
    for version in ends("OffsetDelete"):
        talk.ask("OffsetDelete", version, GroupId=group, error=NOBODY,
                 Topics=[{"Name": name, "Partitions": [{"PartitionIndex": 0}]}])
    for version in ends("JoinGroup"):
        join(talk, version, group, error=NOBODY)
    for version in ends("SyncGroup"):
        sync(talk, version, group, 1, "m", error=NOBODY)
    for version in ends("Heartbeat"):
        beat(talk, version, group, 1, "m", error=NOBODY)
    for version in ends("LeaveGroup"):
        leave(talk, version, group, "m", error=NOBODY)
    for version in ends("DescribeGroups"):
        talk.ask("DescribeGroups", version, Groups=[group], error=NOBODY)
    for version in ends("DeleteGroups"):
        talk.ask("DeleteGroups", version, GroupsNames=[group], error=NOBODY)
    for version in ends("ConsumerGroupHeartbeat"):
        member = member_id(talk, "m")
        enter_by_heartbeats(talk, version, group, member, name, error=NOBODY)
        say(talk, version, group, member, 1, error=NOBODY)
        say(talk, version, group, member, -1, error=NOBODY)
    for version in ends("ConsumerGroupDescribe"):
        talk.ask("ConsumerGroupDescribe", version, GroupIds=[group], error=NOBODY)
    for version in ends("ListGroups"):
        talk.ask("ListGroups", version)
    talk.ask("Metadata", 12, Topics=[{"Name": "__consumer_offsets"}], AllowAutoTopicCreation=False,
             error="UNKNOWN_TOPIC_OR_PARTITION")
    talk.ask("FindCoordinator", 4, KeyType=0, CoordinatorKeys=[group], error=None)


@conversation(fresh=True)
def groups_of_a_topic_that_was_made_unasked(talk):
    """Whoever makes the topic: groups are served as soon as it is there."""
    talk.ask("CreateTopics", 7, Topics=[{"Name": "__consumer_offsets", "NumPartitions": 4, "ReplicationFactor": 1}], TimeoutMs=30000)
    group = talk.named("g")
    talk.quietly("OffsetFetch", 8, Groups=[{"GroupId": f"{group}-{number}", "Topics": None} for number in range(200)])
    fetch(talk, 8, group, None)
    beat(talk, 4, group, 1, "m", error="UNKNOWN_MEMBER_ID")


@conversation(fresh=True)
def what_cannot_be_before_there_is_a_topic(talk):
    """Which rules are looked at before the coordinator is."""
    name, topic_id = talk.topic()
    for group in ("", talk.named("g")):
        join(talk, 9, group, session=1, error=None)
        join(talk, 9, group, error=None)
        sync(talk, 5, group, 1, "", error=None)
        beat(talk, 4, group, 1, "", error=None)
        leave(talk, 5, group, "", error=None)
        commit(talk, 8, group, name, (0, 1), error=None)
        fetch(talk, 8, group, [(name, topic_id, [0])], error=None)
        fetch(talk, 9, group, [(name, topic_id, [0])], member="m", epoch=3, error=None)
        fetch(talk, 10, group, [("", wire.random_id(), [0])], error=None)
        talk.ask("OffsetDelete", 0, GroupId=group, error=None,
                 Topics=[{"Name": talk.named("nobody"), "Partitions": [{"PartitionIndex": 0}]}])
        talk.ask("OffsetDelete", 0, GroupId=group, Topics=[], error=None)
        talk.ask("DescribeGroups", 6, Groups=[group, group], error=None)
        talk.ask("DeleteGroups", 2, GroupsNames=[group, group], error=None)
        talk.ask("ConsumerGroupDescribe", 1, GroupIds=[group, group], error=None)
        say(talk, 1, group, "m", 0, error=None)
        say(talk, 1, group, "", -1, error=None)


@conversation(fresh=True)
def transactions_before_their_topic(talk):
    name, topic_id = talk.topic()
    for version in ends("InitProducerId"):
        init(talk, "t", version, NOBODY)
        init(talk, "t", version, error=None, timeout=0)
        init(talk, "", version, error="INVALID_REQUEST")
    for version in ends("AddPartitionsToTxn"):
        add(talk, version, "t", (5, 0), (name, 0), error=NOBODY)
        add(talk, version, "", (5, 0), (name, 0), error=None)
    for version in ends("AddOffsetsToTxn"):
        add_offsets(talk, version, "t", (5, 0), "g", error=None)
        add_offsets(talk, version, "", (5, 0), "g", error=None)
    for version in ends("TxnOffsetCommit"):
        commit_offsets(talk, version, "t", (5, 0), "g", name, (0, 1), error=None)
        commit_offsets(talk, version, "", (5, 0), "g", name, (0, 1), error=None)
        commit_offsets(talk, version, "t", (5, 0), "", name, (0, 1), error=None)
        commit_offsets(talk, version, "t", (5, 0), "g", name, (7, 1), error=None)
    for version in ends("EndTxn"):
        end(talk, version, "t", (5, 0), True, error=NOBODY)
        end(talk, version, "", (5, 0), True, error=None)
    for version in ends("Produce"):
        write(talk, version, "t", (5, 0), name, topic_id, 0, "v", error=None)
    describe(talk, "t", error=NOBODY)
    describe(talk, "", error=None)
    for version in ends("ListTransactions"):
        talk.ask("ListTransactions", version, StateFilters=[], ProducerIdFilters=[])
    talk.ask("Metadata", 12, Topics=[{"Name": "__transaction_state"}], AllowAutoTopicCreation=False,
             error="UNKNOWN_TOPIC_OR_PARTITION")
