// DeleteTopics: v1-6.
//
//   v4: flexible; v5: error messages, quota errors; v6: by id.

#include "protocol/messages/20_delete_topics.h"
#include <map>

#include "broker/handlers/admin_replies.h"
#include "broker/handlers/authorize.h"
#include "broker/handlers/registry.h"
#include "broker/handlers/request_context.h"
#include "broker/handlers/services.h"
#include "broker/handlers/topic_deletion.h"
#include "broker/logs/turn.h"
#include "broker/runtime/catalog/catalog.h"

namespace partita::handlers {

PARTITA_SERVES_WITH(delete_topics, catalog, access::kDescribeTopic, kDeleteTopicOrInCluster);

namespace {

constexpr std::int16_t kRefusedByQuotaSince = 5;

/// The topic's name if it is known, or the name that the client gave.
std::optional<std::string_view> name_of(runtime::RequestContext& context, const catalog::TopicReference& topic) {
    if (topic.name) {
        return topic.name;
    }
    const logs::TopicState* state = context.turn.topics().find(topic.id);
    return state == nullptr ? std::nullopt : std::optional<std::string_view>(state->topic->name);
}

/// Removes from the command the topics that the client may not delete. Returns them, with names only as far as the client may
/// know them. A client that may describe a missing topic learns that it does not exist. A topic named twice stays, so that the
/// command reports the duplicate.
std::vector<catalog::TopicReference> take_refused(runtime::RequestContext& context,
                                                  std::vector<catalog::TopicReference>& topics) {
    std::map<std::pair<std::optional<std::string_view>, TopicId>, int> occurrences;
    for (const catalog::TopicReference& topic : topics) {
        ++occurrences[{topic.name, topic.id}];
    }
    std::vector<catalog::TopicReference> refused;
    std::erase_if(topics, [&](const catalog::TopicReference& topic) {
        const std::optional<std::string_view> name = name_of(context, topic);
        if (!name || occurrences[{topic.name, topic.id}] > 1) {
            return false;
        }
        const bool may_delete = authorize(context, kDeleteTopicOrInCluster, *name);
        const bool may_describe = may_delete || authorize(context, access::kDescribeTopic, *name);
        if (may_delete || (may_describe && context.turn.topics().find(*name) == nullptr)) {
            return false;
        }
        refused.push_back({.name = topic.name || may_describe ? name : std::nullopt, .id = topic.id});
        return true;
    });
    return refused;
}

}  // namespace

void delete_topics(runtime::RequestContext& context, runtime::Catalog& catalog) {
    const DeleteTopicsRequest* request = context.decode<DeleteTopicsRequest>();
    if (request == nullptr) {
        return;
    }
    Arena& arena = context.arena();
    catalog::DeleteTopics command;
    command.request_version = context.version();
    command.client = mutating_client(context, kRefusedByQuotaSince);
    // The error for disabled deletion comes first.
    command.has_no_time = has_no_time(request->timeout_ms);
    for (const DeleteTopicsRequest::DeleteTopicState& topic : request->topics) {
        command.topics.push_back({.name = topic.name, .id = topic.topic_id});
    }
    for (const std::string_view name : request->topic_names) {
        command.topics.push_back({.name = name, .id = {}});
    }
    const std::vector<catalog::TopicReference> refused = take_refused(context, command.topics);
    const auto reply = catalog.change(context.turn, command);
    ArenaVector<DeleteTopicsResponse::DeletableTopicResult> results(arena, command.topics.size() + refused.size());
    const auto add = [&](std::optional<std::string_view> name, const TopicId& id, ErrorCode error,
                         std::optional<std::string_view> message) {
        if (!name && context.version() < 6) {
            name = "";
        }
        results.push_back({.name = name,
                           .topic_id = context.version() >= 6 ? id : TopicId{},
                           .error_code = error,
                           .error_message = context.version() >= 5 ? message : std::nullopt});
    };
    for (const catalog::TopicReference& topic : refused) {
        add(topic.name, topic.id, ErrorCode::topic_authorization_failed, error_message(ErrorCode::topic_authorization_failed));
    }
    if (!reply) {
        for (const catalog::TopicReference& topic : command.topics) {
            add(topic.name, topic.id, ErrorCode::kafka_storage_error, kCatalogNotWritten);
        }
    } else {
        for (const catalog::DeletedTopic& deleted : reply->topics) {
            add(deleted.name ? std::optional<std::string_view>(arena.copy(*deleted.name)) : std::nullopt, deleted.id,
                deleted.error.code, message_of(deleted.error, arena));
        }
    }
    DeleteTopicsResponse response;
    response.responses = results;
    reply_throttled(context, response, reply ? reply->throttle_ms : 0);
}

}  // namespace partita::handlers
