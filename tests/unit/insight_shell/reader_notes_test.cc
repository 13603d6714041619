#include "broker/insight/shell/reader_notes.h"

#include <gtest/gtest.h>

#include <utility>

namespace partita::insight {
namespace {

/// Runs nothing, and counts how often its worker is woken.
class WakesOnly final : public Executor {
  public:
    std::unique_ptr<Worker> start(std::string_view, Step) override { return std::make_unique<Counter>(*this); }
    int wakes = 0;

  private:
    class Counter final : public Worker {
      public:
        explicit Counter(WakesOnly& owner) : owner_(owner) {}
        void wake() override { ++owner_.wakes; }

      private:
        WakesOnly& owner_;
    };
};

ReaderNote deletion() { return {.topic = {}, .what = ReaderNote::GroupDeleted{"g"}, .name = {}}; }
ReaderNote growth() { return {.topic = {}, .what = ReaderNote::Grown{}, .name = "t"}; }

TEST(ReaderNotes, AreNoMoreThanTheirLimitExceptThoseAboutGrowths) {
    ReaderNotes notes;
    for (std::size_t number = 0; number <= ReaderNotes::kNotesMax; ++number) {
        notes.leave(deletion());
    }
    notes.leave(growth());
    const ReaderNotes::Taken taken = notes.take();
    ASSERT_EQ(taken.notes.size(), ReaderNotes::kNotesMax + 1);
    EXPECT_TRUE(taken.notes.back().is_growth());
    EXPECT_TRUE(notes.take().notes.empty());
}

// A fetch of such a member may wait while the topic grows, and its answer is the first that is noted.
TEST(ReaderNotes, OfMembersThatLeftBeforeTheirTopicGrewFollowTheGrowth) {
    ReaderNotes notes;
    const auto departure = [](const TopicId& topic, const std::string& member) {
        return ReaderNote{.topic = topic, .what = ReaderNote::Left{.group = "g", .member_id = member}, .name = {}};
    };
    const TopicId other{{1}};
    for (std::size_t number = 0; number <= ReaderNotes::kDeparturesMax; ++number) {
        notes.note_departure(departure({}, std::to_string(number)));
    }
    notes.note_departure(departure(other, "another"));
    EXPECT_TRUE(notes.take().notes.empty());
    notes.leave(growth());
    const ReaderNotes::Taken taken = notes.take();
    ASSERT_EQ(taken.notes.size(), ReaderNotes::kDeparturesMax) << "the growth, and the departures but for the oldest two";
    EXPECT_TRUE(taken.notes[0].is_growth());
    EXPECT_EQ(std::get<ReaderNote::Left>(taken.notes[1].what).member_id, "2");
}

TEST(ReaderNotes, OfOneAnswerShareItsNumberAndKnowTheirPlace) {
    ReaderNotes notes;
    notes.leave(deletion());
    (void)notes.take();
    notes.leave(deletion());
    std::vector<DeliveryNote> answer(2);
    notes.leave_answer(answer);
    notes.leave(deletion());
    notes.leave_answer(answer);
    const ReaderNotes::Taken taken = notes.take();
    EXPECT_EQ(taken.notes_before, 1U);
    ASSERT_EQ(taken.deliveries.size(), 4U);
    EXPECT_EQ(taken.deliveries[0].delivery.answer, taken.deliveries[1].delivery.answer);
    EXPECT_LT(taken.deliveries[1].delivery.answer, taken.deliveries[2].delivery.answer);
    EXPECT_EQ(taken.deliveries[0].notes_before, 2U);
    EXPECT_EQ(taken.deliveries[2].notes_before, 3U);
}

TEST(ReaderNotes, OfDeliveriesAreNoMoreThanTheirLimitAndSayThatSomeWereLost) {
    ReaderNotes notes;
    std::vector<DeliveryNote> answer(ReaderNotes::kDeliveriesMax);
    notes.leave_answer(answer);
    EXPECT_FALSE(notes.take().has_lost_deliveries);
    notes.leave_answer(answer);
    notes.leave_answer(std::span(answer).first(1));
    const ReaderNotes::Taken taken = notes.take();
    EXPECT_EQ(taken.deliveries.size(), ReaderNotes::kDeliveriesMax);
    EXPECT_TRUE(taken.has_lost_deliveries);
}

TEST(ReaderNotes, WakeTheObserverWhenTheFirstTopicGrowsAndNobodyAfterItStopped) {
    WakesOnly executor;
    ReaderNotes notes;
    notes.start(executor, [] { return kNever; });
    notes.leave(deletion());
    EXPECT_EQ(executor.wakes, 0);
    notes.leave(growth());
    notes.leave(growth());
    EXPECT_EQ(executor.wakes, 1);
    notes.on_looks(false, false, std::nullopt);
    EXPECT_TRUE(notes.is_watching()) << "notes wait that were not looked at";
    (void)notes.take();
    notes.on_looks(false, false, std::nullopt);
    EXPECT_FALSE(notes.is_watching());
    notes.stop();
    notes.leave(growth());
    EXPECT_EQ(executor.wakes, 1);
}

}  // namespace
}  // namespace partita::insight
