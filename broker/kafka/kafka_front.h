#pragma once

#include <cstdint>
#include <memory>

#include "broker/authentication/login_exchange.h"
#include "broker/config/listeners.h"
#include "broker/handlers/services.h"
#include "broker/kafka/frames.h"
#include "broker/kafka/login_requests.h"
#include "broker/kafka/request_server.h"
#include "broker/net/front.h"
#include "broker/net/surroundings.h"
#include "protocol/request_header.h"
#include "schedule/executor.h"

namespace partita::kafka {

/// Kafka's protocol on one listener: frames with a size, request headers, logins by SASL, the versions that are offered. It
/// has requests served by a RequestServer. A client that has to log in is served only what belongs to that.
class KafkaFront final : public net::Front {
  public:
    /// `login` says how clients of `listener` log in; null when they need not. `requests` outlives the front.
    KafkaFront(runtime::Services& services, RequestServer& requests, config::Endpoint listener,
               std::shared_ptr<const authentication::LoginSettings> login);

    [[nodiscard]] std::unique_ptr<net::ProtocolState> begin() override;
    [[nodiscard]] net::Served serve_next(logs::Turn& turn, const net::Speaker& speaker) override;
    void replied(const runtime::ClientConnection& client, const runtime::Reply& reply) override;
    void closed(const runtime::ClientConnection& client) override;
    [[nodiscard]] config::CurrentConfig::Objection objection() const override;

  private:
    [[nodiscard]] Frames frames_of(const authentication::LoginExchange* login) const;
    [[nodiscard]] net::Served serve_frame(logs::Turn& turn, const net::Speaker& speaker,
                                          const net::Conversation::Request& request);
    /// False for ApiVersions in a version that Kafka has and is not offered.
    [[nodiscard]] bool is_offered(const RequestHeader& header) const;
    /// Answers a request of a login. One that failed ends the conversation: at once, or after a while with the answer.
    [[nodiscard]] net::Served finish(const authentication::LoginExchange& login, std::uint64_t slot, LoginAnswer answer);
    /// Serves what is no part of a login.
    [[nodiscard]] net::Served serve(authentication::LoginExchange* login, std::uint64_t slot, runtime::RequestContext& context);

    runtime::Services& services_;
    RequestServer& requests_;
    const config::Endpoint listener_;
    const std::shared_ptr<const authentication::LoginSettings> login_;
    const std::int32_t frame_bytes_max_;
};

/// Makes fronts whose requests `requests` serves. The error of a listener is one line about its login settings: key sets that
/// they name are read and fetched meanwhile.
[[nodiscard]] net::FrontMaker kafka_fronts(runtime::Services& services, RequestServer& requests, const Schedule& schedule);

/// What the server of listeners needs of these parts.
[[nodiscard]] net::Surroundings surroundings_of(runtime::Services& services);

}  // namespace partita::kafka
