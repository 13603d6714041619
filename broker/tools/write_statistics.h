#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "broker/tools/measurement.h"

namespace partita::tools {

/// The numbers of kafka-producer-perf-test: how many records, how fast, and how long each took. It keeps the latency of at most a
/// million records.
class WriteStatistics {
  public:
    /// `is_steady`: of the records behind a warm-up.
    WriteStatistics(std::int64_t records, std::int64_t interval_ms, bool is_steady, std::int64_t now_ms)
        : start_ms_(now_ms), sampling_(records / std::min(records, kSamples)), interval_ms_(interval_ms), is_steady_(is_steady) {
        window_.start_ms = now_ms;
        latencies_.reserve(static_cast<std::size_t>(records / sampling_ + 1));
    }

    /// A record was stored. Returns the lines to print: empty, or those of an interval that ends.
    [[nodiscard]] std::string add(std::int64_t latency_ms, std::int64_t bytes, std::int64_t now_ms) {
        if (count_ % sampling_ == 0) {
            latencies_.push_back(static_cast<std::int32_t>(latency_ms));
        }
        ++count_;
        bytes_ += bytes;
        latency_sum_ms_ += latency_ms;
        latency_max_ms_ = std::max(latency_max_ms_, latency_ms);
        ++window_.count;
        window_.bytes += bytes;
        window_.latency_sum_ms += latency_ms;
        window_.latency_max_ms = std::max(window_.latency_max_ms, latency_ms);
        if (now_ms - window_.start_ms < interval_ms_) {
            return {};
        }
        std::string text = is_steady_ && count_ == window_.count ? "In steady state.\n" : "";
        text += is_silent_ ? "" : window_text(now_ms);
        window_ = {.start_ms = now_ms};
        return text;
    }

    /// From now on intervals have no lines.
    void be_silent() { is_silent_ = true; }

    [[nodiscard]] std::int64_t count() const { return count_; }
    [[nodiscard]] std::int64_t bytes() const { return bytes_; }
    [[nodiscard]] double seconds(std::int64_t now_ms) const { return static_cast<double>(now_ms - start_ms_) / 1000.0; }

    [[nodiscard]] std::string total_text(std::int64_t now_ms) {
        std::ranges::sort(latencies_);
        const double elapsed_ms = static_cast<double>(now_ms - start_ms_);
        return std::to_string(count_) + (is_steady_ ? " steady state" : "") + " records sent, " +
               decimal(1000.0 * static_cast<double>(count_) / elapsed_ms, 6) + " records/sec (" +
               decimal(1000.0 * static_cast<double>(bytes_) / elapsed_ms / kMegabyte, 2) + " MB/sec), " +
               decimal(static_cast<double>(latency_sum_ms_) / static_cast<double>(count_), 2) + " ms avg latency, " +
               decimal(static_cast<double>(latency_max_ms_), 2) + " ms max latency, " + percentile(0.5) + " ms 50th, " +
               percentile(0.95) + " ms 95th, " + percentile(0.99) + " ms 99th, " + percentile(0.999) + " ms 99.9th.\n";
    }

  private:
    static constexpr std::int64_t kSamples = 500'000;
    static constexpr double kMegabyte = 1024.0 * 1024.0;

    struct Window {
        std::int64_t start_ms = 0;
        std::int64_t count = 0;
        std::int64_t bytes = 0;
        std::int64_t latency_sum_ms = 0;
        std::int64_t latency_max_ms = 0;
    };

    [[nodiscard]] std::string window_text(std::int64_t now_ms) const {
        const double elapsed_ms = static_cast<double>(now_ms - window_.start_ms);
        const auto count = static_cast<double>(window_.count);
        return std::to_string(window_.count) + " records sent, " + decimal(1000.0 * count / elapsed_ms, 1) + " records/sec (" +
               decimal(1000.0 * static_cast<double>(window_.bytes) / elapsed_ms / kMegabyte, 2) + " MB/sec), " +
               decimal(static_cast<double>(window_.latency_sum_ms) / count, 1) + " ms avg latency, " +
               decimal(static_cast<double>(window_.latency_max_ms), 1) + " ms max latency.\n";
    }

    /// The latencies are sorted.
    [[nodiscard]] std::string percentile(double part) const {
        const auto at = static_cast<std::size_t>(part * static_cast<double>(latencies_.size()));
        return std::to_string(at < latencies_.size() ? latencies_[at] : 0);
    }

    std::int64_t start_ms_;
    /// It keeps the latency of each record whose number is a multiple of this.
    std::int64_t sampling_;
    std::int64_t interval_ms_;
    bool is_steady_;
    bool is_silent_ = false;
    std::int64_t count_ = 0;
    std::int64_t bytes_ = 0;
    std::int64_t latency_sum_ms_ = 0;
    std::int64_t latency_max_ms_ = 0;
    Window window_;
    std::vector<std::int32_t> latencies_;
};

}  // namespace partita::tools
