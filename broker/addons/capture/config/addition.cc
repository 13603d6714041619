// `partita.capture.*` and `partita.default.capture.*`, and the rules between them.

#include "broker/config/addition.h"

#include <filesystem>
#include <string>
#include <utility>

#include "broker/addons/capture/config/capture_config.h"
#include "broker/addons/capture/core/name_format.h"
#include "broker/config/broker_rules.h"
#include "broker/config/broker_synonyms.h"
#include "broker/config/definition_helpers.h"

namespace partita::capture {
namespace {

// The short names of the definition tables.
using namespace config;
using config::internal;

using Verdict = std::expected<void, ConfigError>;

/// Windows of capture. The maxima are those of the managed service; intervals of seconds are for tests.
constexpr Validator kCaptureInterval{.kind = ValidatorKind::range, .minimum = 1000, .maximum = 900'000};
constexpr Validator kCaptureSize{.kind = ValidatorKind::range, .minimum = 1024, .maximum = 524'288'000};

constexpr ConfigDefinition kDefinitions[] = {
    define("partita.capture.directory", ConfigType::string, "", kAny, kReadOnly,
           "Directory for the Avro files of topics with partita.capture.enable; empty for no capture. See docs/capture.md."),
    define("partita.capture.namespace", ConfigType::string, "partita", kNonEmpty, kReadOnly,
           "Value of {Namespace} in the names of capture files."),
    define("partita.default.capture.enable", ConfigType::boolean, "false", kAny, kReadOnly,
           "Default of the topic config partita.capture.enable. Topics that the broker keeps for itself are never captured."),
    define("partita.default.capture.interval.ms", ConfigType::int64, "300000", kCaptureInterval, kReadOnly,
           "Default of the topic config partita.capture.interval.ms."),
    define("partita.default.capture.name.format", ConfigType::string,
           "{Namespace}/{EventHub}/{PartitionId}/{Year}/{Month}/{Day}/{Hour}/{Minute}/{Second}", kAny, kReadOnly,
           "Default of the topic config partita.capture.name.format."),
    define("partita.default.capture.size.bytes", ConfigType::int64, "314572800", kCaptureSize, kReadOnly,
           "Default of the topic config partita.capture.size.bytes."),
    define("partita.default.capture.skip.empty", ConfigType::boolean, "false", kAny, kReadOnly,
           "Default of the topic config partita.capture.skip.empty."),
};

/// The broker config that a topic config inherits if the topic does not set it.
constexpr ConfigSynonym kEnable[] = {{"partita.default.capture.enable"}};
constexpr ConfigSynonym kIntervalMs[] = {{"partita.default.capture.interval.ms"}};
constexpr ConfigSynonym kNameFormat[] = {{"partita.default.capture.name.format"}};
constexpr ConfigSynonym kSizeBytes[] = {{"partita.default.capture.size.bytes"}};
constexpr ConfigSynonym kSkipEmpty[] = {{"partita.default.capture.skip.empty"}};

constexpr TopicConfigDefinition kTopicDefinitions[] = {
    TopicConfigDefinition{
        internal("partita.capture.enable", ConfigType::boolean, kOfBroker, kAny, kClusterWide,
                 "Whether the broker writes the topic's records to Avro files below its partita.capture.directory. See "
                 "docs/capture.md."),
        kEnable},
    TopicConfigDefinition{internal("partita.capture.interval.ms", ConfigType::int64, kOfBroker, kCaptureInterval, kClusterWide,
                                   "Time after which a partition's capture window ends and its file is complete."),
                          kIntervalMs},
    TopicConfigDefinition{
        internal(
            "partita.capture.name.format", ConfigType::string, kOfBroker, kAny, kClusterWide,
            "Path and name of a capture file, without .avro. All tokens are mandatory, in any order: {Namespace}, {EventHub}, "
            "{PartitionId}, {Year}, {Month}, {Day}, {Hour}, {Minute}, {Second}."),
        kNameFormat},
    TopicConfigDefinition{internal("partita.capture.size.bytes", ConfigType::int64, kOfBroker, kCaptureSize, kClusterWide,
                                   "Size after which a partition's capture window ends before its time."),
                          kSizeBytes},
    TopicConfigDefinition{internal("partita.capture.skip.empty", ConfigType::boolean, kOfBroker, kAny, kClusterWide,
                                   "Whether a capture window without records leaves no file instead of an empty one."),
                          kSkipEmpty},
};

Verdict refuse(std::string message) { return std::unexpected(ConfigError{.message = std::move(message)}); }

/// True if the path is the directory, or below it, by their names alone.
bool is_within(const std::string& path, const std::string& directory) {
    const auto whole = [](const std::string& name) {
        std::error_code unknown;
        const std::filesystem::path absolute = std::filesystem::absolute(name, unknown);
        // With a slash at the end in any case.
        return ((unknown ? std::filesystem::path(name) : absolute) / "").lexically_normal();
    };
    const std::filesystem::path way = whole(path).lexically_relative(whole(directory));
    return !way.empty() && *way.begin() != "..";
}

Verdict check(const ConfigMap& effective) {
    const auto text_of = [&](std::string_view name) { return std::get<std::string>(broker_value(effective, name)); };
    if (std::get<bool>(broker_value(effective, "partita.default.capture.enable")) &&
        text_of("partita.capture.directory").empty()) {
        return refuse("partita.default.capture.enable needs partita.capture.directory");
    }
    if (const std::string directory = text_of("partita.capture.directory"); !directory.empty()) {
        for (const std::string& logs : log_directories(effective)) {
            if (is_within(directory, logs)) {
                return refuse("partita.capture.directory " + directory + " is inside the data directory " + logs +
                              "; choose another, because deleting a topic could delete captured files");
            }
        }
    }
    if (const std::string name_space = text_of("partita.capture.namespace"); !is_namespace(name_space)) {
        return refuse("Invalid value " + name_space +
                      " for configuration partita.capture.namespace: letters, digits, '.', '_' and '-', and no '.' in front");
    }
    return check_name_format("partita.default.capture.name.format", text_of("partita.default.capture.name.format"));
}

Verdict check_topic(const TopicValues& values, const BrokerConfig& broker) {
    if (std::get<bool>(values.at("partita.capture.enable")) && capture_directory(broker).empty()) {
        return refuse("partita.capture.enable needs the broker's partita.capture.directory");
    }
    return check_name_format("partita.capture.name.format", std::get<std::string>(values.at("partita.capture.name.format")));
}

}  // namespace

extern const config::Addition kConfigAddition;
constinit const config::Addition kConfigAddition{
    .broker = kDefinitions, .topic = kTopicDefinitions, .check = check, .check_topic = check_topic};

}  // namespace partita::capture
