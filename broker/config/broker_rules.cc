#include "broker/config/broker_rules.h"

#include <algorithm>
#include <limits>
#include <ranges>

#include "broker/config/addition.h"
#include "broker/config/broker_config.h"
#include "broker/config/broker_synonyms.h"
#include "broker/config/java_text.h"
#include "broker/config/mode_patterns.h"
#include "protocol/try.h"

namespace partita::config {

namespace {

using Verdict = std::expected<void, ConfigError>;

Verdict refuse(std::string message) { return std::unexpected(ConfigError{.message = std::move(message)}); }

std::int64_t number(const ConfigMap& effective, std::string_view name) {
    const ConfigValue value = broker_value(effective, name);
    if (const auto* small = std::get_if<std::int32_t>(&value)) {
        return *small;
    }
    return std::get<std::int64_t>(value);
}

// The first given config of the chain log.retention.ms, .minutes, .hours (and similar ones) in milliseconds.
std::int64_t topic_ms(const ConfigMap& effective, std::string_view topic_config) {
    return std::get<std::int64_t>(topic_value_from_broker(*find_topic_config(topic_config), effective));
}

Verdict check_log_rules(const ConfigMap& effective) {
    if (topic_ms(effective, "segment.ms") < 1) {
        return refuse("requirement failed: log.roll.ms must be greater than or equal to 1");
    }
    if (topic_ms(effective, "segment.jitter.ms") < 0) {
        return refuse("requirement failed: log.roll.jitter.ms must be greater than or equal to 0");
    }
    if (topic_ms(effective, "retention.ms") == 0) {
        return refuse("requirement failed: log.retention.ms must be unlimited (-1) or, greater than or equal to 1");
    }
    const std::int64_t cleaner_threads = number(effective, "log.cleaner.threads");
    if (cleaner_threads == 0) {
        // Kafka divides by it ("/ by zero"); a sentence with the rule is more helpful.
        return refuse("Invalid value 0 for configuration log.cleaner.threads: Value must be at least 1");
    }
    if (number(effective, "log.cleaner.dedupe.buffer.size") / cleaner_threads <= 1048576) {
        return refuse("requirement failed: log.cleaner.dedupe.buffer.size must be at least 1MB per cleaner thread.");
    }
    return {};
}

Verdict check_network_rules(const ConfigMap& effective) {
    if (number(effective, "replica.fetch.wait.max.ms") > number(effective, "replica.socket.timeout.ms")) {
        return refuse(
            "requirement failed: replica.socket.timeout.ms should always be at least replica.fetch.wait.max.ms "
            "to prevent unnecessary socket timeouts");
    }
    const std::string overrides = std::get<std::string>(broker_value(effective, "max.connections.per.ip.overrides"));
    if (number(effective, "max.connections.per.ip") == 0 && overrides.empty()) {
        return refuse(
            "requirement failed: max.connections.per.ip can be set to zero only if max.connections.per.ip.overrides "
            "property is set.");
    }
    PARTITA_TRY(parse_connection_overrides(overrides));
    const std::int64_t queued_bytes = number(effective, "queued.max.request.bytes");
    if (queued_bytes > 0 && queued_bytes < number(effective, "socket.request.max.bytes")) {
        return refuse("requirement failed: queued.max.request.bytes must be larger or equal to socket.request.max.bytes");
    }
    return {};
}

Verdict not_below(const ConfigMap& effective, const std::string& name, const std::string& other) {
    if (number(effective, name) < number(effective, other)) {
        return refuse(name + " must be greater than or equal to " + other);
    }
    return {};
}

Verdict not_above(const ConfigMap& effective, const std::string& name, const std::string& other) {
    if (number(effective, name) > number(effective, other)) {
        return refuse(name + " must be less than or equal to " + other);
    }
    return {};
}

// The interval has a minimum and a maximum, which are configs, too.
Verdict check_bounded(const ConfigMap& effective, const std::string& prefix, const std::string& what) {
    const std::string value = prefix + what;
    const std::string minimum = prefix + "min." + what;
    const std::string maximum = prefix + "max." + what;
    if (Verdict verdict = not_below(effective, maximum, minimum); !verdict) {
        return verdict;
    }
    if (Verdict verdict = not_below(effective, value, minimum); !verdict) {
        return verdict;
    }
    return not_above(effective, value, maximum);
}

Verdict check_group_rules(const ConfigMap& effective) {
    for (const std::string prefix : {"group.consumer.", "group.share.", "group.streams."}) {
        for (const std::string what : {"heartbeat.interval.ms", "session.timeout.ms", "assignment.interval.ms"}) {
            if (Verdict verdict = check_bounded(effective, prefix, what); !verdict) {
                return verdict;
            }
        }
    }
    const auto protocols = broker_list(effective, "group.coordinator.rebalance.protocols");
    if (std::ranges::find(protocols, "classic") == protocols.end()) {
        return refuse("Disabling the 'classic' protocol is not supported.");
    }
    for (const std::string_view name : {"offsets.topic.compression.codec", "share.coordinator.state.topic.compression.codec"}) {
        // 0 none, 1 gzip, 2 snappy, 3 lz4, 4 zstd.
        if (const std::int64_t codec = number(effective, name); codec < 0 || codec > 4) {
            return refuse("Unknown compression type id: " + std::to_string(codec));
        }
    }
    for (const std::string& assignor : broker_list(effective, "group.consumer.assignors")) {
        if (consumer_assignor_name(assignor).empty()) {
            return refuse("Class " + assignor + " cannot be found");
        }
    }
    return {};
}

Verdict check_places(const ConfigMap& effective) {
    const std::vector<std::string> known = log_directories(effective);
    const ConfigValue cordoned_value = broker_value(effective, "cordoned.log.dirs");
    std::vector<std::string> missing;
    if (const auto* cordoned = std::get_if<std::vector<std::string>>(&cordoned_value)) {
        for (const std::string& directory : *cordoned) {
            if (directory != "*" && std::ranges::find(known, directory) == known.end()) {
                missing.push_back(directory);
            }
        }
    }
    if (!missing.empty()) {
        return refuse(
            "requirement failed: All entries in cordoned.log.dirs must be present in log.dirs or log.dir. Missing "
            "entries : " +
            java::join(missing, ","));
    }
    const std::string http = std::get<std::string>(broker_value(effective, "partita.http.listener"));
    if (!http.empty() && !parse_http_listener(http)) {
        return refuse(
            "Invalid value " + http +
            " for configuration partita.http.listener: it must be host:port, with or without http:// or https:// before "
            "it, or empty for no HTTP");
    }
    const std::string principal = std::get<std::string>(broker_value(effective, "partita.http.principal"));
    if (const std::size_t colon = principal.find(':'); colon == 0 || colon >= principal.size() - 1) {
        return refuse("Invalid value " + principal + " for configuration partita.http.principal: it must be type:name");
    }
    const std::string patterns = std::get<std::string>(broker_value(effective, "partita.default.expansion.mode.patterns"));
    PARTITA_TRY(parse_mode_patterns(patterns));
    return {};
}

Verdict check_additions(const ConfigMap& effective) {
    for (const Addition* addition : additions()) {
        if (addition->check != nullptr) {
            PARTITA_TRY(addition->check(effective));
        }
    }
    return {};
}

constexpr std::string_view kAuthorizerClass = "authorizer.class.name";
constexpr std::string_view kStandardAuthorizer = "org.apache.kafka.metadata.authorizer.StandardAuthorizer";
constexpr std::string_view kSuperUsers = "super.users";
constexpr std::string_view kAllowEveryone = "allow.everyone.if.no.acl.found";

std::string_view given_value(const ConfigMap& given, std::string_view name) {
    const auto found = given.find(name);
    return found == given.end() ? std::string_view() : std::string_view(found->second);
}

std::unexpected<ConfigError> refused_value(std::string_view name, std::string_view value, const std::string& reason) {
    return std::unexpected(ConfigError{.message = "Invalid value " + std::string(value) + " for configuration " +
                                                  std::string(name) + ": " + reason});
}

}  // namespace

std::vector<std::string> log_directories(const ConfigMap& effective) {
    ConfigValue directories = broker_value(effective, "log.dirs");
    if (std::holds_alternative<std::monostate>(directories)) {
        directories = broker_value(effective, "log.dir");
    }
    return std::get<std::vector<std::string>>(directories);
}

bool is_of_authorizer(std::string_view name) { return name == kSuperUsers || name == kAllowEveryone; }

std::expected<std::optional<AuthorizerSettings>, ConfigError> authorizer_settings(const ConfigMap& given) {
    const std::string_view class_name = java::trim(given_value(given, kAuthorizerClass));
    if (class_name.empty()) {
        return std::nullopt;
    }
    if (class_name != kStandardAuthorizer) {
        return refused_value(kAuthorizerClass, class_name,
                             "unknown class; use " + std::string(kStandardAuthorizer) + ", or nothing for no authorizer");
    }
    AuthorizerSettings settings;
    for (const auto part : std::views::split(given_value(given, kSuperUsers), ';')) {
        const std::string_view user = java::trim(std::string_view(part));
        if (!user.empty() && !user.contains(':')) {
            return refused_value(kSuperUsers, given_value(given, kSuperUsers),
                                 "expected a string in format principalType:principalName but got " + std::string(user));
        }
        if (!user.empty()) {
            settings.super_users.emplace_back(user);
        }
    }
    settings.allow_everyone_if_no_acl_found = java::to_lower(java::trim(given_value(given, kAllowEveryone))) == "true";
    return settings;
}

std::expected<std::vector<std::pair<std::string, std::string>>, ConfigError> parse_map(std::string_view config,
                                                                                       std::string_view text) {
    std::vector<std::pair<std::string, std::string>> entries;
    for (const std::string& item : java::split_list(text)) {
        const std::size_t colon = item.rfind(':');
        if (colon == std::string::npos) {
            // Java's text ends so, because it cuts before a missing colon.
            return std::unexpected(ConfigError{.message = "Error parsing configuration property '" + std::string(config) +
                                                          "': begin 0, end -1, length " + std::to_string(item.size())});
        }
        std::string key(java::trim(std::string_view(item).substr(0, colon)));
        std::string value(java::trim(std::string_view(item).substr(colon + 1)));
        const auto same = std::ranges::find(entries, key, &std::pair<std::string, std::string>::first);
        if (same != entries.end()) {
            same->second = std::move(value);
        } else {
            entries.emplace_back(std::move(key), std::move(value));
        }
    }
    return entries;
}

std::expected<std::vector<std::pair<std::string, std::int32_t>>, ConfigError> parse_connection_overrides(std::string_view text) {
    constexpr std::string_view kName = "max.connections.per.ip.overrides";
    PARTITA_TRY_ASSIGN(auto entries, parse_map(kName, text));
    std::vector<std::pair<std::string, std::int32_t>> overrides;
    std::vector<std::string> invalid_hosts;
    for (auto& [host, count_text] : entries) {
        const auto count =
            java::parse_integer(count_text, std::numeric_limits<std::int32_t>::min(), std::numeric_limits<std::int32_t>::max());
        if (!count) {
            return std::unexpected(ConfigError{.message = "For input string: \"" + count_text + "\""});
        }
        if (host.find_first_not_of("0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ-%._:") != std::string::npos) {
            invalid_hosts.push_back(host);
        }
        overrides.emplace_back(std::move(host), static_cast<std::int32_t>(*count));
    }
    if (!invalid_hosts.empty()) {
        return std::unexpected(
            ConfigError{.message = std::string(kName) + " contains invalid addresses : " + java::join(invalid_hosts, ",")});
    }
    return overrides;
}

std::optional<AdvertisedAddress> parse_host_and_port(std::string_view text) {
    text = java::trim(text);
    const std::size_t colon = text.rfind(':');
    if (colon == std::string_view::npos) {
        return std::nullopt;
    }
    const auto port = java::parse_integer(text.substr(colon + 1), 0, 65535);
    std::string_view host = text.substr(0, colon);
    if (host.starts_with('[') && host.ends_with(']')) {
        host = host.substr(1, host.size() - 2);
    } else if (host.find_first_of("[]:/ ") != std::string_view::npos) {
        return std::nullopt;
    }
    if (!port) {
        return std::nullopt;
    }
    return AdvertisedAddress{std::string(host), static_cast<std::uint16_t>(*port)};
}

std::optional<HttpListener> parse_http_listener(std::string_view text) {
    constexpr std::string_view kPlain = "http://";
    constexpr std::string_view kSecured = "https://";
    text = java::trim(text);
    const bool has_tls = text.starts_with(kSecured);
    if (has_tls || text.starts_with(kPlain)) {
        text.remove_prefix(has_tls ? kSecured.size() : kPlain.size());
    }
    auto address = parse_host_and_port(text);
    if (!address) {
        return std::nullopt;
    }
    return HttpListener{std::move(*address), has_tls};
}

std::expected<void, ConfigError> check_http(const BrokerConfig& config) {
    if (!config.http_listener) {
        return {};
    }
    const std::string& host = config.http_listener->host;
    const bool is_of_this_machine = host == "localhost" || host == "::1" || host.starts_with("127.");
    if (is_of_this_machine) {
        return {};
    }
    const auto is_set = [&config](std::string_view name) {
        const auto text = config_value_text(config.value(name));
        return text && !text->empty();
    };
    const std::string begin = "partita.http.listener=" + to_string(*config.http_listener) + " is open to other machines: ";
    if (!is_set("partita.http.token") && !is_set("partita.http.token.file")) {
        if (config.http_without_token != HttpWithoutToken::unsaid) {
            return {};
        }
        return refuse(begin +
                      "give a token with partita.http.token.file and TLS with https:// and ssl.keystore.location, or set "
                      "partita.http.open=health to serve only health and metrics");
    }
    if (!config.http_has_tls && !std::get<bool>(config.value("partita.http.plaintext"))) {
        return refuse(begin +
                      "give TLS with https:// and ssl.keystore.location, or set partita.http.plaintext=true to allow the token "
                      "without TLS");
    }
    return {};
}

std::string_view consumer_assignor_name(std::string_view given) {
    if (given == "uniform" || given == "org.apache.kafka.coordinator.group.assignor.UniformAssignor") {
        return "uniform";
    }
    if (given == "range" || given == "org.apache.kafka.coordinator.group.assignor.RangeAssignor") {
        return "range";
    }
    return {};
}

std::expected<void, ConfigError> check_broker_values(const ConfigMap& effective) {
    for (const auto& [name, text] : effective) {
        if (const ConfigDefinition* definition = find_broker_config(name)) {
            PARTITA_TRY(parse_config_value(*definition, text));
        }
    }
    for (const auto check : {check_log_rules, check_network_rules, check_group_rules, check_places, check_additions}) {
        if (Verdict verdict = check(effective); !verdict) {
            return verdict;
        }
    }
    return {};
}

bool is_cordoned(const BrokerConfig& config, std::string_view directory) {
    const ConfigValue value = config.value("cordoned.log.dirs");
    const auto* cordoned = std::get_if<std::vector<std::string>>(&value);
    return cordoned != nullptr &&
           std::ranges::any_of(*cordoned, [&](const std::string& name) { return name == directory || name == "*"; });
}

}  // namespace partita::config
