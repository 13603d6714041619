#pragma once

#include <cstddef>
#include <string_view>

#include "broker/groups/commands.h"
#include "broker/groups/effects.h"
#include "broker/groups/group_environment.h"
#include "broker/groups/group_table.h"
#include "broker/groups/topic_readers.h"
#include "protocol/types.h"

namespace partita::groups {

/// Committed offsets of groups of every kind: commits, fetches, deletion, and offsets that expansions of topics give. GroupExpiry
/// removes unused offsets.
class GroupOffsets {
  public:
    GroupOffsets(GroupTable& table, const GroupEnvironment& environment) : table_(table), config_(environment.config) {}

    /// A commit from outside creates the group if it does not exist.
    void decide(const OffsetCommit& command, Now now, Effects& effects);
    /// The same as part of a transaction.
    void decide(const TransactionalOffsetCommit& command, Now now, Effects& effects);
    void decide(const OffsetFetch& command, Now now, Effects& effects) const;
    void decide(const OffsetDelete& command, Now now, Effects& effects);
    void topic_deleted(const TopicDeleted& event, Effects& effects);
    void seed(const SeedOffsets& command, Now now, Effects& effects);
    std::size_t remove_seeds(const SeedOffsets& command, Effects& effects);

  private:
    /// Passes a record for each accepted offset of the command to `persist`.
    template <class Persist>
    [[nodiscard]] OffsetCommitResult commit_each(const OffsetCommit& command, Now now, Effects& effects, Persist persist);
    /// Reports to the group's history a commit under a claim that has ended.
    void note_refused(const OffsetCommit& command, const Group* group, ErrorCode refusal, Now now);
    [[nodiscard]] bool metadata_too_large(std::string_view metadata) const;

    GroupTable& table_;
    const GroupConfig& config_;
};

}  // namespace partita::groups
