// GET    /v1/groups/G/claims        the owners of partitions, for clients that share partitions out among themselves; topic and
//                                   owner select some of them
// POST   /v1/groups/G/claims        {"owner": "web-1", "claims": [{"topic": "t", "partition": 0, "tag": "17"}], "owner_level": 1,
//                                   "lifetime_ms": 30000, "release": false}: claims, renews, takes over, or gives up
// DELETE /v1/groups/G/claims        forgets all claims and checkpoints of the group
// GET    /v1/groups/G/checkpoints   the checkpoint of each partition
// POST   /v1/groups/G/checkpoints   {"owner": "web-1", "checkpoints": [{"topic": "t", "partition": 0, "offset": 812,
//                                   "sequence_number": 812}]}
//
// The rules are those of broker/addons/claims/core/claim_coordinator.h. In a request for one partition the tag may come in the
// header `If-Match`; the answer then carries its tag in `ETag`.

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "broker/addons/claims/http/resources.h"
#include "broker/addons/claims/shell/claim_shards.h"
#include "broker/handlers/extensions.h"
#include "broker/handlers/services.h"
#include "broker/http/authorize.h"
#include "broker/http/broker_identity.h"
#include "broker/http/json_body.h"
#include "broker/http/kafka_errors.h"
#include "broker/http/parameters.h"
#include "broker/insight/findings/finding_json.h"
#include "broker/logs/log_bounds.h"
#include "broker/logs/published_topics.h"
#include "broker/logs/turns.h"
#include "broker/runtime/catalog/catalog.h"
#include "broker/runtime/loop/upkeep_bell.h"
#include "schedule/clock.h"

namespace partita::claims {
namespace {

using http::authorize;
using http::Exchange;
using http::ExchangePointer;
using http::Headers;
using http::JsonBody;
using http::kJson;
using http::parse_number;
using http::refusal_sentence;
using http::respond_error;
using http::respond_json;
using http::respond_kafka_error;
using http::Status;
using http::Surroundings;
using nlohmann::ordered_json;

std::string shown(const std::string& text) { return insight::name_text(text); }

std::string_view sentence_of(ClaimRefusal refusal) {
    switch (refusal) {
        case ClaimRefusal::none:
            return "";
        case ClaimRefusal::stale_tag:
            return "the partition's claim has another tag";
        case ClaimRefusal::stolen:
            return "another owner has claimed the partition since";
        case ClaimRefusal::held:
            return "another claim of the partition is valid";
        case ClaimRefusal::lower_level:
            return "a claim with a higher owner level is valid";
        case ClaimRefusal::too_many:
            return "the limit of partitions and groups with claims and checkpoints is reached";
    }
    return "";
}

/// `place` and its claim, if one exists.
ordered_json claim_json(const ClaimPlace& place, const Claim& claim, Instant now) {
    const bool is_valid = claim.is_valid(now);
    ordered_json told{{"topic", shown(place.topic)}, {"partition", place.partition}};
    told["owner"] = claim.is_released ? ordered_json(nullptr) : ordered_json(shown(claim.owner));
    told["owner_level"] = claim.owner_level ? ordered_json(*claim.owner_level) : ordered_json(nullptr);
    told["claim"] = claim.number;
    told["tag"] = std::to_string(claim.tag.value);
    told["valid"] = is_valid;
    told["expires_in_ms"] = is_valid ? ordered_json(claim.expires.value - now.value) : ordered_json(nullptr);
    told["since_ms"] = claim.since.value;
    told["changed_ms"] = claim.changed.value;
    return told;
}

ordered_json refused_json(const ClaimOutcome& outcome, Instant now) {
    ordered_json told{{"topic", shown(outcome.place.topic)},
                      {"partition", outcome.place.partition},
                      {"reason", to_string(outcome.refusal)},
                      {"error", sentence_of(outcome.refusal)}};
    told["current"] = outcome.claim ? claim_json(outcome.place, *outcome.claim, now) : ordered_json(nullptr);
    return told;
}

/// Reads the partitions of a request, and finds their topics.
class Wishes {
  public:
    Wishes(const Surroundings& surroundings, Exchange& exchange)
        : services_(surroundings.services), exchange_(exchange), table_(services_.topics.table()), body_(exchange) {
        const std::string& group = exchange.request().path.at(2);
        if (group.empty() || group.size() > kClaimNameBytesMax) {
            body_.complain("the group's name must have 1 to " + std::to_string(kClaimNameBytesMax) + " bytes");
        }
        owner_ = body_.text("owner");
        if (owner_.empty() || owner_.size() > kClaimNameBytesMax) {
            body_.complain("\"owner\" must have 1 to " + std::to_string(kClaimNameBytesMax) + " bytes");
        }
    }

    [[nodiscard]] JsonBody& body() { return body_; }
    [[nodiscard]] const std::string& owner() const { return owner_; }

    /// Also reads the tag: from the object, or from the header if there is only one object.
    [[nodiscard]] ClaimPartitions::Wish claim(JsonBody& object) {
        ClaimPartitions::Wish wish;
        std::tie(wish.place, wish.topic_id) = place(object);
        const std::optional<std::string> tag = object.text_or_null("tag");
        wish.tag = tag ? tag_of(*tag) : std::nullopt;
        return wish;
    }
    [[nodiscard]] WriteCheckpoints::Wish checkpoint(JsonBody& object) {
        WriteCheckpoints::Wish wish;
        std::tie(wish.place, wish.topic_id) = place(object);
        if (!object.has("offset")) {
            object.complain("\"offset\" is missing");
        }
        wish.offset = {object.number("offset", {}).value_or(0)};
        wish.sequence_number = object.number("sequence_number", {});
        return wish;
    }
    void take_tag_of_header(std::vector<ClaimPartitions::Wish>& wishes) {
        std::string_view tag = exchange_.request().if_match;
        if (tag.empty()) {
            return;
        }
        if (wishes.size() != 1 || wishes.front().tag) {
            body_.complain("If-Match needs a request with one partition and without \"tag\"");
        } else if (tag.size() < 2 || !tag.starts_with('"') || !tag.ends_with('"')) {
            body_.complain("If-Match has no tag in double quotes");
        } else {
            wishes.front().tag = tag_of(tag.substr(1, tag.size() - 2));
        }
    }
    /// Answers if something is wrong or not allowed.
    [[nodiscard]] bool refused() {
        if (body_.refuse_unless_good()) {
            return true;
        }
        if (!missing_.empty()) {
            respond_kafka_error(exchange_, ErrorCode::unknown_topic_or_partition, missing_);
        } else if (!forbidden_.empty()) {
            respond_error(exchange_, Status::forbidden, refusal_sentence(exchange_.caller(), access::kReadTopic, forbidden_));
        }
        return !missing_.empty() || !forbidden_.empty();
    }

  private:
    [[nodiscard]] std::pair<ClaimPlace, TopicId> place(JsonBody& object) {
        ClaimPlace place{.topic = object.text("topic")};
        if (!object.has("partition")) {
            object.complain("\"partition\" is missing");
        }
        place.partition =
            static_cast<std::int32_t>(object.number("partition", {.most = std::numeric_limits<std::int32_t>::max()}).value_or(0));
        const logs::TopicState* topic = table_->find(place.topic);
        // A caller that may not see a topic must not learn whether it exists.
        if (!authorize(services_.authorizer, exchange_.caller(), access::kReadTopic, place.topic,
                       "POST /v1/groups/G/" + exchange_.request().path.at(3))) {
            forbidden_ = place.topic;
            return {std::move(place), TopicId()};
        }
        if (topic == nullptr || place.partition >= topic->topic->partition_count) {
            missing_ = topic == nullptr ? "there is no topic " + place.topic
                                        : place.topic + " has no partition " + std::to_string(place.partition);
            return {std::move(place), TopicId()};
        }
        return {std::move(place), topic->topic->id};
    }

    /// A text that was never a tag counts as an old tag. Tags are compared as texts, so "017" is not a tag even if "17" is.
    [[nodiscard]] static std::optional<ClaimTag> tag_of(std::string_view text) {
        const auto number = parse_number(text);
        return ClaimTag{number && std::to_string(*number) == text ? *number : -1};
    }

    const runtime::Services& services_;
    Exchange& exchange_;
    const std::shared_ptr<const logs::TopicTable> table_;
    JsonBody body_;
    std::string owner_;
    std::string missing_;
    std::string forbidden_;
};

/// The answer of the group's coordinator. If this is the first command, the broker first creates the coordinator's topic. Null:
/// the client was told that no coordinator is available at the moment.
template <class Command>
std::optional<typename Command::Result> ask(const Surroundings& surroundings, Exchange& exchange, Command command) {
    const runtime::Services& services = surroundings.services;
    logs::Turn& turn = services.turns.first();
    std::optional<typename Command::Result> result;
    if (services.extensions.parts.get<ClaimShards>().is_attached() ||
        services.catalog.make_topic_of(catalog::CoordinatorKind::claims, turn)) {
        const std::string group = command.group;
        result = services.extensions.parts.get<ClaimShards>().ask(turn, group, std::move(command));
    }
    if (!result || result->error == ErrorCode::not_coordinator) {
        respond_kafka_error(exchange, ErrorCode::not_coordinator, "cannot store claims at the moment; try again");
        return std::nullopt;
    }
    return result;
}

/// Answers with the outcome of each partition. 412 if every partition was refused.
void respond_outcomes(const Surroundings& surroundings, Exchange& exchange, const ClaimsResult& result, std::string_view name,
                      const std::function<ordered_json(const ClaimOutcome&)>& done_json) {
    const Instant now = surroundings.services.clock.now().monotonic;
    ordered_json object = surroundings.identity.begin_answer();
    object["group"] = shown(exchange.request().path.at(2));
    object[name] = ordered_json::array();
    object["refused"] = ordered_json::array();
    bool is_news = false;
    for (const ClaimOutcome& outcome : result.outcomes) {
        const bool is_done = outcome.refusal == ClaimRefusal::none;
        is_news |= outcome.is_takeover || outcome.refusal == ClaimRefusal::stolen;
        object[is_done ? name : "refused"].push_back(is_done ? done_json(outcome) : refused_json(outcome, now));
    }
    if (is_news) {
        surroundings.services.upkeep.bell.commit_refused();
    }
    Headers headers;
    if (result.outcomes.size() == 1 && result.outcomes.front().claim) {
        headers.push_back({"ETag", "\"" + std::to_string(result.outcomes.front().claim->tag.value) + "\""});
    }
    const Status status = object[name].empty() ? Status::precondition_failed : Status::ok;
    if (status != Status::ok) {
        object["error"] = sentence_of(result.outcomes.front().refusal);
    }
    exchange.respond(status, kJson, object.dump(-1, ' ', false, ordered_json::error_handler_t::replace) + "\n",
                     std::move(headers));
}

/// Rows of existing topics that the client asks for and may see. `tell`: place, row, topic.
template <class Row, class Tell>
void for_each_row(const Surroundings& surroundings, const Exchange& exchange, const std::map<ClaimPlace, Row>& rows, Tell tell) {
    const auto wanted = exchange.request().parameter("topic");
    const auto table = surroundings.services.topics.table();
    for (const auto& [place, row] : rows) {
        const logs::TopicState* topic = table->find(place.topic);
        const bool is_there =
            topic != nullptr && topic->topic->id == row.topic_id && place.partition < topic->topic->partition_count;
        if (is_there && (!wanted || *wanted == place.topic) &&
            surroundings.services.authorizer.meets(exchange.caller().requester(), access::kDescribeTopic, place.topic)) {
            tell(place, row, *topic);
        }
    }
}

}  // namespace

void serve_claims(const Surroundings& surroundings, const ExchangePointer& exchange) {
    const std::string& group = exchange->request().path.at(2);
    const auto owner = exchange->request().parameter("owner");
    const Instant now = surroundings.services.clock.now().monotonic;
    const auto known = surroundings.services.extensions.parts.get<ClaimShards>().group_of(group);
    ordered_json object = surroundings.identity.begin_answer();
    object["group"] = shown(group);
    object["time_ms"] = surroundings.services.clock.now().wall.value;
    object["claims"] = ordered_json::array();
    for_each_row(surroundings, *exchange, known.claims,
                 [&](const ClaimPlace& place, const Claim& claim, const logs::TopicState&) {
                     if (!owner || (*owner == claim.owner && !claim.is_released)) {
                         object["claims"].push_back(claim_json(place, claim, now));
                     }
                 });
    respond_json(*exchange, object);
}

void change_claims(const Surroundings& surroundings, const ExchangePointer& exchange) {
    Wishes wishes(surroundings, *exchange);
    JsonBody& body = wishes.body();
    ClaimPartitions command{.group = exchange->request().path.at(2),
                            .owner = wishes.owner(),
                            .address = "/" + exchange->caller().address,
                            .owner_level = body.number("owner_level", {}),
                            .wishes = {}};
    command.lifetime_ms = body.number("lifetime_ms", {.least = kClaimLifetimeMsLeast, .most = kClaimLifetimeMsMost})
                              .value_or(kClaimLifetimeMsDefault);
    const bool gives_up = body.flag("release");
    body.objects("claims", kClaimWishesMax, [&](JsonBody& object) { command.wishes.push_back(wishes.claim(object)); });
    wishes.take_tag_of_header(command.wishes);
    if (wishes.refused()) {
        return;
    }
    const auto result =
        gives_up
            ? ask(surroundings, *exchange,
                  ReleasePartitions{.reply_to = {}, .group = command.group, .owner = command.owner, .wishes = command.wishes})
            : ask(surroundings, *exchange, command);
    if (result) {
        const Instant now = surroundings.services.clock.now().monotonic;
        respond_outcomes(surroundings, *exchange, *result, "claims",
                         [&](const ClaimOutcome& outcome) { return claim_json(outcome.place, *outcome.claim, now); });
    }
}

void forget_claims(const Surroundings& surroundings, const ExchangePointer& exchange) {
    const std::string& group = exchange->request().path.at(2);
    const auto result = surroundings.services.extensions.parts.get<ClaimShards>().is_attached()
                            ? ask(surroundings, *exchange, ForgetClaims{.reply_to = {}, .group = group})
                            : ForgetClaimsResult{.error = ErrorCode::group_id_not_found};
    if (!result) {
        return;
    }
    if (result->error != ErrorCode::none) {
        respond_kafka_error(*exchange, result->error,
                            result->error == ErrorCode::non_empty_group
                                ? "an owner has a valid claim in " + group
                                : "no claims or checkpoints exist for the group " + group);
        return;
    }
    ordered_json object = surroundings.identity.begin_answer();
    object["group"] = shown(group);
    object["forgotten"] = true;
    respond_json(*exchange, object);
}

void serve_checkpoints(const Surroundings& surroundings, const ExchangePointer& exchange) {
    const std::string& group = exchange->request().path.at(2);
    const auto known = surroundings.services.extensions.parts.get<ClaimShards>().group_of(group);
    ordered_json object = surroundings.identity.begin_answer();
    object["group"] = shown(group);
    object["checkpoints"] = ordered_json::array();
    for_each_row(surroundings, *exchange, known.checkpoints,
                 [&](const ClaimPlace& place, const ClaimCheckpoint& checkpoint, const logs::TopicState& topic) {
                     const logs::LogBounds bounds = logs::log_bounds(*topic.partition(place.partition));
                     ordered_json told{{"topic", shown(place.topic)}, {"partition", place.partition}};
                     told["offset"] = checkpoint.offset.value;
                     told["sequence_number"] =
                         checkpoint.sequence_number ? ordered_json(*checkpoint.sequence_number) : ordered_json(nullptr);
                     told["owner"] = shown(checkpoint.owner);
                     told["time_ms"] = checkpoint.time.value;
                     told["end"] = bounds.end.value;
                     object["checkpoints"].push_back(std::move(told));
                 });
    respond_json(*exchange, object);
}

void write_checkpoints(const Surroundings& surroundings, const ExchangePointer& exchange) {
    Wishes wishes(surroundings, *exchange);
    WriteCheckpoints command{.reply_to = {}, .group = exchange->request().path.at(2), .owner = wishes.owner(), .wishes = {}};
    wishes.body().objects("checkpoints", kClaimWishesMax,
                          [&](JsonBody& object) { command.wishes.push_back(wishes.checkpoint(object)); });
    if (wishes.refused()) {
        return;
    }
    if (const auto result = ask(surroundings, *exchange, command)) {
        respond_outcomes(surroundings, *exchange, *result, "checkpoints", [](const ClaimOutcome& outcome) {
            return ordered_json{{"topic", shown(outcome.place.topic)}, {"partition", outcome.place.partition}};
        });
    }
}

}  // namespace partita::claims
