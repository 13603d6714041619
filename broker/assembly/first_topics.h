#pragma once

#include <expected>

#include "broker/config/broker_config.h"
#include "broker/runtime/loop/start_error.h"
#include "protocol/types.h"

namespace partita::runtime {
class Catalog;
}  // namespace partita::runtime

namespace partita::assembly {

/// Creates the topics of `partita.create.topics` that do not exist, before the broker serves clients. A topic that cannot be
/// created, because it wants more replicas than one for example, is left out with a line in the log. The error names an item that
/// cannot be read.
[[nodiscard]] std::expected<void, runtime::StartError> make_first_topics(const config::BrokerConfig& config,
                                                                         runtime::Catalog& catalog, Now now);

}  // namespace partita::assembly
