// DescribeTopicPartitions: v0, flexible (KIP-966).
//
// The reply sorts topics by name and has at most the limit of partitions; its cursor says where the next reply continues.

#include <algorithm>
#include <vector>

#include "broker/catalog/catalog_core.h"
#include "broker/config/current_config.h"
#include "broker/handlers/authorize.h"
#include "broker/handlers/client_roles.h"
#include "broker/handlers/registry.h"
#include "broker/handlers/request_context.h"
#include "broker/handlers/services.h"
#include "broker/handlers/shown_nodes.h"
#include "broker/logs/turn.h"
#include "protocol/messages/75_describe_topic_partitions.h"

namespace partita::handlers {

PARTITA_SERVES(describe_topic_partitions, access::kDescribeTopic);

namespace {

using Response = DescribeTopicPartitionsResponse;

struct Page {
    runtime::RequestContext& context;
    ShownPlaces places;
    ArenaVector<Response::Topic> topics;
    std::int32_t room;
    Response::Cursor* next = nullptr;

    void set_next(std::string_view topic, std::int32_t partition) {
        next = new (context.arena().allocate_unlimited(sizeof(Response::Cursor), alignof(Response::Cursor)))
            Response::Cursor{.topic_name = topic, .partition_index = partition};
    }
};

/// Returns false if the page is full; then `next` says where the next page continues.
bool add_topic(Page& page, const logs::TopicState& state, std::int32_t first) {
    const catalog::Topic& topic = *state.topic;
    Response::Topic& item = page.topics.emplace_back();
    item.name = topic.name;
    item.topic_id = topic.id;
    item.is_internal = topic.internal;
    item.topic_authorized_operations = authorized_operations(page.context, access::ResourceType::topic, topic.name);
    const std::int32_t count = visible_partitions(page.context, state);
    const std::int32_t end = std::min(count, first + page.room);
    ArenaVector<Response::Partition> partitions(page.context.arena(), static_cast<std::size_t>(std::max(0, end - first)));
    page.places.look_at(state);
    for (std::int32_t index = first; index < end; ++index) {
        const ShownPlaces::Place place = page.places.of(index);
        Response::Partition& partition = partitions.emplace_back();
        partition.partition_index = index;
        partition.error_code = place.error;
        partition.leader_id = place.leader;
        partition.leader_epoch = place.leader_epoch;
        partition.replica_nodes = place.replicas;
        partition.isr_nodes = place.isr;
        partition.eligible_leader_replicas = place.eligible;
        partition.last_known_elr = place.last_known_eligible;
        partition.offline_replicas = place.offline;
    }
    item.partitions = partitions;
    page.room -= std::max(0, end - first);
    if (end < count) {
        page.set_next(topic.name, end);
        return false;
    }
    return true;
}

}  // namespace

void describe_topic_partitions(runtime::RequestContext& context) {
    const DescribeTopicPartitionsRequest* request = context.decode<DescribeTopicPartitionsRequest>();
    if (request == nullptr) {
        return;
    }
    Arena& arena = context.arena();
    const logs::TopicTable& table = context.turn.topics();
    const bool all = request->topics.empty();
    std::vector<std::string_view> names;
    if (all) {
        for (const catalog::Topic& topic : table.catalog->topics()) {
            if (authorize(context, access::kDescribeTopic, topic.name)) {
                names.push_back(topic.name);
            }
        }
    } else {
        for (const DescribeTopicPartitionsRequest::TopicRequest& topic : request->topics) {
            names.push_back(topic.name);
        }
        std::ranges::sort(names);
        const auto repeated = std::ranges::unique(names);
        names.erase(repeated.begin(), repeated.end());
    }
    Response response;
    const auto* cursor = request->cursor;
    if (cursor != nullptr) {
        const bool listed = all || std::ranges::binary_search(names, cursor->topic_name);
        if (cursor->partition_index < 0 || !listed) {
            ArenaVector<Response::Topic> topics(arena, names.size());
            for (const std::string_view name : names) {
                topics.push_back({.error_code = ErrorCode::invalid_request, .name = name, .partitions = {}});
            }
            response.topics = topics;
            context.reply(response);
            return;
        }
        names.erase(names.begin(), std::ranges::lower_bound(names, cursor->topic_name));
    }
    const std::int32_t limit_max = context.services.config->max_request_partition_size_limit;
    Page page{context, ShownPlaces(node_knowledge(context, context.services), arena), ArenaVector<Response::Topic>(arena),
              std::clamp(request->response_partition_limit, 1, limit_max)};
    // These topics come after the others, on every page.
    std::vector<Response::Topic> refused;
    for (const std::string_view name : names) {
        if (!authorize(context, access::kDescribeTopic, name)) {
            refused.push_back({.error_code = ErrorCode::topic_authorization_failed, .name = name, .partitions = {}});
            continue;
        }
        const logs::TopicState* state = table.find(name);
        if (state == nullptr) {
            const ErrorCode error =
                catalog::topic_name_problem(name) ? ErrorCode::invalid_topic_exception : ErrorCode::unknown_topic_or_partition;
            page.topics.push_back(
                {.error_code = error,
                 .name = name,
                 .partitions = {},
                 .topic_authorized_operations = authorized_operations(context, access::ResourceType::topic, name)});
            continue;
        }
        if (page.room == 0) {
            page.set_next(name, 0);
            break;
        }
        const std::int32_t first = cursor != nullptr && cursor->topic_name == name ? cursor->partition_index : 0;
        if (!add_topic(page, *state, first)) {
            break;
        }
    }
    for (const Response::Topic& topic : refused) {
        page.topics.push_back(topic);
    }
    response.topics = page.topics;
    response.next_cursor = page.next;
    context.reply(response);
}

}  // namespace partita::handlers
