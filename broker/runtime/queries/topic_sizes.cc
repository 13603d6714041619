#include "broker/runtime/queries/topic_sizes.h"

namespace partita::runtime {

PartitionSize partition_size(PartitionIndex index, const logs::Partition& partition) {
    return {.partition = index, .bounds = logs::log_bounds(partition), .bytes = partition.log->size_bytes()};
}

std::uint64_t TopicSize::bytes() const {
    std::uint64_t sum = 0;
    for (const PartitionSize& partition : partitions) {
        sum += partition.bytes;
    }
    return sum;
}

std::int64_t TopicSize::offsets() const {
    std::int64_t sum = 0;
    for (const PartitionSize& partition : partitions) {
        sum += partition.bounds.end - partition.bounds.start;
    }
    return sum;
}

std::int64_t TopicSize::written() const {
    std::int64_t sum = 0;
    for (const PartitionSize& partition : partitions) {
        sum += partition.bounds.end.value;
    }
    return sum;
}

TopicSize topic_size(const logs::TopicState& topic) {
    TopicSize size{.topic = topic.topic, .partitions = {}};
    size.partitions.reserve(topic.partitions.size());
    for (const std::shared_ptr<logs::Partition>& partition : topic.partitions) {
        size.partitions.push_back(partition_size({static_cast<std::int32_t>(size.partitions.size())}, *partition));
    }
    return size;
}

std::vector<TopicSize> topic_sizes(const logs::TopicTable& table) {
    std::vector<TopicSize> sizes;
    sizes.reserve(table.catalog->topic_count());
    for (const catalog::Topic& topic : table.catalog->topics()) {
        sizes.push_back(topic_size(*table.find(topic.id)));
    }
    return sizes;
}

}  // namespace partita::runtime
