#pragma once

#include <cstddef>
#include <cstdint>
#include <expected>
#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "protocol/error_code.h"
#include "protocol/types.h"

namespace partita::share {

/// A partition that a member of a share group fetches.
struct FetchedPartition {
    TopicId topic_id;
    PartitionIndex partition;
    friend auto operator<=>(const FetchedPartition&, const FetchedPartition&) = default;
};

/// A session's partition in one request.
struct SessionPartition {
    FetchedPartition name;
    /// The answer names the partition even if it has nothing for it.
    bool must_answer = false;
};

/// Special epochs of requests.
inline constexpr std::int32_t kInitialShareEpoch = 0;
inline constexpr std::int32_t kFinalShareEpoch = -1;

/// Share sessions (KIP-932): the partitions that each member of a share group fetches, so that requests name only changes. A
/// member has at most one session, which ends with its connection.
///
/// A pure core. Its memory is bounded by the number of sessions and by `kPartitionsMax`.
class ShareSessions {
  public:
    /// Partitions of one session, and of all sessions of a group since it was idle: far more than a broker has. Requests may name
    /// partitions that do not exist.
    static constexpr std::size_t kPartitionsMax = 200'000;

    /// A session that has ended: the caller gives back what the member holds in these partitions.
    struct Ended {
        std::string group_id;
        std::string member_id;
        std::vector<FetchedPartition> partitions;
        /// If this was the last session of the group: all partitions that its members fetched, which the caller puts aside.
        std::vector<FetchedPartition> idle;
    };

    /// A request with epoch 0 begins a session, in place of the member's earlier one. False if there are `max` sessions.
    [[nodiscard]] bool begin(std::string_view group_id, std::string_view member_id, std::uint64_t connection,
                             std::span<const FetchedPartition> partitions, std::size_t max);
    /// A later request changes the session. Returns all its partitions in their order, or SHARE_SESSION_NOT_FOUND or
    /// INVALID_SHARE_SESSION_EPOCH.
    [[nodiscard]] std::expected<std::vector<SessionPartition>, ErrorCode> go_on(std::string_view group_id,
                                                                                std::string_view member_id, std::int32_t epoch,
                                                                                std::span<const FetchedPartition> asked,
                                                                                std::span<const FetchedPartition> forgotten);
    /// A request that only acknowledges. `none` if it may; the epoch then rises, unless it is the final one.
    [[nodiscard]] ErrorCode acknowledge(std::string_view group_id, std::string_view member_id, std::int32_t epoch);
    /// True if the member has a session.
    [[nodiscard]] bool has(std::string_view group_id, std::string_view member_id) const;
    /// True if the session still stands at this epoch's successor: no later request of the member came meanwhile.
    [[nodiscard]] bool is_current(std::string_view group_id, std::string_view member_id, std::int32_t epoch) const;
    /// The answer had records of these partitions, which go to the end of the line, or errors, which are answered again.
    void answered(std::string_view group_id, std::string_view member_id, std::span<const FetchedPartition> with_records,
                  std::span<const FetchedPartition> with_errors);
    /// Ends the member's session; without one, the result has no partitions.
    [[nodiscard]] Ended end(std::string_view group_id, std::string_view member_id);
    [[nodiscard]] std::vector<Ended> connection_ended(std::uint64_t connection);

    [[nodiscard]] std::size_t size() const { return sessions_.size(); }

  private:
    using Key = std::pair<std::string, std::string>;
    struct Session {
        std::int32_t epoch = 1;
        std::uint64_t connection = 0;
        std::vector<SessionPartition> partitions;
    };
    struct GroupUse {
        std::size_t sessions = 0;
        /// Everything that members have fetched since the group was idle.
        std::set<FetchedPartition> partitions;
    };

    [[nodiscard]] Session* find(std::string_view group_id, std::string_view member_id);
    [[nodiscard]] const Session* find(std::string_view group_id, std::string_view member_id) const;
    /// The epoch after this one; it wraps to 1.
    [[nodiscard]] static std::int32_t next_epoch(std::int32_t epoch);

    std::map<Key, Session> sessions_;
    std::map<std::string, GroupUse, std::less<>> groups_;
    /// The members whose sessions came over each connection.
    std::map<std::uint64_t, std::set<Key>> by_connection_;
};

}  // namespace partita::share
