#pragma once

#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "broker/access/acl_index.h"
#include "broker/access/authorizer.h"

namespace partita::access {

/// The settings of Kafka's StandardAuthorizer.
struct StandardSettings {
    /// `super.users`: principals ("User:admin") who may do everything.
    std::set<std::string, std::less<>> super_users;
    /// `allow.everyone.if.no.acl.found`: the decision for resources without a rule.
    bool allow_without_rules = false;
};

/// A decision and its reason.
struct Judgement {
    bool is_allowed = false;
    /// In Kafka's words: "SuperUser", "DefaultAllow", "DefaultDeny", or the rule.
    enum class Reason : std::uint8_t { super_user, by_default, rule } reason = Reason::by_default;
    /// Null unless the reason is `rule`.
    const Acl* rule = nullptr;
};

[[nodiscard]] std::string to_text(const Judgement& judgement);

/// Decides like StandardAuthorizer. Without a name, decides whether the requester may do this to at least one resource.
[[nodiscard]] Judgement judge(const StandardSettings& settings, const AclIndex& acls, const Requester& requester,
                              Permission permission, std::optional<std::string_view> name);

}  // namespace partita::access
