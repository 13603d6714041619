#include "broker/config/broker_loggers.h"

#include <gtest/gtest.h>

#include "broker/config/log_setup.h"

namespace partita::config {
namespace {

constexpr auto kStorage = "kafka.log.LogManager";

class BrokerLoggersTest : public ::testing::Test {
  protected:
    void SetUp() override { log::open(log::Level::warning); }
    void TearDown() override {
        for (const std::string_view area : log::kAreas) {
            log::set_area_level(area, std::nullopt);
        }
    }

    ConfigError alter(std::string name, AlterOperation operation, std::optional<std::string> value, bool validate_only = false) {
        const ConfigChange changes[] = {{std::move(name), operation, std::move(value)}};
        const auto altered = loggers_.alter(changes, validate_only);
        return altered ? ConfigError{ErrorCode::none, ""} : altered.error();
    }
    std::string level_of(const std::string& name) { return loggers_.describe({.names = {{name}}}).at(0).value.value_or(""); }

    BrokerLoggers loggers_;
};

TEST_F(BrokerLoggersTest, LevelOfOneLoggerChangesWhatItsAreaWrites) {
    EXPECT_FALSE(log::is_on(log::Level::debug, "storage"));
    EXPECT_EQ(alter(kStorage, AlterOperation::set, "DEBUG").code, ErrorCode::none);
    EXPECT_TRUE(log::is_on(log::Level::debug, "storage"));
    EXPECT_FALSE(log::is_on(log::Level::debug, "net"));
    EXPECT_EQ(level_of(kStorage), "DEBUG");
    EXPECT_EQ(alter(kStorage, AlterOperation::remove, std::nullopt).code, ErrorCode::none);
    EXPECT_FALSE(log::is_on(log::Level::debug, "storage"));
    EXPECT_EQ(level_of(kStorage), "WARN");
}

TEST_F(BrokerLoggersTest, LevelOfTheRootCountsForAllWithoutTheirOwn) {
    EXPECT_EQ(alter(kStorage, AlterOperation::set, "FATAL").code, ErrorCode::none);
    EXPECT_EQ(alter("root", AlterOperation::set, "TRACE").code, ErrorCode::none);
    EXPECT_TRUE(log::is_on(log::Level::debug, "net"));
    EXPECT_FALSE(log::is_on(log::Level::warning, "storage"));
    EXPECT_EQ(level_of("root"), "TRACE");
    EXPECT_EQ(level_of("kafka.network.SocketServer"), "TRACE");
    EXPECT_EQ(level_of(kStorage), "FATAL");
}

TEST_F(BrokerLoggersTest, ValidateOnlyChangesNothing) {
    EXPECT_EQ(alter("root", AlterOperation::set, "DEBUG", true).code, ErrorCode::none);
    EXPECT_EQ(level_of("root"), "WARN");
}

TEST_F(BrokerLoggersTest, OneRefusedChangeRefusesAll) {
    const ConfigChange changes[] = {{kStorage, AlterOperation::set, "DEBUG"}, {"nope", AlterOperation::set, "DEBUG"}};
    EXPECT_FALSE(loggers_.alter(changes, false).has_value());
    EXPECT_EQ(level_of(kStorage), "WARN");
}

TEST_F(BrokerLoggersTest, ChangesAreRefusedWithKafkasCodesAndTexts) {
    EXPECT_EQ(alter("nope", AlterOperation::set, "DEBUG"),
              (ConfigError{ErrorCode::invalid_config, "Logger nope does not exist!"}));
    EXPECT_EQ(alter("nope", AlterOperation::remove, std::nullopt),
              (ConfigError{ErrorCode::invalid_config, "Logger nope does not exist!"}));
    for (const std::string text : {"OFF", "warn"}) {
        EXPECT_EQ(alter("root", AlterOperation::set, text),
                  (ConfigError{ErrorCode::invalid_config,
                               "Cannot set the log level of root to " + text +
                                   " as it is not a supported log level. Valid log levels are DEBUG, ERROR, FATAL, INFO, "
                                   "TRACE, WARN"}));
    }
    EXPECT_EQ(alter("root", AlterOperation::remove, std::nullopt),
              (ConfigError{ErrorCode::invalid_request, "Removing the log level of the root logger is not allowed"}));
    EXPECT_EQ(alter("root", AlterOperation::append, "DEBUG"),
              (ConfigError{ErrorCode::invalid_request, "APPEND operation is not allowed for the BROKER_LOGGER resource"}));
    EXPECT_EQ(alter("root", AlterOperation::subtract, "DEBUG"),
              (ConfigError{ErrorCode::invalid_request, "SUBTRACT operation is not allowed for the BROKER_LOGGER resource"}));
}

TEST_F(BrokerLoggersTest, EveryAreaOfTheLogHasALogger) { EXPECT_EQ(loggers_.describe({}).size(), std::size(log::kAreas) + 1); }

}  // namespace
}  // namespace partita::config
