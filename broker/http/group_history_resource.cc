// GET /v1/groups/G/ownership    the owner of each partition with the start and the claim, the previous owner, the group's
//                               progress, and the takeovers with their kinds and causes; search (part of a topic's name),
//                               skip and limit choose among the partitions
// GET /v1/groups/G/rebalances   the last rebalances: the cause, the members that others waited for, and the duration of each
//
// Both report what the coordinator has seen since it began (insight/history/group_history.h). They leave out topics that the
// caller may not describe.

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <ranges>
#include <set>
#include <utility>

#include "broker/handlers/extensions.h"
#include "broker/handlers/services.h"
#include "broker/http/broker_identity.h"
#include "broker/http/json_body.h"
#include "broker/http/kafka_errors.h"
#include "broker/http/parameters.h"
#include "broker/http/resources.h"
#include "broker/insight/findings/finding_json.h"
#include "broker/insight/history/group_history.h"
#include "broker/logs/log_bounds.h"
#include "broker/logs/published_topics.h"
#include "broker/runtime/coordinators/group_shards.h"
#include "broker/runtime/coordinators/ownership_record.h"
#include "schedule/clock.h"

namespace partita::http {
namespace {

using insight::GroupHistory;
using nlohmann::ordered_json;

ordered_json time_or_null(TimestampMs time) { return time == kNoTimestamp ? ordered_json(nullptr) : ordered_json(time.value); }

ordered_json time_or_null(const std::optional<TimestampMs>& time) { return time ? time_or_null(*time) : ordered_json(nullptr); }

const GroupHistory::KnownMember& member_at(const GroupHistory& history, std::int32_t index) {
    return history.members()[static_cast<std::size_t>(index)];
}

ordered_json id_or_null(const GroupHistory& history, std::int32_t index) {
    return index == GroupHistory::kNobody ? ordered_json(nullptr)
                                          : ordered_json(insight::name_text(member_at(history, index).member_id));
}

ordered_json member_json(const GroupHistory::KnownMember& member) {
    const std::string& host = member.client_host;
    ordered_json told{
        {"member_id", insight::name_text(member.member_id)},
        {"instance_id", member.instance_id ? ordered_json(insight::name_text(*member.instance_id)) : ordered_json(nullptr)},
        {"client_id", insight::name_text(member.client_id)},
        {"address", insight::name_text(host.substr(host.starts_with('/') ? 1 : 0))},
        {"joined_ms", time_or_null(member.joined)}};
    told["gone_ms"] = member.gone ? ordered_json(member.gone->time.value) : ordered_json(nullptr);
    told["gone_cause"] = member.gone ? ordered_json(to_string(member.gone->cause)) : ordered_json(nullptr);
    return told;
}

/// Empty if the partition does not exist (any more).
using PartitionBounds = std::optional<logs::LogBounds>;

/// `ownership`: null if the partition has no known owner, past or present.
ordered_json checkpoint_json(const GroupHistory& history, const GroupHistory::Ownership* ownership,
                             const groups::Checkpoint& checkpoint, const PartitionBounds& bounds) {
    // If the history did not hear of a commit, the commit is not a member's: it came from a transaction, from a seed, or from
    // before the history began.
    const bool is_known = ownership != nullptr && ownership->committed_at == checkpoint.committed;
    ordered_json told{{"offset", checkpoint.offset.value}, {"time_ms", time_or_null(checkpoint.committed)}};
    told["member_id"] = is_known ? id_or_null(history, ownership->committed_by) : ordered_json(nullptr);
    told["lag"] = bounds ? ordered_json(std::max<std::int64_t>(0, bounds->end - std::max(checkpoint.offset, bounds->start)))
                         : ordered_json(nullptr);
    return told;
}

ordered_json claim_or_null(std::int32_t claim) {
    return claim == GroupHistory::kNoClaim ? ordered_json(nullptr) : ordered_json(claim);
}

ordered_json ownership_json(const GroupHistory& history, const GroupHistory::Ownership& ownership, TimestampMs now) {
    const std::optional<TimestampMs> free = history.free_since(ownership);
    const bool is_free = free || ownership.owner == GroupHistory::kNobody;
    const bool was_another = ownership.previous != GroupHistory::kNobody;
    ordered_json told;
    told["member_id"] = is_free ? ordered_json(nullptr) : id_or_null(history, ownership.owner);
    told["claim"] = is_free ? ordered_json(nullptr) : claim_or_null(ownership.claim);
    told["since_ms"] = is_free ? ordered_json(nullptr) : time_or_null(ownership.since);
    told["free_since_ms"] = time_or_null(free);
    // For a free partition, the last owner is the previous one.
    told["previous_member_id"] = id_or_null(history, free ? ownership.owner : ownership.previous);
    told["previous_until_ms"] = free          ? time_or_null(free)
                                : was_another ? time_or_null(ownership.previous_until)
                                              : ordered_json(nullptr);
    const bool has_cause = was_another && !free;
    told["cause"] = has_cause ? ordered_json(to_string(ownership.cause)) : ordered_json(nullptr);
    told["kind"] =
        has_cause ? ordered_json(to_string(insight::kind_of(ownership.cause, ownership.previous_seen))) : ordered_json(nullptr);
    told["flapping"] = GroupHistory::is_flapping(ownership, now);
    return told;
}

ordered_json late_reader_json(const GroupHistory& history, const insight::LateReading* reading) {
    if (reading == nullptr) {
        return nullptr;
    }
    return {{"member_id", id_or_null(history, reading->member)},
            {"fetches", reading->fetches},
            {"from_offset", reading->from.value},
            {"to_offset", reading->to.value},
            {"first_ms", reading->first.value},
            {"last_ms", reading->last.value},
            {"process", reading->process.empty() ? ordered_json(nullptr) : ordered_json(insight::name_text(reading->process))}};
}

ordered_json takeover_json(const GroupHistory& history, const GroupHistory::Takeover& takeover) {
    ordered_json told{
        {"time_ms", takeover.time.value},         {"topic", insight::name_text(takeover.topic)},
        {"partition", takeover.partition},        {"from", id_or_null(history, takeover.from)},
        {"to", id_or_null(history, takeover.to)}, {"kind", to_string(insight::kind_of(takeover.cause, takeover.seen_after))},
        {"cause", to_string(takeover.cause)},     {"flapping", takeover.is_flapping},
        {"claim", claim_or_null(takeover.claim)}, {"claim_before", claim_or_null(takeover.claim_before)}};
    told["seen_after_ms"] = time_or_null(takeover.seen_after);
    told["unowned_ms"] = takeover.unowned_ms ? ordered_json(*takeover.unowned_ms) : ordered_json(nullptr);
    return told;
}

/// The part of a group's history that the caller may see.
class Teller {
  public:
    Teller(const Surroundings& surroundings, const runtime::OwnershipRecord& record, const Caller& caller)
        : history_(record.history),
          checkpoints_(record.checkpoints),
          authorizer_(surroundings.services.authorizer),
          caller_(caller),
          table_(surroundings.services.topics.table()),
          now_(surroundings.services.clock.now().wall) {}

    /// Partitions that a member owned or committed for.
    void tell_partitions(const PageWish& page, ordered_json& object) {
        std::set<std::string_view> names;
        for (const auto& [name, topic] : history_.topics()) {
            names.insert(name);
        }
        for (const auto& [name, partitions] : checkpoints_) {
            names.insert(name);
        }
        partitions_ = ordered_json::array();
        total_ = 0;
        for (const std::string_view name : names) {
            if (page.wants(name) && may_see(name)) {
                tell_topic(name, page);
            }
        }
        object["total"] = total_;
        object["partitions"] = std::move(partitions_);
    }

    [[nodiscard]] ordered_json takeovers() {
        ordered_json list = ordered_json::array();
        std::uint64_t sequence = history_.takeover_total();
        for (const GroupHistory::Takeover& takeover : history_.takeovers() | std::views::reverse) {
            if (may_see(takeover.topic)) {
                list.push_back(ordered_json{{"sequence", sequence}});
                list.back().update(takeover_json(history_, takeover));
            }
            --sequence;
        }
        return list;
    }

  private:
    void tell_topic(std::string_view name, const PageWish& page) {
        const auto known = history_.topics().find(name);
        const auto committed = checkpoints_.find(name);
        const std::size_t owned = known == history_.topics().end() ? 0 : known->second.partitions.size();
        const std::size_t behind =
            committed == checkpoints_.end() || committed->second.empty() || committed->second.rbegin()->first.value < 0
                ? 0
                : static_cast<std::size_t>(committed->second.rbegin()->first.value) + 1;
        const logs::TopicState* state = table_->find(name);
        for (std::size_t index = 0; index < std::max(owned, behind); ++index) {
            const GroupHistory::Ownership* ownership = index < owned ? &known->second.partitions[index] : nullptr;
            if (ownership != nullptr && ownership->owner == GroupHistory::kNobody) {
                ownership = nullptr;
            }
            const groups::Checkpoint* checkpoint = checkpoint_at(committed, index, state);
            if ((ownership == nullptr && checkpoint == nullptr) || !page.has_place(total_++)) {
                continue;
            }
            ordered_json told{{"topic", insight::name_text(std::string(name))}, {"partition", index}};
            told.update(ownership_json(history_, ownership == nullptr ? GroupHistory::Ownership() : *ownership, now_));
            told["checkpoint"] = checkpoint == nullptr
                                     ? ordered_json(nullptr)
                                     : checkpoint_json(history_, ownership, *checkpoint, bounds_of(state, index));
            told["late_reader"] = late_reader_json(history_, history_.late_reading_of(name, static_cast<std::int32_t>(index)));
            partitions_.push_back(std::move(told));
        }
    }

    [[nodiscard]] const groups::Checkpoint* checkpoint_at(groups::Checkpoints::const_iterator committed, std::size_t index,
                                                          const logs::TopicState* state) const {
        if (committed == checkpoints_.end()) {
            return nullptr;
        }
        const auto found = committed->second.find(PartitionIndex{static_cast<std::int32_t>(index)});
        if (found == committed->second.end()) {
            return nullptr;
        }
        const TopicId& topic_id = found->second.topic_id;
        const bool is_of_other_topic = state != nullptr && !topic_id.is_zero() && topic_id != state->topic->id;
        return is_of_other_topic ? nullptr : &found->second;
    }

    [[nodiscard]] static PartitionBounds bounds_of(const logs::TopicState* state, std::size_t index) {
        const bool is_there = state != nullptr && std::cmp_less(index, state->topic->partition_count);
        return is_there ? std::optional(logs::log_bounds(*state->partition(static_cast<std::int32_t>(index)))) : std::nullopt;
    }

    [[nodiscard]] bool may_see(std::string_view topic) {
        return authorizer_.meets(caller_.requester(), access::kDescribeTopic, topic);
    }

    const GroupHistory& history_;
    const groups::Checkpoints& checkpoints_;
    const access::Authorizer& authorizer_;
    const Caller& caller_;
    const std::shared_ptr<const logs::TopicTable> table_;
    const TimestampMs now_;
    ordered_json partitions_;
    std::size_t total_ = 0;
};

ordered_json rebalance_json(const GroupHistory& history, const GroupHistory::Rebalance& rebalance, TimestampMs now) {
    ordered_json told{{"generation", rebalance.generation},
                      {"protocol", to_string(rebalance.type)},
                      {"assignor", insight::name_text(rebalance.protocol)},
                      {"began_ms", rebalance.began.value},
                      {"joined_ms", time_or_null(rebalance.joined)},
                      {"ended_ms", time_or_null(rebalance.ended)},
                      {"duration_ms", std::max<std::int64_t>(0, rebalance.ended.value_or(now).value - rebalance.began.value)},
                      {"stands_still", stands_still(rebalance)},
                      {"members", rebalance.members},
                      {"partitions_moved", rebalance.moved},
                      {"partitions_first_owned", rebalance.first_owned},
                      {"interruptions", rebalance.interruptions},
                      {"slowest_member_id", id_or_null(history, rebalance.slowest)}};
    told["events"] = ordered_json::array();
    for (const GroupHistory::Event& event : rebalance.events) {
        ordered_json one{{"time_ms", event.time.value}, {"cause", to_string(event.cause)}, {"times", event.times}};
        const bool is_of_member = event.member != GroupHistory::kNobody;
        one["member_id"] = id_or_null(history, event.member);
        one["client_id"] =
            is_of_member ? ordered_json(insight::name_text(member_at(history, event.member).client_id)) : ordered_json(nullptr);
        told["events"].push_back(std::move(one));
    }
    told["events_left_out"] = rebalance.events_left_out;
    return told;
}

bool has_owners(const GroupHistory& history) {
    return std::ranges::any_of(history.topics(), [&](const auto& entry) {
        return std::ranges::any_of(entry.second.partitions, [&](const GroupHistory::Ownership& ownership) {
            return ownership.owner != GroupHistory::kNobody && !history.free_since(ownership);
        });
    });
}

/// The record of an addon under this name, unless that record is over and a group of Kafka also has the name.
std::optional<runtime::OwnershipRecord> ownership_of(const runtime::Services& services, std::string_view name) {
    std::optional<runtime::OwnershipRecord> added;
    for (runtime::OwnershipSource* source : services.extensions.ownership) {
        auto known = source->ownership_of(name, services.clock.now());
        if (known && has_owners(known->history)) {
            return known;
        }
        added = added ? std::move(added) : std::move(known);
    }
    auto of_group = services.coordinators.groups.ownership_of(name);
    return of_group ? std::move(of_group) : std::move(added);
}

void refuse_unknown_group(Exchange& exchange) {
    respond_kafka_error(exchange, ErrorCode::group_id_not_found, "there is no group " + exchange.request().path.at(2));
}

}  // namespace

void serve_ownership(const Surroundings& surroundings, const ExchangePointer& exchange) {
    const auto page = parse_page(exchange->request());
    if (!page) {
        respond_error(*exchange, Status::bad_request, page.error());
        return;
    }
    const auto look = [surroundings, page = *page, exchange] {
        const std::string& name = exchange->request().path.at(2);
        const auto record = ownership_of(surroundings.services, name);
        if (!record) {
            refuse_unknown_group(*exchange);
            return;
        }
        const GroupHistory& history = record->history;
        ordered_json object = surroundings.identity.begin_answer();
        object["group"] = insight::name_text(name);
        object["time_ms"] = surroundings.services.clock.now().wall.value;
        object["members"] = ordered_json::array();
        for (const GroupHistory::KnownMember& member : history.members()) {
            object["members"].push_back(member_json(member));
        }
        Teller teller(surroundings, *record, exchange->caller());
        teller.tell_partitions(page, object);
        object["partitions_left_out"] = history.has_partitions_left_out();
        for (std::size_t cause = 0; cause < insight::kTakeoverCauses; ++cause) {
            object["takeover_counts"][to_string(static_cast<insight::TakeoverCause>(cause))] =
                history.takeover_counts().at(cause);
        }
        for (std::size_t kind = 0; kind < insight::kTakeoverKinds; ++kind) {
            object["takeover_kinds"][to_string(static_cast<insight::TakeoverKind>(kind))] = history.takeover_kinds().at(kind);
        }
        object["takeover_kinds"]["flapping"] = history.flapping_count();
        object["takeovers"] = teller.takeovers();
        respond_json(*exchange, object);
    };
    start_look(surroundings, exchange, look);
}

void serve_rebalances(const Surroundings& surroundings, const ExchangePointer& exchange) {
    const auto history = surroundings.services.coordinators.groups.history_of(exchange->request().path.at(2));
    if (!history) {
        refuse_unknown_group(*exchange);
        return;
    }
    const TimestampMs now = surroundings.services.clock.now().wall;
    ordered_json object = surroundings.identity.begin_answer();
    object["group"] = insight::name_text(exchange->request().path.at(2));
    object["time_ms"] = now.value;
    object["total"] = history->rebalance_count();
    object["rebalances"] = ordered_json::array();
    for (const GroupHistory::Rebalance& rebalance : history->rebalances() | std::views::reverse) {
        object["rebalances"].push_back(rebalance_json(*history, rebalance, now));
    }
    respond_json(*exchange, object);
}

}  // namespace partita::http
