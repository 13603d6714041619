#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "broker/tls/key_material.h"
#include "tests/support/tests_directory.h"

/// The stores in `stores/`, which the script there makes.
namespace partita::test {

inline std::string store_path(std::string_view name) {
    return tests_directory().string() + "/unit/tls/stores/" + std::string(name);
}

inline std::string store_text(std::string_view name) { return tls::read_store_file(store_path(name)).value(); }

/// Configs of a listener as they stand in a file, each with the listener's prefix.
inline tls::StoreConfigs configs_of(std::map<std::string, std::string, std::less<>> given) {
    return {.value = [given](std::string_view key) -> std::optional<std::string> {
                const auto found = given.find(key);
                return found == given.end() ? std::nullopt : std::optional(found->second);
            },
            .name_of = [](std::string_view key) { return "listener.name.x." + std::string(key); },
            .read_file = tls::read_store_file};
}

}  // namespace partita::test
