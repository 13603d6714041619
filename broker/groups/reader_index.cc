#include "broker/groups/reader_index.h"

#include <algorithm>

#include "protocol/assert.h"

namespace partita::groups {

ReaderListing::ReaderListing(ReaderIndex& index, const Group& group) : index_(index), group_(group) { note_change(); }

ReaderListing::~ReaderListing() {
    leave_all();
    if (!is_outdated()) {
        return;
    }
    ReaderListing* last = index_.outdated_.back();
    index_.outdated_[outdated_at_] = last;
    last->outdated_at_ = outdated_at_;
    index_.outdated_.pop_back();
}

void ReaderListing::note_change() {
    if (is_outdated()) {
        return;
    }
    PARTITA_ASSERT(index_.outdated_.size() < index_.most_, "groups of a coordinator are counted in 32 bits");
    outdated_at_ = static_cast<std::uint32_t>(index_.outdated_.size());
    index_.outdated_.push_back(this);
}

void ReaderListing::add_offsets(const NamedOffsets& offsets) {
    ReaderIndex::Topic& topic = index_.topics_[ReaderIndex::key_of(offsets.first)];
    topic.key = ReaderIndex::key_of(offsets.first);
    enter(topic, &offsets, false);
}

void ReaderListing::add_members(std::string_view name) { add_members_by(ReaderIndex::key_of(name)); }
void ReaderListing::add_members(const TopicId& id) { add_members_by(ReaderIndex::key_of(id)); }

void ReaderListing::add_members_by(std::uint64_t key) {
    ReaderIndex::Topic& topic = index_.topics_[key];
    topic.key = key;
    // One listing is filled after the other, so a slot of its own can only be the last one.
    if (!topic.slots.empty() && topic.slots.back().listing == this) {
        topic.slots.back().is_named_by_members = true;
    } else {
        enter(topic, nullptr, true);
    }
}

void ReaderListing::enter(ReaderIndex::Topic& topic, const NamedOffsets* offsets, bool is_named_by_members) {
    std::vector<ReaderIndex::Slot>& slots = topic.slots;
    PARTITA_ASSERT(places_.size() < index_.most_ && slots.size() < index_.most_,
                   "topics of a group and groups of a topic are counted in 32 bits");
    // In one coordinator most topics have few groups, so doubling would mostly waste memory.
    if (slots.size() == slots.capacity()) {
        slots.reserve(slots.size() + std::max<std::size_t>(2, slots.size() / 4));
    }
    places_.push_back({&topic, static_cast<std::uint32_t>(slots.size())});
    slots.push_back({this, offsets, static_cast<std::uint32_t>(places_.size() - 1), is_named_by_members});
}

void ReaderListing::leave_all() {
    for (const Place& place : places_) {
        ReaderIndex::Topic& topic = *place.topic;
        // Move the last slot here and tell its listing the new position.
        const ReaderIndex::Slot last = topic.slots.back();
        topic.slots[place.position] = last;
        last.listing->places_[last.place].position = place.position;
        topic.slots.pop_back();
        if (topic.slots.empty()) {
            index_.topics_.erase(index_.topics_.find(topic.key));
        }
    }
    places_.clear();
}

}  // namespace partita::groups
