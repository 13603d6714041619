#include "broker/catalog/client_quotas.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <map>
#include <set>
#include <utility>

#include "broker/catalog/catalog_core.h"
#include "broker/catalog/catalog_refusal.h"
#include "broker/catalog/change_builder.h"
#include "protocol/assert.h"

namespace partita::catalog {
namespace {

constexpr std::string_view kUser = "user";
constexpr std::string_view kClientId = "client-id";
constexpr std::string_view kIp = "ip";

enum class QuotaType { int32, int64, float64 };

struct QuotaDefinition {
    std::string_view key;
    QuotaType type;
    bool is_for_addresses;
};

constexpr QuotaDefinition kQuotas[] = {
    {"producer_byte_rate", QuotaType::int64, false},      {"consumer_byte_rate", QuotaType::int64, false},
    {"request_percentage", QuotaType::float64, false},    {"controller_mutation_rate", QuotaType::float64, false},
    {"connection_creation_rate", QuotaType::int32, true},
};

CatalogError invalid(std::string message) { return refused(ErrorCode::invalid_request, std::move(message)); }

bool is_entity_type(std::string_view type) { return type == kUser || type == kClientId || type == kIp; }

// Names of stored entities: "type=default;" or "type=length:name;" for each type, ascending. ------------------

std::string entity_name(const QuotaEntity& entity) {
    std::string text;
    for (const auto& [type, name] : entity) {
        text += type + "=" + (name ? std::to_string(name->size()) + ":" + *name : "default") + ";";
    }
    return text;
}

/// Undoes `entity_name`; null for any other text.
std::optional<QuotaEntity> parse_entity(std::string_view text) {
    constexpr std::string_view kDefault = "default;";
    QuotaEntity entity;
    while (!text.empty()) {
        const std::size_t equals = text.find('=');
        if (equals == text.npos) {
            return std::nullopt;
        }
        const std::string type(text.substr(0, equals));
        text.remove_prefix(equals + 1);
        std::optional<std::string> name;
        if (text.starts_with(kDefault)) {
            text.remove_prefix(kDefault.size());
        } else {
            std::size_t length = 0;
            const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), length);
            text.remove_prefix(static_cast<std::size_t>(end - text.data()));
            // A colon before the name and a semicolon behind it.
            if (error != std::errc() || !text.starts_with(':') || text.size() < 2 || length > text.size() - 2 ||
                text[1 + length] != ';') {
                return std::nullopt;
            }
            name = std::string(text.substr(1, length));
            text.remove_prefix(length + 2);
        }
        entity.emplace(type, std::move(name));
    }
    return entity;
}

/// The text by which Kafka prints an entity.
std::string entity_text(const QuotaEntity& entity) {
    std::string text = "ClientQuotaEntity(entries={";
    for (const auto& [type, name] : entity) {
        if (!text.ends_with('{')) {
            text += ", ";
        }
        text += type + "=" + name.value_or("null");
    }
    return text + "})";
}

std::string number_text(double number) {
    char buffer[32];
    const auto [end, error] = std::to_chars(buffer, buffer + sizeof buffer, number);
    PARTITA_ASSERT(error == std::errc(), "the shortest text of a double fits");
    return {buffer, end};
}

double parse_number(std::string_view text) {
    double number = 0;
    std::from_chars(text.data(), text.data() + text.size(), number);
    return number;
}

// Rules --------------------------------------------------------------------------------------------------------

/// True for an address, or a name that could belong to one. Kafka asks the resolver, which may take seconds.
bool is_address(std::string_view text) {
    constexpr std::string_view kAddressCharacters = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ-._:%";
    return text.find_first_not_of(kAddressCharacters) == text.npos;
}

CatalogError judge_entity(const QuotaEntity& entity) {
    if (entity.empty()) {
        return invalid("Invalid empty client quota entity");
    }
    for (const auto& [type, name] : entity) {
        if (!is_entity_type(type)) {
            return invalid("Unhandled client quota entity type: " + type);
        }
        if (name && name->empty()) {
            return invalid("Empty " + type + " not supported");
        }
    }
    const auto ip = entity.find(kIp);
    if (ip == entity.end()) {
        return {};
    }
    if (entity.size() > 1) {
        return invalid("Invalid quota entity combination, IP entity shouldnot be combined with User or ClientId");
    }
    if (ip->second && !is_address(*ip->second)) {
        return invalid(*ip->second + " is not a valid IP or resolvable host.");
    }
    return {};
}

CatalogError judge_value(std::string_view key, double value, bool is_for_addresses) {
    const auto found = std::ranges::find_if(
        kQuotas, [&](const QuotaDefinition& quota) { return quota.key == key && quota.is_for_addresses == is_for_addresses; });
    const std::string name(key);
    if (found == std::end(kQuotas)) {
        return invalid("Invalid configuration key " + name);
    }
    if (value <= 0.0) {
        return invalid("Quota " + name + " must be greater than 0");
    }
    if (found->type == QuotaType::float64) {
        return {};
    }
    if (found->type == QuotaType::int32 && value > std::numeric_limits<std::int32_t>::max()) {
        return invalid("Proposed value for " + name + " is too large for an INT.");
    }
    if (found->type == QuotaType::int64 && value > 9223372036854775807.0) {
        return invalid("Proposed value for " + name + " is too large for a LONG.");
    }
    constexpr double kTolerance = 1e-6;
    if (std::abs(std::trunc(value + kTolerance) - value) > kTolerance) {
        return invalid(name + " cannot be a fractional value.");
    }
    return {};
}

/// All operations of an entity, or the first refusal.
CatalogError apply(const QuotaAlteration& alteration, ConfigMap& quotas) {
    const bool is_for_addresses = alteration.entity.contains(kIp);
    std::set<std::string_view> keys;
    for (const QuotaOperation& operation : alteration.operations) {
        if (!keys.insert(operation.key).second) {
            return invalid("Ignoring duplicate entity " + entity_text(alteration.entity));
        }
    }
    for (const QuotaOperation& operation : alteration.operations) {
        if (!operation.value) {
            quotas.erase(std::string(operation.key));
            continue;
        }
        if (auto error = judge_value(operation.key, *operation.value, is_for_addresses); error.failed()) {
            return error;
        }
        quotas.insert_or_assign(std::string(operation.key), number_text(*operation.value));
    }
    return {};
}

CatalogError judge_filter(std::span<const QuotaFilterComponent> filter) {
    std::set<std::string_view> types;
    for (const QuotaFilterComponent& component : filter) {
        if (component.entity_type.empty()) {
            return invalid("Invalid empty entity type.");
        }
        const std::string type(component.entity_type);
        if (!types.insert(component.entity_type).second) {
            return invalid("Entity type " + type + " cannot appear more than once in the filter.");
        }
        if (!is_entity_type(type)) {
            return refused(ErrorCode::unsupported_version, "Unsupported entity type " + type);
        }
        switch (component.match_type) {
            case 0:
                if (!component.match) {
                    return invalid("Request specified MATCH_TYPE_EXACT, but set match string to null.");
                }
                break;
            case 1:
                if (component.match) {
                    return invalid("Request specified MATCH_TYPE_DEFAULT, but also specified a match string.");
                }
                break;
            case 2:
                if (component.match) {
                    return invalid("Request specified MATCH_TYPE_SPECIFIED, but also specified a match string.");
                }
                break;
            default:
                return invalid("Unknown match type " + std::to_string(component.match_type));
        }
    }
    if (types.contains(kIp) && types.size() > 1) {
        return invalid(
            "Invalid entity filter component combination. IP filter component should not be used with user or clientId "
            "filter component.");
    }
    return {};
}

bool matches(const QuotaEntity& entity, std::span<const QuotaFilterComponent> filter, bool strict) {
    if (strict && entity.size() != filter.size()) {
        return false;
    }
    return std::ranges::all_of(filter, [&](const QuotaFilterComponent& component) {
        const auto found = entity.find(component.entity_type);
        if (found == entity.end()) {
            return false;
        }
        if (component.match_type == 2) {
            return true;
        }
        return component.match ? found->second == *component.match : !found->second.has_value();
    });
}

}  // namespace

Decision<AlterClientQuotas> CatalogCore::decide(const AlterClientQuotas& command, const CatalogContext&) const {
    AlterClientQuotasResult answer;
    ChangeBuilder change(snapshot_);
    std::map<QuotaEntity, std::size_t> known;
    for (const QuotaAlteration& alteration : command.alterations) {
        const auto [place, is_new] = known.try_emplace(alteration.entity, answer.entities.size());
        if (!is_new) {
            answer.entities[place->second].error = invalid("Ignoring duplicate entity " + entity_text(alteration.entity));
            continue;
        }
        AlteredQuotas& result = answer.entities.emplace_back(alteration.entity);
        result.error = judge_entity(alteration.entity);
        if (result.error.failed()) {
            continue;
        }
        const std::string name = entity_name(alteration.entity);
        const auto& all = change.draft().all_client_quotas();
        const auto present = all.find(name);
        ConfigMap quotas = present == all.end() ? ConfigMap{} : present->second;
        const ConfigMap before = quotas;
        result.error = apply(alteration, quotas);
        if (!result.error.failed() && !command.validate_only && quotas != before) {
            change.set_configs(ConfigResourceType::client_quota, name, std::move(quotas));
        }
    }
    return {std::move(answer), change.finish()};
}

std::expected<std::vector<DescribedQuotas>, CatalogError> describe_client_quotas(const CatalogSnapshot& catalog,
                                                                                 std::span<const QuotaFilterComponent> filter,
                                                                                 bool strict) {
    if (auto error = judge_filter(filter); error.failed()) {
        return std::unexpected(std::move(error));
    }
    std::vector<DescribedQuotas> found;
    for (const auto& [name, configs] : catalog.all_client_quotas()) {
        auto entity = parse_entity(name);
        PARTITA_ASSERT(entity.has_value(), "the catalog holds only what entity_name made");
        if (!matches(*entity, filter, strict)) {
            continue;
        }
        DescribedQuotas& described = found.emplace_back(std::move(*entity));
        for (const auto& [key, value] : configs) {
            described.values.emplace(key, parse_number(value));
        }
    }
    return found;
}

bool is_quota_entity(std::string_view name) { return parse_entity(name).has_value(); }

std::optional<double> client_quota(const CatalogSnapshot& catalog, const QuotaEntity& entity, std::string_view key) {
    const auto quotas = catalog.all_client_quotas().find(entity_name(entity));
    if (quotas == catalog.all_client_quotas().end()) {
        return std::nullopt;
    }
    const auto value = quotas->second.find(key);
    if (value == quotas->second.end()) {
        return std::nullopt;
    }
    return parse_number(value->second);
}

std::optional<QuotaInForce> quota_of_client(const CatalogSnapshot& catalog, std::string_view user, std::string_view client_id,
                                            std::string_view key) {
    if (catalog.all_client_quotas().empty()) {
        return std::nullopt;
    }
    enum class Part { named, any, absent };
    struct Level {
        Part user;
        Part client;
    };
    static constexpr Level kMostSpecificFirst[] = {
        {Part::named, Part::named}, {Part::named, Part::any},  {Part::named, Part::absent}, {Part::any, Part::named},
        {Part::any, Part::any},     {Part::any, Part::absent}, {Part::absent, Part::named}, {Part::absent, Part::any},
    };
    const auto add = [](QuotaEntity& entity, std::string_view type, Part part, std::string_view name) {
        if (part == Part::named) {
            entity.emplace(type, std::string(name));
        }
        if (part == Part::any) {
            entity.emplace(type, std::nullopt);
        }
    };
    for (const Level& level : kMostSpecificFirst) {
        QuotaEntity entity;
        add(entity, kUser, level.user, user);
        add(entity, kClientId, level.client, client_id);
        const std::optional<double> rate = client_quota(catalog, entity, key);
        if (!rate) {
            continue;
        }
        // A quota for any user or any client id applies to each of them separately.
        std::string bucket;
        if (level.user != Part::absent) {
            bucket += "user=" + std::to_string(user.size()) + ":" + std::string(user) + ";";
        }
        if (level.client != Part::absent) {
            bucket += "client-id=" + std::string(client_id);
        }
        return QuotaInForce{*rate, std::move(bucket)};
    }
    return std::nullopt;
}

std::optional<QuotaInForce> quota_of_address(const CatalogSnapshot& catalog, std::string_view address, std::string_view key) {
    std::string own(address);
    std::optional<double> rate = client_quota(catalog, {{std::string(kIp), own}}, key);
    if (!rate) {
        rate = client_quota(catalog, {{std::string(kIp), std::nullopt}}, key);
    }
    if (!rate) {
        return std::nullopt;
    }
    return QuotaInForce{*rate, std::move(own)};
}

}  // namespace partita::catalog
