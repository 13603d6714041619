#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace partita::runtime {

/// Decides whether an idle reactor looks for events for a moment before it sleeps.
///
/// Waking a thread on a sleeping processor takes 2 us on some machines, and 20 us or more on virtual ones. There the wake
/// dominates an exchange with a client that waits for each answer. So a reactor polls if its recent waits were short and its
/// clients are few: they send the next request soon after an answer.
///
/// If most waits are long, the reactor sleeps at once. It also sleeps at once with many clients: one of them is ready soon
/// anyway, and one turn then serves what arrived meanwhile instead of several turns. After a poll in vain the reactor sleeps at
/// once for a number of waits. That number doubles with each poll in vain and halves with each poll that found something. So
/// useless polling costs next to nothing (the client has no processor meanwhile, or takes a little longer).
///
/// A pure core; each reactor has its own.
class EventPolling {
  public:
    /// The longest poll. Clients need 20 to 40 us for the next step of an exchange, the wake of their own thread included.
    static constexpr std::int64_t kLongestPollNs = 50'000;
    /// A poll also ends after this many looks. A look takes half a microsecond; the limit is for a clock that does not move.
    static constexpr int kLooksMax = 1'000;
    /// A wait up to this long counts as short. It exceeds the longest poll, because a wait that slept includes the reactor's own
    /// wake.
    static constexpr std::int64_t kShortWaitNs = 75'000;
    /// Polling is worthwhile if most of the last waits were short. A reactor that occasionally gets two requests in a row
    /// therefore does not poll for a third.
    static constexpr std::size_t kWaitsRemembered = 8;
    static constexpr std::ptrdiff_t kShortWaitsNeeded = 5;
    /// Polling also requires that the last replies went to no more clients than this.
    static constexpr std::size_t kRepliesRemembered = 8;
    static constexpr std::size_t kClientsMax = 4;
    /// After a poll in vain, at least and at most this many waits sleep at once.
    static constexpr int kPauseWaitsMin = 8;
    static constexpr int kPauseWaitsMax = 1'024;

    enum class Wait : std::uint8_t {
        slept,
        /// A poll found the event.
        polled,
        polled_in_vain,
    };

    [[nodiscard]] bool is_worthwhile() const;
    /// Call this after each wait; `waited_ns` is the time until an event came.
    void note_wait(Wait wait, std::int64_t waited_ns);
    /// Call this whenever a client may be sent replies.
    void note_reply(std::uint64_t client);

  private:
    int pause_waits_ = kPauseWaitsMin;
    int waits_until_poll_ = 0;
    std::array<bool, kWaitsRemembered> was_short_{};
    std::size_t next_wait_ = 0;
    std::array<std::uint64_t, kRepliesRemembered> clients_{};
    std::size_t next_client_ = 0;
};

/// Limits how many reactors poll at once: processors that poll are not available to the clients. Thread-safe.
class PollingSeats {
  public:
    /// With 0 seats no reactor polls.
    explicit PollingSeats(std::size_t count) : free_(static_cast<std::ptrdiff_t>(count)) {}

    /// Takes a seat. False if all are taken; the reactor then does not wait for one.
    [[nodiscard]] bool take() {
        if (free_.fetch_sub(1, std::memory_order_relaxed) > 0) {
            return true;
        }
        free_.fetch_add(1, std::memory_order_relaxed);
        return false;
    }
    void give_back() { free_.fetch_add(1, std::memory_order_relaxed); }

  private:
    /// Alone in a cache line: reactors write it with each poll, and they all read the data beside it.
    alignas(64) std::atomic<std::ptrdiff_t> free_;
};

}  // namespace partita::runtime
