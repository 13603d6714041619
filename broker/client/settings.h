#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "broker/client/endpoint.h"
#include "broker/client/failure.h"
#include "broker/client/login.h"
#include "broker/client/tls.h"

namespace partita::client {

/// How a client behaves, with the names and defaults of Kafka's Admin client.
struct Settings {
    std::vector<Endpoint> bootstrap;
    std::string client_id;
    std::int64_t request_timeout_ms = 30'000;
    std::int64_t default_api_timeout_ms = 60'000;
    std::int64_t retry_backoff_ms = 100;
    std::int64_t retry_backoff_max_ms = 1'000;
    std::int64_t connection_setup_timeout_ms = 10'000;
    /// Null: plain text.
    std::shared_ptr<const Tls> tls;
    /// Null: no login.
    std::optional<Login> login;
    /// Receives messages for people while a call continues: one line for each unreachable broker. May be empty.
    std::function<void(const std::string&)> tell;
};

/// Reads the settings of a client's properties file (`--command-config`), by Java's or librdkafka's names. Like Kafka's clients,
/// it ignores others, such as those of serializers. Fails with `bad_setting`: no bootstrap.servers, an invalid value (Kafka's
/// text), an unusable login or key store.
[[nodiscard]] Result<Settings> settings_of(const std::map<std::string, std::string>& properties);

}  // namespace partita::client
