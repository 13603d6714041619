#include "broker/insight/shell/fenced_reads.h"

namespace partita::runtime {

// Two that watch at once, of which there are none, could leave the mask of the other.
void FencedReads::watch(std::span<const insight::ReadPlace> places) {
    const std::uint64_t mask = notes_.watch_reads(places);
    mask_.store(mask, std::memory_order_relaxed);
    watching_.set(mask != 0);
}

std::vector<insight::SeenRead> FencedReads::take() { return notes_.take_reads(); }

void FencedReads::note(const insight::ReadPlace& place, insight::ConnectionId connection, Offset from, TimestampMs now) {
    notes_.note_read(place, connection, from, now);
}

}  // namespace partita::runtime
