"""What administrators ask: log directories, reassignments, elections, producers, quorum, features."""

import records
import wire
from talk import conversation, ends, versions


def chosen(name, *indexes, key="Topic", partitions="Partitions"):
    return [{key: name, partitions: list(indexes)}]


def fill(talk, name, count=5, **fields):
    talk.ask("Produce", 9, TransactionalId=None, Acks=-1, TimeoutMs=5000, TopicData=[
        {"Name": name, "PartitionData": [{"Index": 0, "Records": records.batch(
            *(("k", f"v{index}") for index in range(count)), **fields)}]}])


@conversation
def describe_log_dirs(talk):
    name, _ = talk.topic(partitions=2)
    fill(talk, name)
    for version in versions("DescribeLogDirs"):
        talk.ask("DescribeLogDirs", version, Topics=chosen(name, 0, 1))
        talk.ask("DescribeLogDirs", version, Topics=chosen(name, 7))
        talk.ask("DescribeLogDirs", version, Topics=chosen(talk.named("nobody"), 0))
        talk.ask("DescribeLogDirs", version, Topics=chosen(name, 0, 0))
        talk.ask("DescribeLogDirs", version, Topics=[])


@conversation
def alter_replica_log_dirs(talk):
    name, _ = talk.topic()
    for version in versions("AlterReplicaLogDirs"):
        for path in ("/nowhere", "relative", ""):
            talk.ask("AlterReplicaLogDirs", version, error=None, Dirs=[
                {"Path": path, "Topics": [{"Name": name, "Partitions": [0]}]}])
        talk.ask("AlterReplicaLogDirs", version, error=None, Dirs=[
            {"Path": "/nowhere", "Topics": [{"Name": talk.named("nobody"), "Partitions": [0, 1]}]}])
        # A directory to move to is called TOPIC-PARTITION.UUID-future, and must not be longer than 255 characters.
        for length in (212, 213, 249):
            talk.ask("AlterReplicaLogDirs", version, error=None, Dirs=[
                {"Path": "/nowhere", "Topics": [{"Name": "n" * length, "Partitions": [0, 10]}]}])
        talk.ask("AlterReplicaLogDirs", version, Dirs=[])


@conversation
def elect_leaders(talk):
    name, _ = talk.topic(partitions=2)
    for version in versions("ElectLeaders"):
        for kind in (0, 1):
            if version == 0 and kind:
                continue
            talk.ask("ElectLeaders", version, ElectionType=kind, TimeoutMs=5000, error=None,
                     TopicPartitions=chosen(name, 0, 1))
            talk.ask("ElectLeaders", version, ElectionType=kind, TimeoutMs=5000, error=None,
                     TopicPartitions=chosen(name, 7))
            talk.ask("ElectLeaders", version, ElectionType=kind, TimeoutMs=5000, error=None,
                     TopicPartitions=chosen(talk.named("nobody"), 0))
            talk.ask("ElectLeaders", version, ElectionType=kind, TimeoutMs=5000, error=None, TopicPartitions=[])
        if version:
            talk.ask("ElectLeaders", version, ElectionType=5, TimeoutMs=5000, error=None, TopicPartitions=chosen(name, 0))


@conversation
def partition_reassignments(talk):
    name, _ = talk.topic(partitions=2)
    ask = lambda version, topic, index, replicas, **more: talk.ask(
        "AlterPartitionReassignments", version, TimeoutMs=5000, error=None, Topics=[
            {"Name": topic, "Partitions": [{"PartitionIndex": index, "Replicas": replicas}]}], **more)
    for version in versions("AlterPartitionReassignments"):
        for replicas in ([1], None, [], [2], [1, 2], [1, 1], [-1]):
            ask(version, name, 0, replicas)
        ask(version, name, 7, [1])
        ask(version, name, -1, None)
        ask(version, talk.named("nobody"), 0, [1])
        ask(version, talk.named("nobody"), 0, None)
        if version >= 1:
            ask(version, name, 0, [1, 2], AllowReplicationFactorChange=False)
        talk.ask("AlterPartitionReassignments", version, TimeoutMs=5000, Topics=[])
    for topics in (None, [], chosen(name, 0, 1, key="Name", partitions="PartitionIndexes"),
                   chosen(name, 7, key="Name", partitions="PartitionIndexes"),
                   chosen(talk.named("nobody"), 0, key="Name", partitions="PartitionIndexes")):
        talk.ask("ListPartitionReassignments", 0, TimeoutMs=5000, Topics=topics, error=None)


@conversation
def describe_producers(talk):
    name, _ = talk.topic(partitions=2)
    fill(talk, name, producer_id=7_000_000, producer_epoch=2, sequence=0)
    for indexes in ([0], [1], [0, 1], [7], [0, 0]):
        talk.ask("DescribeProducers", 0, error=None, Topics=chosen(name, *indexes, key="Name",
                                                                  partitions="PartitionIndexes"))
    talk.ask("DescribeProducers", 0, error=None, Topics=chosen(talk.named("nobody"), 0, key="Name",
                                                              partitions="PartitionIndexes"))
    talk.ask("DescribeProducers", 0, error=None, Topics=chosen("a b", 0, key="Name", partitions="PartitionIndexes"))
    talk.ask("DescribeProducers", 0, Topics=[])


@conversation
def describe_quorum(talk):
    for version in versions("DescribeQuorum"):
        for name, index in (("__cluster_metadata", 0), ("__cluster_metadata", 1), ("x", 0)):
            talk.ask("DescribeQuorum", version, error=None, Topics=[
                {"TopicName": name, "Partitions": [{"PartitionIndex": index}]}])
        talk.ask("DescribeQuorum", version, error=None, Topics=[])


@conversation
def update_features(talk):
    ask = lambda version, feature, level, kind=1, **more: talk.ask(
        "UpdateFeatures", version, TimeoutMs=5000, error=None, FeatureUpdates=[
            {"Feature": feature, "MaxVersionLevel": level, "UpgradeType": kind, "AllowDowngrade": kind != 1}], **more)
    for version in versions("UpdateFeatures"):
        more = {"ValidateOnly": True} if version else {}
        if version:
            for kind in (1, 2, 3, 0, 9):
                ask(version, "group.version", 1, kind, **more)
            ask(version, "metadata.version", 30, **more)
            ask(version, "metadata.version", 31, **more)
            ask(version, "metadata.version", 7, 2, **more)
            ask(version, "share.version", 1, **more)
        ask(version, "group.version", 9, **more)
        ask(version, "nonsense", 1, **more)
        ask(version, "", 1, **more)
        ask(version, "group.version", -1, **more)
        talk.ask("UpdateFeatures", version, TimeoutMs=5000, error=None, FeatureUpdates=[])


@conversation
def unregister_broker(talk):
    for broker in (7, -1):
        talk.ask("UnregisterBroker", 0, BrokerId=broker, error=None)


@conversation
def raft_voters(talk):
    for version in versions("AddRaftVoter"):
        talk.ask("AddRaftVoter", version, ClusterId="x", TimeoutMs=1000, VoterId=7, VoterDirectoryId=wire.random_id(),
                 Listeners=[{"Name": "CONTROLLER", "Host": "localhost", "Port": 1}], error=None)
    for version in versions("RemoveRaftVoter"):
        talk.ask("RemoveRaftVoter", version, ClusterId="x", VoterId=7, VoterDirectoryId=wire.random_id(), error=None)


@conversation
def security_is_off(talk):
    for version in ends("DescribeAcls"):
        talk.ask("DescribeAcls", version, ResourceTypeFilter=1, Operation=1, PermissionType=1, error="SECURITY_DISABLED")
    for version in ends("CreateAcls"):
        talk.ask("CreateAcls", version, error=None, Creations=[
            {"ResourceType": 2, "ResourceName": "t", "ResourcePatternType": 3, "Principal": "User:x", "Host": "*",
             "Operation": 3, "PermissionType": 3}])
    for version in ends("DeleteAcls"):
        talk.ask("DeleteAcls", version, error=None, Filters=[
            {"ResourceTypeFilter": 2, "ResourceNameFilter": "t", "PatternTypeFilter": 3, "PrincipalFilter": "User:x",
             "HostFilter": "*", "Operation": 3, "PermissionType": 3}])
    for version in ends("CreateDelegationToken"):
        talk.ask("CreateDelegationToken", version, error=None, Renewers=[], MaxLifetimeMs=-1)
    for version in ends("DescribeDelegationToken"):
        talk.ask("DescribeDelegationToken", version, error=None, Owners=None)


@conversation
def no_client_quotas(talk):
    for version in ends("DescribeClientQuotas"):
        talk.ask("DescribeClientQuotas", version, Components=[], Strict=False)
        talk.ask("DescribeClientQuotas", version, error=None, Components=[{"EntityType": "user", "MatchType": 1,
                                                                          "Match": None}], Strict=True)
    for version in ends("AlterClientQuotas"):
        for entity, key, value in (([{"EntityType": "user", "EntityName": talk.named("u")}], "producer_byte_rate", 1000.0),
                                   ([{"EntityType": "user", "EntityName": None}], "producer_byte_rate", 1000.0),
                                   ([{"EntityType": "planet", "EntityName": "x"}], "producer_byte_rate", 1000.0),
                                   ([{"EntityType": "user", "EntityName": "x"}], "nonsense", 1000.0),
                                   ([{"EntityType": "user", "EntityName": "x"}], "producer_byte_rate", -1.0),
                                   ([{"EntityType": "ip", "EntityName": "not an address!"}], "connection_creation_rate", 1.0),
                                   ([], "producer_byte_rate", 1000.0)):
            talk.ask("AlterClientQuotas", version, ValidateOnly=True, error=None, Entries=[
                {"Entity": entity, "Ops": [{"Key": key, "Value": value, "Remove": False}]}])


@conversation(alone=True)
def scram_credentials(talk):
    talk.ask("DescribeUserScramCredentials", 0, Users=None)
    user = talk.named("u")
    for mechanism, iterations in ((1, 4096), (2, 4096), (1, 100), (1, 100000), (3, 4096)):
        talk.ask("AlterUserScramCredentials", 0, error=None, Deletions=[], Upsertions=[
            {"Name": user + str(iterations), "Mechanism": mechanism, "Iterations": iterations, "Salt": b"salt",
             "SaltedPassword": b"password"}])
    talk.ask("AlterUserScramCredentials", 0, error=None, Upsertions=[], Deletions=[{"Name": user, "Mechanism": 1}])
    talk.ask("AlterUserScramCredentials", 0, error=None, Upsertions=[], Deletions=[{"Name": "", "Mechanism": 1}])
    talk.ask("DescribeUserScramCredentials", 0, Users=[{"Name": talk.named("nobody")}], error=None)
    talk.ask("DescribeUserScramCredentials", 0, Users=[{"Name": user + "4096"}, {"Name": user + "4096"}], error=None)
    talk.ask_until("DescribeUserScramCredentials", 0, lambda answer: bool(answer["Results"]), Users=None)


@conversation
def delegation_tokens_are_off(talk):
    for version in ends("RenewDelegationToken"):
        talk.ask("RenewDelegationToken", version, Hmac=b"x", RenewPeriodMs=1, error=None)
    for version in ends("ExpireDelegationToken"):
        talk.ask("ExpireDelegationToken", version, Hmac=b"x", ExpiryTimePeriodMs=1, error=None)


@conversation
def sasl_on_a_plain_listener(talk):
    for version in ends("SaslHandshake"):
        talk.ask("SaslHandshake", version, Mechanism="PLAIN", error=None)
    for version in ends("SaslAuthenticate"):
        talk.ask("SaslAuthenticate", version, AuthBytes=b"\0u\0p", error=None)
    talk.ask("Metadata", 12, Topics=[])


@conversation
def no_transactions(talk):
    for version in ends("ListTransactions"):
        talk.ask("ListTransactions", version, StateFilters=[], ProducerIdFilters=[])
        talk.ask("ListTransactions", version, StateFilters=["Ongoing", "nonsense"], ProducerIdFilters=[5])
    talk.quietly("FindCoordinator", 1, lambda answer: True, Key="t", KeyType=1)
    talk.ask_until("DescribeTransactions", 0, "TRANSACTIONAL_ID_NOT_FOUND", TransactionalIds=[talk.named("t")])
    talk.ask("DescribeTransactions", 0, TransactionalIds=[])
