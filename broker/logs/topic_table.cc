#include "broker/logs/topic_table.h"

#include "protocol/assert.h"

namespace partita::logs {

std::shared_ptr<const TopicState> TopicTable::share(const TopicId& id) const {
    const std::shared_ptr<const Shard>& shard = shards_[shard_of(id)];
    if (!shard) {
        return nullptr;
    }
    const auto found = shard->find(id);
    return found == shard->end() ? nullptr : found->second;
}

void TopicTable::put(std::shared_ptr<const TopicState> state) {
    PARTITA_ASSERT(state != nullptr && state->topic != nullptr, "a state is of a topic");
    std::shared_ptr<const Shard>& shard = shards_[shard_of(state->topic->id)];
    auto changed = shard ? std::make_shared<Shard>(*shard) : std::make_shared<Shard>();
    const TopicId id = state->topic->id;
    (*changed)[id] = std::move(state);
    shard = std::move(changed);
}

void TopicTable::remove(const TopicId& id) {
    std::shared_ptr<const Shard>& shard = shards_[shard_of(id)];
    if (!shard || !shard->contains(id)) {
        return;
    }
    auto changed = std::make_shared<Shard>(*shard);
    changed->erase(id);
    shard = std::move(changed);
}

}  // namespace partita::logs
