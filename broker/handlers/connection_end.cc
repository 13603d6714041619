#include "broker/handlers/connection_end.h"

#include <memory>
#include <string>

#include "broker/handlers/services.h"
#include "broker/handlers/share_groups.h"
#include "broker/insight/local/request_notes.h"
#include "broker/logs/turns.h"
#include "broker/runtime/clients/connections.h"
#include "broker/runtime/clients/request_watch.h"
#include "broker/runtime/coordinators/client_share_sessions.h"
#include "broker/runtime/fences/topic_expansion.h"
#include "broker/runtime/loop/reply_notes.h"
#include "schedule/clock.h"

namespace partita::handlers {
namespace {

/// Gives back what members held whose sessions came over the connection. The first reactor does it: a connection may also end
/// where no turn is in progress.
void end_share_sessions(const runtime::ShareServices& share, std::uint64_t connection) {
    share.turns.first_reactor().post([&share, connection] {
        const auto ended =
            share.sessions.with([&](share::ShareSessions& sessions) { return sessions.connection_ended(connection); });
        for (const share::ShareSessions::Ended& session : ended) {
            give_back(share.turns.first(), share, session);
        }
    });
}

}  // namespace

void connection_closed(const runtime::Services& services, const runtime::ClientConnection& client) {
    if (client.has_share_session) {
        end_share_sessions(services.coordinators.share, client.id.value);
    }
    const bool is_known = client.noted_producer || client.noted_consumer || client.noted_member != 0;
    if (!is_known) {
        return;
    }
    if (client.expansions) {
        for (const std::weak_ptr<runtime::TopicExpansion>& told : *client.expansions) {
            if (const std::shared_ptr<runtime::TopicExpansion> expansion = told.lock()) {
                expansion->on_connection_closed(client.id);
            }
        }
    }
    if (client.noted_producer) {
        services.insight.request_notes.on_producer_gone(client.id);
    }
    services.connections.closed(client.id);
}

void note_reply(const runtime::CommonServices& services, const runtime::ClientConnection& client, const runtime::Reply& reply) {
    // Most notes have only the latency, and need no name of the client.
    const bool is_named = reply.rest_ms > 0 || reply.notes->errors.count > 0;
    const auto facts = is_named ? services.connections.find(client.id) : std::nullopt;
    const std::string client_id = facts ? facts->client_id : std::string();
    const TimestampMs now = services.clock.now().wall;
    if (reply.rest_ms > 0) {
        services.requests.note_throttled(client, client_id, reply.rest_ms, now);
    }
    if (reply.notes) {
        services.requests.note(*reply.notes, client, client_id, now, services.clock.stopwatch_ns());
    }
}

}  // namespace partita::handlers
