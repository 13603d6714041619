#pragma once

#include <cstddef>

#include "protocol/lock_rank.h"

namespace partita {

/// Which locks the calling thread holds, as a development build keeps it. A violation ends the process and names both locks.
/// Used by mutex.h only.
class HeldLocks {
  public:
    /// More locks than these are not held by one thread; the deepest path of ours holds five.
    static constexpr std::size_t kMaximumHeld = 8;

    /// Before the thread waits for a lock: every one that it holds stands above `rank`.
    static void check_order(LockRank rank);
    /// Once it has it.
    static void note_acquired(LockRank rank, const void* lock);
    static void note_released(const void* lock);
    /// The thread holds `lock`.
    static void check_held(LockRank rank, const void* lock);
    /// Before the thread waits for a condition with `lock`, its only one: whoever should wake it may need another.
    static void check_only(const void* lock);
};

}  // namespace partita
