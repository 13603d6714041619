#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace partita {

/// Topic and partition, as directories and checkpoint files name them.
using PartitionName = std::pair<std::string, std::int32_t>;

// Kafka's names for the directories in a data directory. Pure.

/// "<topic>-<partition>".
[[nodiscard]] std::string directory_name_of(const PartitionName& partition);
/// The reverse; empty for any other name (also Kafka's -delete, -future and -stray ones).
[[nodiscard]] std::optional<PartitionName> parse_directory_name(std::string_view name);

/// The number of hexadecimal digits that make the name of a directory that was set aside unique.
inline constexpr std::size_t kUniqueHexDigits = 32;
/// Returns `<name>.<unique_hex>-delete`. Cuts `name` if the result would be too long for a file system.
[[nodiscard]] std::string deleted_directory_name(std::string_view name, std::string_view unique_hex);
/// `<name>.<unique_hex>-stray`, cut in the same way.
[[nodiscard]] std::string stray_directory_name(std::string_view name, std::string_view unique_hex);
/// True for names that `deleted_directory_name` makes, here and in Kafka. Another program's directory may also end in "-delete",
/// and is left alone.
[[nodiscard]] bool is_deleted_directory(std::string_view name);

}  // namespace partita
