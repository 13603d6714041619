#include "broker/runtime/upkeep/maintenance.h"

#include <algorithm>

namespace partita::runtime {

Maintenance::~Maintenance() { stop(); }

void Maintenance::start(bool has_unsynced) {
    const Instant now = schedule_.clock.now().monotonic;
    for (UpkeepTask* task : tasks_) {
        task->begin(now);
        if (has_unsynced) {
            task->note_writes(now);
        }
    }
    worker_ = schedule_.executor.start("upkeep", [this] { return step(); });
    bell_.listen(worker_.get());
}

void Maintenance::stop() {
    bell_.listen(nullptr);
    worker_.reset();
}

Instant Maintenance::next_due() const {
    Instant next = kNever;
    for (const UpkeepTask* task : tasks_) {
        next = std::min(next, task->next_due());
    }
    return next;
}

bool Maintenance::hears_writes() const {
    return std::ranges::any_of(tasks_, [](const UpkeepTask* task) { return task->hears_writes(); });
}

Instant Maintenance::step() {
    const UpkeepBell::Heard heard = bell_.take_heard();
    const Now now = schedule_.clock.now();
    for (UpkeepTask* task : tasks_) {
        task->hear(heard, now.monotonic);
    }
    // Take the writes only when a task uses them. Untaken writes do not wake the worker again, however much clients produce.
    if ((hears_writes() || next_due() <= now.monotonic) && bell_.take_writes()) {
        for (UpkeepTask* task : tasks_) {
            task->note_writes(now.monotonic);
        }
    }
    for (UpkeepTask* task : tasks_) {
        task->run_due(now);
    }
    return hears_writes() && bell_.has_writes() ? kAtOnce : next_due();
}

}  // namespace partita::runtime
