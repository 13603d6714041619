// AlterReplicaLogDirs: v1-2.
//
//   v2: flexible.
//
// Every replica is where it can only be. Asking for that directory succeeds and does nothing; any other path is
// LOG_DIR_NOT_FOUND, as on a Kafka with one log directory. Paths are compared as text.

#include <map>

#include "broker/handlers/registry.h"
#include "broker/runtime/broker.h"
#include "broker/runtime/turn.h"
#include "protocol/messages/34_alter_replica_log_dirs.h"

namespace partita::handlers {
namespace {

using PartitionResult = AlterReplicaLogDirsResponse::AlterReplicaLogDirPartitionResult;
using TopicResult = AlterReplicaLogDirsResponse::AlterReplicaLogDirTopicResult;

/// Where each partition is to go; what a request says last of a partition counts.
using Destinations = std::map<std::string_view, std::map<std::int32_t, std::string_view>>;

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
    const Destinations destinations = destinations_of(*request);
    ArenaVector<TopicResult> results(arena, destinations.size());
    for (const auto& [name, paths] : destinations) {
        const runtime::TopicState* state = context.turn.topics().find(name);
        ArenaVector<PartitionResult> partitions(arena, paths.size());
        for (const auto& [partition, path] : paths) {
            ErrorCode error = ErrorCode::none;
            if (path != context.broker.absolute_log_directory()) {
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
