#include "broker/http/event_feed.h"

#include <vector>

#include "broker/http/authorize.h"
#include "broker/insight/findings/event_json.h"

namespace partita::http {

using insight::FindingEvent;

void EventFeed::stop() {
    const MutexLock lock(mutex_);
    is_stopped_ = true;
    for (const std::shared_ptr<Stream>& stream : streams_) {
        findings_.unsubscribe(stream->subscription);
        stream->sink->end();
    }
    streams_.clear();
}

void EventFeed::Stream::take(const access::Authorizer& authorizer, const FindingEvent& event) {
    if (!may_hear(authorizer, caller, event.finding)) {
        return;
    }
    const MutexLock lock(mutex);
    std::string line = insight::event_json(event, insight::KeyStyle::text);
    if (is_ready) {
        send(line);
    } else {
        early.push_back(std::move(line));
    }
}

void EventFeed::Stream::send(const std::string& line) {
    if (!is_over.load(std::memory_order_relaxed) && !sink->offer(line)) {
        is_over.store(true, std::memory_order_relaxed);
        sink->end();
    }
}

void EventFeed::forget_those_who_left() {
    for (auto stream = streams_.begin(); stream != streams_.end();) {
        if ((*stream)->is_over.load(std::memory_order_relaxed) || (*stream)->sink->is_gone()) {
            findings_.unsubscribe((*stream)->subscription);
            stream = streams_.erase(stream);
        } else {
            ++stream;
        }
    }
}

bool EventFeed::add(std::shared_ptr<EventSink> sink, const Caller& caller) {
    const MutexLock lock(mutex_);
    forget_those_who_left();
    if (is_stopped_ || streams_.size() >= kSinksMax) {
        return false;
    }
    auto stream = std::make_shared<Stream>();
    stream->sink = std::move(sink);
    stream->caller = caller;
    std::vector<insight::OpenFinding> open;
    stream->subscription =
        findings_.subscribe([this, stream](const FindingEvent& event) { stream->take(authorizer_, event); }, open);
    streams_.push_back(stream);
    const MutexLock sending(stream->mutex);
    for (const insight::OpenFinding& finding : open) {
        if (!may_hear(authorizer_, caller, finding.finding)) {
            continue;
        }
        stream->send(insight::event_json({.sequence = 0,
                                          .kind = FindingEvent::Kind::opened,
                                          .time = finding.changed,
                                          .opened = finding.opened,
                                          .finding = finding.finding},
                                         insight::KeyStyle::text));
    }
    for (const std::string& line : stream->early) {
        stream->send(line);
    }
    stream->early.clear();
    stream->is_ready = true;
    return true;
}

}  // namespace partita::http
