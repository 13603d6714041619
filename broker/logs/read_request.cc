#include "broker/logs/read_request.h"

#include "broker/logs/topic_table.h"
#include "broker/runtime/loop/counters.h"

namespace partita::logs {
namespace {

std::vector<ReadMemory>& kept_memory() {
    thread_local std::vector<ReadMemory> kept;
    return kept;
}

}  // namespace

ReadMemory ReadMemory::take() {
    std::vector<ReadMemory>& kept = kept_memory();
    if (kept.empty()) {
        return {};
    }
    ReadMemory memory = std::move(kept.back());
    kept.pop_back();
    return memory;
}

void ReadMemory::recycle(ReadMemory&& memory) {
    memory.reads.clear();
    memory.results.clear();
    std::vector<ReadMemory>& kept = kept_memory();
    if (memory.reads.capacity() <= kKeptPartitionsMax && kept.size() < kKeptMax) {
        kept.push_back(std::move(memory));
    }
}

std::uint32_t ReadRequest::passed() const {
    return reader_.steps_.passed_by({.is_counted = client_.usage != nullptr, .is_first = terms_.is_first});
}

void ReadRequest::admit(Turn& turn) {
    came_ = turn.now().wall;
    steps_ = passed();
    reader_.steps_.each(steps_, ReadPoint::admit, [&](ReadStep& step) {
        step.admit(*this, turn);
        return true;
    });
    terms_.min_bytes = std::min(terms_.min_bytes, terms_.max_bytes);
}

Read& ReadRequest::add(Read read, Turn& turn) {
    Read& added = memory_.reads.emplace_back(std::move(read));
    if (added.lookup != Outcome::ok) {
        return added;
    }
    const auto tell = [&](ReadStep& step) {
        step.on_found(*this, added, turn);
        return true;
    };
    reader_.steps_.each(steps_, ReadPoint::on_found, tell);
    if (added.topic->steps != nullptr) {
        has_topic_steps_ = true;
        added.topic->steps->each_read(tell);
    }
    return added;
}

void ReadRequest::read(Turn& turn) {
    std::vector<ReadResult>& results = memory_.results;
    results.clear();
    results.reserve(memory_.reads.size());
    total_bytes_ = 0;
    left_out_ = 0;
    has_failed_ = false;
    is_on_older_segment_ = false;
    is_undecided_ = false;
    std::int64_t budget = terms_.max_bytes;
    for (const Read& read : memory_.reads) {
        if (read.lookup != Outcome::ok) {
            results.emplace_back().outcome = read.lookup;
            left_out_ += read.is_left_out() ? 1 : 0;
            has_failed_ |= !read.is_left_out();
            continue;
        }
        if (read.is_paused) {
            ReadResult& paused = results.emplace_back();
            paused.seen_end = read.partition->log->high_watermark();
            paused.last_stable_offset = read.partition->log->last_stable_offset();
            continue;
        }
        const ReadResult& result = results.emplace_back(read_one(read, budget, total_bytes_ == 0, turn.now()));
        total_bytes_ += result.slice.size;
        budget = std::max<std::int64_t>(0, budget - result.slice.size);
        is_undecided_ |= result.is_undecided;
        if (result.outcome != Outcome::ok || result.is_diverging()) {
            has_failed_ = true;
            if (result.outcome == Outcome::storage_failed) {
                reader_.counters_.failed_fetches.fetch_add(1, std::memory_order_relaxed);
            }
        } else if (result.slice.available_bytes > 0 && read.from < read.partition->log->active_segment_base()) {
            // A reader that stands before an open transaction, or that a step holds, has nothing to catch up with, on any
            // segment.
            is_on_older_segment_ = true;
        }
    }
}

bool ReadRequest::check_epochs(const Read& read, ReadResult& result) const {
    result.outcome = read.partition->judge_leader_epoch(read.current_leader_epoch);
    if (result.outcome == Outcome::ok && (terms_.is_follower || !read.is_led_here)) {
        result.outcome = Outcome::not_led_here;
    }
    return result.outcome == Outcome::ok;
}

Offset ReadRequest::judge(const Read& read, ReadResult& result, Offset bound, Now now) const {
    const auto judge = [&](ReadStep& step) {
        bound = step.judge(*this, read, result, bound, now);
        return result.outcome == Outcome::ok;
    };
    reader_.steps_.each(steps_, ReadPoint::judge, judge);
    if (read.topic->steps != nullptr && result.outcome == Outcome::ok) {
        read.topic->steps->each_read(judge);
    }
    return bound;
}

ReadResult ReadRequest::read_one(const Read& read, std::int64_t budget, bool minimum_one_batch, Now now) const {
    ReadResult result;
    if (!check_epochs(read, result)) {
        return result;
    }
    const PartitionLog& log = *read.partition->log;
    // Read the stable offset first, so that it is never above the high watermark.
    result.last_stable_offset = log.last_stable_offset();
    result.high_watermark = log.high_watermark();
    result.seen_end = result.high_watermark;
    result.log_start_offset = log.log_start_offset();
    if (read.last_fetched_epoch > kNoLeaderEpoch) {
        const EpochEnd end = log.offset_for_leader_epoch(read.last_fetched_epoch);
        if (end.leader_epoch == kNoLeaderEpoch || end.end_offset == kNoOffset) {
            return {.outcome = Outcome::offset_out_of_range};
        }
        if (end.leader_epoch < read.last_fetched_epoch || end.end_offset < read.from) {
            result.diverging = end;
            return result;
        }
    }
    const Offset shown_end = terms_.is_committed ? result.last_stable_offset : result.high_watermark;
    const Offset bound = judge(read, result, shown_end, now);
    if (result.outcome != Outcome::ok) {
        return {.outcome = result.outcome};
    }
    const std::int64_t limit = std::min<std::int64_t>(read.max_bytes, budget);
    if (limit < 0) {
        return {.outcome = Outcome::internal_error};
    }
    auto slice =
        log.read(read.from,
                 {.upper_bound = bound, .max_bytes = static_cast<std::uint32_t>(limit), .minimum_one_batch = minimum_one_batch});
    if (!slice) {
        return {.outcome = outcome_of(slice.error().error)};
    }
    result.slice = std::move(*slice);
    return result;
}

bool ReadRequest::is_due() const {
    if (is_undecided_ && !has_failed_) {
        return false;
    }
    return left_out_ == memory_.reads.size() || has_failed_ || is_on_older_segment_ || total_bytes_ >= terms_.min_bytes;
}

void ReadRequest::prepare_to_wait(std::shared_ptr<const TopicTable> table, Instant deadline) {
    table_ = std::move(table);
    deadline_ = deadline;
    client_.connection = nullptr;
    client_.client_id = {};
}

FetchWait ReadRequest::wait_terms() const {
    using Isolation = fetch::FetchWaiters::Isolation;
    FetchWait wait{.partitions = {},
                   // An undecided request waits for the decision alone.
                   .missing_bytes = is_undecided_ ? 1 : terms_.min_bytes - total_bytes_,
                   .deadline = deadline_,
                   .isolation = terms_.is_committed ? Isolation::read_committed : Isolation::read_uncommitted};
    wait.partitions.reserve(memory_.reads.size());
    for (std::size_t i = 0; i < memory_.reads.size(); ++i) {
        const Read& read = memory_.reads[i];
        const ReadResult& result = memory_.results[i];
        if (read.lookup != Outcome::ok) {
            continue;
        }
        const bool counts = !result.is_held && !is_undecided_ && !read.is_paused;
        const std::int64_t countable = counts ? std::max<std::int64_t>(1, read.max_bytes) - result.slice.size : 0;
        const Offset seen_end = result.is_held ? read.partition->log->high_watermark() : result.seen_end;
        wait.partitions.push_back(
            {.partition = read.partition,
             .seen_end = seen_end,
             // If a step holds a partition, none of its bytes count, stable or not.
             .stable_end = result.is_held ? seen_end : result.last_stable_offset,
             .countable_bytes = std::max<std::int64_t>(0, countable),
             .watched_stable_end = terms_.is_committed && !result.is_held ? result.last_stable_offset : kNoOffset});
    }
    return wait;
}

void ReadRequest::complete(Turn& turn) {
    read(turn);
    finish(turn);
}

std::optional<FetchWait> ReadRequest::look(Turn& turn) {
    read(turn);
    if (!is_due()) {
        return wait_terms();
    }
    finish(turn);
    return std::nullopt;
}

void ReadRequest::finish(Turn& turn) {
    // Limits may have come or gone while the request waited.
    const std::uint32_t steps = passed();
    // A client that must wait for another reason receives no records.
    bool is_given = wait_ms_ == 0;
    if (is_given) {
        reader_.steps_.each(steps, ReadPoint::settle, [&](ReadStep& step) {
            is_given = step.settle(*this, turn);
            return is_given;
        });
    }
    if (!is_given) {
        answer_nothing(turn);
        return;
    }
    if (!answer(turn)) {
        return;
    }
    reader_.counters_.fetched_bytes.fetch_add(static_cast<std::uint64_t>(total_bytes_), std::memory_order_relaxed);
    reader_.steps_.each(steps, ReadPoint::tell, [&](ReadStep& step) {
        step.tell(*this, turn);
        return true;
    });
    if (has_topic_steps_) {
        tell_topics(turn);
    }
    if (table_ != nullptr && table_.get() != &turn.topics()) {
        tell_changed_topics(turn);
    }
}

void ReadRequest::tell_changed_topics(Turn& turn) const {
    std::vector<const TopicState*> told;
    for (std::size_t index = 0; index < memory_.reads.size(); ++index) {
        const TopicState* const before = memory_.reads[index].topic;
        if (before == nullptr || memory_.results[index].slice.size == 0) {
            continue;
        }
        const TopicState* const topic = turn.topics().find(before->topic->id);
        if (topic == nullptr || topic == before || topic->steps == nullptr || std::ranges::find(told, topic) != told.end()) {
            continue;
        }
        told.push_back(topic);
        topic->steps->each_read([&](ReadStep& step) {
            step.tell_changed_topic(*this, *topic, turn);
            return true;
        });
    }
}

void ReadRequest::tell_topics(Turn& turn) const {
    // A request names few topics that have steps.
    std::vector<const TopicState*> told;
    for (std::size_t index = 0; index < memory_.reads.size(); ++index) {
        const TopicState* topic = memory_.reads[index].topic;
        const bool is_news = topic != nullptr && topic->steps != nullptr && memory_.results[index].slice.size > 0 &&
                             std::ranges::find(told, topic) == told.end();
        if (!is_news) {
            continue;
        }
        told.push_back(topic);
        topic->steps->each_read([&](ReadStep& step) {
            step.tell_topic(*this, *topic, turn);
            return true;
        });
    }
}

}  // namespace partita::logs
