#include "protocol/api_keys.h"

namespace partita {

std::string_view api_name(ApiKey key) {
    const ApiInfo* info = find_api(key);
    return info == nullptr ? "?" : info->name;
}

std::int16_t request_header_version(const ApiInfo& api, std::int16_t version) { return version >= api.first_flexible ? 2 : 1; }

std::int16_t response_header_version(const ApiInfo& api, std::int16_t version) {
    if (api.key == ApiKey::api_versions) {
        return 0;
    }
    return version >= api.first_flexible ? 1 : 0;
}

}  // namespace partita
