#pragma once

#include <memory>
#include <vector>

#include "broker/runtime/loop/upkeep_task.h"
#include "schedule/executor.h"

namespace partita::runtime {

/// The worker for what may wait for a disk and that nobody waits for: it has its tasks do what is due.
///
/// It rests until something is due. Writes make work due, and what is done is not due again before the next write: a broker
/// without traffic wakes up for retention and expiry only.
class Maintenance {
  public:
    /// In each step the tasks are asked in this order. They outlive the worker.
    Maintenance(std::vector<UpkeepTask*> tasks, UpkeepBell& bell, const Schedule& schedule)
        : tasks_(std::move(tasks)), bell_(bell), schedule_(schedule) {}
    ~Maintenance();

    /// `has_unsynced`: an earlier run, which was killed, may have left data that is not synced.
    void start(bool has_unsynced);
    /// Ends the worker after its present step.
    void stop();

  private:
    [[nodiscard]] Instant step();
    [[nodiscard]] bool hears_writes() const;
    [[nodiscard]] Instant next_due() const;

    const std::vector<UpkeepTask*> tasks_;
    UpkeepBell& bell_;
    const Schedule schedule_;
    std::unique_ptr<Worker> worker_;
};

}  // namespace partita::runtime
