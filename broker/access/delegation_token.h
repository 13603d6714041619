#pragma once

#include <algorithm>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "broker/access/session.h"
#include "protocol/types.h"

namespace partita::access {

/// A principal as requests and records name it. Nobody has checked that there is such a one.
struct PrincipalName {
    std::string type;
    std::string name;

    [[nodiscard]] static PrincipalName of(const Principal& principal) { return {principal.type(), principal.name()}; }
    /// "User:alice", as resources of the type `user` are named.
    [[nodiscard]] std::string text() const { return type + ":" + name; }

    friend bool operator==(const PrincipalName&, const PrincipalName&) = default;
};

/// The type of the principals that may own and renew tokens, and that log in.
inline constexpr std::string_view kUserType = "User";

/// A delegation token (KIP-48): whoever knows its HMAC logs in as its owner, by SCRAM, until it expires. The HMAC is no part of
/// it: it follows from the id and the broker's secret (authentication/delegation_token.h).
struct DelegationToken {
    /// 22 characters of base64url, never used before.
    std::string id;
    PrincipalName owner;
    /// Who asked for it: the owner, or somebody who may make tokens of the owner (KIP-373).
    PrincipalName requester;
    /// Who may renew it, besides its owner.
    std::vector<PrincipalName> renewers;
    TimestampMs issued{};
    /// Moved by a renewal, up to `latest`.
    TimestampMs expires{};
    TimestampMs latest{};

    [[nodiscard]] bool is_expired(TimestampMs now) const { return latest < now || expires < now; }
    [[nodiscard]] bool may_be_renewed_by(const PrincipalName& who) const {
        return owner == who || std::ranges::find(renewers, who) != renewers.end();
    }
    /// Who is told of it without any ACL.
    [[nodiscard]] bool concerns(const PrincipalName& who) const { return may_be_renewed_by(who) || requester == who; }

    friend bool operator==(const DelegationToken&, const DelegationToken&) = default;
};

/// Never null.
using DelegationTokenPointer = std::shared_ptr<const DelegationToken>;

}  // namespace partita::access
