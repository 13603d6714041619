#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <thread>

namespace partita::test {

/// A well-behaved client beside hostile ones. It keeps producing and fetching back what it produced. It notes when the broker
/// refused it, returned something else than it wrote, or kept it waiting.
class GoodNeighbour {
  public:
    using Time = std::function<std::chrono::milliseconds()>;

    /// Creates `topic` with one partition. `time` measures the rounds.
    GoodNeighbour(std::uint16_t port, std::string topic, Time time = steady_time);
    ~GoodNeighbour();
    GoodNeighbour(const GoodNeighbour&) = delete;
    GoodNeighbour& operator=(const GoodNeighbour&) = delete;

    /// Stops, and fails the test when anything went wrong or no round was made.
    void finish();
    [[nodiscard]] std::int64_t rounds() const { return rounds_.load(); }
    [[nodiscard]] std::chrono::milliseconds slowest_round() const { return slowest_; }

  private:
    static std::chrono::milliseconds steady_time();
    void run();
    [[nodiscard]] std::string round(class WireClient& client, std::int64_t number);

    const std::uint16_t port_;
    const std::string topic_;
    const Time time_;
    std::atomic<bool> stopping_ = false;
    std::atomic<bool> has_failed_ = false;
    std::atomic<std::int64_t> rounds_ = 0;
    std::chrono::milliseconds slowest_{0};
    std::string failure_;
    std::thread thread_;
};

}  // namespace partita::test
