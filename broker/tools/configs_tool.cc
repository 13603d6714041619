// kafka-configs: shows and changes configs of topics, brokers, loggers, groups and client metrics, and quotas and credentials of
// clients, users and addresses.

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>
#include <map>
#include <set>
#include <string>

#include "broker/catalog/commands.h"
#include "broker/client/groups.h"
#include "broker/client/quotas.h"
#include "broker/client/topics.h"
#include "broker/tools/configs_line.h"
#include "broker/tools/java_order.h"
#include "broker/tools/text.h"
#include "broker/tools/tools.h"
#include "protocol/try.h"

namespace partita::tools {
namespace {

constexpr Option kConfigsOptions[] = {
    kBootstrapServer,
    kCommandConfig,
    kHelp,
    kVersion,
    {"bootstrap-controller", "HOST:PORT,...", "not served: ask a broker"},
    {"alter", "", "change configs"},
    {"describe", "", "show configs that were set"},
    {"all", "", "with --describe: show all configs"},
    one_of(repeatable({"entity-type", "type",
                       "choose the kind: topics, clients, users, brokers, broker-loggers, ips, client-metrics or groups"}),
           "topics clients users brokers broker-loggers ips client-metrics groups"),
    repeatable({"entity-name", "name", "name the topic, client id, user, broker's id, address, metrics or group"}),
    {"entity-default", "", "take the default of all clients, users, brokers or addresses"},
    {"add-config", "key=value,...", "set these configs, a value with commas in brackets: k1=v1,k2=[v1,v2]"},
    {"add-config-file", "file", "set the configs of this properties file"},
    repeatable({"delete-config", "key,...", "remove these configs"}),
    {"topic", "topic", "short for --entity-type topics --entity-name"},
    {"client", "client id", "short for --entity-type clients --entity-name"},
    {"client-defaults", "", "short for --entity-type clients --entity-default"},
    {"user", "user", "short for --entity-type users --entity-name"},
    {"user-defaults", "", "short for --entity-type users --entity-default"},
    {"broker", "id", "short for --entity-type brokers --entity-name"},
    {"broker-defaults", "", "short for --entity-type brokers --entity-default"},
    {"broker-logger", "id", "short for --entity-type broker-loggers --entity-name"},
    {"ip", "address", "short for --entity-type ips --entity-name"},
    {"ip-defaults", "", "short for --entity-type ips --entity-default"},
    {"group", "group", "short for --entity-type groups --entity-name"},
    {"client-metrics", "name", "short for --entity-type client-metrics --entity-name"},
};

constexpr Rule kConfigsRules[] = {
    {Requires::exactly_one_of, "", {"alter", "describe"}, "Command must include exactly one action: --describe, --alter"},
    {Requires::none_of, "describe", {"add-config", "delete-config"}},
};

/// A number as Java prints a double.
std::string java_double(double value) {
    constexpr double kLeastPlain = 1e-3;
    constexpr double kMostPlain = 1e7;
    char digits[64];
    const double size = std::abs(value);
    const bool is_plain = value == 0 || (size >= kLeastPlain && size < kMostPlain);
    const auto format = is_plain ? std::chars_format::fixed : std::chars_format::scientific;
    const auto [end, error] = std::to_chars(digits, digits + sizeof digits, value, format);
    std::string text(digits, end);
    if (is_plain) {
        return text.contains('.') ? text : text + ".0";
    }
    // Java prints "1e+07" as 1.0E7.
    const std::size_t exponent = text.find('e');
    std::string mantissa = text.substr(0, exponent);
    if (!mantissa.contains('.')) {
        mantissa += ".0";
    }
    return mantissa + "E" + std::to_string(std::atoi(text.c_str() + exponent + 1));
}

/// Ends the tool as Kafka's does after an unexpected failure.
std::unexpected<Ending> failed_line(const Options& options, const std::string& cause) {
    return failed("Error while executing config command with args '" + joined(options.words(), " ") + "'\n" + cause);
}
std::unexpected<Ending> failed_call(const Options& options, const client::Failure& failure) {
    if (failure.kind == client::Failure::Kind::bad_setting) {
        return refused(failure.message);
    }
    return failed_line(options, "java.util.concurrent.ExecutionException: " + java_text(failure));
}

class Configs {
  public:
    Configs(client::Cluster& cluster, const Options& options, const Surroundings& surroundings)
        : cluster_(cluster), options_(options), surroundings_(surroundings), entities_(entities_of(options)) {}

    [[nodiscard]] Outcome<int> describe();
    [[nodiscard]] Outcome<int> alter();

  private:
    [[nodiscard]] bool has_resources() const {
        return !entities_.has_type("users") && !entities_.has_type("clients") && !entities_.has_type("ips");
    }
    [[nodiscard]] client::ResourceType resource_type() const;
    /// Returns false, with a message, if no entity has the name.
    [[nodiscard]] Outcome<bool> is_there(const std::string& name);
    [[nodiscard]] Outcome<std::vector<std::string>> all_names();
    [[nodiscard]] Outcome<void> show_resource(const std::string& name);
    [[nodiscard]] Outcome<void> show_quotas();
    [[nodiscard]] Outcome<void> show_credentials();
    [[nodiscard]] Outcome<std::vector<client::EntityQuotas>> quotas();
    [[nodiscard]] Outcome<void> alter_resource(const Values& values, const std::vector<std::string>& deleted);
    [[nodiscard]] Outcome<void> alter_users(const Values& values, const std::vector<std::string>& deleted);
    [[nodiscard]] Outcome<void> alter_quotas(const Values& values, const std::vector<std::string>& deleted);
    [[nodiscard]] Outcome<void> alter_credentials(const Values& values, const std::vector<std::string>& deleted);

    client::Cluster& cluster_;
    const Options& options_;
    const Surroundings& surroundings_;
    const Entities entities_;
};

client::ResourceType Configs::resource_type() const {
    using Type = client::ResourceType;
    const std::string& type = entities_.types.front();
    return type == "topics"           ? Type::topic
           : type == "brokers"        ? Type::broker
           : type == "broker-loggers" ? Type::broker_logger
           : type == "client-metrics" ? Type::client_metrics
                                      : Type::group;
}

Outcome<std::vector<std::string>> Configs::all_names() {
    using Type = client::ResourceType;
    const Type type = resource_type();
    std::vector<std::string> names;
    if (type == Type::topic) {
        const auto topics = client::list_topics(cluster_);
        if (!topics) {
            return failed_call(options_, topics.error());
        }
        for (const auto& topic : *topics) {
            names.push_back(topic.name);
        }
        return in_java_order(names);
    }
    if (type == Type::broker || type == Type::broker_logger) {
        const auto membership = client::describe_cluster(cluster_);
        if (!membership) {
            return failed_call(options_, membership.error());
        }
        for (const client::Node& node : membership->nodes) {
            names.push_back(std::to_string(node.id));
        }
        names.emplace_back();
        return names;
    }
    if (type == Type::group) {
        const auto groups = client::list_all_groups(cluster_);
        if (!groups) {
            return failed_call(options_, groups.error());
        }
        for (const auto& group : *groups) {
            names.push_back(group.id);
        }
    }
    auto resources = client::list_config_resources(cluster_, type);
    const bool is_tolerated = type == Type::group && !resources &&
                              (resources.error().kind == client::Failure::Kind::unsupported ||
                               resources.error().code == ErrorCode::cluster_authorization_failed);
    if (!resources && !is_tolerated) {
        return failed_call(options_, resources.error());
    }
    for (const std::string& name : resources ? *resources : std::vector<std::string>()) {
        if (std::ranges::find(names, name) == names.end()) {
            names.push_back(name);
        }
    }
    return names;
}

Outcome<bool> Configs::is_there(const std::string& name) {
    if (options_.has("all") || name.empty()) {
        return true;
    }
    PARTITA_TRY_ASSIGN(const auto names, all_names());
    if (std::ranges::find(names, name) != names.end()) {
        return true;
    }
    surroundings_.print("The " + entities_.kind() + " '" + name + "' doesn't exist and doesn't have dynamic config.\n");
    return false;
}

/// Kafka's name for the source of a value.
std::string_view source_name(client::ConfigSource source) {
    using Source = client::ConfigSource;
    switch (source) {
        case Source::topic:
            return "DYNAMIC_TOPIC_CONFIG";
        case Source::dynamic_broker:
            return "DYNAMIC_BROKER_CONFIG";
        case Source::dynamic_default_broker:
            return "DYNAMIC_DEFAULT_BROKER_CONFIG";
        case Source::static_broker:
            return "STATIC_BROKER_CONFIG";
        case Source::default_value:
            return "DEFAULT_CONFIG";
        case Source::dynamic_broker_logger:
            return "DYNAMIC_BROKER_LOGGER_CONFIG";
        case Source::client_metrics:
            return "DYNAMIC_CLIENT_METRICS_CONFIG";
        case Source::group:
            return "DYNAMIC_GROUP_CONFIG";
        case Source::unknown:
            break;
    }
    return "UNKNOWN";
}

Outcome<void> Configs::show_resource(const std::string& name) {
    using Source = client::ConfigSource;
    const bool shows_all = options_.has("all");
    surroundings_.print(name.empty() ? "Default configs for " + entities_.types.front() + " in the cluster are:\n"
                                     : std::string(shows_all ? "All" : "Dynamic") + " configs for " + entities_.kind() + " " +
                                           name + " are:\n");
    const client::ResourceType type = resource_type();
    const auto described = client::describe_configs(cluster_, type, {&name, 1}, true);
    if (!described) {
        return failed_call(options_, described.error());
    }
    const Source own = type == client::ResourceType::topic   ? Source::topic
                       : type == client::ResourceType::group ? Source::group
                       : type == client::ResourceType::broker
                           ? (name.empty() ? Source::dynamic_default_broker : Source::dynamic_broker)
                           : Source::client_metrics;
    std::map<std::string, std::string> lines;
    for (const auto& [resource, entries] : *described) {
        for (const client::ConfigEntry& entry : entries) {
            if (!shows_all && type != client::ResourceType::broker_logger && entry.source != own) {
                continue;
            }
            std::vector<std::string> synonyms;
            for (const auto& synonym : entry.synonyms) {
                synonyms.push_back(std::string(source_name(synonym.source)) + ":" + synonym.name + "=" +
                                   synonym.value.value_or("null"));
            }
            lines[entry.name] = "  " + entry.name + "=" + entry.value.value_or("null") +
                                " sensitive=" + (entry.is_sensitive ? "true" : "false") + " synonyms={" + joined(synonyms, ", ") +
                                "}\n";
        }
    }
    for (const auto& [key, line] : lines) {
        surroundings_.print(line);
    }
    return {};
}

std::string_view quota_type(const std::string& type) { return type == "users" ? "user" : type == "clients" ? "client-id" : "ip"; }

Outcome<std::vector<client::EntityQuotas>> Configs::quotas() {
    if (entities_.names.size() > entities_.types.size()) {
        return refused("More entity names specified than entity types");
    }
    std::vector<client::QuotaMatch> matches;
    for (std::size_t i = 0; i < entities_.types.size(); ++i) {
        client::QuotaMatch match{.type = std::string(quota_type(entities_.types[i]))};
        if (i < entities_.names.size()) {
            match.name = entities_.names[i].empty() ? std::optional<std::string>() : std::optional(entities_.names[i]);
        }
        matches.push_back(std::move(match));
    }
    auto found = client::describe_quotas(cluster_, matches);
    if (!found) {
        return failed_call(options_, found.error());
    }
    return std::move(*found);
}

/// ClientQuotaEntity.hashCode.
std::int32_t hash_of_entity(const client::EntityQuotas& quotas) {
    std::uint32_t sum = 0;
    for (const auto& [type, name] : quotas.entity) {
        sum += static_cast<std::uint32_t>(java_hash(type)) ^ (name ? static_cast<std::uint32_t>(java_hash(*name)) : 0u);
    }
    return static_cast<std::int32_t>(31u + sum);
}

Outcome<void> Configs::show_quotas() {
    PARTITA_TRY_ASSIGN(auto found, quotas());
    constexpr std::pair<std::string_view, std::string_view> kKinds[] = {
        {"user", "user-principal"}, {"client-id", "client-id"}, {"ip", "ip"}};
    for (const client::EntityQuotas& one : in_java_order(std::move(found), 16, hash_of_entity)) {
        std::vector<std::string> names;
        for (const auto& [type, shown] : kKinds) {
            for (const auto& [own_type, name] : one.entity) {
                if (own_type != type) {
                    continue;
                }
                names.push_back(name ? std::string(shown) + " '" + *name + "'" : "the default " + std::string(shown));
            }
        }
        std::map<std::string, double> values(one.values.begin(), one.values.end());
        std::vector<std::string> keys;
        for (const auto& [key, value] : one.values) {
            keys.push_back(key);
        }
        std::vector<std::string> shown;
        for (const std::string& key : in_java_order(keys)) {
            shown.push_back(key + "=" + java_double(values[key]));
        }
        surroundings_.print("Quota configs for " + joined(names, ", ") + " are " + joined(shown, ", ") + "\n");
    }
    return {};
}

Outcome<void> Configs::show_credentials() {
    const auto users = client::describe_credentials(cluster_, entities_.names);
    if (!users) {
        return failed_call(options_, users.error());
    }
    for (const client::UserCredentials& user : *users) {
        if (user.error == ErrorCode::resource_not_found) {
            continue;
        }
        if (user.error != ErrorCode::none) {
            surroundings_.print("Error retrieving SCRAM credential configs for user-principal '" + user.user +
                                "': ExecutionException: " + java_text(client::refusal(user.error, user.message)) + "\n");
            continue;
        }
        std::vector<std::string> parts;
        for (const auto& [mechanism, iterations] : user.iterations) {
            parts.push_back(std::string(client::to_string(mechanism)) + "=iterations=" + std::to_string(iterations));
        }
        surroundings_.print("SCRAM credential configs for user-principal '" + user.user + "' are " + joined(parts, ", ") + "\n");
    }
    return {};
}

Outcome<int> Configs::describe() {
    if (!has_resources()) {
        PARTITA_TRY(show_quotas());
        const bool has_credentials = !entities_.has_type("clients") && !entities_.has_type("ips") && !entities_.has_default();
        if (!has_credentials) {
            return 0;
        }
        PARTITA_TRY(show_credentials());
        return 0;
    }
    std::vector<std::string> names;
    if (entities_.names.empty()) {
        PARTITA_TRY_ASSIGN(names, all_names());
    } else {
        const std::string& name = entities_.names.front();
        const bool is_topic = resource_type() == client::ResourceType::topic;
        if (const auto problem = is_topic ? catalog::topic_name_problem(name) : std::nullopt) {
            return refused(*problem);
        }
        PARTITA_TRY_ASSIGN(const auto there, is_there(name));
        if (!there) {
            return 0;
        }
        names = {entities_.names.front()};
    }
    for (const std::string& name : names) {
        PARTITA_TRY(show_resource(name));
    }
    return 0;
}

// --alter

Outcome<void> Configs::alter_resource(const Values& values, const std::vector<std::string>& deleted) {
    const std::string& name = entities_.names.front();
    const client::ResourceType type = resource_type();
    if (type == client::ResourceType::broker_logger) {
        const auto known = client::describe_configs(cluster_, type, {&name, 1});
        if (!known) {
            return failed_call(options_, known.error());
        }
        std::set<std::string> loggers;
        for (const auto& [resource, entries] : *known) {
            for (const auto& entry : entries) {
                loggers.insert(entry.name);
            }
        }
        std::vector<std::string> invalid;
        for (const std::string& key : deleted) {
            if (!loggers.contains(key)) {
                invalid.push_back(key);
            }
        }
        for (const auto& [key, value] : values) {
            if (!loggers.contains(key)) {
                invalid.push_back(key);
            }
        }
        if (!invalid.empty()) {
            return refused("Invalid broker logger(s): " + joined(invalid, ","));
        }
    }
    std::vector<std::pair<std::string, std::optional<std::string>>> changes;
    for (const std::string& key : deleted) {
        changes.emplace_back(key, std::nullopt);
    }
    for (const auto& [key, value] : values) {
        changes.emplace_back(key, value);
    }
    const auto done = client::alter_configs(cluster_, type, name, changes);
    if (!done) {
        return failed_call(options_, done.error());
    }
    return {};
}

bool is_quota(std::string_view key) {
    constexpr std::string_view kQuotas[] = {"producer_byte_rate", "consumer_byte_rate", "request_percentage",
                                            "controller_mutation_rate"};
    return std::ranges::find(kQuotas, key) != std::end(kQuotas);
}
bool is_scram(std::string_view key) { return client::parse_scram_mechanism(key).has_value(); }

std::string scala_list(std::string_view what, const std::vector<std::string>& parts) {
    return std::string(what) + "(" + joined(parts, ", ") + ")";
}

Outcome<void> Configs::alter_quotas(const Values& values, const std::vector<std::string>& deleted) {
    if (entities_.types.size() != entities_.names.size()) {
        return refused("Exactly one entity name must be specified for every entity type");
    }
    PARTITA_TRY_ASSIGN(const auto present, quotas());
    std::set<std::string> keys;
    if (!present.empty()) {
        for (const auto& [key, value] : present.front().values) {
            keys.insert(key);
        }
    }
    std::vector<std::string> invalid;
    for (const std::string& key : deleted) {
        if (!keys.contains(key)) {
            invalid.push_back(key);
        }
    }
    if (!invalid.empty()) {
        return refused("Invalid config(s): " + joined(invalid, ","));
    }
    std::vector<std::pair<std::string, std::optional<double>>> changes;
    for (const auto& [key, text] : values) {
        double value = 0;
        const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
        if (error != std::errc() || end != text.data() + text.size()) {
            return refused("Cannot parse quota configuration value for " + key + ": " + text);
        }
        changes.emplace_back(key, value);
    }
    for (const std::string& key : deleted) {
        changes.emplace_back(key, std::nullopt);
    }
    client::QuotaEntity entity;
    for (std::size_t i = 0; i < entities_.types.size(); ++i) {
        const std::string& name = entities_.names[i];
        entity.emplace_back(quota_type(entities_.types[i]), name.empty() ? std::nullopt : std::optional(name));
    }
    const auto done = client::alter_quotas(cluster_, entity, changes);
    if (!done) {
        return failed_call(options_, done.error());
    }
    return {};
}

/// Parses "iterations=8192,password=secret"; the first part is optional.
Outcome<client::NewCredential> parse_credential(const std::string& mechanism, const std::string& text) {
    constexpr std::int64_t kIterations = 4096;
    constexpr std::string_view kIterationsPart = "iterations=";
    constexpr std::string_view kPasswordPart = "password=";
    std::string_view rest = text;
    const auto invalid = [&] {
        std::string constant = mechanism;
        std::ranges::replace(constant, '-', '_');
        return refused("Invalid credential property " + constant + "=" + text);
    };
    std::int64_t iterations = kIterations;
    if (rest.starts_with(kIterationsPart)) {
        const std::size_t comma = std::min(rest.find(','), rest.size());
        const auto number = parse_integer(rest.substr(kIterationsPart.size(), comma - kIterationsPart.size()));
        if (!number || comma == rest.size() || *number > std::numeric_limits<std::int32_t>::max()) {
            return invalid();
        }
        if (*number != -1) {
            iterations = *number;
        }
        rest.remove_prefix(comma + 1);
    }
    if (!rest.starts_with(kPasswordPart)) {
        return invalid();
    }
    if (iterations < kIterations) {
        return refused("Iterations " + std::to_string(iterations) + " is less than the minimum 4096 required for " + mechanism);
    }
    return client::NewCredential{*client::parse_scram_mechanism(mechanism), static_cast<std::int32_t>(iterations),
                                 std::string(rest.substr(kPasswordPart.size()))};
}

Outcome<void> Configs::alter_credentials(const Values& values, const std::vector<std::string>& deleted) {
    std::vector<client::NewCredential> set;
    std::vector<client::ScramMechanism> removed;
    for (const auto& [mechanism, text] : values) {
        PARTITA_TRY_ASSIGN(auto credential, parse_credential(mechanism, text));
        set.push_back(std::move(credential));
    }
    for (const std::string& mechanism : deleted) {
        removed.push_back(*client::parse_scram_mechanism(mechanism));
    }
    const auto done = client::alter_credentials(cluster_, entities_.names.front(), set, removed);
    if (!done) {
        return failed_call(options_, done.error());
    }
    return {};
}

Outcome<void> Configs::alter_users(const Values& values, const std::vector<std::string>& deleted) {
    const bool is_of_clients = entities_.has_type("clients");
    std::vector<std::string> unknown_set;
    std::vector<std::string> unknown_deleted;
    bool has_quotas = false;
    bool has_scram = false;
    const auto judge = [&](const std::string& key, std::vector<std::string>& unknown) {
        has_quotas = has_quotas || is_quota(key);
        has_scram = has_scram || (is_scram(key) && !is_of_clients);
        if (!is_quota(key) && (is_of_clients || !is_scram(key))) {
            unknown.push_back(key);
        }
    };
    for (const auto& [key, value] : values) {
        judge(key, unknown_set);
    }
    for (const std::string& key : deleted) {
        judge(key, unknown_deleted);
    }
    const std::string allowed = is_of_clients ? "Only quota configs can be " : "Only quota and SCRAM credential configs can be ";
    const std::string whose = is_of_clients ? "clients" : "users";
    if (!unknown_set.empty()) {
        return refused(allowed + "added for '" + whose +
                       "' using --bootstrap-server. Unexpected config names: " + scala_list("Set", unknown_set));
    }
    if (!unknown_deleted.empty()) {
        return refused(allowed + "deleted for '" + whose +
                       "' using --bootstrap-server. Unexpected config names: " + scala_list("Buffer", unknown_deleted));
    }
    if (has_scram && entities_.has_default()) {
        return refused(
            "The use of --entity-default or --user-defaults is not allowed with User SCRAM Credentials using "
            "--bootstrap-server.");
    }
    if (has_scram && has_quotas) {
        return refused(
            "Cannot alter both quota and SCRAM credential configs simultaneously for 'users' using --bootstrap-server.");
    }
    return has_quotas ? alter_quotas(values, deleted) : alter_credentials(values, deleted);
}

Outcome<int> Configs::alter() {
    if (entities_.types.size() != entities_.names.size()) {
        return refused("An entity name must be specified for every entity type");
    }
    PARTITA_TRY_ASSIGN(const auto values, values_to_set(options_));
    const std::vector<std::string> deleted = keys_to_delete(options_);
    Outcome<void> done;
    if (has_resources()) {
        done = alter_resource(values, deleted);
    } else if (entities_.has_type("ips")) {
        std::vector<std::string> unknown;
        for (const auto& [key, value] : values) {
            if (key != "connection_creation_rate") {
                unknown.push_back(key);
            }
        }
        for (const std::string& key : deleted) {
            if (key != "connection_creation_rate") {
                unknown.push_back(key);
            }
        }
        if (!unknown.empty()) {
            return refused(
                "Only connection quota configs can be added for 'ips' using --bootstrap-server. Unexpected config names: " +
                joined(unknown, ","));
        }
        done = alter_quotas(values, deleted);
    } else {
        done = alter_users(values, deleted);
    }
    PARTITA_TRY(done);
    const std::string& name = entities_.names.front();
    surroundings_.print(name.empty() ? "Completed updating default config for " + entities_.types.front() + " in the cluster.\n"
                                     : "Completed updating config for " + entities_.kind() + " " + name + ".\n");
    return 0;
}

Outcome<int> run_configs(const Options& options, const Surroundings& surroundings) {
    const Entities entities = entities_of(options);
    PARTITA_TRY(check_types(options, entities));
    PARTITA_TRY(check_names(options, entities));
    PARTITA_TRY_ASSIGN(auto cluster, open_cluster(options, surroundings));
    Configs configs(cluster, options, surroundings);
    return options.has("alter") ? configs.alter() : configs.describe();
}

}  // namespace

const Tool kConfigsTool{
    .name = "configs",
    .kafka_name = "kafka-configs",
    .summary = "show and change settings of topics, brokers, loggers and groups; quotas and passwords",
    .purpose =
        "This tool helps to manipulate and describe entity config for a topic, client, user, broker, ip, client-metrics or group",
    .options = kConfigsOptions,
    .rules = kConfigsRules,
    .run = run_configs};

}  // namespace partita::tools
