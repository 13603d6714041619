#include "broker/client/waiting.h"

#include <poll.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <limits>
#include <string>
#include <system_error>

namespace partita::client {
namespace {

std::unexpected<TransportFailure> wait_failed(TransportFailure::Kind kind, int error) {
    return std::unexpected(TransportFailure{kind, std::generic_category().message(error)});
}

}  // namespace

std::expected<void, TransportFailure> wait_for(int descriptor, short events, Instant deadline, Clock& clock, int interruption) {
    // The longest wait of one poll call: its argument is an int.
    constexpr std::int64_t kPollMsMax = std::numeric_limits<int>::max();
    while (true) {
        const std::int64_t left = deadline - clock.now().monotonic;
        // poll ignores a descriptor of -1.
        pollfd waited[] = {{descriptor, events, 0}, {interruption, POLLIN, 0}};
        const int ready = ::poll(waited, 2, static_cast<int>(std::clamp<std::int64_t>(left, 0, kPollMsMax)));
        if (ready > 0 && waited[0].revents != 0) {
            return {};
        }
        if (ready > 0) {
            return wait_failed(TransportFailure::Kind::interrupted, EINTR);
        }
        if (ready < 0 && errno != EINTR) {
            return wait_failed(TransportFailure::Kind::broken, errno);
        }
        if (ready == 0 && left <= kPollMsMax) {
            return wait_failed(TransportFailure::Kind::timed_out, ETIMEDOUT);
        }
    }
}

}  // namespace partita::client
