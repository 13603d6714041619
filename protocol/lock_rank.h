#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace partita {

/// The locks of the broker, in the order in which a thread takes them: LOCK(rank, owner, data that it guards). A thread that
/// holds a lock takes only locks further down this list, and never two of one rank, so no two threads wait for each other. A
/// development build ends the process at the first violation (see mutex.h). docs/internals/locks.md is generated from this list.
// clang-format off
#define PARTITA_LOCKS(LOCK) \
    LOCK(reader_settle, "ReaderObserver::settle_mutex_", "what is known of the readers of topics that have grown; held for one round") \
    LOCK(event_feed, "http::EventFeed", "the list of event streams") \
    LOCK(catalog, "Catalog", "the catalog core, the states of topics, producer ids, quotas of changes") \
    LOCK(keyed_logs, "KeyedLogs::store_mutex_", "the right to write to LMDB; guards no data; held across a fold, which syncs") \
    LOCK(checkpoint_files, "CheckpointFiles::write_mutex_", "the checkpoint files; held across their syncs, never by a reactor") \
    LOCK(topic_growth, "TopicExpansion", "fence, producers and nudge of one topic") \
    LOCK(transaction_shard, "the shards of TransactionShards", "one coordinator of transactions and its log; held while its markers are written") \
    LOCK(transaction_settings, "TransactionShards::settings_mutex_", "the settings of new transaction coordinators") \
    LOCK(group_shard, "the shards of GroupShards", "one coordinator of groups, its log and the requests that wait for it") \
    LOCK(group_settings, "GroupShards::settings_mutex_", "the settings and topics of new group coordinators") \
    LOCK(share_shard, "the shards of ShareShards", "one coordinator of share groups' records and its log") \
    LOCK(share_sessions, "ClientShareSessions", "sessions of members of share groups") \
    LOCK(claim_shard, "the shards of ClaimShards", "one coordinator of claims and its log") \
    LOCK(fetch_sessions, "ClientFetchSessions", "incremental fetch sessions") \
    LOCK(key_detection, "KeyObserver::detection_mutex_", "what is known of producers and their keys") \
    LOCK(findings_hub, "FindingsHub", "the board of findings and its listeners; held while they are called") \
    LOCK(event_stream, "EventFeed::Stream", "events that wait until a new stream has the list of open findings") \
    LOCK(http_exchange, "an HTTP answer (http/session.cc)", "how much of the answer waits to be sent") \
    LOCK(findings_topic, "FindingsTopic", "events that wait to be written to their topic") \
    LOCK(log_directory, "LogDirectory", "which log belongs to which topic; logs that are to be removed") \
    LOCK(log_sync_slot, "SyncSlot of a log", "whether a thread syncs the log") \
    LOCK(log_append, "LogCore::append_mutex", "staged records, the producers, the end of the log; held through a write") \
    LOCK(log_view, "LogCore::view_mutex", "what readers look at: segments with their indexes, epochs; held for a few instructions") \
    LOCK(stale_checkpoints, "CheckpointFiles::stale_mutex_", "names of partitions for which checkpoint files hold outdated values") \
    LOCK(index_file, "IndexFile", "entries that are not in the file yet") \
    LOCK(open_files, "OpenFiles", "the open files, the last used first") \
    LOCK(metadata_map, "MetadataStore::map_mutex_", "the size of LMDB's map; readers share it") \
    LOCK(log_flusher, "LogFlusher", "logs that wait for a sync") \
    LOCK(shown_partitions, "ShownPartitions", "who produces and who consumes") \
    LOCK(client_throttles, "ClientThrottles", "rates of clients that have a quota") \
    LOCK(shared_capacity, "SharedCapacity", "the rest of the capacity, and what passed") \
    LOCK(request_watch, "RequestWatch", "errors that were sent, and clients that had to wait") \
    LOCK(faults, "faults::Faults", "the rules of the test bench, and the requests that wait because of them") \
    LOCK(brokers, "faults::Brokers", "which of several brokers lives, leads and has what") \
    LOCK(connections, "Connections", "connections that produce, read or speak for members") \
    LOCK(key_queue, "KeySamples", "batches that wait for a look at their keys") \
    LOCK(reader_notes, "ReaderNotes::mutex_", "notes of what readers asked; groups that have told their positions") \
    LOCK(published_topics, "PublishedTopics", "the table of topics in force") \
    LOCK(current_config, "CurrentConfig", "the settings in force") \
    LOCK(connection_quota, "net::ConnectionQuota", "the number of connections of each address") \
    LOCK(http_jobs, "http::Jobs", "threads for requests that take long") \
    LOCK(expansion_worker, "ExpansionWorker", "requests for partitions that wait for their turn") \
    LOCK(maintenance, "BackgroundSync", "the outcome of the last checkpoint") \
    LOCK(upkeep_bell, "UpkeepBell", "what the upkeep worker was told") \
    LOCK(broker_loggers, "BrokerLoggers", "log levels that a client set") \
    LOCK(log_lines, "log::RateLimiter", "when a line of its kind was written last") \
    LOCK(log_listener, "the listeners to the log (log_setup.cc)", "who listens; held while they receive an event") \
    LOCK(movable_time, "MovableTime", "until when each worker and reactor rests, where a test bench moves the clock") \
    LOCK(worker, "a worker of ThreadExecutor", "whether the worker was called, or is to end")
// clang-format on

enum class LockRank : std::uint8_t {
#define PARTITA_LOCK_RANK(rank, owner, guards) rank,
    PARTITA_LOCKS(PARTITA_LOCK_RANK)
#undef PARTITA_LOCK_RANK
};

/// One row of the list, for people.
struct LockDescription {
    std::string_view rank;
    std::string_view owner;
    std::string_view guards;
};

inline constexpr LockDescription kLocks[] = {
#define PARTITA_LOCK_DESCRIPTION(rank, owner, guards) {#rank, owner, guards},
    PARTITA_LOCKS(PARTITA_LOCK_DESCRIPTION)
#undef PARTITA_LOCK_DESCRIPTION
};

[[nodiscard]] constexpr std::string_view name_of(LockRank rank) { return kLocks[static_cast<std::size_t>(rank)].rank; }

}  // namespace partita
