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
};

/// What an incremental request changes in its session before it reads it.
struct SessionChanges {
    std::vector<fetch::TopicPartitionName> forgotten;
    std::vector<fetch::SessionPartition> asked;
};

/// The incremental fetch sessions of all connections (KIP-227). Thread-safe: each call is one critical section of its own, in which
/// nothing is read, looked up or waited for. What it gives out are values, which a later request of the session does not change.
class ClientFetchSessions {
  public:
    /// At most `slots` sessions: `max.incremental.fetch.session.cache.slots`.
    explicit ClientFetchSessions(std::size_t slots) : sessions_(slots) {}

    /// A session begun with a full request.
    struct Begun {
        fetch::SessionTurn turn;
        /// By the partitions of the request, in their order.
        std::vector<fetch::SessionSlot> slots;
    };
    /// Begins a session for the partitions of a full request; the client's former one, `replaced_id` unless that is 0, is over.
    /// None when there is no place for it.
    [[nodiscard]] std::optional<Begun> begin(std::int32_t replaced_id, bool uses_topic_ids,
                                             std::span<const fetch::SessionPartition> partitions, Instant now);
    /// The session is over, if it is there.
    void end(std::int32_t id);

    /// Serves the session part of an incremental request: fills `reads` with what the session is about after the changes, in its
    /// order. A top-level error otherwise, as FetchSessions::use gives it.
    [[nodiscard]] std::expected<fetch::SessionTurn, ErrorCode> go_on(std::int32_t id, std::int32_t epoch, bool uses_topic_ids,
                                                                     const SessionChanges& changes, Instant now,
                                                                     std::vector<SessionRead>& reads);
    /// As FetchSessions::answer.
    [[nodiscard]] bool answer(fetch::SessionTurn turn, std::span<const fetch::SessionNews> news);

  private:
    Mutex mutex_{LockRank::fetch_sessions};
    fetch::FetchSessions sessions_ GUARDED_BY(mutex_);
};

}  // namespace partita::runtime
