#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "broker/runtime/clients/error_ring.h"
#include "broker/runtime/clients/latency_histogram.h"
#include "broker/runtime/clients/principal_usages.h"
#include "protocol/api_keys.h"
#include "protocol/mutex.h"
#include "protocol/types.h"

namespace partita::runtime {

struct ClientConnection;
struct ReplyNotes;

/// What people ask when they look at how clients fare: requests by API with how long they took, the errors that were given out
/// lately, who had to wait because of a quota, and what each principal did. Thread-safe.
///
/// Counts are always kept, one addition for each request. Time is measured only while somebody looks (`watch`): otherwise a
/// request pays one load and one branch for it. Errors and waits are noted when there are any.
class RequestWatch {
  public:
    /// For how long a look has requests measured. Whoever looks on looks again before.
    static constexpr std::int64_t kWatchMs = 15'000;
    static constexpr std::size_t kThrottledMax = 100;

    /// One client that had to wait.
    struct Throttled {
        std::string client_id;
        std::string principal;
        std::string address;
        std::uint64_t times = 0;
        std::int64_t total_ms = 0;
        std::int64_t last_ms = 0;
        TimestampMs last;
    };
    struct ApiReport {
        const ApiInfo* api = nullptr;
        std::uint64_t requests = 0;
        /// Replies with an error.
        std::uint64_t with_errors = 0;
        /// Of those that were measured; unset where there are none.
        struct Latency {
            std::uint64_t count = 0;
            std::int64_t p50_ns = 0;
            std::int64_t p95_ns = 0;
            std::int64_t p99_ns = 0;
            std::int64_t most_ns = 0;
        };
        std::optional<Latency> latency;
    };

    // For whoever serves requests

    void count(ApiKey api) { of(api).requests.fetch_add(1, std::memory_order_relaxed); }
    [[nodiscard]] bool is_watched(Instant now) const { return now.value < watched_until_ms_.load(std::memory_order_relaxed); }
    /// A reply with notes goes to the client. `now_ns`: of the stopwatch by which its time was measured.
    void note(const ReplyNotes& notes, const ClientConnection& client, std::string_view client_id, TimestampMs now,
              std::int64_t now_ns);
    /// A connection is closed because of what came over it.
    void note_closed(const ClientConnection& client, std::string_view reason, TimestampMs now);
    void note_throttled(const ClientConnection& client, std::string_view client_id, std::int64_t duration_ms, TimestampMs now);

    /// For whoever has checked who a client is: the principal that its session gets, by which its requests are counted.
    [[nodiscard]] access::PrincipalPointer counted(const access::Principal& proven) EXCLUDES(mutex_);

    // For whoever looks

    /// Requests are measured from now on, for `kWatchMs`. What was measured before an earlier look ended is forgotten.
    void watch(Now now) EXCLUDES(mutex_);
    /// Since when what was measured is complete.
    [[nodiscard]] TimestampMs watched_since() const { return {watched_since_ms_.load(std::memory_order_relaxed)}; }
    /// APIs of which there were requests, ascending by key.
    [[nodiscard]] std::vector<ApiReport> reports() const;
    [[nodiscard]] std::uint64_t requests() const;
    [[nodiscard]] ErrorRing errors() const;
    /// Those that waited last come last.
    [[nodiscard]] std::deque<Throttled> throttled() const;
    [[nodiscard]] std::vector<PrincipalUsages::Report> principals() const;

  private:
    static constexpr std::size_t kApis = 128;
    struct Api {
        std::atomic<std::uint64_t> requests = 0;
        std::atomic<std::uint64_t> with_errors = 0;
    };
    using Latencies = std::array<LatencyHistogram, kApis>;
    [[nodiscard]] Api& of(ApiKey api) { return apis_[static_cast<std::size_t>(api) % kApis]; }

    std::array<Api, kApis> apis_;
    /// Made by the first look, and there to the end.
    std::unique_ptr<Latencies> own_latencies_ GUARDED_BY(mutex_);
    std::atomic<Latencies*> latencies_ = nullptr;
    std::atomic<std::int64_t> watched_until_ms_ = 0;
    std::atomic<std::int64_t> watched_since_ms_ = 0;
    /// Nobody who holds it takes another lock, nor has that of ClientThrottles: the two share a rank.
    mutable Mutex mutex_{LockRank::request_watch};
    ErrorRing errors_ GUARDED_BY(mutex_);
    std::deque<Throttled> throttled_ GUARDED_BY(mutex_);
    PrincipalUsages principals_ GUARDED_BY(mutex_);
};

}  // namespace partita::runtime
