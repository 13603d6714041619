#include <algorithm>
#include <map>
#include <utility>

#include "broker/assignors/assignor.h"
#include "broker/groups/consumer_steps.h"
#include "broker/groups/metadata_hash.h"
#include "protocol/assert.h"

namespace partita::groups {
namespace {

/// Builds the assignors' view of a group. Most groups consist of many copies of one program, so equal subscriptions are looked up
/// once.
class SpecBuilder {
  public:
    SpecBuilder(const ConsumerGroup& group, const ClusterView& cluster) {
        order(group);
        const ConsumerMember* previous = nullptr;
        for (const ConsumerMember* member : order_) {
            if (previous == nullptr || !same_topics(*previous, *member)) {
                kinds_.push_back(group.subscribed_topic_ids(*member, cluster));
                is_homogeneous_ = is_homogeneous_ && previous == nullptr;
            }
            previous = member;
            kind_of_member_.push_back(kinds_.size() - 1);
        }
        collect_topics(cluster);
        for (const std::vector<TopicId>& kind : kinds_) {
            std::vector<std::uint32_t>& indexes = indexes_.emplace_back();
            indexes.reserve(kind.size());
            for (const TopicId& topic_id : kind) {
                const auto found = std::ranges::lower_bound(topics_, topic_id, {}, &assignors::GroupSpec::Topic::topic_id);
                indexes.push_back(static_cast<std::uint32_t>(found - topics_.begin()));
            }
        }
        std::size_t index = 0;
        for (const ConsumerMember* member : order_) {
            members_.push_back(
                {.topics = indexes_[kind_of_member_[index++]], .previous = member->target ? &*member->target : nullptr});
        }
    }

    [[nodiscard]] assignors::GroupSpec spec() const { return {topics_, members_, is_homogeneous_}; }
    /// The members of the assignments, in the same order.
    [[nodiscard]] const std::vector<const ConsumerMember*>& members() const { return order_; }

  private:
    /// Static members first, by instance id: a restart under another member id then moves no range.
    void order(const ConsumerGroup& group) {
        for (const auto& [id, member] : group.members()) {
            order_.push_back(&member);
        }
        std::ranges::stable_sort(order_, [](const ConsumerMember* left, const ConsumerMember* right) {
            const auto& mine = left->subscription.instance_id;
            const auto& others = right->subscription.instance_id;
            return mine && others ? *mine < *others : mine.has_value() && !others;
        });
    }

    static bool same_topics(const ConsumerMember& left, const ConsumerMember& right) {
        return left.subscription.topic_names == right.subscription.topic_names &&
               left.subscription.topic_regex == right.subscription.topic_regex;
    }

    void collect_topics(const ClusterView& cluster) {
        std::vector<TopicId> ids;
        for (const std::vector<TopicId>& kind : kinds_) {
            ids.insert(ids.end(), kind.begin(), kind.end());
        }
        std::ranges::sort(ids);
        const auto repeated = std::ranges::unique(ids);
        ids.erase(repeated.begin(), repeated.end());
        topics_.reserve(ids.size());
        for (const TopicId& topic_id : ids) {
            const auto topic = cluster.find(topic_id);
            PARTITA_ASSERT(topic.has_value(), "a topic that was found by name is found by id");
            topics_.push_back({topic_id, topic->partition_count});
        }
    }

    std::vector<const ConsumerMember*> order_;
    bool is_homogeneous_ = true;
    std::vector<std::vector<TopicId>> kinds_;
    std::vector<std::size_t> kind_of_member_;
    std::vector<std::vector<std::uint32_t>> indexes_;
    std::vector<assignors::GroupSpec::Topic> topics_;
    std::vector<assignors::GroupSpec::Member> members_;
};

class FreeOrOwn final : public PartitionAvailability {
  public:
    FreeOrOwn(const ConsumerGroup& group, const ConsumerMember& member) : group_(group), member_(member) {}
    bool is_available(const TopicId& topic_id, std::int32_t partition) const override {
        const ConsumerMember* owner = group_.owner(topic_id, partition);
        return owner == nullptr || owner == &member_;
    }

  private:
    const ConsumerGroup& group_;
    const ConsumerMember& member_;
};

}  // namespace

std::int64_t ConsumerSteps::compute_metadata_hash(const ConsumerGroup& group) {
    if (topic_hashes_version_ != environment_.cluster->version()) {
        topic_hashes_.clear();
        topic_hashes_version_ = environment_.cluster->version();
    }
    std::vector<std::int64_t> hashes;
    for (const std::string_view name : group.subscribed_topics()) {
        const auto topic = environment_.cluster->find(name);
        if (!topic) {
            continue;
        }
        auto known = topic_hashes_.find(name);
        if (known == topic_hashes_.end()) {
            known = topic_hashes_.emplace(std::string(name), topic_hash(*topic, environment_.cluster->rack())).first;
        }
        hashes.push_back(known->second);
    }
    return group_hash(hashes);
}

void ConsumerSteps::update_group_epoch(const ConsumerGroup& group, bool bump, Effects& effects) {
    if (!bump && group.seen_metadata_version == environment_.cluster->version()) {
        return;
    }
    group.seen_metadata_version = environment_.cluster->version();
    const std::int64_t hash = compute_metadata_hash(group);
    if (!bump && hash != group.metadata_hash()) {
        table_.notes().note(group.group(), RebalanceCause::topics_changed);
    }
    if (bump || hash != group.metadata_hash()) {
        table_.change(group.id(), ConsumerGroupEpochRecord{{}, group.epoch() + 1, hash}, effects);
    }
}

void ConsumerSteps::update_target_assignment(const ConsumerGroup& group, Now now, Effects& effects) {
    if (group.epoch() <= group.assignment_epoch()) {
        return;
    }
    // Members that arrive together get one assignment together (KIP-1263). A clock that was set back delays no assignment.
    const std::int64_t interval_ms = environment_.cluster->overrides(group.id())
                                         .assignment_interval_ms.value_or(environment_.config.consumer_assignment_interval_ms);
    const std::int64_t last = group.assignment_timestamp().value;
    const bool is_due = last == 0 || interval_ms == 0 || now.wall.value >= last + interval_ms || now.wall.value < last;
    if (is_due) {
        compute_target_assignment(group, now, effects);
    }
}

void ConsumerSteps::compute_target_assignment(const ConsumerGroup& group, Now now, Effects& effects) {
    std::string name = group.preferred_assignor().value_or(environment_.config.consumer_assignors.value.front());
    if (std::ranges::find(environment_.config.consumer_assignors.value, name) ==
        environment_.config.consumer_assignors.value.end()) {
        // The assignor was available when the member named it, before a restart with other settings.
        name = environment_.config.consumer_assignors.value.front();
    }
    const assignors::Assignor assign = assignors::find_assignor(name);
    PARTITA_ASSERT(assign != nullptr, "only known assignors can be configured");
    const SpecBuilder builder(group, *environment_.cluster);
    assignors::GroupAssignment goals = assign(builder.spec());
    std::size_t index = 0;
    for (const ConsumerMember* member : builder.members()) {
        assignors::Assignment& goal = goals[index++];
        if (!member->target || *member->target != goal) {
            table_.change(group.id(), TargetAssignmentRecord{{}, member->id, std::move(goal)}, effects);
        }
    }
    table_.change(group.id(), TargetAssignmentEpochRecord{{}, group.epoch(), now.wall}, effects);
}

void ConsumerSteps::lead_on(const ConsumerGroup& group, const ConsumerMember& member, bool subscription_changed,
                            const std::optional<std::span<const assignors::TopicPartitions>>& owned, Now now, Effects& effects) {
    const MemberProgress& progress = member.progress;
    if (!subscription_changed && progress.state == MemberState::stable && progress.epoch == group.assignment_epoch()) {
        return;
    }
    static const assignors::Assignment kNothing;
    const std::vector<TopicId> subscribed = group.subscribed_topic_ids(member, *environment_.cluster);
    MemberProgress next = reconcile(progress,
                                    {.target_epoch = group.assignment_epoch(),
                                     .target = member.target ? *member.target : kNothing,
                                     .subscribed = subscribed,
                                     .subscription_changed = subscription_changed,
                                     .owned = owned},
                                    FreeOrOwn(group, member));
    if (next == progress) {
        return;
    }
    table_.change(group.id(), CurrentAssignmentRecord{{}, member.id, std::move(next)}, effects);
    if (member.speaks_classic()) {
        // Classic members get time to rejoin and to fetch their assignment instead.
        return;
    }
    if (member.progress.state == MemberState::unrevoked_partitions) {
        table_.timers().schedule(member.rebalance_timer, now.monotonic + member.subscription.rebalance_timeout_ms);
    } else {
        member.rebalance_timer.cancel();
    }
}

}  // namespace partita::groups
