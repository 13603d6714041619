#include "broker/insight/readers/outside_pass.h"

#include <algorithm>

namespace partita::insight {

void OutsidePass::use(ConnectionId connection, const ConnectionDirectory& directory) {
    if (std::ranges::find(connections_, connection) != connections_.end()) {
        return;
    }
    if (!connections_.empty()) {
        const ConnectionId before = connections_.back();
        std::erase_if(connections_, [&](ConnectionId known) { return !directory.find(known); });
        if (connections_.empty()) {
            order_.continue_reader(before.value, connection.value);
        }
    }
    if (connections_.size() == kConnectionsMax) {
        connections_.erase(connections_.begin());
    }
    connections_.push_back(connection);
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

void OutsidePass::judge(const HandOut& handed, const KeyCuts& cuts) {
    keep_span(handed);
    for (const HandOut& noted : noted_) {
        order_.hand_out(noted, cuts);
    }
    noted_.clear();
    order_.hand_out(handed, cuts);
}

void OutsidePass::end() {
    is_over_ = true;
    noted_.clear();
}

bool OutsidePass::is_left_by(ConnectionId connection, PartitionIndex partition, Offset from) const {
    const auto span = spans_.find(partition);
    if (is_over_) {
        return span == spans_.end() || from < span->second.end;
    }
    return span != spans_.end() && from <= span->second.begin &&
           std::ranges::find(connections_, connection) == connections_.end();
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
