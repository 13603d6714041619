#include "broker/access/permission.h"

#include <array>

namespace partita::access {
namespace {

using enum Operation;

constexpr std::array kAll{all,
                          read,
                          write,
                          create,
                          erase,
                          alter,
                          describe,
                          cluster_action,
                          describe_configs,
                          alter_configs,
                          idempotent_write,
                          create_tokens,
                          describe_tokens,
                          two_phase_commit};
// Kafka: AclEntry.supportedOperations.
constexpr std::array kOfTopic{read, write, create, erase, alter, describe, describe_configs, alter_configs};
constexpr std::array kOfGroup{read, erase, describe, describe_configs, alter_configs};
constexpr std::array kOfCluster{create, alter, describe, cluster_action, describe_configs, alter_configs, idempotent_write};
constexpr std::array kOfTransactionalId{write, describe, two_phase_commit};
constexpr std::array kOfDelegationToken{describe};
constexpr std::array kOfUser{create_tokens, describe_tokens};

}  // namespace

std::span<const Operation> all_operations() { return kAll; }

std::string_view name_of(Operation operation) {
    switch (operation) {
        case all:
            return "ALL";
        case read:
            return "READ";
        case write:
            return "WRITE";
        case create:
            return "CREATE";
        case erase:
            return "DELETE";
        case alter:
            return "ALTER";
        case describe:
            return "DESCRIBE";
        case cluster_action:
            return "CLUSTER_ACTION";
        case describe_configs:
            return "DESCRIBE_CONFIGS";
        case alter_configs:
            return "ALTER_CONFIGS";
        case idempotent_write:
            return "IDEMPOTENT_WRITE";
        case create_tokens:
            return "CREATE_TOKENS";
        case describe_tokens:
            return "DESCRIBE_TOKENS";
        case two_phase_commit:
            return "TWO_PHASE_COMMIT";
    }
    return "?";
}

std::string_view name_of(ResourceType type) {
    switch (type) {
        case ResourceType::topic:
            return "TOPIC";
        case ResourceType::group:
            return "GROUP";
        case ResourceType::cluster:
            return "CLUSTER";
        case ResourceType::transactional_id:
            return "TRANSACTIONAL_ID";
        case ResourceType::delegation_token:
            return "DELEGATION_TOKEN";
        case ResourceType::user:
            return "USER";
    }
    return "?";
}

std::string to_text(Permission permission) {
    return std::string(name_of(permission.operation)) + " " + std::string(name_of(permission.resource));
}

std::string to_text(const Need& need) {
    const std::string text = to_text(need.permission);
    return need.or_on_cluster ? text + " or " + to_text(*need.or_on_cluster) : text;
}

std::span<const Operation> operations_of(ResourceType type) {
    switch (type) {
        case ResourceType::topic:
            return kOfTopic;
        case ResourceType::group:
            return kOfGroup;
        case ResourceType::cluster:
            return kOfCluster;
        case ResourceType::transactional_id:
            return kOfTransactionalId;
        case ResourceType::delegation_token:
            return kOfDelegationToken;
        case ResourceType::user:
            return kOfUser;
    }
    return {};
}

std::int32_t all_operation_bits(ResourceType type) {
    std::int32_t bits = 0;
    for (const Operation operation : operations_of(type)) {
        bits |= operation_bit(operation);
    }
    return bits;
}

ErrorCode refusal(ResourceType type) {
    switch (type) {
        case ResourceType::topic:
            return ErrorCode::topic_authorization_failed;
        case ResourceType::group:
            return ErrorCode::group_authorization_failed;
        case ResourceType::cluster:
            return ErrorCode::cluster_authorization_failed;
        case ResourceType::transactional_id:
            return ErrorCode::transactional_id_authorization_failed;
        case ResourceType::delegation_token:
        case ResourceType::user:
            return ErrorCode::delegation_token_authorization_failed;
    }
    return ErrorCode::cluster_authorization_failed;
}

}  // namespace partita::access
