// Tests the parts of LogDirectory, one by one.

#include <gmock/gmock.h>

#include <string>
#include <vector>

#include "storage/announced_removals.h"
#include "storage/found_logs.h"
#include "storage/partition_name.h"
#include "storage/stale_names.h"
#include "tests/support/faulty_file_system.h"
#include "tests/support/storage_fixture.h"

namespace partita {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

const std::string kHex = "0123456789abcdef0123456789abcdef";

TEST(PartitionName, IsReadFromTheNameOfItsDirectory) {
    EXPECT_EQ(parse_directory_name("orders-12"), PartitionName("orders", 12));
    EXPECT_EQ(parse_directory_name("a-b-0"), PartitionName("a-b", 0));
    EXPECT_EQ(parse_directory_name(directory_name_of({"t", 2'147'483'647})), PartitionName("t", 2'147'483'647));
}

TEST(PartitionName, IsNotReadFromNamesThatKafkaWouldNotGive) {
    for (const std::string name :
         {"orders", "-1", "orders-", "orders-01", "orders-+1", "orders-2147483648", "orders-0.tmp", "orders-0-delete"}) {
        EXPECT_EQ(parse_directory_name(name), std::nullopt) << name;
    }
}

TEST(PartitionName, OfADeletedDirectoryIsKnownAgainAndNoStraysIs) {
    EXPECT_EQ(deleted_directory_name("t-0", kHex), "t-0." + kHex + "-delete");
    EXPECT_TRUE(is_deleted_directory(deleted_directory_name("t-0", kHex)));
    EXPECT_EQ(stray_directory_name("t-0", kHex), "t-0." + kHex + "-stray");
    EXPECT_FALSE(is_deleted_directory(stray_directory_name("t-0", kHex)));
    EXPECT_FALSE(is_deleted_directory("to-delete"));
    EXPECT_FALSE(is_deleted_directory("t-0" + kHex + "-delete")) << "no dot";
    EXPECT_FALSE(is_deleted_directory("t-0." + kHex.substr(1) + "g-delete"));
    EXPECT_EQ(parse_directory_name(deleted_directory_name("t-0", kHex)), std::nullopt);
}

TEST(PartitionName, OfADeletedDirectoryFitsAFileSystemForTheLongestTopic) {
    const std::string longest = std::string(249, 'x') + "-12345";
    for (const std::string& name : {deleted_directory_name(longest, kHex), stray_directory_name(longest, kHex)}) {
        EXPECT_EQ(name.size(), 255u);
        EXPECT_THAT(name, ::testing::HasSubstr("." + kHex + "-"));
    }
}

std::vector<PartitionName> settled(StaleNames& names, const StaleNames::Moment& moment, bool is_done = true) {
    std::vector<PartitionName> asked;
    names.settle(moment, [&](const PartitionName& name) {
        asked.push_back(name);
        return is_done;
    });
    return asked;
}

TEST(StaleNames, AreSettledByAWritingThatBeganAfterThem) {
    StaleNames names;
    names.note({"a", 0}, false);
    const StaleNames::Moment moment = names.now();
    names.note({"b", 0}, false);
    EXPECT_THAT(settled(names, moment), ElementsAre(PartitionName("a", 0)));
    EXPECT_FALSE(names.contains({"a", 0}));
    EXPECT_TRUE(names.contains({"b", 0}));
}

TEST(StaleNames, StayWhenTheyAreNotedAgainWhileTheFilesAreWritten) {
    StaleNames names;
    names.note({"a", 0}, false);
    const StaleNames::Moment moment = names.now();
    names.note({"a", 0}, false);
    EXPECT_THAT(settled(names, moment), IsEmpty());
    EXPECT_TRUE(names.contains({"a", 0}));
}

TEST(StaleNames, StayUntilTheirMarkIsGone) {
    StaleNames names;
    names.note({"a", 0}, false);
    EXPECT_THAT(settled(names, names.now(), false), ElementsAre(PartitionName("a", 0)));
    EXPECT_TRUE(names.contains({"a", 0}));
    EXPECT_THAT(settled(names, names.now()), ElementsAre(PartitionName("a", 0)));
    EXPECT_FALSE(names.contains({"a", 0}));
}

TEST(StaleNames, WereCleanedUntilTheyAreSettledHoweverOftenTheyAreNoted) {
    StaleNames names;
    names.note({"a", 0}, true);
    names.note({"a", 0}, false);
    EXPECT_TRUE(names.now().has_cleaned);
    EXPECT_THAT(settled(names, names.now()), ElementsAre(PartitionName("a", 0)));
    EXPECT_FALSE(names.now().has_cleaned);
}

TEST(FoundFor, SaysWhoseADirectoryIs) {
    const TopicId none;
    const TopicId first{{1, 2, 3}};
    const TopicId second{{4, 5, 6}};
    for (const bool is_made_now : {false, true}) {
        EXPECT_EQ(found_for(first, false, first, is_made_now), FoundFor::this_topic);
        EXPECT_EQ(found_for(first, false, second, is_made_now), FoundFor::another_topic);
        EXPECT_EQ(found_for(first, false, none, is_made_now), FoundFor::this_topic);
        EXPECT_EQ(found_for(none, false, none, is_made_now), FoundFor::this_topic);
        EXPECT_EQ(found_for(none, true, first, is_made_now), FoundFor::another_topic) << "cut off";
        EXPECT_EQ(found_for(none, true, none, is_made_now), FoundFor::another_topic) << "cut off";
    }
    EXPECT_EQ(found_for(none, false, first, false), FoundFor::this_topic_unnamed);
    EXPECT_EQ(found_for(none, false, first, true), FoundFor::another_topic);
}

TEST(FoundLogs, KnowAnUnreadablePartitionOfATopicAndKeepItsLogStart) {
    FoundLogs found;
    found.add_unreadable({"t", 3}, corrupt_error("/data/t-3", "is damaged"), Offset{7});
    found.add_unreadable({"u", 0}, corrupt_error("/data/u-0", "is damaged"), kNoOffset);
    EXPECT_TRUE(found.has_any_of("t"));
    EXPECT_FALSE(found.has_any_of("s"));
    EXPECT_FALSE(found.has_any_of("t-3"));
    EXPECT_NE(found.unreadable({"t", 3}), nullptr);
    EXPECT_EQ(found.find({"t", 3}), nullptr);
    EXPECT_THAT(found.unreadable_log_starts(), ElementsAre(std::pair(PartitionName("t", 3), Offset{7})));
    found.erase({"t", 3});
    EXPECT_THAT(found.unreadable_log_starts(), IsEmpty());
    EXPECT_TRUE(found.has_unreadable());
    found.erase({"u", 0});
    EXPECT_FALSE(found.has_unreadable());
}

class AnnouncedRemovalsTest : public ::testing::Test {
  protected:
    [[nodiscard]] std::vector<TopicId> of_the_next_start() {
        AnnouncedRemovals next(world_.system, "/data");
        next.read();
        return next.topics();
    }
    test::StorageWorld world_;
    AnnouncedRemovals removals_{world_.system, "/data"};
    const TopicId first_{{1, 2, 3}};
    const TopicId second_{{4, 5, 6}};
};

TEST_F(AnnouncedRemovalsTest, AreKnownToTheNextStartUntilTheyAreForgotten) {
    removals_.announce(std::vector{first_, second_});
    EXPECT_THAT(of_the_next_start(), ElementsAre(first_, second_));
    removals_.conclude(std::vector{first_});
    removals_.forget_concluded();
    EXPECT_FALSE(removals_.contains(first_));
    EXPECT_THAT(of_the_next_start(), ElementsAre(second_));
    removals_.conclude_all();
    EXPECT_TRUE(removals_.contains(second_)) << "its directory may still be renamed";
    removals_.forget_concluded();
    EXPECT_FALSE(*world_.system.exists("/data/partita-removals"));
}

TEST_F(AnnouncedRemovalsTest, AreNotMadeByConcludingThem) {
    removals_.conclude(std::vector{first_});
    EXPECT_FALSE(removals_.contains(first_));
}

}  // namespace
}  // namespace partita
