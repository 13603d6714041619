// `partita plan` with a running Partita: GET /v1/topics/T/expansion, as JSON lines.

#include <nlohmann/json.hpp>

#include "broker/cli/command.h"
#include "broker/cli/http_client.h"
#include "broker/cli/plan_command.h"
#include "protocol/percent_encoding.h"

namespace partita::cli {
namespace {

using nlohmann::ordered_json;

/// Lines with keys have 64 KiB; plans of topics with many partitions are larger.
constexpr std::size_t kPlanLineBytesMax = std::size_t{256} << 20;

std::string target(const PlanArguments& arguments) {
    std::string text =
        "/v1/topics/" + percent_encoded(arguments.topic) + "/expansion?to=" + std::to_string(arguments.to) + "&stream=1";
    if (arguments.records) {
        text += "&records=" + std::to_string(*arguments.records);
    }
    if (arguments.since_ms) {
        text += "&since=" + std::to_string(*arguments.since_ms);
    }
    if (!arguments.partitioner.empty()) {
        text += "&partitioner=" + percent_encoded(arguments.partitioner);
    }
    if (arguments.hashes_keys) {
        text += "&hash_keys=1";
    }
    if (arguments.lists_keys) {
        text += "&keys=1";
    }
    return text;
}

std::int64_t number_of(const ordered_json& object, const char* name) {
    const bool has_number = object.is_object() && object.contains(name) && object[name].is_number_integer();
    return has_number ? object[name].get<std::int64_t>() : 0;
}

/// Takes lines as they arrive; the last one is the plan, or the reason why there is none.
class PlanLines {
  public:
    explicit PlanLines(const PlanListener& listener) : listener_(listener) {}

    /// Returns false if the listener wants no more.
    [[nodiscard]] bool take(std::string_view line) {
        const auto json = ordered_json::parse(line, nullptr, false);
        if (!json.is_object()) {
            return true;
        }
        if (json.contains("progress")) {
            listener_.progress(number_of(json["progress"], "done"), number_of(json["progress"], "total"));
        } else if (json.contains("keys") && json["keys"].is_string()) {
            return listener_.keys(json["keys"].get<std::string>());
        } else if (json.contains("plan") && json["plan"].is_object()) {
            plan = json["plan"];
        } else if (json.contains("error") && json["error"].is_string()) {
            error = json["error"];
        }
        return true;
    }
    ordered_json plan;
    std::string error;

  private:
    const PlanListener& listener_;
};

/// Another process may have taken the port: check in the plan which broker made it.
bool is_of_wanted_broker(const PlanArguments& arguments, const ordered_json& plan) {
    if (arguments.data_directory.empty()) {
        return true;
    }
    const ordered_json broker = plan.value("broker", ordered_json::object());
    return broker.is_object() && text_member(broker, "data_directory") == arguments.data_directory &&
           text_member(broker, "cluster_id") == arguments.cluster_id;
}

}  // namespace

std::expected<std::string, PlanRefusal> plan_over_http(const PlanArguments& arguments, const PlanListener& listener) {
    PlanLines lines(listener);
    const auto answer = read_http_lines(arguments.http, target(arguments), kPlanLineBytesMax,
                                        [&](std::string_view line) { return lines.take(line); });
    if (!answer) {
        const bool is_usage = answer.error().is_usage;
        return std::unexpected(PlanRefusal{
            .exit_code = is_usage ? kExitUsage : kExitBroken,
            .message = answer.error().message +
                       (is_usage ? "" : "; --bootstrap finds a broker by its Kafka address, and reads any other cluster"),
            .is_elsewhere = true});
    }
    if (!answer->is_good()) {
        return std::unexpected(PlanRefusal{answer->is_refusal() ? kExitUsage : kExitBroken, answer->error()});
    }
    if (!lines.error.empty()) {
        return broken(lines.error);
    }
    if (!lines.plan.is_object()) {
        return broken("the answer ends without a plan");
    }
    if (!is_of_wanted_broker(arguments, lines.plan)) {
        return std::unexpected(
            PlanRefusal{.exit_code = kExitBroken, .message = "another broker answers at this address", .is_elsewhere = true});
    }
    return lines.plan.dump();
}

}  // namespace partita::cli
