"""Groups by the protocol of KIP-848: ConsumerGroupHeartbeat and ConsumerGroupDescribe."""

import hashlib
import time

import records
import wire
from talk import conversation, versions
from scripts.classic_groups import beat, join, leave, settle, sync
from scripts.offsets import commit, fetch


def member_id(talk, word):
    """Ids that the client makes: the same in every run, and told apart by the conversation."""
    return wire.id_text(hashlib.md5(talk.named(word).encode()).digest())


def say(talk, version, group, member, epoch, error="NONE", on="", **more):
    return talk.ask("ConsumerGroupHeartbeat", version, on=on, GroupId=group, MemberId=member, MemberEpoch=epoch,
                    error=error, **more)


def enter(talk, version, group, member, *topics, error="NONE", **more):
    more = {"RebalanceTimeoutMs": 60000, "SubscribedTopicNames": list(topics), "TopicPartitions": [], **more}
    return say(talk, version, group, member, 0, error, **more)


@conversation
def one_member(talk):
    name, topic_id = talk.topic(partitions=3)
    for version in versions("ConsumerGroupHeartbeat"):
        group, member = talk.named(f"g{version}"), member_id(talk, f"m{version}")
        answer = enter(talk, version, group, member, name)
        epoch = answer.get("MemberEpoch", 0)
        say(talk, version, group, member, epoch)
        say(talk, version, group, member, epoch, TopicPartitions=[{"TopicId": topic_id, "Partitions": [0, 1, 2]}])
        say(talk, version, group, member, epoch + 5, error="FENCED_MEMBER_EPOCH")
        say(talk, version, group, "x", epoch, error="UNKNOWN_MEMBER_ID")
        talk.ask("ConsumerGroupDescribe", version, GroupIds=[group])
        talk.ask("DescribeGroups", 6, Groups=[group], error=None)
        talk.ask("DescribeGroups", 0, Groups=[group], error=None)
        commit(talk, 9, group, name, (0, 5), member=member, generation=epoch)
        commit(talk, 9, group, name, (0, 5), member=member, generation=epoch + 1, error="STALE_MEMBER_EPOCH")
        commit(talk, 8, group, name, (0, 5), member=member, generation=epoch, error=None)
        commit(talk, 9, group, name, (0, 5), error="UNKNOWN_MEMBER_ID")
        fetch(talk, 9, group, [(name, topic_id, [0])], member=member, epoch=epoch)
        fetch(talk, 9, group, [(name, topic_id, [0])], member=member, epoch=epoch + 1, error="STALE_MEMBER_EPOCH")
        fetch(talk, 9, group, [(name, topic_id, [0])], member="x", epoch=epoch, error="UNKNOWN_MEMBER_ID")
        fetch(talk, 9, group, [(name, topic_id, [0])])
        talk.ask("DeleteGroups", 2, GroupsNames=[group], error="NON_EMPTY_GROUP")
        say(talk, version, group, member, -1)
        say(talk, version, group, member, epoch, error="UNKNOWN_MEMBER_ID")
        talk.ask("ConsumerGroupDescribe", version, GroupIds=[group])
        talk.ask("DeleteGroups", 2, GroupsNames=[group])


@conversation
def heartbeats_that_cannot_be(talk):
    name, topic_id = talk.topic()
    for version in versions("ConsumerGroupHeartbeat"):
        group, member = talk.named(f"g{version}"), member_id(talk, "m")
        enter(talk, version, "", member, name, error=None)
        enter(talk, version, group, "", name, error=None)
        enter(talk, version, group, member, name, error=None, RebalanceTimeoutMs=-1)
        enter(talk, version, group, member, name, error=None, TopicPartitions=None)
        enter(talk, version, group, member, name, error=None, TopicPartitions=[{"TopicId": topic_id, "Partitions": [0]}])
        enter(talk, version, group, member, name, error=None, SubscribedTopicNames=None)
        enter(talk, version, group, member, name, error=None, InstanceId="")
        enter(talk, version, group, member, name, error=None, RackId="")
        enter(talk, version, group, member, name, error=None, ServerAssignor="nonsense")
        enter(talk, version, group, member, name, error=None, ServerAssignor="")
        say(talk, version, group, member, -2, error=None)
        say(talk, version, group, member, -3, error=None)
        say(talk, version, group, member, 5, error=None)
        say(talk, version, group, member, -1, error=None)
        if version >= 1:
            enter(talk, version, group, member, error=None, SubscribedTopicNames=None, SubscribedTopicRegex="[")
            enter(talk, version, group, member, error=None, SubscribedTopicNames=None, SubscribedTopicRegex="")


@conversation
def a_member_changes_its_mind_and_comes_back(talk):
    """What librdkafka 2.12.1 asks when it is told to subscribe and to unsubscribe many times in a row. It comes back after it left
    with nothing but the topics it wants, now and then: that is refused, and fatal for it."""
    (first, first_id), (second, second_id), (third, _) = talk.topic(partitions=2), talk.topic("more"), talk.topic("most")
    talk.ask("Metadata", 12, Topics=[{"Name": name} for name in (first, second, third)], AllowAutoTopicCreation=False)
    owns = [{"TopicId": first_id, "Partitions": [0, 1]}, {"TopicId": second_id, "Partitions": [0]}]
    for interval_ms in (0, 15000):
        group, member = talk.named(f"g{interval_ms}"), member_id(talk, f"m{interval_ms}")
        talk.ask("IncrementalAlterConfigs", 1, ValidateOnly=False, Resources=[
            {"ResourceType": 32, "ResourceName": group, "Configs": [
                {"Name": "consumer.assignment.interval.ms", "ConfigOperation": 0, "Value": str(interval_ms)}]}])
        epoch = enter(talk, 1, group, member, first).get("MemberEpoch", 0)

        def go_on(**more):
            return say(talk, 1, group, member, epoch, **more).get("MemberEpoch", 0)

        epoch = go_on(TopicPartitions=owns[:1])
        epoch = go_on(SubscribedTopicNames=[second, first], SubscribedTopicRegex="")
        epoch = go_on(TopicPartitions=owns if interval_ms == 0 else owns[:1])
        epoch = go_on(SubscribedTopicNames=[third, second], SubscribedTopicRegex="", TopicPartitions=owns[:1])
        epoch = go_on(TopicPartitions=[])
        say(talk, 1, group, member, -1)
        say(talk, 1, group, member, 0, SubscribedTopicNames=[second], SubscribedTopicRegex="", error="INVALID_REQUEST")
        say(talk, 1, group, member, 0, error="INVALID_REQUEST")
        epoch = enter(talk, 1, group, member, second, SubscribedTopicRegex="").get("MemberEpoch", 0)
        everything = {"RebalanceTimeoutMs": 60000, "SubscribedTopicRegex": ""}
        epoch = go_on(SubscribedTopicNames=[first], TopicPartitions=[], **everything)
        epoch = go_on(SubscribedTopicNames=[first], TopicPartitions=[], **everything)
        talk.ask("ConsumerGroupDescribe", 1, GroupIds=[group])
        say(talk, 1, group, member, -1)
        say(talk, 1, group, member, -1, error="UNKNOWN_MEMBER_ID")
        talk.ask("ConsumerGroupDescribe", 1, GroupIds=[group])


@conversation
def groups_that_are_not_there(talk):
    classic = talk.named("classic")
    settle(talk, classic)
    for version in versions("ConsumerGroupDescribe"):
        talk.ask("ConsumerGroupDescribe", version, GroupIds=[talk.named("nobody")], error="GROUP_ID_NOT_FOUND")
        talk.ask("ConsumerGroupDescribe", version, GroupIds=[classic], error="GROUP_ID_NOT_FOUND")
        talk.ask("ConsumerGroupDescribe", version, GroupIds=[""], error=None)
        talk.ask("ConsumerGroupDescribe", version, GroupIds=[])


def assigned(answer):
    assignment = answer.get("Assignment")
    return sorted((part["TopicId"], index) for part in assignment["TopicPartitions"] for index in part["Partitions"]) \
        if assignment else None


@conversation
def two_members_share(talk):
    name, topic_id = talk.topic(partitions=4)
    group = talk.named("g")
    one, two = member_id(talk, "one"), member_id(talk, "two")
    epochs = {one: enter(talk, 1, group, one, name, ServerAssignor="range").get("MemberEpoch", 0)}
    talk.ask("ConsumerGroupDescribe", 1, GroupIds=[group])
    epochs[two] = enter(talk, 1, group, two, name, ServerAssignor="range").get("MemberEpoch", 0)

    def beat_until(member, done):
        """Heartbeats until an answer is as wanted: a new assignment is made at most once in a second (KIP-1263)."""
        begin, end = len(talk.steps), time.monotonic() + 8
        while True:
            answer = say(talk, 1, group, member, epochs[member], error=None)
            epochs[member] = answer.get("MemberEpoch", 0)
            if done(answer) or answer.get("ErrorCode") or time.monotonic() > end:
                del talk.steps[begin:-1]
                return answer
            time.sleep(0.02)

    kept = beat_until(one, lambda answer: answer.get("Assignment") is not None).get("Assignment") or {}
    talk.ask("ConsumerGroupDescribe", 1, GroupIds=[group])
    epochs[one] = say(talk, 1, group, one, epochs[one],
                      TopicPartitions=kept.get("TopicPartitions", [])).get("MemberEpoch", 0)
    beat_until(two, lambda answer: bool(assigned(answer)))
    talk.ask("ConsumerGroupDescribe", 1, GroupIds=[group])
    say(talk, 1, group, one, epochs[one])
    say(talk, 1, group, one, -1)
    beat_until(two, lambda answer: len(assigned(answer) or ()) == 4)
    talk.ask("ConsumerGroupDescribe", 1, GroupIds=[group])


@conversation
def a_consumer_group_and_classic_members(talk):
    name, _ = talk.topic(partitions=2)
    group, member = talk.named("g"), member_id(talk, "m")
    enter(talk, 1, group, member, name)
    join(talk, 9, group, error=None, protocols=[("other", b"")])
    join(talk, 9, group, error=None, kind="connect", protocols=[("v0", b"")])
    beat(talk, 4, group, 1, member, error=None)
    leave(talk, 5, group, member, error=None)
    say(talk, 1, group, member, -1, error=None)


@conversation
def a_static_consumer(talk):
    name, topic_id = talk.topic(partitions=2)
    group = talk.named("g")
    one, two = member_id(talk, "one"), member_id(talk, "two")
    answer = enter(talk, 1, group, one, name, InstanceId="i")
    enter(talk, 1, group, two, name, InstanceId="i", error="UNRELEASED_INSTANCE_ID")
    say(talk, 1, group, two, answer.get("MemberEpoch", 1), InstanceId="i", error="FENCED_INSTANCE_ID")
    say(talk, 1, group, one, -2, InstanceId="i")
    talk.ask("ConsumerGroupDescribe", 1, GroupIds=[group])
    enter(talk, 1, group, two, name, InstanceId="i")
    say(talk, 1, group, two, -1, InstanceId="i", error=None)


@conversation
def a_static_member_changes_its_protocol_and_back(talk):
    name, topic_id = talk.topic(partitions=2)
    group, consumer = talk.named("g"), member_id(talk, "consumer")
    protocols = [("range", records.subscription(name))]
    classic = join(talk, 9, group, instance="i", protocols=protocols)
    sync(talk, 5, group, classic["GenerationId"], classic["MemberId"], instance="i", assignments=[
        (classic["MemberId"], records.assignment(**{name: [0, 1]}))])
    answer = enter(talk, 1, group, consumer, name, InstanceId="i", error=None)
    epoch = answer.get("MemberEpoch", 0)
    beat(talk, 4, group, classic["GenerationId"], classic["MemberId"], instance="i", error=None)
    beat(talk, 4, group, epoch, consumer, error=None)
    say(talk, 1, group, consumer, epoch, InstanceId="i", TopicPartitions=[{"TopicId": topic_id, "Partitions": [0, 1]}],
        error=None)
    talk.ask("ConsumerGroupDescribe", 1, GroupIds=[group], error=None)
    talk.ask("DescribeGroups", 6, Groups=[group], error=None)
    again = join(talk, 9, group, instance="i", protocols=protocols, error=None)
    say(talk, 1, group, consumer, epoch, InstanceId="i", error=None)
    sync(talk, 5, group, again.get("GenerationId", 0), again.get("MemberId", ""), instance="i", error=None)
    beat(talk, 4, group, again.get("GenerationId", 0), again.get("MemberId", ""), instance="i", error=None)
    talk.ask("DescribeGroups", 6, Groups=[group], error=None)
    leave(talk, 5, group, "", instance="i", error=None)
    talk.ask("DescribeGroups", 6, Groups=[group], error=None)


@conversation
def a_regular_expression(talk):
    name, _ = talk.topic("orders", partitions=2)
    talk.topic("payments")
    group, member = talk.named("g"), member_id(talk, "m")
    answer = enter(talk, 1, group, member, SubscribedTopicNames=None, SubscribedTopicRegex=talk.named("or.*"))
    talk.ask_until("ConsumerGroupHeartbeat", 1, lambda answer: bool(assigned(answer)), GroupId=group, MemberId=member,
                   MemberEpoch=0, RebalanceTimeoutMs=60000, TopicPartitions=[], SubscribedTopicNames=None,
                   SubscribedTopicRegex=talk.named("or.*"))
    say(talk, 1, group, member, answer.get("MemberEpoch", 1) + 9, error="FENCED_MEMBER_EPOCH")


@conversation
def a_topic_that_grows(talk):
    name, topic_id = talk.topic(partitions=1)
    group, member = talk.named("g"), member_id(talk, "m")
    answer = enter(talk, 1, group, member, name)
    epoch = answer.get("MemberEpoch", 1)
    say(talk, 1, group, member, epoch, TopicPartitions=[{"TopicId": topic_id, "Partitions": [0]}])
    talk.ask("CreatePartitions", 3, TimeoutMs=5000, Topics=[{"Name": name, "Count": 3, "Assignments": None}])
    talk.served_now(name, range(3))
    talk.ask_until("ConsumerGroupHeartbeat", 1, lambda answer: answer.get("Assignment") is not None, GroupId=group,
                   MemberId=member, MemberEpoch=epoch)


@conversation
def targets_of_both_assignors(talk):
    """Who is meant to read what, as members come and go: nobody gives anything up here, so only targets move."""
    name, _ = talk.topic(partitions=7)
    for assignor in ("range", "uniform"):
        group = talk.named(assignor)
        members = [member_id(talk, f"{assignor} {word}") for word in ("one", "two", "three")]
        for count, member in enumerate(members, 1):
            enter(talk, 1, group, member, name, ServerAssignor=assignor, InstanceId=f"i{4 - count}" if count > 1
                  else None)
            make_target(talk, group, member)
            talk.ask("ConsumerGroupDescribe", 1, GroupIds=[group])
        say(talk, 1, group, members[0], -1)


def settled(answer):
    group = answer["Groups"][0]
    return group["GroupEpoch"] == group["AssignmentEpoch"]


def make_target(talk, group, member):
    """Heartbeats of the newest member until the group has its new target: one is made at most once in a second
    (KIP-1263)."""
    begin, end = len(talk.steps), time.monotonic() + 5
    while time.monotonic() < end:
        answer = talk.ask("ConsumerGroupDescribe", 1, GroupIds=[group], error=None)
        if settled(answer):
            break
        epoch = next(each["MemberEpoch"] for each in answer["Groups"][0]["Members"] if each["MemberId"] == member)
        talk.ask("ConsumerGroupHeartbeat", 1, GroupId=group, MemberId=member, MemberEpoch=epoch, error=None)
        time.sleep(0.05)
    del talk.steps[begin:]


QUICK = {"group.consumer.min.session.timeout.ms": 1000, "group.consumer.session.timeout.ms": 3000,
         "group.consumer.min.heartbeat.interval.ms": 500, "group.consumer.heartbeat.interval.ms": 1000,
         "group.consumer.assignment.interval.ms": 0, "group.consumer.max.size": 2}


@conversation(properties=QUICK)
def a_session_outlasts_a_heartbeat_interval(talk):
    group = talk.named("g")
    for timeout, interval in ((1000, None), (1001, None), (None, 1001), (1500, 1500), (1500, 1499)):
        values = {"consumer.session.timeout.ms": timeout, "consumer.heartbeat.interval.ms": interval}
        talk.ask("IncrementalAlterConfigs", 1, ValidateOnly=False, error=None, Resources=[
            {"ResourceType": 32, "ResourceName": group, "Configs": [
                {"Name": key, "ConfigOperation": 0, "Value": str(value)} for key, value in values.items() if value]}])


@conversation(properties=QUICK)
def a_refused_classic_member_is_told_no_id(talk):
    name, _ = talk.topic(partitions=2)
    group = talk.named("g")
    enter(talk, 1, group, member_id(talk, "m"), name)
    join(talk, 9, group, "somebody", kind="connect", error="INCONSISTENT_GROUP_PROTOCOL")
    join(talk, 9, group, "somebody", protocols=[], error="INCONSISTENT_GROUP_PROTOCOL")


def gone(member):
    """Holds when a described group has no such member any more."""
    return lambda answer: all(each["MemberId"] != member for each in answer["Groups"][0]["Members"])


@conversation(properties=QUICK)
def a_consumer_that_says_nothing_is_fenced_after_its_session(talk):
    name, _ = talk.topic(partitions=2)
    group, member = talk.named("g"), member_id(talk, "m")
    epoch = enter(talk, 1, group, member, name).get("MemberEpoch", 1)
    began = time.monotonic()
    time.sleep(2)
    say(talk, 1, group, member, epoch)
    talk.ask_until("ConsumerGroupDescribe", 1, gone(member), GroupIds=[group], on="looker")
    talk.takes("the session, renewed after 2 s", 5, 0.8, began)
    say(talk, 1, group, member, epoch, error="UNKNOWN_MEMBER_ID")


@conversation(properties=QUICK)
def a_consumer_that_does_not_give_up_its_partitions_is_fenced(talk):
    name, topic_id = talk.topic(partitions=2)
    group, one, two = talk.named("g"), member_id(talk, "one"), member_id(talk, "two")
    every = [{"TopicId": topic_id, "Partitions": [0, 1]}]
    epoch = enter(talk, 1, group, one, name, RebalanceTimeoutMs=2000).get("MemberEpoch", 1)
    say(talk, 1, group, one, epoch, TopicPartitions=every)
    enter(talk, 1, group, two, name, RebalanceTimeoutMs=2000)
    # Told to give up one of two, it goes on as if it had not heard.
    told = say(talk, 1, group, one, epoch, TopicPartitions=every)
    began, end = time.monotonic(), time.monotonic() + 6
    begin = len(talk.steps)
    while time.monotonic() < end:
        answer = say(talk, 1, group, one, told.get("MemberEpoch", 0), error=None, TopicPartitions=every)
        if answer.get("ErrorCode"):
            break
        time.sleep(0.05)
    del talk.steps[begin:-1]
    talk.takes("the time to give up partitions", 2, 0.6, began)


@conversation(properties=QUICK)
def a_consumer_group_is_full(talk):
    name, _ = talk.topic()
    group = talk.named("g")
    for word in ("one", "two"):
        enter(talk, 1, group, member_id(talk, word), name)
    enter(talk, 1, group, member_id(talk, "three"), name, error="GROUP_MAX_SIZE_REACHED")
    enter(talk, 0, group, member_id(talk, "three"), name, error="GROUP_MAX_SIZE_REACHED")


@conversation
def groups_change_their_type_when_they_are_empty(talk):
    name, topic_id = talk.topic()
    group = talk.named("g")
    classic = settle(talk, group)
    commit(talk, 8, group, name, (0, 7), member=classic, generation=1)
    leave(talk, 5, group, classic)
    member = member_id(talk, "m")
    enter(talk, 1, group, member, name)
    talk.ask("ConsumerGroupDescribe", 1, GroupIds=[group])
    fetch(talk, 9, group, [(name, topic_id, [0])])
    say(talk, 1, group, member, -1)
    settle(talk, group)
    talk.ask("DescribeGroups", 6, Groups=[group])
    talk.ask("ConsumerGroupDescribe", 1, GroupIds=[group], error="GROUP_ID_NOT_FOUND")
    fetch(talk, 9, group, [(name, topic_id, [0])])


@conversation
def a_connect_group_and_a_consumer(talk):
    name, _ = talk.topic()
    group = talk.named("g")
    settle(talk, group, kind="connect", protocols=[("v0", b"")])
    enter(talk, 1, group, member_id(talk, "m"), name, error=None)
