#include "broker/insight/order/delivery_order.h"

#include <algorithm>
#include <span>
#include <unordered_map>
#include <utility>

namespace partita::insight {

void DeliveryOrder::hand_out(const HandOut& handed, const KeyCuts& cuts) {
    if (!passed_.contains(handed.partition)) {
        begin(handed.partition, handed.from);
    }
    for (const auto& [from, to] : passed_[handed.partition].add(handed.from, handed.to)) {
        hand_out_earlier(handed, from, to);
    }
    hand_out_later(handed, cuts);
}

void DeliveryOrder::begin(PartitionIndex partition, Offset offset) {
    forget_before(partition, offset);
    passed_[partition].add(Offset{0}, offset);
}

void DeliveryOrder::hand_out_earlier(const HandOut& handed, Offset from, Offset to) {
    auto place = waiting_.lower_bound({handed.partition, from, 0});
    while (place != waiting_.end() && place->partition == handed.partition && place->offset < to) {
        keys_.at(place->cut).earlier = handed;
        place = waiting_.erase(place);
    }
}

void DeliveryOrder::hand_out_later(const HandOut& handed, const KeyCuts& cuts) {
    const std::span<const std::uint32_t> into = cuts.cuts_into(handed.partition);
    const auto later_of = [&](std::uint32_t index) { return cuts.cuts()[index].later; };
    for (auto index = std::ranges::lower_bound(into, handed.from, {}, later_of);
         index != into.end() && later_of(*index) < handed.to; ++index) {
        if (const auto known = keys_.find(*index); known != keys_.end()) {
            if (!known->second.is_committed) {
                hand_out_again(handed, known->second);
            }
            continue;
        }
        const KeyCut& cut = cuts.cuts()[*index];
        const auto passed = passed_.find(cut.from);
        if (passed != passed_.end() && passed->second.contains(cut.earlier)) {
            continue;
        }
        if (keys_.size() == kKeysMax) {
            has_no_room_ = true;
            continue;
        }
        keys_.emplace(*index, Key{.cut = cut,
                                  .later_reader = handed.reader,
                                  .later_answer = handed.answer,
                                  .later_time = handed.time,
                                  .earlier = std::nullopt});
        later_.insert({cut.to, cut.later, *index});
        waiting_.insert({cut.from, cut.earlier, *index});
    }
}

void DeliveryOrder::hand_out_again(const HandOut& handed, Key& key) {
    if (key.earlier) {
        key.is_given_back = true;
        return;
    }
    key.later_reader = handed.reader;
    key.later_answer = handed.answer;
    key.later_time = handed.time;
}

void DeliveryOrder::commit(PartitionIndex partition, Offset offset) {
    const Offset before = std::exchange(committed_.try_emplace(partition, Offset{0}).first->second, offset);
    for (auto place = later_.lower_bound({partition, before, 0});
         place != later_.end() && place->partition == partition && place->offset < offset; ++place) {
        keys_.at(place->cut).is_committed = true;
    }
}

void DeliveryOrder::forget_before(PartitionIndex partition, Offset offset) {
    auto place = waiting_.lower_bound({partition, Offset{0}, 0});
    while (place != waiting_.end() && place->partition == partition && place->offset < offset) {
        const auto key = keys_.find(place->cut);
        later_.erase({key->second.cut.to, key->second.cut.later, place->cut});
        keys_.erase(key);
        place = waiting_.erase(place);
    }
}

DeliveryOrder::Counts DeliveryOrder::counts() const {
    /// A key that has several cuts counts by the worst of them.
    struct Worst {
        bool is_wrong = false;
        bool is_processed = false;
        bool is_in_several_answers = false;
    };
    Counts counts{.is_exact = !has_no_room_};
    std::unordered_map<std::uint64_t, Worst> by_hash;
    for (const auto& [index, key] : keys_) {
        if (!key.earlier) {
            continue;
        }
        Worst& worst = by_hash[key.cut.key_hash];
        if (!key.is_wrong()) {
            continue;
        }
        worst.is_wrong = true;
        worst.is_processed = worst.is_processed || key.is_committed;
        worst.is_in_several_answers = worst.is_in_several_answers || key.later_answer != key.earlier->answer;
        const TimestampMs time = key.earlier->time;
        counts.first = counts.first == kNoTimestamp ? time : std::min(counts.first, time);
        counts.last = std::max(counts.last, time);
    }
    for (const auto& [hash, worst] : by_hash) {
        counts.handed_out += worst.is_wrong ? 1 : 0;
        counts.processed += worst.is_processed ? 1 : 0;
        counts.in_one_answer += worst.is_wrong && !worst.is_in_several_answers ? 1 : 0;
        counts.given_back += worst.is_wrong ? 0 : 1;
    }
    for (const auto& [partition, ranges] : passed_) {
        counts.is_exact = counts.is_exact && ranges.is_exact();
    }
    return counts;
}

std::vector<WrongKey> DeliveryOrder::wrong_keys() const {
    std::vector<WrongKey> wrong;
    for (const auto& [index, key] : keys_) {
        if (key.is_wrong()) {
            wrong.push_back({.cut = key.cut,
                             .later_reader = key.later_reader,
                             .earlier_reader = key.earlier->reader,
                             .later_time = key.later_time,
                             .earlier_time = key.earlier->time,
                             .is_in_one_answer = key.later_answer == key.earlier->answer,
                             .is_processed = key.is_committed});
        }
    }
    return wrong;
}

bool DeliveryOrder::has_all_before(PartitionIndex partition, Offset end) const {
    const auto passed = passed_.find(partition);
    return passed != passed_.end() && passed->second.contains(Offset{0}, end);
}

}  // namespace partita::insight
