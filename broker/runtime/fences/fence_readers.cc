#include "broker/runtime/fences/fence_readers.h"

#include <algorithm>
#include <set>

#include "broker/insight/fence/held_reader.h"
#include "broker/runtime/clients/connections.h"

namespace partita::runtime {
namespace {

using insight::Attribution;
using insight::ConnectionId;
using insight::GroupMember;
using insight::PartitionSpan;
using insight::ReadingConnection;

/// Spans are only compared with each other, so they may use the clock that never jumps.
TimestampMs time_of(Instant instant) { return TimestampMs{instant.value}; }

}  // namespace

FenceReaders::Reading& FenceReaders::reading_of(std::string_view client_id, std::string_view address, ConnectionId connection) {
    if (const auto known = readings_.find(connection); known != readings_.end()) {
        return known->second;
    }
    Reading fresh;
    fresh.client.id = connection;
    fresh.client.client_id = client_id;
    fresh.client.address = address;
    if (const auto facts = connections_.find(connection)) {
        fresh.client.port = facts->port;
        fresh.client.software_name = facts->software_name;
        fresh.client.software_version = facts->software_version;
        fresh.client.principal = facts->principal;
    }
    if (readings_.size() == kReadersMax) {
        guest_ = std::move(fresh);
        return guest_;
    }
    return readings_.emplace(connection, std::move(fresh)).first->second;
}

void FenceReaders::keep_holdings(Instant now) {
    if (now - holdings_kept_ < kJudgeMs) {
        return;
    }
    holdings_kept_ = now;
    for (const GroupShards::KnownReaders::Shard& shard : known_.shards) {
        for (const groups::TopicReader& group : shard.readers) {
            for (const groups::TopicReader::Member& member : group.members) {
                for (const PartitionIndex partition : member.assigned) {
                    if (holding_count_ == kHoldingsMax) {
                        holdings_overflowed_ = true;
                        break;
                    }
                    holding_count_ +=
                        holdings_[MemberKey(group.group_id, member.member_id)].insert_or_assign(partition, now).second ? 1 : 0;
                }
            }
        }
    }
    for (auto member = holdings_.begin(); member != holdings_.end();) {
        holding_count_ -=
            std::erase_if(member->second, [&](const auto& held) { return now - held.second > 2 * insight::kHandoverMs; });
        member = member->second.empty() ? holdings_.erase(member) : std::next(member);
    }
}

bool FenceReaders::held_lately(const MemberKey& member, PartitionIndex partition) const {
    const auto held = holdings_.find(member);
    return held != holdings_.end() && held->second.contains(partition);
}

bool FenceReaders::has_partition(const groups::TopicReader& group, const Reading& reading, PartitionIndex partition) const {
    return std::ranges::any_of(group.members, [&](const groups::TopicReader::Member& member) {
        return member.client_id == reading.client.client_id &&
               (std::ranges::binary_search(member.assigned, partition) ||
                held_lately(MemberKey(group.group_id, member.member_id), partition));
    });
}

GroupMember FenceReaders::member_of(const groups::TopicReader& group, const groups::TopicReader::Member& member,
                                    Instant now) const {
    GroupMember result{.group = group.group_id,
                       .member_id = member.member_id,
                       .client_id = member.client_id,
                       .client_host = member.client_host,
                       .held = {},
                       .coordinator = connections_.coordinator_of(group.group_id, member.member_id)};
    for (const PartitionIndex partition : member.assigned) {
        result.held.push_back({.partition = partition, .first = kNoTimestamp, .last = time_of(now)});
    }
    if (const auto lately = holdings_.find(MemberKey(group.group_id, member.member_id)); lately != holdings_.end()) {
        for (const auto& [partition, last] : lately->second) {
            if (!std::ranges::binary_search(member.assigned, partition)) {
                result.held.push_back({.partition = partition, .first = kNoTimestamp, .last = time_of(last)});
            }
        }
    }
    return result;
}

std::vector<ReadingConnection> FenceReaders::readers_like(Reading& subject) {
    std::vector<ReadingConnection> readers;
    const auto add = [&](Reading& reading) {
        if (!reading.client.process) {
            const auto facts = connections_.find(reading.client.id);
            reading.client.process = facts ? facts->process : std::nullopt;
        }
        ReadingConnection& like = readers.emplace_back(ReadingConnection{reading.client, {}});
        for (const auto& [partition, span] : reading.fetched) {
            like.fetched.push_back(span);
        }
        if (holdings_overflowed_) {
            like.fetched.clear();
        }
    };
    add(subject);
    for (auto& [id, reading] : readings_) {
        if (id != subject.client.id && reading.client.client_id == subject.client.client_id) {
            add(reading);
        }
    }
    return readers;
}

bool FenceReaders::attribute(Reading& reading, Instant now) {
    std::vector<GroupMember> members;
    for (const GroupShards::KnownReaders::Shard& shard : known_.shards) {
        for (const groups::TopicReader& group : shard.readers) {
            for (const groups::TopicReader::Member& member : group.members) {
                if (member.client_id == reading.client.client_id &&
                    insight::may_be_one_host(member.client_host, reading.client.address)) {
                    members.push_back(member_of(group, member, now));
                }
            }
        }
    }
    reading.groups.clear();
    reading.kind = Attribution::Kind::no_group;
    if (members.empty()) {
        return false;
    }
    const std::vector<ReadingConnection> readers = readers_like(reading);
    const Attribution found = insight::attribute(0, readers, members);
    reading.kind = found.kind;
    if (found.basis == insight::AttributionBasis::elimination &&
        (readings_.size() == kReadersMax || !members[found.candidates.front()].coordinator)) {
        // Elimination does not hold: some readers are unknown, or the member's connection is (the member may have died).
        reading.kind = Attribution::Kind::one_of;
    }
    const auto is_connected = [&](std::size_t candidate) { return members[candidate].coordinator.has_value(); };
    if (reading.kind == Attribution::Kind::one_of && readings_.size() < kReadersMax &&
        std::ranges::all_of(found.candidates, is_connected) && insight::are_enough(found.candidates, readers, members)) {
        // It is one of these members, though the broker does not know which.
        reading.kind = Attribution::Kind::member;
    }
    reading.held_as = insight::to_string(found, members);
    std::set<std::string> groups;
    bool is_undecided = false;
    for (const std::size_t index : found.candidates) {
        groups.insert(members[index].group);
        if (found.basis != insight::AttributionBasis::connection && members[index].coordinator) {
            // Ask for both processes at once.
            const bool is_known = connections_.want_process(members[index].coordinator->id);
            is_undecided |= !connections_.want_process(reading.client.id) || !is_known;
        }
    }
    reading.groups.assign(groups.begin(), groups.end());
    for (auto rival = std::next(readers.begin()); found.kind == Attribution::Kind::one_of && rival != readers.end(); ++rival) {
        // The rival's process helps to decide, too.
        is_undecided |= !connections_.want_process(rival->client.id);
    }
    return is_undecided;
}

FenceReaders::Judgement FenceReaders::judge(std::string_view topic, const TopicId& topic_id, PartitionIndex partition,
                                            std::string_view client_id, std::string_view address, ConnectionId connection,
                                            Instant now) {
    groups_.refresh_readers(known_, topic, topic_id);
    keep_holdings(now);
    Reading& reading = reading_of(client_id, address, connection);
    PartitionSpan& span =
        reading.fetched.try_emplace(partition, PartitionSpan{partition, time_of(now), time_of(now)}).first->second;
    span.last = time_of(now);
    Judgement judgement;
    if (reading.groups.empty() || now - reading.judged >= kJudgeMs) {
        judgement.is_undecided = attribute(reading, now);
        reading.judged = judgement.is_undecided ? Instant{now.value - kJudgeMs} : now;
    }
    judgement.kind = reading.kind;
    for (const GroupShards::KnownReaders::Shard& shard : known_.shards) {
        for (const groups::TopicReader& group : shard.readers) {
            if (std::ranges::binary_search(reading.groups, group.group_id) && has_partition(group, reading, partition)) {
                judgement.groups.push_back(&group);
            }
        }
    }
    if (judgement.groups.empty()) {
        judgement.kind = Attribution::Kind::no_group;
        judgement.is_undecided = false;
    }
    return judgement;
}

void FenceReaders::note_held(ConnectionId connection, PartitionIndex partition, const Judgement& judgement, Instant now) {
    const auto reading = readings_.find(connection);
    if (reading == readings_.end()) {
        return;
    }
    if (judgement.kind == Attribution::Kind::one_of && !judgement.is_undecided) {
        reading->second.held.insert_or_assign(partition, now);
    } else {
        reading->second.held.erase(partition);
    }
}

void FenceReaders::note_served(ConnectionId connection, PartitionIndex partition) {
    if (const auto reading = readings_.find(connection); reading != readings_.end()) {
        reading->second.held.erase(partition);
    }
}

std::string FenceReaders::program_of(ConnectionId connection) const {
    const auto facts = connections_.find(connection);
    return facts && facts->process ? insight::to_string(*facts->process) : std::string();
}

std::vector<insight::Finding> FenceReaders::findings(std::string_view topic, Instant now) const {
    std::vector<insight::Finding> findings;
    for (const auto& [id, reading] : readings_) {
        const auto held = std::ranges::count_if(reading.held, [&](const auto& entry) { return now - entry.second < kHeldMs; });
        if (held == 0) {
            continue;
        }
        findings.push_back(insight::held_reader_finding({.topic = topic,
                                                         .client = reading.client,
                                                         .held_as = reading.held_as,
                                                         .partitions = held,
                                                         .groups = static_cast<std::int64_t>(reading.groups.size())}));
    }
    return findings;
}

}  // namespace partita::runtime
