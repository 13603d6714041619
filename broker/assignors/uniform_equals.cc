#include <algorithm>
#include <cstddef>

#include "broker/assignors/uniform.h"
#include "protocol/assert.h"

namespace partita::assignors {
namespace {

struct Free {
    std::uint32_t topic;
    std::int32_t partition;
};

/// The partitions of each topic that a member keeps, up to its quota, lowest topics first.
class Retention {
  public:
    explicit Retention(const GroupSpec& group) : group_(group), is_taken_(group.topics.size()) {
        for (std::size_t topic = 0; topic < group.topics.size(); ++topic) {
            is_taken_[topic].resize(static_cast<std::size_t>(group.topics[topic].partition_count));
        }
    }

    [[nodiscard]] Assignment keep(const GroupSpec::Member& member, std::size_t quota) {
        Assignment kept;
        if (member.previous == nullptr) {
            return kept;
        }
        for_each_existing(group_, *member.previous, [&](std::uint32_t topic, std::span<const std::int32_t> partitions) {
            TopicPartitions kept_of_topic{group_.topics[topic].topic_id, {}};
            kept_of_topic.partitions.reserve(std::min(quota, partitions.size()));
            for (auto partition = partitions.begin(); partition != partitions.end() && quota > 0; ++partition) {
                auto is_taken = is_taken_[topic][static_cast<std::size_t>(*partition)];
                if (!is_taken) {
                    is_taken = true;
                    kept_of_topic.partitions.push_back(*partition);
                    --quota;
                }
            }
            if (!kept_of_topic.partitions.empty()) {
                kept.push_back(std::move(kept_of_topic));
            }
        });
        return kept;
    }

    [[nodiscard]] std::vector<Free> rest() const {
        std::vector<Free> rest;
        for (std::uint32_t topic = 0; topic < is_taken_.size(); ++topic) {
            for (std::size_t partition = 0; partition < is_taken_[topic].size(); ++partition) {
                if (!is_taken_[topic][partition]) {
                    rest.push_back({topic, static_cast<std::int32_t>(partition)});
                }
            }
        }
        return rest;
    }

  private:
    const GroupSpec& group_;
    std::vector<std::vector<bool>> is_taken_;
};

std::size_t held_count(const GroupSpec& group, const GroupSpec::Member& member) {
    std::size_t count = 0;
    if (member.previous != nullptr) {
        for_each_existing(group, *member.previous,
                          [&](std::uint32_t, std::span<const std::int32_t> partitions) { count += partitions.size(); });
    }
    return count;
}

}  // namespace

GroupAssignment assign_uniformly_to_equals(const GroupSpec& group) {
    std::size_t total = 0;
    for (const GroupSpec::Topic& topic : group.topics) {
        total += static_cast<std::size_t>(topic.partition_count);
    }
    const std::size_t quota = total / group.members.size();
    std::size_t extras = total % group.members.size();

    // Some members get one more than the others. Members with more than the quota come first: to give the extra partition to
    // another member would move a partition for nothing.
    std::vector<std::size_t> quotas(group.members.size(), quota);
    for (const bool only_holders : {true, false}) {
        for (std::size_t member = 0; member < group.members.size() && extras > 0; ++member) {
            if (quotas[member] == quota && (!only_holders || held_count(group, group.members[member]) > quota)) {
                ++quotas[member];
                --extras;
            }
        }
    }

    Retention retention(group);
    GroupAssignment result;
    result.reserve(group.members.size());
    for (std::size_t member = 0; member < group.members.size(); ++member) {
        result.push_back(retention.keep(group.members[member], quotas[member]));
    }
    const std::vector<Free> rest = retention.rest();
    auto next = rest.begin();
    for (std::size_t member = 0; member < group.members.size(); ++member) {
        const std::size_t missing = quotas[member] - partition_count(result[member]);
        if (missing == 0) {
            continue;
        }
        for (std::size_t i = 0; i < missing; ++i, ++next) {
            PARTITA_ASSERT(next != rest.end(), "quotas add up to the partitions");
            const TopicId& topic_id = group.topics[next->topic].topic_id;
            if (result[member].empty() || result[member].back().topic_id != topic_id) {
                result[member].push_back({topic_id, {}});
            }
            result[member].back().partitions.push_back(next->partition);
        }
        result[member] = normalized(std::move(result[member]));
    }
    PARTITA_ASSERT(next == rest.end(), "quotas add up to the partitions");
    return result;
}

}  // namespace partita::assignors
