#pragma once

#include <array>
#include <cstddef>
#include <span>

#include "broker/access/permission.h"
#include "broker/handlers/request_context.h"
#include "protocol/api_keys.h"

namespace partita::handlers {

/// Serves one request: decodes it, acts, and then answers, defers, parks or closes (see RequestContext).
using Handler = void (*)(runtime::RequestContext& context);

/// The permissions that requests of an API may need, in the order in which handlers ask for them. They ask for no other.
class Needs {
  public:
    static constexpr std::size_t kMax = 3;

    template <class... Each>
        requires(sizeof...(Each) <= kMax)
    constexpr Needs(Each... needs)
        : needs_{access::Need(needs)...}, count_(sizeof...(Each)) {}  // NOLINT(google-explicit-constructor)

    [[nodiscard]] constexpr const access::Need* begin() const { return needs_.data(); }
    [[nodiscard]] constexpr const access::Need* end() const { return needs_.data() + count_; }
    [[nodiscard]] constexpr bool empty() const { return count_ == 0; }

  private:
    std::array<access::Need, kMax> needs_;
    std::size_t count_;
};

/// One API that this broker serves, as the file of its handler states it: PARTITA_SERVES below. docs/apis.md is made of these.
struct ServedApi {
    ApiKey key;
    Handler handler;
    /// What the client must be allowed to do. The handler asks each of them for every resource that the request names or that the
    /// answer would tell of, or only where the request needs it (WRITE TRANSACTIONAL_ID of a producer that has such an id). Empty
    /// where Kafka asks for nothing: for APIs that come before authentication, and for tokens, about which their owners decide.
    Needs needs;

    /// The API with its versions: all that Apache Kafka 4.3.1 accepts.
    [[nodiscard]] const ApiInfo& api() const { return *find_api(key); }
};

/// All served APIs, ascending by key: what ApiVersions advertises, and nothing else. The build makes this list of the names of
/// the files NN_name.cc in this room: an API is served because its file is here, and a file without PARTITA_SERVES does not link.
[[nodiscard]] std::span<const ServedApi* const> served_apis();
/// Null for an API that is not served.
[[nodiscard]] const ServedApi* find_served_api(ApiKey key);

/// Passes a request to the handler of its API, which its parsed header names. A request of an API that this broker does not serve
/// closes the connection, as Kafka does with a key it does not know.
void dispatch(runtime::RequestContext& context);

}  // namespace partita::handlers

/// Begins the file NN_name.cc of an API: `name` is its ApiKey and its handler, which stands below as `void
/// name(RequestContext&)`; the permissions that it may ask for follow, in the order of ServedApi::needs.
#define PARTITA_SERVES(name, ...)                       \
    static void name(runtime::RequestContext& context); \
    namespace served {                                  \
    extern const ServedApi name;                        \
    }                                                   \
    constinit const ServedApi served::name {            \
        ApiKey::name, &handlers::name, { __VA_ARGS__ }  \
    }
