#pragma once

#include <optional>
#include <string_view>

#include "broker/authentication/login_exchange.h"
#include "broker/handlers/request_context.h"
#include "broker/runtime/loop/reply.h"

namespace partita::kafka {

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
[[nodiscard]] LoginAnswer answer_bare_token(runtime::Services& services, logs::Turn& turn, runtime::ClientConnection& client,
                                            authentication::LoginExchange& login, std::string_view token);
/// Tells the login of the answer to an ApiVersions request.
void tell_versions(authentication::LoginExchange& login, const runtime::Reply& reply);

}  // namespace partita::kafka
