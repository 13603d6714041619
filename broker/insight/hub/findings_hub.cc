#include "broker/insight/hub/findings_hub.h"

#include <algorithm>
#include <string>
#include <tuple>
#include <utility>

#include "broker/config/log_setup.h"

namespace partita::insight {
namespace {

std::string_view name_of(const FindingEvent& event) {
    const bool is_back = event.finding.is_restored && event.kind == FindingEvent::Kind::opened;
    return event.is_displaced ? "displaced" : event.is_seen ? "seen" : is_back ? "restored" : to_string(event.kind);
}

log::Level level_of(const FindingEvent& event) {
    const bool is_quiet = event.kind == FindingEvent::Kind::closed || event.finding.severity == Severity::info;
    return is_quiet ? log::Level::info : log::Level::warning;
}

void log_event(const FindingEvent& event) {
    const Finding& finding = event.finding;
    log::write(level_of(event), "expansion", title_of(finding),
               {{"finding", to_string(finding.id)},
                {"event", name_of(event)},
                {"severity", to_string(finding.severity)},
                {"kind", to_string(finding.kind)},
                {"topic", finding.subject.topic},
                {"group", finding.subject.group},
                {"client", finding.subject.client_id},
                {"count", finding.count},
                {"condition", finding.condition},
                {"advice", finding.advice}});
}

/// "billing, shipping, audit and 897 more": groups, or clients if the findings are about these.
std::string names_of(std::span<const FindingEvent* const> events) {
    constexpr std::size_t kNamed = 3;
    std::string names;
    for (std::size_t index = 0; index < std::min(kNamed, events.size()); ++index) {
        const Subject& subject = events[index]->finding.subject;
        names += (index == 0 ? "" : ", ") + (subject.group.empty() ? subject.client_id : subject.group);
    }
    return events.size() > kNamed ? names + " and " + std::to_string(events.size() - kNamed) + " more" : names;
}

void log_together(std::span<const FindingEvent* const> events) {
    const FindingEvent& first = *events.front();
    log::write(level_of(first), "expansion", title_of(first.finding),
               {{"finding", to_string(first.finding.id)},
                {"event", name_of(first)},
                {"severity", to_string(first.finding.severity)},
                {"kind", to_string(first.finding.kind)},
                {"topic", first.finding.subject.topic},
                {"findings", events.size()},
                {"of", names_of(events)}});
}

}  // namespace

FindingsHub::SubscriptionId FindingsHub::subscribe(Subscriber subscriber) {
    std::vector<OpenFinding> unused;
    return subscribe(std::move(subscriber), unused);
}

FindingsHub::SubscriptionId FindingsHub::subscribe(Subscriber subscriber, std::vector<OpenFinding>& open) {
    const MutexLock lock(mutex_);
    open = board_.open();
    subscribers_.emplace(++last_subscription_, std::move(subscriber));
    return last_subscription_;
}

void FindingsHub::unsubscribe(SubscriptionId subscription) {
    const MutexLock lock(mutex_);
    subscribers_.erase(subscription);
}

void FindingsHub::settle(std::string_view source, std::span<const Finding> current, TimestampMs now) {
    const MutexLock lock(mutex_);
    board_.settle(source, current, now);
    publish();
}

std::size_t FindingsHub::mark_seen(FunctionRef<bool(const OpenFinding&)> which, TimestampMs now) {
    const MutexLock lock(mutex_);
    const std::size_t count = board_.mark_seen(which, now);
    publish();
    return count;
}

void FindingsHub::restore(PastFindings past, TimestampMs now) {
    const MutexLock lock(mutex_);
    board_.restore(std::move(past), now);
    publish();
}

std::size_t FindingsHub::forget(TimestampMs now) {
    const MutexLock lock(mutex_);
    const std::size_t count = board_.forget(now);
    publish();
    if (when_forgotten_) {
        when_forgotten_();
    }
    return count;
}

void FindingsHub::publish() {
    const std::vector<FindingEvent> events = board_.take_events();
    log_events(events);
    for (const FindingEvent& event : events) {
        for (const auto& [id, subscriber] : subscribers_) {
            subscriber(event);
        }
    }
}

void FindingsHub::log_events(std::span<const FindingEvent> events) {
    // Ordered by the first event of each kind.
    using Kind = std::tuple<std::string_view, std::string_view, Severity, std::string_view>;
    std::map<Kind, std::size_t> kinds;
    std::vector<std::vector<const FindingEvent*>> alike;
    for (const FindingEvent& event : events) {
        const Kind kind(title_of(event.finding), name_of(event), event.finding.severity, event.finding.subject.topic);
        const auto [place, is_new] = kinds.try_emplace(kind, alike.size());
        if (is_new) {
            alike.emplace_back();
        }
        alike[place->second].push_back(&event);
    }
    for (const std::vector<const FindingEvent*>& those : alike) {
        const bool is_info = those.front()->finding.severity == Severity::info;
        const std::size_t singly = those.size() == 1 ? 1 : is_info ? 0 : std::min(kLogLinesMax, those.size());
        for (std::size_t index = 0; index < singly; ++index) {
            log_event(*those[index]);
        }
        if (singly < those.size()) {
            log_together(std::span(those).subspan(singly));
        }
    }
}

std::vector<OpenFinding> FindingsHub::open() const {
    const MutexLock lock(mutex_);
    return board_.open();
}

std::vector<EndedFinding> FindingsHub::ended() const {
    const MutexLock lock(mutex_);
    return board_.ended();
}

std::size_t FindingsHub::refused() const {
    const MutexLock lock(mutex_);
    return board_.refused();
}

}  // namespace partita::insight
