#include "broker/config/old_configs.h"

#include <algorithm>
#include <array>
#include <utility>

#include "broker/config/config_refusal.h"
#include "broker/config/java_text.h"
#include "protocol/try.h"

namespace partita::config {
namespace {

constexpr std::string_view kPort = "port";
constexpr std::string_view kHost = "host.name";
constexpr std::string_view kAdvertisedPort = "advertised.port";
constexpr std::string_view kAdvertisedHost = "advertised.host.name";
constexpr std::array<std::string_view, 4> kPlaces = {kAdvertisedHost, kAdvertisedPort, kHost, kPort};

/// Configs of clusters, of ZooKeeper and of formats that do not exist any more. One broker without ZooKeeper needs nothing
/// instead.
constexpr std::string_view kHarmless[] = {
    "auto.include.jmx.reporter",
    "broker.id.generation.enable",
    "control.plane.listener.name",
    "controlled.shutdown.max.retries",
    "controlled.shutdown.retry.backoff.ms",
    "controller.message.queue.size",
    "eligible.leader.replicas.enable",
    "enable.zookeeper",
    "group.coordinator.new.enable",
    "inter.broker.protocol.version",
    "leader.imbalance.per.broker.percentage",
    "log.message.downconversion.enable",
    "log.message.format.version",
    "message.format.version",
    "offsets.commit.required.acks",
    "offsets.storage",
    "replica.lag.max.messages",
    "reserved.broker.max.id",
    "zk.connect",
    "zk.connectiontimeout.ms",
    "zk.sessiontimeout.ms",
    "zk.synctime.ms",
};
constexpr std::string_view kHarmlessPrefixes[] = {"kafka.csv.metrics.", "password.encoder.", "zookeeper."};
constexpr std::string_view kVendorPrefixes[] = {"confluent."};

constexpr std::pair<std::string_view, std::string_view> kMoved[] = {
    {"advertised.host", "advertised.listeners"},
    {"brokerid", "node.id"},
    {"consumer.max.message.size", "message.max.bytes"},
    {"group.share.enable", "kafka-features upgrade --feature share.version=1"},
    {"host", "listeners"},
    {"hostname", "listeners"},
    {"log.cleanup.interval.mins", "log.retention.check.interval.ms"},
    {"log.cleanup.interval.ms", "log.retention.check.interval.ms"},
    {"log.default.flush.interval.ms", "log.flush.interval.ms"},
    {"log.default.flush.scheduler.interval.ms", "log.flush.scheduler.interval.ms"},
    {"log.file.size", "log.segment.bytes"},
    {"log.flush.interval", "log.flush.interval.messages"},
    {"log.message.timestamp.difference.max.ms", "log.message.timestamp.before.max.ms and log.message.timestamp.after.max.ms"},
    {"log.retention.size", "log.retention.bytes"},
    {"max.message.bytes", "message.max.bytes"},
    {"max.message.size", "message.max.bytes"},
    {"max.socket.request.bytes", "socket.request.max.bytes"},
    {"num.replica.alter.log.dirs.thread", "num.replica.alter.log.dirs.threads"},
    {"num.threads", "num.io.threads"},
    {"offsets.retention.ms", "offsets.retention.minutes"},
    {"quota.consumer.default", "kafka-configs --entity-type clients --entity-default, consumer_byte_rate"},
    {"quota.producer.default", "kafka-configs --entity-type clients --entity-default, producer_byte_rate"},
    {"retention.bytes", "log.retention.bytes"},
    {"retention.ms", "log.retention.ms"},
    {"segment.bytes", "log.segment.bytes"},
    {"socket.receive.buffer", "socket.receive.buffer.bytes"},
    {"socket.send.buffer", "socket.send.buffer.bytes"},
    {"topic.log.retention.hours", "the topic's retention.ms"},
};

bool starts_with_one_of(std::string_view name, std::span<const std::string_view> prefixes) {
    return std::ranges::any_of(prefixes, [&](std::string_view prefix) { return name.starts_with(prefix); });
}

/// The trimmed text; empty without one.
std::string text_of(const ConfigMap& given, std::string_view name) {
    const auto found = given.find(name);
    return found == given.end() ? std::string() : std::string(java::trim(found->second));
}

std::expected<void, ConfigError> check_port(const ConfigMap& given, std::string_view name) {
    const std::string text = text_of(given, name);
    if (!text.empty() && !java::parse_integer(text, 0, 65535)) {
        return invalid_config("Invalid value " + text + " for configuration " + std::string(name) +
                              ": it must be a port from 0 to 65535, or rather say it with listeners and advertised.listeners");
    }
    return {};
}

std::string address(const std::string& host, std::string_view port) {
    return "PLAINTEXT://" + (host.contains(':') && !host.starts_with('[') ? "[" + host + "]" : host) + ":" + std::string(port);
}

void add(std::string& list, std::string_view item) { list += (list.empty() ? "" : ", ") + std::string(item); }

}  // namespace

std::optional<OldConfig> find_old_config(std::string_view name) {
    if (std::ranges::find(kPlaces, name) != kPlaces.end()) {
        return OldConfig{OldConfigKind::place, "listeners and advertised.listeners"};
    }
    if (std::ranges::find(kHarmless, name) != std::end(kHarmless) || starts_with_one_of(name, kHarmlessPrefixes)) {
        return OldConfig{OldConfigKind::harmless, {}};
    }
    if (starts_with_one_of(name, kVendorPrefixes)) {
        return OldConfig{OldConfigKind::of_vendor, {}};
    }
    const auto moved = std::ranges::find(kMoved, name, &std::pair<std::string_view, std::string_view>::first);
    return moved == std::end(kMoved) ? std::nullopt : std::optional(OldConfig{OldConfigKind::moved, moved->second});
}

std::expected<void, ConfigError> follow_old_places(ConfigMap& given, std::string_view default_host,
                                                   std::vector<StartNote>& notes) {
    PARTITA_TRY(check_port(given, kPort));
    PARTITA_TRY(check_port(given, kAdvertisedPort));
    const std::string host = text_of(given, kHost);
    const std::string port = text_of(given, kPort);
    const std::string advertised_host = text_of(given, kAdvertisedHost);
    const std::string advertised_port = text_of(given, kAdvertisedPort);
    std::string followed;
    const auto follow = [&](const std::string& name, std::string value) {
        add(followed, name + "=" + value);
        given.insert_or_assign(name, std::move(value));
    };
    const std::string own_port = port.empty() ? "9092" : port;
    if ((!host.empty() || !port.empty()) && text_of(given, "listeners").empty()) {
        follow("listeners", address(host.empty() ? std::string(default_host) : host, own_port));
    }
    if ((!advertised_host.empty() || !advertised_port.empty()) && text_of(given, "advertised.listeners").empty()) {
        follow("advertised.listeners",
               address(advertised_host.empty() ? host : advertised_host, advertised_port.empty() ? own_port : advertised_port));
    }
    if (!followed.empty()) {
        notes.push_back({log::Level::warning,
                         "port, host.name, advertised.host.name and advertised.port, which Kafka 3.0 dropped, "
                         "are followed; better set what they stand for",
                         "followed_as", followed});
        return {};
    }
    std::string ignored;
    for (const std::string_view name : kPlaces) {
        if (!text_of(given, name).empty()) {
            add(ignored, name);
        }
    }
    if (!ignored.empty()) {
        notes.push_back({log::Level::warning, "listeners and advertised.listeners override these settings of Kafka before 3.0",
                         "names", ignored});
    }
    return {};
}

void note_old_configs(const ConfigMap& given, std::vector<StartNote>& notes) {
    std::string harmless;
    std::string moved;
    std::string of_vendor;
    for (const auto& [name, value] : given) {
        const std::optional<OldConfig> old = find_old_config(name);
        if (!old) {
            continue;
        }
        switch (old->kind) {
            case OldConfigKind::harmless:
                add(harmless, name);
                break;
            case OldConfigKind::moved:
                add(moved, name + " (now " + std::string(old->now) + ")");
                break;
            case OldConfigKind::of_vendor:
                add(of_vendor, name);
                break;
            case OldConfigKind::place:
                break;
        }
    }
    if (!harmless.empty()) {
        notes.push_back(
            {log::Level::info, "settings of ZooKeeper and of Kafka before 4.0 are not needed any more", "names", harmless});
    }
    if (!moved.empty()) {
        notes.push_back({log::Level::warning, "settings that Kafka has moved have no effect at their old place", "names", moved});
    }
    if (!of_vendor.empty()) {
        notes.push_back({log::Level::info, "settings of Confluent's own server have no effect", "names", of_vendor});
    }
}

}  // namespace partita::config
