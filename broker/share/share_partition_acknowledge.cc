#include <algorithm>
#include <map>
#include <utility>

#include "broker/share/share_partition.h"

namespace partita::share {
namespace {

ShareRefusal invalid_state(std::string_view why) { return {ErrorCode::invalid_record_state, std::string(why)}; }
ShareRefusal invalid_request(std::string_view why) { return {ErrorCode::invalid_request, std::string(why)}; }

bool is_known(AcknowledgeType type) { return type >= AcknowledgeType::gap && type <= AcknowledgeType::renew; }

std::string text_of(std::span<const AcknowledgeType> types) {
    std::string text;
    for (const AcknowledgeType type : types) {
        text += (text.empty() ? "" : ", ") + std::to_string(static_cast<int>(type));
    }
    return "[" + text + "]";
}

RecordState state_after(AcknowledgeType type) {
    switch (type) {
        case AcknowledgeType::accept:
            return RecordState::acknowledged;
        case AcknowledgeType::release:
            return RecordState::available;
        case AcknowledgeType::gap:
        case AcknowledgeType::reject:
        case AcknowledgeType::renew:
            break;
    }
    return RecordState::archived;
}

/// The type of the acknowledgement of this offset, and the last offset from there on that has the same.
std::pair<AcknowledgeType, Offset> type_at(const Acknowledgement& given, Offset offset) {
    if (given.types.size() == 1) {
        return {given.types.front(), given.last};
    }
    auto index = static_cast<std::size_t>(offset - given.first);
    const AcknowledgeType type = given.types[index];
    while (index + 1 < given.types.size() && given.types[index + 1] == type) {
        ++index;
    }
    return {type, given.first + static_cast<std::int64_t>(index)};
}

}  // namespace

/// The changes that the acknowledgements of a request have made so far.
struct SharePartition::Undo {
    std::vector<StateBatch> changes;
    /// By the first offset of a batch, its runs before the first change: a request may change a batch many times.
    std::map<Offset, std::vector<InFlightRun>> runs;
};

std::expected<std::vector<StateBatch>, ShareRefusal> SharePartition::acknowledge(std::string_view member,
                                                                                 std::span<const Acknowledgement> given,
                                                                                 const ShareLimits& limits, Instant now) {
    Undo undo;
    const std::int32_t complete_before = complete_;
    for (const Acknowledgement& one : given) {
        if (auto refusal = acknowledge_one(member, one, limits, now, undo)) {
            for (auto& [first, runs] : undo.runs) {
                batches_.at(first).restore(std::move(runs));
            }
            complete_ = complete_before;
            find_next_lock_end();
            return std::unexpected(std::move(*refusal));
        }
    }
    const bool is_any_available =
        std::ranges::any_of(undo.changes, [](const StateBatch& batch) { return batch.state == RecordState::available; });
    may_find_available_ |= is_any_available;
    return std::move(undo.changes);
}

std::optional<ShareRefusal> SharePartition::acknowledge_one(std::string_view member, const Acknowledgement& given,
                                                            const ShareLimits& limits, Instant now, Undo& undo) {
    if (!std::ranges::all_of(given.types, is_known)) {
        return invalid_request("Invalid acknowledge type: " + text_of(given.types));
    }
    if (given.last < start_) {
        return std::nullopt;
    }
    auto at = floor(given.first);
    if (at == batches_.end() && given.first < start_ && given.last >= start_) {
        at = floor(start_);
    }
    if (at == batches_.end()) {
        return invalid_state("Batch record not found. The request batch offsets are not found in the cache.");
    }
    const auto end = batches_.upper_bound(given.last);
    const Offset known_last = std::prev(end)->second.last();
    if (known_last < given.first) {
        return invalid_request("Batch record not found. The first offset in request is past acquired records.");
    }
    if (given.last > known_last) {
        return invalid_request("Batch record not found. The last offset in request is past acquired records.");
    }
    for (; at != end; ++at) {
        InFlightBatch& batch = at->second;
        if (batch.last() < start_) {
            continue;
        }
        undo.runs.try_emplace(batch.first(), batch.runs());
        if (auto refusal = acknowledge_batch(member, given, batch, limits, now, undo.changes)) {
            return refusal;
        }
    }
    return std::nullopt;
}

std::optional<ShareRefusal> SharePartition::acknowledge_batch(std::string_view member, const Acknowledgement& given,
                                                              InFlightBatch& batch, const ShareLimits& limits, Instant now,
                                                              std::vector<StateBatch>& changes) {
    if (!batch.is_split()) {
        if (batch.whole().member == nullptr) {
            return invalid_state("The batch cannot be acknowledged. The batch is not in the acquired state.");
        }
        if (!batch.whole().is_of(member)) {
            return invalid_state("Member is not the owner of batch record");
        }
    }
    const bool is_whole =
        batch.first() >= given.first && batch.last() <= given.last && given.types.size() == 1 && batch.first() >= start_;
    if (!is_whole) {
        batch.split();
    }
    std::optional<ShareRefusal> refusal;
    Offset next = std::max({batch.first(), given.first, start_});
    while (!refusal && next <= std::min(batch.last(), given.last)) {
        const auto [type, type_last] = type_at(given, next);
        const Offset last = std::min({type_last, batch.last(), given.last});
        batch.change_each(next, last, [&](InFlightRun& run) {
            if (run.state != RecordState::acquired) {
                refusal = invalid_state("The offset cannot be acknowledged. The offset is not acquired.");
            } else if (!run.is_of(member)) {
                refusal = invalid_state("Member is not the owner of offset");
            } else if (type != AcknowledgeType::renew) {
                settle(run, state_after(type), limits, changes);
            } else if (!limits.may_renew) {
                refusal = invalid_state("Renewing acquisition locks is not enabled for the group.");
            } else {
                run.locked_until = now + limits.lock_duration_ms;
                next_lock_end_ = std::min(next_lock_end_.value_or(run.locked_until), run.locked_until);
            }
            return !refusal.has_value();
        });
        next = last + 1;
    }
    return refusal;
}

void SharePartition::settle(InFlightRun& run, RecordState state, const ShareLimits& limits, std::vector<StateBatch>& changes) {
    if (state == RecordState::available && run.delivery_count >= limits.delivery_count) {
        state = RecordState::archived;
    }
    run.state = state;
    run.member.reset();
    changes.push_back({run.first, run.last, state, run.delivery_count});
    if (is_terminal(state)) {
        complete_ += static_cast<std::int32_t>(std::max<std::int64_t>(0, run.last - std::max(start_, run.first) + 1));
    } else {
        may_find_available_ = true;
    }
}

template <class Predicate>
std::vector<StateBatch> SharePartition::put_back(const ShareLimits& limits, Predicate is_over) {
    std::vector<StateBatch> changes;
    for (auto& [first, batch] : batches_) {
        const auto concerns = [&](const InFlightRun& run) { return run.state == RecordState::acquired && is_over(run); };
        if (std::ranges::none_of(batch.runs(), concerns)) {
            continue;
        }
        if (batch.first() < start_ && batch.last() >= start_) {
            batch.split();
        }
        // Records that the log lost meanwhile are not delivered again.
        const auto put_back_until = [&](Offset from, Offset until, RecordState state) {
            batch.change_each(from, until, [&](InFlightRun& run) {
                if (concerns(run)) {
                    settle(run, state, limits, changes);
                }
                return true;
            });
        };
        put_back_until(batch.first(), std::min(batch.last(), start_ - 1), RecordState::archived);
        put_back_until(std::max(batch.first(), start_), batch.last(), RecordState::available);
    }
    find_next_lock_end();
    return changes;
}

std::vector<StateBatch> SharePartition::release(std::string_view member, const ShareLimits& limits) {
    return put_back(limits, [&](const InFlightRun& run) { return run.is_of(member); });
}

std::vector<StateBatch> SharePartition::end_locks(Instant now, const ShareLimits& limits) {
    if (!next_lock_end_ || *next_lock_end_ > now) {
        return {};
    }
    return put_back(limits, [&](const InFlightRun& run) { return run.locked_until <= now; });
}

void SharePartition::find_next_lock_end() {
    next_lock_end_.reset();
    for (const auto& [first, batch] : batches_) {
        for (const InFlightRun& run : batch.runs()) {
            if (run.state == RecordState::acquired) {
                next_lock_end_ = std::min(next_lock_end_.value_or(run.locked_until), run.locked_until);
            }
        }
    }
}

}  // namespace partita::share
