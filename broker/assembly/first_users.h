#pragma once

#include <expected>
#include <string>

#include "broker/config/broker_config.h"
#include "broker/runtime/loop/start_error.h"
#include "protocol/types.h"

namespace partita::runtime {

class Catalog;

/// Gives the users of the file that `partita.scram.users.file` names their credentials, before a client is served. Those whose
/// password they have already keep theirs, so that a start that finds nothing new writes nothing. Users who are not in the file
/// stay as they are. The error says which line of the file makes no user, or that nothing could be written.
[[nodiscard]] std::expected<void, StartError> make_first_users(const config::BrokerConfig& config, Catalog& catalog, Now now);

}  // namespace partita::runtime
