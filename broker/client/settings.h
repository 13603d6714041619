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
    /// Null: what is said goes over the wire as it is.
    std::shared_ptr<const Tls> tls;
    /// Null: nobody is asked who the client is.
    std::optional<Login> login;
    /// Hears of what people want to know while a call goes on: one line for each broker that cannot be reached. May be empty.
    std::function<void(const std::string&)> tell;
};

/// Reads the settings of a client's properties file (`--command-config`), by Java's names or librdkafka's; others, as those of
/// serializers, are left alone, as Kafka's clients do. bad_setting: no bootstrap.servers, a value that cannot be read (Kafka's
/// text), a login or a store of keys that cannot be used.
[[nodiscard]] Result<Settings> settings_of(const std::map<std::string, std::string>& properties);

}  // namespace partita::client
