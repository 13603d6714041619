#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "broker/access/permission.h"
#include "broker/access/session.h"

namespace partita::access {

/// Who wants to do something.
struct Requester {
    const Principal& principal;
    /// The address of the client as a number ("10.0.0.1").
    std::string_view address;
};

/// Rules about who may do what, such as a list of ACLs. All reactors ask them at once: they have to be thread-safe, and
/// quick.
class Rules {
  public:
    virtual ~Rules() = default;
    /// True when the requester may do this to the resource of that name; without a name, when the requester may do it
    /// to at least one resource.
    [[nodiscard]] virtual bool allows(const Requester& requester, Permission permission,
                                      std::optional<std::string_view> name) const = 0;
    /// Why they decide as they do, for the log: a rule, or what holds without one. Empty when there is nothing to say.
    [[nodiscard]] virtual std::string reason(const Requester& requester, Permission permission,
                                             std::optional<std::string_view> name) const;
};

/// Judges by rules, or allows everything when there are none (Kafka's default: no `authorizer.class.name`). Then every question
/// costs one load and one branch. Immutable; the rules are not owned and outlive it.
class Authorizer {
  public:
    /// Null: no rules.
    explicit Authorizer(const Rules* rules) : rules_(rules) {}

    /// Null when there are none.
    [[nodiscard]] const Rules* rules() const { return rules_; }
    [[nodiscard]] bool allows_everything() const { return rules_ == nullptr; }
    [[nodiscard]] bool allows(const Requester& requester, Permission permission, std::optional<std::string_view> name) const {
        return rules_ == nullptr || rules_->allows(requester, permission, name);
    }

    /// The same for what a request needs, which may be met on the cluster too.
    [[nodiscard]] bool meets(const Requester& requester, const Need& need, std::optional<std::string_view> name) const {
        return rules_ == nullptr || (need.or_on_cluster && allows(requester, *need.or_on_cluster, kClusterName)) ||
               allows(requester, need.permission, name);
    }

    /// The operations that the requester may do to this resource, as replies tell them (see all_operation_bits).
    [[nodiscard]] std::int32_t operation_bits(const Requester& requester, ResourceType type, std::string_view name) const;

  private:
    const Rules* rules_;
};

}  // namespace partita::access
