#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "broker/expansion/attribution.h"
#include "broker/expansion/finding.h"
#include "broker/runtime/coordinators/group_shards.h"

namespace partita::runtime {

class Connections;

/// Who reads one fenced topic: the connections that fetch it, and for each the groups whose member it may be (see `expansion::attribute`).
///
/// Belongs to a TopicExpansion, whose lock guards it.
class FenceReaders {
  public:
    /// Connections that are told apart. One beyond it is judged alone: it may then be held where the others would have shown that it is
    /// in no group.
    static constexpr std::size_t kReadersMax = 1024;
    /// Partitions that members held lately, of all together. With more, nobody is excluded for what it fetches.
    static constexpr std::size_t kHoldingsMax = 100'000;
    /// So long an answer stands that names a group. One that names none is asked for anew with each fetch.
    static constexpr std::int64_t kJudgeMs = 1'000;
    /// A connection that nothing was kept from for so long is not held any more.
    static constexpr std::int64_t kHeldMs = 10'000;

    FenceReaders(GroupShards& groups, Connections& connections) : groups_(groups), connections_(connections) {}

    struct Judgement {
        expansion::Attribution::Kind kind = expansion::Attribution::Kind::no_group;
        /// Groups whose member it may be and that have the partition, or had it lately. Valid until the next call.
        std::vector<const groups::TopicReader*> groups;
        /// The kernel was asked for a process that may decide it: see Connections::want_process.
        bool is_undecided = false;
    };
    /// Notes that the connection fetches the partition, and says for whom.
    [[nodiscard]] Judgement judge(std::string_view topic, const TopicId& topic_id, PartitionIndex partition, std::string_view client_id,
                                  std::string_view address, expansion::ConnectionId connection, Instant now);
    /// Records of the partition were kept from the connection, which `judgement` was about.
    void note_held(expansion::ConnectionId connection, PartitionIndex partition, const Judgement& judgement, Instant now);
    void on_closed(expansion::ConnectionId connection) { readings_.erase(connection); }

    /// H52: connections that are held as members of groups that they may not be of.
    [[nodiscard]] std::vector<expansion::Finding> findings(std::string_view topic, Instant now) const;
    /// The process behind a reader, as far as it is known: "java (pid 4711, shop.jar)".
    [[nodiscard]] std::string program_of(expansion::ConnectionId connection) const;

  private:
    struct Reading {
        expansion::ConnectionFacts client;
        std::map<PartitionIndex, expansion::PartitionSpan> fetched;
        // The answer that stands.
        expansion::Attribution::Kind kind = expansion::Attribution::Kind::no_group;
        std::vector<std::string> groups;
        Instant judged{-kJudgeMs};
        // What was kept from it.
        std::map<PartitionIndex, Instant> held;
        std::string held_as;
    };
    using MemberKey = std::pair<std::string, std::string>;

    [[nodiscard]] Reading& reading_of(std::string_view client_id, std::string_view address, expansion::ConnectionId connection);
    void keep_holdings(Instant now);
    [[nodiscard]] bool held_lately(const MemberKey& member, PartitionIndex partition) const;
    [[nodiscard]] bool has_partition(const groups::TopicReader& group, const Reading& reading, PartitionIndex partition) const;
    [[nodiscard]] expansion::GroupMember member_of(const groups::TopicReader& group, const groups::TopicReader::Member& member,
                                                   Instant now) const;
    /// Fills the answer of the reading. True when the kernel may know better soon.
    bool attribute(Reading& reading, Instant now);
    [[nodiscard]] std::vector<expansion::ReadingConnection> readers_like(Reading& subject);

    GroupShards& groups_;
    Connections& connections_;
    GroupShards::KnownReaders known_;
    std::map<expansion::ConnectionId, Reading> readings_;
    /// One that found no place.
    Reading guest_;
    /// When a member was seen holding a partition last.
    std::map<MemberKey, std::map<PartitionIndex, Instant>> holdings_;
    std::size_t holding_count_ = 0;
    bool holdings_overflowed_ = false;
    Instant holdings_kept_{-kJudgeMs};
};

}  // namespace partita::runtime
