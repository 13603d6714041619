// ListTransactions: v0-2, flexible (KIP-664).
//
//   v1: only transactions of a minimum duration; v2: pattern of transactional ids.
//
// The reply lists unknown state filters, and they match nothing.

#include "protocol/messages/66_list_transactions.h"

#include <algorithm>
#include <unordered_set>
#include <vector>

#include "broker/groups/topic_regex.h"
#include "broker/handlers/authorize.h"
#include "broker/handlers/registry.h"
#include "broker/handlers/services.h"
#include "broker/handlers/transaction_requests.h"
#include "broker/logs/placement.h"
#include "broker/logs/turn.h"

namespace partita::handlers {

PARTITA_SERVES_WITH(list_transactions, coordinators, access::kDescribeTransactionalId);

namespace {

using Request = ListTransactionsRequest;
using Response = ListTransactionsResponse;

struct Wanted {
    std::vector<transactions::TransactionState> states;
    std::vector<ProducerId> producer_ids;
    /// Empty matches all ids.
    std::optional<groups::WholeMatch> pattern;
};

/// False if a shard did not answer.
bool collect(runtime::RequestContext& context, runtime::TransactionShards& shards, const Request& request, const Wanted& wanted,
             ArenaVector<Response::TransactionState>& found) {
    const catalog::Topic* const topic =
        context.turn.topics().catalog->find_topic(catalog::topic_of(catalog::CoordinatorKind::transactions).name);
    for (std::size_t shard = 0; shard < shards.shard_count(); ++shard) {
        if (!context.services.placement.coordinates(context.listener().node, topic, shard)) {
            continue;  // Another node lists these transactions.
        }
        const auto listed = shards.ask_shard(
            context.turn, shard,
            transactions::ListTransactions{
                .producer_ids = wanted.producer_ids, .states = wanted.states, .longer_than_ms = request.duration_filter});
        if (!listed) {
            return false;
        }
        for (const transactions::ListTransactionsResult::Entry& entry : listed->transactions) {
            if ((!wanted.pattern || wanted.pattern->matches(entry.transactional_id)) &&
                authorize(context, access::kDescribeTransactionalId, entry.transactional_id)) {
                found.push_back({.transactional_id = context.arena().copy(entry.transactional_id),
                                 .producer_id = entry.producer_id.value,
                                 .transaction_state = transactions::state_name(entry.state)});
            }
        }
    }
    return true;
}

}  // namespace

void list_transactions(runtime::RequestContext& context, const runtime::CoordinatorServices& coordinators) {
    const Request* request = context.decode<Request>();
    if (request == nullptr) {
        return;
    }
    Response response;
    Wanted wanted;
    if (request->transactional_id_pattern && !request->transactional_id_pattern->empty()) {
        auto pattern = groups::WholeMatch::compile(*request->transactional_id_pattern);
        if (!pattern) {
            response.error_code = ErrorCode::invalid_regular_expression;
            return context.reply(response);
        }
        wanted.pattern = std::move(*pattern);
    }
    ArenaVector<std::string_view> unknown(context.arena());
    std::unordered_set<std::string_view> names;
    for (const std::string_view name : request->state_filters) {
        if (!names.insert(name).second) {
            continue;
        }
        if (const auto state = transactions::state_named(name)) {
            wanted.states.push_back(*state);
        } else {
            unknown.push_back(name);
        }
    }
    for (const std::int64_t id : request->producer_id_filters) {
        wanted.producer_ids.push_back(ProducerId{id});
    }
    std::ranges::sort(wanted.producer_ids);
    ArenaVector<Response::TransactionState> found(context.arena());
    const bool asks_for_nothing = !request->state_filters.empty() && wanted.states.empty();
    if (!coordinators.transactions.is_complete() ||
        (!asks_for_nothing && !collect(context, coordinators.transactions, *request, wanted, found))) {
        response.error_code = ErrorCode::coordinator_load_in_progress;
        return context.reply(response);
    }
    response.unknown_state_filters = unknown;
    response.transaction_states = found;
    context.reply(response);
}

}  // namespace partita::handlers
