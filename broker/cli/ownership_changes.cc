#include "broker/cli/ownership_changes.h"

#include <ranges>

#include "broker/cli/clock_text.h"
#include "protocol/printable.h"

namespace partita::cli {
namespace {

using nlohmann::ordered_json;

std::string text_or(const ordered_json& value, const char* other) {
    return value.is_null() ? std::string(other) : value.get<std::string>();
}

/// A member's name for people: its client id, with the static name if it has one.
std::string name_of(const ordered_json& change, const std::string& which) {
    const ordered_json& id = change.at(which);
    if (id.is_null()) {
        return "nobody";
    }
    return text_or(change.value(which + "_name", ordered_json(nullptr)), id.get<std::string>().c_str());
}

std::string claim_text(const ordered_json& claim) { return claim.is_null() ? "?" : std::to_string(claim.get<std::int64_t>()); }

std::string checkpoint_text(const ordered_json& change) {
    const ordered_json& checkpoint = change.at("checkpoint");
    if (checkpoint.is_null()) {
        return ", no commit";
    }
    std::string text = ", committed " + std::to_string(checkpoint.at("offset").get<std::int64_t>());
    if (!checkpoint.at("lag").is_null()) {
        text += ", lag " + std::to_string(checkpoint.at("lag").get<std::int64_t>());
    }
    return text;
}

std::string takeover_text(const ordered_json& change) {
    std::string text = name_of(change, "from") + " -> " + name_of(change, "to") + ", " + change.at("kind").get<std::string>();
    if (change.at("cause") != change.at("kind")) {
        text += " (" + change.at("cause").get<std::string>() + ")";
    }
    if (change.at("flapping").get<bool>()) {
        text += ", flapping";
    }
    text += ", claim " + claim_text(change.at("claim_before")) + " -> " + claim_text(change.at("claim"));
    const ordered_json& unowned = change.at("unowned_ms");
    if (!unowned.is_null()) {
        text += ", without an owner for " + std::to_string(unowned.get<std::int64_t>()) + " ms";
    }
    return text;
}

std::string text_of(const ordered_json& change) {
    const std::string event = change.at("event");
    const ordered_json& time = change.at("time_ms");
    std::string text = (time.is_null() ? std::string("--:--:--") : clock_time(time.get<std::int64_t>())) + " " + event +
                       std::string(event.size() < 9 ? 9 - event.size() : 1, ' ');
    if (event == "missed") {
        return text + std::to_string(change.at("takeovers").get<std::uint64_t>()) + " takeovers without details";
    }
    text += change.at("topic").get<std::string>() + " " + std::to_string(change.at("partition").get<std::int64_t>()) + ": ";
    if (event == "owner") {
        return text + name_of(change, "member_id") + ", claim " + claim_text(change.at("claim")) + checkpoint_text(change);
    }
    if (event == "free") {
        return text + "no owner; before: " + name_of(change, "previous");
    }
    if (event == "stolen") {
        return text + name_of(change, "from") + " continued after " + name_of(change, "to") + " took over";
    }
    return text + takeover_text(change);
}

}  // namespace

std::vector<ordered_json> OwnershipChanges::update(const ordered_json& answer) {
    std::vector<ordered_json> changes;
    std::map<std::string, std::string> names;
    for (const ordered_json& member : answer.at("members")) {
        const std::string client = member.at("client_id");
        names[member.at("member_id")] = text_or(member.at("instance_id"), client.c_str());
    }
    const std::int64_t now = answer.at("time_ms");
    const auto add_name = [&](ordered_json& change, const std::string& which) {
        const ordered_json& id = change.at(which);
        change[which + "_name"] = id.is_null() ? ordered_json(nullptr) : ordered_json(names[id.get<std::string>()]);
    };
    // The oldest first. A restarted broker counts from 1 again.
    const ordered_json& takeovers = answer.at("takeovers");
    const std::uint64_t newest = takeovers.empty() ? 0 : takeovers.front().at("sequence").get<std::uint64_t>();
    const bool is_anew = newest < last_sequence_;
    std::uint64_t told = is_first_ ? newest : is_anew ? 0 : last_sequence_;
    std::map<std::uint64_t, std::string> kinds;
    std::map<Place, bool> taken_over;
    for (const ordered_json& takeover : takeovers | std::views::reverse) {
        const std::uint64_t sequence = takeover.at("sequence");
        const std::string kind = takeover.at("kind");
        kinds[sequence] = kind;
        const auto known = is_anew ? kinds_.end() : kinds_.find(sequence);
        const bool turned_out = known != kinds_.end() && known->second != kind;
        if (sequence <= told && !turned_out) {
            continue;
        }
        if (sequence > told + 1 && !turned_out) {
            changes.push_back({{"event", "missed"}, {"time_ms", now}, {"takeovers", sequence - told - 1}});
        }
        ordered_json change{{"event", turned_out ? "stolen" : "takeover"}};
        change.update(takeover);
        if (turned_out) {
            change["time_ms"] = takeover.at("seen_after_ms");
        }
        add_name(change, "from");
        add_name(change, "to");
        if (!turned_out) {
            taken_over[{takeover.at("topic"), takeover.at("partition")}] = true;
            told = sequence;
        }
        changes.push_back(std::move(change));
    }
    std::map<Place, Owner> owners;
    for (const ordered_json& one : answer.at("partitions")) {
        const Place place{one.at("topic"), one.at("partition")};
        const auto known = owners_.find(place);
        if (one.at("member_id").is_null()) {
            if (known != owners_.end()) {
                changes.push_back({{"event", "free"},
                                   {"time_ms", one.at("free_since_ms")},
                                   {"topic", place.first},
                                   {"partition", place.second},
                                   {"previous", known->second.member_id}});
                add_name(changes.back(), "previous");
            }
            continue;
        }
        const Owner owner{one.at("member_id"), one.at("claim").is_null() ? -1 : one.at("claim").get<std::int64_t>()};
        owners[place] = owner;
        if ((known == owners_.end() || known->second.member_id != owner.member_id) && !taken_over.contains(place)) {
            ordered_json change{{"event", "owner"},
                                {"time_ms", now},
                                {"topic", place.first},
                                {"partition", place.second},
                                {"member_id", owner.member_id},
                                {"claim", one.at("claim")},
                                {"since_ms", one.at("since_ms")},
                                {"checkpoint", one.at("checkpoint")}};
            add_name(change, "member_id");
            changes.push_back(std::move(change));
        }
    }
    owners_ = std::move(owners);
    kinds_ = std::move(kinds);
    last_sequence_ = newest;
    is_first_ = false;
    return changes;
}

std::string readable_change(const ordered_json& change) { return printable(text_of(change)); }

}  // namespace partita::cli
