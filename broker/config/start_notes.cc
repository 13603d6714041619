#include "broker/config/start_notes.h"

#include <algorithm>
#include <string>
#include <string_view>

#include "broker/config/broker_synonyms.h"
#include "broker/config/java_text.h"

namespace partita::config {
namespace {

void append_item(std::string& list, std::string_view item) { list += (list.empty() ? "" : ",") + std::string(item); }

bool has_role(const BrokerConfig& config, std::string_view role) {
    const auto roles = broker_list(config.given(), "process.roles");
    return std::ranges::find(roles, role) != roles.end();
}

/// Voters and controllers besides this node.
std::string others_of(const BrokerConfig& config) {
    std::string others;
    const std::string own = std::to_string(config.node_id.value) + "@";
    for (const std::string& voter : broker_list(config.given(), "controller.quorum.voters")) {
        if (!voter.starts_with(own)) {
            append_item(others, voter);
        }
    }
    const auto servers = broker_list(config.given(), "controller.quorum.bootstrap.servers");
    if (others.empty() && (servers.size() > 1 || !has_role(config, "controller"))) {
        for (const std::string& server : servers) {
            append_item(others, server);
        }
    }
    return others;
}

void note_cluster(const BrokerConfig& config, std::vector<StartNote>& notes) {
    if (config.listeners.is_controller_only) {
        notes.push_back({log::Level::warning,
                         "process.roles=controller: this service can be left out, because each broker is its own controller; it "
                         "answers health checks and holds none of the brokers' topics",
                         "node", std::to_string(config.node_id.value)});
        return;
    }
    if (const std::string others = others_of(config); !others.empty()) {
        notes.push_back(
            {log::Level::warning,
             "this broker is a cluster of one node: it joins no other broker or controller, and shares no topics with them",
             "not_joined", others});
    }
}

void note_advertised(const BrokerConfig& config, bool is_image, std::vector<StartNote>& notes) {
    for (const Endpoint& advertised : config.listeners.advertised) {
        const auto listener = std::ranges::find_if(config.listeners.listeners, [&](const Listener& each) {
            return each.endpoint.listener_name == advertised.listener_name;
        });
        if (listener == config.listeners.listeners.end()) {
            continue;
        }
        if (advertised.host == "::") {
            notes.push_back({log::Level::warning,
                             "advertised.listeners has an address that no client can connect to; name the host", "advertised",
                             to_string(advertised)});
        }
        const std::uint16_t port = listener->endpoint.port;
        if (advertised.port == 0 || port == 0 || advertised.port == port) {
            continue;
        }
        const auto other = std::ranges::find_if(config.listeners.listeners,
                                                [&](const Listener& each) { return each.endpoint.port == advertised.port; });
        const std::string value = to_string(advertised) + ",listens_on=" + std::to_string(port);
        if (other != config.listeners.listeners.end()) {
            notes.push_back({log::Level::warning, "advertised.listeners names a port on which this broker has another listener",
                             "advertised", value + ",other=" + other->endpoint.listener_name});
        } else {
            notes.push_back(
                {is_image ? log::Level::info : log::Level::warning,
                 "this broker does not listen on a port of advertised.listeners: clients reach it only if that port is "
                 "forwarded",
                 "advertised", value});
        }
    }
}

void note_security(const BrokerConfig& config, std::vector<StartNote>& notes) {
    const auto is_used = [&](bool (*uses)(SecurityProtocol)) {
        return std::ranges::any_of(config.listeners.listeners,
                                   [&](const Listener& each) { return uses(each.endpoint.protocol); });
    };
    const auto names = [&](auto&& is_of) {
        std::string list;
        for (const auto& [name, value] : config.given()) {
            if (!value.empty() && is_of(std::string_view(name))) {
                append_item(list, name);
            }
        }
        return list;
    };
    const std::string logins = names([](std::string_view name) {
        return name == "sasl.enabled.mechanisms" || name == "partita.jaas.file" || name.ends_with("sasl.jaas.config");
    });
    if (!logins.empty() && !is_used([](SecurityProtocol protocol) { return uses_sasl(protocol); })) {
        notes.push_back(
            {log::Level::warning, "settings for logins have no effect, because no listener has SASL", "names", logins});
    }
    const std::string stores =
        names([](std::string_view name) { return name == "ssl.keystore.location" || name == "ssl.keystore.key"; });
    if (!stores.empty() && !config.http_has_tls && !is_used([](SecurityProtocol protocol) { return uses_tls(protocol); })) {
        notes.push_back({log::Level::warning, "the key store has no effect, because no listener has TLS", "names", stores});
    }
    const std::string users = names([](std::string_view name) { return name == "super.users"; });
    const auto authorizer = config.given().find("authorizer.class.name");
    if (!users.empty() && (authorizer == config.given().end() || java::trim(authorizer->second).empty())) {
        notes.push_back({log::Level::warning,
                         "super.users has no effect without authorizer.class.name: every client may do everything", "names",
                         users});
    }
}

/// Settings of listeners that do not exist have no effect. One of a login or of client certificates would be missed.
void note_unknown_listeners(const BrokerConfig& config, std::vector<StartNote>& notes) {
    constexpr std::string_view kPrefix = "listener.name.";
    // The HTTP side has settings of this form, too.
    std::vector<std::string> known = {"http"};
    for (const Listener& each : config.listeners.listeners) {
        known.push_back(java::to_lower(each.endpoint.listener_name));
    }
    for (const std::string& name : config.listeners.controller_listener_names) {
        known.push_back(java::to_lower(name));
    }
    std::string unknown;
    for (const auto& [name, value] : config.given()) {
        const std::string_view rest =
            name.starts_with(kPrefix) ? std::string_view(name).substr(kPrefix.size()) : std::string_view();
        if (!rest.empty() && std::ranges::find(known, rest.substr(0, rest.find('.'))) == known.end()) {
            append_item(unknown, name);
        }
    }
    if (!unknown.empty()) {
        notes.push_back({log::Level::warning, "settings of a listener that this broker does not have, by its name in lower case",
                         "names", unknown});
    }
}

void note_replicas(const BrokerConfig& config, std::vector<StartNote>& notes) {
    if (config.given().contains("partita.test.bench.brokers")) {
        return;
    }
    if (config.default_replication_factor > 1) {
        notes.push_back(
            {log::Level::warning,
             "default.replication.factor asks for more replicas than this one broker has: as in Kafka, topics that ask "
             "for the default number of replicas cannot be made; set it to 1",
             "default.replication.factor", std::to_string(config.default_replication_factor)});
    }
    std::string internal;
    for (const std::string_view name : {"offsets.topic.replication.factor", "transaction.state.log.replication.factor",
                                        "share.coordinator.state.topic.replication.factor"}) {
        const auto found = config.given().find(name);
        if (found != config.given().end() && java::trim(found->second) != "1") {
            append_item(internal, name);
        }
    }
    if (!internal.empty()) {
        notes.push_back({log::Level::info, "internal topics get one replica, because this is one broker", "names", internal});
    }
}

}  // namespace

void note_settings(const BrokerConfig& config, bool is_image, std::vector<StartNote>& notes) {
    note_cluster(config, notes);
    note_advertised(config, is_image, notes);
    note_security(config, notes);
    note_unknown_listeners(config, notes);
    note_replicas(config, notes);
}

}  // namespace partita::config
