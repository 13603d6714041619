"""Fetch: what is read, sessions, long polls; ListOffsets and OffsetForLeaderEpoch."""

import records
import wire
from talk import conversation, ends, versions


def fill(talk, name, *values, partition=0, timestamp=1_000_000, **fields):
    """One batch with these values."""
    data = records.batch(*((None, value) for value in values), timestamp=timestamp, **fields)
    return talk.quietly("Produce", 9, TransactionalId=None, Acks=-1, TimeoutMs=5000, TopicData=[
        {"Name": name, "PartitionData": [{"Index": partition, "Records": data}]}])


def wanted(topic, *partitions, topic_id=wire.NO_ID):
    """partitions: (index, offset[, max bytes[, leader epoch[, last fetched epoch]]])."""
    entries = []
    for index, offset, *rest in partitions:
        most, epoch, fetched = (*rest, *(1 << 20, -1, -1)[len(rest):])
        entries.append({"Partition": index, "FetchOffset": offset, "PartitionMaxBytes": most, "CurrentLeaderEpoch": epoch,
                        "LastFetchedEpoch": fetched, "LogStartOffset": -1})
    return {"Topic": topic, "TopicId": topic_id, "Partitions": entries}


def fetch(talk, version, *topics, wait=0, least=1, most=1 << 20, error="NONE", session=(0, -1), isolation=0, forget=(),
          **more):
    return talk.ask("Fetch", version, ReplicaId=-1, MaxWaitMs=wait, MinBytes=least, MaxBytes=most, SessionId=session[0],
                    SessionEpoch=session[1], IsolationLevel=isolation, ForgottenTopicsData=list(forget),
                    Topics=list(topics), error=error, **more)


@conversation
def fetch_at_every_version(talk):
    name, topic_id = talk.topic(partitions=2)
    fill(talk, name, "a", "b")
    fill(talk, name, "c")
    for version in versions("Fetch"):
        fetch(talk, version, wanted(name, (0, 0), (1, 0), topic_id=topic_id))
        fetch(talk, version, wanted(name, (0, 1), topic_id=topic_id))
        fetch(talk, version, wanted(name, (0, 3), topic_id=topic_id), isolation=1)
        fetch(talk, version)


@conversation
def fetch_what_is_not_there(talk):
    name, topic_id = talk.topic()
    fill(talk, name, "a", "b")
    nobody = talk.named("nobody")
    for version in versions("Fetch"):
        fetch(talk, version, wanted(name, (0, 3), topic_id=topic_id), error="OFFSET_OUT_OF_RANGE")
        fetch(talk, version, wanted(name, (0, -1), topic_id=topic_id), error="OFFSET_OUT_OF_RANGE")
        fetch(talk, version, wanted(name, (7, 0), topic_id=topic_id), error="UNKNOWN_TOPIC_OR_PARTITION")
        if version < 13:
            fetch(talk, version, wanted(nobody, (0, 0)), error="UNKNOWN_TOPIC_OR_PARTITION")
            fetch(talk, version, wanted("a b", (0, 0)), error=None)
        else:
            fetch(talk, version, wanted("", (0, 0), topic_id=wire.random_id()), error="UNKNOWN_TOPIC_ID")
            fetch(talk, version, wanted("", (0, 0)), error=None)
        fetch(talk, version, wanted(name, (0, 0), (7, 0), topic_id=topic_id), error="UNKNOWN_TOPIC_OR_PARTITION",
              wait=1000, least=1000)


@conversation
def fetch_with_leader_epochs(talk):
    name, topic_id = talk.topic()
    fill(talk, name, "a", "b")
    for version in (9, 11, 12, 13, 16, 17, 18):
        fetch(talk, version, wanted(name, (0, 0, 1000, 0), topic_id=topic_id))
        fetch(talk, version, wanted(name, (0, 0, 1000, 5), topic_id=topic_id), error="UNKNOWN_LEADER_EPOCH")
        fetch(talk, version, wanted(name, (0, 0, 1000, -2), topic_id=topic_id), error=None)
        if version >= 12:
            fetch(talk, version, wanted(name, (0, 1, 1000, 0, 0), topic_id=topic_id))
            fetch(talk, version, wanted(name, (0, 1, 1000, 0, 3), topic_id=topic_id), error=None)


@conversation
def fetch_limits(talk):
    name, topic_id = talk.topic(partitions=3)
    for partition in range(3):
        for value in ("x" * 100, "y" * 100, "z" * 100):
            fill(talk, name, value, partition=partition)
    one = len(records.batch((None, "x" * 100)))
    for version in (4, 11, 13, 18):
        for limit in (0, 1, one - 1, one, one + 1, 2 * one, 1 << 20):
            fetch(talk, version, wanted(name, (0, 0, limit), (1, 0, limit), topic_id=topic_id))
            fetch(talk, version, wanted(name, (0, 0), (1, 0), (2, 0), topic_id=topic_id), most=limit)
        fetch(talk, version, wanted(name, (2, 0), (0, 0), (1, 0), topic_id=topic_id), most=one)
        fetch(talk, version, wanted(name, (2, 3), (0, 0), (1, 0), topic_id=topic_id), most=one)
        fetch(talk, version, wanted(name, (0, 0, -1), topic_id=topic_id), error=None)
        fetch(talk, version, wanted(name, (0, 0), topic_id=topic_id), most=-1, error=None)


@conversation
def fetch_names_a_partition_twice(talk):
    name, topic_id = talk.topic()
    fill(talk, name, "a")
    for version in (4, 11, 13, 18):
        fetch(talk, version, wanted(name, (0, 0), (0, 1), topic_id=topic_id), error=None)
        fetch(talk, version, wanted(name, (0, 0), topic_id=topic_id), wanted(name, (0, 1), topic_id=topic_id), error=None)


@conversation
def fetch_as_a_follower(talk):
    name, topic_id = talk.topic()
    fill(talk, name, "a")
    for version in (4, 11, 14, 15, 18):
        talk.ask("Fetch", version, ReplicaId=7, ReplicaState={"ReplicaId": 7, "ReplicaEpoch": 1}, MaxWaitMs=0, MinBytes=0,
                 MaxBytes=1000, SessionEpoch=-1, Topics=[wanted(name, (0, 0), topic_id=topic_id)], error=None)
        talk.ask("Fetch", version, ReplicaId=-2, ReplicaState={"ReplicaId": -2, "ReplicaEpoch": -1}, MaxWaitMs=0,
                 MinBytes=0, MaxBytes=1000, SessionEpoch=-1, Topics=[wanted(name, (0, 0), topic_id=topic_id)], error=None)


@conversation
def fetch_internal_topics(talk):
    fetch(talk, 11, wanted("__consumer_offsets", (0, 1 << 40)), error="OFFSET_OUT_OF_RANGE")


@conversation
def a_long_poll_ends_when_data_comes(talk):
    name, topic_id = talk.topic()
    for version in (4, 11, 13, 18):
        end = talk.quietly("ListOffsets", 7, ReplicaId=-1, Topics=[{"Name": name, "Partitions": [
            {"PartitionIndex": 0, "CurrentLeaderEpoch": -1, "Timestamp": -1}]}])["Topics"][0]["Partitions"][0]["Offset"]
        pending = talk.send("Fetch", version, on="reader", ReplicaId=-1, MaxWaitMs=20000, MinBytes=1, MaxBytes=1000000,
                            SessionEpoch=-1, Topics=[wanted(name, (0, end), topic_id=topic_id)])
        talk.waits(pending)
        fill(talk, name, "news")
        talk.answer(pending, seconds=5)


@conversation
def a_long_poll_waits_for_its_least_bytes(talk):
    name, topic_id = talk.topic(partitions=2)
    one = len(records.batch((None, "x" * 100)))
    pending = talk.send("Fetch", 13, on="reader", ReplicaId=-1, MaxWaitMs=20000, MinBytes=2 * one, MaxBytes=1000000,
                        SessionEpoch=-1, Topics=[wanted(name, (0, 0), (1, 0), topic_id=topic_id)])
    talk.waits(pending)
    fill(talk, name, "x" * 100)
    talk.waits(pending)
    fill(talk, name, "x" * 100, partition=1)
    talk.answer(pending, seconds=5)


@conversation
def a_long_poll_ends_with_its_time(talk):
    name, topic_id = talk.topic()
    fill(talk, name, "a")
    for version in (4, 18):
        pending = talk.send("Fetch", version, ReplicaId=-1, MaxWaitMs=1500, MinBytes=5000, MaxBytes=1000000,
                            SessionEpoch=-1, Topics=[wanted(name, (0, 0), topic_id=topic_id)])
        talk.answer(pending)
        talk.takes("the long poll", 1.5, 0.4, pending, pending)
    pending = talk.send("Fetch", 11, ReplicaId=-1, MaxWaitMs=0, MinBytes=5000, MaxBytes=1000000, SessionEpoch=-1,
                        Topics=[wanted(name, (0, 0))])
    talk.answer(pending)
    talk.takes("without a wait", 0, 0.4, pending, pending)


@conversation
def a_long_poll_ends_when_its_topic_goes(talk):
    name, topic_id = talk.topic()
    pending = talk.send("Fetch", 13, on="reader", ReplicaId=-1, MaxWaitMs=20000, MinBytes=1, MaxBytes=1000000,
                        SessionEpoch=-1, Topics=[wanted(name, (0, 0), topic_id=topic_id)])
    talk.waits(pending)
    talk.ask("DeleteTopics", 6, Topics=[{"Name": name}], TimeoutMs=30000)
    talk.answer(pending, seconds=8, error=None)


@conversation
def requests_behind_a_long_poll_wait(talk):
    name, topic_id = talk.topic()
    poll = talk.send("Fetch", 13, on="reader", ReplicaId=-1, MaxWaitMs=1000, MinBytes=1, MaxBytes=1000000,
                     SessionEpoch=-1, Topics=[wanted(name, (0, 0), topic_id=topic_id)])
    behind = talk.send("Metadata", 12, on="reader", Topics=[])
    talk.answer(poll)
    talk.answer(behind)
    talk.takes("Metadata behind the long poll", 1, 0.4, behind, behind)


@conversation
def a_fetch_waits_beside_what_is_not_found(talk):
    name, topic_id = talk.topic()
    nobody = lambda: wanted(talk.named("nobody"), (0, 0), topic_id=wire.random_id())
    for version in (4, 11, 12, 13, 18):
        idle = wanted(name, (0, 0), topic_id=topic_id)
        unknown = "UNKNOWN_TOPIC_OR_PARTITION" if version < 13 else "UNKNOWN_TOPIC_ID"
        fetch(talk, version, idle, nobody(), wait=1000, error=unknown)
        fetch(talk, version, nobody(), idle, wait=1000, error=unknown)
        fetch(talk, version, wanted(name, (0, 0), (7, 0), topic_id=topic_id), wait=1000, error="UNKNOWN_TOPIC_OR_PARTITION")
        # Without another partition there is nothing to wait for.
        fetch(talk, version, nobody(), wait=20000, error=unknown)
        fetch(talk, version, wanted(name, (7, 0), topic_id=topic_id), nobody(), wait=20000, error=None)
        fetch(talk, version, wait=20000)
        # Without least bytes, too.
        fetch(talk, version, idle, nobody(), wait=20000, least=0, error=unknown)
    pending = talk.send("Fetch", 12, on="reader", ReplicaId=-1, MaxWaitMs=20000, MinBytes=1, MaxBytes=1000000,
                        SessionEpoch=-1, Topics=[nobody(), idle])
    fill(talk, name, "news")
    talk.answer(pending, error="UNKNOWN_TOPIC_OR_PARTITION", seconds=5)
    fetch(talk, 12, idle, nobody(), wait=20000, error="UNKNOWN_TOPIC_OR_PARTITION")
    fetch(talk, 12, idle, nobody(), wait=1000, least=5000, error="UNKNOWN_TOPIC_OR_PARTITION")


@conversation
def a_fetch_does_not_wait_beside_what_cannot_be_read(talk):
    name, topic_id = talk.topic(partitions=2)
    fill(talk, name, "a", partition=1)
    for version in (4, 9, 12, 13, 18):
        beside = lambda *partition: wanted(name, (0, 0), partition, topic_id=topic_id)
        fetch(talk, version, beside(1, 5), wait=20000, error="OFFSET_OUT_OF_RANGE")
        if version >= 9:
            fetch(talk, version, beside(1, 1, 1000, 5), wait=20000, error="UNKNOWN_LEADER_EPOCH")
        if version >= 12:
            fetch(talk, version, beside(1, 1, 1000, 0, 3), wait=20000, error=None)
            fetch(talk, version, beside(1, 1, 1000, 0, 0), wait=1000)


@conversation
def a_session_waits_beside_what_is_not_found(talk):
    name, topic_id = talk.topic()
    for version in (7, 12, 13, 18):
        unknown = "UNKNOWN_TOPIC_OR_PARTITION" if version < 13 else "UNKNOWN_TOPIC_ID"
        session = fetch(talk, version, wanted(name, (0, 0), topic_id=topic_id),
                        wanted(talk.named("nobody"), (0, 0), topic_id=wire.random_id()), wait=1000, session=(0, 0),
                        error=unknown).get("SessionId", 0)
        fetch(talk, version, wait=1000, session=(session, 1), error=unknown)
        fetch(talk, version, wanted(name, (7, 0), topic_id=topic_id), wait=1000, session=(session, 2), error=None)


@conversation
def fetch_sessions(talk):
    name, topic_id = talk.topic(partitions=3)
    fill(talk, name, "a")
    for version in (7, 11, 12, 13, 18):
        topic = lambda *partitions: wanted(name, *partitions, topic_id=topic_id)
        answer = fetch(talk, version, topic((0, 0), (1, 0), (2, 0)), session=(0, 0))
        session = answer.get("SessionId", 0)
        fetch(talk, version, session=(session, 1))  # Nothing is new.
        fetch(talk, version, topic((0, 1)), session=(session, 2))
        fill(talk, name, "b", partition=1)
        fetch(talk, version, session=(session, 3))
        fetch(talk, version, session=(session, 3), error="INVALID_FETCH_SESSION_EPOCH")
        fetch(talk, version, session=(session, 9), error="INVALID_FETCH_SESSION_EPOCH")
        forgotten = [{"Topic": name, "TopicId": topic_id, "Partitions": [1]}]
        fetch(talk, version, session=(session, 4), forget=forgotten)
        fetch(talk, version, topic((7, 0)), session=(session, 5), error="UNKNOWN_TOPIC_OR_PARTITION")
        fetch(talk, version, session=(session, 6), error=None)
        fetch(talk, version, topic((0, 0)), session=(session, 7), error="UNKNOWN_TOPIC_OR_PARTITION")
        fetch(talk, version, session=(session, -1))  # It ends here.
        fetch(talk, version, session=(session, 8), error="FETCH_SESSION_ID_NOT_FOUND")
        fetch(talk, version, session=(123456789, 1), error="FETCH_SESSION_ID_NOT_FOUND")
        fetch(talk, version, topic((0, 0)), session=(0, 5), error=None)


@conversation
def fetch_sessions_turn_over(talk):
    name, topic_id = talk.topic(partitions=2)
    fill(talk, name, "a")
    old = fetch(talk, 13, wanted(name, (0, 0), topic_id=topic_id), session=(0, 0)).get("SessionId", 0)
    new = fetch(talk, 13, wanted(name, (1, 0), topic_id=topic_id), session=(old, 0)).get("SessionId", 0)
    fetch(talk, 13, session=(old, 1), error="FETCH_SESSION_ID_NOT_FOUND")
    fetch(talk, 13, session=(new, 1))
    fetch(talk, 12, session=(new, 2), error="FETCH_SESSION_TOPIC_ID_ERROR")
    fetch(talk, 13, session=(new, 2), error=None)
    unknown = wire.random_id()
    other = fetch(talk, 13, wanted("", (0, 0), topic_id=unknown), wanted(name, (0, 0), topic_id=topic_id), session=(0, 0),
                  error="UNKNOWN_TOPIC_ID").get("SessionId", 0)
    fetch(talk, 13, session=(other, 1), error=None)
    fetch(talk, 13, session=(0, 0))  # A session without partitions.


@conversation
def a_session_outlives_its_topics(talk):
    stays, stays_id = talk.topic("stays")
    fill(talk, stays, "a")
    for version in (7, 12, 13, 16, 18):
        gone, gone_id = talk.topic(f"gone-{version}", partitions=2)
        late, late_id = talk.topic(f"late-{version}")
        forget_all = [{"Topic": name, "TopicId": which, "Partitions": [0, 1]}
                      for name, which in ((gone, gone_id), (late, late_id), (stays, stays_id))]
        topics = [wanted(gone, (0, 0), (1, 0), (7, 0), topic_id=gone_id), wanted(stays, (0, 1), topic_id=stays_id)]
        session = fetch(talk, version, *topics, session=(0, 0), error="UNKNOWN_TOPIC_OR_PARTITION").get("SessionId", 0)
        talk.ask("DeleteTopics", 6, Topics=[{"Name": gone}, {"Name": late}], TimeoutMs=30000)
        talk.quietly("Metadata", 12, lambda answer: all(topic["ErrorCode"] for topic in answer["Topics"]),
                     Topics=[{"Name": gone}, {"Name": late}], AllowAutoTopicCreation=False)
        # The session knows the name of the first, and was never told that of the second.
        fetch(talk, version, session=(session, 1), error="UNKNOWN_TOPIC_OR_PARTITION")
        fetch(talk, version, wanted(gone, (0, 5), topic_id=gone_id), wanted(late, (0, 0), topic_id=late_id),
              session=(session, 2), wait=1000, error=None)
        fetch(talk, version, *topics, session=(0, -1), error=None)
        _, again_id = talk.topic(f"gone-{version}")
        fetch(talk, version, session=(session, 3), wait=20000, error=None)
        fetch(talk, version, wanted(gone, (0, 0), topic_id=again_id), session=(session, 4), error=None)
        fill(talk, gone, "b")
        fetch(talk, version, session=(session, 5), wait=20000, error=None)
        fetch(talk, version, session=(session, 6), forget=[{"Topic": gone, "TopicId": gone_id, "Partitions": [0, 1, 7]}],
              error=None)
        fetch(talk, version, wanted(gone, (0, 1), topic_id=again_id), session=(session, 7), wait=1000, error=None)
        forget_all.append({"Topic": gone, "TopicId": again_id, "Partitions": [0]})
        fetch(talk, version, session=(session, 8), forget=forget_all)
        fetch(talk, version, session=(session, 9), error="FETCH_SESSION_ID_NOT_FOUND")


@conversation
def a_session_ends_with_its_last_partition(talk):
    name, topic_id = talk.topic()
    for version in (7, 12, 13, 18):
        topic = wanted(name, (0, 0), topic_id=topic_id)
        forgotten = [{"Topic": name, "TopicId": topic_id, "Partitions": [0]}]
        for asked in ([], [topic]):
            session = fetch(talk, version, topic, session=(0, 0)).get("SessionId", 0)
            fetch(talk, version, *asked, session=(session, 1), forget=forgotten)
            fetch(talk, version, session=(session, 2), error="FETCH_SESSION_ID_NOT_FOUND")
        other = [topic, wanted(name, (1, 0), topic_id=topic_id)]
        session = fetch(talk, version, *other, session=(0, 0), error="UNKNOWN_TOPIC_OR_PARTITION").get("SessionId", 0)
        # A partition that a request both asks for and forgets is forgotten.
        fetch(talk, version, topic, session=(session, 1), forget=forgotten, error="UNKNOWN_TOPIC_OR_PARTITION")
        fetch(talk, version, session=(session, 2), error="UNKNOWN_TOPIC_OR_PARTITION")
        empty = fetch(talk, version, session=(0, 0)).get("SessionId", 0)
        fetch(talk, version, session=(empty, 1))
        fetch(talk, version, session=(empty, 2), error="FETCH_SESSION_ID_NOT_FOUND")


@conversation(properties={"max.incremental.fetch.session.cache.slots": 1})
def fetch_sessions_have_few_slots(talk):
    name, topic_id = talk.topic(partitions=2)
    fetch(talk, 13, wanted(name, (0, 0), topic_id=topic_id), session=(0, 0))
    fetch(talk, 13, wanted(name, (0, 0), topic_id=topic_id), session=(0, 0), on="late")
    fetch(talk, 13, wanted(name, (0, 0), (1, 0), topic_id=topic_id), session=(0, 0), on="larger")


def offsets(talk, version, name, *partitions, error="NONE", isolation=0, replica=-1):
    """partitions: (index, timestamp[, leader epoch])."""
    return talk.ask("ListOffsets", version, ReplicaId=replica, IsolationLevel=isolation, TimeoutMs=1000, error=error,
                    Topics=[{"Name": name, "Partitions": [
                        {"PartitionIndex": index, "Timestamp": when, "CurrentLeaderEpoch": rest[0] if rest else -1}
                        for index, when, *rest in partitions]}])


@conversation
def list_offsets_at_every_version(talk):
    name, _ = talk.topic(partitions=2)
    for moment in (5000, 3000, 9000):
        fill(talk, name, "a", "b", timestamp=moment)
    for version in versions("ListOffsets"):
        for when in (-1, -2, -3, -4, -5, -6, -7, 0, 1, 3000, 4000, 5000, 9000, 9001, 1 << 60):
            offsets(talk, version, name, (0, when), error=None)
            offsets(talk, version, name, (1, when), error=None)
        offsets(talk, version, name, (0, -1), isolation=1)
        offsets(talk, version, name, (0, -1, 0), (1, -2, 0))
        offsets(talk, version, name, (0, -1, 4), error=None)
        offsets(talk, version, name, (7, -1), error="UNKNOWN_TOPIC_OR_PARTITION")
        offsets(talk, version, talk.named("nobody"), (0, -1), error="UNKNOWN_TOPIC_OR_PARTITION")
        offsets(talk, version, "a b", (0, -1), error=None)
        offsets(talk, version, name, (0, -1), (0, -2), error=None)
        offsets(talk, version, name, (0, -1), replica=-2)
        offsets(talk, version, name, (0, -1), replica=5, error=None)
        talk.ask("ListOffsets", version, ReplicaId=-1, Topics=[])


@conversation
def list_offsets_after_records_were_deleted(talk):
    name, _ = talk.topic()
    for moment in (1000, 2000, 3000):
        fill(talk, name, "a", timestamp=moment)
    talk.ask("DeleteRecords", 2, TimeoutMs=5000, Topics=[{"Name": name, "Partitions": [
        {"PartitionIndex": 0, "Offset": 2}]}])
    for when in (-1, -2, -3, -4, 0, 1000, 3000, 3001):
        offsets(talk, 8, name, (0, when), error=None)
    fetch(talk, 11, wanted(name, (0, 1)), error="OFFSET_OUT_OF_RANGE")
    fetch(talk, 11, wanted(name, (0, 2)))
    talk.ask("DeleteRecords", 2, TimeoutMs=5000, Topics=[{"Name": name, "Partitions": [
        {"PartitionIndex": 0, "Offset": -1}]}])
    for when in (-1, -2, -3, 0):
        offsets(talk, 8, name, (0, when), error=None)


@conversation
def offset_for_leader_epoch(talk):
    name, _ = talk.topic(partitions=2)
    fill(talk, name, "a", "b")
    for version in versions("OffsetForLeaderEpoch"):
        for index, current, epoch in ((0, -1, 0), (0, 0, 0), (0, -1, 5), (0, -1, -1), (0, 3, 0), (1, -1, 0), (7, -1, 0),
                                      (0, -2, 0), (0, -1, -5)):
            talk.ask("OffsetForLeaderEpoch", version, ReplicaId=-1, error=None, Topics=[
                {"Topic": name, "Partitions": [{"Partition": index, "CurrentLeaderEpoch": current, "LeaderEpoch": epoch}]}])
        talk.ask("OffsetForLeaderEpoch", version, ReplicaId=-1, error="UNKNOWN_TOPIC_OR_PARTITION", Topics=[
            {"Topic": talk.named("nobody"), "Partitions": [{"Partition": 0, "LeaderEpoch": 0}]}])
        talk.ask("OffsetForLeaderEpoch", version, ReplicaId=-1, Topics=[])
