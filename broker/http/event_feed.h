#pragma once

#include <atomic>
#include <cstddef>
#include <list>
#include <memory>
#include <string>
#include <vector>

#include "broker/access/authorizer.h"
#include "broker/http/exchange.h"
#include "broker/insight/hub/findings_hub.h"
#include "protocol/mutex.h"

namespace partita::http {

/// A client that gets events: over a connection with a stream of lines, or over a WebSocket.
class EventSink {
  public:
    virtual ~EventSink() = default;
    /// Queues a line (without a line end). False if the client is gone, or too slow: a megabyte already waits to be sent. Never
    /// blocks. Any thread may call it.
    [[nodiscard]] virtual bool offer(const std::string& line) = 0;
    [[nodiscard]] virtual bool is_gone() const = 0;
    /// Ends the stream: no more lines come.
    virtual void end() = 0;
};

/// Sends the events of findings to all clients that asked for them. It disconnects a client that is too slow, so that the client
/// can tell a gap from silence.
class EventFeed {
  public:
    static constexpr std::size_t kSinksMax = 64;

    EventFeed(insight::FindingsHub& findings, const access::Authorizer& authorizer)
        : findings_(findings), authorizer_(authorizer) {}
    ~EventFeed() { stop(); }
    EventFeed(const EventFeed&) = delete;
    EventFeed& operator=(const EventFeed&) = delete;

    /// Sends the open findings to `sink` as events of kind "opened" with sequence 0, and then every new event, if `caller` may
    /// hear of it. False if `kSinksMax` sinks are still connected, and after `stop`.
    [[nodiscard]] bool add(std::shared_ptr<EventSink> sink, const Caller& caller);
    /// Ends every stream, releases the sinks, and accepts no more.
    void stop();

  private:
    struct Stream {
        std::shared_ptr<EventSink> sink;
        Caller caller;
        insight::FindingsHub::SubscriptionId subscription = 0;
        std::atomic<bool> is_over = false;
        Mutex mutex{LockRank::event_stream};
        /// True once the open findings are sent; until then events wait in `early`.
        bool is_ready GUARDED_BY(mutex) = false;
        std::vector<std::string> early GUARDED_BY(mutex);

        void take(const access::Authorizer& authorizer, const insight::FindingEvent& event);
        void send(const std::string& line) REQUIRES(mutex);
    };

    void forget_those_who_left() REQUIRES(mutex_);

    insight::FindingsHub& findings_;
    const access::Authorizer& authorizer_;
    Mutex mutex_{LockRank::event_feed};
    std::list<std::shared_ptr<Stream>> streams_ GUARDED_BY(mutex_);
    bool is_stopped_ GUARDED_BY(mutex_) = false;
};

}  // namespace partita::http
