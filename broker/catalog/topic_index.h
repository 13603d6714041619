#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <memory>
#include <string_view>
#include <vector>

#include "protocol/types.h"

namespace partita::catalog {

struct Topic;
using TopicPointer = std::shared_ptr<const Topic>;

/// The topics of one snapshot: found by name or by id through hashes, and visited in the order of names.
///
/// A copy shares everything with the original; an edit of a copy replaces only the parts that it touches and the directories of
/// pointers to them. The parts are one bucket of about 16 topics in each of three hashes, and one chunk of at most 128 in the
/// ordered list. So a chain of snapshots of 10,000 topics costs some 10 us and 30 KB per change instead of a copy of all. Copies
/// may be read by many threads; an edit needs the copy for itself.
class TopicIndex {
  public:
    using Chunk = std::vector<TopicPointer>;

    /// Ascending by name, bytewise.
    class Iterator {
      public:
        using iterator_category = std::forward_iterator_tag;
        using value_type = Topic;
        using difference_type = std::ptrdiff_t;
        using pointer = const Topic*;
        using reference = const Topic&;

        Iterator() = default;
        Iterator(const TopicIndex* index, std::size_t chunk, std::size_t position)
            : index_(index), chunk_(chunk), position_(position) {}

        reference operator*() const { return *shared(); }
        pointer operator->() const { return shared().get(); }
        /// The topic as an owner.
        [[nodiscard]] const TopicPointer& shared() const { return (*index_->ordered_[chunk_])[position_]; }
        Iterator& operator++() {
            if (++position_ == index_->ordered_[chunk_]->size()) {
                ++chunk_;
                position_ = 0;
            }
            return *this;
        }
        Iterator operator++(int) {
            Iterator before = *this;
            ++*this;
            return before;
        }
        friend bool operator==(const Iterator&, const Iterator&) = default;

      private:
        const TopicIndex* index_ = nullptr;
        std::size_t chunk_ = 0;
        std::size_t position_ = 0;
    };

    TopicIndex() = default;
    /// Takes all topics at once, in any order; names and ids must be unique.
    explicit TopicIndex(std::vector<TopicPointer> topics);

    [[nodiscard]] std::size_t size() const { return size_; }
    [[nodiscard]] bool empty() const { return size_ == 0; }
    /// Null if it does not exist.
    [[nodiscard]] const TopicPointer& find(std::string_view name) const;
    [[nodiscard]] const TopicPointer& find(const TopicId& id) const;
    /// The first topic by name, other than `name` itself, whose name equals `name` if every '.' in both is read as '_'. Null if
    /// there is none.
    [[nodiscard]] const TopicPointer& find_colliding(std::string_view name) const;

    [[nodiscard]] Iterator begin() const { return {this, 0, 0}; }
    [[nodiscard]] Iterator end() const { return {this, ordered_.size(), 0}; }
    /// The first topic whose name is not less than `name`.
    [[nodiscard]] Iterator lower_bound(std::string_view name) const;

    /// Adds a topic whose name and id are new.
    void insert(TopicPointer topic);
    /// Replaces the topic of the same name and id.
    void replace(TopicPointer topic);
    /// Removes a topic that must exist.
    void erase(const Topic& topic);

  private:
    struct Entry {
        std::size_t hash = 0;
        TopicPointer topic;
    };
    using Bucket = std::vector<Entry>;

    /// A hash table whose directory has a power of two of buckets; empty ones are null.
    class Hash {
      public:
        [[nodiscard]] const Bucket* bucket(std::size_t hash) const;
        void insert(std::size_t hash, TopicPointer topic);
        /// Swaps the entry that holds `old_topic`; a null replacement removes it.
        void replace(std::size_t hash, const Topic& old_topic, TopicPointer replacement);

      private:
        void grow();
        std::vector<std::shared_ptr<const Bucket>> directory_;
        std::size_t size_ = 0;
    };

    void insert_ordered(TopicPointer topic);
    [[nodiscard]] std::size_t chunk_of(std::string_view name) const;

    static const TopicPointer kNone;

    Hash by_name_;
    Hash by_id_;
    /// Only names that have '.' or '_', hashed as if every '.' were '_'.
    Hash by_unified_name_;
    std::vector<std::shared_ptr<const Chunk>> ordered_;
    std::size_t size_ = 0;
};

}  // namespace partita::catalog
