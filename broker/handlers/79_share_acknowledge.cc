// ShareAcknowledge: v1-2 (KIP-932).
//
//   v2: renewal of locks (KIP-1222).

#include "protocol/messages/79_share_acknowledge.h"
#include "broker/handlers/authorize.h"
#include "broker/handlers/registry.h"
#include "broker/handlers/request_context.h"
#include "broker/handlers/services.h"
#include "broker/handlers/share_acknowledgements.h"
#include "broker/handlers/share_groups.h"
#include "broker/logs/turn.h"
#include "broker/runtime/coordinators/client_share_sessions.h"

namespace partita::handlers {

PARTITA_SERVES_WITH(share_acknowledge, coordinators.share, access::kReadGroup, access::kReadTopic);

namespace {

using Request = ShareAcknowledgeRequest;
using Response = ShareAcknowledgeResponse;

constexpr std::int16_t kRenewalSince = 2;

ErrorCode refusal(runtime::RequestContext& context, const runtime::ShareServices& services, const Request& request) {
    if (!share_groups_are_enabled(context.turn)) {
        return ErrorCode::unsupported_version;
    }
    if (!request.group_id) {
        return ErrorCode::invalid_request;
    }
    if (!authorize(context, access::kReadGroup, *request.group_id)) {
        return ErrorCode::group_authorization_failed;
    }
    if (!is_share_member_id(request.member_id)) {
        return ErrorCode::invalid_request;
    }
    return services.sessions.with([&](share::ShareSessions& sessions) {
        return sessions.acknowledge(*request.group_id, *request.member_id, request.share_session_epoch);
    });
}

}  // namespace

void share_acknowledge(runtime::RequestContext& context, const runtime::ShareServices& services) {
    const Request* request = context.decode<Request>();
    if (request == nullptr) {
        return;
    }
    Response response;
    response.error_code = refusal(context, services, *request);
    if (response.error_code != ErrorCode::none) {
        context.reply(response);
        return;
    }
    const ShareSettings settings = share_settings(context.turn, services.config, *request->group_id);
    const AcknowledgeTerms terms{.group_id = *request->group_id,
                                 .member_id = *request->member_id,
                                 .limits = settings.limits,
                                 .knows_renewal = context.version() >= kRenewalSince,
                                 .is_renewal = request->is_renew_ack};
    const std::vector<Acknowledged> results = acknowledge(context, services, terms, request->topics);
    if (request->share_session_epoch == share::kFinalShareEpoch) {
        give_back(context.turn, services, services.sessions.with([&](share::ShareSessions& sessions) {
            return sessions.end(terms.group_id, terms.member_id);
        }));
    }
    Arena& arena = context.arena();
    ArenaVector<Response::ShareAcknowledgeTopicResponse> topics(arena, request->topics.count());
    auto result = results.begin();
    for (const Request::AcknowledgeTopic& topic : request->topics) {
        ArenaVector<Response::PartitionData> partitions(arena, topic.partitions.count());
        for (std::size_t i = 0; i < topic.partitions.count(); ++i, ++result) {
            Response::PartitionData& data = partitions.emplace_back();
            data.partition_index = result->partition;
            data.error_code = result->error;
            if (!result->message.empty()) {
                data.error_message = arena.copy(result->message);
            }
        }
        topics.push_back({.topic_id = topic.topic_id, .partitions = partitions});
    }
    response.acquisition_lock_timeout_ms = settings.limits.lock_duration_ms;
    response.responses = topics;
    context.reply(response);
}

}  // namespace partita::handlers
