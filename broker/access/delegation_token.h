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

/// A principal as named in requests and records. It may not exist.
struct PrincipalName {
    std::string type;
    std::string name;

    [[nodiscard]] static PrincipalName of(const Principal& principal) { return {principal.type(), principal.name()}; }
    /// "User:alice", the name of its resource of the type `user`.
    [[nodiscard]] std::string text() const { return type + ":" + name; }

    friend bool operator==(const PrincipalName&, const PrincipalName&) = default;
};

/// The only type of principals that may own and renew tokens, and log in.
inline constexpr std::string_view kUserType = "User";

/// A delegation token (KIP-48): a client that knows its HMAC logs in as its owner, by SCRAM, until the token expires. The token
/// does not contain the HMAC, which follows from the id and the broker's secret (authentication/delegation_token.h).
struct DelegationToken {
    /// 22 characters of base64url, never used before.
    std::string id;
    PrincipalName owner;
    /// The creator: the owner, or a principal that may create tokens for the owner (KIP-373).
    PrincipalName requester;
    /// Principals that may renew it, besides its owner.
    std::vector<PrincipalName> renewers;
    TimestampMs issued{};
    /// A renewal moves it, up to `latest`.
    TimestampMs expires{};
    TimestampMs latest{};

    [[nodiscard]] bool is_expired(TimestampMs now) const { return latest < now || expires < now; }
    [[nodiscard]] bool may_be_renewed_by(const PrincipalName& who) const {
        return owner == who || std::ranges::find(renewers, who) != renewers.end();
    }
    /// Whether the principal may describe the token without any ACL.
    [[nodiscard]] bool concerns(const PrincipalName& who) const { return may_be_renewed_by(who) || requester == who; }

    friend bool operator==(const DelegationToken&, const DelegationToken&) = default;
};

/// Never null.
using DelegationTokenPointer = std::shared_ptr<const DelegationToken>;

}  // namespace partita::access
