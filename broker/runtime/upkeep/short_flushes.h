#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "broker/runtime/loop/upkeep_task.h"
#include "broker/runtime/upkeep/job.h"
#include "storage/log_directory.h"
#include "storage/log_flusher.h"

namespace partita::logs {
class PublishedTopics;
struct TopicState;
}  // namespace partita::logs

namespace partita::runtime {

/// Syncs topics whose flush.ms is shorter than the interval of the background sync.
class ShortFlushes final : public UpkeepTask {
  public:
    /// A flush.ms below this counts as this.
    static constexpr std::int64_t kShortestMs = 1;

    ShortFlushes(const logs::PublishedTopics& topics, LogDirectory& logs, LogFlusher& flusher)
        : topics_(topics), logs_(logs), flusher_(flusher) {}

    [[nodiscard]] Instant next_due() const override { return flush_.next(); }
    void run_due(Now now) override;
    void note_writes(Instant now) override;
    [[nodiscard]] bool hears_writes() const override { return !with_short_flush_.empty() && !flush_.pending; }

  private:
    void find_topics();

    const logs::PublishedTopics& topics_;
    LogDirectory& logs_;
    LogFlusher& flusher_;
    Job flush_;
    /// The topics with a short flush.ms in the table of `version_`. The shortest flush.ms of them applies to all.
    std::vector<std::shared_ptr<const logs::TopicState>> with_short_flush_;
    std::uint64_t version_ = 0;
    std::int64_t shortest_ms_ = 0;
};

}  // namespace partita::runtime
