#include "broker/net/refused_connections.h"

#include <unistd.h>

namespace partita::net {

void RefusedConnections::hold(Socket socket, Instant now, std::int64_t wait_ms) {
    boost::system::error_code error;
    const int descriptor = socket.release(error);
    if (error) {
        return;  // The socket closes itself.
    }
    if (held_.size() == kHeldMax) {
        close_first();
    }
    held_.emplace(now + wait_ms, descriptor);
    wait_for_next();
}

void RefusedConnections::wait_for_next() {
    if (held_.empty()) {
        return;
    }
    timer_.start(held_.begin()->first, [this] {
        const Instant reached = reactor_.machine_now();
        while (!held_.empty() && held_.begin()->first <= reached) {
            close_first();
        }
        wait_for_next();
    });
}

void RefusedConnections::close_first() {
    ::close(held_.begin()->second);
    held_.erase(held_.begin());
}

void RefusedConnections::close_all() {
    timer_.cancel();
    while (!held_.empty()) {
        close_first();
    }
}

}  // namespace partita::net
