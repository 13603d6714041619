#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "broker/logs/topic_table.h"
#include "broker/logs/topics_listener.h"
#include "protocol/mutex.h"

namespace partita::logs {

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

    /// Before anything is published. Listeners are told in the order in which they were added, and live as long as somebody
    /// publishes.
    void add_listener(TopicsListener& listener) { listeners_.push_back(&listener); }

    // For the catalog: first the one, then the other.
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

namespace partita::runtime {
using logs::PublishedTopics;
}  // namespace partita::runtime
