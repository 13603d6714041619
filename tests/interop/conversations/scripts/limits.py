"""Limits that a request may meet: of sizes, of counts, of time, of what is enabled."""

import records
import wire
from talk import conversation, ends, versions
from scripts.classic_groups import join
from scripts.topics import creatable, create, grow


def produce(talk, version, name, data, topic_id=wire.NO_ID, error=None):
    return talk.ask("Produce", version, TransactionalId=None, Acks=-1, TimeoutMs=5000, error=error, TopicData=[
        {"Name": name, "TopicId": topic_id, "PartitionData": [{"Index": 0, "Records": data}]}])


@conversation
def a_batch_is_larger_than_a_segment(talk):
    name, topic_id = talk.topic(segment_bytes=1048576, max_message_bytes=4000000)
    large = records.batch(("k", "x" * 1_100_000))
    for version in ends("Produce"):
        produce(talk, version, name, large, topic_id, error="RECORD_LIST_TOO_LARGE")
    produce(talk, 9, name, records.batch(("k", "x" * 1_000_000)), error="NONE")


@conversation
def more_replicas_are_wanted_in_sync_than_there_are(talk):
    # One replica is all that a partition has, so it is enough.
    name, topic_id = talk.topic(min_insync_replicas=2)
    for version in ends("Produce"):
        produce(talk, version, name, records.batch(("k", "v")), topic_id)
    talk.ask("Metadata", 12, Topics=[{"Name": name}])


@conversation
def zstd_is_fetched_by_clients_that_do_not_know_it(talk):
    name, topic_id = talk.topic(compression_type="zstd")
    produce(talk, 9, name, records.batch(("k", "v")), error="NONE")
    for version in (4, 9, 10, 13):
        answer = talk.ask("Fetch", version, ReplicaId=-1, MaxWaitMs=0, MinBytes=0, MaxBytes=1000, SessionEpoch=-1, Topics=[
            {"Topic": name, "TopicId": topic_id, "Partitions": [
                {"Partition": 0, "FetchOffset": 0, "PartitionMaxBytes": 1000}]}], error=None)
        # How well zstd compresses is not the subject.
        for topic in answer.get("Responses", ()):
            for partition in topic["Partitions"]:
                partition["Records"] = bool(partition["Records"])


@conversation
def offsets_do_not_fit_into_one_batch(talk):
    name, topic_id = talk.topic(partitions=300)
    for version in ends("OffsetCommit"):
        answer = talk.ask("OffsetCommit", version, GroupId=talk.named("g"), GenerationIdOrMemberEpoch=-1, MemberId="",
                          error=None, Topics=[{"Name": name, "TopicId": topic_id, "Partitions": [
                              {"PartitionIndex": index, "CommittedOffset": 1, "CommittedLeaderEpoch": -1,
                               "CommittedMetadata": "m" * 4000} for index in range(300)]}])
        first_only(answer.get("Topics"), "Partitions")
        first_only(talk.steps[-1]["request"]["Topics"], "Partitions")
        answer = talk.ask("OffsetFetch", 8, Groups=[{"GroupId": talk.named("g"), "Topics": None}], error=None)
        first_only(answer["Groups"][0]["Topics"], "Partitions")


def first_only(topics, key):
    """Cuts what is alike from the transcript."""
    for topic in topics or ():
        alike = all(entry.get("ErrorCode") == topic[key][0].get("ErrorCode") for entry in topic[key])
        topic[key] = topic[key][:1] if alike else topic[key]


@conversation
def members_say_more_than_fits_into_one_batch(talk):
    large = b"\0\1" + bytes(1_200_000)
    group = talk.named("g")
    member = join(talk, 4, group, error="MEMBER_ID_REQUIRED")["MemberId"]
    answer = join(talk, 4, group, member)
    talk.ask("SyncGroup", 5, GroupId=group, GenerationId=answer["GenerationId"], MemberId=member, ProtocolType="consumer",
             ProtocolName=answer["ProtocolName"], error=None, Assignments=[{"MemberId": member, "Assignment": large}])
    talk.ask("Heartbeat", 4, GroupId=group, GenerationId=answer["GenerationId"], MemberId=member, error=None)


@conversation
def topics_are_too_many_or_too_large(talk):
    for version in ends("CreateTopics"):
        for count in (10_000, 10_001, 2147483647):
            create(talk, version, creatable(talk.named("many"), count), error="POLICY_VIOLATION", validate=True)
        create(talk, version, creatable(talk.named("a"), 6000), creatable(talk.named("b"), 6000), error="POLICY_VIOLATION",
               validate=True)


@conversation(properties={"delete.topic.enable": "false", "auto.create.topics.enable": "false"})
def topics_cannot_be_deleted(talk):
    name, topic_id = talk.topic()
    for version in versions("DeleteTopics"):
        talk.ask("DeleteTopics", version, TopicNames=[name], Topics=[{"Name": name}], TimeoutMs=30000, error=None)
    talk.ask("DeleteTopics", 6, Topics=[{"Name": None, "TopicId": topic_id}, {"Name": talk.named("nobody")}],
             TimeoutMs=30000, error=None)
    talk.ask("Metadata", 12, Topics=[{"Name": name}])
    talk.ask("Metadata", 12, Topics=[{"Name": talk.named("nobody")}], AllowAutoTopicCreation=True,
             error="UNKNOWN_TOPIC_OR_PARTITION")


@conversation
def no_time_is_given(talk):
    name, _ = talk.topic(partitions=2)
    for timeout in (0, -1, -2147483648):
        for version in ends("CreateTopics"):
            talk.ask("CreateTopics", version, Topics=[creatable(talk.named("late"))], TimeoutMs=timeout, error=None)
        for version in ends("CreatePartitions"):
            talk.ask("CreatePartitions", version, TimeoutMs=timeout, error=None, Topics=[
                {"Name": name, "Count": 5, "Assignments": None}])
        for version in ends("DeleteTopics"):
            talk.ask("DeleteTopics", version, TopicNames=[name], Topics=[{"Name": name}], TimeoutMs=timeout, error=None)
        for version in ends("AlterPartitionReassignments"):
            talk.ask("AlterPartitionReassignments", version, TimeoutMs=timeout, error=None, Topics=[
                {"Name": name, "Partitions": [{"PartitionIndex": 0, "Replicas": [1]}]}])
        talk.ask("ListPartitionReassignments", 0, TimeoutMs=timeout, error=None, Topics=None)
        for version in ends("ElectLeaders"):
            talk.ask("ElectLeaders", version, ElectionType=0, TimeoutMs=timeout, error=None,
                     TopicPartitions=[{"Topic": name, "Partitions": [0]}])
        for version in ends("UpdateFeatures"):
            talk.ask("UpdateFeatures", version, TimeoutMs=timeout, error=None, FeatureUpdates=[
                {"Feature": "group.version", "MaxVersionLevel": 1, "UpgradeType": 1}])
        talk.ask("DeleteRecords", 2, TimeoutMs=timeout, error=None, Topics=[
            {"Name": name, "Partitions": [{"PartitionIndex": 0, "Offset": 0}]}])
        talk.ask("Produce", 9, TransactionalId=None, Acks=-1, TimeoutMs=timeout, error=None, TopicData=[
            {"Name": name, "PartitionData": [{"Index": 0, "Records": records.batch(("k", "v"))}]}])
    talk.ask("Metadata", 12, Topics=[{"Name": name}, {"Name": talk.named("late")}], AllowAutoTopicCreation=False, error=None)


@conversation
def filters_of_quotas_that_cannot_be(talk):
    for version in ends("DescribeClientQuotas"):
        for components in ([{"EntityType": "planet", "MatchType": 0, "Match": "x"}],
                           [{"EntityType": "", "MatchType": 0, "Match": "x"}],
                           [{"EntityType": "user", "MatchType": 0, "Match": None}],
                           [{"EntityType": "user", "MatchType": 1, "Match": "x"}],
                           [{"EntityType": "user", "MatchType": 2, "Match": "x"}],
                           [{"EntityType": "user", "MatchType": 9, "Match": None}],
                           [{"EntityType": "user", "MatchType": 2, "Match": None},
                            {"EntityType": "user", "MatchType": 1, "Match": None}],
                           [{"EntityType": "ip", "MatchType": 2, "Match": None},
                            {"EntityType": "user", "MatchType": 2, "Match": None}]):
            talk.ask("DescribeClientQuotas", version, error=None, Components=components, Strict=False)


@conversation
def credentials_that_contradict_each_other(talk):
    user = talk.named("u")
    upsertion = {"Name": user, "Mechanism": 1, "Iterations": 4096, "Salt": b"s", "SaltedPassword": b"p"}
    for upsertions, deletions in (([upsertion, upsertion], []), ([upsertion], [{"Name": user, "Mechanism": 1}]),
                                  ([], [{"Name": user, "Mechanism": 1}] * 2), ([], [])):
        talk.ask("AlterUserScramCredentials", 0, error=None, Upsertions=upsertions, Deletions=deletions)


@conversation
def a_replica_moves_to_where_it_is(talk):
    name, _ = talk.topic(partitions=2)
    where = talk.quietly("DescribeLogDirs", 4, Topics=[{"Topic": name, "Partitions": [0]}])["Results"][0]["LogDir"]
    for version in ends("AlterReplicaLogDirs"):
        for topic, partitions in ((name, [0, 1]), (name, [7]), (talk.named("nobody"), [0])):
            talk.ask("AlterReplicaLogDirs", version, error=None, Dirs=[
                {"Path": where, "Topics": [{"Name": topic, "Partitions": partitions}]}])
        talk.ask("AlterReplicaLogDirs", version, error=None, Dirs=[
            {"Path": where, "Topics": [{"Name": name, "Partitions": [0]}]},
            {"Path": "/nowhere", "Topics": [{"Name": name, "Partitions": [1]}]}])


@conversation
def transactions_are_listed_by_a_pattern(talk):
    for pattern in (None, "", "a.*", "[", "(?<n>x)", "a{2,1}", "\\p{Foo}", "(a"):
        talk.ask("ListTransactions", 2, StateFilters=[], ProducerIdFilters=[], TransactionalIdPattern=pattern, error=None)
    for duration in (-1, 0, 1000):
        talk.ask("ListTransactions", 1, StateFilters=[], ProducerIdFilters=[], DurationFilter=duration, error=None)


@conversation(alone=True)  # Others commit for the group without a name.
def groups_without_a_name(talk):
    for version in ends("DescribeGroups"):
        talk.ask("DescribeGroups", version, Groups=[""], error=None)
        talk.ask("DescribeGroups", version, Groups=[talk.named("g"), talk.named("g")], error=None)
    for version in ends("DeleteGroups"):
        talk.ask("DeleteGroups", version, GroupsNames=[""], error=None)
        talk.ask("DeleteGroups", version, GroupsNames=[talk.named("g"), talk.named("g")], error=None)
    for version in ends("FindCoordinator"):
        talk.ask("FindCoordinator", version, Key="", KeyType=0, CoordinatorKeys=[""], error=None)
        talk.ask("FindCoordinator", version, Key="x", KeyType=9, CoordinatorKeys=["x"], error=None)
    talk.ask("ListGroups", 5, StatesFilter=["nonsense"], TypesFilter=["nonsense"], error=None)


@conversation
def voters_of_this_quorum(talk):
    cluster = talk.quietly("Metadata", 2, Topics=[])["ClusterId"]
    for cluster_id in (cluster, None):
        for voter in (1, 7, -1):
            talk.ask("RemoveRaftVoter", 0, ClusterId=cluster_id, VoterId=voter, VoterDirectoryId=wire.random_id(),
                     error=None)
    for version in ends("AddRaftVoter"):
        for listeners in ([], [{"Name": "NOBODY", "Host": "localhost", "Port": 1}]):
            talk.ask("AddRaftVoter", version, ClusterId=cluster, TimeoutMs=1000, VoterId=7,
                     VoterDirectoryId=wire.random_id(), Listeners=listeners, error=None)
        talk.ask("AddRaftVoter", version, ClusterId=cluster, TimeoutMs=1000, VoterId=1,
                 VoterDirectoryId=wire.random_id(), error=None,
                 Listeners=[{"Name": "CONTROLLER", "Host": "localhost", "Port": 1}])
