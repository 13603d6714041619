#include "broker/groups/share_group.h"

#include <algorithm>

#include "broker/groups/group_table.h"
#include "broker/groups/history_teller.h"
#include "protocol/assert.h"

namespace partita::groups {
namespace {

std::string text_of(const assignors::Assignment& assignment) {
    std::string out;
    for (const assignors::TopicPartitions& topic : assignment) {
        out += " " + topic.topic_id.to_string() + ":";
        for (const std::int32_t partition : topic.partitions) {
            out += std::to_string(partition) + ",";
        }
    }
    return out;
}

std::string text_of(std::string_view title, const std::map<TopicId, SharedPartitions::Topic>& topics) {
    std::string out = "  " + std::string(title);
    for (const auto& [id, topic] : topics) {
        out += " " + topic.name + "/" + id.to_string() + ":";
        for (const std::int32_t partition : topic.partitions) {
            out += std::to_string(partition) + ",";
        }
    }
    return out + "\n";
}

}  // namespace

void ShareGroup::apply(const ShareGroupEpochRecord& record) {
    epoch_ = record.epoch;
    metadata_hash_ = record.metadata_hash;
}

void ShareGroup::apply(const ShareMemberRecord& record) {
    ShareMember& member = find_or_add(record.member_id);
    count_topics(member, -1);
    member.subscription = record.subscription;
    count_topics(member, +1);
}

void ShareGroup::apply(const ShareTargetEpochRecord& record) {
    assignment_epoch_ = record.epoch;
    assignment_timestamp_ = record.timestamp;
}

void ShareGroup::apply(const ShareTargetRecord& record) { find_or_add(record.member_id).target = record.assignment; }

void ShareGroup::apply(const ShareCurrentRecord& record) {
    ShareMember& member = find_or_add(record.member_id);
    member.epoch = record.epoch;
    member.previous_epoch = record.previous_epoch;
    member.assigned = record.assigned;
}

void ShareGroup::apply(const SharedPartitionsRecord& record) { shared_ = record.partitions; }

bool ShareGroup::apply(const ShareGroupTombstone& record) {
    using Kind = ShareGroupTombstone::Kind;
    switch (record.kind) {
        case Kind::group:
            return true;
        case Kind::member:
            if (const auto found = members_.find(record.name); found != members_.end()) {
                count_topics(found->second, -1);
                members_.erase(found);
            }
            break;
        case Kind::target_assignment_epoch:
            assignment_epoch_ = -1;
            assignment_timestamp_ = {0};
            break;
        case Kind::target_assignment:
            if (ShareMember* member = find_to_change(record.name)) {
                member->target.reset();
            }
            break;
        case Kind::current_assignment:
            if (ShareMember* member = find_to_change(record.name)) {
                member->epoch = -1;
                member->previous_epoch = -1;
                member->assigned.clear();
            }
            break;
        case Kind::shared_partitions:
            shared_ = {};
            break;
    }
    return false;
}

const ShareMember* ShareGroup::find(std::string_view member_id) const {
    const auto found = members_.find(member_id);
    return found == members_.end() ? nullptr : &found->second;
}

ShareMember* ShareGroup::find_to_change(std::string_view member_id) {
    const auto found = members_.find(member_id);
    return found == members_.end() ? nullptr : &found->second;
}

ShareMember& ShareGroup::find_or_add(std::string_view member_id) {
    if (ShareMember* member = find_to_change(member_id)) {
        return *member;
    }
    return members_.try_emplace(std::string(member_id), group(), member_id).first->second;
}

void ShareGroup::count_topics(const ShareMember& member, std::int32_t change) {
    for (const std::string& name : member.subscription.topic_names) {
        const auto entry = topic_names_.try_emplace(name, 0).first;
        entry->second += change;
        PARTITA_ASSERT(entry->second >= 0, "a name that a member takes back was counted");
        if (entry->second == 0) {
            topic_names_.erase(entry);
        }
    }
}

std::vector<std::string_view> ShareGroup::subscribed_topics() const {
    std::vector<std::string_view> names;
    names.reserve(topic_names_.size());
    for (const auto& [name, count] : topic_names_) {
        names.push_back(name);
    }
    std::ranges::sort(names);
    return names;
}

bool ShareGroup::has_unassigned_partitions() const {
    if (members_.empty() || topic_names_.empty()) {
        return false;
    }
    std::map<TopicId, std::set<std::int32_t>> assigned;
    for (const auto& [id, member] : members_) {
        for (const assignors::TopicPartitions& topic : member.target.value_or(assignors::Assignment())) {
            assigned[topic.topic_id].insert(topic.partitions.begin(), topic.partitions.end());
        }
    }
    return std::ranges::any_of(shared_.initialized, [&](const auto& entry) {
        const auto found = assigned.find(entry.first);
        return topic_names_.contains(entry.second.name) && (found == assigned.end() || found->second != entry.second.partitions);
    });
}

std::optional<MemberHoldings> ShareGroup::holdings_of(std::string_view member_id, const ClusterView& cluster) const {
    const ShareMember* member = find(member_id);
    if (member == nullptr) {
        return std::nullopt;
    }
    MemberHoldings told{
        .client_id = member->subscription.client_id, .client_host = member->subscription.client_host, .topics = {}};
    for (const assignors::TopicPartitions& held : member->assigned) {
        if (const auto topic = cluster.find(held.topic_id)) {
            MemberHoldings::Topic& named = told.topics.emplace_back(std::string(topic->name));
            for (const std::int32_t partition : held.partitions) {
                named.partitions.push_back(PartitionIndex{partition});
            }
        }
    }
    return told;
}

void ShareGroup::topic_deleted(const TopicDeleted& event, GroupTable& table, Effects& effects) const {
    SharedPartitions left = shared_;
    left.initializing.erase(event.topic_id);
    left.initialized.erase(event.topic_id);
    left.deleting.erase(event.topic_id);
    initializing_since.erase(event.topic_id);
    if (left != shared_) {
        table.change(id(), SharedPartitionsRecord{{}, std::move(left)}, effects);
    }
}

void ShareGroup::end(GroupTable& table, Effects& effects) const {
    using Kind = ShareGroupTombstone::Kind;
    // Copy the id: the last record ends the group itself.
    const std::string group_id = id();
    std::vector<std::string> ids;
    for (const auto& [member_id, member] : members_) {
        ids.push_back(member_id);
    }
    for (const Kind kind : {Kind::current_assignment, Kind::target_assignment}) {
        for (const std::string& member_id : ids) {
            table.change(group_id, ShareGroupTombstone{kind, {}, member_id}, effects);
        }
    }
    table.change(group_id, ShareGroupTombstone{Kind::target_assignment_epoch, {}, {}}, effects);
    for (const std::string& member_id : ids) {
        table.change(group_id, ShareGroupTombstone{Kind::member, {}, member_id}, effects);
    }
    table.change(group_id, ShareGroupTombstone{Kind::shared_partitions, {}, {}}, effects);
    table.change(group_id, ShareGroupTombstone{Kind::group, {}, {}}, effects);
}

std::string ShareGroup::dump() const {
    std::string out = " share epoch=" + std::to_string(epoch_) + " hash=" + std::to_string(metadata_hash_) +
                      " assigned=" + std::to_string(assignment_epoch_) + "@" + std::to_string(assignment_timestamp_.value) + "\n";
    for (const auto& [id, member] : members_) {
        const ShareSubscription& said = member.subscription;
        out += "  member " + id + " rack=" + said.rack_id.value_or("-") + " client=" + said.client_id + "@" + said.client_host +
               " topics=";
        for (const std::string& name : said.topic_names) {
            out += name + ",";
        }
        out += " epoch=" + std::to_string(member.epoch) + " previous=" + std::to_string(member.previous_epoch) +
               " assigned=" + text_of(member.assigned) + " target=" + (member.target ? text_of(*member.target) : "-") + "\n";
    }
    out += text_of("initializing", shared_.initializing) + text_of("initialized", shared_.initialized);
    for (const auto& [id, name] : shared_.deleting) {
        out += "  deleting " + name + "/" + id.to_string() + "\n";
    }
    return out;
}

GroupPhase ShareGroup::phase() const {
    return {.step = GroupPhase::Step::settled, .type = type(), .generation = epoch_, .members = size(), .protocol = {}};
}

void ShareGroup::begin_history(GroupHistory& history, const ClusterView&) const {
    for (const auto& [id, member] : members_) {
        history.know({id, std::nullopt, member.subscription.client_id, member.subscription.client_host});
    }
}

}  // namespace partita::groups
