#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "broker/insight/findings/findings_board.h"
#include "protocol/mutex.h"

namespace partita::insight {

/// The source name under which an observer settles one topic. Each settle replaces all its findings about that topic.
[[nodiscard]] inline std::string findings_source(std::string_view observer, const TopicId& topic) {
    return std::string(observer) + "/" + topic.to_string();
}

/// The broker's only board of findings, shared by threads: observers say what holds, channels hear what changed.
///
/// The hub also logs every event: opened and updated as a warning (information for severity info), closed as information.
/// Within one `settle`, the first `kLogLinesMax` events of the same hazard, topic and kind have a line each. The rest share one
/// line. Events of severity info share one line if there are several.
class FindingsHub {
  public:
    using Subscriber = std::function<void(const FindingEvent&)>;
    using SubscriptionId = std::uint64_t;
    static constexpr std::size_t kLogLinesMax = 10;

    /// Calls `subscriber` for every event from now on, in order, one at a time, on the thread of the observer that caused it. The
    /// subscriber must not block and must not call the hub. A slow channel keeps a bounded queue of its own.
    [[nodiscard]] SubscriptionId subscribe(Subscriber subscriber);
    /// The same, and also returns what is open at that moment: no event lies between the two.
    [[nodiscard]] SubscriptionId subscribe(Subscriber subscriber, std::vector<OpenFinding>& open);
    /// After it returns, the hub does not call the subscriber any more.
    void unsubscribe(SubscriptionId subscription);

    /// See FindingsBoard::settle. Callable from any thread, but not from within a subscriber.
    void settle(std::string_view source, std::span<const Finding> current, TimestampMs now);
    /// See FindingsBoard::mark_seen.
    std::size_t mark_seen(FunctionRef<bool(const OpenFinding&)> which, TimestampMs now);
    /// See FindingsBoard::restore.
    void restore(PastFindings past, TimestampMs now);
    /// See FindingsBoard::forget. Afterwards it calls `when_forgotten`, if that was set.
    std::size_t forget(TimestampMs now);
    /// Set this before threads share the hub. The call runs with the hub's lock held: it must not call the hub.
    void set_when_forgotten(std::function<void()> call) { when_forgotten_ = std::move(call); }

    /// All open findings, the worst first.
    [[nodiscard]] std::vector<OpenFinding> open() const;
    /// The findings that are over, the last one first.
    [[nodiscard]] std::vector<EndedFinding> ended() const;
    [[nodiscard]] std::size_t refused() const;

  private:
    /// Hands the board's new events to the log and to all subscribers. The lock is held meanwhile, so that all of them get the
    /// same order.
    void publish() REQUIRES(mutex_);
    static void log_events(std::span<const FindingEvent> events);

    mutable Mutex mutex_{LockRank::findings_hub};
    FindingsBoard board_ GUARDED_BY(mutex_);
    std::map<SubscriptionId, Subscriber> subscribers_ GUARDED_BY(mutex_);
    std::function<void()> when_forgotten_;
    SubscriptionId last_subscription_ GUARDED_BY(mutex_) = 0;
};

}  // namespace partita::insight
