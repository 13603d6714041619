#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "broker/groups/commands.h"
#include "broker/groups/committed_offset.h"
#include "broker/groups/effects.h"
#include "broker/groups/topic_readers.h"
#include "protocol/function_ref.h"
#include "protocol/types.h"

namespace partita::insight {
class GroupHistory;
}  // namespace partita::insight

namespace partita::groups {

class GroupTable;
struct GroupEnvironment;

/// Queries about groups of every kind. They change only the index of readers.
class GroupQueries {
  public:
    GroupQueries(GroupTable& table, const GroupEnvironment& environment) : table_(table), environment_(environment) {}

    void decide(const ListGroups& command, Now now, Effects& effects) const;

    /// Every group that reads the topic, ascending by id.
    [[nodiscard]] std::vector<TopicReader> readers_of(std::string_view topic, const TopicId& topic_id);
    /// The same for several different topics at once: one answer per question, in their order. The time grows with the answers,
    /// and with the members' data of the groups that read these topics, which is parsed once; see TopicQuestion. The first
    /// question builds an index (`reader_index.h`); each later one also examines the groups that changed since the previous
    /// question.
    [[nodiscard]] std::vector<std::vector<TopicReader>> readers_of(std::span<TopicQuestion> questions);
    /// The same without the index, by asking every group. For tests of `readers_of`.
    [[nodiscard]] std::vector<std::vector<TopicReader>> readers_by_asking_all(std::span<TopicQuestion> questions) const;
    /// How many groups `readers_of` has examined so far, for its index and for its answers. For tests.
    [[nodiscard]] std::uint64_t groups_visited() const { return groups_visited_; }
    /// The assignor of the group's generation ("range", "stream"); empty before the first choice, and for groups that never name
    /// one. Null if the group is unknown.
    [[nodiscard]] std::optional<std::string> protocol_of(std::string_view group_id) const;
    /// Everything that the member holds, of all topics. Null if the member is unknown.
    [[nodiscard]] std::optional<MemberHoldings> holdings_of(std::string_view group_id, std::string_view member_id) const;
    /// The group's history since this coordinator has known it. Null if the group is unknown.
    [[nodiscard]] std::optional<insight::GroupHistory> history_of(std::string_view group_id) const;
    /// Visits groups with their histories, except for histories that only a question started.
    void visit_histories(FunctionRef<void(std::string_view group_id, const insight::GroupHistory& history)> visit) const;
    /// All offsets that the group committed. Empty if the group is unknown.
    [[nodiscard]] Checkpoints checkpoints_of(std::string_view group_id) const;
    /// The offsets that the group committed under the topic's id (or without an id); empty if the group is unknown.
    [[nodiscard]] std::map<PartitionIndex, Offset> committed_in(std::string_view group_id, std::string_view topic,
                                                                const TopicId& topic_id) const;

  private:
    GroupTable& table_;
    const GroupEnvironment& environment_;
    std::uint64_t groups_visited_ = 0;
};

}  // namespace partita::groups
