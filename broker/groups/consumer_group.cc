#include "broker/groups/consumer_group.h"

#include <algorithm>

#include "broker/groups/group_table.h"
#include "protocol/assert.h"

namespace partita::groups {
namespace {

template <class Map>
void count(Map& map, const std::string& key, std::int32_t change) {
    const auto entry = map.try_emplace(key, 0).first;
    PARTITA_ASSERT(change > 0 || entry->second > 0, "what is taken away was counted");
    entry->second = change > 0 ? entry->second + 1 : entry->second - 1;
    if (entry->second == 0) {
        map.erase(entry);
    }
}

template <class Map>
std::size_t counted(const Map& map, std::string_view key) {
    const auto found = map.find(key);
    return found == map.end() ? 0 : found->second;
}

}  // namespace

std::string_view state_name(ConsumerGroupState state) {
    switch (state) {
        case ConsumerGroupState::empty:
            return "Empty";
        case ConsumerGroupState::assigning:
            return "Assigning";
        case ConsumerGroupState::reconciling:
            return "Reconciling";
        case ConsumerGroupState::stable:
            return "Stable";
    }
    return "";
}

void ConsumerGroup::apply(const ConsumerGroupEpochRecord& record) {
    epoch_ = record.epoch;
    metadata_hash_ = record.metadata_hash;
}

void ConsumerGroup::apply(const ConsumerMemberRecord& record) {
    group().listing.note_change();
    ConsumerMember& member = find_or_add(record.member_id);
    count_subscription(member, -1);
    member.subscription = record.subscription;
    count_subscription(member, +1);
}

void ConsumerGroup::apply(const TargetAssignmentEpochRecord& record) {
    assignment_epoch_ = record.epoch;
    assignment_timestamp_ = record.timestamp;
}

void ConsumerGroup::apply(const TargetAssignmentRecord& record) { find_or_add(record.member_id).target = record.assignment; }

void ConsumerGroup::apply(const CurrentAssignmentRecord& record) {
    group().listing.note_change();
    ConsumerMember& member = find_or_add(record.member_id);
    disown(member, member.progress.assigned);
    disown(member, member.progress.pending_revocation);
    member.progress = record.progress;
    own(member, member.progress.assigned);
    own(member, member.progress.pending_revocation);
}

void ConsumerGroup::apply(const RegularExpressionRecord& record) {
    group().listing.note_change();
    resolved_.insert_or_assign(std::string(record.regex), ResolvedRegex{.topics = {record.topics.begin(), record.topics.end()},
                                                                        .version = record.version,
                                                                        .timestamp = record.timestamp});
}

bool ConsumerGroup::apply(const ConsumerGroupTombstone& record) {
    group().listing.note_change();
    using Kind = ConsumerGroupTombstone::Kind;
    switch (record.kind) {
        case Kind::group:
            return true;
        case Kind::member:
            remove(record.name);
            break;
        case Kind::target_assignment_epoch:
            assignment_epoch_ = kInitialGroupEpoch;
            assignment_timestamp_ = {0};
            break;
        case Kind::target_assignment:
            if (ConsumerMember* member = find_to_change(record.name)) {
                member->target.reset();
            }
            break;
        case Kind::current_assignment:
            if (ConsumerMember* member = find_to_change(record.name)) {
                disown(*member, member->progress.assigned);
                disown(*member, member->progress.pending_revocation);
                member->progress = {.epoch = kLeavingEpoch, .previous_epoch = kLeavingEpoch};
            }
            break;
        case Kind::regular_expression:
            if (const auto known = resolved_.find(record.name); known != resolved_.end()) {
                resolved_.erase(known);
            }
            break;
    }
    return false;
}

ConsumerGroupState ConsumerGroup::state() const {
    if (members_.empty()) {
        return ConsumerGroupState::empty;
    }
    if (epoch_ > assignment_epoch_) {
        return ConsumerGroupState::assigning;
    }
    const bool settled = std::ranges::all_of(members_, [this](const auto& entry) {
        const MemberProgress& progress = entry.second.progress;
        return progress.state == MemberState::stable && progress.epoch == assignment_epoch_;
    });
    return settled ? ConsumerGroupState::stable : ConsumerGroupState::reconciling;
}

const ConsumerMember* ConsumerGroup::find(std::string_view member_id) const {
    const auto found = members_.find(member_id);
    return found == members_.end() ? nullptr : &found->second;
}

ConsumerMember* ConsumerGroup::find_to_change(std::string_view member_id) {
    const auto found = members_.find(member_id);
    return found == members_.end() ? nullptr : &found->second;
}

const ConsumerMember* ConsumerGroup::find_static(std::string_view instance_id) const {
    const auto found = by_instance_id_.find(instance_id);
    return found == by_instance_id_.end() ? nullptr : found->second;
}

const ConsumerMember* ConsumerGroup::owner(const TopicId& topic_id, std::int32_t partition) const {
    const auto topic = owners_.find(topic_id);
    if (topic == owners_.end()) {
        return nullptr;
    }
    const auto found = topic->second.find(partition);
    return found == topic->second.end() ? nullptr : found->second;
}

bool ConsumerGroup::supports_classic(std::string_view protocol_type, std::span<const std::string_view> names) const {
    if (protocol_type != "consumer") {
        return false;
    }
    if (members_.empty()) {
        return !names.empty();
    }
    return std::ranges::any_of(names,
                               [this](std::string_view name) { return counted(classic_protocols_, name) == classic_members_; });
}

std::optional<std::string> ConsumerGroup::preferred_assignor() const {
    if (assignors_.empty()) {
        return std::nullopt;
    }
    // For equal votes Kafka's choice depends on its hash table. With its two assignors it is "uniform", the last by name.
    auto best = assignors_.begin();
    for (auto candidate = assignors_.begin(); candidate != assignors_.end(); ++candidate) {
        best = candidate->second >= best->second ? candidate : best;
    }
    return best->first;
}

std::size_t ConsumerGroup::regex_subscribers(std::string_view regex) const { return counted(regexes_, regex); }

const ResolvedRegex* ConsumerGroup::resolved(std::string_view regex) const {
    const auto found = resolved_.find(regex);
    return found == resolved_.end() ? nullptr : &found->second;
}

bool ConsumerGroup::is_subscribed_to(std::string_view topic) const {
    return topic_names_.contains(topic) || std::ranges::any_of(resolved_, [&](const auto& entry) {
               return entry.second.topics.contains(std::string(topic)) && regexes_.contains(entry.first);
           });
}

std::vector<std::string_view> ConsumerGroup::subscribed_topics() const {
    std::vector<std::string_view> names;
    names.reserve(topic_names_.size());
    for (const auto& [name, count] : topic_names_) {
        names.push_back(name);
    }
    for (const auto& [regex, resolved] : resolved_) {
        if (regexes_.contains(regex)) {
            names.insert(names.end(), resolved.topics.begin(), resolved.topics.end());
        }
    }
    std::ranges::sort(names);
    const auto repeated = std::ranges::unique(names);
    names.erase(repeated.begin(), repeated.end());
    return names;
}

std::vector<TopicId> ConsumerGroup::subscribed_topic_ids(const ConsumerMember& member, const ClusterView& cluster) const {
    std::vector<TopicId> ids;
    const auto add = [&](std::string_view name) {
        if (const auto topic = cluster.find(name)) {
            ids.push_back(topic->topic_id);
        }
    };
    std::ranges::for_each(member.subscription.topic_names, add);
    if (!member.subscription.topic_regex.empty()) {
        if (const ResolvedRegex* regex = resolved(member.subscription.topic_regex)) {
            std::ranges::for_each(regex->topics, add);
        }
    }
    std::ranges::sort(ids);
    const auto repeated = std::ranges::unique(ids);
    ids.erase(repeated.begin(), repeated.end());
    return ids;
}

ConsumerMember& ConsumerGroup::find_or_add(std::string_view member_id) {
    if (ConsumerMember* member = find_to_change(member_id)) {
        return *member;
    }
    return members_.try_emplace(std::string(member_id), group(), member_id).first->second;
}

void ConsumerGroup::remove(std::string_view member_id) {
    const auto found = members_.find(member_id);
    if (found == members_.end()) {
        return;
    }
    const ConsumerMember& member = found->second;
    count_subscription(member, -1);
    disown(member, member.progress.assigned);
    disown(member, member.progress.pending_revocation);
    members_.erase(found);
}

void ConsumerGroup::count_subscription(const ConsumerMember& member, std::int32_t change) {
    const MemberSubscription& subscription = member.subscription;
    for (const std::string& name : subscription.topic_names) {
        count(topic_names_, name, change);
    }
    if (!subscription.topic_regex.empty()) {
        count(regexes_, subscription.topic_regex, change);
    }
    if (subscription.server_assignor) {
        count(assignors_, *subscription.server_assignor, change);
    }
    if (subscription.classic) {
        classic_members_ = change > 0 ? classic_members_ + 1 : classic_members_ - 1;
        for (const MemberSubscription::Protocol& protocol : subscription.classic->protocols) {
            count(classic_protocols_, protocol.name, change);
        }
    }
    if (subscription.instance_id) {
        if (change > 0) {
            by_instance_id_.insert_or_assign(*subscription.instance_id, find(member.id));
        } else if (const auto known = by_instance_id_.find(*subscription.instance_id);
                   known != by_instance_id_.end() && known->second == &member) {
            by_instance_id_.erase(known);
        }
    }
}

void ConsumerGroup::own(const ConsumerMember& member, const OwnedAssignment& assignment) {
    for (const OwnedTopic& topic : assignment) {
        auto& owners = owners_[topic.topic_id];
        for (const OwnedPartition& partition : topic.partitions) {
            owners.insert_or_assign(partition.partition, &member);
        }
    }
}

void ConsumerGroup::disown(const ConsumerMember& member, const OwnedAssignment& assignment) {
    for (const OwnedTopic& topic : assignment) {
        const auto owners = owners_.find(topic.topic_id);
        if (owners == owners_.end()) {
            continue;
        }
        for (const OwnedPartition& partition : topic.partitions) {
            const auto known = owners->second.find(partition.partition);
            if (known != owners->second.end() && known->second == &member) {
                owners->second.erase(known);
            }
        }
        if (owners->second.empty()) {
            owners_.erase(owners);
        }
    }
}

void ConsumerGroup::end(GroupTable& table, Effects& effects) const {
    using Kind = ConsumerGroupTombstone::Kind;
    // Copy the id: the last record may end the group itself.
    const std::string group_id = id();
    std::vector<std::string> ids;
    for (const auto& [member_id, member] : members_) {
        ids.push_back(member_id);
    }
    std::vector<std::string> regexes;
    for (const auto& [regex, resolved] : resolved_) {
        regexes.push_back(regex);
    }
    for (const Kind kind : {Kind::current_assignment, Kind::target_assignment}) {
        for (const std::string& member_id : ids) {
            table.change(group_id, ConsumerGroupTombstone{kind, {}, member_id}, effects);
        }
    }
    table.change(group_id, ConsumerGroupTombstone{Kind::target_assignment_epoch, {}, {}}, effects);
    for (const std::string& member_id : ids) {
        table.change(group_id, ConsumerGroupTombstone{Kind::member, {}, member_id}, effects);
    }
    for (const std::string& regex : regexes) {
        table.change(group_id, ConsumerGroupTombstone{Kind::regular_expression, {}, regex}, effects);
    }
    table.change(group_id, ConsumerGroupTombstone{Kind::group, {}, {}}, effects);
}

}  // namespace partita::groups
