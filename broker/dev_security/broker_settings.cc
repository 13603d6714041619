#include <array>
#include <charconv>
#include <cstdint>

#include "broker/dev_security/dev_security.h"
#include "protocol/try.h"

namespace partita::dev_security {
namespace {

/// Settings whose values are files of the directory.
constexpr std::array<std::string_view, 4> kFileSettings{"ssl.keystore.location", "ssl.truststore.location",
                                                        "partita.scram.users.file", "partita.http.token.file"};

/// Listeners such as "SASL_SSL://localhost:9092,SSL://localhost:9093", moved to `port` and the following ones. Fails if the text
/// is malformed.
std::expected<std::string, std::string> with_ports(std::string_view listeners, std::uint32_t port) {
    std::string moved;
    while (!listeners.empty()) {
        const std::string_view one = listeners.substr(0, listeners.find(','));
        listeners.remove_prefix(std::min(listeners.size(), one.size() + 1));
        const std::size_t colon = one.rfind(':');
        if (colon == std::string_view::npos || port > 65535) {
            return std::unexpected("no port after " + std::to_string(port - 1) + " is left for the listener " + std::string(one));
        }
        moved += (moved.empty() ? "" : ",") + std::string(one.substr(0, colon + 1)) + std::to_string(port);
        if (port != 0) {
            ++port;
        }
    }
    return moved;
}

}  // namespace

std::expected<Settings, std::string> broker_settings(const std::string& directory, Settings properties, std::string_view port) {
    const auto listeners = properties.find("listeners");
    if (listeners == properties.end() || !properties.contains("ssl.keystore.location")) {
        return std::unexpected(directory + "/" + std::string(kBrokerFile) +
                               " is not a file of `partita dev-security`: listeners or ssl.keystore.location is missing");
    }
    for (const std::string_view name : kFileSettings) {
        const auto found = properties.find(name);
        if (found == properties.end()) {
            continue;
        }
        found->second = directory + "/" + found->second.substr(found->second.rfind('/') + 1);
    }
    if (!port.empty()) {
        std::uint16_t number = 0;
        std::from_chars(port.data(), port.data() + port.size(), number);
        PARTITA_TRY_ASSIGN(listeners->second, with_ports(listeners->second, number));
    }
    return properties;
}

std::string told(const Wishes& wishes) {
    const std::string& directory = wishes.directory;
    const std::string bootstrap = "localhost:" + std::to_string(wishes.port);
    const std::string user = wishes.users.empty() ? std::string(kAdministrator) : wishes.users.front();
    const std::string admin = "--bootstrap-server " + bootstrap + " --command-config " + directory + "/admin.properties";
    std::string text = "In " + directory +
                       ", which nobody else may read:\n"
                       "  ca.pem                   the authority that clients trust; its key is discarded\n"
                       "  broker.properties        for the broker, with server.pem and scram-users\n"
                       "  USER.properties          Java clients and Kafka's tools\n"
                       "  USER.librdkafka.conf     librdkafka and kcat\n"
                       "  USER.pem                 the user's key and certificate\n"
                       "  http-token               the token for the console and the JSON API, on port 8092\n";
    if (wishes.has_mutual_tls) {
        text += "  USER.mtls.*              the same users by certificate instead of password\n";
    }
    text += "Users: admin may do anything";
    for (std::size_t at = 0; at < wishes.users.size(); ++at) {
        text += (at == 0 ? "; " : ", ") + wishes.users[at];
    }
    text += wishes.users.empty() ? ".\n" : " may do nothing until an ACL allows it.\n";
    text +=
        "\nTry:\n"
        "  partita --security " +
        directory +
        "\n"
        "  partita topics " +
        admin + " --create --topic orders\n";
    if (!wishes.users.empty()) {
        text +=
            "  partita acls " + admin + " --add --allow-principal User:" + user + " --operation All --topic '*' --group '*'\n";
    }
    text += "  echo hello | kcat -F " + directory + "/" + user +
            ".librdkafka.conf -P -t orders\n"
            "  kcat -F " +
            directory + "/" + user + ".librdkafka.conf -C -t orders -e\n";
    return text;
}

}  // namespace partita::dev_security
