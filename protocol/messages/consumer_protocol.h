#pragma once

#include "protocol/schema.h"

namespace partita {

/// ConsumerProtocolSubscription: versions 0 to 3, never flexible.
///
///   v1: It gains OwnedPartitions.
///   v2: It gains GenerationId.
///   v3: It gains RackId.
///
/// The metadata that a classic consumer sends in JoinGroup, after an int16 with the version. The broker reads a newer version as
/// the newest known one, because versions only add fields at the end.
struct ConsumerProtocolSubscription {
    struct TopicPartition {
        std::string_view topic;          ///< v1 and later
        Array<std::int32_t> partitions;  ///< v1 and later

        static const Schema schema;
    };

    Array<std::string_view> topics;
    std::optional<Bytes> user_data;           ///< may be null
    Array<TopicPartition> owned_partitions;   ///< v1 and later
    std::int32_t generation_id = -1;          ///< v2 and later
    std::optional<std::string_view> rack_id;  ///< v3, may be null

    static const Schema schema;
};

/// ConsumerProtocolAssignment: versions 0 to 3, never flexible.
///
///   v1 to v3: No change of layout.
///
/// The assignment that the leader of a classic group of consumers sends for a member in SyncGroup, after an int16 with the
/// version.
struct ConsumerProtocolAssignment {
    struct TopicPartition {
        std::string_view topic;
        Array<std::int32_t> partitions;

        static const Schema schema;
    };

    Array<TopicPartition> assigned_partitions;
    std::optional<Bytes> user_data;  ///< may be null

    static const Schema schema;
};

}  // namespace partita
