#include <cctype>
#include <string>
#include <unordered_set>
#include <utility>
#include <variant>

#include "broker/groups/consumer_protocol.h"
#include "broker/groups/group_queries.h"
#include "broker/groups/limits.h"
#include "broker/groups/replies.h"

namespace partita::groups {
namespace {

/// What ListGroups says of a group.
struct Listed {
    /// In small letters on the wire; clients compare without regard to case.
    std::string_view type;
    std::string_view state;
    std::string_view protocol_type;
};

Listed listed(const ClassicGroup& group) {
    return {"classic", state_name(group.state()),
            group.protocol_type ? std::string_view(*group.protocol_type) : std::string_view()};
}
Listed listed(const ConsumerGroup& group) { return {"consumer", state_name(group.state()), kConsumerProtocolType}; }

std::string in_small_letters(std::string_view text) {
    std::string small(text);
    for (char& letter : small) {
        letter = static_cast<char>(std::tolower(static_cast<unsigned char>(letter)));
    }
    return small;
}

/// Values that may be told, compared without regard to case. A request can name very many, which no group should be compared with
/// one by one.
class Filter {
  public:
    explicit Filter(std::span<const std::string_view> wanted) {
        for (const std::string_view each : wanted) {
            wanted_.insert(in_small_letters(each));
        }
    }
    [[nodiscard]] bool passes(std::string_view value) const {
        return wanted_.empty() || wanted_.contains(in_small_letters(value));
    }

  private:
    std::unordered_set<std::string> wanted_;
};

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

void GroupQueries::describe(const DescribeGroups& command, Effects& effects) const {
    DescribeGroupsResult result;
    result.groups.reserve(command.group_ids.size());
    for (const std::string_view group_id : command.group_ids) {
        const Group* group = table_.find(group_id);
        if (const ClassicGroup* classic = group == nullptr ? nullptr : group->classic()) {
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

void GroupQueries::list(const ListGroups& command, Effects& effects) const {
    ListGroupsResult result;
    const Filter types(command.types);
    const Filter states(command.states);
    for (const Group* group : std::as_const(table_).in_order()) {
        const Listed said = std::visit([](const auto& kind) { return listed(kind); }, group->kind());
        if (types.passes(said.type) && states.passes(said.state)) {
            result.groups.push_back(
                {group->id, std::string(said.protocol_type), std::string(said.state), std::string(said.type)});
        }
    }
    reply(effects, command.reply_to, std::move(result));
}

}  // namespace partita::groups
