#include "broker/net/pending_logins.h"

#include <string>

namespace partita::net {

PendingLogins::Place PendingLogins::enter(Waiter& waiter, Instant came) {
    while (waiting_.size() >= limits_.waiting_max) {
        waiting_.begin()->second->turn_away(
            "more than partita.authentication.waiting.max clients wait for their login, and this one is the oldest");
    }
    const Place place{.came = came, .number = next_number_++};
    waiting_.emplace(place, &waiter);
    return place;
}

void PendingLogins::turn_away_overdue(Instant now) {
    while (!waiting_.empty() && now - waiting_.begin()->first.came >= limits_.time_ms_max) {
        waiting_.begin()->second->turn_away("the TLS handshake and login took longer than " +
                                            std::to_string(limits_.time_ms_max) + " ms (partita.authentication.time.max.ms)");
    }
}

std::optional<Instant> PendingLogins::next_deadline() const {
    return waiting_.empty() ? std::nullopt : std::optional(waiting_.begin()->first.came + limits_.time_ms_max);
}

}  // namespace partita::net
