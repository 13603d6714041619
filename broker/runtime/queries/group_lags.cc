#include "broker/runtime/queries/group_lags.h"

#include <algorithm>

#include "broker/logs/log_bounds.h"
#include "broker/runtime/coordinators/group_shards.h"

namespace partita::runtime {

std::int64_t GroupLag::total() const {
    std::int64_t sum = 0;
    for (const PartitionLag& partition : partitions) {
        sum += partition.lag.value_or(0);
    }
    return sum;
}

GroupLag group_lag(const logs::TopicState& topic, const groups::TopicReader& reader) {
    GroupLag group{.group_id = reader.group_id, .members = reader.members.size(), .partitions = {}};
    group.partitions.reserve(topic.partitions.size());
    for (const std::shared_ptr<logs::Partition>& partition : topic.partitions) {
        const logs::LogBounds bounds = logs::log_bounds(*partition);
        PartitionLag lag{.partition = {static_cast<std::int32_t>(group.partitions.size())},
                         .committed = std::nullopt,
                         .log_end = bounds.end,
                         .lag = std::nullopt};
        if (const auto committed = reader.committed.find(lag.partition); committed != reader.committed.end()) {
            lag.committed = committed->second;
            // A client may commit any offset, even one beyond the end.
            lag.lag = std::max<std::int64_t>(0, bounds.end - std::max(committed->second, bounds.start));
        }
        group.partitions.push_back(lag);
    }
    return group;
}

std::vector<GroupLag> group_lags(GroupShards& groups, const logs::TopicState& topic) {
    std::vector<GroupLag> lags;
    for (const groups::TopicReader& reader : groups.readers_of(topic.topic->name, topic.topic->id)) {
        lags.push_back(group_lag(topic, reader));
    }
    std::ranges::sort(lags, {}, &GroupLag::group_id);
    return lags;
}

}  // namespace partita::runtime
