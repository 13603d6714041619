#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "broker/insight/findings/findings_board.h"
#include "protocol/mutex.h"

namespace partita::insight {

/// How an observer names itself to the board: its findings about one topic are complete in themselves.
[[nodiscard]] inline std::string findings_source(std::string_view observer, const TopicId& topic) {
    return std::string(observer) + "/" + topic.to_string();
}

/// The broker's one board of findings, shared by threads: observers say what holds, channels hear what changed.
///
/// Every event is also told in the log: opened and updated as a warning (information for severity info), closed as
/// information. Of one hazard, topic and kind of event the first `kLogLinesMax` of a settle have a line of their own, the rest
/// one line together; events of severity info have one line together whenever they are several.
class FindingsHub {
  public:
    using Subscriber = std::function<void(const FindingEvent&)>;
    using SubscriptionId = std::uint64_t;
    static constexpr std::size_t kLogLinesMax = 10;

    /// Calls `subscriber` for every event from now on, in order, one at a time, on the thread of the observer that
    /// caused it. It must not block, and not call the hub; a channel that is slow keeps a bounded queue of its own.
    [[nodiscard]] SubscriptionId subscribe(Subscriber subscriber);
    /// The same, and hands out what is open at that moment: no event lies between the two.
    [[nodiscard]] SubscriptionId subscribe(Subscriber subscriber, std::vector<OpenFinding>& open);
    /// After it returned the subscriber is not called any more.
    void unsubscribe(SubscriptionId subscription);

    /// See FindingsBoard::settle. From any thread but a subscriber's call.
    void settle(std::string_view source, std::span<const Finding> current, TimestampMs now);

    /// Everything open, the worst first.
    [[nodiscard]] std::vector<OpenFinding> open() const;
    [[nodiscard]] std::size_t refused() const;

  private:
    static void log_events(std::span<const FindingEvent> events);

    mutable Mutex mutex_{LockRank::findings_hub};
    FindingsBoard board_ GUARDED_BY(mutex_);
    std::map<SubscriptionId, Subscriber> subscribers_ GUARDED_BY(mutex_);
    SubscriptionId last_subscription_ GUARDED_BY(mutex_) = 0;
};

}  // namespace partita::insight
