#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace partita::runtime {

/// Whether a reactor that has nothing to do looks for events for a moment before it sleeps.
///
/// Waking a thread on a processor that sleeps takes 2 us on some machines and 20 or more on virtual ones, where an exchange with
/// a client that waits for each answer is mostly that. So a reactor polls whose waits have been short of late and whose clients
/// are few: they send the next request soon after an answer. Where most waits are long it sleeps at once. With many clients it
/// sleeps, too: one of them is ready soon anyway, and what comes meanwhile is served by one turn instead of several. A poll in
/// vain makes it sleep at once for a number of waits, which doubles with each and halves with each poll that found something:
/// where nothing comes of polling (the client has no processor meanwhile, or takes a little longer), it costs next to nothing.
///
/// A pure core; each reactor has its own.
class EventPolling {
  public:
    /// The longest poll. Clients need 20 to 40 us for the next step of an exchange, the wake of their own thread included.
    static constexpr std::int64_t kLongestPollNs = 50'000;
    /// A poll ends after so many looks, too. One takes half a microsecond; this is for a clock that does not move.
    static constexpr int kLooksMax = 1'000;
    /// Up to here a wait was short. More than a poll, since a wait that slept has the reactor's own wake in it.
    static constexpr std::int64_t kShortWaitNs = 75'000;
    /// Polling is worth while when most of the last waits were short: a reactor that is asked now and then, by two requests that
    /// follow each other, does not poll for the one behind them.
    static constexpr std::size_t kWaitsRemembered = 8;
    static constexpr std::ptrdiff_t kShortWaitsNeeded = 5;
    /// And when no more clients than this were sent the last replies.
    static constexpr std::size_t kRepliesRemembered = 8;
    static constexpr std::size_t kClientsMax = 4;
    /// After a poll in vain so many waits sleep at once, at least and at most.
    static constexpr int kPauseWaitsMin = 8;
    static constexpr int kPauseWaitsMax = 1'024;

    enum class Wait : std::uint8_t {
        slept,
        /// A poll found the event.
        polled,
        polled_in_vain,
    };

    [[nodiscard]] bool is_worthwhile() const;
    /// To be told of each wait, and how long it took until there was an event.
    void note_wait(Wait wait, std::int64_t waited_ns);
    /// To be told when a client may be sent replies.
    void note_reply(std::uint64_t client);

  private:
    int pause_waits_ = kPauseWaitsMin;
    int waits_until_poll_ = 0;
    std::array<bool, kWaitsRemembered> was_short_{};
    std::size_t next_wait_ = 0;
    std::array<std::uint64_t, kRepliesRemembered> clients_{};
    std::size_t next_client_ = 0;
};

/// How many reactors may poll at once: the processors that they use meanwhile are not there for their clients. Thread-safe.
class PollingSeats {
  public:
    /// Without any nobody polls.
    explicit PollingSeats(std::size_t count) : free_(static_cast<std::ptrdiff_t>(count)) {}

    /// False when all are taken, which is no reason to wait for one.
    [[nodiscard]] bool take() {
        if (free_.fetch_sub(1, std::memory_order_relaxed) > 0) {
            return true;
        }
        free_.fetch_add(1, std::memory_order_relaxed);
        return false;
    }
    void give_back() { free_.fetch_add(1, std::memory_order_relaxed); }

  private:
    /// By itself in a cache line: reactors write it with each poll, and whatever lies beside it is read by all of them.
    alignas(64) std::atomic<std::ptrdiff_t> free_;
};

}  // namespace partita::runtime
