#pragma once

#include <cstdint>
#include <expected>
#include <list>
#include <memory>
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

/// A client's request for one partition, and the last answer of the session about it.
struct SessionPartition {
    TopicPartitionName name;
    LeaderEpoch current_leader_epoch = kNoLeaderEpoch;
    Offset fetch_offset;
    LeaderEpoch last_fetched_epoch = kNoLeaderEpoch;
    std::int32_t max_bytes = 0;
    // The last answer; -1 before the first one, so that the first answer always counts as a change.
    Offset sent_high_watermark = kNoOffset;
    Offset sent_log_start_offset = kNoOffset;
};

/// A partition's place in its session. It stays the same until a request of the session forgets the partition; then the session
/// may reuse it.
struct SessionSlot {
    std::uint32_t index = 0;
};

/// The name of a topic that a session knows by its id. The partitions of a topic share it.
using TopicName = std::shared_ptr<const std::string>;

/// The name of the topic of a partition, for a session to remember.
struct SessionTopicName {
    SessionSlot slot;
    TopicName name;
};

/// The content of an answer about one partition; the session remembers it.
struct SessionNews {
    SessionSlot slot;
    Offset high_watermark;
    Offset log_start_offset;
    bool has_records = false;
};

/// One fetch of a session, identified by the session epoch that follows it. A later request of the session supersedes
/// it.
struct SessionTurn {
    std::int32_t session_id = 0;
    std::int32_t next_epoch = 0;
};

/// One KIP-227 session: the partitions a client reads, in the order in which the byte budget is
/// spent on them. Partitions that yielded records move to the end, so that none starves.
///
/// A session that names topics by id remembers the name of each partition's topic, for as long as it has the partition: when
/// the topic is gone, Kafka answers by that name (FetchSession.CachedPartition).
class FetchSession {
  public:
    explicit FetchSession(bool uses_topic_ids) : uses_topic_ids_(uses_topic_ids) {}
    FetchSession(const FetchSession&) = delete;
    FetchSession& operator=(const FetchSession&) = delete;

    [[nodiscard]] bool uses_topic_ids() const { return uses_topic_ids_; }
    /// The epoch that the next incremental request must carry.
    [[nodiscard]] std::int32_t next_epoch() const { return next_epoch_; }
    [[nodiscard]] std::size_t partition_count() const { return order_.size(); }

    /// Applies a partition of a request: a new one is added at the end, a known one updated in place.
    SessionSlot put(const SessionPartition& requested);
    void forget(const TopicPartitionName& partition);

    /// Calls `each(slot, partition, has_topic_name)` for all partitions in their order.
    template <typename Each>
    void visit(Each&& each) const {
        for (const Placed& placed : order_) {
            each(placed.slot, placed.partition, placed.topic_name != nullptr);
        }
    }

    /// Remembers the names. A partition keeps the first one that it gets. The partition of each slot must still be in the
    /// session.
    void name_topics(std::span<const SessionTopicName> names);
    /// The name of the topic of a partition that is in the session; null if the session never learned it.
    [[nodiscard]] TopicName topic_name(SessionSlot slot) const;

    /// Remembers the content of an answer. The partition of each slot must still be in the session.
    void note_answer(std::span<const SessionNews> news);

    /// Moves to the next epoch. After 2^31-1 comes 1, because epoch 0 means "new session".
    void advance_epoch() { next_epoch_ = next_epoch_ == INT32_MAX ? 1 : next_epoch_ + 1; }

  private:
    struct Placed {
        SessionSlot slot;
        SessionPartition partition;
        TopicName topic_name;
    };
    using Order = std::list<Placed>;
    struct NameHash {
        std::size_t operator()(const TopicPartitionName& name) const;
    };

    [[nodiscard]] Order::iterator at(SessionSlot slot) const;

    bool uses_topic_ids_;
    std::int32_t next_epoch_ = 1;
    Order order_;
    // Indexed by slot. The slot of a forgotten partition points to the end and is reused.
    std::vector<Order::iterator> by_slot_;
    std::vector<SessionSlot> free_slots_;
    std::unordered_map<TopicPartitionName, Order::iterator, NameHash> by_name_;
};

/// The broker's fetch sessions, bounded by `max.incremental.fetch.session.cache.slots`.
///
/// If all slots are taken, a new session replaces one that has not been used for two minutes, or a smaller one that has existed
/// for as long (KIP-227, min.incremental.fetch.session.eviction.ms). Otherwise the client gets no session and continues with
/// full requests. A pure core: ids and time come in as arguments.
class FetchSessions {
  public:
    static constexpr std::int64_t kEvictionAgeMs = 120'000;

    explicit FetchSessions(std::size_t slots) : slots_(slots) {}

    /// Makes a session for `partition_count` partitions with the fresh positive `id`. Null if no slot is free, or if the id is
    /// taken. The pointer, like every other one to a session, is valid until the next call.
    FetchSession* create(std::int32_t id, bool uses_topic_ids, std::size_t partition_count, Instant now);

    /// Finds the session of an incremental request and advances its epoch. Errors are Kafka's top-level ones:
    /// fetch_session_id_not_found, invalid_fetch_session_epoch, fetch_session_topic_id_error.
    [[nodiscard]] std::expected<FetchSession*, ErrorCode> use(std::int32_t id, std::int32_t epoch, bool uses_topic_ids,
                                                              Instant now);

    /// Remembers the content of the answer to a fetch. False if a later request has superseded the fetch; then it remembers
    /// nothing, and Kafka answers invalid_fetch_session_epoch (IncrementalFetchContext). True if the session is gone, because
    /// then nothing needs to be remembered.
    [[nodiscard]] bool answer(SessionTurn turn, std::span<const SessionNews> news);

    /// See FetchSession::name_topics. Does nothing if the session is gone, or if a later request has superseded the fetch.
    void name_topics(SessionTurn turn, std::span<const SessionTopicName> names);
    /// See FetchSession::topic_name. Null, too, if the session is gone, or if a later request has superseded the fetch.
    [[nodiscard]] TopicName topic_name(SessionTurn turn, SessionSlot slot) const;

    void remove(std::int32_t id);

    [[nodiscard]] std::size_t size() const { return sessions_.size(); }
    [[nodiscard]] std::uint64_t evictions() const { return evictions_; }

  private:
    struct Entry {
        Entry(bool uses_topic_ids, Instant now) : session(uses_topic_ids), created(now), last_used(now) {}
        FetchSession session;
        Instant created;
        Instant last_used;
    };
    bool make_room(std::size_t partition_count, Instant now);

    std::size_t slots_;
    std::unordered_map<std::int32_t, Entry> sessions_;
    std::uint64_t evictions_ = 0;
};

}  // namespace partita::fetch
