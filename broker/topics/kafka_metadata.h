#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "broker/topics/catalog.h"
#include "protocol/types.h"

namespace partita {
class Cursor;
}

namespace partita::topics {

/// What a Kafka has written of its topics into the log `__cluster_metadata`, put together record by record, so that a
/// directory that it left can be served with the settings that its topics had.
///
/// Topics, their configs and producer ids are all that is taken: what else is there (brokers, quotas, credentials, ACLs)
/// says nothing of the data in the directory.
class KafkaMetadata {
  public:
    struct Topic {
        std::string name;
        TopicId id;
        std::int32_t partition_count = 0;
        ConfigMap configs;
    };

    /// Partitions of one topic, far above what a cluster of Kafka holds: a record that names more is none.
    static constexpr std::int32_t kPartitionsMax = 1'000'000;

    /// Takes the value of one record of the log or of a snapshot of it, in their order. False when it is no such record.
    /// Kinds that are not taken are passed over, whatever their version.
    [[nodiscard]] bool apply(Bytes record);

    /// By name.
    [[nodiscard]] std::vector<Topic> topics() const;
    /// No producer id at or above it was given out.
    [[nodiscard]] ProducerId next_producer_id() const { return next_producer_id_; }

  private:
    struct Known {
        std::string name;
        std::int32_t partition_count = 0;
    };
    // What follows the frame of a record. False when it ends too early.
    [[nodiscard]] bool apply_topic(Cursor& cursor);
    [[nodiscard]] bool apply_partition(Cursor& cursor);
    [[nodiscard]] bool apply_config(Cursor& cursor);
    [[nodiscard]] bool apply_removal(Cursor& cursor);
    [[nodiscard]] bool apply_producer_ids(Cursor& cursor);

    std::map<TopicId, Known> topics_;
    /// By the topic's name. A topic's configs may come before the topic.
    std::map<std::string, ConfigMap> configs_;
    ProducerId next_producer_id_{0};
};

}  // namespace partita::topics
