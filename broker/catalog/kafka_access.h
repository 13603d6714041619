#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "broker/access/acl.h"
#include "broker/access/delegation_token.h"
#include "broker/catalog/catalog.h"
#include "protocol/types.h"

namespace partita {
class Cursor;
}

namespace partita::catalog {

/// Collects, record by record, the users of a Kafka and their permissions.
class KafkaAccess {
  public:
    /// Takes the bytes after the frame of a record of this kind. Null for kinds that have nothing to do with access; false for a
    /// record that ends too early.
    [[nodiscard]] std::optional<bool> apply(std::uint32_t kind, Cursor& cursor);

    /// Credentials by user, as the catalog keeps them (see scram_credentials.h): texts by mechanism.
    [[nodiscard]] const std::map<std::string, ConfigMap>& scram_credentials() const { return scram_credentials_; }
    /// Ascending, each once. Rules of a newer Kafka about things that are not known here are left out.
    [[nodiscard]] std::vector<access::Acl> acls() const;
    [[nodiscard]] std::size_t unknown_acls() const { return unknown_acls_.size(); }
    /// Ascending by id.
    [[nodiscard]] std::vector<access::DelegationToken> delegation_tokens() const;

  private:
    [[nodiscard]] bool apply_credential(Cursor& cursor);
    [[nodiscard]] bool apply_credential_removal(Cursor& cursor);
    [[nodiscard]] bool apply_acl(Cursor& cursor);
    [[nodiscard]] bool apply_acl_removal(Cursor& cursor);
    [[nodiscard]] bool apply_token(Cursor& cursor);
    [[nodiscard]] bool apply_token_removal(Cursor& cursor);

    std::map<std::string, ConfigMap> scram_credentials_;
    /// By the ids that Kafka gave them.
    std::map<Uuid, access::Acl> acls_;
    std::set<Uuid> unknown_acls_;
    std::map<std::string, access::DelegationToken> tokens_;
};

}  // namespace partita::catalog
