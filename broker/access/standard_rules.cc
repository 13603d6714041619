#include "broker/access/standard_rules.h"

namespace partita::access {
namespace {

/// The decision in the form of Kafka's log.
std::string matching_acl(const Acl& acl) {
    std::string text = "MatchingAcl(acl=StandardAcl[resourceType=";
    text.append(name_of(acl.resource)).append(", resourceName=").append(acl.name);
    text.append(", patternType=").append(name_of(acl.pattern)).append(", principal=").append(acl.principal);
    text.append(", host=").append(acl.host).append(", operation=").append(name_of(acl.operation));
    text.append(", permissionType=").append(name_of(acl.effect)).append("])");
    return text;
}

}  // namespace

std::string to_text(const Judgement& judgement) {
    switch (judgement.reason) {
        case Judgement::Reason::super_user:
            return "SuperUser";
        case Judgement::Reason::by_default:
            return judgement.is_allowed ? "DefaultAllow" : "DefaultDeny";
        case Judgement::Reason::rule:
            break;
    }
    return judgement.rule == nullptr ? "" : matching_acl(*judgement.rule);
}

Judgement judge(const StandardSettings& settings, const AclIndex& acls, const Requester& requester, Permission permission,
                std::optional<std::string_view> name) {
    if (settings.super_users.contains(requester.principal.text())) {
        return {.is_allowed = true, .reason = Judgement::Reason::super_user};
    }
    // For "any resource" Kafka first checks a resource with this name.
    const AclVerdict verdict = acls.judge(requester, permission, name.value_or("hardcode"));
    switch (verdict.kind) {
        case AclVerdict::Kind::allowed:
            return {.is_allowed = true, .reason = Judgement::Reason::rule, .rule = verdict.rule};
        case AclVerdict::Kind::denied:
            if (!name) {
                break;
            }
            return {.is_allowed = false, .reason = Judgement::Reason::rule, .rule = verdict.rule};
        case AclVerdict::Kind::no_rules:
            if (settings.allow_without_rules) {
                return {.is_allowed = true};
            }
            break;
        case AclVerdict::Kind::not_allowed:
            break;
    }
    return {.is_allowed = !name && acls.allows_any(requester, permission)};
}

}  // namespace partita::access
