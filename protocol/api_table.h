#pragma once

#include <string_view>

#include "protocol/api_keys.h"
#include "protocol/schema.h"

/// The declaration that turns the two messages of a message file (protocol/messages/NN_name.cc) into an API: `PARTITA_API` below.
/// The build collects these declarations by the names of the files (protocol/api_list.cc.in), so no other place lists them.
namespace partita::table {

enum class Stability { all_stable, latest_unstable };

/// Derives versions, flexibility and tables from the messages, so that each is stated once.
consteval ApiInfo make_api(ApiKey key, std::string_view name, const Schema& request, const Schema& response,
                           Stability stability = Stability::all_stable) {
    return {.key = key,
            .name = name,
            .versions = request.versions,
            .latest_unstable = stability == Stability::latest_unstable,
            .first_flexible = request.first_flexible,
            .request = &request,
            .response = &response};
}

}  // namespace partita::table

/// Declares the API `key` of ApiKey, with the messages `Name`Request and `Name`Response, which are defined before. `Name` is
/// Kafka's name. A third argument, Stability::latest_unstable, means that the last version needs unstable.api.versions.enable.
#define PARTITA_API(key, Name, ...)     \
    namespace apis {                    \
    extern const ApiInfo key;           \
    }                                   \
    constinit const ApiInfo apis::key = \
        table::make_api(ApiKey::key, #Name, Name##Request::schema, Name##Response::schema __VA_OPT__(, ) __VA_ARGS__);
