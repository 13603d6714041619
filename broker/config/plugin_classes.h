#pragma once

#include <expected>
#include <string>
#include <vector>

#include "broker/config/config_definition.h"
#include "broker/config/config_sources.h"

namespace partita::config {

/// Fails if a setting names a class that Kafka would load and this broker cannot: policies, callbacks, reporters, providers and
/// so on. Kafka's own classes that have no effect on a single broker pass. So do the reporters of Confluent's server, of which
/// `notes` gets a line: without them, metrics are missing there, and nothing else. The error names the setting and the class.
[[nodiscard]] std::expected<void, ConfigError> check_plugin_classes(const ConfigMap& given, std::vector<StartNote>& notes);

}  // namespace partita::config
