#pragma once

#include <expected>
#include <string>

#include "broker/config/broker_config.h"
#include "broker/runtime/loop/start_error.h"
#include "protocol/types.h"

namespace partita::runtime {

class Catalog;

/// Gives credentials to the users in the file that `partita.scram.users.file` names, before the broker serves clients. A user
/// that already has this password keeps its credentials, so a start without changes writes nothing. Users outside the file stay
/// as they are. The error names the invalid line of the file, or says that a write failed.
[[nodiscard]] std::expected<void, StartError> make_first_users(const config::BrokerConfig& config, Catalog& catalog, Now now);

}  // namespace partita::runtime
