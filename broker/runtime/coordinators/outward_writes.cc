#include "broker/runtime/coordinators/outward_writes.h"
#include "broker/runtime/coordinators/append_error_code.h"

#include <algorithm>
#include <array>
#include <compare>
#include <memory>
#include <utility>

#include "broker/logs/published_topics.h"
#include "broker/logs/turns.h"
#include "broker/runtime/coordinators/coordinator_host.h"

namespace partita::runtime {
namespace {

using coordination::OutwardWrite;
using coordination::OutwardWriteOutcome;

/// A deleted log ends the debt: a coordinator that owes it a batch is done with it, unlike a producer.
ErrorCode error_of(AppendFailure failure) {
    return failure == AppendFailure::closed ? ErrorCode::unknown_topic_or_partition : append_error_code(failure);
}

/// The target of a write.
struct Placed {
    fetch::PartitionKey key;
    /// The write's index among all requested writes.
    std::size_t place;
    const logs::TopicState* topic;
    logs::Partition* partition;

    friend auto operator<=>(const Placed& left, const Placed& right) {
        return std::pair(left.key, left.place) <=> std::pair(right.key, right.place);
    }
    friend bool operator==(const Placed& left, const Placed& right) = default;
};

/// Groups the writes by partition and keeps their order. `outcomes` gets the errors of writes without a target.
std::vector<Placed> place(std::span<const OutwardWrite> writes, const logs::TopicTable& table,
                          std::span<OutwardWriteOutcome> outcomes) {
    std::vector<Placed> placed;
    placed.reserve(writes.size());
    const logs::TopicState* topic = nullptr;
    for (std::size_t i = 0; i < writes.size(); ++i) {
        if (i == 0 || writes[i].topic != writes[i - 1].topic) {
            topic = table.find(writes[i].topic);
        }
        logs::Partition* const partition = topic == nullptr ? nullptr : topic->partition(writes[i].partition.value);
        if (partition == nullptr) {
            outcomes[i].error = ErrorCode::unknown_topic_or_partition;
        } else {
            placed.push_back({partition->key, i, topic, partition});
        }
    }
    // Coordinators usually ask in this order already.
    if (!std::ranges::is_sorted(placed)) {
        std::ranges::sort(placed);
    }
    return placed;
}

}  // namespace

void append_together(const logs::Partition& partition, std::span<const OutwardWrite> writes, TimestampMs now,
                     std::span<ErrorCode> errors, WriteBreadth breadth) {
    // In most cases this is the single marker of a transaction.
    std::array<StagedAppend, 4> few;
    std::vector<StagedAppend> many(writes.size() > few.size() ? writes.size() : 0);
    const std::span<StagedAppend> staged = many.empty() ? std::span<StagedAppend>(few) : std::span<StagedAppend>(many);
    for (std::size_t i = 0; i < writes.size(); ++i) {
        auto append =
            partition.log->stage(writes[i].batch, {.leader_epoch = partition.leader_epoch(),
                                                   .now = now,
                                                   .marker_bumps_epoch = writes[i].ends && writes[i].ends->bumps_epoch});
        errors[i] = append ? ErrorCode::none : error_of(append.error().failure);
        if (append) {
            staged[i] = std::move(*append);
        }
    }
    partition.log->flush_staged(breadth);
    for (std::size_t i = 0; i < writes.size(); ++i) {
        if (errors[i] != ErrorCode::none) {
            continue;
        }
        if (const auto result = staged[i].result(); !result) {
            errors[i] = error_of(result.error().failure);
        }
    }
}

std::vector<OutwardWriteOutcome> OutwardWrites::carry_out(std::span<const OutwardWrite> writes, logs::Turn* turn,
                                                          TimestampMs now) {
    const std::shared_ptr<const logs::TopicTable> table = topics_.table();
    std::vector<OutwardWriteOutcome> outcomes(writes.size());
    for (std::size_t i = 0; i < writes.size(); ++i) {
        outcomes[i].token = writes[i].token;
    }
    // The writes of one partition, and their outcomes.
    std::vector<OutwardWrite> lot;
    std::vector<ErrorCode> errors;
    const std::vector<Placed> placed = place(writes, *table, outcomes);
    // In most cases each write goes to a different partition.
    const WriteBreadth breadth = breadth_of(placed.size());
    for (auto first = placed.begin(); first != placed.end();) {
        const auto last = std::find_if(first, placed.end(), [&](const Placed& other) { return other.key != first->key; });
        lot.clear();
        for (auto one = first; one != last; ++one) {
            lot.push_back(writes[one->place]);
        }
        errors.assign(lot.size(), ErrorCode::none);
        if (CoordinatorHost* const host = hosts_.find(lot.front().topic)) {
            host->write_markers(*first->partition, lot, now, errors);
        } else {
            append_together(*first->partition, lot, now, errors, breadth);
        }
        std::size_t bytes = 0;
        for (std::size_t i = 0; i < errors.size(); ++i) {
            outcomes[(first + static_cast<std::ptrdiff_t>(i))->place].error = errors[i];
            bytes += errors[i] == ErrorCode::none ? lot[i].batch.size() : 0;
        }
        if (bytes > 0) {
            tell_readers(*first->partition, bytes, turn);
            if (markers_ != nullptr) {
                markers_->on_markers(*first->topic, lot.front().partition);
            }
        }
        first = last;
    }
    return outcomes;
}

void OutwardWrites::tell_readers(logs::Partition& partition, std::size_t bytes, logs::Turn* turn) {
    if (turn != nullptr) {
        turn->appended(partition, bytes);
    } else {
        turns_.post_change(partition);
    }
}

}  // namespace partita::runtime
