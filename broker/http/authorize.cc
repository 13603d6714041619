#include "broker/http/authorize.h"

#include "broker/handlers/access_audit.h"

namespace partita::http {

bool authorize(const access::Authorizer& authorizer, const Caller& caller, const access::Need& need, std::string_view name,
               std::string_view request) {
    const bool is_allowed = authorizer.meets(caller.requester(), need, name);
    if (authorizer.rules() != nullptr && (!is_allowed || handlers::AccessAudit::notes_grants())) {
        // If either of two permissions suffices, the one on the cluster was checked first.
        const bool is_by_cluster =
            is_allowed && need.or_on_cluster && authorizer.allows(caller.requester(), *need.or_on_cluster, access::kClusterName);
        handlers::AccessAudit audit;
        audit.note(*authorizer.rules(), caller.requester(), is_by_cluster ? *need.or_on_cluster : need.permission,
                   is_by_cluster ? access::kClusterName : name, is_allowed);
        audit.write(caller.requester(), request);
    }
    return is_allowed;
}

}  // namespace partita::http
