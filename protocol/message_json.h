#pragma once

#include <cstdint>
#include <string>

#include "protocol/function_ref.h"
#include "protocol/schema.h"
#include "protocol/types.h"

namespace partita {

/// Writes the members of a message as JSON, in the form of Kafka's generated converters: names in lower camel case, no blanks,
/// UUIDs as text, tagged members only unless they have their default. `to_base64` encodes bytes. Text that is not UTF-8 is copied
/// as it is.
[[nodiscard]] std::string to_json(const Schema& schema, const void* message, std::int16_t version,
                                  FunctionRef<std::string(Bytes)> to_base64);

}  // namespace partita
