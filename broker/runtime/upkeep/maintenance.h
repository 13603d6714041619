#pragma once

#include <memory>
#include <vector>

#include "broker/runtime/loop/upkeep_task.h"
#include "schedule/executor.h"

namespace partita::runtime {

/// The worker for background work that may wait for a disk. It lets its tasks do what is due; no client waits for it.
///
/// The worker rests until something is due. Writes make work due, and finished work is not due again before the next write. A
/// broker without traffic wakes up only for retention and expiry.
class Maintenance {
  public:
    /// Each step asks the tasks in this order. The tasks outlive the worker.
    Maintenance(std::vector<UpkeepTask*> tasks, UpkeepBell& bell, const Schedule& schedule)
        : tasks_(std::move(tasks)), bell_(bell), schedule_(schedule) {}
    ~Maintenance();

    /// `has_unsynced`: an earlier run that was killed may have left unsynced data.
    void start(bool has_unsynced);
    /// Ends the worker after its current step.
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
