#include "broker/runtime/loop/upkeep_bell.h"

#include <utility>

namespace partita::runtime {

void UpkeepBell::data_written() {
    // An exchange and not a load: it orders the caller's write before the look, so that either the thread
    // has yet to look for writes, or it is told.
    if (woken_.exchange(true, std::memory_order_acq_rel)) {
        return;
    }
    // The empty critical section keeps the notification from falling between the sleeper's look at
    // woken_ and its sleep.
    { const std::scoped_lock lock(mutex_); }
    wake_.notify_one();
}

void UpkeepBell::ring(bool Heard::*what) {
    {
        const std::scoped_lock lock(mutex_);
        heard_.*what = true;
    }
    wake_.notify_one();
}

UpkeepBell::Heard UpkeepBell::wait(std::chrono::steady_clock::time_point until, bool hears_writes) {
    std::unique_lock lock(mutex_);
    wake_.wait_until(lock, until, [&] {
        return heard_.stop || heard_.log_start_moved || heard_.coordinator_lost || heard_.flusher_done ||
               (hears_writes && woken_.load(std::memory_order_acquire));
    });
    return std::exchange(heard_, {.stop = heard_.stop});
}

}  // namespace partita::runtime
