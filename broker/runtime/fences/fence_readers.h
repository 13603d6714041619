#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "broker/insight/findings/finding.h"
#include "broker/insight/identity/attribution.h"
#include "broker/runtime/coordinators/group_shards.h"

namespace partita::runtime {

class Connections;

/// Keeps track of the readers of one fenced topic: the connections that fetch it, and for each of them the groups that it may
/// belong to (see `insight::attribute`).
///
/// It belongs to a TopicExpansion, whose lock guards it.
class FenceReaders {
  public:
    /// The maximum number of remembered connections. At that number some readers may be unknown, so no group is concluded by
    /// elimination. A connection may then be held although it is in none of its groups.
    static constexpr std::size_t kReadersMax = 1024;
    /// The maximum number of remembered partitions that members held lately, over all members. Beyond it, the partitions that a
    /// connection fetches exclude it from no group.
    static constexpr std::size_t kHoldingsMax = 100'000;
    /// How long an answer is valid. An answer without a group, or an undecided one, is worked out again at each fetch.
    static constexpr std::int64_t kJudgeMs = 1'000;
    /// A connection no longer counts as held if no records were kept from it for this long.
    static constexpr std::int64_t kHeldMs = 10'000;

    FenceReaders(GroupShards& groups, Connections& connections) : groups_(groups), connections_(connections) {}

    struct Judgement {
        insight::Attribution::Kind kind = insight::Attribution::Kind::no_group;
        /// The groups that the connection may belong to, if their members have the partition or had it lately. Valid until the
        /// next call.
        std::vector<const groups::TopicReader*> groups;
        /// True if the kernel was asked for a process that may decide between these groups: see Connections::want_process.
        bool is_undecided = false;
    };
    /// Notes that the connection fetches the partition, and returns the groups that it may fetch for.
    [[nodiscard]] Judgement judge(std::string_view topic, const TopicId& topic_id, PartitionIndex partition,
                                  std::string_view client_id, std::string_view address, insight::ConnectionId connection,
                                  Instant now);
    /// Notes that this `judgement` kept records of the partition from the connection.
    void note_held(insight::ConnectionId connection, PartitionIndex partition, const Judgement& judgement, Instant now);
    /// Notes that nothing keeps records of the partition from the connection any more.
    void note_served(insight::ConnectionId connection, PartitionIndex partition);
    void on_closed(insight::ConnectionId connection) { readings_.erase(connection); }

    /// H52: connections that are held because each may belong to several groups and nothing tells which.
    [[nodiscard]] std::vector<insight::Finding> findings(std::string_view topic, Instant now) const;
    /// The process behind a reader: "java (pid 4711, shop.jar)". Empty if unknown.
    [[nodiscard]] std::string program_of(insight::ConnectionId connection) const;

  private:
    struct Reading {
        insight::ConnectionFacts client;
        std::map<PartitionIndex, insight::PartitionSpan> fetched;
        // The last answer about the connection, and its time.
        insight::Attribution::Kind kind = insight::Attribution::Kind::no_group;
        std::vector<std::string> groups;
        Instant judged{-kJudgeMs};
        // When records of each partition were last kept from it, and the member that it was taken for.
        std::map<PartitionIndex, Instant> held;
        std::string held_as;
    };
    using MemberKey = std::pair<std::string, std::string>;

    [[nodiscard]] Reading& reading_of(std::string_view client_id, std::string_view address, insight::ConnectionId connection);
    void keep_holdings(Instant now);
    [[nodiscard]] bool held_lately(const MemberKey& member, PartitionIndex partition) const;
    [[nodiscard]] bool has_partition(const groups::TopicReader& group, const Reading& reading, PartitionIndex partition) const;
    [[nodiscard]] insight::GroupMember member_of(const groups::TopicReader& group, const groups::TopicReader::Member& member,
                                                 Instant now) const;
    /// Works out the answer for the reading. True if the kernel was asked and may decide it soon.
    bool attribute(Reading& reading, Instant now);
    [[nodiscard]] std::vector<insight::ReadingConnection> readers_like(Reading& subject);

    GroupShards& groups_;
    Connections& connections_;
    GroupShards::KnownReaders known_;
    std::map<insight::ConnectionId, Reading> readings_;
    /// The reading of a connection beyond `kReadersMax`, until the next such connection.
    Reading guest_;
    /// When each member was last seen with each of its partitions.
    std::map<MemberKey, std::map<PartitionIndex, Instant>> holdings_;
    std::size_t holding_count_ = 0;
    bool holdings_overflowed_ = false;
    Instant holdings_kept_{-kJudgeMs};
};

}  // namespace partita::runtime
