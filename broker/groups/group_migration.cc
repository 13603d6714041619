#include <algorithm>
#include <cctype>
#include <unordered_set>
#include <utility>

#include "broker/groups/consumer_metadata.h"
#include "broker/groups/consumer_protocol.h"
#include "broker/groups/group_migration.h"
#include "protocol/assert.h"

namespace partita::groups {
namespace {

OwnedAssignment with_epoch(const assignors::Assignment& assignment, std::int32_t epoch) {
    OwnedAssignment result;
    for (const assignors::TopicPartitions& topic : assignment) {
        OwnedTopic& owned = result.emplace_back();
        owned.topic_id = topic.topic_id;
        for (const std::int32_t partition : topic.partitions) {
            owned.partitions.push_back({partition, epoch});
        }
    }
    return result;
}

/// Clients compute classic assignments, and one may give a partition to two members. The first member keeps it.
class FirstOwners {
  public:
    assignors::Assignment keep_unowned(assignors::Assignment assignment) {
        for (assignors::TopicPartitions& topic : assignment) {
            auto& owned = owned_[topic.topic_id];
            std::erase_if(topic.partitions, [&](std::int32_t partition) { return !owned.insert(partition).second; });
        }
        return assignors::normalized(std::move(assignment));
    }

  private:
    std::unordered_map<TopicId, std::unordered_set<std::int32_t>> owned_;
};

}  // namespace

MigrationPolicy migration_policy(std::string_view name) {
    std::string small(name);
    std::ranges::transform(small, small.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    if (small == "bidirectional") {
        return MigrationPolicy::bidirectional;
    }
    if (small == "upgrade") {
        return MigrationPolicy::upgrade;
    }
    return small == "downgrade" ? MigrationPolicy::downgrade : MigrationPolicy::disabled;
}

std::optional<Refusal> GroupMigration::refuse_upgrade(const Group& known) const {
    const ClassicGroup* classic = known.as<ClassicGroup>();
    if (classic == nullptr) {
        return Refusal{ErrorCode::group_id_not_found, "Group " + known.id + " is not a consumer group."};
    }
    const ClassicGroup& group = *classic;
    if (group.is(GroupState::empty)) {
        return std::nullopt;
    }
    const auto refuse = [&group](std::string_view reason) {
        return Refusal{ErrorCode::group_id_not_found,
                       "Cannot upgrade classic group " + group.id() + " to consumer group because " + std::string(reason)};
    };
    if (environment_.config.migration_policy != MigrationPolicy::bidirectional &&
        environment_.config.migration_policy != MigrationPolicy::upgrade) {
        return refuse("online upgrade is disabled.");
    }
    if (!group.uses_consumer_protocol()) {
        return refuse("the group does not use the consumer embedded protocol.");
    }
    if (std::cmp_greater(group.size(), environment_.config.consumer_max_size.value)) {
        return refuse("the group size exceeds the consumer group maximum size.");
    }
    for (const auto& [order, member] : group.members()) {
        const OwnedBytes* metadata = group.metadata_of(*member);
        const auto subscription = metadata == nullptr ? std::nullopt : read_subscription(*metadata, *environment_.cluster);
        const auto assignment = read_assignment(member->assignment(), *environment_.cluster);
        if (!subscription || !assignment) {
            return refuse("the embedded consumer protocol is malformed.");
        }
        if (assignment->has_user_data) {
            return refuse(
                "an unsupported custom assignor is in use. Please refer to the documentation or switch to a "
                "default assignor before re-attempting the upgrade.");
        }
    }
    return std::nullopt;
}

/// The first member of the new protocol arrives. An empty group starts anew; in any other group the members keep their
/// assignments.
void GroupMigration::upgrade(Group& known, Now now, Effects& effects) {
    PARTITA_ASSERT(known.as<ClassicGroup>() != nullptr, "a group is looked at before it is upgraded");
    ClassicGroup& classic = *known.as<ClassicGroup>();
    if (!classic.empty()) {
        table_.notes().note(known, RebalanceCause::converted);
    }
    std::vector<ConsumerMemberRecord> members;
    std::vector<MemberProgress> progress;
    const std::int32_t epoch = std::max(classic.generation, kInitialGroupEpoch);
    FirstOwners owners;
    for (const auto& [order, member] : classic.members()) {
        // Waiting members join again, and then reach the new group.
        rebalances_.answer_join(classic, *member, {.error = ErrorCode::rebalance_in_progress, .member_id = member->id}, effects);
        rebalances_.answer_sync(*member, {.error = ErrorCode::rebalance_in_progress}, effects);
        const auto said = read_subscription(*classic.metadata_of(*member), *environment_.cluster);
        const auto has = read_assignment(member->assignment(), *environment_.cluster);
        PARTITA_ASSERT(said && has, "a group is looked at before it is upgraded");
        MemberSubscription subscription{.instance_id = member->instance_id,
                                        .rack_id = said->rack_id,
                                        .client_id = member->client_id,
                                        .client_host = member->client_host,
                                        .rebalance_timeout_ms = member->rebalance_timeout_ms,
                                        .topic_names = said->topic_names};
        subscription.classic = MemberSubscription::Classic{.session_timeout_ms = member->session_timeout_ms, .protocols = {}};
        for (const MemberProtocol& protocol : member->protocols) {
            subscription.classic->protocols.push_back({protocol.name, protocol.metadata});
        }
        members.push_back({{}, effects.arena.copy(member->id), std::move(subscription)});
        progress.push_back(
            {.epoch = epoch, .previous_epoch = epoch, .assigned = with_epoch(owners.keep_unowned(has->assignment), epoch)});
    }
    const std::string_view group_id = effects.arena.copy(classic.id());
    table_.change(GroupTombstone{group_id}, effects);
    if (members.empty()) {
        return;
    }
    for (ConsumerMemberRecord& member : members) {
        table_.change(group_id, member, effects);
    }
    const ConsumerGroup& group = *table_.find_as<ConsumerGroup>(group_id);
    table_.change(group.id(), ConsumerGroupEpochRecord{{}, epoch, steps_.compute_metadata_hash(group)}, effects);
    for (std::size_t i = 0; i < members.size(); ++i) {
        table_.change(group.id(), TargetAssignmentRecord{{}, members[i].member_id, without_epochs(progress[i].assigned)},
                      effects);
    }
    // No target was computed yet, so the new group's first one need not wait for the assignment interval.
    table_.change(group.id(), TargetAssignmentEpochRecord{{}, epoch, {0}}, effects);
    for (std::size_t i = 0; i < members.size(); ++i) {
        table_.change(group.id(), CurrentAssignmentRecord{{}, members[i].member_id, progress[i]}, effects);
        steps_.restart_session(group, *group.find(members[i].member_id), now);
    }
}

bool GroupMigration::can_downgrade(const ConsumerGroup& group, std::span<const ConsumerMember* const> without) const {
    std::size_t leaving_classic = 0;
    for (const ConsumerMember* member : without) {
        leaving_classic += member->speaks_classic() ? 1 : 0;
    }
    const std::size_t staying = group.size() - without.size();
    // A group with only classic members would be a classic group already, so at least one other member must leave.
    return staying > 0 && group.classic_member_count() - leaving_classic == staying && leaving_classic < without.size() &&
           (environment_.config.migration_policy == MigrationPolicy::bidirectional ||
            environment_.config.migration_policy == MigrationPolicy::downgrade) &&
           std::cmp_less_equal(staying, environment_.config.max_size.value);
}

void GroupMigration::downgrade(const ConsumerGroup& group, std::span<const ConsumerMember* const> without, bool rebalance,
                               Now now, Effects& effects) {
    struct Staying {
        std::string id;
        MemberSubscription subscription;
        OwnedBytes assignment;
    };
    table_.notes().note(group.group(), RebalanceCause::converted);
    std::vector<Staying> staying;
    for (const auto& [id, member] : group.members()) {
        if (std::ranges::find(without, &member) != without.end()) {
            continue;
        }
        const auto said = read_subscription(member.subscription.classic->protocols.front().metadata, *environment_.cluster);
        // The upgrade examined only the metadata for the chosen protocol.
        const std::int16_t version = said ? said->version : std::int16_t{0};
        staying.push_back({id, member.subscription,
                           write_assignment(without_epochs(member.progress.assigned), version, *environment_.cluster)});
    }
    const std::int32_t epoch = group.epoch();
    const std::string group_id = group.id();
    group.end(table_, effects);
    // The members join like into any classic group, and the record seals their common generation.
    ClassicGroup& became = table_.group_of<ClassicGroup>(group_id, now.wall);
    for (const Staying& member : staying) {
        std::vector<MemberProtocol> protocols;
        for (const MemberSubscription::Protocol& protocol : member.subscription.classic->protocols) {
            protocols.push_back({protocol.name, protocol.metadata});
        }
        Member& classic = became.add(member.id, member.subscription.instance_id, kConsumerProtocolType, std::move(protocols));
        classic.client_id = member.subscription.client_id;
        classic.client_host = member.subscription.client_host;
        classic.session_timeout_ms = member.subscription.classic->session_timeout_ms;
        classic.rebalance_timeout_ms = member.subscription.rebalance_timeout_ms;
        rebalances_.restart_session(classic, now);
    }
    became.generation = epoch;
    became.protocol = became.select_protocol();
    GroupMetadataRecord record = record_of(became, effects.arena);
    record.current_state_timestamp = now.wall;
    for (std::size_t i = 0; i < staying.size(); ++i) {
        record.members[i].assignment = as_bytes(effects.arena.copy(as_text(staying[i].assignment)));
    }
    table_.change(std::move(record), effects);
    if (rebalance) {
        rebalances_.prepare_rebalance(became, now, effects);
    }
}

}  // namespace partita::groups
