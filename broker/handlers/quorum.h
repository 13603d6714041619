#pragma once

#include <optional>
#include <string>

#include "broker/config/listeners.h"
#include "broker/handlers/request_context.h"
#include "protocol/types.h"

namespace partita::handlers {

/// The epoch of the metadata quorum. It never changes, because nobody is ever elected here: that of a Kafka started for the first
/// time.
inline constexpr std::int32_t kQuorumEpoch = 1;

/// The directory id of the only voter. It is made from the cluster's id, so it lasts as long as the data directory.
[[nodiscard]] Uuid voter_directory_id(const runtime::Services& services);

/// Where a controller would be reached.
struct QuorumEndpoint {
    std::string listener_name;
    config::AdvertisedAddress address;
};

/// The controller listener that the configuration names, although nothing listens there. Where the configuration names none, or
/// a wildcard as its host, the address counts that this client is told.
[[nodiscard]] QuorumEndpoint quorum_endpoint(runtime::RequestContext& context);

/// The error with which AddRaftVoter and RemoveRaftVoter are refused.
struct VoterRefusal {
    ErrorCode code = ErrorCode::none;
    std::string message;
};

/// The refusal when the request names another cluster id; both requests begin with this check. A request with a null id asks
/// for no check.
[[nodiscard]] std::optional<VoterRefusal> cluster_id_refusal(const runtime::Services& services,
                                                             const std::optional<std::string_view>& named);

/// As Kafka prints a voter: "ReplicaKey(id=1, directoryId=...)".
[[nodiscard]] std::string replica_key_text(std::int32_t id, const Uuid& directory);
/// The set of voters: "[ReplicaKey(...)]".
[[nodiscard]] std::string voters_text(const runtime::Services& services);

}  // namespace partita::handlers
