#include "broker/insight/findings/capacity_findings.h"

#include <gtest/gtest.h>

namespace partita::insight {
namespace {

TEST(CapacityFindings, SayFromWhatToWhatAndWhoDidIt) {
    const Finding set = capacity_changed({.units_before = 0, .units = 1});
    EXPECT_EQ(set.id, HazardId::capacity_changed);
    EXPECT_EQ(set.severity, Severity::info);
    EXPECT_EQ(set.condition, "Capacity went from no limit to 1 unit, by a request.");
    EXPECT_EQ(set.numbers, (std::vector<FindingNumber>{{"units_before", 0}, {"units", 1}, {"automatic", 0}}));
    const Finding raised = capacity_changed({.units_before = 1, .units = 3, .is_automatic = true});
    EXPECT_EQ(
        raised.condition,
        "Capacity went from 1 unit to 3 units, because clients had to wait for it (partita.capacity.units.max allows that).");
    EXPECT_EQ(raised.numbers, (std::vector<FindingNumber>{{"units_before", 1}, {"units", 3}, {"automatic", 1}}));
}

}  // namespace
}  // namespace partita::insight
