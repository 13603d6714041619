// Tests the fate of coordinators when topics come and go.

#include <gmock/gmock.h>

#include <string>
#include <vector>

#include "broker/runtime/coordinators/coordinator_host.h"
#include "tests/unit/runtime/topic_tables.h"

namespace partita::runtime {
namespace {

using ::testing::ElementsAre;

constexpr std::string_view kGroupsTopic = "__consumer_offsets";
constexpr Now kNow{.monotonic = {1}, .wall = {1}};

class NotingHost final : public CoordinatorHost {
  public:
    [[nodiscard]] bool attach(std::span<const std::shared_ptr<logs::Partition>> partitions) override {
        heard.push_back("attach " + std::to_string(partitions.size()));
        return true;
    }
    [[nodiscard]] StorageResult<void> load(Now) override {
        heard.emplace_back("load");
        return {};
    }
    void serve(Now) override { heard.emplace_back("serve"); }
    void forget_all(Now) override { heard.emplace_back("forget all"); }
    void detach() override {}
    [[nodiscard]] bool is_attached() const override { return false; }
    [[nodiscard]] bool rebuild_lost() override { return true; }
    void topic_deleted(logs::Turn*, const coordination::TopicDeleted& event, Now) override {
        heard.push_back("deleted " + (event.name.empty() ? event.topic_id.to_string() : std::string(event.name)));
    }
    void tick(logs::Turn&, Now) override {}
    [[nodiscard]] std::optional<Instant> next_deadline() const override { return std::nullopt; }
    void write_markers(const logs::Partition&, std::span<const coordination::OutwardWrite>, TimestampMs,
                       std::span<ErrorCode>) override {}
    void fail_waiting(logs::Turn&) override {}

    std::vector<std::string> heard;
};

class CoordinatorHostsTest : public ::testing::Test {
  protected:
    CoordinatorHostsTest() {
        hosts_.add(catalog::CoordinatorKind::groups, host_);
        table_ = table_without_logs(catalog_);
    }
    void tell() {
        const auto before = std::exchange(table_, table_without_logs(catalog_));
        hosts_.on_topics_changed(
            {.before = *before, .now = *table_, .changes = catalog_.last_effects.changes, .turn = nullptr, .time = kNow});
    }
    void create_groups_topic() {
        const auto made = catalog_.carry_out(catalog::AutoCreateTopic{kGroupsTopic});
        ASSERT_FALSE(made.error.failed());
        tell();
    }
    /// By one request.
    void remove(std::initializer_list<std::string_view> names) {
        catalog::DeleteTopics command;
        for (const std::string_view name : names) {
            command.topics.push_back({.name = std::optional<std::string_view>(name)});
        }
        const auto done = catalog_.carry_out(command);
        for (const auto& topic : done.topics) {
            ASSERT_FALSE(topic.error.failed());
        }
        tell();
    }

    catalog::TestCatalog catalog_;
    NotingHost host_;
    CoordinatorHosts hosts_;
    std::shared_ptr<const logs::TopicTable> table_;
};

TEST_F(CoordinatorHostsTest, ATopicThatTheStartFoundIsLoadedAndNotServed) {
    create_groups_topic();
    EXPECT_THAT(host_.heard, ElementsAre());
    ASSERT_TRUE(hosts_.load(*table_, {}, kNow).has_value());
    EXPECT_THAT(host_.heard, ElementsAre("attach 50", "load"));
}

TEST_F(CoordinatorHostsTest, OfADeletionThatTheProcessDiedWithinAllHearUnlessTheCatalogKeptTheTopic) {
    create_groups_topic();
    ASSERT_FALSE(catalog_.create("kept", 1).failed());
    tell();
    TopicId gone;
    gone.bytes.back() = 77;
    const std::vector<TopicId> removals = {table_->find("kept")->topic->id, gone};
    host_.heard.clear();
    ASSERT_TRUE(hosts_.load(*table_, removals, kNow).has_value());
    EXPECT_THAT(host_.heard, ElementsAre("attach 50", "load", "deleted " + gone.to_string()));
}

TEST_F(CoordinatorHostsTest, ATopicThatIsMadeLaterIsServedAtOnce) {
    ASSERT_TRUE(hosts_.load(*table_, {}, kNow).has_value());
    create_groups_topic();
    EXPECT_THAT(host_.heard, ElementsAre("attach 50", "serve"));
}

TEST_F(CoordinatorHostsTest, WithItsTopicAKindForgetsEverythingAndOfOthersItHears) {
    ASSERT_TRUE(hosts_.load(*table_, {}, kNow).has_value());
    create_groups_topic();
    ASSERT_FALSE(catalog_.create("t", 1).failed());
    tell();
    host_.heard.clear();
    remove({"t"});
    remove({kGroupsTopic});
    EXPECT_THAT(host_.heard, ElementsAre("deleted t", "forget all"));
}

TEST_F(CoordinatorHostsTest, AKindForgetsEverythingBeforeItHearsOfTopicsThatWentWithItsOwn) {
    ASSERT_TRUE(hosts_.load(*table_, {}, kNow).has_value());
    create_groups_topic();
    ASSERT_FALSE(catalog_.create("t", 1).failed());
    ASSERT_FALSE(catalog_.create("u", 1).failed());
    tell();
    host_.heard.clear();
    remove({"t", kGroupsTopic, "u"});
    EXPECT_THAT(host_.heard, ElementsAre("forget all", "deleted t", "deleted u"));
}

}  // namespace
}  // namespace partita::runtime
