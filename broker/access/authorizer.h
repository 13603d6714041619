#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "broker/access/permission.h"
#include "broker/access/session.h"

namespace partita::access {

/// The client that wants to do something.
struct Requester {
    const Principal& principal;
    /// The client's address as a number ("10.0.0.1").
    std::string_view address;
};

/// Authorization rules, such as a list of ACLs. All reactors call them at once, so they must be thread-safe and fast.
class Rules {
  public:
    virtual ~Rules() = default;
    /// True if the requester may do this to the named resource; without a name, if it may do this to at least one resource.
    [[nodiscard]] virtual bool allows(const Requester& requester, Permission permission,
                                      std::optional<std::string_view> name) const = 0;
    /// The reason of the decision, for the log: a rule, or the default without one. May be empty.
    [[nodiscard]] virtual std::string reason(const Requester& requester, Permission permission,
                                             std::optional<std::string_view> name) const;
};

/// Decides by rules, or allows everything without rules (Kafka's default: no `authorizer.class.name`). Then every question costs
/// one load and one branch. Immutable; the rules are not owned and outlive it.
class Authorizer {
  public:
    /// Null: no rules.
    explicit Authorizer(const Rules* rules) : rules_(rules) {}

    /// Null if there are none.
    [[nodiscard]] const Rules* rules() const { return rules_; }
    [[nodiscard]] bool allows_everything() const { return rules_ == nullptr; }
    [[nodiscard]] bool allows(const Requester& requester, Permission permission, std::optional<std::string_view> name) const {
        return rules_ == nullptr || rules_->allows(requester, permission, name);
    }

    /// The same for a request's need, which a permission on the cluster may satisfy, too.
    [[nodiscard]] bool meets(const Requester& requester, const Need& need, std::optional<std::string_view> name) const {
        return rules_ == nullptr || (need.or_on_cluster && allows(requester, *need.or_on_cluster, kClusterName)) ||
               allows(requester, need.permission, name);
    }

    /// The operations that the requester may do to this resource, in the form of replies (see all_operation_bits).
    [[nodiscard]] std::int32_t operation_bits(const Requester& requester, ResourceType type, std::string_view name) const;

  private:
    const Rules* rules_;
};

}  // namespace partita::access
