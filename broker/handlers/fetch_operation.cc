#include "broker/handlers/fetch_operation.h"

#include <algorithm>
#include <limits>

#include "broker/addons/capacity/shell/shared_capacity.h"
#include "broker/handlers/aborted_transactions.h"
#include "broker/handlers/fetch_capacity.h"
#include "broker/handlers/produce_capacity.h"
#include "broker/handlers/request_context.h"
#include "broker/handlers/services.h"
#include "broker/logs/turn.h"
#include "broker/logs/turns.h"
#include "broker/runtime/clients/client_fetch_sessions.h"
#include "broker/runtime/clients/client_throttles.h"
#include "broker/runtime/fences/topic_expansion.h"
#include "broker/runtime/loop/counters.h"

namespace partita::handlers {
namespace {

using runtime::TopicState;
using runtime::Turn;

// Below this, copying costs less than a sendfile of its own: measured, they cross between 2 and 4 KiB.
constexpr std::uint32_t kCopiedBytesMax = 4096;

// From here on a client is told who leads instead.
constexpr std::int16_t kCurrentLeaderSince = 16;

ErrorCode read_error_code(ReadError error) {
    switch (error) {
        case ReadError::out_of_range:
            return ErrorCode::offset_out_of_range;
        case ReadError::storage_error:
            return ErrorCode::kafka_storage_error;
        case ReadError::closed:
            return ErrorCode::unknown_topic_or_partition;
    }
    return ErrorCode::unknown_server_error;
}

}  // namespace

void FetchOperation::read(Turn& turn) {
    std::vector<FetchOutcome>& outcomes = memory_.outcomes;
    outcomes.clear();
    outcomes.reserve(memory_.targets.size());
    total_bytes_ = 0;
    any_error_ = false;
    any_on_older_segment_ = false;
    any_undecided_ = false;
    std::int64_t budget = max_bytes;
    for (const FetchTarget& target : memory_.targets) {
        outcomes.push_back(read_target(target, budget, total_bytes_ == 0, turn.now()));
        const FetchOutcome& outcome = outcomes.back();
        total_bytes_ += outcome.slice.size;
        budget = std::max<std::int64_t>(0, budget - outcome.slice.size);
        any_undecided_ |= outcome.is_undecided;
        if (outcome.error != ErrorCode::none || outcome.diverging.leader_epoch != kNoLeaderEpoch) {
            any_error_ = true;
            if (outcome.error == ErrorCode::kafka_storage_error) {
                services_.counters.failed_fetches.fetch_add(1, std::memory_order_relaxed);
            }
        } else if (outcome.slice.available_bytes > 0 && target.fetch_offset < target.partition->log->active_segment_base()) {
            // Who stands before an open transaction, or is held by a fence, has nothing to catch up with, wherever that is.
            any_on_older_segment_ = true;
        }
    }
}

Offset FetchOperation::judge_expansion(const FetchTarget& target, Offset upper_bound, FetchOutcome& outcome, Now now) const {
    const TopicState& topic = *target.watched_topic;
    const runtime::TopicExpansion::FetchVerdict verdict = topic.expansion->on_fetch(
        topic, PartitionIndex{target.index}, {client->client_id, client->address, connection, read_committed},
        target.fetch_offset, outcome.high_watermark, now);
    outcome.error = verdict.error;
    if (!verdict.limit) {
        return upper_bound;
    }
    // What is not stable yet comes with the end of its transaction, whatever the fence says of it then.
    outcome.held = *verdict.limit < upper_bound;
    outcome.is_undecided = verdict.is_undecided && outcome.held;
    if (!verdict.shows_end) {
        outcome.high_watermark = std::min(outcome.high_watermark, *verdict.limit);
        outcome.last_stable_offset = std::min(outcome.last_stable_offset, *verdict.limit);
    }
    return std::min(upper_bound, *verdict.limit);
}

FetchOutcome FetchOperation::read_target(const FetchTarget& target, std::int64_t budget, bool minimum_one_batch, Now now) const {
    FetchOutcome outcome;
    if (target.lookup_error != ErrorCode::none) {
        outcome.error = target.lookup_error;
        return outcome;
    }
    outcome.error = target.partition->judge_leader_epoch(target.current_leader_epoch);
    if (outcome.error == ErrorCode::none && from_follower) [[unlikely]] {
        outcome.error = ErrorCode::not_leader_or_follower;
    }
    if (outcome.error != ErrorCode::none) {
        return outcome;
    }
    const PartitionLog& log = *target.partition->log;
    // In this order, so that the stable offset is never above the other.
    outcome.last_stable_offset = log.last_stable_offset();
    outcome.high_watermark = log.high_watermark();
    outcome.seen_end = outcome.high_watermark;
    outcome.log_start_offset = log.log_start_offset();
    if (target.last_fetched_epoch > kNoLeaderEpoch) {
        const EpochEnd end = log.offset_for_leader_epoch(target.last_fetched_epoch);
        if (end.leader_epoch == kNoLeaderEpoch || end.end_offset == kNoOffset) {
            return {.error = ErrorCode::offset_out_of_range};
        }
        if (end.leader_epoch < target.last_fetched_epoch || end.end_offset < target.fetch_offset) {
            outcome.diverging = end;
            return outcome;
        }
    }
    Offset upper_bound = read_committed ? outcome.last_stable_offset : outcome.high_watermark;
    if (target.watched_topic != nullptr) [[unlikely]] {
        upper_bound = judge_expansion(target, upper_bound, outcome, now);
        if (outcome.error != ErrorCode::none) {
            return {.error = outcome.error};
        }
    }
    const std::int64_t limit = std::min<std::int64_t>(target.max_bytes, budget);
    if (limit < 0) {
        return {.error = ErrorCode::unknown_server_error};
    }
    auto slice = log.read(
        target.fetch_offset,
        {.upper_bound = upper_bound, .max_bytes = static_cast<std::uint32_t>(limit), .minimum_one_batch = minimum_one_batch});
    if (!slice) {
        return {.error = read_error_code(slice.error().error)};
    }
    outcome.slice = std::move(*slice);
    return outcome;
}

runtime::FetchWait FetchOperation::wait() const {
    using Isolation = fetch::FetchWaiters::Isolation;
    runtime::FetchWait wait{
        .partitions = {},
        .missing_bytes = any_undecided_ ? 1 : min_bytes - total_bytes_,  // Who waits to be known waits for that alone.
        .deadline = deadline,
        .isolation = read_committed ? Isolation::read_committed : Isolation::read_uncommitted};
    wait.partitions.reserve(memory_.targets.size());
    for (std::size_t i = 0; i < memory_.targets.size(); ++i) {
        const FetchTarget& target = memory_.targets[i];
        const FetchOutcome& outcome = memory_.outcomes[i];
        const bool counts = !outcome.held && !any_undecided_;
        const std::int64_t countable = counts ? std::max<std::int64_t>(1, target.max_bytes) - outcome.slice.size : 0;
        const Offset seen_end = outcome.held ? target.partition->log->high_watermark() : outcome.seen_end;
        wait.partitions.push_back(
            {.partition = target.partition,
             .seen_end = seen_end,
             // Of a partition that a fence holds nothing counts, stable or not.
             .stable_end = outcome.held ? seen_end : outcome.last_stable_offset,
             .countable_bytes = std::max<std::int64_t>(0, countable),
             .watched_stable_end = read_committed && !outcome.held ? outcome.last_stable_offset : kNoOffset});
    }
    return wait;
}

bool FetchOperation::must_answer_now() const {
    if (any_undecided_ && !any_error_) [[unlikely]] {
        return false;
    }
    return memory_.targets.empty() || any_error_ || any_on_older_segment_ || total_bytes_ >= min_bytes;
}

void FetchOperation::own_names() {
    for (FetchTarget& target : memory_.targets) {
        if (!target.partition && !target.topic_name.empty()) {
            owned_names.push_back(std::make_unique<std::string>(target.topic_name));
            target.topic_name = *owned_names.back();
        }
    }
}

bool FetchOperation::has_news(const FetchTarget& target, const FetchOutcome& outcome) const {
    return !incremental || outcome.error != ErrorCode::none || outcome.slice.size > 0 ||
           outcome.diverging.leader_epoch != kNoLeaderEpoch || outcome.high_watermark != target.sent_high_watermark ||
           outcome.log_start_offset != target.sent_log_start_offset;
}

bool FetchOperation::tell_session() {
    thread_local std::vector<fetch::SessionNews> news;
    news.clear();
    for (std::size_t i = 0; i < memory_.targets.size(); ++i) {
        const FetchOutcome& outcome = memory_.outcomes[i];
        if (has_news(memory_.targets[i], outcome)) {
            news.push_back({.slot = memory_.targets[i].slot,
                            .high_watermark = outcome.high_watermark,
                            .log_start_offset = outcome.log_start_offset,
                            .has_records = outcome.slice.size > 0});
        }
    }
    return services_.fetch_sessions.answer(*session, news);
}

void FetchOperation::fill(Arena& arena, const FetchTarget& target, FetchOutcome& outcome, FetchResponse::PartitionData& data,
                          std::vector<FileSlice>& slices) const {
    data.partition_index = target.index;
    data.error_code = outcome.error;
    data.high_watermark = outcome.high_watermark.value;
    data.last_stable_offset = outcome.last_stable_offset.value;
    data.log_start_offset = outcome.log_start_offset.value;
    // None, but for partitions that could not be looked at: their answer comes from elsewhere in Kafka.
    data.aborted_transactions = target.lookup_error == ErrorCode::none ? Array<FetchResponse::AbortedTransaction>(nullptr)
                                                                       : Array<FetchResponse::AbortedTransaction>();
    if (version >= kCurrentLeaderSince &&
        (outcome.error == ErrorCode::not_leader_or_follower || outcome.error == ErrorCode::fenced_leader_epoch)) [[unlikely]] {
        data.current_leader = {.leader_id = leader_id.value, .leader_epoch = target.partition->leader_epoch().value};
    }
    if (outcome.diverging.leader_epoch != kNoLeaderEpoch) {
        data.diverging_epoch = {.epoch = outcome.diverging.leader_epoch.value, .end_offset = outcome.diverging.end_offset.value};
    }
    if (read_committed && outcome.error == ErrorCode::none) {
        const auto aborted = aborted_transactions_of(arena, *target.partition->log, target.fetch_offset, outcome.slice,
                                                     outcome.last_stable_offset);
        if (!aborted) [[unlikely]] {
            data = {.partition_index = target.index, .error_code = aborted.error(), .high_watermark = -1};
            data.records = Records(Bytes());
            return;
        }
        data.aborted_transactions = *aborted;
    }
    FileSlice& slice = outcome.slice;
    if (slice.size == 0) {
        data.records = Records(Bytes());
        return;
    }
    if (slice.size >= kCopiedBytesMax && slice.file->descriptor() >= 0) {
        data.records = Records::external(static_cast<std::int32_t>(slices.size()), static_cast<std::int32_t>(slice.size));
        slices.push_back(std::move(slice));
        return;
    }
    auto* copied = static_cast<std::byte*>(arena.allocate_unlimited(slice.size, 1));
    const auto read = slice.file->read_at(slice.position, {copied, slice.size});
    if (!read || *read != slice.size) {
        data.error_code = ErrorCode::kafka_storage_error;
        data.records = Records(Bytes());
        return;
    }
    data.records = Records(Bytes(copied, slice.size));
}

std::int64_t FetchOperation::answer_bytes() const {
    constexpr std::int64_t kAroundTheAnswer = 20;
    constexpr std::int64_t kAroundAPartition = 60;
    return total_bytes_ + kAroundTheAnswer +
           kAroundAPartition *
               std::ranges::count_if(memory_.outcomes, [](const FetchOutcome& outcome) { return outcome.slice.size > 0; });
}

bool FetchOperation::throttle(Turn& turn) {
    runtime::Services& services = services_;
    // Nothing is fetched by who has to wait for another reason.
    if (throttled_client && pending.throttle_ms == 0) {
        const std::int64_t wait_ms = services.throttles.use_or_leave(
            runtime::Throttled::fetched_bytes,
            {.user = throttled_client->principal->name(), .client_id = throttled_client->client_id},
            static_cast<double>(answer_bytes()), turn.now());
        pending.throttle_ms = static_cast<std::int32_t>(wait_ms);
    }
    if (pending.throttle_ms == 0) {
        return false;
    }
    send_nothing();
    return true;
}

void FetchOperation::send_nothing() {
    FetchResponse empty;
    if (incremental) {
        empty.session_id = session_id();
    } else if (session) {
        // It begins with a full answer, and this is none.
        services_.fetch_sessions.end(session_id());
    }
    services_.turns.deliver(pending.target, runtime::encode_reply(pending, empty));
}

bool FetchOperation::lacks_capacity(Turn& turn) {
    runtime::SharedCapacity& capacity = services_.capacity;
    const std::int64_t events_at_once = capacity.outgoing_at_once().events;
    std::int64_t events_left = events_at_once > 0 ? events_at_once : std::numeric_limits<std::int64_t>::max();
    capacity::Load load;
    for (FetchOutcome& outcome : memory_.outcomes) {
        if (outcome.slice.size > 0) {
            // The first batch may be more than passes at once.
            outcome.record_count = count_and_cut(outcome.slice, events_left, load.bytes == 0);
            events_left = std::max<std::int64_t>(0, events_left - outcome.record_count);
            load = load + capacity::Load{outcome.slice.size, outcome.record_count};
        }
    }
    total_bytes_ = load.bytes;
    const auto admission = load.bytes > 0 ? capacity.admit_outgoing(load, turn.now()) : runtime::SharedCapacity::Admission();
    pending.throttle_ms = std::max(pending.throttle_ms, static_cast<std::int32_t>(admission.wait_ms));
    note_traffic(turn, !admission.is_taken);
    if (!admission.is_taken) {
        send_nothing();
    }
    return !admission.is_taken;
}

void FetchOperation::note_traffic(Turn& turn, bool is_refused) {
    thread_local std::vector<runtime::SharedCapacity::Ended> ended;
    ended.clear();
    const FetchTarget* previous = nullptr;
    for (std::size_t i = 0; i < memory_.targets.size(); ++i) {
        const FetchTarget& target = memory_.targets[i];
        const FetchOutcome& outcome = memory_.outcomes[i];
        if (outcome.slice.size == 0 && outcome.error == ErrorCode::none) {
            continue;
        }
        if (previous == nullptr || previous->topic_id != target.topic_id || previous->topic_name != target.topic_name) {
            const runtime::TopicTable& topics = turn.topics();
            const runtime::TopicState* topic =
                target.topic_name.empty() ? topics.find(target.topic_id) : topics.find(target.topic_name);
            ended.push_back({.topic = topic == nullptr ? std::string_view() : std::string_view(topic->topic->name),
                             .outcome = is_refused ? capacity::Outcome::throttled : capacity::Outcome::successful,
                             .load = {}});
        }
        previous = &target;
        runtime::SharedCapacity::Ended& row = ended.back();
        if (outcome.error != ErrorCode::none) {
            row.outcome = outcome_of(outcome.error);
        } else if (!is_refused) {
            row.load = row.load + capacity::Load{outcome.slice.size, outcome.record_count};
        }
    }
    if (ended.empty()) {
        // It has waited for nothing.
        ended.emplace_back();
    }
    services_.capacity.note_outgoing(ended);
}

void FetchOperation::send(Turn& turn) {
    if ((throttled_client || pending.throttle_ms > 0) && throttle(turn)) [[unlikely]] {
        return;
    }
    if (services_.capacity.is_limited() && lacks_capacity(turn)) [[unlikely]] {
        return;
    }
    Arena& arena = turn.arena();
    const std::vector<FetchTarget>& targets = memory_.targets;
    thread_local std::vector<FileSlice> slices;
    slices.clear();
    FetchResponse response;
    response.session_id = session_id();
    if (session && !tell_session()) [[unlikely]] {
        response.error_code = ErrorCode::invalid_fetch_session_epoch;
        services_.turns.deliver(pending.target, runtime::encode_reply(pending, response));
        return;
    }
    ArenaVector<FetchResponse::PartitionData> partitions(arena, targets.size());
    ArenaVector<FetchResponse::FetchableTopicResponse> topics(arena);
    ArenaVector<std::size_t> starts(arena);

    const FetchTarget* previous = nullptr;
    // What could not be looked up comes last, as from Kafka.
    const std::size_t rounds = any_error_ ? 2 : 1;
    for (std::size_t step = 0; step < rounds * targets.size(); ++step) {
        const std::size_t i = step % targets.size();
        const FetchTarget& target = targets[i];
        FetchOutcome& outcome = memory_.outcomes[i];
        if ((any_error_ && (target.lookup_error != ErrorCode::none) != (step >= targets.size())) || !has_news(target, outcome)) {
            continue;
        }
        if (previous == nullptr || previous->topic_id != target.topic_id || previous->topic_name != target.topic_name) {
            FetchResponse::FetchableTopicResponse& topic = topics.emplace_back();
            topic.topic = target.topic_name;
            topic.topic_id = target.topic_id;
            starts.push_back(partitions.size());
        }
        previous = &target;
        fill(arena, target, outcome, partitions.emplace_back(), slices);
    }
    for (std::size_t i = 0; i < topics.size(); ++i) {
        const std::size_t end = i + 1 < starts.size() ? starts[i + 1] : partitions.size();
        topics[i].partitions = Array<FetchResponse::PartitionData>(partitions.begin() + starts[i], end - starts[i]);
    }
    response.responses = topics;
    services_.counters.fetched_bytes.fetch_add(static_cast<std::uint64_t>(total_bytes_), std::memory_order_relaxed);
    if (usage != nullptr) {
        usage->fetched_bytes.fetch_add(static_cast<std::uint64_t>(total_bytes_), std::memory_order_relaxed);
    }
    services_.turns.deliver(pending.target, runtime::encode_reply(pending, response, slices));
}

}  // namespace partita::handlers
