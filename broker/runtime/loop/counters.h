#pragma once

#include <atomic>
#include <cstdint>

namespace partita::runtime {

/// The request counters of /metrics, apart from the number of requests (RequestWatch). The code that serves a request adds to
/// them, from any thread.
struct Counters {
    std::atomic<std::uint64_t> produced_bytes = 0;
    std::atomic<std::uint64_t> produced_records = 0;
    std::atomic<std::uint64_t> fetched_bytes = 0;
    std::atomic<std::uint64_t> failed_produces = 0;
    std::atomic<std::uint64_t> failed_fetches = 0;
    std::atomic<std::uint64_t> closed_for_bad_input = 0;
    /// Clients whose identity became known: by a login, or by a TLS handshake if there is no login. A session that logs in again
    /// counts as the same client.
    std::atomic<std::uint64_t> successful_authentications = 0;
    std::atomic<std::uint64_t> failed_authentications = 0;
};

}  // namespace partita::runtime
