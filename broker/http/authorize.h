#pragma once

#include <string>
#include <string_view>

#include "broker/access/authorizer.h"
#include "broker/http/exchange.h"
#include "broker/insight/findings/finding.h"

/// Decides whether the sender of an HTTP request may do what it asks for. Each route says what it needs (resources.cc), and one
/// place checks that before its resource runs. Resources that tell about many topics at once check each of them.

namespace partita::http {

/// True if the caller may hear of the finding. It needs to describe the finding's topic or the whole cluster; for a finding
/// without a topic, the finding's group.
[[nodiscard]] inline bool may_hear(const access::Authorizer& authorizer, const Caller& caller, const insight::Finding& finding) {
    if (authorizer.allows_everything()) {
        return true;
    }
    const bool is_of_group = finding.subject.topic.empty() && !finding.subject.group.empty();
    return is_of_group ? authorizer.meets(caller.requester(), access::kDescribeGroup, finding.subject.group)
                       : authorizer.meets(caller.requester(), access::kDescribeTopicOrCluster, finding.subject.topic);
}

/// Decides whether the caller may do this to the resource of that name. Writes the audit log as for a Kafka request
/// (access_audit.h), with `request`: "GET /v1/topics/T".
[[nodiscard]] bool authorize(const access::Authorizer& authorizer, const Caller& caller, const access::Need& need,
                             std::string_view name, std::string_view request);

/// "User:ANONYMOUS lacks READ TOPIC on orders".
[[nodiscard]] inline std::string refusal_sentence(const Caller& caller, const access::Need& need, std::string_view name) {
    return caller.session.principal->text() + " lacks " + to_text(need) + " on " + std::string(name);
}

}  // namespace partita::http
