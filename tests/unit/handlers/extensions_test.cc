#include "broker/handlers/extensions.h"

#include <gtest/gtest.h>

namespace partita::handlers {
namespace {

struct Meter {
    int units = 0;
};
struct Writer {
    int files = 0;
};

TEST(AddedParts, AreFoundByTheirType) {
    AddedParts parts;
    EXPECT_EQ(parts.find<Meter>(), nullptr);
    Meter meter{.units = 2};
    Writer writer{.files = 3};
    parts.add(meter);
    parts.add(writer);
    EXPECT_EQ(parts.find<Meter>(), &meter);
    EXPECT_EQ(&parts.get<Writer>(), &writer);
    EXPECT_EQ(parts.find<int>(), nullptr);
}

TEST(AddedParts, AreThereOnceAndAskedForWhereTheyAre) {
    AddedParts parts;
    Meter meter;
    EXPECT_DEATH((void)parts.get<Meter>(), "belongs to the addon");
    parts.add(meter);
    EXPECT_DEATH(parts.add(meter), "added once");
}

}  // namespace
}  // namespace partita::handlers
