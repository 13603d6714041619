#include "broker/catalog/client_quotas.h"

#include <gtest/gtest.h>

#include <chrono>
#include <limits>

#include "broker/catalog/catalog_records.h"
#include "tests/support/processor_time.h"
#include "tests/unit/catalog/catalog_fixture.h"

namespace partita::catalog {
namespace {

QuotaAlteration quota(QuotaEntity entity, std::vector<QuotaOperation> operations) {
    return {std::move(entity), std::move(operations)};
}

class ClientQuotas : public ::testing::Test {
  protected:
    AlterClientQuotasResult alter(std::vector<QuotaAlteration> alterations, bool validate_only = false) {
        return catalog_.carry_out(AlterClientQuotas{std::move(alterations), validate_only});
    }
    CatalogError alter_one(QuotaEntity entity, std::string_view key, std::optional<double> value) {
        return alter({quota(std::move(entity), {{key, value}})}).entities.front().error;
    }
    std::vector<DescribedQuotas> describe(std::vector<QuotaFilterComponent> filter, bool strict = false) {
        return describe_client_quotas(*catalog_.core().snapshot(), filter, strict).value();
    }
    CatalogError refused(std::vector<QuotaFilterComponent> filter) {
        return describe_client_quotas(*catalog_.core().snapshot(), filter, false).error();
    }
    static CatalogError invalid(std::string text) { return {ErrorCode::invalid_request, std::move(text)}; }

    TestCatalog catalog_;
};

TEST_F(ClientQuotas, SurviveARestartWithNamesOfAnyBytes) {
    const std::string odd = std::string("a=1:;\0x", 7);
    EXPECT_FALSE(alter_one({{"user", odd}, {"client-id", std::nullopt}}, "request_percentage", 12.5).failed());
    catalog_.restart();
    const auto described = describe({});
    ASSERT_EQ(described.size(), 1u);
    EXPECT_EQ(described[0].entity, (QuotaEntity{{"client-id", std::nullopt}, {"user", odd}}));
    EXPECT_EQ(described[0].values, (QuotaValues{{"request_percentage", 12.5}}));
}

TEST_F(ClientQuotas, AreGoneWhenTheLastKeyIsRemoved) {
    EXPECT_FALSE(alter_one({{"user", "u"}}, "producer_byte_rate", 1000).failed());
    EXPECT_FALSE(alter_one({{"user", "u"}}, "consumer_byte_rate", std::nullopt).failed());
    EXPECT_EQ(describe({}).size(), 1u);
    EXPECT_FALSE(alter_one({{"user", "u"}}, "producer_byte_rate", std::nullopt).failed());
    EXPECT_TRUE(describe({}).empty());
}

TEST_F(ClientQuotas, OfValidateOnlyAreNotKept) {
    EXPECT_FALSE(alter({quota({{"user", "u"}}, {{"producer_byte_rate", 5.0}})}, true).entities[0].error.failed());
    EXPECT_TRUE(describe({}).empty());
}

TEST_F(ClientQuotas, WithOneBadKeyChangeNothingOfTheirEntityButOthersAreKept) {
    const auto reply = alter({quota({{"user", "a"}}, {{"producer_byte_rate", 5.0}, {"foo", 1.0}}),
                              quota({{"user", "b"}}, {{"producer_byte_rate", 5.0}})});
    EXPECT_EQ(reply.entities[0].error, invalid("Invalid configuration key foo"));
    EXPECT_FALSE(reply.entities[1].error.failed());
    ASSERT_EQ(describe({}).size(), 1u);
    EXPECT_EQ(describe({})[0].entity, (QuotaEntity{{"user", "b"}}));
}

TEST_F(ClientQuotas, OfAnEntityThatComesTwiceKeepTheFirstAndAreAnsweredOnce) {
    const auto reply =
        alter({quota({{"user", "z"}}, {{"producer_byte_rate", 1.0}}), quota({{"user", "z"}}, {{"producer_byte_rate", 2.0}})});
    ASSERT_EQ(reply.entities.size(), 1u);
    EXPECT_EQ(reply.entities[0].error, invalid("Ignoring duplicate entity ClientQuotaEntity(entries={user=z})"));
    EXPECT_EQ(describe({})[0].values, (QuotaValues{{"producer_byte_rate", 1.0}}));
}

// The broker holds the catalog's lock meanwhile.
TEST_F(ClientQuotas, OfManyEntitiesAreJudgedInTimeThatGrowsWithTheirNumber) {
    std::vector<QuotaAlteration> alterations;
    for (int i = 0; i < 40'000; ++i) {
        alterations.push_back(quota({{"user", "user-" + std::to_string(i)}}, {{"producer_byte_rate", 1.0}}));
    }
    const auto before = test::processor_time_of_thread();
    EXPECT_EQ(alter(std::move(alterations), true).entities.size(), 40'000u);
    EXPECT_LT(test::processor_time_of_thread() - before, std::chrono::seconds(5));
}

TEST_F(ClientQuotas, StoredUnderWhatIsNoEntityAreDamage) {
    for (const std::string_view name :
         {"user", "user=", "user=1:", "user=1:a", "user=18446744073709551615:a;", "user=2:a;", "user=-1:;", "=x"}) {
        const TestConfigRules rules;
        CatalogCore core(rules);
        const Record record = configs_record(ConfigResourceType::client_quota, name, {{"producer_byte_rate", "1"}});
        EXPECT_FALSE(core.replay(as_bytes(record.key), as_bytes(*record.value)).has_value()) << name;
    }
}

TEST_F(ClientQuotas, AreRefusedWithKafkasTexts) {
    EXPECT_EQ(alter_one({}, "producer_byte_rate", 1), invalid("Invalid empty client quota entity"));
    EXPECT_EQ(alter_one({{"foo", "x"}}, "producer_byte_rate", 1), invalid("Unhandled client quota entity type: foo"));
    EXPECT_EQ(alter_one({{"user", ""}}, "producer_byte_rate", 1), invalid("Empty user not supported"));
    EXPECT_EQ(alter_one({{"user", "u"}}, "connection_creation_rate", 1),
              invalid("Invalid configuration key connection_creation_rate"));
    EXPECT_EQ(alter_one({{"ip", "127.0.0.1"}}, "producer_byte_rate", 1), invalid("Invalid configuration key producer_byte_rate"));
    EXPECT_EQ(alter_one({{"ip", "foo bar"}}, "connection_creation_rate", 1),
              invalid("foo bar is not a valid IP or resolvable host."));
    EXPECT_EQ(alter_one({{"ip", "::1"}, {"user", "u"}}, "connection_creation_rate", 1),
              invalid("Invalid quota entity combination, IP entity shouldnot be combined with User or ClientId"));
    EXPECT_EQ(alter_one({{"user", "u"}}, "producer_byte_rate", 0), invalid("Quota producer_byte_rate must be greater than 0"));
    EXPECT_EQ(alter_one({{"user", "u"}}, "producer_byte_rate", 1.5), invalid("producer_byte_rate cannot be a fractional value."));
    EXPECT_EQ(alter_one({{"user", "u"}}, "producer_byte_rate", 1e30),
              invalid("Proposed value for producer_byte_rate is too large for a LONG."));
    EXPECT_EQ(alter_one({{"ip", "::1"}}, "connection_creation_rate", 1e12),
              invalid("Proposed value for connection_creation_rate is too large for an INT."));
    EXPECT_TRUE(describe({}).empty());
}

TEST_F(ClientQuotas, TakeNumbersThatJavaTakesForWhole) {
    EXPECT_FALSE(alter_one({{"user", "u"}}, "producer_byte_rate", 1.0000001).failed());
    EXPECT_FALSE(alter_one({{"user", "u"}}, "consumer_byte_rate", std::numeric_limits<double>::quiet_NaN()).failed());
    EXPECT_FALSE(alter_one({{"user", "u"}}, "controller_mutation_rate", std::numeric_limits<double>::infinity()).failed());
}

TEST_F(ClientQuotas, AreFoundByNameByDefaultAndByAny) {
    alter_one({{"user", "u"}}, "producer_byte_rate", 1);
    alter_one({{"user", std::nullopt}}, "producer_byte_rate", 2);
    alter_one({{"user", "u"}, {"client-id", "c"}}, "producer_byte_rate", 3);
    EXPECT_EQ(describe({{"user", 0, "u"}}).size(), 2u);
    EXPECT_EQ(describe({{"user", 0, "u"}}, true).size(), 1u);
    EXPECT_EQ(describe({{"user", 1, std::nullopt}}).size(), 1u);
    EXPECT_EQ(describe({{"user", 2, std::nullopt}}).size(), 3u);
    EXPECT_EQ(describe({{"client-id", 2, std::nullopt}, {"user", 2, std::nullopt}}, true).size(), 1u);
    EXPECT_EQ(describe({}).size(), 3u);
    EXPECT_TRUE(describe({}, true).empty());
}

TEST_F(ClientQuotas, FiltersAreRefusedWithKafkasTexts) {
    EXPECT_EQ(refused({{"", 0, "x"}}), invalid("Invalid empty entity type."));
    EXPECT_EQ(refused({{"foo", 0, "x"}}), (CatalogError{ErrorCode::unsupported_version, "Unsupported entity type foo"}));
    EXPECT_EQ(refused({{"user", 0, "a"}, {"user", 0, "b"}}),
              invalid("Entity type user cannot appear more than once in the filter."));
    EXPECT_EQ(refused({{"user", 5, "a"}}), invalid("Unknown match type 5"));
    EXPECT_EQ(refused({{"user", 0, std::nullopt}}), invalid("Request specified MATCH_TYPE_EXACT, but set match string to null."));
    EXPECT_EQ(refused({{"user", 1, "a"}}), invalid("Request specified MATCH_TYPE_DEFAULT, but also specified a match string."));
    EXPECT_EQ(refused({{"user", 0, "a"}, {"ip", 0, "::1"}}),
              invalid("Invalid entity filter component combination. IP filter component should not be used with user or "
                      "clientId filter component."));
}

}  // namespace
}  // namespace partita::catalog
