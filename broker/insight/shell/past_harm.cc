#include "broker/insight/shell/past_harm.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "broker/insight/hub/findings_hub.h"

namespace partita::insight {

bool is_harm_left(const OpenFinding& harm, const ObservedTopics& topics, const ObservedGroups& groups) {
    const Finding& finding = harm.finding;
    const std::string& group = finding.subject.group;
    if (!group.empty() && groups.is_complete() && !groups.protocol_of(group)) {
        return false;
    }
    if (finding.subject.topic.empty()) {
        return true;
    }
    const std::unique_ptr<ObservedTopic> topic = topics.find(finding.subject.topic);
    // A topic that is younger than the harm is another one of that name.
    if (topic == nullptr || topic->traits().created > harm.opened) {
        return false;
    }
    const std::vector<LogEdges> logs = topic->logs();
    return finding.evidence.empty() || std::ranges::any_of(finding.evidence, [&](const RecordPlace& place) {
               const auto index = static_cast<std::size_t>(place.partition.value);
               return index < logs.size() && logs[index].start <= place.offset;
           });
}

void PastHarm::start(std::unique_ptr<EventHistory> history) {
    if (history == nullptr || !history->has_more()) {
        return;
    }
    history_ = std::move(history);
    worker_ = schedule_.executor.start_beside_clock("past-harm", [this] { return step(); });
}

Instant PastHarm::step() {
    if (history_ != nullptr) {
        for (const std::string& event : history_->next()) {
            told_.take(event);
        }
        if (history_->has_more()) {
            return kAtOnce;
        }
        history_.reset();
        restore(schedule_.clock.now().wall);
    }
    const Now now = schedule_.clock.now();
    look(now.wall);
    return harm_.empty() ? kOver : now.monotonic + kLookMs;
}

void PastHarm::restore(TimestampMs now) {
    PastFindings past = told_.take_past();
    for (const OpenFinding& one : past.harm) {
        harm_[one.opened].push_back(one);
    }
    findings_.restore(std::move(past), now);
}

void PastHarm::look(TimestampMs now) {
    const auto topics = cluster_.topics();
    for (auto& [opened, harm] : harm_) {
        std::erase_if(harm, [&](const OpenFinding& one) { return !is_harm_left(one, *topics, cluster_.groups()); });
        std::vector<Finding> left;
        left.reserve(harm.size());
        for (const OpenFinding& one : harm) {
            left.push_back(one.finding);
        }
        findings_.settle(FindingsBoard::past_source(opened), left, now);
    }
    std::erase_if(harm_, [](const auto& one) { return one.second.empty(); });
}

}  // namespace partita::insight
