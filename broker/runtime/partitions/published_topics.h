#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

#include "broker/runtime/partitions/topic_table.h"
#include "protocol/mutex.h"

namespace partita::runtime {

/// The topic table in force. The catalog replaces it, and everybody else reads it. Thread-safe.
class PublishedTopics {
  public:
    /// Never null after Catalog::load.
    [[nodiscard]] std::shared_ptr<const TopicTable> table() const {
        const MutexLock lock(mutex_);
        return table_;
    }
    /// Grows with every new table. Whoever keeps a table sees by this whether there is a newer one, for the cost of one load.
    [[nodiscard]] std::uint64_t version() const { return version_.load(std::memory_order_acquire); }

    void publish(std::shared_ptr<const TopicTable> table) {
        {
            const MutexLock lock(mutex_);
            table_ = std::move(table);
        }
        version_.fetch_add(1, std::memory_order_acq_rel);
    }

  private:
    mutable Mutex mutex_{LockRank::published_topics};
    std::shared_ptr<const TopicTable> table_ GUARDED_BY(mutex_);
    std::atomic<std::uint64_t> version_ = 0;
};

}  // namespace partita::runtime
