// The service's observed APIs, and its documented tiers. docs/eventhubs.md names the sources, and shows where its pages
// contradict each other.

#include <span>

#include "broker/addons/profile/core/profile.h"

namespace partita::profile {
namespace {

constexpr std::int64_t kDayMs = 86'400'000;
constexpr std::int32_t kKilobyte = 1024;
constexpr std::uint8_t kGzip = 1 << static_cast<int>(Codec::gzip);

constexpr std::array<TierLimits, 4> kTiers = {{
    {.has_kafka_endpoint = false,
     .units_max = 40,
     .throttles = true,
     .partitions_of_topic = 32,
     .topics = 10,
     .connections = 100,
     .retention_ms = kDayMs,
     .message_bytes = 256 * kKilobyte},
    {.auto_inflates = true,
     .units_max = 40,
     .throttles = true,
     .partitions_of_topic = 32,
     .topics = 10,
     .connections = 5'000,
     .retention_ms = 7 * kDayMs,
     .message_bytes = kKilobyte * kKilobyte},
    {.codecs = kGzip,
     .has_transactions = true,
     .adds_partitions = true,
     .units_max = 16,
     .partitions_of_topic = 100,
     .partitions_per_unit = 200,
     .topics = 100,
     .topics_are_per_unit = true,
     .connections = 10'000,
     .connections_are_per_unit = true,
     .retention_ms = 90 * kDayMs,
     .message_bytes = kKilobyte * kKilobyte},
    {.codecs = kGzip,
     .has_transactions = true,
     .adds_partitions = true,
     .units_max = 20,
     .partitions_of_topic = 1'024,
     .partitions_per_unit = 2'000,
     .topics = 1'000,
     .connections = 100'000,
     .connections_are_per_unit = true,
     .retention_ms = 90 * kDayMs,
     .message_bytes = kKilobyte * kKilobyte},
}};

constexpr OfferedApi seen(ApiKey key, std::int16_t first, std::int16_t last) { return {.key = key, .versions = {first, last}}; }
/// The versions of these APIs are not published. These are the versions of Kafka 3.0; the service offers that Kafka's versions
/// for groups, too.
constexpr OfferedApi of_transactions(ApiKey key, std::int16_t last) {
    return {.key = key, .versions = {0, last}, .is_of_transactions = true};
}

constexpr std::array kOffered = {
    seen(ApiKey::produce, 3, 7),
    seen(ApiKey::fetch, 4, 6),
    seen(ApiKey::list_offsets, 0, 7),
    seen(ApiKey::metadata, 0, 5),
    seen(ApiKey::offset_commit, 0, 8),
    seen(ApiKey::offset_fetch, 0, 8),
    seen(ApiKey::find_coordinator, 0, 4),
    seen(ApiKey::join_group, 0, 7),
    seen(ApiKey::heartbeat, 0, 4),
    seen(ApiKey::leave_group, 0, 4),
    seen(ApiKey::sync_group, 0, 5),
    seen(ApiKey::describe_groups, 0, 5),
    seen(ApiKey::list_groups, 0, 4),
    seen(ApiKey::sasl_handshake, 0, 1),
    seen(ApiKey::api_versions, 0, 3),
    seen(ApiKey::create_topics, 0, 6),
    seen(ApiKey::delete_topics, 0, 2),
    seen(ApiKey::init_producer_id, 0, 1),
    seen(ApiKey::offset_for_leader_epoch, 0, 0),
    of_transactions(ApiKey::add_partitions_to_txn, 3),
    of_transactions(ApiKey::add_offsets_to_txn, 3),
    of_transactions(ApiKey::end_txn, 3),
    of_transactions(ApiKey::txn_offset_commit, 3),
    seen(ApiKey::describe_configs, 0, 2),
    seen(ApiKey::sasl_authenticate, 0, 1),
    seen(ApiKey::create_partitions, 0, 1),
    // The published range is cut off at its end; this is Kafka 3.0's.
    seen(ApiKey::delete_groups, 0, 2),
};

}  // namespace

const TierLimits& limits_of(Tier tier) { return kTiers[static_cast<std::size_t>(tier)]; }

std::span<const OfferedApi> offered_apis() { return kOffered; }

std::string_view Profile::transactions_refusal() const {
    return "FindCoordinator asked for coordinator with type code 1 which is not supported. type code 1 is only supported in "
           "Premium "
           "or Dedicated sku.";
}

}  // namespace partita::profile
