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

/// Asks the handlers of this broker what a Kafka client could ask them, by calling them: a handler gets the request as it is, and
/// its response is looked at where it stands; nothing is encoded. The handler serves it as the HTTP client's own (its principal,
/// its address), so that everything that holds for Kafka's clients holds for it too: permissions, limits, guards of expansions,
/// what is written to the log.
///
/// Only the first reactor's thread calls it. A quota's wait is not kept: people are slow.
class LocalRequests {
  public:
    explicit LocalRequests(runtime::Services& services) : services_(services) {}
    LocalRequests(const LocalRequests&) = delete;
    LocalRequests& operator=(const LocalRequests&) = delete;

    /// Has the handler serve `request` in `version` (by default the newest) and calls `then` with the response, which lives as
    /// long as that call, before this returns. `then` may ask for more. Only for handlers that answer at once.
    template <class Response, class Request, class Then>
    void ask(const ExchangePointer& exchange, const Request& request, Then then, std::int16_t version = kNewest) {
        serve(exchange, Request::schema, &request, version,
              [then = std::move(then)](const void* response) { then(*static_cast<const Response*>(response)); });
    }

  private:
    static constexpr std::int16_t kNewest = -1;

    void serve(const ExchangePointer& exchange, const Schema& request_schema, const void* request, std::int16_t version,
               std::function<void(const void*)> then);

    runtime::Services& services_;
};

}  // namespace partita::http
