#pragma once

#include <string_view>

#include "tests/bench/replay/wire.h"

namespace partita::bench {

/// Returns when the group's coordinator can be asked: a broker that has to make its internal topic first needs a moment.
void wait_for_coordinator(Connection& connection, std::string_view group_id);

}  // namespace partita::bench
