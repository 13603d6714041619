#pragma once

#include <optional>
#include <string>

#include "broker/config/listeners.h"
#include "broker/handlers/request_context.h"
#include "protocol/types.h"

namespace partita::handlers {

/// The epoch of the metadata quorum: that of a Kafka on its first start. It never changes, because this broker holds no
/// elections.
inline constexpr std::int32_t kQuorumEpoch = 1;

/// The directory id of the only voter. It derives from the cluster id, so it lasts as long as the data directory.
[[nodiscard]] Uuid voter_directory_id(const runtime::CommonServices& services);

/// The address of a controller.
struct QuorumEndpoint {
    std::string listener_name;
    config::AdvertisedAddress address;
};

/// The controller listener in the configuration, although nothing listens there. If the configuration has none, or a wildcard as
/// its host, the endpoint takes the missing part from the address that this client knows.
[[nodiscard]] QuorumEndpoint quorum_endpoint(runtime::RequestContext& context);

/// The error of a refused AddRaftVoter or RemoveRaftVoter.
struct VoterRefusal {
    ErrorCode code = ErrorCode::none;
    std::string message;
};

/// The refusal of a request that names another cluster id; both requests check this first. A request with a null id skips the
/// check.
[[nodiscard]] std::optional<VoterRefusal> cluster_id_refusal(const runtime::CommonServices& services,
                                                             const std::optional<std::string_view>& named);

/// A voter in Kafka's format: "ReplicaKey(id=1, directoryId=...)".
[[nodiscard]] std::string replica_key_text(std::int32_t id, const Uuid& directory);
/// The set of voters: "[ReplicaKey(...)]".
[[nodiscard]] std::string voters_text(const runtime::CommonServices& services);

}  // namespace partita::handlers
