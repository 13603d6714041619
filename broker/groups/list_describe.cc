#include <algorithm>
#include <cctype>
#include <utility>

#include "broker/groups/consumer_protocol.h"
#include "broker/groups/core.h"

namespace partita::groups {
namespace {

// In small letters on the wire; clients compare without regard to case.
constexpr std::string_view kClassicType = "classic";
constexpr std::string_view kConsumerType = "consumer";

bool equal_ignoring_case(std::string_view left, std::string_view right) {
    return std::ranges::equal(left, right, [](unsigned char a, unsigned char b) {
        return std::tolower(a) == std::tolower(b);
    });
}

bool passes(std::span<const std::string_view> filter, std::string_view value) {
    return filter.empty() || std::ranges::any_of(filter, [value](std::string_view wanted) {
               return equal_ignoring_case(wanted, value);
           });
}

DescribeGroupsResult::Group describe(const Group& group) {
    DescribeGroupsResult::Group result{
        .group_id = group.id, .state = group.state(), .protocol_type = group.protocol_type.value_or("")};
    const bool is_stable = group.is(GroupState::stable);
    if (is_stable) {
        result.protocol = group.protocol.value_or("");
    }
    result.members.reserve(group.size());
    for (const auto& [order, member] : group.members()) {
        const OwnedBytes* metadata = is_stable ? member->metadata(result.protocol) : nullptr;
        result.members.push_back({.member_id = member->id,
                                  .group_instance_id = member->instance_id,
                                  .client_id = member->client_id,
                                  .client_host = member->client_host,
                                  .metadata = metadata == nullptr ? OwnedBytes() : *metadata,
                                  .assignment = member->assignment()});
    }
    return result;
}

}  // namespace

void GroupCoordinator::Core::decide(const DescribeGroups& command, Now, Effects& effects) {
    DescribeGroupsResult result;
    result.groups.reserve(command.group_ids.size());
    for (const std::string_view group_id : command.group_ids) {
        const Group* group = find_group(group_id);
        if (group != nullptr && !group->consumer) {
            result.groups.push_back(describe(*group));
            continue;
        }
        DescribeGroupsResult::Group& unknown = result.groups.emplace_back();
        unknown.group_id = group_id;
        if (command.api_version >= kDescribeVersionKnowingUnknownGroups) {
            unknown.error = ErrorCode::group_id_not_found;
            unknown.error_message =
                "Group " + unknown.group_id + (group == nullptr ? " not found." : " is not a classic group.");
        }
    }
    reply(effects, command.reply_to, std::move(result));
}

void GroupCoordinator::Core::decide(const ListGroups& command, Now, Effects& effects) {
    ListGroupsResult result;
    for (const Group* group : groups_in_order()) {
        const std::string_view type = group->consumer ? kConsumerType : kClassicType;
        const std::string_view state = group->consumer ? state_name(group->consumer->state()) : state_name(group->state());
        if (passes(command.types, type) && passes(command.states, state)) {
            const std::string protocol_type =
                group->consumer ? std::string(kConsumerProtocolType) : group->protocol_type.value_or("");
            result.groups.push_back({group->id, protocol_type, std::string(state), std::string(type)});
        }
    }
    reply(effects, command.reply_to, std::move(result));
}

}  // namespace partita::groups
