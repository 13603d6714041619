// Tests what HTTP clients may do, and what they are told, in a whole broker with rules in force (today it serves without any).

#include <gmock/gmock.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <latch>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <sstream>
#include <string>

#include "broker/console/console_files.h"
#include "broker/http/addition.h"
#include "broker/http/metrics.h"
#include "broker/insight/hub/findings_hub.h"
#include "tests/support/tests_directory.h"
#include "tests/unit/http/resources_fixture.h"

namespace partita::http {
namespace {

using ::testing::ElementsAre;

TEST_F(NeedfulResources, AreRefusedToWhoMayNothingWithWhatIsMissingAndNothingElse) {
    const NeedfulRequest kAsked[] = {
        {Method::get, "/metrics", access::kDescribeCluster, access::kClusterName},
        {Method::get, "/v1/requests", access::kDescribeCluster, access::kClusterName},
        {Method::get, "/v1/errors", access::kAlterCluster, access::kClusterName},
        {Method::get, "/v1/quotas", access::kDescribeClusterConfigs, access::kClusterName},
        {Method::get, "/v1/groups/g/ownership", access::kDescribeGroup, "g"},
        {Method::get, "/v1/groups/g/rebalances", access::kDescribeGroup, "g"},
        {Method::get, "/v1/topics/t", access::kDescribeTopic},
        {Method::get, "/v1/topics/t/groups", access::kDescribeTopic},
        {Method::get, "/v1/topics/t/partitions/0/records", access::kReadTopic},
        {Method::get, "/v1/topics/t/expansions", access::kDescribeTopic},
        {Method::get, "/v1/topics/t/producers", access::kReadTopic},
        {Method::get, "/v1/topics/t/protection", access::kDescribeTopic},
        // The broker refuses this for another reason than permissions: it has no target.
        {Method::get, "/v1/topics/t/expansion", access::kReadTopic},
        {Method::delete_, "/v1/topics/t/seeds", access::kAlterTopic},
        {Method::post, "/v1/topics/t/nudge", access::kAlterTopic},
        {Method::post, "/v1/topics/t/visibility", access::kAlterTopicConfigs},
    };
    expect_needs(kAsked);
}

/// Harm and a danger of the topic, as their source tells them.
std::vector<insight::Finding> harm_and_danger() {
    std::vector<insight::Finding> findings{
        insight::make_finding(insight::HazardId::inversion_delivered, {.topic = "t", .group = "billing"}, "it was", 3),
        insight::make_finding(insight::HazardId::backlog_inversion, {.topic = "t", .group = "billing"}, "it is", 7)};
    findings[0].numbers = {{"keys", 3}};
    return findings;
}

std::vector<std::string> ids_in(const json& object) {
    std::vector<std::string> ids;
    for (const json& finding : object.at("findings")) {
        ids.push_back(finding.at("id").get<std::string>() + " " + finding.at("state").get<std::string>());
    }
    return ids;
}

TEST_F(Resources, FindingsAreToldByTheirState) {
    insight::FindingsHub& hub = broker_->services().insight.findings;
    const std::vector<insight::Finding> both = harm_and_danger();
    hub.settle("a test", both, {1000});
    hub.settle("a test", std::span(both).first(1), {2000});
    EXPECT_THAT(ids_in(told("/v1/findings")), ElementsAre("H06 open"));
    EXPECT_THAT(ids_in(told("/v1/findings?state=over")), ElementsAre("H03 over"));
    const json all = told("/v1/findings?state=all&topic=t");
    EXPECT_THAT(ids_in(all), ElementsAre("H06 open", "H03 over"));
    EXPECT_EQ(all.at("findings")[0].at("kind"), "harm");
    const json& over = all.at("findings")[1];
    EXPECT_EQ(over.at("kind"), "danger");
    EXPECT_EQ(over.at("opened_ms"), 1000);
    EXPECT_EQ(over.at("closed_ms"), 2000);
    EXPECT_EQ(over.at("largest_count"), 7);
    EXPECT_EQ(over.at("ended"), "over");
    EXPECT_THAT(ids_in(told("/v1/findings?state=all&topic=u")), ElementsAre());
    EXPECT_EQ(ask(Method::get, "/v1/findings?state=closed")->status, Status::bad_request);
}

TEST_F(Resources, HarmIsMarkedAsSeenByWhoMayAlterItsTopic) {
    insight::FindingsHub& hub = broker_->services().insight.findings;
    hub.settle("a test", harm_and_danger(), {1000});
    rules_.allowed = access::kDescribeTopic;
    rules_.allowed_name = "t";
    EXPECT_EQ(change("/v1/findings/seen", "{}")->body, "{\"error\":\"User:ANONYMOUS lacks ALTER TOPIC on t\"}\n");
    rules_.allowed_name = "u";
    EXPECT_EQ(json::parse(change("/v1/findings/seen", "{}")->body).at("seen"), 0) << "who may not hear of it";
    rules_.allows_all = true;
    for (const char* other : {R"({"id":"H20"})", R"({"topic":"u"})", R"({"group":"audit"})", R"({"client_id":"web"})",
                              R"({"opened_ms":1001})", R"({"id":"H03"})"}) {
        EXPECT_EQ(json::parse(change("/v1/findings/seen", other)->body).at("seen"), 0) << other;
    }
    const auto seen = change("/v1/findings/seen", R"({"id":"H06","topic":"t","group":"billing","opened_ms":1000})");
    EXPECT_EQ(json::parse(seen->body).at("seen"), 1);
    EXPECT_THAT(ids_in(told("/v1/findings?state=all")), ElementsAre("H03 open", "H06 over"));
    for (const char* bad : {R"({"id":"H99"})", R"({"id":6})", R"({"all":true})", "[]"}) {
        EXPECT_EQ(change("/v1/findings/seen", bad)->status, Status::bad_request) << bad;
    }
}

TEST_F(Resources, AMetricCountsKeysOutOfOrderByTopic) {
    std::vector<insight::Finding> findings = harm_and_danger();
    findings.push_back(findings[0]);
    findings.back().subject.group = "audit";
    broker_->services().insight.findings.settle("a test", findings, {1000});
    EXPECT_THAT(metrics_text(broker_->services(), network_, true),
                ::testing::HasSubstr("partita_expansion_out_of_order_keys{topic=\"t\"} 6\n"));
    EXPECT_THAT(metrics_text(broker_->services(), network_, false), ::testing::Not(::testing::HasSubstr("topic=\"t\"")))
        << "names need the token";
}

TEST_F(Resources, ATopicThatTheCallerMayNotKnowIsNoMoreThanOneThatIsNotThere) {
    EXPECT_EQ(ask(Method::get, "/v1/topics/t/expansions")->status, ask(Method::get, "/v1/topics/no/expansions")->status);
    EXPECT_EQ(ask(Method::get, "/v1/topics/no/expansions", access::kDescribeTopic, "no")->status, Status::not_found);
}

TEST_F(Resources, TopicsAreListedToWhoMayDescribeThem) {
    ASSERT_EQ(client_->create_topic("u", 2).error, ErrorCode::none);
    const auto names = [](const json& object) {
        std::vector<std::string> names;
        for (const json& topic : object["topics"]) {
            names.push_back(topic["topic"]);
        }
        return names;
    };
    EXPECT_THAT(names(json::parse(ask(Method::get, "/v1/topics")->body)), ElementsAre());
    EXPECT_THAT(names(json::parse(ask(Method::get, "/v1/topics", access::kDescribeTopic, "u")->body)), ElementsAre("u"));
    EXPECT_THAT(names(told("/v1/topics")), ElementsAre("t", "u"));
}

TEST_F(Resources, TopicTellsWhatItsPartitionsHold) {
    for (const char* value : {"a", "b", "c"}) {
        ASSERT_EQ(client_->produce_value("t", 0, value).error, ErrorCode::none);
    }
    ASSERT_EQ(client_->delete_records("t", 0, 1), ErrorCode::none);
    const json topic = told("/v1/topics/t");
    EXPECT_EQ(topic["offsets"], 2);
    ASSERT_EQ(topic["partitions"].size(), 1u);
    json partition = topic["partitions"][0];
    EXPECT_EQ(partition["bytes"], topic["bytes"]);
    EXPECT_GT(partition["bytes"], 0);
    partition.erase("bytes");
    EXPECT_EQ(partition, json::parse(R"({"partition": 0, "start": 1, "stable_end": 3, "end": 3})"));

    json listed = told("/v1/topics")["topics"][0];
    EXPECT_EQ(listed["partitions"], 1);
    for (const char* name : {"topic", "topic_id", "internal", "bytes", "offsets"}) {
        EXPECT_EQ(listed[name], topic[name]) << name;
    }
}

TEST_F(Resources, GroupsAreToldWithTheirLagToWhoMayDescribeThem) {
    for (const char* value : {"a", "b", "c"}) {
        ASSERT_EQ(client_->produce_value("t", 0, value).error, ErrorCode::none);
    }
    ASSERT_EQ(client_->commit("g", "t", 0, 1), ErrorCode::none);
    EXPECT_EQ(told("/v1/topics/t/groups")["groups"], json::parse(R"([{"group": "g", "members": 0, "lag": 2, "partitions":
              [{"partition": 0, "committed": 1, "end": 3, "lag": 2}]}])"));
    EXPECT_EQ(json::parse(ask(Method::get, "/v1/topics/t/groups", access::kDescribeTopic)->body)["groups"], json::array());
}

TEST_F(Resources, RecordsComeInPagesThatSayWhereTheNextBegins) {
    for (const char* value : {"a", "b", "\xff"}) {
        ASSERT_EQ(client_->produce_value("t", 0, value).error, ErrorCode::none);
    }
    const json first = told("/v1/topics/t/partitions/0/records?limit=2");
    ASSERT_EQ(first["records"].size(), 2u);
    EXPECT_EQ(first["records"][1]["offset"], 1);
    EXPECT_EQ(first["records"][1]["value"], "b");
    EXPECT_EQ(first["records"][1]["key"], "key");
    EXPECT_EQ(first["next"], 2);
    EXPECT_EQ(first["end"], 3);
    const json last = told("/v1/topics/t/partitions/0/records?from=2");
    ASSERT_EQ(last["records"].size(), 1u);
    EXPECT_EQ(last["records"][0]["value_hex"], "ff");
    EXPECT_EQ(last["next"], 3);
    EXPECT_EQ(told("/v1/topics/t/partitions/0/records?from=3")["records"], json::array());
}

TEST_F(Resources, RecordsThatAreNotThereAreRefusedWithAReason) {
    const struct {
        std::string_view question;
        Status status;
        std::string_view error;
    } kAsked[] = {
        {"0/records?from=1", Status::not_found, "offset 1 is outside of [0, 0]"},
        {"1/records", Status::not_found, "t has no partition 1"},
        {"x/records", Status::not_found, "t has no partition x"},
        {"0/records?from=-1", Status::bad_request, "from=-1 is not a number of at least 0"},
        {"0/records?limit=0", Status::bad_request, "limit=0 is not a number of at least 1 and at most 1000"},
        {"0/records?limit=1001", Status::bad_request, "limit=1001 is not a number of at least 1 and at most 1000"},
    };
    for (const auto& [question, status, error] : kAsked) {
        const auto answer = ask(Method::get, "/v1/topics/t/partitions/" + std::string(question), access::kReadTopic);
        EXPECT_EQ(answer->status, status) << question;
        EXPECT_EQ(json::parse(answer->body)["error"], error) << question;
    }
}

TEST_F(Resources, ProducerIdsOfTheLogsAreTold) {
    ASSERT_EQ(client_->produce_value("t", 0, "a", 7, 0, 1234).error, ErrorCode::none);
    EXPECT_EQ(told("/v1/topics/t/producers")["producer_ids"],
              json::parse(R"([{"producer_id": 7, "epoch": 0, "last_write_ms": 1234, "partitions": [0],
                               "open_transactions": []}])"));
}

TEST_F(Resources, WhoAsksForOneLookTooManyIsToldToAskAgain) {
    // The threads of the looks outlive this test by a moment.
    const auto asked = std::make_shared<std::latch>(1);
    for (std::size_t look = 0; look < Surroundings::kLooksMax; ++look) {
        EXPECT_TRUE(looks_.start([asked] { asked->wait(); }));
    }
    EXPECT_EQ(ask(Method::get, "/v1/topics")->status, Status::unavailable);
    asked->count_down();
}

TEST_F(Resources, PageAboutThemNamesEachPath) {
    const auto paths = ask(Method::get, "/no")->body;
    std::ifstream file(test::tests_directory().parent_path() / "docs" / "http.md");
    const std::string page{std::istreambuf_iterator<char>(file), {}};
    constexpr std::string_view kBefore = "unknown path; the paths are ";
    std::istringstream list(paths.substr(kBefore.size(), paths.size() - kBefore.size() - 1));
    std::size_t rows = 0;
    for (std::string path; std::getline(list >> std::ws, path, ',');) {
        EXPECT_NE(page.find("| `" + path + "` |"), std::string::npos) << path;
        ++rows;
    }
    constexpr std::size_t kOwnRoutes = 38;
    std::size_t added = 0;
    for (const Addition* addition : additions()) {
        added += addition->routes.size();
    }
    EXPECT_EQ(rows, kOwnRoutes + added);
}

TEST_F(Resources, HealthIsToldToEverybody) {
    EXPECT_EQ(ask(Method::get, "/health/live")->status, Status::ok);
    EXPECT_EQ(ask(Method::get, "/health/ready")->status, Status::ok);
}

TEST_F(Resources, WhatChangesSomethingIsAskedForAsAKafkaClientWould) {
    rules_.allows_all = true;
    const auto made = change("/v1/topics", R"({"topic": "made", "partitions": 3, "configs": {"retention.ms": "60000"}})");
    ASSERT_EQ(made->status, Status::ok) << made->body;
    EXPECT_EQ(json::parse(made->body)["partitions"], 3);
    const auto again = change("/v1/topics", R"({"topic": "made", "partitions": 3})");
    EXPECT_EQ(again->status, Status::conflict);
    EXPECT_EQ(json::parse(again->body)["code"], "TOPIC_ALREADY_EXISTS");
    const auto grown = change("/v1/topics/made/partitions", R"({"count": 6})");
    EXPECT_EQ(grown->status, Status::ok) << grown->body;
    const auto written =
        change("/v1/topics/made/records", R"({"partition": 5, "key": "k", "value": null, "headers": {"h": "1"}})");
    ASSERT_EQ(written->status, Status::ok) << written->body;
    const json record = told("/v1/topics/made/partitions/5/records")["records"][0];
    EXPECT_EQ(record["key"], "k");
    EXPECT_EQ(record["value"], nullptr);
    EXPECT_EQ(record["headers"][0]["name"], "h");
    rules_.allows_all = true;
    EXPECT_EQ(ask(Method::delete_, "/v1/topics/made")->status, Status::ok);
    EXPECT_EQ(ask(Method::get, "/v1/topics/made")->status, Status::not_found);
}

TEST_F(Resources, WhoMayNotChangeSomethingHearsItFromTheHandler) {
    const std::pair<std::string_view, std::string_view> kChanges[] = {
        {"/v1/topics", R"({"topic": "made"})"},
        {"/v1/topics/t/partitions", R"({"count": 2})"},
        {"/v1/topics/t/records", R"({"value": "v"})"},
        {"/v1/topics/t/configs", R"({"set": {"retention.ms": "1"}})"},
        {"/v1/groups/g/offsets", R"({"topic": "t", "to": "earliest", "dry_run": true})"},
    };
    for (const auto& [path, body] : kChanges) {
        const Status status = *change(path, body)->status;
        EXPECT_EQ(status, path.ends_with("offsets") ? Status::not_found : Status::forbidden) << path;
    }
    EXPECT_EQ(ask(Method::delete_, "/v1/topics/t")->status, Status::forbidden);
    for (const std::string_view path : {"/v1/broker", "/v1/broker/configs", "/v1/connections", "/v1/topics/t/configs",
                                        "/v1/findings/keys?topic=t&group=g", "/v1/findings/keys?topic=t&client_id=c"}) {
        EXPECT_EQ(ask(Method::get, path)->status, Status::forbidden) << path;
    }
    EXPECT_EQ(json::parse(ask(Method::get, "/v1/topics")->body)["total"], 0);
    EXPECT_EQ(told("/v1/topics/t")["offsets"], 0);
}

TEST_F(Resources, KeysInWrongOrderAreThoseOfOneReader) {
    rules_.allows_all = true;
    for (const std::string_view query : {"", "?topic=t", "?group=g", "?topic=t&group=g&client_id=c", "?topic=t&group=g&id=H20",
                                         "?topic=t&group=", "?topic=t&group=g&limit=1001"}) {
        EXPECT_EQ(ask(Method::get, "/v1/findings/keys" + std::string(query))->status, Status::bad_request) << query;
    }
    EXPECT_EQ(told("/v1/findings/keys?topic=t&group=g")["total"], 0);
    EXPECT_EQ(told("/v1/findings/keys?topic=t&client_id=c&client_address=/127.0.0.1")["client_id"], "c");
    rules_.allows_all = true;
    EXPECT_EQ(ask(Method::get, "/v1/findings/keys?topic=none&group=g")->status, Status::not_found);
}

TEST_F(Resources, LagsOfMoreThanAHundredGroupsAreAskedForInPages) {
    rules_.allows_all = true;
    for (int group = 0; group <= 100; ++group) {
        ASSERT_EQ(client_->commit("group-" + std::to_string(group), "t", 0, 0), ErrorCode::none);
    }
    EXPECT_EQ(ask(Method::get, "/v1/groups?lag=1")->status, Status::bad_request);
    rules_.allows_all = true;
    EXPECT_EQ(told("/v1/groups?lag=1&limit=100")["groups"].size(), 100);
}

TEST_F(Resources, ABodyThatSaysSomethingElseIsRefusedInASentence) {
    rules_.allows_all = true;
    const std::pair<std::string_view, std::string_view> kBodies[] = {
        {"[]", "the body is not a JSON object"},
        {"{", "the body is not a JSON object"},
        {"{}", "the body has no \"topic\""},
        {R"({"topic": 7})", "\"topic\" is not a string"},
        {R"({"topic": "x", "partitions": 0})", "\"partitions\" is not a number of at least 1 and at most 2147483647"},
        {R"({"topic": "x", "partitions": 18446744073709551615})",
         "\"partitions\" is not a number of at least 1 and at most 2147483647"},
        {R"({"topic": "x", "configs": {"a": 1}})", "\"configs\" has a value that is not a string"},
        {R"({"topic": "x", "validate_only": "yes"})", "\"validate_only\" is neither true nor false"},
        {R"({"topic": "x", "partition": 1})", "the body has the unknown member \"partition\""},
    };
    for (const auto& [body, sentence] : kBodies) {
        const auto answer = change("/v1/topics", body);
        EXPECT_EQ(answer->status, Status::bad_request) << body;
        EXPECT_EQ(json::parse(answer->body)["error"], sentence);
    }
    EXPECT_EQ(change("/v1/topics", R"({"topic": "x"})", "text/plain")->status, Status::unsupported_media_type);
}

TEST_F(Resources, OffsetsAreResetAfterALookAndAMemberlessGroupIsDeleted) {
    rules_.allows_all = true;
    EXPECT_EQ(change("/v1/groups/g/offsets", R"({"topic": "t", "to": "earliest"})")->status, Status::not_found)
        << "nothing was ever committed";
    ASSERT_EQ(client_->commit("other", "t", 0, 0), ErrorCode::none);
    for (int record = 0; record < 3; ++record) {
        ASSERT_EQ(change("/v1/topics/t/records", R"({"value": "v"})")->status, Status::ok);
    }
    const auto preview = change("/v1/groups/g/offsets", R"({"topic": "t", "to": "offset", "offset": 99, "dry_run": true})");
    EXPECT_EQ(json::parse(preview->body)["partitions"][0], json::parse(R"({"partition": 0, "from": null, "to": 3})"));
    EXPECT_EQ(json::parse(ask(Method::get, "/v1/groups?search=G")->body)["total"], 0) << "a look changes nothing";
    EXPECT_EQ(change("/v1/groups/g/offsets", R"({"topic": "t", "to": "offset", "offset": 1})")->status, Status::ok);
    const json group = told("/v1/groups/g");
    EXPECT_EQ(group["lag"], 2);
    EXPECT_EQ(group["partitions"][0]["committed"], 1);
    rules_.allows_all = true;
    EXPECT_EQ(
        told("/v1/groups?search=g&lag=1")["groups"],
        json::parse(R"([{"group": "g", "state": "Empty", "type": "classic", "protocol_type": "", "members": 0, "lag": 2}])"));
    rules_.allows_all = true;
    EXPECT_FALSE(told("/v1/groups?search=g")["groups"].at(0).contains("lag")) << "nobody asked for it";
    rules_.allows_all = true;
    EXPECT_EQ(change("/v1/groups/g/offsets", R"({"topic": "t", "to": "time", "time_ms": 1})")->status, Status::ok);
    EXPECT_EQ(told("/v1/groups/g")["partitions"][0]["committed"], 0);
    rules_.allows_all = true;
    EXPECT_EQ(change("/v1/groups/g/offsets", R"({"topic": "t", "to": "end"})")->status, Status::bad_request);
    EXPECT_EQ(change("/v1/groups/g/offsets", R"({"topic": "t", "to": "latest", "partitions": [1]})")->status, Status::not_found);
    EXPECT_EQ(ask(Method::delete_, "/v1/groups/g")->status, Status::ok);
    EXPECT_EQ(ask(Method::get, "/v1/groups/g")->status, Status::not_found);
}

TEST_F(Resources, AListIsToldInPages) {
    for (int number = 0; number < 5; ++number) {
        ASSERT_EQ(client_->create_topic("page-" + std::to_string(number), 1).error, ErrorCode::none);
    }
    const json page = told("/v1/topics?search=PAGE&skip=3&limit=1");
    EXPECT_EQ(page["total"], 5);
    ASSERT_EQ(page["topics"].size(), 1u);
    EXPECT_EQ(page["topics"][0]["topic"], "page-3");
    EXPECT_EQ(told("/v1/topics?search=page&skip=9")["topics"].size(), 0u);
    rules_.allows_all = true;
    EXPECT_EQ(ask(Method::get, "/v1/topics?limit=0")->status, Status::bad_request);
}

TEST_F(Resources, SettingsSayWhereTheyComeFrom) {
    rules_.allows_all = true;
    ASSERT_EQ(change("/v1/topics/t/configs", R"({"set": {"retention.ms": "60000"}})")->status, Status::ok);
    const auto retention = [&] {
        const json configs = told("/v1/topics/t/configs")["configs"];
        return *std::ranges::find(configs, "retention.ms", [](const json& config) { return config["name"].get<std::string>(); });
    };
    EXPECT_EQ(retention()["source"], "topic");
    EXPECT_EQ(retention()["value"], "60000");
    rules_.allows_all = true;
    EXPECT_EQ(change("/v1/topics/t/configs", R"({"set": {"retention.ms": "never"}})")->status, Status::bad_request);
    ASSERT_EQ(change("/v1/topics/t/configs", R"({"set": {"retention.ms": null}})")->status, Status::ok);
    EXPECT_EQ(retention()["source"], "default");
    EXPECT_GT(told("/v1/broker/configs")["configs"].size(), 100u);
}

TEST_F(Resources, TheConsoleRunsNoScriptButItsOwnAndIsKeptByBrowsers) {
    const auto page = ask(Method::get, "/");
    ASSERT_EQ(page->status, Status::ok);
    const auto header = [](const Recorder& answer, std::string_view name) {
        const auto found = std::ranges::find(answer.headers, name, &Header::name);
        return found == answer.headers.end() ? std::string() : found->value;
    };
    EXPECT_TRUE(header(*page, "Content-Security-Policy").starts_with("default-src 'none'; script-src 'self'; style-src 'self';"));
    EXPECT_EQ(page->body.find("<style"), std::string::npos);
    EXPECT_EQ(page->body.find("<script>"), std::string::npos);
    EXPECT_EQ(page->body.find('@'), std::string::npos) << "a place that the build did not fill in";
    EXPECT_EQ(ask(Method::get, "/", std::nullopt, "t", header(*page, "ETag"))->status, Status::not_modified);
    std::size_t bytes = page->body.size();
    for (const console::File& file : console::files()) {
        const std::string path = "/console/" + std::string(console::version()) + "/" + std::string(file.name);
        const auto answer = ask(Method::get, path);
        EXPECT_EQ(answer->status, Status::ok) << path;
        EXPECT_EQ(header(*answer, "Cache-Control"), "public, max-age=31536000, immutable");
        bytes += answer->body.size();
        // No file contains a call that could turn text into markup.
        for (const std::string_view word :
             {"innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "://cdn"}) {
            EXPECT_EQ(file.content.find(word), std::string_view::npos) << file.name << " has " << word;
        }
    }
    // The first page loads only some of them: a browser counts that in tests/interop/test_web_console.py.
    EXPECT_LT(bytes, 150'000u);
    EXPECT_EQ(ask(Method::get, "/console/0000/app.js")->status, Status::not_found);
    EXPECT_EQ(ask(Method::get, "/console/" + std::string(console::version()) + "/passwd")->status, Status::not_found);
}

TEST_F(Resources, APathSaysAllItsMethods) {
    const auto answer = ask(Method::put, "/v1/topics/t");
    EXPECT_EQ(answer->status, Status::method_not_allowed);
    EXPECT_EQ(answer->body, "GET, HEAD, DELETE");
}

}  // namespace
}  // namespace partita::http
