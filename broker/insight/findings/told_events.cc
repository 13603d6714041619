#include "broker/insight/findings/told_events.h"

#include <algorithm>
#include <concepts>
#include <limits>
#include <nlohmann/json.hpp>
#include <tuple>
#include <utility>

namespace partita::insight {
namespace {

using nlohmann::ordered_json;

/// The functions below throw the JSON library's exception if a member has another type.
template <std::integral Number>
std::optional<Number> number_of(const ordered_json& object, const char* name) {
    const auto member = object.find(name);
    if (member == object.end()) {
        return std::nullopt;
    }
    const auto value = member->get<std::int64_t>();
    return std::in_range<Number>(value) ? std::optional(static_cast<Number>(value)) : std::nullopt;
}

std::optional<PartitionIndex> partition_of(const ordered_json& object, const char* name) {
    const auto number = number_of<std::int32_t>(object, name);
    return number && *number >= 0 ? std::optional(PartitionIndex{*number}) : std::nullopt;
}

Subject subject_of(const ordered_json& object) {
    const auto text = [&](const char* name) { return object.value(name, std::string()); };
    Subject subject{.topic = text("topic"),
                    .partition = partition_of(object, "partition"),
                    .group = text("group"),
                    .client_id = text("client_id"),
                    .client_address = text("client_address"),
                    .client_port = number_of<std::uint16_t>(object, "client_port"),
                    .program = text("program"),
                    .principal = text("principal")};
    if (const auto id = number_of<std::int64_t>(object, "producer_id")) {
        subject.producer_id = ProducerId{*id};
    }
    return subject;
}

std::optional<std::string> from_hex(std::string_view hex) {
    const auto digit = [](char one) {
        return one >= '0' && one <= '9' ? one - '0' : one >= 'a' && one <= 'f' ? one - 'a' + 10 : -1;
    };
    if (hex.size() % 2 != 0) {
        return std::nullopt;
    }
    std::string bytes;
    for (std::size_t at = 0; at < hex.size(); at += 2) {
        const int high = digit(hex[at]);
        const int low = digit(hex[at + 1]);
        if (high < 0 || low < 0) {
            return std::nullopt;
        }
        bytes += static_cast<char>(high * 16 + low);
    }
    return bytes;
}

std::optional<std::string> key_of(const ordered_json& example) {
    return example.contains("key") ? std::optional(example.at("key").get<std::string>())
                                   : from_hex(example.value("key_hex", std::string()));
}

template <class Value>
std::optional<Value> value_of(std::string_view name, std::initializer_list<Value> values) {
    const auto found = std::ranges::find(values, name, [](Value value) { return to_string(value); });
    return found == values.end() ? std::nullopt : std::optional(*found);
}

std::optional<Finding> finding_of(const ordered_json& object) {
    const auto id = parse_hazard_id(object.at("id").get<std::string>());
    const auto severity = value_of(object.at("severity").get<std::string>(), {Severity::info, Severity::warn, Severity::block});
    // Events of earlier versions have no kind, and nothing that says how long a harm lasts.
    const auto kind = value_of(object.value("kind", std::string("danger")), {HazardKind::danger, HazardKind::harm});
    if (!id || !severity || !kind) {
        return std::nullopt;
    }
    Finding finding = make_finding(*id, subject_of(object.at("subject")), object.at("condition").get<std::string>(),
                                   object.at("count").get<std::int64_t>());
    finding.severity = *severity;
    finding.kind = *kind;
    finding.advice = object.at("advice").get<std::string>();
    finding.is_restored = object.value("restored", false);
    for (const auto& [name, value] : object.at("numbers").items()) {
        finding.numbers.push_back({name, value.get<std::int64_t>()});
    }
    for (const ordered_json& example : object.at("examples")) {
        if (const auto key = key_of(example)) {
            finding.add_example(*key, partition_of(example, "from"), partition_of(example, "to"));
        }
    }
    for (const ordered_json& place : object.value("evidence", ordered_json::array())) {
        if (const auto partition = partition_of(place, "partition")) {
            finding.add_evidence(*partition, Offset{place.at("offset").get<std::int64_t>()});
        }
    }
    return finding;
}

std::optional<FindingEvent> event_of(const ordered_json& object) {
    const auto kind = value_of(object.at("event").get<std::string>(),
                               {FindingEvent::Kind::opened, FindingEvent::Kind::updated, FindingEvent::Kind::closed});
    std::optional<Finding> finding = finding_of(object.at("finding"));
    if (!kind || !finding) {
        return std::nullopt;
    }
    return FindingEvent{.sequence = object.at("sequence").get<std::uint64_t>(),
                        .kind = *kind,
                        .time = {object.at("time_ms").get<std::int64_t>()},
                        .opened = {object.at("opened_ms").get<std::int64_t>()},
                        .is_displaced = object.value("displaced", false),
                        .is_seen = object.value("seen", false),
                        .finding = std::move(*finding)};
}

}  // namespace

std::optional<FindingEvent> parse_event(std::string_view json) {
    const auto object = ordered_json::parse(json, nullptr, false);
    if (!object.is_object()) {
        return std::nullopt;
    }
    try {
        return event_of(object);
    } catch (const ordered_json::exception&) {
        return std::nullopt;
    }
}

void ToldEvents::take(std::string_view json) {
    std::optional<FindingEvent> event = parse_event(json);
    if (!event) {
        return;
    }
    std::string key = identity_of(event->finding) + "|o" + std::to_string(event->opened.value);
    const auto known = told_.find(key);
    const std::int64_t largest = known == told_.end() ? 0 : known->second.open.largest_count;
    Told told{.open = {.finding = std::move(event->finding), .opened = event->opened, .changed = event->time, .largest_count = 0},
              .time = event->time};
    told.open.largest_count = std::max(largest, told.open.finding.count);
    if (event->kind != FindingEvent::Kind::closed) {
        told_.insert_or_assign(std::move(key), std::move(told));
        forget_some();
        return;
    }
    if (known != told_.end()) {
        told_.erase(known);
    }
    if (!event->is_displaced) {
        end(told, event->is_seen ? EndedFinding::How::seen : EndedFinding::How::over);
    }
}

void ToldEvents::end(const Told& told, EndedFinding::How how) {
    ended_.push_back({told.open.finding, told.open.opened, told.time, told.open.largest_count, how});
    // Halved from time to time, and not one by one.
    if (ended_.size() > 2 * FindingsBoard::kEndedMax) {
        ended_.erase(ended_.begin(), ended_.end() - static_cast<std::ptrdiff_t>(FindingsBoard::kEndedMax));
    }
}

void ToldEvents::forget_some() {
    if (told_.size() <= kFollowedMax) {
        return;
    }
    std::vector<std::tuple<bool, TimestampMs, std::string>> order;
    order.reserve(told_.size());
    for (const auto& [key, told] : told_) {
        order.emplace_back(told.open.finding.kind == HazardKind::harm, told.time, key);
    }
    const auto middle = order.begin() + static_cast<std::ptrdiff_t>(order.size() / 2);
    std::ranges::nth_element(order, middle);
    for (auto one = order.begin(); one != middle; ++one) {
        told_.erase(std::get<std::string>(*one));
    }
}

PastFindings ToldEvents::take_past() {
    PastFindings past;
    for (auto& [key, told] : std::exchange(told_, {})) {
        if (told.open.finding.kind == HazardKind::harm) {
            told.open.finding.is_restored = true;
            past.harm.push_back(std::move(told.open));
        } else {
            ended_.push_back(
                {told.open.finding, told.open.opened, told.time, told.open.largest_count, EndedFinding::How::stopped});
        }
    }
    past.ended = std::exchange(ended_, {});
    std::ranges::stable_sort(past.ended, {}, &EndedFinding::closed);
    if (past.ended.size() > FindingsBoard::kEndedMax) {
        past.ended.erase(past.ended.begin(), past.ended.end() - static_cast<std::ptrdiff_t>(FindingsBoard::kEndedMax));
    }
    return past;
}

}  // namespace partita::insight
