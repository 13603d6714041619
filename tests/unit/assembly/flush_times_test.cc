// Tests when a whole broker has producers' records on the device, by a clock that no machine disturbs.

#include <gtest/gtest.h>

#include "broker/runtime/upkeep/background_sync.h"
#include "tests/unit/assembly/configured_broker.h"

namespace partita::test {
namespace {

TEST(FlushTimes, FlushMsShortensTheBackgroundSync) {
    ConfiguredBroker broker({});
    constexpr std::int64_t kMuchShorterMs = 100;
    static_assert(kMuchShorterMs < runtime::BackgroundSync::kIntervalMs / 2);
    EXPECT_TRUE(broker.syncs_within(kMuchShorterMs, {{.name = "flush.ms", .value = "20"}}));
    EXPECT_FALSE(broker.syncs_within(kMuchShorterMs, {}));
    EXPECT_TRUE(broker.syncs_within(2 * runtime::BackgroundSync::kIntervalMs, {}));
}

}  // namespace
}  // namespace partita::test
