#include "broker/insight/shell/past_harm.h"

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "broker/insight/findings/event_json.h"
#include "broker/insight/hub/findings_hub.h"
#include "tests/unit/insight_shell/remote_cluster.h"
#include "tests/unit/runtime/still_clock.h"

namespace partita::insight {
namespace {

constexpr TopicId kOrders{{1}};

/// Pages of events, one for each call.
class Pages final : public EventHistory {
  public:
    explicit Pages(std::vector<std::vector<std::string>> pages) : pages_(std::move(pages)) {}
    bool has_more() const override { return next_ < pages_.size(); }
    std::vector<std::string> next() override { return pages_.at(next_++); }

  private:
    const std::vector<std::vector<std::string>> pages_;
    std::size_t next_ = 0;
};

/// Steps when the test says so.
class StepExecutor final : public Executor {
  public:
    std::unique_ptr<Worker> start(std::string_view, Step step) override {
        step_ = std::move(step);
        return std::make_unique<StepWorker>();
    }
    [[nodiscard]] bool has_worker() const { return step_ != nullptr; }
    Instant step() { return step_(); }

  private:
    class StepWorker final : public Worker {
        void wake() override {}
    };
    Step step_;
};

class PastHarmTest : public ::testing::Test {
  protected:
    void SetUp() override {
        cluster_.known_topics[kOrders] = {.name = "orders",
                                          .partition_count = 2,
                                          .growths = {},
                                          .logs = std::vector<LogEdges>(2, {Offset{0}, Offset{20}, Offset{20}}),
                                          .traits = {.created = {500}}};
        cluster_.known_groups.push_back({.group_id = "billing"});
    }

    static OpenFinding harm() {
        OpenFinding open{.finding = make_finding(HazardId::inversion_delivered, {.topic = "orders", .group = "billing"}, "c", 2),
                         .opened = {1000},
                         .changed = {1000},
                         .largest_count = 2};
        open.finding.add_evidence(PartitionIndex{0}, Offset{10});
        open.finding.add_evidence(PartitionIndex{1}, Offset{12});
        return open;
    }
    static std::string opened(const OpenFinding& open) {
        return event_json({.sequence = 1,
                           .kind = FindingEvent::Kind::opened,
                           .time = open.changed,
                           .opened = open.opened,
                           .finding = open.finding},
                          KeyStyle::text);
    }
    [[nodiscard]] bool is_left(const OpenFinding& open) const {
        return is_harm_left(open, *cluster_.topics(), cluster_.groups());
    }
    [[nodiscard]] std::vector<LogEdges>& logs() { return cluster_.known_topics[kOrders].logs; }

    RemoteCluster cluster_;
    FindingsHub hub_;
    test::StillClock clock_;
    StepExecutor executor_;
    PastHarm past_{cluster_, hub_, {clock_, executor_}};
};

TEST_F(PastHarmTest, HarmLastsUntilTheLastOfItsRecordsIsGone) {
    EXPECT_TRUE(is_left(harm()));
    logs()[0].start = Offset{11};
    EXPECT_TRUE(is_left(harm())) << "one record is left";
    logs()[1].start = Offset{12};
    EXPECT_TRUE(is_left(harm()));
    logs()[1].start = Offset{13};
    EXPECT_FALSE(is_left(harm()));
}

TEST_F(PastHarmTest, HarmEndsWithItsGroupAndWithItsTopic) {
    cluster_.known_groups.clear();
    EXPECT_FALSE(is_left(harm()));
    cluster_.known_groups.push_back({.group_id = "billing"});
    cluster_.known_topics[kOrders].traits.created = {1001};
    EXPECT_FALSE(is_left(harm())) << "another topic has the name";
    cluster_.known_topics.clear();
    EXPECT_FALSE(is_left(harm()));
}

TEST_F(PastHarmTest, HarmWithUnknownRecordsLastsAsLongAsItsTopic) {
    OpenFinding open = harm();
    open.finding.evidence.clear();
    open.finding.subject.group.clear();
    for (LogEdges& log : logs()) {
        log.start = log.end;
    }
    EXPECT_TRUE(is_left(open));
}

TEST_F(PastHarmTest, WithoutAHistoryNothingRuns) {
    past_.start(nullptr);
    EXPECT_FALSE(executor_.has_worker());
    past_.start(std::make_unique<Pages>(std::vector<std::vector<std::string>>{}));
    EXPECT_FALSE(executor_.has_worker());
}

TEST_F(PastHarmTest, ItReadsAPageAStepThenWatchesUntilNothingIsLeft) {
    past_.start(std::make_unique<Pages>(std::vector<std::vector<std::string>>{{"no event"}, {opened(harm())}}));
    EXPECT_EQ(executor_.step(), kAtOnce);
    EXPECT_TRUE(hub_.open().empty());
    EXPECT_EQ(executor_.step(), clock_.now().monotonic + PastHarm::kLookMs);
    const auto open = hub_.open();
    ASSERT_EQ(open.size(), 1u);
    EXPECT_EQ(open[0].opened, TimestampMs{1000});
    EXPECT_TRUE(open[0].finding.is_restored);
    logs()[0].start = logs()[1].start = Offset{20};
    EXPECT_EQ(executor_.step(), kOver);
    EXPECT_TRUE(hub_.open().empty());
    EXPECT_EQ(hub_.ended().size(), 1u);
}

TEST_F(PastHarmTest, HarmThatIsGoneAtTheStartIsOverAtOnce) {
    cluster_.known_topics.clear();
    past_.start(std::make_unique<Pages>(std::vector<std::vector<std::string>>{{opened(harm())}}));
    EXPECT_EQ(executor_.step(), kOver);
    EXPECT_TRUE(hub_.open().empty());
    ASSERT_EQ(hub_.ended().size(), 1u);
    EXPECT_EQ(hub_.ended()[0].how, EndedFinding::How::over);
}

}  // namespace
}  // namespace partita::insight
