#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "broker/handlers/request_context.h"
#include "broker/handlers/services.h"
#include "broker/insight/identity/client_registry.h"
#include "broker/logs/turn.h"
#include "broker/runtime/clients/connections.h"
#include "broker/runtime/fences/fence_step.h"
#include "broker/runtime/fences/shown_partitions.h"

/// Handlers record here what the client of a request does, so that fences and hidden partitions can tell clients apart. See
/// Fences, ShownPartitions and Connections.

namespace partita::handlers {

[[nodiscard]] inline insight::ClientIdentity client_identity(const runtime::RequestContext& context) {
    return {std::string(context.client_id), context.client.host};
}

/// Records that the client writes. Acts only once per connection.
inline void note_producer(runtime::RequestContext& context) {
    runtime::note_producer(context.client, context.client_id, context.services.connections, context.services.shown_partitions);
}

/// Records that the client reads. Acts only once per connection.
inline void note_consumer(runtime::RequestContext& context) {
    runtime::note_consumer(context.client, context.client_id, context.services.connections, context.services.shown_partitions);
}

/// Records that the connection belongs to the member. Does nothing if it is recorded already.
inline void note_member(runtime::RequestContext& context, std::string_view group_id, std::string_view member_id) {
    if (member_id.empty()) {
        return;
    }
    const std::hash<std::string_view> hash;
    const std::uint64_t member = (hash(group_id) * 31 + hash(member_id)) | 1;
    if (context.client.noted_member != member) {
        context.client.noted_member = member;
        context.services.connections.note_member(context.client, context.client_id, group_id, member_id);
    }
}

/// The number of the topic's partitions that metadata shows to this client: all of them, unless a test control hides some.
[[nodiscard]] inline std::int32_t visible_partitions(runtime::RequestContext& context, const logs::TopicState& topic) {
    const config::TopicConfig& config = *topic.config;
    if (config.visibility_producers_delay_ms == 0 && config.visibility_consumers_delay_ms == 0) {
        return topic.topic->partition_count;
    }
    return context.services.shown_partitions.count_for(
        topic, client_identity(context), {.produces = context.client.noted_producer, .consumes = context.client.noted_consumer},
        context.now());
}

}  // namespace partita::handlers
