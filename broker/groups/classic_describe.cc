#include <string>
#include <utility>

#include "broker/groups/classic_rules.h"
#include "broker/groups/limits.h"
#include "broker/groups/replies.h"

namespace partita::groups {
namespace {

DescribeGroupsResult::Group described(const ClassicGroup& group) {
    DescribeGroupsResult::Group result{
        .group_id = group.id(), .state = group.state(), .protocol_type = group.protocol_type.value_or("")};
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

void ClassicRules::decide(const DescribeGroups& command, Now, Effects& effects) {
    DescribeGroupsResult result;
    result.groups.reserve(command.group_ids.size());
    for (const std::string_view group_id : command.group_ids) {
        const Group* group = table_.find(group_id);
        if (const ClassicGroup* classic = group == nullptr ? nullptr : group->as<ClassicGroup>()) {
            result.groups.push_back(described(*classic));
            continue;
        }
        DescribeGroupsResult::Group& unknown = result.groups.emplace_back();
        unknown.group_id = group_id;
        if (command.api_version >= kDescribeVersionKnowingUnknownGroups) {
            unknown.error = ErrorCode::group_id_not_found;
            unknown.error_message = "Group " + unknown.group_id + (group == nullptr ? " not found." : " is not a classic group.");
        }
    }
    reply(effects, command.reply_to, std::move(result));
}

}  // namespace partita::groups
