#include "broker/runtime/queries/topic_producers.h"

#include <algorithm>
#include <map>

namespace partita::runtime {

std::vector<ProducerSummary> partition_producers(const logs::Partition& partition) {
    std::vector<ProducerSummary> producers = partition.log->active_producers();
    std::ranges::sort(producers, {}, &ProducerSummary::producer_id);
    return producers;
}

std::vector<TopicProducer> topic_producers(const logs::TopicState& topic) {
    std::map<ProducerId, TopicProducer> known;
    PartitionIndex index{0};
    for (const std::shared_ptr<logs::Partition>& partition : topic.partitions) {
        for (const ProducerSummary& producer : partition->log->active_producers()) {
            const auto [at, is_new] =
                known.try_emplace(producer.producer_id,
                                  TopicProducer{producer.producer_id, producer.producer_epoch, producer.last_timestamp, {}, {}});
            TopicProducer& found = at->second;
            found.epoch = std::max(found.epoch, producer.producer_epoch);
            found.last_timestamp = std::max(found.last_timestamp, producer.last_timestamp);
            found.partitions.push_back(index);
            if (producer.current_transaction_start != kNoOffset) {
                found.open_in.push_back(index);
            }
        }
        ++index.value;
    }
    std::vector<TopicProducer> producers;
    producers.reserve(known.size());
    for (auto& [id, producer] : known) {
        producers.push_back(std::move(producer));
    }
    return producers;
}

}  // namespace partita::runtime
