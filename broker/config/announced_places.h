#pragma once

#include <string>

#include "broker/config/config_definition.h"

namespace partita::config {

/// Where this process has its HTTP side ("off" when there is none) and its data, for clients that ask for the broker's settings:
/// DescribeConfigs shows them as `partita.http.advertised`, unless that was given, and `partita.data.directory`. There is one
/// broker in a process that serves; it says so once, when it knows its ports.
void announce_places(const std::string& http, const std::string& data_directory);

/// The two settings; empty before they were announced. From any thread.
[[nodiscard]] ConfigMap announced_places();

}  // namespace partita::config
