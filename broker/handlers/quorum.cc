#include "broker/handlers/quorum.h"

#include "broker/config/current_config.h"
#include "broker/handlers/request_context.h"
#include "broker/handlers/services.h"
#include "broker/logs/placement.h"

namespace partita::handlers {

Uuid voter_directory_id(const runtime::CommonServices& services) {
    Uuid id;
    if (!Uuid::parse(services.description.cluster_id, id)) {
        return id;
    }
    // Derive an id that differs from the cluster's own id, which is a Uuid too.
    for (std::size_t index = 0; index < id.bytes.size(); ++index) {
        id.bytes[index] = static_cast<std::uint8_t>(id.bytes[index] ^ (0x5a + index));
    }
    id.bytes[6] = static_cast<std::uint8_t>((id.bytes[6] & 0x0f) | 0x40);
    id.bytes[8] = static_cast<std::uint8_t>((id.bytes[8] & 0x3f) | 0x80);
    return id;
}

QuorumEndpoint quorum_endpoint(runtime::RequestContext& context) {
    const auto config = context.services.config.get();
    QuorumEndpoint endpoint{.listener_name = "CONTROLLER", .address = context.listener().advertised};
    if (config->listeners.controller_listener_names.empty()) {
        return endpoint;
    }
    endpoint.listener_name = config->listeners.controller_listener_names.front();
    if (const auto given = config->listeners.controller_endpoint) {
        const bool is_wildcard = given->host.empty() || given->host == "0.0.0.0" || given->host == "::";
        endpoint.address.port = given->port;
        if (!is_wildcard) {
            endpoint.address.host = given->host;
        }
    }
    return endpoint;
}

std::optional<VoterRefusal> cluster_id_refusal(const runtime::CommonServices& services,
                                               const std::optional<std::string_view>& named) {
    if (!named || *named == services.description.cluster_id) {
        return std::nullopt;
    }
    return VoterRefusal{
        ErrorCode::inconsistent_cluster_id,
        "The given id \"" + std::string(*named) + "\" doesn't match the cluster id \"" + services.description.cluster_id + "\""};
}

std::string replica_key_text(std::int32_t id, const Uuid& directory) {
    return "ReplicaKey(id=" + std::to_string(id) + ", directoryId=" + directory.to_string() + ")";
}

std::string voters_text(const runtime::CommonServices& services) {
    return "[" + replica_key_text(services.placement.own().value, voter_directory_id(services)) + "]";
}

}  // namespace partita::handlers
