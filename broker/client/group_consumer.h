#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "broker/client/fetch.h"
#include "broker/client/group_member.h"

namespace partita::client {

/// How a consumer in a group reads, with the names and defaults of Kafka's.
struct GroupConsumerSettings {
    MemberSettings member;
    FetcherSettings fetch;
    /// The topics, by their names, or those that this answers true of; they are looked for again every metadata_max_age_ms.
    std::vector<std::string> topics;
    std::function<bool(const std::string& name)> matches;
    std::int64_t metadata_max_age_ms = 300'000;
    bool may_create_topics = true;
    /// enable.auto.commit and its interval.
    bool commits = true;
    std::int64_t commit_interval_ms = 5'000;
    /// Hears of what goes wrong and does not end the reading. May be empty.
    std::function<void(const std::string&)> warn;
};

/// Reads topics as a member of a group: goes on where the group has committed, commits where it is now and then, before it lets
/// go of partitions, and at its end. A record counts as read when the taker returned. One thread: the member lives as long as
/// `poll` is called, and while records are taken.
class GroupConsumer final : private GroupMember::Reader {
  public:
    /// The cluster outlives the consumer. Nothing is sent before `poll`.
    GroupConsumer(Cluster& cluster, GroupConsumerSettings settings);

    /// Does what the group asks for, and waits up to `wait_ms` for records. Answers how many were taken. Failures: of the
    /// cluster, of the group for good, no offset where auto.offset.reset is none, damaged records.
    [[nodiscard]] Result<std::int64_t> poll(const Fetcher::Taker& take, std::int64_t wait_ms);
    /// Commits and leaves. Nothing can be done after it.
    [[nodiscard]] Result<void> close();

    [[nodiscard]] const std::set<TopicPartition>& assigned() const { return assigned_; }
    [[nodiscard]] std::int64_t position(const TopicPartition& partition) const { return fetcher_.position(partition); }

  private:
    void let_go(const std::set<TopicPartition>& partitions) override;
    void lose(const std::set<TopicPartition>& partitions) override;
    [[nodiscard]] Result<void> take(const std::set<TopicPartition>& partitions) override;

    [[nodiscard]] Result<void> look_for_topics();
    [[nodiscard]] Result<std::map<TopicPartition, CommittedOffset>> committed(const std::set<TopicPartition>& partitions);
    /// Commits where these stand. What the group does not accept is told and left.
    void commit(const std::set<TopicPartition>& partitions);
    void warn(const std::string& line) const;

    Cluster& cluster_;
    const GroupConsumerSettings settings_;
    Fetcher fetcher_;
    std::unique_ptr<GroupMember> member_;
    SubscribedTopics topics_;
    std::set<std::string> warned_;
    std::set<TopicPartition> assigned_;
    /// What the group knows already.
    std::map<TopicPartition, std::int64_t> committed_;
    std::optional<Instant> next_look_;
    std::optional<Instant> next_commit_;
};

}  // namespace partita::client
