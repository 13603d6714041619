#pragma once

#include "broker/runtime/loop/upkeep_bell.h"
#include "protocol/types.h"

namespace partita::runtime {

/// One task of the upkeep worker (upkeep/maintenance.h). The task knows when it is due. Calls never overlap: `begin` comes first,
/// from the thread that starts the worker; the others come from the worker's steps.
class UpkeepTask {
  public:
    virtual ~UpkeepTask() = default;

    virtual void begin(Instant /*now*/) {}
    /// When `run_due` has work; `kNever` if it has none.
    [[nodiscard]] virtual Instant next_due() const = 0;
    /// Does what is due, if anything. May wait for a disk.
    virtual void run_due(Now now) = 0;
    /// Passes what was rung since the last step.
    virtual void hear(const UpkeepBell::Heard& /*heard*/, Instant /*now*/) {}
    /// Data was written since the last call.
    virtual void note_writes(Instant /*now*/) {}
    /// True if a write makes work due that is not due anyway, so that the worker must hear of it at once. While all tasks return
    /// false, writes are noted when something is due.
    [[nodiscard]] virtual bool hears_writes() const { return false; }
};

}  // namespace partita::runtime
