// The part of OrderWatch that tells what the watch has found.

#include <algorithm>
#include <utility>

#include "broker/insight/readers/order_watch.h"

namespace partita::insight {

void OrderWatch::add_to(Told& told, const DeliveryOrder& order, bool is_exact) const {
    const std::vector<WrongKey> wrong = order.wrong_keys();
    const DeliveryOrder::Counts counts = order.counts();
    std::set<std::uint64_t> in_several;
    std::set<std::uint64_t> certain;
    for (const WrongKey& key : wrong) {
        told.keys.insert(key.cut.key_hash);
        if (key.is_processed) {
            told.processed.insert(key.cut.key_hash);
        }
        (key.is_in_one_answer ? told.in_one_answer : in_several).insert(key.cut.key_hash);
        (key.is_in_two_members ? told.in_two_members : certain).insert(key.cut.key_hash);
        told.readers.insert(key.later_reader);
        told.readers.insert(key.earlier_reader);
        told.first = told.first == kNoTimestamp ? key.earlier_time : std::min(told.first, key.earlier_time);
        told.last = std::max(told.last, key.earlier_time);
    }
    for (const std::uint64_t key : in_several) {
        told.in_one_answer.erase(key);
    }
    for (const std::uint64_t key : certain) {
        told.in_two_members.erase(key);
    }
    told.is_exact = told.is_exact && is_exact && counts.is_exact && !are_all_inexact_ && waiting_.empty();
    const auto note_earlier = [&](const KeyCut& cut) {
        Offset& last = told.last_earlier.try_emplace(cut.from, cut.earlier).first->second;
        last = std::max(last, cut.earlier);
    };
    std::ranges::for_each(wrong, note_earlier, &WrongKey::cut);
    const auto add_open = [&](std::set<std::uint64_t>& keys, const std::vector<KeyCut>& cuts) {
        for (const KeyCut& cut : cuts) {
            keys.insert(cut.key_hash);
            note_earlier(cut);
        }
    };
    add_open(told.overlapping, order.overlapping());
    add_open(told.unattributed, order.unattributed());
    add_open(told.given_back, order.given_back());
    std::erase_if(told.overlapping, [&](std::uint64_t key) { return told.keys.contains(key); });
    std::erase_if(told.unattributed,
                  [&](std::uint64_t key) { return told.keys.contains(key) || told.overlapping.contains(key); });
    std::erase_if(told.given_back, [&](std::uint64_t key) {
        return told.keys.contains(key) || told.overlapping.contains(key) || told.unattributed.contains(key);
    });
    told.cuts.insert(told.cuts.end(), wrong.begin(), wrong.end());
}

std::map<std::string, OrderWatch::Told> OrderWatch::told() const {
    std::map<std::string, Told> all;
    for (const Growth& growth : growths_) {
        for (const auto& [group, order] : growth.groups) {
            if (order.order.has_told() && !deletions_.contains(group)) {
                add_to(all[group], order.order, !growth.has_left_out && !inexact_groups_.contains(group));
            }
        }
        growth.late.for_each([&](const std::string& group, const DeliveryOrder& order) {
            if (order.has_told() && !deletions_.contains(group)) {
                add_to(all[group], order, growth.late.is_exact() && !inexact_groups_.contains(group));
            }
        });
    }
    return all;
}

std::map<ReadingClient, OrderWatch::Told> OrderWatch::told_outside() const {
    std::map<ReadingClient, Told> all;
    for (const Growth& growth : growths_) {
        for (const auto& [client, passes] : growth.outsiders) {
            ReadingClient named = client;
            named.process.reset();
            for (const OutsidePass& pass : passes) {
                if (pass.order().has_told()) {
                    add_to(all[named], pass.order(), !growth.has_left_out && pass.is_exact());
                }
            }
        }
    }
    return all;
}

std::vector<WrongKey> OrderWatch::wrong_keys(const Reader& reader) const {
    const auto is_meant = [&](const ReadingClient& client) {
        return client.identity.client_id == reader.client_id &&
               (reader.client_address.empty() || host_of(client.identity.address) == host_of(reader.client_address));
    };
    std::vector<WrongKey> all;
    const auto append = [&](const DeliveryOrder& order) {
        const std::vector<WrongKey> more = order.wrong_keys();
        all.insert(all.end(), more.begin(), more.end());
    };
    for (const Growth& growth : growths_) {
        if (!reader.group.empty()) {
            if (const auto order = growth.groups.find(reader.group); order != growth.groups.end()) {
                append(order->second.order);
            }
            growth.late.for_each([&](const std::string& group, const DeliveryOrder& order) {
                if (group == reader.group) {
                    append(order);
                }
            });
            continue;
        }
        for (const auto& [client, passes] : growth.outsiders) {
            if (is_meant(client)) {
                std::ranges::for_each(passes, append, &OutsidePass::order);
            }
        }
    }
    return all;
}

bool OrderWatch::has_judged(std::string_view group, PartitionIndex from, Offset earlier, PartitionIndex to, Offset later) const {
    if (are_all_inexact_ || inexact_groups_.contains(group)) {
        return false;
    }
    return std::ranges::any_of(growths_, [&](const Growth& growth) {
        if (growth.late.has_judged(group, from, earlier, to, later)) {
            return true;
        }
        const auto watched = growth.groups.find(group);
        if (watched == growth.groups.end() || growth.has_left_out || !growth.cut.is_before(from, earlier) ||
            growth.cut.is_before(to, later)) {
            return false;
        }
        const DeliveryOrder& order = watched->second.order;
        // Behind the key's first record there, the answers do not judge it.
        const bool began_in_front = order.begin_of(to).value_or(kNoOffset) <= growth.cut.end_of(to);
        return began_in_front && order.has_handed_out(from, earlier) && order.has_handed_out(to, later);
    });
}

bool OrderWatch::is_unread(std::string_view group, PartitionIndex partition, Offset offset) const {
    const bool is_all_known = !are_all_inexact_ && !inexact_groups_.contains(group) && waiting_.empty();
    return is_all_known && std::ranges::any_of(growths_, [&](const Growth& growth) {
               if (!growth.cut.is_before(partition, offset)) {
                   return growth.late.is_unread(group, partition, offset);
               }
               const auto watched = growth.groups.find(group);
               return watched != growth.groups.end() && watched->second.order.is_unread(partition, offset);
           });
}

bool OrderWatch::judges(std::span<const StaleWrites::Writer> writers) const {
    return std::ranges::all_of(writers, [&](const StaleWrites::Writer& writer) {
        return std::ranges::any_of(
            growths_, [&](const Growth& growth) { return growth.cut.new_count == writer.new_count && growth.late.is_exact(); });
    });
}

void OrderWatch::add_groups_told(std::set<std::string>& groups) const {
    for (const Growth& growth : growths_) {
        for (const auto& [group, order] : growth.groups) {
            groups.insert(group);
        }
        growth.late.for_each([&](const std::string& group, const DeliveryOrder&) { groups.insert(group); });
    }
    for (const auto* known : {&positions_, &last_positions_}) {
        for (const auto& [group, positions] : *known) {
            groups.insert(group);
        }
    }
}

}  // namespace partita::insight
