#pragma once

#include <expected>
#include <string>
#include <utility>

#include "storage/partition_log.h"

namespace partita {

[[nodiscard]] inline std::unexpected<AppendError> refuse(AppendFailure failure, std::string message) {
    return std::unexpected(AppendError{failure, std::move(message)});
}

}  // namespace partita
