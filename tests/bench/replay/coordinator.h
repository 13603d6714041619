#pragma once

#include <cstdint>
#include <string_view>

#include "tests/bench/replay/wire.h"

namespace partita::bench {

/// Returns when the group's coordinator can be asked: a broker that has to make its internal topic first needs a moment.
void wait_for_coordinator(Connection& connection, std::string_view group_id);

struct ProducerIdentity {
    std::int64_t id = -1;
    std::int16_t epoch = -1;
};

/// An idempotent producer's. Waits for a broker that has to fetch a block of ids from its controller first.
[[nodiscard]] ProducerIdentity new_producer(Connection& connection);

}  // namespace partita::bench
