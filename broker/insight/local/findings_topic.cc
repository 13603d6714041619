#include "broker/insight/local/findings_topic.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "broker/config/log_setup.h"
#include "broker/insight/findings/event_json.h"
#include "broker/insight/local/event_history.h"
#include "broker/logs/published_topics.h"
#include "broker/logs/turn.h"
#include "broker/runtime/catalog/catalog.h"
#include "broker/runtime/catalog/own_changes.h"
#include "protocol/record_batch_builder.h"

namespace partita::insight {

std::unique_ptr<EventHistory> FindingsTopic::history() const {
    const auto table = topics_.table();
    const logs::TopicState* topic = config_->events_topic_enable ? table->find(kName) : nullptr;
    return topic == nullptr ? nullptr : std::make_unique<TopicEventHistory>(topic->partitions.front());
}

void FindingsTopic::start() {
    findings_.set_when_forgotten([this] { forget(); });
    subscription_ = findings_.subscribe([this](const FindingEvent& event) { on_event(event); });
}

void FindingsTopic::forget() {
    const MutexLock lock(mutex_);
    waiting_.clear();
    is_wanted_ = false;
    left_out_ = 0;
}

void FindingsTopic::stop() {
    if (subscription_) {
        findings_.unsubscribe(*std::exchange(subscription_, std::nullopt));
    }
}

void FindingsTopic::on_event(const FindingEvent& event) {
    if (!config_->events_topic_enable) {
        return;
    }
    const bool wanted = is_wanted(event.finding.subject.topic);
    Line line{.topic = event.finding.subject.topic, .json = event_json(event, KeyStyle::text)};
    const MutexLock lock(mutex_);
    if (waiting_.size() == kWaitingMax) {
        ++left_out_;
        return;
    }
    waiting_.push_back(std::move(line));
    is_wanted_ = is_wanted_ || wanted;
    if (is_wanted_ && !std::exchange(is_posted_, true)) {
        post();
    }
}

void FindingsTopic::post() {
    changes_.post("could not write events of findings to their topic",
                  [this](logs::Turn& turn, runtime::Catalog& catalog) { return write_waiting(turn, catalog); });
}

bool FindingsTopic::is_wanted(std::string_view topic) const {
    const auto table = topics_.table();
    const logs::TopicState* about = table->find(topic);
    return (about != nullptr && !about->topic->expansions.empty()) || table->find(kName) != nullptr;
}

bool FindingsTopic::write_waiting(logs::Turn& turn, runtime::Catalog& catalog) {
    std::vector<Line> lines;
    std::uint64_t left_out = 0;
    {
        const MutexLock lock(mutex_);
        const auto end = waiting_.begin() + static_cast<std::ptrdiff_t>(std::min(waiting_.size(), kBatchRecordsMax));
        lines.assign(std::make_move_iterator(waiting_.begin()), std::make_move_iterator(end));
        waiting_.erase(waiting_.begin(), end);
        is_posted_ = !waiting_.empty();
        if (is_posted_) {
            post();
        }
        left_out = std::exchange(left_out_, 0);
    }
    if (left_out > 0) {
        log::warning("expansion", "dropped events of findings instead of writing them to the topic",
                     {{"topic", kName}, {"events", left_out}});
    }
    return lines.empty() || write(turn, catalog, lines);
}

bool FindingsTopic::write(logs::Turn& turn, runtime::Catalog& catalog, std::span<const Line> lines) {
    if (turn.topics().find(kName) == nullptr) {
        catalog::CreateTopics command;
        command.topics.push_back({.name = kName, .num_partitions = 1, .replication_factor = 1});
        if (!catalog.change(turn, command)) {
            return false;
        }
    }
    const auto table = topics_.table();
    const logs::TopicState* topic = table->find(kName);
    if (topic == nullptr) {
        return false;
    }
    const std::shared_ptr<logs::Partition> partition = topic->partitions.front();
    const Now now = turn.now();
    BatchBuilder builder;
    for (const Line& line : lines) {
        builder.append(now.wall, as_bytes(line.topic), as_bytes(line.json));
    }
    std::vector<std::byte> batch;
    builder.build(batch);
    if (!partition->log->append(batch, {.leader_epoch = partition->leader_epoch(), .now = now.wall})) {
        return false;
    }
    turn.appended(*partition, batch.size());
    return true;
}

}  // namespace partita::insight
