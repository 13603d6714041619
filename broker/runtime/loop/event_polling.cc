#include "broker/runtime/loop/event_polling.h"

#include <algorithm>

namespace partita::runtime {

bool EventPolling::is_worthwhile() const {
    if (waits_until_poll_ > 0 || std::ranges::count(was_short_, true) < kShortWaitsNeeded) {
        return false;
    }
    std::size_t clients = 0;
    for (auto client = clients_.begin(); client != clients_.end(); ++client) {
        clients += std::find(clients_.begin(), client, *client) == client ? 1 : 0;
    }
    return clients <= kClientsMax;
}

void EventPolling::note_wait(Wait wait, std::int64_t waited_ns) {
    if (waits_until_poll_ > 0) {
        --waits_until_poll_;
    }
    if (wait == Wait::polled) {
        pause_waits_ = std::max(pause_waits_ / 2, kPauseWaitsMin);
    }
    if (wait == Wait::polled_in_vain) {
        waits_until_poll_ = pause_waits_;
        pause_waits_ = std::min(pause_waits_ * 2, kPauseWaitsMax);
    }
    was_short_[next_wait_] = wait == Wait::polled || (wait == Wait::slept && waited_ns <= kShortWaitNs);
    next_wait_ = (next_wait_ + 1) % kWaitsRemembered;
}

void EventPolling::note_reply(std::uint64_t client) {
    clients_[next_client_] = client;
    next_client_ = (next_client_ + 1) % kRepliesRemembered;
}

}  // namespace partita::runtime
