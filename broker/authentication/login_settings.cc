#include "broker/authentication/login_settings.h"

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <utility>

#include "broker/authentication/jaas.h"
#include "broker/authentication/sasl_text.h"
#include "protocol/try.h"

namespace partita::authentication {
namespace {

constexpr std::string_view kKafkaPackage = "org.apache.kafka.common.security.";
constexpr std::string_view kJaas = "sasl.jaas.config";
constexpr std::string_view kJaasFile = "partita.jaas.file";
constexpr std::string_view kHandler = "sasl.server.callback.handler.class";
constexpr std::string_view kSessionMax = "connections.max.reauth.ms";
constexpr std::string_view kProfile = "partita.profile";
constexpr std::string_view kAccessKeys = "partita.profile.access.keys";
constexpr std::string_view kUserPrefix = "user_";

struct MechanismFacts {
    Mechanism mechanism;
    std::string_view name;
    /// The class name without Kafka's package.
    std::string_view login_module;
    std::string_view own_handler;
};

constexpr std::array<MechanismFacts, 4> kMechanisms = {{
    {Mechanism::plain, "PLAIN", "plain.PlainLoginModule", "plain.internals.PlainServerCallbackHandler"},
    {Mechanism::scram_sha_256, "SCRAM-SHA-256", "scram.ScramLoginModule", "scram.internals.ScramServerCallbackHandler"},
    {Mechanism::scram_sha_512, "SCRAM-SHA-512", "scram.ScramLoginModule", "scram.internals.ScramServerCallbackHandler"},
    {Mechanism::oauth_bearer, "OAUTHBEARER", "oauthbearer.OAuthBearerLoginModule",
     "oauthbearer.internals.unsecured.OAuthBearerUnsecuredValidatorCallbackHandler"},
}};
/// The handlers for signed tokens; the second name is that of Kafka 3.
constexpr std::array<std::string_view, 2> kSignedTokenHandlers = {
    "oauthbearer.OAuthBearerValidatorCallbackHandler",
    "oauthbearer.secured.OAuthBearerValidatorCallbackHandler",
};

std::string lower(std::string_view text) {
    std::string result(text);
    for (char& c : result) {
        c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    }
    return result;
}

std::vector<std::string> items_of(std::string_view text, char separator) {
    std::vector<std::string> items;
    while (true) {
        const std::size_t end = text.find(separator);
        if (std::string item(trimmed(text.substr(0, end))); !item.empty()) {
            items.push_back(std::move(item));
        }
        if (end == text.npos) {
            return items;
        }
        text.remove_prefix(end + 1);
    }
}

template <class Number>
std::expected<Number, std::string> number_of(std::string_view name, std::string_view text, Number minimum) {
    Number number{};
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc{} || end != text.data() + text.size() || number < minimum) {
        return std::unexpected("Invalid value " + std::string(text) + " for configuration " + std::string(name) +
                               ": must be a number of at least " + std::to_string(minimum));
    }
    return number;
}

/// The configs of one listener by their short names.
class ListenerConfigs {
  public:
    explicit ListenerConfigs(const LoginConfigs& configs)
        : configs_(configs), prefix_("listener.name." + lower(configs.listener) + ".") {}

    [[nodiscard]] std::string mechanism_config(const MechanismFacts& facts, std::string_view name) const {
        return prefix_ + lower(facts.name) + "." + std::string(name);
    }
    /// The value for this listener and this mechanism only.
    [[nodiscard]] std::optional<std::string> own(const MechanismFacts& facts, std::string_view name) const {
        return configs_.value(mechanism_config(facts, name));
    }
    /// The value for the mechanism, else for the listener, else for the broker, else the default.
    [[nodiscard]] std::optional<std::string> of_mechanism(const MechanismFacts& facts, std::string_view name) const {
        auto value = own(facts, name);
        return value ? value : of_listener(name);
    }
    [[nodiscard]] std::optional<std::string> of_listener(std::string_view name) const {
        auto value = configs_.value(prefix_ + std::string(name));
        return value ? value : configs_.value(name);
    }
    template <class Number>
    [[nodiscard]] std::expected<Number, std::string> number(const MechanismFacts* facts, std::string_view name, Number minimum,
                                                            Number fallback) const {
        const auto text = facts == nullptr ? of_listener(name) : of_mechanism(*facts, name);
        return text ? number_of<Number>(name, trimmed(*text), minimum) : fallback;
    }

  private:
    const LoginConfigs& configs_;
    std::string prefix_;
};

/// Finds the module that serves the mechanism, in one section of a JAAS file. Returns null if the section has none.
std::expected<std::optional<LoginModule>, std::string> module_of_file(const LoginConfigs& source, const MechanismFacts& facts) {
    const std::string path(trimmed(source.value(kJaasFile).value_or("")));
    if (path.empty()) {
        return std::nullopt;
    }
    const std::string place = std::string(kJaasFile) + "=" + path;
    const auto text = source.read_file(path);
    if (!text) {
        return std::unexpected(place + ": " + text.error());
    }
    auto sections = parse_jaas_file(*text);
    if (!sections) {
        const JaasError& error = sections.error();
        return std::unexpected(place + ", line " + std::to_string(error.line) + ", column " + std::to_string(error.column) +
                               ": " + error.message);
    }
    const std::string own = lower(source.listener) + ".KafkaServer";
    auto section = sections->find(own);
    section = section == sections->end() ? sections->find("KafkaServer") : section;
    if (section == sections->end()) {
        return std::unexpected("Could not find a 'KafkaServer' or '" + own + "' entry in the JAAS configuration (" + place + ")");
    }
    const std::string wanted = std::string(kKafkaPackage) + std::string(facts.login_module);
    const auto module = std::ranges::find(section->second, wanted, &LoginModule::class_name);
    if (module == section->second.end()) {
        return std::unexpected("the section " + section->first + " of " + place + " has no login module for " +
                               std::string(facts.name) + ": add " + wanted + " required ... ;");
    }
    for (const auto& [name, value] : module->options) {
        if (value.contains("${")) {
            return std::unexpected(place + ": the option " + name + " has a variable of Java's, which this broker cannot know");
        }
    }
    return std::move(*module);
}

/// The text of a setting with login modules, and its name: that of the mechanism at this listener, else the general one.
struct JaasText {
    std::string name;
    std::optional<std::string> text;
};
JaasText jaas_text_of(const ListenerConfigs& configs, const MechanismFacts& facts) {
    JaasText own{configs.mechanism_config(facts, kJaas), configs.own(facts, kJaas)};
    if (own.text) {
        return own;
    }
    // Kafka reads only the former. Here nothing else could be meant.
    return {std::string(kJaas), configs.of_listener(kJaas)};
}

std::expected<LoginModule, std::string> module_of(const LoginConfigs& source, const ListenerConfigs& configs,
                                                  const MechanismFacts& facts) {
    if (!configs.own(facts, kJaas)) {
        PARTITA_TRY_ASSIGN(auto of_file, module_of_file(source, facts));
        if (of_file) {
            return std::move(*of_file);
        }
    }
    const auto [name, text] = jaas_text_of(configs, facts);
    if (!text) {
        return std::unexpected("The SASL mechanism " + std::string(facts.name) + " needs a login module: set " +
                               configs.mechanism_config(facts, kJaas) + "=" + std::string(kKafkaPackage) +
                               std::string(facts.login_module) + " required ... ;");
    }
    auto modules = parse_jaas(*text);
    if (!modules) {
        const JaasError& error = modules.error();
        return std::unexpected(error.message + " (" + name + ", line " + std::to_string(error.line) + ", column " +
                               std::to_string(error.column) + ")");
    }
    if (modules->size() != 1) {
        return std::unexpected("JAAS config property contains " + std::to_string(modules->size()) +
                               " login modules, should be 1 module (" + name + ")");
    }
    LoginModule& module = modules->front();
    if (const std::string wanted = std::string(kKafkaPackage) + std::string(facts.login_module); module.class_name != wanted) {
        return std::unexpected(name + " names the login module " + module.class_name + "; this broker supports only " + wanted +
                               " for " + std::string(facts.name));
    }
    return std::move(module);
}

UnsecuredTokens unsecured_tokens(const LoginModule& module, std::int32_t clock_skew_ms) {
    const auto option = [&](std::string_view name) {
        const std::string* const value = module.option(name);
        return value == nullptr ? std::string() : std::string(trimmed(*value));
    };
    UnsecuredTokens rules{.required_scope = items_of(option("unsecuredValidatorRequiredScope"), ' '),
                          .clock_skew_ms = clock_skew_ms};
    if (std::string claim = option("unsecuredValidatorPrincipalClaimName"); !claim.empty()) {
        rules.principal_claim = std::move(claim);
    }
    if (std::string claim = option("unsecuredValidatorScopeClaimName"); !claim.empty()) {
        rules.scope_claim = std::move(claim);
    }
    return rules;
}

constexpr std::string_view kKeySetUrl = "sasl.oauthbearer.jwks.endpoint.url";

std::expected<KeySet, std::string> keys_of_file(const LoginConfigs& source, const std::string& url) {
    constexpr std::string_view kFile = "file:";
    const auto fail = [&](std::string_view reason) {
        return std::unexpected(std::string(kKeySetUrl) + "=" + url + ": " + std::string(reason));
    };
    if (!url.starts_with(kFile)) {
        return fail("use a file (file:///path/keys.json), http or https");
    }
    std::string path = url.substr(kFile.size());
    if (path.starts_with("///")) {
        path.erase(0, 2);
    }
    const auto text = source.read_file(path);
    if (!text) {
        return fail(text.error());
    }
    auto keys = KeySet::parse(*text);
    if (!keys) {
        return fail(keys.error());
    }
    if (keys->keys().empty()) {
        return fail(kNoUsableKey);
    }
    return std::move(*keys);
}

std::expected<KeySetPlace, std::string> key_set_place(const ListenerConfigs& configs, const MechanismFacts& facts,
                                                      const LoginModule& module, const std::string& url) {
    KeySetPlace place{.url = url};
    for (const auto& [name, number] : {std::pair{"sasl.oauthbearer.jwks.endpoint.refresh.ms", &place.refresh_ms},
                                       std::pair{"sasl.oauthbearer.jwks.endpoint.retry.backoff.ms", &place.retry_ms_min},
                                       std::pair{"sasl.oauthbearer.jwks.endpoint.retry.backoff.max.ms", &place.retry_ms_max}}) {
        PARTITA_TRY_ASSIGN(const auto given, configs.number<std::int64_t>(&facts, name, 1, *number));
        *number = given;
    }
    for (const auto& [name, value] : module.options) {
        if (name.starts_with("ssl.")) {
            place.tls.emplace(name, value);
        }
    }
    return place;
}

std::expected<SignedTokens, std::string> signed_tokens(const LoginConfigs& source, const ListenerConfigs& configs,
                                                       const MechanismFacts& facts, const LoginModule& module) {
    const std::string given_url = configs.of_mechanism(facts, kKeySetUrl).value_or("");
    const std::string url(trimmed(given_url));
    if (url.empty()) {
        // Kafka 4.1 then accepts any token, whatever its signature (fixed since).
        return std::unexpected("The OAuth configuration option " + std::string(kKeySetUrl) +
                               " value must be non-null: without it the broker cannot check a token's signature");
    }
    PARTITA_TRY_ASSIGN(const auto skew, configs.number<std::int32_t>(&facts, "sasl.oauthbearer.clock.skew.seconds", 0, 30));
    SignedTokens rules{.issuer = configs.of_mechanism(facts, "sasl.oauthbearer.expected.issuer"),
                       .audience = items_of(configs.of_mechanism(facts, "sasl.oauthbearer.expected.audience").value_or(""), ','),
                       .clock_skew_seconds = skew};
    if (auto claim = configs.of_mechanism(facts, "sasl.oauthbearer.scope.claim.name")) {
        rules.scope_claim = trimmed(*claim);
    }
    if (auto claim = configs.of_mechanism(facts, "sasl.oauthbearer.sub.claim.name")) {
        rules.subject_claim = trimmed(*claim);
    }
    if (rules.scope_claim.empty() || rules.subject_claim.empty()) {
        return std::unexpected("sasl.oauthbearer.scope.claim.name and sub.claim.name must be non-empty");
    }
    // Last, so that the broker contacts an issuer only with valid settings.
    if (url.starts_with("http://") || url.starts_with("https://")) {
        PARTITA_TRY_ASSIGN(auto place, key_set_place(configs, facts, module, url));
        PARTITA_TRY_ASSIGN(rules.source, source.fetch_keys(std::move(place)));
        return rules;
    }
    PARTITA_TRY_ASSIGN(auto keys, keys_of_file(source, url));
    rules.keys = std::move(keys);
    return rules;
}

using Problem = std::optional<std::string>;

Problem add_tokens(LoginSettings& settings, const LoginConfigs& source, const ListenerConfigs& configs,
                   const MechanismFacts& facts, const LoginModule& module, bool with_signature) {
    if (with_signature) {
        auto rules = signed_tokens(source, configs, facts, module);
        if (!rules) {
            return std::move(rules.error());
        }
        settings.tokens = std::move(*rules);
        return std::nullopt;
    }
    constexpr std::string_view kSkew = "unsecuredValidatorAllowableClockSkewMs";
    const std::string* const skew_text = module.option(kSkew);
    std::int32_t skew_ms = 0;
    if (skew_text != nullptr && !trimmed(*skew_text).empty()) {
        const auto skew = number_of<std::int32_t>(kSkew, trimmed(*skew_text), 0);
        if (!skew) {
            return skew.error();
        }
        skew_ms = *skew;
    }
    settings.tokens = unsecured_tokens(module, skew_ms);
    return std::nullopt;
}

Problem add_mechanism(LoginSettings& settings, const LoginConfigs& source, const ListenerConfigs& configs,
                      const MechanismFacts& facts) {
    const bool has_users = configs.own(facts, kJaas).has_value() || !trimmed(source.value(kJaasFile).value_or("")).empty();
    if (facts.mechanism == Mechanism::plain && settings.access_keys && !has_users) {
        const auto session_ms = configs.number<std::int64_t>(&facts, kSessionMax, 0, 0);
        if (!session_ms) {
            return session_ms.error();
        }
        settings.offers.push_back({facts.mechanism, *session_ms});
        return std::nullopt;
    }
    auto module = module_of(source, configs, facts);
    if (!module) {
        return std::move(module.error());
    }
    const std::string own_handler = std::string(kKafkaPackage) + std::string(facts.own_handler);
    const std::string given_handler = configs.own(facts, kHandler).value_or(own_handler);
    const std::string handler(trimmed(given_handler));
    const bool with_signature =
        facts.mechanism == Mechanism::oauth_bearer && std::ranges::any_of(kSignedTokenHandlers, [&](std::string_view each) {
            return handler == std::string(kKafkaPackage) + std::string(each);
        });
    if (handler != own_handler && !with_signature) {
        return configs.mechanism_config(facts, kHandler) + " names the class " + handler +
               "; this broker supports only Kafka's own";
    }
    const auto session_ms = configs.number<std::int64_t>(&facts, kSessionMax, 0, 0);
    if (!session_ms) {
        return session_ms.error();
    }
    settings.offers.push_back({facts.mechanism, *session_ms});
    switch (facts.mechanism) {
        case Mechanism::plain:
            for (auto& [name, password] : module->options) {
                if (name.starts_with(kUserPrefix)) {
                    settings.users.emplace(name.substr(kUserPrefix.size()), std::move(password));
                }
            }
            return std::nullopt;
        case Mechanism::scram_sha_256:
        case Mechanism::scram_sha_512:
            return std::nullopt;
        case Mechanism::oauth_bearer:
            return add_tokens(settings, source, configs, facts, *module, with_signature);
    }
    return std::nullopt;
}

/// A service with connection strings accepts them at every listener.
Problem add_access_keys(LoginSettings& settings, const LoginConfigs& source) {
    if (trimmed(source.value(kProfile).value_or("")).empty()) {
        return std::nullopt;
    }
    auto keys = parse_access_keys(source.value(kAccessKeys).value_or(""));
    if (!keys) {
        return std::string(kAccessKeys) + ": " + keys.error();
    }
    settings.access_keys = std::move(*keys);
    return std::nullopt;
}

std::uint32_t java_hash(std::string_view text) {
    std::uint32_t hash = 0;
    for (const char letter : text) {
        hash = 31 * hash + static_cast<unsigned char>(letter);
    }
    return hash;
}

}  // namespace

std::string_view mechanism_name(Mechanism mechanism) { return kMechanisms[static_cast<std::size_t>(mechanism)].name; }

std::optional<Mechanism> parse_mechanism(std::string_view name) {
    const auto found = std::ranges::find(kMechanisms, name, &MechanismFacts::name);
    return found == kMechanisms.end() ? std::nullopt : std::optional(found->mechanism);
}

const LoginSettings::Offer* LoginSettings::find(std::string_view mechanism) const {
    const auto found =
        std::ranges::find_if(offers, [&](const Offer& offer) { return mechanism_name(offer.mechanism) == mechanism; });
    return found == offers.end() ? nullptr : &*found;
}

std::vector<std::string> in_told_order(std::vector<std::string> mechanisms) {
    std::vector<std::string> unique;
    for (std::string& mechanism : mechanisms) {
        if (std::ranges::find(unique, mechanism) == unique.end()) {
            unique.push_back(std::move(mechanism));
        }
    }
    const std::size_t buckets = std::bit_ceil(std::max<std::size_t>(mechanisms.size() * 4 / 3 + 1, 16));
    std::ranges::stable_sort(unique, {}, [&](const std::string& mechanism) {
        const std::uint32_t hash = java_hash(mechanism);
        return (hash ^ (hash >> 16)) & (buckets - 1);
    });
    return unique;
}

std::expected<LoginSettings, std::string> make_login_settings(const LoginConfigs& source) {
    const ListenerConfigs configs(source);
    LoginSettings settings;
    PARTITA_TRY_ASSIGN(settings.receive_bytes_max,
                       configs.number<std::int32_t>(nullptr, "sasl.server.max.receive.size", 0, settings.receive_bytes_max));
    PARTITA_TRY_ASSIGN(
        settings.failure_delay_ms,
        configs.number<std::int32_t>(nullptr, "connection.failed.authentication.delay.ms", 0, settings.failure_delay_ms));
    settings.token_secret = source.value("delegation.token.secret.key").value_or("");
    std::vector<std::string> enabled = items_of(configs.of_listener("sasl.enabled.mechanisms").value_or(""), ',');
    if (Problem problem = add_access_keys(settings, source)) {
        return std::unexpected(std::move(*problem));
    }
    if (settings.access_keys) {
        enabled.emplace_back(mechanism_name(Mechanism::plain));
    }
    const std::vector<std::string> names = in_told_order(std::move(enabled));
    if (names.empty()) {
        return std::unexpected("No SASL mechanisms are enabled (sasl.enabled.mechanisms)");
    }
    for (const std::string& name : names) {
        const auto facts = std::ranges::find(kMechanisms, name, &MechanismFacts::name);
        if (facts == kMechanisms.end()) {
            const std::string_view which = name == "GSSAPI" ? "GSSAPI (Kerberos), the default of Kafka" : std::string_view(name);
            return std::unexpected(
                "sasl.enabled.mechanisms of listener " + source.listener + " has " + std::string(which) +
                ", which this broker does not serve: it serves PLAIN, SCRAM-SHA-256, SCRAM-SHA-512 and OAUTHBEARER");
        }
        if (Problem problem = add_mechanism(settings, source, configs, *facts)) {
            return std::unexpected(std::move(*problem));
        }
    }
    return settings;
}

}  // namespace partita::authentication
