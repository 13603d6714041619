// The executor of expansions, with a crash between any two of its steps and within those that write more than once: what is
// left is the old topic without seeds, or the new topic with all of them. Steps, their order and what is undone are the
// broker's own (broker/runtime/expansion_steps.h); here are a catalog and coordinators with logs in memory to take them.

#include <gtest/gtest-spi.h>
#include <gtest/gtest.h>

#include <array>
#include <deque>
#include <optional>
#include <random>

#include "broker/groups/group_coordinator.h"
#include "broker/runtime/growth/expansion_steps.h"
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
    [[nodiscard]] std::vector<groups::TopicReader> readers(const TopicId& id) { return coordinator_->readers_of("orders", id); }

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

using runtime::ExpansionStep;
using runtime::GrowingTopic;
using runtime::StepOutcome;
using Kind = ExpansionStep::Kind;

struct Crash {};

/// How one expansion goes.
struct Fate {
    static constexpr std::size_t kNever = 1'000;
    /// The process dies before so many writes or steps more.
    std::size_t crash_before = kNever;
    /// The step of that kind fails, or finds that the world moved.
    std::optional<Kind> fails_at;
    StepOutcome outcome = StepOutcome::failed;
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

    /// Grows the topic by one to three partitions. How often the process could have died is in `chances`.
    StepOutcome grow(const Fate& fate) {
        ExpansionCircumstances known;
        known.mode = random_() % 2 == 0 ? "safe-offsets" : "fenced";
        for (Shard& shard : shards_) {
            for (const groups::TopicReader& reader : shard.readers(topic().id)) known.seeded_groups.push_back(reader.group_id);
        }
        const std::vector<GrowingTopic> topics{{catalog_.catalog().share_topic("orders"),
                                                topic().partition_count + 1 + static_cast<std::int32_t>(random_() % 3),
                                                {{}, bounded_circumstances(std::move(known))}}};
        Actions actions(*this, topics, fate);
        try {
            const StepOutcome outcome = carry_out(steps_of(topics), actions);
            chances = actions.chances();
            return outcome;
        } catch (const Crash&) {
            restart();
            return StepOutcome::failed;
        }
    }

    void check() {
        const Topic& now = topic();
        for (Shard& shard : shards_) {
            for (const groups::TopicReader& reader : shard.readers(now.id)) {
                ASSERT_FALSE(reader.committed.empty());
                EXPECT_LT(reader.committed.rbegin()->first.value, now.partition_count)
                    << reader.group_id << " has a seed for nothing";
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
    std::size_t chances = 0;

  private:
    /// Takes the broker's steps in this world.
    class Actions final : public runtime::ExpansionActions {
      public:
        Actions(World& world, const std::vector<GrowingTopic>& topics, const Fate& fate)
            : world_(world), topics_(topics), fate_(fate) {}

        StepOutcome take(const ExpansionStep& step) override {
            may_crash();
            const GrowingTopic& topic = topics_[step.topic];
            if (step.kind == Kind::seed) seed(topic);
            if (fate_.fails_at == step.kind) return fate_.outcome;
            if (step.kind == Kind::write_catalog) write(topic);
            return StepOutcome::done;
        }
        void undo(const ExpansionStep& step) override {
            may_crash();
            if (step.kind == Kind::seed) take_back(topics_[step.topic]);
        }
        [[nodiscard]] std::size_t chances() const { return chances_; }

      private:
        void may_crash() {
            if (chances_++ == fate_.crash_before) throw Crash{};
        }
        template <class Change>
        void for_each_group(const GrowingTopic& topic, Change change) {
            const std::string metadata = groups::seed_metadata(topic.epoch());
            groups::SeedOffsets seeds = runtime::seeds_of(topic);
            seeds.metadata = metadata;
            for (const std::string& group : topic.seeded_groups()) {
                may_crash();
                seeds.group_id = group;
                world_.shard_of(group).run([&](groups::GroupCoordinator& coordinator, groups::Effects& effects) {
                    change(coordinator, seeds, effects);
                });
            }
        }
        void seed(const GrowingTopic& topic) {
            for_each_group(topic, [](groups::GroupCoordinator& coordinator, const groups::SeedOffsets& seeds,
                                     groups::Effects& effects) { coordinator.seed_offsets(seeds, {}, effects); });
        }
        void take_back(const GrowingTopic& topic) {
            for_each_group(topic, [](groups::GroupCoordinator& coordinator, const groups::SeedOffsets& seeds,
                                     groups::Effects& effects) { (void)coordinator.remove_seeds(seeds, effects); });
        }
        void write(const GrowingTopic& topic) {
            CreatePartitionsCommand command;
            command.topics.push_back({"orders", topic.new_count, std::nullopt, &topic.judged});
            (void)world_.catalog_.carry_out(world_.catalog_.core().create_partitions(command, world_.catalog_.context()));
        }

        World& world_;
        const std::vector<GrowingTopic>& topics_;
        const Fate fate_;
        std::size_t chances_ = 0;
    };

    Shard& shard_of(std::string_view group) { return shards_[std::hash<std::string_view>{}(group) % kShards]; }
    void commit(const std::string& group, std::vector<groups::OffsetCommit::Partition> partitions) {
        const groups::OffsetCommit::Topic wanted{"orders", topic().id, partitions};
        shard_of(group).run([&](groups::GroupCoordinator& coordinator, groups::Effects& effects) {
            coordinator.decide(groups::OffsetCommit{.group_id = group, .topics = {&wanted, 1}, .reply_to = {1}}, {}, effects);
        });
    }
    void restart() {
        catalog_.restart();
        for (Shard& shard : shards_) shard.restart();
        if (!recovers) return;
        const std::string metadata = groups::seed_metadata(runtime::next_epoch(topic()));
        groups::SeedOffsets orphans = runtime::orphaned_seeds_of(topic());
        orphans.metadata = metadata;
        for (Shard& shard : shards_) {
            for (const groups::TopicReader& reader : shard.readers(topic().id)) {
                orphans.group_id = reader.group_id;
                shard.run([&](groups::GroupCoordinator& coordinator, groups::Effects& effects) {
                    (void)coordinator.remove_seeds(orphans, effects);
                });
            }
        }
    }

    std::mt19937_64 random_;
    TestCatalog catalog_;
    std::array<Shard, kShards> shards_;
};

/// A world that grew once without an accident, and the number of places where one can happen.
std::size_t chances_of(const Fate& fate) {
    World world(1);
    (void)world.grow(fate);
    return world.chances;
}

TEST(Seeding, CrashBetweenAnyTwoStepsLeavesTheOldTopicOrTheNew) {
    const std::size_t chances = chances_of({});
    ASSERT_GT(chances, World::kGroups + 5U);
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
        World world(seed);
        std::size_t grown = 0;
        for (std::size_t crash_before = 0; crash_before <= chances; ++crash_before) {
            (void)world.grow({.crash_before = crash_before});
            world.check();
            EXPECT_GE(world.topic().expansions.size(), grown) << "what has happened stays";
            grown = world.topic().expansions.size();
        }
        EXPECT_GT(grown, 1U) << "a crash behind the catalog's record takes nothing back";
    }
}

TEST(Seeding, StepThatFailsLeavesTheOldTopicWhereverTheProcessDiesMeanwhile) {
    for (const StepOutcome outcome : {StepOutcome::failed, StepOutcome::moved}) {
        for (const Kind kind :
             {Kind::seed, Kind::look_for_new_readers, Kind::lock_catalog, Kind::claim_partitions, Kind::write_catalog}) {
            const Fate fate{.fails_at = kind, .outcome = outcome};
            const std::size_t chances = chances_of(fate);
            World world(7);
            EXPECT_EQ(world.grow(fate), outcome);
            world.check();
            for (std::size_t crash_before = 0; crash_before <= chances; ++crash_before) {
                (void)world.grow({.crash_before = crash_before, .fails_at = kind, .outcome = outcome});
                world.check();
                EXPECT_TRUE(world.topic().expansions.empty());
            }
        }
    }
}

TEST(Seeding, WithoutTheStartsWorkACrashWouldShow) {
    World world(1);
    world.recovers = false;
    // Before the step behind the seeds.
    (void)world.grow({.crash_before = World::kGroups + 1});
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
