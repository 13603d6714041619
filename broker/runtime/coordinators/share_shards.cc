#include "broker/runtime/coordinators/share_shards.h"

#include "broker/logs/topic_table.h"
#include "broker/runtime/coordinators/coordinator_shards_impl.h"

namespace partita::runtime {

template class CoordinatorShards<share::ShareCoordinator>;

void ShareShards::on_persisted(std::span<const share::Record> records) {
    changes_.fetch_add(1, std::memory_order_seq_cst);
    const std::shared_ptr<const logs::TopicTable> table = topics_.table();
    for (const share::Record& record : records) {
        const auto* snapshot = std::get_if<share::SnapshotRecord>(&record);
        const logs::TopicState* topic = snapshot == nullptr ? nullptr : table->find(snapshot->key.topic_id);
        if (topic == nullptr || snapshot->key.partition.value >= topic->topic->partition_count) {
            continue;
        }
        const logs::Partition& partition = *topic->partition(snapshot->key.partition.value);
        if (partition.waiting_reactors.load(std::memory_order_seq_cst) != 0) {
            turns_.post_change(partition);
        }
    }
}

}  // namespace partita::runtime
