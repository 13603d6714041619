#pragma once

#include "protocol/types.h"
#include "schedule/executor.h"

namespace partita::runtime {

/// One kind of work of a task: whether there is any, and when it is to be done.
struct Job {
    bool pending = false;
    Instant due;

    /// Work came up that is to be done within `delay_ms`.
    void note(Instant now, std::int64_t delay_ms) {
        if (!pending) {
            pending = true;
            due = now + delay_ms;
        }
    }
    [[nodiscard]] bool is_due(Instant now) const { return pending && due <= now; }
    /// Far away when there is none.
    [[nodiscard]] Instant next() const { return pending ? due : kNever; }
};

}  // namespace partita::runtime
