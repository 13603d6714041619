#pragma once

#include <string>
#include <string_view>

#include "broker/access/authorizer.h"
#include "broker/http/exchange.h"
#include "broker/insight/findings/finding.h"

/// Whether whoever sent an HTTP request may do what it asks for. Each route says what it needs (resources.cc), and is asked for
/// in one place before its resource runs; what tells of many topics at once asks for each of them.

namespace partita::http {

/// True when the caller may hear of the finding: of its topic, of everything in the cluster; of its group where it has no topic.
[[nodiscard]] inline bool may_hear(const access::Authorizer& authorizer, const Caller& caller, const insight::Finding& finding) {
    if (authorizer.allows_everything()) {
        return true;
    }
    const bool is_of_group = finding.subject.topic.empty() && !finding.subject.group.empty();
    return is_of_group ? authorizer.meets(caller.requester(), access::kDescribeGroup, finding.subject.group)
                       : authorizer.meets(caller.requester(), access::kDescribeTopicOrCluster, finding.subject.topic);
}

/// Whether the caller may do this to the resource of that name. The log is told as of a request of Kafka's (access_audit.h), by
/// what was asked for: "GET /v1/topics/T".
[[nodiscard]] bool authorize(const access::Authorizer& authorizer, const Caller& caller, const access::Need& need,
                             std::string_view name, std::string_view request);

/// "User:ANONYMOUS lacks READ TOPIC on orders".
[[nodiscard]] inline std::string refusal_sentence(const Caller& caller, const access::Need& need, std::string_view name) {
    return caller.session.principal->text() + " lacks " + to_text(need) + " on " + std::string(name);
}

}  // namespace partita::http
