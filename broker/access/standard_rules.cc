#include "broker/access/standard_rules.h"

namespace partita::access {

std::string to_text(const Judgement& judgement) {
    switch (judgement.reason) {
        case Judgement::Reason::super_user:
            return "SuperUser";
        case Judgement::Reason::by_default:
            return judgement.is_allowed ? "DefaultAllow" : "DefaultDeny";
        case Judgement::Reason::rule:
            break;
    }
    return judgement.rule == nullptr ? "" : to_text(*judgement.rule);
}

Judgement judge(const StandardSettings& settings, const AclIndex& acls, const Requester& requester, Permission permission,
                std::optional<std::string_view> name) {
    if (settings.super_users.contains(requester.principal.text())) {
        return {.is_allowed = true, .reason = Judgement::Reason::super_user};
    }
    // Asked for any resource, Kafka first asks for one of this name.
    const AclVerdict verdict = acls.judge(requester, permission, name.value_or("hardcode"));
    switch (verdict.kind) {
        case AclVerdict::Kind::allowed:
            return {.is_allowed = true, .reason = Judgement::Reason::rule, .rule = verdict.rule};
        case AclVerdict::Kind::denied:
            if (!name) break;
            return {.is_allowed = false, .reason = Judgement::Reason::rule, .rule = verdict.rule};
        case AclVerdict::Kind::no_rules:
            if (settings.allow_without_rules) return {.is_allowed = true};
            break;
        case AclVerdict::Kind::not_allowed:
            break;
    }
    return {.is_allowed = !name && acls.allows_any(requester, permission)};
}

}  // namespace partita::access
