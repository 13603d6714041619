#include "broker/access/acl.h"

namespace partita::access {
namespace {

bool matches_pattern(const AclFilter& filter, const Acl& acl) {
    const auto pattern = static_cast<std::int8_t>(acl.pattern);
    if (filter.pattern != kAnyCode && filter.pattern != kMatchCode && filter.pattern != pattern) {
        return false;
    }
    if (!filter.name) {
        return true;
    }
    if (filter.pattern != kMatchCode) {
        return *filter.name == acl.name;
    }
    if (acl.pattern == PatternType::prefixed) {
        return filter.name->starts_with(acl.name);
    }
    return *filter.name == acl.name || acl.name == kWildcard;
}

bool is_between(std::int8_t code, std::int8_t first, std::int8_t last) { return code >= first && code <= last; }

}  // namespace

std::string_view name_of(PatternType pattern) { return pattern == PatternType::literal ? "LITERAL" : "PREFIXED"; }
std::string_view name_of(AclEffect effect) { return effect == AclEffect::deny ? "DENY" : "ALLOW"; }

std::string to_text(const Acl& acl) {
    std::string text = "(principal=" + acl.principal + ", host=" + acl.host + ", operation=";
    text.append(name_of(acl.operation)).append(", permissionType=").append(name_of(acl.effect)).append(") on ");
    text.append(name_of(acl.pattern)).append(" ").append(name_of(acl.resource)).append(" ").append(acl.name);
    return text;
}

bool is_resource_code(std::int8_t code) { return is_between(code, kAnyCode, static_cast<std::int8_t>(ResourceType::user)); }
bool is_pattern_code(std::int8_t code) { return is_between(code, kAnyCode, static_cast<std::int8_t>(PatternType::prefixed)); }
bool is_operation_code(std::int8_t code) {
    return is_between(code, kAnyCode, static_cast<std::int8_t>(Operation::two_phase_commit));
}
bool is_effect_code(std::int8_t code) { return is_between(code, kAnyCode, static_cast<std::int8_t>(AclEffect::allow)); }

bool AclFilter::matches(const Acl& acl) const {
    return (resource == kAnyCode || resource == static_cast<std::int8_t>(acl.resource)) && matches_pattern(*this, acl) &&
           (!principal || *principal == acl.principal) && (!host || *host == acl.host) &&
           (operation == kAnyCode || operation == static_cast<std::int8_t>(acl.operation)) &&
           (effect == kAnyCode || effect == static_cast<std::int8_t>(acl.effect));
}

}  // namespace partita::access
