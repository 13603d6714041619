// GET  /v1/clock    the time of the broker
// POST /v1/clock    {"advance_ms": 45000}: sets the clock forward, and answers when all that fell due is done
//                   {"set": "2026-12-24T00:00:00Z"}: sets it to that time
//                   {"freeze": true}: lets it stand still, also beside one of the others; {"freeze": false} lets it run on
//
// schedule/movable_time.h says how a clock moves. A broker without a test bench answers 404.

#include <algorithm>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "broker/addons/faults/http/resources.h"
#include "broker/config/log_setup.h"
#include "broker/config/utc_time.h"
#include "broker/handlers/extensions.h"
#include "broker/handlers/services.h"
#include "broker/http/broker_identity.h"
#include "broker/http/jobs.h"
#include "broker/http/json_body.h"
#include "broker/insight/history/group_history.h"
#include "broker/runtime/coordinators/group_shards.h"
#include "broker/runtime/coordinators/ownership_record.h"
#include "schedule/movable_time.h"

namespace partita::faults {
namespace {

using http::Exchange;
using http::ExchangePointer;
using http::JsonBody;
using http::respond_error;
using http::respond_json;
using http::Status;
using http::Surroundings;
using insight::GroupHistory;
using nlohmann::ordered_json;

/// The last time to which people may set the clock: it must not reach the last one that can be told while it runs on.
constexpr TimestampMs kLatest{config::kLastTime.value - 100LL * 365 * 86'400'000};
/// The most deeds that an answer lists.
constexpr std::size_t kDeedsMax = 1'000;

/// Null if the broker has no test bench; the client has then been answered.
MovableTime* time_of(const Surroundings& surroundings, Exchange& exchange) {
    MovableTime* const time = surroundings.services.clock.movable();
    if (time == nullptr) {
        refuse_without_bench(exchange);
    }
    return time;
}

/// Something that the broker did.
struct Deed {
    TimestampMs time;
    std::string area;
    std::string message;
    std::vector<std::pair<std::string, std::string>> fields;
};

/// The broker's deeds while its clock moves, as far as they concern people.
class Deeds {
  public:
    explicit Deeds(MovableTime& time) : time_(time) {}

    /// From the log; on any thread, one event at a time.
    void hear(log::Event&& event) {
        add({.time = time_.now().wall,
             .area = std::move(event.area),
             .message = std::move(event.message),
             .fields = std::move(event.fields)});
    }
    /// From the histories of groups: members that are gone, and rebalances that ended. A first look, before the move, notes what
    /// is no news.
    void look_at(std::string_view group, const GroupHistory& history, bool is_news) {
        const auto is_new = [&](std::string_view what, TimestampMs time) {
            return known_.emplace(group, what, time.value).second && is_news;
        };
        for (const GroupHistory::KnownMember& member : history.members()) {
            if (member.gone && is_new(member.member_id, member.gone->time)) {
                add({.time = member.gone->time,
                     .area = "groups",
                     .message = "a member is gone",
                     .fields = {{"group", std::string(group)},
                                {"member", member.member_id},
                                {"client_id", member.client_id},
                                {"cause", std::string(to_string(member.gone->cause))}}});
            }
        }
        for (const GroupHistory::Rebalance& rebalance : history.rebalances()) {
            if (rebalance.ended && is_new("", *rebalance.ended)) {
                add({.time = *rebalance.ended,
                     .area = "groups",
                     .message = "a rebalance ended",
                     .fields = {{"group", std::string(group)},
                                {"generation", std::to_string(rebalance.generation)},
                                {"members", std::to_string(rebalance.members)}}});
            }
        }
    }

    [[nodiscard]] std::size_t left_out() const { return left_out_; }
    [[nodiscard]] ordered_json json() {
        std::ranges::stable_sort(deeds_, {}, &Deed::time);
        ordered_json list = ordered_json::array();
        for (const Deed& deed : deeds_) {
            ordered_json one = {{"time_ms", deed.time.value}, {"area", deed.area}, {"message", deed.message}};
            for (const auto& [name, value] : deed.fields) {
                one["fields"][name] = value;
            }
            list.push_back(std::move(one));
        }
        return list;
    }

  private:
    void add(Deed deed) {
        if (deeds_.size() == kDeedsMax) {
            ++left_out_;
            return;
        }
        deeds_.push_back(std::move(deed));
    }

    MovableTime& time_;
    std::vector<Deed> deeds_;
    std::size_t left_out_ = 0;
    /// Group, member (none for a rebalance) and time of each event of a history that was looked at.
    std::set<std::tuple<std::string, std::string, std::int64_t>> known_;
};

void tell_time(ordered_json& object, MovableTime& time) {
    const Now now = time.now();
    object["time_ms"] = now.wall.value;
    object["time"] = config::utc_time_text(now.wall);
    object["ahead_ms"] = time.ahead_ms();
    object["frozen"] = time.stands();
}

void move(const Surroundings& surroundings, Exchange& exchange, MovableTime& time, const MovableTime::Wish& wish) {
    const runtime::Services& services = surroundings.services;
    Deeds deeds(time);
    const auto look_at_histories = [&](bool is_news) {
        const auto look = [&](std::string_view group, const GroupHistory& history) { deeds.look_at(group, history, is_news); };
        services.coordinators.groups.visit_histories(look);
        for (runtime::OwnershipSource* source : services.extensions.ownership) {
            source->visit_histories(look);
        }
    };
    look_at_histories(false);
    std::optional<MovableTime::Moved> moved;
    {
        const log::Listener listener([&](log::Event event) { deeds.hear(std::move(event)); });
        moved = time.move(wish, [&] { return surroundings.looks.is_stopping(); });
    }
    if (!moved) {
        respond_error(exchange, Status::conflict, "another request moves the clock; try again when it is done");
        return;
    }
    look_at_histories(true);
    ordered_json object = surroundings.identity.begin_answer();
    tell_time(object, time);
    object["advanced_ms"] = moved->to.wall.value - moved->from.wall.value;
    object["stops"] = moved->stops;
    object["ran"] = moved->ran;
    object["unfinished"] = moved->unfinished;
    object["done"] = deeds.json();
    object["done_left_out"] = deeds.left_out();
    respond_json(exchange, object);
}

}  // namespace

void serve_clock(const Surroundings& surroundings, const ExchangePointer& exchange) {
    MovableTime* const time = time_of(surroundings, *exchange);
    if (time == nullptr) {
        return;
    }
    ordered_json object = surroundings.identity.begin_answer();
    tell_time(object, *time);
    respond_json(*exchange, object);
}

void move_clock(const Surroundings& surroundings, const ExchangePointer& exchange) {
    MovableTime* const time = time_of(surroundings, *exchange);
    if (time == nullptr) {
        return;
    }
    JsonBody body(*exchange);
    const std::int64_t left_ms = std::max<std::int64_t>(0, kLatest.value - time->now().wall.value);
    const auto advance_ms = body.number("advance_ms", {.least = 0, .most = left_ms});
    MovableTime::Wish wish{.advance_ms = advance_ms.value_or(0), .wall = body.time("set")};
    if (body.has("freeze")) {
        wish.stands = body.flag("freeze");
    }
    if (wish.wall && *wish.wall > kLatest) {
        body.complain("\"set\" is later than " + config::utc_time_text(kLatest));
    }
    if (advance_ms && wish.wall) {
        body.complain("\"advance_ms\" and \"set\" do not go together");
    }
    if (!advance_ms && !wish.wall && !wish.stands) {
        body.complain("the body has none of \"advance_ms\", \"set\" and \"freeze\"");
    }
    if (body.refuse_unless_good()) {
        return;
    }
    http::start_look(surroundings, exchange,
                     [surroundings, exchange, time, wish] { move(surroundings, *exchange, *time, wish); });
}

}  // namespace partita::faults
