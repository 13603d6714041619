#pragma once

#include "protocol/types.h"
#include "schedule/executor.h"

namespace partita::runtime {

/// One kind of work of a task: whether work is pending, and when it is due.
struct Job {
    bool pending = false;
    Instant due;

    /// Notes new work that must be done within `delay_ms`.
    void note(Instant now, std::int64_t delay_ms) {
        if (!pending) {
            pending = true;
            due = now + delay_ms;
        }
    }
    [[nodiscard]] bool is_due(Instant now) const { return pending && due <= now; }
    /// `kNever` if nothing is pending.
    [[nodiscard]] Instant next() const { return pending ? due : kNever; }
};

}  // namespace partita::runtime
