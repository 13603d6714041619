#include "broker/assignors/simple.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

namespace partita::assignors {
namespace {

using Place = std::pair<TopicId, std::int32_t>;

/// The members that share some partitions: all of them if they have the same topics, otherwise those of one topic.
class Sharing {
  public:
    Sharing(std::vector<Place> places, std::vector<std::size_t> members, std::span<const ShareGroupSpec::Member> all)
        : members_(std::move(members)), held_(members_.size()), desired_(members_.size()) {
        for (const Place& place : places) {
            holders_[place];
        }
        sharing_ = places.empty() ? 0 : (members_.size() + places.size() - 1) / places.size();
        // Whole numbers that sum up to all places times their members, as even as possible.
        const std::size_t total = sharing_ * places.size();
        for (std::size_t i = 0; i < members_.size(); ++i) {
            desired_[i] = rounded_up(total * (i + 1)) - rounded_up(total * i);
        }
        for (std::size_t i = 0; i < members_.size(); ++i) {
            if (const Assignment* previous = all[members_[i]].previous) {
                keep(i, *previous);
            }
        }
    }

    void share() {
        give_back_too_many();
        give_back_too_shared();
        fill();
    }
    [[nodiscard]] const std::vector<std::size_t>& members() const { return members_; }
    [[nodiscard]] const std::set<Place>& held_by(std::size_t index) const { return held_[index]; }

  private:
    [[nodiscard]] std::size_t rounded_up(std::size_t share) const { return (share + members_.size() - 1) / members_.size(); }

    void keep(std::size_t member, const Assignment& previous) {
        for (const TopicPartitions& topic : previous) {
            for (const std::int32_t partition : topic.partitions) {
                if (const auto found = holders_.find({topic.topic_id, partition}); found != holders_.end()) {
                    found->second.insert(member);
                    held_[member].insert(found->first);
                }
            }
        }
    }
    void give_back_too_many() {
        for (std::size_t member = 0; member < held_.size(); ++member) {
            while (held_[member].size() > desired_[member]) {
                holders_[*held_[member].begin()].erase(member);
                held_[member].erase(held_[member].begin());
            }
        }
    }
    void give_back_too_shared() {
        for (auto& [place, holders] : holders_) {
            while (holders.size() > sharing_) {
                held_[*holders.begin()].erase(place);
                holders.erase(holders.begin());
            }
        }
    }
    void fill() {
        std::vector<std::size_t> unfilled;
        for (std::size_t member = 0; member < held_.size(); ++member) {
            if (held_[member].size() < desired_[member]) {
                unfilled.push_back(member);
            }
        }
        std::size_t next = 0;
        bool is_any_given = false;
        for (auto& [place, holders] : holders_) {
            while (holders.size() < sharing_ && !unfilled.empty()) {
                if (next >= unfilled.size()) {
                    if (!is_any_given) {
                        break;
                    }
                    next = 0;
                    is_any_given = false;
                }
                const std::size_t member = unfilled[next];
                if (!holders.insert(member).second) {
                    ++next;
                    continue;
                }
                held_[member].insert(place);
                is_any_given = true;
                if (held_[member].size() >= desired_[member]) {
                    unfilled.erase(unfilled.begin() + static_cast<std::ptrdiff_t>(next));
                } else {
                    ++next;
                }
            }
        }
    }

    std::vector<std::size_t> members_;
    std::map<Place, std::set<std::size_t>> holders_;
    std::vector<std::set<Place>> held_;
    std::vector<std::size_t> desired_;
    /// How many members each place has.
    std::size_t sharing_ = 0;
};

void take(Sharing& sharing, std::vector<std::vector<Place>>& taken) {
    sharing.share();
    for (std::size_t i = 0; i < sharing.members().size(); ++i) {
        auto& of_member = taken[sharing.members()[i]];
        of_member.insert(of_member.end(), sharing.held_by(i).begin(), sharing.held_by(i).end());
    }
}

std::vector<Place> places_of(const TopicPartitions& topic) {
    std::vector<Place> places;
    for (const std::int32_t partition : topic.partitions) {
        places.emplace_back(topic.topic_id, partition);
    }
    return places;
}

}  // namespace

std::vector<Assignment> assign_simply(const ShareGroupSpec& group) {
    std::vector<std::vector<Place>> taken(group.members.size());
    const bool is_homogeneous =
        std::ranges::all_of(group.members, [&](const auto& member) { return member.topics == group.members.front().topics; });
    if (is_homogeneous && !group.members.empty()) {
        std::vector<Place> places;
        for (const TopicPartitions& topic : group.assignable) {
            if (std::ranges::binary_search(group.members.front().topics, topic.topic_id)) {
                std::ranges::copy(places_of(topic), std::back_inserter(places));
            }
        }
        std::vector<std::size_t> all(group.members.size());
        for (std::size_t i = 0; i < all.size(); ++i) {
            all[i] = i;
        }
        Sharing sharing(std::move(places), std::move(all), group.members);
        take(sharing, taken);
    } else {
        for (const TopicPartitions& topic : group.assignable) {
            std::vector<std::size_t> subscribers;
            for (std::size_t i = 0; i < group.members.size(); ++i) {
                if (std::ranges::binary_search(group.members[i].topics, topic.topic_id)) {
                    subscribers.push_back(i);
                }
            }
            if (!subscribers.empty()) {
                Sharing sharing(places_of(topic), std::move(subscribers), group.members);
                take(sharing, taken);
            }
        }
    }
    std::vector<Assignment> result(group.members.size());
    for (std::size_t i = 0; i < taken.size(); ++i) {
        std::ranges::sort(taken[i]);
        for (const auto& [topic_id, partition] : taken[i]) {
            if (result[i].empty() || result[i].back().topic_id != topic_id) {
                result[i].push_back({topic_id, {}});
            }
            result[i].back().partitions.push_back(partition);
        }
    }
    return result;
}

}  // namespace partita::assignors
