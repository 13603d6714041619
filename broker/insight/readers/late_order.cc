#include "broker/insight/readers/late_order.h"

#include <algorithm>

#include "broker/insight/readers/reader_facts.h"

namespace partita::insight {

LateOrder::Writing LateOrder::writing_of(const LateFacts& facts) {
    Writing writing{.ends = std::vector<Offset>()};
    for (const StaleWrites::Writer& writer : facts.writers) {
        if (writer.new_count != facts.growths.back().new_count) {
            continue;
        }
        writing.records += writer.records;
        writing.is_going_on = writing.is_going_on || writer.is_writing;
        if (!writer.is_exact || writer.is_writing) {
            writing.ends.reset();
        }
        for (const auto& [partition, offset] : writer.last) {
            if (!writing.ends) {
                break;
            }
            const auto index = static_cast<std::size_t>(partition.value);
            if (writing.ends->size() <= index) {
                writing.ends->resize(index + 1, Offset{0});
            }
            (*writing.ends)[index] = std::max((*writing.ends)[index], Offset{offset.value + 1});
        }
    }
    if (writing.records == 0 && facts.has_late) {
        writing.records = 1;
        writing.ends.reset();
    }
    return writing;
}

bool LateOrder::is_done(std::span<const Offset> before) const {
    if (!late_ends_ || before.empty()) {
        return false;
    }
    for (std::size_t index = 0; index < late_ends_->size(); ++index) {
        if (offset_at(before, {static_cast<std::int32_t>(index)}) < (*late_ends_)[index]) {
            return false;
        }
    }
    return true;
}

bool LateOrder::may_be_in_front_of_late(const HandOut& handed) const {
    return !late_ends_ || handed.from < offset_at(*late_ends_, handed.partition);
}

void LateOrder::hand_out(const std::string& group, const HandOut& handed, std::span<const Offset> before) {
    if (!is_noting(group)) {
        before_.emplace(group, std::vector<Offset>(before.begin(), before.end()));
    }
    const bool may_be_late = before.empty() ? may_be_in_front_of_late(handed) : !is_done(before);
    is_wanted_ = is_wanted_ || (known_records_ > 0 && may_be_late && !through_.contains(group));
    add({group, handed});
}

void LateOrder::commit(const std::string& group, PartitionIndex partition, Offset offset, TimestampMs time) {
    if (is_noting(group)) {
        add({group, Commit{partition, offset, time}});
    }
}

void LateOrder::add(Event event) {
    if (!scan_ && !is_wanted_ && events_.size() >= kNotedMax) {
        lose(std::visit([](const auto& what) { return what.time; }, events_.front().what));
        events_.pop_front();
    }
    if (events_.size() >= kWaitingMax) {
        has_lost_ = true;
        return;
    }
    events_.push_back(std::move(event));
}

void LateOrder::forget_old_notes(TimestampMs now) {
    const auto time_of = [](const Event& event) { return std::visit([](const auto& what) { return what.time; }, event.what); };
    while (!events_.empty() && now.value - time_of(events_.front()).value > kNotedMs) {
        events_.pop_front();
    }
    std::erase_if(before_, [&](const auto& entry) {
        return std::ranges::none_of(events_, [&](const Event& event) { return event.group == entry.first; });
    });
}

void LateOrder::forget_group(const std::string& group) {
    std::erase_if(events_, [&](const Event& event) { return event.group == group; });
    before_.erase(group);
    groups_.erase(group);
    through_.erase(group);
    told_.erase(group);
}

void LateOrder::forget_before(PartitionIndex partition, Offset offset) {
    for (auto& [group, watched] : groups_) {
        watched.order.forget_before(partition, offset);
    }
    for (auto& [group, orders] : told_) {
        for (DeliveryOrder& order : orders) {
            order.forget_before(partition, offset);
        }
    }
}

bool LateOrder::settle(const LateFacts& facts, LookTime& time) {
    const Writing writing = writing_of(facts);
    if (writing.records != std::exchange(known_records_, writing.records) || writing.is_going_on) {
        late_ends_.reset();
        through_.clear();
        for (auto& [name, group] : groups_) {
            group.is_through = false;
        }
    }
    is_blind_ = writing.records > 0 && !scan_ && facts.families.is_empty() && facts.homes == nullptr;
    const bool is_known = writing.records == 0 || (late_ends_ && !is_wanted_);
    if (!scan_ && (is_known || is_blind_)) {
        is_wanted_ = false;
        forget_old_notes(time.now());
        return true;
    }
    if (!scan_) {
        families_ = facts.families;
        has_lost_ = has_lost_ || (lost_ != kNoTimestamp && time.now().value - lost_.value <= kNotedMs) ||
                    (families_.is_empty() && !facts.has_all_homes);
        scan_.emplace(facts.growths, facts.grown, facts.ends, facts.families);
    }
    // Which records a partitioner that came later placed by an earlier count was not looked at.
    has_lost_ = has_lost_ || (!families_.is_empty() && (facts.families | families_) != families_);
    const bool is_needed = std::ranges::any_of(events_, [&](const Event& event) { return is_reading_for(event.group); });
    if ((is_needed || !late_ends_) && !read_ahead(facts, writing)) {
        return false;
    }
    while (!events_.empty()) {
        if (!judge(events_.front(), facts)) {
            return false;
        }
        events_.pop_front();
    }
    before_.clear();
    is_wanted_ = false;
    end_watches(facts, time);
    if (!writing.is_going_on) {
        const std::span<const Offset> ends = scan_->late_ends();
        late_ends_.emplace(ends.begin(), ends.end());
        if (std::ranges::all_of(groups_, [](const auto& entry) { return entry.second.is_through; })) {
            close();
        }
    }
    return true;
}

bool LateOrder::is_reading_for(const std::string& group) const {
    if (const auto known = groups_.find(group); known != groups_.end()) {
        return !known->second.is_through;
    }
    if (through_.contains(group)) {
        return false;
    }
    if (const auto before = before_.find(group); before != before_.end() && !before->second.empty()) {
        return !is_done(before->second);
    }
    return std::ranges::any_of(events_, [&](const Event& event) {
        const auto* handed = std::get_if<HandOut>(&event.what);
        return handed != nullptr && event.group == group && may_be_in_front_of_late(*handed);
    });
}

bool LateOrder::read_ahead(const LateFacts& facts, const Writing& writing) {
    for (std::int32_t index = 0; index < facts.growths.back().old_count; ++index) {
        const Offset end = offset_at(writing.ends ? std::span<const Offset>(*writing.ends) : facts.log_ends, {index});
        // Records that are not decided are not needed yet: nobody is handed them.
        if (!scan_->read(facts.records, {index}, end, facts.now, facts.homes) && !facts.records.has_budget()) {
            return false;
        }
    }
    scan_->join();
    return true;
}

LateOrder::Group* LateOrder::group_of(const std::string& name, const LateFacts& facts) {
    if (const auto known = groups_.find(name); known != groups_.end()) {
        return &known->second;
    }
    if (groups_.size() == kGroupsMax || facts.is_full) {
        has_lost_ = true;
        return nullptr;
    }
    const bool is_through = !is_reading_for(name);
    Group& group = groups_[name];
    group.is_through = is_through;
    if (const auto before = before_.find(name); before != before_.end() && !before->second.empty()) {
        group.order.begin_at_work(before->second);
    }
    return &group;
}

bool LateOrder::judge(const Event& event, const LateFacts& facts) {
    const auto* handed = std::get_if<HandOut>(&event.what);
    if (handed == nullptr) {
        const Commit& commit = std::get<Commit>(event.what);
        if (const auto known = groups_.find(event.group); known != groups_.end()) {
            known->second.order.commit(commit.partition, commit.offset, commit.time);
        }
        return true;
    }
    Group* group = group_of(event.group, facts);
    if (group == nullptr) {
        return true;
    }
    if (!group->is_through) {
        if (!scan_->read(facts.records, handed->partition, handed->to, facts.now, facts.homes)) {
            return false;
        }
        scan_->join();
    }
    group->order.discover(scan_->table(), std::exchange(group->cuts, scan_->table().cuts().size()));
    group->order.hand_out(*handed, scan_->table());
    if (handed->from < offset_at(scan_->late_ends(), handed->partition)) {
        group->last = handed->time;
    }
    return true;
}

void LateOrder::end_watches(const LateFacts& facts, LookTime& time) {
    const std::span<const Offset> ends = scan_->late_ends();
    for (auto& [name, group] : groups_) {
        const auto known = facts.positions.find(name);
        bool has_all = true;
        bool has_committed = true;
        for (std::size_t index = 0; index < ends.size(); ++index) {
            const PartitionIndex partition{static_cast<std::int32_t>(index)};
            const Offset position = known == facts.positions.end() ? kNoOffset : offset_at(known->second, partition);
            if (position > Offset{0}) {
                group.order.reach(partition, position);
            }
            const Offset start = std::max(facts.growths.back().end_of(partition), offset_at(facts.log_starts, partition));
            has_all = has_all && group.order.has_all(partition, start, ends[index]);
            has_committed = has_committed && (position >= ends[index] || start >= ends[index]);
        }
        group.is_through = has_all && (has_committed || time.has_passed(group.last, kUncommittedMs));
    }
}

void LateOrder::close() {
    has_lost_ = has_lost_ || !scan_->is_exact();
    for (auto& [name, group] : groups_) {
        through_.insert(name);
        if (!group.order.has_told()) {
            continue;
        }
        std::deque<DeliveryOrder>& orders = told_[name];
        orders.push_back(std::move(group.order));
        if (orders.size() > kToldMax) {
            orders.pop_front();
            has_lost_ = true;
        }
    }
    groups_.clear();
    scan_.reset();
}

std::size_t LateOrder::size() const {
    std::size_t count = 0;
    for_each([&](const std::string&, const DeliveryOrder& order) { count += order.size(); });
    return count;
}

bool LateOrder::is_unread(std::string_view group, PartitionIndex partition, Offset offset) const {
    const auto watched = groups_.find(group);
    if (has_lost_ || has_work() || watched == groups_.end()) {
        return false;
    }
    return watched->second.order.is_unread(partition, offset);
}

bool LateOrder::has_judged(std::string_view group, PartitionIndex from, Offset earlier, PartitionIndex to, Offset later) const {
    if (!is_exact()) {
        return false;
    }
    bool has_judged = false;
    for_each([&](const std::string& name, const DeliveryOrder& order) {
        has_judged = has_judged || (name == group && order.has_handed_out(from, earlier) && order.has_handed_out(to, later));
    });
    return has_judged;
}

}  // namespace partita::insight
