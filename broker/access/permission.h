#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "protocol/error_code.h"

namespace partita::access {

/// Operations on a resource. Names and codes are those of Kafka's AclOperation.
enum class Operation : std::int8_t {
    all = 2,  ///< ALL: only in ACLs, no request needs it
    read = 3,
    write = 4,
    create = 5,
    erase = 6,  ///< DELETE
    alter = 7,
    describe = 8,
    cluster_action = 9,
    describe_configs = 10,
    alter_configs = 11,
    idempotent_write = 12,
    create_tokens = 13,
    describe_tokens = 14,
    two_phase_commit = 15,
};

/// Types of resources. Names and codes are those of Kafka's ResourceType.
enum class ResourceType : std::int8_t { topic = 2, group = 3, cluster = 4, transactional_id = 5, delegation_token = 6, user = 7 };

/// The name of the only resource of the type `cluster`.
inline constexpr std::string_view kClusterName = "kafka-cluster";

/// An operation on resources of a type: "READ TOPIC".
struct Permission {
    Operation operation{};
    ResourceType resource{};

    friend constexpr auto operator<=>(const Permission&, const Permission&) = default;
};

inline constexpr Permission kReadTopic{Operation::read, ResourceType::topic};
inline constexpr Permission kWriteTopic{Operation::write, ResourceType::topic};
inline constexpr Permission kCreateTopic{Operation::create, ResourceType::topic};
inline constexpr Permission kDeleteTopic{Operation::erase, ResourceType::topic};
inline constexpr Permission kAlterTopic{Operation::alter, ResourceType::topic};
inline constexpr Permission kDescribeTopic{Operation::describe, ResourceType::topic};
inline constexpr Permission kDescribeTopicConfigs{Operation::describe_configs, ResourceType::topic};
inline constexpr Permission kAlterTopicConfigs{Operation::alter_configs, ResourceType::topic};
inline constexpr Permission kReadGroup{Operation::read, ResourceType::group};
inline constexpr Permission kDeleteGroup{Operation::erase, ResourceType::group};
inline constexpr Permission kDescribeGroup{Operation::describe, ResourceType::group};
inline constexpr Permission kDescribeGroupConfigs{Operation::describe_configs, ResourceType::group};
inline constexpr Permission kAlterGroupConfigs{Operation::alter_configs, ResourceType::group};
inline constexpr Permission kCreateInCluster{Operation::create, ResourceType::cluster};
inline constexpr Permission kAlterCluster{Operation::alter, ResourceType::cluster};
inline constexpr Permission kDescribeCluster{Operation::describe, ResourceType::cluster};
inline constexpr Permission kClusterAction{Operation::cluster_action, ResourceType::cluster};
inline constexpr Permission kDescribeClusterConfigs{Operation::describe_configs, ResourceType::cluster};
inline constexpr Permission kAlterClusterConfigs{Operation::alter_configs, ResourceType::cluster};
inline constexpr Permission kIdempotentWrite{Operation::idempotent_write, ResourceType::cluster};
inline constexpr Permission kWriteTransactionalId{Operation::write, ResourceType::transactional_id};
inline constexpr Permission kDescribeTransactionalId{Operation::describe, ResourceType::transactional_id};
inline constexpr Permission kTwoPhaseCommitTransactionalId{Operation::two_phase_commit, ResourceType::transactional_id};
inline constexpr Permission kDescribeToken{Operation::describe, ResourceType::delegation_token};
inline constexpr Permission kCreateTokensOfUser{Operation::create_tokens, ResourceType::user};
inline constexpr Permission kDescribeTokensOfUser{Operation::describe_tokens, ResourceType::user};

/// The permission that a request needs for one resource: one on it or, where Kafka accepts that, another one on the cluster. The
/// permission on the cluster is checked first.
struct Need {
    constexpr Need() = default;
    // Implicit: most needs are a single permission.
    constexpr Need(Permission permission) : permission(permission) {}  // NOLINT(google-explicit-constructor)
    constexpr Need(Permission permission, Permission or_on_cluster) : permission(permission), or_on_cluster(or_on_cluster) {}

    Permission permission;
    std::optional<Permission> or_on_cluster;

    friend constexpr bool operator==(const Need&, const Need&) = default;
};

inline constexpr Need kCreateTopicOrInCluster{kCreateTopic, kCreateInCluster};
inline constexpr Need kDescribeGroupOrCluster{kDescribeGroup, kDescribeCluster};
inline constexpr Need kDescribeTopicOrCluster{kDescribeTopic, kDescribeCluster};
/// A client that may write to any topic may also request a producer id.
inline constexpr Need kWriteTopicOrIdempotently{kWriteTopic, kIdempotentWrite};
/// Other brokers also write transaction markers; they have CLUSTER_ACTION.
inline constexpr Need kAlterClusterOrClusterAction{kAlterCluster, kClusterAction};
/// Replicas also send this request; they have CLUSTER_ACTION.
inline constexpr Need kDescribeTopicOrClusterAction{kDescribeTopic, kClusterAction};

/// Every operation, ascending by code.
[[nodiscard]] std::span<const Operation> all_operations();

/// Kafka's names: "READ", "TOPIC".
[[nodiscard]] std::string_view name_of(Operation operation);
[[nodiscard]] std::string_view name_of(ResourceType type);
/// In Kafka's words: "READ TOPIC", "CREATE TOPIC or CREATE CLUSTER".
[[nodiscard]] std::string to_text(Permission permission);
[[nodiscard]] std::string to_text(const Need& need);

/// The operations that exist for a type, ascending by code. A permission on the type has one of these.
[[nodiscard]] std::span<const Operation> operations_of(ResourceType type);
/// All of them as the bit field of replies: bit n stands for the operation with code n.
[[nodiscard]] std::int32_t all_operation_bits(ResourceType type);
[[nodiscard]] constexpr std::int32_t operation_bit(Operation operation) { return std::int32_t{1} << static_cast<int>(operation); }

/// The error for a client that lacks a permission on a resource of the type: TOPIC_AUTHORIZATION_FAILED and the like.
[[nodiscard]] ErrorCode refusal(ResourceType type);

}  // namespace partita::access
