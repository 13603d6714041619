#include "broker/addons/scenarios/core/review.h"

#include <gmock/gmock.h>

#include <string>

#include "broker/addons/scenarios/core/topic_changes.h"

namespace partita::scenarios {
namespace {

using nlohmann::ordered_json;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

/// "orders 8, audit -": the wishes, or the problem.
std::string wishes_of(const std::string& text) {
    const auto wishes = read_changes(text, "F");
    if (!wishes) {
        return wishes.error();
    }
    std::string all;
    for (const TopicWish& one : *wishes) {
        const char* kinds[] = {"", "unknown", "removal", "renewal"};
        all += (all.empty() ? "" : ", ") + one.topic + " " +
               (one.kind == TopicWish::Kind::count ? std::to_string(one.partitions) : kinds[static_cast<int>(one.kind)]);
    }
    return all;
}

TEST(TopicChanges, StrimziTopicsAreFoundAmongOtherResources) {
    EXPECT_EQ(wishes_of(R"(
apiVersion: kafka.strimzi.io/v1beta2
kind: KafkaTopic
metadata: {name: orders, labels: {strimzi.io/cluster: my}}
spec: {partitions: 8, replicas: 3, config: {retention.ms: 7200000}}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: x}
---
kind: KafkaTopic
metadata: {name: a-name-for-kubernetes}
spec: {topicName: Audit_Log, partitions: 3}
---
kind: KafkaTopic
metadata: {name: default-count}
spec: {replicas: 1}
---
kind: List
items:
- {kind: KafkaTopic, metadata: {name: listed}, spec: {partitions: 2}}
)"),
              "orders 8, Audit_Log 3, listed 2");
    EXPECT_EQ(wishes_of("kind: KafkaTopic\nmetadata: {name: a}\nspec: {partitions: many}\n"),
              "F: topic a: the number of partitions must be a whole number from 1 on");
}

TEST(TopicChanges, TerraformsPlanHasTopicsOfTwoProviders) {
    const char* plan = R"({"format_version": "1.2", "resource_changes": [
        {"type": "kafka_topic", "change": {"actions": ["update"], "before": {"name": "orders", "partitions": 6}, "after": {"name": "orders", "partitions": 8}}},
        {"type": "confluent_kafka_topic", "change": {"actions": ["create"], "before": null, "after": {"topic_name": "new", "partitions_count": 3}}},
        {"type": "confluent_kafka_topic", "change": {"actions": ["delete", "create"], "before": {"topic_name": "old"}, "after": {"topic_name": "old", "partitions_count": 2}}},
        {"type": "kafka_topic", "change": {"actions": ["delete"], "before": {"name": "gone", "partitions": 1}, "after": null}},
        {"type": "kafka_topic", "change": {"actions": ["update"], "before": {"name": "late", "partitions": 1}, "after": {"name": "late"}}},
        {"type": "kafka_topic", "change": {"actions": ["no-op"], "before": {"name": "same", "partitions": 1}, "after": {"name": "same", "partitions": 1}}},
        {"type": "kafka_topic", "mode": "data", "change": {"actions": ["create"], "after": {"name": "read", "partitions": 1}}},
        {"type": "aws_instance", "change": {"actions": ["create"]}}]})";
    EXPECT_EQ(wishes_of(plan), "orders 8, new 3, old renewal, gone removal, late unknown");
    EXPECT_EQ(wishes_of(R"({"resource_changes": 7})"), "F: resource_changes must be a list");
}

TEST(TopicChanges, LinesOfTheToolAreTakenApartAsByAShell) {
    EXPECT_EQ(wishes_of("kafka-topics --bootstrap-server b:9092 --alter --topic orders --partitions 12"), "orders 12");
    EXPECT_EQ(wishes_of("#!/bin/sh\nset -e\nx=\"a b\"; echo {\n"
                        "/opt/kafka/bin/kafka-topics.sh --alter --topic 'orders' \\\n  --partitions=12 # more\n"
                        "partita topics --alter --topic=audit --partitions \"3\"\n"
                        "kafka-topics --create --topic new --partitions 3\n"
                        "kafka-topics --describe\n"),
              "orders 12, audit 3");
    EXPECT_EQ(wishes_of("kafka-topics --alter --topic $TOPIC --partitions 3"), "F: no topic can have the name $TOPIC");
    EXPECT_EQ(wishes_of("kafka-topics --alter --topic a --partitions $N"),
              "F: topic a: the number of partitions must be a whole number from 1 on");
}

TEST(TopicChanges, OurOwnListIsAMapping) {
    EXPECT_EQ(wishes_of("topics: {orders: 8, audit: {partitions: 3, configs: {a: b}}, default: }"), "orders 8, audit 3");
    EXPECT_EQ(wishes_of("topics: {orders: 0}"), "F: topic orders: the number of partitions must be a whole number from 1 on");
}

TEST(TopicChanges, AnythingElseIsRefused) {
    const std::string advice =
        "F: neither KafkaTopic resources, nor the JSON of a Terraform plan, nor lines of kafka-topics, nor a mapping of topics";
    EXPECT_EQ(wishes_of("hello"), advice);
    EXPECT_EQ(wishes_of("{}"), advice);
    EXPECT_EQ(wishes_of(""), advice);
    EXPECT_EQ(wishes_of("a: [1\n"), "F: line 2, column 1: end of sequence flow not found");
    std::string many = "topics:\n";
    for (std::size_t topic = 0; topic < 10'000; ++topic) {
        many += "  t" + std::to_string(topic) + ": 1\n";
    }
    EXPECT_EQ(read_changes(many, "F")->size(), kChangesMax);
    EXPECT_THAT(wishes_of(many + "  more: 1\n"), HasSubstr("more than 10000 keys in one mapping"));
}

ReviewedChange reviewed(TopicWish::Kind kind, const std::string& topic, std::int32_t to, const char* plan = "null") {
    const std::map<std::string, std::int32_t> cluster{{"orders", 6}, {"audit", 3}};
    return {compare({{kind, topic, to, "topics|x.yaml"}}, cluster).front(), ordered_json::parse(plan), ""};
}

constexpr const char* kPlan =
    R"({"verdict": "findings", "summary": "keys move", "moved": {"key_share": 0.7512}, "better_targets": [12, 18],
    "findings": [{"id": "H03", "severity": "block", "condition": "group <b> has | 750 records", "advice": "Drain it."}]})";

TEST(Review, AWishIsComparedWithTheCluster) {
    using Kind = TopicChange::Kind;
    EXPECT_EQ(reviewed(TopicWish::Kind::count, "orders", 8).change.kind, Kind::growth);
    EXPECT_EQ(reviewed(TopicWish::Kind::count, "orders", 6).change.kind, Kind::unchanged);
    EXPECT_EQ(reviewed(TopicWish::Kind::count, "orders", 4).change.kind, Kind::shrinking);
    EXPECT_EQ(reviewed(TopicWish::Kind::count, "new", 4).change.kind, Kind::creation);
    EXPECT_EQ(reviewed(TopicWish::Kind::renewal, "orders", 0).change.kind, Kind::renewal);
    EXPECT_EQ(reviewed(TopicWish::Kind::renewal, "new", 0).change.kind, Kind::unchanged);
    EXPECT_EQ(reviewed(TopicWish::Kind::removal, "audit", 0).change.kind, Kind::removal);
    EXPECT_EQ(reviewed(TopicWish::Kind::unknown, "audit", 0).change.kind, Kind::unknown);
}

TEST(Review, ARiskIsAGrowthThatIsNotSafeAndWhatCannotBe) {
    const auto growth = [](const char* verdict) {
        return reviewed(TopicWish::Kind::count, "orders", 8, ("{\"verdict\": \"" + std::string(verdict) + "\"}").c_str());
    };
    EXPECT_FALSE(is_at_risk(growth("safe"), FailOn::warn));
    EXPECT_TRUE(is_at_risk(growth("findings"), FailOn::warn));
    EXPECT_FALSE(is_at_risk(growth("findings"), FailOn::block));
    EXPECT_TRUE(is_at_risk(growth("blocked"), FailOn::block));
    EXPECT_TRUE(is_at_risk(growth("unknown"), FailOn::block));
    EXPECT_TRUE(is_at_risk(reviewed(TopicWish::Kind::count, "orders", 8), FailOn::block));
    EXPECT_TRUE(is_at_risk(reviewed(TopicWish::Kind::count, "orders", 4), FailOn::block));
    EXPECT_TRUE(is_at_risk(reviewed(TopicWish::Kind::renewal, "orders", 0), FailOn::block));
    EXPECT_FALSE(is_at_risk(reviewed(TopicWish::Kind::count, "new", 4), FailOn::warn));
    EXPECT_FALSE(is_at_risk(reviewed(TopicWish::Kind::removal, "orders", 0), FailOn::warn));
}

TEST(Review, MarkdownShowsForeignTextAsItIs) {
    ReviewedChange growth = reviewed(TopicWish::Kind::count, "orders", 8, kPlan);
    growth.plan_text = "orders\n```\n# no heading\n";
    const std::string text =
        review_markdown({growth, reviewed(TopicWish::Kind::count, "audit", 2), reviewed(TopicWish::Kind::count, "new", 4),
                         reviewed(TopicWish::Kind::count, "audit", 3), reviewed(TopicWish::Kind::unknown, "audit", 0),
                         reviewed(TopicWish::Kind::renewal, "audit", 0)},
                        "the cluster at a_b", FailOn::warn);
    EXPECT_THAT(
        text, HasSubstr("## Partition counts, against the cluster at a\\_b\n\n5 topics change, 4 at risk; 1 topic unchanged.\n"));
    EXPECT_THAT(text, HasSubstr("| `orders` | 6 to 8 | findings | 75 % | topics\\|x.yaml |\n"));
    EXPECT_THAT(text, HasSubstr("| `new` | 4 | new topic |  | topics\\|x.yaml |\n"));
    EXPECT_THAT(text, HasSubstr("- **H03** (block): group \\<b\\> has \\| 750 records. Drain it.\n"));
    EXPECT_THAT(text, HasSubstr("Better: 12 or 18 partitions, so that no key moves between old partitions.\n"));
    EXPECT_THAT(text, HasSubstr("````text\norders\n```\n# no heading\n````\n"));
    EXPECT_THAT(text, HasSubstr("`audit` cannot shrink: Kafka refuses a lower count. Leave 3.\n"));
    EXPECT_THAT(text, HasSubstr("`audit` would be deleted and created anew"));
    EXPECT_THAT(text, HasSubstr("The count of `audit` is known only when the change is applied"));
    EXPECT_EQ(review_markdown({reviewed(TopicWish::Kind::count, "audit", 3)}, "x", FailOn::warn),
              "## Partition counts, against x\n\nNo topic changes (1 topic compared).\n");
}

}  // namespace
}  // namespace partita::scenarios
