#include "broker/insight/order/delivery_order.h"

#include <algorithm>
#include <span>
#include <unordered_map>
#include <utility>

namespace partita::insight {

void DeliveryOrder::hand_out(const HandOut& handed, const CutTable& cuts) {
    ++events_;
    if (!handed.is_attributed) {
        note_unattributed(handed, cuts);
        pass(handed, cuts);
        return;
    }
    const auto [last, is_first] = last_.try_emplace(handed.partition, Last{.begin = handed.from});
    if (is_first) {
        if (!unattributed_.empty() && passed_[handed.partition].contains(handed.from)) {
            note_given_again(handed, cuts);
        }
        reach(handed.partition, handed.from, handed.reader);
    } else if (passed_.at(handed.partition).contains(handed.from)) {
        if (were_dropped(handed)) {
            drop(handed.partition, handed.from, cuts);
        } else {
            note_given_again(handed, cuts);
        }
    }
    last->second.reader = handed.reader;
    last->second.answer = handed.answer;
    last->second.from = handed.from;
    last->second.to = handed.to;
    last->second.time = handed.time;
    last->second.event = events_;
    pass(handed, cuts);
}

void DeliveryOrder::pass(const HandOut& handed, const CutTable& cuts) {
    for (const auto& [from, to] : passed_[handed.partition].add(handed.from, handed.to)) {
        hand_out_earlier(handed, from, to);
    }
    hand_out_later(handed, cuts);
}

void DeliveryOrder::begin_at_work(std::span<const Offset> committed) {
    was_at_work_ = true;
    for (std::size_t index = 0; index < committed.size(); ++index) {
        if (committed[index] != kNoOffset) {
            committed_.insert_or_assign({static_cast<std::int32_t>(index)}, Committed{.offset = committed[index]});
        }
    }
}

void DeliveryOrder::continue_reader(std::uint64_t reader, std::uint64_t next) {
    if (continued_.size() < kContinuedMax) {
        continued_.emplace(next, first_of(reader));
    }
}

bool DeliveryOrder::were_dropped(const HandOut& handed) const {
    const Last& last = last_.at(handed.partition);
    const auto committed = committed_.find(handed.partition);
    // A reader that goes on behind its last answer dropped nothing, though an earlier one had more.
    return handed.from < last.to && (are_one(last.reader, handed.reader) || handed.time.value - last.time.value <= kHandoverMs) &&
           committed != committed_.end() && committed->second.offset == handed.from && committed->second.event > last.event;
}

void DeliveryOrder::note_unattributed(const HandOut& handed, const CutTable& cuts) {
    const auto note = [&](std::span<const std::uint32_t> indices, auto offset_of) {
        for (auto next = std::ranges::lower_bound(indices, handed.from, {}, offset_of);
             next != indices.end() && offset_of(*next) < handed.to; ++next) {
            if (unattributed_.contains(*next)) {
                continue;
            }
            if (!has_room()) {
                are_all_unattributed_ = true;
                return;
            }
            unattributed_.insert(*next);
        }
    };
    note(cuts.cuts_from(handed.partition), [&](std::uint32_t index) { return cuts.cuts()[index].earlier; });
    note(cuts.cuts_into(handed.partition), [&](std::uint32_t index) { return cuts.cuts()[index].later; });
}

void DeliveryOrder::note_given_again(const HandOut& handed, const CutTable& cuts) {
    const auto committed = committed_.find(handed.partition);
    const Offset finished = committed == committed_.end() ? Offset{0} : committed->second.offset;
    const OffsetRanges& passed = passed_.at(handed.partition);
    const auto earlier_of = [&](std::uint32_t index) { return cuts.cuts()[index].earlier; };
    const std::span<const std::uint32_t> all = cuts.cuts_from(handed.partition);
    for (auto next = std::ranges::lower_bound(all, std::max(handed.from, finished), {}, earlier_of);
         next != all.end() && earlier_of(*next) < handed.to; ++next) {
        const std::uint32_t index = *next;
        const KeyCut& cut = cuts.cuts()[index];
        if (!passed.contains(cut.earlier) || keys_.contains(index) || !has_handed_out(cut.to, cut.later)) {
            continue;
        }
        if (!has_room()) {
            has_no_room_ = true;
            return;
        }
        given_again_.emplace(index, cut);
    }
}

bool DeliveryOrder::has_handed_out(PartitionIndex partition, Offset offset) const {
    const auto last = last_.find(partition);
    return last != last_.end() && offset >= last->second.begin && passed_.at(partition).contains(offset);
}

std::optional<DeliveryOrder::LastCommit> DeliveryOrder::committed(PartitionIndex partition) const {
    const auto committed = committed_.find(partition);
    const bool is_known = committed != committed_.end() && committed->second.event != 0;
    return is_known ? std::optional(LastCommit{committed->second.offset, committed->second.time}) : std::nullopt;
}

std::optional<Offset> DeliveryOrder::begin_of(PartitionIndex partition) const {
    const auto last = last_.find(partition);
    return last == last_.end() ? std::nullopt : std::optional(last->second.begin);
}

std::optional<Offset> DeliveryOrder::end_of(PartitionIndex partition) const {
    return last_.contains(partition) ? passed_.at(partition).end() : std::nullopt;
}

bool DeliveryOrder::is_unread(PartitionIndex partition, Offset offset) const {
    const std::optional<Offset> end = end_of(partition);
    return end && *end <= offset && !is_doubtful(partition, offset);
}

void DeliveryOrder::drop(PartitionIndex partition, Offset from, const CutTable& cuts) {
    passed_[partition].cut(from);
    std::erase_if(keys_, [&](const auto& entry) {
        const auto& [index, key] = entry;
        if (key.cut.to != partition || key.cut.later < from || key.is_committed) {
            return false;
        }
        later_.erase({key.cut.to, key.cut.later, index});
        waiting_.erase({key.cut.from, key.cut.earlier, index});
        return true;
    });
    const auto is_dropped = [&](const auto& entry) {
        const KeyCut& cut = entry.second;
        return (cut.from == partition && cut.earlier >= from) || (cut.to == partition && cut.later >= from);
    };
    std::erase_if(overlapping_, is_dropped);
    std::erase_if(given_again_, is_dropped);
    const auto earlier_of = [&](std::uint32_t index) { return cuts.cuts()[index].earlier; };
    const std::span<const std::uint32_t> all = cuts.cuts_from(partition);
    for (auto next = std::ranges::lower_bound(all, from, {}, earlier_of); next != all.end(); ++next) {
        const std::uint32_t index = *next;
        const KeyCut& cut = cuts.cuts()[index];
        if (const auto key = keys_.find(index); key != keys_.end()) {
            key->second.earlier.reset();
            key->second.is_given_back = false;
            waiting_.insert({cut.from, cut.earlier, index});
            continue;
        }
        if (has_handed_out(cut.to, cut.later)) {
            wait_for_earlier(index, cut);
        }
    }
}

void DeliveryOrder::wait_for_earlier(std::uint32_t index, const KeyCut& cut) {
    if (!has_room()) {
        has_no_room_ = true;
        return;
    }
    const auto committed = committed_.find(cut.to);
    const Last& last = last_.at(cut.to);
    keys_.emplace(index, Key{.cut = cut,
                             .later_reader = last.reader,
                             .later_answer = cut.later >= last.from ? last.answer : 0,
                             .later_time = last.time,
                             .earlier = std::nullopt,
                             .is_committed = committed != committed_.end() && cut.later < committed->second.offset});
    later_.insert({cut.to, cut.later, index});
    waiting_.insert({cut.from, cut.earlier, index});
}

void DeliveryOrder::discover(const CutTable& cuts, std::size_t first_index) {
    for (std::size_t index = first_index; index < cuts.cuts().size(); ++index) {
        const KeyCut& cut = cuts.cuts()[index];
        const auto passed = passed_.find(cut.from);
        const bool has_earlier = passed != passed_.end() && passed->second.contains(cut.earlier);
        if (!has_earlier && has_handed_out(cut.to, cut.later)) {
            wait_for_earlier(static_cast<std::uint32_t>(index), cut);
        }
    }
}

bool DeliveryOrder::may_be_with_another(const Key& key, std::optional<std::uint64_t> reader) const {
    if (reader) {
        return !are_one(*reader, key.later_reader);
    }
    return std::ranges::any_of(last_, [&](const auto& entry) { return !are_one(entry.second.reader, key.later_reader); });
}

void DeliveryOrder::reach(PartitionIndex partition, Offset offset) { reach(partition, offset, std::nullopt); }

void DeliveryOrder::reach(PartitionIndex partition, Offset offset, std::optional<std::uint64_t> reader) {
    auto place = waiting_.lower_bound({partition, Offset{0}, 0});
    while (place != waiting_.end() && place->partition == partition && place->offset < offset) {
        const auto key = keys_.find(place->cut);
        if (key->second.may_be_unfinished && may_be_with_another(key->second, reader)) {
            overlapping_.emplace(place->cut, key->second.cut);
        }
        later_.erase({key->second.cut.to, key->second.cut.later, place->cut});
        keys_.erase(key);
        place = waiting_.erase(place);
    }
    passed_[partition].add(Offset{0}, offset);
}

void DeliveryOrder::hand_out_earlier(const HandOut& handed, Offset from, Offset to) {
    auto place = waiting_.lower_bound({handed.partition, from, 0});
    while (place != waiting_.end() && place->partition == handed.partition && place->offset < to) {
        Key& key = keys_.at(place->cut);
        key.earlier = handed;
        key.is_given_back = is_doubtful(handed.partition, place->offset);
        key.is_in_two_members = !key.is_committed && !are_one(key.later_reader, handed.reader);
        place = waiting_.erase(place);
    }
}

void DeliveryOrder::hand_out_later(const HandOut& handed, const CutTable& cuts) {
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
        const bool is_in_order = passed != passed_.end() && passed->second.contains(cut.earlier);
        if (is_in_order && !overlaps(handed, cut)) {
            continue;
        }
        if (!has_room()) {
            has_no_room_ = true;
            continue;
        }
        if (is_in_order) {
            overlapping_.emplace(*index, cut);
            continue;
        }
        keys_.emplace(*index, Key{.cut = cut,
                                  .later_reader = handed.reader,
                                  .later_answer = handed.answer,
                                  .later_time = handed.time,
                                  .earlier = std::nullopt,
                                  .may_be_unfinished = was_at_work_ && is_unfinished(cut.from, cut.earlier)});
        later_.insert({cut.to, cut.later, *index});
        waiting_.insert({cut.from, cut.earlier, *index});
    }
}

bool DeliveryOrder::overlaps(const HandOut& handed, const KeyCut& cut) const {
    const auto earlier = last_.find(cut.from);
    if (earlier == last_.end() || are_one(earlier->second.reader, handed.reader) ||
        (cut.earlier < earlier->second.begin && !was_at_work_)) {
        return false;
    }
    return is_unfinished(cut.from, cut.earlier);
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

void DeliveryOrder::commit(PartitionIndex partition, Offset offset, TimestampMs time) {
    const auto [committed, is_first] = committed_.try_emplace(partition);
    const Offset before = std::exchange(committed->second, {.offset = offset, .event = ++events_, .time = time}).offset;
    for (auto place = later_.lower_bound({partition, before, 0});
         place != later_.end() && place->partition == partition && place->offset < offset; ++place) {
        keys_.at(place->cut).is_committed = true;
    }
}

void DeliveryOrder::forget_before(PartitionIndex partition, Offset offset) {
    const auto is_gone = [&](const auto& entry) { return entry.second.from == partition && entry.second.earlier < offset; };
    std::erase_if(overlapping_, is_gone);
    std::erase_if(given_again_, is_gone);
    std::erase_if(keys_, [&](const auto& entry) {
        const KeyCut& cut = entry.second.cut;
        if (cut.from != partition || cut.earlier >= offset) {
            return false;
        }
        later_.erase({cut.to, cut.later, entry.first});
        waiting_.erase({cut.from, cut.earlier, entry.first});
        return true;
    });
}

bool DeliveryOrder::has_told() const {
    if (std::ranges::any_of(keys_, [](const auto& entry) { return entry.second.is_wrong(); })) {
        return true;
    }
    if (overlapping_.empty() && given_again_.empty() &&
        std::ranges::none_of(keys_, [](const auto& entry) { return entry.second.earlier.has_value(); })) {
        return false;
    }
    const Counts all = counts();
    return all.overlapping + all.given_back + all.unattributed > 0;
}

DeliveryOrder::Counts DeliveryOrder::counts() const {
    /// A key that has several cuts counts by the worst of them.
    struct Worst {
        bool is_wrong = false;
        bool is_processed = false;
        bool is_in_several_answers = false;
        bool is_certain = false;
    };
    Counts counts{.is_exact = !has_no_room_};
    std::unordered_map<std::uint64_t, Worst> by_hash;
    std::set<std::uint64_t> unattributed;
    for (const auto& [index, key] : keys_) {
        if (!key.earlier) {
            continue;
        }
        if (!is_attributed(index)) {
            unattributed.insert(key.cut.key_hash);
            continue;
        }
        Worst& worst = by_hash[key.cut.key_hash];
        if (!key.is_wrong()) {
            continue;
        }
        worst.is_wrong = true;
        worst.is_processed = worst.is_processed || key.is_committed;
        worst.is_in_several_answers = worst.is_in_several_answers || key.later_answer != key.earlier->answer;
        worst.is_certain = worst.is_certain || !key.is_in_two_members;
        const TimestampMs time = key.earlier->time;
        counts.first = counts.first == kNoTimestamp ? time : std::min(counts.first, time);
        counts.last = std::max(counts.last, time);
    }
    std::set<std::uint64_t> overlapping;
    for (const auto& [index, cut] : overlapping_) {
        if (!by_hash.contains(cut.key_hash)) {
            overlapping.insert(cut.key_hash);
        }
    }
    counts.overlapping = static_cast<std::int64_t>(overlapping.size());
    counts.unattributed = std::ranges::count_if(
        unattributed, [&](std::uint64_t hash) { return !by_hash.contains(hash) && !overlapping.contains(hash); });
    std::set<std::uint64_t> given_again;
    for (const auto& [index, cut] : given_again_) {
        if (!by_hash.contains(cut.key_hash) && !overlapping.contains(cut.key_hash) && !unattributed.contains(cut.key_hash)) {
            given_again.insert(cut.key_hash);
        }
    }
    counts.given_back = static_cast<std::int64_t>(given_again.size());
    for (const auto& [hash, worst] : by_hash) {
        counts.handed_out += worst.is_wrong ? 1 : 0;
        counts.processed += worst.is_processed ? 1 : 0;
        counts.in_one_answer += worst.is_wrong && !worst.is_in_several_answers ? 1 : 0;
        counts.in_two_members += worst.is_wrong && !worst.is_certain ? 1 : 0;
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
        if (key.is_wrong() && is_attributed(index)) {
            wrong.push_back({.cut = key.cut,
                             .later_reader = key.later_reader,
                             .earlier_reader = key.earlier->reader,
                             .later_time = key.later_time,
                             .earlier_time = key.earlier->time,
                             .is_in_one_answer = key.later_answer == key.earlier->answer,
                             .is_in_two_members = key.is_in_two_members,
                             .is_processed = key.is_committed});
        }
    }
    return wrong;
}

std::vector<KeyCut> DeliveryOrder::overlapping() const {
    std::vector<KeyCut> cuts;
    for (const auto& [index, cut] : overlapping_) {
        cuts.push_back(cut);
    }
    return cuts;
}

std::vector<KeyCut> DeliveryOrder::given_back() const {
    std::vector<KeyCut> cuts;
    for (const auto& [index, key] : keys_) {
        if (key.earlier && key.is_given_back && is_attributed(index)) {
            cuts.push_back(key.cut);
        }
    }
    for (const auto& [index, cut] : given_again_) {
        cuts.push_back(cut);
    }
    return cuts;
}

std::vector<KeyCut> DeliveryOrder::unattributed() const {
    std::vector<KeyCut> cuts;
    for (const auto& [index, key] : keys_) {
        if (key.earlier && !is_attributed(index)) {
            cuts.push_back(key.cut);
        }
    }
    return cuts;
}

bool DeliveryOrder::has_all(PartitionIndex partition, Offset from, Offset end) const {
    if (end <= from) {
        return true;
    }
    const auto passed = passed_.find(partition);
    return passed != passed_.end() && passed->second.contains(from, end);
}

}  // namespace partita::insight
