#pragma once

#include <string_view>

namespace partita::handlers {

/// Texts of a Kafka without `authorizer.class.name`: describing has another one than changing.
inline constexpr std::string_view kNoAuthorizerToDescribe = "No Authorizer is configured on the broker";
inline constexpr std::string_view kNoAuthorizerToChange = "No Authorizer is configured.";

}  // namespace partita::handlers
