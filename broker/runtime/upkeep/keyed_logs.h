#pragma once

#include <memory>
#include <vector>

#include "broker/logs/published_topics.h"
#include "protocol/mutex.h"
#include "storage/metadata_store.h"
#include "storage/partition_log.h"

namespace partita::runtime {

/// The logs whose meaning is the last value of each key, the catalog's and those of coordinators' topics, and the metadata store
/// that holds checkpoints of them. One thread at a time writes to the store: everything here that does takes turns.
class KeyedLogs {
  public:
    KeyedLogs(std::shared_ptr<PartitionLog> catalog_log, const PublishedTopics& topics, MetadataStore& store)
        : catalog_log_(std::move(catalog_log)), topics_(topics), store_(store) {}

    /// Those that have records.
    [[nodiscard]] std::vector<std::shared_ptr<PartitionLog>> logs() const;
    /// What the store has taken over of a log: what lies behind it must stay in the log.
    [[nodiscard]] Offset folded_until(const PartitionLog& log) const;

    /// Writes what was appended since into the store. Blocks on the device.
    [[nodiscard]] StorageResult<void> fold();
    /// Frees what the store has of topics that are no more. Blocks on the device.
    [[nodiscard]] StorageResult<void> forget_deleted();
    /// For work that may write to the store itself.
    template <class Work>
    auto while_nobody_writes(Work&& work) {
        const MutexLock lock(store_mutex_);
        return work();
    }

  private:
    const std::shared_ptr<PartitionLog> catalog_log_;
    const PublishedTopics& topics_;
    MetadataStore& store_;
    /// Held by whoever writes to the store.
    Mutex store_mutex_{LockRank::keyed_logs};
};

}  // namespace partita::runtime
