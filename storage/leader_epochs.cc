#include "storage/leader_epochs.h"

#include <algorithm>
#include <cstdint>
#include <iterator>

#include "protocol/assert.h"
#include "storage/checkpoint_text.h"

namespace partita {

bool LeaderEpochs::assign(LeaderEpoch epoch, Offset offset) {
    if (epoch < LeaderEpoch{0}) {
        return false;
    }
    if (!entries_.empty() && entries_.back().leader_epoch >= epoch) {
        return false;
    }
    while (!entries_.empty() && entries_.back().start_offset >= offset) {
        entries_.pop_back();
    }
    entries_.push_back({epoch, offset});
    return true;
}

EpochEnd LeaderEpochs::end_of(LeaderEpoch epoch, Offset log_end) const {
    if (epoch == kNoLeaderEpoch || entries_.empty() || epoch > entries_.back().leader_epoch) {
        return {kNoLeaderEpoch, kNoOffset};
    }
    if (epoch == entries_.back().leader_epoch) {
        return {epoch, log_end};
    }
    const auto higher = std::ranges::upper_bound(entries_, epoch, {}, &EpochStart::leader_epoch);
    // Below the first known epoch Kafka answers with the requested epoch, which ends where the first known epoch begins.
    if (higher == entries_.begin()) {
        return {epoch, higher->start_offset};
    }
    return {std::prev(higher)->leader_epoch, higher->start_offset};
}

LeaderEpoch LeaderEpochs::at(Offset offset) const {
    const auto later = std::ranges::upper_bound(entries_, offset, {}, &EpochStart::start_offset);
    return later == entries_.begin() ? kNoLeaderEpoch : std::prev(later)->leader_epoch;
}

LeaderEpoch LeaderEpochs::latest() const { return entries_.empty() ? kNoLeaderEpoch : entries_.back().leader_epoch; }

bool LeaderEpochs::truncate_from_end(Offset end) {
    const std::size_t before = entries_.size();
    while (!entries_.empty() && entries_.back().start_offset >= end) {
        entries_.pop_back();
    }
    return entries_.size() != before;
}

bool LeaderEpochs::truncate_from_start(Offset start) {
    const auto later = std::ranges::upper_bound(entries_, start, {}, &EpochStart::start_offset);
    if (later == entries_.begin()) {
        return false;
    }
    const auto covering = std::prev(later);
    if (covering == entries_.begin() && covering->start_offset == start) {
        return false;
    }
    covering->start_offset = start;
    entries_.erase(entries_.begin(), covering);
    return true;
}

std::string LeaderEpochs::to_text() const {
    std::string text = "0\n" + std::to_string(entries_.size()) + "\n";
    EpochStart previous{kNoLeaderEpoch, kNoOffset};
    for (const EpochStart& entry : entries_) {
        PARTITA_ASSERT(entry.leader_epoch > previous.leader_epoch && entry.start_offset > previous.start_offset,
                       "epochs ascend with their offsets: parse takes no others");
        previous = entry;
        text += std::to_string(entry.leader_epoch.value) + " " + std::to_string(entry.start_offset.value) + "\n";
    }
    return text;
}

std::optional<LeaderEpochs> LeaderEpochs::parse(std::string_view text) {
    const auto lines = parse_checkpoint_lines(text, 2, kMaximumEntries);
    if (!lines) {
        return std::nullopt;
    }
    LeaderEpochs epochs;
    for (const auto& fields : *lines) {
        const auto epoch = parse_integer(fields[0]);
        const auto offset = parse_integer(fields[1]);
        if (!epoch || !offset || *epoch < 0 || *epoch > INT32_MAX || *offset < 0) {
            return std::nullopt;
        }
        if (!epochs.assign(LeaderEpoch{static_cast<std::int32_t>(*epoch)}, Offset{*offset})) {
            return std::nullopt;
        }
    }
    if (epochs.entries_.size() != lines->size()) {
        return std::nullopt;
    }
    return epochs;
}

}  // namespace partita
