#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "broker/logs/topic_table.h"
#include "broker/logs/topics_listener.h"
#include "protocol/mutex.h"

namespace partita::logs {

/// The topic table in force. The catalog replaces it; all others only read it. Thread-safe.
class PublishedTopics {
  public:
    /// Never null after Catalog::load.
    [[nodiscard]] std::shared_ptr<const TopicTable> table() const {
        const MutexLock lock(mutex_);
        return table_;
    }
    /// Grows with every new table. The owner of an older table detects a newer one with this, at the cost of one load.
    [[nodiscard]] std::uint64_t version() const { return version_.load(std::memory_order_acquire); }

    /// Call this before the first publication. The catalog tells listeners in the order in which they were added. They must live
    /// as long as the catalog publishes.
    void add_listener(TopicsListener& listener) { listeners_.push_back(&listener); }

    // For the catalog: it calls `publish`, then `tell`.
    void publish(std::shared_ptr<const TopicTable> table) {
        {
            const MutexLock lock(mutex_);
            table_ = std::move(table);
        }
        version_.fetch_add(1, std::memory_order_acq_rel);
    }
    void tell(const TopicsChange& change) const {
        for (TopicsListener* listener : listeners_) {
            listener->on_topics_changed(change);
        }
    }

  private:
    mutable Mutex mutex_{LockRank::published_topics};
    std::shared_ptr<const TopicTable> table_ GUARDED_BY(mutex_);
    std::atomic<std::uint64_t> version_ = 0;
    std::vector<TopicsListener*> listeners_;
};

}  // namespace partita::logs
