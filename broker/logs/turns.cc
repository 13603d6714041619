#include "broker/logs/turns.h"

#include "broker/catalog/catalog_core.h"
#include "protocol/assert.h"

namespace partita::logs {

Turns::Turns(const PublishedTopics& topics, std::size_t reactor_count, std::size_t polling_max, Clock& clock)
    : clock_(clock), polling_seats_(polling_max) {
    PARTITA_ASSERT(reactor_count >= 1 && reactor_count <= Partition::kReactorsMax, "one bit per reactor");
    for (std::uint32_t index = 0; index < reactor_count; ++index) {
        reactors_.push_back(std::make_unique<runtime::Reactor>(index, clock, polling_seats_));
        turns_.push_back(std::make_unique<Turn>(*this, topics, *reactors_.back()));
        reactors_.back()->add_participant(*turns_.back());
    }
}

void Turns::post_append(std::uint32_t reactor, fetch::PartitionKey partition, const fetch::FetchWaiters::Growth& growth) {
    Turn& turn = *turns_[reactor];
    reactors_[reactor]->post([&turn, partition, growth] { turn.on_foreign_append(partition, growth); });
}

void Turns::post_change(const Partition& partition) {
    std::uint64_t waiting = partition.waiting_reactors.load(std::memory_order_seq_cst);
    for (std::size_t index = 0; waiting != 0; ++index, waiting >>= 1) {
        if ((waiting & 1) != 0) {
            Turn& turn = *turns_[index];
            reactors_[index]->post([&turn, key = partition.key] { turn.on_change(key); });
        }
    }
}

void Turns::on_topics_changed(const TopicsChange& change) {
    for (const catalog::CatalogChange& one : change.changes) {
        if (one.kind != catalog::CatalogChange::Kind::topic_deleted) {
            continue;
        }
        if (const TopicState* topic = change.before.find(one.before->id)) {
            for (const std::shared_ptr<Partition>& partition : topic->partitions) {
                post_change(*partition);
            }
        }
    }
}

void Turns::complete_all_fetches() {
    for (std::size_t index = 0; index < reactors_.size(); ++index) {
        Turn& turn = *turns_[index];
        reactors_[index]->post([&turn] { turn.complete_all_fetches(); });
    }
}

}  // namespace partita::logs
