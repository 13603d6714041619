#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string_view>

namespace partita {

/// The locks of the broker, in the order in which a thread takes them: while it holds one, it takes only such as stand below it
/// here, and never two of one rank. So no two threads can wait for each other. A development build ends the process at
/// the first violation (see mutex.h).
enum class LockRank : std::uint8_t {
    reader_settle,
    event_feed,
    catalog,
    keyed_logs,
    checkpoint_files,
    topic_growth,
    transaction_shard,
    transaction_settings,
    group_shard,
    group_settings,
    claim_shard,
    fetch_sessions,
    key_detection,
    findings_hub,
    event_stream,
    http_exchange,
    findings_topic,
    log_directory,
    log_sync_slot,
    log_append,
    log_view,
    stale_checkpoints,
    index_file,
    open_files,
    metadata_map,
    log_flusher,
    shown_partitions,
    client_throttles,
    shared_capacity,
    request_watch,
    connections,
    key_queue,
    reader_notes,
    published_topics,
    current_config,
    connection_quota,
    http_jobs,
    expansion_worker,
    maintenance,
    upkeep_bell,
    broker_loggers,
    log_lines,
    worker,
};

inline constexpr std::string_view kLockNames[] = {
    "reader_settle",
    "event_feed",
    "catalog",
    "keyed_logs",
    "checkpoint_files",
    "topic_growth",
    "transaction_shard",
    "transaction_settings",
    "group_shard",
    "group_settings",
    "claim_shard",
    "fetch_sessions",
    "key_detection",
    "findings_hub",
    "event_stream",
    "http_exchange",
    "findings_topic",
    "log_directory",
    "log_sync_slot",
    "log_append",
    "log_view",
    "stale_checkpoints",
    "index_file",
    "open_files",
    "metadata_map",
    "log_flusher",
    "shown_partitions",
    "client_throttles",
    "shared_capacity",
    "request_watch",
    "connections",
    "key_queue",
    "reader_notes",
    "published_topics",
    "current_config",
    "connection_quota",
    "http_jobs",
    "expansion_worker",
    "maintenance",
    "upkeep_bell",
    "broker_loggers",
    "log_lines",
    "worker",
};
static_assert(std::size(kLockNames) == static_cast<std::size_t>(LockRank::worker) + 1, "each lock has its name");

[[nodiscard]] constexpr std::string_view name_of(LockRank rank) { return kLockNames[static_cast<std::size_t>(rank)]; }

}  // namespace partita
