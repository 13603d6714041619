#pragma once

#include <expected>
#include <string>

#include "broker/config/broker_config.h"
#include "broker/runtime/loop/start_error.h"
#include "protocol/types.h"

namespace partita::runtime {
class Catalog;
}  // namespace partita::runtime

namespace partita::assembly {

/// Gives credentials to the users in the file that `partita.scram.users.file` names, else in `partita.scram.users`, before the
/// broker serves clients. A user that already has this password keeps its credentials, so a start without changes writes nothing.
/// Users outside the file stay as they are. The error names the invalid line of the file, or says that a write failed.
[[nodiscard]] std::expected<void, runtime::StartError> make_first_users(const config::BrokerConfig& config,
                                                                        runtime::Catalog& catalog, Now now);

}  // namespace partita::assembly
