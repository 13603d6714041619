#include "protocol/messages/80_add_raft_voter.h"

#include "protocol/api_table.h"
#include "protocol/schema_table.h"

namespace partita {

using namespace table;

// clang-format off
PARTITA_STRUCT(AddRaftVoterRequest::Listener,
    FIELD(name, "Name"),
    FIELD(host, "Host"),
    FIELD(port, "Port"))

PARTITA_MESSAGE(AddRaftVoterRequest, versions(0, 1), flexible_since(0),
    FIELD(cluster_id, "ClusterId", nullable()),
    FIELD(timeout_ms, "TimeoutMs"),
    FIELD(voter_id, "VoterId"),
    FIELD(voter_directory_id, "VoterDirectoryId"),
    FIELD(listeners, "Listeners"),
    FIELD(ack_when_committed, "AckWhenCommitted", since(1)))

PARTITA_MESSAGE(AddRaftVoterResponse, versions(0, 1), flexible_since(0),
    FIELD(throttle_time_ms, "ThrottleTimeMs"),
    FIELD(error_code, "ErrorCode"),
    FIELD(error_message, "ErrorMessage", nullable(), ignorable))

PARTITA_API(add_raft_voter, AddRaftVoter)
// clang-format on

}  // namespace partita
