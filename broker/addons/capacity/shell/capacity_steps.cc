#include "broker/addons/capacity/shell/capacity_steps.h"

#include <algorithm>
#include <limits>
#include <string_view>
#include <vector>

#include "broker/addons/capacity/shell/shared_capacity.h"
#include "broker/logs/read_request.h"
#include "broker/logs/topic_table.h"
#include "broker/logs/turn.h"
#include "protocol/legacy_records.h"
#include "storage/file_system.h"

namespace partita::capacity {
namespace {

using Ended = SharedCapacity::Ended;

// One read covers many small batches; for large batches it reads more than it looks at.
constexpr std::size_t kReadBytes = 64 * 1024;

/// The worse of two outcomes: the broker's own failure comes first.
Outcome worse(Outcome one, Outcome other) {
    for (const Outcome outcome : {Outcome::server_error, Outcome::user_error, Outcome::throttled}) {
        if (one == outcome || other == outcome) {
            return outcome;
        }
    }
    return Outcome::successful;
}

std::string_view name_of(const logs::TopicState* topic) {
    return topic == nullptr ? std::string_view() : std::string_view(topic->topic->name);
}

}  // namespace

Load load_of(Bytes records) {
    if (records.size() < kBatchHeaderBytes) {
        return {};
    }
    const auto header = parse_batch_header(records);
    return {.bytes = static_cast<std::int64_t>(records.size()), .events = header ? std::max(0, header->record_count) : 0};
}

Outcome counted_outcome(logs::Outcome outcome) {
    if (outcome == logs::Outcome::ok) {
        return Outcome::successful;
    }
    if (outcome == logs::Outcome::over_capacity) {
        return Outcome::throttled;
    }
    const bool is_ours = outcome == logs::Outcome::internal_error || outcome == logs::Outcome::storage_failed;
    return is_ours ? Outcome::server_error : Outcome::user_error;
}

std::int64_t count_and_cut(FileSlice& slice, std::int64_t records_max, bool keeps_first_batch) {
    thread_local std::vector<std::byte> read;
    std::uint64_t read_from = 0;
    read.clear();
    std::int64_t records = 0;
    std::uint64_t position = 0;
    Offset next = slice.base_offset;
    while (position + kLegacyEntryBytesMin <= slice.size) {
        const std::size_t header_bytes = std::min<std::uint64_t>(kBatchHeaderBytes, slice.size - position);
        if (position + header_bytes > read_from + read.size()) {
            read.resize(std::min<std::uint64_t>(kReadBytes, slice.size - position));
            const auto done = slice.file->read_at(slice.position + position, read);
            // Data that cannot be read here cannot be sent either: the code that sends it reports the failure.
            if (!done || *done < header_bytes) {
                return records;
            }
            read.resize(*done);
            read_from = position;
        }
        const auto header = parse_log_header(Bytes(read).subspan(position - read_from));
        if (!header && header.error() == BatchError::truncated) {
            break;
        }
        if (!header) {
            return records;
        }
        if (position + header->size_bytes() > slice.size) {
            break;
        }
        // The offsets bound the records of a compressed entry of an older format.
        const std::int64_t more = header->attributes.is_control() ? 0
                                  : header->knows_first_offset()  ? std::max(0, header->record_count)
                                                                  : std::max<std::int64_t>(1, header->next_offset() - next);
        if (records + more > records_max && (position > 0 || !keeps_first_batch)) {
            break;
        }
        records += more;
        next = header->next_offset();
        position += header->size_bytes();
    }
    // Readers drop an incomplete batch at the end: it comes again, whole, and is charged then.
    slice.size = static_cast<std::uint32_t>(position);
    if (slice.size == 0) {
        slice.file = nullptr;
    }
    return records;
}

logs::Outcome AppendCapacity::admit(logs::AppendRequest& request, logs::Turn& turn) {
    Load asked;
    for (const logs::Append& append : request.appends) {
        asked = asked + load_of(append.batch);
    }
    const auto admission = capacity_.admit_incoming(asked, request.timeout_ms, turn.now());
    if (!admission.is_taken) {
        request.wait(admission.wait_ms);
        return logs::Outcome::over_capacity;
    }
    request.wait_if_staged_ms = admission.wait_ms;
    return logs::Outcome::ok;
}

void AppendCapacity::settle(logs::AppendRequest& request, logs::Turn&) {
    Load refused;
    for (const logs::Append& append : request.appends) {
        if (append.outcome != logs::Outcome::ok) {
            refused = refused + load_of(append.batch);
        }
    }
    capacity_.give_back_incoming(refused);
    // If nothing passed, the client need not wait for it.
    if (request.has_staged()) {
        request.wait(request.wait_if_staged_ms);
    }
}

void AppendCapacity::tell(const logs::AppendRequest& request, logs::Turn&) {
    std::vector<Ended> ended;
    const logs::Append* previous = nullptr;
    for (const logs::Append& append : request.appends) {
        if (previous == nullptr || previous->topic_place != append.topic_place) {
            ended.push_back({.topic = name_of(append.topic)});
        }
        previous = &append;
        Ended& row = ended.back();
        row.outcome = worse(row.outcome, counted_outcome(append.outcome));
        if (append.outcome == logs::Outcome::ok) {
            row.load = row.load + Load{static_cast<std::int64_t>(append.batch.size()), append.record_count};
        }
    }
    capacity_.note_incoming(ended);
}

void ReadCapacity::admit(logs::ReadRequest& request, logs::Turn&) {
    if (const std::int64_t at_once = capacity_.outgoing_at_once().bytes; at_once > 0) {
        request.lower_max_bytes(at_once);
    }
}

bool ReadCapacity::settle(logs::ReadRequest& request, logs::Turn& turn) {
    const std::int64_t events_at_once = capacity_.outgoing_at_once().events;
    std::int64_t events_left = events_at_once > 0 ? events_at_once : std::numeric_limits<std::int64_t>::max();
    Load load;
    for (logs::ReadResult& result : request.results()) {
        if (result.slice.size > 0) {
            // The first batch may exceed what passes at once.
            result.record_count = count_and_cut(result.slice, events_left, load.bytes == 0);
            events_left = std::max<std::int64_t>(0, events_left - result.record_count);
            load = load + Load{result.slice.size, result.record_count};
        }
    }
    request.set_total_bytes(load.bytes);
    const auto admission = load.bytes > 0 ? capacity_.admit_outgoing(load, turn.now()) : SharedCapacity::Admission();
    request.wait(admission.wait_ms);
    count(request, !admission.is_taken);
    return admission.is_taken;
}

void ReadCapacity::count(const logs::ReadRequest& request, bool is_refused) {
    thread_local std::vector<Ended> ended;
    ended.clear();
    const logs::Read* previous = nullptr;
    for (std::size_t i = 0; i < request.reads().size(); ++i) {
        const logs::Read& read = request.reads()[i];
        const logs::ReadResult& result = request.results()[i];
        if (result.slice.size == 0 && result.outcome == logs::Outcome::ok) {
            continue;
        }
        if (previous == nullptr || previous->topic_place != read.topic_place) {
            ended.push_back(
                {.topic = name_of(read.topic), .outcome = is_refused ? Outcome::throttled : Outcome::successful, .load = {}});
        }
        previous = &read;
        Ended& row = ended.back();
        if (result.outcome != logs::Outcome::ok) {
            row.outcome = counted_outcome(result.outcome);
        } else if (!is_refused) {
            row.load = row.load + Load{result.slice.size, result.record_count};
        }
    }
    if (ended.empty()) {
        // The fetch waited and found nothing.
        ended.emplace_back();
    }
    capacity_.note_outgoing(ended);
}

}  // namespace partita::capacity
