#include "broker/runtime/loop/upkeep_bell.h"

#include <utility>

namespace partita::runtime {

void UpkeepBell::listen(Worker* worker) {
    const MutexLock lock(mutex_);
    worker_ = worker;
    if (worker_ != nullptr) {
        worker_->wake();
    }
}

void UpkeepBell::data_written() {
    // An exchange, not a load: it orders the caller's write before the check. So the worker either looks for writes later, or is
    // woken now.
    if (written_.exchange(true, std::memory_order_acq_rel)) {
        return;
    }
    const MutexLock lock(mutex_);
    if (worker_ != nullptr) {
        worker_->wake();
    }
}

void UpkeepBell::ring(bool Heard::* what) {
    const MutexLock lock(mutex_);
    heard_.*what = true;
    if (worker_ != nullptr) {
        worker_->wake();
    }
}

UpkeepBell::Heard UpkeepBell::take_heard() {
    const MutexLock lock(mutex_);
    return std::exchange(heard_, {});
}

}  // namespace partita::runtime
