#include "broker/runtime/coordinators/outward_writes.h"

#include <expected>
#include <memory>
#include <unordered_map>
#include <utility>

#include "broker/runtime/partitions/append_error_code.h"
#include "broker/runtime/partitions/published_topics.h"
#include "broker/runtime/partitions/turns.h"

namespace partita::runtime {
namespace {

using coordination::OutwardWrite;
using coordination::OutwardWriteOutcome;

/// A deleted log is no longer anybody's: unlike a producer, whoever owes it a batch is done with it.
ErrorCode error_of(AppendFailure failure) {
    return failure == AppendFailure::closed ? ErrorCode::unknown_topic_or_partition : append_error_code(failure);
}

}  // namespace

std::vector<OutwardWriteOutcome> OutwardWrites::carry_out(std::span<const OutwardWrite> writes, Turn* turn, TimestampMs now) {
    struct Written {
        Partition* partition;
        std::size_t bytes = 0;
    };
    const std::shared_ptr<const TopicTable> table = topics_.table();
    std::vector<OutwardWriteOutcome> outcomes(writes.size());
    std::vector<StagedAppend> staged(writes.size());
    // In the order in which the partitions come first, so that the same writes leave the same traces.
    std::vector<Written> written;
    std::unordered_map<Partition*, std::size_t> place_of;
    std::vector<std::size_t> places(writes.size());
    for (std::size_t i = 0; i < writes.size(); ++i) {
        const OutwardWrite& write = writes[i];
        outcomes[i].token = write.token;
        const TopicState* topic = table->find(write.topic);
        Partition* partition = topic == nullptr ? nullptr : topic->partition(write.partition.value);
        if (partition == nullptr) {
            outcomes[i].error = ErrorCode::unknown_topic_or_partition;
            continue;
        }
        auto append = partition->log->stage(write.batch, {.leader_epoch = partition->leader_epoch(), .now = now});
        if (!append) {
            outcomes[i].error = error_of(append.error().failure);
            continue;
        }
        staged[i] = std::move(*append);
        const auto [place, is_new] = place_of.try_emplace(partition, written.size());
        if (is_new) {
            written.push_back({partition});
        }
        places[i] = place->second;
    }
    for (const Written& one : written) {
        one.partition->log->flush_staged();
    }
    for (std::size_t i = 0; i < writes.size(); ++i) {
        if (outcomes[i].error != ErrorCode::none) {
            continue;
        }
        if (const auto result = staged[i].result(); !result) {
            outcomes[i].error = error_of(result.error().failure);
        } else {
            written[places[i]].bytes += writes[i].batch.size();
        }
    }
    for (const Written& one : written) {
        if (one.bytes > 0) {
            tell_readers(*one.partition, one.bytes, turn);
        }
    }
    return outcomes;
}

void OutwardWrites::tell_readers(Partition& partition, std::size_t bytes, Turn* turn) {
    if (turn != nullptr) {
        turn->appended(partition, bytes);
    } else {
        turns_.post_change(partition);
    }
}

}  // namespace partita::runtime
