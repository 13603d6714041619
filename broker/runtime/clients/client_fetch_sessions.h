#pragma once

#include <cstddef>
#include <cstdint>
#include <expected>
#include <optional>
#include <span>
#include <vector>

#include "broker/fetch/fetch_sessions.h"
#include "protocol/mutex.h"
#include "protocol/types.h"

namespace partita::runtime {

/// A partition that a fetch of a session reads, as a copy.
struct SessionRead {
    fetch::SessionSlot slot;
    fetch::SessionPartition partition;
    /// True if the session knows the name of a topic that it was told by id.
    bool has_topic_name = false;
};

/// The changes that an incremental request makes to its session before the session is read.
struct SessionChanges {
    std::vector<fetch::TopicPartitionName> forgotten;
    std::vector<fetch::SessionPartition> asked;
};

/// The incremental fetch sessions of all connections (KIP-227). Thread-safe: each call holds the lock only for its own work, and
/// does not read logs, look up topics or wait meanwhile. It returns values, which later requests of the session do not change.
class ClientFetchSessions {
  public:
    /// At most `slots` sessions: `max.incremental.fetch.session.cache.slots`.
    explicit ClientFetchSessions(std::size_t slots) : sessions_(slots) {}

    /// A session that a full request began.
    struct Begun {
        fetch::SessionTurn turn;
        /// The slots of the request's partitions, in their order.
        std::vector<fetch::SessionSlot> slots;
    };
    /// Begins a session for the partitions of a full request, and ends the client's previous one (`replaced_id`, 0 for none).
    /// Empty if the cache has no room.
    [[nodiscard]] std::optional<Begun> begin(std::int32_t replaced_id, bool uses_topic_ids,
                                             std::span<const fetch::SessionPartition> partitions, Instant now);
    /// Ends the session, if it exists.
    void end(std::int32_t id);

    /// Applies the changes of an incremental request and appends the session's partitions to `reads`, in the order of the
    /// session. If none is left, the session ends: the turn then has session id 0, and `reads` are the partitions that the
    /// request asked for, as in Kafka. The error, as FetchSessions::use gives it, is the top-level error of the answer.
    [[nodiscard]] std::expected<fetch::SessionTurn, ErrorCode> go_on(std::int32_t id, std::int32_t epoch, bool uses_topic_ids,
                                                                     const SessionChanges& changes, Instant now,
                                                                     std::vector<SessionRead>& reads);
    /// See FetchSessions::name_topics.
    void name_topics(fetch::SessionTurn turn, std::span<const fetch::SessionTopicName> names);
    /// See FetchSessions::topic_name.
    [[nodiscard]] fetch::TopicName topic_name(fetch::SessionTurn turn, fetch::SessionSlot slot) const;
    /// See FetchSessions::answer.
    [[nodiscard]] bool answer(fetch::SessionTurn turn, std::span<const fetch::SessionNews> news);

  private:
    mutable Mutex mutex_{LockRank::fetch_sessions};
    fetch::FetchSessions sessions_ GUARDED_BY(mutex_);
};

}  // namespace partita::runtime
