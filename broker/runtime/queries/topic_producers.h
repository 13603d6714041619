#pragma once

#include <vector>

#include "broker/logs/topic_table.h"
#include "protocol/types.h"
#include "storage/partition_log.h"

namespace partita::runtime {

/// The producers with an id (idempotent or transactional) that wrote to a partition and have not expired
/// (producer.id.expiration.ms), ascending by id. A log knows nothing about other producers; the observer of keys sees those.
[[nodiscard]] std::vector<ProducerSummary> partition_producers(const logs::Partition& partition);

/// A producer with an id, over a whole topic.
struct TopicProducer {
    ProducerId producer_id;
    /// The newest epoch.
    ProducerEpoch epoch;
    /// The time of its last write.
    TimestampMs last_timestamp;
    /// The partitions that it wrote to, ascending.
    std::vector<PartitionIndex> partitions;
    /// The subset of `partitions` in which it has an open transaction.
    std::vector<PartitionIndex> open_in;
};
/// The producers of a topic, ascending by id. Takes the lock of each log for a moment.
[[nodiscard]] std::vector<TopicProducer> topic_producers(const logs::TopicState& topic);

}  // namespace partita::runtime
