#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "broker/assignors/assignment.h"
#include "protocol/types.h"

/// Leads a member from the partitions that it has to those that it shall have (KIP-848 reconciliation).

namespace partita::groups {

/// A partition that a member has, and the member's epoch when it was assigned: a commit of an older epoch is late.
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
    /// The member was told to give partitions up and has not yet said that it did.
    unrevoked_partitions = 1,
    /// The member waits for partitions that other members have yet to give up.
    unreleased_partitions = 2,
    unknown = 127,
};

struct MemberProgress {
    std::int32_t epoch = 0;
    std::int32_t previous_epoch = 0;
    MemberState state = MemberState::stable;
    /// The partitions that the member is told to have.
    OwnedAssignment assigned;
    /// The partitions that the member is told to give up; nobody else may get them yet.
    OwnedAssignment pending_revocation;

    friend bool operator==(const MemberProgress&, const MemberProgress&) = default;
};

/// What one heartbeat asks.
struct ReconciliationInput {
    std::int32_t target_epoch = 0;
    const assignors::Assignment& target;
    /// The existing topics that the member subscribes to, ascending.
    std::span<const TopicId> subscribed;
    /// The member changed its subscription with this heartbeat.
    bool subscription_changed = false;
    /// What the member says it has; unset when it did not say.
    std::optional<std::span<const assignors::TopicPartitions>> owned;
};

/// Whether a partition may be given to the member: nobody has it, or the member itself has it.
class PartitionAvailability {
  public:
    virtual ~PartitionAvailability() = default;
    [[nodiscard]] virtual bool is_available(const TopicId& topic_id, std::int32_t partition) const = 0;
};

/// The member after its next step; equal to `progress` when there is none.
[[nodiscard]] MemberProgress reconcile(const MemberProgress& progress, const ReconciliationInput& input,
                                       const PartitionAvailability& availability);

/// True when everything that the member says it owns is in `assigned`. False when it said nothing.
[[nodiscard]] bool is_subset(const std::optional<std::span<const assignors::TopicPartitions>>& owned,
                             const OwnedAssignment& assigned);

}  // namespace partita::groups
