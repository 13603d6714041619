// RemoveRaftVoter: v0, flexible (KIP-853).
//
// The only voter cannot be removed, and there is no other one.

#include "protocol/messages/81_remove_raft_voter.h"
#include "broker/handlers/authorize.h"
#include "broker/handlers/quorum.h"
#include "broker/handlers/registry.h"
#include "broker/handlers/request_context.h"
#include "broker/handlers/services.h"

namespace partita::handlers {

PARTITA_SERVES(remove_raft_voter, access::kAlterCluster);

namespace {

VoterRefusal refusal(const runtime::CommonServices& services, const RemoveRaftVoterRequest& request) {
    if (auto refused = cluster_id_refusal(services, request.cluster_id)) {
        return std::move(*refused);
    }
    if (request.voter_id < 0 || request.voter_directory_id.is_zero()) {
        return {ErrorCode::invalid_request, "Remove voter request didn't include a valid voter"};
    }
    return {ErrorCode::voter_not_found, "Cannot remove voter " + replica_key_text(request.voter_id, request.voter_directory_id) +
                                            " from the set of voters " + voters_text(services)};
}

}  // namespace

void remove_raft_voter(runtime::RequestContext& context) {
    const RemoveRaftVoterRequest* request = context.decode<RemoveRaftVoterRequest>();
    if (request == nullptr) {
        return;
    }
    if (!authorize_cluster(context, access::kAlterCluster)) {
        RemoveRaftVoterResponse refused;
        refused.error_code = ErrorCode::cluster_authorization_failed;
        refused.error_message = error_message(refused.error_code);
        context.reply(refused);
        return;
    }
    const VoterRefusal refused = refusal(context.services, *request);
    RemoveRaftVoterResponse response;
    response.error_code = refused.code;
    response.error_message = context.arena().copy(refused.message);
    context.reply(response);
}

}  // namespace partita::handlers
