#pragma once

#include <vector>

#include "broker/logs/topic_table.h"
#include "protocol/types.h"
#include "storage/partition_log.h"

namespace partita::runtime {

/// Producers with an id (idempotent or transactional ones) that wrote to a partition and have not expired
/// (producer.id.expiration.ms), ascending by id. Of others a log knows nothing: who they are is seen by the observer of keys.
[[nodiscard]] std::vector<ProducerSummary> partition_producers(const Partition& partition);

/// One such producer, over a whole topic.
struct TopicProducer {
    ProducerId producer_id;
    /// The newest.
    ProducerEpoch epoch;
    /// When it wrote last.
    TimestampMs last_timestamp;
    /// To which it wrote, ascending.
    std::vector<PartitionIndex> partitions;
    /// Of these, those in which a transaction of it is open.
    std::vector<PartitionIndex> open_in;
};
/// Ascending by id. Takes a moment's lock of each log.
[[nodiscard]] std::vector<TopicProducer> topic_producers(const TopicState& topic);

}  // namespace partita::runtime
