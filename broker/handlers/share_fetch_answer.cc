#include "broker/handlers/share_fetch_answer.h"

#include <algorithm>
#include <map>
#include <utility>

#include "broker/handlers/outcome_codes.h"
#include "broker/handlers/sent_records.h"
#include "broker/logs/aborted_in_read.h"
#include "broker/logs/offsets.h"
#include "broker/logs/slice_batches.h"
#include "broker/logs/turn.h"
#include "broker/logs/turns.h"
#include "broker/runtime/coordinators/client_share_sessions.h"

namespace partita::handlers {

using logs::Outcome;
using PartitionData = ShareFetchResponse::PartitionData;

void ShareFetchAnswer::add_partition(const TopicId& topic_id, bool must_answer, logs::Read read, logs::Turn& turn) {
    const bool is_next = !places_.empty() && places_.back().topic_id == topic_id;
    read.topic_place = reads().empty() ? 0 : reads().back().topic_place + (is_next ? 0 : 1);
    Place& place = places_.emplace_back(Place{.topic_id = topic_id, .must_answer = must_answer, .message = {}});
    if (read.lookup != Outcome::ok) {
        place.error = error_code(read.lookup);
    }
    add(std::move(read), turn);
}

share::SharePartitionKey ShareFetchAnswer::key_of(std::size_t index) const {
    return {asked_.group_id, places_[index].topic_id, reads()[index].index};
}

std::optional<Offset> ShareFetchAnswer::first_offset(const logs::Read& read, TimestampMs now) const {
    using Kind = config::OffsetReset::Kind;
    logs::OffsetQuery query{.of = logs::OffsetOf::end};
    if (asked_.settings.reset.kind == Kind::earliest) {
        query.of = logs::OffsetOf::start;
    } else if (asked_.settings.reset.kind == Kind::by_duration) {
        query.of = logs::OffsetOf::time;
        query.time = {now.value - asked_.settings.reset.duration_ms};
    }
    const auto found = logs::find_offset(*read.partition, query);
    return found && found->offset != kNoOffset ? std::optional(found->offset) : std::nullopt;
}

void ShareFetchAnswer::plan_one(std::size_t index, logs::Read& read, logs::Turn& turn) {
    Place& place = places_[index];
    place.error = ErrorCode::none;
    read.lookup = Outcome::ok;
    read.is_paused = true;
    share::PlanFetch command{.key = key_of(index),
                             .leader_epoch = read.partition->leader_epoch().value,
                             .limits = asked_.settings.limits,
                             .start = std::nullopt,
                             .reply_to = {}};
    auto plan = services_.shares.ask_partition(turn, command);
    if (plan && plan->needs_start) {
        command.start = first_offset(read, turn.now().wall);
        if (!command.start) {
            place.error = ErrorCode::offset_not_available;
            place.message = error_message(place.error);
        } else {
            plan = services_.shares.ask_partition(turn, command);
        }
    }
    if (!plan) {
        place.error = ErrorCode::coordinator_not_available;
        place.message = error_message(place.error);
    } else if (plan->error != ErrorCode::none) {
        place.error = plan->error;
        place.message = plan->message.empty() ? std::string(error_message(plan->error)) : plan->message;
    }
    if (place.error != ErrorCode::none) {
        // The wait for other partitions goes on.
        read.lookup = Outcome::internal_error;
        return;
    }
    read.is_paused = !plan->can_acquire;
    read.from = plan->from;
}

void ShareFetchAnswer::plan(logs::Turn& turn) {
    std::vector<logs::Read>& planned = reads_to_plan();
    std::int32_t readable = 0;
    for (std::size_t i = 0; i < planned.size(); ++i) {
        if (planned[i].partition != nullptr) {
            plan_one(i, planned[i], turn);
            readable += planned[i].is_paused ? 0 : 1;
        }
    }
    // Each partition gets the same share of the bytes.
    for (logs::Read& read : planned) {
        read.max_bytes = readable == 0 ? 0 : terms().max_bytes / readable;
    }
}

void ShareFetchAnswer::read_planned(logs::Turn& turn) {
    plan(turn);
    read(turn);
}

void ShareFetchAnswer::complete(logs::Turn& turn) {
    read_planned(turn);
    finish(turn);
}

std::optional<logs::FetchWait> ShareFetchAnswer::look(logs::Turn& turn) {
    read_planned(turn);
    if (!is_due()) {
        return wait_terms();
    }
    finish(turn);
    return std::nullopt;
}

void ShareFetchAnswer::answer_now(runtime::KafkaCall pending, logs::Turn& turn) {
    pending_ = std::move(pending);
    wait(pending_.throttle_ms);
    finish(turn);
}

logs::FetchWait ShareFetchAnswer::begin_to_wait(runtime::KafkaCall pending, std::shared_ptr<const logs::TopicTable> table,
                                                Instant deadline) {
    pending_ = std::move(pending);
    wait(pending_.throttle_ms);
    prepare_to_wait(std::move(table), deadline);
    return wait_terms();
}

std::vector<share::AcquiredRange> ShareFetchAnswer::acquire(std::size_t index, logs::ReadResult& result, logs::Turn& turn,
                                                            std::int64_t max_records) {
    const logs::Read& read = reads()[index];
    std::vector<share::AbortedTransaction> aborted;
    if (terms().is_committed) {
        const auto overlapping = logs::aborted_in_read(read, result);
        if (!overlapping) {
            result.outcome = overlapping.error();
            return {};
        }
        for (const AbortedTransactionSummary& transaction : *overlapping) {
            aborted.push_back({transaction.producer_id, transaction.first_offset});
        }
    }
    const std::optional<logs::SliceBatches> found = logs::slice_batches(result.slice);
    if (!found) {
        result.outcome = Outcome::storage_failed;
        return {};
    }
    std::vector<share::ReadBatch> batches;
    batches.reserve(found->headers.size());
    for (const BatchHeader& header : found->headers) {
        batches.push_back({.base = header.base_offset,
                           .last = header.last_offset(),
                           .producer_id = header.producer_id,
                           .is_transactional = header.attributes.is_transactional(),
                           .is_marker = header.attributes.is_control()});
    }
    auto acquired = services_.shares.ask_partition(turn, share::AcquireRecords{.key = key_of(index),
                                                                               .wanted = {.member = asked_.member,
                                                                                          .mode = asked_.mode,
                                                                                          .batch_size = asked_.batch_size,
                                                                                          .max_records = max_records,
                                                                                          .fetch_offset = read.from,
                                                                                          .batches = batches,
                                                                                          .aborted = aborted},
                                                                               .limits = asked_.settings.limits,
                                                                               .reply_to = {}});
    if (!acquired || acquired->error != ErrorCode::none) {
        places_[index].error = acquired ? acquired->error : ErrorCode::coordinator_not_available;
        places_[index].message = error_message(places_[index].error);
        return {};
    }
    if (acquired->ranges.empty()) {
        return {};
    }
    logs::cut_slice(result.slice, *found, acquired->ranges.front().first, acquired->ranges.back().last);
    return std::move(acquired->ranges);
}

bool ShareFetchAnswer::answer(logs::Turn& turn) {
    const bool is_later = asked_.session_epoch > share::kInitialShareEpoch;
    const bool is_current = services_.sessions.with([&](const share::ShareSessions& sessions) {
        return !is_later || sessions.is_current(asked_.group_id, *asked_.member, asked_.session_epoch);
    });
    if (!is_current) {
        send(ShareFetchResponse{.error_code = ErrorCode::invalid_share_session_epoch});
        return false;
    }
    Arena& arena = turn.arena();
    std::vector<FileSlice> slices;
    std::vector<std::pair<TopicId, PartitionData>> partitions;
    std::vector<share::FetchedPartition> with_records;
    std::vector<share::FetchedPartition> with_errors;
    std::int64_t records_left = asked_.max_records;
    for (std::size_t i = 0; i < places_.size(); ++i) {
        const Place& place = places_[i];
        const logs::Read& read = reads()[i];
        logs::ReadResult& result = results()[i];
        if (place.error == ErrorCode::none && read.is_paused) {
            continue;
        }
        PartitionData data{.partition_index = read.index.value, .error_code = place.error, .records = Records(Bytes())};
        if (!place.message.empty()) {
            data.error_message = arena.copy(place.message);
        }
        if (place.error == ErrorCode::none && result.outcome == Outcome::offset_out_of_range) {
            // The log lost what the group had not read. The next fetch begins at its start.
            [[maybe_unused]] const auto followed = services_.shares.ask_partition(
                turn,
                share::FollowLogStart{.key = key_of(i), .log_start = read.partition->log->log_start_offset(), .reply_to = {}});
        } else if (place.error == ErrorCode::none && result.outcome == Outcome::ok && result.slice.size > 0) {
            const std::vector<share::AcquiredRange> ranges = acquire(i, result, turn, records_left);
            if (place.error != ErrorCode::none) {
                data.error_code = place.error;
                data.error_message = arena.copy(place.message);
            }
            ArenaVector<ShareFetchResponse::AcquiredRecords> acquired(arena, ranges.size());
            for (const share::AcquiredRange& range : ranges) {
                acquired.push_back({range.first.value, range.last.value, range.delivery_count});
                records_left -= range.last - range.first + 1;
            }
            if (!ranges.empty()) {
                const std::optional<Records> records = sent_records(arena, result.slice, slices);
                data.records = records.value_or(Records(Bytes()));
                data.error_code = records ? ErrorCode::none : ErrorCode::kafka_storage_error;
                data.acquired_records = acquired;
                with_records.push_back({place.topic_id, read.index});
            }
        }
        const bool has_failed = result.outcome != Outcome::ok && result.outcome != Outcome::offset_out_of_range;
        if (place.error == ErrorCode::none && has_failed) {
            data.error_code = error_code(result.outcome);
            data.error_message = error_message(data.error_code);
        }
        if (data.error_code != ErrorCode::none) {
            with_errors.push_back({place.topic_id, read.index});
        }
        if (!is_later || place.must_answer || data.acquired_records.count() > 0 || data.error_code != ErrorCode::none) {
            partitions.emplace_back(place.topic_id, data);
        }
    }
    services_.sessions.with(
        [&](share::ShareSessions& sessions) { sessions.answered(asked_.group_id, *asked_.member, with_records, with_errors); });
    send_partitions(turn, partitions, slices);
    return true;
}

void ShareFetchAnswer::answer_nothing(logs::Turn& turn) {
    std::vector<std::pair<TopicId, PartitionData>> partitions;
    send_partitions(turn, partitions, {});
}

void ShareFetchAnswer::add_acknowledged(Arena& arena, std::vector<std::pair<TopicId, PartitionData>>& partitions) const {
    std::map<std::pair<TopicId, std::int32_t>, std::size_t> places;
    for (std::size_t i = 0; i < partitions.size(); ++i) {
        places.try_emplace({partitions[i].first, partitions[i].second.partition_index}, i);
    }
    for (const Acknowledged& result : acknowledged_) {
        const auto [place, is_new] = places.try_emplace({result.topic_id, result.partition}, partitions.size());
        if (is_new) {
            partitions.emplace_back(result.topic_id,
                                    PartitionData{.partition_index = result.partition, .records = Records(Bytes())});
        }
        PartitionData& data = partitions[place->second].second;
        data.acknowledge_error_code = result.error;
        if (!result.message.empty()) {
            data.acknowledge_error_message = arena.copy(result.message);
        }
    }
}

void ShareFetchAnswer::send_partitions(logs::Turn& turn, std::vector<std::pair<TopicId, PartitionData>>& partitions,
                                       std::span<FileSlice> slices) {
    Arena& arena = turn.arena();
    add_acknowledged(arena, partitions);
    std::ranges::stable_sort(partitions, {}, [](const auto& entry) { return entry.first; });
    ArenaVector<PartitionData> all(arena, partitions.size());
    ArenaVector<ShareFetchResponse::ShareFetchableTopicResponse> topics(arena, partitions.size());
    std::size_t start = 0;
    for (std::size_t i = 0; i < partitions.size(); ++i) {
        all.push_back(partitions[i].second);
        if (i + 1 == partitions.size() || partitions[i + 1].first != partitions[i].first) {
            topics.push_back(
                {.topic_id = partitions[i].first, .partitions = Array<PartitionData>(all.begin() + start, i + 1 - start)});
            start = i + 1;
        }
    }
    ShareFetchResponse response;
    response.acquisition_lock_timeout_ms = asked_.settings.limits.lock_duration_ms;
    response.responses = topics;
    send(response, slices);
}

void ShareFetchAnswer::send(const ShareFetchResponse& response, std::span<FileSlice> slices) {
    pending_.throttle_ms = static_cast<std::int32_t>(wait_ms());
    services_.turns.deliver(pending_.target, runtime::encode_reply(pending_, response, slices));
}

}  // namespace partita::handlers
