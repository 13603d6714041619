#pragma once

#include "broker/runtime/loop/upkeep_bell.h"
#include "protocol/types.h"

namespace partita::runtime {

/// One of the things that the upkeep worker keeps up (upkeep/maintenance.h). The task knows when it is due. The calls never
/// overlap: `begin` comes first, from the thread that starts the worker, and the others from the worker's steps.
class UpkeepTask {
  public:
    virtual ~UpkeepTask() = default;

    virtual void begin(Instant /*now*/) {}
    /// When `run_due` has something to do; far away for never.
    [[nodiscard]] virtual Instant next_due() const = 0;
    /// Does what is due, and nothing when nothing is. May wait for a disk.
    virtual void run_due(Now now) = 0;
    /// What was rung since the last step.
    virtual void hear(const UpkeepBell::Heard& /*heard*/, Instant /*now*/) {}
    /// Data was written since the last call.
    virtual void note_writes(Instant /*now*/) {}
    /// True when a write makes work due that is not due anyway, so that the worker has to hear of it at once. While all tasks say
    /// false, writes are noted when something is due.
    [[nodiscard]] virtual bool hears_writes() const { return false; }
};

}  // namespace partita::runtime
