#include "broker/insight/readers/consumer_watch.h"

#include <algorithm>

#include "broker/insight/keys/key_table.h"
#include "broker/insight/readers/outside_readers.h"

namespace partita::insight {
namespace {

/// By partition, the lowest position of all groups; null without a group.
std::optional<std::vector<Offset>> lowest_positions(const std::vector<UnreadOfGrowth>& groups) {
    if (groups.empty()) {
        return std::nullopt;
    }
    std::vector<Offset> lowest = groups.front().positions;
    for (const UnreadOfGrowth& group : groups) {
        for (std::size_t index = 0; index < lowest.size(); ++index) {
            lowest[index] = std::min(lowest[index], group.positions[index]);
        }
    }
    return lowest;
}

}  // namespace

void ConsumerWatch::set_growths(std::span<const EarlierExpansion> growths, const std::set<std::string>* readers) {
    // A caller of `settle` may look at an older table.
    if (growths.empty() || (!growths_.empty() && growths.back().new_count <= growths_.back().new_count)) {
        return;
    }
    readings_.on_growth(growths_.empty() ? nullptr : &growths_.back());
    growths_.assign(growths.begin(), growths.end());
    order_.set_growths(growths);
    readers_ = readers == nullptr ? std::nullopt : std::optional(*readers);
    if (readers != nullptr) {
        resets_.on_growth(growths.back().old_count, *readers);
    }
}

void ConsumerWatch::on_offset_fetch(std::string_view group, ConnectionId connection, bool is_member, const ClientIdentity& client,
                                    PartitionIndex partition, Offset committed, TimestampMs now) {
    members_.on_speaker(group, connection, client, partition, now);
    if (is_new(partition)) {
        resets_.on_offset_fetch(group, connection, is_member, client, partition, committed, now);
    }
}

void ConsumerWatch::on_list_offsets(const ClientIdentity& client, PartitionIndex partition, std::int64_t timestamp,
                                    Offset answered) {
    if (is_new(partition)) {
        resets_.on_list_offsets(client, partition, timestamp, answered);
    }
}

void ConsumerWatch::on_fetch(ConnectionId connection, const ClientIdentity& client, PartitionIndex partition, Offset from,
                             TimestampMs now) {
    const bool is_first = readings_.on_fetch(connection, client, partition, from, now);
    if (is_new(partition)) {
        resets_.on_fetch(connection, client, partition, from, is_first, now);
    }
}

void ConsumerWatch::on_commit(std::string_view group, ConnectionId connection, const ClientIdentity& client,
                              std::span<const Commit> commits, const Inversions::Positions* before, TimestampMs now,
                              std::uint64_t keys_sent) {
    for (const Commit& commit : commits) {
        members_.on_speaker(group, connection, client, commit.partition, now);
    }
    note_commits(group, commits, before, now, keys_sent);
}

void ConsumerWatch::on_transaction_commit(std::string_view group, std::span<const Commit> commits,
                                          const Inversions::Positions* before, std::uint64_t keys_sent) {
    note_commits(group, commits, before, kNoTimestamp, keys_sent);
}

void ConsumerWatch::note_commits(std::string_view group, std::span<const Commit> commits, const Inversions::Positions* before,
                                 TimestampMs now, std::uint64_t keys_sent) {
    const std::string name(group);
    for (const Commit& commit : commits) {
        if (is_new(commit.partition)) {
            resets_.on_commit(name, commit.partition, commit.offset);
        }
    }
    inversions_.on_commit(group, commits, before, keys_sent);
    order_.on_commit(group, commits, before, now);
}

void ConsumerWatch::on_leave(std::string_view group, std::string_view member_id, ConnectionId connection, TimestampMs born,
                             const ClientIdentity& client, std::span<const PartitionIndex> partitions, TimestampMs now) {
    members_.on_leave(group, member_id, born, client, partitions, now);
    resets_.on_leave(group, connection, client);
}

FirstReads ConsumerWatch::first_reads(ReaderOwners& owners) const {
    FirstReads reads;
    for (const auto& [id, reading] : readings_.all()) {
        const ReaderOwner& owner = owners.of(id);
        if (!owner.is_of_one_group) {
            continue;
        }
        for (const auto& [partition, read] : reading.partitions) {
            if (read.earliest == Reading::kNotRead) {
                continue;
            }
            Offset& first = reads[owner.groups.front()].try_emplace(partition, read.earliest).first->second;
            first = std::min(first, read.earliest);
        }
    }
    return reads;
}

std::vector<Finding> ConsumerWatch::findings(const ReaderFacts& facts, TimestampMs now) {
    std::vector<Finding> findings;
    LookTime time(now);
    GroupIndex groups(facts.groups);
    readings_.refresh(*facts.connections, time);
    std::set<std::string_view> client_ids;
    for (const auto& [id, reading] : readings_.all()) {
        client_ids.insert(reading.client.client_id);
    }
    members_.refresh(facts, client_ids, time);
    ReaderOwners owners(readings_, members_, *facts.connections, now);
    const std::vector<UnreadOfGrowth> unread = unread_of_growth(facts, first_reads(owners), readers_);
    order_.settle(facts, owners, lowest_positions(unread), time);
    find_backlogs(topic_, facts, unread, order_, findings);
    find_stale_leftovers(topic_, facts, time, findings);
    // A group's beginning is still open when its first commits are judged. It decides whether the group was given the records
    // before them.
    inversions_.prove(facts, groups, resets_, members_.groups_of_several());
    resets_.settle(facts, groups, owners, now);
    prove_by_commits(facts);
    order_findings_.find(topic_, facts, order_, proven_, inversions_.has_left_out(), findings);
    resets_.find_skips(topic_, facts, findings);
    resets_.find_crashes(topic_, time, findings);
    blind_.find(topic_, facts, time, findings);
    find_outside_readers(topic_, facts, outside_readers(readings_, owners, time), time, findings);
    find_seeds(topic_, facts, findings);
    next_change_ = time.next();
    return findings;
}

void ConsumerWatch::prove_by_commits(const ReaderFacts& facts) {
    const auto before = std::exchange(proven_, inversions_.proven(facts, resets_));
    for (auto& [group, keys] : proven_) {
        std::set<std::string_view> known;
        std::set<std::string_view> certain;
        if (const auto told = before.find(group); told != before.end()) {
            for (const Inversions::Proven& key : told->second) {
                known.insert(key.key);
                if (!key.is_of_several) {
                    certain.insert(key.key);
                }
            }
        }
        for (Inversions::Proven& key : keys) {
            // Each member commits by itself, but none has finished a record that nobody was handed.
            key.is_of_several =
                key.is_of_several && !certain.contains(key.key) && !order_.is_unread(group, key.from, key.earlier);
        }
        std::erase_if(keys, [&](const Inversions::Proven& key) {
            return order_.has_judged(group, key.from, key.earlier, key.to, key.later) ||
                   (order_.will_judge() && !known.contains(key.key));
        });
    }
    std::erase_if(proven_, [](const auto& entry) { return entry.second.empty(); });
}

std::vector<WrongKey> ConsumerWatch::wrong_keys(const OrderWatch::Reader& reader) const {
    std::vector<WrongKey> all = order_.wrong_keys(reader);
    const auto proven = proven_.find(reader.group);
    if (proven == proven_.end()) {
        return all;
    }
    std::set<std::uint64_t> known;
    for (const WrongKey& key : all) {
        known.insert(key.cut.key_hash);
    }
    for (const Inversions::Proven& key : proven->second) {
        if (key.is_of_several) {
            continue;
        }
        const std::uint64_t hash = KeyTable::hash_of(as_bytes(key.key));
        if (known.insert(hash).second) {
            all.push_back({.cut = {.key_hash = hash, .from = key.from, .to = key.to, .earlier = key.earlier, .later = key.later},
                           .is_processed = true});
        }
    }
    return all;
}

std::set<std::string> ConsumerWatch::groups_told() const {
    std::set<std::string> groups;
    resets_.add_groups_told(groups);
    inversions_.add_groups_told(groups);
    order_.add_groups_told(groups);
    return groups;
}

void ConsumerWatch::forget_group(const std::string& group) {
    resets_.forget_group(group);
    inversions_.forget_group(group);
    order_.forget_group(group);
}

}  // namespace partita::insight
