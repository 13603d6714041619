#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "broker/authentication/jwks.h"

namespace partita::authentication {

/// The current keys for checking tokens. They can change at any time, because issuers change their keys. Any thread may call it.
class KeySource {
  public:
    virtual ~KeySource() = default;
    /// The current keys; never null.
    [[nodiscard]] virtual std::shared_ptr<const KeySet> keys() const = 0;
    /// A token names a key that is not among them. The source may fetch the keys again, so that they are there when the client
    /// returns.
    virtual void miss(std::string_view key_id) = 0;
};

/// Where to fetch a key set, and when to fetch it again.
struct KeySetPlace {
    /// sasl.oauthbearer.jwks.endpoint.url: http or https.
    std::string url;
    std::int64_t refresh_ms = 3'600'000;
    std::int64_t retry_ms_min = 100;
    std::int64_t retry_ms_max = 10'000;
    /// TLS settings among the options of the login module, as in Kafka: ssl.truststore.location etc.
    std::map<std::string, std::string> tls;
};

}  // namespace partita::authentication
