#include "broker/config/client_metrics_config.h"

#include <gtest/gtest.h>

namespace partita::config {
namespace {

const auto kAnyRegex = [](std::string_view text) { return text != "["; };

ConfigError refusal(ConfigMap overrides, std::string_view name = "m") {
    const auto judged = validate_client_metrics_configs(name, overrides, kAnyRegex);
    return judged ? ConfigError{ErrorCode::none, ""} : judged.error();
}

TEST(ClientMetricsConfig, ValuesAreRefusedWithKafkasCodesAndTexts) {
    EXPECT_EQ(refusal({}, ""), (ConfigError{ErrorCode::invalid_request, "Subscription name can't be empty"}));
    EXPECT_EQ(refusal({{"foo", "1"}}), (ConfigError{ErrorCode::invalid_request, "Unknown client metrics configuration: foo"}));
    for (const std::string text : {"99", "3600001"}) {
        EXPECT_EQ(refusal({{"interval.ms", text}}),
                  (ConfigError{ErrorCode::invalid_request, "Invalid value " + text +
                                                               " for interval.ms, interval must be between 100 and "
                                                               "3600000 (1 hour)"}));
    }
    EXPECT_EQ(
        refusal({{"interval.ms", "x"}}),
        (ConfigError{ErrorCode::invalid_config, "Invalid value x for configuration interval.ms: Not a number of type INT"}));
    for (const std::string text : {"foo=bar", "client_id", "client_id=["}) {
        EXPECT_EQ(refusal({{"match", text}}),
                  (ConfigError{ErrorCode::invalid_config, "Illegal client matching pattern: " + text}));
    }
}

TEST(ClientMetricsConfig, SelectorsAndBoundsOfKafkaAreAccepted) {
    EXPECT_EQ(refusal({{"interval.ms", "100"},
                       {"match", "client_id=a.*,client_software_name=apache-.*,client_source_port=9.+"},
                       {"metrics", "*"}})
                  .code,
              ErrorCode::none);
    EXPECT_EQ(refusal({{"interval.ms", "3600000"}}).code, ErrorCode::none);
}

TEST(ClientMetricsConfig, SubscriptionWithoutConfigsIsDescribedByItsDefaults) {
    const auto entries = describe_client_metrics_configs({{"metrics", "a,b"}}, {.include_synonyms = true});
    ASSERT_EQ(entries.size(), 3u);
    EXPECT_EQ(entries[0].value, "300000");
    EXPECT_EQ(entries[0].source, ConfigSource::default_config);
    EXPECT_TRUE(entries[0].synonyms.empty());
    EXPECT_EQ(entries[2].value, "a,b");
    EXPECT_EQ(entries[2].source, ConfigSource::client_metrics_config);
    EXPECT_EQ(entries[2].synonyms, (std::vector<SynonymEntry>{{"metrics", "a,b", ConfigSource::client_metrics_config}}));
}

}  // namespace
}  // namespace partita::config
