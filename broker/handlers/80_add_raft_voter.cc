// AddRaftVoter: v0-1, flexible (KIP-853).
//
//   v1: whether to wait for the commit.
//
// There is no second controller. Requests that Kafka refuses are refused with its texts. For a voter that Kafka would try to
// reach, the answer is that it cannot be reached.

#include "protocol/messages/80_add_raft_voter.h"
#include "broker/handlers/authorize.h"
#include "broker/handlers/quorum.h"
#include "broker/handlers/registry.h"
#include "broker/handlers/request_context.h"
#include "broker/handlers/services.h"
#include "broker/logs/placement.h"

namespace partita::handlers {

PARTITA_SERVES(add_raft_voter, access::kAlterCluster);

namespace {

/// A voter's endpoints in Kafka's format.
std::string endpoints_text(const AddRaftVoterRequest& request) {
    std::string text = "Endpoints(endpoints={";
    for (const AddRaftVoterRequest::Listener& listener : request.listeners) {
        if (&listener != &request.listeners[0]) {
            text += ", ";
        }
        text += "ListenerName(" + std::string(listener.name) + ")=" + std::string(listener.host) +
                "/<unresolved>:" + std::to_string(listener.port);
    }
    return text + "})";
}

VoterRefusal refusal(runtime::RequestContext& context, const AddRaftVoterRequest& request) {
    if (auto refused = cluster_id_refusal(context.services, request.cluster_id)) {
        return std::move(*refused);
    }
    if (request.voter_id < 0 || request.voter_directory_id.is_zero()) {
        return {ErrorCode::invalid_request, "Add voter request didn't include a valid voter"};
    }
    const std::string listener_name = quorum_endpoint(context).listener_name;
    bool has_default_listener = false;
    for (const AddRaftVoterRequest::Listener& listener : request.listeners) {
        has_default_listener = has_default_listener || listener.name == listener_name;
    }
    if (!has_default_listener) {
        return {ErrorCode::invalid_request, "Add voter request didn't include the endpoint (" + endpoints_text(request) +
                                                ") for the default listener ListenerName(" + listener_name + ")"};
    }
    const std::string voter = replica_key_text(request.voter_id, request.voter_directory_id);
    if (request.voter_id == context.services.placement.own().value) {
        return {ErrorCode::duplicate_voter,
                "The voter id for " + voter + " is already part of the set of voters " + voters_text(context.services) + "."};
    }
    return {ErrorCode::request_timed_out, "New voter " + voter + " is not ready to receive requests"};
}

}  // namespace

void add_raft_voter(runtime::RequestContext& context) {
    const AddRaftVoterRequest* request = context.decode<AddRaftVoterRequest>();
    if (request == nullptr) {
        return;
    }
    if (!authorize_cluster(context, access::kAlterCluster)) {
        AddRaftVoterResponse refused;
        refused.error_code = ErrorCode::cluster_authorization_failed;
        refused.error_message = error_message(refused.error_code);
        context.reply(refused);
        return;
    }
    const VoterRefusal refused = refusal(context, *request);
    AddRaftVoterResponse response;
    response.error_code = refused.code;
    response.error_message = context.arena().copy(refused.message);
    context.reply(response);
}

}  // namespace partita::handlers
