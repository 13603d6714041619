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

/// How a consumer in a group reads, with the names and defaults of Kafka's consumer.
struct GroupConsumerSettings {
    MemberSettings member;
    FetcherSettings fetch;
    /// The topics to read: listed by name, or those for which this predicate is true. The consumer looks for them again every
    /// metadata_max_age_ms.
    std::vector<std::string> topics;
    std::function<bool(const std::string& name)> matches;
    std::int64_t metadata_max_age_ms = 300'000;
    bool may_create_topics = true;
    /// enable.auto.commit and its interval.
    bool commits = true;
    std::int64_t commit_interval_ms = 5'000;
    /// Receives problems that do not end the reading. May be empty.
    std::function<void(const std::string&)> warn;
    /// `on_assigned` is called when the group has given partitions to this consumer, before the consumer asks for their offsets;
    /// `on_revoked`, when the consumer has given partitions up or lost them. Either function may be empty.
    std::function<void(const std::set<TopicPartition>&)> on_assigned;
    std::function<void(const std::set<TopicPartition>&)> on_revoked;
};

/// Reads topics as a member of a group. It starts where the group has committed. It commits periodically, before it gives up
/// partitions, and at its end. A record counts as read when the taker has returned. One thread: the member stays alive as long as
/// `poll` is called, and while records are taken.
class GroupConsumer final : private GroupMember::Reader {
  public:
    /// Sends nothing before `poll`. The cluster outlives the consumer.
    GroupConsumer(Cluster& cluster, GroupConsumerSettings settings);

    /// Takes part in the group, and waits up to `wait_ms` for records. Returns how many records the taker took. Failures: those
    /// of the cluster, a final refusal by the group, a missing offset if auto.offset.reset is "none", damaged records.
    [[nodiscard]] Result<std::int64_t> poll(const Fetcher::Taker& take, std::int64_t wait_ms);
    /// Commits and leaves. No other call may follow.
    [[nodiscard]] Result<void> close();

    [[nodiscard]] const std::set<TopicPartition>& assigned() const { return assigned_; }
    [[nodiscard]] std::int64_t position(const TopicPartition& partition) const { return fetcher_.position(partition); }

  private:
    void let_go(const std::set<TopicPartition>& partitions) override;
    void lose(const std::set<TopicPartition>& partitions) override;
    [[nodiscard]] Result<void> take(const std::set<TopicPartition>& partitions) override;

    [[nodiscard]] Result<void> look_for_topics();
    [[nodiscard]] Result<std::map<TopicPartition, CommittedOffset>> committed(const std::set<TopicPartition>& partitions);
    /// Commits the positions of these partitions. Warns if the group refuses, and goes on.
    void commit(const std::set<TopicPartition>& partitions);
    void warn(const std::string& line) const;

    Cluster& cluster_;
    const GroupConsumerSettings settings_;
    Fetcher fetcher_;
    std::unique_ptr<GroupMember> member_;
    SubscribedTopics topics_;
    std::set<std::string> warned_;
    std::set<TopicPartition> assigned_;
    /// The offsets that the group has already stored.
    std::map<TopicPartition, std::int64_t> committed_;
    std::optional<Instant> next_look_;
    std::optional<Instant> next_commit_;
};

}  // namespace partita::client
