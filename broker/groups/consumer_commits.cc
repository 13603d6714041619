#include "broker/groups/consumer_group.h"
#include "broker/groups/limits.h"

// The rules by which a consumer group accepts commits and fetches of offsets.

namespace partita::groups {

/// A member commits in the epoch that it knows. An older epoch is valid for partitions that the member has held since then or
/// longer (KIP-1251): no other member can have held them meanwhile.
ErrorCode ConsumerGroup::refuse_commit(const OffsetCommit& command, CommitKind kind) const {
    if (command.generation.value < 0 && empty()) {
        return ErrorCode::none;
    }
    const bool names_nobody =
        command.generation == Generation{-1} && command.member_id.empty() && !command.group_instance_id.has_value();
    if (kind == CommitKind::transactional && names_nobody) {
        return ErrorCode::none;
    }
    const ConsumerMember* member = find(command.member_id);
    if (member == nullptr) {
        return ErrorCode::unknown_member_id;
    }
    if (kind == CommitKind::plain && !member->speaks_classic() && command.api_version < kCommitVersionKnowingMemberEpochs) {
        return ErrorCode::unsupported_version;
    }
    const std::int32_t epoch = command.generation.value;
    if (epoch == member->progress.epoch) {
        return ErrorCode::none;
    }
    const ErrorCode stale = member->speaks_classic() ? ErrorCode::illegal_generation : ErrorCode::stale_member_epoch;
    if (epoch > member->progress.epoch) {
        return stale;
    }
    for (const OffsetCommit::Topic& topic : command.topics) {
        for (const OffsetCommit::Partition& partition : topic.partitions) {
            const std::int32_t index = partition.partition.value;
            const OwnedPartition* owned = find_partition(member->progress.assigned, topic.topic_id, index);
            if (owned == nullptr) {
                owned = find_partition(member->progress.pending_revocation, topic.topic_id, index);
            }
            if (owned == nullptr || epoch < owned->assignment_epoch) {
                return stale;
            }
        }
    }
    return ErrorCode::none;
}

ErrorCode ConsumerGroup::refuse_fetch(const OffsetFetch::Group& wanted) const {
    if (!wanted.member_id && wanted.member_epoch < 0) {
        // An administrator.
        return ErrorCode::none;
    }
    const ConsumerMember* member = find(wanted.member_id.value_or(""));
    if (member == nullptr) {
        return ErrorCode::unknown_member_id;
    }
    if (wanted.member_epoch != member->progress.epoch) {
        return member->speaks_classic() ? ErrorCode::illegal_generation : ErrorCode::stale_member_epoch;
    }
    return ErrorCode::none;
}

}  // namespace partita::groups
