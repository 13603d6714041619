#include "broker/config/config_providers.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <regex>
#include <vector>

#include "broker/config/broker_synonyms.h"
#include "broker/config/config_refusal.h"
#include "broker/config/java_text.h"
#include "broker/config/properties.h"
#include "protocol/try.h"

namespace partita::config {
namespace {

constexpr std::string_view kProviders = "config.providers";
constexpr std::string_view kPackage = "org.apache.kafka.common.config.provider.";

enum class ProviderKind : std::uint8_t { environment, file, directory };

struct Provider {
    ProviderKind kind{};
    /// For variables of the environment.
    std::optional<std::regex> allowed_names;
    /// Empty: all paths.
    std::vector<std::filesystem::path> allowed_paths;
};

/// The parts of `${PROVIDER:PATH:KEY}`. The path may be missing.
struct Variable {
    std::string provider;
    std::string path;
    std::string key;
};

std::optional<std::string> value_of(const ConfigMap& given, const std::string& name) {
    const auto found = given.find(name);
    return found == given.end() ? std::nullopt : std::optional(std::string(java::trim(found->second)));
}

std::expected<std::optional<std::regex>, ConfigError> allowed_names(const ConfigMap& given, const std::string& prefix) {
    const std::string name = prefix + ".param.allowlist.pattern";
    const auto pattern = value_of(given, name);
    if (!pattern || pattern->empty()) {
        return std::nullopt;
    }
    try {
        return std::regex(*pattern);
    } catch (const std::regex_error&) {
        return invalid_config("Invalid value " + *pattern + " for configuration " + name + ": it must be a regular expression");
    }
}

std::expected<Provider, ConfigError> provider_of(const ConfigMap& given, const std::string& name) {
    const std::string prefix = std::string(kProviders) + "." + name;
    const auto class_name = value_of(given, prefix + ".class");
    Provider provider;
    if (class_name == std::string(kPackage) + "EnvVarConfigProvider") {
        provider.kind = ProviderKind::environment;
    } else if (class_name == std::string(kPackage) + "FileConfigProvider") {
        provider.kind = ProviderKind::file;
    } else if (class_name == std::string(kPackage) + "DirectoryConfigProvider") {
        provider.kind = ProviderKind::directory;
    } else {
        return invalid_config("Invalid value " + class_name.value_or("null") + " for configuration " + prefix +
                              ".class: this broker has only Kafka's own providers: " + std::string(kPackage) +
                              "EnvVarConfigProvider, FileConfigProvider and DirectoryConfigProvider");
    }
    PARTITA_TRY_ASSIGN(provider.allowed_names, allowed_names(given, prefix));
    for (const std::string& path : java::split_list(value_of(given, prefix + ".param.allowed.paths").value_or(""))) {
        if (!path.starts_with('/')) {
            return invalid_config("Invalid value for configuration " + prefix + ".param.allowed.paths: \"" + path +
                                  "\" is not an absolute path");
        }
        provider.allowed_paths.push_back(std::filesystem::path(path).lexically_normal());
    }
    return provider;
}

/// Null for a text that has no provider, such as ${HOME}.
std::optional<Variable> variable_of(std::string_view text) {
    const std::size_t first = text.find(':');
    if (first == text.npos) {
        return std::nullopt;
    }
    Variable variable{.provider = std::string(text.substr(0, first)), .path = {}, .key = {}};
    const std::size_t second = text.find(':', first + 1);
    if (second != text.npos) {
        variable.path = text.substr(first + 1, second - first - 1);
    }
    variable.key = text.substr((second == text.npos ? first : second) + 1);
    return variable;
}

bool is_inside(const std::filesystem::path& path, const std::filesystem::path& directory) {
    const std::string text = path.string();
    const std::string above = directory.string();
    return text == above || (text.starts_with(above) && (above.ends_with('/') || text[above.size()] == '/'));
}

class Providers {
  public:
    Providers(std::map<std::string, Provider, std::less<>> providers, std::span<const std::string> environment,
              const FileReader& read_file)
        : providers_(std::move(providers)), environment_(environment), read_file_(read_file) {}

    /// The error is the reason, without the variable.
    [[nodiscard]] std::expected<std::string, std::string> value(const Variable& variable) const {
        const auto found = providers_.find(variable.provider);
        if (found == providers_.end()) {
            return std::unexpected("config.providers names no provider '" + variable.provider + "'");
        }
        switch (found->second.kind) {
            case ProviderKind::environment:
                return of_environment(found->second, variable);
            case ProviderKind::file:
            case ProviderKind::directory:
                return of_path(found->second, variable);
        }
        return std::unexpected(std::string());
    }

  private:
    [[nodiscard]] std::expected<std::string, std::string> of_environment(const Provider& provider,
                                                                         const Variable& variable) const {
        if (!variable.path.empty()) {
            return std::unexpected(std::string("a variable of the environment has no path"));
        }
        if (provider.allowed_names && !std::regex_match(variable.key, *provider.allowed_names)) {
            return std::unexpected(std::string("allowlist.pattern does not allow this variable"));
        }
        const std::string begin = variable.key + "=";
        const auto entry = std::ranges::find_if(environment_, [&](const std::string& each) { return each.starts_with(begin); });
        if (entry == environment_.end()) {
            return std::unexpected("the environment has no variable " + variable.key);
        }
        return entry->substr(begin.size());
    }

    [[nodiscard]] std::expected<std::string, std::string> of_path(const Provider& provider, const Variable& variable) const {
        const std::filesystem::path path = std::filesystem::path(variable.path).lexically_normal();
        if (!provider.allowed_paths.empty() &&
            std::ranges::none_of(provider.allowed_paths, [&](const auto& allowed) { return is_inside(path, allowed); })) {
            return std::unexpected(std::string("allowed.paths does not allow this path"));
        }
        if (provider.kind == ProviderKind::directory) {
            if (variable.key.empty() || variable.key.contains('/') || variable.key == "..") {
                return std::unexpected(std::string("the key must be the name of a file in the directory"));
            }
            auto text = read_file_((path / variable.key).string());
            return text ? std::move(text) : std::unexpected("cannot read the file: " + text.error());
        }
        const auto text = read_file_(path.string());
        if (!text) {
            return std::unexpected("cannot read the file: " + text.error());
        }
        const auto properties = parse_properties(*text);
        if (!properties) {
            return std::unexpected(properties.error().message);
        }
        const auto found = properties->find(variable.key);
        if (found == properties->end()) {
            return std::unexpected("the file has no key " + variable.key);
        }
        return found->second;
    }

    std::map<std::string, Provider, std::less<>> providers_;
    std::span<const std::string> environment_;
    const FileReader& read_file_;
};

bool is_password(std::string_view name) {
    return name.ends_with("sasl.jaas.config") || broker_config_type(name) == ConfigType::password;
}

/// The value without variables. The error has the variable and the reason.
std::expected<std::string, std::string> resolved(std::string_view text, bool is_secret, const Providers& providers) {
    std::string result;
    while (true) {
        const std::size_t begin = text.find("${");
        const std::size_t end = begin == text.npos ? text.npos : text.find('}', begin);
        if (end == text.npos) {
            result += text;
            return result;
        }
        const std::string_view whole = text.substr(begin, end + 1 - begin);
        const auto variable = variable_of(text.substr(begin + 2, end - begin - 2));
        result += text.substr(0, begin);
        if (variable) {
            auto value = providers.value(*variable);
            if (!value) {
                // A password may hold such a text by itself.
                return std::unexpected((is_secret ? "a variable in it" : std::string(whole)) + " has no value: " +
                                       (is_secret ? "write ${PROVIDER:KEY} with a provider of config.providers" : value.error()));
            }
            result += *value;
        } else if (is_secret) {
            result += whole;
        } else {
            return std::unexpected(
                std::string(whole) +
                " has no value: give the value itself, or ${PROVIDER:KEY} with a provider of config.providers");
        }
        text.remove_prefix(end + 1);
    }
}

}  // namespace

std::expected<void, ConfigError> resolve_variables(ConfigMap& given, std::span<const std::string> environment,
                                                   const FileReader& read_file) {
    std::map<std::string, Provider, std::less<>> named;
    for (const std::string& name : java::split_list(value_of(given, std::string(kProviders)).value_or(""))) {
        PARTITA_TRY_ASSIGN(auto provider, provider_of(given, name));
        named.emplace(name, std::move(provider));
    }
    const Providers providers(std::move(named), environment, read_file);
    for (auto& [name, text] : given) {
        if (name.starts_with(kProviders) || !text.contains("${")) {
            continue;
        }
        auto value = resolved(text, is_password(name), providers);
        if (!value) {
            return invalid_config("Invalid value for configuration " + name + ": " + value.error());
        }
        text = std::move(*value);
    }
    return {};
}

std::expected<void, ConfigError> refuse_variables(const ConfigMap& values, const ConfigMap& given) {
    for (const std::string& provider : java::split_list(value_of(given, std::string(kProviders)).value_or(""))) {
        const auto named = std::ranges::find_if(
            values, [begin = "${" + provider + ":"](const auto& entry) { return entry.second.contains(begin); });
        if (named != values.end()) {
            return invalid_config("Invalid value for configuration " + named->first + ": this broker asks the provider '" +
                                  provider +
                                  "' at its start only. Give the value itself, or put the variable into server.properties");
        }
    }
    return {};
}

}  // namespace partita::config
