"""Every API as three users who have logged in: `maynot` has no rule, `describes` may only describe, and `may` has exactly the rules that
docs/apis.md says the API needs, and no more. Each is asked for what there is and for what there is not: what is hidden from whom.

`may` must not meet a refusal, and `maynot` must, unless the API only leaves out what may not be seen (`hides`), or asks for nothing.
"""

import functools

import records
import talk as talking
import wire
from scripts import authorization, login
from scripts.authorization import (ALTER, ALTER_CONFIGS, CLUSTER, CLUSTER_ACTION, CREATE, DELETE, DESCRIBE, DESCRIBE_CONFIGS, GROUP,
                                   IDEMPOTENT_WRITE, LITERAL, OF_NAMES, PREFIXED, READ, TOPIC, TRANSACTIONAL_ID, USER, WRITE, acl,
                                   acl_filter)
from scripts.classic_groups import beat, enter, leave, settle, sync
from scripts.consumer_groups import enter as enter_by_heartbeats, member_id
from scripts.fetch import fill, wanted
from scripts.produce import ONE, partition
from scripts.transactions import serve_transactions
from talk import ends

USERS = ("maynot", "describes", "may")
CREATE_TOKENS, DESCRIBE_TOKENS = 13, 14
PROPERTIES = {
    **login.SECURED,
    "sasl.enabled.mechanisms": "PLAIN",
    login.PREFIX + "plain.sasl.jaas.config": f"{login.PACKAGE}plain.PlainLoginModule required " +
                                             " ".join(f'user_{name}="{name}-secret"' for name in USERS) + ";",
    "delegation.token.secret.key": "the-secret-of-tokens",
    "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
    # Whoever prepares a conversation comes to the listener without a login; so does Kafka's controller.
    "super.users": "User:ANONYMOUS",
}
REFUSED = "_AUTHORIZATION_FAILED"


def address(talk, name):
    """A conversation's users come from addresses of their own, so that rules of other conversations do not help them."""
    return authorization.address(talk.name, name)


def logged_in(talk, name):
    connection = wire.Connection(talk.host, talk.secured_port, "conversation", address(talk, name))
    for api, version, fields in (("SaslHandshake", 1, {"Mechanism": "PLAIN"}),
                                 ("SaslAuthenticate", 2, {"AuthBytes": login.plain(name, f"{name}-secret")})):
        answer = connection.answer(connection.send(api, version, fields), talking.ANSWER_DEADLINE_S)
        assert answer["ErrorCode"] == 0, f"{name} cannot log in: {answer}"
    talk.connections[name] = connection
    return connection


def rules(talk, name, *wanted_ones):
    """wanted_ones: (kind, operation[, name]); without a name it is whatever the conversation names, or the cluster."""
    return [acl(kind, *(rest or [talk.prefix if kind in OF_NAMES else "kafka-cluster"]), operation, address(talk, name),
                PREFIXED if kind in OF_NAMES and not rest else LITERAL, principal=f"User:{name}")
            for kind, operation, *rest in wanted_ones]


def judge(talk, apis, hides):
    """What holds whatever the answers are in detail."""
    def refusals(name):
        return [step for step in talk.steps if step.get("on") == name and step["ask"].split()[0] in apis
                and any(REFUSED in error for error in talking.errors_of(step.get("answer")))]
    for step in refusals("may"):
        talk.missed.append(f"{step['ask']}: `may` is refused: {step['answer']}")
    if not refusals("maynot") and not hides:
        talk.missed.append(f"{apis}: `maynot` is refused nothing")


def rights(*apis, may=(), hides=False):
    """A conversation about these APIs. The script is given the turns: (version, user) at the oldest and the newest version of the
    first of them, those who may come last."""
    def register(script):
        @functools.wraps(script)
        def with_users(talk):
            describes = [(kind, operation) for kind in (*OF_NAMES, CLUSTER) for operation in (DESCRIBE, DESCRIBE_CONFIGS)
                         if (kind, operation) != (TRANSACTIONAL_ID, DESCRIBE_CONFIGS)]
            authorization.settle_acls(talk, rules(talk, "describes", *describes) + rules(talk, "may", *may))
            unknown = talk.connect
            talk.connect = lambda name, **more: logged_in(talk, name) if name in USERS else unknown(name, **more)
            script(talk, [(version, name) for version in ends(apis[0]) for name in USERS])
            judge(talk, apis, hides)
        return login.login(with_users, properties=PROPERTIES)
    return register


def mine(talk, entries, key):
    return sorted(entry[key] for entry in entries if entry[key].startswith(talk.prefix))


def note(talk, api, version, on, shown, answer):
    """In place of an answer that tells of other conversations, too."""
    talk.note(f"{api} v{version} on {on} shows {shown}, with the errors {talking.errors_of(answer)}")


# -- records ----------------------------------------------------------------------------------------


@rights("Produce", may=[(TOPIC, WRITE)])
def records_are_written(talk, turns):
    name, topic_id = talk.topic()
    for version, on in turns:
        talk.ask("Produce", version, on=on, error=None, TransactionalId=None, Acks=-1, TimeoutMs=5000, TopicData=[
            {"Name": topic, "TopicId": which, "PartitionData": [partition(0, ONE)]}
            for topic, which in ((name, topic_id), (talk.named("missing"), wire.random_id()))])


@rights("Fetch", may=[(TOPIC, READ)])
def records_are_read(talk, turns):
    name, topic_id = talk.topic()
    fill(talk, name, "a")
    for version, on in turns:
        for topic, which in ((name, topic_id), (talk.named("missing"), wire.random_id())):
            talk.ask("Fetch", version, on=on, error=None, ReplicaId=-1, MaxWaitMs=0, MinBytes=0, MaxBytes=1 << 20, SessionId=0,
                     SessionEpoch=-1, IsolationLevel=0, ForgottenTopicsData=[], Topics=[wanted(topic, (0, 0), topic_id=which)])


@rights("ListOffsets", may=[(TOPIC, DESCRIBE)])
def offsets_are_listed(talk, turns):
    name, _ = talk.topic()
    for version, on in turns:
        talk.ask("ListOffsets", version, on=on, error=None, ReplicaId=-1, Topics=[
            {"Name": topic, "Partitions": [{"PartitionIndex": 0, "CurrentLeaderEpoch": -1, "Timestamp": -1}]}
            for topic in (name, talk.named("missing"))])


@rights("OffsetForLeaderEpoch", may=[(TOPIC, DESCRIBE)])
def epochs_are_asked_for(talk, turns):
    name, _ = talk.topic()
    for version, on in turns:
        talk.ask("OffsetForLeaderEpoch", version, on=on, error=None, ReplicaId=-1, Topics=[
            {"Topic": topic, "Partitions": [{"Partition": 0, "CurrentLeaderEpoch": -1, "LeaderEpoch": 0}]}
            for topic in (name, talk.named("missing"))])


@rights("DeleteRecords", may=[(TOPIC, DELETE)])
def records_are_deleted(talk, turns):
    name, _ = talk.topic()
    fill(talk, name, "a", "b")
    for version, on in turns:
        talk.ask("DeleteRecords", version, on=on, error=None, TimeoutMs=5000, Topics=[
            {"Name": topic, "Partitions": [{"PartitionIndex": 0, "Offset": 1}]} for topic in (name, talk.named("missing"))])


@rights("DescribeProducers", may=[(TOPIC, READ)])
def producers_are_described(talk, turns):
    name, _ = talk.topic()
    for version, on in turns:
        talk.ask("DescribeProducers", version, on=on, error=None,
                 Topics=[{"Name": topic, "PartitionIndexes": [0]} for topic in (name, talk.named("missing"))])


# -- topics -----------------------------------------------------------------------------------------


@rights("Metadata", may=[(TOPIC, DESCRIBE), (CLUSTER, DESCRIBE)])
def topics_are_shown(talk, turns):
    name, topic_id = talk.topic()
    for version, on in [*turns, *((8, on) for on in USERS)]:
        talk.ask("Metadata", version, on=on, error=None, AllowAutoTopicCreation=False, IncludeTopicAuthorizedOperations=True,
                 IncludeClusterAuthorizedOperations=version == 8,
                 # Before v4 to ask for a topic is to have it made, which is another right.
                 Topics=[{"Name": topic, "TopicId": wire.NO_ID} for topic in (name, talk.named("missing"))[:1 if version < 4 else 2]])
        if version >= 12:
            for which in (topic_id, wire.random_id()):
                talk.ask("Metadata", version, on=on, error=None, Topics=[{"Name": None, "TopicId": which}])
        answer = talk.quietly("Metadata", version, lambda answer: True, on=on, Topics=None if version else [])
        note(talk, "Metadata", version, on, mine(talk, answer["Topics"], "Name"), {})


@rights("Metadata", may=[(TOPIC, DESCRIBE), (TOPIC, CREATE)])
def topics_are_made_by_asking(talk, turns):
    for version, on in [*turns, *((4, on) for on in USERS)]:
        talk.ask("Metadata", version, on=on, error=None, AllowAutoTopicCreation=True, Topics=[
            {"Name": talk.named(f"of-{on}-{version}"), "TopicId": wire.NO_ID}])


@rights("DescribeTopicPartitions", may=[(TOPIC, DESCRIBE)])
def topics_are_described(talk, turns):
    name, _ = talk.topic(partitions=2)
    for version, on in turns:
        for topic in (name, talk.named("missing")):
            talk.ask("DescribeTopicPartitions", version, on=on, error=None, ResponsePartitionLimit=100, Cursor=None,
                     Topics=[{"Name": topic}])
        answer = talk.quietly("DescribeTopicPartitions", version, lambda answer: True, on=on, ResponsePartitionLimit=2000,
                              Cursor=None, Topics=[])
        note(talk, "DescribeTopicPartitions", version, on, mine(talk, answer["Topics"], "Name"), {})


@rights("CreateTopics", may=[(TOPIC, CREATE)])
def topics_are_created(talk, turns):
    there, _ = talk.topic()
    for version, on in turns:
        for validate in (True, False):
            talk.ask("CreateTopics", version, on=on, error=None, TimeoutMs=30000, ValidateOnly=validate, Topics=[
                {"Name": name, "NumPartitions": 1, "ReplicationFactor": 1} for name in (there, talk.named(f"by-{on}-{version}"))])


@rights("CreateTopics", may=[(TOPIC, CREATE), (TOPIC, DESCRIBE_CONFIGS)])
def configs_of_what_was_created_are_told(talk, turns):
    for version, on in turns:
        talk.ask("CreateTopics", version, on=on, error=None, TimeoutMs=30000, Topics=[
            {"Name": talk.named(f"by-{on}-{version}"), "NumPartitions": 1, "ReplicationFactor": 1,
             "Configs": [{"Name": "retention.ms", "Value": "60000"}]}])


@rights("DeleteTopics", may=[(TOPIC, DELETE)])
def topics_are_deleted(talk, turns):
    for version, on in turns:
        name, _ = talk.topic(f"by-{on}-{version}")
        missing = talk.named("missing")
        if version < 6:
            talk.ask("DeleteTopics", version, on=on, error=None, TimeoutMs=30000, TopicNames=[name, missing])
            continue
        talk.ask("DeleteTopics", version, on=on, error=None, TimeoutMs=30000,
                 Topics=[{"Name": topic, "TopicId": wire.NO_ID} for topic in (name, missing)])
        _, topic_id = talk.topic(f"by-{on}-id")
        for which in (topic_id, wire.random_id()):
            talk.ask("DeleteTopics", version, on=on, error=None, TimeoutMs=30000, Topics=[{"Name": None, "TopicId": which}])


@rights("CreatePartitions", may=[(TOPIC, ALTER)])
def partitions_are_added(talk, turns):
    name, _ = talk.topic()
    for version, on in turns:
        talk.ask("CreatePartitions", version, on=on, error=None, TimeoutMs=30000, ValidateOnly=False, Topics=[
            {"Name": topic, "Count": 2 + version, "Assignments": None} for topic in (name, talk.named("missing"))])


# -- configs ----------------------------------------------------------------------------------------

#: By type: topic, broker, client metrics, group.
CONFIGS = {2: ("topic", "retention.ms", "60000"), 4: (None, "log.cleaner.threads", "1"), 16: ("metrics", "interval.ms", "60000"),
           32: ("g", "consumer.session.timeout.ms", "50000")}


def resources(talk):
    talk.topic()
    for kind, (word, key, value) in CONFIGS.items():
        yield kind, talk.named(word) if word else "1", key, value
    yield 2, talk.named("missing"), *CONFIGS[2][1:]


@rights("DescribeConfigs", may=[(kind, DESCRIBE_CONFIGS) for kind in (TOPIC, GROUP, CLUSTER)])
def configs_are_described(talk, turns):
    asked = list(resources(talk))
    for version, on in turns:
        for kind, name, key, _ in asked:
            talk.ask("DescribeConfigs", version, on=on, error=None, IncludeSynonyms=False, Resources=[
                {"ResourceType": kind, "ResourceName": name, "ConfigurationKeys": [key]}])


@rights("AlterConfigs", may=[(kind, ALTER_CONFIGS) for kind in (TOPIC, GROUP, CLUSTER)])
def configs_are_replaced(talk, turns):
    asked = list(resources(talk))
    for version, on in turns:
        for kind, name, key, value in asked:
            talk.ask("AlterConfigs", version, on=on, error=None, ValidateOnly=kind == 4, Resources=[
                {"ResourceType": kind, "ResourceName": name, "Configs": [{"Name": key, "Value": value}]}])


@rights("IncrementalAlterConfigs", may=[(kind, ALTER_CONFIGS) for kind in (TOPIC, GROUP, CLUSTER)])
def configs_are_altered(talk, turns):
    asked = list(resources(talk))
    for version, on in turns:
        for kind, name, key, value in asked:
            talk.ask("IncrementalAlterConfigs", version, on=on, error=None, ValidateOnly=kind == 4, Resources=[
                {"ResourceType": kind, "ResourceName": name, "Configs": [{"Name": key, "ConfigOperation": 0, "Value": value}]}])


@rights("ListConfigResources", may=[(CLUSTER, DESCRIBE_CONFIGS)])
def resources_with_configs_are_listed(talk, turns):
    kind, name, key, value = next(each for each in resources(talk) if each[0] == 16)
    talk.ask("IncrementalAlterConfigs", 1, ValidateOnly=False, Resources=[
        {"ResourceType": kind, "ResourceName": name, "Configs": [{"Name": key, "ConfigOperation": 0, "Value": value}]}])
    for version, on in turns:
        def shown(answer):
            return on == "maynot" or mine(talk, answer["ConfigResources"], "ResourceName")
        talk.quietly("ListConfigResources", version, shown, on=on, ResourceTypes=[16])
        # Others' are listed, too, so that only a refusal can be compared as it is.
        answer = talk.ask("ListConfigResources", version, on=on, error=None, ResourceTypes=[16])
        if on != "maynot":
            talk.steps.pop()
            note(talk, "ListConfigResources", version, on, mine(talk, answer["ConfigResources"], "ResourceName"), answer)


# -- groups -----------------------------------------------------------------------------------------


@rights("FindCoordinator", may=[(GROUP, DESCRIBE), (TRANSACTIONAL_ID, DESCRIBE)])
def coordinators_are_found(talk, turns):
    serve_transactions(talk)
    for version, on in turns:
        for kind, key in ((0, talk.named("g")), (1, talk.named("x"))):
            if version or not kind:
                talk.ask("FindCoordinator", version, on=on, error=None, Key=key, KeyType=kind, CoordinatorKeys=[key])


@rights("JoinGroup", may=[(GROUP, READ)])
def groups_are_joined(talk, turns):
    for version, on in turns:
        group = talk.named(f"g-{on}-{version}")
        if on == "may":
            enter(talk, version, group, on=on, session=6000)
        else:
            talk.ask("JoinGroup", version, on=on, error=None, GroupId=group, MemberId="", SessionTimeoutMs=6000,
                     RebalanceTimeoutMs=6000, ProtocolType="consumer", Protocols=[
                         {"Name": "range", "Metadata": records.subscription("orders")}])


@rights("SyncGroup", may=[(GROUP, READ)])
def groups_are_synchronised(talk, turns):
    for version, on in turns:
        group = talk.named(f"g-{on}-{version}")
        answer = enter(talk, 9, group)
        sync(talk, version, group, answer["GenerationId"], answer["MemberId"], on=on, error=None,
             assignments=[(answer["MemberId"], b"mine")])
        sync(talk, version, talk.named("missing"), 1, "m", on=on, error=None)


@rights("Heartbeat", may=[(GROUP, READ)])
def groups_are_kept(talk, turns):
    member = settle(talk, talk.named("g"), session=60000)
    for version, on in turns:
        beat(talk, version, talk.named("g"), 1, member, on=on, error=None)
        beat(talk, version, talk.named("missing"), 1, "m", on=on, error=None)


@rights("LeaveGroup", may=[(GROUP, READ)])
def groups_are_left(talk, turns):
    for version, on in turns:
        group = talk.named(f"g-{on}-{version}")
        member = settle(talk, group)
        leave(talk, version, group, member, on=on, error=None)
        leave(talk, version, talk.named("missing"), "m", on=on, error=None)


@rights("DescribeGroups", may=[(GROUP, DESCRIBE)])
def groups_are_described(talk, turns):
    settle(talk, talk.named("g"), session=60000)
    for version, on in turns:
        talk.ask("DescribeGroups", version, on=on, error=None, Groups=[talk.named("g"), talk.named("missing")],
                 IncludeAuthorizedOperations=version >= 3)


@rights("ListGroups", may=[(GROUP, DESCRIBE)], hides=True)
def groups_are_listed(talk, turns):
    settle(talk, talk.named("g"), session=60000)
    for version, on in turns:
        # Who may describe the cluster is told of all groups, also of other conversations.
        answer = talk.quietly("ListGroups", version, lambda answer: True, on=on, StatesFilter=[], TypesFilter=[])
        note(talk, "ListGroups", version, on, mine(talk, answer["Groups"], "GroupId"), answer)


@rights("DeleteGroups", may=[(GROUP, DELETE)])
def groups_are_deleted(talk, turns):
    for version, on in turns:
        group = talk.named(f"g-{on}-{version}")
        leave(talk, 5, group, settle(talk, group))
        talk.ask("DeleteGroups", version, on=on, error=None, GroupsNames=[group, talk.named("missing")])


def commit(talk, version, on, group, *topics, **more):
    """topics: (name, id)."""
    talk.ask("OffsetCommit", version, on=on, GroupId=group, GenerationIdOrMemberEpoch=-1, MemberId="", Topics=[
        {"Name": name, "TopicId": topic_id, "Partitions": [
            {"PartitionIndex": 0, "CommittedOffset": 5, "CommittedLeaderEpoch": -1, "CommittedMetadata": ""}]}
        for name, topic_id in topics], **more)


@rights("OffsetCommit", may=[(GROUP, READ), (TOPIC, READ)])
def offsets_are_committed(talk, turns):
    topic, missing = talk.topic(), (talk.named("missing"), wire.random_id())
    for version, on in turns:
        commit(talk, version, on, talk.named("g"), topic, missing, error=None)


@rights("OffsetFetch", may=[(GROUP, DESCRIBE), (TOPIC, DESCRIBE)])
def offsets_are_fetched(talk, turns):
    topic, missing = talk.topic(), (talk.named("missing"), wire.random_id())
    commit(talk, 9, "", talk.named("g"), topic)
    for version, on in turns:
        for group in (talk.named("g"), talk.named("missing")):
            asked = [{"Name": name, "PartitionIndexes": [0], **({"TopicId": topic_id} if version >= 8 else {})}
                     for name, topic_id in (topic, missing)]
            if version < 8:
                talk.ask("OffsetFetch", version, on=on, error=None, GroupId=group, Topics=asked)
                continue
            for topics in (asked, None):
                talk.ask("OffsetFetch", version, on=on, error=None, RequireStable=False, Groups=[
                    {"GroupId": group, "MemberId": None, "MemberEpoch": -1, "Topics": topics}])


@rights("OffsetDelete", may=[(GROUP, DELETE), (TOPIC, READ)])
def offsets_are_deleted(talk, turns):
    topic = talk.topic()
    commit(talk, 9, "", talk.named("g"), topic)
    for version, on in turns:
        for group in (talk.named("g"), talk.named("missing")):
            talk.ask("OffsetDelete", version, on=on, error=None, GroupId=group, Topics=[
                {"Name": name, "Partitions": [{"PartitionIndex": 0}]} for name in (topic[0], talk.named("missing"))])


@rights("ConsumerGroupHeartbeat", may=[(GROUP, READ), (TOPIC, DESCRIBE)])
def consumer_groups_are_joined(talk, turns):
    name, _ = talk.topic()
    for version, on in turns:
        for topic in (name, talk.named("missing")):
            enter_by_heartbeats(talk, version, talk.named(f"g-{on}-{version}-{topic[-4:]}"), member_id(talk, f"{on}{version}{topic}"),
                                topic, on=on, error=None)


@rights("ConsumerGroupDescribe", may=[(GROUP, DESCRIBE), (TOPIC, DESCRIBE)])
def consumer_groups_are_described(talk, turns):
    name, _ = talk.topic()
    enter_by_heartbeats(talk, 1, talk.named("g"), member_id(talk, "m"), name)
    for version, on in turns:
        for word in ("g", "missing"):
            talk.ask("ConsumerGroupDescribe", version, on=on, error=None, GroupIds=[talk.named(word)], IncludeAuthorizedOperations=True)


# -- transactions -----------------------------------------------------------------------------------


def begin(talk, transactional_id, *topics):
    """A producer with an open transaction that has these topics: (id, epoch)."""
    producer = talk.ask_until("InitProducerId", 4, TransactionalId=transactional_id, TransactionTimeoutMs=600_000, ProducerId=-1,
                              ProducerEpoch=-1, seconds=60)
    who = producer["ProducerId"], producer["ProducerEpoch"]
    if topics:
        talk.quietly("AddPartitionsToTxn", 3, seconds=60, V3AndBelowTransactionalId=transactional_id, V3AndBelowProducerId=who[0],
                     V3AndBelowProducerEpoch=who[1], V3AndBelowTopics=[{"Name": name, "Partitions": [0]} for name in topics])
    return who


@rights("InitProducerId", may=[(TRANSACTIONAL_ID, WRITE), (CLUSTER, IDEMPOTENT_WRITE)])
def producers_get_their_ids(talk, turns):
    serve_transactions(talk)
    for version, on in turns:
        for transactional_id in (None, talk.named(f"x-{on}-{version}")):
            talk.ask("InitProducerId", version, on=on, error=None, TransactionalId=transactional_id, TransactionTimeoutMs=60000,
                     ProducerId=-1, ProducerEpoch=-1)


@rights("AddPartitionsToTxn", may=[(TRANSACTIONAL_ID, WRITE), (TOPIC, WRITE), (CLUSTER, CLUSTER_ACTION)])
def partitions_are_added_to_transactions(talk, turns):
    serve_transactions(talk)
    name, _ = talk.topic()
    for version, on in turns:
        transactional_id = talk.named(f"x-{on}-{version}")
        who = begin(talk, transactional_id, *([name] if version >= 4 else []))
        topics = [{"Name": topic, "Partitions": [0]} for topic in (name, talk.named("missing"))]
        for asked in (topics[:1], topics):
            talk.ask("AddPartitionsToTxn", version, on=on, error=None, **({
                "V3AndBelowTransactionalId": transactional_id, "V3AndBelowProducerId": who[0], "V3AndBelowProducerEpoch": who[1],
                "V3AndBelowTopics": asked} if version < 4 else {"Transactions": [
                    {"TransactionalId": transactional_id, "ProducerId": who[0], "ProducerEpoch": who[1], "VerifyOnly": True,
                     "Topics": asked}]}))


@rights("AddOffsetsToTxn", may=[(TRANSACTIONAL_ID, WRITE), (GROUP, READ)])
def offsets_are_added_to_transactions(talk, turns):
    serve_transactions(talk)
    for version, on in turns:
        who = begin(talk, talk.named(f"x-{on}-{version}"))
        for word in (f"x-{on}-{version}", "missing"):
            talk.ask("AddOffsetsToTxn", version, on=on, error=None, TransactionalId=talk.named(word), ProducerId=who[0],
                     ProducerEpoch=who[1], GroupId=talk.named("g"))


@rights("TxnOffsetCommit", may=[(TRANSACTIONAL_ID, WRITE), (GROUP, READ), (TOPIC, READ)])
def offsets_are_committed_in_transactions(talk, turns):
    serve_transactions(talk)
    name, _ = talk.topic()
    for version, on in turns:
        transactional_id, group = talk.named(f"x-{on}-{version}"), talk.named(f"g-{on}-{version}")
        who = begin(talk, transactional_id)
        talk.quietly("AddOffsetsToTxn", 3, TransactionalId=transactional_id, ProducerId=who[0], ProducerEpoch=who[1], GroupId=group,
                     seconds=60)
        talk.ask("TxnOffsetCommit", version, on=on, error=None, TransactionalId=transactional_id, GroupId=group, ProducerId=who[0],
                 ProducerEpoch=who[1], GenerationId=-1, MemberId="", Topics=[
                     {"Name": topic, "Partitions": [{"PartitionIndex": 0, "CommittedOffset": 1, "CommittedMetadata": ""}]}
                     for topic in (name, talk.named("missing"))])


@rights("Produce", may=[(TRANSACTIONAL_ID, WRITE), (TOPIC, WRITE)])
def records_are_written_in_transactions(talk, turns):
    serve_transactions(talk)
    name, topic_id = talk.topic()
    for version, on in turns:
        transactional_id = talk.named(f"x-{on}-{version}")
        who = begin(talk, transactional_id, name)
        data = records.batch((None, "v"), attributes=0x10, producer_id=who[0], producer_epoch=who[1], sequence=0)
        talk.ask("Produce", version, on=on, error=None, TransactionalId=transactional_id, Acks=-1, TimeoutMs=5000, TopicData=[
            {"Name": name, "TopicId": topic_id, "PartitionData": [partition(0, data)]}])


@rights("EndTxn", may=[(TRANSACTIONAL_ID, WRITE)])
def transactions_end(talk, turns):
    serve_transactions(talk)
    name, _ = talk.topic()
    for version, on in turns:
        who = begin(talk, talk.named(f"x-{on}-{version}"), name)
        for word in (f"x-{on}-{version}", "missing"):
            talk.ask("EndTxn", version, on=on, error=None, TransactionalId=talk.named(word), ProducerId=who[0], ProducerEpoch=who[1],
                     Committed=True)


@rights("WriteTxnMarkers", may=[(CLUSTER, ALTER)])
def markers_are_written(talk, turns):
    serve_transactions(talk)
    name, _ = talk.topic()
    for version, on in turns:
        who = begin(talk, talk.named(f"x-{on}-{version}"), name)
        talk.ask("WriteTxnMarkers", version, on=on, error=None, Markers=[
            {"ProducerId": who[0], "ProducerEpoch": who[1], "TransactionResult": False, "CoordinatorEpoch": 0,
             "Topics": [{"Name": topic, "PartitionIndexes": [0]} for topic in (name, talk.named("missing"))]}])


@rights("DescribeTransactions", may=[(TRANSACTIONAL_ID, DESCRIBE), (TOPIC, DESCRIBE)])
def transactions_are_described(talk, turns):
    serve_transactions(talk)
    name, _ = talk.topic()
    begin(talk, talk.named("x"), name)
    for version, on in turns:
        for word in ("x", "missing"):
            talk.ask("DescribeTransactions", version, on=on, error=None, TransactionalIds=[talk.named(word)])


@rights("ListTransactions", may=[(TRANSACTIONAL_ID, DESCRIBE)], hides=True)
def transactions_are_listed(talk, turns):
    serve_transactions(talk)
    name, _ = talk.topic()
    who = begin(talk, talk.named("x"), name)
    for version, on in turns:
        talk.ask("ListTransactions", version, on=on, error=None, StateFilters=[], ProducerIdFilters=[who[0]])


# -- ACLs and users ---------------------------------------------------------------------------------


@rights("DescribeAcls", may=[(CLUSTER, DESCRIBE)])
def acls_are_described(talk, turns):
    for version, on in turns:
        talk.ask("DescribeAcls", version, on=on, error=None, **acl_filter(host=address(talk, "may")))
        talk.ask("DescribeAcls", version, on=on, error=None, **acl_filter(host=address(talk, "missing")))


@rights("CreateAcls", may=[(CLUSTER, ALTER)])
def acls_are_created(talk, turns):
    for version, on in turns:
        talk.ask("CreateAcls", version, on=on, error=None, Creations=[
            acl(TOPIC, talk.named("t"), READ, address(talk, "friend")), acl(TOPIC, "", READ, address(talk, "friend"))])


@rights("DeleteAcls", may=[(CLUSTER, ALTER)])
def acls_are_deleted(talk, turns):
    for version, on in turns:
        authorization.settle_acls(talk, [acl(TOPIC, talk.named("t"), READ, address(talk, "friend"))])
        talk.ask("DeleteAcls", version, on=on, error=None, Filters=[
            acl_filter(host=address(talk, "friend")), acl_filter(host=address(talk, "missing"))])


def quota(talk):
    return {"Entity": [{"EntityType": "user", "EntityName": talk.named("u")}],
            "Ops": [{"Key": "producer_byte_rate", "Value": 1000.0, "Remove": False}]}


def of_user(talk, word):
    return [{"EntityType": "user", "MatchType": 0, "Match": talk.named(word)}]


@rights("DescribeClientQuotas", may=[(CLUSTER, DESCRIBE_CONFIGS)])
def quotas_are_described(talk, turns):
    talk.ask("AlterClientQuotas", 1, ValidateOnly=False, Entries=[quota(talk)])
    talk.quietly("DescribeClientQuotas", 1, lambda answer: bool(answer["Entries"]), Strict=True, Components=of_user(talk, "u"))
    for version, on in turns:
        for word in ("u", "missing"):
            talk.ask("DescribeClientQuotas", version, on=on, error=None, Strict=True, Components=of_user(talk, word))


@rights("AlterClientQuotas", may=[(CLUSTER, ALTER_CONFIGS)])
def quotas_are_altered(talk, turns):
    for version, on in turns:
        talk.ask("AlterClientQuotas", version, on=on, error=None, ValidateOnly=False, Entries=[quota(talk)])


@rights("DescribeUserScramCredentials", may=[(CLUSTER, DESCRIBE)])
def users_are_described(talk, turns):
    for version, on in turns:
        for words in (["u"], ["u", "v"]):
            talk.ask("DescribeUserScramCredentials", version, on=on, error=None, Users=[{"Name": talk.named(word)} for word in words])


@rights("AlterUserScramCredentials", may=[(CLUSTER, ALTER)])
def users_are_altered(talk, turns):
    for version, on in turns:
        talk.ask("AlterUserScramCredentials", version, on=on, error=None, Deletions=[], Upsertions=[
            {"Name": talk.named("u"), "Mechanism": 1, "Iterations": 4096, "Salt": b"salt", "SaltedPassword": bytes(32)}])
        talk.ask("AlterUserScramCredentials", version, on=on, error=None, Upsertions=[],
                 Deletions=[{"Name": talk.named("missing"), "Mechanism": 1}])


# -- delegation tokens ------------------------------------------------------------------------------


def owner(name):
    return {"OwnerPrincipalType": "User", "OwnerPrincipalName": name}


def principal(name):
    return {"PrincipalType": "User", "PrincipalName": name}


def told(talk, on, token):
    talk.quietly("DescribeDelegationToken", 3, lambda answer: token["TokenId"] in [each["TokenId"] for each in answer["Tokens"]],
                 on=on, Owners=None)


# Everybody makes tokens of his own; CREATE_TOKENS is for those of others.
@rights("CreateDelegationToken", may=[(USER, CREATE_TOKENS, "User:maynot")])
def tokens_are_made(talk, turns):
    for version, on in turns:
        talk.ask("CreateDelegationToken", version, on=on, error=None, Renewers=[], MaxLifetimeMs=-1)
        if version >= 3:
            talk.ask("CreateDelegationToken", version, on=on, error=None, Renewers=[], MaxLifetimeMs=-1,
                     **owner("maynot" if on == "may" else "may"))


def moved(talk, api, turns, **fields):
    """By the owner, by a renewer, and by somebody else."""
    token = talk.ask("CreateDelegationToken", 3, on="may", Renewers=[principal("describes")], MaxLifetimeMs=-1)
    hmac = token["Hmac"] if isinstance(token["Hmac"], bytes) else bytes.fromhex(token["Hmac"])
    told(talk, "may", token)
    for version, on in turns:
        talk.ask(api, version, on=on, error=None, Hmac=hmac, **fields)
        talk.ask(api, version, on=on, error=None, Hmac=b"no such token", **fields)


@rights("RenewDelegationToken", hides=True)
def tokens_are_renewed(talk, turns):
    moved(talk, "RenewDelegationToken", turns, RenewPeriodMs=3_600_000)


@rights("ExpireDelegationToken", hides=True)
def tokens_expire(talk, turns):
    moved(talk, "ExpireDelegationToken", turns, ExpiryTimePeriodMs=7_200_000)


@rights("DescribeDelegationToken", may=[(USER, DESCRIBE_TOKENS, "User:describes")], hides=True)
def tokens_are_described(talk, turns):
    token = talk.ask("CreateDelegationToken", 3, on="describes", Renewers=[], MaxLifetimeMs=-1)
    told(talk, "describes", token)
    for version, on in turns:
        answer = talk.quietly("DescribeDelegationToken", version, lambda answer: True, on=on, Owners=[principal("describes")])
        is_there = token["TokenId"] in [each["TokenId"] for each in answer["Tokens"]]
        note(talk, "DescribeDelegationToken", version, on, ["the token of `describes`"] if is_there else [], answer)
        talk.ask("DescribeDelegationToken", version, on=on, error=None, Owners=[principal("nobody")])


# -- the cluster ------------------------------------------------------------------------------------


@rights("DescribeCluster", may=[(CLUSTER, DESCRIBE)], hides=True)
def the_cluster_is_described(talk, turns):
    for version, on in turns:
        talk.ask("DescribeCluster", version, on=on, error=None, IncludeClusterAuthorizedOperations=True)


@rights("DescribeQuorum", may=[(CLUSTER, DESCRIBE)])
def the_quorum_is_described(talk, turns):
    for version, on in turns:
        talk.ask("DescribeQuorum", version, on=on, error=None, Topics=[
            {"TopicName": "__cluster_metadata", "Partitions": [{"PartitionIndex": 0}]}])


@rights("DescribeLogDirs", may=[(CLUSTER, DESCRIBE)])
def log_directories_are_described(talk, turns):
    name, _ = talk.topic()
    for version, on in turns:
        talk.ask("DescribeLogDirs", version, on=on, error=None, Topics=[
            {"Topic": topic, "Partitions": [0]} for topic in (name, talk.named("missing"))])


@rights("AlterReplicaLogDirs", may=[(CLUSTER, ALTER)])
def replicas_change_their_directories(talk, turns):
    name, _ = talk.topic()
    for version, on in turns:
        talk.ask("AlterReplicaLogDirs", version, on=on, error=None, Dirs=[
            {"Path": "/nowhere", "Topics": [{"Name": topic, "Partitions": [0]} for topic in (name, talk.named("missing"))]}])


@rights("ElectLeaders", may=[(CLUSTER, ALTER)])
def leaders_are_elected(talk, turns):
    name, _ = talk.topic()
    for version, on in turns:
        talk.ask("ElectLeaders", version, on=on, error=None, ElectionType=0, TimeoutMs=5000,
                 TopicPartitions=[{"Topic": topic, "Partitions": [0]} for topic in (name, talk.named("missing"))])


@rights("AlterPartitionReassignments", may=[(CLUSTER, ALTER)])
def partitions_are_reassigned(talk, turns):
    name, _ = talk.topic()
    for version, on in turns:
        talk.ask("AlterPartitionReassignments", version, on=on, error=None, TimeoutMs=5000, Topics=[
            {"Name": topic, "Partitions": [{"PartitionIndex": 0, "Replicas": [1]}]} for topic in (name, talk.named("missing"))])


@rights("ListPartitionReassignments", may=[(CLUSTER, DESCRIBE)])
def reassignments_are_listed(talk, turns):
    name, _ = talk.topic()
    for version, on in turns:
        talk.ask("ListPartitionReassignments", version, on=on, error=None, TimeoutMs=5000,
                 Topics=[{"Name": topic, "PartitionIndexes": [0]} for topic in (name, talk.named("missing"))])


@rights("UpdateFeatures", may=[(CLUSTER, ALTER)])
def features_are_updated(talk, turns):
    for version, on in turns:
        talk.ask("UpdateFeatures", version, on=on, error=None, TimeoutMs=5000, ValidateOnly=version > 0, FeatureUpdates=[
            {"Feature": "group.version", "MaxVersionLevel": 1, "AllowDowngrade": False, "UpgradeType": 1}])


@rights("UnregisterBroker", may=[(CLUSTER, ALTER)])
def brokers_are_unregistered(talk, turns):
    for version, on in turns:
        talk.ask("UnregisterBroker", version, on=on, error=None, BrokerId=99)


@rights("AddRaftVoter", may=[(CLUSTER, ALTER)])
def voters_are_added(talk, turns):
    for version, on in turns:
        talk.ask("AddRaftVoter", version, on=on, error=None, ClusterId="another", TimeoutMs=1000, VoterId=7,
                 VoterDirectoryId=wire.random_id(), Listeners=[])


@rights("RemoveRaftVoter", may=[(CLUSTER, ALTER)])
def voters_are_removed(talk, turns):
    for version, on in turns:
        talk.ask("RemoveRaftVoter", version, on=on, error=None, ClusterId="another", VoterId=7, VoterDirectoryId=wire.random_id())
