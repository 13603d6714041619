#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "broker/assignors/assignment.h"
#include "protocol/types.h"

/// Moves a member from its present partitions to its target (KIP-848 reconciliation).

namespace partita::groups {

/// A partition of a member, and the member's epoch at its assignment: a commit with an older epoch is late.
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

/// Null if the member does not have the partition.
[[nodiscard]] const OwnedPartition* find_partition(const OwnedAssignment& assignment, const TopicId& topic_id,
                                                   std::int32_t partition);
[[nodiscard]] assignors::Assignment without_epochs(const OwnedAssignment& assignment);

/// As persisted, with Kafka's numbers.
enum class MemberState : std::int8_t {
    stable = 0,
    /// The member was told to give up partitions and has not yet confirmed it.
    unrevoked_partitions = 1,
    /// The member waits for partitions that other members still have to give up.
    unreleased_partitions = 2,
    unknown = 127,
};

struct MemberProgress {
    std::int32_t epoch = 0;
    std::int32_t previous_epoch = 0;
    MemberState state = MemberState::stable;
    /// The partitions assigned to the member.
    OwnedAssignment assigned;
    /// The partitions that the member has to give up; no other member may get them yet.
    OwnedAssignment pending_revocation;

    friend bool operator==(const MemberProgress&, const MemberProgress&) = default;
};

/// The input of one heartbeat.
struct ReconciliationInput {
    std::int32_t target_epoch = 0;
    const assignors::Assignment& target;
    /// The existing topics that the member subscribes to, ascending.
    std::span<const TopicId> subscribed;
    /// The member changed its subscription with this heartbeat.
    bool subscription_changed = false;
    /// The partitions that the member reports; unset if it reports none.
    std::optional<std::span<const assignors::TopicPartitions>> owned;
};

/// Whether a member may get a partition: it is free, or the member itself holds it.
class PartitionAvailability {
  public:
    virtual ~PartitionAvailability() = default;
    [[nodiscard]] virtual bool is_available(const TopicId& topic_id, std::int32_t partition) const = 0;
};

/// The member after its next step; equal to `progress` if there is nothing to do.
[[nodiscard]] MemberProgress reconcile(const MemberProgress& progress, const ReconciliationInput& input,
                                       const PartitionAvailability& availability);

/// True if `assigned` contains everything that the member reports as owned. False if it reports nothing.
[[nodiscard]] bool is_subset(const std::optional<std::span<const assignors::TopicPartitions>>& owned,
                             const OwnedAssignment& assigned);

}  // namespace partita::groups
