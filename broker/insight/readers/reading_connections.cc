#include "broker/insight/readers/reading_connections.h"

#include <algorithm>
#include <numeric>

namespace partita::insight {
namespace {

ReadingConnection as_reader(ConnectionId id, const Reading& reading) {
    ReadingConnection reader;
    reader.client = reading.facts.value_or(ConnectionFacts{});
    reader.client.id = id;
    reader.client.client_id = reading.client.client_id;
    reader.client.address = reading.client.address;
    reader.is_open = reading.is_open;
    for (const auto& [partition, read] : reading.partitions) {
        reader.fetched.push_back({partition, read.first, read.last});
    }
    return reader;
}

std::vector<PartitionSpan> spans_of(const std::map<PartitionIndex, PartitionSpan>& held) {
    std::vector<PartitionSpan> spans;
    for (const auto& [partition, span] : held) {
        spans.push_back(span);
    }
    return spans;
}

/// False if they are certainly two processes; an unknown process may be any.
bool may_be_one_process(const std::optional<ProcessIdentity>& one, const std::optional<ProcessIdentity>& other) {
    return !one || !other || *one == *other;
}

/// The member was not there before this time. A member speaks before it gets partitions, and gets partitions before it fetches.
/// But a connection that speaks for it may be its second one.
TimestampMs came_at(TimestampMs born, TimestampMs first_seen) {
    return born == kNoTimestamp ? kNoTimestamp : std::min(born, first_seen);
}

const std::optional<ProcessIdentity>& process_of(const std::optional<ConnectionFacts>& facts) {
    static const std::optional<ProcessIdentity> kUnknown;
    return facts ? facts->process : kUnknown;
}

/// By reader: true if it is one of the members for the same reason, over everything that is connected: the members that it may
/// be, the readers that may be one of these, and so on. A member that came and left accounts for a connection of its time, though
/// others of its name compete for that.
std::vector<bool> are_members(const std::vector<ReadingConnection>& readers, const std::vector<GroupMember>& members) {
    // The component of each reader and, behind these, of each member.
    std::vector<std::size_t> component(readers.size() + members.size());
    std::iota(component.begin(), component.end(), std::size_t{0});
    for (std::size_t reader = 0; reader < readers.size(); ++reader) {
        for (std::size_t member = 0; member < members.size(); ++member) {
            const std::size_t one = component[reader];
            const std::size_t other = component[readers.size() + member];
            if (one != other && exclusion_of(readers[reader], members[member]) == Exclusion::none) {
                std::ranges::replace(component, other, one);
            }
        }
    }
    const auto first_member = component.begin() + static_cast<std::ptrdiff_t>(readers.size());
    std::vector<bool> are;
    for (std::size_t reader = 0; reader < readers.size(); ++reader) {
        are.push_back(std::count(component.begin(), first_member, component[reader]) <=
                      std::count(first_member, component.end(), component[reader]));
    }
    return are;
}

}  // namespace

bool ReadingConnections::on_fetch(ConnectionId connection, const ClientIdentity& client, PartitionIndex partition, Offset from,
                                  TimestampMs now) {
    if (readings_.size() == kReadingsMax && !readings_.contains(connection)) {
        make_room();
    }
    Reading& reading = readings_[connection];
    reading.client = client;
    reading.last = now;
    Reading::Partition& read = reading.partitions[partition];
    read.earliest = std::min(read.earliest, from);
    const bool is_first = read.first == kNoTimestamp;
    if (is_first) {
        read.first = now;
    }
    read.last = now;
    return is_first;
}

std::optional<ReadingClient> ReadingConnections::client_of(ConnectionId connection) const {
    const auto found = readings_.find(connection);
    if (found == readings_.end()) {
        return std::nullopt;
    }
    const Reading& reading = found->second;
    ReadingClient client{.identity = reading.client, .principal = {}, .process = std::nullopt};
    if (reading.facts) {
        client.principal = reading.facts->principal;
        client.process = reading.facts->process;
    }
    return client;
}

TimestampMs ReadingConnections::born_of(ConnectionId connection) const {
    const auto found = readings_.find(connection);
    return found == readings_.end() || !found->second.facts ? kNoTimestamp : found->second.facts->born;
}

TimestampMs ReadingConnections::first_fetch_of(ConnectionId connection) const {
    const auto found = readings_.find(connection);
    TimestampMs first = kNoTimestamp;
    if (found != readings_.end()) {
        for (const auto& [partition, read] : found->second.partitions) {
            first = first == kNoTimestamp ? read.first : std::min(first, read.first);
        }
    }
    return first;
}

void ReadingConnections::make_room() {
    std::vector<std::pair<TimestampMs, ConnectionId>> by_time;
    for (const auto& [id, reading] : readings_) {
        by_time.emplace_back(reading.last, id);
    }
    constexpr std::ptrdiff_t kTogether = kReadingsMax / 8;
    std::ranges::nth_element(by_time, by_time.begin() + kTogether);
    for (std::ptrdiff_t index = 0; index < kTogether; ++index) {
        readings_.erase(by_time[static_cast<std::size_t>(index)].second);
    }
}

void ReadingConnections::on_growth(const EarlierExpansion* previous) {
    for (auto& [id, reading] : readings_) {
        for (auto& [partition, read] : reading.partitions) {
            const Offset cut = previous == nullptr ? Offset{0} : offset_at(previous->log_end_offsets, partition);
            if (read.earliest < cut) {
                read.before_growths.emplace_back(read.earliest, cut);
                if (read.before_growths.size() > kGrowthsMax) {
                    read.before_growths.erase(read.before_growths.begin());
                }
            }
            read.earliest = Reading::kNotRead;
        }
    }
}

void ReadingConnections::refresh(const ConnectionDirectory& directory, LookTime& time) {
    // A client that comes over another connection continues what it began over the previous one.
    std::map<ClientIdentity, TimestampMs> last;
    for (const auto& [id, reading] : readings_) {
        TimestampMs& newest = last.try_emplace(reading.client, reading.last).first->second;
        newest = std::max(newest, reading.last);
    }
    for (auto entry = readings_.begin(); entry != readings_.end();) {
        Reading& reading = entry->second;
        if (time.has_passed(last.at(reading.client), kReaderSilentMs + 1)) {
            entry = readings_.erase(entry);
            continue;
        }
        std::optional<ConnectionFacts> facts = directory.find(entry->first);
        reading.is_open = facts.has_value();
        if (facts) {
            reading.facts = std::move(facts);
        }
        ++entry;
    }
}

void MemberHistory::on_speaker(std::string_view group, ConnectionId connection, const ClientIdentity& client,
                               PartitionIndex partition, TimestampMs now) {
    SpeakerKey key(client.client_id, group, connection);
    auto known = speakers_.find(key);
    if (known == speakers_.end()) {
        if (speakers_.size() == kSpeakersMax) {
            return;
        }
        known = speakers_.emplace(std::move(key), Speaker{.connection = connection, .client_host = client.address}).first;
    }
    Speaker& speaker = known->second;
    speaker.last = now;
    speaker.asked.try_emplace(partition, PartitionSpan{partition, now, now});
}

void MemberHistory::note_member(MemberKey key, const std::string& client_host, TimestampMs born,
                                std::span<const PartitionIndex> held, TimestampMs now) {
    auto known = members_.find(key);
    if (known == members_.end()) {
        if (members_.size() == kMembersMax) {
            return;
        }
        known = members_.emplace(std::move(key), Held{.client_host = client_host, .first = now}).first;
    }
    if (known->second.born == kNoTimestamp) {
        known->second.born = born;
    }
    known->second.last = now;
    known->second.left = kNoTimestamp;
    note_held(known->second, held, now);
}

void MemberHistory::note_held(Held& member, std::span<const PartitionIndex> held, TimestampMs now) {
    for (const auto& partitions : {std::span<const PartitionIndex>(member.assigned), held}) {
        for (const PartitionIndex partition : partitions) {
            member.held.try_emplace(partition, PartitionSpan{partition, now, now}).first->second.last = now;
        }
    }
    member.assigned.assign(held.begin(), held.end());
}

void MemberHistory::on_leave(std::string_view group, std::string_view member_id, TimestampMs born, const ClientIdentity& client,
                             std::span<const PartitionIndex> partitions, TimestampMs now) {
    MemberKey key{client.client_id, std::string(group), std::string(member_id)};
    note_member(key, client.address, born, partitions, now);
    if (const auto member = members_.find(key); member != members_.end()) {
        member->second.left = now;
    }
}

void MemberHistory::refresh(const ReaderFacts& facts, const std::set<std::string_view>& client_ids, LookTime& time) {
    for (const GroupFacts& group : facts.groups) {
        for (const GroupFacts::Member& member : group.members) {
            if (!client_ids.contains(member.client_id)) {
                continue;
            }
            MemberKey key(member.client_id, group.group_id, member.member_id);
            const auto known = members_.find(key);
            const bool is_silent = known == members_.end() || known->second.born == kNoTimestamp;
            const auto own = is_silent ? facts.connections->coordinator_of(group.group_id, member.member_id) : std::nullopt;
            note_member(std::move(key), member.client_host, own ? own->born : kNoTimestamp, member.assigned, time.now());
        }
    }
    // A look always sees the members that are still in their groups. One that holds nothing may have held something since the
    // last look: during a rebalance nobody holds anything.
    for (auto& [key, member] : members_) {
        if (member.last < time.now() && member.left == kNoTimestamp) {
            note_held(member, {}, time.now());
            member.left = time.now();
        }
    }
    count_members(facts);
    looked_ = time.now();
    const auto is_gone = [&](const auto& entry) {
        return entry.second.last < time.now() && time.has_passed(entry.second.last, kMemberMemoryMs + 1);
    };
    std::erase_if(members_, is_gone);
    std::erase_if(speakers_, is_gone);
}

void MemberHistory::count_members(const ReaderFacts& facts) {
    groups_of_several_.clear();
    std::map<std::string_view, int> left;
    for (const auto& [key, member] : members_) {
        if (member.left != kNoTimestamp && member.left >= looked_) {
            ++left[std::get<1>(key)];
        }
    }
    for (const GroupFacts& group : facts.groups) {
        const auto gone = left.find(group.group_id);
        if (group.members.size() + static_cast<std::size_t>(gone == left.end() ? 0 : gone->second) > 1) {
            groups_of_several_.insert(group.group_id);
        }
    }
}

std::vector<GroupMember> MemberHistory::members_of(const std::string& client_id, const ConnectionDirectory& directory,
                                                   TimestampMs now) const {
    std::vector<GroupMember> found;
    std::set<std::pair<std::string_view, std::string_view>> seen;
    for (auto entry = members_.lower_bound({client_id, {}, {}});
         entry != members_.end() && std::get<0>(entry->first) == client_id; ++entry) {
        const auto& [id, group, member_id] = entry->first;
        found.push_back({.group = group,
                         .member_id = member_id,
                         .client_id = client_id,
                         .client_host = entry->second.client_host,
                         .held = spans_of(entry->second.held),
                         .coordinator = directory.coordinator_of(group, member_id),
                         .came = came_at(entry->second.born, entry->second.first),
                         .left = entry->second.left});
        seen.emplace(group, host_of(entry->second.client_host));
    }
    for (auto entry = speakers_.lower_bound({client_id, {}, ConnectionId{}});
         entry != speakers_.end() && std::get<0>(entry->first) == client_id; ++entry) {
        const Speaker& speaker = entry->second;
        const std::string& group = std::get<1>(entry->first);
        if (seen.contains({group, host_of(speaker.client_host)})) {
            continue;
        }
        GroupMember ghost{.group = group,
                          .member_id = {},
                          .client_id = client_id,
                          .client_host = speaker.client_host,
                          .held = spans_of(speaker.asked)};
        for (PartitionSpan& span : ghost.held) {
            span.last = now;
        }
        ghost.coordinator = directory.find(speaker.connection);
        found.push_back(std::move(ghost));
    }
    return found;
}

ReaderOwners::ReaderOwners(ReadingConnections& readings, const MemberHistory& members, const ConnectionDirectory& directory,
                           TimestampMs now)
    : readings_(readings), members_(members), directory_(directory), now_(now) {
    for (const auto& [id, reading] : readings_.all()) {
        by_client_id_[reading.client.client_id].push_back(id);
    }
}

const ReaderOwners::Crowd& ReaderOwners::crowd_of(const std::string& client_id) {
    if (const auto known = crowds_.find(client_id); known != crowds_.end()) {
        return known->second;
    }
    Crowd crowd;
    for (const ConnectionId id : by_client_id_[client_id]) {
        crowd.ids.push_back(id);
        crowd.readers.push_back(as_reader(id, readings_.all().at(id)));
        crowd.is_open.push_back(readings_.all().at(id).is_open);
    }
    crowd.members = members_.members_of(client_id, directory_, now_);
    return crowds_.emplace(client_id, std::move(crowd)).first->second;
}

const ReaderOwner& ReaderOwners::of(ConnectionId connection) {
    if (const auto known = known_.find(connection); known != known_.end()) {
        return known->second;
    }
    const auto reading = readings_.all().find(connection);
    ReaderOwner owner{.kind = Attribution::Kind::one_of};
    if (reading != readings_.all().end()) {
        owner = work_out(connection, reading->second);
    }
    return known_.emplace(connection, std::move(owner)).first->second;
}

bool ReaderOwners::is_outside(ConnectionId connection) {
    const ReaderOwner& owner = of(connection);
    return owner.kind == Attribution::Kind::no_group && !owner.may_change && !directory_.is_looking_for(connection);
}

bool ReaderOwners::is_a_member(ConnectionId connection) {
    Crowd& crowd = crowds_.find(readings_.all().at(connection).client.client_id)->second;
    if (!crowd.are_members) {
        const bool is_small = crowd.readers.size() * crowd.members.size() <= kPairsMax;
        crowd.are_members = is_small ? are_members(crowd.readers, crowd.members) : std::vector<bool>(crowd.readers.size());
    }
    return (*crowd.are_members)[static_cast<std::size_t>(std::ranges::find(crowd.ids, connection) - crowd.ids.begin())];
}

ReaderOwner ReaderOwners::work_out(ConnectionId connection, Reading& reading) {
    const Crowd& crowd = crowd_of(reading.client.client_id);
    const std::optional<ProcessIdentity>& process = process_of(reading.facts);
    if (!process && crowd.readers.size() * crowd.members.size() > kPairsMax) {
        return {.kind = Attribution::Kind::one_of};
    }
    // Members of other processes, or of other times, are excluded without a comparison.
    const ReadingConnection self = as_reader(connection, reading);
    std::vector<GroupMember> members;
    for (const GroupMember& member : crowd.members) {
        if (may_be_one_process(process, process_of(member.coordinator)) && !is_of_another_time(self, member)) {
            members.push_back(member);
        }
    }
    ReaderOwner owner;
    if (members.empty()) {
        return owner;
    }
    // Rivals are the open connections and the one in question. If that one is closed, all recent connections are rivals.
    std::vector<ReadingConnection> readers;
    std::size_t subject = 0;
    for (std::size_t index = 0; index < crowd.ids.size() && readers.size() * members.size() <= kPairsMax; ++index) {
        const bool is_subject = crowd.ids[index] == connection;
        if (is_subject) {
            subject = readers.size();
        }
        if (is_subject ||
            ((crowd.is_open[index] || !reading.is_open) && may_be_one_process(process, crowd.readers[index].client.process))) {
            readers.push_back(crowd.readers[index]);
        }
    }
    if (readers.size() * members.size() > kPairsMax) {
        return {.kind = Attribution::Kind::one_of};
    }
    owner.may_change = directory_.is_looking_for(connection) || std::ranges::any_of(members, [&](const GroupMember& member) {
                           return member.coordinator && directory_.is_looking_for(member.coordinator->id);
                       });
    const Attribution attribution = attribute(subject, readers, members);
    owner.kind = attribution.kind;
    owner.basis = attribution.basis;
    owner.is_by_request = !attribution.candidates.empty();
    const auto has_left = [&](std::size_t index) { return members[index].left != kNoTimestamp; };
    if (std::ranges::all_of(attribution.candidates, has_left)) {
        for (const std::size_t index : attribution.candidates) {
            owner.left = std::max(owner.left, members[index].left);
        }
    }
    for (const std::size_t index : attribution.candidates) {
        owner.groups.push_back(members[index].group);
        owner.is_by_request = owner.is_by_request && members[index].member_id.empty();
    }
    std::ranges::sort(owner.groups);
    const auto repeated = std::ranges::unique(owner.groups);
    owner.groups.erase(repeated.begin(), repeated.end());
    owner.is_of_one_group =
        owner.groups.size() == 1 && (owner.kind == Attribution::Kind::member ||
                                     are_enough(attribution.candidates, readers, members) || is_a_member(connection));
    if (reading.is_open && owner.kind == Attribution::Kind::member) {
        reading.was_judged_open = true;
    }
    // It closed before rivals had time to show; they may still show.
    owner.may_change =
        owner.may_change || (!reading.is_open && !reading.was_judged_open && owner.basis == AttributionBasis::elimination);
    return owner;
}

}  // namespace partita::insight
