#pragma once

#include <array>
#include <cstddef>
#include <span>

#include "broker/access/permission.h"
#include "broker/handlers/request_context.h"
#include "broker/handlers/services.h"
#include "protocol/api_keys.h"

namespace partita::handlers {

/// Serves one request: decodes it, acts, and then answers, defers, parks or closes (see RequestContext).
using Handler = void (*)(runtime::RequestContext& context, const runtime::Services& services);

/// The permissions that requests of an API may need, in the order in which the handler asks for them. The handler asks for no
/// other.
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

/// One API that this broker serves, as declared in its handler's file with PARTITA_SERVES (see below). docs/apis.md is generated
/// from these.
struct ServedApi {
    ApiKey key;
    Handler handler;
    /// The permissions that the client needs. The handler checks each for every resource that the request names or the answer
    /// would reveal. Some apply only to certain requests, such as WRITE TRANSACTIONAL_ID for a producer with such an id. Empty
    /// where Kafka needs none: for APIs that come before authentication, and for tokens, which their owners control.
    Needs needs;

    /// The API with its versions: all versions that Apache Kafka 4.3.1 accepts.
    [[nodiscard]] const ApiInfo& api() const { return *find_api(key); }
};

/// All served APIs, in ascending order of their keys: exactly those that ApiVersions advertises. The build makes this list from
/// the names of the files NN_name.cc in this room. An API is served because its file is here; a file without PARTITA_SERVES does
/// not link.
[[nodiscard]] std::span<const ServedApi* const> served_apis();
/// Null for an API that is not served.
[[nodiscard]] const ServedApi* find_served_api(ApiKey key);

/// Passes a request to the handler of its API, as given in its parsed header. A request for an API that this broker does not
/// serve closes the connection, as Kafka does for an unknown key.
void dispatch(runtime::RequestContext& context);

}  // namespace partita::handlers

/// Declares the API of a file NN_name.cc. `name` is both its ApiKey and its handler, defined below as `void
/// name(RequestContext&)`. The permissions that the handler may ask for follow, in the order of ServedApi::needs.
#define PARTITA_SERVES(name, ...)                                                                           \
    static void name(runtime::RequestContext& context);                                                     \
    static void serve_##name(runtime::RequestContext& context, const runtime::Services&) { name(context); } \
    PARTITA_SERVED_BY(serve_##name, name, __VA_ARGS__)

/// The same for a handler that uses more than RequestContext::services: one `member` of runtime::Services, which it gets as its
/// second parameter.
#define PARTITA_SERVES_WITH(name, member, ...)                                                          \
    static void name(runtime::RequestContext& context, decltype((runtime::Services::member)) services); \
    static void serve_##name(runtime::RequestContext& context, const runtime::Services& services) {     \
        name(context, services.member);                                                                 \
    }                                                                                                   \
    PARTITA_SERVED_BY(serve_##name, name, __VA_ARGS__)

/// The part that both have in common.
#define PARTITA_SERVED_BY(handler, name, ...)             \
    namespace served {                                    \
    extern const ServedApi name;                          \
    }                                                     \
    constinit const ServedApi served::name {              \
        ApiKey::name, &handlers::handler, { __VA_ARGS__ } \
    }
