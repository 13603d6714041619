#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "broker/assignors/assignment.h"
#include "protocol/types.h"

/// How a member is led from the partitions it has to those it shall have (KIP-848 reconciliation).

namespace partita::groups {

/// A partition and the epoch of the member in which it was assigned: commits of older epochs are late.
struct OwnedPartition {
    std::int32_t partition = 0;
    std::int32_t assignment_epoch = 0;

    friend auto operator<=>(const OwnedPartition&, const OwnedPartition&) = default;
};

struct OwnedTopic {
    TopicId topic_id;
    /// Ascending.
    std::vector<OwnedPartition> partitions;

    friend auto operator<=>(const OwnedTopic&, const OwnedTopic&) = default;
};

/// Ascending by topic id, no topic without partitions.
using OwnedAssignment = std::vector<OwnedTopic>;

/// Null when the member does not have the partition.
[[nodiscard]] const OwnedPartition* find_partition(const OwnedAssignment& assignment, const TopicId& topic_id,
                                                   std::int32_t partition);
[[nodiscard]] assignors::Assignment without_epochs(const OwnedAssignment& assignment);

/// As persisted, with Kafka's numbers.
enum class MemberState : std::int8_t {
    stable = 0,
    /// It was told to give partitions up and has yet to say that it did.
    unrevoked_partitions = 1,
    /// It waits for partitions that others have yet to give up.
    unreleased_partitions = 2,
    unknown = 127,
};

struct MemberProgress {
    std::int32_t epoch = 0;
    std::int32_t previous_epoch = 0;
    MemberState state = MemberState::stable;
    /// What the member is told to have.
    OwnedAssignment assigned;
    /// What it is told to give up and nobody else may get yet.
    OwnedAssignment pending_revocation;

    friend bool operator==(const MemberProgress&, const MemberProgress&) = default;
};

/// The question of one heartbeat.
struct ReconciliationInput {
    std::int32_t target_epoch = 0;
    const assignors::Assignment& target;
    /// Topics the member is subscribed to and that exist; ascending.
    std::span<const TopicId> subscribed;
    /// It changed its subscription with this heartbeat.
    bool subscription_changed = false;
    /// What the member says it has; unset when it did not say.
    std::optional<std::span<const assignors::TopicPartitions>> owned;
};

/// Whether the partition may be given to the member: nobody has it, or the member itself.
class PartitionAvailability {
public:
    virtual ~PartitionAvailability() = default;
    [[nodiscard]] virtual bool is_available(const TopicId& topic_id, std::int32_t partition) const = 0;
};

/// The member's next step; equal to `progress` when there is none.
[[nodiscard]] MemberProgress reconcile(const MemberProgress& progress, const ReconciliationInput& input,
                                       const PartitionAvailability& availability);

/// Everything that is said to be owned is in `assigned`. False when nothing was said.
[[nodiscard]] bool is_subset(const std::optional<std::span<const assignors::TopicPartitions>>& owned,
                             const OwnedAssignment& assigned);

}  // namespace partita::groups
