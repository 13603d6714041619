#include "broker/addons/claims/core/claim_coordinator.h"

#include <algorithm>
#include <array>
#include <utility>

#include "broker/addons/claims/core/claim_record_codec.h"
#include "protocol/assert.h"
#include "protocol/try.h"

namespace partita::claims {
namespace {

using insight::TakeoverCause;

insight::MemberNames names_of(const std::string& owner, const std::string& address) {
    return {.member_id = owner, .instance_id = std::nullopt, .client_id = owner, .client_host = address};
}

template <class Rows>
auto* row_at(Rows& rows, const ClaimPlace& place) {
    const auto found = rows.find(place);
    return found == rows.end() ? nullptr : &found->second;
}

/// Sets the row, or removes it if `row` is null. Returns the change of the number of rows.
template <class Row>
std::ptrdiff_t set_row(std::map<ClaimPlace, Row>& rows, const ClaimPlace& place, const std::optional<Row>& row) {
    const auto before = static_cast<std::ptrdiff_t>(rows.size());
    if (row) {
        rows.insert_or_assign(place, *row);
    } else {
        rows.erase(place);
    }
    return static_cast<std::ptrdiff_t>(rows.size()) - before;
}

}  // namespace

std::string_view to_string(ClaimRefusal refusal) {
    constexpr std::array<std::string_view, 6> kNames = {"none", "stale_tag", "stolen", "held", "lower_level", "too_many"};
    return kNames.at(static_cast<std::size_t>(refusal));
}

std::expected<std::optional<ClaimsRecord>, DecodeError> ClaimCoordinator::decode(Bytes key, std::optional<Bytes> value,
                                                                                 Arena& arena) {
    return decode_claims_record(key, value, arena);
}

std::expected<void, EncodeError> ClaimCoordinator::encode(const Record& record, TimestampMs timestamp, ByteBuffer& scratch,
                                                          BatchBuilder& batch) {
    PARTITA_TRY_ASSIGN(const auto encoded, encode_claims_record(record, scratch));
    batch.append(timestamp, encoded.key, encoded.value);
    return {};
}

void ClaimCoordinator::apply(const Record& record) {
    if (const auto* last = std::get_if<LastTagRecord>(&record)) {
        last_tag_ = std::max(last_tag_, last->tag);
        return;
    }
    std::ptrdiff_t change = 0;
    std::string_view name;
    if (const auto* of_claim = std::get_if<ClaimRecord>(&record)) {
        name = of_claim->group;
        change = set_row(groups_[of_claim->group].claims, of_claim->place, of_claim->claim);
        last_tag_ = of_claim->claim ? std::max(last_tag_, of_claim->claim->tag) : last_tag_;
    } else {
        const auto& of_checkpoint = std::get<ClaimCheckpointRecord>(record);
        name = of_checkpoint.group;
        change = set_row(groups_[of_checkpoint.group].checkpoints, of_checkpoint.place, of_checkpoint.checkpoint);
    }
    row_count_ = static_cast<std::size_t>(static_cast<std::ptrdiff_t>(row_count_) + change);
    const auto group = groups_.find(name);
    if (group->second.claims.empty() && group->second.checkpoints.empty()) {
        groups_.erase(group);
    }
}

void ClaimCoordinator::change(Record record, Effects& effects) {
    apply(record);
    effects.records.push_back(std::move(record));
}

void ClaimCoordinator::loaded(Now now, Effects& /*effects*/) {
    constexpr std::int64_t kTagsPerMs = 1'000;
    if (last_tag_ == ClaimTag()) {
        last_tag_ = {std::max<std::int64_t>(now.wall.value, 0) * kTagsPerMs};
    }
    for (auto& [name, group] : groups_) {
        for (auto& [place, claim] : group.claims) {
            claim.expires = now.monotonic + claim.lifetime_ms;
        }
    }
}

const ClaimCoordinator::Group* ClaimCoordinator::find(std::string_view group) const {
    const auto found = groups_.find(group);
    return found == groups_.end() ? nullptr : &found->second;
}

const Claim* ClaimCoordinator::find_claim(std::string_view group, const ClaimPlace& place, const TopicId& topic_id) const {
    const Group* known = find(group);
    const Claim* claim = known == nullptr ? nullptr : row_at(known->claims, place);
    return claim != nullptr && claim->topic_id == topic_id ? claim : nullptr;
}

bool ClaimCoordinator::has_room(std::string_view group, const ClaimPlace& place) const {
    const Group* known = find(group);
    if (known == nullptr) {
        return groups_.size() < kClaimGroupsMax && row_count_ < kClaimRowsMax;
    }
    const bool is_full = known->claims.size() >= kClaimedPartitionsMax || known->checkpoints.size() >= kClaimedPartitionsMax;
    return known->claims.contains(place) || known->checkpoints.contains(place) || (!is_full && row_count_ < kClaimRowsMax);
}

// Claims -----------------------------------------------------------------------------------------------

bool ClaimCoordinator::took_it_from(std::string_view group, const ClaimPlace& place, std::string_view owner) const {
    const insight::GroupHistory* known = histories_.find(group);
    const auto* ownership = known == nullptr ? nullptr : known->find(place.topic, place.partition);
    return ownership != nullptr && ownership->previous != insight::GroupHistory::kNobody &&
           known->members()[static_cast<std::size_t>(ownership->previous)].member_id == owner;
}

ClaimRefusal ClaimCoordinator::refusal_of(const ClaimPartitions& command, const ClaimPartitions::Wish& wish, const Claim* claim,
                                          Instant now) const {
    if (wish.tag && (claim == nullptr || claim->tag != *wish.tag)) {
        const bool is_others = claim != nullptr && !claim->is_released && claim->owner != command.owner;
        return is_others && took_it_from(command.group, wish.place, command.owner) ? ClaimRefusal::stolen
                                                                                   : ClaimRefusal::stale_tag;
    }
    if (claim != nullptr && claim->is_valid(now)) {
        const bool is_own = claim->owner == command.owner;
        if (!is_own && claim->owner_level && (!command.owner_level || *command.owner_level < *claim->owner_level)) {
            return ClaimRefusal::lower_level;
        }
        const bool is_higher = command.owner_level && (!claim->owner_level || *command.owner_level > *claim->owner_level);
        if (!wish.tag && !is_higher) {
            return ClaimRefusal::held;
        }
    }
    return claim == nullptr && !has_room(command.group, wish.place) ? ClaimRefusal::too_many : ClaimRefusal::none;
}

void ClaimCoordinator::decide(const ClaimPartitions& command, Now now, Effects& effects) {
    ClaimsResult result;
    for (const ClaimPartitions::Wish& wish : command.wishes) {
        const Claim* before = find_claim(command.group, wish.place, wish.topic_id);
        ClaimOutcome outcome{.place = wish.place, .refusal = refusal_of(command, wish, before, now.monotonic), .claim = {}};
        if (outcome.refusal != ClaimRefusal::none) {
            outcome.claim = before == nullptr ? std::nullopt : std::optional(*before);
            if (outcome.refusal == ClaimRefusal::stolen) {
                history(command.group).note_late_claim(command.owner, wish.place.topic, wish.place.partition, {}, now.wall);
            }
            result.outcomes.push_back(std::move(outcome));
            continue;
        }
        const bool goes_on = before != nullptr && !before->is_released && before->owner == command.owner;
        Claim claim{.topic_id = wish.topic_id,
                    .owner = command.owner,
                    .owner_level = command.owner_level,
                    .tag = {last_tag_.value + 1},
                    .number = before == nullptr ? 1 : before->number + (goes_on ? 0 : 1),
                    .since = goes_on ? before->since : now.wall,
                    .changed = now.wall,
                    .lifetime_ms = command.lifetime_ms,
                    .expires = now.monotonic + command.lifetime_ms};
        outcome.is_takeover = before != nullptr && before->owner != command.owner;
        note_takeover(command, wish, before, claim.number, now);
        const std::string owner_before = outcome.is_takeover ? before->owner : std::string();
        change(ClaimRecord{command.group, wish.place, claim}, effects);
        if (outcome.is_takeover) {
            note_idle(command.group, owner_before, now.wall);
        }
        outcome.claim = std::move(claim);
        result.outcomes.push_back(std::move(outcome));
    }
    forget_news();
    effects.replies.push_back({command.reply_to, std::move(result)});
}

void ClaimCoordinator::decide(const ReleasePartitions& command, Now now, Effects& effects) {
    ClaimsResult result;
    for (const ClaimPartitions::Wish& wish : command.wishes) {
        const Claim* before = find_claim(command.group, wish.place, wish.topic_id);
        const bool is_own = before != nullptr && !before->is_released && before->owner == command.owner;
        ClaimOutcome outcome{.place = wish.place, .claim = {}};
        if (!is_own || (wish.tag && *wish.tag != before->tag)) {
            const bool is_others = before != nullptr && !before->is_released && !is_own;
            outcome.refusal = is_others && took_it_from(command.group, wish.place, command.owner) ? ClaimRefusal::stolen
                                                                                                  : ClaimRefusal::stale_tag;
            outcome.claim = before == nullptr ? std::nullopt : std::optional(*before);
        } else {
            Claim claim = *before;
            claim.is_released = true;
            claim.owner_level.reset();
            claim.tag = {last_tag_.value + 1};
            claim.changed = now.wall;
            history(command.group).release(wish.place.topic, wish.place.partition, command.owner, now.wall);
            change(ClaimRecord{command.group, wish.place, claim}, effects);
            outcome.claim = std::move(claim);
        }
        result.outcomes.push_back(std::move(outcome));
    }
    forget_news();
    effects.replies.push_back({command.reply_to, std::move(result)});
}

bool ClaimCoordinator::evens_out(std::string_view group, std::string_view topic, std::string_view from, std::string_view to,
                                 Instant now) const {
    std::size_t of_from = 0;
    std::size_t of_to = 0;
    const auto& claims = find(group)->claims;
    for (auto at = claims.lower_bound({std::string(topic), 0}); at != claims.end() && at->first.topic == topic; ++at) {
        if (at->second.is_valid(now)) {
            of_from += at->second.owner == from ? 1 : 0;
            of_to += at->second.owner == to ? 1 : 0;
        }
    }
    return of_from >= of_to + 2;
}

void ClaimCoordinator::note_takeover(const ClaimPartitions& command, const ClaimPartitions::Wish& wish, const Claim* before,
                                     std::int32_t number, Now now) {
    const ClaimPlace& place = wish.place;
    insight::GroupHistory& known = history(command.group);
    TakeoverCause cause = TakeoverCause::normal;
    if (before != nullptr && before->owner != command.owner) {
        if (before->is_released) {
            cause = TakeoverCause::left;
        } else if (!before->is_valid(now.monotonic)) {
            cause = TakeoverCause::lost;
            known.release(place.topic, place.partition, before->owner,
                          {now.wall.value - (now.monotonic.value - before->expires.value)});
        } else if (!evens_out(command.group, place.topic, before->owner, command.owner, now.monotonic)) {
            cause = TakeoverCause::stolen;
        }
    }
    known.take_by_claim(names_of(command.owner, command.address), place.topic, wish.topic_id, place.partition, number, cause,
                        now.wall);
}

void ClaimCoordinator::note_idle(std::string_view group, const std::string& owner, TimestampMs now) {
    const bool has_some =
        std::ranges::any_of(find(group)->claims, [&](const auto& entry) { return entry.second.owner == owner; });
    if (!has_some) {
        history(group).retire(owner, now);
    }
}

// Checkpoints ------------------------------------------------------------------------------------------

void ClaimCoordinator::decide(const WriteCheckpoints& command, Now now, Effects& effects) {
    ClaimsResult result;
    for (const WriteCheckpoints::Wish& wish : command.wishes) {
        const Claim* claim = find_claim(command.group, wish.place, wish.topic_id);
        ClaimOutcome outcome{.place = wish.place, .claim = claim == nullptr ? std::nullopt : std::optional(*claim)};
        if (claim != nullptr && claim->is_valid(now.monotonic) && claim->owner != command.owner) {
            outcome.refusal = took_it_from(command.group, wish.place, command.owner) ? ClaimRefusal::stolen : ClaimRefusal::held;
            history(command.group).note_late_claim(command.owner, wish.place.topic, wish.place.partition, wish.offset, now.wall);
        } else if (!has_room(command.group, wish.place)) {
            outcome.refusal = ClaimRefusal::too_many;
        } else {
            insight::GroupHistory& known = history(command.group);
            known.note_commit(wish.place.topic, wish.place.partition, known.committer(command.owner), now.wall);
            change(ClaimCheckpointRecord{command.group, wish.place,
                                         ClaimCheckpoint{.topic_id = wish.topic_id,
                                                         .offset = wish.offset,
                                                         .sequence_number = wish.sequence_number,
                                                         .owner = command.owner,
                                                         .time = now.wall}},
                   effects);
        }
        result.outcomes.push_back(std::move(outcome));
    }
    forget_news();
    effects.replies.push_back({command.reply_to, std::move(result)});
}

// Removal ----------------------------------------------------------------------------------------------

void ClaimCoordinator::decide(const ForgetClaims& command, Now now, Effects& effects) {
    ForgetClaimsResult result;
    const Group* known = find(command.group);
    if (known == nullptr) {
        result.error = ErrorCode::group_id_not_found;
    } else if (std::ranges::any_of(known->claims, [&](const auto& entry) { return entry.second.is_valid(now.monotonic); })) {
        result.error = ErrorCode::non_empty_group;
    } else {
        const Group gone = *known;
        change(LastTagRecord{last_tag_}, effects);
        for (const auto& [place, claim] : gone.claims) {
            change(ClaimRecord{command.group, place, std::nullopt}, effects);
        }
        for (const auto& [place, checkpoint] : gone.checkpoints) {
            change(ClaimCheckpointRecord{command.group, place, std::nullopt}, effects);
        }
        histories_.forget(command.group);
    }
    effects.replies.push_back({command.reply_to, std::move(result)});
}

void ClaimCoordinator::topic_deleted(const coordination::TopicDeleted& event, Now /*now*/, Effects& effects) {
    std::vector<ClaimsRecord> gone;
    for (const auto& [name, group] : groups_) {
        for (const auto& [place, claim] : group.claims) {
            if (claim.topic_id == event.topic_id) {
                gone.emplace_back(ClaimRecord{name, place, std::nullopt});
            }
        }
        for (const auto& [place, checkpoint] : group.checkpoints) {
            if (checkpoint.topic_id == event.topic_id) {
                gone.emplace_back(ClaimCheckpointRecord{name, place, std::nullopt});
            }
        }
    }
    if (!gone.empty()) {
        change(LastTagRecord{last_tag_}, effects);
    }
    for (ClaimsRecord& record : gone) {
        change(std::move(record), effects);
    }
    histories_.forget_topic(event.topic_id);
    forget_news();
}

// Queries ----------------------------------------------------------------------------------------------

insight::GroupHistory& ClaimCoordinator::history(std::string_view group) {
    const insight::GroupHistories::Found found = histories_.touch(group);
    const Group* known = found.is_new ? find(group) : nullptr;
    if (known != nullptr) {
        for (const auto& [place, claim] : known->claims) {
            found.history.know(names_of(claim.owner, {}));
            found.history.acquire(place.topic, claim.topic_id, place.partition, claim.owner, kNoTimestamp, claim.number);
            if (claim.is_released) {
                found.history.release(place.topic, place.partition, claim.owner, claim.changed);
            }
        }
    }
    return found.history;
}

void ClaimCoordinator::forget_news() {
    // The observer of findings visits all histories anyway: there are far fewer of them than of consumer groups.
    static_cast<void>(histories_.take_news());
}

std::optional<insight::GroupHistory> ClaimCoordinator::history_of(std::string_view group, Now now) const {
    const Group* known = find(group);
    if (known == nullptr) {
        return std::nullopt;
    }
    const insight::GroupHistory* kept = histories_.find(group);
    insight::GroupHistory told = kept == nullptr ? insight::GroupHistory() : *kept;
    for (const auto& [place, claim] : known->claims) {
        if (kept == nullptr) {
            told.know(names_of(claim.owner, {}));
            told.acquire(place.topic, claim.topic_id, place.partition, claim.owner, kNoTimestamp, claim.number);
        }
        if (!claim.is_valid(now.monotonic)) {
            const TimestampMs end =
                claim.is_released ? claim.changed : TimestampMs{now.wall.value - (now.monotonic.value - claim.expires.value)};
            told.release(place.topic, place.partition, claim.owner, end);
        }
    }
    return told;
}

groups::Checkpoints ClaimCoordinator::checkpoints_of(std::string_view group) const {
    groups::Checkpoints told;
    if (const Group* known = find(group)) {
        for (const auto& [place, checkpoint] : known->checkpoints) {
            told[place.topic].insert_or_assign(
                PartitionIndex{place.partition},
                groups::Checkpoint{.offset = checkpoint.offset, .committed = checkpoint.time, .topic_id = checkpoint.topic_id});
        }
    }
    return told;
}

void ClaimCoordinator::visit_histories(
    FunctionRef<void(std::string_view group, const insight::GroupHistory& history)> visit) const {
    histories_.for_each(visit);
}

}  // namespace partita::claims
