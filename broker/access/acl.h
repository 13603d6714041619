#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "broker/access/permission.h"

/// ACLs of Kafka's StandardAuthorizer. Codes are those of Kafka's ResourceType, PatternType, AclOperation and AclPermissionType.
namespace partita::access {

enum class PatternType : std::int8_t {
    literal = 3,   ///< the name itself; the name "*" matches all
    prefixed = 4,  ///< all names with this prefix
};

enum class AclEffect : std::int8_t { deny = 2, allow = 3 };

/// Matches all names in literal patterns, and all hosts.
inline constexpr std::string_view kWildcard = "*";
/// Matches all users.
inline constexpr std::string_view kWildcardPrincipal = "User:*";

/// Kafka's names: "LITERAL", "ALLOW".
[[nodiscard]] std::string_view name_of(PatternType pattern);
[[nodiscard]] std::string_view name_of(AclEffect effect);

/// One rule: it allows or denies a principal an operation on resources. The order of members is that of an AclIndex.
struct Acl {
    ResourceType resource{};
    PatternType pattern{};
    std::string name;
    /// "User:alice"; has a colon.
    std::string principal;
    /// An address as a number, IPv6 in Java's text form (host.h), or "*". Any other text is stored, but matches no client.
    std::string host;
    Operation operation{};
    AclEffect effect{};

    friend auto operator<=>(const Acl&, const Acl&) = default;
    friend bool operator==(const Acl&, const Acl&) = default;
};

using AclPointer = std::shared_ptr<const Acl>;

/// The text of a rule in Kafka's log: "(principal=User:a, host=*, operation=READ, permissionType=ALLOW) on LITERAL TOPIC t".
[[nodiscard]] std::string to_text(const Acl& acl);

// Codes of requests ----------------------------------------------------------------------------------

inline constexpr std::int8_t kAnyCode = 1;
/// A pattern type only for filters: matches all patterns that apply to a resource of the name.
inline constexpr std::int8_t kMatchCode = 2;

/// False for codes that Kafka reads as UNKNOWN. True for ANY, MATCH and ALL, which not every field allows.
[[nodiscard]] bool is_resource_code(std::int8_t code);
[[nodiscard]] bool is_pattern_code(std::int8_t code);
[[nodiscard]] bool is_operation_code(std::int8_t code);
[[nodiscard]] bool is_effect_code(std::int8_t code);

/// Selects rules for a client. Codes as above; a null field matches anything.
struct AclFilter {
    std::int8_t resource = kAnyCode;
    std::int8_t pattern = kAnyCode;
    std::optional<std::string_view> name;
    std::optional<std::string_view> principal;
    std::optional<std::string_view> host;
    std::int8_t operation = kAnyCode;
    std::int8_t effect = kAnyCode;

    [[nodiscard]] bool matches(const Acl& acl) const;
};

}  // namespace partita::access
