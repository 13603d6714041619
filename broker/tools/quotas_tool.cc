// `partita quotas`: shows and changes the quotas of users, clients and addresses. A command of our own: it manages the same
// quotas as `kafka-configs`, but with units, with the quotas in force for a client, and as JSON.

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>
#include <string>

#include "broker/client/quotas.h"
#include "broker/tools/quota_text.h"
#include "broker/tools/text.h"
#include "broker/tools/tools.h"
#include "protocol/edit_distance.h"
#include "protocol/printable.h"
#include "protocol/try.h"

namespace partita::tools {
namespace {

using nlohmann::ordered_json;

constexpr Option kQuotasOptions[] = {
    kBootstrapServer,
    kCommandConfig,
    kHelp,
    {"list", "", "show all quotas, or those of the named entities (default)"},
    {"describe", "", "show which quotas apply to the named user, client or address, and where each comes from"},
    {"set", "", "set quotas: KIND=VALUE ..."},
    {"remove", "", "remove quotas: KIND ..., or all quotas of the entity if no kind is named"},
    {"user", "name", "name the user"},
    {"user-defaults", "", "take every user that has no quota of its own"},
    {"client", "client id", "name the client"},
    {"client-defaults", "", "take every client that has no quota of its own"},
    {"ip", "address", "name the address"},
    {"ip-defaults", "", "take every address that has no quota of its own"},
    {"json", "", "with --list and --describe: print a JSON object in each line"},
};

constexpr Rule kQuotasRules[] = {
    {Requires::none_of, "list", {"describe", "set", "remove"}, "use one of --list, --describe, --set and --remove"},
    {Requires::none_of, "describe", {"set", "remove"}, "use one of --list, --describe, --set and --remove"},
    {Requires::none_of, "set", {"remove", "json"}},
    {Requires::none_of, "remove", {"json"}},
    {Requires::none_of, "user", {"user-defaults", "ip", "ip-defaults"}},
    {Requires::none_of, "client", {"client-defaults", "ip", "ip-defaults"}},
    {Requires::none_of, "user-defaults", {"ip", "ip-defaults"}},
    {Requires::none_of, "client-defaults", {"ip", "ip-defaults"}},
    {Requires::none_of, "ip", {"ip-defaults"}},
    {Requires::none_of, "describe", {"user-defaults", "client-defaults", "ip-defaults"}},
};

/// The entity that the line names.
client::QuotaEntity entity_of(const Options& options) {
    client::QuotaEntity entity;
    for (const auto& [option, type] : {std::pair{"user", "user"}, {"client", "client-id"}, {"ip", "ip"}}) {
        if (options.has(option)) {
            entity.emplace_back(type, options.value(option));
        }
        if (options.has(std::string(option) + "-defaults")) {
            entity.emplace_back(type, std::nullopt);
        }
    }
    return entity;
}

std::string kinds_text() {
    std::vector<std::string> names;
    for (const QuotaKind& kind : quota_kinds()) {
        names.emplace_back(kind.name);
    }
    return joined(names, ", ");
}

Outcome<const QuotaKind*> kind_of(const std::string& name) {
    if (const QuotaKind* kind = find_quota_kind(name)) {
        return kind;
    }
    std::vector<std::string_view> names;
    for (const QuotaKind& kind : quota_kinds()) {
        names.push_back(kind.name);
    }
    const auto near = nearest(name, names);
    return refused("unknown quota '" + name + "'; " +
                   (near ? "did you mean " + std::string(*near) + "?" : "use one of: " + kinds_text()));
}

class Quotas {
  public:
    Quotas(client::Cluster& cluster, const Options& options, const Surroundings& surroundings)
        : cluster_(cluster), options_(options), surroundings_(surroundings), entity_(entity_of(options)) {}

    [[nodiscard]] Outcome<int> list() const;
    [[nodiscard]] Outcome<int> describe() const;
    [[nodiscard]] Outcome<int> set() const;
    [[nodiscard]] Outcome<int> remove() const;

  private:
    using Changes = std::vector<std::pair<std::string, std::optional<double>>>;

    [[nodiscard]] Outcome<void> check_named(const QuotaKind& kind) const;
    [[nodiscard]] Outcome<int> change(const Changes& changes) const;
    /// All quotas of entities that contain the named ones.
    [[nodiscard]] Outcome<std::vector<client::EntityQuotas>> found(const client::QuotaEntity& named) const;

    client::Cluster& cluster_;
    const Options& options_;
    const Surroundings& surroundings_;
    const client::QuotaEntity entity_;
};

ordered_json json_of(const client::QuotaEntity& entity) {
    ordered_json json = ordered_json::object();
    for (const auto& [type, name] : entity) {
        json[type] = name ? ordered_json(*name) : ordered_json();
    }
    return json;
}

std::string line_of(const ordered_json& json) { return json.dump(-1, ' ', false, ordered_json::error_handler_t::replace) + "\n"; }

std::string value_text(std::string_view key, double value) {
    const QuotaKind* kind = find_quota_kind(key);
    return kind == nullptr ? std::to_string(value) : quota_text(*kind, value);
}

/// Formats columns at their minimal widths; the last one ends the line.
std::string columns(const std::vector<std::vector<std::string>>& rows) {
    std::vector<std::size_t> widths;
    for (const auto& row : rows) {
        widths.resize(std::max(widths.size(), row.size()));
        for (std::size_t i = 0; i < row.size(); ++i) {
            widths[i] = std::max(widths[i], row[i].size());
        }
    }
    std::string text;
    for (const auto& row : rows) {
        for (std::size_t i = 0; i < row.size(); ++i) {
            text += i + 1 == row.size() ? row[i] : padded(row[i], widths[i] + 2);
        }
        text += "\n";
    }
    return text;
}

Outcome<std::vector<client::EntityQuotas>> Quotas::found(const client::QuotaEntity& named) const {
    std::vector<client::QuotaMatch> matches;
    for (const auto& [type, name] : named) {
        matches.push_back({.type = type, .name = name});
    }
    auto all = client::describe_quotas(cluster_, matches, client::QuotaEntities::with_others);
    if (!all) {
        return failed(std::move(all.error()));
    }
    std::ranges::sort(*all, {}, [](const client::EntityQuotas& one) { return entity_text(one.entity); });
    for (client::EntityQuotas& one : *all) {
        std::ranges::sort(one.values);
    }
    return std::move(*all);
}

Outcome<int> Quotas::list() const {
    PARTITA_TRY_ASSIGN(const auto all, found(entity_));
    std::vector<std::vector<std::string>> rows{{"FOR", "QUOTA", "VALUE"}};
    for (const client::EntityQuotas& one : all) {
        ordered_json quotas = ordered_json::object();
        for (const auto& [key, value] : one.values) {
            rows.push_back({entity_text(one.entity), printable(key), value_text(key, value)});
            quotas[key] = value;
        }
        if (options_.has("json")) {
            surroundings_.print(line_of({{"entity", json_of(one.entity)}, {"quotas", quotas}}));
        }
    }
    if (options_.has("json")) {
        return 0;
    }
    if (rows.size() == 1) {
        surroundings_.complain(entity_.empty() ? "no quota is set" : "no quota is set for " + entity_text(entity_));
    } else {
        surroundings_.print(columns(rows));
    }
    return 0;
}

Outcome<int> Quotas::describe() const {
    if (entity_.empty()) {
        return refused("the entity is missing: use --user, --client, both, or --ip");
    }
    Asker who;
    for (const auto& [type, name] : entity_) {
        (type == "user" ? who.user : type == "ip" ? who.ip : who.client) = name;
    }
    PARTITA_TRY_ASSIGN(const auto all, found({}));
    const std::vector<QuotaInForce> in_force = quotas_in_force(all, who);
    std::vector<std::vector<std::string>> rows{{"QUOTA", "VALUE", "SET FOR"}};
    for (const QuotaKind& kind : quota_kinds()) {
        if (kind.is_of_addresses != who.ip.has_value()) {
            continue;
        }
        const auto one = std::ranges::find(in_force, kind.name, &QuotaInForce::key);
        const bool has = one != in_force.end();
        rows.push_back(has ? std::vector{std::string(kind.name), quota_text(kind, one->value), entity_text(one->from)}
                           : std::vector{std::string(kind.name), std::string("no limit")});
        if (options_.has("json")) {
            surroundings_.print(line_of({{"quota", kind.name},
                                         {"value", has ? ordered_json(one->value) : ordered_json()},
                                         {"set_for", has ? json_of(one->from) : ordered_json()}}));
        }
    }
    if (!options_.has("json")) {
        surroundings_.print(columns(rows));
    }
    return 0;
}

Outcome<void> Quotas::check_named(const QuotaKind& kind) const {
    if (entity_.empty()) {
        return refused(
            "the entity is missing: use --user, --client or both, or --ip; or --user-defaults, --client-defaults, --ip-defaults");
    }
    const bool is_address = entity_.front().first == "ip";
    if (kind.is_of_addresses == is_address) {
        return {};
    }
    return refused(std::string(kind.name) + (is_address ? " applies to users and clients, not to addresses"
                                                        : " applies to addresses: use --ip or --ip-defaults"));
}

Outcome<int> Quotas::change(const Changes& changes) const {
    const auto done = client::alter_quotas(cluster_, entity_, changes);
    if (!done) {
        return failed(done.error());
    }
    for (const auto& [key, value] : changes) {
        surroundings_.print(entity_text(entity_) + ": " + key + (value ? " is " + value_text(key, *value) : " is removed") +
                            "\n");
    }
    return 0;
}

Outcome<int> Quotas::set() const {
    if (options_.rest().empty()) {
        return refused("the quota is missing: use KIND=VALUE, such as producer_byte_rate=10MB; the kinds are " + kinds_text());
    }
    Changes changes;
    for (const std::string& word : options_.rest()) {
        const std::size_t equals = word.find('=');
        if (equals == std::string::npos) {
            return refused("'" + word + "' has no value: use " + word + "=VALUE");
        }
        PARTITA_TRY_ASSIGN(const auto kind, kind_of(word.substr(0, equals)));
        PARTITA_TRY(check_named(*kind));
        const auto value = parse_quota(*kind, std::string_view(word).substr(equals + 1));
        if (!value) {
            return refused(value.error());
        }
        changes.emplace_back(kind->name, *value);
    }
    return change(changes);
}

Outcome<int> Quotas::remove() const {
    Changes changes;
    for (const std::string& word : options_.rest()) {
        PARTITA_TRY_ASSIGN(const auto kind, kind_of(word));
        PARTITA_TRY(check_named(*kind));
        changes.emplace_back(kind->name, std::nullopt);
    }
    // An unnamed entity has no quota to remove; the same check gives the same message.
    PARTITA_TRY(check_named({.is_of_addresses = !entity_.empty() && entity_.front().first == "ip"}));
    PARTITA_TRY_ASSIGN(const auto present, found(entity_));
    std::set<std::string> keys;
    for (const client::EntityQuotas& one : present) {
        if (one.entity.size() != entity_.size()) {
            continue;
        }
        for (const auto& [key, value] : one.values) {
            keys.insert(key);
        }
    }
    for (const auto& [key, value] : changes) {
        if (!keys.contains(key)) {
            return failed(entity_text(entity_) + " has no " + key);
        }
    }
    if (changes.empty()) {
        for (const std::string& key : keys) {
            changes.emplace_back(key, std::nullopt);
        }
    }
    if (changes.empty()) {
        return failed(entity_text(entity_) + " has no quota");
    }
    return change(changes);
}

Outcome<int> run_quotas(const Options& options, const Surroundings& surroundings) {
    const bool takes_words = options.has("set") || options.has("remove");
    if (!takes_words && !options.rest().empty()) {
        return refused("'" + options.rest().front() + "' is not an option; only --set and --remove take words");
    }
    PARTITA_TRY_ASSIGN(auto cluster, open_cluster(options, surroundings));
    const Quotas quotas(cluster, options, surroundings);
    if (options.has("set")) {
        return quotas.set();
    }
    if (options.has("remove")) {
        return quotas.remove();
    }
    return options.has("describe") ? quotas.describe() : quotas.list();
}

}  // namespace

const Tool kQuotasTool{
    .name = "quotas",
    .kafka_name = "",
    .summary = "show and change quotas of users, clients and addresses",
    .purpose =
        "Show and change quotas of users, clients and addresses: partita quotas --set --user anna "
        "producer_byte_rate=10MB",
    .options = kQuotasOptions,
    .rules = kQuotasRules,
    .failure_prefix = "partita quotas: ",
    .run = run_quotas,
    .refusal_prefix = "partita quotas: ",
    .needs_options = false,
    .words = "producer_byte_rate consumer_byte_rate request_percentage controller_mutation_rate connection_creation_rate"};

}  // namespace partita::tools
