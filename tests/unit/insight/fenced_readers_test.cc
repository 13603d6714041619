// Tests which readers count as going on with a partition that was taken from them, and all that does not prove it.

#include "broker/insight/ownership/fenced_readers.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

namespace partita::insight::fenced_reader_tests {
namespace {

using insight::ConnectionFacts;
using insight::ConnectionId;
using insight::GroupHistory;
using insight::MemberNames;
using insight::ProcessIdentity;
using insight::RebalanceCause;
using insight::SpeakingConnection;
using insight::SpokenFor;

TimestampMs moment(std::int64_t ms) { return {1'700'000'000'000 + ms}; }
const TopicId kTopic{{7}};
const std::string kHost = "/10.0.0.7";
MemberNames named(std::string_view id) { return {id, std::nullopt, id == "m1" ? "web-1" : "web-2", kHost}; }

/// m1 had partitions 0 to `partitions` - 1 of "t" and was dropped at 100; m2 has had them since 200.
GroupHistory taken_over(RebalanceCause departure, std::int32_t partitions = 1) {
    GroupHistory history;
    history.know(named("m1"));
    history.know(named("m2"));
    for (std::int32_t one = 0; one < partitions; ++one) {
        history.acquire("t", kTopic, one, "m1", moment(0), 1);
    }
    history.note(departure, named("m1"), moment(100));
    for (std::int32_t one = 0; one < partitions; ++one) {
        history.acquire("t", kTopic, one, "m2", moment(200), 2);
    }
    return history;
}
void round(FencedReaders& readers, const GroupHistory& history, TimestampMs now) {
    readers.begin_round();
    readers.look("billing", history, now);
    readers.end_round(now);
}

TEST(FencedReaders, WhoWasPutOutAndWhosePartitionAnotherHasIsSuspectedForAMinute) {
    for (const RebalanceCause cause :
         {RebalanceCause::session_expired, RebalanceCause::did_not_rejoin, RebalanceCause::did_not_revoke}) {
        FencedReaders readers;
        const GroupHistory history = taken_over(cause);
        round(readers, history, moment(300));
        ASSERT_EQ(readers.suspects().size(), 1U);
        const Suspect& suspect = readers.suspects().front();
        EXPECT_EQ(suspect.member_id, "m1");
        EXPECT_EQ(suspect.owner_id, "m2");
        EXPECT_EQ(suspect.place, (ReadPlace{kTopic, 0}));
        EXPECT_EQ(suspect.gone, moment(100));
        EXPECT_EQ(suspect.since, moment(200));
        EXPECT_TRUE(readers.places().empty()) << "nothing is known of its connection";
        round(readers, history, moment(200 + FencedReaders::kSpellMs));
        EXPECT_TRUE(readers.has_suspects());
        round(readers, history, moment(201 + FencedReaders::kSpellMs));
        EXPECT_FALSE(readers.has_suspects());
    }
}

TEST(FencedReaders, AStaticMemberWhosePlaceAnotherProcessTookIsSuspected) {
    GroupHistory history;
    const MemberNames first{"m1", "the-one", "web-1", kHost};
    history.know(first);
    history.acquire("t", kTopic, 0, "m1", moment(0), 1);
    history.note(RebalanceCause::restarted, MemberNames{"m2", "the-one", "web-2", kHost}, moment(100), "m1");
    history.acquire("t", kTopic, 0, "m2", moment(200), 2);
    FencedReaders readers;
    round(readers, history, moment(300));
    ASSERT_EQ(readers.suspects().size(), 1U);
    EXPECT_EQ(readers.suspects().front().member_id, "m1");
}

TEST(FencedReaders, WhoLeftOrIsStillAMemberOrIsOneAgainIsNot) {
    FencedReaders readers;
    round(readers, taken_over(RebalanceCause::left), moment(300));
    EXPECT_FALSE(readers.has_suspects());

    GroupHistory shared;
    shared.know(named("m1"));
    shared.know(named("m2"));
    shared.acquire("t", kTopic, 0, "m1", moment(0), 1);
    shared.acquire("t", kTopic, 0, "m2", moment(10), 2);
    round(readers, shared, moment(300));
    EXPECT_FALSE(readers.has_suspects());

    GroupHistory back = taken_over(RebalanceCause::session_expired);
    round(readers, back, moment(300));
    EXPECT_TRUE(readers.has_suspects());
    back.note(RebalanceCause::joined, named("m1"), moment(400));
    round(readers, back, moment(500));
    EXPECT_FALSE(readers.has_suspects());
}

TEST(FencedReaders, NobodyIsSuspectedOnceItHasThePartitionAgainOrTheTopicOrTheGroupIsGone) {
    FencedReaders readers;
    GroupHistory history = taken_over(RebalanceCause::session_expired);
    round(readers, history, moment(300));
    history.forget_topic(kTopic);
    round(readers, history, moment(400));
    EXPECT_FALSE(readers.has_suspects());

    round(readers, taken_over(RebalanceCause::session_expired), moment(300));
    ASSERT_TRUE(readers.has_suspects());
    readers.begin_round();
    readers.end_round(moment(400));
    EXPECT_FALSE(readers.has_suspects()) << "no history speaks of it any more";
}

TEST(FencedReaders, TheFetchesBeginAnewWhenThePartitionGoesOnToAnotherOwner) {
    FencedReaders readers;
    GroupHistory history = taken_over(RebalanceCause::session_expired);
    round(readers, history, moment(300));
    readers.suspects().front().fetches = 7;
    history.know(named("m3"));
    history.acquire("t", kTopic, 0, "m3", moment(400), 3);
    round(readers, history, moment(500));
    ASSERT_EQ(readers.suspects().size(), 1U);
    EXPECT_EQ(readers.suspects().front().owner_id, "m3");
    EXPECT_EQ(readers.suspects().front().since, moment(400));
    EXPECT_EQ(readers.suspects().front().fetches, 0U);
}

TEST(FencedReaders, NoMoreThanItsLimitAreSuspected) {
    FencedReaders readers;
    const GroupHistory history = taken_over(RebalanceCause::session_expired, 100);
    round(readers, history, moment(300));
    EXPECT_EQ(readers.suspects().size(), FencedReaders::kSuspectsMax);
    round(readers, history, moment(400));
    EXPECT_EQ(readers.suspects().size(), FencedReaders::kSuspectsMax);
}

// Proofs ---------------------------------------------------------------------------------------------------

ConnectionFacts facts(std::uint64_t id, std::string client_id, std::int32_t pid = 0, std::int64_t born = 0) {
    ConnectionFacts made;
    made.id = ConnectionId{id};
    made.client_id = std::move(client_id);
    made.address = kHost;
    made.born = moment(born);
    if (pid != 0) {
        made.process = ProcessIdentity{.pid = pid, .start_ticks = 1, .name = "python3", .program = {}};
    }
    return made;
}

constexpr std::uint64_t kSpeaker = 1;
constexpr std::uint64_t kReader = 2;
constexpr std::uint64_t kOwner = 3;

/// The suspect is m1 by default (client web-1, process 11), which reads by a separate connection; m2 (web-2, process 22) is the
/// owner.
struct Case {
    Suspect suspect{.group = "billing",
                    .member_id = "m1",
                    .client_id = "web-1",
                    .client_host = kHost,
                    .topic = "t",
                    .place = {kTopic, 0},
                    .gone = moment(100),
                    .owner_id = "m2",
                    .since = moment(200),
                    .speaker = facts(kSpeaker, "web-1", 11)};
    std::vector<SpeakingConnection> peers{{facts(kSpeaker, "web-1", 11), {{"billing", "m1"}}}, {facts(kReader, "web-1", 11), {}}};
    std::optional<ConnectionFacts> owner = facts(kOwner, "web-2", 22);
    SeenRead read{.place = {kTopic, 0},
                  .connection = ConnectionId{kReader},
                  .fetches = 3,
                  .from = Offset{812},
                  .to = Offset{900},
                  .first = moment(300),
                  .last = moment(1300)};
    bool are_complete = true;
    /// Members besides m2.
    std::vector<SpokenFor> members;

    [[nodiscard]] bool is_proven() const {
        return is_surely_of(
            read, suspect, {.peers = peers, .are_complete = are_complete, .owner = owner, .is_member = [&](const SpokenFor& one) {
                                return one == SpokenFor{"billing", "m2"} || std::ranges::find(members, one) != members.end();
                            }});
    }
};

TEST(FencedReaderProof, AnotherConnectionOfItsProcessIsItsOwn) {
    Case one;
    EXPECT_TRUE(one.is_proven());
    one.suspect.speaker->process.reset();
    EXPECT_FALSE(one.is_proven()) << "one of the two may be another process";
}

TEST(FencedReaderProof, OfAClientOfAnotherMachineItsNameAndHostMustBeItsAlone) {
    Case one;
    one.suspect.speaker = facts(kSpeaker, "web-1");
    one.peers = {{facts(kSpeaker, "web-1"), {}}, {facts(kReader, "web-1"), {}}};
    EXPECT_TRUE(one.is_proven());
    one.peers.push_back({facts(9, "web-1"), {}});
    EXPECT_FALSE(one.is_proven());
    one.peers.back().facts.address = "/10.0.0.8";
    EXPECT_TRUE(one.is_proven()) << "another machine has a client of that name";
    one.peers[1].facts.address = "/10.0.0.8";
    EXPECT_FALSE(one.is_proven());
}

TEST(FencedReaderProof, ASecondClientOfThatNameInItsProcessIsEnoughForSilence) {
    Case one;
    one.peers.push_back({facts(9, "web-1", 33), {}});
    EXPECT_TRUE(one.is_proven()) << "it is another process";
    one.peers.back().facts.process.reset();
    EXPECT_FALSE(one.is_proven()) << "it may be the same process";
    one.peers.back().facts.process = ProcessIdentity{.pid = 11, .start_ticks = 1, .name = {}, .program = {}};
    EXPECT_FALSE(one.is_proven());
    one.peers.back().facts.process->start_ticks = 2;
    EXPECT_TRUE(one.is_proven()) << "an earlier process had that id";
}

TEST(FencedReaderProof, TheConnectionToTheCoordinatorNeedsNoOtherProof) {
    Case one;
    one.read.connection = ConnectionId{kSpeaker};
    one.peers.push_back({facts(9, "web-1", 11), {}});
    EXPECT_TRUE(one.is_proven());
    one.peers[0].speaks_for.push_back({"billing", "m4"});
    EXPECT_TRUE(one.is_proven()) << "m4 is no member any more";
    one.members = {{"billing", "m4"}};
    EXPECT_FALSE(one.is_proven());
}

TEST(FencedReaderProof, AConnectionThatSpeaksForAMemberIsThatMembers) {
    for (const std::size_t which : {0U, 1U}) {
        Case one;
        one.peers[which].speaks_for.push_back({"shipping", "m9"});
        EXPECT_TRUE(one.is_proven());
        one.members = {{"shipping", "m9"}};
        EXPECT_FALSE(one.is_proven());
    }
}

TEST(FencedReaderProof, TheOwnerIsNotTakenForTheOneBefore) {
    Case unknown;
    unknown.owner.reset();
    EXPECT_FALSE(unknown.is_proven());
    Case shared;
    shared.owner->id = ConnectionId{kReader};
    EXPECT_FALSE(shared.is_proven());
    shared.owner->id = ConnectionId{kSpeaker};
    EXPECT_FALSE(shared.is_proven());
    Case same_client;
    same_client.owner = facts(kOwner, "web-1", 11);
    EXPECT_FALSE(same_client.is_proven());
    same_client.owner = facts(kOwner, "web-1", 22);
    EXPECT_TRUE(same_client.is_proven()) << "called alike, and another process";
}

TEST(FencedReaderProof, WhatBeganAfterTheRemovalIsNotOfThatMember) {
    Case one;
    one.peers[1].facts.born = moment(100);
    EXPECT_FALSE(one.is_proven());
    one.peers[1].facts.born = kNoTimestamp;
    EXPECT_FALSE(one.is_proven());
}

TEST(FencedReaderProof, WhatCameBeforeTheTakeoverIsNoProof) {
    Case one;
    one.read.first = moment(199);
    EXPECT_FALSE(one.is_proven());
    one.read.first = moment(200);
    EXPECT_TRUE(one.is_proven());
}

TEST(FencedReaderProof, WhereNotAllConnectionsAreKnownNothingIsSaid) {
    Case one;
    one.are_complete = false;
    EXPECT_FALSE(one.is_proven());
    Case closed;
    closed.peers.pop_back();
    EXPECT_FALSE(closed.is_proven());
    Case silent;
    silent.suspect.speaker.reset();
    EXPECT_FALSE(silent.is_proven());
    Case crowded;
    for (std::uint64_t id = 10; crowded.peers.size() < FencedReaders::kPeersMax; ++id) {
        crowded.peers.push_back({facts(id, "web-1", 100 + static_cast<std::int32_t>(id)), {}});
    }
    EXPECT_TRUE(crowded.is_proven());
    crowded.peers.push_back({facts(9, "web-1", 99), {}});
    EXPECT_FALSE(crowded.is_proven());
}

// Counting -------------------------------------------------------------------------------------------------

TEST(FencedReaders, OneFetchMayHaveBeenUnderWay) {
    Case one;
    one.read.fetches = 1;
    EXPECT_FALSE(FencedReaders::count(one.suspect, one.read));
    one.read.fetches = 2;
    const auto told = FencedReaders::count(one.suspect, one.read);
    ASSERT_TRUE(told);
    EXPECT_EQ(told->fetches, 3U);
    EXPECT_EQ(told->process, "python3 (pid 11)");
    EXPECT_EQ(FencedReaders::count(one.suspect, one.read)->fetches, 2U) << "the others were told";
}

TEST(FencedReaders, WhoGoesOnReadingIsSuspectedForLonger) {
    FencedReaders readers;
    const GroupHistory history = taken_over(RebalanceCause::session_expired);
    round(readers, history, moment(300));
    Case one;
    one.read.last = moment(50'000);
    EXPECT_TRUE(FencedReaders::count(readers.suspects().front(), one.read));
    round(readers, history, moment(50'000 + FencedReaders::kSpellMs));
    EXPECT_TRUE(readers.has_suspects());
    round(readers, history, moment(50'001 + FencedReaders::kSpellMs));
    EXPECT_FALSE(readers.has_suspects());
}

TEST(ReadNotes, FetchesOfWatchedPlacesAreNotedTogetherAndOthersAreNot) {
    ReadNotes notes;
    EXPECT_EQ(notes.mask(), 0U);
    const ReadPlace place{kTopic, 0};
    const ReadPlace other{kTopic, 1};
    notes.watch({&place, 1});
    EXPECT_EQ(notes.mask(), ReadNotes::mask_of(place));
    EXPECT_EQ(notes.mask() & ReadNotes::mask_of(other), 0U);
    notes.note(place, ConnectionId{5}, Offset{10}, moment(1));
    notes.note(place, ConnectionId{5}, Offset{12}, moment(2));
    notes.note(place, ConnectionId{6}, Offset{10}, moment(3));
    notes.note(other, ConnectionId{5}, Offset{10}, moment(3));
    const auto reads = notes.take();
    ASSERT_EQ(reads.size(), 2U);
    EXPECT_EQ(reads[0].fetches, 2U);
    EXPECT_EQ(reads[0].from, Offset{10});
    EXPECT_EQ(reads[0].to, Offset{12});
    EXPECT_EQ(reads[0].first, moment(1));
    EXPECT_EQ(reads[0].last, moment(2));
    EXPECT_TRUE(notes.take().empty());
    notes.watch({});
    EXPECT_EQ(notes.mask(), 0U);
}

TEST(ReadNotes, NoMoreThanTheirLimitAreKept) {
    ReadNotes notes;
    const ReadPlace place{kTopic, 0};
    notes.watch({&place, 1});
    for (std::uint64_t id = 1; id <= ReadNotes::kReadsMax + 1; ++id) {
        notes.note(place, ConnectionId{id}, Offset{0}, moment(0));
    }
    notes.note(place, ConnectionId{1}, Offset{1}, moment(1));
    const auto reads = notes.take();
    EXPECT_EQ(reads.size(), ReadNotes::kReadsMax);
    EXPECT_EQ(reads.front().fetches, 2U);
}

}  // namespace
}  // namespace partita::insight::fenced_reader_tests
