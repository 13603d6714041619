#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

#include "broker/runtime/partitions/topic_table.h"
#include "protocol/mutex.h"

namespace partita::runtime {

class TopicsListener {
  public:
    virtual ~TopicsListener() = default;
    /// Called after a new table was published, under the catalog's lock.
    virtual void on_topics_changed() = 0;
};

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

    /// Before anything is published by another thread. The listener lives as long as somebody publishes.
    void set_listener(TopicsListener& listener) { listener_ = &listener; }

    void publish(std::shared_ptr<const TopicTable> table) {
        {
            const MutexLock lock(mutex_);
            table_ = std::move(table);
        }
        version_.fetch_add(1, std::memory_order_acq_rel);
        if (listener_ != nullptr) listener_->on_topics_changed();
    }

  private:
    mutable Mutex mutex_{LockRank::published_topics};
    std::shared_ptr<const TopicTable> table_ GUARDED_BY(mutex_);
    std::atomic<std::uint64_t> version_ = 0;
    TopicsListener* listener_ = nullptr;
};

}  // namespace partita::runtime
