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
/// It is a worker of its own because one cleaning may read and write gigabytes, for which no background sync may wait.
/// It looks for work every log.cleaner.backoff.ms, as Kafka's does: time alone can make a log worth cleaning. A look
/// costs next to nothing, and nothing where no topic is compacted. One line in the log tells of each cleaning.
///
/// A log that cannot be cleaned because it is damaged is left alone until the next start, as in Kafka; other failures
/// (a full disk) are tried again. A coordinators' topic is cleaned up to where LMDB has taken over: a tombstone that goes
/// from the log must have been seen there.
class Compactor {
  public:
    Compactor(const config::CurrentConfig& config, const logs::PublishedTopics& topics, LogDirectory& logs,
              const KeyedLogs& keyed_logs, const Schedule& schedule)
        : config_(config), topics_(topics), logs_(logs), keyed_logs_(keyed_logs), schedule_(schedule) {}
    ~Compactor() { stop(); }
    Compactor(const Compactor&) = delete;
    Compactor& operator=(const Compactor&) = delete;

    /// Nothing happens when log.cleaner.enable is false.
    void start();
    /// Ends the worker; a cleaning under way is given up between two batches, and nothing of it is lost.
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
