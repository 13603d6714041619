#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "broker/groups/commands.h"
#include "broker/groups/effects.h"
#include "broker/groups/group_environment.h"
#include "broker/groups/group_table.h"
#include "broker/groups/topic_readers.h"
#include "protocol/types.h"

namespace partita::groups {

/// Questions about groups of every kind. Nothing changes by them but the index of readers.
class GroupQueries {
  public:
    GroupQueries(GroupTable& table, const GroupEnvironment& environment) : table_(table), environment_(environment) {}

    void decide(const ListGroups& command, Now now, Effects& effects) const;

    // See GroupCoordinator for these.

    [[nodiscard]] std::vector<std::vector<TopicReader>> readers_of(std::span<TopicQuestion> questions);
    [[nodiscard]] std::vector<std::vector<TopicReader>> readers_by_asking_all(std::span<TopicQuestion> questions) const;
    [[nodiscard]] std::uint64_t groups_visited() const { return groups_visited_; }
    [[nodiscard]] std::optional<std::string> protocol_of(std::string_view group_id) const;
    [[nodiscard]] std::optional<MemberHoldings> holdings_of(std::string_view group_id, std::string_view member_id) const;
    [[nodiscard]] Checkpoints checkpoints_of(std::string_view group_id) const;
    [[nodiscard]] std::map<PartitionIndex, Offset> committed_in(std::string_view group_id, std::string_view topic,
                                                                const TopicId& topic_id) const;

  private:
    GroupTable& table_;
    const GroupEnvironment& environment_;
    std::uint64_t groups_visited_ = 0;
};

}  // namespace partita::groups
