#pragma once

#include <expected>
#include <functional>

#include "broker/runtime/loop/start_error.h"
#include "protocol/types.h"

namespace partita::faults {

/// Makes the topics of `partita.create.topics` anew, as the first start of a broker does. Any thread may call `make`.
struct FirstTopics {
    std::function<std::expected<void, runtime::StartError>(Now now)> make;
};

}  // namespace partita::faults
