#include "broker/runtime/insight/fenced_reads.h"

namespace partita::runtime {

void FencedReads::watch(std::span<const ownership::ReadPlace> places) {
    const MutexLock lock(mutex_);
    notes_.watch(places);
    mask_.store(notes_.mask(), std::memory_order_relaxed);
}

std::vector<ownership::SeenRead> FencedReads::take() {
    const MutexLock lock(mutex_);
    return notes_.take();
}

void FencedReads::note(const ownership::ReadPlace& place, expansion::ConnectionId connection, Offset from, TimestampMs now) {
    const MutexLock lock(mutex_);
    notes_.note(place, connection, from, now);
}

}  // namespace partita::runtime
