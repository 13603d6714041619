// GET /v1/groups/G/ownership    who owns each partition, since when, who had it before, and the takeovers with their causes;
// search
//                               (part of a topic's name), skip and limit choose among the partitions
// GET /v1/groups/G/rebalances   the last rebalances: what caused each, who was waited for, how long it took
//
// Both tell what the coordinator saw since it began (groups/group_history.h). Of topics that the caller may not describe nothing
// is told.

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <ranges>

#include "broker/expansion/finding_json.h"
#include "broker/groups/group_history.h"
#include "broker/handlers/services.h"
#include "broker/http/broker_identity.h"
#include "broker/http/json_body.h"
#include "broker/http/own_requests.h"
#include "broker/http/parameters.h"
#include "broker/http/resources.h"
#include "broker/runtime/coordinators/group_shards.h"
#include "schedule/clock.h"

namespace partita::http {
namespace {

using groups::GroupHistory;
using nlohmann::ordered_json;

ordered_json time_or_null(TimestampMs time) { return time == kNoTimestamp ? ordered_json(nullptr) : ordered_json(time.value); }

ordered_json time_or_null(const std::optional<TimestampMs>& time) { return time ? time_or_null(*time) : ordered_json(nullptr); }

const GroupHistory::KnownMember& member_at(const GroupHistory& history, std::int32_t index) {
    return history.members()[static_cast<std::size_t>(index)];
}

ordered_json id_or_null(const GroupHistory& history, std::int32_t index) {
    return index == GroupHistory::kNobody ? ordered_json(nullptr)
                                          : ordered_json(expansion::name_text(member_at(history, index).member_id));
}

ordered_json member_json(const GroupHistory::KnownMember& member) {
    const std::string& host = member.client_host;
    ordered_json told{
        {"member_id", expansion::name_text(member.member_id)},
        {"instance_id", member.instance_id ? ordered_json(expansion::name_text(*member.instance_id)) : ordered_json(nullptr)},
        {"client_id", expansion::name_text(member.client_id)},
        {"address", expansion::name_text(host.substr(host.starts_with('/') ? 1 : 0))},
        {"joined_ms", time_or_null(member.joined)}};
    told["gone_ms"] = member.gone ? ordered_json(member.gone->time.value) : ordered_json(nullptr);
    told["gone_cause"] = member.gone ? ordered_json(to_string(member.gone->cause)) : ordered_json(nullptr);
    return told;
}

ordered_json ownership_json(const GroupHistory& history, std::string_view topic, std::size_t partition,
                            const GroupHistory::Ownership& ownership) {
    const std::optional<TimestampMs> free = history.free_since(ownership);
    const bool was_another = ownership.previous != GroupHistory::kNobody;
    ordered_json told{{"topic", expansion::name_text(std::string(topic))}, {"partition", partition}};
    told["member_id"] = free ? ordered_json(nullptr) : id_or_null(history, ownership.owner);
    told["since_ms"] = free ? ordered_json(nullptr) : time_or_null(ownership.since);
    told["free_since_ms"] = time_or_null(free);
    // Of a partition that is free the last owner is the one before.
    told["previous_member_id"] = id_or_null(history, free ? ownership.owner : ownership.previous);
    told["previous_until_ms"] = free          ? time_or_null(free)
                                : was_another ? time_or_null(ownership.previous_until)
                                              : ordered_json(nullptr);
    told["cause"] = was_another && !free ? ordered_json(to_string(ownership.cause)) : ordered_json(nullptr);
    return told;
}

/// What the caller may see of a group's history.
class Teller {
  public:
    Teller(const GroupHistory& history, const access::Authorizer& authorizer, const Caller& caller)
        : history_(history), authorizer_(authorizer), caller_(caller) {}

    void tell_partitions(const PageWish& page, ordered_json& object) {
        std::size_t total = 0;
        ordered_json partitions = ordered_json::array();
        for (const auto& [name, topic] : history_.topics()) {
            if (!page.wants(name) || !may_see(name)) {
                continue;
            }
            for (std::size_t index = 0; index < topic.partitions.size(); ++index) {
                const GroupHistory::Ownership& ownership = topic.partitions[index];
                if (ownership.owner != GroupHistory::kNobody && page.has_place(total++)) {
                    partitions.push_back(ownership_json(history_, name, index, ownership));
                }
            }
        }
        object["total"] = total;
        object["partitions"] = std::move(partitions);
    }

    [[nodiscard]] ordered_json takeovers() {
        ordered_json list = ordered_json::array();
        for (const GroupHistory::Takeover& takeover : history_.takeovers() | std::views::reverse) {
            if (!may_see(takeover.topic)) {
                continue;
            }
            ordered_json told{{"time_ms", takeover.time.value},          {"topic", expansion::name_text(takeover.topic)},
                              {"partition", takeover.partition},         {"from", id_or_null(history_, takeover.from)},
                              {"to", id_or_null(history_, takeover.to)}, {"cause", to_string(takeover.cause)}};
            told["unowned_ms"] = takeover.unowned_ms ? ordered_json(*takeover.unowned_ms) : ordered_json(nullptr);
            list.push_back(std::move(told));
        }
        return list;
    }

  private:
    [[nodiscard]] bool may_see(std::string_view topic) {
        return authorizer_.meets(caller_.requester(), access::kDescribeTopic, topic);
    }

    const GroupHistory& history_;
    const access::Authorizer& authorizer_;
    const Caller& caller_;
};

ordered_json rebalance_json(const GroupHistory& history, const GroupHistory::Rebalance& rebalance, TimestampMs now) {
    ordered_json told{{"generation", rebalance.generation},
                      {"protocol", rebalance.is_classic ? "classic" : "consumer"},
                      {"assignor", expansion::name_text(rebalance.protocol)},
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
            is_of_member ? ordered_json(expansion::name_text(member_at(history, event.member).client_id)) : ordered_json(nullptr);
        told["events"].push_back(std::move(one));
    }
    told["events_left_out"] = rebalance.events_left_out;
    return told;
}

/// Empty: the client was told that there is no such group.
std::shared_ptr<const GroupHistory> history_of(const Surroundings& surroundings, Exchange& exchange) {
    const std::string& name = exchange.request().path.at(2);
    auto history = surroundings.services.groups.history_of(name);
    if (!history) {
        respond_kafka_error(exchange, ErrorCode::group_id_not_found, "there is no group " + name);
        return nullptr;
    }
    return std::make_shared<const GroupHistory>(std::move(*history));
}

}  // namespace

void serve_ownership(const Surroundings& surroundings, const ExchangePointer& exchange) {
    const auto page = parse_page(exchange->request());
    if (!page) {
        respond_error(*exchange, Status::bad_request, page.error());
        return;
    }
    const auto look = [surroundings, page = *page, exchange] {
        const auto history = history_of(surroundings, *exchange);
        if (history == nullptr) {
            return;
        }
        ordered_json object = surroundings.identity.begin_answer();
        object["group"] = expansion::name_text(exchange->request().path.at(2));
        object["members"] = ordered_json::array();
        for (const GroupHistory::KnownMember& member : history->members()) {
            object["members"].push_back(member_json(member));
        }
        Teller teller(*history, surroundings.services.authorizer, exchange->caller());
        teller.tell_partitions(page, object);
        object["partitions_left_out"] = history->has_partitions_left_out();
        for (std::size_t cause = 0; cause < groups::kTakeoverCauses; ++cause) {
            object["takeover_counts"][to_string(static_cast<groups::TakeoverCause>(cause))] =
                history->takeover_counts().at(cause);
        }
        object["takeovers"] = teller.takeovers();
        respond_json(*exchange, object);
    };
    start_look(surroundings, exchange, look);
}

void serve_rebalances(const Surroundings& surroundings, const ExchangePointer& exchange) {
    const auto history = history_of(surroundings, *exchange);
    if (history == nullptr) {
        return;
    }
    const TimestampMs now = surroundings.services.clock.now().wall;
    ordered_json object = surroundings.identity.begin_answer();
    object["group"] = expansion::name_text(exchange->request().path.at(2));
    object["time_ms"] = now.value;
    object["total"] = history->rebalance_count();
    object["rebalances"] = ordered_json::array();
    for (const GroupHistory::Rebalance& rebalance : history->rebalances() | std::views::reverse) {
        object["rebalances"].push_back(rebalance_json(*history, rebalance, now));
    }
    respond_json(*exchange, object);
}

}  // namespace partita::http
