#include "broker/insight/identity/attribution.h"

#include <gtest/gtest.h>

#include "broker/insight/identity/member_connections.h"

namespace partita::insight {
namespace {

constexpr TimestampMs kStart{1'000'000};

PartitionSpan span(std::int32_t partition, std::int64_t first_ms = 0, std::int64_t last_ms = 1'000) {
    return {PartitionIndex{partition}, TimestampMs{kStart.value + first_ms}, TimestampMs{kStart.value + last_ms}};
}

ConnectionFacts connection(std::uint64_t id, std::optional<std::int32_t> pid = std::nullopt) {
    ConnectionFacts facts{.id = ConnectionId{id},
                          .client_id = "rdkafka",
                          .address = "/127.0.0.1",
                          .port = 50'000,
                          .software_name = "librdkafka",
                          .software_version = "2.16.0",
                          .born = kStart};
    if (pid) {
        facts.process = ProcessIdentity{.pid = *pid, .start_ticks = 77, .name = "kcat"};
    }
    return facts;
}

ReadingConnection reader(std::uint64_t id, std::vector<PartitionSpan> fetched, std::optional<std::int32_t> pid = std::nullopt) {
    return {connection(id, pid), std::move(fetched)};
}

GroupMember member(std::string group, std::vector<PartitionSpan> held,
                   std::optional<ConnectionFacts> coordinator = std::nullopt) {
    return {.group = std::move(group),
            .member_id = "m",
            .client_id = "rdkafka",
            .client_host = "/127.0.0.1",
            .held = std::move(held),
            .coordinator = std::move(coordinator)};
}

TEST(Attribution, OneReaderAndOneMemberAreOne) {
    const std::vector readers{reader(1, {span(0), span(6)})};
    const std::vector members{member("billing", {span(0), span(6)})};
    const Attribution found = attribute(0, readers, members);
    EXPECT_EQ(found.kind, Attribution::Kind::member);
    EXPECT_EQ(found.basis, AttributionBasis::elimination);
    EXPECT_EQ(to_string(found, members), "group billing");
    EXPECT_EQ(what_would_tell(found), "");
}

TEST(Attribution, TwoGroupsOfOneClientIdStayTwo) {
    const std::vector readers{reader(1, {span(0)}), reader(2, {span(0)})};
    const std::vector members{member("billing", {span(0)}), member("audit", {span(0)})};
    const Attribution found = attribute(0, readers, members);
    EXPECT_EQ(found.kind, Attribution::Kind::one_of);
    EXPECT_EQ(found.candidates, (std::vector<std::size_t>{0, 1}));
    EXPECT_EQ(to_string(found, members), "one of group audit, group billing, or a reader in no group");
    EXPECT_NE(what_would_tell(found), "");
}

/// An application that was restarted: one member came after the other, and the first one's connection is closed.
class AttributionOfOneAfterTheOther : public ::testing::Test {
  protected:
    AttributionOfOneAfterTheOther() {
        readers_[0].is_open = false;
        members_[0].left = TimestampMs{kStart.value + 500};
        members_[1].came = TimestampMs{kStart.value + 700};
    }
    std::vector<ReadingConnection> readers_{reader(1, {span(0, 100, 400)}), reader(2, {span(0, 800, 900)})};
    std::vector<GroupMember> members_{member("billing", {span(0, 100, 500)}), member("billing", {span(0, 700, 1'000)})};
};

TEST_F(AttributionOfOneAfterTheOther, EachHasItsOwnConnection) {
    for (const std::size_t index : {0U, 1U}) {
        const Attribution found = attribute(index, readers_, members_);
        EXPECT_EQ(found.kind, Attribution::Kind::member);
        EXPECT_EQ(found.candidates, std::vector{index});
    }
    EXPECT_EQ(exclusion_of(readers_[0], members_[1]), Exclusion::other_time);
    EXPECT_EQ(exclusion_of(readers_[1], members_[0]), Exclusion::other_time);
}

TEST_F(AttributionOfOneAfterTheOther, AnOpenConnectionMayServeTheNextMember) {
    readers_[0].is_open = true;
    EXPECT_EQ(attribute(0, readers_, members_).kind, Attribution::Kind::one_of);
}

TEST_F(AttributionOfOneAfterTheOther, AMemberThatMayHaveBeenThereBeforeIsNotExcluded) {
    members_[1].came = kNoTimestamp;
    EXPECT_EQ(attribute(0, readers_, members_).kind, Attribution::Kind::one_of);
    members_[1].came = TimestampMs{kStart.value + 400};
    EXPECT_EQ(attribute(0, readers_, members_).kind, Attribution::Kind::one_of);
}

TEST(Attribution, ProcessesTellTwoGroupsOfOneClientIdApart) {
    const std::vector readers{reader(1, {span(0)}, 4711), reader(2, {span(0)}, 4712)};
    const std::vector members{member("billing", {span(0)}, connection(3, 4711)), member("audit", {span(0)}, connection(4, 4712))};
    for (const std::size_t index : {0U, 1U}) {
        const Attribution found = attribute(index, readers, members);
        EXPECT_EQ(found.kind, Attribution::Kind::member);
        EXPECT_EQ(found.basis, AttributionBasis::process);
        EXPECT_EQ(found.candidates, std::vector<std::size_t>{index});
    }
}

TEST(Attribution, ReaderOfAnotherProcessThanEveryMemberIsInNoGroup) {
    const std::vector readers{reader(1, {span(0)}, 4711), reader(2, {span(0)}, 999)};
    const std::vector members{member("billing", {span(0)}, connection(3, 4711))};
    EXPECT_EQ(attribute(1, readers, members).kind, Attribution::Kind::no_group);
    EXPECT_EQ(exclusion_of(readers[1], members[0]), Exclusion::other_process);
    // It is not the other reader's rival, either.
    EXPECT_EQ(attribute(0, readers, members).kind, Attribution::Kind::member);
}

TEST(Attribution, SameProcessIdOfALaterProcessIsAnother) {
    ReadingConnection later = reader(2, {span(0)}, 4711);
    later.client.process->start_ticks = 78;
    EXPECT_EQ(exclusion_of(later, member("billing", {span(0)}, connection(3, 4711))), Exclusion::other_process);
}

TEST(Attribution, StrangerWithAMembersIdAndHostLeavesBothUndecided) {
    const std::vector readers{reader(1, {span(0)}), reader(2, {span(0)})};
    const std::vector members{member("billing", {span(0)}, connection(3))};
    for (const std::size_t index : {0U, 1U}) {
        const Attribution found = attribute(index, readers, members);
        EXPECT_EQ(found.kind, Attribution::Kind::one_of) << "either may be the member";
        EXPECT_EQ(to_string(found, members), "one of group billing, or a reader in no group");
    }
}

TEST(Attribution, TwoReadersOfTheMembersProcessAreNotBothTheMember) {
    const std::vector readers{reader(1, {span(0)}, 4711), reader(2, {span(0)}, 4711)};
    const std::vector members{member("billing", {span(0)}, connection(3, 4711))};
    EXPECT_EQ(attribute(0, readers, members).kind, Attribution::Kind::one_of);
    EXPECT_EQ(attribute(1, readers, members).kind, Attribution::Kind::one_of);
}

TEST(Attribution, FetchesOverTheCoordinatorsConnectionAreTheMembers) {
    const std::vector readers{reader(3, {span(0, 0, 5'000)}), reader(2, {span(0, 1'000, 5'000)})};
    const std::vector members{member("billing", {span(0)}, connection(3)), member("audit", {span(0)}, connection(4))};
    const Attribution own = attribute(0, readers, members);
    EXPECT_EQ(own.kind, Attribution::Kind::member);
    EXPECT_EQ(own.basis, AttributionBasis::connection);
    const Attribution other = attribute(1, readers, members);
    EXPECT_EQ(other.candidates, std::vector<std::size_t>{1}) << "the first member fetches elsewhere";
    EXPECT_EQ(other.kind, Attribution::Kind::member) << "and nobody else can be the second";
}

TEST(Attribution, ConnectionThatFellSilentBeforeTheNextBeganMayBeItsPredecessor) {
    const std::vector readers{reader(3, {span(0, 0, 900)}), reader(5, {span(0, 1'000, 5'000)})};
    const std::vector members{member("billing", {span(0, 0, 5'000)}, connection(3))};
    EXPECT_NE(attribute(1, readers, members).kind, Attribution::Kind::no_group);
}

TEST(Attribution, SeveralMembersOnOneConnectionStaySeveral) {
    const std::vector readers{reader(3, {span(0)})};
    const std::vector members{member("billing", {span(0)}, connection(3)), member("audit", {span(0)}, connection(3)),
                              member("third", {span(0)}, connection(4))};
    EXPECT_EQ(attribute(0, readers, members).candidates, (std::vector<std::size_t>{0, 1}));
}

TEST(Attribution, FetchingWhatAMemberDoesNotHoldExcludesIt) {
    const ReadingConnection everything = reader(1, {span(0, 0, 30'000), span(1, 0, 30'000)});
    EXPECT_EQ(exclusion_of(everything, member("billing", {span(0, 0, 30'000)})), Exclusion::other_partitions);
    EXPECT_EQ(exclusion_of(everything, member("billing", {span(0, 0, 30'000), span(1, 0, 30'000)})), Exclusion::none);
}

TEST(Attribution, MemberHasTimeToFollowItsAssignment) {
    const GroupMember lost = member("billing", {span(0, 0, 5'000), span(1, 0, 30'000)});
    EXPECT_EQ(exclusion_of(reader(1, {span(0, 0, 5'000 + kHandoverMs), span(1, 0, 30'000)}), lost), Exclusion::none);
    EXPECT_EQ(exclusion_of(reader(1, {span(0, 0, 5'001 + kHandoverMs), span(1, 0, 30'000)}), lost), Exclusion::other_partitions);
    // The reader fetches before the broker saw the assignment.
    EXPECT_EQ(exclusion_of(reader(1, {span(2, 0, kHandoverMs)}), lost), Exclusion::none);
}

TEST(Attribution, ClientIdHostAndSoftwareMustAgree) {
    const std::vector members{member("billing", {span(0)}, connection(3))};
    ReadingConnection other = reader(1, {span(0)});
    other.client.client_id = "kcat";
    EXPECT_EQ(exclusion_of(other, members[0]), Exclusion::other_client_id);
    other = reader(1, {span(0)});
    other.client.address = "/10.0.0.1";
    EXPECT_EQ(exclusion_of(other, members[0]), Exclusion::other_host);
    other = reader(1, {span(0)});
    other.client.software_version = "1.9.2";
    EXPECT_EQ(exclusion_of(other, members[0]), Exclusion::other_software);
    other.client.software_name.clear();
    other.client.software_version.clear();
    EXPECT_EQ(exclusion_of(other, members[0]), Exclusion::none) << "what is not said contradicts nothing";
}

TEST(Attribution, BothLoopbackAddressesAreOneHost) {
    ReadingConnection other = reader(1, {span(0)});
    other.client.address = "/0:0:0:0:0:0:0:1";
    EXPECT_EQ(exclusion_of(other, member("billing", {span(0)})), Exclusion::none);
}

TEST(Attribution, NamesAFewOfManyGroups) {
    std::vector<GroupMember> members;
    for (int group = 0; group < 12; ++group) {
        members.push_back(member("g" + std::to_string(group), {span(0)}));
    }
    const std::vector readers{reader(1, {span(0)})};
    EXPECT_NE(to_string(attribute(0, readers, members), members).find(" and 4 more groups"), std::string::npos);
}

TEST(Attribution, PeopleAreToldTheProgram) {
    ConnectionFacts facts = connection(1, 4711);
    facts.process->name = "java";
    facts.process->program = "shop.jar";
    EXPECT_EQ(to_string(facts), "rdkafka (/127.0.0.1:50000, java (pid 4711, shop.jar))");
    facts.process.reset();
    EXPECT_EQ(to_string(facts), "rdkafka (/127.0.0.1:50000, librdkafka 2.16.0)");
}

TEST(MemberConnections, FollowTheMemberAndEndWithTheConnection) {
    MemberConnections members;
    members.note("billing", "m1", ConnectionId{1});
    members.note("billing", "m2", ConnectionId{1});
    members.note("billing", "m1", ConnectionId{2});
    EXPECT_EQ(members.spoken_for_by(ConnectionId{1}), (std::vector<SpokenFor>{{"billing", "m2"}}));
    members.closed(ConnectionId{1});
    EXPECT_TRUE(members.spoken_for_by(ConnectionId{1}).empty());
    EXPECT_EQ(members.find("billing", "m1"), ConnectionId{2});
    EXPECT_EQ(members.find("billing", "m2"), std::nullopt);
    members.closed(ConnectionId{2});
    EXPECT_EQ(members.size(), 0U);
}

TEST(MemberConnections, AreBounded) {
    MemberConnections members;
    for (std::size_t index = 0; index <= MemberConnections::kMembersMax; ++index) {
        members.note("g", std::to_string(index), ConnectionId{index + 1});
    }
    EXPECT_EQ(members.size(), MemberConnections::kMembersMax);
    EXPECT_EQ(members.find("g", std::to_string(MemberConnections::kMembersMax)), std::nullopt);
    members.note("g", "0", ConnectionId{99'999});
    EXPECT_EQ(members.find("g", "0"), ConnectionId{99'999}) << "who is known is followed all the same";
}

}  // namespace
}  // namespace partita::insight
