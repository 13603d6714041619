#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>

#include "broker/http/exchange.h"
#include "protocol/api_keys.h"
#include "protocol/error_code.h"

namespace partita::runtime {
struct Reply;
struct Services;
}  // namespace partita::runtime

namespace partita::http {

/// Asks this broker what a Kafka client could ask it, without a connection: a request is given to the handler of its API, as the
/// HTTP client's own (its principal, its address), so that everything that holds for Kafka's clients holds for it too:
/// permissions, limits, guards of expansions, what is written to the log. What changes something over HTTP goes this way and no
/// other.
///
/// Only the first reactor's thread calls it; answers come there too, in a later turn. A quota's wait is not kept: people are
/// slow.
class OwnRequests : public std::enable_shared_from_this<OwnRequests> {
  public:
    /// The client id of these requests.
    static constexpr std::string_view kClientId = "partita-http";
    /// Requests under way. Each belongs to an HTTP connection, of which there are fewer.
    static constexpr std::size_t kCallsMax = 256;

    explicit OwnRequests(runtime::Services& services);
    ~OwnRequests();
    OwnRequests(const OwnRequests&) = delete;
    OwnRequests& operator=(const OwnRequests&) = delete;

    /// Sends `request`, which is encoded before this returns, in `version` (by default the newest). `then` is called once with
    /// the reply, which lives as long as that call. When there is none (the handler would close the connection, or the broker
    /// stops), `then` is not called, and the exchange is answered with an error or dropped.
    template <class Response, class Request, class Then>
    void ask(const ExchangePointer& exchange, const Request& request, Then then, std::int16_t version = kNewest) {
        start(exchange, Request::schema, &request, version,
              [then = std::move(then)](const void* reply) { then(*static_cast<const Response*>(reply)); });
    }

  private:
    static constexpr std::int16_t kNewest = -1;
    struct Call;
    using Then = std::function<void(const void*)>;

    void start(const ExchangePointer& exchange, const Schema& request_schema, const void* request, std::int16_t version,
               Then then);
    void dispatch(Call& call);
    void finish_soon(std::uint64_t id, runtime::Reply&& reply);
    void finish(std::uint64_t id);

    runtime::Services& services_;
    std::map<std::uint64_t, std::unique_ptr<Call>> calls_;
};

/// Answers with what Kafka's error means over HTTP: {"error": "a sentence", "code": "TOPIC_ALREADY_EXISTS"}. `message` is what
/// the handler said of it; where that is empty, what Kafka says of the code.
void respond_kafka_error(Exchange& exchange, ErrorCode code, std::string_view message);

}  // namespace partita::http
