#include <algorithm>
#include <cstddef>
#include <queue>
#include <set>
#include <utility>

#include "broker/assignors/uniform.h"
#include "protocol/assert.h"

namespace partita::assignors {
namespace {

constexpr std::int32_t kNobody = -1;

/// The assignment while it is made: who owns and who owned each partition, and how much everybody has.
class Table {
public:
    explicit Table(const GroupSpec& group)
        : group_(group), topics_(group.topics.size()), loads_(group.members.size(), 0) {
        for (std::size_t topic = 0; topic < topics_.size(); ++topic) {
            const auto count = static_cast<std::size_t>(group.topics[topic].partition_count);
            topics_[topic].owners.assign(count, kNobody);
            topics_[topic].previous.assign(count, kNobody);
        }
        for (std::size_t member = 0; member < group.members.size(); ++member) {
            for (const std::uint32_t topic : group.members[member].topics) {
                topics_[topic].subscribers.push_back(static_cast<std::int32_t>(member));
            }
        }
    }

    /// Everybody keeps what it has and is still subscribed to.
    void keep_previous() {
        for (std::size_t index = 0; index < group_.members.size(); ++index) {
            const GroupSpec::Member& member = group_.members[index];
            if (member.previous == nullptr) {
                continue;
            }
            for_each_existing(group_, *member.previous, [&](std::uint32_t topic, std::span<const std::int32_t> partitions) {
                if (!std::ranges::binary_search(member.topics, topic)) {
                    return;
                }
                for (const std::int32_t partition : partitions) {
                    const auto place = static_cast<std::size_t>(partition);
                    PARTITA_ASSERT(topics_[topic].owners[place] == kNobody, "no partition is in two goals");
                    topics_[topic].owners[place] = static_cast<std::int32_t>(index);
                    topics_[topic].previous[place] = static_cast<std::int32_t>(index);
                    ++loads_[index];
                }
            });
        }
    }

    /// Topics in the order in which they are dealt with: those with the fewest choices first, so that the
    /// partitions that anybody can take are left to even out the rest.
    [[nodiscard]] std::vector<std::uint32_t> order() const {
        std::vector<std::uint32_t> order(topics_.size());
        for (std::uint32_t topic = 0; topic < order.size(); ++topic) {
            order[topic] = topic;
        }
        std::ranges::stable_sort(order, [this](std::uint32_t left, std::uint32_t right) {
            const auto left_share = share(left);
            const auto right_share = share(right);
            return left_share != right_share ? left_share > right_share
                                             : topics_[left].subscribers.size() < topics_[right].subscribers.size();
        });
        return order;
    }

    void deal_out(std::uint32_t topic_index) {
        Topic& topic = topics_[topic_index];
        if (std::ranges::find(topic.owners, kNobody) == topic.owners.end()) {
            return;
        }
        using Candidate = std::pair<std::size_t, std::int32_t>;
        std::priority_queue<Candidate, std::vector<Candidate>, std::greater<>> candidates;
        for (const std::int32_t member : topic.subscribers) {
            candidates.emplace(load(member), member);
        }
        for (std::int32_t& owner : topic.owners) {
            if (owner == kNobody) {
                const auto [held, member] = candidates.top();
                candidates.pop();
                owner = member;
                candidates.emplace(held + 1, member);
                ++load(member);
            }
        }
    }

    /// Moves partitions of the topic to members that have two less, until there are none. Says whether any moved.
    bool even_out(std::uint32_t topic_index) {
        Topic& topic = topics_[topic_index];
        if (!is_uneven(topic)) {
            return false;
        }
        std::vector<std::vector<std::int32_t>> held(group_.members.size());
        for (std::size_t partition = 0; partition < topic.owners.size(); ++partition) {
            held[static_cast<std::size_t>(topic.owners[partition])].push_back(static_cast<std::int32_t>(partition));
        }
        std::set<std::pair<std::size_t, std::int32_t>> takers;
        std::set<std::pair<std::size_t, std::int32_t>> givers;
        for (const std::int32_t member : topic.subscribers) {
            takers.emplace(load(member), member);
            if (!held[static_cast<std::size_t>(member)].empty()) {
                givers.emplace(load(member), member);
            }
        }
        while (true) {
            const auto [most, giver] = *givers.rbegin();
            const auto [least, taker] = *takers.begin();
            if (most < least + 2) {
                return true;
            }
            takers.erase({most, giver});
            givers.erase({most, giver});
            takers.erase({least, taker});
            givers.erase({least, taker});
            auto& from = held[static_cast<std::size_t>(giver)];
            const std::int32_t partition = take_cheapest(topic, from, giver, taker);
            topic.owners[static_cast<std::size_t>(partition)] = taker;
            held[static_cast<std::size_t>(taker)].push_back(partition);
            --load(giver);
            ++load(taker);
            takers.emplace(load(giver), giver);
            takers.emplace(load(taker), taker);
            givers.emplace(load(taker), taker);
            if (!from.empty()) {
                givers.emplace(load(giver), giver);
            }
        }
    }

    [[nodiscard]] GroupAssignment result() const {
        GroupAssignment result(group_.members.size());
        for (std::size_t topic = 0; topic < topics_.size(); ++topic) {
            const TopicId& topic_id = group_.topics[topic].topic_id;
            for (std::size_t partition = 0; partition < topics_[topic].owners.size(); ++partition) {
                Assignment& assignment = result[static_cast<std::size_t>(topics_[topic].owners[partition])];
                if (assignment.empty() || assignment.back().topic_id != topic_id) {
                    assignment.push_back({topic_id, {}});
                }
                assignment.back().partitions.push_back(static_cast<std::int32_t>(partition));
            }
        }
        return result;
    }

private:
    struct Topic {
        std::vector<std::int32_t> subscribers;
        /// By partition.
        std::vector<std::int32_t> owners;
        std::vector<std::int32_t> previous;
    };

    [[nodiscard]] std::size_t& load(std::int32_t member) { return loads_[static_cast<std::size_t>(member)]; }

    [[nodiscard]] double share(std::uint32_t topic) const {
        return static_cast<double>(topics_[topic].owners.size()) / static_cast<double>(topics_[topic].subscribers.size());
    }

    [[nodiscard]] bool is_uneven(const Topic& topic) {
        std::size_t most = 0;
        for (const std::int32_t owner : topic.owners) {
            most = std::max(most, load(owner));
        }
        return std::ranges::any_of(topic.subscribers, [&](std::int32_t member) { return load(member) + 2 <= most; });
    }

    /// A partition whose move costs least: one that goes home, then one that is on the move anyway, then any.
    [[nodiscard]] static std::int32_t take_cheapest(const Topic& topic, std::vector<std::int32_t>& held,
                                                    std::int32_t giver, std::int32_t taker) {
        const auto previous = [&](std::int32_t partition) { return topic.previous[static_cast<std::size_t>(partition)]; };
        auto choice = std::ranges::find(held, taker, previous);
        if (choice == held.end()) {
            choice = std::ranges::find_if(held, [&](std::int32_t partition) { return previous(partition) != giver; });
        }
        if (choice == held.end()) {
            choice = std::prev(held.end());
        }
        const std::int32_t partition = *choice;
        *choice = held.back();
        held.pop_back();
        return partition;
    }

    const GroupSpec& group_;
    std::vector<Topic> topics_;
    std::vector<std::size_t> loads_;
};

}  // namespace

GroupAssignment assign_uniformly_to_individuals(const GroupSpec& group) {
    Table table(group);
    table.keep_previous();
    const std::vector<std::uint32_t> order = table.order();
    for (const std::uint32_t topic : order) {
        table.deal_out(topic);
    }
    // Each move lessens the sum of the squared loads, so this ends. Evening out one topic may open a gap in one that
    // was dealt with before, hence the rounds.
    bool moved = true;
    while (moved) {
        moved = false;
        for (const std::uint32_t topic : order) {
            moved |= table.even_out(topic);
        }
    }
    return table.result();
}

}  // namespace partita::assignors
