#pragma once

#include <atomic>
#include <cstdint>

namespace partita::runtime {

/// What /metrics counts about requests, beside their number (RequestWatch). Whoever serves a request adds to the counters, from
/// any thread.
struct Counters {
    std::atomic<std::uint64_t> produced_bytes = 0;
    std::atomic<std::uint64_t> produced_records = 0;
    std::atomic<std::uint64_t> fetched_bytes = 0;
    std::atomic<std::uint64_t> failed_produces = 0;
    std::atomic<std::uint64_t> failed_fetches = 0;
    std::atomic<std::uint64_t> closed_for_bad_input = 0;
    /// Clients that are known since a login, or since a TLS handshake where there is no login; a session that logs in again is
    /// the same client.
    std::atomic<std::uint64_t> successful_authentications = 0;
    std::atomic<std::uint64_t> failed_authentications = 0;
};

}  // namespace partita::runtime
