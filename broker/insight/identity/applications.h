#pragma once

#include <string_view>

/// Tells from the names of groups, clients and topics which programs use them. Names are conventions of these programs and prove
/// nothing. If they are the only evidence, a finding says so.
namespace partita::insight {

/// The engine that keeps offsets outside of Kafka, by its names; empty for anything else. "Spark" for the groups and clients of
/// its Kafka source ("spark-kafka-source-<id>", "spark-executor-<group>"). "Flink" for KafkaSource without a group
/// ("KafkaSource-<random>-<subtask>").
[[nodiscard]] std::string_view engine_with_own_offsets(std::string_view group_or_client);

/// The program that copies topics to another cluster, by its names; empty for anything else. "MirrorMaker 2" for the client.id of
/// its consumers ("A->B|MirrorSourceConnector-0|replication-consumer"). "MirrorMaker" and "Confluent Replicator" by the usual
/// names of their groups and clients.
[[nodiscard]] std::string_view mirroring_program(std::string_view group_or_client);

/// True for "mm2-offset-syncs.<cluster>.internal". MirrorMaker 2 records in such a topic which offset of this cluster corresponds
/// to which offset of the other cluster.
[[nodiscard]] bool is_mirror_topic(std::string_view topic);

}  // namespace partita::insight
