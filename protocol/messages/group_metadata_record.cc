#include "protocol/messages/group_metadata_record.h"

#include "protocol/schema_table.h"

namespace partita {

using namespace table;

// clang-format off
PARTITA_MESSAGE(GroupMetadataKey, versions(0, 0), never_flexible,
    FIELD(group, "group"))

PARTITA_STRUCT(GroupMetadataValue::MemberMetadata,
    FIELD(member_id, "memberId"),
    FIELD(group_instance_id, "groupInstanceId", since(3), nullable(), ignorable),
    FIELD(client_id, "clientId"),
    FIELD(client_host, "clientHost"),
    FIELD(rebalance_timeout, "rebalanceTimeout", since(1), ignorable),
    FIELD(session_timeout, "sessionTimeout"),
    FIELD(subscription, "subscription"),
    FIELD(assignment, "assignment"))

PARTITA_MESSAGE(GroupMetadataValue, versions(0, 4), flexible_since(4),
    FIELD(protocol_type, "protocolType"),
    FIELD(generation, "generation"),
    FIELD(protocol, "protocol", nullable()),
    FIELD(leader, "leader", nullable()),
    FIELD(current_state_timestamp, "currentStateTimestamp", since(2), ignorable),
    FIELD(members, "members"))
// clang-format on

}  // namespace partita
