#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "broker/authentication/jwks.h"

namespace partita::authentication {

/// Keys that tokens are checked by, and that may be others a moment later:
/// whoever issues tokens changes its keys now and then. Any thread may call it.
class KeySource {
  public:
    virtual ~KeySource() = default;
    /// Those of this moment; never null.
    [[nodiscard]] virtual std::shared_ptr<const KeySet> keys() const = 0;
    /// A token names a key that is none of them. They may be fetched for it, and
    /// then know it when the client comes again.
    virtual void miss(std::string_view key_id) = 0;
};

/// Where a key set is fetched, and when again.
struct KeySetPlace {
    /// sasl.oauthbearer.jwks.endpoint.url: http or https.
    std::string url;
    std::int64_t refresh_ms = 3'600'000;
    std::int64_t retry_ms_min = 100;
    std::int64_t retry_ms_max = 10'000;
    /// Options of the login module that are settings of TLS, as Kafka takes them:
    /// ssl.truststore.location and its like.
    std::map<std::string, std::string> tls;
};

}  // namespace partita::authentication
