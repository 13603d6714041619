// `partita check FILE...`: reads what a review changes, finds topics that would grow, and prints their plans as Markdown. Exit
// code 0: nothing at risk; 3: something is, or there is no verdict; 2: a file or the line is wrong; 1: something broke.

#include "broker/addons/scenarios/cli/check_command.h"

#include <algorithm>
#include <cstdio>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "broker/addons/scenarios/cli/broker_process.h"
#include "broker/addons/scenarios/core/review.h"
#include "broker/addons/scenarios/core/topic_changes.h"
#include "broker/cli/http_client.h"
#include "broker/cli/json_answer.h"
#include "broker/cli/kafka_place.h"
#include "broker/cli/plan_command.h"
#include "broker/cli/progress_line.h"
#include "broker/cli/text_file.h"
#include "broker/client/cluster.h"
#include "broker/client/tcp_network.h"
#include "broker/client/topics.h"
#include "broker/insight/plan/plan_text.h"
#include "broker/tools/interruption.h"
#include "protocol/try.h"

namespace partita::scenarios {
namespace {

using cli::CommandLine;
using cli::kExitBroken;
using cli::kExitDone;
using cli::kExitUsage;
using cli::PlanArguments;
using cli::refuse;
using nlohmann::ordered_json;

constexpr int kExitAtRisk = 3;

struct Problem {
    int exit_code = 0;
    std::string message;
};
template <class T>
using Result = std::expected<T, Problem>;

/// The cluster that the files are compared with.
struct Cluster {
    /// Where plans come from.
    PlanArguments plan;
    /// "the cluster at localhost:9092".
    std::string name;
    // With a snapshot: the broker that serves it, in its directory.
    std::unique_ptr<WorkDirectory> directory;
    std::optional<BrokerProcess> broker;
};

Result<Cluster> cluster_of(const CommandLine& line, int interruption) {
    Cluster cluster;
    cluster.plan.http = cli::http_place_of(line);
    cluster.plan.hashes_keys = true;
    if (line.has("bootstrap-server")) {
        cluster.plan.kafka = cli::kafka_place_of(line);
        cluster.name = "the cluster at " + cluster.plan.kafka.bootstrap;
        return cluster;
    }
    if (!line.has("snapshot")) {
        cluster.name = "the broker at " + cluster.plan.http.address;
        return cluster;
    }
    auto directory = WorkDirectory::make();
    if (!directory) {
        return std::unexpected(Problem{kExitBroken, directory.error()});
    }
    auto broker =
        start_broker({.from_snapshot = line.value("snapshot"), .has_test_bench = false}, (*directory)->path(), interruption);
    if (!broker) {
        return std::unexpected(Problem{kExitBroken, "snapshot " + line.value("snapshot") + ": " + broker.error()});
    }
    cluster.plan.http = cli::HttpPlace(broker->http);
    cluster.name = "the snapshot " + line.value("snapshot");
    cluster.directory = std::move(*directory);
    cluster.broker.emplace(std::move(*broker));
    return cluster;
}

Result<std::map<std::string, std::int32_t>> topics_over_kafka(const cli::KafkaPlace& place) {
    auto settings = cli::client_settings_of(place, "partita-check");
    if (!settings) {
        return std::unexpected(Problem{kExitUsage, settings.error()});
    }
    client::TcpNetwork network;
    client::Cluster cluster(network, std::move(*settings));
    const auto listed = client::list_topics(cluster);
    if (!listed) {
        return std::unexpected(
            Problem{kExitBroken, "cannot list the topics at " + place.bootstrap + ": " + listed.error().message});
    }
    std::map<std::string, std::int32_t> topics;
    for (const client::ListedTopic& topic : *listed) {
        topics[topic.name] = topic.partition_count;
    }
    return topics;
}

Result<std::map<std::string, std::int32_t>> topics_over_http(const cli::HttpPlace& place) {
    const auto answer = cli::ask_http(place, cli::HttpMethod::get, "/v1/topics");
    if (!answer) {
        return std::unexpected(Problem{answer.error().is_usage ? kExitUsage : kExitBroken, answer.error().message});
    }
    const auto json = ordered_json::parse(answer->body, nullptr, false);
    if (!answer->is_good() || !json.is_object() || !json.contains("topics")) {
        return std::unexpected(Problem{kExitBroken, "cannot list the topics at " + place.address + ": " + answer->error()});
    }
    std::map<std::string, std::int32_t> topics;
    for (const ordered_json& topic : json["topics"]) {
        if (topic.is_object() && topic.contains("partitions") && topic["partitions"].is_number_integer()) {
            topics[cli::text_member(topic, "topic")] = topic["partitions"].get<std::int32_t>();
        }
    }
    return topics;
}

Result<std::vector<TopicWish>> read_files(const std::vector<std::string>& paths) {
    std::vector<TopicWish> wishes;
    for (const std::string& path : paths) {
        const auto text = cli::read_text_file(path, kChangesBytesMax);
        if (!text) {
            return std::unexpected(Problem{kExitUsage, text.error()});
        }
        auto read = read_changes(*text, path == "-" ? "standard input" : path);
        if (!read) {
            return std::unexpected(Problem{kExitUsage, read.error()});
        }
        std::ranges::move(*read, std::back_inserter(wishes));
    }
    return wishes;
}

/// The text of `partita plan`; empty if the plan is from a broker of another version.
std::string text_of_plan(const ordered_json& plan) {
    try {
        return insight::plan_text(plan, {});
    } catch (const ordered_json::exception&) {
        return {};
    }
}

Result<void> add_plan(const Cluster& cluster, ReviewedChange& change, bool has_text, cli::ProgressLine& progress) {
    PlanArguments arguments = cluster.plan;
    arguments.topic = change.change.wish.topic;
    arguments.to = change.change.wish.partitions;
    const cli::PlanListener listener{
        .progress = [&](std::int64_t done, std::int64_t total) { cli::show_share(progress, done, total); },
        .trouble =
            [&](const std::string& trouble) {
                progress.clear();
                std::fprintf(stderr, "partita: %s\n", trouble.c_str());
            },
        .keys = [](std::string_view) { return true; }};
    const auto plan =
        arguments.kafka.bootstrap.empty() ? cli::plan_over_http(arguments, listener) : cli::plan_over_kafka(arguments, listener);
    if (!plan) {
        return std::unexpected(Problem{plan.error().exit_code, "topic " + arguments.topic + ": " + plan.error().message});
    }
    change.plan = ordered_json::parse(*plan, nullptr, false);
    if (has_text) {
        change.plan_text = text_of_plan(change.plan);
    }
    return {};
}

Result<int> check(const CommandLine& line) {
    PARTITA_TRY_ASSIGN(const auto wishes, read_files(line.values("FILE")));
    const tools::Interruption interruption;
    PARTITA_TRY_ASSIGN(const auto cluster, cluster_of(line, interruption.descriptor()));
    const cli::KafkaPlace& kafka = cluster.plan.kafka;
    PARTITA_TRY_ASSIGN(const auto topics,
                       kafka.bootstrap.empty() ? topics_over_http(cluster.plan.http) : topics_over_kafka(kafka));
    cli::ProgressLine progress(!line.has("quiet"));
    std::vector<ReviewedChange> reviewed;
    for (TopicChange& change : compare(wishes, topics)) {
        ReviewedChange& one = reviewed.emplace_back(ReviewedChange{.change = std::move(change), .plan = {}, .plan_text = {}});
        if (one.change.kind == TopicChange::Kind::growth) {
            PARTITA_TRY(add_plan(cluster, one, !line.has("brief"), progress));
        }
        if (interruption.is_asked()) {
            return std::unexpected(Problem{kExitBroken, "interrupted"});
        }
    }
    progress.clear();
    const FailOn fail_on = line.value("fail-on") == "block" ? FailOn::block : FailOn::warn;
    if (cli::print_text(review_markdown(reviewed, cluster.name, fail_on)) != kExitDone) {
        return kExitBroken;
    }
    return std::ranges::any_of(reviewed, [&](const ReviewedChange& one) { return is_at_risk(one, fail_on); }) ? kExitAtRisk
                                                                                                              : kExitDone;
}

}  // namespace

int run_check(const CommandLine& line) {
    if (line.has("snapshot") && line.has("bootstrap-server")) {
        return refuse("--snapshot does not go with --bootstrap-server: name one cluster");
    }
    const auto done = check(line);
    if (!done) {
        std::fprintf(stderr, "partita: %s\n", done.error().message.c_str());
        return done.error().exit_code;
    }
    return *done;
}

constinit const tools::Option kCheckPositionals[1] = {
    {.name = "FILE",
     .argument = "",
     .help = "KafkaTopic resources, the JSON of a Terraform plan, lines of kafka-topics, or a mapping of topics; - for standard "
             "input",
     .may_repeat = true,
     .is_required = true},
};
constinit const tools::Option kCheckOptions[11] = {
    cli::kHttp,
    cli::kHttpTokenFile,
    cli::kHttpCa,
    {.name = "bootstrap-server",
     .argument = "HOST:PORT,...",
     .help = "compare with the cluster at these addresses: a Partita, or any other",
     .alias = "b"},
    cli::kClientConfig,
    cli::kClientProperty,
    {.name = "snapshot",
     .argument = "directory",
     .help = "compare with this snapshot or data directory, by a broker of its own",
     .check = cli::kExistingDirectory},
    {.name = "fail-on",
     .argument = "severity",
     .help = "exit with 3 if a finding is at least this severe: warn or block",
     .default_value = "warn",
     .choices = "warn block"},
    {.name = "brief", .argument = "", .help = "leave out the whole plans"},
    {.name = "quiet", .argument = "", .help = "draw no progress bar"},
    cli::kHelp,
};

}  // namespace partita::scenarios
