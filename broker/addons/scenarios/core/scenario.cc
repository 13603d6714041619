#include "broker/addons/scenarios/core/scenario.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <system_error>

#include "broker/addons/scenarios/core/counted.h"
#include "protocol/percent_encoding.h"
#include "protocol/try.h"

namespace partita::scenarios {
namespace {

using nlohmann::ordered_json;
using yaml::Members;
using yaml::Value;
using Method = Request::Method;
using Kind = Condition::Kind;

/// 500ms, 10s, 2m, 1h, or a number of milliseconds.
std::int64_t read_time(const Value& value) {
    if (value.json().is_number()) {
        return value.integer<std::int64_t>(0, Scenario::kTimeMsMax);
    }
    const std::string text = value.json().is_string() ? value.text() : std::string();
    std::int64_t number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    const std::string_view unit(end, text.data() + text.size());
    const std::int64_t unit_ms = unit == "ms" ? 1 : unit == "s" ? 1000 : unit == "m" ? 60'000 : unit == "h" ? 3'600'000 : 0;
    if (error != std::errc() || unit_ms == 0 || number < 0 || number > Scenario::kTimeMsMax / unit_ms) {
        value.complain("must be a time such as 500ms, 10s or 2m, at most 24h");
        return 0;
    }
    return number * unit_ms;
}

std::string scalar_text(const Value& value) {
    if (value.json().is_structured() || value.json().is_null()) {
        value.complain("must be a text, a number, true or false");
        return {};
    }
    return value.json().is_string() ? value.json().get<std::string>() : value.json().dump();
}

Settings read_settings(const Value& value) {
    Settings settings;
    for (const auto& [name, setting] : value.members().all()) {
        settings.emplace_back(name, scalar_text(setting));
    }
    return settings;
}

/// A name, such as a topic's. Never empty.
std::string read_name(const Value& value) {
    std::string name = value.text();
    if (value.json().is_string() && name.empty()) {
        value.complain("must not be empty");
    }
    return name;
}

std::vector<std::string> read_names(const Value& value) {
    std::vector<std::string> names;
    for (const Value& one : value.one_or_more()) {
        names.push_back(read_name(one));
    }
    return names;
}

Application read_application(const Value& value) {
    Application application;
    Members members = value.members();
    if (const auto command = members.find("command")) {
        application.command = read_name(*command);
    }
    if (const auto instances = members.find("instances")) {
        application.instances = instances->integer<std::int32_t>(1, Scenario::kInstancesMax);
    }
    if (const auto environment = members.find("environment")) {
        application.environment = read_settings(*environment);
    }
    application.topic = read_name(members.get("topic"));
    if (const auto group = members.find("group")) {
        application.group = read_name(*group);
    }
    if (const auto reports = members.find("reports")) {
        if (reports->json().is_object()) {
            Members inner = reports->members();
            application.reports = Reports::topic;
            application.report_topic = read_name(inner.get("topic"));
            inner.finish();
        } else {
            const std::string kind = reports->one_of({"commits", "stdout", "nothing"});
            application.reports = kind == "stdout"    ? Reports::standard_output
                                  : kind == "nothing" ? Reports::nothing
                                                      : Reports::commits;
        }
    }
    if (application.reports == Reports::commits && application.group.empty()) {
        value.complain("needs a group, or reports: stdout: without commits nothing tells what it received");
    }
    if (const auto begins = members.find("begins")) {
        application.begins_at_end = begins->one_of({"earliest", "latest"}) == "latest";
    }
    if (const auto may_fail = members.find("may_fail")) {
        application.may_fail = may_fail->flag();
    }
    members.finish();
    return application;
}

// Conditions -----------------------------------------------------------------------------------------

/// Reads the conditions among the members of a wait or an assertion.
std::vector<Condition> read_conditions(const Value& value, Members& members, const Application& application) {
    std::vector<Condition> conditions;
    const auto group_of = [&](Members& inner, const Value& place) {
        const auto group = inner.find("group");
        std::string name = group ? read_name(*group) : application.group;
        if (name.empty()) {
            place.complain("needs group, as the application has none");
        }
        return name;
    };
    if (const auto wanted = members.find("members")) {
        Condition condition{.kind = Kind::members};
        if (wanted->json().is_object()) {
            Members inner = wanted->members();
            condition.group = group_of(inner, *wanted);
            condition.number = inner.get("count").integer<std::int64_t>(0, 10'000);
            inner.finish();
        } else {
            condition.group = application.group;
            condition.number = wanted->integer<std::int64_t>(0, 10'000);
        }
        conditions.push_back(condition);
    }
    if (const auto wanted = members.find("assigned")) {
        Condition condition{.kind = Kind::assigned, .group = application.group, .topic = application.topic};
        if (!wanted->json().is_boolean() || !wanted->flag()) {
            wanted->complain("must be true, or missing");
        }
        if (application.group.empty()) {
            wanted->complain("needs an application with a group");
        }
        conditions.push_back(condition);
    }
    if (const auto wanted = members.find("lag")) {
        Condition condition{.kind = Kind::lag};
        if (wanted->json().is_object()) {
            Members inner = wanted->members();
            condition.group = group_of(inner, *wanted);
            if (const auto topic = inner.find("topic")) {
                condition.topic = read_name(*topic);
            }
            condition.number = inner.get("at_most").integer<std::int64_t>(0);
            inner.finish();
        } else {
            condition.group = application.group;
            condition.number = wanted->integer<std::int64_t>(0);
        }
        conditions.push_back(condition);
    }
    if (const auto wanted = members.find("records")) {
        Condition condition{.kind = Kind::records, .topic = application.topic};
        if (wanted->json().is_object()) {
            Members inner = wanted->members();
            if (const auto topic = inner.find("topic")) {
                condition.topic = read_name(*topic);
            }
            condition.number = inner.get("at_least").integer<std::int64_t>(1);
            inner.finish();
        } else {
            condition.number = wanted->integer<std::int64_t>(1);
        }
        conditions.push_back(condition);
    }
    if (const auto wanted = members.find("findings")) {
        Condition condition{.kind = Kind::findings};
        Members inner = wanted->members();
        if (const auto topic = inner.find("topic")) {
            condition.topic = read_name(*topic);
        }
        if (const auto group = inner.find("group")) {
            condition.group = read_name(*group);
        }
        if (const auto present = inner.find("present")) {
            condition.present = read_names(*present);
        }
        if (const auto absent = inner.find("absent")) {
            condition.absent = read_names(*absent);
        }
        if (const auto severity = inner.find("none_of_severity")) {
            condition.severity = severity->one_of({"block", "warn", "info"});
        }
        inner.finish();
        if (condition.present.empty() && condition.absent.empty() && condition.severity.empty()) {
            wanted->complain("needs present, absent or none_of_severity");
        }
        conditions.push_back(condition);
    }
    const bool has_reports = application.reports == Reports::standard_output || application.reports == Reports::topic;
    const auto needs_reports = [&](const Value& wanted) {
        if (!has_reports) {
            wanted.complain("needs an application that reports what it processed: reports: stdout, or a topic");
        }
    };
    if (const auto wanted = members.find("received")) {
        needs_reports(*wanted);
        conditions.push_back({.kind = Kind::received, .number = wanted->integer<std::int64_t>(1)});
    }
    if (const auto wanted = members.find("quiet")) {
        needs_reports(*wanted);
        conditions.push_back({.kind = Kind::quiet, .number = read_time(*wanted)});
    }
    const auto flag = [&](const char* name, Kind kind, bool is_known_by_commits) {
        const auto wanted = members.find(name);
        if (!wanted) {
            return;
        }
        if (!wanted->flag()) {
            wanted->complain("must be true, or missing");
        }
        if (!is_known_by_commits || (kind != Kind::ended && application.reports == Reports::nothing)) {
            needs_reports(*wanted);
        }
        conditions.push_back({.kind = kind, .group = application.group, .topic = application.topic});
    };
    flag("ended", Kind::ended, true);
    flag("nothing_lost", Kind::nothing_lost, true);
    flag("nothing_twice", Kind::nothing_twice, false);
    flag("order_of_keys", Kind::order_of_keys, true);
    if (conditions.empty()) {
        value.complain(
            "needs a condition: members, assigned, lag, records, findings, received, quiet, ended, nothing_lost, nothing_twice "
            "or order_of_keys");
    }
    return conditions;
}

std::string joined_text(const std::vector<Condition>& conditions) {
    std::string text;
    for (const Condition& condition : conditions) {
        text += (text.empty() ? "" : ", and ") + condition.text();
    }
    return text;
}

/// Whether a finding that comes later would break it.
bool waits_for_findings(const Condition& condition, const Application& application) {
    return (condition.kind == Kind::findings && condition.present.empty()) ||
           (application.reports == Reports::commits &&
            (condition.kind == Kind::nothing_lost || condition.kind == Kind::order_of_keys));
}

// Steps ----------------------------------------------------------------------------------------------

std::string topic_target(const std::string& topic, const std::string& rest) {
    return "/v1/topics/" + percent_encoded(topic) + "/" + rest;
}

void read_refusal(Members& members, Request& request) {
    if (const auto refused = members.find("refused")) {
        request.must_be_refused = true;
        if (refused->json().is_string()) {
            request.refusal_code = read_name(*refused);
        } else if (!refused->flag()) {
            refused->complain("must be true, or Kafka's name of an error");
        }
    }
}

Step ask(std::string text, Request request) {
    return {.kind = Step::Kind::ask, .text = std::move(text), .requests = {std::move(request)}};
}

Step read_grow(const Value& value) {
    Members members = value.members();
    const std::string topic = read_name(members.get("topic"));
    const auto to = members.get("to").integer<std::int32_t>(1);
    Step step{.kind = Step::Kind::ask, .text = "grow " + topic + " to " + counted(to, "partition")};
    if (const auto mode = members.find("mode")) {
        const std::string name = mode->one_of({"faithful", "safe-offsets", "guarded", "fenced"});
        step.requests.push_back({.method = Method::post,
                                 .target = topic_target(topic, "configs"),
                                 .body = ordered_json{{"set", {{"partita.expansion.mode", name}}}}.dump()});
        step.text += " in mode " + name;
    }
    Request growth{
        .method = Method::post, .target = topic_target(topic, "partitions"), .body = ordered_json{{"count", to}}.dump()};
    read_refusal(members, growth);
    step.text += growth.must_be_refused ? ", which must be refused" : "";
    step.requests.push_back(std::move(growth));
    members.finish();
    return step;
}

Step read_configs(const Value& value) {
    Members members = value.members();
    const std::string topic = read_name(members.get("topic"));
    ordered_json set = ordered_json::object();
    std::string names;
    for (const auto& [name, setting] : members.get("set").members().all()) {
        set[name] = setting.json().is_null() ? ordered_json() : ordered_json(scalar_text(setting));
        names += (names.empty() ? "" : ", ") + name;
    }
    Request request{.method = Method::post, .target = topic_target(topic, "configs"), .body = ordered_json{{"set", set}}.dump()};
    read_refusal(members, request);
    members.finish();
    return ask("set " + names + " of " + topic, std::move(request));
}

Step read_visibility(const Value& value) {
    Members members = value.members();
    const std::string topic = read_name(members.get("topic"));
    std::string query;
    for (const char* role : {"producers", "consumers"}) {
        if (const auto time = members.find(role)) {
            query += (query.empty() ? "?" : "&") + std::string(role) + "=" + percent_encoded(scalar_text(*time));
        }
    }
    if (query.empty()) {
        value.complain("needs producers or consumers: milliseconds, until-released or released");
    }
    members.finish();
    return ask("set the visibility of " + topic, {.method = Method::post, .target = topic_target(topic, "visibility" + query)});
}

Step read_http(const Value& value) {
    Members members = value.members();
    Request request;
    const std::string method = members.get("method").one_of({"GET", "POST", "PUT", "DELETE"});
    request.method = method == "GET"    ? Method::get
                     : method == "POST" ? Method::post
                     : method == "PUT"  ? Method::put
                                        : Method::delete_;
    const Value path = members.get("path");
    request.target = read_name(path);
    if (!request.target.starts_with("/") && path.json().is_string()) {
        path.complain("must begin with /");
    }
    if (const auto body = members.find("body")) {
        request.body = body->json().dump();
        if (request.method != Method::post) {
            body->complain("goes only with POST");
        }
    }
    read_refusal(members, request);
    members.finish();
    std::string text = method + " " + request.target;
    return ask(std::move(text), std::move(request));
}

Step load_step(seed::Seed load) {
    Step step{.kind = Step::Kind::load, .load = std::move(load)};
    std::int64_t records = 0;
    std::string topic;
    for (const auto& record : step.load.records) {
        const auto* generator = std::get_if<seed::SeedGenerator>(&record);
        records += generator == nullptr ? 1 : generator->count;
        topic = generator == nullptr ? std::get<seed::SeedRecord>(record).topic : generator->topic;
    }
    const auto add = [&](const std::string& clause) { step.text += (step.text.empty() ? "" : ", ") + clause; };
    if (!step.load.topics.empty()) {
        add("create " + counted(static_cast<std::int64_t>(step.load.topics.size()), "topic"));
    }
    if (records > 0) {
        add("write " + counted(records, "record") + (step.load.records.size() == 1 ? " to " + topic : ""));
    }
    if (!step.load.commits.empty()) {
        add("commit offsets");
    }
    return step;
}

Step read_load(const Value& value) {
    if (!value.json().is_object() || !value.json().contains("generate")) {
        return load_step(seed::read_seed(value));
    }
    seed::Seed load;
    load.records.emplace_back(seed::read_generator(value));
    return load_step(std::move(load));
}

Step read_check(Step::Kind kind, const Value& value, const Application& application) {
    const bool is_wait = kind == Step::Kind::wait;
    Members members = value.members();
    Step step{.kind = kind, .conditions = read_conditions(value, members, application)};
    const bool must_last =
        std::ranges::any_of(step.conditions, [&](const Condition& one) { return waits_for_findings(one, application); });
    step.time_ms = is_wait ? Scenario::kWaitMs : must_last ? Scenario::kFindingsMs : 0;
    if (const auto time = members.find(is_wait ? "within" : "for")) {
        step.time_ms = read_time(*time);
    }
    members.finish();
    step.text = (is_wait ? "wait until " : "assert that ") + joined_text(step.conditions);
    return step;
}

Step read_step(const Value& value, const Application& application) {
    const auto all = value.members().all();
    if (all.size() != 1) {
        value.complain("must be a mapping of one member, the name of the step");
        return {};
    }
    const auto& [name, body] = all.front();
    if (name == "load") {
        return read_load(body);
    }
    if (name == "start") {
        Step step{.kind = Step::Kind::start, .instances = application.instances};
        if (body.json().is_number()) {
            step.instances = body.integer<std::int32_t>(1, Scenario::kInstancesMax);
        } else if (body.json() != "application") {
            body.complain("must be application, or a number of instances");
        }
        step.text = "start " + counted(step.instances, "instance") + " of the application";
        return step;
    }
    if (name == "stop" || name == "kill") {
        if (body.json() != "application") {
            body.complain("must be application");
        }
        return {.kind = name == "stop" ? Step::Kind::stop : Step::Kind::kill, .text = name + " the application"};
    }
    if (name == "wait" || name == "assert") {
        return read_check(name == "wait" ? Step::Kind::wait : Step::Kind::assert_, body, application);
    }
    if (name == "grow") {
        return read_grow(body);
    }
    if (name == "configs") {
        return read_configs(body);
    }
    if (name == "visibility") {
        return read_visibility(body);
    }
    if (name == "nudge") {
        return ask("nudge the consumers of " + read_name(body),
                   {.method = Method::post, .target = topic_target(read_name(body), "nudge")});
    }
    if (name == "clock") {
        if (!body.json().is_object()) {
            body.complain("must be a mapping such as {advance_ms: 5000}");
        }
        return ask("move the clock", {.method = Method::post, .target = "/v1/clock", .body = body.json().dump()});
    }
    if (name == "fault") {
        return ask("add a fault", {.method = Method::post, .target = "/v1/faults", .body = body.json().dump()});
    }
    if (name == "release") {
        const std::string id = read_name(body);
        return ask("release fault " + id, {.method = Method::post, .target = "/v1/faults/" + percent_encoded(id) + "/release"});
    }
    if (name == "remove_faults") {
        if (body.json() != "all") {
            body.complain("must be all");
        }
        return ask("remove all faults", {.method = Method::delete_, .target = "/v1/faults"});
    }
    if (name == "snapshot" || name == "restore") {
        const std::string snapshot = read_name(body);
        const bool is_taken = name == "snapshot";
        return ask((is_taken ? "take snapshot " : "restore snapshot ") + snapshot,
                   {.method = is_taken ? Method::put : Method::post,
                    .target = "/v1/snapshots/" + percent_encoded(snapshot) + (is_taken ? "" : "/restore")});
    }
    if (name == "http") {
        return read_http(body);
    }
    body.complain(
        "is no step; allowed: load, start, stop, kill, grow, configs, visibility, nudge, clock, fault, release, "
        "remove_faults, snapshot, restore, http, wait, assert");
    return {};
}

Scenario read(const Value& value) {
    Scenario scenario;
    Members members = value.members();
    scenario.name = read_name(members.get("name"));
    if (const auto about = members.find("about")) {
        scenario.about = about->text();
    }
    if (const auto hazards = members.find("hazards")) {
        scenario.hazards = read_names(*hazards);
    }
    if (const auto limit = members.find("time_limit")) {
        scenario.time_limit_ms = read_time(*limit);
    }
    if (const auto broker = members.find("broker")) {
        Members inner = broker->members();
        if (const auto configs = inner.find("configs")) {
            scenario.broker.configs = read_settings(*configs);
        }
        if (const auto snapshot = inner.find("from_snapshot")) {
            scenario.broker.from_snapshot = read_name(*snapshot);
        }
        inner.finish();
    }
    seed::Seed seed;
    if (const auto given = members.find("seed")) {
        seed = seed::read_seed(*given);
    }
    scenario.application = read_application(members.get("application"));
    const std::string& report_topic = scenario.application.report_topic;
    if (!report_topic.empty() && std::ranges::find(seed.topics, report_topic, &seed::SeedTopic::name) == seed.topics.end()) {
        // One partition: its order is that of the reports.
        seed.topics.push_back({.name = report_topic, .partitions = 1});
    }
    if (!seed.topics.empty() || !seed.records.empty() || !seed.commits.empty()) {
        scenario.steps.push_back(load_step(std::move(seed)));
    }
    const Value steps = members.get("steps");
    const std::vector<Value> items = steps.items();
    if (steps.json().is_array() && (items.empty() || items.size() > Scenario::kStepsMax)) {
        steps.complain("must have 1 to " + std::to_string(Scenario::kStepsMax) + " steps");
    }
    for (std::size_t index = 0; index < std::min(items.size(), Scenario::kStepsMax); ++index) {
        scenario.steps.push_back(read_step(items[index], scenario.application));
    }
    members.finish();
    return scenario;
}

}  // namespace

std::string Condition::text() const {
    switch (kind) {
        case Kind::members:
            return "group " + group + " has " + counted(number, "member");
        case Kind::assigned:
            return "group " + group + " has a member for each partition of " + topic;
        case Kind::lag:
            return "group " + group + " has at most " + counted(number, "record") + " left to read" +
                   (topic.empty() ? "" : " in " + topic);
        case Kind::records:
            return "topic " + topic + " has " + counted(number, "record");
        case Kind::findings: {
            std::string text;
            const auto add = [&](const std::string& clause) { text += (text.empty() ? "" : ", ") + clause; };
            for (const std::string& id : present) {
                add("finding " + id + " is there");
            }
            for (const std::string& id : absent) {
                add("finding " + id + " is not there");
            }
            if (!severity.empty()) {
                add("no open finding has severity " + severity);
            }
            return text;
        }
        case Kind::received:
            return "the application has received " + counted(number, "record");
        case Kind::quiet:
            return "the application has received nothing for " + std::to_string(number) + " ms";
        case Kind::ended:
            return "the application has ended";
        case Kind::nothing_lost:
            return "nothing was lost";
        case Kind::nothing_twice:
            return "nothing was received twice";
        case Kind::order_of_keys:
            return "the records of each key came in order";
    }
    return {};
}

std::expected<Scenario, yaml::Problem> read_scenario(std::string_view text) {
    PARTITA_TRY_ASSIGN(const auto document, yaml::parse(text));
    yaml::Reader reader(document);
    Scenario scenario = read(reader.value());
    if (reader.problem()) {
        return std::unexpected(*reader.problem());
    }
    return scenario;
}

}  // namespace partita::scenarios
