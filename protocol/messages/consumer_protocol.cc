#include "protocol/messages/consumer_protocol.h"

#include "protocol/schema_table.h"

namespace partita {

using namespace table;

// clang-format off
PARTITA_STRUCT(ConsumerProtocolSubscription::TopicPartition,
    FIELD(topic, "Topic", since(1)),
    FIELD(partitions, "Partitions", since(1)))

PARTITA_MESSAGE(ConsumerProtocolSubscription, versions(0, 3), never_flexible,
    FIELD(topics, "Topics"),
    FIELD(user_data, "UserData", nullable()),
    FIELD(owned_partitions, "OwnedPartitions", since(1), ignorable),
    FIELD(generation_id, "GenerationId", since(2), ignorable),
    FIELD(rack_id, "RackId", since(3), nullable(), ignorable))

PARTITA_STRUCT(ConsumerProtocolAssignment::TopicPartition,
    FIELD(topic, "Topic"),
    FIELD(partitions, "Partitions"))

PARTITA_MESSAGE(ConsumerProtocolAssignment, versions(0, 3), never_flexible,
    FIELD(assigned_partitions, "AssignedPartitions"),
    FIELD(user_data, "UserData", nullable()))
// clang-format on

}  // namespace partita
