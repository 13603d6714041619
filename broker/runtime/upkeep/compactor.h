#pragma once

#include <atomic>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "broker/config/current_config.h"
#include "protocol/types.h"
#include "schedule/executor.h"
#include "storage/cleaning_rules.h"
#include "storage/log_directory.h"
#include "storage/partition_log.h"

namespace partita::logs {
class PublishedTopics;
}  // namespace partita::logs

namespace partita::runtime {

class KeyedLogs;

/// Compacts topics with cleanup.policy=compact, the dirtiest log first.
///
/// It owns a worker because one cleaning may read and write gigabytes, and a background sync must not wait for that. Like Kafka's
/// cleaner, it looks for work every log.cleaner.backoff.ms, because time alone can make a log worth cleaning. A look costs next
/// to nothing, and nothing at all if no topic is compacted. Each cleaning writes one log line.
///
/// The compactor leaves a damaged log alone until the next start, as Kafka does. It retries after other failures (a full disk).
/// It cleans a coordinator topic only up to the offset that LMDB has taken over: LMDB must see a tombstone before the log loses
/// it.
class Compactor {
  public:
    Compactor(const config::CurrentConfig& config, const logs::PublishedTopics& topics, LogDirectory& logs,
              const KeyedLogs& keyed_logs, const Schedule& schedule)
        : config_(config), topics_(topics), logs_(logs), keyed_logs_(keyed_logs), schedule_(schedule) {}
    ~Compactor() { stop(); }
    Compactor(const Compactor&) = delete;
    Compactor& operator=(const Compactor&) = delete;

    /// Starts the worker. Does nothing if log.cleaner.enable is false.
    void start();
    /// Ends the worker. A running cleaning stops between two batches and loses nothing.
    void stop();

  private:
    /// A log with more dirt than its topic tolerates.
    struct Candidate {
        std::shared_ptr<PartitionLog> log;
        DirtyRange range;
        Offset keep_from{0};
    };

    [[nodiscard]] Instant step();
    [[nodiscard]] Instant next_look() const;
    /// Cleans everything that is worth it now.
    void run_pass(Now now);
    [[nodiscard]] std::vector<Candidate> find_candidates(Now now) const;
    void clean(const Candidate& candidate, Now now);
    [[nodiscard]] bool is_stopping() const { return stopping_.load(std::memory_order_relaxed); }

    const config::CurrentConfig& config_;
    const logs::PublishedTopics& topics_;
    LogDirectory& logs_;
    const KeyedLogs& keyed_logs_;
    const Schedule schedule_;
    std::atomic<bool> stopping_ = false;

    // Only steps of the worker use these.
    Instant next_look_;
    std::set<std::string> damaged_;

    // Last: its steps use everything above.
    std::unique_ptr<Worker> worker_;
};

}  // namespace partita::runtime
