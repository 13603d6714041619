#pragma once

#include <string_view>

namespace partita::handlers {

/// The texts with which a Kafka without `authorizer.class.name` refuses to describe and to change ACLs.
inline constexpr std::string_view kNoAuthorizerToDescribe = "No Authorizer is configured on the broker";
inline constexpr std::string_view kNoAuthorizerToChange = "No Authorizer is configured.";

}  // namespace partita::handlers
