#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "broker/catalog/catalog.h"
#include "broker/catalog/kafka_access.h"
#include "protocol/types.h"

namespace partita {
class Cursor;
}

namespace partita::catalog {

/// Collects, record by record, what a Kafka wrote about its topics into the log `__cluster_metadata`. So the broker can serve a
/// directory of that Kafka with the settings of its topics.
///
/// It takes topics, their configs, producer ids, and users with their permissions (kafka_access.h). It ignores brokers and
/// quotas.
class KafkaMetadata {
  public:
    struct Topic {
        std::string name;
        TopicId id;
        std::int32_t partition_count = 0;
        ConfigMap configs;
    };

    /// Most partitions of one topic, far more than a Kafka cluster holds: a record that names more is not valid.
    static constexpr std::int32_t kPartitionsMax = 1'000'000;

    /// Takes the value of one record of the log, or of its snapshot, in their order. False if it is not such a record. Skips
    /// kinds that are not needed, in any version.
    [[nodiscard]] bool apply(Bytes record);

    /// False until the first record.
    [[nodiscard]] bool has_begun() const { return has_begun_; }
    /// By name.
    [[nodiscard]] std::vector<Topic> topics() const;
    /// Kafka gave no id at or above this one to a producer.
    [[nodiscard]] ProducerId next_producer_id() const { return next_producer_id_; }
    [[nodiscard]] const KafkaAccess& access() const { return access_; }

  private:
    struct Known {
        std::string name;
        std::int32_t partition_count = 0;
    };
    // Each reads the bytes after the frame of a record. False if the record ends too early.
    [[nodiscard]] bool apply_topic(Cursor& cursor);
    [[nodiscard]] bool apply_partition(Cursor& cursor);
    [[nodiscard]] bool apply_config(Cursor& cursor);
    [[nodiscard]] bool apply_removal(Cursor& cursor);
    [[nodiscard]] bool apply_producer_ids(Cursor& cursor);

    std::map<TopicId, Known> topics_;
    /// By the topic's name. A topic's configs may come before the topic.
    std::map<std::string, ConfigMap> configs_;
    ProducerId next_producer_id_{0};
    KafkaAccess access_;
    bool has_begun_ = false;
};

}  // namespace partita::catalog
