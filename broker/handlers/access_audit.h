#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <tuple>

#include "broker/access/authorizer.h"
#include "broker/handlers/request_context.h"

namespace partita::handlers {

/// The authorization checks of one request, for the log that Kafka calls kafka.authorizer.logger. It writes one line for each
/// resource and operation, in Kafka's format: denials at info, grants at debug. Single-threaded.
class AccessAudit {
  public:
    /// The limit for one request, because a client may name a million resources. Beyond it, the audit only logs the number of
    /// omitted lines.
    static constexpr std::size_t kLinesMax = 1000;

    /// True if the log level includes grants.
    [[nodiscard]] static bool notes_grants();

    void note(const access::Rules& rules, const access::Requester& requester, access::Permission permission,
              std::string_view name, bool is_allowed);
    /// Writes a line for each check, and clears them. `request` is the name of the API ("Fetch").
    void write(const access::Requester& requester, std::string_view request);

  private:
    struct Answer {
        /// How often the request named the resource.
        std::size_t count = 0;
        std::string reason;
    };
    /// The key is the permission, the resource's name, and whether it was granted.
    std::map<std::tuple<access::Permission, std::string, bool>, Answer> answers_;
    /// The number of checks beyond the limit.
    std::size_t left_out_ = 0;
};

/// "Principal = User:a is Denied operation = READ from host = 10.0.0.1 on resource = Topic:LITERAL:t for request = Fetch with
/// resourceRefCount = 1 based on rule DefaultDeny". Characters that could forge a line are escaped.
[[nodiscard]] std::string audit_line(const access::Requester& requester, access::Permission permission, std::string_view name,
                                     bool is_allowed, std::string_view request, std::size_t count, std::string_view reason);

/// Like `authorize`, for a resource that the reply would only leave out: the client asked for all that it may see, so nothing is
/// refused. As with Kafka, the audit writes no line for it.
[[nodiscard]] bool authorize_quietly(const runtime::ClientRequest& context, const access::Need& need, std::string_view name);

/// Writes the checks of the request to the log, once the request was served. `dispatch` calls this if there are rules.
void write_access_audit(const runtime::ClientRequest& context);

}  // namespace partita::handlers
