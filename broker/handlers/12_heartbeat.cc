// Heartbeat: v0-4.
//
//   v3: static members; v4: flexible.

#include "protocol/messages/12_heartbeat.h"
#include "broker/handlers/authorize.h"
#include "broker/handlers/client_roles.h"
#include "broker/handlers/registry.h"
#include "broker/handlers/request_context.h"
#include "broker/handlers/services.h"
#include "broker/logs/turn.h"
#include "broker/runtime/coordinators/group_shards.h"

namespace partita::handlers {

PARTITA_SERVES_WITH(heartbeat, coordinators, access::kReadGroup);

void heartbeat(runtime::RequestContext& context, const runtime::CoordinatorServices& coordinators) {
    const HeartbeatRequest* request = context.decode<HeartbeatRequest>();
    if (request == nullptr) {
        return;
    }
    if (!authorize(context, access::kReadGroup, request->group_id)) {
        context.reply(HeartbeatResponse{.error_code = ErrorCode::group_authorization_failed});
        return;
    }
    note_member(context, request->group_id, request->member_id);
    const auto result = coordinators.groups.ask(context.turn, request->group_id,
                                                groups::Heartbeat{.group_id = request->group_id,
                                                                  .generation = Generation{request->generation_id},
                                                                  .member_id = request->member_id,
                                                                  .group_instance_id = request->group_instance_id});
    HeartbeatResponse response;
    response.error_code = result ? result->error : ErrorCode::not_coordinator;
    context.reply(response);
}

}  // namespace partita::handlers
