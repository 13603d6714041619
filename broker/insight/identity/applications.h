#pragma once

#include <string_view>

/// What the names of groups, clients and topics tell about the programs behind them. Names are conventions of these programs
/// and prove nothing; where they are the only evidence, a finding says so.
namespace partita::insight {

/// An engine that keeps offsets outside of Kafka: "Spark" for the groups and clients of its Kafka source
/// ("spark-kafka-source-<id>", "spark-executor-<group>"), "Flink" for KafkaSource without a group
/// ("KafkaSource-<random>-<subtask>"). Empty for anything else.
[[nodiscard]] std::string_view engine_with_own_offsets(std::string_view group_or_client);

/// A program that copies topics to another cluster: "MirrorMaker 2" for the client.id of its consumers
/// ("A->B|MirrorSourceConnector-0|replication-consumer"), "MirrorMaker", "Confluent Replicator" by what groups and clients of
/// these are usually called. Empty for anything else.
[[nodiscard]] std::string_view mirroring_program(std::string_view group_or_client);

/// MirrorMaker 2 records in such a topic which offset of this cluster corresponds to which offset of the other cluster:
/// "mm2-offset-syncs.<cluster>.internal".
[[nodiscard]] bool is_mirror_topic(std::string_view topic);

}  // namespace partita::insight
