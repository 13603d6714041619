// Grows a topic in the assembled broker, which dies or finds no room before each file change between the request and its answer.
// It leaves either the old topic without seeds, or the new topic with all of them. A client asks for the result over the
// protocol, as any client would.

#include <gtest/gtest.h>

#include <array>
#include <cerrno>
#include <string>
#include <vector>

#include "protocol/messages/03_metadata.h"
#include "protocol/messages/08_offset_commit.h"
#include "protocol/messages/09_offset_fetch.h"
#include "protocol/messages/10_find_coordinator.h"
#include "protocol/messages/19_create_topics.h"
#include "protocol/messages/37_create_partitions.h"
#include "tests/simulation/broker_world_caller.h"

namespace partita::test {
namespace {

using Death = MortalBroker::Death;

constexpr std::int32_t kOldCount = 2;
constexpr std::int32_t kNewCount = 4;
constexpr int kGroups = 7;
constexpr std::int64_t kCommitted = 7;

class GrowingWorld {
  public:
    GrowingWorld(std::uint64_t seed, const std::string& mode)
        : called_(seed, {"offsets.topic.num.partitions=3", "partita.default.expansion.mode=" + mode}) {
        std::array topics{
            CreateTopicsRequest::CreatableTopic{.name = "orders", .num_partitions = kOldCount, .replication_factor = 1}};
        called_.ask<CreateTopicsResponse>(7, CreateTopicsRequest{.topics = topics}, [](const auto& response) {
            EXPECT_EQ(response.topics[0].error_code, ErrorCode::none);
        });
        find_coordinator();
        for (int group = 0; group < kGroups; ++group) {
            commit("g" + std::to_string(group));
        }
        // Data older than the background sync survives a power failure.
        rest(5'000);
    }

    /// Asks for the growth. True when the answer confirms it; false after a refusal, or without an answer.
    bool grow() {
        std::array topics{
            CreatePartitionsRequest::CreatePartitionsTopic{.name = "orders", .count = kNewCount, .assignments = nullptr}};
        bool has_grown = false;
        called_.ask<CreatePartitionsResponse>(
            3, CreatePartitionsRequest{.topics = topics, .timeout_ms = 30'000},
            [&](const auto& response) { has_grown = response.results[0].error_code == ErrorCode::none; });
        return has_grown;
    }
    void doom(Death death, std::uint64_t changes) { broker_.doom(death, changes); }
    /// True when the broker died. It does not die after this call.
    bool has_died() {
        broker_.spare();
        return broker_.is_dead();
    }
    /// Makes one of the following file changes find no room.
    void fill_disk(std::uint64_t call) { broker_.files().fail_call(call, ENOSPC, false, true); }
    /// True when the disk was full. It has room again after this call.
    bool was_disk_full() {
        const bool was_full = broker_.files().fault_happened();
        broker_.files().heal();
        return was_full;
    }
    void die(Death death) { broker_.die(death); }
    void restart() { called_.restart(); }
    /// Gives the broker time to handle a failed write.
    void rest(std::int64_t duration_ms) { called_.rest(duration_ms); }

    std::int32_t count() {
        std::int32_t count = 0;
        std::array topics{MetadataRequest::Topic{.name = "orders"}};
        called_.ask<MetadataResponse>(
            12, MetadataRequest{.topics = topics, .allow_auto_topic_creation = false},
            [&](const auto& response) { count = static_cast<std::int32_t>(response.topics[0].partitions.count()); });
        return count;
    }
    /// The offsets of a group in partitions 0 to `kNewCount`, which is one too many; -1 for none.
    std::vector<std::int64_t> offsets_of(const std::string& group) {
        std::array<std::int32_t, kNewCount + 1> partitions{};
        for (std::size_t index = 0; index < partitions.size(); ++index) {
            partitions[index] = static_cast<std::int32_t>(index);
        }
        std::array topics{OffsetFetchRequest::Topic{.name = "orders", .partition_indexes = partitions}};
        std::vector<std::int64_t> offsets;
        called_.ask<OffsetFetchResponse>(7, OffsetFetchRequest{.group_id = group, .topics = topics}, [&](const auto& response) {
            EXPECT_EQ(response.error_code, ErrorCode::none);
            for (const auto& found : response.topics[0].partitions) {
                offsets.push_back(found.committed_offset);
            }
        });
        return offsets;
    }
    /// Checks that every group has a seed in every new partition, or that the topic is unchanged and no group has one.
    void check() {
        const std::int32_t now = count();
        const std::vector<std::int64_t> old{kCommitted, -1, -1, -1, -1};
        const std::vector<std::int64_t> grown{kCommitted, -1, 0, 0, -1};
        EXPECT_TRUE(now == kOldCount || now == kNewCount) << now;
        for (int group = 0; group < kGroups; ++group) {
            EXPECT_EQ(offsets_of("g" + std::to_string(group)), now == kOldCount ? old : grown)
                << "group " << group << " of a topic with " << now << " partitions";
        }
    }

  private:
    void find_coordinator() {
        std::array<std::string_view, 1> keys{"g0"};
        called_.ask<FindCoordinatorResponse>(4, FindCoordinatorRequest{.coordinator_keys = keys}, [](const auto& response) {
            EXPECT_EQ(response.coordinators[0].error_code, ErrorCode::none);
        });
        rest(1'000);
    }
    void commit(const std::string& group) {
        std::array partitions{OffsetCommitRequest::Partition{.partition_index = 0, .committed_offset = kCommitted}};
        std::array topics{OffsetCommitRequest::Topic{.name = "orders", .partitions = partitions}};
        called_.ask<OffsetCommitResponse>(7, OffsetCommitRequest{.group_id = group, .topics = topics}, [](const auto& response) {
            EXPECT_EQ(response.topics[0].partitions[0].error_code, ErrorCode::none);
        });
    }

    CalledBroker called_;
    MortalBroker& broker_ = called_.broker();
};

/// A growth makes fewer changes of files than this.
constexpr std::uint64_t kChangesMax = 100;

TEST(Seeding, DeathBeforeAnyChangeLeavesTheOldTopicOrTheNew) {
    for (const std::string mode : {"safe-offsets", "fenced"}) {
        for (const Death death : {Death::kill, Death::power_failure}) {
            std::uint64_t changes = 0;
            int old_topics = 0;
            int new_topics = 0;
            for (bool has_died = true; has_died; ++changes) {
                ASSERT_LT(changes, kChangesMax);
                SCOPED_TRACE(mode + (death == Death::kill ? ", killed" : ", without power") + " before change " +
                             std::to_string(changes));
                GrowingWorld world(changes, mode);
                world.doom(death, changes);
                const bool has_grown = world.grow();
                has_died = world.has_died();
                EXPECT_EQ(has_grown, !has_died) << "who dies before the answer sends none";
                if (!has_died) {
                    world.die(death);
                }
                world.restart();
                world.check();
                ++(world.count() == kOldCount ? old_topics : new_topics);
                if (!has_died && death == Death::kill) {
                    EXPECT_EQ(world.count(), kNewCount) << "what was answered stays";
                }
            }
            EXPECT_GE(old_topics, 3) << "one for each coordinator with groups, at least";
            EXPECT_GE(new_topics, death == Death::kill ? 1 : 0);
        }
    }
}

TEST(Seeding, ChangeThatFindsNoRoomLeavesTheOldTopicOrTheNew) {
    for (const std::string mode : {"safe-offsets", "fenced"}) {
        int refused = 0;
        std::uint64_t call = 1;
        for (bool was_full = true; was_full; ++call) {
            ASSERT_LT(call, kChangesMax);
            SCOPED_TRACE(mode + ", no room for change " + std::to_string(call));
            GrowingWorld world(call, mode);
            world.fill_disk(call);
            const bool has_grown = world.grow();
            was_full = world.was_disk_full();
            world.rest(5'000);
            EXPECT_EQ(world.count(), has_grown ? kNewCount : kOldCount) << "the answer tells what has happened";
            world.check();
            refused += has_grown ? 0 : 1;
            world.die(Death::kill);
            world.restart();
            world.check();
            if (!has_grown) {
                EXPECT_TRUE(world.grow()) << "nothing is in the way any more";
            }
            world.check();
        }
        EXPECT_GE(refused, 4) << "three coordinators and the catalog";
    }
}

}  // namespace
}  // namespace partita::test
