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

/// Committed offsets, of groups of every kind: commits, fetches, deletion, and what expansions of topics give. Offsets that
/// nobody uses any more are GroupExpiry's.
class GroupOffsets {
  public:
    GroupOffsets(GroupTable& table, const GroupEnvironment& environment) : table_(table), config_(environment.config) {}

    /// Makes the group if it is not there and somebody from outside commits.
    void decide(const OffsetCommit& command, Now now, Effects& effects);
    /// Likewise, as part of a transaction.
    void decide(const TransactionalOffsetCommit& command, Now now, Effects& effects);
    void decide(const OffsetFetch& command, Now now, Effects& effects) const;
    void decide(const OffsetDelete& command, Now now, Effects& effects);
    void topic_deleted(const TopicDeleted& event, Effects& effects);
    void seed(const SeedOffsets& command, Now now, Effects& effects);
    std::size_t remove_seeds(const SeedOffsets& command, Effects& effects);

  private:
    /// A record for each offset of the command that is not refused by itself, given to `persist`.
    template <class Persist>
    [[nodiscard]] OffsetCommitResult commit_each(const OffsetCommit& command, Now now, Effects& effects, Persist persist);
    /// Tells the group's history of a commit that came by a claim that is over.
    void note_refused(const OffsetCommit& command, const Group* group, ErrorCode refusal, Now now);
    [[nodiscard]] bool metadata_too_large(std::string_view metadata) const;

    GroupTable& table_;
    const GroupConfig& config_;
};

}  // namespace partita::groups
