#include "broker/access/acl_index.h"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "broker/access/host.h"

namespace partita::access {
namespace {

using Kind = AclVerdict::Kind;

/// As in Kafka, an ACL for an IPv6 client must have Java's text form; but a denying ACL applies to any spelling of the address.
bool host_matches(const Acl& acl, const Requester& requester) {
    if (acl.host == kWildcard) {
        return true;
    }
    if (!requester.address.contains(':')) [[likely]] {
        return acl.host == requester.address;
    }
    return is_same_ipv6(acl.host, requester.address) &&
           (acl.effect == AclEffect::deny || acl.host == address_in_acls(requester.address));
}

bool allows_operation(Operation allowed, Operation asked) {
    if (allowed == asked || allowed == Operation::all) {
        return true;
    }
    if (asked == Operation::describe) {
        return allowed == Operation::read || allowed == Operation::write || allowed == Operation::erase ||
               allowed == Operation::alter;
    }
    return asked == Operation::describe_configs && allowed == Operation::alter_configs;
}

bool denies_operation(Operation denied, Operation asked) { return denied == asked || denied == Operation::all; }

/// The effect of rules on one operation, over all names of a resource.
struct Reach {
    std::set<std::string_view> literals;
    std::set<std::string_view> prefixes;
    bool everything = false;

    void add(const Acl& acl) {
        if (acl.pattern == PatternType::prefixed) {
            prefixes.insert(acl.name);
        } else if (acl.name == kWildcard) {
            everything = true;
        } else {
            literals.insert(acl.name);
        }
    }
    [[nodiscard]] bool has_prefix_of(std::string_view name) const {
        for (std::size_t length = 1; length <= name.size(); ++length) {
            if (prefixes.contains(name.substr(0, length))) {
                return true;
            }
        }
        return false;
    }
};

}  // namespace

AclIndex::AclIndex(std::vector<AclPointer> acls) : acls_(std::move(acls)) {
    const auto value = [](const AclPointer& acl) -> const Acl& { return *acl; };
    std::ranges::sort(acls_, {}, value);
    const auto [rest, end] = std::ranges::unique(acls_, {}, value);
    acls_.erase(rest, end);
    std::uint32_t begin = 0;
    for (std::uint32_t place = 1; place <= acls_.size(); ++place) {
        const Acl& first = *acls_[begin];
        if (place == acls_.size() || acls_[place]->resource != first.resource || acls_[place]->pattern != first.pattern ||
            acls_[place]->name != first.name) {
            add_pattern(begin, place);
            begin = place;
        }
    }
}

void AclIndex::add_pattern(std::uint32_t begin, std::uint32_t end) {
    const Acl& acl = *acls_[begin];
    Pattern added{.resource = acl.resource, .name = acl.name, .begin = begin, .end = end};
    if (acl.pattern == PatternType::literal) {
        literals_.push_back(added);
        return;
    }
    // Every name that sorts between a prefix of this name and this name has that prefix. So the predecessor, or one of its
    // prefixes, is this name's longest prefix, if it has one.
    if (!prefixes_.empty() && prefixes_.back().resource == acl.resource) {
        auto place = static_cast<std::uint32_t>(prefixes_.size() - 1);
        while (place != kNoParent && !added.name.starts_with(prefixes_[place].name)) {
            place = prefixes_[place].parent;
        }
        added.parent = place;
    }
    prefixes_.push_back(added);
}

bool AclIndex::contains(const Acl& acl) const {
    return std::ranges::binary_search(acls_, acl, {}, [](const auto& each) -> const Acl& { return *each; });
}

const AclIndex::Pattern* AclIndex::find_literal(ResourceType resource, std::string_view name) const {
    const std::pair wanted(resource, name);
    const auto key = [](const Pattern& pattern) { return std::pair(pattern.resource, pattern.name); };
    const auto found = std::ranges::lower_bound(literals_, wanted, {}, key);
    return found == literals_.end() || key(*found) != wanted ? nullptr : &*found;
}

const AclIndex::Pattern* AclIndex::find_prefix(ResourceType resource, std::string_view name) const {
    const auto key = [](const Pattern& pattern) { return std::pair(pattern.resource, pattern.name); };
    const auto after = std::ranges::upper_bound(prefixes_, std::pair(resource, name), {}, key);
    if (after == prefixes_.begin()) {
        return nullptr;
    }
    // The prefixes of the name are among the last pattern that is not greater and that pattern's own prefixes.
    const Pattern* pattern = &*std::prev(after);
    if (pattern->resource != resource) {
        return nullptr;
    }
    while (pattern != nullptr && !name.starts_with(pattern->name)) {
        pattern = parent_of(*pattern);
    }
    return pattern;
}

const AclIndex::Pattern* AclIndex::parent_of(const Pattern& pattern) const {
    return pattern.parent == kNoParent ? nullptr : &prefixes_[pattern.parent];
}

void AclIndex::judge_principal(const Pattern& pattern, std::string_view principal, const Requester& requester,
                               Permission permission, AclVerdict& verdict) const {
    const std::span rules(acls_.begin() + pattern.begin, acls_.begin() + pattern.end);
    const auto of_principal = [](const AclPointer& acl) -> std::string_view { return acl->principal; };
    for (const AclPointer& acl : std::ranges::equal_range(rules, principal, {}, of_principal)) {
        if (!host_matches(*acl, requester)) {
            continue;
        }
        if (acl->effect == AclEffect::deny) {
            if (denies_operation(acl->operation, permission.operation)) {
                verdict = {Kind::denied, acl.get()};
                return;
            }
        } else if (verdict.kind != Kind::allowed && allows_operation(acl->operation, permission.operation)) {
            verdict = {Kind::allowed, acl.get()};
        }
    }
}

void AclIndex::judge_by(const Pattern& pattern, const Requester& requester, Permission permission, AclVerdict& verdict) const {
    if (verdict.kind == Kind::no_rules) {
        verdict.kind = Kind::not_allowed;
    }
    judge_principal(pattern, requester.principal.text(), requester, permission, verdict);
    if (verdict.kind != Kind::denied && requester.principal.text() != kWildcardPrincipal) {
        judge_principal(pattern, kWildcardPrincipal, requester, permission, verdict);
    }
}

AclVerdict AclIndex::judge(const Requester& requester, Permission permission, std::string_view name) const {
    AclVerdict verdict;
    for (const std::string_view literal : {name, kWildcard}) {
        if (const Pattern* pattern = find_literal(permission.resource, literal)) {
            judge_by(*pattern, requester, permission, verdict);
        }
        if (verdict.kind == Kind::denied) {
            return verdict;
        }
    }
    const Pattern* pattern = find_prefix(permission.resource, name);
    while (pattern != nullptr && verdict.kind != Kind::denied) {
        judge_by(*pattern, requester, permission, verdict);
        pattern = parent_of(*pattern);
    }
    return verdict;
}

bool AclIndex::allows_any(const Requester& requester, Permission permission) const {
    Reach allowed;
    Reach denied;
    const auto resource_of = [](const AclPointer& acl) { return acl->resource; };
    for (const AclPointer& acl : std::ranges::equal_range(acls_, permission.resource, {}, resource_of)) {
        if ((acl->principal == requester.principal.text() || acl->principal == kWildcardPrincipal) &&
            host_matches(*acl, requester) && denies_operation(acl->operation, permission.operation)) {
            (acl->effect == AclEffect::deny ? denied : allowed).add(*acl);
        }
    }
    if (denied.everything || allowed.everything) {
        return !denied.everything;
    }
    return std::ranges::any_of(allowed.literals,
                               [&](auto name) { return !denied.literals.contains(name) && !denied.has_prefix_of(name); }) ||
           std::ranges::any_of(allowed.prefixes, [&](auto prefix) { return !denied.has_prefix_of(prefix); });
}

}  // namespace partita::access
