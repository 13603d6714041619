#include "broker/assignors/assignment.h"

#include <algorithm>
#include <iterator>

namespace partita::assignors {

Assignment normalized(Assignment assignment) {
    std::ranges::stable_sort(assignment, {}, &TopicPartitions::topic_id);
    Assignment result;
    result.reserve(assignment.size());
    for (TopicPartitions& topic : assignment) {
        if (!result.empty() && result.back().topic_id == topic.topic_id) {
            result.back().partitions.insert(result.back().partitions.end(), topic.partitions.begin(), topic.partitions.end());
        } else {
            result.push_back(std::move(topic));
        }
    }
    for (TopicPartitions& topic : result) {
        std::ranges::sort(topic.partitions);
        const auto repeated = std::ranges::unique(topic.partitions);
        topic.partitions.erase(repeated.begin(), repeated.end());
    }
    std::erase_if(result, [](const TopicPartitions& topic) { return topic.partitions.empty(); });
    return result;
}

std::size_t partition_count(const Assignment& assignment) {
    std::size_t count = 0;
    for (const TopicPartitions& topic : assignment) {
        count += topic.partitions.size();
    }
    return count;
}

const TopicPartitions* find_topic(const Assignment& assignment, const TopicId& topic_id) {
    const auto found = std::ranges::lower_bound(assignment, topic_id, {}, &TopicPartitions::topic_id);
    return found == assignment.end() || found->topic_id != topic_id ? nullptr : &*found;
}

}  // namespace partita::assignors
