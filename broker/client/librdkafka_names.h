#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "broker/client/failure.h"

/// Settings under librdkafka's names (kcat's -X, and clients of its family), beside Java's names. If both are given, Java's name
/// wins.
namespace partita::client {

/// A client's settings by Java's names.
struct JavaSettings {
    std::map<std::string, std::string> properties;
    /// The name that a person used, by the Java name of the setting.
    std::map<std::string, std::string, std::less<>> given_names;

    /// The name to show in messages.
    [[nodiscard]] std::string given_name(std::string_view name) const;
};

/// Translates librdkafka's settings into Java's names: addresses, timeouts, mechanism, trusted certificates, certificate and key.
/// Reads PEM files, because Java expects one file or the text itself. Fails with `bad_setting` if a file cannot be read.
[[nodiscard]] Result<JavaSettings> in_javas_names(const std::map<std::string, std::string>& properties);

/// True if the client reads a setting of this name, Java's or librdkafka's.
[[nodiscard]] bool is_client_setting(std::string_view name);
/// The most similar setting name; empty if none is similar.
[[nodiscard]] std::string_view similar_client_setting(std::string_view name);

}  // namespace partita::client
