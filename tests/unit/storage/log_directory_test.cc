#include "storage/log_directory.h"

#include <gmock/gmock.h>

#include <cerrno>
#include <cstdlib>
#include <future>
#include <thread>

#include "tests/support/declared_settings.h"
#include "tests/support/faulty_file_system.h"
#include "tests/support/storage_fixture.h"

namespace partita {
namespace {

using test::make_batch;
using test::StorageWorld;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class LogDirectoryTest : public ::testing::Test {
  protected:
    void append(PartitionLog& log, const test::TestBatch& wanted = {}) {
        auto batch = make_batch(wanted);
        ASSERT_TRUE(log.append(batch, {.leader_epoch = {0}, .now = {1000}}));
    }
    void use_topic(TopicId id) { world_.topic = std::make_shared<LogTopic>(LogTopic{"t", id}); }
    void fill_and_checkpoint();
    void expect_new_topic_to_recover();
    std::size_t directories_ending(std::string_view suffix) {
        std::size_t count = 0;
        const auto entries = world_.system.list("/data");
        for (const DirectoryEntry& entry : *entries) {
            count += entry.name.ends_with(suffix) ? 1 : 0;
        }
        return count;
    }

    StorageWorld world_;
    const TopicId first_{{1, 2, 3}};
    const TopicId second_{{4, 5, 6}};
};

// As with Kafka's stray partitions, the broker never deletes what no client asked to delete.
TEST_F(LogDirectoryTest, DataOfAnUnknownTopicIdIsSetAsideAndKept) {
    append(world_.log());
    world_.kill();
    use_topic(second_);
    EXPECT_EQ(world_.log().log_end_offset(), Offset{0});
    const auto strays = world_.directory->take_new_strays();
    ASSERT_THAT(strays, SizeIs(1));
    EXPECT_EQ(strays[0].directory, "t-0");
    EXPECT_TRUE(strays[0].renamed_to.starts_with("t-0."));
    ASSERT_TRUE(world_.directory->purge_removed());
    EXPECT_FALSE(world_.system.content("/data/" + strays[0].renamed_to + "/00000000000000000000.log").empty());
    EXPECT_THAT(world_.directory->take_new_strays(), IsEmpty());
    append(world_.log());
    world_.kill();
    EXPECT_EQ(world_.log().log_end_offset(), Offset{1});
    EXPECT_EQ(directories_ending("-stray"), 1u);
}

// Otherwise a new topic of that name would get the other topic's log.
TEST_F(LogDirectoryTest, APartitionThatAnotherHasIsNotClaimed) {
    const auto mine = world_.shared_log();
    const auto same_name = std::make_shared<LogTopic>(LogTopic{world_.topic->name, second_});
    for (const auto unreadable : {LogDirectory::Unreadable::is_an_error, LogDirectory::Unreadable::is_a_stray}) {
        const auto claimed = world_.directory->claim_range(same_name, {0}, {2}, world_.config, unreadable);
        ASSERT_FALSE(claimed.has_value());
        EXPECT_NE(claimed.error().message.find("t-0"), std::string::npos) << claimed.error().message;
    }
    // The failed claim took nothing of the free part, either.
    EXPECT_TRUE(world_.directory->claim_range(world_.topic, {0}, {2}, world_.config).has_value());
    EXPECT_EQ(world_.shared_log(), mine);
}

// A power failure can take a topic and its id, and leave its records.
TEST_F(LogDirectoryTest, DataWithoutATopicIdIsOfNoTopicThatIsOnlyMadeNow) {
    append(world_.log());
    ASSERT_TRUE(world_.system.remove("/data/t-0/partition.metadata"));
    world_.kill();
    use_topic(first_);
    const auto claimed = world_.directory->claim(world_.topic, {0}, world_.config, LogDirectory::Unreadable::is_a_stray);
    ASSERT_TRUE(claimed);
    EXPECT_EQ((*claimed)->log_end_offset(), Offset{0});
    EXPECT_THAT(world_.directory->take_new_strays(), SizeIs(1));
    EXPECT_EQ(directories_ending("-stray"), 1u);
}

TEST_F(LogDirectoryTest, DataWithoutATopicIdIsThatOfATopicOfItsNameThatWasThereAtTheStart) {
    append(world_.log());
    ASSERT_TRUE(world_.system.remove("/data/t-0/partition.metadata"));
    world_.kill();
    use_topic(first_);
    EXPECT_EQ(world_.log().log_end_offset(), Offset{1});
    EXPECT_EQ(directories_ending("-stray"), 0u);
}

TEST_F(LogDirectoryTest, TopicOfASyncedLogIsKnownAfterAPowerFailure) {
    for (std::uint64_t seed = 0; seed < 50; ++seed) {
        StorageWorld world;
        append(world.log());
        ASSERT_TRUE(world.log().sync());
        world.lose_power(seed);
        EXPECT_EQ(world.directory->unclaimed().at(0).topic_id, first_) << "seed " << seed;
    }
}

TEST_F(LogDirectoryTest, TopicOfAKilledBrokersLogIsKnownAfterTheNextSync) {
    for (std::uint64_t seed = 0; seed < 50; ++seed) {
        StorageWorld world;
        append(world.log());
        world.kill();
        append(world.log());
        ASSERT_TRUE(world.log().sync());
        world.lose_power(seed);
        EXPECT_EQ(world.directory->unclaimed().at(0).topic_id, first_) << "seed " << seed;
    }
}

// Two topics share a name, and the second was made after the first was deleted: a power failure may leave the directory of the
// first.
TEST_F(LogDirectoryTest, TopicMadeAgainNeverHasRecordsOfItsPredecessorAfterAPowerFailure) {
    for (std::uint64_t seed = 0; seed < 200; ++seed) {
        StorageWorld world;
        append(world.log());
        ASSERT_TRUE(world.directory->remove(world.shared_log()));
        world.lose_power(seed);
        world.topic = std::make_shared<LogTopic>(LogTopic{"t", second_});
        EXPECT_EQ(world.log().log_end_offset(), Offset{0}) << "seed " << seed;
    }
}

TEST_F(LogDirectoryTest, DirectoryWhoseTopicIdWasCutOffIsSetAside) {
    append(world_.log());
    world_.vanish();
    world_.system.crash_process();
    world_.system.set_content("/data/t-0/partition.metadata", "");
    world_.open();
    EXPECT_EQ(world_.log().log_end_offset(), Offset{0});
    EXPECT_THAT(world_.directory->take_new_strays(), SizeIs(1));
    EXPECT_EQ(directories_ending("-stray"), 1u);
}

TEST_F(LogDirectoryTest, DirectoryWhoseTopicIdWasCutOffIsBelievedWhenSomebodyVouchesForIt) {
    append(world_.log());
    world_.vanish();
    world_.system.crash_process();
    world_.system.set_content("/data/t-0/partition.metadata", "");
    world_.open();
    world_.directory->believe_names();
    EXPECT_EQ(world_.log().log_end_offset(), Offset{1});
    EXPECT_EQ(directories_ending("-stray"), 0u);
}

TEST_F(LogDirectoryTest, WhatIsLeftOfOurOwnPartitionsIsNotTakenForAKafkas) {
    for (std::uint64_t seed = 0; seed < 50; ++seed) {
        StorageWorld world;
        append(world.log());
        ASSERT_TRUE(world.log().sync());
        world.lose_power(seed);
        EXPECT_FALSE(world.directory->unclaimed().empty());
        EXPECT_FALSE(world.directory->was_taken_over()) << "seed " << seed;
    }
}

TEST_F(LogDirectoryTest, DirectoryOfAKafkaIsKnownAsSuchAfterAPowerFailure) {
    for (const std::string name : {"t-0/00000000000000000000.log", "meta.properties"}) {
        for (std::uint64_t seed = 0; seed < 10; ++seed) {
            StorageWorld world;
            world.vanish();
            ASSERT_TRUE(remove_recursively(world.system, "/data"));
            ASSERT_TRUE(world.system.make_directories(parent_directory("/data/" + name)));
            world.system.set_content("/data/" + name, "");
            ASSERT_TRUE(world.system.sync_directory("/data"));
            ASSERT_TRUE(world.system.sync_directory("/"));
            world.system.crash_process();
            world.open();
            EXPECT_TRUE(world.directory->was_taken_over());
            world.lose_power(seed);
            EXPECT_TRUE(world.directory->was_taken_over()) << "seed " << seed;
        }
    }
}

// The directory holds its lock while it renames. A first append holds the lock of its log, and once waited for the directory's
// lock. That was against the order in which the directory takes the locks of logs, and took as long as a disk does.
TEST(LogDirectory, FirstAppendWaitsForNoRemovalOfAnotherPartition) {
    std::string place = ::testing::TempDir() + "partita-directory-XXXXXX";
    ASSERT_NE(::mkdtemp(place.data()), nullptr);
    test::FaultyFileSystem system;
    {
        OpenFiles files(system, 8);
        const auto config = std::make_shared<const LogConfig>(declared_log_config());
        const auto topic = std::make_shared<const LogTopic>(LogTopic{"t", {{1, 2, 3}}});
        auto directory = LogDirectory::open(system, files, place, {.recovery_threads = 1, .default_config = config, .now = {1}});
        ASSERT_TRUE(directory);
        const auto logs = (*directory)->claim_range(topic, PartitionIndex{0}, PartitionIndex{2}, config);
        ASSERT_TRUE(logs);
        const auto append = [&](std::size_t partition) {
            auto batch = make_batch({});
            return (*logs)[partition]->append(batch, {.leader_epoch = {0}, .now = {1}}).has_value();
        };
        ASSERT_TRUE(append(0));
        std::future<bool> appended;
        bool is_done = false;
        system.before(test::FileOperation::rename, "-delete", [&] {
            appended = std::async(std::launch::async, append, 1);
            is_done = appended.wait_for(std::chrono::seconds(10)) == std::future_status::ready;
        });
        ASSERT_TRUE((*directory)->remove((*logs)[0]));
        EXPECT_TRUE(is_done);
        EXPECT_TRUE(appended.get());
    }
    ASSERT_TRUE(remove_recursively(system, place));
}

TEST_F(LogDirectoryTest, OpeningANewDirectoryWaitsForNoDevice) {
    EXPECT_EQ(world_.system.single_syncs() + world_.system.volume_syncs(), 0u);
}

TEST_F(LogDirectoryTest, WhatWasSyncedInANewDirectorySurvivesAPowerFailure) {
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
        StorageWorld world;
        append(world.log());
        ASSERT_TRUE(world.log().sync());
        world.lose_power(seed);
        EXPECT_EQ(world.log().log_end_offset(), Offset{1}) << "seed " << seed;
    }
}

TEST_F(LogDirectoryTest, WhatWasSyncedAfterAKillSurvivesAPowerFailure) {
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
        StorageWorld world;
        append(world.log());
        world.kill();
        append(world.log());
        ASSERT_TRUE(world.log().sync());
        world.lose_power(seed);
        EXPECT_EQ(world.log().log_end_offset(), Offset{2}) << "seed " << seed;
    }
}

TEST_F(LogDirectoryTest, DirectoryThatWasClosedEmptySurvivesAPowerFailure) {
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
        StorageWorld world;
        world.restart_cleanly();
        append(world.log());
        ASSERT_TRUE(world.log().sync());
        world.lose_power(seed);
        EXPECT_EQ(world.log().log_end_offset(), Offset{1}) << "seed " << seed;
    }
}

TEST_F(LogDirectoryTest, FormatFileThatAPowerFailureEmptiedIsWrittenAgain) {
    const std::string whole = world_.system.content("/data/partita.properties");
    ASSERT_FALSE(whole.empty());
    for (const std::string& left : {std::string(), std::string(whole.size(), '\0')}) {
        world_.vanish();
        world_.system.set_content("/data/partita.properties", left);
        world_.open();
        EXPECT_EQ(world_.system.content("/data/partita.properties"), whole);
    }
}

TEST_F(LogDirectoryTest, DeletionThatACrashInterruptedIsFinishedAtTheNextStart) {
    append(world_.log());
    world_.directory->announce_removals(std::span(&first_, 1));
    world_.kill();
    // The catalog forgot the topic, so nothing claims the directory.
    ASSERT_TRUE(world_.directory->remove_announced());
    EXPECT_THAT(world_.directory->unclaimed(), IsEmpty());
    ASSERT_TRUE(world_.directory->purge_removed());
    EXPECT_EQ(directories_ending("-delete"), 0u);
    EXPECT_FALSE(*world_.system.exists("/data/t-0"));
    EXPECT_FALSE(*world_.system.exists("/data/partita-removals"));
}

TEST_F(LogDirectoryTest, OnlyWhatABrokerSetAsideForDeletionIsDeleted) {
    const std::string deleted = "t-0.0123456789abcdef0123456789abcdef-delete";
    const std::vector<std::string> others = {"not-to-delete", "t-0.0123456789abcdef-delete",
                                             "t-0.0123456789abcdef0123456789abcdeg-delete",
                                             "0123456789abcdef0123456789abcdef-delete"};
    const auto make = [&](const std::string& name) {
        ASSERT_TRUE(world_.system.make_directories("/data/" + name));
        world_.system.set_content("/data/" + name + "/file", "x");
    };
    make(deleted);
    for (const std::string& name : others) {
        make(name);
    }
    world_.kill();
    EXPECT_THAT(world_.directory->open_report().leftovers, ElementsAre(deleted));
    ASSERT_TRUE(world_.directory->purge_removed());
    EXPECT_FALSE(*world_.system.exists("/data/" + deleted));
    for (const std::string& name : others) {
        EXPECT_EQ(world_.system.content("/data/" + name + "/file"), "x") << name;
    }
}

TEST_F(LogDirectoryTest, AnnouncedRemovalOfATopicThatTheCatalogKeptRemovesNothing) {
    append(world_.log());
    world_.directory->announce_removals(std::span(&first_, 1));
    world_.kill();
    EXPECT_EQ(world_.log().log_end_offset(), Offset{1});
    ASSERT_TRUE(world_.directory->remove_announced());
    ASSERT_TRUE(world_.directory->purge_removed());
    append(world_.log());
    world_.kill();
    EXPECT_EQ(world_.log().log_end_offset(), Offset{2});
}

TEST_F(LogDirectoryTest, LeftoverOfAnAnnouncedTopicMakesWayForANewTopicOfItsName) {
    append(world_.log());
    world_.directory->announce_removals(std::span(&first_, 1));
    world_.kill();
    use_topic(second_);
    EXPECT_EQ(world_.log().log_end_offset(), Offset{0});
    EXPECT_THAT(world_.directory->take_new_strays(), IsEmpty());
    EXPECT_EQ(directories_ending("-delete"), 1u);
}

TEST_F(LogDirectoryTest, ConcludedRemovalLeavesNoNote) {
    world_.directory->announce_removals(std::span(&first_, 1));
    EXPECT_TRUE(*world_.system.exists("/data/partita-removals"));
    world_.directory->conclude_removals(std::span(&first_, 1));
    ASSERT_TRUE(world_.directory->purge_removed());
    EXPECT_FALSE(*world_.system.exists("/data/partita-removals"));
}

TEST_F(LogDirectoryTest, SyncedLogIsStillToBeCheckpointed) {
    PartitionLog& log = world_.log();
    append(log);
    ASSERT_TRUE(log.sync());
    EXPECT_THAT(world_.directory->logs_to_sync(), IsEmpty());
    EXPECT_THAT(world_.directory->logs_to_checkpoint(), SizeIs(1));
    ASSERT_TRUE(log.checkpoint());
    EXPECT_THAT(world_.directory->logs_to_checkpoint(), IsEmpty());
    append(log);
    EXPECT_THAT(world_.directory->logs_to_checkpoint(), SizeIs(1));
}

TEST_F(LogDirectoryTest, CleanStopLeavesNothingToCheckpointAndACrashDoes) {
    append(world_.log());
    world_.restart_cleanly();
    EXPECT_THAT(world_.directory->logs_to_checkpoint(), IsEmpty());
    append(world_.log());
    world_.kill();
    EXPECT_THAT(world_.directory->logs_to_checkpoint(), SizeIs(1));
}

/// Fills a topic with records and deletes the first of them; the checkpoint files have all of it.
void LogDirectoryTest::fill_and_checkpoint() {
    for (int i = 0; i < 5; ++i) {
        append(world_.log());
    }
    ASSERT_TRUE(*world_.log().delete_records_before({4}));
    ASSERT_TRUE(world_.log().checkpoint());
    ASSERT_TRUE(world_.directory->write_checkpoints());
}

/// Expects that the topic's one record is there and can be read after two kills, and that its own checkpoint is believed then.
void LogDirectoryTest::expect_new_topic_to_recover() {
    const auto expect_record = [&] {
        EXPECT_EQ(world_.log().log_start_offset(), Offset{0});
        EXPECT_EQ(world_.log().log_end_offset(), Offset{1});
        EXPECT_THAT(test::read_all(world_.log(), Offset{0}), ::testing::Not(IsEmpty()));
    };
    for (int kill = 0; kill < 2; ++kill) {
        world_.kill();
        EXPECT_GT(world_.report().scanned_bytes, 0u);
        expect_record();
    }
    ASSERT_TRUE(world_.log().checkpoint());
    ASSERT_TRUE(world_.directory->write_checkpoints());
    EXPECT_FALSE(*world_.system.exists("/data/t-0/partita-newer-than-checkpoint"));
    world_.kill();
    EXPECT_EQ(world_.report().scanned_bytes, 0u);
    expect_record();
}

TEST_F(LogDirectoryTest, TopicMadeAgainInheritsNoCheckpoint) {
    fill_and_checkpoint();
    ASSERT_TRUE(world_.directory->remove(world_.shared_log()));
    use_topic(second_);
    append(world_.log());
    expect_new_topic_to_recover();
}

TEST_F(LogDirectoryTest, TopicMadeAgainAfterACrashInheritsNoCheckpoint) {
    fill_and_checkpoint();
    ASSERT_TRUE(world_.directory->remove(world_.shared_log()));
    world_.kill();
    use_topic(second_);
    append(world_.log());
    expect_new_topic_to_recover();
}

TEST_F(LogDirectoryTest, TopicThatTakesTheNameOfAStrayInheritsNoCheckpoint) {
    fill_and_checkpoint();
    world_.kill();
    use_topic(second_);
    append(world_.log());
    expect_new_topic_to_recover();
}

TEST_F(LogDirectoryTest, TopicMadeAgainOnAFullDiskTakesNoRecordBeforeTheCheckpointIsForgotten) {
    fill_and_checkpoint();
    ASSERT_TRUE(world_.directory->remove(world_.shared_log()));
    use_topic(second_);
    PartitionLog& log = world_.log();
    world_.system.fail_call(1, ENOSPC, true, true);
    auto batch = make_batch();
    const auto refused = log.append(batch, {.leader_epoch = {0}, .now = {1000}});
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().failure, AppendFailure::storage_error);
    world_.system.heal();
    append(log);
    expect_new_topic_to_recover();
}

TEST_F(LogDirectoryTest, TopicMadeAgainKeepsItsSyncedRecordsInAPowerFailure) {
    for (std::uint64_t seed = 0; seed < 50; ++seed) {
        StorageWorld world;
        for (int i = 0; i < 5; ++i) {
            append(world.log());
        }
        ASSERT_TRUE(*world.log().delete_records_before({4}));
        ASSERT_TRUE(world.log().checkpoint());
        ASSERT_TRUE(world.directory->write_checkpoints());
        ASSERT_TRUE(world.directory->remove(world.shared_log()));
        world.topic = std::make_shared<LogTopic>(LogTopic{"t", second_});
        append(world.log());
        ASSERT_TRUE(world.log().sync());
        append(world.log());
        world.lose_power(seed);
        EXPECT_EQ(world.log().log_start_offset(), Offset{0}) << "seed " << seed;
        EXPECT_GE(world.log().log_end_offset(), Offset{1}) << "seed " << seed;
    }
}

TEST_F(LogDirectoryTest, TopicMadeAgainWaitsForNoDevice) {
    fill_and_checkpoint();
    ASSERT_TRUE(world_.directory->remove(world_.shared_log()));
    use_topic(second_);
    const std::uint64_t syncs = world_.system.single_syncs() + world_.system.volume_syncs();
    append(world_.log());
    EXPECT_EQ(world_.system.single_syncs() + world_.system.volume_syncs(), syncs);
}

TEST_F(LogDirectoryTest, CheckpointsAreWrittenByTwoThreadsAtOnce) {
    append(world_.log());
    const auto write = [&] {
        for (int i = 0; i < 300; ++i) {
            EXPECT_TRUE(world_.directory->write_checkpoints());
        }
    };
    std::thread other(write);
    write();
    other.join();
    EXPECT_EQ(world_.system.content("/data/recovery-point-offset-checkpoint"), "0\n1\nt 0 0\n");
}

TEST_F(LogDirectoryTest, RetentionKeepsWhatItIsToldToKeep) {
    auto config = std::make_shared<LogConfig>(declared_log_config());
    config->segment_bytes = 1;
    config->retention_ms = 0;
    world_.config = config;
    PartitionLog& log = world_.log();
    for (int i = 0; i < 5; ++i) {
        append(log);
    }
    ASSERT_TRUE(log.apply_retention({1'000'000}, Offset{2}));
    EXPECT_EQ(log.log_start_offset(), Offset{2});
    ASSERT_TRUE(log.apply_retention({1'000'000}));
    EXPECT_EQ(log.log_start_offset(), Offset{5});
}

TEST_F(LogDirectoryTest, RangeTakesWhatWasFoundAndMakesTheRest) {
    append(world_.log(1));
    append(world_.log(3));
    world_.kill();
    world_.log(3);
    const auto logs = world_.directory->claim_range(world_.topic, {0}, {5}, world_.config);
    ASSERT_TRUE(logs);
    ASSERT_THAT(*logs, SizeIs(5));
    for (int i = 0; i < 5; ++i) {
        const PartitionLog& log = *(*logs)[static_cast<std::size_t>(i)];
        EXPECT_EQ(log.partition(), PartitionIndex{i});
        EXPECT_EQ(log.log_end_offset(), Offset{i == 1 || i == 3 ? 1 : 0});
        EXPECT_EQ(&world_.log(i), &log) << "claimed once";
    }
}

TEST_F(LogDirectoryTest, RangeOfATopicWithALongerNameIsNotDisturbedByIt) {
    world_.topic = std::make_shared<LogTopic>(LogTopic{"t-0", first_});
    append(world_.log());
    world_.kill();
    use_topic(second_);
    const auto logs = world_.directory->claim_range(world_.topic, {0}, {2}, world_.config);
    ASSERT_TRUE(logs);
    EXPECT_EQ(logs->front()->log_end_offset(), Offset{0});
    EXPECT_THAT(world_.directory->unclaimed(), SizeIs(1));
}

}  // namespace
}  // namespace partita
