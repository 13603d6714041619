#pragma once

#include <memory>
#include <vector>

#include "broker/logs/published_topics.h"
#include "protocol/mutex.h"
#include "storage/metadata_store.h"
#include "storage/partition_log.h"

namespace partita::runtime {

/// The logs in which the last value of each key counts: the catalog's log and the logs of coordinator topics. Also holds the
/// metadata store with their checkpoints. The store has one writer at a time: every method here that writes takes turns.
class KeyedLogs {
  public:
    KeyedLogs(std::shared_ptr<PartitionLog> catalog_log, const logs::PublishedTopics& topics, MetadataStore& store)
        : catalog_log_(std::move(catalog_log)), topics_(topics), store_(store) {}

    /// The logs that have records.
    [[nodiscard]] std::vector<std::shared_ptr<PartitionLog>> logs() const;
    /// The offset up to which the store has taken over the log. Records from there on must stay in the log.
    [[nodiscard]] Offset folded_until(const PartitionLog& log) const;

    /// Writes the records appended since the last fold into the store. Blocks on the device.
    [[nodiscard]] StorageResult<void> fold();
    /// Frees the store's rows of deleted topics. Blocks on the device.
    [[nodiscard]] StorageResult<void> forget_deleted();
    /// Runs `work` while no other thread writes to the store; `work` itself may write.
    template <class Work>
    auto while_nobody_writes(Work&& work) {
        const MutexLock lock(store_mutex_);
        return work();
    }

  private:
    const std::shared_ptr<PartitionLog> catalog_log_;
    const logs::PublishedTopics& topics_;
    MetadataStore& store_;
    /// Held while writing to the store.
    Mutex store_mutex_{LockRank::keyed_logs};
};

}  // namespace partita::runtime
