#include "broker/expansion/heavy_hitters.h"

#include <algorithm>
#include <utility>

#include "protocol/assert.h"

namespace partita::expansion {

HeavyHitters::HeavyHitters(std::size_t capacity) : capacity_(capacity) {
    PARTITA_ASSERT(capacity >= 1, "room for one at least");
}

void HeavyHitters::put(std::size_t position, Node node) {
    places_[node.hash] = position;
    heap_[position] = std::move(node);
}

void HeavyHitters::sift_down(std::size_t position) {
    Node node = std::move(heap_[position]);
    while (true) {
        std::size_t child = 2 * position + 1;
        if (child >= heap_.size()) break;
        if (child + 1 < heap_.size() && heap_[child + 1].item.weight < heap_[child].item.weight) ++child;
        if (heap_[child].item.weight >= node.item.weight) break;
        put(position, std::move(heap_[child]));
        position = child;
    }
    put(position, std::move(node));
}

void HeavyHitters::add(std::uint64_t hash, std::string_view key, std::int64_t weight) {
    if (const auto found = places_.find(hash); found != places_.end()) {
        heap_[found->second].item.weight += weight;
        sift_down(found->second);
        return;
    }
    Node node{hash, {std::string(key.substr(0, kKeyBytesMax)), weight, 0}};
    if (heap_.size() < capacity_) {
        heap_.emplace_back();
        std::size_t position = heap_.size() - 1;
        while (position > 0) {
            const std::size_t parent = (position - 1) / 2;
            if (heap_[parent].item.weight <= weight) break;
            put(position, std::move(heap_[parent]));
            position = parent;
        }
        put(position, std::move(node));
        return;
    }
    const Node& lightest = heap_.front();
    node.item.error = lightest.item.weight;
    node.item.weight += lightest.item.weight;
    places_.erase(lightest.hash);
    put(0, std::move(node));
    sift_down(0);
}

std::vector<HeavyHitters::Item> HeavyHitters::items() const {
    std::vector<Item> items;
    items.reserve(heap_.size());
    for (const Node& node : heap_) items.push_back(node.item);
    std::ranges::sort(items, std::ranges::greater{}, &Item::weight);
    return items;
}

}  // namespace partita::expansion
