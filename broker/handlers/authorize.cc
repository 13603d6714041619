#include "broker/handlers/authorize.h"

#include <algorithm>

#include "broker/handlers/access_audit.h"
#include "broker/handlers/registry.h"
#include "protocol/assert.h"

namespace partita::handlers {
namespace {

access::Requester requester_of(const runtime::ClientRequest& context) { return {context.principal(), context.client.address()}; }

/// The audit of the request that this thread serves; a thread serves one request at a time.
AccessAudit& audit() {
    thread_local AccessAudit audit;
    return audit;
}

/// Without a name: asks whether the client may do this to any resource.
bool ask(const runtime::ClientRequest& context, access::Permission permission, std::optional<std::string_view> name,
         bool tells_denials) {
    const access::Rules& rules = *context.parts.authorizer.rules();
    const access::Requester requester = requester_of(context);
    const bool is_allowed = rules.allows(requester, permission, name);
    if (access::Usage* const usage = requester.principal.usage(); usage != nullptr && name && !is_allowed && tells_denials) {
        usage->denials.fetch_add(1, std::memory_order_relaxed);
    }
    if (name && (is_allowed ? AccessAudit::notes_grants() : tells_denials)) {
        audit().note(rules, requester, permission, *name, is_allowed);
    }
    return is_allowed;
}

bool ask_need(const runtime::ClientRequest& context, const access::Need& need, std::optional<std::string_view> name,
              bool tells_denials) {
    const ServedApi* row = find_served_api(context.api_key());
    PARTITA_ASSERT(row != nullptr && std::ranges::find(row->needs, need) != row->needs.end(),
                   "a handler asks for what its row says");
    // A client without the permission on the cluster may still have the one on the resource, so this is no denial yet.
    return (need.or_on_cluster && ask(context, *need.or_on_cluster, access::kClusterName, false)) ||
           ask(context, need.permission, name, tells_denials);
}

}  // namespace

bool detail::is_allowed_by_rules(const runtime::ClientRequest& context, const access::Need& need,
                                 std::optional<std::string_view> name) {
    return ask_need(context, need, name, true);
}

bool authorize_quietly(const runtime::ClientRequest& context, const access::Need& need, std::string_view name) {
    return context.parts.authorizer.allows_everything() || ask_need(context, need, name, false);
}

std::int32_t authorized_operations(const runtime::ClientRequest& context, access::ResourceType type, std::string_view name) {
    const access::Authorizer& authorizer = context.parts.authorizer;
    return authorizer.allows_everything() ? access::all_operation_bits(type)
                                          : authorizer.operation_bits(requester_of(context), type, name);
}

void write_access_audit(const runtime::ClientRequest& context) { audit().write(requester_of(context), context.api().name); }

}  // namespace partita::handlers
