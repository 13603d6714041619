#include "storage/set_aside.h"

#include <array>
#include <utility>

#include "protocol/random_bytes.h"
#include "protocol/try.h"
#include "storage/partition_name.h"

namespace partita {
namespace {

/// A random name part in the form that Kafka uses for deleted directories.
std::string random_hex() {
    static constexpr char kDigits[] = "0123456789abcdef";
    std::string text;
    for (const std::uint8_t byte : random_value<std::array<std::uint8_t, kUniqueHexDigits / 2>>()) {
        text += kDigits[byte >> 4];
        text += kDigits[byte & 15];
    }
    return text;
}

}  // namespace

StorageResult<void> SetAside::for_deletion(const std::string& name) {
    std::string target = deleted_directory_name(name, random_hex());
    auto renamed = file_system_.rename(join_path(directory_, name), join_path(directory_, target));
    if (!renamed) {
        if (renamed.error().is_not_found()) {
            return {};
        }
        return renamed;
    }
    deleted_.push_back(std::move(target));
    return {};
}

StorageResult<void> SetAside::as_stray(const std::string& name, bool is_unreadable) {
    std::string target = stray_directory_name(name, random_hex());
    PARTITA_TRY(file_system_.rename(join_path(directory_, name), join_path(directory_, target)));
    strays_.push_back({name, std::move(target), is_unreadable});
    return {};
}

std::vector<std::string> SetAside::take_deleted() { return std::exchange(deleted_, {}); }

std::vector<StrayDirectory> SetAside::take_strays() { return std::exchange(strays_, {}); }

}  // namespace partita
