#include "broker/catalog/topic_index.h"

#include <algorithm>
#include <bit>
#include <functional>
#include <string>
#include <utility>

#include "broker/catalog/catalog.h"
#include "protocol/assert.h"

namespace partita::catalog {
namespace {

constexpr std::size_t kLargestChunk = 128;
/// Average entries per bucket at which a directory doubles.
constexpr std::size_t kBucketLoad = 16;

std::size_t hash_of(std::string_view name) { return std::hash<std::string_view>{}(name); }
std::size_t hash_of(const TopicId& id) { return std::hash<TopicId>{}(id); }

bool has_collision_characters(std::string_view name) { return name.find_first_of("._") != name.npos; }

char unified(char character) { return character == '.' ? '_' : character; }

/// FNV-1a over the unified characters, without a copy of the name.
std::size_t unified_hash_of(std::string_view name) {
    std::uint64_t hash = 0xcbf29ce484222325ULL;
    for (const char character : name) {
        hash ^= static_cast<unsigned char>(unified(character));
        hash *= 0x100000001b3ULL;
    }
    return static_cast<std::size_t>(hash ^ (hash >> 32));
}

bool equal_when_unified(std::string_view left, std::string_view right) {
    return std::ranges::equal(left, right, {}, unified, unified);
}

bool name_is_less(const TopicPointer& topic, std::string_view name) { return topic->name < name; }

}  // namespace

const TopicPointer TopicIndex::kNone;

const TopicIndex::Bucket* TopicIndex::Hash::bucket(std::size_t hash) const {
    if (directory_.empty()) {
        return nullptr;
    }
    return directory_[hash & (directory_.size() - 1)].get();
}

void TopicIndex::Hash::insert(std::size_t hash, TopicPointer topic) {
    if (size_ >= directory_.size() * kBucketLoad) {
        grow();
    }
    PARTITA_ASSERT(std::has_single_bit(directory_.size()), "a bucket is found by a mask");
    auto& slot = directory_[hash & (directory_.size() - 1)];
    auto changed = std::make_shared<Bucket>();
    changed->reserve((slot ? slot->size() : 0) + 1);
    if (slot) {
        *changed = *slot;
    }
    changed->push_back({hash, std::move(topic)});
    slot = std::move(changed);
    ++size_;
}

void TopicIndex::Hash::replace(std::size_t hash, const Topic& old_topic, TopicPointer replacement) {
    PARTITA_ASSERT(!directory_.empty(), "only a topic that is in the index can be replaced");
    auto& slot = directory_[hash & (directory_.size() - 1)];
    PARTITA_ASSERT(slot != nullptr, "only a topic that is in the index can be replaced");
    auto changed = std::make_shared<Bucket>(*slot);
    const auto found = std::ranges::find_if(*changed, [&](const Entry& entry) { return entry.topic->id == old_topic.id; });
    PARTITA_ASSERT(found != changed->end(), "only a topic that is in the index can be replaced");
    if (replacement) {
        found->topic = std::move(replacement);
    } else {
        changed->erase(found);
        --size_;
    }
    slot = changed->empty() ? nullptr : std::move(changed);
}

void TopicIndex::Hash::grow() {
    std::vector<std::shared_ptr<Bucket>> larger(directory_.empty() ? 1 : directory_.size() * 2);
    for (const auto& bucket : directory_) {
        if (!bucket) {
            continue;
        }
        for (const Entry& entry : *bucket) {
            auto& slot = larger[entry.hash & (larger.size() - 1)];
            if (!slot) {
                slot = std::make_shared<Bucket>();
            }
            slot->push_back(entry);
        }
    }
    directory_.assign(larger.begin(), larger.end());
}

TopicIndex::TopicIndex(std::vector<TopicPointer> topics) {
    std::ranges::sort(topics, {}, [](const TopicPointer& topic) -> const std::string& { return topic->name; });
    size_ = topics.size();
    // Chunks start half full, so that the first inserts do not split all of them.
    for (std::size_t first = 0; first < topics.size(); first += kLargestChunk / 2) {
        const std::size_t last = std::min(first + kLargestChunk / 2, topics.size());
        ordered_.push_back(std::make_shared<Chunk>(topics.begin() + static_cast<std::ptrdiff_t>(first),
                                                   topics.begin() + static_cast<std::ptrdiff_t>(last)));
    }
    for (const TopicPointer& topic : topics) {
        by_name_.insert(hash_of(topic->name), topic);
        by_id_.insert(hash_of(topic->id), topic);
        if (has_collision_characters(topic->name)) {
            by_unified_name_.insert(unified_hash_of(topic->name), topic);
        }
    }
}

const TopicPointer& TopicIndex::find(std::string_view name) const {
    const std::size_t hash = hash_of(name);
    if (const Bucket* bucket = by_name_.bucket(hash)) {
        for (const Entry& entry : *bucket) {
            if (entry.hash == hash && entry.topic->name == name) {
                return entry.topic;
            }
        }
    }
    return kNone;
}

const TopicPointer& TopicIndex::find(const TopicId& id) const {
    const std::size_t hash = hash_of(id);
    if (const Bucket* bucket = by_id_.bucket(hash)) {
        for (const Entry& entry : *bucket) {
            if (entry.hash == hash && entry.topic->id == id) {
                return entry.topic;
            }
        }
    }
    return kNone;
}

const TopicPointer& TopicIndex::find_colliding(std::string_view name) const {
    const TopicPointer* first = &kNone;
    const std::size_t hash = unified_hash_of(name);
    if (const Bucket* bucket = by_unified_name_.bucket(hash)) {
        for (const Entry& entry : *bucket) {
            if (entry.hash != hash || entry.topic->name == name || !equal_when_unified(entry.topic->name, name)) {
                continue;
            }
            if (!*first || entry.topic->name < (*first)->name) {
                first = &entry.topic;
            }
        }
    }
    return *first;
}

std::size_t TopicIndex::chunk_of(std::string_view name) const {
    const auto after = std::ranges::upper_bound(
        ordered_, name, {}, [](const std::shared_ptr<const Chunk>& chunk) { return std::string_view(chunk->front()->name); });
    const auto position = static_cast<std::size_t>(after - ordered_.begin());
    return position == 0 ? 0 : position - 1;
}

TopicIndex::Iterator TopicIndex::lower_bound(std::string_view name) const {
    if (ordered_.empty()) {
        return end();
    }
    const std::size_t chunk = chunk_of(name);
    const auto found = std::lower_bound(ordered_[chunk]->begin(), ordered_[chunk]->end(), name, name_is_less);
    if (found == ordered_[chunk]->end()) {
        return {this, chunk + 1, 0};
    }
    return {this, chunk, static_cast<std::size_t>(found - ordered_[chunk]->begin())};
}

void TopicIndex::insert_ordered(TopicPointer topic) {
    if (ordered_.empty()) {
        ordered_.push_back(std::make_shared<Chunk>(1, std::move(topic)));
        return;
    }
    const std::size_t position = chunk_of(topic->name);
    auto changed = std::make_shared<Chunk>();
    changed->reserve(ordered_[position]->size() + 1);
    *changed = *ordered_[position];
    changed->insert(std::lower_bound(changed->begin(), changed->end(), std::string_view(topic->name), name_is_less), topic);
    if (changed->size() > kLargestChunk) {
        const auto middle = changed->begin() + static_cast<std::ptrdiff_t>(changed->size() / 2);
        auto upper = std::make_shared<Chunk>(middle, changed->end());
        changed->erase(middle, changed->end());
        ordered_.insert(ordered_.begin() + static_cast<std::ptrdiff_t>(position) + 1, std::move(upper));
    }
    ordered_[position] = std::move(changed);
}

void TopicIndex::insert(TopicPointer topic) {
    PARTITA_ASSERT(!find(topic->name) && !find(topic->id), "names and ids of topics are unique");
    by_name_.insert(hash_of(topic->name), topic);
    by_id_.insert(hash_of(topic->id), topic);
    if (has_collision_characters(topic->name)) {
        by_unified_name_.insert(unified_hash_of(topic->name), topic);
    }
    insert_ordered(std::move(topic));
    ++size_;
}

void TopicIndex::replace(TopicPointer topic) {
    const TopicPointer old = find(topic->name);
    PARTITA_ASSERT(old && old->id == topic->id, "a change keeps name and id");
    by_name_.replace(hash_of(topic->name), *old, topic);
    by_id_.replace(hash_of(topic->id), *old, topic);
    if (has_collision_characters(topic->name)) {
        by_unified_name_.replace(unified_hash_of(topic->name), *old, topic);
    }
    auto& chunk = ordered_[chunk_of(topic->name)];
    auto changed = std::make_shared<Chunk>(*chunk);
    *std::lower_bound(changed->begin(), changed->end(), std::string_view(topic->name), name_is_less) = std::move(topic);
    chunk = std::move(changed);
}

void TopicIndex::erase(const Topic& topic) {
    // The caller's reference may be to a topic that only this index owns.
    const TopicPointer old = find(topic.name);
    PARTITA_ASSERT(old && old->id == topic.id, "only a topic that is there can be removed");
    by_name_.replace(hash_of(old->name), *old, nullptr);
    by_id_.replace(hash_of(old->id), *old, nullptr);
    if (has_collision_characters(old->name)) {
        by_unified_name_.replace(unified_hash_of(old->name), *old, nullptr);
    }
    const std::size_t position = chunk_of(old->name);
    auto changed = std::make_shared<Chunk>(*ordered_[position]);
    changed->erase(std::lower_bound(changed->begin(), changed->end(), std::string_view(old->name), name_is_less));
    if (changed->empty()) {
        ordered_.erase(ordered_.begin() + static_cast<std::ptrdiff_t>(position));
    } else {
        ordered_[position] = std::move(changed);
    }
    --size_;
}

}  // namespace partita::catalog
