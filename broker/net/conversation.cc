#include "broker/net/conversation.h"

#include <algorithm>
#include <utility>

#include "protocol/assert.h"

namespace partita::net {

void Conversation::park(std::uint64_t slot) {
    if (!replies_.is_filled(slot)) {
        parked_slot_ = slot;
    }
}

Instant Conversation::rest(Instant until) {
    rests_until_ = std::max(rests_until_, until);
    return rests_until_;
}

void Conversation::advance(Instant now) {
    if (rests_until_ <= now) {
        rests_until_ = kNotResting;
    }
}

void Conversation::serve_no_more() {
    PARTITA_ASSERT(phase_ == Phase::open, "a request is served while the conversation is open");
    phase_ = Phase::ending;
}

bool Conversation::fill(std::uint64_t slot, runtime::Reply&& reply) {
    if (is_over() || !replies_.fill(slot, std::move(reply))) {
        return false;
    }
    if (slot == parked_slot_) {
        parked_slot_ = kNone;
    }
    return true;
}

void Conversation::prepare_to_leave() {
    if (phase_ == Phase::open) {
        phase_ = Phase::leaving;
    }
}

std::unique_ptr<ReadBuffer> Conversation::leave() {
    PARTITA_ASSERT(may_leave(), "a connection leaves between two requests");
    phase_ = Phase::over;
    return reader_.take_buffer();
}

void Conversation::end(BufferPool& pool) {
    phase_ = Phase::over;
    reader_.release(pool);
}

}  // namespace partita::net
