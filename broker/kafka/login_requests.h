#pragma once

#include <optional>
#include <string_view>

#include "broker/authentication/login_exchange.h"
#include "broker/handlers/request_context.h"
#include "broker/runtime/loop/reply.h"

namespace partita::kafka {

/// The answer to a login request or to a token without a header, and the end of the connection if the login failed.
struct LoginAnswer {
    runtime::Reply reply;
    std::optional<authentication::LoginEnd> end;
};

/// True for the requests that `answer_login` handles: those of a login, and those of a repeated login.
[[nodiscard]] bool belongs_to_login(authentication::LoginExchange& login, ApiKey key, Instant now);
/// Answers a SaslHandshake or SaslAuthenticate request of the login. Null if its bytes are malformed: the context then has the
/// reason to close the connection.
[[nodiscard]] std::optional<LoginAnswer> answer_login(runtime::RequestContext& context, authentication::LoginExchange& login);
/// Answers a token without a header.
[[nodiscard]] LoginAnswer answer_bare_token(const runtime::CommonServices& services, logs::Turn& turn,
                                            runtime::ClientConnection& client, authentication::LoginExchange& login,
                                            std::string_view token);
/// Tells the login that an ApiVersions request was answered, unless the reply has an error.
void tell_versions(authentication::LoginExchange& login, const runtime::Reply& reply);

}  // namespace partita::kafka
