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


def address(conversation, name):
    """One that nobody else has."""
    number = zlib.crc32(f"{conversation} {name}".encode())
    return f"127.{1 + number % 200}.{number // 200 % 250}.{1 + number // 50000 % 200}"


def guest(talk, name, *acls):
    """A client with an address of its own; acls: (kind, name, operation). Returns the address."""
    host = address(talk.name, name)
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


@conversation
def acls_are_for_administrators(talk):
    host = guest(talk, "nobody")
    guest(talk, "viewer", (CLUSTER, "kafka-cluster", DESCRIBE))
    alterer = guest(talk, "alterer", (CLUSTER, "kafka-cluster", ALTER))
    name = talk.named("t")
    for on in ("nobody", "viewer", "alterer"):
        for version in ends("DescribeAcls"):
            talk.ask("DescribeAcls", version, on=on, error=None, **acl_filter(host=alterer))
        for version in ends("CreateAcls"):
            talk.ask("CreateAcls", version, on=on, error=None, Creations=[acl(TOPIC, name, READ, host)])
        for version in ends("DeleteAcls"):
            talk.ask("DeleteAcls", version, on=on, error=None, Filters=[acl_filter(TOPIC, name, host=host)])


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
def records_are_read(talk):
    name, topic_id = talk.topic()
    other, other_id = talk.topic("other")
    for on in three(talk):
        for version in ends("Fetch"):
            for topic, which in ((name, topic_id), (talk.named("missing"), wire.random_id())):
                talk.ask("Fetch", version, on=on, error=None, ReplicaId=-1, MaxWaitMs=0, MinBytes=0, MaxBytes=1 << 20, SessionId=0,
                         SessionEpoch=-1, IsolationLevel=0, ForgottenTopicsData=[],
                         Topics=[wanted(topic, (0, 0), topic_id=which), wanted(other, (0, 0), topic_id=other_id)])
            # A topic that a client may not read does not end the wait for one that it may read.
            talk.ask("Fetch", version, on=on, error=None, ReplicaId=-1, MaxWaitMs=1000, MinBytes=1, MaxBytes=1 << 20, SessionId=0,
                     SessionEpoch=-1, IsolationLevel=0, ForgottenTopicsData=[],
                     Topics=[wanted(name, (0, 0), topic_id=topic_id), wanted(other, (0, 0), topic_id=other_id)])
    # A follower, who is a client like any other without CLUSTER_ACTION.
    talk.ask("Fetch", 4, on="owner", error=None, ReplicaId=7, MaxWaitMs=0, MinBytes=0, MaxBytes=1 << 20,
             Topics=[wanted(name, (0, 0))])


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
def metadata_shows_what_may_be_described(talk):
    name, topic_id = talk.topic()
    whom = three(talk)
    for on in whom:
        talk.ask("Metadata", 0, on=on, error=None, Topics=[{"Name": name, "TopicId": wire.NO_ID}, {"Name": "a b"}])
        for version in (4, wire.newest("Metadata")):
            talk.ask("Metadata", version, on=on, error=None, AllowAutoTopicCreation=False,
                     Topics=[{"Name": name, "TopicId": wire.NO_ID}, {"Name": talk.named("missing"), "TopicId": wire.NO_ID},
                             {"Name": "a b", "TopicId": wire.NO_ID}])
    for on in whom:
        for version in (8, 10, 13):
            talk.ask("Metadata", version, on=on, error=None, AllowAutoTopicCreation=False,
                     IncludeClusterAuthorizedOperations=version < 11, IncludeTopicAuthorizedOperations=True,
                     Topics=[{"Name": name, "TopicId": wire.NO_ID}, {"Name": talk.named("missing"), "TopicId": wire.NO_ID}])
        for which in (topic_id, wire.random_id()):
            talk.ask("Metadata", 12, on=on, error=None, Topics=[{"Name": None, "TopicId": which}])
        # Nobody but the owner's sees anything of this conversation; others are not shown by their names alone.
        answer = talk.quietly("Metadata", 12, lambda answer: True, on=on, Topics=None)
        mine = sorted(topic["Name"] for topic in answer["Topics"] if topic["Name"].startswith(talk.prefix))
        strange = [topic["Name"] for topic in answer["Topics"] if not topic["Name"].startswith(talk.prefix)]
        talk.note(f"{on} is shown {mine}, and {len(strange)} others")


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


@conversation
def topics_are_described_in_pages(talk):
    name, _ = talk.topic(partitions=2)
    for on in three(talk):
        # What may not be described comes last, in the order of a hash set.
        asked = [name, talk.named("missing"), "a b"] if on != "nobody" else []
        for names in (asked, [name], [talk.named("missing")]):
            talk.ask("DescribeTopicPartitions", 0, on=on, error=None, ResponsePartitionLimit=100, Cursor=None,
                     Topics=[{"Name": each} for each in names]) if names else None
        answer = talk.quietly("DescribeTopicPartitions", 0, lambda answer: True, on=on, ResponsePartitionLimit=2000, Cursor=None,
                              Topics=[])
        mine = sorted(topic["Name"] for topic in answer["Topics"] if topic["Name"].startswith(talk.prefix))
        talk.note(f"{on} is shown {mine}")


@conversation
def topics_are_created(talk):
    whom = three(talk)
    guest(talk, "creator", (TOPIC, talk.prefix, CREATE))
    guest(talk, "maker", (CLUSTER, "kafka-cluster", CREATE))
    for version in ends("CreateTopics"):
        for on in (*whom, "creator", "maker"):
            for validate in (True, False):
                talk.ask("CreateTopics", version, on=on, error=None, TimeoutMs=30000, ValidateOnly=validate, Topics=[
                    {"Name": talk.named(f"by-{on}-{version}"), "NumPartitions": 1, "ReplicationFactor": 1},
                    {"Name": "a b", "NumPartitions": 1, "ReplicationFactor": 1}])
    for on in (*whom, "maker"):
        talk.ask("CreateTopics", 7, on=on, error=None, TimeoutMs=30000, Topics=[
            {"Name": talk.named("by-owner-7"), "NumPartitions": 1, "ReplicationFactor": 1}])
        twice = {"Name": talk.named("twice"), "NumPartitions": 1, "ReplicationFactor": 1}
        talk.ask("CreateTopics", 7, on=on, error=None, TimeoutMs=30000, Topics=[twice, twice])


@conversation
def topics_are_deleted(talk):
    whom = three(talk)
    guest(talk, "deleter", (TOPIC, talk.prefix, DELETE))
    guest(talk, "chief", (CLUSTER, "kafka-cluster", ALL))
    for on in (*whom, "deleter", "chief"):
        for version in ends("DeleteTopics"):
            name, topic_id = talk.topic(f"by-{on}-{version}")
            if version < 6:
                talk.ask("DeleteTopics", version, on=on, error=None, TimeoutMs=30000,
                         TopicNames=[name, talk.named("missing"), "a b"])
                continue
            talk.ask("DeleteTopics", version, on=on, error=None, TimeoutMs=30000, Topics=[
                {"Name": name, "TopicId": wire.NO_ID}, {"Name": talk.named("missing"), "TopicId": wire.NO_ID}])
            other, other_id = talk.topic(f"by-{on}-id")
            talk.ask("DeleteTopics", version, on=on, error=None, TimeoutMs=30000, Topics=[{"Name": None, "TopicId": other_id}])
            talk.ask("DeleteTopics", version, on=on, error=None, TimeoutMs=30000,
                     Topics=[{"Name": None, "TopicId": wire.random_id()}])


@conversation
def partitions_are_added(talk):
    name, _ = talk.topic()
    whom = three(talk)
    for version in ends("CreatePartitions"):
        for on in whom:
            talk.ask("CreatePartitions", version, on=on, error=None, TimeoutMs=30000, ValidateOnly=True, Topics=[
                {"Name": name, "Count": 3, "Assignments": None}, {"Name": talk.named("missing"), "Count": 3, "Assignments": None}])


@conversation
def configs_are_described_and_altered(talk):
    name, _ = talk.topic()
    group = talk.named("g")
    guest(talk, "nobody")
    guest(talk, "viewer", (TOPIC, talk.prefix, DESCRIBE_CONFIGS), (GROUP, talk.prefix, DESCRIBE_CONFIGS),
          (CLUSTER, "kafka-cluster", DESCRIBE_CONFIGS))
    guest(talk, "alterer", (TOPIC, talk.prefix, ALTER_CONFIGS), (GROUP, talk.prefix, ALTER_CONFIGS))
    # By type: topic, broker, its loggers, client metrics, group; and one that is none.
    resources = ((2, name, "retention.ms"), (2, talk.named("missing"), "retention.ms"), (4, "1", "log.cleaner.threads"),
                 (4, "", "log.cleaner.threads"), (8, "1", "no.such.logger"), (16, talk.named("metrics"), "interval.ms"),
                 (32, group, "consumer.session.timeout.ms"))
    for on in ("nobody", "viewer", "alterer"):
        for version in ends("DescribeConfigs"):
            for kind, resource, key in resources:
                talk.ask("DescribeConfigs", version, on=on, error=None, IncludeSynonyms=False, Resources=[
                    {"ResourceType": kind, "ResourceName": resource, "ConfigurationKeys": [key]}])
        for version in ends("IncrementalAlterConfigs"):
            for kind, resource, key in resources:
                value = "WARN" if kind == 8 else "60000"
                talk.ask("IncrementalAlterConfigs", version, on=on, error=None, ValidateOnly=True, Resources=[
                    {"ResourceType": kind, "ResourceName": resource, "Configs": [
                        {"Name": key, "ConfigOperation": 0, "Value": "2" if kind == 4 else value}]}])
        for version in ends("AlterConfigs"):
            for kind, resource, key in resources[:4]:
                talk.ask("AlterConfigs", version, on=on, error=None, ValidateOnly=True, Resources=[
                    {"ResourceType": kind, "ResourceName": resource, "Configs": [
                        {"Name": key, "Value": "2" if kind == 4 else "60000"}]}])


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


@conversation
def consumer_groups_are_joined_and_described(talk):
    name, _ = talk.topic()
    group = talk.named("g")
    enter_consumer(talk, 1, group, member_id(talk, "m"), name)
    whom = three(talk)
    guest(talk, "reader", (GROUP, talk.prefix, READ), (GROUP, talk.prefix, DESCRIBE))
    for on in (*whom, "reader"):
        for version in ends("ConsumerGroupHeartbeat"):
            enter_consumer(talk, version, talk.named(f"g-{on}-{version}"), member_id(talk, f"{on}{version}"), name, on=on, error=None)
        enter_consumer(talk, 1, talk.named(f"regex-{on}"), member_id(talk, f"regex{on}"), on=on, error=None,
                       SubscribedTopicNames=None, SubscribedTopicRegex=talk.prefix + ".*")
        for version in ends("ConsumerGroupDescribe"):
            talk.ask("ConsumerGroupDescribe", version, on=on, error=None, GroupIds=[group, talk.named("missing")],
                     IncludeAuthorizedOperations=True)


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


# -- the cluster ------------------------------------------------------------------------------------


@conversation
def the_cluster_is_described(talk):
    guest(talk, "nobody")
    guest(talk, "viewer", (CLUSTER, "kafka-cluster", DESCRIBE))
    guest(talk, "configurer", (CLUSTER, "kafka-cluster", DESCRIBE_CONFIGS))
    whom = ("nobody", "viewer", "configurer")
    in_ends(talk, "DescribeCluster", whom, IncludeClusterAuthorizedOperations=True)
    in_ends(talk, "DescribeQuorum", ("nobody", "configurer"), Topics=[
        {"TopicName": "__cluster_metadata", "Partitions": [{"PartitionIndex": 0}]}])
    in_ends(talk, "DescribeLogDirs", ("nobody", "configurer"), Topics=None)
    in_ends(talk, "ListPartitionReassignments", whom, TimeoutMs=5000, Topics=None)
    in_ends(talk, "DescribeClientQuotas", whom, Components=[], Strict=False)
    in_ends(talk, "ListConfigResources", ("nobody", "viewer"), ResourceTypes=[])
    # A real Kafka never answers this one to who may not: it is asked last, each on a connection of its own.
    for on in whom:
        talk.ask("DescribeUserScramCredentials", 0, on=on, error=None, seconds=4, Users=None)


@conversation
def the_cluster_is_altered(talk):
    name, _ = talk.topic()
    guest(talk, "nobody")
    guest(talk, "viewer", (CLUSTER, "kafka-cluster", DESCRIBE), (CLUSTER, "kafka-cluster", DESCRIBE_CONFIGS))
    whom = ("nobody", "viewer")
    in_ends(talk, "AlterClientQuotas", whom, ValidateOnly=True, Entries=[
        {"Entity": [{"EntityType": "user", "EntityName": talk.named("u")}],
         "Ops": [{"Key": "producer_byte_rate", "Value": 1000.0, "Remove": False}]}])
    in_ends(talk, "AlterUserScramCredentials", whom, Upsertions=[],
            Deletions=[{"Name": talk.named("u"), "Mechanism": 1}, {"Name": talk.named("v"), "Mechanism": 1}])
    in_ends(talk, "AlterReplicaLogDirs", whom, Dirs=[{"Path": "/nowhere", "Topics": [{"Name": name, "Partitions": [0]}]}])
    in_ends(talk, "ElectLeaders", whom, ElectionType=0, TimeoutMs=5000, TopicPartitions=[{"Topic": name, "Partitions": [0]}])
    in_ends(talk, "AlterPartitionReassignments", whom, TimeoutMs=5000, Topics=[
        {"Name": name, "Partitions": [{"PartitionIndex": 0, "Replicas": [1]}]}])
    in_ends(talk, "UpdateFeatures", whom, TimeoutMs=5000, ValidateOnly=True, FeatureUpdates=[])
    in_ends(talk, "UnregisterBroker", whom, BrokerId=99)
    in_ends(talk, "AddRaftVoter", whom, ClusterId=None, TimeoutMs=1000, VoterId=7, VoterDirectoryId=wire.random_id(), Listeners=[])
    in_ends(talk, "RemoveRaftVoter", whom, ClusterId=None, VoterId=7, VoterDirectoryId=wire.random_id())
    in_ends(talk, "CreateDelegationToken", whom, Renewers=[], MaxLifetimeMs=-1)
    in_ends(talk, "DescribeDelegationToken", whom, Owners=None)


# -- how rules are judged ---------------------------------------------------------------------------


@conversation
def a_rule_that_denies_wins(talk):
    name, _ = talk.topic()
    host = guest(talk, "guest", (TOPIC, talk.prefix, ALL))
    asked = [{"Name": name, "TopicId": wire.NO_ID}]

    def show():
        talk.ask("Metadata", 12, on="guest", error=None, Topics=asked, AllowAutoTopicCreation=False,
                 IncludeTopicAuthorizedOperations=True)

    show()
    for operation, pattern, which in ((WRITE, LITERAL, name), (ALTER_CONFIGS, PREFIXED, talk.prefix[:-3]), (ALTER, LITERAL, "*"),
                                      (DESCRIBE, LITERAL, name), (ALL, LITERAL, name)):
        settle_acls(talk, [acl(TOPIC, which, operation, host, pattern, DENY)])
        talk.quietly("DescribeAcls", 3, lambda answer: bool(answer["Resources"]),
                     **acl_filter(TOPIC, which, operation, host, pattern, DENY))
        show()
    talk.quietly("DeleteAcls", 3, Filters=[acl_filter(host=host)])
    talk.quietly("DescribeAcls", 3, lambda answer: not answer["Resources"], **acl_filter(host=host))
    show()
