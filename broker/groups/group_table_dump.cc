#include "broker/groups/group_table.h"

/// The durable state as text.

namespace partita::groups {

std::string GroupTable::dump() const {
    std::string out;
    for (const Group* group : in_order()) {
        out += "group " + group->id + group->kind().dump();
        for (const auto& [topic, partitions] : group->offsets) {
            for (const auto& [partition, committed] : partitions) {
                out += "  offset " + group->id + "/" + topic + "-" + std::to_string(partition.value) + " " +
                       std::to_string(committed.offset.value) + " epoch=" + std::to_string(committed.leader_epoch.value) +
                       " at=" + std::to_string(committed.commit_timestamp.value) +
                       " expires=" + std::to_string(committed.expire_timestamp.value) +
                       " topic_id=" + committed.topic_id.to_string() + " '" + committed.metadata + "'\n";
            }
        }
    }
    return out + pending_.dump();
}

}  // namespace partita::groups
