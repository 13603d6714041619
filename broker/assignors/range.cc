#include <algorithm>
#include <cstddef>

#include "broker/assignors/assignor.h"
#include "protocol/assert.h"

namespace partita::assignors {
namespace {

struct Subscriber {
    std::size_t member;
    /// Its partitions of the topic until now that exist.
    std::span<const std::int32_t> held;
    std::size_t missing = 0;
};

std::span<const std::int32_t> held_of(const GroupSpec::Member& member, const GroupSpec::Topic& topic) {
    const TopicPartitions* held = member.previous == nullptr ? nullptr : find_topic(*member.previous, topic.topic_id);
    if (held == nullptr) {
        return {};
    }
    const auto end = std::ranges::lower_bound(held->partitions, topic.partition_count);
    return {held->partitions.begin(), end};
}

void assign_topic(const GroupSpec::Topic& topic, std::vector<Subscriber>& subscribers, GroupAssignment& result) {
    const auto total = static_cast<std::size_t>(topic.partition_count);
    const std::size_t quota = total / subscribers.size();
    std::size_t extras = total % subscribers.size();
    std::vector<bool> is_taken(total);
    for (Subscriber& subscriber : subscribers) {
        std::size_t kept = std::min(subscriber.held.size(), quota);
        if (subscriber.held.size() > quota && extras > 0) {
            ++kept;
            --extras;
            subscriber.missing = 0;
        } else {
            // One that may still get an extra partition is missing none of its quota, or even some.
            subscriber.missing = quota - kept;
        }
        if (kept == 0) {
            continue;
        }
        for (const std::int32_t partition : subscriber.held.first(kept)) {
            is_taken[static_cast<std::size_t>(partition)] = true;
        }
        const auto end = subscriber.held.begin() + static_cast<std::ptrdiff_t>(kept);
        result[subscriber.member].push_back({topic.topic_id, {subscriber.held.begin(), end}});
    }
    std::size_t next = 0;
    for (const Subscriber& subscriber : subscribers) {
        Assignment& assignment = result[subscriber.member];
        const bool has_some = !assignment.empty() && assignment.back().topic_id == topic.topic_id;
        const std::size_t kept = has_some ? assignment.back().partitions.size() : 0;
        std::size_t missing = subscriber.missing;
        if (kept + missing == quota && extras > 0) {
            ++missing;
            --extras;
        }
        if (missing == 0) {
            continue;
        }
        if (!has_some) {
            assignment.push_back({topic.topic_id, {}});
        }
        std::vector<std::int32_t>& partitions = assignment.back().partitions;
        for (; missing > 0; ++next) {
            PARTITA_ASSERT(next < total, "shares add up to the partitions");
            if (!is_taken[next]) {
                partitions.push_back(static_cast<std::int32_t>(next));
                --missing;
            }
        }
        std::ranges::sort(partitions);
    }
}

}  // namespace

GroupAssignment assign_ranges(const GroupSpec& group) {
    GroupAssignment result(group.members.size());
    std::vector<std::vector<Subscriber>> subscribers(group.topics.size());
    for (std::size_t member = 0; member < group.members.size(); ++member) {
        for (const std::uint32_t topic : group.members[member].topics) {
            subscribers[topic].push_back({member, held_of(group.members[member], group.topics[topic])});
        }
    }
    // Topics are ascending by id, and so are the assignments that grow topic by topic.
    for (std::size_t topic = 0; topic < group.topics.size(); ++topic) {
        if (!subscribers[topic].empty()) {
            assign_topic(group.topics[topic], subscribers[topic], result);
        }
    }
    return result;
}

}  // namespace partita::assignors
