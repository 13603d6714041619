"""Classic groups: JoinGroup, SyncGroup, Heartbeat, LeaveGroup, and how they are looked at and deleted."""

import time

import records
import wire
from talk import conversation, ends, versions

RANGE = [("range", records.subscription("orders"))]
OLDEST, NEWEST = ends("JoinGroup")


def send_join(talk, version, group, member="", on="", instance=None, protocols=RANGE, kind="consumer", session=10000,
              rebalance=10000, reason=None):
    return talk.send("JoinGroup", version, on=on or "", GroupId=group, MemberId=member, GroupInstanceId=instance,
                     SessionTimeoutMs=session, RebalanceTimeoutMs=rebalance, ProtocolType=kind, Reason=reason,
                     Protocols=[{"Name": name, "Metadata": data} for name, data in protocols])


def join(talk, version, group, member="", error="NONE", **more):
    return talk.answer(send_join(talk, version, group, member, **more), error)


def enter(talk, version, group, **more):
    """Joins as a new member, with the second request that newer versions ask for."""
    first = "MEMBER_ID_REQUIRED" if version >= 4 and not more.get("instance") else "NONE"
    answer = join(talk, version, group, error=first, **more)
    return join(talk, version, group, answer.get("MemberId", ""), **more) if first != "NONE" else answer


def sync(talk, version, group, generation, member, error="NONE", on="", instance=None, assignments=(), kind="consumer",
         protocol="range"):
    return talk.answer(send_sync(talk, version, group, generation, member, on, instance, assignments, kind, protocol),
                       error)


def send_sync(talk, version, group, generation, member, on="", instance=None, assignments=(), kind="consumer",
              protocol="range"):
    return talk.send("SyncGroup", version, on=on, GroupId=group, GenerationId=generation, MemberId=member,
                     GroupInstanceId=instance, ProtocolType=kind, ProtocolName=protocol,
                     Assignments=[{"MemberId": who, "Assignment": data} for who, data in assignments])


def beat(talk, version, group, generation, member, error="NONE", instance=None, on=""):
    return talk.ask("Heartbeat", version, on=on, GroupId=group, GenerationId=generation, MemberId=member,
                    GroupInstanceId=instance, error=error)


def leave(talk, version, group, member, error="NONE", instance=None, on="", members=None):
    return talk.ask("LeaveGroup", version, on=on, GroupId=group, MemberId=member, error=error, Members=members or [
        {"MemberId": member, "GroupInstanceId": instance}])


def settle(talk, group, version=NEWEST, on="", **more):
    """A group of one member that is stable; the member id."""
    answer = enter(talk, version, group, on=on, **more)
    sync(talk, min(version, 5), group, answer["GenerationId"], answer["MemberId"], on=on,
         instance=more.get("instance"), kind=more.get("kind", "consumer"), protocol=answer["ProtocolName"],
         assignments=[(answer["MemberId"], b"mine")])
    return answer["MemberId"]


@conversation
def one_member_at_every_version(talk):
    for version in versions("JoinGroup"):
        group = talk.named(f"g{version}")
        answer = enter(talk, version, group)
        member, generation = answer["MemberId"], answer["GenerationId"]
        later = min(version, wire.newest("SyncGroup"))
        sync(talk, later, group, generation, member, assignments=[(member, records.assignment(orders=[0]))])
        sync(talk, later, group, generation, member)  # Once more: the same assignment.
        beat(talk, min(version, 4), group, generation, member)
        leave(talk, min(version, 5), group, member)
        beat(talk, min(version, 4), group, generation, member, error="UNKNOWN_MEMBER_ID")


@conversation
def join_group_that_is_refused(talk):
    for version in (0, 1, 3, 4, 5, 6, 7, 9):
        group = talk.named(f"g{version}")
        join(talk, version, "", error="INVALID_GROUP_ID")
        join(talk, version, group, session=5999, error="INVALID_SESSION_TIMEOUT")
        join(talk, version, group, session=1800001, error="INVALID_SESSION_TIMEOUT")
        join(talk, version, group, "nobody", error="UNKNOWN_MEMBER_ID")
        join(talk, version, group, protocols=[], error=None)
        join(talk, version, group, kind="", error=None)
        settle(talk, group, version)
        join(talk, version, group, "nobody", error="UNKNOWN_MEMBER_ID")
        join(talk, version, group, protocols=[("other", b"")], error="INCONSISTENT_GROUP_PROTOCOL")
        join(talk, version, group, kind="connect", error="INCONSISTENT_GROUP_PROTOCOL")
        join(talk, version, group, protocols=[], error="INCONSISTENT_GROUP_PROTOCOL")


@conversation
def join_group_with_boundaries(talk):
    for session in (6000, 1800000):
        answer = join(talk, 0, talk.named(f"s{session}"), session=session)
        leave(talk, 0, talk.named(f"s{session}"), answer["MemberId"])
    for kind in ("connect", "sr", "x"):
        enter(talk, 9, talk.named(kind), kind=kind, protocols=[("v0", b""), ("v1", b"\0\1")])
    enter(talk, 9, talk.named("g" * 300))
    enter(talk, 9, talk.named("ünïcode"))
    enter(talk, 9, " ")


@conversation
def join_group_with_the_same_protocol_twice(talk):
    # Apache Kafka trips over it while it counts votes, and says nothing.
    group = talk.named("g")
    member = join(talk, 9, group, error="MEMBER_ID_REQUIRED")["MemberId"]
    join(talk, 9, group, member, protocols=[("range", RANGE[0][1]), ("range", RANGE[0][1])], error=None)


@conversation
def member_ids_are_required_and_pending(talk):
    group = talk.named("g")
    member = join(talk, 4, group, error="MEMBER_ID_REQUIRED")["MemberId"]
    other = join(talk, 9, group, error="MEMBER_ID_REQUIRED", on="other")["MemberId"]
    talk.ask("DescribeGroups", 5, Groups=[group])
    beat(talk, 4, group, 0, member, error=None)
    sync(talk, 5, group, 0, member, error=None)
    leave(talk, 5, group, other)
    leave(talk, 5, group, other, error="UNKNOWN_MEMBER_ID")
    join(talk, 9, group, other, error="UNKNOWN_MEMBER_ID", on="other")
    join(talk, 9, group, member)


@conversation
def heartbeats_that_are_refused(talk):
    group = talk.named("g")
    for version in versions("Heartbeat"):
        beat(talk, version, "", 0, "x", error="INVALID_GROUP_ID")
        beat(talk, version, talk.named("nobody"), 0, "x", error="UNKNOWN_MEMBER_ID")
    member = settle(talk, group)
    for version in versions("Heartbeat"):
        beat(talk, version, group, 1, member)
        beat(talk, version, group, 0, member, error="ILLEGAL_GENERATION")
        beat(talk, version, group, 2, member, error="ILLEGAL_GENERATION")
        beat(talk, version, group, -1, member, error="ILLEGAL_GENERATION")
        beat(talk, version, group, 1, "x", error="UNKNOWN_MEMBER_ID")
        beat(talk, version, group, 1, "", error="UNKNOWN_MEMBER_ID")


@conversation
def sync_group_that_is_refused(talk):
    group = talk.named("g")
    for version in versions("SyncGroup"):
        sync(talk, version, "", 0, "x", error="INVALID_GROUP_ID")
        sync(talk, version, talk.named("nobody"), 0, "x", error="UNKNOWN_MEMBER_ID")
    answer = enter(talk, 9, group)
    member = answer["MemberId"]
    for version in versions("SyncGroup"):
        sync(talk, version, group, 5, member, error="ILLEGAL_GENERATION")
        sync(talk, version, group, 1, "x", error="UNKNOWN_MEMBER_ID")
        if version >= 5:
            sync(talk, version, group, 1, member, kind="connect", error="INCONSISTENT_GROUP_PROTOCOL")
            sync(talk, version, group, 1, member, protocol="other", error="INCONSISTENT_GROUP_PROTOCOL")
            sync(talk, version, group, 1, member, kind=None, protocol=None, error="INCONSISTENT_GROUP_PROTOCOL")
    sync(talk, 5, group, 1, member, assignments=[(member, b"a"), ("stranger", b"b"), (member, b"c")], error=None)
    sync(talk, 5, group, 1, member)


@conversation
def leave_group_that_is_refused(talk):
    group = talk.named("g")
    for version in versions("LeaveGroup"):
        leave(talk, version, "", "x", error=None)
        leave(talk, version, talk.named("nobody"), "x", error="UNKNOWN_MEMBER_ID")
    member = settle(talk, group)
    for version in versions("LeaveGroup"):
        leave(talk, version, group, "x", error="UNKNOWN_MEMBER_ID")
        leave(talk, version, group, "", error="UNKNOWN_MEMBER_ID")
    leave(talk, 5, group, "", members=[{"MemberId": "x"}, {"MemberId": member, "Reason": "enough"}, {"MemberId": "y"},
                                       {"MemberId": "", "GroupInstanceId": "i"}], error=None)
    leave(talk, 5, group, "", members=[], error=None)
    talk.ask("LeaveGroup", 5, GroupId=group, Members=[])


@conversation
def two_members_rebalance(talk):
    group = talk.named("g")
    first = settle(talk, group, on="one")
    second = join(talk, 9, group, error="MEMBER_ID_REQUIRED", on="two")["MemberId"]
    joining = send_join(talk, 9, group, second, on="two")
    talk.waits(joining)
    beat(talk, 4, group, 1, first, on="one", error="REBALANCE_IN_PROGRESS")
    sync(talk, 5, group, 1, first, on="one", error="REBALANCE_IN_PROGRESS")
    talk.ask("DescribeGroups", 5, Groups=[group], on="looker")
    leads = talk.answer(send_join(talk, 9, group, first, on="one"))
    talk.answer(joining)
    waiting = send_sync(talk, 5, group, 2, second, on="two")
    talk.waits(waiting)
    beat(talk, 4, group, 2, first, on="one")
    talk.ask("DescribeGroups", 5, Groups=[group], on="looker")
    sync(talk, 5, group, 2, first, on="one", assignments=[(first, b"1"), (second, b"2")])
    talk.answer(waiting)
    beat(talk, 4, group, 2, second, on="two")
    talk.ask("DescribeGroups", 5, Groups=[group], on="looker")
    # A follower that rejoins unchanged gets its generation again; the leader starts a rebalance.
    join(talk, 9, group, second, on="two")
    again = send_join(talk, 9, group, first, on="one")
    talk.waits(again)
    beat(talk, 4, group, 2, second, on="two", error="REBALANCE_IN_PROGRESS")
    join(talk, 9, group, second, on="two")
    talk.answer(again)
    # The leader leaves while the follower waits for its assignment.
    waiting = send_sync(talk, 5, group, 3, second, on="two")
    talk.waits(waiting)
    leave(talk, 5, group, first, on="looker")
    talk.answer(waiting, error="REBALANCE_IN_PROGRESS")
    join(talk, 9, group, second, on="two")


@conversation
def a_follower_with_other_topics_starts_a_rebalance(talk):
    group = talk.named("g")
    first = settle(talk, group, on="one")
    second = join(talk, 9, group, error="MEMBER_ID_REQUIRED", on="two")["MemberId"]
    joining = send_join(talk, 9, group, second, on="two")
    talk.waits(joining)
    join(talk, 9, group, first, on="one")
    talk.answer(joining)
    sync(talk, 5, group, 2, first, on="one", assignments=[(first, b"1"), (second, b"2")])
    sync(talk, 5, group, 2, second, on="two")
    joining = send_join(talk, 9, group, second, on="two",
                        protocols=[("range", records.subscription("orders", "payments"))])
    talk.waits(joining)
    beat(talk, 4, group, 2, first, on="one", error="REBALANCE_IN_PROGRESS")
    join(talk, 9, group, first, on="one")
    talk.answer(joining)


@conversation
def members_vote_for_a_protocol(talk):
    group = talk.named("g")
    names = lambda *wanted: [(name, records.subscription("orders")) for name in wanted]
    first = join(talk, 3, group, on="one", protocols=names("a", "b", "c"))["MemberId"]
    joins = [send_join(talk, 3, group, on="two", protocols=names("b", "c")),
             send_join(talk, 3, group, on="three", protocols=names("c", "b"))]
    talk.waits(joins[0])
    talk.waits(joins[1])
    join(talk, 3, group, first, on="one", protocols=names("a", "c", "b"))
    for pending in joins:
        talk.answer(pending)
    join(talk, 3, group, protocols=names("a"), on="four", error="INCONSISTENT_GROUP_PROTOCOL")


@conversation
def a_member_that_says_nothing_is_removed_after_its_session(talk):
    group = talk.named("g")
    member = settle(talk, group, session=6000)
    began = time.monotonic()
    talk.ask_until("DescribeGroups", 5, lambda answer: answer["Groups"][0]["GroupState"] == "Empty", Groups=[group],
                   on="looker")
    talk.takes("the session", 6, 0.8, began)
    beat(talk, 4, group, 1, member, error="UNKNOWN_MEMBER_ID")


@conversation
def heartbeats_keep_a_session(talk):
    group = talk.named("g")
    member = settle(talk, group, session=6000)
    time.sleep(4)
    beat(talk, 4, group, 1, member)
    time.sleep(4)
    beat(talk, 4, group, 1, member)
    talk.drop("")  # A connection that ends says nothing about its member.
    beat(talk, 4, group, 1, member)


@conversation
def a_rebalance_waits_for_its_members_and_then_goes_on(talk):
    group = talk.named("g")
    settle(talk, group, on="one", session=6000, rebalance=2000)
    second = join(talk, 9, group, error="MEMBER_ID_REQUIRED", on="two", rebalance=2000)["MemberId"]
    joining = send_join(talk, 9, group, second, on="two", session=10000, rebalance=2000)
    talk.answer(joining, seconds=12)
    talk.takes("the rebalance", 2, 0.6, joining, joining)


@conversation
def a_member_that_does_not_sync_is_removed(talk):
    group = talk.named("g")
    member = enter(talk, 9, group, session=6000, rebalance=2000)["MemberId"]
    began = time.monotonic()
    talk.ask_until("DescribeGroups", 5, lambda answer: answer["Groups"][0]["GroupState"] != "CompletingRebalance",
                   Groups=[group], on="looker")
    talk.takes("the wait for SyncGroup", 2, 0.8, began)
    beat(talk, 4, group, 1, member, error="UNKNOWN_MEMBER_ID")


@conversation(properties={"group.initial.rebalance.delay.ms": 1500})
def the_first_rebalance_waits_for_more_members(talk):
    group = talk.named("g")
    first = send_join(talk, 3, group, on="one")
    talk.waits(first, 0.5)
    second = send_join(talk, 3, group, on="two")
    talk.answer(first)
    talk.answer(second)
    talk.takes("the first rebalance", 3, 0.8, first, first)
    # Only the first one.
    leave(talk, 3, group, "", error=None, on="one")


@conversation(properties={"group.initial.rebalance.delay.ms": 1500})
def the_first_rebalance_waits_its_whole_delay(talk):
    # Also when the rebalance timeout of its only member is shorter.
    for rebalance in (700, 10000):
        first = send_join(talk, 3, talk.named(f"g{rebalance}"), on=f"{rebalance}", rebalance=rebalance)
        talk.answer(first)
        talk.takes("the first rebalance", 1.5, 0.5, first, first)


@conversation(properties={"group.max.size": 2, "group.min.session.timeout.ms": 100, "offset.metadata.max.bytes": 10})
def a_group_is_full(talk):
    group = talk.named("g")
    first = join(talk, 3, group, on="one", session=100000)["MemberId"]
    second = send_join(talk, 3, group, on="two", session=100000)
    talk.waits(second)
    join(talk, 3, group, first, on="one", session=100000)
    talk.answer(second)
    join(talk, 3, group, on="three", error="GROUP_MAX_SIZE_REACHED")
    join(talk, 3, group, on="three", error="GROUP_MAX_SIZE_REACHED")
    for version in (6, 9):
        member = join(talk, version, group, on="three", error=None)["MemberId"]
        join(talk, version, group, member, on="three", error=None)
        join(talk, version, group, on="three", instance=f"static-{version}", error="GROUP_MAX_SIZE_REACHED")


@conversation
def static_members(talk):
    group = talk.named("g")
    for version in (5, 9):
        group = talk.named(f"g{version}")
        member = settle(talk, group, version, instance="i", on="one")
        # It comes back under another member id, without a rebalance.
        again = join(talk, version, group, instance="i", on="two")
        renewed = again["MemberId"]
        beat(talk, 4, group, 1, member, instance="i", error="FENCED_INSTANCE_ID", on="one")
        beat(talk, 4, group, 1, member, error="UNKNOWN_MEMBER_ID", on="one")
        sync(talk, 5, group, 1, member, instance="i", error="FENCED_INSTANCE_ID", on="one")
        join(talk, version, group, member, instance="i", error="FENCED_INSTANCE_ID", on="one")
        join(talk, version, group, "x", instance="other", error="UNKNOWN_MEMBER_ID", on="one")
        beat(talk, 4, group, 1, renewed, instance="i", on="two")
        beat(talk, 4, group, 1, renewed, on="two")
        beat(talk, 4, group, 1, renewed, instance="other", error="UNKNOWN_MEMBER_ID", on="two")
        sync(talk, 5, group, 1, renewed, instance="i", on="two")
        talk.ask("DescribeGroups", 5, Groups=[group], on="looker")
        leave(talk, 5, group, "", members=[{"MemberId": member, "GroupInstanceId": "i"}], error="FENCED_INSTANCE_ID")
        leave(talk, 5, group, "", members=[{"MemberId": "", "GroupInstanceId": "i"}, {"MemberId": "",
              "GroupInstanceId": "nobody"}], error="UNKNOWN_MEMBER_ID")
        talk.ask("DescribeGroups", 5, Groups=[group], on="looker")


@conversation
def a_static_member_is_replaced_while_it_waits(talk):
    group = talk.named("g")
    settle(talk, group, instance="leader", on="one")
    waiting = send_join(talk, 9, group, instance="i", on="two")
    talk.waits(waiting)
    other = send_join(talk, 9, group, instance="i", on="three")
    talk.answer(waiting, error="FENCED_INSTANCE_ID")
    talk.waits(other)


@conversation
def bytes_that_are_no_subscription(talk):
    for number, data in enumerate((b"", b"\0", b"\0\0\0\0", b"\0\1\0\0\0\1\0\3abc\0\0\0\0\0\0\0\0", b"\xff\xff",
                                   b"\0\x63\0\0\0\0\0\0\0\0")):
        group = talk.named(f"g{number}")
        enter(talk, 9, group, protocols=[("range", data)])
        enter(talk, 9, group + "-connect", kind="connect", protocols=[("range", data)])


@conversation
def describe_groups_at_every_version(talk):
    group = talk.named("g")
    connect = talk.named("connect")
    member = settle(talk, group)
    settle(talk, connect, kind="connect", protocols=[("v0", b"meta")], instance="worker", on="two")
    for version in versions("DescribeGroups"):
        talk.ask("DescribeGroups", version, Groups=[group, connect])
        talk.ask("DescribeGroups", version, Groups=[talk.named("nobody"), group, ""], error=None)
        talk.ask("DescribeGroups", version, Groups=[group, group], error=None)
        talk.ask("DescribeGroups", version, Groups=[group], IncludeAuthorizedOperations=True)
        talk.ask("DescribeGroups", version, Groups=[])
    leave(talk, 5, group, member)
    for version in ends("DescribeGroups"):
        talk.ask("DescribeGroups", version, Groups=[group])


@conversation(alone=True)
def list_groups_at_every_version(talk):
    settle(talk, talk.named("stable"))
    member = settle(talk, talk.named("empty"), on="two")
    leave(talk, 5, talk.named("empty"), member)
    enter(talk, 9, talk.named("completing"), on="three")
    talk.ask("OffsetCommit", 8, GroupId=talk.named("simple"), GenerationIdOrMemberEpoch=-1, MemberId="", Topics=[
        {"Name": talk.topic()[0], "Partitions": [{"PartitionIndex": 0, "CommittedOffset": 0}]}])
    for version in versions("ListGroups"):
        talk.ask("ListGroups", version)
        for states in (["Stable"], ["stable", "EMPTY"], ["nonsense"], ["Dead"], ["CompletingRebalance"], [""]):
            if version >= 4:
                talk.ask("ListGroups", version, StatesFilter=states)
        for types in (["classic"], ["Consumer"], ["CLASSIC", "consumer"], ["nonsense"], ["Share"], ["Streams"]):
            if version >= 5:
                talk.ask("ListGroups", version, TypesFilter=types)
    talk.ask("ListGroups", 5, StatesFilter=["Stable"], TypesFilter=["classic"])


@conversation
def delete_groups(talk):
    for version in versions("DeleteGroups"):
        group, busy, nobody = (talk.named(f"{word}{version}") for word in ("g", "busy", "nobody"))
        member = settle(talk, group)
        settle(talk, busy, on="two")
        delete = lambda *groups, error: talk.ask("DeleteGroups", version, GroupsNames=list(groups), error=error)
        delete(group, error="NON_EMPTY_GROUP")
        delete(nobody, error="GROUP_ID_NOT_FOUND")
        delete("", error=None)
        leave(talk, 5, group, member)
        delete(group, busy, nobody, error=None)
        delete(group, error="GROUP_ID_NOT_FOUND")
        delete(group, group, error=None)
        delete(error="NONE")
        talk.ask("DescribeGroups", 6, Groups=[group], error="GROUP_ID_NOT_FOUND")


@conversation
def find_coordinator_of_transactions(talk):
    talk.ask_until("FindCoordinator", 1, Key="t", KeyType=1, seconds=5)
    for version in range(1, wire.newest("FindCoordinator") + 1):
        for key in ("t", ""):
            talk.ask("FindCoordinator", version, Key=key, KeyType=1, CoordinatorKeys=[key])


@conversation
def find_coordinator_at_every_version(talk):
    for version in versions("FindCoordinator"):
        for kind in (0, 1, 2, 3, -1, 99):
            if version == 0 and kind:
                continue
            for keys in (["g"], [""], ["a", "b", "a"]):
                if version < 4 and len(keys) > 1:
                    continue
                if kind == 1:
                    continue  # The first one to ask for a transaction coordinator creates its topic.
                talk.ask("FindCoordinator", version, Key=keys[0], KeyType=kind, CoordinatorKeys=keys, error=None)
        if version >= 4:
            talk.ask("FindCoordinator", version, KeyType=0, CoordinatorKeys=[])


@conversation
def a_static_member_stays_until_its_session_ends(talk):
    group = talk.named("g")
    settle(talk, group, instance="i", session=6000, on="one")
    began = time.monotonic()
    talk.drop("one")
    time.sleep(1)
    talk.ask("DescribeGroups", 5, Groups=[group])
    talk.ask_until("DescribeGroups", 5, lambda answer: answer["Groups"][0]["GroupState"] == "Empty", Groups=[group])
    talk.takes("the session", 6, 0.8, began)


@conversation
def a_leader_that_is_gone_lets_others_wait_for_its_assignment(talk):
    group = talk.named("g")
    first = settle(talk, group, on="one", session=6000, rebalance=3000)
    second = join(talk, 9, group, error="MEMBER_ID_REQUIRED", on="two")["MemberId"]
    joining = send_join(talk, 9, group, second, on="two", rebalance=3000)
    talk.waits(joining)
    join(talk, 9, group, first, on="one", session=6000, rebalance=3000)
    talk.answer(joining)
    waiting = send_sync(talk, 5, group, 2, second, on="two")
    talk.answer(waiting, error="REBALANCE_IN_PROGRESS")
    talk.takes("the wait for the leader's SyncGroup", 3, 0.8, waiting, waiting)
    beat(talk, 4, group, 2, first, on="one", error="UNKNOWN_MEMBER_ID")


@conversation
def a_member_id_that_was_given_does_not_last(talk):
    group = talk.named("g")
    member = join(talk, 4, group, error="MEMBER_ID_REQUIRED", session=6000)["MemberId"]
    time.sleep(6.5)
    join(talk, 4, group, member, session=6000, error="UNKNOWN_MEMBER_ID")
