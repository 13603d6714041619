#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "tests/histories/oracle.h"
#include "tests/support/broker_process.h"

/// A broker on which histories are played, with a clock that tells when the broker has thought about everything.
namespace partita::test::histories {

/// Tells when the broker's findings cover everything that it was sent. One thread settles findings about producers, and another
/// those about readers, about once in a second. Each thread goes through all topics in turn. A finding of either kind changes all
/// the time on the clock's own topic, which tells when both threads have gone through everything.
class SettleClock {
  public:
    /// The broker outlives it.
    explicit SettleClock(const BrokerProcess& broker, const std::string& topic);
    ~SettleClock();
    SettleClock(const SettleClock&) = delete;
    SettleClock& operator=(const SettleClock&) = delete;

    /// Waits until the findings cover everything that the broker was sent before the call. False when that takes too long; then
    /// `problem` says why. Thread-safe.
    [[nodiscard]] bool wait();
    [[nodiscard]] std::string problem() const;

  private:
    void run();
    [[nodiscard]] bool prepare();
    [[nodiscard]] bool tick();
    [[nodiscard]] bool send_key();
    void fail(const std::string& problem);

    const BrokerProcess& broker_;
    const std::string topic_;
    std::unique_ptr<class ClockClient> client_;
    int commits_ = 0;
    int keys_ = 0;
    std::int64_t keys_told_ = 0;

    mutable std::mutex mutex_;
    std::condition_variable changed_;
    // Guarded by mutex_. Each tick begins when something is sent to both observers, and is complete when both have told it. A
    // round under way when the first tick after a call began may already have passed a topic. When the second tick is complete, a
    // whole round lies in between.
    std::int64_t begun_ = 0;
    std::int64_t completed_ = 0;
    bool stopping_ = false;
    std::string problem_;
    std::thread thread_;
};

class Stage {
  public:
    /// Null when the broker does not start; the test has failed then.
    [[nodiscard]] static std::unique_ptr<Stage> open();

    [[nodiscard]] std::uint16_t port() const { return broker_->port(); }
    [[nodiscard]] SettleClock& clock() { return *clock_; }
    /// Stops the broker, or kills it, and starts it again. No other player may use the stage meanwhile.
    [[nodiscard]] bool restart(bool kill);

    /// The broker's findings about the topic now; nothing when it does not answer.
    [[nodiscard]] std::optional<std::vector<Told>> findings(const std::string& topic) const;
    /// The open harm of the topic, "H06 {subject}", that opened at least this long ago; nothing when the broker does not answer.
    [[nodiscard]] std::optional<std::set<std::string>> harm(const std::string& topic, std::chrono::milliseconds age) const;
    /// Records with keys that the broker has looked at, of all producers of the topic; -1 when it does not answer.
    [[nodiscard]] std::int64_t keyed_records_seen(const std::string& topic) const;

  private:
    Stage() = default;
    [[nodiscard]] bool start();

    TemporaryDirectory directory_;
    std::unique_ptr<BrokerProcess> broker_;
    std::unique_ptr<SettleClock> clock_;
    int starts_ = 0;
};

}  // namespace partita::test::histories
