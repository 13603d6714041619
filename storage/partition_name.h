#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace partita {

/// Topic and partition, as directories and checkpoint files name them.
using PartitionName = std::pair<std::string, std::int32_t>;

// The names of directories in a data directory, as Kafka has them. Pure.

/// "<topic>-<partition>".
[[nodiscard]] std::string directory_name_of(const PartitionName& partition);
/// The reverse; nothing for any other name (also Kafka's -delete, -future and -stray ones).
[[nodiscard]] std::optional<PartitionName> parse_directory_name(std::string_view name);

/// How many hexadecimal digits make the name of a directory that was set aside its own.
inline constexpr std::size_t kUniqueHexDigits = 32;
/// `<name>.<unique_hex>-delete`, of which `name` is cut where the whole would be too long for a file system.
[[nodiscard]] std::string deleted_directory_name(std::string_view name, std::string_view unique_hex);
/// `<name>.<unique_hex>-stray`, cut in the same way.
[[nodiscard]] std::string stray_directory_name(std::string_view name, std::string_view unique_hex);
/// True for what `deleted_directory_name` makes, here and in Kafka. A directory of somebody else may well end in "-delete", and
/// is left alone.
[[nodiscard]] bool is_deleted_directory(std::string_view name);

}  // namespace partita
