#include "broker/insight/local/transactions_in_topic.h"

#include <map>
#include <string>
#include <utility>

#include "broker/logs/log_bounds.h"
#include "broker/logs/topic_table.h"
#include "broker/runtime/coordinators/transaction_shards.h"

namespace partita::insight {

std::vector<OpenTransaction> open_transactions(const logs::TopicState& topic, runtime::TransactionShards& transactions) {
    std::map<ProducerId, std::vector<PartitionIndex>> open;
    for (std::size_t index = 0; index < topic.partitions.size(); ++index) {
        const PartitionLog& log = *topic.partitions[index]->log;
        if (!logs::log_bounds(log).has_open_transaction()) {
            continue;
        }
        for (const ProducerSummary& producer : log.active_producers()) {
            if (producer.current_transaction_start != kNoOffset) {
                open[producer.producer_id].push_back(PartitionIndex{static_cast<std::int32_t>(index)});
            }
        }
    }
    if (open.empty()) {
        return {};
    }
    std::vector<OpenTransaction> named;
    std::map<ProducerId, std::string> ids = transactions.ids_of([&](ProducerId id) { return open.contains(id); });
    for (auto& [producer_id, partitions] : open) {
        named.push_back(
            {.producer_id = producer_id, .transactional_id = std::move(ids[producer_id]), .partitions = std::move(partitions)});
    }
    return named;
}

}  // namespace partita::insight
