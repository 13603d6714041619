#include "broker/addons/faults/http/fault_json.h"

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <utility>

#include "broker/addons/faults/core/fault_table.h"
#include "broker/addons/faults/http/presets.h"
#include "broker/config/java_text.h"
#include "protocol/api_keys.h"
#include "protocol/error_code.h"

namespace partita::faults {
namespace {

using nlohmann::ordered_json;

/// Longer texts are cut where a sentence repeats them.
constexpr std::size_t kShownBytesMax = 64;

constexpr std::string_view kTopicPlaceholder = "$topic";
constexpr std::string_view kGroupPlaceholder = "$group";

std::string shown(std::string_view text) {
    return "\"" + (text.size() > kShownBytesMax ? std::string(text.substr(0, kShownBytesMax)) + "..." : std::string(text)) + "\"";
}

/// Reads an object member by member. It keeps the first problem as a sentence; later reads return defaults. Call `finish` last.
class ObjectReader {
  public:
    /// `path`: the names above the members, each with a dot. An `object` of null has no members.
    ObjectReader(const ordered_json& object, std::string_view path, std::string& problem)
        : object_(object), path_(path), problem_(problem) {}

    void complain(std::string_view name, const std::string& sentence_end) {
        if (problem_.empty()) {
            problem_ = shown(path_ + std::string(name)) + " " + sentence_end;
        }
    }

    /// Null if the member is missing, or if it is JSON's null.
    [[nodiscard]] const ordered_json* find(std::string_view name) {
        known_.push_back(name);
        const auto found = object_.find(name);
        return found == object_.end() || found->is_null() ? nullptr : &*found;
    }
    /// A member that is an object itself; null if it is missing.
    [[nodiscard]] const ordered_json& object(std::string_view name) {
        static const ordered_json kNone;
        const ordered_json* member = find(name);
        if (member != nullptr && !member->is_object()) {
            complain(name, "must be an object");
            return kNone;
        }
        return member == nullptr ? kNone : *member;
    }
    [[nodiscard]] std::string text(std::string_view name) {
        const ordered_json* member = find(name);
        if (member == nullptr) {
            return {};
        }
        if (!member->is_string() || member->get_ref<const std::string&>().size() > Rule::kTextBytesMax) {
            complain(name, "must be a text of at most " + std::to_string(Rule::kTextBytesMax) + " bytes");
            return {};
        }
        return member->get<std::string>();
    }
    template <std::integral Number>
    [[nodiscard]] std::optional<Number> number(std::string_view name, Number least,
                                               Number most = std::numeric_limits<Number>::max()) {
        const ordered_json* member = find(name);
        if (member == nullptr) {
            return std::nullopt;
        }
        const auto fits = [&](auto value) { return std::cmp_less_equal(least, value) && std::cmp_less_equal(value, most); };
        const bool is_good = member->is_number_unsigned() ? fits(member->get<std::uint64_t>())
                                                          : member->is_number_integer() && fits(member->get<std::int64_t>());
        if (!is_good) {
            complain(name, "must be a whole number from " + std::to_string(least) + " to " + std::to_string(most));
            return std::nullopt;
        }
        return member->get<Number>();
    }
    [[nodiscard]] std::optional<double> share(std::string_view name) {
        const ordered_json* member = find(name);
        if (member == nullptr) {
            return std::nullopt;
        }
        if (!member->is_number() || member->get<double>() < 0 || member->get<double>() > 1) {
            complain(name, "must be a number from 0 to 1");
            return std::nullopt;
        }
        return member->get<double>();
    }
    [[nodiscard]] bool flag(std::string_view name) {
        const ordered_json* member = find(name);
        if (member != nullptr && !member->is_boolean()) {
            complain(name, "must be true or false");
            return false;
        }
        return member != nullptr && member->get<bool>();
    }

    /// Complains about a member that no call has read.
    void finish() {
        for (const auto& [name, value] : object_.items()) {
            if (std::ranges::find(known_, name) == known_.end()) {
                std::string allowed;
                for (const std::string_view known : known_) {
                    allowed += (allowed.empty() ? "" : ", ") + std::string(known);
                }
                complain(name, "is unknown here; allowed: " + allowed);
            }
        }
    }

  private:
    const ordered_json& object_;
    const std::string path_;
    std::string& problem_;
    std::vector<std::string_view> known_;
};

std::optional<ApiKey> read_api(ObjectReader& reader, std::string_view member) {
    const std::string name = reader.text(member);
    if (name.empty()) {
        return std::nullopt;
    }
    for (const ApiInfo& api : all_apis()) {
        if (config::java::equal_ignoring_case(api.name, name)) {
            return api.key;
        }
    }
    reader.complain(member, "is " + shown(name) + "; use Kafka's name of a request, such as Produce or JoinGroup");
    return std::nullopt;
}

std::optional<ErrorCode> read_error(ObjectReader& reader, std::string_view member) {
    const std::string name = reader.text(member);
    if (name.empty()) {
        return std::nullopt;
    }
    // The codes have no gaps. NONE is not an error.
    for (std::int16_t code = static_cast<std::int16_t>(ErrorCode::unknown_server_error);
         code <= static_cast<std::int16_t>(ErrorCode::share_session_limit_reached); ++code) {
        const auto error = static_cast<ErrorCode>(code);
        if (error != ErrorCode::none && config::java::equal_ignoring_case(error_name(error), name)) {
            return error;
        }
    }
    reader.complain(member, "is " + shown(name) + "; use Kafka's name of an error, such as NOT_LEADER_OR_FOLLOWER");
    return std::nullopt;
}

Match read_match(ObjectReader reader) {
    Match match;
    match.api = read_api(reader, "api");
    match.version = reader.number<std::int16_t>("version", 0);
    match.client_id = reader.text("client_id");
    match.software = reader.text("software");
    match.principal = reader.text("principal");
    match.group = reader.text("group");
    match.topic = reader.text("topic");
    match.partition = reader.number<std::int32_t>("partition", 0);
    match.listener = reader.text("listener");
    match.broker = reader.number<std::int32_t>("broker", 0);
    reader.finish();
    return match;
}

When read_when(ObjectReader reader) {
    const When defaults;
    When when;
    when.nth = reader.number<std::int64_t>("nth", 1).value_or(defaults.nth);
    when.every = reader.number<std::int64_t>("every", 1).value_or(defaults.every);
    when.times = reader.number<std::int64_t>("times", 0).value_or(defaults.times);
    when.probability = reader.share("probability").value_or(defaults.probability);
    when.seed = reader.number<std::uint64_t>("seed", 0).value_or(defaults.seed);
    when.after_ms = reader.number<std::int64_t>("after_ms", 0, Rule::kWaitMsMax).value_or(defaults.after_ms);
    when.for_ms = reader.number<std::int64_t>("for_ms", 0, Rule::kWaitMsMax).value_or(defaults.for_ms);
    when.after_fault = reader.text("after_fault");
    reader.finish();
    return when;
}

StaleMetadata read_stale_metadata(ObjectReader reader) {
    StaleMetadata stale;
    stale.partitions = reader.number<std::int32_t>("partitions", 1);
    stale.missing = reader.flag("missing");
    stale.shuffled = reader.flag("shuffled");
    stale.leader = reader.number<std::int32_t>("leader", StaleMetadata::kNoLeader);
    reader.finish();
    return stale;
}

Action read_action(ObjectReader reader, std::string& problem) {
    Action action;
    action.delay_ms = reader.number<std::int64_t>("delay_ms", 0, Rule::kWaitMsMax).value_or(0);
    action.hold = reader.flag("hold");
    action.error = read_error(reader, "error");
    action.takes_effect = reader.flag("takes_effect");
    action.drop_request = reader.flag("drop_request");
    action.drop_response = reader.flag("drop_response");
    action.disconnect = reader.flag("disconnect");
    action.throttle_ms = reader.number<std::int32_t>("throttle_ms", 0, Rule::kWaitMsMax).value_or(0);
    action.corrupt_records = reader.flag("corrupt_records");
    action.truncate_records = reader.flag("truncate_records");
    if (const ordered_json& stale = reader.object("stale_metadata"); stale.is_object()) {
        action.stale_metadata = read_stale_metadata({stale, "do.stale_metadata.", problem});
    }
    action.log_start = reader.number<std::int64_t>("log_start", 0);
    action.slow_bytes_per_s = reader.number<std::int64_t>("slow_bytes_per_s", 0, Rule::kBytesPerSMax).value_or(0);
    action.reset_after_bytes = reader.number<std::int32_t>("reset_after_bytes", 0);
    action.duplicate_response = reader.flag("duplicate_response");
    action.disk_full = reader.flag("disk_full");
    action.sync_fails = reader.flag("sync_fails");
    reader.finish();
    return action;
}

/// `problem` stays as it is if the rule is good.
Rule read_rule(const ordered_json& object, std::string& problem) {
    Rule rule;
    if (!object.is_object()) {
        problem = "a rule must be an object";
        return rule;
    }
    ObjectReader reader(object, "", problem);
    rule.id = reader.text("id");
    rule.match = read_match({reader.object("match"), "match.", problem});
    rule.when = read_when({reader.object("when"), "when.", problem});
    rule.action = read_action({reader.object("do"), "do.", problem}, problem);
    reader.finish();
    return rule;
}

/// Reads a rule or a preset, and adds its rules. `problem` stays as it is if it is good.
void read_rules(const ordered_json& object, std::vector<Rule>& rules, std::string& problem) {
    if (!object.is_object() || !object.contains("preset")) {
        rules.push_back(read_rule(object, problem));
        return;
    }
    ObjectReader reader(object, "", problem);
    const std::string name = reader.text("preset");
    const std::string id = reader.text("id");
    const std::string topic = reader.text("topic");
    const std::string group = reader.text("group");
    reader.finish();
    const auto preset = find_preset(name);
    if (!preset) {
        reader.complain("preset", preset.error());
        return;
    }
    const auto check_member = [&](const char* member, const std::string& value, bool is_taken, bool is_needed) {
        if (!is_taken && !value.empty()) {
            reader.complain(member, "does not go with the preset " + name);
        } else if (is_needed && value.empty()) {
            reader.complain(member, "is missing: the preset " + name + " needs it");
        }
    };
    check_member("topic", topic, (*preset)->takes_topic, (*preset)->needs_topic);
    check_member("group", group, (*preset)->takes_group, false);
    for (const ordered_json& of_preset : ordered_json::parse((*preset)->rules)) {
        Rule rule = read_rule(of_preset, problem);
        rule.id = (id.empty() ? name : id) + "." + rule.id;
        rule.match.topic = rule.match.topic == kTopicPlaceholder ? topic : rule.match.topic;
        rule.match.group = rule.match.group == kGroupPlaceholder ? group : rule.match.group;
        rules.push_back(std::move(rule));
    }
}

/// Adds the member if it differs from its default.
template <class Value>
void add(ordered_json& object, const char* name, const Value& value, const Value& default_value) {
    if (value != default_value) {
        object[name] = value;
    }
}
template <class Value>
void add(ordered_json& object, const char* name, const std::optional<Value>& value) {
    if (value) {
        object[name] = *value;
    }
}

ordered_json match_json(const Match& match) {
    ordered_json object = ordered_json::object();
    if (match.api) {
        object["api"] = api_name(*match.api);
    }
    add(object, "version", match.version);
    add(object, "client_id", match.client_id, {});
    add(object, "software", match.software, {});
    add(object, "principal", match.principal, {});
    add(object, "group", match.group, {});
    add(object, "topic", match.topic, {});
    add(object, "partition", match.partition);
    add(object, "listener", match.listener, {});
    add(object, "broker", match.broker);
    return object;
}

ordered_json when_json(const When& when) {
    const When defaults;
    ordered_json object = ordered_json::object();
    add(object, "nth", when.nth, defaults.nth);
    add(object, "every", when.every, defaults.every);
    add(object, "times", when.times, defaults.times);
    add(object, "probability", when.probability, defaults.probability);
    add(object, "seed", when.seed, defaults.seed);
    add(object, "after_ms", when.after_ms, defaults.after_ms);
    add(object, "for_ms", when.for_ms, defaults.for_ms);
    add(object, "after_fault", when.after_fault, {});
    return object;
}

ordered_json stale_json(const StaleMetadata& stale) {
    ordered_json object = ordered_json::object();
    add(object, "partitions", stale.partitions);
    add(object, "missing", stale.missing, false);
    add(object, "shuffled", stale.shuffled, false);
    add(object, "leader", stale.leader);
    return object;
}

ordered_json action_json(const Action& action) {
    const Action defaults;
    ordered_json object = ordered_json::object();
    add(object, "delay_ms", action.delay_ms, defaults.delay_ms);
    add(object, "hold", action.hold, false);
    if (action.error) {
        object["error"] = error_name(*action.error);
    }
    add(object, "takes_effect", action.takes_effect, false);
    add(object, "drop_request", action.drop_request, false);
    add(object, "drop_response", action.drop_response, false);
    add(object, "disconnect", action.disconnect, false);
    add(object, "throttle_ms", action.throttle_ms, defaults.throttle_ms);
    add(object, "corrupt_records", action.corrupt_records, false);
    add(object, "truncate_records", action.truncate_records, false);
    if (action.stale_metadata) {
        object["stale_metadata"] = stale_json(*action.stale_metadata);
    }
    add(object, "log_start", action.log_start);
    add(object, "slow_bytes_per_s", action.slow_bytes_per_s, defaults.slow_bytes_per_s);
    add(object, "reset_after_bytes", action.reset_after_bytes);
    add(object, "duplicate_response", action.duplicate_response, false);
    add(object, "disk_full", action.disk_full, false);
    add(object, "sync_fails", action.sync_fails, false);
    return object;
}

}  // namespace

std::expected<std::vector<Rule>, std::string> parse_rules(std::string_view text) {
    ordered_json parsed;
    try {
        parsed = ordered_json::parse(text);
    } catch (const ordered_json::parse_error& error) {
        const auto line = 1 + std::ranges::count(text.substr(0, error.byte), '\n');
        return std::unexpected("the text is not JSON: cannot read its line " + std::to_string(line));
    } catch (const ordered_json::exception&) {
        return std::unexpected("the text is not JSON: a number in it is too large");
    }
    std::vector<Rule> rules;
    std::string problem;
    if (!parsed.is_array()) {
        if (!parsed.is_object()) {
            return std::unexpected("the text must be a rule, which is an object, or a list of rules");
        }
        read_rules(parsed, rules, problem);
    } else if (parsed.empty() || parsed.size() > FaultTable::kRulesMax) {
        problem = "a list must have 1 to " + std::to_string(FaultTable::kRulesMax) + " rules";
    } else {
        for (std::size_t index = 0; index < parsed.size() && problem.empty(); ++index) {
            read_rules(parsed[index], rules, problem);
            if (!problem.empty()) {
                problem = "rule " + std::to_string(index + 1) + ": " + problem;
            }
        }
    }
    if (!problem.empty()) {
        return std::unexpected(std::move(problem));
    }
    return rules;
}

ordered_json rule_json(const Rule& rule) {
    return {{"id", rule.id}, {"match", match_json(rule.match)}, {"when", when_json(rule.when)}, {"do", action_json(rule.action)}};
}

}  // namespace partita::faults
