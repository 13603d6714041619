#include <gtest/gtest.h>

#include "tests/unit/catalog/catalog_fixture.h"

namespace partita::catalog {
namespace {

const CatalogError kRefusal{ErrorCode::policy_violation, "not now"};

CatalogError expand(TestCatalog& catalog, std::int32_t count, bool validate_only, const JudgedExpansion& judged) {
    CreatePartitions command;
    command.topics.push_back({"orders", count, std::nullopt, &judged});
    command.validate_only = validate_only;
    return catalog.carry_out(command).topics.at(0).error;
}

TEST(JudgedExpansion, RefusalReachesTheClientAndNothingChanges) {
    TestCatalog catalog;
    catalog.create("orders", 6);
    EXPECT_EQ(expand(catalog, 8, false, {kRefusal, nullptr}), kRefusal);
    EXPECT_TRUE(catalog.last_effects.empty());
    EXPECT_EQ(expand(catalog, 12, false, {}).code, ErrorCode::none);
    EXPECT_EQ(catalog.catalog().find_topic("orders")->partition_count, 12);
}

TEST(JudgedExpansion, ValidateOnlyAnswersTheVerdict) {
    TestCatalog catalog;
    catalog.create("orders", 6);
    EXPECT_EQ(expand(catalog, 8, true, {kRefusal, nullptr}), kRefusal);
}

TEST(JudgedExpansion, WhatKafkaRefusesIsRefusedWithKafkasError) {
    TestCatalog catalog;
    catalog.create("orders", 6);
    EXPECT_EQ(expand(catalog, 6, false, {kRefusal, nullptr}).code, ErrorCode::invalid_partitions);
}

TEST(JudgedExpansion, CircumstancesBeyondTheBoundsAreCut) {
    ExpansionCircumstances known;
    known.mode = std::string(2 * ExpansionCircumstances::kTextBytesMax, 'm');
    known.findings.assign(ExpansionCircumstances::kFindingsMax + 1, "H01");
    known.groups.assign(ExpansionCircumstances::kGroupsMax + 1, {"g", "Empty", 0, 0, 0});
    known.seeded_groups.assign(ExpansionCircumstances::kGroupsMax + 1, "g");
    const auto bounded = bounded_circumstances(known);
    EXPECT_EQ(bounded->mode.size(), ExpansionCircumstances::kTextBytesMax);
    EXPECT_EQ(bounded->findings.size(), ExpansionCircumstances::kFindingsMax);
    EXPECT_EQ(bounded->groups.size(), ExpansionCircumstances::kGroupsMax);
    EXPECT_EQ(bounded->group_count, static_cast<std::int32_t>(ExpansionCircumstances::kGroupsMax) + 1);
    EXPECT_EQ(bounded->seeded_groups.size(), ExpansionCircumstances::kGroupsMax);
}

}  // namespace
}  // namespace partita::catalog
