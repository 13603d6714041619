// Tests when a reactor polls before it sleeps.

#include "broker/runtime/loop/event_polling.h"

#include <gtest/gtest.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <functional>
#include <vector>

#include "broker/runtime/loop/reactor.h"

namespace partita::test {
namespace {

using runtime::EventPolling;

using Wait = EventPolling::Wait;

constexpr std::int64_t kShort = EventPolling::kShortWaitNs;
constexpr std::int64_t kLong = EventPolling::kShortWaitNs + 1;

void note_waits(EventPolling& polling, std::size_t count, std::int64_t waited_ns) {
    for (std::size_t i = 0; i < count; ++i) {
        polling.note_wait(Wait::slept, waited_ns);
    }
}

TEST(EventPolling, IsWorthwhileWhenMostOfTheLastWaitsWereShort) {
    EventPolling polling;
    EXPECT_FALSE(polling.is_worthwhile()) << "nothing is known yet";
    note_waits(polling, EventPolling::kShortWaitsNeeded - 1, kShort);
    EXPECT_FALSE(polling.is_worthwhile());
    polling.note_wait(Wait::slept, kShort);
    EXPECT_TRUE(polling.is_worthwhile());
}

TEST(EventPolling, EndsWithWaitsThatAreLong) {
    EventPolling polling;
    note_waits(polling, 1'000, kShort);
    note_waits(polling, EventPolling::kWaitsRemembered - EventPolling::kShortWaitsNeeded, kLong);
    EXPECT_TRUE(polling.is_worthwhile()) << "as many short ones as are needed are left";
    polling.note_wait(Wait::slept, kLong);
    EXPECT_FALSE(polling.is_worthwhile());
    note_waits(polling, 1'000, kLong);
    note_waits(polling, EventPolling::kShortWaitsNeeded, kShort);
    EXPECT_TRUE(polling.is_worthwhile()) << "what was long before the last waits is forgotten";
}

TEST(EventPolling, IsNotWorthwhileWhereAShortWaitFollowsEachLongOne) {
    EventPolling polling;
    for (int i = 0; i < 100; ++i) {
        polling.note_wait(Wait::slept, kLong);
        EXPECT_FALSE(polling.is_worthwhile());
        polling.note_wait(Wait::slept, kShort);
        EXPECT_FALSE(polling.is_worthwhile());
    }
}

/// Returns after how many short waits it polls again.
int waits_until_poll(EventPolling& polling) {
    int waits = 0;
    while (!polling.is_worthwhile() && waits < 10 * EventPolling::kPauseWaitsMax) {
        polling.note_wait(Wait::slept, kShort);
        ++waits;
    }
    return waits;
}

TEST(EventPolling, PausesTheLongerTheMoreOftenItWasInVain) {
    EventPolling polling;
    (void)waits_until_poll(polling);
    for (int pause = EventPolling::kPauseWaitsMin; pause < EventPolling::kPauseWaitsMax; pause *= 2) {
        polling.note_wait(Wait::polled_in_vain, kShort);
        EXPECT_EQ(waits_until_poll(polling), pause);
    }
    for (int i = 0; i < 3; ++i) {
        polling.note_wait(Wait::polled_in_vain, kShort);
        EXPECT_EQ(waits_until_poll(polling), EventPolling::kPauseWaitsMax);
    }
    polling.note_wait(Wait::polled, kLong);
    EXPECT_TRUE(polling.is_worthwhile()) << "it found something";
    polling.note_wait(Wait::polled_in_vain, kShort);
    EXPECT_EQ(waits_until_poll(polling), EventPolling::kPauseWaitsMax / 2);
}

TEST(EventPolling, IsForFewClients) {
    EventPolling polling;
    note_waits(polling, EventPolling::kWaitsRemembered, kShort);
    for (std::size_t reply = 0; reply < 100; ++reply) {
        polling.note_reply(1 + reply % EventPolling::kClientsMax);
        EXPECT_TRUE(polling.is_worthwhile() || reply < EventPolling::kRepliesRemembered);
    }
    EXPECT_TRUE(polling.is_worthwhile());
    polling.note_reply(EventPolling::kClientsMax + 1);
    EXPECT_FALSE(polling.is_worthwhile()) << "one more than that";
    for (std::size_t reply = 0; reply < EventPolling::kRepliesRemembered; ++reply) {
        polling.note_reply(1);
    }
    EXPECT_TRUE(polling.is_worthwhile()) << "the others are silent since";
}

TEST(PollingSeats, AreTakenByNoMoreThanThereAre) {
    runtime::PollingSeats seats(2);
    EXPECT_TRUE(seats.take());
    EXPECT_TRUE(seats.take());
    EXPECT_FALSE(seats.take());
    EXPECT_FALSE(seats.take()) << "who was refused has taken none";
    seats.give_back();
    EXPECT_TRUE(seats.take());
    runtime::PollingSeats none(0);
    EXPECT_FALSE(none.take());
}

/// A clock that moves by a fixed step with each look at it.
class SteppingClock final : public Clock {
  public:
    explicit SteppingClock(std::int64_t step_ns) : step_ns_(step_ns) {}
    Now now() override { return {}; }
    std::int64_t stopwatch_ns() override {
        ++looks;
        return ns_ += step_ns_;
    }
    std::int64_t thread_processor_ns() override { return 0; }
    std::int64_t process_processor_ns() override { return 0; }
    void pass(std::int64_t ns) { ns_ += ns; }

    std::int64_t looks = 0;

  private:
    const std::int64_t step_ns_;
    std::int64_t ns_ = 0;
};

/// A client that only receives replies.
class Client final : public runtime::ReplyReceiver {
  public:
    void fill_slot(std::uint64_t /*slot*/, runtime::Reply&& /*reply*/) override {}
    void send_ready() override {}
    void read_again() override {}
};

struct Exchange {
    /// Time between one look at the clock and the next.
    std::int64_t clock_step_ns = 1'000;
    std::size_t seats = 1;
    std::size_t clients = 1;
    /// Time that serving one event takes.
    std::int64_t event_ns = 0;
};

struct Silence {
    std::int64_t looks = 0;
    std::int64_t polled_ns = 0;
};

/// Watches a reactor while nothing happens for a moment, after turns whose events followed each other at once.
Silence silence_after(const Exchange& exchange) {
    constexpr std::size_t kEvents = 5'000;  // Tens of turns.
    constexpr std::chrono::milliseconds kSilence{250};
    SteppingClock clock(exchange.clock_step_ns);
    runtime::PollingSeats seats(exchange.seats);
    runtime::Reactor reactor(0, clock, seats);
    std::vector<Client> clients(exchange.clients);
    std::vector<std::uint64_t> ids;
    for (Client& client : clients) {
        ids.push_back(reactor.add_receiver(client));
    }
    boost::asio::steady_timer end(reactor.context());
    Silence silence;
    std::size_t events = 0;
    std::function<void()> follow = [&] {
        clock.pass(exchange.event_ns);
        reactor.request_send(ids[events % ids.size()]);
        if (++events < kEvents) {
            return reactor.post(follow);
        }
        silence = {clock.looks, reactor.polled_ns()};
        end.expires_after(kSilence);
        end.async_wait([&](const boost::system::error_code&) { reactor.stop(); });
    };
    reactor.post(follow);
    reactor.run();
    EXPECT_TRUE(exchange.seats == 0 || seats.take()) << "a poll has kept its seat";
    return {clock.looks - silence.looks, reactor.polled_ns() - silence.polled_ns};
}

// Looks that do not belong to a poll: at the beginning and at the end of the wait.
constexpr std::int64_t kOtherLooks = 4;

TEST(Reactor, PollsForAMomentAndSleepsThen) {
    const Exchange exchange;
    const Silence silence = silence_after(exchange);
    EXPECT_EQ(silence.polled_ns, EventPolling::kLongestPollNs);
    EXPECT_LE(silence.looks, EventPolling::kLongestPollNs / exchange.clock_step_ns + kOtherLooks);
}

TEST(Reactor, PollsNoLongerThoughItsClockStandsStill) {
    const Silence silence = silence_after({.clock_step_ns = 0});
    EXPECT_GE(silence.looks, EventPolling::kLooksMax);
    EXPECT_LE(silence.looks, EventPolling::kLooksMax + kOtherLooks);
}

TEST(Reactor, TakesServingAnEventForNoWait) {
    EXPECT_EQ(silence_after({.event_ns = 10 * kLong}).polled_ns, EventPolling::kLongestPollNs);
}

TEST(Reactor, PollsForFewClientsOnly) {
    EXPECT_EQ(silence_after({.clients = EventPolling::kClientsMax}).polled_ns, EventPolling::kLongestPollNs);
    EXPECT_EQ(silence_after({.clients = EventPolling::kClientsMax + 1}).polled_ns, 0);
}

TEST(Reactor, SleepsAtOnceWithoutASeatAndAfterLongWaits) {
    const Silence without_seat = silence_after({.seats = 0});
    EXPECT_EQ(without_seat.polled_ns, 0);
    EXPECT_LE(without_seat.looks, kOtherLooks);
    const Silence after_long_waits = silence_after({.clock_step_ns = kLong});
    EXPECT_EQ(after_long_waits.polled_ns, 0);
    EXPECT_LE(after_long_waits.looks, kOtherLooks);
}

}  // namespace
}  // namespace partita::test
