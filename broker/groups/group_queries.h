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

/// Questions about groups of every kind. Nothing changes by them but the index of readers.
class GroupQueries {
  public:
    GroupQueries(GroupTable& table, const GroupEnvironment& environment) : table_(table), environment_(environment) {}

    void decide(const ListGroups& command, Now now, Effects& effects) const;

    /// Every group that reads the topic, ascending by id.
    [[nodiscard]] std::vector<TopicReader> readers_of(std::string_view topic, const TopicId& topic_id);
    /// The same for several different topics at once: one answer for each question, in their order. The time grows with
    /// what members of the groups that read these topics say (it is looked at once), and with the answers; see
    /// TopicQuestion. The first question builds an index (`reader_index.h`); each later one also looks at the groups
    /// that changed since the question before.
    [[nodiscard]] std::vector<std::vector<TopicReader>> readers_of(std::span<TopicQuestion> questions);
    /// The same, by asking every group and no index. For tests of `readers_of`.
    [[nodiscard]] std::vector<std::vector<TopicReader>> readers_by_asking_all(std::span<TopicQuestion> questions) const;
    /// Groups that `readers_of` looked at so far, for its index and for its answers. For tests.
    [[nodiscard]] std::uint64_t groups_visited() const { return groups_visited_; }
    /// The assignor of the group's generation ("range", "stream"); empty while the group has none, and for groups that
    /// never name one. Null when there is no such group.
    [[nodiscard]] std::optional<std::string> protocol_of(std::string_view group_id) const;
    /// Everything that the member holds, of all topics. Null when there is no such member.
    [[nodiscard]] std::optional<MemberHoldings> holdings_of(std::string_view group_id, std::string_view member_id) const;
    /// What happened in the group as long as this coordinator knows it. Null when there is no such group.
    [[nodiscard]] std::optional<insight::GroupHistory> history_of(std::string_view group_id) const;
    /// The groups of which there is a history that was not begun to answer a question, with it.
    void visit_histories(FunctionRef<void(std::string_view group_id, const insight::GroupHistory& history)> visit) const;
    /// All that the group committed. Empty when there is no such group.
    [[nodiscard]] Checkpoints checkpoints_of(std::string_view group_id) const;
    /// The offsets that the group committed under the topic's id (or without any id); empty when there is no such
    /// group.
    [[nodiscard]] std::map<PartitionIndex, Offset> committed_in(std::string_view group_id, std::string_view topic,
                                                                const TopicId& topic_id) const;

  private:
    GroupTable& table_;
    const GroupEnvironment& environment_;
    std::uint64_t groups_visited_ = 0;
};

}  // namespace partita::groups
