#include "broker/handlers/fetch_answer.h"

#include <span>

#include "broker/handlers/outcome_codes.h"
#include "broker/handlers/request_context.h"
#include "broker/handlers/sent_records.h"
#include "broker/logs/aborted_in_read.h"
#include "broker/logs/placement.h"
#include "broker/logs/topic_table.h"
#include "broker/logs/turn.h"
#include "broker/logs/turns.h"
#include "broker/runtime/clients/client_fetch_sessions.h"

namespace partita::handlers {
namespace {

using logs::Outcome;

// From this version on, the answer names the current leader.
constexpr std::int16_t kCurrentLeaderSince = 16;

std::vector<std::vector<FetchPlace>>& kept_places() {
    thread_local std::vector<std::vector<FetchPlace>> kept;
    return kept;
}

constexpr std::size_t kAnswerParts = 3;

/// The part of the answer in which a partition stands. Kafka names those that it reads first. Then come those of which it knows
/// no topic, and last what is not there or not allowed. For a follower, the last two parts are one.
std::size_t part_of(const logs::Read& read, bool is_for_follower) {
    if (!read.is_left_out()) {
        return 0;
    }
    return read.lookup == Outcome::unknown_topic_id && !is_for_follower ? 1 : 2;
}

}  // namespace

std::vector<FetchPlace> FetchAnswer::take_places() {
    std::vector<std::vector<FetchPlace>>& kept = kept_places();
    if (kept.empty()) {
        return {};
    }
    std::vector<FetchPlace> places = std::move(kept.back());
    kept.pop_back();
    return places;
}

void FetchAnswer::recycle_places(std::vector<FetchPlace>&& places) {
    places.clear();
    std::vector<std::vector<FetchPlace>>& kept = kept_places();
    if (places.capacity() <= kKeptPlacesMax && kept.size() < logs::ReadMemory::kKeptMax) {
        kept.push_back(std::move(places));
    }
}

void FetchAnswer::add_target(const FetchPlace& place, logs::Read read, logs::Turn& turn) {
    const bool is_next = !places_.empty() && places_.back().is_of_same_topic(place);
    read.topic_place = reads().empty() ? 0 : reads().back().topic_place + (is_next ? 0 : 1);
    places_.push_back(place);
    names_preferred_replica_ = names_preferred_replica_ || place.preferred_replica != kNoBroker;
    add(std::move(read), turn);
}

std::string_view FetchAnswer::own_name(std::string&& name) {
    // Partitions of one topic often follow each other.
    if (own_names_.empty() || *own_names_.back() != name) {
        own_names_.push_back(std::make_unique<std::string>(std::move(name)));
    }
    return *own_names_.back();
}

void FetchAnswer::begin_session(const fetch::SessionTurn& session, const std::vector<fetch::SessionSlot>& slots) {
    session_ = session;
    for (std::size_t i = 0; i < slots.size(); ++i) {
        places_[i].slot = slots[i];
    }
}

void FetchAnswer::go_on_with_session(const fetch::SessionTurn& session) {
    session_ = session;
    is_incremental_ = true;
}

void FetchAnswer::set_pending(runtime::KafkaCall pending) {
    pending_ = std::move(pending);
    wait(pending_.throttle_ms);
}

void FetchAnswer::answer_now(runtime::KafkaCall pending, logs::Turn& turn) {
    set_pending(std::move(pending));
    finish(turn);
}

logs::FetchWait FetchAnswer::begin_to_wait(runtime::KafkaCall pending, std::shared_ptr<const logs::TopicTable> table,
                                           Instant deadline) {
    set_pending(std::move(pending));
    for (std::size_t i = 0; i < places_.size(); ++i) {
        if (reads()[i].partition == nullptr && !places_[i].topic_name.empty()) {
            places_[i].topic_name = own_name(std::string(places_[i].topic_name));
        }
    }
    prepare_to_wait(std::move(table), deadline);
    return wait_terms();
}

void FetchAnswer::send(const FetchResponse& response, std::span<FileSlice> slices) {
    pending_.throttle_ms = static_cast<std::int32_t>(wait_ms());
    parts_.turns.deliver(pending_.target, runtime::encode_reply(pending_, response, slices));
}

bool FetchAnswer::has_news(const FetchPlace& place, const logs::ReadResult& result) const {
    return !is_incremental_ || result.outcome != Outcome::ok || place.preferred_replica != kNoBroker || result.slice.size > 0 ||
           result.is_diverging() || result.high_watermark != place.sent_high_watermark ||
           result.log_start_offset != place.sent_log_start_offset;
}

bool FetchAnswer::tell_session() {
    thread_local std::vector<fetch::SessionNews> news;
    news.clear();
    for (std::size_t i = 0; i < places_.size(); ++i) {
        const logs::ReadResult& result = results()[i];
        if (has_news(places_[i], result)) {
            news.push_back({.slot = places_[i].slot,
                            .high_watermark = result.high_watermark,
                            .log_start_offset = result.log_start_offset,
                            .has_records = result.slice.size > 0});
        }
    }
    return parts_.sessions.answer(*session_, news);
}

void FetchAnswer::fill(Arena& arena, const FetchPlace& place, const logs::Read& read, logs::ReadResult& result,
                       FetchResponse::PartitionData& data, std::vector<FileSlice>& slices,
                       ArenaVector<LeaderHint>& leaders) const {
    data.partition_index = read.index.value;
    data.error_code = error_code(result.outcome);
    data.high_watermark = result.high_watermark.value;
    data.last_stable_offset = result.last_stable_offset.value;
    data.log_start_offset = result.log_start_offset.value;
    // Null, except for a partition that was not found: Kafka builds that answer elsewhere, with an empty list.
    data.aborted_transactions =
        read.is_left_out() ? Array<FetchResponse::AbortedTransaction>() : Array<FetchResponse::AbortedTransaction>(nullptr);
    if (version_ >= kCurrentLeaderSince && read.partition != nullptr &&
        (result.outcome == Outcome::not_led_here || result.outcome == Outcome::fenced_leader_epoch)) {
        const LeaderHint hint = leader_hint({parts_.placement, parts_.config, listener_}, *read.topic, read.index);
        data.current_leader = {.leader_id = hint.leader.value, .leader_epoch = hint.epoch.value};
        leaders.push_back(hint);
    }
    if (result.is_diverging()) {
        data.diverging_epoch = {.epoch = result.diverging.leader_epoch.value, .end_offset = result.diverging.end_offset.value};
    }
    if (place.preferred_replica != kNoBroker && result.outcome == Outcome::ok) {
        data.preferred_read_replica = place.preferred_replica.value;
        data.records = Records(Bytes());
        return;
    }
    if (terms().is_committed && result.outcome == Outcome::ok) {
        const auto aborted = logs::aborted_in_read(read, result);
        if (!aborted) {
            data = {.partition_index = read.index.value, .error_code = error_code(aborted.error()), .high_watermark = -1};
            data.records = Records(Bytes());
            return;
        }
        ArenaVector<FetchResponse::AbortedTransaction> told(arena, aborted->size());
        for (const AbortedTransactionSummary& transaction : *aborted) {
            told.push_back({.producer_id = transaction.producer_id.value, .first_offset = transaction.first_offset.value});
        }
        data.aborted_transactions = told;
    }
    const std::optional<Records> records = sent_records(arena, result.slice, slices);
    data.records = records.value_or(Records(Bytes()));
    if (!records) {
        data.error_code = ErrorCode::kafka_storage_error;
    }
}

void FetchAnswer::answer_nothing(logs::Turn&) {
    FetchResponse empty;
    if (is_incremental_) {
        empty.session_id = session_id();
    } else if (session_) {
        // A session begins with a full answer, and this is not one.
        parts_.sessions.end(session_id());
    }
    send(empty);
}

bool FetchAnswer::answer(logs::Turn& turn) {
    FetchResponse response;
    response.session_id = session_id();
    if (session_ && !tell_session()) {
        response.error_code = ErrorCode::invalid_fetch_session_epoch;
        send(response);
        return false;
    }
    Arena& arena = turn.arena();
    thread_local std::vector<FileSlice> slices;
    slices.clear();
    ArenaVector<FetchResponse::PartitionData> partitions(arena, places_.size());
    ArenaVector<FetchResponse::FetchableTopicResponse> topics(arena);
    ArenaVector<std::size_t> starts(arena);
    ArenaVector<LeaderHint> leaders(arena);
    const FetchPlace* previous = nullptr;
    const std::size_t rounds = leaves_out() ? kAnswerParts : 1;
    for (std::size_t step = 0; step < rounds * places_.size(); ++step) {
        const std::size_t i = step % places_.size();
        const FetchPlace& place = places_[i];
        logs::ReadResult& result = results()[i];
        const bool is_other_round = leaves_out() && part_of(reads()[i], terms().is_follower) != step / places_.size();
        if (is_other_round || !has_news(place, result)) {
            continue;
        }
        if (previous == nullptr || !previous->is_of_same_topic(place)) {
            FetchResponse::FetchableTopicResponse& topic = topics.emplace_back();
            topic.topic = place.topic_name;
            topic.topic_id = place.topic_id;
            starts.push_back(partitions.size());
        }
        previous = &place;
        fill(arena, place, reads()[i], result, partitions.emplace_back(), slices, leaders);
    }
    for (std::size_t i = 0; i < topics.size(); ++i) {
        const std::size_t end = i + 1 < starts.size() ? starts[i + 1] : partitions.size();
        topics[i].partitions = Array<FetchResponse::PartitionData>(partitions.begin() + starts[i], end - starts[i]);
    }
    response.responses = topics;
    if (!leaders.empty() && !terms().is_follower) {
        response.node_endpoints = leader_endpoints<FetchResponse::NodeEndpoint>({parts_.placement, parts_.config, listener_},
                                                                                arena, {leaders.begin(), leaders.end()});
    }
    send(response, slices);
    return true;
}

}  // namespace partita::handlers
