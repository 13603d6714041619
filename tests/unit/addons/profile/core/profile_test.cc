// Tests the facts of the service one by one, as docs/eventhubs.md lists them.

#include "broker/addons/profile/core/profile.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>

namespace partita::profile {
namespace {

Profile profile_of(Tier tier, std::int32_t units = 1) { return Profile({.tier = tier, .units = units}); }

std::map<std::string, std::string> presets_of(Tier tier, std::int32_t units = 0) {
    std::map<std::string, std::string> found;
    for (const Preset& preset : presets(tier, units)) {
        EXPECT_TRUE(found.emplace(preset.name, preset.value).second) << preset.name;
    }
    return found;
}

TEST(EventHubs, OffersTheVersionsThatWereSeen) {
    struct Row {
        std::int16_t key, first, last;
    };
    // Produce to DeleteGroups, as the endpoint told a client in November 2023.
    constexpr Row kSeen[] = {{0, 3, 7},  {1, 4, 6},  {2, 0, 7},  {3, 0, 5},  {8, 0, 8},  {9, 0, 8},  {10, 0, 4}, {11, 0, 7},
                             {12, 0, 4}, {13, 0, 4}, {14, 0, 5}, {15, 0, 5}, {16, 0, 4}, {17, 0, 1}, {18, 0, 3}, {19, 0, 6},
                             {20, 0, 2}, {22, 0, 1}, {23, 0, 0}, {32, 0, 2}, {36, 0, 1}, {37, 0, 1}, {42, 0, 2}};
    std::size_t seen = 0;
    for (const OfferedApi& offered : offered_apis()) {
        if (offered.is_of_transactions) {
            continue;
        }
        ASSERT_LT(seen, std::size(kSeen));
        EXPECT_EQ(static_cast<std::int16_t>(offered.key), kSeen[seen].key);
        EXPECT_EQ(offered.versions, (Versions{kSeen[seen].first, kSeen[seen].last})) << kSeen[seen].key;
        ++seen;
    }
    EXPECT_EQ(seen, std::size(kSeen));
    EXPECT_TRUE(std::ranges::is_sorted(offered_apis(), {}, &OfferedApi::key));
}

TEST(EventHubs, WhatKafkaHasDroppedMeanwhileIsNotOffered) {
    const Profile profile = profile_of(Tier::standard);
    for (const OfferedApi& offered : offered_apis()) {
        if (offered.is_of_transactions) {
            continue;
        }
        const auto versions = profile.versions_of(offered.key);
        const Versions ours = find_api(offered.key)->versions;
        if (offered.key == ApiKey::offset_for_leader_epoch) {
            // The service has version 0 alone, which Kafka 4 no longer speaks.
            EXPECT_FALSE(versions);
            continue;
        }
        ASSERT_TRUE(versions) << api_name(offered.key);
        EXPECT_EQ(versions->first, std::max(offered.versions.first, ours.first)) << api_name(offered.key);
        EXPECT_EQ(versions->last, offered.versions.last) << api_name(offered.key);
    }
}

TEST(EventHubs, OffersNoOtherApi) {
    for (const ApiKey missing : {ApiKey::describe_acls, ApiKey::create_acls, ApiKey::delete_acls, ApiKey::alter_configs,
                                 ApiKey::incremental_alter_configs, ApiKey::describe_log_dirs, ApiKey::alter_replica_log_dirs,
                                 ApiKey::elect_leaders, ApiKey::create_delegation_token, ApiKey::renew_delegation_token,
                                 ApiKey::expire_delegation_token, ApiKey::describe_delegation_token, ApiKey::delete_records,
                                 ApiKey::consumer_group_heartbeat, ApiKey::describe_cluster, ApiKey::write_txn_markers}) {
        for (const Tier tier : {Tier::basic, Tier::standard, Tier::premium, Tier::dedicated}) {
            EXPECT_FALSE(profile_of(tier).versions_of(missing)) << api_name(missing);
        }
    }
    for (const ApiInfo& api : all_apis()) {
        const bool is_offered = std::ranges::find(offered_apis(), api.key, &OfferedApi::key) != offered_apis().end();
        EXPECT_TRUE(is_offered || !profile_of(Tier::dedicated).versions_of(api.key)) << api.name;
    }
}

TEST(EventHubs, HasTransactionsInPremiumAndDedicatedOnly) {
    for (const ApiKey key :
         {ApiKey::add_partitions_to_txn, ApiKey::add_offsets_to_txn, ApiKey::end_txn, ApiKey::txn_offset_commit}) {
        EXPECT_FALSE(profile_of(Tier::basic).versions_of(key)) << api_name(key);
        EXPECT_FALSE(profile_of(Tier::standard).versions_of(key)) << api_name(key);
        EXPECT_EQ(profile_of(Tier::premium).versions_of(key), (Versions{0, 3})) << api_name(key);
        EXPECT_EQ(profile_of(Tier::dedicated).versions_of(key), (Versions{0, 3})) << api_name(key);
    }
    EXPECT_FALSE(profile_of(Tier::standard).has_transactions());
    EXPECT_TRUE(profile_of(Tier::premium).has_transactions());
}

TEST(EventHubs, TakesGzipInPremiumAndDedicatedAndNoOtherCodec) {
    for (const Tier tier : {Tier::basic, Tier::standard, Tier::premium, Tier::dedicated}) {
        const Profile profile = profile_of(tier);
        EXPECT_TRUE(profile.accepts(Codec::none));
        EXPECT_EQ(profile.accepts(Codec::gzip), tier == Tier::premium || tier == Tier::dedicated) << tier_name(tier);
        for (const Codec other : {Codec::snappy, Codec::lz4, Codec::zstd}) {
            EXPECT_FALSE(profile.accepts(other)) << tier_name(tier);
        }
    }
}

TEST(EventHubs, EndsTheConnectionOfWhatIsNotOffered) {
    const Profile profile = profile_of(Tier::standard);
    EXPECT_FALSE(profile.objection_to(ApiKey::produce, 3));
    EXPECT_FALSE(profile.objection_to(ApiKey::produce, 7));
    EXPECT_EQ(profile.objection_to(ApiKey::produce, 8),
              "Produce version 8 is not offered by the standard tier of the profile eventhubs");
    EXPECT_TRUE(profile.objection_to(ApiKey::create_acls, 2));
    EXPECT_FALSE(profile.objection_to(ApiKey::api_versions, 3));
    EXPECT_TRUE(profile.objection_to(ApiKey::api_versions, 4));
}

TEST(EventHubs, MayAnswerNewerApiVersionsInstead) {
    const Profile profile({.tier = Tier::standard, .units = 1, .answers_newer_api_versions = true});
    EXPECT_FALSE(profile.objection_to(ApiKey::api_versions, 4));
    EXPECT_TRUE(profile.objection_to(ApiKey::api_versions, -1));
    EXPECT_TRUE(profile.objection_to(ApiKey::metadata, 6));
}

TEST(EventHubs, LimitsOfTiersAreThoseOfItsTables) {
    struct Row {
        Tier tier;
        std::int32_t units;
        NamespaceLimits limits;
    };
    constexpr std::int64_t kDayMs = 86'400'000;
    for (const Row& row :
         {Row{Tier::basic, 1, {10, 32, 320, kDayMs, false}}, Row{Tier::standard, 1, {10, 32, 320, 7 * kDayMs, false}},
          Row{Tier::standard, 40, {10, 32, 320, 7 * kDayMs, false}}, Row{Tier::premium, 1, {100, 100, 200, 90 * kDayMs, true}},
          Row{Tier::premium, 3, {300, 100, 600, 90 * kDayMs, true}},
          Row{Tier::dedicated, 1, {1000, 1024, 2000, 90 * kDayMs, true}},
          Row{Tier::dedicated, 2, {1000, 1024, 4000, 90 * kDayMs, true}}}) {
        const NamespaceLimits limits = profile_of(row.tier, row.units).limits();
        const std::string which = std::string(tier_name(row.tier)) + " " + std::to_string(row.units);
        EXPECT_EQ(limits.topics, row.limits.topics) << which;
        EXPECT_EQ(limits.partitions_of_topic, row.limits.partitions_of_topic) << which;
        EXPECT_EQ(limits.partitions, row.limits.partitions) << which;
        EXPECT_EQ(limits.retention_ms, row.limits.retention_ms) << which;
        EXPECT_EQ(limits.adds_partitions, row.limits.adds_partitions) << which;
    }
}

TEST(EventHubs, PresetsAreWhatItsClientsAreToldToStayBelow) {
    for (const Tier tier : {Tier::basic, Tier::standard, Tier::premium, Tier::dedicated}) {
        auto preset = presets_of(tier);
        EXPECT_EQ(preset["connections.max.idle.ms"], "240000");
        EXPECT_EQ(preset["socket.request.max.bytes"], "1046528");
        EXPECT_EQ(preset["offset.metadata.max.bytes"], "1024");
        EXPECT_EQ(preset["group.min.session.timeout.ms"], "6000");
        EXPECT_EQ(preset["group.max.session.timeout.ms"], "300000");
        EXPECT_EQ(preset["partita.capacity.units"], "1");
        EXPECT_EQ(preset["sasl.enabled.mechanisms"], "PLAIN");
        EXPECT_EQ(preset["partita.events.topic.enable"], "false");
        EXPECT_EQ(preset["message.max.bytes"], tier == Tier::basic ? "262144" : "1048576");
        EXPECT_EQ(preset["log.retention.hours"], tier == Tier::basic ? "24" : "168");
    }
}

TEST(EventHubs, ConnectionsGrowWithTheUnitsOfPremiumAndDedicated) {
    EXPECT_EQ(presets_of(Tier::basic, 40)["max.connections"], "100");
    EXPECT_EQ(presets_of(Tier::standard, 40)["max.connections"], "5000");
    EXPECT_EQ(presets_of(Tier::premium)["max.connections"], "10000");
    EXPECT_EQ(presets_of(Tier::premium, 16)["max.connections"], "160000");
    EXPECT_EQ(presets_of(Tier::dedicated, 20)["max.connections"], "2000000");
    EXPECT_EQ(presets_of(Tier::dedicated, -5)["max.connections"], "100000");
    EXPECT_EQ(presets_of(Tier::dedicated, 2'000'000'000)["max.connections"], "2147483647");
}

TEST(EventHubs, ThrottlesBasicAndStandardOnly) {
    for (const Tier tier : {Tier::basic, Tier::standard}) {
        EXPECT_FALSE(presets_of(tier).contains("partita.capacity.unit.ingress.bytes"));
    }
    for (const Tier tier : {Tier::premium, Tier::dedicated}) {
        for (const char* rate : {"ingress.bytes", "ingress.events", "egress.bytes", "egress.events"}) {
            EXPECT_EQ(presets_of(tier)["partita.capacity.unit." + std::string(rate)], "0");
        }
    }
}

TEST(EventHubs, ATierHasOneUnitAtLeastAndItsMaximumAtMost) {
    struct Row {
        Tier tier;
        std::int32_t most;
    };
    for (const Row& row : {Row{Tier::basic, 40}, Row{Tier::standard, 40}, Row{Tier::premium, 16}, Row{Tier::dedicated, 20}}) {
        EXPECT_TRUE(objection(row.tier, {.units = -1}));
        EXPECT_TRUE(objection(row.tier, {.units = 0}));
        EXPECT_FALSE(objection(row.tier, {.units = 1}));
        EXPECT_FALSE(objection(row.tier, {.units = row.most}));
        EXPECT_TRUE(objection(row.tier, {.units = row.most + 1}));
    }
    EXPECT_EQ(objection(Tier::premium, {.units = 17}),
              "partita.capacity.units is 17: the premium tier of the profile eventhubs has 1 to 16 units");
}

TEST(EventHubs, OnlyStandardGetsMoreUnitsByItself) {
    EXPECT_FALSE(objection(Tier::standard, {.units = 1, .units_max = 40}));
    EXPECT_TRUE(objection(Tier::standard, {.units = 1, .units_max = 41}));
    for (const Tier tier : {Tier::basic, Tier::premium, Tier::dedicated}) {
        EXPECT_FALSE(objection(tier, {.units = 1, .units_max = 0}));
        EXPECT_TRUE(objection(tier, {.units = 1, .units_max = 2})) << tier_name(tier);
    }
}

TEST(EventHubs, NothingIsKeptForLongerThanItsTierDoes) {
    constexpr std::int64_t kDayMs = 86'400'000;
    struct Row {
        Tier tier;
        std::int64_t days;
    };
    for (const Row& row : {Row{Tier::basic, 1}, Row{Tier::standard, 7}, Row{Tier::premium, 90}, Row{Tier::dedicated, 90}}) {
        EXPECT_FALSE(objection(row.tier, {.units = 1, .retention_ms = row.days * kDayMs}));
        EXPECT_TRUE(objection(row.tier, {.units = 1, .retention_ms = row.days * kDayMs + 1})) << tier_name(row.tier);
        EXPECT_TRUE(objection(row.tier, {.units = 1, .retention_ms = -1})) << tier_name(row.tier);
    }
}

TEST(EventHubs, AGroupHasANameOf256BytesAtMost) {
    const Profile profile = profile_of(Tier::standard);
    EXPECT_TRUE(profile.accepts_group(std::string(256, 'g')));
    EXPECT_FALSE(profile.accepts_group(std::string(257, 'g')));
}

TEST(EventHubs, TheBasicTierHasNoKafkaEndpoint) {
    EXPECT_FALSE(profile_of(Tier::basic).has_kafka_endpoint());
    for (const Tier tier : {Tier::standard, Tier::premium, Tier::dedicated}) {
        EXPECT_TRUE(profile_of(tier).has_kafka_endpoint());
    }
}

TEST(EventHubs, TiersHaveNames) {
    for (const Tier tier : {Tier::basic, Tier::standard, Tier::premium, Tier::dedicated}) {
        EXPECT_EQ(parse_tier(tier_name(tier)), tier);
    }
    EXPECT_FALSE(parse_tier("gold"));
    EXPECT_FALSE(parse_tier("Standard"));
    EXPECT_FALSE(parse_tier(""));
}

}  // namespace
}  // namespace partita::profile
