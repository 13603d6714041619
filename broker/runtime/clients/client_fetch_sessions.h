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

/// What an incremental request changes in its session before the session is read.
struct SessionChanges {
    std::vector<fetch::TopicPartitionName> forgotten;
    std::vector<fetch::SessionPartition> asked;
};

/// The incremental fetch sessions of all connections (KIP-227). Thread-safe: each call holds the lock for itself alone, and
/// reads, looks up and waits for nothing meanwhile. It gives out values, which a later request of the session does not change.
class ClientFetchSessions {
  public:
    /// At most `slots` sessions: `max.incremental.fetch.session.cache.slots`.
    explicit ClientFetchSessions(std::size_t slots) : sessions_(slots) {}

    /// A session that a full request has begun.
    struct Begun {
        fetch::SessionTurn turn;
        /// The slots of the request's partitions, in their order.
        std::vector<fetch::SessionSlot> slots;
    };
    /// Begins a session for the partitions of a full request, and ends the client's former one (`replaced_id`, 0 for none). Empty
    /// when there is no place for it.
    [[nodiscard]] std::optional<Begun> begin(std::int32_t replaced_id, bool uses_topic_ids,
                                             std::span<const fetch::SessionPartition> partitions, Instant now);
    /// Ends the session, if it exists.
    void end(std::int32_t id);

    /// Applies the changes of an incremental request and appends the session's partitions to `reads`, in the order of the
    /// session. The error, as FetchSessions::use gives it, is the top-level error of the answer.
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
