#include <algorithm>
#include <cctype>
#include <utility>

#include "broker/groups/core.h"

namespace partita::groups {
namespace {

// In small letters on the wire; clients compare without regard to case.
constexpr std::string_view kClassicType = "classic";

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
                                  .assignment = member->assignment});
    }
    return result;
}

}  // namespace

void GroupCoordinator::Core::describe_groups(const DescribeGroups& command, Effects& effects) {
    DescribeGroupsResult result;
    result.groups.reserve(command.group_ids.size());
    for (const std::string_view group_id : command.group_ids) {
        if (const Group* group = find_group(group_id)) {
            result.groups.push_back(describe(*group));
            continue;
        }
        DescribeGroupsResult::Group& unknown = result.groups.emplace_back();
        unknown.group_id = group_id;
        if (command.api_version >= kDescribeVersionKnowingUnknownGroups) {
            unknown.error = ErrorCode::group_id_not_found;
            unknown.error_message = "Group " + unknown.group_id + " not found.";
        }
    }
    reply(effects, command.reply_to, std::move(result));
}

void GroupCoordinator::Core::list_groups(const ListGroups& command, Effects& effects) {
    ListGroupsResult result;
    if (passes(command.types, kClassicType)) {
        for (const Group* group : groups_in_order()) {
            if (passes(command.states, state_name(group->state()))) {
                result.groups.push_back({group->id, group->protocol_type.value_or(""),
                                         std::string(state_name(group->state())), std::string(kClassicType)});
            }
        }
    }
    reply(effects, command.reply_to, std::move(result));
}

}  // namespace partita::groups
