#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "protocol/schema.h"

namespace partita {

/// One line like `to_text` of codec.h, for people who look for a fault. Bytes are only counted, and the line ends with "..." soon
/// after `max_bytes`, however large the message is.
[[nodiscard]] std::string to_short_line(const Schema& schema, const void* message, std::int16_t version, std::size_t max_bytes);

}  // namespace partita
