#include "broker/insight/identity/attribution.h"

#include <algorithm>
#include <set>

namespace partita::insight {
namespace {

/// True if both are known and differ; an empty text is unknown.
bool contradicts(const std::string& one, const std::string& other) { return !one.empty() && !other.empty() && one != other; }

bool speaks_for(const ReadingConnection& reader, const GroupMember& member) {
    return member.coordinator && member.coordinator->id == reader.client.id;
}

TimestampMs first_fetch(const ReadingConnection& reader) {
    const auto first = std::ranges::min_element(reader.fetched, {}, &PartitionSpan::first);
    return first == reader.fetched.end() ? kNoTimestamp : first->first;
}

TimestampMs last_fetch(const ReadingConnection& reader) {
    const auto last = std::ranges::max_element(reader.fetched, {}, &PartitionSpan::last);
    return last == reader.fetched.end() ? kNoTimestamp : last->last;
}

/// True if the connection kept fetching a partition for longer than the member needs to follow its assignment.
bool fetches_beyond(const PartitionSpan& fetched, const GroupMember& member) {
    const auto held = std::ranges::find(member.held, fetched.partition, &PartitionSpan::partition);
    const TimestampMs without = held == member.held.end() ? fetched.first : std::max(fetched.first, held->last);
    return fetched.last.value - without.value > kHandoverMs;
}

/// True if another connection is the member's fetching connection, and was still used after this one had begun. A consumer
/// fetches from a broker over one connection.
bool fetches_elsewhere(const GroupMember& member, const ReadingConnection& reader, std::span<const ReadingConnection> readers) {
    return std::ranges::any_of(readers, [&](const ReadingConnection& other) {
        return other.client.id != reader.client.id && speaks_for(other, member) && last_fetch(other) > first_fetch(reader);
    });
}

std::vector<std::size_t> candidates_of(const ReadingConnection& reader, std::span<const ReadingConnection> readers,
                                       std::span<const GroupMember> members) {
    std::vector<std::size_t> possible;
    std::vector<std::size_t> own;
    for (std::size_t index = 0; index < members.size(); ++index) {
        if (speaks_for(reader, members[index])) {
            own.push_back(index);
        } else if (exclusion_of(reader, members[index]) == Exclusion::none &&
                   !fetches_elsewhere(members[index], reader, readers)) {
            possible.push_back(index);
        }
    }
    // A connection belongs to one client, and this one speaks for members itself.
    return own.empty() ? possible : own;
}

bool is_same_process(const ReadingConnection& reader, const GroupMember& member) {
    return reader.client.process && member.coordinator && member.coordinator->process &&
           *reader.client.process == *member.coordinator->process;
}

}  // namespace

bool is_of_another_time(const ReadingConnection& reader, const GroupMember& member) {
    if (reader.fetched.empty()) {
        return false;
    }
    const bool came_after = member.left != kNoTimestamp && first_fetch(reader).value - member.left.value >= kUnderWayMs;
    // An open connection may serve members that come later. It proves nothing while it waits for records.
    const bool ended_before = member.came != kNoTimestamp && !reader.is_open && last_fetch(reader) < member.came;
    return came_after || ended_before;
}

Exclusion exclusion_of(const ReadingConnection& reader, const GroupMember& member) {
    const ConnectionFacts& client = reader.client;
    if (speaks_for(reader, member)) {
        return Exclusion::none;
    }
    if (client.client_id != member.client_id) {
        return Exclusion::other_client_id;
    }
    if (!may_be_one_host(client.address, member.client_host)) {
        return Exclusion::other_host;
    }
    if (member.coordinator) {
        const ConnectionFacts& own = *member.coordinator;
        if (contradicts(client.software_name, own.software_name) || contradicts(client.software_version, own.software_version)) {
            return Exclusion::other_software;
        }
        if (client.process && own.process && *client.process != *own.process) {
            return Exclusion::other_process;
        }
    }
    if (is_of_another_time(reader, member)) {
        return Exclusion::other_time;
    }
    const bool is_beyond =
        std::ranges::any_of(reader.fetched, [&](const PartitionSpan& fetched) { return fetches_beyond(fetched, member); });
    return is_beyond ? Exclusion::other_partitions : Exclusion::none;
}

Attribution attribute(std::size_t subject, std::span<const ReadingConnection> readers, std::span<const GroupMember> members) {
    const ReadingConnection& reader = readers[subject];
    Attribution result;
    result.candidates = candidates_of(reader, readers, members);
    if (result.candidates.empty()) {
        return result;
    }
    result.kind = Attribution::Kind::one_of;
    if (result.candidates.size() > 1) {
        return result;
    }
    const std::size_t only = result.candidates.front();
    const GroupMember& member = members[only];
    if (speaks_for(reader, member)) {
        result.kind = Attribution::Kind::member;
        result.basis = AttributionBasis::connection;
        return result;
    }
    const bool has_rival = std::ranges::any_of(readers, [&](const ReadingConnection& other) {
        return other.client.id != reader.client.id && exclusion_of(other, member) == Exclusion::none &&
               std::ranges::binary_search(candidates_of(other, readers, members), only);
    });
    if (!has_rival) {
        result.kind = Attribution::Kind::member;
        result.basis = is_same_process(reader, member) ? AttributionBasis::process : AttributionBasis::elimination;
    }
    return result;
}

bool are_enough(std::span<const std::size_t> candidates, std::span<const ReadingConnection> readers,
                std::span<const GroupMember> members) {
    const auto competes = [&](const ReadingConnection& reader) {
        return std::ranges::any_of(
            candidates, [&](std::size_t candidate) { return exclusion_of(reader, members[candidate]) == Exclusion::none; });
    };
    return static_cast<std::size_t>(std::ranges::count_if(readers, competes)) <= candidates.size();
}

std::string to_string(const Attribution& attribution, std::span<const GroupMember> members) {
    constexpr std::size_t kNamesMax = 8;
    if (attribution.kind == Attribution::Kind::no_group) {
        return "a reader in no group";
    }
    std::set<std::string> groups;
    for (const std::size_t index : attribution.candidates) {
        groups.insert(members[index].group);
    }
    std::string text = attribution.kind == Attribution::Kind::member ? "" : "one of ";
    std::size_t named = 0;
    for (auto group = groups.begin(); group != groups.end() && named < kNamesMax; ++group, ++named) {
        text += (named == 0 ? "group " : ", group ") + *group;
    }
    if (groups.size() > named) {
        text += " and " + std::to_string(groups.size() - named) + " more groups";
    }
    return attribution.kind == Attribution::Kind::member ? text : text + ", or a reader in no group";
}

std::string what_would_tell(const Attribution& attribution) {
    return attribution.kind == Attribution::Kind::one_of ? "Give each application its own client.id; on the broker's machine, "
                                                           "let the broker see which process owns a socket."
                                                         : "";
}

}  // namespace partita::insight
