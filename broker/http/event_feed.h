#pragma once

#include <atomic>
#include <cstddef>
#include <list>
#include <memory>
#include <string>
#include <vector>

#include "broker/runtime/findings/findings_hub.h"
#include "protocol/mutex.h"

namespace partita::http {

/// Somebody who wants events: a connection with a stream of lines, or a WebSocket.
class EventSink {
  public:
    virtual ~EventSink() = default;
    /// Takes a line without its end, or not: false when the client is gone, or so slow that a megabyte waits for it. Never
    /// blocks. From any thread.
    [[nodiscard]] virtual bool offer(const std::string& line) = 0;
    [[nodiscard]] virtual bool is_gone() const = 0;
    /// Nothing more will come.
    virtual void end() = 0;
};

/// Carries the events of findings to everybody who asked for them. A client that is too slow is let go, so that it can tell
/// a gap from silence.
class EventFeed {
  public:
    static constexpr std::size_t kSinksMax = 64;

    explicit EventFeed(runtime::FindingsHub& findings) : findings_(findings) {}
    ~EventFeed() { stop(); }
    EventFeed(const EventFeed&) = delete;
    EventFeed& operator=(const EventFeed&) = delete;

    /// Sends what is open, as events of kind "opened" with sequence 0, then every event from then on. False when there are
    /// `kSinksMax` already, none of which is gone, and after `stop`.
    [[nodiscard]] bool add(std::shared_ptr<EventSink> sink);
    /// Ends every stream and lets go of the sinks; no other is taken.
    void stop();

  private:
    struct Stream {
        std::shared_ptr<EventSink> sink;
        runtime::FindingsHub::SubscriptionId subscription = 0;
        std::atomic<bool> is_over = false;
        Mutex mutex{LockRank::event_stream};
        /// What is open was sent; until then events wait.
        bool is_ready GUARDED_BY(mutex) = false;
        std::vector<std::string> early GUARDED_BY(mutex);

        void take(const expansion::FindingEvent& event);
        void send(const std::string& line) REQUIRES(mutex);
    };

    void forget_those_who_left() REQUIRES(mutex_);

    runtime::FindingsHub& findings_;
    Mutex mutex_{LockRank::event_feed};
    std::list<std::shared_ptr<Stream>> streams_ GUARDED_BY(mutex_);
    bool is_stopped_ GUARDED_BY(mutex_) = false;
};

}  // namespace partita::http
