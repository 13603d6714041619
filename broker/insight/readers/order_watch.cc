#include "broker/insight/readers/order_watch.h"

#include <algorithm>
#include <iterator>
#include <ranges>
#include <utility>

namespace partita::insight {
namespace {

GrowthCut cut_of(const EarlierExpansion& growth) {
    return {.old_count = growth.old_count, .new_count = growth.new_count, .ends = growth.log_end_offsets};
}

/// By partition, where the group goes on; kNoOffset where it has committed nothing.
std::vector<Offset> positions_in(const GroupFacts& group, std::int32_t partitions) {
    std::vector<Offset> positions;
    positions.reserve(static_cast<std::size_t>(partitions));
    for (std::int32_t index = 0; index < partitions; ++index) {
        positions.push_back(position_of(group, {index}).value_or(kNoOffset));
    }
    return positions;
}

HandOut hand_out_of(const Delivery& delivery, Offset to) {
    return {.reader = delivery.connection.value,
            .answer = delivery.answer,
            .partition = delivery.partition,
            .from = delivery.from,
            .to = to,
            .time = delivery.time};
}

}  // namespace

void OrderWatch::set_growths(std::span<const EarlierExpansion> growths) {
    for (std::size_t index = cuts_.size(); index < growths.size(); ++index) {
        cuts_.push_back(cut_of(growths[index]));
        growths_.push_back({.cut = cuts_.back(), .time = growths[index].time, .groups_then = growths[index].groups});
    }
    if (growths_.size() > kGrowthsMax) {
        growths_.erase(growths_.begin(), growths_.end() - kGrowthsMax);
    }
}

void OrderWatch::on_delivery(const Delivery& delivery) {
    if (waiting_.size() >= kWaitingMax) {
        are_all_inexact_ = true;
        return;
    }
    waiting_.emplace_back(Waiting{delivery});
}

void OrderWatch::on_commit(std::string_view group, std::span<const Inversions::Commit> commits,
                           const Inversions::Positions* before, TimestampMs time) {
    if (before != nullptr && !last_positions_.contains(group) && first_positions_.size() < kGroupsMax) {
        FirstPositions first{.positions = {}, .are_certain = true};
        for (const auto& [partition, offset] : *before) {
            const auto index = static_cast<std::size_t>(partition.value);
            first.positions.resize(std::max(first.positions.size(), index + 1), kNoOffset);
            first.positions[index] = offset;
        }
        FirstPositions& known = first_positions_[std::string(group)];
        if (!known.are_certain) {
            known = std::move(first);
        }
    }
    const bool is_watched = !waiting_.empty() || std::ranges::any_of(growths_, [&](const Growth& growth) {
        return growth.groups.contains(group) || growth.has_at_work(group) || growth.late.is_noting(group);
    });
    if (!is_watched) {
        return;
    }
    if (waiting_.size() >= kWaitingMax) {
        are_all_inexact_ = true;
        return;
    }
    waiting_.emplace_back(CommitNote{std::string(group), {commits.begin(), commits.end()}, time});
}

void OrderWatch::forget_group(const std::string& group) {
    positions_.erase(group);
    last_positions_.erase(group);
    first_positions_.erase(group);
    forget(group);
    if (!waiting_.empty()) {
        // The deliveries that wait were to the group that was deleted. They are applied, and forgotten after that.
        ++deletions_[group];
        waiting_.emplace_back(DeletionNote{group});
    }
}

void OrderWatch::settle(const ReaderFacts& facts, ReaderOwners& owners, std::optional<Positions> wanted, LookTime& time) {
    wanted_moved_ = std::move(wanted);
    families_ = facts.known_families;
    if (facts.records == nullptr) {
        waiting_.clear();
        deletions_.clear();
        return;
    }
    forget_removed(facts);
    const GroupIndex groups(facts.groups);
    resolve(facts, groups, owners);
    note_first_positions(facts);
    read_for_moved(facts);
    note_reading_groups(owners);
    while (!waiting_.empty()) {
        Event& event = waiting_.front();
        if (const auto* waiting = std::get_if<Waiting>(&event)) {
            if (apply(*waiting, facts, groups, owners, time) == Step::waits) {
                is_reading_ = !facts.records->has_budget();
                return;
            }
        } else if (const auto* commit = std::get_if<CommitNote>(&event)) {
            apply(*commit);
        } else {
            apply(std::get<DeletionNote>(event));
        }
        waiting_.pop_front();
    }
    end_watches(*facts.connections, time);
    const bool has_judged_late = settle_late(facts, time);
    remember_positions(facts);
    is_reading_ = !has_judged_late && !facts.records->has_budget();
}

void OrderWatch::note_for_late(const Waiting& waiting, const std::string& group, bool is_attributed) {
    const Delivery& delivery = waiting.delivery;
    if (!waiting.to) {
        for (Growth& growth : growths_) {
            growth.late.lose(delivery.time);
        }
        return;
    }
    HandOut handed = hand_out_of(delivery, *waiting.to);
    handed.is_attributed = is_attributed;
    const auto before = positions_.find(group);
    for (std::size_t index = 0; index < growths_.size(); ++index) {
        // It lies after this growth. Groups that are handed what lies after the next one are through.
        if (growths_[index].cut.is_before(delivery.partition, delivery.from) &&
            growths_[index].cut.is_before(delivery.partition, Offset{handed.to.value - 1})) {
            continue;
        }
        growths_[index].late.hand_out(group, handed, before == positions_.end() ? std::span<const Offset>() : before->second);
    }
}

bool OrderWatch::settle_late(const ReaderFacts& facts, LookTime& time) {
    bool is_done = true;
    for (std::size_t index = 0; index < growths_.size(); ++index) {
        const std::size_t known = cuts_.size() - growths_.size() + index;
        partitioners::FamilySet families = families_;
        bool has_late = false;
        const KeyCuts* homes = nullptr;
        bool has_all_homes = false;
        for (const Scan& scan : growths_[index].scans) {
            has_late = has_late || scan.scan.has_late();
            if (const auto family = scan.scan.family(); family && families_.is_empty()) {
                families.insert(*family);
            }
            if (scan.scan.has_read_before() && (scan.is_whole || homes == nullptr)) {
                homes = &scan.scan.cuts();
                has_all_homes = scan.is_whole && homes->sampling() == 1;
            }
        }
        is_done = growths_[index].late.settle({.growths = std::span(cuts_).first(known + 1),
                                               .grown = growths_[index].time,
                                               .ends = known + 1 < cuts_.size() ? cuts_[known + 1].ends : std::vector<Offset>(),
                                               .writers = facts.stale_writers,
                                               .families = families,
                                               .has_late = has_late,
                                               .homes = homes,
                                               .has_all_homes = has_all_homes,
                                               .is_full = is_full_,
                                               .now = time.now(),
                                               .log_starts = facts.log_starts,
                                               .log_ends = facts.log_ends,
                                               .positions = last_positions_,
                                               .records = *facts.records},
                                              time) &&
                  is_done;
    }
    return is_done;
}

void OrderWatch::forget_removed(const ReaderFacts& facts) {
    for (std::size_t index = 0; index < facts.log_starts.size(); ++index) {
        const PartitionIndex partition{static_cast<std::int32_t>(index)};
        if (offset_at(log_starts_, partition) == facts.log_starts[index]) {
            continue;
        }
        for (Growth& growth : growths_) {
            for (auto& [group, order] : growth.groups) {
                order.order.forget_before(partition, facts.log_starts[index]);
            }
            growth.late.forget_before(partition, facts.log_starts[index]);
            for (auto& [client, passes] : growth.outsiders) {
                for (OutsidePass& pass : passes) {
                    pass.forget_before(partition, facts.log_starts[index]);
                }
            }
        }
    }
    log_starts_.assign(facts.log_starts.begin(), facts.log_starts.end());
}

void OrderWatch::resolve(const ReaderFacts& facts, const GroupIndex& groups, ReaderOwners& owners) {
    std::map<ConnectionId, std::shared_ptr<const ReadingClient>> clients;
    for (Event& event : waiting_) {
        auto* waiting = std::get_if<Waiting>(&event);
        if (waiting == nullptr) {
            continue;
        }
        if (waiting->group.empty() && !waiting->outsider) {
            const ReaderOwner& owner = owners.of(waiting->delivery.connection);
            if (owner.is_of_one_group && !owner.may_change && !is_of_a_name_only(owner, groups)) {
                waiting->group = owner.groups.front();
                waiting->is_dropped = is_dropped(waiting->delivery, owner);
            } else if (owners.is_outside(waiting->delivery.connection) && std::exchange(waiting->was_outside, true)) {
                auto& client = clients[waiting->delivery.connection];
                if (!client) {
                    client = std::make_shared<const ReadingClient>(*owners.client_of(waiting->delivery.connection));
                }
                waiting->outsider = client;
                waiting->born = owners.born_of(waiting->delivery.connection);
            }
        }
        if (!waiting->to && !waiting->is_gone && facts.records->has_budget()) {
            const Delivery& delivery = waiting->delivery;
            waiting->to = facts.records->end_of_answer(delivery.partition, delivery.from, delivery.size_bytes);
            waiting->is_gone = !waiting->to;
        }
    }
}

void OrderWatch::note_reading_groups(ReaderOwners& owners) {
    for (Growth& growth : growths_) {
        growth.reading_groups.clear();
        growth.may_any_group_read = false;
        for (const Event& event : waiting_) {
            const auto* waiting = std::get_if<Waiting>(&event);
            if (waiting == nullptr || !growth.cut.is_before(waiting->delivery.partition, waiting->delivery.from)) {
                continue;
            }
            if (!waiting->group.empty()) {
                growth.reading_groups.insert(waiting->group);
                continue;
            }
            if (waiting->outsider) {
                continue;
            }
            const ReaderOwner& owner = owners.of(waiting->delivery.connection);
            growth.reading_groups.insert(owner.groups.begin(), owner.groups.end());
            growth.may_any_group_read = growth.may_any_group_read || owner.may_change ||
                                        (owner.kind == Attribution::Kind::one_of && owner.groups.empty());
        }
    }
}

OrderWatch::Step OrderWatch::apply(const Waiting& waiting, const ReaderFacts& facts, const GroupIndex& groups,
                                   ReaderOwners& owners, LookTime& time) {
    if (waiting.is_dropped) {
        return Step::done;
    }
    if (!waiting.group.empty()) {
        return apply_to_groups(waiting, {&waiting.group, 1}, true, facts, groups);
    }
    if (waiting.outsider) {
        return apply_to_outsider(waiting, facts);
    }
    const ReaderOwner& owner = owners.of(waiting.delivery.connection);
    const bool is_of_nobody = owner.kind == Attribution::Kind::no_group || is_of_a_name_only(owner, groups);
    const bool is_open = owner.may_change || owner.kind == Attribution::Kind::one_of || is_of_nobody;
    // A client that belongs to a group shows it within this time after its first fetch.
    const TimestampMs since = is_of_nobody ? owners.first_fetch_of(waiting.delivery.connection) : waiting.delivery.time;
    if (is_open && !time.has_passed(since, kOwnerWaitMs)) {
        return Step::waits;
    }
    if (is_of_nobody) {
        // The broker found no process in all this time, or the group did not come into being.
        Waiting owned = waiting;
        owned.outsider = std::make_shared<const ReadingClient>(*owners.client_of(waiting.delivery.connection));
        owned.born = owners.born_of(waiting.delivery.connection);
        return apply_to_outsider(owned, facts);
    }
    if (is_dropped(waiting.delivery, owner)) {
        return Step::done;
    }
    if (!owner.is_of_one_group) {
        leave_out(owner.groups);
        if (owner.groups.size() > kOwnersMax) {
            return Step::done;
        }
    }
    return apply_to_groups(waiting, owner.groups, owner.is_of_one_group, facts, groups);
}

OrderWatch::Step OrderWatch::apply_to_groups(const Waiting& waiting, std::span<const std::string> names, bool is_attributed,
                                             const ReaderFacts& facts, const GroupIndex& groups) {
    struct Concerned {
        Growth* growth;
        GroupOrder* order;
        const std::string* group;
    };
    const bool is_place_open = std::ranges::any_of(names, [&](const std::string& name) {
        const auto first = first_positions_.find(name);
        return first != first_positions_.end() && !first->second.are_certain;
    });
    if (is_place_open) {
        return Step::waits;
    }
    std::vector<Concerned> concerned;
    for (const std::string& name : names) {
        for (std::size_t index = 0; index < growths_.size(); ++index) {
            if (GroupOrder* order = order_of(index, name, groups.find(name), facts)) {
                concerned.push_back({&growths_[index], order, &name});
            }
        }
    }
    const bool is_late_judged = std::ranges::any_of(growths_, [](const Growth& growth) { return growth.late.is_judging(); });
    if (concerned.empty() && !is_late_judged) {
        std::ranges::for_each(names, [&](const std::string& name) { note_for_late(waiting, name, is_attributed); });
        return Step::done;
    }
    if (waiting.is_gone) {
        // Its records do not exist any more, so nobody knows which they were.
        leave_out({names.begin(), names.end()});
        return Step::done;
    }
    if (!waiting.to) {
        return Step::waits;
    }
    const Delivery& delivery = waiting.delivery;
    for (const Concerned& each : concerned) {
        GrowthScan& scan = each.growth->scans[each.order->scan].scan;
        if (!scan.read_before(*facts.records) || !scan.read_after(*facts.records, delivery.partition, *waiting.to)) {
            return Step::waits;
        }
    }
    HandOut handed = hand_out_of(delivery, *waiting.to);
    handed.is_attributed = is_attributed;
    std::ranges::for_each(names, [&](const std::string& name) { note_for_late(waiting, name, is_attributed); });
    for (const auto& [growth, order, group] : concerned) {
        if (growth->cut.is_before(delivery.partition, delivery.from)) {
            order->last_before = delivery.time;
        }
        if (is_attributed && !order->order.begin_of(delivery.partition)) {
            const Growth& since = watched_since(*growth, delivery.time);
            if (since.has_at_work(*group) && is_begin_doubtful(*order, *group, delivery)) {
                order->order.doubt_begin(delivery.partition, since.cut.end_of(delivery.partition));
            }
        }
        order->order.hand_out(handed, growth->scans[order->scan].scan.cuts().table());
    }
    return Step::done;
}

const OrderWatch::Growth& OrderWatch::watched_since(const Growth& growth, TimestampMs time) const {
    const Growth* since = &growth;
    while (since != &growths_.front() && time < since->time && (since - 1)->groups_then &&
           (since - 1)->groups_then->are_all_known) {
        --since;
    }
    return *since;
}

bool OrderWatch::is_begin_doubtful(const GroupOrder& order, const std::string& group, const Delivery& delivery) const {
    const PartitionIndex partition = delivery.partition;
    if (const auto since = order.order.committed(partition)) {
        const bool is_recent =
            since->time != kNoTimestamp && delivery.time.value - since->time.value <= DeliveryOrder::kHandoverMs;
        return delivery.from == since->offset && !is_recent;
    }
    const Positions* known = nullptr;
    if (const auto first = first_positions_.find(group); first != first_positions_.end()) {
        known = &first->second.positions;
    }
    // Without an older look, the last one says more than nothing.
    for (const auto* looked : {&last_positions_, &positions_}) {
        if (const auto found = looked->find(group); found != looked->end()) {
            known = &found->second;
        }
    }
    const auto index = static_cast<std::size_t>(partition.value);
    const Offset before = known == nullptr || index >= known->size() ? kNoOffset : (*known)[index];
    return delivery.from == (before == kNoOffset ? offset_at(log_starts_, partition) : before);
}

void OrderWatch::note_first_positions(const ReaderFacts& facts) {
    for (auto& [group, known] : first_positions_) {
        known.are_certain = true;
    }
    const std::int32_t partitions = cuts_.empty() ? 0 : cuts_.back().new_count;
    for (const GroupFacts& group : facts.groups) {
        const bool is_wanted =
            !last_positions_.contains(group.group_id) && std::ranges::any_of(growths_, [&](const Growth& growth) {
                return growth.has_at_work(group.group_id) && !growth.groups.contains(group.group_id);
            });
        if (is_wanted && first_positions_.size() < kGroupsMax) {
            first_positions_.try_emplace(group.group_id, FirstPositions{.positions = positions_in(group, partitions)});
        }
    }
}

OrderWatch::Step OrderWatch::apply_to_outsider(const Waiting& waiting, const ReaderFacts& facts) {
    struct Concerned {
        OutsidePass* pass;
        /// Null for a pass that only notes.
        GrowthScan* scan;
    };
    std::vector<Concerned> concerned;
    const Delivery& delivery = waiting.delivery;
    for (std::size_t index = 0; index < growths_.size(); ++index) {
        Growth& growth = growths_[index];
        OutsidePass* pass = pass_of(growth, *waiting.outsider, delivery);
        if (pass == nullptr) {
            continue;
        }
        pass->use(delivery.connection, waiting.born, *facts.connections);
        if (waiting.is_gone) {
            pass->lose();
            continue;
        }
        if (growth.cut.is_before(delivery.partition, delivery.from)) {
            pass->begin_judging(delivery.time);
        }
        concerned.push_back({pass, pass->is_judged() ? &growth.scans[whole_scan(index, facts)].scan : nullptr});
    }
    if (concerned.empty()) {
        return Step::done;
    }
    if (!waiting.to) {
        return Step::waits;
    }
    for (const auto& [pass, scan] : concerned) {
        if (scan == nullptr) {
            continue;
        }
        const auto has_read = [&](const HandOut& noted) { return scan->read_after(*facts.records, noted.partition, noted.to); };
        if (!scan->read_before(*facts.records) || !std::ranges::all_of(pass->noted(), has_read) ||
            !scan->read_after(*facts.records, delivery.partition, *waiting.to)) {
            return Step::waits;
        }
    }
    const HandOut handed = hand_out_of(delivery, *waiting.to);
    for (const auto& [pass, scan] : concerned) {
        if (scan == nullptr) {
            pass->note(handed);
        } else {
            pass->judge(handed, scan->cuts().table());
        }
    }
    return Step::done;
}

OutsidePass* OrderWatch::pass_of(Growth& growth, const ReadingClient& client, const Delivery& delivery) {
    auto known = growth.outsiders.find(client);
    if (known == growth.outsiders.end()) {
        if (growth.outsiders.size() == kOutsidersMax || is_full_) {
            return nullptr;
        }
        known = growth.outsiders.emplace(client, std::deque<OutsidePass>(1)).first;
    }
    std::deque<OutsidePass>& passes = known->second;
    // Two programs may have one name: each connection stays with its pass.
    const auto own = std::ranges::find_if(passes.rbegin(), passes.rend(),
                                          [&](const OutsidePass& pass) { return pass.uses(delivery.connection); });
    OutsidePass& pass = own == passes.rend() ? passes.back() : *own;
    const bool begins_anew = pass.is_over() ? pass.is_left_by(delivery.partition, delivery.from)
                                            : own == passes.rend() && pass.is_preceded_by(delivery.partition, delivery.from);
    if (!begins_anew) {
        if (!pass.is_over()) {
            return &pass;
        }
        if (pass.has_stopped_early()) {
            pass.lose();
        }
        return nullptr;
    }
    std::erase_if(passes, [](const OutsidePass& each) { return each.is_over() && !each.order().has_told(); });
    if (passes.size() == kPassesMax) {
        passes.back().lose();
        return nullptr;
    }
    return &passes.emplace_back();
}

void OrderWatch::apply(const CommitNote& note) {
    for (Growth& growth : growths_) {
        for (const Inversions::Commit& commit : note.commits) {
            growth.late.commit(note.group, commit.partition, commit.offset, note.time);
        }
        const auto order = growth.groups.find(note.group);
        if (order == growth.groups.end()) {
            if (growth.has_at_work(note.group)) {
                for (const Inversions::Commit& commit : note.commits) {
                    growth.commits_at_work[note.group].insert_or_assign(commit.partition,
                                                                        DeliveryOrder::LastCommit{commit.offset, note.time});
                }
            }
            continue;
        }
        for (const Inversions::Commit& commit : note.commits) {
            order->second.order.commit(commit.partition, commit.offset, note.time);
        }
    }
}

void OrderWatch::apply(const DeletionNote& note) {
    forget(note.group);
    const auto waiting = deletions_.find(note.group);
    if (--waiting->second == 0) {
        deletions_.erase(waiting);
    }
}

void OrderWatch::forget(const std::string& group) {
    for (Growth& growth : growths_) {
        growth.groups.erase(group);
        growth.known_groups.erase(group);
        growth.done_groups.erase(group);
        growth.commits_at_work.erase(group);
        growth.late.forget_group(group);
        if (growth.has_at_work(group) || growth.has_done(group)) {
            growth.deleted_then.insert(group);
        }
    }
    inexact_groups_.erase(group);
}

OrderWatch::GroupOrder* OrderWatch::order_of(std::size_t growth_index, const std::string& group, const GroupFacts* group_facts,
                                             const ReaderFacts& facts) {
    Growth& growth = growths_[growth_index];
    if (const auto known = growth.groups.find(group); known != growth.groups.end()) {
        return known->second.is_through ? nullptr : &known->second;
    }
    if (growth.done_groups.contains(group)) {
        return nullptr;
    }
    if (was_done(growth, group, group_facts)) {
        growth.done_groups.insert(group);
        return nullptr;
    }
    if (growth.groups.size() == kGroupsMax || is_full_) {
        growth.has_left_out = true;
        return nullptr;
    }
    const bool is_first_enough = !growth.scans.empty() && growth.known_groups.contains(group);
    const std::size_t scan = is_first_enough ? 0 : whole_scan(growth_index, facts);
    GroupOrder& order = growth.groups[group];
    order.scan = scan;
    if (growth.has_at_work(group)) {
        const auto known = positions_.find(group);
        order.order.begin_at_work(known == positions_.end() ? std::span<const Offset>() : known->second);
    }
    if (const auto commits = growth.commits_at_work.extract(group); !commits.empty()) {
        for (const auto& [partition, commit] : commits.mapped()) {
            order.order.commit(partition, commit.offset, commit.time);
        }
    }
    return &order;
}

std::size_t OrderWatch::whole_scan(std::size_t growth_index, const ReaderFacts& facts) {
    std::vector<Scan>& scans = growths_[growth_index].scans;
    if (scans.empty() || (scans.size() == 1 && !scans[0].is_whole)) {
        add_scan(growth_index, {facts.log_starts.begin(), facts.log_starts.end()}, true);
    }
    return scans[0].is_whole ? 0 : 1;
}

bool OrderWatch::has_passed_all(const Growth& growth, const Positions& positions) const {
    for (std::int32_t index = 0; index < growth.cut.old_count; ++index) {
        const Offset end = growth.cut.end_of({index});
        const Offset position =
            static_cast<std::size_t>(index) < positions.size() ? positions[static_cast<std::size_t>(index)] : kNoOffset;
        if (offset_at(log_starts_, {index}) < end && position < end) {
            return false;
        }
    }
    return true;
}

bool OrderWatch::was_done(const Growth& growth, const std::string& group, const GroupFacts* group_facts) const {
    if (const auto known = positions_.find(group); known != positions_.end()) {
        return has_passed_all(growth, known->second);
    }
    if (growth.has_done(group)) {
        return true;
    }
    // It may have committed all of it since the growth, and taken some of it in wrong order before that.
    if (growth.has_at_work(group) || (growth.groups_then && growth.groups_then->are_all_known)) {
        return false;
    }
    // The facts are newer than the deliveries that wait: these show whether the group has just read it all.
    return group_facts != nullptr && !growth.may_any_group_read && !growth.reading_groups.contains(group) &&
           has_passed_all(growth, positions_in(*group_facts, growth.cut.old_count));
}

OrderWatch::Scan& OrderWatch::add_scan(std::size_t growth_index, Positions from, bool is_whole) {
    const std::size_t last = cuts_.size() - growths_.size() + growth_index;
    return growths_[growth_index].scans.emplace_back(
        Scan{.scan = GrowthScan(std::span(cuts_).first(last + 1), std::move(from), families_), .is_whole = is_whole});
}

void OrderWatch::leave_out(const std::vector<std::string>& groups) {
    inexact_groups_.insert(groups.begin(), groups.end());
    are_all_inexact_ = are_all_inexact_ || groups.empty();
}

void OrderWatch::remember_positions(const ReaderFacts& facts) {
    positions_ = std::exchange(last_positions_, {});
    const std::int32_t partitions = cuts_.empty() ? 0 : cuts_.back().new_count;
    for (const GroupFacts& group : facts.groups) {
        last_positions_.emplace(group.group_id, positions_in(group, partitions));
        first_positions_.erase(group.group_id);
    }
}

void OrderWatch::end_watches(const ConnectionDirectory& connections, LookTime& time) {
    is_full_ = keys() >= kKeysMax;
    for (Growth& growth : growths_) {
        bool is_in_use = (&growth == &growths_.back() && wanted_moved_) || growth.late.needs_homes();
        for (auto& [group, order] : growth.groups) {
            if (order.is_through) {
                continue;
            }
            // The group was handed everything before its position of the last look, and all of that was applied.
            const auto known = last_positions_.find(group);
            bool has_all = true;
            bool has_committed = true;
            for (std::int32_t index = 0; index < growth.cut.old_count; ++index) {
                const PartitionIndex partition{index};
                const Offset position = known != last_positions_.end() ? offset_at(known->second, partition) : kNoOffset;
                if (position > Offset{0}) {
                    order.order.reach(partition, position);
                }
                const Offset end = growth.cut.end_of(partition);
                has_all = has_all && order.order.has_all(partition, offset_at(log_starts_, partition), end);
                has_committed = has_committed && (position >= end || offset_at(log_starts_, partition) >= end);
            }
            order.is_through = has_all && (has_committed || time.has_passed(order.last_before, kUncommittedMs));
            is_in_use = is_in_use || !order.is_through;
        }
        is_in_use = end_passes(growth, connections, time) || is_in_use;
        for (const Scan& scan : growth.scans) {
            growth.has_left_out = growth.has_left_out || !scan.scan.is_complete() || scan.scan.cuts().sampling() > 1 ||
                                  !scan.scan.cuts().has_all_cuts();
        }
        if (!is_in_use) {
            growth.scans.clear();
            growth.known_groups.clear();
        }
    }
}

bool OrderWatch::end_passes(Growth& growth, const ConnectionDirectory& connections, LookTime& time) const {
    bool is_in_use = false;
    for (auto entry = growth.outsiders.begin(); entry != growth.outsiders.end();) {
        std::deque<OutsidePass>& passes = entry->second;
        bool is_silent = true;
        for (OutsidePass& pass : passes) {
            const bool has_all = pass.is_judged() && pass.has_all(growth.cut, log_starts_);
            const bool has_gone = !pass.is_open(connections) && time.has_passed(pass.last(), kReaderSilentMs + 1);
            if (!pass.is_over() && (has_gone || (has_all && time.has_passed(pass.last_before(), kUncommittedMs)))) {
                pass.end(!has_all);
            }
            is_in_use = is_in_use || (pass.is_judged() && !pass.is_over());
            is_silent = is_silent && has_gone;
        }
        if (is_silent) {
            std::erase_if(passes, [](const OutsidePass& each) { return !each.order().has_told(); });
        }
        entry = passes.empty() ? growth.outsiders.erase(entry) : std::next(entry);
    }
    return is_in_use;
}

std::size_t OrderWatch::keys() const {
    std::size_t count = 0;
    for (const Growth& growth : growths_) {
        for (const auto& [group, order] : growth.groups) {
            count += order.order.size();
        }
        for (const auto& [client, passes] : growth.outsiders) {
            for (const OutsidePass& pass : passes) {
                count += pass.order().size();
            }
        }
        count += growth.late.size();
    }
    return count;
}

void OrderWatch::read_for_moved(const ReaderFacts& facts) {
    if (!wanted_moved_ || growths_.empty()) {
        return;
    }
    Growth& growth = growths_.back();
    const auto serves = [&](const Scan& scan) {
        return scan.is_whole || std::ranges::all_of(std::views::iota(0, growth.cut.old_count), [&](std::int32_t index) {
                   const Offset wanted = std::max(offset_at(*wanted_moved_, {index}), offset_at(facts.log_starts, {index}));
                   return scan.scan.from({index}) <= std::min(wanted, growth.cut.end_of({index}));
               });
    };
    auto scan = std::ranges::find_if(growth.scans, serves);
    if (scan == growth.scans.end()) {
        const bool is_first = growth.scans.empty();
        Positions from;
        for (std::int32_t index = 0; index < growth.cut.old_count; ++index) {
            const Offset start = offset_at(facts.log_starts, {index});
            const Offset wanted = std::min(offset_at(*wanted_moved_, {index}), growth.cut.end_of({index}));
            from.push_back(is_first ? std::max(start, wanted) : start);
        }
        // The positions are newer than the deliveries that wait.
        for (const Event& event : waiting_) {
            const auto* waiting = std::get_if<Waiting>(&event);
            if (waiting != nullptr && growth.cut.is_before(waiting->delivery.partition, waiting->delivery.from)) {
                Offset& begin = from[static_cast<std::size_t>(waiting->delivery.partition.value)];
                begin = std::min(begin, waiting->delivery.from);
            }
        }
        const bool is_whole = std::ranges::all_of(std::views::iota(0, growth.cut.old_count), [&](std::int32_t index) {
            return from[static_cast<std::size_t>(index)] <= offset_at(facts.log_starts, {index});
        });
        if (is_first) {
            for (const GroupFacts& group : facts.groups) {
                const Positions positions = positions_in(group, growth.cut.old_count);
                const bool is_served =
                    std::ranges::equal(from, positions, [](Offset begin, Offset position) { return begin <= position; });
                if (is_served) {
                    growth.known_groups.insert(group.group_id);
                }
            }
        }
        add_scan(growths_.size() - 1, std::move(from), is_whole);
        scan = std::prev(growth.scans.end());
    }
    // The next look goes on where this one stops.
    (void)scan->scan.read_before(*facts.records);
}

OrderWatch::Moved OrderWatch::moved_from(std::span<const Offset> positions) const {
    Moved moved;
    if (growths_.empty()) {
        return moved;
    }
    const Growth& growth = growths_.back();
    for (const Scan& scan : growth.scans) {
        moved.has_no_keys = !scan.scan.do_keys_count();
        std::int64_t records = 0;
        bool is_known = true;
        for (std::int32_t index = 0; index < growth.cut.old_count && is_known; ++index) {
            const Offset position = offset_at(positions, {index});
            const std::optional<std::int64_t> in_partition = scan.scan.moved_from({index}, position);
            is_known = in_partition.has_value() &&
                       (position >= scan.scan.from({index}) || scan.is_whole || position >= growth.cut.end_of({index}));
            records += in_partition.value_or(0);
        }
        if (is_known) {
            moved.records = records;
            moved.is_exact = scan.scan.has_all_moved();
            return moved;
        }
    }
    return moved;
}

}  // namespace partita::insight
