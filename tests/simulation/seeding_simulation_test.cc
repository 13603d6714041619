// The steps of an expansion that seeds offsets, with a crash between any two of them: what is left is the old topic
// without seeds, or the new topic with all of them. The order of the steps and what a start does are those of
// broker/runtime/expansions.h.

#include <gtest/gtest-spi.h>
#include <gtest/gtest.h>

#include <array>
#include <deque>
#include <limits>
#include <random>

#include "broker/groups/group_coordinator.h"
#include "tests/unit/topics/catalog_fixture.h"

namespace partita::topics {
namespace {

/// A coordinator with its log.
class Shard {
  public:
    Shard() { restart(); }

    void restart() {
        coordinator_.emplace(groups::GroupConfig{});
        for (const groups::Record& record : log_) coordinator_->replay(record);
        groups::Effects effects;
        coordinator_->loaded({}, effects);
    }
    template <class Call>
    auto run(Call&& call) {
        groups::Effects effects;
        call(*coordinator_, effects);
        for (const groups::Record& record : effects.records) keep(record);
    }
    [[nodiscard]] std::vector<groups::TopicReader> readers(const TopicId& id) const {
        return coordinator_->readers_of("orders", id);
    }

  private:
    void keep(groups::Record record) {
        std::visit(
            [this](auto& one) {
                if constexpr (requires { one.topic; }) one.topic = texts_.emplace_back(one.topic);
                if constexpr (requires { one.metadata; }) one.metadata = texts_.emplace_back(one.metadata);
                if constexpr (requires { one.group_id; }) one.group_id = texts_.emplace_back(one.group_id);
            },
            record);
        log_.push_back(record);
    }

    std::deque<std::string> texts_;
    std::vector<groups::Record> log_;
    std::optional<groups::GroupCoordinator> coordinator_;
};

class World {
  public:
    static constexpr std::size_t kShards = 3;
    static constexpr int kGroups = 7;

    explicit World(std::uint64_t seed) : random_(seed) {
        (void)catalog_.create("orders", 2);
        for (int group = 0; group < kGroups; ++group) {
            const std::string id = "g" + std::to_string(group);
            commit(id, {{PartitionIndex{0}, Offset{7}, LeaderEpoch{0}, ""}});
        }
    }

    /// Grows the topic by one to three partitions, and crashes before step `crash_before` when that is not too far.
    void grow(std::size_t crash_before) {
        const Topic& before = topic();
        const std::int32_t old_count = before.partition_count;
        const std::int32_t new_count = old_count + 1 + static_cast<std::int32_t>(random_() % 3);
        const std::string metadata = groups::seed_metadata(static_cast<std::int32_t>(before.expansions.size()) + 1);
        std::vector<std::string> seeded;
        for (const Shard& shard : shards_) {
            for (const groups::TopicReader& reader : shard.readers(before.id)) seeded.push_back(reader.group_id);
        }
        std::size_t step = 0;
        for (const std::string& group : seeded) {
            if (step++ == crash_before) return crash();
            shard_of(group).run([&](groups::GroupCoordinator& coordinator, groups::Effects& effects) {
                coordinator.seed_offsets({group, "orders", before.id, {old_count}, {new_count}, metadata}, {}, effects);
            });
        }
        if (step++ == crash_before) return crash();
        CreatePartitionsCommand command;
        command.topics.push_back({"orders", new_count, std::nullopt});
        command.circumstances = [&](const Topic&, std::int32_t) {
            ExpansionCircumstances known;
            known.mode = "safe-offsets";
            known.seeded_groups = seeded;
            return known;
        };
        (void)catalog_.carry_out(catalog_.core().create_partitions(command, catalog_.context()));
        if (step++ == crash_before) return crash();
    }

    void check() {
        const Topic& now = topic();
        for (const Shard& shard : shards_) {
            for (const groups::TopicReader& reader : shard.readers(now.id)) {
                ASSERT_FALSE(reader.committed.empty());
                EXPECT_LT(reader.committed.rbegin()->first.value, now.partition_count) << reader.group_id << " has a seed for nothing";
                for (const auto& expansion : now.expansions) {
                    for (std::int32_t index = expansion->old_partition_count; index < expansion->new_partition_count; ++index) {
                        EXPECT_TRUE(reader.committed.contains(PartitionIndex{index})) << reader.group_id << " lacks a seed";
                    }
                }
                EXPECT_EQ(reader.committed.at(PartitionIndex{0}), Offset{7});
            }
        }
    }
    [[nodiscard]] const Topic& topic() { return *catalog_.catalog().find_topic("orders"); }
    bool recovers = true;

  private:
    Shard& shard_of(std::string_view group) { return shards_[std::hash<std::string_view>{}(group) % kShards]; }
    void commit(const std::string& group, std::vector<groups::OffsetCommit::Partition> partitions) {
        const groups::OffsetCommit::Topic wanted{"orders", topic().id, partitions};
        shard_of(group).run([&](groups::GroupCoordinator& coordinator, groups::Effects& effects) {
            coordinator.commit_offsets({.group_id = group, .topics = {&wanted, 1}, .reply_to = {1}}, {}, effects);
        });
    }
    void crash() {
        catalog_.restart();
        for (Shard& shard : shards_) shard.restart();
        if (!recovers) return;
        const Topic& now = topic();
        const std::string metadata = groups::seed_metadata(static_cast<std::int32_t>(now.expansions.size()) + 1);
        for (Shard& shard : shards_) {
            for (const groups::TopicReader& reader : shard.readers(now.id)) {
                shard.run([&](groups::GroupCoordinator& coordinator, groups::Effects& effects) {
                    (void)coordinator.remove_seeds({reader.group_id, "orders", now.id, {now.partition_count},
                                                    {std::numeric_limits<std::int32_t>::max()}, metadata},
                                                   effects);
                });
            }
        }
    }

    std::mt19937_64 random_;
    TestCatalog catalog_;
    std::array<Shard, kShards> shards_;
};

constexpr std::size_t kSteps = World::kGroups + 2;

TEST(Seeding, CrashBetweenAnyTwoStepsLeavesTheOldTopicOrTheNew) {
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
        World world(seed);
        for (std::size_t crash_before = 0; crash_before <= kSteps; ++crash_before) {
            const std::size_t epochs = world.topic().expansions.size();
            world.grow(crash_before);
            world.check();
            const bool happened = crash_before >= World::kGroups + 1;
            EXPECT_EQ(world.topic().expansions.size(), epochs + (happened ? 1 : 0)) << "crash before step " << crash_before;
        }
    }
}

TEST(Seeding, WithoutTheStartsWorkACrashWouldShow) {
    World world(1);
    world.recovers = false;
    world.grow(World::kGroups);
    ::testing::TestPartResultArray failures;
    {
        const ::testing::ScopedFakeTestPartResultReporter reporter(
            ::testing::ScopedFakeTestPartResultReporter::INTERCEPT_ONLY_CURRENT_THREAD, &failures);
        world.check();
    }
    EXPECT_EQ(failures.size(), World::kGroups);
}

}  // namespace
}  // namespace partita::topics
