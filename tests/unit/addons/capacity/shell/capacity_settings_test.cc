#include "broker/addons/capacity/shell/capacity_settings.h"

#include <gtest/gtest.h>

#include <limits>

#include "broker/config/config_definition.h"

namespace partita::capacity {
namespace {

double most(std::string_view name) { return config::find_broker_config(name)->validator.maximum.value(); }

TEST(CapacitySettings, AreThoseOfTheServicesUnitAndOff) {
    const CapacitySettings settings = capacity_settings(config::BrokerConfig());
    EXPECT_FALSE(settings.is_limited());
    EXPECT_EQ(settings.ingress, (Load{1'000'000, 1'000}));
    EXPECT_EQ(settings.egress, (Load{2'000'000, 4'096}));
    EXPECT_EQ(settings.commits_per_second, 4);
    EXPECT_EQ(settings.inflate, (AutoInflate::Rule{.units_max = 0, .after_ms = 5'000}));
}

TEST(CapacitySettings, ConfigsTakeAsMuchAsMetersCountWithAndNoMore) {
    EXPECT_EQ(most(kUnitsConfig), kUnitsMax);
    EXPECT_EQ(most(kUnitsMaxConfig), kUnitsMax);
    for (const char* name : {"partita.capacity.unit.ingress.bytes", "partita.capacity.unit.ingress.events",
                             "partita.capacity.unit.egress.bytes", "partita.capacity.unit.egress.events"}) {
        EXPECT_EQ(most(name), kPerUnitMax) << name;
    }
    EXPECT_EQ(most("partita.capacity.inflate.after.ms"), kLongestWaitMs);
}

TEST(CapacitySettings, TheMostOfEverythingIsMeteredWithoutAnOverflow) {
    const auto broker = config::BrokerConfig::from({{"partita.capacity.units", "1000"},
                                                    {"partita.capacity.unit.ingress.bytes", "1000000000"},
                                                    {"partita.capacity.unit.ingress.events", "1000000000"}});
    ASSERT_TRUE(broker.has_value());
    const CapacitySettings settings = capacity_settings(*broker);
    CapacityMeter meter;
    const Load rate{settings.ingress.bytes * settings.units, settings.ingress.events * settings.units};
    meter.set_rate(rate, Instant{0});
    EXPECT_TRUE(
        meter.admit({rate.bytes * 600, rate.events * 600}, std::numeric_limits<std::int64_t>::max(), Instant{0}).is_taken);
    EXPECT_GT(meter.owed_ms(Instant{0}), 0);
    EXPECT_FALSE(meter.admit({std::numeric_limits<std::int64_t>::max(), 1}, kLongestWaitMs, Instant{0}).is_taken);
    EXPECT_EQ(meter.owed_ms(Instant{kLongestWaitMs}), 0);
}

}  // namespace
}  // namespace partita::capacity
