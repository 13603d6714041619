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

/// What rules say about one question.
struct AclVerdict {
    enum class Kind : std::uint8_t {
        allowed,
        denied,
        /// There are rules for this resource, and none of them lets the requester do this.
        not_allowed,
        /// No rule is for this resource, whoever asks.
        no_rules,
    };
    Kind kind = Kind::no_rules;
    /// The rule behind `allowed` and `denied`, else null. Lives as long as the index.
    const Acl* rule = nullptr;
};

/// A set of rules, arranged so that those for a name are found in the logarithm of their number: patterns are sorted, prefixes
/// know the longest other prefix that they begin with, and the rules of a pattern are sorted by principal. Immutable; changed
/// copies share the rules.
class AclIndex {
  public:
    /// Most rules that a catalog keeps. Kafka has no such bound; a change copies a pointer to every rule.
    static constexpr std::size_t kAclsMax = 100'000;

    AclIndex() = default;
    /// In any order; those that are equal are taken once.
    explicit AclIndex(std::vector<AclPointer> acls);

    [[nodiscard]] std::size_t size() const { return acls_.size(); }
    /// Ascending by the order of Acl.
    [[nodiscard]] std::span<const AclPointer> acls() const { return acls_; }
    [[nodiscard]] bool contains(const Acl& acl) const;

    /// Kafka's order: a rule that denies wins, then one that allows. READ, WRITE, DELETE and ALTER allow DESCRIBE with
    /// them, ALTER_CONFIGS allows DESCRIBE_CONFIGS; what is denied implies nothing.
    [[nodiscard]] AclVerdict judge(const Requester& requester, Permission permission, std::string_view name) const;

    /// True when the rules let the requester do this to at least one name: some name is allowed by a pattern that no
    /// other pattern denies as a whole. Here no operation implies another, as in Kafka. Looks at all rules.
    [[nodiscard]] bool allows_any(const Requester& requester, Permission permission) const;

  private:
    static constexpr std::uint32_t kNoParent = UINT32_MAX;

    /// The rules of one pattern, as a part of `acls_`.
    struct Pattern {
        ResourceType resource{};
        std::string_view name;
        std::uint32_t begin = 0;
        std::uint32_t end = 0;
        /// The longest prefix of the same resource that this one begins with, by its place in `prefixes_`.
        std::uint32_t parent = kNoParent;
    };

    void add_pattern(std::uint32_t begin, std::uint32_t end);
    [[nodiscard]] const Pattern* find_literal(ResourceType resource, std::string_view name) const;
    /// The longest prefix of the name; null when there is none.
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
