#include <algorithm>
#include <cstddef>
#include <functional>
#include <queue>
#include <set>
#include <utility>

#include "broker/assignors/uniform.h"

namespace partita::assignors {
namespace {

constexpr std::int32_t kNobody = -1;

/// The assignment in progress: the present and the previous owner of each partition, and the load of each member.
class Table {
  public:
    explicit Table(const GroupSpec& group) : group_(group), topics_(group.topics.size()), loads_(group.members.size(), 0) {
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

    /// Every member keeps the partitions that it has and is still subscribed to.
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
                    if (topics_[topic].owners[place] != kNobody) {
                        continue;
                    }
                    topics_[topic].owners[place] = static_cast<std::int32_t>(index);
                    topics_[topic].previous[place] = static_cast<std::int32_t>(index);
                    ++loads_[index];
                }
            });
        }
    }

    /// Topics in the order in which they are dealt. Those with the fewest choices come first, so that the partitions that every
    /// member can take are left to even out the rest.
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

    /// Moves partitions of the topic to members that have two less, until no such member is left. True if any moved.
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

    /// Evens out two members that share no topic by way of others: each on the way gives one partition and gets one. True if
    /// there were such members.
    bool even_out_along_a_path() {
        std::vector<std::int32_t> by_load(group_.members.size());
        for (std::size_t member = 0; member < by_load.size(); ++member) {
            by_load[member] = static_cast<std::int32_t>(member);
        }
        std::ranges::stable_sort(by_load, std::greater<>{}, [this](std::int32_t member) { return load(member); });
        const std::vector<std::vector<std::uint32_t>> held = held_topics();
        // A search that fails from one member would also fail from every member that it reached: none of these has more to give.
        std::vector<bool> is_done(by_load.size());
        for (const std::int32_t giver : by_load) {
            if (!is_done[static_cast<std::size_t>(giver)] && shift_from(giver, held, is_done)) {
                return true;
            }
        }
        return false;
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

    /// The topics that each member has something of.
    [[nodiscard]] std::vector<std::vector<std::uint32_t>> held_topics() const {
        std::vector<std::vector<std::uint32_t>> held(group_.members.size());
        for (std::uint32_t topic = 0; topic < topics_.size(); ++topic) {
            for (const std::int32_t owner : topics_[topic].owners) {
                auto& of_owner = held[static_cast<std::size_t>(owner)];
                if (of_owner.empty() || of_owner.back() != topic) {
                    of_owner.push_back(topic);
                }
            }
        }
        return held;
    }

    /// Looks for the nearest member that has two less than `giver`, and shifts a partition along the way to it.
    bool shift_from(std::int32_t giver, const std::vector<std::vector<std::uint32_t>>& held, std::vector<bool>& is_done) {
        struct Step {
            std::int32_t from = kNobody;
            std::uint32_t topic = 0;
        };
        std::vector<Step> steps(group_.members.size());
        std::vector<bool> is_crossed(topics_.size());
        std::vector<std::int32_t> reached{giver};
        is_done[static_cast<std::size_t>(giver)] = true;
        for (std::size_t next = 0; next < reached.size(); ++next) {
            for (const std::uint32_t topic : held[static_cast<std::size_t>(reached[next])]) {
                if (is_crossed[topic]) {
                    continue;
                }
                is_crossed[topic] = true;
                for (const std::int32_t member : topics_[topic].subscribers) {
                    if (is_done[static_cast<std::size_t>(member)]) {
                        continue;
                    }
                    is_done[static_cast<std::size_t>(member)] = true;
                    steps[static_cast<std::size_t>(member)] = {reached[next], topic};
                    reached.push_back(member);
                    if (load(member) + 2 > load(giver)) {
                        continue;
                    }
                    for (std::int32_t taker = member; taker != giver; taker = steps[static_cast<std::size_t>(taker)].from) {
                        const Step& step = steps[static_cast<std::size_t>(taker)];
                        move_one(topics_[step.topic], step.from, taker);
                    }
                    return true;
                }
            }
        }
        return false;
    }

    void move_one(Topic& topic, std::int32_t giver, std::int32_t taker) {
        std::vector<std::int32_t> held;
        for (std::size_t partition = 0; partition < topic.owners.size(); ++partition) {
            if (topic.owners[partition] == giver) {
                held.push_back(static_cast<std::int32_t>(partition));
            }
        }
        topic.owners[static_cast<std::size_t>(take_cheapest(topic, held, giver, taker))] = taker;
        --load(giver);
        ++load(taker);
    }

    [[nodiscard]] bool is_uneven(const Topic& topic) {
        std::size_t most = 0;
        for (const std::int32_t owner : topic.owners) {
            most = std::max(most, load(owner));
        }
        return std::ranges::any_of(topic.subscribers, [&](std::int32_t member) { return load(member) + 2 <= most; });
    }

    /// The partition whose move costs least: one that goes home, then one that moves anyway, then any.
    [[nodiscard]] static std::int32_t take_cheapest(const Topic& topic, std::vector<std::int32_t>& held, std::int32_t giver,
                                                    std::int32_t taker) {
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
    // Each move lessens the sum of the squared loads, so this ends. Evening out one topic may open a gap in an earlier one, hence
    // the rounds.
    bool moved = true;
    while (moved) {
        moved = false;
        for (const std::uint32_t topic : order) {
            moved |= table.even_out(topic);
        }
    }
    while (table.even_out_along_a_path()) {
    }
    return table.result();
}

}  // namespace partita::assignors
