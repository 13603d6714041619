#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <tuple>

#include "broker/access/authorizer.h"
#include "broker/handlers/request_context.h"

namespace partita::handlers {

/// What one request asked the rules, for the log that Kafka calls kafka.authorizer.logger: one line for each resource and
/// operation, with Kafka's words. Denials are lines at info, grants at debug. For one thread.
class AccessAudit {
  public:
    /// Of one request. One that names more is told with the number of those left out: a client may name a million.
    static constexpr std::size_t kLinesMax = 1000;

    /// True when grants are written, too.
    [[nodiscard]] static bool notes_grants();

    void note(const access::Rules& rules, const access::Requester& requester, access::Permission permission,
              std::string_view name, bool is_allowed);
    /// Writes a line for each, and forgets them. `request` is the name of the API ("Fetch").
    void write(const access::Requester& requester, std::string_view request);

  private:
    struct Answer {
        /// How often the request named the resource.
        std::size_t count = 0;
        std::string reason;
    };
    /// By permission, name of the resource, and whether it was granted.
    std::map<std::tuple<access::Permission, std::string, bool>, Answer> answers_;
    /// Questions beyond.
    std::size_t left_out_ = 0;
};

/// "Principal = User:a is Denied operation = READ from host = 10.0.0.1 on resource = Topic:LITERAL:t for request = Fetch with
/// resourceRefCount = 1 based on rule DefaultDeny". Characters that could forge a line are escaped.
[[nodiscard]] std::string audit_line(const access::Requester& requester, access::Permission permission, std::string_view name,
                                     bool is_allowed, std::string_view request, std::size_t count, std::string_view reason);

/// As `authorize`, for what is left out of an answer: the client asked for whatever it may see, and is refused nothing. As with
/// Kafka no line tells of it.
[[nodiscard]] bool authorize_quietly(const runtime::ClientRequest& context, const access::Need& need, std::string_view name);

/// Writes what the request asked to the log, once it was served. `dispatch` calls this when there are rules.
void write_access_audit(const runtime::ClientRequest& context);

}  // namespace partita::handlers
