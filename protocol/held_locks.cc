#include "protocol/held_locks.h"

#include <algorithm>
#include <array>
#include <span>
#include <string>

#include "protocol/assert.h"

namespace partita {
namespace {

struct Held {
    LockRank rank{};
    const void* lock = nullptr;
};

// No constructor and no destructor: threads that never take a lock pay nothing.
constinit thread_local std::array<Held, HeldLocks::kMaximumHeld> stack{};
constinit thread_local std::size_t depth = 0;

[[nodiscard]] std::span<Held> held() { return std::span(stack).first(depth); }

[[nodiscard]] bool is_held(const void* lock) {
    return std::ranges::any_of(held(), [lock](const Held& one) { return one.lock == lock; });
}

}  // namespace

void HeldLocks::check_order(LockRank rank) {
    for (const Held& one : held()) {
        if (one.rank >= rank) {
            assertion_failed("locks are taken in their order", std::string("lock '") + std::string(name_of(rank)) +
                                                                   "' is to be taken while '" + std::string(name_of(one.rank)) +
                                                                   "' is held");
        }
    }
}

void HeldLocks::note_acquired(LockRank rank, const void* lock) {
    PARTITA_ASSERT(depth < kMaximumHeld, "a thread holds more locks at once than any path of ours needs");
    stack[depth++] = {.rank = rank, .lock = lock};
}

void HeldLocks::note_released(const void* lock) {
    const auto locks = held();
    const auto place = std::ranges::find(locks, lock, &Held::lock);
    PARTITA_ASSERT(place != locks.end(), "a lock is given back by a thread that does not hold it");
    std::move(place + 1, locks.end(), place);
    --depth;
}

void HeldLocks::check_held(LockRank rank, const void* lock) {
    if (!is_held(lock)) {
        assertion_failed("lock is held", std::string("what '") + std::string(name_of(rank)) + "' guards is used without it");
    }
}

void HeldLocks::check_only(const void* lock) {
    PARTITA_ASSERT(depth == 1 && is_held(lock), "a thread waits for a condition while it holds another lock");
}

}  // namespace partita
