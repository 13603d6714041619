#pragma once

#include <cstddef>

#include "protocol/lock_rank.h"

namespace partita {

/// The locks that the calling thread holds. Only a development build keeps them. A violation ends the process and names both
/// locks. Only mutex.h uses it.
class HeldLocks {
  public:
    /// The most locks that one thread may hold; our deepest path holds five.
    static constexpr std::size_t kMaximumHeld = 8;

    /// Called before the thread waits for a lock: checks that each lock it holds stands above `rank`.
    static void check_order(LockRank rank);
    /// Called once the thread has the lock.
    static void note_acquired(LockRank rank, const void* lock);
    static void note_released(const void* lock);
    /// Checks that the thread holds `lock`.
    static void check_held(LockRank rank, const void* lock);
    /// Called before the thread waits for a condition: checks that `lock` is its only lock, because the thread that should wake
    /// it may need another.
    static void check_only(const void* lock);
};

}  // namespace partita
