#include "broker/config/image_variables.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <utility>

#include "broker/config/config_refusal.h"
#include "broker/config/java_text.h"
#include "broker/config/properties.h"
#include "protocol/try.h"

namespace partita::config {
namespace {

constexpr std::string_view kSecrets = "/etc/kafka/secrets/";
constexpr std::string_view kModules = "org.apache.kafka.common.security.";
using Done = std::expected<void, ConfigError>;

std::optional<std::string> variable(std::span<const std::string> environment, std::string_view name) {
    for (const std::string& entry : environment) {
        if (entry.size() > name.size() && entry.starts_with(name) && entry[name.size()] == '=') {
            return entry.substr(name.size() + 1);
        }
    }
    return std::nullopt;
}

std::string without_line_end(std::string text) {
    while (text.ends_with('\n') || text.ends_with('\r')) {
        text.pop_back();
    }
    return text;
}

std::vector<std::string> items(std::string_view text) {
    std::vector<std::string> result;
    for (const std::string& part : java::split_list(text)) {
        for (std::size_t at = 0; at <= part.size();) {
            const std::size_t end = std::min(part.find(';', at), part.size());
            if (const std::string_view item = java::trim(std::string_view(part).substr(at, end - at)); !item.empty()) {
                result.emplace_back(item);
            }
            at = end + 1;
        }
    }
    return result;
}

/// The work of the scripts on one environment.
class Image {
  public:
    Image(std::span<const std::string> environment, const ConfigMap& file, const FileReader& read_file)
        : environment_(environment), file_(file), read_file_(read_file), configs_(configs_of_environment(environment)) {}

    std::expected<ConfigMap, ConfigError> configs() {
        derive_listeners();
        PARTITA_TRY(read_secrets());
        find_jaas_file();
        PARTITA_TRY(read_certificates());
        PARTITA_TRY(add_users());
        add_topics();
        return std::move(configs_);
    }

  private:
    [[nodiscard]] std::optional<std::string> variable(std::string_view name) const {
        return config::variable(environment_, name);
    }
    /// The text of a variable, or of the file that NAME_FILE names.
    std::expected<std::string, ConfigError> secret(const std::string& name) const {
        if (auto text = variable(name)) {
            return std::move(*text);
        }
        const auto path = variable(name + "_FILE");
        if (!path || path->empty()) {
            return std::string();
        }
        return of_file(name + "_FILE", *path);
    }
    std::expected<std::string, ConfigError> of_file(const std::string& name, const std::string& path) const {
        auto text = read_file_(path);
        if (!text) {
            return invalid_config("Invalid value for " + name + ": cannot read " + path + ": " + text.error());
        }
        return without_line_end(std::move(*text));
    }
    /// The text that the environment or else the file gives.
    [[nodiscard]] std::string given(std::string_view name) const {
        if (const auto found = configs_.find(name); found != configs_.end()) {
            return found->second;
        }
        const auto found = file_.find(name);
        return found == file_.end() ? std::string() : found->second;
    }
    [[nodiscard]] bool has(std::string_view name) const { return !given(name).empty(); }
    void set_default(const std::string& name, std::string value) {
        if (!has(name)) {
            configs_.insert_or_assign(name, std::move(value));
        }
    }

    /// The names of the listeners whose protocol ends or begins so, as far as settings name them.
    [[nodiscard]] std::vector<std::string> listeners_with(std::string_view protocol) const {
        std::map<std::string, std::string, std::less<>> protocols = {
            {"PLAINTEXT", "PLAINTEXT"}, {"SSL", "SSL"}, {"SASL_PLAINTEXT", "SASL_PLAINTEXT"}, {"SASL_SSL", "SASL_SSL"}};
        for (const std::string& item : java::split_list(given("listener.security.protocol.map"))) {
            if (const std::size_t colon = item.find(':'); colon != item.npos) {
                protocols.insert_or_assign(java::to_upper(item.substr(0, colon)), java::to_upper(item.substr(colon + 1)));
            }
        }
        std::vector<std::string> names;
        for (const std::string& item : java::split_list(has("listeners") ? given("listeners") : given("advertised.listeners"))) {
            const std::string name = java::to_upper(item.substr(0, item.find("://")));
            const auto found = protocols.find(name);
            if (found != protocols.end() && found->second.contains(protocol)) {
                names.push_back(name);
            }
        }
        return names;
    }

    void derive_listeners() {
        // Scripts take an empty variable for a missing one.
        for (const std::string_view name : {"listeners", "advertised.listeners"}) {
            if (const auto found = configs_.find(name); found != configs_.end() && java::trim(found->second).empty()) {
                configs_.erase(found);
            }
        }
        const std::string advertised = variable("KAFKA_ADVERTISED_LISTENERS").value_or("");
        if (!has("listeners") && !java::trim(advertised).empty() && java::trim(given("process.roles")) != "controller") {
            configs_.insert_or_assign("listeners", with_host(advertised, "0.0.0.0"));
        }
    }

    Done read_secrets() {
        const bool uses_tls = !listeners_with("SSL").empty();
        const std::string client_auth = given("ssl.client.auth");
        const bool asks_clients = client_auth.contains("required") || client_auth.contains("requested");
        struct Secret {
            std::string_view variable;
            std::string_view config;
            bool is_password;
            bool is_of_trust;
        };
        static constexpr std::array<Secret, 5> kNames = {{
            {"KAFKA_SSL_KEYSTORE_FILENAME", "ssl.keystore.location", false, false},
            {"KAFKA_SSL_KEYSTORE_CREDENTIALS", "ssl.keystore.password", true, false},
            {"KAFKA_SSL_KEY_CREDENTIALS", "ssl.key.password", true, false},
            {"KAFKA_SSL_TRUSTSTORE_FILENAME", "ssl.truststore.location", false, true},
            {"KAFKA_SSL_TRUSTSTORE_CREDENTIALS", "ssl.truststore.password", true, true},
        }};
        for (const Secret& each : kNames) {
            const auto name = variable(each.variable);
            if (!name || name->empty()) {
                continue;
            }
            // The variable is no config of Kafka's.
            if (const auto config = config_name_of_environment(each.variable)) {
                configs_.erase(*config);
            }
            if (!uses_tls || (each.is_of_trust && !asks_clients) || has(each.config)) {
                continue;
            }
            std::string value = std::string(kSecrets) + *name;
            if (each.is_password) {
                PARTITA_TRY_ASSIGN(value, of_file(std::string(each.variable) + "=" + *name, value));
            }
            configs_.insert_or_assign(std::string(each.config), std::move(value));
        }
        return {};
    }

    void find_jaas_file() {
        constexpr std::string_view kOption = "-Djava.security.auth.login.config=";
        const std::string options = variable("KAFKA_OPTS").value_or("");
        const std::size_t begin = options.rfind(kOption);
        if (begin == options.npos) {
            return;
        }
        std::string_view path = std::string_view(options).substr(begin + kOption.size());
        const bool is_quoted = path.starts_with('"') || path.starts_with('\'');
        path = is_quoted ? path.substr(1, path.find(path.front(), 1) - 1) : path.substr(0, path.find_first_of(" \t\n\"'"));
        if (path.starts_with("file:")) {
            path.remove_prefix(path.starts_with("file:///") ? 7 : 5);
        }
        if (!path.empty()) {
            set_default("partita.jaas.file", std::string(path));
        }
    }

    /// bitnami's certificates. A path is theirs if it can be read.
    [[nodiscard]] std::string certificate_path(std::string_view name) const {
        for (const std::string_view directory : {"/opt/bitnami/kafka/config/certs/", "/bitnami/kafka/config/certs/"}) {
            if (std::string path = std::string(directory) + std::string(name); read_file_(path)) {
                return path;
            }
        }
        return {};
    }

    Done read_certificates() {
        const std::vector<std::string> names = listeners_with("SSL");
        const bool is_asked = std::ranges::any_of(environment_, [](const std::string& each) {
            return each.starts_with("KAFKA_TLS_") || each.starts_with("KAFKA_CERTIFICATE_PASSWORD") ||
                   each.starts_with("KAFKA_CFG_");
        });
        for (const std::string& name : names) {
            if (auto own = variable("KAFKA_TLS_" + name + "_CLIENT_AUTH"); own && !own->empty()) {
                set_default("listener.name." + java::to_lower(name) + ".ssl.client.auth", std::move(*own));
            }
        }
        // They count with a key store from elsewhere, too.
        if (auto asked = variable("KAFKA_TLS_CLIENT_AUTH"); !names.empty() && asked && !asked->empty()) {
            set_default("ssl.client.auth", std::move(*asked));
        }
        if (auto trusted = variable("KAFKA_TLS_TRUSTSTORE_FILE"); !names.empty() && trusted && !trusted->empty()) {
            set_default("ssl.truststore.location", std::move(*trusted));
        }
        if (names.empty() || !is_asked || has("ssl.keystore.location") || has("ssl.keystore.key")) {
            return {};
        }
        // The default of that image.
        set_default("ssl.client.auth", variable("KAFKA_TLS_CLIENT_AUTH").value_or("required"));
        const bool is_pem = java::equal_ignoring_case(variable("KAFKA_TLS_TYPE").value_or("JKS"), "PEM");
        PARTITA_TRY_ASSIGN(const std::string password, secret("KAFKA_CERTIFICATE_PASSWORD"));
        const std::string store = certificate_path(is_pem ? "kafka.keystore.pem" : "kafka.keystore.jks");
        const std::string key = is_pem ? certificate_path("kafka.keystore.key") : store;
        std::string trusted = variable("KAFKA_TLS_TRUSTSTORE_FILE").value_or("");
        if (trusted.empty()) {
            trusted = certificate_path(is_pem ? "kafka.truststore.pem" : "kafka.truststore.jks");
        }
        if (store.empty() || key.empty()) {
            return invalid_config("listener " + names.front() + " has TLS but no key store: mount " +
                                  (is_pem ? "kafka.keystore.pem, kafka.keystore.key and kafka.truststore.pem"
                                          : "kafka.keystore.jks and kafka.truststore.jks") +
                                  " into /bitnami/kafka/config/certs, or give ssl.keystore.location");
        }
        set_default("ssl.keystore.type", is_pem ? "PEM" : "JKS");
        if (!password.empty()) {
            set_default("ssl.key.password", password);
        }
        if (is_pem) {
            PARTITA_TRY_ASSIGN(auto chain, of_file("ssl.keystore.certificate.chain", store));
            PARTITA_TRY_ASSIGN(auto key_text, of_file("ssl.keystore.key", key));
            set_default("ssl.keystore.certificate.chain", std::move(chain));
            set_default("ssl.keystore.key", std::move(key_text));
        } else {
            set_default("ssl.keystore.location", store);
            set_default("ssl.keystore.password", password);
        }
        if (trusted.empty()) {
            return {};
        }
        set_default("ssl.truststore.type", is_pem ? "PEM" : "JKS");
        if (is_pem) {
            PARTITA_TRY_ASSIGN(auto certificates, of_file("ssl.truststore.certificates", trusted));
            set_default("ssl.truststore.certificates", std::move(certificates));
        } else {
            set_default("ssl.truststore.location", trusted);
            set_default("ssl.truststore.password", password);
        }
        return {};
    }

    struct User {
        std::string name;
        std::string password;
    };

    std::expected<std::vector<User>, ConfigError> users() const {
        PARTITA_TRY_ASSIGN(const std::string password_list, secret("KAFKA_CLIENT_PASSWORDS"));
        const std::vector<std::string> names = items(variable("KAFKA_CLIENT_USERS").value_or(""));
        const std::vector<std::string> passwords = items(password_list);
        if (names.size() != passwords.size()) {
            return invalid_config("KAFKA_CLIENT_USERS has " + std::to_string(names.size()) +
                                  " users and KAFKA_CLIENT_PASSWORDS has " + std::to_string(passwords.size()) +
                                  " passwords: give each user one");
        }
        std::vector<User> users;
        for (std::size_t index = 0; index < names.size(); ++index) {
            users.push_back({names[index], passwords[index]});
        }
        for (const std::string role : {"KAFKA_INTER_BROKER", "KAFKA_CONTROLLER"}) {
            const std::string name = variable(role + "_USER").value_or("");
            PARTITA_TRY_ASSIGN(std::string password, secret(role + "_PASSWORD"));
            if (!name.empty() && password.empty()) {
                return invalid_config(role + "_USER=" + name + " has no password: give " + role + "_PASSWORD");
            }
            if (!name.empty()) {
                users.push_back({name, std::move(password)});
            }
        }
        return users;
    }

    static std::string quoted(std::string_view text) {
        std::string result = "\"";
        for (const char c : text) {
            if (c == '"' || c == '\\') {
                result += '\\';
            }
            result += c;
        }
        return result + '"';
    }

    Done add_users() {
        PARTITA_TRY_ASSIGN(const std::vector<User> users, this->users());
        if (users.empty()) {
            return {};
        }
        const std::vector<std::string> names = listeners_with("SASL");
        if (names.empty()) {
            return invalid_config(
                "KAFKA_CLIENT_USERS and its like name users, but no listener asks for a login: give a listener with "
                "SASL_PLAINTEXT or SASL_SSL, or no users");
        }
        std::string plain = std::string(kModules) + "plain.PlainLoginModule required";
        for (const User& user : users) {
            plain += " user_" + user.name + "=" + quoted(user.password);
        }
        std::string scram_users;
        for (const std::string& mechanism : java::split_list(given("sasl.enabled.mechanisms"))) {
            const std::string upper = java::to_upper(mechanism);
            const bool is_scram = upper.starts_with("SCRAM-");
            if (upper != "PLAIN" && !is_scram) {
                continue;
            }
            for (const std::string& name : names) {
                set_default("listener.name." + java::to_lower(name) + "." + java::to_lower(mechanism) + ".sasl.jaas.config",
                            is_scram ? std::string(kModules) + "scram.ScramLoginModule required;" : plain + ";");
            }
            for (const User& user : is_scram ? users : std::vector<User>()) {
                scram_users += upper + "=[name=" + user.name + ",password=" + user.password + "]\n";
            }
        }
        if (!scram_users.empty()) {
            set_default("partita.scram.users", std::move(scram_users));
        }
        return {};
    }

    void add_topics() {
        std::string topics = variable("KAFKA_CREATE_TOPICS").value_or("");
        const std::string separator = variable("KAFKA_CREATE_TOPICS_SEPARATOR").value_or("");
        if (topics.empty()) {
            return;
        }
        // Each of its characters separates, as the IFS of a shell.
        std::ranges::replace_if(topics, [&](char c) { return separator.contains(c) || c == '\n'; }, ',');
        set_default("partita.create.topics", std::move(topics));
    }

    std::span<const std::string> environment_;
    const ConfigMap& file_;
    const FileReader& read_file_;
    ConfigMap configs_;
};

}  // namespace

std::string with_host(std::string_view endpoints, std::string_view host) {
    std::vector<std::string> result;
    for (const std::string& item : java::split_list(endpoints)) {
        const std::size_t mark = item.find("://");
        const std::size_t colon = item.rfind(':');
        result.push_back(mark == item.npos || colon <= mark ? item
                                                            : item.substr(0, mark + 3) + std::string(host) + item.substr(colon));
    }
    return java::join(result, ",");
}

bool forbids_plaintext(std::span<const std::string> environment) {
    const std::string text = java::to_lower(variable(environment, "ALLOW_PLAINTEXT_LISTENER").value_or(""));
    return text == "no" || text == "false" || text == "0";
}

std::expected<ConfigMap, ConfigError> configs_of_image(std::span<const std::string> environment, const ConfigMap& file,
                                                       const FileReader& read_file) {
    return Image(environment, file, read_file).configs();
}

}  // namespace partita::config
