#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "broker/groups/committed_offset.h"
#include "protocol/types.h"

/// An index of the groups that name a topic, so that a question about its readers need not visit all groups.
///
/// Every group has a `ReaderListing`. A change of the topics that the group names marks the listing as out of date, which only
/// sets a flag. The next question first lists the changed groups anew (`GroupQueries::readers_of`). So a broker whose topics
/// never grow has no index, and each question pays for the groups that changed since the previous question.

namespace partita::groups {

struct Group;
class ReaderIndex;
class ReaderListing;

/// One group's offsets of one topic, with its name.
using NamedOffsets = std::pair<const std::string, PartitionOffsets>;

/// An entry for one group and one topic. The index finds topics by a hash: it may return a group that does not name the topic,
/// but it never leaves one out.
struct ListedReader {
    const Group* group = nullptr;
    /// The offsets that the group committed in the topic; null if there are none.
    const PartitionOffsets* offsets = nullptr;
    /// A member subscribes to the topic or holds a partition of it, as far as its bytes can be read.
    bool is_named_by_members = false;
};

/// Not thread-safe. Must outlive its listings. Takes about 60 bytes for each pair of group and topic.
class ReaderIndex {
  public:
    /// Limit for groups of a topic, topics of a group, and listings, which are counted in 32 bits. More of them end the process.
    static constexpr std::uint32_t kCountMax = 0xffff'fffe;

    /// `most`: a lower limit, for tests.
    explicit ReaderIndex(std::uint32_t most = kCountMax) : most_(most) {}
    ReaderIndex(const ReaderIndex&) = delete;
    ReaderIndex& operator=(const ReaderIndex&) = delete;

    /// Calls `visit(const ListedReader&)` for the groups listed under the name, or under the id (for members' partitions), in no
    /// order; a group may come twice. The caller must have called `update` before.
    template <class Visit>
    void for_each(std::string_view name, const TopicId& id, Visit&& visit) const {
        for (const std::uint64_t key : {key_of(name), key_of(id)}) {
            const auto found = topics_.find(key);
            if (found == topics_.end()) {
                continue;
            }
            for (const Slot& slot : found->second.slots) {
                visit(told(slot, name));
            }
        }
    }

    /// Calls `list(ReaderListing&)` for every outdated listing. It passes an empty listing; `list` enters the group's topics.
    template <class List>
    void update(List&& list);

  private:
    friend class ReaderListing;

    /// One group of a topic; `place` is the topic's position in the group's own list.
    struct Slot {
        ReaderListing* listing = nullptr;
        const NamedOffsets* offsets = nullptr;
        std::uint32_t place = 0;
        bool is_named_by_members = false;
    };
    struct Topic {
        std::uint64_t key = 0;
        std::vector<Slot> slots;
    };

    [[nodiscard]] static std::uint64_t key_of(std::string_view name) { return std::hash<std::string_view>{}(name); }
    [[nodiscard]] static std::uint64_t key_of(const TopicId& id) { return std::hash<TopicId>{}(id); }
    [[nodiscard]] static ListedReader told(const Slot& slot, std::string_view name);

    const std::uint32_t most_;
    // Its nodes stay where they are.
    std::unordered_map<std::uint64_t, Topic> topics_;
    std::vector<ReaderListing*> outdated_;
};

/// One group's entries in the index. A new listing is out of date. Destroying a listing removes its entries.
class ReaderListing {
  public:
    ReaderListing(ReaderIndex& index, const Group& group);
    ~ReaderListing();
    ReaderListing(const ReaderListing&) = delete;
    ReaderListing& operator=(const ReaderListing&) = delete;

    /// Callers must call this whenever the group's members may name or hold other topics than before, or the group has offsets of
    /// other topics.
    void note_change();

    [[nodiscard]] const Group& group() const { return group_; }
    [[nodiscard]] bool is_outdated() const { return outdated_at_ != kUpToDate; }

    // For the `list` of ReaderIndex::update. `offsets` must stay where they are until the next change.
    void add_offsets(const NamedOffsets& offsets);
    void add_members(std::string_view name);
    void add_members(const TopicId& id);

  private:
    friend class ReaderIndex;
    static constexpr std::uint32_t kUpToDate = ReaderIndex::kCountMax + 1;

    struct Place {
        ReaderIndex::Topic* topic = nullptr;
        /// The position of this group's slot in the topic.
        std::uint32_t position = 0;
    };

    void add_members_by(std::uint64_t key);
    void enter(ReaderIndex::Topic& topic, const NamedOffsets* offsets, bool is_named_by_members);
    void leave_all();

    ReaderIndex& index_;
    const Group& group_;
    std::vector<Place> places_;
    /// Position in the index's list of outdated listings.
    std::uint32_t outdated_at_ = kUpToDate;
};

inline ListedReader ReaderIndex::told(const Slot& slot, std::string_view name) {
    const bool is_of_topic = slot.offsets != nullptr && slot.offsets->first == name;
    return {&slot.listing->group(), is_of_topic ? &slot.offsets->second : nullptr, slot.is_named_by_members};
}

template <class List>
void ReaderIndex::update(List&& list) {
    while (!outdated_.empty()) {
        ReaderListing& listing = *outdated_.back();
        outdated_.pop_back();
        listing.outdated_at_ = ReaderListing::kUpToDate;
        listing.leave_all();
        list(listing);
        // Most groups are listed only once, so free the spare capacity.
        listing.places_.shrink_to_fit();
    }
}

/// The offsets of one group, by topic and in the order of names. Any code may read them. Only `GroupTable` changes them, because
/// they follow from records; it notifies the index when the set of topics changes.
class TopicOffsets {
  public:
    using Map = std::map<std::string, PartitionOffsets, std::less<>>;

    explicit TopicOffsets(ReaderListing& listing) : listing_(listing) {}
    TopicOffsets(const TopicOffsets&) = delete;
    TopicOffsets& operator=(const TopicOffsets&) = delete;

    [[nodiscard]] Map::const_iterator find(std::string_view topic) const { return map_.find(topic); }
    [[nodiscard]] bool contains(std::string_view topic) const { return map_.contains(topic); }
    [[nodiscard]] Map::const_iterator begin() const { return map_.begin(); }
    [[nodiscard]] Map::const_iterator end() const { return map_.end(); }
    [[nodiscard]] bool empty() const { return map_.empty(); }
    [[nodiscard]] std::size_t size() const { return map_.size(); }

  private:
    friend class GroupTable;

    [[nodiscard]] Map::iterator find_or_add(std::string_view topic) {
        const auto known = map_.find(topic);
        if (known != map_.end()) {
            return known;
        }
        listing_.note_change();
        return map_.try_emplace(std::string(topic)).first;
    }
    /// Does nothing if there is no offset.
    void erase(std::string_view topic, PartitionIndex partition) {
        const auto known = map_.find(topic);
        if (known != map_.end() && known->second.erase(partition) > 0 && known->second.empty()) {
            listing_.note_change();
            map_.erase(known);
        }
    }

    ReaderListing& listing_;
    Map map_;
};

}  // namespace partita::groups
