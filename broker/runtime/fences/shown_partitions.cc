#include "broker/runtime/fences/shown_partitions.h"

#include <optional>
#include <vector>

#include "broker/insight/identity/identity.h"
#include "broker/insight/identity/visibility.h"
#include "broker/logs/topic_table.h"
#include "broker/runtime/coordinators/group_shards.h"

namespace partita::runtime {

void ShownPartitions::note_producer(const insight::ClientIdentity& client) {
    const MutexLock lock(mutex_);
    roles_.note(client).produces = true;
}

void ShownPartitions::note_consumer(const insight::ClientIdentity& client) {
    const MutexLock lock(mutex_);
    roles_.note(client).consumes = true;
}

std::int32_t ShownPartitions::count_for(const logs::TopicState& topic, const insight::ClientIdentity& client,
                                        const insight::ClientRoles& own, Now now) {
    const std::int32_t true_count = topic.topic->partition_count;
    const insight::VisibilityDelays delays{.producers_ms = topic.config->visibility_producers_delay_ms,
                                           .consumers_ms = topic.config->visibility_consumers_delay_ms};
    if (!delays.any() || topic.topic->expansions.empty()) {
        return true_count;
    }
    std::optional<insight::ClientRoles> roles;
    if (own.produces || own.consumes) {
        roles = own;
    } else {
        const MutexLock lock(mutex_);
        if (const insight::ClientRoles* known = roles_.find(client)) {
            roles = *known;
        }
    }
    std::vector<insight::CountStep> steps;
    for (const auto& step : topic.topic->expansions) {
        steps.push_back({step->old_partition_count, step->new_partition_count, step->time});
    }
    const std::int64_t delay_ms = insight::delay_for(roles ? &*roles : nullptr, delays);
    const std::int32_t visible = insight::visible_count(steps, true_count, delay_ms, now.wall);
    if (visible == true_count) {
        return true_count;
    }
    // A member that holds a hidden partition must see it; otherwise it could not fetch from it.
    for (const groups::TopicReader& group : groups_.readers_of(topic.topic->name, topic.topic->id)) {
        for (const groups::TopicReader::Member& member : group.members) {
            if (member.client_id == client.client_id && insight::may_be_one_host(member.client_host, client.address) &&
                !member.assigned.empty() && member.assigned.back().value >= visible) {
                return true_count;
            }
        }
    }
    return visible;
}

}  // namespace partita::runtime
