#include "broker/dev_security/dev_security.h"

#include <algorithm>
#include <array>
#include <set>

#include "broker/dev_security/certificates.h"
#include "protocol/random_bytes.h"
#include "protocol/try.h"

namespace partita::dev_security {
namespace {

constexpr std::int64_t kDayS = 24 * 60 * 60;
// Clocks of other machines may be behind.
constexpr std::int64_t kEarlierS = 60 * 60;
constexpr std::uint32_t kHostBytesMax = 253;
/// User files with these names would collide with other files of the directory.
constexpr std::array<std::string_view, 3> kReservedNames{"ca", "server", "broker"};
constexpr std::string_view kScramModule = "org.apache.kafka.common.security.scram.ScramLoginModule required";
constexpr std::string_view kPlainModule = "org.apache.kafka.common.security.plain.PlainLoginModule required";

/// 130 bits, in letters and digits that need no quotes anywhere and cannot be confused with each other.
std::string fresh_password() {
    constexpr std::string_view kLetters = "abcdefghijkmnpqrstuvwxyz23456789";
    static_assert(kLetters.size() == 32);
    std::string password;
    for (const std::uint8_t byte : random_value<std::array<std::uint8_t, 26>>()) {
        password += kLetters[byte % kLetters.size()];
    }
    return password;
}

bool is_letter_or_digit(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9'); }

bool is_user_name(std::string_view name) {
    return !name.empty() && name.size() <= kUserNameBytesMax && is_letter_or_digit(name.front()) &&
           std::ranges::all_of(name, [](char c) { return is_letter_or_digit(c) || c == '-' || c == '_' || c == '.'; });
}

bool is_host(std::string_view host) {
    const bool is_address = host.contains(':');
    return !host.empty() && host.size() <= kHostBytesMax && std::ranges::all_of(host, [&](char c) {
        return is_letter_or_digit(c) || c == '-' || c == '.' || c == '_' || (c == '*' && !is_address) || c == ':';
    });
}

std::expected<std::vector<std::string>, std::string> users_of(const Wishes& wishes) {
    std::vector<std::string> users{std::string(kAdministrator)};
    for (const std::string& user : wishes.users) {
        if (!is_user_name(user)) {
            return std::unexpected("invalid user \"" + user + "\": a name begins with a letter or digit and has up to " +
                                   std::to_string(kUserNameBytesMax) + " letters, digits, '.', '_' and '-'");
        }
        if (std::ranges::find(kReservedNames, user) != kReservedNames.end()) {
            return std::unexpected("invalid user \"" + user + "\": a file of the directory has this name");
        }
        if (std::ranges::find(users, user) == users.end()) {
            users.push_back(user);
        }
    }
    if (users.size() > kUsersMax) {
        return std::unexpected("at most " + std::to_string(kUsersMax) + " users can be created at once");
    }
    return users;
}

/// The names of this machine come first.
std::expected<std::vector<std::string>, std::string> hosts_of(const Wishes& wishes) {
    std::vector<std::string> hosts{"localhost", "127.0.0.1", "::1"};
    for (const std::string& host : wishes.hosts) {
        if (!is_host(host)) {
            return std::unexpected("\"" + host + "\" is neither a host name nor an address");
        }
        if (std::ranges::find(hosts, host) == hosts.end()) {
            hosts.push_back(host);
        }
    }
    if (hosts.size() > kHostsMax) {
        return std::unexpected("at most " + std::to_string(kHostsMax) + " names of the broker are allowed in a certificate");
    }
    return hosts;
}

struct User {
    std::string name;
    std::string password;
    Identity identity;
};

std::string address(std::uint16_t port) { return "localhost:" + std::to_string(port); }
std::string mutual_address(const Wishes& wishes) { return address(static_cast<std::uint16_t>(wishes.port + 1)); }

std::string in_directory(const Wishes& wishes, std::string_view name) { return wishes.directory + "/" + std::string(name); }

/// Escapes a value for a Java properties file, in which a backslash begins an escape.
std::string escaped(std::string_view value) {
    std::string text;
    for (const char c : value) {
        if (c == '\\') {
            text += '\\';
        }
        text += c;
    }
    return text;
}

std::string line(std::string_view name, std::string_view value) { return std::string(name) + "=" + escaped(value) + "\n"; }

std::string java_trust(const Wishes& wishes) {
    return line("ssl.truststore.type", "PEM") + line("ssl.truststore.location", in_directory(wishes, "ca.pem"));
}

std::string jaas(std::string_view module, const User& user) {
    return std::string(module) + " username=\"" + user.name + "\" password=\"" + user.password + "\";";
}

std::string java_file(const Wishes& wishes, const User& user) {
    return "# " + user.name + ", for Java clients, Kafka's tools and partita's own (--command-config FILE).\n" +
           line("bootstrap.servers", address(wishes.port)) + line("security.protocol", "SASL_SSL") +
           line("sasl.mechanism", "SCRAM-SHA-512") + line("sasl.jaas.config", jaas(kScramModule, user)) + java_trust(wishes);
}

std::string java_mutual_file(const Wishes& wishes, const User& user) {
    return "# " + user.name + " by certificate, for Java clients, Kafka's tools and partita's own (--command-config FILE).\n" +
           line("bootstrap.servers", mutual_address(wishes)) + line("security.protocol", "SSL") + java_trust(wishes) +
           line("ssl.keystore.type", "PEM") + line("ssl.keystore.location", in_directory(wishes, user.name + ".pem"));
}

std::string librdkafka_file(const Wishes& wishes, const User& user) {
    return "# " + user.name + ", for librdkafka: kcat -F FILE, or line by line as an application's settings.\n" +
           "# SCRAM-SHA-512 works too, from librdkafka 2.6.1 on: older versions answer wrongly (CVE-2024-56128).\n" +
           "bootstrap.servers=" + address(wishes.port) +
           "\nsecurity.protocol=SASL_SSL\nsasl.mechanism=PLAIN\nsasl.username=" + user.name + "\nsasl.password=" + user.password +
           "\nssl.ca.location=" + in_directory(wishes, "ca.pem") + "\n";
}

std::string librdkafka_mutual_file(const Wishes& wishes, const User& user) {
    const std::string pem = in_directory(wishes, user.name + ".pem");
    return "# " + user.name + " by certificate, for librdkafka: kcat -F FILE, or line by line as an application's settings.\n" +
           "bootstrap.servers=" + mutual_address(wishes) +
           "\nsecurity.protocol=SSL\nssl.ca.location=" + in_directory(wishes, "ca.pem") + "\nssl.certificate.location=" + pem +
           "\nssl.key.location=" + pem + "\n";
}

std::string plain_users(const std::vector<User>& users) {
    std::string options;
    for (const User& user : users) {
        options += " user_" + user.name + "=\"" + user.password + "\"";
    }
    return std::string(kPlainModule) + options + ";";
}

std::string broker_file(const Wishes& wishes, const std::vector<User>& users) {
    std::string listeners = "SASL_SSL://" + address(wishes.port);
    if (wishes.has_mutual_tls) {
        listeners += ",SSL://" + mutual_address(wishes);
    }
    std::string text = "# For the broker: partita --security DIR, or --config FILE as long as the directory is not moved.\n" +
                       line("listeners", listeners) + line("inter.broker.listener.name", "SASL_SSL") +
                       line("ssl.keystore.type", "PEM") + line("ssl.keystore.location", in_directory(wishes, "server.pem")) +
                       line("sasl.enabled.mechanisms", "SCRAM-SHA-512,SCRAM-SHA-256,PLAIN") +
                       line("sasl.mechanism.inter.broker.protocol", "SCRAM-SHA-512") +
                       line("listener.name.sasl_ssl.plain.sasl.jaas.config", plain_users(users)) +
                       line("listener.name.sasl_ssl.scram-sha-256.sasl.jaas.config", std::string(kScramModule) + ";") +
                       line("listener.name.sasl_ssl.scram-sha-512.sasl.jaas.config", std::string(kScramModule) + ";") +
                       line("partita.scram.users.file", in_directory(wishes, "scram-users")) +
                       line("authorizer.class.name", "org.apache.kafka.metadata.authorizer.StandardAuthorizer") +
                       line("super.users", "User:" + std::string(kAdministrator)) +
                       line("partita.http.token.file", in_directory(wishes, "http-token")) +
                       line("partita.http.principal", "User:" + std::string(kAdministrator));
    if (wishes.has_mutual_tls) {
        text += java_trust(wishes) + line("listener.name.ssl.ssl.client.auth", "required") +
                line("ssl.principal.mapping.rules", "RULE:^CN=([^,]+)$/$1/,DEFAULT");
    }
    return text;
}

std::string scram_users_file(const std::vector<User>& users) {
    std::string text = "# Users that the broker creates at its start, in the format of kafka-storage format --add-scram.\n";
    for (const User& user : users) {
        for (const std::string_view mechanism : {"SCRAM-SHA-256", "SCRAM-SHA-512"}) {
            text += std::string(mechanism) + "=[name=" + user.name + ",password=" + user.password + "]\n";
        }
    }
    return text;
}

std::vector<MadeFile> files_of(const Wishes& wishes, const std::vector<User>& users, const Identity& server,
                               const std::string& authority) {
    std::vector<MadeFile> files{{"ca.pem", authority},
                                {"server.pem", server.key + server.certificate + authority},
                                {"http-token", fresh_password() + "\n"},
                                {"scram-users", scram_users_file(users)}};
    for (const User& user : users) {
        files.push_back({user.name + ".pem", user.identity.key + user.identity.certificate});
        files.push_back({user.name + ".properties", java_file(wishes, user)});
        files.push_back({user.name + ".librdkafka.conf", librdkafka_file(wishes, user)});
        if (!wishes.has_mutual_tls) {
            continue;
        }
        files.push_back({user.name + ".mtls.properties", java_mutual_file(wishes, user)});
        files.push_back({user.name + ".mtls.librdkafka.conf", librdkafka_mutual_file(wishes, user)});
    }
    files.push_back({std::string(kBrokerFile), broker_file(wishes, users)});
    return files;
}

bool has_line_end(std::string_view text) {
    return std::ranges::any_of(text, [](char c) { return static_cast<unsigned char>(c) < ' ' || c == 0x7f; });
}

}  // namespace

std::expected<std::vector<MadeFile>, std::string> make_files(const Wishes& wishes, std::int64_t now_s) {
    if (has_line_end(wishes.directory)) {
        return std::unexpected("the directory's name has control characters");
    }
    if (wishes.has_mutual_tls && wishes.port == 65535) {
        return std::unexpected("port 65535 leaves no port for the second listener");
    }
    PARTITA_TRY_ASSIGN(const auto names, users_of(wishes));
    PARTITA_TRY_ASSIGN(const auto hosts, hosts_of(wishes));

    const std::int64_t begin_s = now_s - kEarlierS;
    const Validity validity{.begin_s = begin_s, .end_s = begin_s + kCertificateDays * kDayS};
    // Authorities of two directories have different names, so that browsers and people can distinguish them.
    PARTITA_TRY_ASSIGN(const auto authority, Authority::make("Partita development CA " + fresh_password().substr(0, 8),
                                                             {.begin_s = begin_s, .end_s = begin_s + kAuthorityDays * kDayS}));
    PARTITA_TRY_ASSIGN(const auto server, authority.issue_server(hosts, validity));
    std::vector<User> users;
    for (const std::string& name : names) {
        PARTITA_TRY_ASSIGN(auto identity, authority.issue_client(name, validity));
        users.push_back({name, fresh_password(), std::move(identity)});
    }
    return files_of(wishes, users, server, authority.certificate());
}

}  // namespace partita::dev_security
