#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <shared_mutex>
#include <utility>

#include "protocol/held_locks.h"
#include "protocol/lock_rank.h"
#include "protocol/thread_annotations.h"

/// Locks that tell clang which data they guard, in one order, LockRank. The whole broker uses them.
///
/// A development build (without NDEBUG) ends the process when a thread takes a lock out of that order, or one that it already
/// holds. It also does so when a thread waits for a condition while it holds a second lock. The check comes before the wait. So a
/// deadlock that would occur once a year becomes a message in the first test on its way. A release build has std::mutex and
/// nothing else.

namespace partita {

#if defined(NDEBUG)
inline constexpr bool kChecksLockOrder = false;
#else
inline constexpr bool kChecksLockOrder = true;
#endif

/// The place of a lock in the order; it takes no space in a release build.
template <bool kept>
class KeptRank {
  public:
    explicit constexpr KeptRank(LockRank rank) : rank_(rank) {}
    void check_order(const void*) const { HeldLocks::check_order(rank_); }
    void note_acquired(const void* lock) const { HeldLocks::note_acquired(rank_, lock); }
    void note_released(const void* lock) const { HeldLocks::note_released(lock); }
    void check_held(const void* lock) const { HeldLocks::check_held(rank_, lock); }

  private:
    LockRank rank_;
};
template <>
class KeptRank<false> {
  public:
    explicit constexpr KeptRank(LockRank) {}
    void check_order(const void*) const {}
    void note_acquired(const void*) const {}
    void note_released(const void*) const {}
    void check_held(const void*) const {}
};

class CAPABILITY("mutex") Mutex {
  public:
    explicit constexpr Mutex(LockRank rank) : rank_(rank) {}
    Mutex(const Mutex&) = delete;
    Mutex& operator=(const Mutex&) = delete;

    void lock() ACQUIRE() {
        rank_.check_order(this);
        mutex_.lock();
        rank_.note_acquired(this);
    }
    /// Never waits, so that it may be called out of order.
    [[nodiscard]] bool try_lock() TRY_ACQUIRE(true) {
        if (!mutex_.try_lock()) {
            return false;
        }
        rank_.note_acquired(this);
        return true;
    }
    void unlock() RELEASE() {
        rank_.note_released(this);
        mutex_.unlock();
    }
    /// For code that clang cannot follow: tells it that the calling thread holds the lock. A development build checks this.
    void assert_held() const ASSERT_CAPABILITY(this) { rank_.check_held(this); }

  private:
    friend class Condition;

    std::mutex mutex_;
    [[no_unique_address]] KeptRank<kChecksLockOrder> rank_;
};
static_assert(kChecksLockOrder || sizeof(Mutex) == sizeof(std::mutex), "a lock of a release build is a std::mutex");

/// Holds a lock from here to the end of the block.
class SCOPED_CAPABILITY MutexLock {
  public:
    explicit MutexLock(Mutex& mutex) ACQUIRE(mutex) : mutex_(mutex) { mutex_.lock(); }
    ~MutexLock() RELEASE() { mutex_.unlock(); }
    MutexLock(const MutexLock&) = delete;
    MutexLock& operator=(const MutexLock&) = delete;

  private:
    Mutex& mutex_;
};

/// The same; the owner or a Condition may release the lock and take it again.
class SCOPED_CAPABILITY UniqueLock {
  public:
    explicit UniqueLock(Mutex& mutex) ACQUIRE(mutex) : mutex_(mutex) { mutex_.lock(); }
    ~UniqueLock() RELEASE() {
        if (owns_) {
            mutex_.unlock();
        }
    }
    UniqueLock(const UniqueLock&) = delete;
    UniqueLock& operator=(const UniqueLock&) = delete;

    void lock() ACQUIRE() {
        mutex_.lock();
        owns_ = true;
    }
    void unlock() RELEASE() {
        owns_ = false;
        mutex_.unlock();
    }

  private:
    friend class Condition;

    Mutex& mutex_;
    bool owns_ = true;
};

/// A std::condition_variable for these locks. A predicate reads what the lock guards, so it is written
/// `[this]() REQUIRES(mutex_) { ... }`.
class Condition {
  public:
    void notify_one() { condition_.notify_one(); }
    void notify_all() { condition_.notify_all(); }

    /// May return without a reason.
    void wait(UniqueLock& lock) {
        with_standard_lock(lock, [&](auto& standard) { condition_.wait(standard); });
    }
    /// For a thread that holds other locks, if the thread that wakes it needs none of them.
    void wait_with_others(UniqueLock& lock) {
        std::unique_lock standard(lock.mutex_.mutex_, std::adopt_lock);
        condition_.wait(standard);
        standard.release();
    }
    /// Waits as in std::condition_variable. The lock is held before and after the wait, and while the predicate runs. clang does
    /// not see that the predicate's lock is the one in `lock`.
    template <class Predicate>
    void wait(UniqueLock& lock, Predicate predicate) NO_THREAD_SAFETY_ANALYSIS {
        with_standard_lock(lock, [&](auto& standard) { condition_.wait(standard, std::move(predicate)); });
    }
    template <class Duration, class Predicate>
    bool wait_for(UniqueLock& lock, const Duration& duration, Predicate predicate) NO_THREAD_SAFETY_ANALYSIS {
        bool result = false;
        with_standard_lock(lock, [&](auto& standard) { result = condition_.wait_for(standard, duration, std::move(predicate)); });
        return result;
    }
    template <class TimePoint, class Predicate>
    bool wait_until(UniqueLock& lock, const TimePoint& time, Predicate predicate) NO_THREAD_SAFETY_ANALYSIS {
        bool result = false;
        with_standard_lock(lock, [&](auto& standard) { result = condition_.wait_until(standard, time, std::move(predicate)); });
        return result;
    }

  private:
    /// The thread counts as holding the lock while it sleeps, because it cannot take another one then.
    template <class Wait>
    static void with_standard_lock(UniqueLock& lock, const Wait& wait) {
        if constexpr (kChecksLockOrder) {
            HeldLocks::check_only(&lock.mutex_);
        }
        std::unique_lock standard(lock.mutex_.mutex_, std::adopt_lock);
        wait(standard);
        standard.release();
    }

    std::condition_variable condition_;
};

/// A lock for many readers, or for one writer. For data that is read rarely and for long: it costs more than a Mutex.
class CAPABILITY("shared_mutex") SharedMutex {
  public:
    explicit SharedMutex(LockRank rank) : rank_(rank) {}
    SharedMutex(const SharedMutex&) = delete;
    SharedMutex& operator=(const SharedMutex&) = delete;

    void lock() ACQUIRE() {
        rank_.check_order(this);
        mutex_.lock();
        rank_.note_acquired(this);
    }
    void unlock() RELEASE() {
        rank_.note_released(this);
        mutex_.unlock();
    }
    void lock_shared() ACQUIRE_SHARED() {
        rank_.check_order(this);
        mutex_.lock_shared();
        rank_.note_acquired(this);
    }
    void unlock_shared() RELEASE_SHARED() {
        rank_.note_released(this);
        mutex_.unlock_shared();
    }

  private:
    std::shared_mutex mutex_;
    [[no_unique_address]] KeptRank<kChecksLockOrder> rank_;
};
static_assert(kChecksLockOrder || sizeof(SharedMutex) == sizeof(std::shared_mutex));

/// Holds a SharedMutex exclusively.
class SCOPED_CAPABILITY ExclusiveLock {
  public:
    explicit ExclusiveLock(SharedMutex& mutex) ACQUIRE(mutex) : mutex_(mutex) { mutex_.lock(); }
    ~ExclusiveLock() RELEASE() { mutex_.unlock(); }
    ExclusiveLock(const ExclusiveLock&) = delete;
    ExclusiveLock& operator=(const ExclusiveLock&) = delete;

  private:
    SharedMutex& mutex_;
};

/// Holds a SharedMutex as one of its readers.
class SCOPED_CAPABILITY SharedLock {
  public:
    explicit SharedLock(SharedMutex& mutex) ACQUIRE_SHARED(mutex) : mutex_(mutex) { mutex_.lock_shared(); }
    ~SharedLock() RELEASE_GENERIC() { mutex_.unlock_shared(); }
    SharedLock(const SharedLock&) = delete;
    SharedLock& operator=(const SharedLock&) = delete;

  private:
    SharedMutex& mutex_;
};

}  // namespace partita
