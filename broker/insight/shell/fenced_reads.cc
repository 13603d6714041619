#include "broker/insight/shell/fenced_reads.h"

namespace partita::insight {

// Only one thread may watch at a time: two could leave each other's mask.
void FencedReads::watch(std::span<const ReadPlace> places) {
    const std::uint64_t mask = notes_.watch_reads(places);
    mask_.store(mask, std::memory_order_relaxed);
    watching_.set(mask != 0);
}

std::vector<SeenRead> FencedReads::take() { return notes_.take_reads(); }

void FencedReads::note(const ReadPlace& place, ConnectionId connection, Offset from, TimestampMs now) {
    notes_.note_read(place, connection, from, now);
}

}  // namespace partita::insight
