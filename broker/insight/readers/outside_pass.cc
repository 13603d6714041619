#include "broker/insight/readers/outside_pass.h"

#include <algorithm>

namespace partita::insight {

void OutsidePass::use(ConnectionId connection, TimestampMs born, const ConnectionDirectory& directory) {
    if (uses(connection)) {
        return;
    }
    if (!connections_.empty() && born != kNoTimestamp && born >= last_ && !is_open(directory)) {
        order_.continue_reader(connections_.back().value, connection.value);
    }
    if (connections_.size() == kConnectionsMax) {
        connections_.erase(connections_.begin());
    }
    connections_.push_back(connection);
}

bool OutsidePass::uses(ConnectionId connection) const {
    return std::ranges::find(connections_, connection) != connections_.end();
}

bool OutsidePass::is_open(const ConnectionDirectory& directory) const {
    return std::ranges::any_of(connections_, [&](ConnectionId known) { return directory.find(known).has_value(); });
}

void OutsidePass::note(const HandOut& handed) {
    keep_span(handed);
    if (noted_.size() == kNotedMax) {
        make_room();
    }
    noted_.push_back(handed);
}

void OutsidePass::make_room() {
    std::deque<HandOut> fewer;
    for (const HandOut& handed : noted_) {
        if (!fewer.empty() && fewer.back().partition == handed.partition && fewer.back().reader == handed.reader &&
            fewer.back().to == handed.from) {
            fewer.back().to = handed.to;
        } else {
            fewer.push_back(handed);
        }
    }
    if (fewer.size() == kNotedMax) {
        fewer.pop_front();
        has_lost_ = true;
    }
    noted_ = std::move(fewer);
}

void OutsidePass::judge(const HandOut& handed, const CutTable& cuts) {
    keep_span(handed);
    for (const HandOut& noted : noted_) {
        order_.hand_out(noted, cuts);
    }
    noted_.clear();
    order_.hand_out(handed, cuts);
}

void OutsidePass::end(bool is_early) {
    is_over_ = true;
    has_stopped_early_ = is_early;
    noted_.clear();
}

bool OutsidePass::is_left_by(PartitionIndex partition, Offset from) const {
    const auto span = spans_.find(partition);
    return span == spans_.end() || from < span->second.end;
}

bool OutsidePass::is_preceded_by(PartitionIndex partition, Offset from) const {
    const auto span = spans_.find(partition);
    return span != spans_.end() && from <= span->second.begin;
}

bool OutsidePass::has_all(const GrowthCut& cut, std::span<const Offset> log_starts) const {
    for (std::int32_t index = 0; index < cut.old_count; ++index) {
        if (!order_.has_all({index}, offset_at(log_starts, {index}), cut.end_of({index}))) {
            return false;
        }
    }
    return true;
}

void OutsidePass::keep_span(const HandOut& handed) {
    Span& span = spans_.try_emplace(handed.partition, Span{.begin = handed.from, .end = handed.to}).first->second;
    span.end = std::max(span.end, handed.to);
    last_ = handed.time;
}

}  // namespace partita::insight
