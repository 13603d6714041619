#pragma once

#include <cstdint>
#include <functional>

#include "broker/http/exchange.h"
#include "broker/http/kafka_errors.h"
#include "protocol/api_keys.h"

namespace partita::runtime {
struct Services;
}

namespace partita::http {

/// Sends Kafka requests to this broker's handlers by calling them. The handler gets the request as an object, and the caller
/// reads the response in place; nothing is encoded. The handler serves it as a request of the HTTP client (its principal, its
/// address). So the rules for Kafka's clients apply: permissions, limits, guards of expansions, log lines.
///
/// Only the first reactor's thread may call it. It ignores the waits of quotas, because people are slow.
class LocalRequests {
  public:
    explicit LocalRequests(const runtime::Services& services) : services_(services) {}
    LocalRequests(const LocalRequests&) = delete;
    LocalRequests& operator=(const LocalRequests&) = delete;

    /// Lets the handler serve `request` in `version` (by default the newest) and calls `then` with the response before this
    /// returns. The response is valid only during that call. `then` may send more requests. Only for handlers that answer at
    /// once.
    template <class Response, class Request, class Then>
    void ask(const ExchangePointer& exchange, const Request& request, Then then, std::int16_t version = kNewest) {
        serve(exchange, Request::schema, &request, version,
              [then = std::move(then)](const void* response) { then(*static_cast<const Response*>(response)); });
    }

  private:
    static constexpr std::int16_t kNewest = -1;

    void serve(const ExchangePointer& exchange, const Schema& request_schema, const void* request, std::int16_t version,
               std::function<void(const void*)> then);

    const runtime::Services& services_;
};

}  // namespace partita::http
