#include "broker/runtime/fences/fence_step.h"

#include <algorithm>
#include <string>

#include "broker/insight/identity/client_registry.h"
#include "broker/logs/read_request.h"
#include "broker/logs/topic_table.h"
#include "broker/logs/turn.h"
#include "broker/runtime/clients/client_connection.h"
#include "broker/runtime/clients/client_steps.h"
#include "broker/runtime/clients/connections.h"
#include "broker/runtime/fences/shown_partitions.h"
#include "broker/runtime/fences/topic_expansion.h"

namespace partita::runtime {
namespace {

/// The fence returns only one error: a nudged consumer looks for another leader and so refreshes its metadata.
logs::Outcome outcome_of(ErrorCode verdict) {
    return verdict == ErrorCode::none ? logs::Outcome::ok : logs::Outcome::not_led_here;
}

}  // namespace

void tell_when_closed(ClientConnection& client, const std::shared_ptr<TopicExpansion>& expansion) {
    if (!client.expansions) {
        client.expansions = std::make_unique<ClientConnection::Expansions>();
    }
    ClientConnection::Expansions& told = *client.expansions;
    const bool is_known = std::ranges::any_of(told, [&](const std::weak_ptr<TopicExpansion>& known) {
        return !known.owner_before(expansion) && !expansion.owner_before(known);
    });
    if (!is_known) {
        std::erase_if(told, [](const std::weak_ptr<TopicExpansion>& known) { return known.expired(); });
        told.push_back(expansion);
    }
}

void FenceStep::before_staging(const logs::AppendRequest& request, const logs::Append& append, const BatchHeader& batch,
                               logs::Turn& turn) {
    ClientConnection& client = *request.client.connection;
    tell_when_closed(client, expansion_);
    expansion_->on_produce(*append.topic, append.index,
                           {.producer_id = batch.producer_id,
                            .connection = client.id,
                            .client_id = request.client.client_id,
                            .address = client.host},
                           turn.now());
}

void FenceStep::on_found(logs::ReadRequest& request, const logs::Read&, logs::Turn&) {
    keep_client(request);
    tell_when_closed(*request.client().connection, expansion_);
}

Offset FenceStep::judge(const logs::ReadRequest& request, const logs::Read& read, logs::ReadResult& result, Offset bound,
                        Now now) {
    const logs::KeptClient& client = *request.kept_client;
    const TopicExpansion::FetchVerdict verdict = expansion_->on_fetch(
        *read.topic, read.index,
        {client.client_id, client.address, insight::ConnectionId{client.connection}, request.terms().is_committed}, read.from,
        result.high_watermark, now);
    result.outcome = outcome_of(verdict.error);
    if (!verdict.limit) {
        return bound;
    }
    // Unstable records arrive when their transaction ends, whatever the fence says about them then. So they do not count as held.
    result.is_held = *verdict.limit < bound;
    result.is_undecided = verdict.is_undecided && result.is_held;
    if (!verdict.shows_end) {
        result.high_watermark = std::min(result.high_watermark, *verdict.limit);
        result.last_stable_offset = std::min(result.last_stable_offset, *verdict.limit);
    }
    return std::min(bound, *verdict.limit);
}

void note_producer(ClientConnection& client, std::string_view client_id, Connections& connections, ShownPartitions& shown) {
    if (client.noted_producer) {
        return;
    }
    client.noted_producer = true;
    connections.note(client, client_id);
    shown.note_producer({std::string(client_id), client.host});
}

void note_consumer(ClientConnection& client, std::string_view client_id, Connections& connections, ShownPartitions& shown) {
    if (client.noted_consumer) {
        return;
    }
    client.noted_consumer = true;
    connections.note(client, client_id);
    shown.note_consumer({std::string(client_id), client.host});
}

logs::Outcome RoleStep::admit(logs::AppendRequest& request, logs::Turn&) {
    note_producer(*request.client.connection, request.client.client_id, connections_, shown_);
    return logs::Outcome::ok;
}

void RoleStep::admit(logs::ReadRequest& request, logs::Turn&) {
    note_consumer(*request.client().connection, request.client().client_id, connections_, shown_);
}

}  // namespace partita::runtime
