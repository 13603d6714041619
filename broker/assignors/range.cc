#include <algorithm>
#include <cstddef>

#include "broker/assignors/assignor.h"

namespace partita::assignors {
namespace {

/// A topic while its partitions are dealt out.
struct Ranges {
    std::int32_t quota = 0;
    std::int32_t extras = 0;
    std::int32_t next = 0;
};

}  // namespace

GroupAssignment assign_ranges(const GroupSpec& group) {
    std::vector<std::int32_t> subscribers(group.topics.size(), 0);
    for (const GroupSpec::Member& member : group.members) {
        for (const std::uint32_t topic : member.topics) {
            ++subscribers[topic];
        }
    }
    std::vector<Ranges> ranges(group.topics.size());
    for (std::size_t topic = 0; topic < ranges.size(); ++topic) {
        if (subscribers[topic] > 0) {
            ranges[topic].quota = group.topics[topic].partition_count / subscribers[topic];
            ranges[topic].extras = group.topics[topic].partition_count % subscribers[topic];
        }
    }
    GroupAssignment result(group.members.size());
    for (std::size_t member = 0; member < group.members.size(); ++member) {
        for (const std::uint32_t topic : group.members[member].topics) {
            Ranges& range = ranges[topic];
            const std::int32_t count = range.quota + (range.extras > 0 ? 1 : 0);
            range.extras -= range.extras > 0 ? 1 : 0;
            if (count == 0) {
                continue;
            }
            TopicPartitions& assigned = result[member].emplace_back();
            assigned.topic_id = group.topics[topic].topic_id;
            assigned.partitions.reserve(static_cast<std::size_t>(count));
            for (std::int32_t i = 0; i < count; ++i) {
                assigned.partitions.push_back(range.next++);
            }
        }
    }
    return result;
}

}  // namespace partita::assignors
