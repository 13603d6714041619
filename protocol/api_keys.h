#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "protocol/schema.h"

namespace partita {

/// The request kinds of Apache Kafka 4.3.1 by their numbers on the wire. The enum names all of them, including those that no
/// client may send; `find_api` knows which ones exist for clients.
enum class ApiKey : std::int16_t {
    produce = 0,
    fetch = 1,
    list_offsets = 2,
    metadata = 3,
    leader_and_isr = 4,
    stop_replica = 5,
    update_metadata = 6,
    controlled_shutdown = 7,
    offset_commit = 8,
    offset_fetch = 9,
    find_coordinator = 10,
    join_group = 11,
    heartbeat = 12,
    leave_group = 13,
    sync_group = 14,
    describe_groups = 15,
    list_groups = 16,
    sasl_handshake = 17,
    api_versions = 18,
    create_topics = 19,
    delete_topics = 20,
    delete_records = 21,
    init_producer_id = 22,
    offset_for_leader_epoch = 23,
    add_partitions_to_txn = 24,
    add_offsets_to_txn = 25,
    end_txn = 26,
    write_txn_markers = 27,
    txn_offset_commit = 28,
    describe_acls = 29,
    create_acls = 30,
    delete_acls = 31,
    describe_configs = 32,
    alter_configs = 33,
    alter_replica_log_dirs = 34,
    describe_log_dirs = 35,
    sasl_authenticate = 36,
    create_partitions = 37,
    create_delegation_token = 38,
    renew_delegation_token = 39,
    expire_delegation_token = 40,
    describe_delegation_token = 41,
    delete_groups = 42,
    elect_leaders = 43,
    incremental_alter_configs = 44,
    alter_partition_reassignments = 45,
    list_partition_reassignments = 46,
    offset_delete = 47,
    describe_client_quotas = 48,
    alter_client_quotas = 49,
    describe_user_scram_credentials = 50,
    alter_user_scram_credentials = 51,
    vote = 52,
    begin_quorum_epoch = 53,
    end_quorum_epoch = 54,
    describe_quorum = 55,
    alter_partition = 56,
    update_features = 57,
    envelope = 58,
    fetch_snapshot = 59,
    describe_cluster = 60,
    describe_producers = 61,
    broker_registration = 62,
    broker_heartbeat = 63,
    unregister_broker = 64,
    describe_transactions = 65,
    list_transactions = 66,
    allocate_producer_ids = 67,
    consumer_group_heartbeat = 68,
    consumer_group_describe = 69,
    controller_registration = 70,
    get_telemetry_subscriptions = 71,
    push_telemetry = 72,
    assign_replicas_to_dirs = 73,
    list_config_resources = 74,
    describe_topic_partitions = 75,
    share_group_heartbeat = 76,
    share_group_describe = 77,
    share_fetch = 78,
    share_acknowledge = 79,
    add_raft_voter = 80,
    remove_raft_voter = 81,
    update_raft_voter = 82,
    initialize_share_group_state = 83,
    read_share_group_state = 84,
    write_share_group_state = 85,
    delete_share_group_state = 86,
    read_share_group_state_summary = 87,
    streams_group_heartbeat = 88,
    streams_group_describe = 89,
    describe_share_group_offsets = 90,
    alter_share_group_offsets = 91,
    delete_share_group_offsets = 92,
};

/// One row of the registry.
struct ApiInfo {
    ApiKey key{};
    std::string_view name;         ///< Kafka's name, for example "JoinGroup".
    Versions versions;             ///< Versions that 4.3.1 accepts; the last one may be unstable.
    bool latest_unstable = false;  ///< The last version needs unstable.api.versions.enable.
    std::int16_t first_flexible = kNeverFlexible;
    const Schema* request = nullptr;
    const Schema* response = nullptr;

    [[nodiscard]] constexpr std::int16_t latest_version(bool unstable_enabled) const {
        return static_cast<std::int16_t>(latest_unstable && !unstable_enabled ? versions.last - 1 : versions.last);
    }
    [[nodiscard]] constexpr bool accepts(std::int16_t version, bool unstable_enabled) const {
        return version >= versions.first && version <= latest_version(unstable_enabled);
    }
};

/// All client-facing APIs, ascending by key. A broker need not serve all of them.
[[nodiscard]] std::span<const ApiInfo> all_apis();

/// The row of a key; nullptr for keys that do not exist, and for those that clients must not send (removed ones, and
/// those between brokers or controllers).
[[nodiscard]] const ApiInfo* find_api(std::int16_t key);
[[nodiscard]] inline const ApiInfo* find_api(ApiKey key) { return find_api(static_cast<std::int16_t>(key)); }

/// "JoinGroup"; "?" for a key that is not in the registry.
[[nodiscard]] std::string_view api_name(ApiKey key);

/// The lowest Produce version that ApiVersions states. It is lower than any accepted version, because librdkafka compresses only
/// when version 0 is listed (KAFKA-18659, librdkafka issue 4956).
inline constexpr std::int16_t kAdvertisedProduceMinVersion = 0;

/// 2 (with tags) when the request is flexible, 1 otherwise. Also for versions above the last one: the broker must be
/// able to read the header of an ApiVersions request from the future (KIP-511).
[[nodiscard]] std::int16_t request_header_version(const ApiInfo& api, std::int16_t version);

/// 1 (with tags) when the response is flexible, 0 otherwise; always 0 for ApiVersions, because its reader does not know
/// yet which versions the broker supports (KIP-511).
[[nodiscard]] std::int16_t response_header_version(const ApiInfo& api, std::int16_t version);

}  // namespace partita
