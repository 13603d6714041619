#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace partita::runtime {

/// A histogram of durations with four buckets per doubling of time: a percentile is at most a quarter too high. Any thread may
/// add and look.
class LatencyHistogram {
  public:
    static constexpr std::size_t kBucketsOfDoubling = 4;
    /// Buckets reach 2^38 ns, more than four minutes; longer times count as that.
    static constexpr std::size_t kBuckets = 38 * kBucketsOfDoubling;

    void add(std::int64_t duration_ns) {
        buckets_[bucket_of(duration_ns)].fetch_add(1, std::memory_order_relaxed);
        std::int64_t most = most_ns_.load(std::memory_order_relaxed);
        while (duration_ns > most && !most_ns_.compare_exchange_weak(most, duration_ns, std::memory_order_relaxed)) {
        }
    }
    void clear() {
        for (auto& bucket : buckets_) {
            bucket.store(0, std::memory_order_relaxed);
        }
        most_ns_.store(0, std::memory_order_relaxed);
    }
    [[nodiscard]] std::uint64_t count() const {
        std::uint64_t sum = 0;
        for (const auto& bucket : buckets_) {
            sum += bucket.load(std::memory_order_relaxed);
        }
        return sum;
    }
    [[nodiscard]] std::int64_t most_ns() const { return most_ns_.load(std::memory_order_relaxed); }
    /// The time within which `percent` percent finished; 0 if nothing was measured.
    [[nodiscard]] std::int64_t percentile_ns(double percent) const {
        const std::uint64_t all = count();
        std::uint64_t seen = 0;
        for (std::size_t bucket = 0; bucket < kBuckets && all > 0; ++bucket) {
            seen += buckets_[bucket].load(std::memory_order_relaxed);
            if (static_cast<double>(seen) * 100.0 >= percent * static_cast<double>(all)) {
                return bucket == kBuckets - 1 ? most_ns() : std::min(end_of(bucket), most_ns());
            }
        }
        return most_ns();
    }

  private:
    [[nodiscard]] static std::size_t bucket_of(std::int64_t duration_ns) {
        if (duration_ns < static_cast<std::int64_t>(kBucketsOfDoubling)) {
            return duration_ns < 0 ? 0 : static_cast<std::size_t>(duration_ns);
        }
        const auto value = static_cast<std::uint64_t>(duration_ns);
        const auto doubling = static_cast<std::size_t>(std::bit_width(value)) - 1;
        const std::size_t quarter = (value >> (doubling - 2)) & 3;
        return std::min(kBuckets - 1, (doubling - 1) * kBucketsOfDoubling + quarter);
    }
    /// The longest time that falls into the bucket.
    [[nodiscard]] static std::int64_t end_of(std::size_t bucket) {
        if (bucket < kBucketsOfDoubling) {
            return static_cast<std::int64_t>(bucket);
        }
        const std::size_t doubling = bucket / kBucketsOfDoubling + 1;
        const std::uint64_t quarter = bucket % kBucketsOfDoubling;
        return static_cast<std::int64_t>(((4 + quarter + 1) << (doubling - 2)) - 1);
    }

    std::array<std::atomic<std::uint32_t>, kBuckets> buckets_{};
    std::atomic<std::int64_t> most_ns_ = 0;
};

}  // namespace partita::runtime
