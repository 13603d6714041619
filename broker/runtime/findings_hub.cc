#include "broker/runtime/findings_hub.h"

#include <string>
#include <utility>

#include "broker/config/log_setup.h"

namespace partita::runtime {
namespace {

void log_event(const expansion::FindingEvent& event) {
    const expansion::Finding& finding = event.finding;
    const bool is_quiet = event.kind == expansion::FindingEvent::Kind::closed || finding.severity == expansion::Severity::info;
    log::write(is_quiet ? log::Level::info : log::Level::warning, "expansion", expansion::hazard(finding.id).title,
               {{"finding", expansion::to_string(finding.id)},
                {"event", expansion::to_string(event.kind)},
                {"severity", expansion::to_string(finding.severity)},
                {"topic", finding.subject.topic},
                {"group", finding.subject.group},
                {"client", finding.subject.client_id},
                {"count", finding.count},
                {"condition", finding.condition},
                {"advice", finding.advice}});
}

}  // namespace

FindingsHub::SubscriptionId FindingsHub::subscribe(Subscriber subscriber) {
    std::vector<expansion::OpenFinding> unused;
    return subscribe(std::move(subscriber), unused);
}

FindingsHub::SubscriptionId FindingsHub::subscribe(Subscriber subscriber, std::vector<expansion::OpenFinding>& open) {
    const std::scoped_lock lock(mutex_);
    open = board_.open();
    subscribers_.emplace(++last_subscription_, std::move(subscriber));
    return last_subscription_;
}

void FindingsHub::unsubscribe(SubscriptionId subscription) {
    const std::scoped_lock lock(mutex_);
    subscribers_.erase(subscription);
}

void FindingsHub::settle(std::string_view source, std::span<const expansion::Finding> current, TimestampMs now) {
    // Held while subscribers hear of it, so that all of them hear the same order.
    const std::scoped_lock lock(mutex_);
    board_.settle(source, current, now);
    for (const expansion::FindingEvent& event : board_.take_events()) {
        log_event(event);
        for (const auto& [id, subscriber] : subscribers_) {
            subscriber(event);
        }
    }
}

std::vector<expansion::OpenFinding> FindingsHub::open() const {
    const std::scoped_lock lock(mutex_);
    return board_.open();
}

std::uint64_t FindingsHub::refused() const {
    const std::scoped_lock lock(mutex_);
    return board_.refused();
}

}  // namespace partita::runtime
