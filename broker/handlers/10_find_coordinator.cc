// FindCoordinator: v0-6.
//
//   v1: key type (0 group, 1 transaction); v3: flexible; v4: several keys; v6: share groups (not served).
//
// The placement determines the coordinator, mostly the only broker. The first request of this API for a kind of coordinator
// creates the topic behind it. Kafka answers COORDINATOR_NOT_AVAILABLE until the topic exists; here it exists at once. A client
// that asks a coordinator before that gets NOT_COORDINATOR, as in Kafka.

#include "protocol/messages/10_find_coordinator.h"
#include "broker/access/offer.h"
#include "broker/handlers/authorize.h"
#include "broker/handlers/extensions.h"
#include "broker/handlers/made_coordinators.h"
#include "broker/handlers/registry.h"
#include "broker/handlers/shown_nodes.h"
#include "broker/logs/turn.h"
#include "broker/runtime/coordinators/group_shards.h"
#include "broker/runtime/coordinators/transaction_shards.h"

namespace partita::handlers {

PARTITA_SERVES_WITH(find_coordinator, coordinators, access::kDescribeGroup, access::kDescribeTransactionalId);

namespace {

constexpr std::int8_t kGroupKey = 0;
constexpr std::int8_t kTransactionKey = 1;
constexpr std::int8_t kShareKey = 2;

struct Answer {
    ErrorCode error = ErrorCode::none;
    std::optional<std::string_view> message;
};

/// The coordinator's node as the reply shows it. Shows no node if there is an error, which it may find.
ShownNode coordinator_of(runtime::RequestContext& context, std::int8_t key_type, std::string_view key, Answer& answer) {
    if (answer.error != ErrorCode::none) {
        return {};
    }
    const auto kind = key_type == kGroupKey ? catalog::CoordinatorKind::groups : catalog::CoordinatorKind::transactions;
    const BrokerId node = context.services.placement.coordinator_known_at(context.listener().node, kind, key);
    const auto shown = shown_node(node_knowledge(context, context.services), context.arena(), node);
    if (!shown) {
        answer = {ErrorCode::coordinator_not_available, error_message(ErrorCode::coordinator_not_available)};
    }
    return shown.value_or(ShownNode());
}

Answer answer_for(runtime::RequestContext& context, const runtime::CoordinatorServices& coordinators, std::int8_t key_type,
                  std::string_view key) {
    const auto refused = [](ErrorCode code) { return Answer{code, error_message(code)}; };
    if (key_type == kGroupKey && !authorize(context, access::kDescribeGroup, key)) {
        return refused(ErrorCode::group_authorization_failed);
    }
    if (key_type == kTransactionKey && !authorize(context, access::kDescribeTransactionalId, key)) {
        return refused(ErrorCode::transactional_id_authorization_failed);
    }
    if (key_type != kGroupKey && key_type != kTransactionKey) {
        return refused(ErrorCode::invalid_request);
    }
    if (const access::Offer* const offer = context.services.extensions.offer) {
        if (key_type == kTransactionKey && !offer->has_transactions()) {
            return Answer{ErrorCode::invalid_request, offer->transactions_refusal()};
        }
        if (key_type == kGroupKey && !offer->accepts_group(key)) {
            return refused(ErrorCode::invalid_group_id);
        }
    }
    const bool is_served =
        key_type == kGroupKey
            ? made_coordinators(context, coordinators.catalog, catalog::CoordinatorKind::groups, coordinators.groups)
            : made_coordinators(context, coordinators.catalog, catalog::CoordinatorKind::transactions, coordinators.transactions);
    return is_served ? Answer() : refused(ErrorCode::coordinator_not_available);
}

}  // namespace

void find_coordinator(runtime::RequestContext& context, const runtime::CoordinatorServices& coordinators) {
    const FindCoordinatorRequest* request = context.decode<FindCoordinatorRequest>();
    if (request == nullptr) {
        return;
    }
    FindCoordinatorResponse response;
    if (context.version() < 4) {
        Answer answer = answer_for(context, coordinators, request->key_type, request->key);
        const ShownNode shown = coordinator_of(context, request->key_type, request->key, answer);
        response.error_code = answer.error;
        response.error_message = answer.error == ErrorCode::none ? error_name(ErrorCode::none) : answer.message;
        response.node_id = shown.id;
        response.host = shown.host;
        response.port = shown.port;
        context.reply(response);
        return;
    }
    ArenaVector<FindCoordinatorResponse::Coordinator> found(context.arena(), request->coordinator_keys.count());
    for (const std::string_view key : request->coordinator_keys) {
        Answer answer = answer_for(context, coordinators, request->key_type, key);
        const ShownNode shown = coordinator_of(context, request->key_type, key, answer);
        found.push_back({.key = key,
                         .node_id = shown.id,
                         .host = shown.host,
                         .port = shown.port,
                         .error_code = answer.error,
                         .error_message = request->key_type >= kGroupKey && request->key_type <= kShareKey
                                              ? ""  // From v4 on, Kafka sends a text for unknown types only.
                                              : answer.message});
    }
    response.coordinators = found;
    context.reply(response);
}

}  // namespace partita::handlers
