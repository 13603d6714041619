// AlterReplicaLogDirs: v1-2.
//
//   v2: flexible.
//
// There is only one log directory, so no replica can move. A request for that directory succeeds and does nothing. Any other path
// is LOG_DIR_NOT_FOUND, as on a Kafka with one log directory. Paths are compared as text. As in Kafka, a topic is refused first
// if its name is too long for the directory of a moving replica.

#include <map>
#include <string>

#include "broker/handlers/authorize.h"
#include "broker/handlers/registry.h"
#include "broker/handlers/request_context.h"
#include "broker/handlers/services.h"
#include "broker/logs/turn.h"
#include "protocol/messages/34_alter_replica_log_dirs.h"
#include "protocol/utf16.h"

namespace partita::handlers {

PARTITA_SERVES(alter_replica_log_dirs, access::kAlterCluster);

namespace {

using PartitionResult = AlterReplicaLogDirsResponse::AlterReplicaLogDirPartitionResult;
using TopicResult = AlterReplicaLogDirsResponse::AlterReplicaLogDirTopicResult;

/// The destination of each partition; if a request names a partition twice, the last destination counts.
using Destinations = std::map<std::string_view, std::map<std::int32_t, std::string_view>>;

/// True if the directory name is short enough: Kafka names the directory of a moving replica TOPIC-PARTITION.UUID-future and
/// refuses names above 255 characters.
bool has_future_directory_name(std::string_view topic, std::int32_t partition) {
    constexpr std::size_t kNameLengthMax = 255;
    constexpr std::size_t kUuidLength = 32;
    const std::size_t suffix = std::string_view("-.-future").size() + kUuidLength + std::to_string(partition).size();
    return utf16_length(topic) + suffix <= kNameLengthMax;
}

Destinations destinations_of(const AlterReplicaLogDirsRequest& request) {
    Destinations destinations;
    for (const AlterReplicaLogDirsRequest::AlterReplicaLogDir& dir : request.dirs) {
        for (const AlterReplicaLogDirsRequest::AlterReplicaLogDirTopic& topic : dir.topics) {
            for (const std::int32_t partition : topic.partitions) {
                destinations[topic.name][partition] = dir.path;
            }
        }
    }
    return destinations;
}

}  // namespace

void alter_replica_log_dirs(runtime::RequestContext& context) {
    const AlterReplicaLogDirsRequest* request = context.decode<AlterReplicaLogDirsRequest>();
    if (request == nullptr) {
        return;
    }
    Arena& arena = context.arena();
    const bool may_alter = authorize_cluster(context, access::kAlterCluster);
    const Destinations destinations = destinations_of(*request);
    ArenaVector<TopicResult> results(arena, destinations.size());
    for (const auto& [name, paths] : destinations) {
        const logs::TopicState* state = context.turn.topics().find(name);
        ArenaVector<PartitionResult> partitions(arena, paths.size());
        for (const auto& [partition, path] : paths) {
            ErrorCode error = ErrorCode::none;
            if (!may_alter) {
                error = ErrorCode::cluster_authorization_failed;
            } else if (!has_future_directory_name(name, partition)) {
                error = ErrorCode::invalid_topic_exception;
            } else if (path != context.services.description.log_directory) {
                error = ErrorCode::log_dir_not_found;
            } else if (state == nullptr || state->partition(partition) == nullptr) {
                error = ErrorCode::unknown_topic_or_partition;
            }
            partitions.push_back({.partition_index = partition, .error_code = error});
        }
        results.push_back({.topic_name = name, .partitions = partitions});
    }
    AlterReplicaLogDirsResponse response;
    response.results = results;
    context.reply(response);
}

}  // namespace partita::handlers
