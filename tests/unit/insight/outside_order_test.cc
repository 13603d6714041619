// Tests for what a client in no group was handed in wrong order after a growth (H06 of assign()).

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tests/unit/insight/consumer_order_fixture.h"

namespace partita::insight {
namespace {

class OutsideOrderTest : public ConsumerOrderTest {
  protected:
    static constexpr ConnectionId kFirst{11};
    static constexpr ConnectionId kSecond{12};

    OutsideOrderTest() {
        groups_.clear();
        (void)findings();
    }

    /// An answer to the client in no group.
    void give(PartitionIndex partition, std::int64_t from, std::int64_t to, ConnectionId connection = kFirst) {
        ++answer_;
        deliver_to(exporter_, connection, partition, from, to);
    }
    void give_new_partitions(ConnectionId connection = kFirst) {
        give({2}, 0, end(2), connection);
        give({3}, 0, end(3), connection);
    }
    void give_old_partitions(ConnectionId connection = kFirst) {
        give(kOld, 0, end(0), connection);
        give(kOther, 0, end(1), connection);
    }
    std::optional<Finding> told() {
        // Two looks have to find that the client reads in no group.
        (void)findings();
        const std::vector<Finding> all = findings();
        const auto found = std::ranges::find_if(all, [&](const Finding& finding) {
            return finding.id == HazardId::inversion_delivered && finding.subject.client_id == exporter_.client_id;
        });
        return found == all.end() ? std::nullopt : std::optional(*found);
    }
    std::vector<WrongKey> keys_of(std::string_view client_id, std::string_view address = {}) {
        return watch_.wrong_keys({.group = {}, .client_id = std::string(client_id), .client_address = std::string(address)});
    }

    ClientIdentity exporter_{"exporter", "/10.0.0.9"};
};

TEST_F(OutsideOrderTest, AClientThatReadsNewPartitionsFirstGotEachMovedKeyInWrongOrder) {
    give_new_partitions();
    EXPECT_FALSE(told()) << "it may never read the older records";
    give_old_partitions();
    const auto finding = told();
    ASSERT_TRUE(finding);
    EXPECT_EQ(finding->count, moved_);
    EXPECT_EQ(finding->severity, Severity::block);
    EXPECT_EQ(number(*finding, "is_exact"), 1);
    EXPECT_EQ(number(*finding, "two_member_keys"), 0);
    EXPECT_TRUE(finding->subject.group.empty());
    EXPECT_TRUE(std::ranges::none_of(finding->numbers, [](const FindingNumber& each) { return each.name == "processed_keys"; }));
    EXPECT_EQ(static_cast<std::int64_t>(keys_of("exporter").size()), moved_);
    EXPECT_EQ(static_cast<std::int64_t>(keys_of("exporter", "/10.0.0.9").size()), moved_);
    EXPECT_TRUE(keys_of("exporter", "/10.0.0.8").empty());
    EXPECT_TRUE(keys_of("billing-app").empty());
}

// Java's consumer with assign() and a group.id asks for committed offsets first. Without a commit the group never exists.
TEST_F(OutsideOrderTest, AClientThatOnlyAskedForAGroupReadsInNone) {
    for (const PartitionIndex partition : {kOld, kOther, PartitionIndex{2}, PartitionIndex{3}}) {
        watch_.on_offset_fetch("export", kFirst, false, exporter_, partition, kNoOffset, now_);
    }
    give_new_partitions();
    give_old_partitions();
    EXPECT_FALSE(told()) << "it may still commit";
    wait(OrderWatch::kOwnerWaitMs);
    const auto finding = told();
    ASSERT_TRUE(finding);
    EXPECT_EQ(number(*finding, "keys"), moved_);
    EXPECT_EQ(number(*finding, "is_exact"), 1);
}

TEST_F(OutsideOrderTest, AClientThatCommitsForAGroupReadsForIt) {
    watch_.on_offset_fetch("export", kFirst, false, exporter_, kOld, kNoOffset, now_);
    give_new_partitions();
    give_old_partitions();
    (void)findings();
    wait(1000);
    watch_.on_commit("export", kFirst, exporter_, std::vector<ConsumerWatch::Commit>{{kOld, Offset{1}}}, nullptr, now_);
    groups_ = {{.group_id = "export"}};
    groups_.front().committed = {Offset{1}, kNoOffset, kNoOffset, kNoOffset};
    EXPECT_TRUE(wrong_order("export"));
    EXPECT_FALSE(told());
}

TEST_F(OutsideOrderTest, AClientThatReadsOldPartitionsFirstGotNothingInWrongOrder) {
    give_old_partitions();
    give_new_partitions();
    EXPECT_FALSE(told());
}

TEST_F(OutsideOrderTest, AClientThatReadsOnlyWhatIsNewIsNotJudged) {
    constexpr std::size_t kBudget = 1000;
    records_.budget = kBudget;
    give_new_partitions();
    give(kOld, kOldRecords, end(0));
    give(kOther, kOtherRecords, end(1));
    EXPECT_FALSE(told());
    EXPECT_EQ(records_.budget, kBudget) << "no log is read for it";
}

TEST_F(OutsideOrderTest, AClientThatBeganBehindTheOlderRecordsGotNothingInWrongOrder) {
    give_new_partitions();
    give(kOld, kOldRecords - 1, end(0));
    const auto finding = told();
    EXPECT_LE(finding ? finding->count : 0, 1) << "of the records before, none was handed out";
}

TEST_F(OutsideOrderTest, RecordsThatAreReadAgainMayHaveBeenInWrongOrder) {
    give_old_partitions();
    give_new_partitions();
    EXPECT_FALSE(told());
    give_old_partitions();
    const auto finding = told();
    ASSERT_TRUE(finding);
    EXPECT_EQ(number(*finding, "keys"), 0);
    EXPECT_EQ(number(*finding, "given_back_keys"), moved_);
    EXPECT_EQ(finding->severity, Severity::warn);
    EXPECT_NE(finding->condition.find("handed, one record of " + std::to_string(moved_) + " keys twice"), std::string::npos)
        << finding->condition;
}

TEST_F(OutsideOrderTest, HarmIsToldAfterTheClientHasGone) {
    give_new_partitions();
    give_old_partitions();
    ASSERT_TRUE(told());
    wait(3 * kReaderSilentMs);
    const auto finding = told();
    ASSERT_TRUE(finding);
    EXPECT_EQ(finding->count, moved_);
}

TEST_F(OutsideOrderTest, AConnectionThatContinuesAClosedOneIsTheSameReader) {
    give_new_partitions();
    (void)findings();
    connections_.closed.insert(kFirst);
    wait(10);
    connections_.open[kSecond] = {.id = kSecond, .born = now_};
    wait(10);
    give_old_partitions(kSecond);
    const auto finding = told();
    ASSERT_TRUE(finding);
    EXPECT_EQ(finding->count, moved_);
    EXPECT_EQ(number(*finding, "two_member_keys"), 0);
    EXPECT_EQ(number(*finding, "readers"), 2);
}

TEST_F(OutsideOrderTest, ConnectionsThatWereOpenTogetherAreTwoReadersAlsoAfterBothHaveClosed) {
    connections_.open[kFirst] = {.id = kFirst, .born = now_};
    connections_.open[kSecond] = {.id = kSecond, .born = now_};
    (void)findings();
    wait(10);
    give_new_partitions();
    give_old_partitions(kSecond);
    connections_.closed.insert(kFirst);
    connections_.closed.insert(kSecond);
    const auto finding = told();
    ASSERT_TRUE(finding);
    EXPECT_EQ(number(*finding, "two_member_keys"), moved_);
}

TEST_F(OutsideOrderTest, EachOfTwoReadersOfOneNameHasItsOwnOrder) {
    give_old_partitions();
    EXPECT_FALSE(told());
    give(kOld, 0, 1, kSecond);
    give_new_partitions();
    give(kOld, 1, end(0), kSecond);
    give(kOther, 0, end(1), kSecond);
    EXPECT_FALSE(told()) << "neither got a newer record first";
}

TEST_F(OutsideOrderTest, AClientThatRestsForMinutesGoesOnWithItsPass) {
    give_new_partitions();
    give(kOld, 0, 1);
    (void)findings();
    for (int look = 0; look < 5; ++look) {
        wait(kReaderSilentMs / 2);
        fetch(exporter_, kFirst, kOld, 1);
        (void)findings();
    }
    give(kOld, 1, end(0));
    give(kOther, 0, end(1));
    const auto finding = told();
    ASSERT_TRUE(finding);
    EXPECT_EQ(finding->count, moved_);
    EXPECT_EQ(number(*finding, "is_exact"), 1);
}

TEST_F(OutsideOrderTest, OfTwoOpenConnectionsOnlyTheClientKnowsTheOrder) {
    give_new_partitions();
    give_old_partitions(kSecond);
    const auto finding = told();
    ASSERT_TRUE(finding);
    EXPECT_EQ(number(*finding, "two_member_keys"), moved_);
    EXPECT_NE(finding->condition.find("in two connections at once"), std::string::npos) << finding->condition;
}

TEST_F(OutsideOrderTest, APassOverAnotherConnectionIsJudgedAnew) {
    give_old_partitions();
    give_new_partitions();
    EXPECT_FALSE(told());
    give_new_partitions(kSecond);
    give_old_partitions(kSecond);
    const auto finding = told();
    ASSERT_TRUE(finding);
    EXPECT_EQ(number(*finding, "keys"), moved_);
    EXPECT_EQ(number(*finding, "given_back_keys"), 0);
}

TEST_F(OutsideOrderTest, APassBeginsLongAfterThePreviousOneHadEverything) {
    give_old_partitions();
    give_new_partitions();
    EXPECT_FALSE(told());
    for (std::int64_t waited = 0; waited <= OrderWatch::kUncommittedMs; waited += kReaderSilentMs / 2) {
        wait(kReaderSilentMs / 2);
        give({2}, end(2), end(2));
        (void)findings();
    }
    give_new_partitions();
    give_old_partitions();
    const auto finding = told();
    ASSERT_TRUE(finding);
    EXPECT_EQ(number(*finding, "keys"), moved_);
}

TEST_F(OutsideOrderTest, BeyondItsBoundAPassForgetsTheOldestHandOutsAndSaysAtLeast) {
    give({2}, 0, 1);
    // Two partitions in turn, so that no two parts follow each other.
    for (std::size_t part = 0; part < OutsidePass::kNotedMax; ++part) {
        give({part % 2 == 0 ? 3 : 2}, 1, 2);
    }
    give_old_partitions();
    const auto finding = told();
    ASSERT_TRUE(finding);
    EXPECT_EQ(number(*finding, "is_exact"), 0);
    EXPECT_NE(finding->condition.find("at least"), std::string::npos) << finding->condition;
}

TEST_F(OutsideOrderTest, PartsOfOnePartitionThatFollowEachOtherNeedNoRoom) {
    for (std::int64_t offset = 0; offset < end(2); ++offset) {
        for (std::size_t again = 0; again < OutsidePass::kNotedMax / 8; ++again) {
            give({2}, offset, offset);
        }
        give({2}, offset, offset + 1);
    }
    give({3}, 0, end(3));
    give_old_partitions();
    const auto finding = told();
    ASSERT_TRUE(finding);
    EXPECT_EQ(finding->count, moved_);
    EXPECT_EQ(number(*finding, "is_exact"), 1);
}

TEST_F(OutsideOrderTest, ClientsBeyondTheBoundAreNotWatched) {
    for (std::size_t number = 0; number < OrderWatch::kOutsidersMax; ++number) {
        exporter_.client_id = "exporter-" + std::to_string(number);
        give({2}, 0, 1, ConnectionId{100 + number});
        (void)findings();
        connections_.closed.insert(ConnectionId{100 + number});
    }
    exporter_.client_id = "exporter";
    give_new_partitions();
    give_old_partitions();
    EXPECT_FALSE(told());
    // After a minute, the others make room.
    wait(kReaderSilentMs + 1);
    (void)findings();
    give_new_partitions();
    give_old_partitions();
    EXPECT_TRUE(told());
}

}  // namespace
}  // namespace partita::insight
