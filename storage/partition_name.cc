#include "storage/partition_name.h"

#include "storage/checkpoint_text.h"

namespace partita {
namespace {

constexpr std::string_view kDeletedSuffix = "-delete";
constexpr std::string_view kStraySuffix = "-stray";
constexpr std::size_t kLongestFileName = 255;

std::string unique_name(std::string_view name, std::string_view unique_hex, std::string_view suffix) {
    const std::string end = "." + std::string(unique_hex) + std::string(suffix);
    return std::string(name.substr(0, kLongestFileName - end.size())) + end;
}

}  // namespace

std::string directory_name_of(const PartitionName& partition) { return partition.first + "-" + std::to_string(partition.second); }

std::optional<PartitionName> parse_directory_name(std::string_view name) {
    const std::size_t dash = name.rfind('-');
    if (dash == std::string_view::npos || dash == 0) {
        return std::nullopt;
    }
    const auto partition = parse_integer(name.substr(dash + 1));
    if (!partition || *partition < 0 || *partition > INT32_MAX) {
        return std::nullopt;
    }
    if (std::to_string(*partition) != name.substr(dash + 1)) {
        return std::nullopt;
    }
    return PartitionName{std::string(name.substr(0, dash)), static_cast<std::int32_t>(*partition)};
}

std::string deleted_directory_name(std::string_view name, std::string_view unique_hex) {
    return unique_name(name, unique_hex, kDeletedSuffix);
}

std::string stray_directory_name(std::string_view name, std::string_view unique_hex) {
    return unique_name(name, unique_hex, kStraySuffix);
}

bool is_deleted_directory(std::string_view name) {
    if (!name.ends_with(kDeletedSuffix)) {
        return false;
    }
    name.remove_suffix(kDeletedSuffix.size());
    if (name.size() < kUniqueHexDigits + 1 || name[name.size() - kUniqueHexDigits - 1] != '.') {
        return false;
    }
    return name.find_first_not_of("0123456789abcdef", name.size() - kUniqueHexDigits) == std::string_view::npos;
}

}  // namespace partita
