#pragma once

#include "broker/client/group_member.h"

namespace partita::client {

/// A group member that uses the classic protocol. It gives up all partitions before it joins again unless all its assignors are
/// cooperative, as Kafka's consumer does.
class ClassicGroupMember final : public GroupMember {
  public:
    ClassicGroupMember(Cluster& cluster, const MemberSettings& settings, Reader& reader);

    [[nodiscard]] Result<void> keep(const SubscribedTopics& topics) override;
    [[nodiscard]] Result<bool> beat() override;
    [[nodiscard]] Instant next_beat() const override { return next_beat_; }
    [[nodiscard]] CommittingMember identity() const override;
    void doubt() override;
    [[nodiscard]] Result<void> leave() override;

  private:
    /// Partitions by the ids of members.
    using Assigned = std::map<std::string, std::vector<TopicPartition>>;

    /// One round of the rebalance. Returns false if the member has to join again.
    [[nodiscard]] Result<bool> join();
    [[nodiscard]] Result<bool> sync(const std::string& protocol, const Assigned& assigned);
    [[nodiscard]] Result<bool> again(ErrorCode code);
    [[nodiscard]] Result<Assigned> divide(const std::string& protocol, const std::vector<ClassicMember>& members);
    void let_go_of(const std::set<TopicPartition>& partitions);
    void forget_membership(bool keeps_id);

    Cluster& cluster_;
    const MemberSettings settings_;
    Reader& reader_;
    const Route coordinator_;
    const bool is_cooperative_;
    SubscribedTopics topics_;
    std::string member_id_;
    std::int32_t generation_ = -1;
    bool is_member_ = false;
    bool is_leader_ = false;
    bool is_rebalancing_ = false;
    /// A heartbeat's error that ends the membership; set until `keep` acts on it.
    std::optional<ErrorCode> expelled_;
    Instant next_beat_;
    std::set<TopicPartition> owned_;
};

}  // namespace partita::client
