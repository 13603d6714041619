#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "broker/access/acl.h"
#include "broker/access/authorizer.h"

namespace partita::access {

/// The rules' answer to one question.
struct AclVerdict {
    enum class Kind : std::uint8_t {
        allowed,
        denied,
        /// Rules exist for this resource, and none of them allows the requester to do this.
        not_allowed,
        /// No rule exists for this resource, for any requester.
        no_rules,
    };
    Kind kind = Kind::no_rules;
    /// The rule behind `allowed` and `denied`, else null. Lives as long as the index.
    const Acl* rule = nullptr;
};

/// A set of rules. It finds the rules for a name in the logarithm of their number: patterns are sorted, each prefix knows its own
/// longest prefix, and the rules of a pattern are sorted by principal. Immutable; changed copies share the rules.
class AclIndex {
  public:
    /// Limit of a catalog's rules. Kafka has none; here a change copies a pointer to every rule.
    static constexpr std::size_t kAclsMax = 100'000;

    AclIndex() = default;
    /// In any order; equal rules are stored once.
    explicit AclIndex(std::vector<AclPointer> acls);

    [[nodiscard]] std::size_t size() const { return acls_.size(); }
    /// Ascending by the order of Acl.
    [[nodiscard]] std::span<const AclPointer> acls() const { return acls_; }
    [[nodiscard]] bool contains(const Acl& acl) const;

    /// Kafka's order: a denying rule wins, then an allowing one. READ, WRITE, DELETE and ALTER imply DESCRIBE, ALTER_CONFIGS
    /// implies DESCRIBE_CONFIGS; a denial implies nothing.
    [[nodiscard]] AclVerdict judge(const Requester& requester, Permission permission, std::string_view name) const;

    /// True if the rules allow the requester to do this to at least one name: a pattern allows a name, and no other pattern
    /// denies that pattern as a whole. Here no operation implies another, as in Kafka. Examines all rules.
    [[nodiscard]] bool allows_any(const Requester& requester, Permission permission) const;

  private:
    static constexpr std::uint32_t kNoParent = UINT32_MAX;

    /// The rules of one pattern, as a part of `acls_`.
    struct Pattern {
        ResourceType resource{};
        std::string_view name;
        std::uint32_t begin = 0;
        std::uint32_t end = 0;
        /// Index in `prefixes_` of the longest prefix of this one for the same resource.
        std::uint32_t parent = kNoParent;
    };

    void add_pattern(std::uint32_t begin, std::uint32_t end);
    [[nodiscard]] const Pattern* find_literal(ResourceType resource, std::string_view name) const;
    /// The longest prefix of the name; null if there is none.
    [[nodiscard]] const Pattern* find_prefix(ResourceType resource, std::string_view name) const;
    [[nodiscard]] const Pattern* parent_of(const Pattern& pattern) const;
    void judge_by(const Pattern& pattern, const Requester& requester, Permission permission, AclVerdict& verdict) const;
    void judge_principal(const Pattern& pattern, std::string_view principal, const Requester& requester, Permission permission,
                         AclVerdict& verdict) const;

    std::vector<AclPointer> acls_;
    // Ascending by resource and name. Names point into the rules.
    std::vector<Pattern> literals_;
    std::vector<Pattern> prefixes_;
};

using AclIndexPointer = std::shared_ptr<const AclIndex>;

}  // namespace partita::access
