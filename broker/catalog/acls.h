#pragma once

#include <string_view>
#include <vector>

#include "broker/access/acl.h"
#include "broker/catalog/catalog.h"
#include "broker/catalog/commands.h"

/// CreateAcls and DeleteAcls: Kafka's rules, errors and texts. The catalog keeps ACLs whether or not the broker has an
/// authorizer.
namespace partita::catalog {

/// Most ACLs that one request may add or remove, as in Kafka. A catalog keeps at most `access::AclIndex::kAclsMax` ACLs.
inline constexpr std::size_t kMaxAclsPerRequest = 10'000;

/// An ACL as a request names it, with any codes.
struct AclToCreate {
    std::int8_t resource = 0;
    std::int8_t pattern = 0;
    std::string_view name;
    std::string_view principal;
    std::string_view host;
    std::int8_t operation = 0;
    std::int8_t effect = 0;
};

/// One result per ACL, in the order of the command. An ACL that already exists is not a failure. If one says ANY or MATCH, which
/// only filters may use, all are refused.
struct CreateAclsResult {
    std::vector<CatalogError> results;
};

struct CreateAcls {
    using Result = CreateAclsResult;
    std::vector<AclToCreate> acls;
};

struct DeletedAcls {
    CatalogError error;
    /// Ascending by the order of Acl. Another filter of the command may match the same ACLs.
    std::vector<access::AclPointer> acls;
};

/// One result per filter. If the filters match more than `kMaxAclsPerRequest` ACLs, all are refused.
struct DeleteAclsResult {
    std::vector<DeletedAcls> results;
};

struct DeleteAcls {
    using Result = DeleteAclsResult;
    std::vector<access::AclFilter> filters;
};

}  // namespace partita::catalog
