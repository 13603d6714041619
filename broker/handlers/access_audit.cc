#include "broker/handlers/access_audit.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "broker/access/host.h"
#include "broker/config/log_setup.h"

namespace partita::handlers {
namespace {

constexpr std::string_view kArea = "access";

/// As Kafka's SecurityUtils.resourceTypeName.
std::string_view resource_name(access::ResourceType type) {
    switch (type) {
        case access::ResourceType::topic:
            return "Topic";
        case access::ResourceType::group:
            return "Group";
        case access::ResourceType::cluster:
            return "Cluster";
        case access::ResourceType::transactional_id:
            return "TransactionalId";
        case access::ResourceType::delegation_token:
            return "DelegationToken";
        case access::ResourceType::user:
            return "User";
    }
    return "?";
}

std::string escaped(std::string line) {
    const auto is_control = [](char character) {
        const auto byte = static_cast<unsigned char>(character);
        return byte < ' ' || byte == 0x7F;
    };
    if (std::ranges::none_of(line, is_control)) {
        return line;
    }
    std::string safe;
    for (const char character : line) {
        safe +=
            is_control(character) ? fmt::format("\\x{:02x}", static_cast<unsigned char>(character)) : std::string(1, character);
    }
    return safe;
}

}  // namespace

bool AccessAudit::notes_grants() { return log::is_on(log::Level::debug, kArea); }

void AccessAudit::note(const access::Rules& rules, const access::Requester& requester, access::Permission permission,
                       std::string_view name, bool is_allowed) {
    std::tuple asked(permission, std::string(name), is_allowed);
    const auto known = answers_.find(asked);
    if (known != answers_.end()) {
        ++known->second.count;
    } else if (answers_.size() < kLinesMax) {
        answers_.emplace(std::move(asked), Answer{.count = 1, .reason = rules.reason(requester, permission, name)});
    } else {
        ++left_out_;
    }
}

void AccessAudit::write(const access::Requester& requester, std::string_view request) {
    for (const auto& [asked, answer] : answers_) {
        const auto& [permission, name, is_allowed] = asked;
        log::write(is_allowed ? log::Level::debug : log::Level::info, kArea,
                   audit_line(requester, permission, name, is_allowed, request, answer.count, answer.reason));
    }
    answers_.clear();
    if (const std::size_t left_out = std::exchange(left_out_, 0); left_out > 0) {
        log::write(
            log::Level::info, kArea,
            escaped(fmt::format("Principal = {} from host = {} named more resources in request = {}: {} of them are not logged",
                                requester.principal.text(), access::address_in_acls(requester.address), request, left_out)));
    }
}

std::string audit_line(const access::Requester& requester, access::Permission permission, std::string_view name, bool is_allowed,
                       std::string_view request, std::size_t count, std::string_view reason) {
    return escaped(fmt::format(
        "Principal = {} is {} operation = {} from host = {} on resource = {}:LITERAL:{} for request = {} "
        "with resourceRefCount = {} based on rule {}",
        requester.principal.text(), is_allowed ? "Allowed" : "Denied", name_of(permission.operation),
        access::address_in_acls(requester.address), resource_name(permission.resource), name, request, count, reason));
}

}  // namespace partita::handlers
