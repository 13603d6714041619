#include "broker/groups/history_teller.h"

namespace partita::groups {
namespace {

bool has(const ClusterView::Topic& topic, std::int32_t partition) { return partition >= 0 && partition < topic.partition_count; }

}  // namespace

void HistoryTeller::tell_classic(std::string_view member_id, Bytes assignment, TimestampMs since, std::int32_t generation) {
    read_holdings(assignment, holdings_);
    for (const Holdings::Topic& held : holdings_.topics()) {
        const auto topic = cluster_.find(held.name);
        if (!topic) {
            continue;
        }
        for (const PartitionIndex partition : holdings_.partitions_of(held)) {
            if (has(*topic, partition.value)) {
                history_.acquire(topic->name, topic->topic_id, partition.value, member_id, since, generation);
            }
        }
    }
}

void HistoryTeller::tell(std::string_view member_id, const OwnedAssignment& assignment, TimestampMs since) {
    for (const OwnedTopic& owned : assignment) {
        const auto topic = cluster_.find(owned.topic_id);
        if (!topic) {
            continue;
        }
        for (const OwnedPartition& partition : owned.partitions) {
            if (has(*topic, partition.partition)) {
                history_.acquire(topic->name, topic->topic_id, partition.partition, member_id, since, partition.assignment_epoch);
            }
        }
    }
}

void HistoryTeller::tell_release(std::string_view member_id, const OwnedAssignment& before, const MemberProgress& after,
                                 TimestampMs now) {
    for (const OwnedTopic& owned : before) {
        const auto topic = cluster_.find(owned.topic_id);
        if (!topic) {
            continue;
        }
        for (const OwnedPartition& partition : owned.partitions) {
            if (find_partition(after.assigned, owned.topic_id, partition.partition) == nullptr &&
                find_partition(after.pending_revocation, owned.topic_id, partition.partition) == nullptr) {
                history_.release(topic->name, partition.partition, member_id, now);
            }
        }
    }
}

}  // namespace partita::groups
