"""Who may do what, by ACLs: CreateAcls, DescribeAcls, DeleteAcls, and every API as somebody who may, may not, or may only describe.

Nobody logs in, so every client is User:ANONYMOUS, and ACLs tell clients apart by their address. Whoever comes from 127.0.0.1 may do
everything, which is also the broker's own controller; each conversation has guests with addresses of their own.
"""

import functools
import time
import zlib

import records
import talk as talking
import wire
from scripts.classic_groups import beat, enter as enter_classic, leave, send_join, settle, sync
from scripts.consumer_groups import enter as enter_consumer, member_id, say
from scripts.fetch import wanted
from scripts.produce import ONE, partition
from scripts.transactions import NO_PRODUCER, init
from talk import ends, versions

PROPERTIES = {
    "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
    # So that somebody may make the first ACLs.
    "allow.everyone.if.no.acl.found": "true",
}
ANY, TOPIC, GROUP, CLUSTER, TRANSACTIONAL_ID, DELEGATION_TOKEN, USER = 1, 2, 3, 4, 5, 6, 7
MATCH, LITERAL, PREFIXED = 2, 3, 4
ALL, READ, WRITE, CREATE, DELETE, ALTER, DESCRIBE, CLUSTER_ACTION, DESCRIBE_CONFIGS, ALTER_CONFIGS, IDEMPOTENT_WRITE = range(2, 13)
DENY, ALLOW = 2, 3
EVERYBODY_HERE = "127.0.0.1"
OF_NAMES = (TOPIC, GROUP, TRANSACTIONAL_ID)


def acl(kind, name, operation, host, pattern=LITERAL, permission=ALLOW, principal="User:ANONYMOUS"):
    return {"ResourceType": kind, "ResourceName": name, "ResourcePatternType": pattern, "Principal": principal, "Host": host,
            "Operation": operation, "PermissionType": permission}


def acl_filter(kind=ANY, name=None, operation=ANY, host=None, pattern=ANY, permission=ANY, principal=None):
    return {"ResourceTypeFilter": kind, "ResourceNameFilter": name, "PatternTypeFilter": pattern, "PrincipalFilter": principal,
            "HostFilter": host, "Operation": operation, "PermissionType": permission}


def settle_acls(talk, acls):
    """Creates them and waits until they are in force."""
    talk.quietly("CreateAcls", 3, Creations=acls)
    for host in {one["Host"] for one in acls}:
        count = sum(one["Host"] == host for one in acls)
        talk.quietly("DescribeAcls", 3, lambda answer: sum(len(each["Acls"]) for each in answer["Resources"]) >= count,
                     **acl_filter(host=host))
    time.sleep(0.3)  # Kafka's controller has rules of its own, which follow a moment later.


def guest(talk, name, *acls):
    """A client with an address of its own; acls: (kind, name, operation). Returns the address."""
    number = zlib.crc32(f"{talk.name} {name}".encode())
    host = f"127.{1 + number % 200}.{number // 200 % 250}.{1 + number // 50000 % 200}"
    if acls:
        settle_acls(talk, [acl(kind, which, operation, host, PREFIXED if which == talk.prefix else LITERAL)
                           for kind, which, operation in acls])
    talk.connect(name, source=host)
    return host


def viewer(talk, *more):
    """May only describe."""
    return guest(talk, "viewer", *((kind, talk.prefix, DESCRIBE) for kind in OF_NAMES), *more)


def owner(talk, *more):
    """May do everything with what has a name of the conversation."""
    return guest(talk, "owner", *((kind, talk.prefix, ALL) for kind in OF_NAMES), *more)


def conversation(script):
    @functools.wraps(script)
    def locked(talk):
        settle_acls(talk, [acl(kind, "*", ALL, EVERYBODY_HERE) for kind in (*OF_NAMES, DELEGATION_TOKEN, USER)] +
                    [acl(CLUSTER, "kafka-cluster", ALL, EVERYBODY_HERE)])
        talk.connect("")
        script(talk)
    return talking.conversation(locked, properties=PROPERTIES)


def three(talk):
    guest(talk, "nobody")
    viewer(talk)
    owner(talk)
    return "nobody", "viewer", "owner"


def in_ends(talk, api, whom, **fields):
    """At the oldest and the newest version, by everybody; a function of the version makes a field."""
    for version in ends(api):
        for on in whom:
            made = {name: value(version) if callable(value) else value for name, value in fields.items()}
            talk.ask(api, version, on=on, error=None, **made)


# -- ACLs -------------------------------------------------------------------------------------------


@conversation
def acls_are_created_described_and_deleted(talk):
    name, host = talk.named("t"), guest(talk, "nobody")
    for version in versions("CreateAcls"):
        talk.ask("CreateAcls", version, error=None, Creations=[
            acl(TOPIC, name, READ, host), acl(TOPIC, name, READ, host), acl(TOPIC, name, WRITE, host, PREFIXED, DENY),
            acl(GROUP, "*", ALL, host, principal="User:a b:c")])
        talk.quietly("DescribeAcls", 3, lambda answer: len(answer["Resources"]) == 3, **acl_filter(host=host))
        talk.ask("DescribeAcls", version, error=None, **acl_filter(host=host))
        talk.ask("DescribeAcls", version, error=None, **acl_filter(TOPIC, host=host, operation=READ))
        talk.ask("DescribeAcls", version, error=None, **acl_filter(TOPIC, name + "-longer", host=host, pattern=MATCH))
        talk.ask("DescribeAcls", version, error=None, **acl_filter(GROUP, "g", host=host, pattern=MATCH))
        talk.ask("DescribeAcls", version, error=None, **acl_filter(GROUP, "g", host=host, pattern=LITERAL))
        talk.ask("DescribeAcls", version, error=None, **acl_filter(TOPIC, name, host=host, pattern=PREFIXED, permission=DENY))
        talk.ask("DescribeAcls", version, error=None, **acl_filter(host=host, principal="User:nobody"))
        talk.ask("DeleteAcls", version, error=None, Filters=[
            acl_filter(TOPIC, name, host=host, pattern=LITERAL), acl_filter(TOPIC, name, host=host, pattern=LITERAL),
            acl_filter(GROUP, host=host), acl_filter(USER, host=host)])
        talk.ask("DeleteAcls", version, error=None, Filters=[acl_filter(host=host)])
        talk.quietly("DescribeAcls", 3, lambda answer: not answer["Resources"], **acl_filter(host=host))


@conversation
def acls_that_cannot_be(talk):
    name, host = talk.named("t"), guest(talk, "nobody")
    good = acl(TOPIC, name, READ, host)
    for version in ends("CreateAcls"):
        for change in ({"ResourceName": ""}, {"ResourceType": 99}, {"ResourcePatternType": 99}, {"Operation": 99},
                       {"PermissionType": 99}, {"Principal": ""}, {"Principal": "anonymous"}, {"Principal": ":x"},
                       {"Principal": "User:"}, {"Principal": "Group:g"}, {"Host": ""}, {"Host": "no address"},
                       {"ResourceType": CLUSTER}, {"ResourceType": CLUSTER, "ResourceName": ""},
                       {"ResourceType": CLUSTER, "ResourceName": "kafka-cluster", "Operation": READ},
                       {"Operation": IDEMPOTENT_WRITE}, {"ResourceType": 1}, {"ResourcePatternType": 1},
                       {"ResourcePatternType": MATCH}, {"Operation": 1}, {"PermissionType": 1}, {"ResourceName": "a b\n"}):
            talk.ask("CreateAcls", version, error=None, Creations=[{**good, **change}, good])
        talk.ask("CreateAcls", version, error=None, Creations=[])
        for change in ({"ResourceTypeFilter": 99}, {"PatternTypeFilter": 99}, {"Operation": 99}, {"PermissionType": 99}):
            talk.ask("DescribeAcls", version, error=None, **{**acl_filter(host=host), **change})
            talk.ask("DeleteAcls", version, error=None, Filters=[{**acl_filter(host=host), **change}])
        talk.ask("DeleteAcls", version, error=None, Filters=[])
        talk.quietly("DeleteAcls", 3, Filters=[acl_filter(host=host)])


# -- records ----------------------------------------------------------------------------------------


@conversation
def records_are_written(talk):
    name, topic_id = talk.topic()
    for on in three(talk):
        for version in ends("Produce"):
            for topic, which in ((name, topic_id), (talk.named("missing"), wire.NO_ID)):
                talk.ask("Produce", version, on=on, error=None, TransactionalId=None, Acks=-1, TimeoutMs=5000, TopicData=[
                    {"Name": topic, "TopicId": which, "PartitionData": [partition(0, ONE), partition(7, ONE)]}])


@conversation
def offsets_of_logs_are_asked_for(talk):
    name, _ = talk.topic()
    missing = talk.named("missing")
    whom = three(talk)
    asked = [{"PartitionIndex": 0, "CurrentLeaderEpoch": -1, "Timestamp": -1}, {"PartitionIndex": 7, "Timestamp": -1}]
    in_ends(talk, "ListOffsets", whom, ReplicaId=-1,
            Topics=[{"Name": name, "Partitions": asked}, {"Name": missing, "Partitions": asked}])
    in_ends(talk, "OffsetForLeaderEpoch", whom, ReplicaId=-1, Topics=[
        {"Topic": topic, "Partitions": [{"Partition": 0, "CurrentLeaderEpoch": -1, "LeaderEpoch": 0}]}
        for topic in (name, missing)])
    in_ends(talk, "DescribeProducers", whom, Topics=[{"Name": topic, "PartitionIndexes": [0]} for topic in (name, missing)])
    in_ends(talk, "DeleteRecords", whom, TimeoutMs=5000, Topics=[
        {"Name": topic, "Partitions": [{"PartitionIndex": 0, "Offset": 0}]} for topic in (name, missing)])


# -- topics -----------------------------------------------------------------------------------------


@conversation
def metadata_creates_what_may_be_created(talk):
    guest(talk, "viewer", (TOPIC, talk.prefix, DESCRIBE))
    guest(talk, "creator", (TOPIC, talk.prefix, DESCRIBE), (TOPIC, talk.named("of-creator"), CREATE))
    guest(talk, "maker", (TOPIC, talk.prefix, DESCRIBE), (CLUSTER, "kafka-cluster", CREATE))
    for on in ("viewer", "creator", "maker"):
        for version in (*ends("Metadata"), 4):
            talk.ask("Metadata", version, on=on, error=None, AllowAutoTopicCreation=True, Topics=[
                {"Name": talk.named(f"of-{on}-{version}"), "TopicId": wire.NO_ID}] + [
                {"Name": talk.named(f"other-of-{on}"), "TopicId": wire.NO_ID}] * (on != "maker"))


# -- groups -----------------------------------------------------------------------------------------


@conversation
def coordinators_are_found(talk):
    group, transactional_id = talk.named("g"), talk.named("x")
    for on in three(talk):
        for version in ends("FindCoordinator"):
            for kind, key in ((0, group), (1, transactional_id)):
                if version < 1 and kind:
                    continue
                talk.quietly("FindCoordinator", version, lambda answer: "COORDINATOR_NOT_AVAILABLE" not in talking.errors_of(answer),
                             on=on, Key=key, KeyType=kind, CoordinatorKeys=[key], seconds=60)
                talk.ask("FindCoordinator", version, on=on, error=None, Key=key, KeyType=kind, CoordinatorKeys=[key])
        talk.ask("FindCoordinator", 4, on=on, error=None, KeyType=0, CoordinatorKeys=[group, "another"])


@conversation
def classic_groups_are_joined(talk):
    group = talk.named("g")
    for on in three(talk):
        for version in ends("JoinGroup"):
            own = f"{group}-{version}"
            talk.answer(send_join(talk, version, own, on=on, session=6000), None)
            sync(talk, min(version, 5), own, 1, "m", on=on, error=None)
            beat(talk, min(version, 4), own, 1, "m", on=on, error=None)
            leave(talk, min(version, 5), own, "m", on=on, error=None)


@conversation
def groups_are_described_listed_and_deleted(talk):
    group, empty = talk.named("g"), talk.named("empty")
    settle(talk, group)
    guest(talk, "lister", (CLUSTER, "kafka-cluster", DESCRIBE))
    for on in (*three(talk), "lister"):
        for version in ends("DescribeGroups"):
            talk.ask("DescribeGroups", version, on=on, error=None, Groups=[group, empty], IncludeAuthorizedOperations=version >= 3)
        for version in ends("ListGroups"):
            answer = talk.quietly("ListGroups", version, lambda answer: True, on=on, StatesFilter=[], TypesFilter=[])
            mine = [each["GroupId"] for each in answer["Groups"] if each["GroupId"].startswith(talk.prefix)]
            talk.note(f"{on} is shown {mine}, with the error {talking.errors_of(answer)}")
        for version in ends("DeleteGroups"):
            talk.ask("DeleteGroups", version, on=on, error=None, GroupsNames=[group, empty])


def commit_as(talk, version, on, group, name, topic_id):
    talk.ask("OffsetCommit", version, on=on, error=None, GroupId=group, GenerationIdOrMemberEpoch=-1, MemberId="", Topics=[
        {"Name": topic, "TopicId": which, "Partitions": [
            {"PartitionIndex": 0, "CommittedOffset": 5, "CommittedLeaderEpoch": -1, "CommittedMetadata": ""}]}
        for topic, which in ((name, topic_id), (talk.named("missing"), wire.random_id()))])


@conversation
def offsets_are_committed_and_fetched(talk):
    name, topic_id = talk.topic()
    group = talk.named("g")
    commit_as(talk, 9, "", group, name, topic_id)
    whom = three(talk)
    guest(talk, "reader", (GROUP, talk.prefix, READ))
    for on in (*whom, "reader"):
        for version in ends("OffsetCommit"):
            commit_as(talk, version, on, group, name, topic_id)
        for version in (*ends("OffsetFetch"), 7, 9):
            asked = [{"Name": topic, "PartitionIndexes": [0], **({"TopicId": which} if version >= 8 else {})}
                     for topic, which in ((name, topic_id), (talk.named("missing"), wire.random_id()))]
            for topics in (asked, None):
                if version < 2 and topics is None:
                    continue
                if version >= 8:
                    talk.ask("OffsetFetch", version, on=on, error=None, RequireStable=False, Groups=[
                        {"GroupId": group, "MemberId": None, "MemberEpoch": -1, "Topics": topics}])
                else:
                    talk.ask("OffsetFetch", version, on=on, error=None, GroupId=group, Topics=topics, RequireStable=False)
        talk.ask("OffsetDelete", 0, on=on, error=None, GroupId=group, Topics=[
            {"Name": talk.named("missing"), "Partitions": [{"PartitionIndex": 0}]},
            {"Name": name, "Partitions": [{"PartitionIndex": 7}]}])


# -- transactions -----------------------------------------------------------------------------------


@conversation
def producers_get_their_ids(talk):
    whom = three(talk)
    guest(talk, "writer", (TOPIC, talk.named("somewhere"), WRITE))
    guest(talk, "idempotent", (CLUSTER, "kafka-cluster", IDEMPOTENT_WRITE))
    talk.quietly("FindCoordinator", 4, KeyType=1, CoordinatorKeys=[talk.named("x")], seconds=60)
    for version in (0, 5):
        for on in (*whom, "writer", "idempotent"):
            for transactional_id in (None, talk.named("x")):
                def is_settled(answer):
                    return not set(talking.errors_of(answer)) & {"COORDINATOR_LOAD_IN_PROGRESS", "NOT_COORDINATOR",
                                                                 "CONCURRENT_TRANSACTIONS", "COORDINATOR_NOT_AVAILABLE"}
                talk.ask_until("InitProducerId", version, is_settled, on=on, TransactionalId=transactional_id,
                               TransactionTimeoutMs=60000, ProducerId=-1, ProducerEpoch=-1)


@conversation
def transactions_are_written(talk):
    name, topic_id = talk.topic()
    transactional_id, group = talk.named("x"), talk.named("g")
    whom = three(talk)
    guest(talk, "writer", (TRANSACTIONAL_ID, talk.prefix, WRITE))
    for on in (*whom, "writer"):
        for version in (0, 3):
            talk.ask("AddPartitionsToTxn", version, on=on, error=None, V3AndBelowTransactionalId=transactional_id,
                     V3AndBelowProducerId=NO_PRODUCER[0], V3AndBelowProducerEpoch=NO_PRODUCER[1], V3AndBelowTopics=[
                         {"Name": topic, "Partitions": [0]} for topic in (name, talk.named("missing"))])
        for version in (4, 5):
            talk.ask("AddPartitionsToTxn", version, on=on, error=None, Transactions=[
                {"TransactionalId": transactional_id, "ProducerId": NO_PRODUCER[0], "ProducerEpoch": NO_PRODUCER[1],
                 "VerifyOnly": True, "Topics": [{"Name": name, "Partitions": [0]}]}])
        for version in ends("AddOffsetsToTxn"):
            talk.ask("AddOffsetsToTxn", version, on=on, error=None, TransactionalId=transactional_id, ProducerId=NO_PRODUCER[0],
                     ProducerEpoch=NO_PRODUCER[1], GroupId=group)
        for version in ends("TxnOffsetCommit"):
            talk.ask("TxnOffsetCommit", version, on=on, error=None, TransactionalId=transactional_id, GroupId=group,
                     ProducerId=NO_PRODUCER[0], ProducerEpoch=NO_PRODUCER[1], GenerationId=-1, MemberId="", Topics=[
                         {"Name": topic, "Partitions": [{"PartitionIndex": 0, "CommittedOffset": 1, "CommittedMetadata": ""}]}
                         for topic in (name, talk.named("missing"))])
        for version in ends("EndTxn"):
            talk.ask("EndTxn", version, on=on, error=None, TransactionalId=transactional_id, ProducerId=NO_PRODUCER[0],
                     ProducerEpoch=NO_PRODUCER[1], Committed=True)
        for version in ends("WriteTxnMarkers"):
            talk.ask("WriteTxnMarkers", version, on=on, error=None, Markers=[
                {"ProducerId": NO_PRODUCER[0], "ProducerEpoch": NO_PRODUCER[1], "TransactionResult": False, "CoordinatorEpoch": 0,
                 "Topics": [{"Name": name, "PartitionIndexes": [0]}]}])
        data = records.batch((None, "v"), attributes=0x10, producer_id=NO_PRODUCER[0], producer_epoch=0, sequence=0)
        for version in ends("Produce"):
            talk.ask("Produce", version, on=on, error=None, TransactionalId=transactional_id, Acks=-1, TimeoutMs=5000, TopicData=[
                {"Name": name, "TopicId": topic_id, "PartitionData": [partition(0, data)]}])


@conversation
def transactions_are_looked_at(talk):
    name, _ = talk.topic()
    transactional_id = talk.named("x")
    talk.quietly("FindCoordinator", 4, KeyType=1, CoordinatorKeys=[transactional_id], seconds=60)
    producer = talk.quietly("InitProducerId", 4, TransactionalId=transactional_id, TransactionTimeoutMs=600000, ProducerId=-1,
                            ProducerEpoch=-1, seconds=60)
    talk.quietly("AddPartitionsToTxn", 3, V3AndBelowTransactionalId=transactional_id, seconds=60,
                 V3AndBelowProducerId=producer["ProducerId"], V3AndBelowProducerEpoch=producer["ProducerEpoch"],
                 V3AndBelowTopics=[{"Name": name, "Partitions": [0]}])
    whom = three(talk)
    guest(talk, "describer", (TRANSACTIONAL_ID, talk.prefix, DESCRIBE))
    for on in (*whom, "describer"):
        answer = talk.ask("DescribeTransactions", 0, on=on, error=None, TransactionalIds=[])
        answer = talk.quietly("DescribeTransactions", 0, lambda answer: True, on=on,
                              TransactionalIds=[transactional_id, talk.named("missing")])
        talk.note(f"{on} is told " + ", ".join(
            f"{wire.ERRORS.get(each['ErrorCode'], 'NONE')} {each['TransactionState'] or 'no state'} of "
            f"{[topic['Topic'] for topic in each['Topics']]}" for each in answer["TransactionStates"]))
        for version in ends("ListTransactions"):
            answer = talk.quietly("ListTransactions", version, lambda answer: True, on=on, StateFilters=[], ProducerIdFilters=[])
            mine = [each["TransactionalId"] for each in answer["TransactionStates"]
                    if each["TransactionalId"].startswith(talk.prefix)]
            talk.note(f"{on} is shown {mine}")
