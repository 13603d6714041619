#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "broker/client/failure.h"

/// Settings by the names that librdkafka has for them (kcat's -X, and clients of its family), beside Java's names, which count
/// where both are given.
namespace partita::client {

/// A client's settings by Java's names.
struct JavaSettings {
    std::map<std::string, std::string> properties;
    /// The name under which a person gave what stands here under Java's.
    std::map<std::string, std::string, std::less<>> given_names;

    /// The name that messages show.
    [[nodiscard]] std::string given_name(std::string_view name) const;
};

/// Adds Java's names to settings that have librdkafka's: addresses, timeouts, mechanism, trusted certificates, certificate and
/// key. PEM files are read, for Java has them as one file or as text. bad_setting: one that cannot be read.
[[nodiscard]] Result<JavaSettings> in_javas_names(const std::map<std::string, std::string>& properties);

/// True when the client reads a setting of this name, Java's or librdkafka's.
[[nodiscard]] bool is_client_setting(std::string_view name);
/// The name of such a setting that is nearest to another word; empty when none is near.
[[nodiscard]] std::string_view similar_client_setting(std::string_view name);

}  // namespace partita::client
