#include "broker/catalog/acls.h"

#include <algorithm>
#include <iterator>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "broker/access/acl_index.h"
#include "broker/catalog/catalog_core.h"
#include "broker/catalog/change_builder.h"

namespace partita::catalog {
namespace {

using access::Acl;
using access::AclIndex;
using access::AclPointer;

struct ByValue {
    bool operator()(const AclPointer& one, const AclPointer& other) const { return *one < *other; }
};
using Acls = std::set<AclPointer, ByValue>;

CatalogError invalid(std::string message) { return {ErrorCode::invalid_request, std::move(message)}; }

/// True for codes that only filters use. Kafka makes no ACL of these, and the whole request fails.
bool is_of_a_filter(const AclToCreate& acl) {
    using access::kAnyCode;
    return acl.resource == kAnyCode || acl.pattern == kAnyCode || acl.pattern == access::kMatchCode ||
           acl.operation == kAnyCode || acl.effect == kAnyCode;
}

CatalogError problem_of(const access::AclFilter& filter) {
    if (!access::is_resource_code(filter.resource) || !access::is_pattern_code(filter.pattern)) {
        return invalid("Unknown patternFilter.");
    }
    if (!access::is_operation_code(filter.operation) || !access::is_effect_code(filter.effect)) {
        return invalid("Unknown entryFilter.");
    }
    return {};
}

/// Checks the rules of Kafka's broker first, then those of its controller.
CatalogError problem_of(const AclToCreate& acl) {
    if (acl.resource == static_cast<std::int8_t>(access::ResourceType::cluster) && acl.name != access::kClusterName) {
        return invalid("The only valid name for the CLUSTER resource is " + std::string(access::kClusterName));
    }
    if (acl.name.empty()) {
        return invalid("Invalid empty resource name");
    }
    if (!access::is_resource_code(acl.resource)) {
        return invalid("Invalid resourceType UNKNOWN");
    }
    if (!access::is_pattern_code(acl.pattern)) {
        return invalid("Invalid patternType UNKNOWN");
    }
    if (!access::is_operation_code(acl.operation)) {
        return invalid("Invalid operation UNKNOWN");
    }
    if (!access::is_effect_code(acl.effect)) {
        return invalid("Invalid permissionType UNKNOWN");
    }
    if (!acl.principal.contains(':')) {
        return invalid("Could not parse principal from `" + std::string(acl.principal) +
                       "` (no colon is present separating the principal type from the principal name)");
    }
    return {};
}

AclPointer made_of(const AclToCreate& acl) {
    return std::make_shared<const Acl>(Acl{.resource = static_cast<access::ResourceType>(acl.resource),
                                           .pattern = static_cast<access::PatternType>(acl.pattern),
                                           .name = std::string(acl.name),
                                           .principal = std::string(acl.principal),
                                           .host = std::string(acl.host),
                                           .operation = static_cast<access::Operation>(acl.operation),
                                           .effect = static_cast<access::AclEffect>(acl.effect)});
}

}  // namespace

Decision<CreateAcls> CatalogCore::decide(const CreateAcls& command, const CatalogContext&) const {
    CreateAclsResult answer;
    if (std::ranges::any_of(command.acls, is_of_a_filter)) {
        answer.results.assign(command.acls.size(), {ErrorCode::unknown_server_error, std::nullopt});
        return {std::move(answer), {}};
    }
    Acls added;
    for (const AclToCreate& acl : command.acls) {
        answer.results.push_back(problem_of(acl));
        if (answer.results.back().failed()) {
            continue;
        }
        if (AclPointer made = made_of(acl); !snapshot_->acls().contains(*made)) {
            added.insert(std::move(made));
        }
    }
    CatalogError refused;
    if (added.size() > kMaxAclsPerRequest) {
        refused = {ErrorCode::policy_violation, std::string(kExcessiveBatch)};
    } else if (snapshot_->acls().size() + added.size() > AclIndex::kAclsMax) {
        refused = {ErrorCode::policy_violation, "There can be no more than " + std::to_string(AclIndex::kAclsMax) + " ACLs."};
    }
    if (refused.failed()) {
        for (CatalogError& result : answer.results) {
            if (!result.failed()) {
                result = refused;
            }
        }
        return {std::move(answer), {}};
    }
    ChangeBuilder change(snapshot_);
    if (!added.empty()) {
        change.change_acls(std::vector(added.begin(), added.end()), {});
    }
    return {std::move(answer), change.finish()};
}

Decision<DeleteAcls> CatalogCore::decide(const DeleteAcls& command, const CatalogContext&) const {
    DeleteAclsResult answer;
    Acls removed;
    for (const access::AclFilter& filter : command.filters) {
        DeletedAcls& result = answer.results.emplace_back();
        result.error = problem_of(filter);
        if (result.error.failed()) {
            continue;
        }
        std::ranges::copy_if(snapshot_->acls().acls(), std::back_inserter(result.acls),
                             [&](const AclPointer& acl) { return filter.matches(*acl); });
        removed.insert(result.acls.begin(), result.acls.end());
    }
    if (removed.size() > kMaxAclsPerRequest) {
        const CatalogError refused =
            invalid("Cannot remove more than " + std::to_string(kMaxAclsPerRequest) + " acls in a single delete operation.");
        for (DeletedAcls& result : answer.results) {
            result = {.error = refused, .acls = {}};
        }
        return {std::move(answer), {}};
    }
    ChangeBuilder change(snapshot_);
    if (!removed.empty()) {
        change.change_acls({}, std::vector(removed.begin(), removed.end()));
    }
    return {std::move(answer), change.finish()};
}

}  // namespace partita::catalog
