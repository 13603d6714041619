// DescribeLogDirs: v1-5.
//
//   v2: flexible; v3: top-level error; v4: bytes of the file system (KIP-827); v5: cordoned directories (KIP-1066).
//
// This broker writes to one directory. As in Kafka, the reply omits requested partitions that the broker does not have. An empty
// list of topics (null means all) still gets the directory.

#include <sys/statvfs.h>

#include <algorithm>

#include "broker/config/broker_rules.h"
#include "broker/config/current_config.h"
#include "broker/handlers/authorize.h"
#include "broker/handlers/registry.h"
#include "broker/handlers/request_context.h"
#include "broker/handlers/services.h"
#include "broker/logs/placement.h"
#include "broker/logs/turn.h"
#include "broker/runtime/queries/topic_sizes.h"
#include "protocol/messages/35_describe_log_dirs.h"

namespace partita::handlers {

PARTITA_SERVES(describe_log_dirs, access::kDescribeCluster);

namespace {

using PartitionEntry = DescribeLogDirsResponse::DescribeLogDirsPartition;
using TopicEntry = DescribeLogDirsResponse::DescribeLogDirsTopic;

PartitionEntry entry_of(const runtime::PartitionSize& size) {
    return {.partition_index = size.partition.value, .partition_size = static_cast<std::int64_t>(size.bytes)};
}

bool has_replica(const runtime::RequestContext& context, const TopicId& topic, PartitionIndex partition) {
    return context.services.placement.is_held_at(context.listener().node, topic, partition);
}

Array<TopicEntry> all_topics(runtime::RequestContext& context) {
    const std::vector<runtime::TopicSize> sizes = runtime::topic_sizes(context.turn.topics());
    ArenaVector<TopicEntry> topics(context.arena(), sizes.size());
    for (const runtime::TopicSize& size : sizes) {
        ArenaVector<PartitionEntry> partitions(context.arena(), size.partitions.size());
        for (const runtime::PartitionSize& partition : size.partitions) {
            if (has_replica(context, size.topic->id, partition.partition)) {
                partitions.push_back(entry_of(partition));
            }
        }
        topics.push_back({.name = context.arena().copy(size.topic->name), .partitions = partitions});
    }
    return topics;
}

/// A topic or a partition that is named twice counts once.
Array<TopicEntry> named_topics(runtime::RequestContext& context, const DescribeLogDirsRequest& request) {
    Arena& arena = context.arena();
    std::vector<std::pair<const logs::TopicState*, std::vector<std::int32_t>>> wanted;
    for (const DescribeLogDirsRequest::DescribableLogDirTopic& topic : request.topics) {
        const logs::TopicState* state = context.turn.topics().find(topic.topic);
        if (state == nullptr) {
            continue;
        }
        auto known = std::ranges::find(wanted, state, [](const auto& item) { return item.first; });
        if (known == wanted.end()) {
            known = wanted.insert(wanted.end(), {state, {}});
        }
        for (const std::int32_t partition : topic.partitions) {
            if (state->partition(partition) != nullptr && has_replica(context, state->topic->id, PartitionIndex{partition})) {
                known->second.push_back(partition);
            }
        }
    }
    ArenaVector<TopicEntry> topics(arena, wanted.size());
    for (auto& [state, indexes] : wanted) {
        std::ranges::sort(indexes);
        indexes.erase(std::ranges::unique(indexes).begin(), indexes.end());
        if (indexes.empty()) {
            continue;
        }
        ArenaVector<PartitionEntry> partitions(arena, indexes.size());
        for (const std::int32_t index : indexes) {
            partitions.push_back(entry_of(runtime::partition_size(PartitionIndex{index}, *state->partition(index))));
        }
        topics.push_back({.name = arena.copy(state->topic->name), .partitions = partitions});
    }
    return topics;
}

}  // namespace

void describe_log_dirs(runtime::RequestContext& context) {
    const DescribeLogDirsRequest* request = context.decode<DescribeLogDirsRequest>();
    if (request == nullptr) {
        return;
    }
    if (!authorize_cluster(context, access::kDescribeCluster)) {
        DescribeLogDirsResponse refused;
        if (context.version() >= 3) {
            refused.error_code = ErrorCode::cluster_authorization_failed;
        }
        context.reply(refused);
        return;
    }
    Arena& arena = context.arena();
    DescribeLogDirsResponse::DescribeLogDirsResult result;
    result.log_dir = arena.copy(context.services.description.log_directory);
    result.topics = request->topics.is_null() ? all_topics(context) : named_topics(context, *request);
    struct statvfs space{};
    if (::statvfs(context.services.description.log_directory.c_str(), &space) == 0) {
        result.total_bytes = static_cast<std::int64_t>(space.f_blocks * space.f_frsize);
        result.usable_bytes = static_cast<std::int64_t>(space.f_bavail * space.f_frsize);
    }
    const auto config = context.services.config.get();
    result.is_cordoned = context.version() >= 5 && config::is_cordoned(*config, config->log_dirs.front());
    ArenaVector<DescribeLogDirsResponse::DescribeLogDirsResult> results(arena, 1);
    results.push_back(result);
    DescribeLogDirsResponse response;
    response.results = results;
    context.reply(response);
}

}  // namespace partita::handlers
