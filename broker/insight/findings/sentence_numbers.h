#pragma once

#include <cstdint>
#include <string>
#include <string_view>

/// Numbers with nouns, for sentences.
namespace partita::insight {

/// "1 record", "7 records"; "1 batch", "2 batches".
[[nodiscard]] std::string counted(std::int64_t count, std::string_view singular);
/// For phrases in which more than the noun changes: "1 key has its", "7 keys have their".
[[nodiscard]] std::string counted(std::int64_t count, std::string_view one, std::string_view many);

}  // namespace partita::insight
