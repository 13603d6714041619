"""OffsetCommit, OffsetFetch and OffsetDelete."""

import records
import wire
from talk import conversation, ends, versions
from scripts.classic_groups import enter, join, leave, send_join, settle


def commit(talk, version, group, name, *partitions, member="", generation=-1, error="NONE", topic_id=wire.NO_ID,
           instance=None):
    """partitions: (index, offset[, leader epoch[, metadata]])."""
    entries = []
    for index, offset, *rest in partitions:
        epoch, metadata = (*rest, *(-1, "")[len(rest):])
        entries.append({"PartitionIndex": index, "CommittedOffset": offset, "CommittedLeaderEpoch": epoch,
                        "CommittedMetadata": metadata})
    return talk.ask("OffsetCommit", version, GroupId=group, GenerationIdOrMemberEpoch=generation, MemberId=member,
                    GroupInstanceId=instance, error=error,
                    Topics=[{"Name": name, "TopicId": topic_id, "Partitions": entries}])


def fetch(talk, version, group, topics, error="NONE", member=None, epoch=-1, stable=False):
    """topics: None for all, or [(name, id, partitions)]."""
    entries = None if topics is None else [
        {"Name": name, "PartitionIndexes": list(indexes), **({"TopicId": topic_id} if version >= 8 else {})}
        for name, topic_id, indexes in topics]
    if version >= 8:
        return talk.ask("OffsetFetch", version, RequireStable=stable, error=error, Groups=[
            {"GroupId": group, "MemberId": member, "MemberEpoch": epoch, "Topics": entries}])
    return talk.ask("OffsetFetch", version, GroupId=group, Topics=entries, RequireStable=stable, error=error)


@conversation
def offsets_at_every_version(talk):
    name, topic_id = talk.topic(partitions=3)
    group = talk.named("g")
    for version in versions("OffsetCommit"):
        commit(talk, version, group, name, (0, version), (1, 100 + version, 0, f"note {version}"), topic_id=topic_id)
        commit(talk, version, group, name, (2, 0, -1, None), topic_id=topic_id)
        for other in versions("OffsetFetch"):
            if version in ends("OffsetCommit"):
                fetch(talk, other, group, [(name, topic_id, [0, 1, 2])])
                if other >= 2:
                    fetch(talk, other, group, None)
        talk.ask("OffsetCommit", version, GroupId=group, GenerationIdOrMemberEpoch=-1, MemberId="", Topics=[])


@conversation
def offset_fetch_of_what_was_never_committed(talk):
    name, topic_id = talk.topic(partitions=2)
    group = talk.named("g")
    for version in versions("OffsetFetch"):
        fetch(talk, version, group, [(name, topic_id, [0, 1])])
        fetch(talk, version, group, [(name, topic_id, [7])], error=None)
        fetch(talk, version, group, [(name, topic_id, [])], error=None)
        fetch(talk, version, group, [])
        fetch(talk, version, group, [(talk.named("nobody"), wire.random_id(), [0])], error=None)
        fetch(talk, version, "", [(name, topic_id, [0])], error=None)
        fetch(talk, version, group, [(name, topic_id, [0, 0])], error=None)
        if version >= 7:
            fetch(talk, version, group, [(name, topic_id, [0])], stable=True)
        if version >= 8:
            talk.ask("OffsetFetch", version, Groups=[])
            talk.ask("OffsetFetch", version, error=None, Groups=[
                {"GroupId": f"{group}-{number}", "Topics": [{"Name": name, "TopicId": topic_id, "PartitionIndexes": [0]}]}
                for number in range(3)])
        if version >= 9:
            fetch(talk, version, group, [(name, topic_id, [0])], member="x", epoch=3, error=None)
            fetch(talk, version, group, [(name, topic_id, [0])], member="x", error=None)


@conversation
def offset_commit_that_is_refused(talk):
    name, topic_id = talk.topic()
    for version in versions("OffsetCommit"):
        group = talk.named(f"g{version}")
        same = {"topic_id": topic_id}
        commit(talk, version, group, name, (7, 0), error="UNKNOWN_TOPIC_OR_PARTITION", **same)
        commit(talk, version, group, name, (-1, 0), error=None, **same)
        commit(talk, version, group, talk.named("nobody"), (0, 0), error=None, topic_id=wire.random_id())
        commit(talk, version, group, name, (0, 0), (7, 0), error="UNKNOWN_TOPIC_OR_PARTITION", **same)
        commit(talk, version, "", name, (0, 0), error=None, **same)
        commit(talk, version, group, name, (0, 1, -1, "x" * 4096), **same)
        commit(talk, version, group, name, (0, 2, -1, "x" * 4097), error="OFFSET_METADATA_TOO_LARGE", **same)
        commit(talk, version, group, name, (0, -1), error=None, **same)
        commit(talk, version, group, name, (0, -5), error=None, **same)
        fetch(talk, 8, group, [(name, topic_id, [0])])
        commit(talk, version, group + "-new", name, (0, 0), generation=3, error=None, **same)
        commit(talk, version, group + "-new", name, (0, 0), member="x", error=None, **same)
        commit(talk, version, group + "-new", name, (0, 0), member="x", generation=0, error=None, **same)
        if version >= 7:
            commit(talk, version, group + "-new", name, (0, 0), instance="i", error=None, **same)


@conversation
def offset_commit_of_members(talk):
    name, topic_id = talk.topic()
    group = talk.named("g")
    member = settle(talk, group)
    for version in versions("OffsetCommit"):
        put = lambda error="NONE", **more: commit(talk, version, group, name, (0, version), topic_id=topic_id, error=error,
                                                  **more)
        put(member=member, generation=1)
        put(member=member, generation=0, error="ILLEGAL_GENERATION")
        put(member=member, generation=2, error="ILLEGAL_GENERATION")
        put(member="x", generation=1, error="UNKNOWN_MEMBER_ID")
        put(error="UNKNOWN_MEMBER_ID")  # Nobody commits from outside while there are members.
        put(member=member, error=None)
        if version >= 7:
            put(member=member, generation=1, instance="i", error=None)
    leave(talk, 5, group, member)
    commit(talk, 8, group, name, (0, 50))
    completing = talk.named("completing")
    member = enter(talk, 9, completing)["MemberId"]
    commit(talk, 8, completing, name, (0, 1), member=member, generation=1, error="REBALANCE_IN_PROGRESS")
    commit(talk, 2, completing, name, (0, 1), member=member, generation=1, error="REBALANCE_IN_PROGRESS")


@conversation
def offset_commit_of_static_members(talk):
    name, topic_id = talk.topic()
    group = talk.named("g")
    member = settle(talk, group, instance="i")
    commit(talk, 8, group, name, (0, 1), member=member, generation=1, instance="i")
    commit(talk, 8, group, name, (0, 1), member="x", generation=1, instance="i", error="FENCED_INSTANCE_ID")
    commit(talk, 8, group, name, (0, 1), member=member, generation=1, instance="j", error="UNKNOWN_MEMBER_ID")
    commit(talk, 8, group, name, (0, 1), member=member, generation=1)


@conversation
def offsets_go_with_their_topic(talk):
    name, topic_id = talk.topic()
    kept, kept_id = talk.topic("kept")
    group = talk.named("g")
    commit(talk, 8, group, name, (0, 5))
    commit(talk, 8, group, kept, (0, 6))
    talk.ask("DeleteTopics", 6, Topics=[{"Name": name}], TimeoutMs=30000)
    talk.ask_until("OffsetFetch", 8, lambda answer: len(answer["Groups"][0]["Topics"]) == 1, Groups=[
        {"GroupId": group, "Topics": None}])
    fetch(talk, 8, group, [(name, topic_id, [0]), (kept, kept_id, [0])])
    talk.topic()
    fetch(talk, 8, group, [(name, topic_id, [0])])


@conversation
def offset_delete(talk):
    name, topic_id = talk.topic(partitions=2)
    group = talk.named("g")

    def delete(group, name, *indexes, error="NONE"):
        return talk.ask("OffsetDelete", 0, GroupId=group, error=error, Topics=[
            {"Name": name, "Partitions": [{"PartitionIndex": index} for index in indexes]}])

    delete(talk.named("nobody"), name, 0, error="GROUP_ID_NOT_FOUND")
    delete("", name, 0, error=None)
    commit(talk, 8, group, name, (0, 1), (1, 2))
    delete(group, name, 0)
    fetch(talk, 8, group, None)
    delete(group, name, 0)
    delete(group, name, 7, error=None)
    delete(group, talk.named("nobody"), 0, error=None)
    delete(group, name, 1, 1, error=None)
    talk.ask("OffsetDelete", 0, GroupId=group, Topics=[], error=None)
    subscribed = talk.named("subscribed")
    settle(talk, subscribed, protocols=[("range", records.subscription(name))])
    delete(subscribed, name, 0, error="GROUP_SUBSCRIBED_TO_TOPIC")
    other, _ = talk.topic("other")
    delete(subscribed, other, 0, error=None)
    connect = talk.named("connect")
    settle(talk, connect, kind="connect", protocols=[("v0", b"")], on="two")
    delete(connect, name, 0, error="NON_EMPTY_GROUP")


@conversation(properties={"group.max.size": 2, "group.min.session.timeout.ms": 100, "offset.metadata.max.bytes": 10})
def offset_metadata_has_a_limit(talk):
    name, topic_id = talk.topic()
    commit(talk, 8, talk.named("g"), name, (0, 1, -1, "x" * 10))
    commit(talk, 8, talk.named("g"), name, (0, 1, -1, "x" * 11), error="OFFSET_METADATA_TOO_LARGE")
    commit(talk, 8, talk.named("g"), name, (0, 1, -1, "ü" * 9), error=None)


@conversation
def offsets_are_committed_during_a_rebalance(talk):
    # Clients commit in their revoke callback: the generation stays until the join is complete.
    name, topic_id = talk.topic()
    group = talk.named("g")
    member = settle(talk, group, on="one")
    joiner = join(talk, 9, group, error="MEMBER_ID_REQUIRED", on="two")["MemberId"]
    waiting = send_join(talk, 9, group, joiner, on="two")
    talk.waits(waiting)
    commit(talk, 8, group, name, (0, 5), member=member, generation=1)
    commit(talk, 8, group, name, (0, 5), member=joiner, generation=1, error=None)
    commit(talk, 8, group, name, (0, 5), member=joiner, generation=-1, error=None)
    fetch(talk, 8, group, [(name, topic_id, [0])])
    join(talk, 9, group, member, on="one")
    talk.answer(waiting)
    commit(talk, 8, group, name, (0, 6), member=member, generation=1, error="ILLEGAL_GENERATION")
    commit(talk, 8, group, name, (0, 6), member=member, generation=2, error="REBALANCE_IN_PROGRESS")
