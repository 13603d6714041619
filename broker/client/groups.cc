#include "broker/client/groups.h"

#include <algorithm>

#include "broker/client/classic_assignment.h"
#include "protocol/messages/08_offset_commit.h"
#include "protocol/messages/09_offset_fetch.h"
#include "protocol/messages/15_describe_groups.h"
#include "protocol/messages/16_list_groups.h"
#include "protocol/messages/42_delete_groups.h"
#include "protocol/messages/47_offset_delete.h"
#include "protocol/messages/69_consumer_group_describe.h"
#include "protocol/try.h"

namespace partita::client {
namespace {

/// Newer versions have topic ids instead of names.
constexpr std::int16_t kLastWithNames = 9;

Route coordinator(const std::string& group) { return Route::coordinator(CoordinatorOf::group, group); }

std::vector<std::string_view> views(const std::vector<std::string>& texts) { return {texts.begin(), texts.end()}; }

std::vector<TopicPartition> partitions_of(const ConsumerGroupDescribeResponse::Assignment& assignment) {
    std::vector<TopicPartition> partitions;
    for (const auto& topic : assignment.topic_partitions) {
        for (const std::int32_t partition : topic.partitions) {
            partitions.push_back({std::string(topic.topic_name), partition});
        }
    }
    std::ranges::sort(partitions);
    return partitions;
}

Result<GroupDescription> describe_classic(Cluster& cluster, const std::string& id) {
    std::string_view name = id;
    const DescribeGroupsRequest request{.groups = {&name, 1}};
    PARTITA_TRY_ASSIGN(auto reply, cluster.ask<DescribeGroupsResponse>(
                                       coordinator(id), {.name = "describeConsumerGroups"}, [&](std::int16_t) { return request; },
                                       [](const DescribeGroupsResponse& r) {
                                           return r.groups.empty() ? ErrorCode::none : r.groups[0].error_code;
                                       }));
    if (reply->groups.empty()) {
        return std::unexpected(refusal(ErrorCode::group_id_not_found));
    }
    const auto& group = reply->groups[0];
    if (group.error_code != ErrorCode::none) {
        return std::unexpected(refusal(group.error_code, group.error_message.value_or("")));
    }
    if (!group.protocol_type.empty() && group.protocol_type != "consumer") {
        return std::unexpected(
            Failure{.kind = Failure::Kind::unsupported,
                    .message = "GroupId " + id + " is not a consumer group (" + std::string(group.protocol_type) + ")."});
    }
    GroupDescription description{.id = id,
                                 .state = std::string(group.group_state),
                                 .protocol_type = std::string(group.protocol_type),
                                 .assignor = std::string(group.protocol_data)};
    for (const auto& member : group.members) {
        PARTITA_TRY_ASSIGN(auto assignment, decode_assignment(member.member_assignment));
        auto subscription = decode_subscription(member.member_metadata);
        description.members.push_back(
            {.id = std::string(member.member_id),
             .instance_id = std::string(member.group_instance_id.value_or("")),
             .client_id = std::string(member.client_id),
             .host = std::string(member.client_host),
             .assignment = std::move(assignment),
             .subscription = subscription ? std::move(subscription->topics) : std::vector<std::string>()});
    }
    return description;
}

GroupDescription description_of(const ConsumerGroupDescribeResponse::DescribedGroup& group) {
    GroupDescription description{.id = std::string(group.group_id),
                                 .state = std::string(group.group_state),
                                 .protocol_type = "consumer",
                                 .assignor = std::string(group.assignor_name),
                                 .epoch = group.group_epoch,
                                 .target_epoch = group.assignment_epoch};
    for (const auto& member : group.members) {
        description.members.push_back(
            {.id = std::string(member.member_id),
             .instance_id = std::string(member.instance_id.value_or("")),
             .client_id = std::string(member.client_id),
             .host = std::string(member.client_host),
             .assignment = partitions_of(member.assignment),
             .target = partitions_of(member.target_assignment),
             .subscription = {member.subscribed_topic_names.begin(), member.subscribed_topic_names.end()},
             .epoch = member.member_epoch,
             .is_upgraded = member.member_type < 0 ? std::nullopt : std::optional(member.member_type == 1)});
    }
    return description;
}

/// Asks all brokers. Requests types if the broker supports them, or if the caller insists.
Result<std::vector<ListedGroup>> list_on_brokers(Cluster& cluster, const std::vector<std::string>& states,
                                                 const std::vector<std::string>& types, bool insists_on_types) {
    PARTITA_TRY_ASSIGN(const auto membership, cluster.membership("listGroups"));
    std::vector<std::int32_t> nodes;
    for (const Node& node : membership->nodes) {
        nodes.push_back(node.id);
    }
    const std::vector<std::string_view> state_views = views(states);
    const std::vector<std::string_view> type_views = views(types);
    std::vector<ListedGroup> groups;
    for (const std::int32_t node : nodes) {
        constexpr std::int16_t kHasTypes = 5;
        const auto make = [&](std::int16_t version) {
            ListGroupsRequest request{.states_filter = state_views};
            if (version >= kHasTypes || insists_on_types) {
                request.types_filter = type_views;
            }
            return request;
        };
        PARTITA_TRY_ASSIGN(auto reply, cluster.ask<ListGroupsResponse>(Route::node(node), {.name = "listGroups"}, make,
                                                                       [](const ListGroupsResponse& r) { return r.error_code; }));
        if (reply->error_code != ErrorCode::none) {
            return std::unexpected(refusal(reply->error_code));
        }
        for (const auto& group : reply->groups) {
            groups.push_back({std::string(group.group_id), std::string(group.protocol_type), std::string(group.group_state),
                              std::string(group.group_type)});
        }
    }
    return groups;
}

}  // namespace

Result<std::vector<ListedGroup>> list_groups(Cluster& cluster, const std::vector<std::string>& states,
                                             const std::vector<std::string>& types) {
    const std::vector<std::string> of_consumers{"classic", "consumer"};
    auto groups = list_on_brokers(cluster, states, types.empty() ? of_consumers : types, !types.empty());
    if (groups) {
        std::erase_if(*groups,
                      [](const ListedGroup& group) { return !group.protocol_type.empty() && group.protocol_type != "consumer"; });
    }
    return groups;
}

Result<std::vector<ListedGroup>> list_all_groups(Cluster& cluster) { return list_on_brokers(cluster, {}, {}, false); }

Result<GroupDescription> describe_group(Cluster& cluster, const std::string& id) {
    std::string_view name = id;
    const ConsumerGroupDescribeRequest request{.group_ids = {&name, 1}};
    auto reply = cluster.ask<ConsumerGroupDescribeResponse>(
        coordinator(id), {.name = "describeConsumerGroups"}, [&](std::int16_t) { return request; },
        [](const ConsumerGroupDescribeResponse& r) { return r.groups.empty() ? ErrorCode::none : r.groups[0].error_code; });
    Result<GroupDescription> description = std::unexpected(refusal(ErrorCode::group_id_not_found));
    bool may_be_classic = !reply && reply.error().kind == Failure::Kind::unsupported;
    if (!reply && !may_be_classic) {
        return std::unexpected(std::move(reply.error()));
    }
    if (reply && !(*reply)->groups.empty()) {
        const auto& group = (*reply)->groups[0];
        may_be_classic = group.error_code == ErrorCode::group_id_not_found || group.error_code == ErrorCode::unsupported_version;
        if (!may_be_classic && group.error_code != ErrorCode::none) {
            return std::unexpected(refusal(group.error_code, group.error_message.value_or("")));
        }
        if (!may_be_classic) {
            description = description_of(group);
        }
    }
    if (may_be_classic) {
        description = describe_classic(cluster, id);
    }
    const Node* node = cluster.last_coordinator(CoordinatorOf::group, id);
    if (description && node != nullptr) {
        description->coordinator = *node;
    }
    return description;
}

namespace {

enum class Asker : std::uint8_t { member, onlooker };

/// `partitions`: null for all. A member names its partitions and waits for transactions; an outside caller names them only if the
/// broker cannot list all.
Result<std::map<TopicPartition, CommittedOffset>> fetch_offsets(Cluster& cluster, const std::string& group,
                                                                const std::set<TopicPartition>* partitions, Asker asker) {
    constexpr std::int16_t kHasGroups = 8;
    constexpr std::int16_t kHasAllTopics = 2;
    constexpr std::int16_t kHasStability = 7;
    std::map<std::string_view, std::vector<std::int32_t>> by_topic;
    if (partitions != nullptr) {
        for (const TopicPartition& each : *partitions) {
            by_topic[each.topic].push_back(each.partition);
        }
    }
    std::vector<OffsetFetchRequest::Topic> before_groups;
    std::vector<OffsetFetchRequest::Topics> topics;
    for (auto& [name, indexes] : by_topic) {
        before_groups.push_back({.name = name, .partition_indexes = indexes});
        topics.push_back({.name = name, .partition_indexes = indexes});
    }
    OffsetFetchRequest::Group wanted{.group_id = group, .topics = nullptr};
    const auto make = [&](std::int16_t version) {
        OffsetFetchRequest request;
        const bool names_them = partitions != nullptr && (asker == Asker::member || version < kHasAllTopics);
        if (version >= kHasStability) {
            request.require_stable = asker == Asker::member;
        }
        if (version >= kHasGroups) {
            if (names_them) {
                wanted.topics = topics;
            }
            request.groups = {&wanted, 1};
        } else {
            request.group_id = group;
            request.topics = nullptr;
            if (names_them) {
                request.topics = before_groups;
            }
        }
        return request;
    };
    const auto error_of = [](const OffsetFetchResponse& r) { return r.groups.empty() ? r.error_code : r.groups[0].error_code; };
    const std::int16_t oldest = partitions == nullptr || asker == Asker::member ? kHasAllTopics : std::int16_t{1};
    PARTITA_TRY_ASSIGN(
        auto reply,
        cluster.ask<OffsetFetchResponse>(
            coordinator(group), {.name = "listConsumerGroupOffsets", .versions = {oldest, kLastWithNames}}, make, error_of));
    if (const ErrorCode code = error_of(*reply); code != ErrorCode::none) {
        return std::unexpected(refusal(code));
    }
    std::map<TopicPartition, CommittedOffset> offsets;
    std::optional<ErrorCode> refused;
    const auto add = [&](const auto& topics) {
        for (const auto& topic : topics) {
            for (const auto& partition : topic.partitions) {
                TopicPartition place{std::string(topic.name), partition.partition_index};
                if (partitions != nullptr && !partitions->contains(place)) {
                    continue;
                }
                if (partition.error_code != ErrorCode::none) {
                    refused = partition.error_code;
                }
                if (partition.committed_offset < 0) {
                    continue;
                }
                const auto epoch = partition.committed_leader_epoch;
                offsets[std::move(place)] = {partition.committed_offset, epoch < 0 ? std::nullopt : std::optional(epoch)};
            }
        }
    };
    add(reply->topics);
    for (const auto& one : reply->groups) {
        add(one.topics);
    }
    if (refused) {
        return std::unexpected(refusal(*refused));
    }
    return offsets;
}

}  // namespace

Result<std::map<TopicPartition, CommittedOffset>> committed_offsets(Cluster& cluster, const std::string& group) {
    return fetch_offsets(cluster, group, nullptr, Asker::onlooker);
}

Result<std::map<TopicPartition, CommittedOffset>> committed_offsets(Cluster& cluster, const std::string& group,
                                                                    const std::set<TopicPartition>& partitions) {
    return fetch_offsets(cluster, group, &partitions, Asker::onlooker);
}

Result<std::map<TopicPartition, CommittedOffset>> stable_offsets(Cluster& cluster, const std::string& group,
                                                                 const std::set<TopicPartition>& partitions) {
    return fetch_offsets(cluster, group, &partitions, Asker::member);
}

Result<void> commit_offsets(Cluster& cluster, const std::string& group, const std::map<TopicPartition, std::int64_t>& offsets) {
    std::map<TopicPartition, CommittedOffset> positions;
    for (const auto& [partition, offset] : offsets) {
        positions[partition] = {offset, std::nullopt};
    }
    return commit_offsets(cluster, group, CommittingMember{}, positions);
}

Result<void> commit_offsets(Cluster& cluster, const std::string& group, const CommittingMember& member,
                            const std::map<TopicPartition, CommittedOffset>& offsets) {
    std::map<std::string_view, std::vector<OffsetCommitRequest::Partition>> by_topic;
    for (const auto& [partition, position] : offsets) {
        by_topic[partition.topic].push_back({.partition_index = partition.partition,
                                             .committed_offset = position.offset,
                                             .committed_leader_epoch = position.leader_epoch.value_or(-1)});
    }
    std::vector<OffsetCommitRequest::Topic> topics;
    for (auto& [name, partitions] : by_topic) {
        topics.push_back({.name = name, .partitions = partitions});
    }
    OffsetCommitRequest request{
        .group_id = group, .generation_id_or_member_epoch = member.generation, .member_id = member.id, .topics = topics};
    const auto make = [&](std::int16_t version) {
        constexpr std::int16_t kHasEpochs = 6;
        constexpr std::int16_t kHasInstances = 7;
        if (version >= kHasInstances && member.instance_id) {
            request.group_instance_id = *member.instance_id;
        }
        for (auto& [name, partitions] : by_topic) {
            for (auto& partition : partitions) {
                if (version < kHasEpochs) {
                    partition.committed_leader_epoch = -1;
                }
            }
        }
        return request;
    };
    const auto error_of = [](const OffsetCommitResponse& r) {
        for (const auto& topic : r.topics) {
            for (const auto& partition : topic.partitions) {
                if (partition.error_code != ErrorCode::none) {
                    return partition.error_code;
                }
            }
        }
        return ErrorCode::none;
    };
    constexpr std::int16_t kOldest = 2;
    PARTITA_TRY_ASSIGN(
        auto reply,
        cluster.ask<OffsetCommitResponse>(
            coordinator(group), {.name = "alterConsumerGroupOffsets", .versions = {kOldest, kLastWithNames}}, make, error_of));
    if (const ErrorCode code = error_of(*reply); code != ErrorCode::none) {
        return std::unexpected(refusal(code));
    }
    return {};
}

Result<std::map<TopicPartition, ErrorCode>> delete_offsets(Cluster& cluster, const std::string& group,
                                                           const std::vector<TopicPartition>& partitions) {
    std::map<std::string_view, std::vector<OffsetDeleteRequest::Partition>> by_topic;
    for (const TopicPartition& partition : partitions) {
        by_topic[partition.topic].push_back({partition.partition});
    }
    std::vector<OffsetDeleteRequest::Topic> topics;
    for (auto& [name, list] : by_topic) {
        topics.push_back({.name = name, .partitions = list});
    }
    const OffsetDeleteRequest request{.group_id = group, .topics = topics};
    PARTITA_TRY_ASSIGN(auto reply,
                       cluster.ask<OffsetDeleteResponse>(
                           coordinator(group), {.name = "deleteConsumerGroupOffsets"}, [&](std::int16_t) { return request; },
                           [](const OffsetDeleteResponse& r) { return r.error_code; }));
    if (reply->error_code != ErrorCode::none) {
        return std::unexpected(refusal(reply->error_code));
    }
    std::map<TopicPartition, ErrorCode> results;
    for (const auto& topic : reply->topics) {
        for (const auto& partition : topic.partitions) {
            results[{std::string(topic.name), partition.partition_index}] = partition.error_code;
        }
    }
    return results;
}

Result<void> delete_group(Cluster& cluster, const std::string& group) {
    std::string_view name = group;
    const DeleteGroupsRequest request{.groups_names = {&name, 1}};
    const auto error_of = [](const DeleteGroupsResponse& r) {
        return r.results.empty() ? ErrorCode::none : r.results[0].error_code;
    };
    PARTITA_TRY_ASSIGN(
        auto reply, cluster.ask<DeleteGroupsResponse>(
                        coordinator(group), {.name = "deleteConsumerGroups"}, [&](std::int16_t) { return request; }, error_of));
    if (const ErrorCode code = error_of(*reply); code != ErrorCode::none) {
        return std::unexpected(refusal(code));
    }
    return {};
}

}  // namespace partita::client
