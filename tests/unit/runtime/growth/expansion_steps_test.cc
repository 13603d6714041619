#include "broker/runtime/growth/expansion_steps.h"

#include <gmock/gmock.h>

#include <span>

namespace partita::runtime {
namespace {

using Kind = ExpansionStep::Kind;
using ::testing::ElementsAre;

GrowingTopic topic_in(std::string mode, std::vector<std::string> seeded = {}) {
    auto before = std::make_shared<catalog::Topic>();
    before->name = "orders";
    before->partition_count = 6;
    catalog::ExpansionCircumstances known;
    known.mode = std::move(mode);
    known.seeded_groups = std::move(seeded);
    return {before, 12, {{}, catalog::bounded_circumstances(std::move(known))}};
}

std::vector<Kind> kinds(const std::vector<ExpansionStep>& steps) {
    std::vector<Kind> kinds;
    for (const ExpansionStep& step : steps) {
        kinds.push_back(step.kind);
    }
    return kinds;
}

/// Notes the steps that it is told; the step with index `stop_at` does not end as done.
class Recorder final : public ExpansionActions {
  public:
    Recorder(std::size_t stop_at, StepOutcome outcome) : stop_at_(stop_at), outcome_(outcome) {}
    StepOutcome take(const ExpansionStep& step) override {
        taken.push_back(step);
        return taken.size() == stop_at_ + 1 ? outcome_ : StepOutcome::done;
    }
    void undo(const ExpansionStep& step) override { undone.push_back(step); }

    std::vector<ExpansionStep> taken;
    std::vector<ExpansionStep> undone;

  private:
    std::size_t stop_at_;
    StepOutcome outcome_;
};

TEST(ExpansionSteps, OfModeFaithfulAreTheCatalogsAlone) {
    const std::vector<GrowingTopic> topics{topic_in("faithful")};
    EXPECT_THAT(kinds(steps_of(topics)), ElementsAre(Kind::lock_catalog, Kind::claim_partitions, Kind::write_catalog,
                                                     Kind::watch_readers, Kind::publish, Kind::unlock_catalog, Kind::tell));
}

TEST(ExpansionSteps, OfModeFencedSeedBeforeTheCatalogIsWrittenAndFenceBeforeItIsSeen) {
    const std::vector<GrowingTopic> topics{topic_in("fenced", {"a", "b"})};
    EXPECT_THAT(kinds(steps_of(topics)), ElementsAre(Kind::seed, Kind::sync_seeds, Kind::look_for_new_readers, Kind::lock_catalog,
                                                     Kind::claim_partitions, Kind::write_catalog, Kind::open_fence,
                                                     Kind::watch_readers, Kind::publish, Kind::unlock_catalog, Kind::tell));
}

TEST(ExpansionSteps, OfSeveralTopicsAreWrittenAtOnce) {
    const std::vector<GrowingTopic> topics{topic_in("safe-offsets", {"a"}), topic_in("safe-offsets"),
                                           topic_in("safe-offsets", {"a", "b"})};
    const std::vector<ExpansionStep> steps = steps_of(topics);
    EXPECT_EQ(std::ranges::count(kinds(steps), Kind::write_catalog), 1);
    const std::vector<Kind> in_order = kinds(steps);
    EXPECT_THAT(std::span(in_order).first(4), ElementsAre(Kind::seed, Kind::seed, Kind::sync_seeds, Kind::sync_seeds))
        << "nobody reads the second topic";
    EXPECT_EQ(std::ranges::count(kinds(steps), Kind::look_for_new_readers), 3) << "but somebody may begin to";
}

TEST(ExpansionSteps, WhatWasTakenIsUndoneInTheOtherOrderWhereverItFails) {
    const std::vector<GrowingTopic> topics{topic_in("fenced", {"a"}), topic_in("fenced", {"b"})};
    const std::vector<ExpansionStep> steps = steps_of(topics);
    const auto written = std::ranges::find(steps, Kind::write_catalog, &ExpansionStep::kind);
    const auto last = static_cast<std::size_t>(written - steps.begin());
    for (const StepOutcome outcome : {StepOutcome::failed, StepOutcome::moved}) {
        for (std::size_t stop_at = 0; stop_at <= last; ++stop_at) {
            Recorder recorder(stop_at, outcome);
            EXPECT_EQ(carry_out(steps, recorder), outcome);
            EXPECT_EQ(recorder.taken.size(), stop_at + 1);
            std::vector<ExpansionStep> reversed = recorder.taken;
            std::ranges::reverse(reversed);
            EXPECT_EQ(recorder.undone, reversed) << "what failed may have been done in part";
        }
    }
}

TEST(ExpansionSteps, NothingIsUndoneWhenAllAreDone) {
    const std::vector<GrowingTopic> topics{topic_in("fenced", {"a"})};
    const std::vector<ExpansionStep> steps = steps_of(topics);
    Recorder recorder(steps.size(), StepOutcome::failed);
    EXPECT_EQ(carry_out(steps, recorder), StepOutcome::done);
    EXPECT_EQ(recorder.taken, steps);
    EXPECT_TRUE(recorder.undone.empty());
}

}  // namespace
}  // namespace partita::runtime
