#pragma once

#include <string_view>

namespace partita::handlers {

/// The error texts of a Kafka without `authorizer.class.name` for requests that describe or change ACLs.
inline constexpr std::string_view kNoAuthorizerToDescribe = "No Authorizer is configured on the broker";
inline constexpr std::string_view kNoAuthorizerToChange = "No Authorizer is configured.";

}  // namespace partita::handlers
