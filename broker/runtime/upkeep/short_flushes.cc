#include "broker/runtime/upkeep/short_flushes.h"

#include <algorithm>
#include <utility>

#include "broker/logs/published_topics.h"
#include "broker/runtime/upkeep/background_sync.h"

namespace partita::runtime {

void ShortFlushes::find_topics() {
    const std::uint64_t version = topics_.version();
    if (version == version_) {
        return;
    }
    version_ = version;
    with_short_flush_.clear();
    shortest_ms_ = BackgroundSync::kIntervalMs;
    const std::shared_ptr<const logs::TopicTable> table = topics_.table();
    table->for_each([&](const logs::TopicState& state) {
        if (state.config->flush_ms < BackgroundSync::kIntervalMs) {
            with_short_flush_.push_back(table->share(state.topic->id));
            shortest_ms_ = std::min(shortest_ms_, std::max(kShortestMs, state.config->flush_ms));
        }
    });
}

void ShortFlushes::note_writes(Instant now) {
    find_topics();
    if (!with_short_flush_.empty()) {
        flush_.note(now, shortest_ms_);
    }
}

void ShortFlushes::run_due(Now now) {
    if (!flush_.is_due(now.monotonic)) {
        return;
    }
    find_topics();
    std::vector<std::shared_ptr<PartitionLog>> logs;
    for (const std::shared_ptr<const logs::TopicState>& topic : with_short_flush_) {
        for (const std::shared_ptr<logs::Partition>& partition : topic->partitions) {
            if (partition->log->has_unsynced_data()) {
                logs.push_back(partition->log);
            }
        }
    }
    flush_ = {.pending = !logs.empty(), .due = now.monotonic + shortest_ms_};
    if (!logs.empty()) {
        flusher_.request_background_sync(logs_.volume(), std::move(logs));
    }
}

}  // namespace partita::runtime
