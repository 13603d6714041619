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

/// Collects facts about how clients fare. These are requests by API with their latencies, recent errors, clients that waited
/// because of a quota, and what each principal did. Thread-safe.
///
/// Counts are always kept, at one addition per request. Times are measured only while a viewer watches (`watch`); otherwise a
/// request pays one load and one branch. Errors and waits are noted as they occur.
class RequestWatch {
  public:
    /// How long a call of `watch` keeps the measuring on. Viewers call it again before that.
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
        /// The latencies of measured requests; unset if there are none.
        struct Latency {
            std::uint64_t count = 0;
            std::int64_t p50_ns = 0;
            std::int64_t p95_ns = 0;
            std::int64_t p99_ns = 0;
            std::int64_t most_ns = 0;
        };
        std::optional<Latency> latency;
    };

    // For code that serves requests

    void count(ApiKey api) { of(api).requests.fetch_add(1, std::memory_order_relaxed); }
    [[nodiscard]] bool is_watched(Instant now) const { return now.value < watched_until_ms_.load(std::memory_order_relaxed); }
    /// Notes that a reply with notes goes to the client. `now_ns` is read from the stopwatch that measured its time.
    void note(const ReplyNotes& notes, const ClientConnection& client, std::string_view client_id, TimestampMs now,
              std::int64_t now_ns);
    /// Notes that the broker closes a connection because of its input.
    void note_closed(const ClientConnection& client, std::string_view reason, TimestampMs now);
    void note_throttled(const ClientConnection& client, std::string_view client_id, std::int64_t duration_ms, TimestampMs now);

    /// For code that has checked a client's identity: returns the principal for the session, which counts its requests.
    [[nodiscard]] access::PrincipalPointer counted(const access::Principal& proven) EXCLUDES(mutex_);

    // For viewers

    /// Measures requests from now on, for `kWatchMs`. Discards what was measured if the previous watch has ended.
    void watch(Now now) EXCLUDES(mutex_);
    /// The time from which on the measurements are complete.
    [[nodiscard]] TimestampMs watched_since() const { return {watched_since_ms_.load(std::memory_order_relaxed)}; }
    /// APIs that received requests, ascending by key.
    [[nodiscard]] std::vector<ApiReport> reports() const;
    [[nodiscard]] std::uint64_t requests() const;
    [[nodiscard]] ErrorRing errors() const;
    /// The clients that waited most recently come last.
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
    /// The first watch creates it; it then stays to the end.
    std::unique_ptr<Latencies> own_latencies_ GUARDED_BY(mutex_);
    std::atomic<Latencies*> latencies_ = nullptr;
    std::atomic<std::int64_t> watched_until_ms_ = 0;
    std::atomic<std::int64_t> watched_since_ms_ = 0;
    /// A thread that holds this mutex takes no other lock, and does not hold that of ClientThrottles: the two share a rank.
    mutable Mutex mutex_{LockRank::request_watch};
    ErrorRing errors_ GUARDED_BY(mutex_);
    std::deque<Throttled> throttled_ GUARDED_BY(mutex_);
    PrincipalUsages principals_ GUARDED_BY(mutex_);
};

}  // namespace partita::runtime
