#include "tests/simulation/broker_world_transactions.h"

#include <utility>

#include "broker/logs/published_topics.h"
#include "broker/logs/topic_table.h"
#include "broker/logs/turns.h"
#include "protocol/record_batch_builder.h"
#include "schedule/clock.h"

namespace partita::test {

void SimulatedTransactions::append(const runtime::Services& services, std::int32_t partition, std::vector<std::byte> batch) {
    services.turns.first_reactor().post([&services, partition, topic = topic_, batch = std::move(batch)]() mutable {
        const auto table = services.topics.table();
        const logs::TopicState* state = table->find(topic);
        // A power failure may have taken the topic, or its growth.
        if (state == nullptr || static_cast<std::size_t>(partition) >= state->partitions.size()) {
            return;
        }
        const auto& known = state->partitions[static_cast<std::size_t>(partition)];
        // When a transaction cannot be written, no client is told of it.
        if (known->log->append(batch, {.leader_epoch = known->leader_epoch(), .now = services.clock.now().wall})) {
            services.turns.post_change(*known);
        }
    });
}

void SimulatedTransactions::act(const runtime::Services& services) {
    const std::int32_t count = world_.ledger.count_of(topic_);
    if (count == 0) {
        return;
    }
    const TimestampMs now = world_.clock.now().wall;
    std::vector<std::byte> batch;
    if (open_ && (must_end_ || world_.one_in(2))) {
        const auto type = world_.one_in(2) ? ControlRecordType::commit : ControlRecordType::abort;
        build_end_transaction_marker({type, 0}, {0}, {0}, {open_->producer_id}, {0}, now, batch);
        // A reader of committed records may get them once the marker is there, which is later than this.
        for (const std::string& value : open_->values) {
            world_.ledger.note_ended(value);
        }
        append(services, open_->partition, std::move(batch));
        open_.reset();
        must_end_ = false;
        return;
    }
    if (!open_) {
        open_.emplace(Open{.partition = static_cast<std::int32_t>(world_.below(static_cast<std::uint64_t>(count))),
                           .producer_id = ++last_producer_id_});
    }
    BatchBuilder builder({.producer_id = {open_->producer_id},
                          .producer_epoch = {0},
                          .base_sequence = {open_->next_sequence++},
                          .transactional = true});
    open_->values.push_back(world_.ledger.fresh_value());
    world_.ledger.note_open(open_->values.back());
    builder.append(now, std::nullopt, as_bytes(open_->values.back()));
    builder.build(batch);
    append(services, open_->partition, std::move(batch));
}

}  // namespace partita::test
