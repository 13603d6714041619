#pragma once

#include "broker/client/group_member.h"

namespace partita::client {

/// A group member by KIP-848. The coordinator sends the member's target with each heartbeat answer, and the member reports what
/// it owns. The member gives up partitions before it takes others.
class ConsumerGroupMember final : public GroupMember {
  public:
    ConsumerGroupMember(Cluster& cluster, const MemberSettings& settings, Reader& reader);

    [[nodiscard]] Result<void> keep(const SubscribedTopics& topics) override;
    [[nodiscard]] Result<bool> beat() override;
    [[nodiscard]] Instant next_beat() const override { return next_beat_; }
    [[nodiscard]] CommittingMember identity() const override;
    void doubt() override { next_beat_ = {}; }
    [[nodiscard]] Result<void> leave() override;

  private:
    /// The news that the next heartbeat reports besides the member being alive.
    enum class News : std::uint8_t { none, partitions, everything };

    [[nodiscard]] Result<void> heartbeat();
    [[nodiscard]] Result<void> take_answer(ErrorCode code, std::string_view text);
    /// Moves one step towards the target. Returns whether anything changed.
    [[nodiscard]] Result<bool> reconcile();
    /// The target with topic names, as far as brokers know them by now.
    [[nodiscard]] Result<std::set<TopicPartition>> named_target();
    void forget_membership();

    Cluster& cluster_;
    const MemberSettings settings_;
    Reader& reader_;
    const Route coordinator_;
    const std::string member_id_;
    SubscribedTopics topics_;
    std::int32_t epoch_ = 0;
    std::int64_t interval_ms_ = 0;
    Instant next_beat_;
    News news_ = News::everything;
    std::map<TopicId, std::vector<std::int32_t>> target_;
    bool is_target_new_ = false;
    /// The coordinator no longer knows the member; set until `keep` acts on it.
    bool is_fenced_ = false;
    std::map<TopicId, std::string> names_;
    std::set<TopicPartition> owned_;
};

}  // namespace partita::client
