#include "broker/runtime/coordinators/outward_writes.h"

#include <expected>
#include <memory>
#include <unordered_map>
#include <utility>

#include "broker/runtime/coordinators/coordinator_host.h"
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

std::vector<ErrorCode> append_together(const Partition& partition, std::span<const OutwardWrite> writes, TimestampMs now) {
    std::vector<ErrorCode> errors(writes.size());
    std::vector<StagedAppend> staged(writes.size());
    for (std::size_t i = 0; i < writes.size(); ++i) {
        auto append =
            partition.log->stage(writes[i].batch, {.leader_epoch = partition.leader_epoch(),
                                                   .now = now,
                                                   .marker_bumps_epoch = writes[i].ends && writes[i].ends->bumps_epoch});
        if (!append) {
            errors[i] = error_of(append.error().failure);
            continue;
        }
        staged[i] = std::move(*append);
    }
    partition.log->flush_staged();
    for (std::size_t i = 0; i < writes.size(); ++i) {
        if (errors[i] != ErrorCode::none) {
            continue;
        }
        if (const auto result = staged[i].result(); !result) {
            errors[i] = error_of(result.error().failure);
        }
    }
    return errors;
}

std::vector<OutwardWriteOutcome> OutwardWrites::carry_out(std::span<const OutwardWrite> writes, Turn* turn, TimestampMs now) {
    struct Lot {
        const TopicState* topic;
        Partition* partition;
        CoordinatorHost* host;
        std::vector<OutwardWrite> writes;
        /// Their places in what was asked for.
        std::vector<std::size_t> places;
    };
    const std::shared_ptr<const TopicTable> table = topics_.table();
    std::vector<OutwardWriteOutcome> outcomes(writes.size());
    // In the order in which the partitions come first, so that the same writes leave the same traces.
    std::vector<Lot> lots;
    std::unordered_map<Partition*, std::size_t> lot_of;
    for (std::size_t i = 0; i < writes.size(); ++i) {
        const OutwardWrite& write = writes[i];
        outcomes[i].token = write.token;
        const TopicState* topic = table->find(write.topic);
        Partition* partition = topic == nullptr ? nullptr : topic->partition(write.partition.value);
        if (partition == nullptr) {
            outcomes[i].error = ErrorCode::unknown_topic_or_partition;
            continue;
        }
        const auto [place, is_new] = lot_of.try_emplace(partition, lots.size());
        if (is_new) {
            lots.push_back({topic, partition, hosts_.find(write.topic), {}, {}});
        }
        lots[place->second].writes.push_back(write);
        lots[place->second].places.push_back(i);
    }
    for (const Lot& lot : lots) {
        const std::vector<ErrorCode> errors = lot.host != nullptr ? lot.host->write_markers(*lot.partition, lot.writes, now)
                                                                  : append_together(*lot.partition, lot.writes, now);
        std::size_t bytes = 0;
        for (std::size_t i = 0; i < errors.size(); ++i) {
            outcomes[lot.places[i]].error = errors[i];
            bytes += errors[i] == ErrorCode::none ? lot.writes[i].batch.size() : 0;
        }
        if (bytes > 0) {
            tell_readers(*lot.partition, bytes, turn);
            if (markers_ != nullptr) {
                markers_->on_markers(*lot.topic, lot.writes.front().partition);
            }
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
