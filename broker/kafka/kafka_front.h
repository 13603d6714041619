#pragma once

#include <cstdint>
#include <memory>
#include <optional>

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

/// Kafka's protocol on one listener: frames with a size, request headers, logins by SASL, and the offered versions. A
/// RequestServer serves its requests. Until a client has logged in, the front serves only the requests of the login.
class KafkaFront final : public net::Front {
  public:
    /// `login` has the login settings of `listener`; null if its clients need no login. `requests` must outlive the front.
    KafkaFront(const runtime::Services& services, RequestServer& requests, config::Endpoint listener,
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
    /// False for a version of ApiVersions that Kafka knows but this broker does not offer.
    [[nodiscard]] bool is_offered(const RequestHeader& header) const;
    /// Answers a request of a login. A failed login ends the conversation: at once, or together with the answer after a delay.
    [[nodiscard]] net::Served finish(const authentication::LoginExchange& login, std::uint64_t slot, LoginAnswer answer);
    /// Serves a request that does not belong to a login.
    [[nodiscard]] net::Served serve(authentication::LoginExchange* login, std::uint64_t slot, runtime::RequestContext& context);
    /// Leads the request through the gate (handlers/request_gate.h). Null if it is to be served, with an answer.
    [[nodiscard]] std::optional<net::Served> pass_gate(const net::Speaker& speaker, std::uint64_t slot,
                                                       runtime::RequestContext& context);

    const runtime::Services& services_;
    RequestServer& requests_;
    const config::Endpoint listener_;
    const std::shared_ptr<const authentication::LoginSettings> login_;
    const std::int32_t frame_bytes_max_;
};

/// Makes fronts whose requests go to `requests`. Making a front reads and fetches the key sets that its login settings name. The
/// error is one line about these settings.
[[nodiscard]] net::FrontMaker kafka_fronts(const runtime::Services& services, RequestServer& requests, const Schedule& schedule);

/// The parts of the broker that the server of listeners needs.
[[nodiscard]] net::Surroundings surroundings_of(const runtime::Services& services);

}  // namespace partita::kafka
