#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string_view>
#include <utility>

#include "protocol/types.h"

namespace partita::net {

/// Where clients of one reactor wait until it is known who they are: from the moment in which the connection was accepted to the
/// end of the TLS handshake, and of the login where there is one. Who may ask for nothing yet is to cost little: there is a limit
/// to how many wait, and to how long.
///
/// A pure core: time comes in as a value. One thread calls it.
class Anteroom {
  public:
    struct Limits {
        /// partita.authentication.waiting.max: when one more comes, the one that came first has to go. Whoever means it is known
        /// by then, and who only holds the place does not keep others out.
        std::size_t waiting_max = 1024;
        /// partita.authentication.time.max.ms
        std::int64_t time_ms_max = 30'000;
    };

    /// A client that waits. It stays where it is in memory until it has left.
    class Guest {
      public:
        virtual ~Guest() = default;
        /// The client is not let in. The guest ends its connection with this reason for the log, and leaves before this returns.
        virtual void turn_away(std::string_view reason) = 0;
    };

    /// Which guest it is: when it came, and a number among those of that moment.
    struct Place {
        Instant came{};
        std::uint64_t number = 0;
        auto operator<=>(const Place&) const = default;
    };

    explicit Anteroom(const Limits& limits) : limits_(limits) {}

    /// `came` is when the client connected: one that goes on with its login after the handshake has no more time for it.
    [[nodiscard]] Place enter(Guest& guest, Instant came);
    /// The client is known, or its connection has ended. Without effect when it has left before.
    void leave(const Place& place) { waiting_.erase(place); }

    void turn_away_overdue(Instant now);
    /// When `turn_away_overdue` has something to do.
    [[nodiscard]] std::optional<Instant> next_deadline() const;
    [[nodiscard]] std::size_t count() const { return waiting_.size(); }

  private:
    const Limits limits_;
    std::uint64_t next_number_ = 0;
    std::map<Place, Guest*> waiting_;
};

}  // namespace partita::net
