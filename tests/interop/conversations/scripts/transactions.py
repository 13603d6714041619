"""Transactions of both protocols: InitProducerId, AddPartitionsToTxn, AddOffsetsToTxn, TxnOffsetCommit, EndTxn, WriteTxnMarkers,
and how they are looked at."""

import functools
import time

import records
import talk as talking
import wire
from scripts.classic_groups import settle
from scripts.consumer_groups import enter as enter_by_heartbeats, member_id
from scripts.fetch import fetch, wanted
from scripts.offsets import fetch as fetch_offsets
from scripts.produce import partition, produce
from talk import ends, versions

PROPERTIES = {"transaction.abort.timed.out.transaction.cleanup.interval.ms": 500, "transaction.max.timeout.ms": 100_000}
KEPT_MS = 60_000
NO_PRODUCER = (5_000_000, 0)


def serve_transactions(talk):
    """Waits until every coordinator serves; the first one to ask has their topic made."""
    talk.quietly("FindCoordinator", 4, KeyType=1, CoordinatorKeys=["any"], seconds=60)
    ids = [talk.named(str(number)) for number in range(50)]
    talk.quietly("DescribeTransactions", 0, ["TRANSACTIONAL_ID_NOT_FOUND"] * len(ids), seconds=60, TransactionalIds=ids)


def conversation(script=None, *, properties=PROPERTIES, alone=False):
    """On a broker of their own, as others list all transactions that there are. `alone`: Kafka answers what it verified together
    by the version of whoever came first."""
    if script is None:
        return lambda script: conversation(script, properties=properties, alone=alone)

    @functools.wraps(script)
    def served(talk):
        serve_transactions(talk)
        script(talk)
    return talking.conversation(served, properties=properties, alone=alone)


def init(talk, transactional_id, version=5, error="NONE", timeout=KEPT_MS, expected=(-1, -1), **more):
    """A producer: (id, epoch)."""
    answer = talk.ask("InitProducerId", version, TransactionalId=transactional_id, TransactionTimeoutMs=timeout,
                      ProducerId=expected[0], ProducerEpoch=expected[1], error=error, **more)
    return answer.get("ProducerId"), answer.get("ProducerEpoch")


def init_at_last(talk, transactional_id, version=5, **more):
    """Waits for what was open to be aborted."""
    answer = talk.ask_until("InitProducerId", version, TransactionalId=transactional_id, TransactionTimeoutMs=KEPT_MS,
                            ProducerId=-1, ProducerEpoch=-1, **more)
    return answer.get("ProducerId"), answer.get("ProducerEpoch")


def add(talk, version, transactional_id, producer, *topics, error="NONE", verify=False):
    """topics: (name, partition...)."""
    named = [{"Name": name, "Partitions": list(partitions)} for name, *partitions in topics]
    if version < 4:
        return talk.ask("AddPartitionsToTxn", version, V3AndBelowTransactionalId=transactional_id, error=error,
                        V3AndBelowProducerId=producer[0], V3AndBelowProducerEpoch=producer[1], V3AndBelowTopics=named)
    return talk.ask("AddPartitionsToTxn", version, error=error, Transactions=[
        {"TransactionalId": transactional_id, "ProducerId": producer[0], "ProducerEpoch": producer[1], "VerifyOnly": verify,
         "Topics": named}])


def begin(talk, version, transactional_id, producer, *topics):
    """The same once Kafka has written the markers of what came before."""
    named = [{"Name": name, "Partitions": list(partitions)} for name, *partitions in topics]
    return talk.ask_until("AddPartitionsToTxn", version, V3AndBelowTransactionalId=transactional_id,
                          V3AndBelowProducerId=producer[0], V3AndBelowProducerEpoch=producer[1], V3AndBelowTopics=named)


def add_offsets(talk, version, transactional_id, producer, group, error="NONE"):
    return talk.ask("AddOffsetsToTxn", version, TransactionalId=transactional_id, ProducerId=producer[0],
                    ProducerEpoch=producer[1], GroupId=group, error=error)


def commit_offsets(talk, version, transactional_id, producer, group, name, *partitions, error="NONE", member="",
                   generation=-1, instance=None):
    """partitions: (index, offset[, leader epoch[, metadata]])."""
    entries = []
    for index, offset, *rest in partitions:
        epoch, metadata = (*rest, *(-1, "")[len(rest):])
        entries.append({"PartitionIndex": index, "CommittedOffset": offset, "CommittedLeaderEpoch": epoch,
                        "CommittedMetadata": metadata})
    return talk.ask("TxnOffsetCommit", version, TransactionalId=transactional_id, GroupId=group, ProducerId=producer[0],
                    ProducerEpoch=producer[1], GenerationId=generation, MemberId=member, GroupInstanceId=instance, error=error,
                    Topics=[{"Name": name, "Partitions": entries}])


def end(talk, version, transactional_id, producer, committed, error="NONE"):
    """Whom a producer of version 2 goes on as."""
    answer = talk.ask("EndTxn", version, TransactionalId=transactional_id, ProducerId=producer[0], ProducerEpoch=producer[1],
                      Committed=committed, error=error)
    return answer.get("ProducerId", -1), answer.get("ProducerEpoch", -1)


def write(talk, version, transactional_id, producer, name, topic_id, sequence, *values, error="NONE", index=0, on=""):
    """One transactional batch."""
    data = records.batch(*((None, value) for value in values), attributes=0x10, producer_id=producer[0],
                         producer_epoch=producer[1], sequence=sequence)
    return produce(talk, version, name, partition(index, data), topic_id=topic_id, error=error,
                   transactional_id=transactional_id, on=on)


def describe(talk, *transactional_ids, error="NONE"):
    return talk.ask("DescribeTransactions", 0, TransactionalIds=list(transactional_ids), error=error)


def ended(talk, transactional_id):
    """Waits until all markers are written."""
    return talk.ask_until("DescribeTransactions", 0, TransactionalIds=[transactional_id], wanted=lambda answer:
                          answer["TransactionStates"][0]["TransactionState"] in ("Empty", "CompleteCommit", "CompleteAbort"))


def mark(talk, version, producer, committed, *topics, coordinator_epoch=0, error="NONE", transaction_version=0):
    return talk.ask("WriteTxnMarkers", version, error=error, Markers=[
        {"ProducerId": producer[0], "ProducerEpoch": producer[1], "TransactionResult": committed,
         "CoordinatorEpoch": coordinator_epoch, "TransactionVersion": transaction_version,
         "Topics": [{"Name": name, "PartitionIndexes": list(partitions)} for name, *partitions in topics]}])


def producers(talk, name, *partitions, error="NONE"):
    return talk.ask("DescribeProducers", 0, error=error, Topics=[{"Name": name, "PartitionIndexes": list(partitions)}])


def ends_of(talk, name, *partitions, isolation=0):
    return talk.ask("ListOffsets", 7, ReplicaId=-1, IsolationLevel=isolation, Topics=[{"Name": name, "Partitions": [
        {"PartitionIndex": index, "CurrentLeaderEpoch": -1, "Timestamp": timestamp}
        for index in partitions for timestamp in (-1,)]}])


# -- the good path -------------------------------------------------------------------------------------------------------


@conversation
def transactions_of_the_first_protocol_at_every_version(talk):
    name, topic_id = talk.topic(partitions=2)
    txn, group = talk.named("t"), talk.named("g")
    for version in range(5):
        producer = init_at_last(talk, txn, version=version)
        describe(talk, txn)
        adding = min(version, 3)
        add(talk, adding, txn, producer, (name, 0, 1))
        add(talk, adding, txn, producer, (name, 1))
        write(talk, 3 + 2 * version, txn, producer, name, topic_id, 0, f"a{version}", f"b{version}")
        write(talk, 3 + 2 * version, txn, producer, name, topic_id, 0, f"c{version}", index=1)
        add_offsets(talk, version, txn, producer, group)
        commit_offsets(talk, version, txn, producer, group, name, (0, version + 1), (1, 7, 0, f"note {version}"))
        fetch_offsets(talk, 7, group, [(name, topic_id, [0, 1])])
        fetch_offsets(talk, 7, group, [(name, topic_id, [0, 1])], stable=True, error=None)
        describe(talk, txn)
        producers(talk, name, 0, 1)
        end(talk, version, txn, producer, version % 2 == 0)
        ended(talk, txn)
        producers(talk, name, 0, 1)
        fetch_offsets(talk, 7, group, [(name, topic_id, [0, 1])], stable=True)
    for version in ends("Fetch"):
        fetch(talk, version, wanted(name, (0, 0), (1, 0), topic_id=topic_id), isolation=0)
        fetch(talk, version, wanted(name, (0, 0), (1, 0), topic_id=topic_id), isolation=1)


@conversation
def transactions_of_the_second_protocol(talk):
    name, topic_id = talk.topic(partitions=2)
    txn, group = talk.named("t"), talk.named("g")
    producer = init(talk, txn)
    for version, committed in ((12, True), (13, False), (13, True)):
        write(talk, version, txn, producer, name, topic_id, 0, "a", "b")
        write(talk, version, txn, producer, name, topic_id, 2, "c")
        write(talk, version, txn, producer, name, topic_id, 0, "d", index=1)
        commit_offsets(talk, 5, txn, producer, group, name, (0, version), (1, 7, 0, "note"))
        describe(talk, txn)
        fetch_offsets(talk, 7, group, [(name, topic_id, [0, 1])], stable=True, error=None)
        again = end(talk, 5, txn, producer, committed)
        ended(talk, txn)
        talk.note("the answer was not heard")
        end(talk, 5, txn, producer, committed)
        end(talk, 5, txn, producer, not committed, error=None)
        producer = again
        producers(talk, name, 0, 1)
        fetch_offsets(talk, 7, group, [(name, topic_id, [0, 1])], stable=True)
    write(talk, 13, txn, producer, name, topic_id, 0, "open")
    for version in ends("Fetch"):
        for isolation in (0, 1):
            fetch(talk, version, wanted(name, (0, 0), (1, 0), topic_id=topic_id), isolation=isolation)


@conversation
def a_transaction_without_partitions(talk):
    name, topic_id = talk.topic()
    for version in versions("EndTxn"):
        for committed in (True, False):
            txn = talk.named(f"t{version}-{committed}")
            producer = init(talk, txn)
            end(talk, version, txn, producer, committed, error=None)
            ended(talk, txn)
            end(talk, version, txn, producer, committed, error=None)
            end(talk, version, txn, (producer[0], producer[1] + 1), committed, error=None)
            ended(talk, txn)
    txn = talk.named("added nothing")
    producer = init(talk, txn)
    add(talk, 3, txn, producer)
    describe(talk, txn)
    end(talk, 4, txn, producer, True)
    ended(talk, txn)


# -- who is the producer -------------------------------------------------------------------------------------------------


@conversation
def timeouts_of_transactions(talk):
    for version in versions("InitProducerId"):
        for timeout in (0, -1, 100_001, 2147483647):
            init(talk, talk.named("t"), version, "INVALID_TRANSACTION_TIMEOUT", timeout=timeout)
        for timeout in (1, 100_000):
            init(talk, talk.named(f"t{timeout}"), version, timeout=timeout)
            describe(talk, talk.named(f"t{timeout}"))
        init(talk, "", version, "INVALID_REQUEST", timeout=0)


def write_and_commit(talk, versions, txn, producer, name, topic_id):
    """By these versions of Produce and EndTxn."""
    write(talk, versions[0], txn, producer, name, topic_id, 0, "new")
    end(talk, versions[1], txn, producer, True)
    ended(talk, txn)


@conversation
def producers_fence_each_other(talk):
    name, topic_id = talk.topic()
    for version in versions("InitProducerId"):
        txn = talk.named(f"t{version}")
        old = init(talk, txn, version)
        producer = init(talk, txn, version)
        add(talk, 3, txn, old, (name, 0), error=None)
        add(talk, 0, txn, old, (name, 0), error=None)
        end(talk, 5, txn, old, False, error=None)
        end(talk, 0, txn, old, False, error=None)
        add_offsets(talk, 4, txn, old, "g", error=None)
        add_offsets(talk, 0, txn, old, "g", error=None)
        add(talk, 3, txn, producer, (name, 0))
        write(talk, 9, txn, producer, name, topic_id, 0, "open")
        talk.note("another one comes while a transaction is open")
        init(talk, txn, version, "CONCURRENT_TRANSACTIONS")
        newest = init_at_last(talk, txn, version)
        write(talk, 9, txn, producer, name, topic_id, 1, "late", error=None)
        write(talk, 13, txn, producer, name, topic_id, 1, "late", error=None)
        end(talk, 4, txn, producer, True, error=None)
        end(talk, 5, txn, producer, True, error=None)
        describe(talk, txn)
        add(talk, 3, txn, newest, (name, 0))
        write_and_commit(talk, (9, 4), txn, newest, name, topic_id)


@conversation
def fencing_by_the_second_protocol(talk):
    name, topic_id = talk.topic()
    txn = talk.named("t")
    producer = init(talk, txn)
    write(talk, 13, txn, producer, name, topic_id, 0, "open")
    init(talk, txn, error="CONCURRENT_TRANSACTIONS")
    ended(talk, txn)
    end(talk, 5, txn, producer, False, error=None)
    write(talk, 13, txn, producer, name, topic_id, 1, "late", error=None)
    init(talk, txn, expected=producer, error=None)
    newest = init_at_last(talk, txn)
    init(talk, txn, expected=producer, error=None)
    write_and_commit(talk, (13, 5), txn, newest, name, topic_id)


@conversation
def a_producer_says_who_it_is(talk):
    name, topic_id = talk.topic()
    for version in range(3, wire.newest("InitProducerId") + 1):
        txn = talk.named(f"t{version}")
        init(talk, txn, version, "INVALID_REQUEST", expected=(5, -1))
        init(talk, txn, version, "INVALID_REQUEST", expected=(-1, 5))
        init(talk, talk.named(f"unknown{version}"), version, expected=(5_000_000, 3), error=None)
        first = init(talk, txn, version)
        second = init(talk, txn, version, expected=first)
        talk.note("the answer was not heard")
        init(talk, txn, version, expected=first, error=None)
        third = init(talk, txn, version, expected=second, error=None)
        init(talk, txn, version, expected=first, error=None)
        init(talk, txn, version, expected=(first[0], 77), error=None)
        init(talk, txn, version, expected=(5_000_000, 0), error=None)
        add(talk, 3, txn, third, (name, 0))
        talk.note("with a transaction open")
        init(talk, txn, version, expected=(5_000_000, 0), error=None)
        init(talk, txn, version, expected=first, error=None)
        ended(talk, txn)
        init(talk, txn, version, expected=third, error=None)
        init(talk, txn, version)
        describe(talk, txn)


TWO_PHASES = {**PROPERTIES, "unstable.api.versions.enable": "true"}


@conversation(properties=TWO_PHASES)
def two_phase_commit_is_off(talk):
    txn = talk.named("t")
    for flags in ({"Enable2Pc": True}, {"KeepPreparedTxn": True}, {"Enable2Pc": True, "KeepPreparedTxn": True}, {}):
        for timeout in (KEPT_MS, 2147483647, 0):
            init(talk, txn, 6, error=None, timeout=timeout, **flags)
        init(talk, "", 6, error=None, **flags)
        init(talk, txn, 6, error=None, expected=(5, -1), **flags)
        init(talk, None, 6, error=None, **flags)


@conversation
def an_open_transaction_times_out(talk):
    name, topic_id = talk.topic()
    for version in (4, 5):
        txn = talk.named(f"t{version}")
        producer = init(talk, txn, timeout=1000)
        if version == 4:
            add(talk, 3, txn, producer, (name, 0))
        write(talk, 9 if version == 4 else 13, txn, producer, name, topic_id, 0, "a")
        ended(talk, txn)
        write(talk, 9 if version == 4 else 13, txn, producer, name, topic_id, 1, "b", error=None)
        add(talk, 3, txn, producer, (name, 0), error=None)
        end(talk, version, txn, producer, True, error=None)
        end(talk, version, txn, producer, False, error=None)
        describe(talk, txn)
        producer = init(talk, txn, expected=producer, error=None)
        write(talk, 13, txn, init(talk, txn), name, topic_id, 0, "c")


# -- adding ---------------------------------------------------------------------------------------------------------------


@conversation
def partitions_that_cannot_be_added(talk):
    name, _ = talk.topic(partitions=2)
    nobody = talk.named("nobody")
    for version in versions("AddPartitionsToTxn"):
        txn = talk.named(f"t{version}")
        producer = init(talk, txn)
        ask = lambda *topics, error=None, who=producer, transactional_id=txn: add(talk, version, transactional_id, who, *topics,
                                                                                 error=error)
        ask((nobody, 0))
        ask((name, 0), (nobody, 0, 1))
        ask((name, 0, 7))
        ask((name, -1))
        ask(("a b", 0))
        ask(("__consumer_offsets", 0))
        ask(("__transaction_state", 0), (name, 1))
        ask(("__consumer_offsets", 999), (nobody, 0), (name, 1))
        describe(talk, txn)
        ask((name, 0), who=NO_PRODUCER)
        ask((name, 0), who=(producer[0], producer[1] + 1))
        ask((name, 0), who=(producer[0], -1))
        ask((name, 0), transactional_id=talk.named("unknown"))
        ask((name, 0), transactional_id="")
        ask((nobody, 0), transactional_id="")
        ask()
        ask((name,))
        ask((name, 0, 0))
        ask((name, 0), (name, 1))
        describe(talk, txn)


@conversation
def partitions_of_several_transactions(talk):
    """As brokers ask each other."""
    name, _ = talk.topic(partitions=2)
    for version in (4, 5):
        first, second = talk.named(f"a{version}"), talk.named(f"b{version}")
        one, two = init(talk, first), init(talk, second)
        entry = lambda txn, who, verify, *topics: {
            "TransactionalId": txn, "ProducerId": who[0], "ProducerEpoch": who[1], "VerifyOnly": verify,
            "Topics": [{"Name": topic, "Partitions": list(partitions)} for topic, *partitions in topics]}
        ask = lambda *entries, error="NONE": talk.ask("AddPartitionsToTxn", version, Transactions=list(entries), error=error)
        ask(entry(first, one, True, (name, 0)), error=None)
        ask(entry(first, one, False, (name, 0)), entry(second, two, False, (name, 1)))
        ask(entry(first, one, True, (name, 0, 1)), entry(second, two, True, (name, 0, 1)), error=None)
        ask(entry(first, NO_PRODUCER, True, (name, 0)), entry(second, (two[0], 9), True, (name, 0)), error=None)
        ask(entry("", one, True, (name, 0)), entry(talk.named("unknown"), two, True, (name, 0)), error=None)
        ask(entry(first, one, True, (name, 7)), entry(second, two, False, (name, 0), ("nobody", 1)), error=None)
        ask(entry(first, one, True, ("__consumer_offsets", 0), (name, 0)), error=None)
        ask(entry(first, one, False, ("__consumer_offsets", 0), (name, 0)), error=None)
        describe(talk, first, second)
        for txn, who in ((first, one), (second, two)):
            end(talk, 5, txn, who, False)
            ended(talk, txn)
        ask(entry(first, one, True, (name, 0)), error=None)
        ask(entry(first, (one[0], one[1] + 1), True, (name, 0)), error=None)


@conversation
def offsets_that_cannot_be_added(talk):
    for version in versions("AddOffsetsToTxn"):
        txn = talk.named(f"t{version}")
        producer = init(talk, txn)
        add_offsets(talk, version, txn, NO_PRODUCER, "g", error=None)
        add_offsets(talk, version, txn, (producer[0], 9), "g", error=None)
        add_offsets(talk, version, talk.named("unknown"), producer, "g", error=None)
        add_offsets(talk, version, "", producer, "g", error=None)
        add_offsets(talk, version, txn, producer, "", error=None)
        add_offsets(talk, version, txn, producer, "g")
        add_offsets(talk, version, txn, producer, "g")
        describe(talk, txn)


# -- committing offsets ---------------------------------------------------------------------------------------------------


@conversation
def offsets_that_cannot_be_committed(talk):
    name, topic_id = talk.topic(partitions=2)
    nobody = talk.named("nobody")
    for version in versions("TxnOffsetCommit"):
        txn, group = talk.named(f"t{version}"), talk.named(f"g{version}")
        producer = init(talk, txn)
        ask = lambda *partitions, who=producer, transactional_id=txn, group_id=group, topic=name, **more: commit_offsets(
            talk, version, transactional_id, who, group_id, topic, *partitions, **{"error": None, **more})
        talk.note("before the group was added")
        ask((0, 1))
        describe(talk, txn)
        add_offsets(talk, 3, txn, producer, group)
        ask((0, 1), who=NO_PRODUCER)
        ask((0, 1), who=(producer[0], producer[1] + 1))
        ask((0, 1), who=(producer[0], -1))
        ask((0, 1), transactional_id=talk.named("unknown"))
        ask((0, 1), transactional_id="")
        ask((0, 1), group_id="")
        ask((0, 1), topic=nobody)
        ask((7, 1), (1, 2))
        ask((-1, 1))
        ask()
        ask((0, 1, -1, "x" * 5000), (1, 5))
        ask((0, -5))
        if version >= 3:
            ask((0, 1), generation=5)
            ask((0, 1), generation=5, member="m")
            ask((0, 1), member="m")
            ask((0, 1), generation=-1, member="m", instance="i")
            talk.note("a group with a member")
            member = settle(talk, group)
            ask((0, 1), member=member, generation=1)
            ask((0, 2))
            ask((0, 1), member=member, generation=2)
            ask((0, 1), member=member, generation=0)
            ask((0, 1), member=member)
            ask((0, 1), member="nobody", generation=1)
            ask((0, 1), member="nobody", instance="i", generation=1)
            ask((0, 1), instance="i")
        fetch_offsets(talk, 7, group, [(name, topic_id, [0, 1])], stable=True, error=None)
        fetch_offsets(talk, 8, group, None, stable=True, error=None)
        end(talk, 4, txn, producer, True)
        ended(talk, txn)
        fetch_offsets(talk, 8, group, None, stable=True)


@conversation
def offsets_of_members_that_say_who_they_are(talk):
    name, topic_id = talk.topic(partitions=2)
    for version in range(3, wire.newest("TxnOffsetCommit") + 1):
        txn, group = talk.named(f"t{version}"), talk.named(f"g{version}")
        producer = init(talk, txn)
        add_offsets(talk, 3, txn, producer, group)
        ask = lambda *partitions, **more: commit_offsets(talk, version, txn, producer, group, name, *partitions, error=None,
                                                        **more)
        member = settle(talk, group, instance="i")
        ask((0, 1), member=member, instance="i", generation=1)
        ask((0, 1), member="nobody", instance="i", generation=1)
        ask((0, 1), member=member, instance="other", generation=1)
        ask((0, 1), member=member, instance="i", generation=7)
        ask((0, 1), generation=1)
        newer, newer_member = talk.named(f"new{version}"), member_id(talk, f"m{version}")
        enter_by_heartbeats(talk, 1, newer, newer_member, name)
        add_offsets(talk, 3, txn, producer, newer)
        ask = lambda *partitions, **more: commit_offsets(talk, version, txn, producer, newer, name, *partitions, error=None,
                                                        **more)
        ask((0, 1), member=newer_member, generation=1)
        ask((0, 1), member=newer_member, generation=0)
        ask((0, 1), member=newer_member, generation=5)
        ask((0, 1), member=newer_member)
        ask((0, 1), member="nobody", generation=1)
        ask((0, 1))
        end(talk, 4, txn, producer, True)
        ended(talk, txn)


@conversation
def pending_offsets(talk):
    name, topic_id = talk.topic(partitions=2)
    txn, group = talk.named("t"), talk.named("g")
    producer = init(talk, txn)
    look = lambda: [fetch_offsets(talk, version, group, topics, stable=stable, error=None)
                    for version in (7, 10) for topics in (None, [(name, topic_id, [0, 1])]) for stable in (False, True)]
    talk.ask("OffsetCommit", 8, GroupId=group, GenerationIdOrMemberEpoch=-1, MemberId="",
             Topics=[{"Name": name, "Partitions": [{"PartitionIndex": 0, "CommittedOffset": 3, "CommittedMetadata": "old"}]}])
    commit_offsets(talk, 5, txn, producer, group, name, (0, 10))
    look()
    commit_offsets(talk, 5, txn, producer, group, name, (0, 11), (1, 20))
    look()
    talk.ask("DescribeGroups", 5, Groups=[group])
    talk.note("somebody else commits meanwhile")
    talk.ask("OffsetCommit", 8, GroupId=group, GenerationIdOrMemberEpoch=-1, MemberId="",
             Topics=[{"Name": name, "Partitions": [{"PartitionIndex": 0, "CommittedOffset": 4, "CommittedMetadata": "new"}]}])
    look()
    talk.ask("OffsetDelete", 0, GroupId=group, Topics=[{"Name": name, "Partitions": [{"PartitionIndex": 1}]}], error=None)
    look()
    commit_offsets(talk, 5, txn, producer, group, name, (1, 21))
    producer = end(talk, 5, txn, producer, True)
    ended(talk, txn)
    look()
    commit_offsets(talk, 5, txn, producer, group, name, (0, 100), (1, 100))
    talk.ask("DeleteGroups", 2, GroupsNames=[group], error=None)
    look()
    end(talk, 5, txn, producer, True)
    ended(talk, txn)
    look()


# -- ending ---------------------------------------------------------------------------------------------------------------


@conversation
def ends_that_are_refused(talk):
    name, topic_id = talk.topic()
    for version in versions("EndTxn"):
        for committed in (True, False):
            txn = talk.named(f"t{version}-{committed}")
            producer = init(talk, txn)
            ask = lambda who=producer, transactional_id=txn, error=None, commit=committed: end(
                talk, version, transactional_id, who, commit, error=error)
            ask(transactional_id=talk.named("unknown"))
            ask(transactional_id="")
            ask(who=NO_PRODUCER)
            ask(who=(producer[0], producer[1] + 1))
            ask(who=(producer[0], producer[1] + 2))
            ask(who=(producer[0], -1))
            add(talk, 3, txn, producer, (name, 0))
            ask(who=NO_PRODUCER)
            ask(who=(producer[0], producer[1] + 1))
            ask(who=(producer[0], producer[1] - 1))
            following = ask(error="NONE")
            ended(talk, txn)
            ask(commit=not committed)
            ask()
            if version >= 5:
                ask(who=following, commit=not committed)
                ended(talk, txn)
                ask(who=following, commit=committed)
                ended(talk, txn)
                ask(who=producer)
            describe(talk, txn)


# -- markers --------------------------------------------------------------------------------------------------------------


@conversation
def markers_of_strangers(talk):
    name, topic_id = talk.topic(partitions=3)
    for version in versions("WriteTxnMarkers"):
        txn = talk.named(f"t{version}")
        producer = init(talk, txn)
        add(talk, 3, txn, producer, (name, 0, 1))
        write(talk, 9, txn, producer, name, topic_id, 0, "a")
        write(talk, 9, txn, producer, name, topic_id, 0, "a", index=1)
        talk.ask("WriteTxnMarkers", version, Markers=[])
        mark(talk, version, producer, False, (talk.named("nobody"), 0), error=None)
        mark(talk, version, producer, False, (name, 0, 7), (talk.named("nobody"), 0), error=None)
        mark(talk, version, producer, False, ("a b", 0), error=None)
        mark(talk, version, producer, False, (name,), error=None)
        mark(talk, version, producer, False, error=None)
        producers(talk, name, 0, 1, 2)
        mark(talk, version, (producer[0], producer[1] - 1), False, (name, 1), error=None)
        mark(talk, version, producer, False, (name, 1), coordinator_epoch=5, error=None)
        mark(talk, version, producer, False, (name, 1), coordinator_epoch=4, error=None)
        mark(talk, version, producer, False, (name, 1), coordinator_epoch=-1, error=None)
        mark(talk, version, (producer[0], producer[1] + 3), True, (name, 1), coordinator_epoch=5, error=None)
        mark(talk, version, (6_000_000 + version, 0), True, (name, 2), coordinator_epoch=0, error=None)
        mark(talk, version, (-1, -1), True, (name, 2), error=None)
        producers(talk, name, 0, 1, 2)
        one = {"ProducerId": producer[0], "ProducerEpoch": producer[1], "TransactionResult": False, "CoordinatorEpoch": 9}
        talk.ask("WriteTxnMarkers", version, error=None, Markers=[
            {**one, "Topics": [{"Name": name, "PartitionIndexes": [0]}]},
            {**one, "Topics": [{"Name": name, "PartitionIndexes": [2]}]},
            {**one, "ProducerId": 6_000_000 + version, "Topics": [{"Name": name, "PartitionIndexes": [0]}]}])
        end(talk, 4, txn, producer, True, error=None)
        if version >= 2:
            for level in (0, 1, 2, 3, -1):
                who = init(talk, talk.named(f"level{level}"))
                add(talk, 3, talk.named(f"level{level}"), who, (name, 2))
                write(talk, 9, talk.named(f"level{level}"), who, name, topic_id, 0, "x", index=2)
                mark(talk, version, who, False, (name, 2), transaction_version=level, error=None)
                mark(talk, version, (who[0], who[1] + 1), False, (name, 2), transaction_version=level, error=None)
                mark(talk, version, (who[0], who[1] + 1), False, (name, 2), transaction_version=level, error=None)
                producers(talk, name, 2)
        fetch(talk, 11, wanted(name, (0, 0), (1, 0), (2, 0)), isolation=1)


@conversation
def markers_of_strangers_among_offsets(talk):
    name, topic_id = talk.topic()
    txn, group = talk.named("t"), talk.named("g")
    for version in versions("WriteTxnMarkers"):
        producer = init_at_last(talk, txn)
        commit_offsets(talk, 5, txn, producer, group, name, (0, 10 + version))
        fetch_offsets(talk, 7, group, [(name, topic_id, [0])], stable=True, error=None)
        where = [entry["Partitions"][0] for entry in describe(talk, txn)["TransactionStates"][0]["Topics"]]
        mark(talk, version, producer, True, ("__consumer_offsets", *where), error=None)
        mark(talk, version, (producer[0], -1), True, ("__consumer_offsets", *where), error=None)
        mark(talk, version, producer, True, ("__consumer_offsets", 99), error=None)
        fetch_offsets(talk, 7, group, [(name, topic_id, [0])], stable=True, error=None)
        end(talk, 5, txn, producer, False, error=None)
        ended(talk, txn)
        fetch_offsets(talk, 7, group, [(name, topic_id, [0])], stable=True, error=None)


# -- looking --------------------------------------------------------------------------------------------------------------


@conversation
def transactions_are_described(talk):
    name, topic_id = talk.topic(partitions=3)
    other, _ = talk.topic("zother")
    txn = talk.named("t")
    producer = init(talk, txn)
    add(talk, 3, txn, producer, (other, 0), (name, 2, 0, 1))
    add_offsets(talk, 3, txn, producer, "g")
    describe(talk, txn, talk.named("unknown"), "", txn, error=None)
    describe(talk)
    time.sleep(0.01)  # None of these began in this millisecond.
    for version in versions("ListTransactions"):
        ask = lambda error="NONE", **fields: talk.ask("ListTransactions", version, error=error,
                                                      **{"StateFilters": [], "ProducerIdFilters": [producer[0]], **fields})
        ask()
        ask(ProducerIdFilters=[producer[0], 5_000_000, -1])
        ask(ProducerIdFilters=[5_000_000])
        for states in (["Ongoing"], ["Empty"], ["Ongoing", "CompleteCommit", "PrepareCommit", "PrepareAbort", "Dead",
                                                "CompleteAbort", "PrepareEpochFence"], ["ongoing"], ["nonsense"],
                       ["nonsense", "Ongoing", "more", "nonsense"], [""]):
            ask(StateFilters=states)
        if version >= 1:
            for duration in (0, -1, -2, 1_000_000, 9223372036854775807):
                ask(DurationFilter=duration, **({"ProducerIdFilters": [producer[0]]}))
        if version >= 2:
            for pattern in (None, "", txn, ".*", ".*-t", "trans", "t", "[", "(?i)TRANS.*", "(a"):
                ask(TransactionalIdPattern=pattern, error=None)
            ask(ProducerIdFilters=[], TransactionalIdPattern=talk.named(".*"))
    idle = init(talk, talk.named("idle"))
    for duration in (0, 1_000_000):
        talk.ask("ListTransactions", 1, StateFilters=[], ProducerIdFilters=[idle[0]], DurationFilter=duration)
    end(talk, 4, txn, producer, True)
    ended(talk, txn)
    for duration in (0, 1_000_000):
        talk.ask("ListTransactions", 1, StateFilters=[], ProducerIdFilters=[producer[0]], DurationFilter=duration)


@conversation
def producers_are_described(talk):
    name, topic_id = talk.topic(partitions=2)
    txn = talk.named("t")
    producer = init(talk, txn)
    plain = talk.ask("InitProducerId", 4, TransactionalId=None, TransactionTimeoutMs=60000)["ProducerId"]
    produce(talk, 9, name, partition(0, records.batch(("k", "v"), producer_id=plain, producer_epoch=0, sequence=0)))
    producers(talk, name, 0, 1)
    add(talk, 3, txn, producer, (name, 0, 1))
    producers(talk, name, 0, 1)
    write(talk, 9, txn, producer, name, topic_id, 0, "a", "b")
    producers(talk, name, 0, 1)
    end(talk, 4, txn, producer, True)
    ended(talk, txn)
    producers(talk, name, 0, 1)
    write(talk, 13, txn, producer, name, topic_id, 2, "c")
    producers(talk, name, 0, 1)
    producer = end(talk, 5, txn, producer, False)
    ended(talk, txn)
    producers(talk, name, 0, 1)
    write(talk, 13, txn, producer, name, topic_id, 0, "d")
    producers(talk, name, 0, 1)


# -- writing --------------------------------------------------------------------------------------------------------------


@conversation(alone=True)
def batches_outside_of_their_transaction(talk):
    name, topic_id = talk.topic(partitions=2)
    for version in (3, 8, 9, 10, 11, 12, 13):
        txn = talk.named(f"t{version}")
        producer = init(talk, txn)
        ask = lambda sequence=0, who=producer, transactional_id=txn, index=0: write(
            talk, version, transactional_id, who, name, topic_id, sequence, "v", index=index, error=None)
        talk.note("nothing was added")
        ask()
        describe(talk, txn)
        begin(talk, 3, txn, producer, (name, 1))
        ask()
        ask(index=1, who=NO_PRODUCER)
        ask(index=1, who=(producer[0], producer[1] + 1))
        ask(index=1, transactional_id=talk.named("unknown"))
        ask(index=1, transactional_id="")
        ask(index=1, transactional_id=None)
        ask(index=1, sequence=5)
        ask(index=1)
        ask(index=1)
        ask(index=1, sequence=3)
        ask(index=1, who=(producer[0], producer[1] + 1))
        ask(index=1, who=(producer[0], producer[1] - 1))
        talk.note("a plain batch in an open transaction")
        produce(talk, version, name, partition(1, records.batch(("k", "v"), producer_id=producer[0], producer_epoch=producer[1],
                                                                sequence=1)), topic_id=topic_id, error=None)
        produce(talk, version, name, partition(1, records.batch(("k", "v"))), topic_id=topic_id, transactional_id=txn, error=None)
        talk.note("after its end")
        end(talk, 4, txn, producer, True)
        ended(talk, txn)
        ask(index=1, sequence=1)
        ask(index=1, sequence=0)
        describe(talk, txn)
        producers(talk, name, 1)


@conversation(alone=True)
def several_partitions_of_which_one_was_not_added(talk):
    name, topic_id = talk.topic(partitions=3)
    for version in (9, 11, 12):
        txn = talk.named(f"t{version}")
        producer = init(talk, txn)
        begin(talk, 3, txn, producer, (name, 0))
        one = records.batch((None, "v"), attributes=0x10, producer_id=producer[0], producer_epoch=producer[1], sequence=0)
        produce(talk, version, name, partition(0, one), partition(1, one), partition(9, one), topic_id=topic_id,
                transactional_id=txn, error=None)
        describe(talk, txn)
        end(talk, 4, txn, producer, False)
        ended(talk, txn)


# -- what an open transaction does to others ------------------------------------------------------------------------------


@conversation
def an_open_transaction_in_the_way(talk):
    name, topic_id = talk.topic(partitions=2)
    txn = talk.named("t")
    produce(talk, 9, name, partition(0, records.batch(("k", "before"))))
    producer = init(talk, txn)
    write(talk, 13, txn, producer, name, topic_id, 0, "open")
    produce(talk, 9, name, partition(0, records.batch(("k", "behind"))))
    for version in ends("ListOffsets"):
        for isolation in (0, 1):
            for timestamp in (-1, -2, -3, 0, 1_000_000):
                if timestamp == -3 and version < 7:
                    continue
                talk.ask("ListOffsets", max(version, 2), ReplicaId=-1, IsolationLevel=isolation, error=None, Topics=[
                    {"Name": name, "Partitions": [
                        {"PartitionIndex": 0, "CurrentLeaderEpoch": -1, "Timestamp": timestamp}]}])
    for version in (4, 11, 18):
        for isolation in (0, 1):
            for offset in (0, 1, 2, 3):
                fetch(talk, version, wanted(name, (0, offset), topic_id=topic_id), isolation=isolation)
    waiting = talk.send("Fetch", 11, on="waits", ReplicaId=-1, MaxWaitMs=5000, MinBytes=1, MaxBytes=1 << 20, SessionId=0,
                        SessionEpoch=-1, IsolationLevel=1, Topics=[wanted(name, (0, 1))], ForgottenTopicsData=[])
    talk.waits(waiting)
    talk.ask("DeleteRecords", 2, TimeoutMs=5000, error=None, Topics=[{"Name": name, "Partitions": [
        {"PartitionIndex": 0, "Offset": 2}]}])
    fetch(talk, 11, wanted(name, (0, 2)), isolation=1, error=None)
    producers(talk, name, 0)
    end(talk, 5, txn, producer, False)
    talk.answer(waiting, error=None)
    ended(talk, txn)
    fetch(talk, 11, wanted(name, (0, 2)), isolation=1, error=None)
    ends_of(talk, name, 0, isolation=1)


@conversation
def a_topic_is_deleted_under_a_transaction(talk):
    name, topic_id = talk.topic(partitions=2)
    other, other_id = talk.topic("other")
    txn, group = talk.named("t"), talk.named("g")
    producer = init(talk, txn)
    write(talk, 13, txn, producer, name, topic_id, 0, "gone")
    write(talk, 13, txn, producer, other, other_id, 0, "stays")
    commit_offsets(talk, 5, txn, producer, group, name, (0, 1))
    commit_offsets(talk, 5, txn, producer, group, other, (0, 1))
    talk.ask("DeleteTopics", 6, Topics=[{"Name": name}], TimeoutMs=30000)
    talk.ask_until("Metadata", 12, "UNKNOWN_TOPIC_OR_PARTITION", Topics=[{"Name": name}], AllowAutoTopicCreation=False)
    describe(talk, txn)
    end(talk, 5, txn, producer, True)
    ended(talk, txn)
    fetch(talk, 13, wanted(other, (0, 0), topic_id=other_id), isolation=1)
    fetch_offsets(talk, 7, group, None, stable=True)
