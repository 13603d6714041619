#pragma once

#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "tests/histories/oracle.h"
#include "tests/support/broker_process.h"

/// A broker on which histories are played, and what tells when it has thought about everything.
namespace partita::test::histories {

/// Findings are settled about once in a second, by one thread for what producers send and by another for what readers ask, each
/// of which goes through all topics in turn. A topic of its own, on which a finding of either kind changes all the time, tells
/// when both have gone through everything.
class SettleClock {
  public:
    /// The broker outlives it.
    explicit SettleClock(const BrokerProcess& broker, const std::string& topic);
    ~SettleClock();
    SettleClock(const SettleClock&) = delete;
    SettleClock& operator=(const SettleClock&) = delete;

    /// Waits until whatever the broker had been sent before the call is in its findings. False when that takes too long; then
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
    // Guarded by mutex_. Each tick begins with something sent to either observer, and is completed when both have told it. A
    // round that was under way when the first tick after a call began may have passed a topic already; when the second one is
    // completed, a whole round lies in between.
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
    /// Stops the broker, or kills it, and starts it again. Nobody else may use the stage meanwhile.
    [[nodiscard]] bool restart(bool kill);

    /// The broker's findings about the topic now; nothing when it does not answer.
    [[nodiscard]] std::optional<std::vector<Told>> findings(const std::string& topic) const;
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
