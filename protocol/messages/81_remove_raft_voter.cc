#include "protocol/messages/81_remove_raft_voter.h"

#include "protocol/api_table.h"
#include "protocol/schema_table.h"

namespace partita {

using namespace table;

// clang-format off
PARTITA_MESSAGE(RemoveRaftVoterRequest, versions(0, 0), flexible_since(0),
    FIELD(cluster_id, "ClusterId", nullable()),
    FIELD(voter_id, "VoterId"),
    FIELD(voter_directory_id, "VoterDirectoryId"))

PARTITA_MESSAGE(RemoveRaftVoterResponse, versions(0, 0), flexible_since(0),
    FIELD(throttle_time_ms, "ThrottleTimeMs"),
    FIELD(error_code, "ErrorCode"),
    FIELD(error_message, "ErrorMessage", nullable(), ignorable))

PARTITA_API(remove_raft_voter, RemoveRaftVoter)
// clang-format on

}  // namespace partita
