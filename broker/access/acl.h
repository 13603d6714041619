#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "broker/access/permission.h"

/// ACLs as Kafka's StandardAuthorizer has them. Codes are those of Kafka's ResourceType, PatternType, AclOperation and
/// AclPermissionType.
namespace partita::access {

enum class PatternType : std::int8_t {
    literal = 3,   ///< the name itself; the name "*" stands for all
    prefixed = 4,  ///< all names that begin with it
};

enum class AclEffect : std::int8_t { deny = 2, allow = 3 };

/// Stands for all names of literal patterns, and for all hosts.
inline constexpr std::string_view kWildcard = "*";
/// Stands for all users.
inline constexpr std::string_view kWildcardPrincipal = "User:*";

/// Kafka's names: "LITERAL", "ALLOW".
[[nodiscard]] std::string_view name_of(PatternType pattern);
[[nodiscard]] std::string_view name_of(AclEffect effect);

/// One rule: who may, or may not, do what to which resources. The order of members is that of an AclIndex.
struct Acl {
    ResourceType resource{};
    PatternType pattern{};
    std::string name;
    /// "User:alice"; has a colon.
    std::string principal;
    /// An address as a number, of IPv6 in Java's text (host.h), or "*". Any other text is kept, and no client has it.
    std::string host;
    Operation operation{};
    AclEffect effect{};

    friend auto operator<=>(const Acl&, const Acl&) = default;
    friend bool operator==(const Acl&, const Acl&) = default;
};

using AclPointer = std::shared_ptr<const Acl>;

/// As Kafka writes a rule in its log: "(principal=User:a, host=*, operation=READ, permissionType=ALLOW) on LITERAL TOPIC t".
[[nodiscard]] std::string to_text(const Acl& acl);

// Codes of requests ----------------------------------------------------------------------------------

inline constexpr std::int8_t kAnyCode = 1;
/// A pattern that a filter may name: all patterns that hold for a resource of the name.
inline constexpr std::int8_t kMatchCode = 2;

/// False for codes that Kafka reads as UNKNOWN. True for ANY, MATCH and ALL, which not every field may have.
[[nodiscard]] bool is_resource_code(std::int8_t code);
[[nodiscard]] bool is_pattern_code(std::int8_t code);
[[nodiscard]] bool is_operation_code(std::int8_t code);
[[nodiscard]] bool is_effect_code(std::int8_t code);

/// Which rules a client means. Codes as above; what has no value is any.
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
