#include "broker/runtime/upkeep/keyed_logs.h"

#include <optional>
#include <string>

#include "broker/catalog/internal_topics.h"
#include "broker/logs/internal_logs.h"
#include "protocol/try.h"
#include "storage/keyed_log_checkpoint.h"

namespace partita::runtime {

std::vector<std::shared_ptr<PartitionLog>> KeyedLogs::logs() const {
    std::vector<std::shared_ptr<PartitionLog>> logs;
    logs.push_back(catalog_log_);
    const std::shared_ptr<const logs::TopicTable> table = topics_.table();
    for (const catalog::InternalTopic& topic : catalog::internal_topics()) {
        const logs::TopicState* state = topic.coordinator ? table->find(topic.name) : nullptr;
        if (state == nullptr) {
            continue;
        }
        for (const std::shared_ptr<logs::Partition>& partition : state->partitions) {
            if (partition->log->has_files()) {
                logs.push_back(partition->log);
            }
        }
    }
    return logs;
}

Offset KeyedLogs::folded_until(const PartitionLog& log) const {
    const auto folded = store_.folded_until(keyed_log_name(log));
    return folded ? folded->value_or(Offset{0}) : Offset{0};
}

StorageResult<void> KeyedLogs::fold() {
    const MutexLock lock(store_mutex_);
    PARTITA_TRY(fold_keyed_logs(logs(), store_));
    return {};
}

StorageResult<void> KeyedLogs::forget_deleted() {
    const MutexLock lock(store_mutex_);
    PARTITA_TRY_ASSIGN(const auto names, store_.logs());
    // A log created after this line has no rows before the next fold, and this thread does the folding.
    const std::shared_ptr<const logs::TopicTable> table = topics_.table();
    for (const std::string& name : names) {
        const std::optional<TopicId> topic = topic_of_keyed_log(name);
        if (topic && *topic != logs::kCatalogLogId && table->share(*topic) == nullptr) {
            PARTITA_TRY(store_.forget(name));
        }
    }
    return {};
}

}  // namespace partita::runtime
