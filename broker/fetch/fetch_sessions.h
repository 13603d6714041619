#pragma once

#include <cstdint>
#include <list>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "protocol/error_code.h"
#include "protocol/types.h"

namespace partita::fetch {

/// A partition as a Fetch request names it: by id from version 13 on, by name below.
struct TopicPartitionName {
    TopicId topic_id;
    std::string topic;
    PartitionIndex partition;

    friend bool operator==(const TopicPartitionName&, const TopicPartitionName&) = default;
};

/// What a client asks of one partition, and what the session last told it.
struct SessionPartition {
    TopicPartitionName name;
    LeaderEpoch current_leader_epoch = kNoLeaderEpoch;
    Offset fetch_offset;
    LeaderEpoch last_fetched_epoch = kNoLeaderEpoch;
    std::int32_t max_bytes = 0;
    // Answered last; -1 before the first answer, so that the first answer always counts as a change.
    Offset sent_high_watermark = kNoOffset;
    Offset sent_log_start_offset = kNoOffset;
};

/// One KIP-227 session: the partitions a client reads, in the order in which the byte budget is
/// spent on them. Partitions that yielded records move to the end, so that none starves.
class FetchSession {
  public:
    FetchSession(std::int32_t id, bool uses_topic_ids) : id_(id), uses_topic_ids_(uses_topic_ids) {}

    [[nodiscard]] std::int32_t id() const { return id_; }
    [[nodiscard]] bool uses_topic_ids() const { return uses_topic_ids_; }
    /// The epoch that the next incremental request must carry.
    [[nodiscard]] std::int32_t next_epoch() const { return next_epoch_; }
    [[nodiscard]] std::size_t partition_count() const { return partitions_.size(); }

    using Partitions = std::list<SessionPartition>;

    /// Applies a partition of a request: a new one is added at the end, a known one updated in place. The
    /// iterator stays valid until the partition is forgotten.
    Partitions::iterator put(const SessionPartition& requested);
    void forget(const TopicPartitionName& partition);

    [[nodiscard]] Partitions& partitions() { return partitions_; }
    /// Moves a partition that yielded records to the end.
    void move_to_end(Partitions::iterator partition) {
        partitions_.splice(partitions_.end(), partitions_, partition);
    }

    /// After 2^31-1 comes 1: epoch 0 means "new session".
    void advance_epoch() { next_epoch_ = next_epoch_ == INT32_MAX ? 1 : next_epoch_ + 1; }

  private:
    struct NameHash {
        std::size_t operator()(const TopicPartitionName& name) const;
    };

    std::int32_t id_;
    bool uses_topic_ids_;
    std::int32_t next_epoch_ = 1;
    Partitions partitions_;
    std::unordered_map<TopicPartitionName, Partitions::iterator, NameHash> by_name_;
};

/// The broker's fetch sessions, bounded by `max.incremental.fetch.session.cache.slots`.
///
/// When all slots are taken, a new session takes the place of one that has not been used for two
/// minutes, or of a smaller one that has existed for as long (KIP-227, min.incremental.fetch.session.eviction.ms);
/// else the client gets no session and goes on with full requests.
/// A pure core: ids and time come in as arguments.
class FetchSessions {
  public:
    static constexpr std::int64_t kEvictionAgeMs = 120'000;

    explicit FetchSessions(std::size_t slots) : slots_(slots) {}

    /// A session for `partition_count` partitions with the fresh positive `id`, or null when there is
    /// no slot or the id is taken. The session stays valid until it is removed or evicted.
    std::shared_ptr<FetchSession> create(std::int32_t id, bool uses_topic_ids, std::size_t partition_count,
                                         Instant now);

    struct Found {
        ErrorCode error = ErrorCode::none;
        std::shared_ptr<FetchSession> session;
    };
    /// Looks up the session of an incremental request. Errors are Kafka's top-level ones:
    /// fetch_session_id_not_found, invalid_fetch_session_epoch, fetch_session_topic_id_error.
    Found use(std::int32_t id, std::int32_t epoch, bool uses_topic_ids, Instant now);

    void remove(std::int32_t id);

    [[nodiscard]] std::size_t size() const { return sessions_.size(); }
    [[nodiscard]] std::uint64_t evictions() const { return evictions_; }
    [[nodiscard]] std::size_t partition_count() const;

  private:
    struct Entry {
        std::shared_ptr<FetchSession> session;
        Instant created;
        Instant last_used;
    };
    bool make_room(std::size_t partition_count, Instant now);

    std::size_t slots_;
    std::unordered_map<std::int32_t, Entry> sessions_;
    std::uint64_t evictions_ = 0;
};

}  // namespace partita::fetch
