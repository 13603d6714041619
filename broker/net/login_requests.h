#pragma once

#include <memory>

#include "broker/authentication/login_exchange.h"
#include "broker/handlers/request_context.h"
#include "broker/net/conversation.h"
#include "broker/runtime/loop/reply.h"

namespace partita::net {

/// The end of a conversation that has to wait: the answer to a login that failed, or only the close.
struct HeldReply {
    std::uint64_t slot = 0;
    runtime::Reply reply;
    std::int64_t delay_ms = 0;
};

/// The answer to a request of a login, or to a token without a header, and whether the login failed by it.
struct LoginAnswer {
    runtime::Reply reply;
    std::optional<authentication::LoginEnd> end;
};

/// True for the requests that `answer_login` takes: those by which a client logs in, and in which it logs in again.
[[nodiscard]] bool belongs_to_login(authentication::LoginExchange& login, ApiKey key, Instant now);
/// Answers a SaslHandshake or SaslAuthenticate request that belongs to the login. Null when its bytes are malformed: then the
/// context says why the connection is closed.
[[nodiscard]] std::optional<LoginAnswer> answer_login(runtime::RequestContext& context, authentication::LoginExchange& login);
/// Answers a token that came without a header.
[[nodiscard]] LoginAnswer answer_bare_token(runtime::Services& services, runtime::Turn& turn, runtime::ClientConnection& client,
                                            authentication::LoginExchange& login, std::string_view token);
/// Tells the login of the answer to an ApiVersions request.
void tell_versions(authentication::LoginExchange& login, const runtime::Reply& reply);

}  // namespace partita::net
