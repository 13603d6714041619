#include "broker/groups/member_assignment.h"

#include <algorithm>
#include <iterator>

namespace partita::groups {
namespace {

const OwnedTopic* find_topic(const OwnedAssignment& assignment, const TopicId& topic_id) {
    const auto found = std::ranges::lower_bound(assignment, topic_id, {}, &OwnedTopic::topic_id);
    return found == assignment.end() || found->topic_id != topic_id ? nullptr : &*found;
}

void add_topic(OwnedAssignment& assignment, OwnedTopic topic) {
    if (!topic.partitions.empty()) {
        assignment.push_back(std::move(topic));
    }
}

/// Both arguments are ascending; so is the result.
OwnedAssignment merged(const OwnedAssignment& left, const OwnedAssignment& right) {
    OwnedAssignment result;
    std::ranges::merge(left, right, std::back_inserter(result), {}, &OwnedTopic::topic_id, &OwnedTopic::topic_id);
    for (std::size_t i = 1; i < result.size();) {
        if (result[i - 1].topic_id != result[i].topic_id) {
            ++i;
            continue;
        }
        auto& partitions = result[i - 1].partitions;
        partitions.insert(partitions.end(), result[i].partitions.begin(), result[i].partitions.end());
        std::ranges::sort(partitions);
        result.erase(result.begin() + static_cast<std::ptrdiff_t>(i));
    }
    return result;
}

bool still_owns(const std::optional<std::span<const assignors::TopicPartitions>>& owned, const OwnedAssignment& revoked) {
    if (!owned) {
        // The member reported nothing, so it may.
        return true;
    }
    return std::ranges::any_of(*owned, [&revoked](const assignors::TopicPartitions& topic) {
        return std::ranges::any_of(topic.partitions, [&](std::int32_t partition) {
            return find_partition(revoked, topic.topic_id, partition) != nullptr;
        });
    });
}

/// The member's assignment against its target, topic by topic.
struct Difference {
    OwnedAssignment kept;
    OwnedAssignment revoked;
    /// In the target, free, and not yet held by the member; with the target's epoch.
    OwnedAssignment gained;
    bool has_unreleased = false;
};

Difference compare(const MemberProgress& progress, const ReconciliationInput& input, const PartitionAvailability& availability) {
    Difference difference;
    std::vector<TopicId> topics;
    for (const OwnedTopic& topic : progress.assigned) {
        topics.push_back(topic.topic_id);
    }
    for (const assignors::TopicPartitions& topic : input.target) {
        topics.push_back(topic.topic_id);
    }
    std::ranges::sort(topics);
    const auto repeated = std::ranges::unique(topics);
    topics.erase(repeated.begin(), repeated.end());

    for (const TopicId& topic_id : topics) {
        static const std::vector<OwnedPartition> kNothing;
        const OwnedTopic* assigned_topic = find_topic(progress.assigned, topic_id);
        const std::vector<OwnedPartition>& assigned = assigned_topic == nullptr ? kNothing : assigned_topic->partitions;
        std::span<const std::int32_t> target;
        // The member loses a topic that it no longer wants at once, even while the target lags behind.
        if (std::ranges::binary_search(input.subscribed, topic_id)) {
            if (const auto* wanted = assignors::find_topic(input.target, topic_id)) {
                target = wanted->partitions;
            }
        }
        OwnedTopic kept{topic_id, {}};
        OwnedTopic revoked{topic_id, {}};
        OwnedTopic gained{topic_id, {}};
        for (const OwnedPartition& partition : assigned) {
            (std::ranges::binary_search(target, partition.partition) ? kept : revoked).partitions.push_back(partition);
        }
        for (const std::int32_t partition : target) {
            if (std::ranges::binary_search(kept.partitions, partition, {}, &OwnedPartition::partition)) {
                continue;
            }
            if (availability.is_available(topic_id, partition)) {
                gained.partitions.push_back({partition, input.target_epoch});
            } else {
                difference.has_unreleased = true;
            }
        }
        add_topic(difference.kept, std::move(kept));
        add_topic(difference.revoked, std::move(revoked));
        add_topic(difference.gained, std::move(gained));
    }
    return difference;
}

MemberProgress advance(const MemberProgress& progress, std::int32_t epoch, const ReconciliationInput& input,
                       const PartitionAvailability& availability) {
    Difference difference = compare(progress, input, availability);
    MemberProgress next = progress;
    next.previous_epoch = progress.epoch;
    if (!difference.revoked.empty() && still_owns(input.owned, difference.revoked)) {
        // No member gets these partitions, and this member gets nothing new, until it reports that it has given them up.
        next.state = MemberState::unrevoked_partitions;
        next.epoch = epoch;
        next.assigned = std::move(difference.kept);
        next.pending_revocation = std::move(difference.revoked);
        return next;
    }
    next.state = difference.has_unreleased ? MemberState::unreleased_partitions : MemberState::stable;
    next.epoch = input.target_epoch;
    next.assigned = merged(difference.kept, difference.gained);
    next.pending_revocation.clear();
    return next;
}

/// Revokes only the topics that the member has just unsubscribed; everything else waits for the next target.
MemberProgress drop_unsubscribed(const MemberProgress& progress, const ReconciliationInput& input) {
    MemberProgress next = progress;
    OwnedAssignment dropped;
    std::erase_if(next.assigned, [&](const OwnedTopic& topic) {
        if (std::ranges::binary_search(input.subscribed, topic.topic_id)) {
            return false;
        }
        dropped.push_back(topic);
        return true;
    });
    if (dropped.empty()) {
        return progress;
    }
    OwnedAssignment pending = merged(progress.pending_revocation, dropped);
    if (still_owns(input.owned, pending)) {
        next.state = MemberState::unrevoked_partitions;
        next.pending_revocation = std::move(pending);
    }
    return next;
}

}  // namespace

const OwnedPartition* find_partition(const OwnedAssignment& assignment, const TopicId& topic_id, std::int32_t partition) {
    const OwnedTopic* topic = find_topic(assignment, topic_id);
    if (topic == nullptr) {
        return nullptr;
    }
    const auto found = std::ranges::lower_bound(topic->partitions, partition, {}, &OwnedPartition::partition);
    return found == topic->partitions.end() || found->partition != partition ? nullptr : &*found;
}

assignors::Assignment without_epochs(const OwnedAssignment& assignment) {
    assignors::Assignment result;
    result.reserve(assignment.size());
    for (const OwnedTopic& topic : assignment) {
        assignors::TopicPartitions& plain = result.emplace_back();
        plain.topic_id = topic.topic_id;
        plain.partitions.reserve(topic.partitions.size());
        for (const OwnedPartition& partition : topic.partitions) {
            plain.partitions.push_back(partition.partition);
        }
    }
    return result;
}

MemberProgress reconcile(const MemberProgress& progress, const ReconciliationInput& input,
                         const PartitionAvailability& availability) {
    switch (progress.state) {
        case MemberState::stable:
            if (progress.epoch != input.target_epoch) {
                return advance(progress, progress.epoch, input, availability);
            }
            return input.subscription_changed ? drop_unsubscribed(progress, input) : progress;
        case MemberState::unrevoked_partitions:
            if (still_owns(input.owned, progress.pending_revocation)) {
                return input.subscription_changed ? drop_unsubscribed(progress, input) : progress;
            }
            // A changed subscription may revoke partitions before there is a new target; then the epoch stays.
            return advance(progress, std::min(progress.epoch + 1, input.target_epoch), input, availability);
        case MemberState::unreleased_partitions:
            return advance(progress, progress.epoch, input, availability);
        case MemberState::unknown:
            return advance(progress, input.target_epoch, input, availability);
    }
    return progress;
}

bool is_subset(const std::optional<std::span<const assignors::TopicPartitions>>& owned, const OwnedAssignment& assigned) {
    return owned && std::ranges::all_of(*owned, [&assigned](const assignors::TopicPartitions& topic) {
               return find_topic(assigned, topic.topic_id) != nullptr &&
                      std::ranges::all_of(topic.partitions, [&](std::int32_t partition) {
                          return find_partition(assigned, topic.topic_id, partition) != nullptr;
                      });
           });
}

}  // namespace partita::groups
