#include <gtest/gtest.h>

#include "tests/unit/topics/catalog_fixture.h"

namespace partita::topics {
namespace {

const CatalogError kRefusal{ErrorCode::policy_violation, "not now"};

CatalogError expand(TestCatalog& catalog, std::int32_t count, bool validate_only, int& asked) {
    CreatePartitionsCommand command;
    command.topics.push_back({"orders", count, std::nullopt});
    command.validate_only = validate_only;
    command.judge = [&](const Topic& topic, std::int32_t new_count) {
        ++asked;
        EXPECT_EQ(topic.name, "orders");
        return new_count == 8 ? kRefusal : CatalogError{};
    };
    return catalog.carry_out(catalog.core().create_partitions(command, catalog.context())).topics.at(0).error;
}

TEST(JudgedExpansion, RefusalReachesTheClientAndNothingChanges) {
    TestCatalog catalog;
    catalog.create("orders", 6);
    int asked = 0;
    EXPECT_EQ(expand(catalog, 8, false, asked), kRefusal);
    EXPECT_TRUE(catalog.last_effects.empty());
    EXPECT_EQ(expand(catalog, 12, false, asked).code, ErrorCode::none);
    EXPECT_EQ(catalog.catalog().find_topic("orders")->partition_count, 12);
    EXPECT_EQ(asked, 2);
}

TEST(JudgedExpansion, ValidateOnlyAnswersTheVerdict) {
    TestCatalog catalog;
    catalog.create("orders", 6);
    int asked = 0;
    EXPECT_EQ(expand(catalog, 8, true, asked), kRefusal);
    EXPECT_EQ(asked, 1);
}

TEST(JudgedExpansion, WhatKafkaRefusesIsNotJudged) {
    TestCatalog catalog;
    catalog.create("orders", 6);
    int asked = 0;
    EXPECT_EQ(expand(catalog, 6, false, asked).code, ErrorCode::invalid_partitions);
    EXPECT_EQ(asked, 0);
}

}  // namespace
}  // namespace partita::topics
