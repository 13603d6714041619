// `partita findings`: lists the findings of a running broker, with --all those that are over, too. With --seen: marks harm as
// seen. Uses /v1/findings of the broker's HTTP side.

#include <cstdio>
#include <nlohmann/json.hpp>
#include <string>

#include "broker/cli/clock_text.h"
#include "broker/cli/command.h"
#include "broker/cli/http_client.h"
#include "protocol/percent_encoding.h"
#include "protocol/printable.h"

namespace partita::cli {
namespace {

using nlohmann::ordered_json;

/// The findings that a line selects. Empty: all.
struct Choice {
    std::string id;
    std::string topic;
    std::string group;
    std::string client_id;

    explicit Choice(const CommandLine& line)
        : id(line.value("id")), topic(line.value("topic")), group(line.value("group")), client_id(line.value("client-id")) {}

    [[nodiscard]] bool selects(const ordered_json& finding) const {
        const ordered_json& subject = finding.at("subject");
        return (id.empty() || finding.at("id") == id) && (topic.empty() || subject.value("topic", "") == topic) &&
               (group.empty() || subject.value("group", "") == group) &&
               (client_id.empty() || subject.value("client_id", "") == client_id);
    }
    [[nodiscard]] std::string json() const {
        ordered_json object = ordered_json::object();
        const auto add = [&object](const char* name, const std::string& value) {
            if (!value.empty()) {
                object[name] = value;
            }
        };
        add("id", id);
        add("topic", topic);
        add("group", group);
        add("client_id", client_id);
        return object.dump();
    }
};

/// "open since 2026-11-29 14:02:11", "2026-11-29 14:02:11 to 2026-11-29 14:05:00, seen".
std::string lifetime(const ordered_json& finding) {
    const std::string opened = date_and_time(finding.at("opened_ms"));
    if (finding.at("state") == "open") {
        return "open since " + opened + (finding.value("restored", false) ? ", before the broker's last start" : "");
    }
    const std::string how = finding.at("ended");
    return opened + " to " + date_and_time(finding.at("closed_ms")) +
           (how == "seen"      ? ", seen"
            : how == "stopped" ? ", when the broker stopped"
                               : ", over");
}

/// "H06 warn harm orders: group billing ..." with its times and the advice below. Throws the JSON library's exception if a member
/// is missing or of another type.
std::string readable_finding(const ordered_json& finding) {
    const std::string topic = finding.at("subject").value("topic", "");
    const std::string text = finding.at("id").get<std::string>() + " " + finding.at("severity").get<std::string>() + " " +
                             finding.at("kind").get<std::string>() + (topic.empty() ? "" : " " + topic) + ": " +
                             finding.at("condition").get<std::string>();
    // Clients choose their names, and the server may not be a broker.
    return printable(text) + "\n    " + printable(lifetime(finding)) + "\n    " +
           printable(finding.at("advice").get<std::string>()) + "\n";
}

int print_answer(const std::string& text) {
    std::fputs(text.c_str(), stdout);
    return std::fflush(stdout) == 0 ? kExitDone : kExitBroken;
}

int list(const CommandLine& line, const Choice& choice, const HttpAnswer& answer) {
    auto object = ordered_json::parse(answer.body);
    ordered_json chosen = ordered_json::array();
    std::string text;
    for (const ordered_json& finding : object.at("findings")) {
        if (choice.selects(finding)) {
            text += readable_finding(finding);
            chosen.push_back(finding);
        }
    }
    if (line.has("json")) {
        object["findings"] = std::move(chosen);
        return print_answer(object.dump() + "\n");
    }
    return print_answer(!text.empty() ? text : line.has("all") ? "no findings\n" : "no open findings\n");
}

int tell_seen(const CommandLine& line, const HttpAnswer& answer) {
    const auto seen = ordered_json::parse(answer.body).at("seen").get<std::int64_t>();
    return print_answer(line.has("json")
                            ? answer.body
                            : "marked " + std::to_string(seen) + (seen == 1 ? " finding" : " findings") + " as seen\n");
}

/// "orders-7 offset 0 (14:02:11) before orders-2 offset 4099 (14:02:12)", behind the key.
std::string readable_key(const std::string& topic, const ordered_json& key) {
    const auto place = [&](const ordered_json& at) {
        return topic + "-" + std::to_string(at.at("partition").get<std::int64_t>()) + " offset " +
               std::to_string(at.at("offset").get<std::int64_t>()) +
               (at.contains("handed_out_ms") ? " (" + date_and_time(at.at("handed_out_ms")) + ")" : "");
    };
    const std::string name = key.contains("key")       ? key.at("key").get<std::string>()
                             : key.contains("key_hex") ? "0x" + key.at("key_hex").get<std::string>()
                                                       : "(its record is gone)";
    return printable(name) + "\t" + printable(place(key.at("newer")) + " before " + place(key.at("older"))) + "\n";
}

/// Prints the keys behind H06 of one reader, page by page.
int list_keys(const CommandLine& line, const HttpPlace& http, const Choice& choice) {
    if (choice.topic.empty() || choice.group.empty() == choice.client_id.empty()) {
        return refuse("--keys needs --topic, and either --group or the --client-id of a client in no group");
    }
    const std::string reader =
        choice.group.empty() ? "&client_id=" + percent_encoded(choice.client_id) : "&group=" + percent_encoded(choice.group);
    constexpr std::size_t kPage = 1000;
    for (std::size_t skip = 0;; skip += kPage) {
        const auto answer = ask_http(http, HttpMethod::get,
                                     "/v1/findings/keys?topic=" + percent_encoded(choice.topic) + reader +
                                         "&limit=" + std::to_string(kPage) + "&skip=" + std::to_string(skip));
        if (!answer) {
            return report(answer.error());
        }
        if (!answer->is_good()) {
            return report_refusal(http, *answer);
        }
        const auto object = ordered_json::parse(answer->body);
        std::string text;
        for (const ordered_json& key : object.at("keys")) {
            text += line.has("json") ? key.dump() + "\n" : readable_key(choice.topic, key);
        }
        if (const int code = print_answer(text); code != kExitDone) {
            return code;
        }
        if (skip + kPage >= object.at("total").get<std::size_t>()) {
            return kExitDone;
        }
    }
}

int run_findings(const CommandLine& line) {
    const HttpPlace http = http_place_of(line);
    const Choice choice(line);
    if (line.has("keys")) {
        try {
            return list_keys(line, http, choice);
        } catch (const ordered_json::exception& problem) {
            return report_unknown_answer(http, problem.what());
        }
    }
    const bool marks = line.has("seen");
    if (marks && line.has("all")) {
        return refuse("--seen does not go with --all: only open harm can be marked as seen");
    }
    const std::string topic = choice.topic.empty() ? "" : "&topic=" + percent_encoded(choice.topic);
    const auto answer =
        marks ? tell_http(http, HttpMethod::post, "/v1/findings/seen", choice.json())
              : ask_http(http, HttpMethod::get, "/v1/findings?state=" + std::string(line.has("all") ? "all" : "open") + topic);
    if (!answer) {
        return report(answer.error());
    }
    if (!answer->is_good()) {
        return report_refusal(http, *answer);
    }
    try {
        return marks ? tell_seen(line, *answer) : list(line, choice, *answer);
    } catch (const ordered_json::exception& problem) {
        return report_unknown_answer(http, problem.what());
    }
}

constexpr tools::Option kFindingsOptions[] = {
    kHttp,
    kHttpTokenFile,
    kHttpCa,
    {.name = "topic", .argument = "topic", .help = "select findings of this topic"},
    {.name = "group", .argument = "group", .help = "select findings of this group"},
    {.name = "client-id", .argument = "client id", .help = "select findings of this client"},
    {.name = "id", .argument = "id", .help = "select findings with this id, such as H06"},
    {.name = "all", .argument = "", .help = "list findings that are over, too"},
    {.name = "keys",
     .argument = "",
     .help = "with --topic and --group or --client-id: list the keys that this reader got in wrong order"},
    {.name = "seen", .argument = "", .help = "mark the harm that the other options select as seen"},
    {.name = "json", .argument = "", .help = "print the JSON of the broker's HTTP side"},
    kHelp,
};

}  // namespace

constinit const Command kFindingsCommand{
    .name = "findings",
    .summary = "list the findings of a running broker, or mark harm as seen",
    .purpose =
        "List the findings of a running broker: dangers, and harm that was done. Harm stays until its records are gone, or until "
        "--seen marks it as seen. With --keys: list every key that a group, or a client in no group, was handed in wrong order "
        "(H06), a line for each.",
    .options = kFindingsOptions,
    .run = run_findings};

}  // namespace partita::cli
