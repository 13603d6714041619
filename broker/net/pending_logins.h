#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string_view>
#include <utility>

#include "protocol/types.h"

namespace partita::net {

/// The clients of one reactor that are not authenticated yet. They wait here from the accept to the end of the TLS handshake, and
/// of the login if there is one. Clients that may not send requests yet must cost little: their number and their waiting time are
/// limited.
///
/// A pure core: time comes in as a value. One thread calls it.
class PendingLogins {
  public:
    struct Limits {
        /// partita.authentication.waiting.max. A further client displaces the one that came first. An honest client is
        /// authenticated by then, and a client that only occupies its place cannot keep others out.
        std::size_t waiting_max = 1024;
        /// partita.authentication.time.max.ms
        std::int64_t time_ms_max = 30'000;
    };

    /// A waiting client. It must not move in memory until it has left.
    class Waiter {
      public:
        virtual ~Waiter() = default;
        /// Refuses the client. The waiter ends its connection with this reason for the log, and leaves before this returns.
        virtual void turn_away(std::string_view reason) = 0;
    };

    /// The identity of a waiter: its time of arrival, and a number that tells waiters of the same moment apart.
    struct Place {
        Instant came{};
        std::uint64_t number = 0;
        auto operator<=>(const Place&) const = default;
    };

    explicit PendingLogins(const Limits& limits) : limits_(limits) {}

    /// `came` is the time at which the client connected. A client that continues with its login after the handshake gets no
    /// additional time.
    [[nodiscard]] Place enter(Waiter& waiter, Instant came);
    /// The client is authenticated, or its connection has ended. No effect if it has already left.
    void leave(const Place& place) { waiting_.erase(place); }

    void turn_away_overdue(Instant now);
    /// The next time at which `turn_away_overdue` has work to do.
    [[nodiscard]] std::optional<Instant> next_deadline() const;
    [[nodiscard]] std::size_t count() const { return waiting_.size(); }

  private:
    const Limits limits_;
    std::uint64_t next_number_ = 0;
    std::map<Place, Waiter*> waiting_;
};

}  // namespace partita::net
