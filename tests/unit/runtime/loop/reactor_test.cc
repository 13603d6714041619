// Tests a loop turn, with receivers that are not connections.

#include "broker/runtime/loop/reactor.h"

#include <gtest/gtest.h>

#include <functional>
#include <future>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "broker/runtime/loop/turn_timer.h"
#include "schedule/movable_time.h"
#include "tests/unit/runtime/still_clock.h"

namespace partita::test {
namespace {

class Receiver final : public runtime::ReplyReceiver {
  public:
    explicit Receiver(std::function<void()> on_read) : on_read_(std::move(on_read)) {}
    void fill_slot(std::uint64_t /*slot*/, runtime::Reply&& /*reply*/) override {}
    void send_ready() override {}
    void read_again() override {
        ++reads_;
        on_read_();
    }
    [[nodiscard]] int reads() const { return reads_; }

  private:
    std::function<void()> on_read_;
    int reads_ = 0;
};

/// A participant that wants a turn at a given time.
class Deadline final : public runtime::TurnParticipant {
  public:
    void end_turn(Now now) override {
        if (due && *due <= now.monotonic) {
            due.reset();
            ++met;
        }
    }
    std::optional<Instant> next_deadline() override { return due; }

    std::optional<Instant> due;
    int met = 0;
};

TEST(Reactor, StepWaitsForNothingAndSaysWhenTheNextIsDue) {
    StillClock clock;
    runtime::PollingSeats no_seats(0);
    runtime::Reactor reactor(0, clock, no_seats);
    Deadline deadline;
    reactor.add_participant(deadline);
    EXPECT_EQ(reactor.step(), kNever);
    deadline.due = Instant{1'500};
    EXPECT_EQ(reactor.step(), Instant{1'500});
    reactor.wake_at(Instant{1'200});
    EXPECT_EQ(reactor.step(), kAtOnce) << "the wish came as an event";
    EXPECT_EQ(reactor.step(), Instant{1'200});
    clock.ms = 1'500;
    EXPECT_EQ(reactor.step(), kNever);
    EXPECT_EQ(deadline.met, 1);
}

// A connection rests because of a quota. When its rest is over, it serves an append that it received before: the participant in
// front of it writes that, and answers.
TEST(Reactor, AReplyToWorkThatAParticipantFoundLeavesInTheSameTurn) {
    class Sender final : public runtime::ReplyReceiver {
      public:
        void fill_slot(std::uint64_t /*slot*/, runtime::Reply&& /*reply*/) override {}
        void send_ready() override { ++sent; }
        void read_again() override {}
        int sent = 0;
    };
    struct Writer final : runtime::TurnParticipant {
        void end_turn(Now) override {
            if (std::exchange(is_staged, false)) {
                reactor->request_send(receiver);
            }
        }
        std::optional<Instant> next_deadline() override { return std::nullopt; }
        runtime::Reactor* reactor = nullptr;
        std::uint64_t receiver = 0;
        bool is_staged = false;
    };
    struct Rest final : runtime::TurnParticipant {
        void end_turn(Now now) override { writer->is_staged |= now.monotonic >= end && !std::exchange(is_over, true); }
        std::optional<Instant> next_deadline() override { return is_over ? std::nullopt : std::optional(end); }
        Writer* writer = nullptr;
        Instant end{1'500};
        bool is_over = false;
    };
    StillClock clock;
    runtime::PollingSeats no_seats(0);
    runtime::Reactor reactor(0, clock, no_seats);
    Sender sender;
    Writer writer;
    Rest rest;
    writer.reactor = &reactor;
    writer.receiver = reactor.add_receiver(sender);
    rest.writer = &writer;
    reactor.add_participant(writer);
    reactor.add_participant(rest);
    EXPECT_EQ(reactor.step(), Instant{1'500});
    clock.ms = 1'500;
    EXPECT_EQ(reactor.step(), kNever);
    EXPECT_EQ(sender.sent, 1);
    reactor.remove_receiver(writer.receiver);
}

/// A reactor on a thread of its own, by a clock that stands still until the test moves it.
class ReactorByMovableTime : public testing::Test {
  protected:
    ReactorByMovableTime() {
        EXPECT_TRUE(time_.move({.stands = true}, [] { return false; }));
        begin_ = time_.now().monotonic;
    }
    void run() {
        thread_ = std::thread([this] { reactor_.run(); });
        // Now it has joined the clock.
        std::promise<void> runs;
        reactor_.post([&runs] { runs.set_value(); });
        runs.get_future().wait();
    }
    /// Before the participants of a test end.
    void stop() {
        reactor_.stop();
        thread_.join();
    }
    MovableTime::Moved advance(std::int64_t duration_ms) {
        return time_.move({.advance_ms = duration_ms}, [] { return false; }).value();
    }

    MovableTime time_{real_schedule()};
    Instant begin_;
    runtime::PollingSeats no_seats_{0};
    runtime::Reactor reactor_{0, time_, no_seats_};
    std::thread thread_;
};

TEST_F(ReactorByMovableTime, RunsATurnAtEachDeadlineOfAMove) {
    class Every final : public runtime::TurnParticipant {
      public:
        explicit Every(Instant first) : next(first) {}
        void end_turn(Now now) override {
            if (next <= now.monotonic) {
                met.push_back(now.monotonic);
                next = now.monotonic + 400;
            }
        }
        std::optional<Instant> next_deadline() override { return next; }
        Instant next;
        std::vector<Instant> met;
    };
    Every every(begin_ + 400);
    reactor_.add_participant(every);
    run();
    const auto moved = advance(1'000);
    EXPECT_EQ(every.met, (std::vector{begin_ + 400, begin_ + 800}));
    stop();
    EXPECT_EQ(moved.ran.at("reactor"), 2);
}

TEST_F(ReactorByMovableTime, TimersForSocketsKeepTheMachinesTime) {
    std::promise<Instant> called;
    runtime::TurnTimer timer(reactor_);
    runtime::TurnTimer late(reactor_);
    bool is_late_called = false;
    timer.start(reactor_.machine_now() + 20, [&] { called.set_value(time_.machine_now()); });
    const Instant due = reactor_.machine_now() + 20;
    late.start(reactor_.machine_now() + 3'600'000, [&] { is_late_called = true; });
    run();
    EXPECT_GE(called.get_future().get(), due) << "although the clock stands still";
    advance(7'200'000);
    stop();
    EXPECT_FALSE(is_late_called);
}

TEST(TurnTimer, CallsOnceWhenItsReactorsClockHasComeThere) {
    StillClock clock;
    runtime::PollingSeats no_seats(0);
    runtime::Reactor reactor(0, clock, no_seats);
    runtime::TurnTimer timer(reactor);
    int calls = 0;
    timer.start(Instant{1'200}, [&] { FAIL() << "it was to call something else since"; });
    timer.start(Instant{1'500}, [&] { ++calls; });
    EXPECT_EQ(reactor.step(), Instant{1'500});
    clock.ms = 1'499;
    EXPECT_EQ(reactor.step(), Instant{1'500});
    EXPECT_EQ(calls, 0);
    clock.ms = 1'500;
    EXPECT_EQ(reactor.step(), kNever);
    (void)reactor.step();
    EXPECT_EQ(calls, 1);
}

TEST(TurnTimer, CanBeStartedAnewByWhatItCallsAndCancelled) {
    StillClock clock;
    runtime::PollingSeats no_seats(0);
    runtime::Reactor reactor(0, clock, no_seats);
    runtime::TurnTimer timer(reactor);
    int calls = 0;
    std::function<void()> again = [&] {
        ++calls;
        timer.start(Instant{clock.ms + 100}, again);
    };
    timer.start(Instant{clock.ms}, again);
    EXPECT_EQ(reactor.step(), Instant{1'100});
    clock.ms = 1'100;
    EXPECT_EQ(reactor.step(), Instant{1'200});
    EXPECT_EQ(calls, 2);
    timer.cancel();
    EXPECT_EQ(reactor.step(), kNever);
    clock.ms = 2'000;
    (void)reactor.step();
    EXPECT_EQ(calls, 2);
}

TEST(Reactor, StepServesWhatWasPostedInItsOrderAndNotWhatItPostsItselfForEver) {
    StillClock clock;
    runtime::PollingSeats no_seats(0);
    runtime::Reactor reactor(0, clock, no_seats);
    std::vector<int> served;
    reactor.post([&] { served.push_back(1); });
    reactor.post([&] { served.push_back(2); });
    EXPECT_EQ(reactor.step(), kAtOnce);
    EXPECT_EQ(served, (std::vector{1, 2}));
    int events = 0;
    std::function<void()> follow = [&] {
        ++events;
        reactor.post(follow);
    };
    reactor.post(follow);
    EXPECT_EQ(reactor.step(), kAtOnce);
    EXPECT_GT(events, 0);
    EXPECT_LT(events, 1'000);
}

TEST(Reactor, ReadsAgainWithoutAnEventWhereMoreIsExpected) {
    SystemClock clock;
    runtime::PollingSeats no_seats(0);
    runtime::Reactor reactor(0, clock, no_seats);
    Receiver receiver([&] { reactor.stop(); });
    reactor.request_read(reactor.add_receiver(receiver));
    reactor.run();  // Nothing else would end it.
    EXPECT_EQ(receiver.reads(), 1);
}

TEST(Reactor, AReceiverThatAlwaysExpectsMoreKeepsNobodyFromHisTurn) {
    constexpr int kEvents = 1000;
    SystemClock clock;
    runtime::PollingSeats no_seats(0);
    runtime::Reactor reactor(0, clock, no_seats);
    std::uint64_t id = 0;
    Receiver greedy([&] { reactor.request_read(id); });
    id = reactor.add_receiver(greedy);
    reactor.request_read(id);
    int events = 0;
    std::function<void()> follow = [&] { ++events < kEvents ? reactor.post(follow) : reactor.stop(); };
    reactor.post(follow);
    reactor.run();
    EXPECT_EQ(events, kEvents);
    EXPECT_GT(greedy.reads(), 0);
}

TEST(Reactor, ReadsNothingOfAReceiverThatHasLeft) {
    SystemClock clock;
    runtime::PollingSeats no_seats(0);
    runtime::Reactor reactor(0, clock, no_seats);
    Receiver gone([] {});
    const std::uint64_t id = reactor.add_receiver(gone);
    reactor.request_read(id);
    reactor.remove_receiver(id);
    reactor.post([&] { reactor.stop(); });
    reactor.run();
    EXPECT_EQ(gone.reads(), 0);
}

}  // namespace
}  // namespace partita::test
