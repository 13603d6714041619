#include "broker/addons/faults/core/fault_table.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace partita::faults {
namespace {

constexpr std::string_view kGroups[] = {"billing"};
constexpr NamedPartition kPartitions[] = {{"orders", 3}, {"audit", std::nullopt}};

class FaultTableTest : public ::testing::Test {
  protected:
    static Rule rule_of(ApiKey api, ErrorCode error = ErrorCode::not_leader_or_follower) {
        Rule rule;
        rule.match.api = api;
        rule.action.error = error;
        return rule;
    }
    std::string add(Rule rule) {
        auto ids = table_.add({std::move(rule)}, now_);
        EXPECT_TRUE(ids) << ids.error();
        return ids ? ids->front() : "";
    }
    std::string refusal_of(Rule rule) {
        auto ids = table_.add({std::move(rule)}, now_);
        return ids ? "" : ids.error();
    }
    /// The id of the rule that acts on a Produce request; empty for none.
    std::string acting() {
        const Rule* rule = table_.decide(request_, now_);
        return rule == nullptr ? "" : rule->id;
    }
    /// "x" for each of so many requests on which a rule acts, "." for the others.
    std::string pattern(int requests) {
        std::string pattern;
        for (int request = 0; request < requests; ++request) {
            pattern += acting().empty() ? '.' : 'x';
        }
        return pattern;
    }
    void wait(std::int64_t duration_ms) { now_.monotonic = now_.monotonic + duration_ms; }

    Now now_{.monotonic = Instant{1'000'000}, .wall = TimestampMs{5'000'000}};
    RequestFacts request_{.api = ApiKey::produce,
                          .version = 9,
                          .client_id = "shop",
                          .software = "librdkafka",
                          .principal = "User:alice",
                          .listener = "PLAINTEXT",
                          .broker = 2,
                          .client_address = "127.0.0.1:4711",
                          .correlation_id = 17,
                          .groups = kGroups,
                          .partitions = kPartitions};
    FaultTable table_;
};

TEST_F(FaultTableTest, TheFirstRuleThatActsDecides) {
    EXPECT_EQ(acting(), "");
    Rule once = rule_of(ApiKey::produce);
    once.when.times = 1;
    EXPECT_EQ(add(std::move(once)), "fault-1");
    EXPECT_EQ(add(rule_of(ApiKey::produce)), "fault-2");
    EXPECT_EQ(acting(), "fault-1");
    EXPECT_EQ(acting(), "fault-2");
    EXPECT_EQ(table_.find("fault-1")->matched, 2) << "it saw the second request, too";
    EXPECT_EQ(table_.find("fault-1")->acted, 1);
    EXPECT_EQ(table_.find("fault-2")->matched, 1) << "the first request did not reach it";
}

TEST_F(FaultTableTest, EachPartOfAMatchSelects) {
    const auto acts = [&](auto change) {
        FaultTable table;
        Rule rule = rule_of(ApiKey::produce);
        change(rule.match);
        EXPECT_TRUE(table.add({rule}, now_));
        return table.decide(request_, now_) != nullptr;
    };
    EXPECT_TRUE(acts([](Match&) {}));
    EXPECT_FALSE(acts([](Match& match) { match.api = ApiKey::fetch; }));
    EXPECT_TRUE(acts([](Match& match) { match.version = 9; }));
    EXPECT_FALSE(acts([](Match& match) { match.version = 10; }));
    EXPECT_TRUE(acts([](Match& match) { match.client_id = "shop"; }));
    EXPECT_FALSE(acts([](Match& match) { match.client_id = "shop-2"; }));
    EXPECT_TRUE(acts([](Match& match) { match.software = "librdkafka"; }));
    EXPECT_FALSE(acts([](Match& match) { match.software = "sarama"; }));
    EXPECT_TRUE(acts([](Match& match) { match.principal = "User:alice"; }));
    EXPECT_FALSE(acts([](Match& match) { match.principal = "User:bob"; }));
    EXPECT_TRUE(acts([](Match& match) { match.listener = "PLAINTEXT"; }));
    EXPECT_FALSE(acts([](Match& match) { match.listener = "SSL"; }));
    EXPECT_TRUE(acts([](Match& match) { match.broker = 2; }));
    EXPECT_FALSE(acts([](Match& match) { match.broker = 1; }));
    EXPECT_TRUE(acts([](Match& match) { match.group = "billing"; }));
    EXPECT_FALSE(acts([](Match& match) { match.group = "other"; }));
    EXPECT_TRUE(acts([](Match& match) { match.topic = "audit"; }));
    EXPECT_FALSE(acts([](Match& match) { match.topic = "other"; }));
    EXPECT_TRUE(acts([](Match& match) { match.partition = 3; }));
    EXPECT_FALSE(acts([](Match& match) { match.partition = 4; }));
    EXPECT_FALSE(acts([](Match& match) {
        match.topic = "audit";
        match.partition = 3;
    })) << "partition 3 is of another topic";
}

TEST_F(FaultTableTest, ARuleActsFromTheNthRequestOnAtEachSoManythAndSoOften) {
    Rule rule = rule_of(ApiKey::produce);
    rule.when = {.nth = 3, .every = 2, .times = 2};
    add(rule);
    EXPECT_EQ(pattern(9), "..x.x....");
}

TEST_F(FaultTableTest, ProbabilityFollowsFromTheSeed) {
    Rule rule = rule_of(ApiKey::produce);
    rule.when.probability = 0.3;
    rule.when.seed = 42;
    add(rule);
    const std::string first = pattern(1000);
    table_.clear();
    add(rule);
    EXPECT_EQ(pattern(1000), first);
    const auto acted = std::ranges::count(first, 'x');
    EXPECT_NEAR(static_cast<double>(acted), 300, 60);
    table_.clear();
    rule.when.seed = 43;
    add(rule);
    EXPECT_NE(pattern(1000), first);
    table_.clear();
    rule.when.probability = 0;
    add(rule);
    EXPECT_EQ(pattern(100), std::string(100, '.'));
}

TEST_F(FaultTableTest, ARuleActsInItsTime) {
    Rule rule = rule_of(ApiKey::produce);
    rule.when.after_ms = 100;
    rule.when.for_ms = 50;
    const std::string id = add(rule);
    EXPECT_EQ(acting(), "");
    wait(99);
    EXPECT_EQ(acting(), "");
    EXPECT_EQ(table_.find(id)->matched, 0) << "it is not its time yet";
    wait(1);
    EXPECT_EQ(acting(), id);
    wait(49);
    EXPECT_EQ(acting(), id);
    wait(1);
    EXPECT_EQ(acting(), "");
}

TEST_F(FaultTableTest, ARuleWaitsForAnother) {
    Rule first = rule_of(ApiKey::fetch);
    first.id = "first";
    add(first);
    Rule second = rule_of(ApiKey::produce);
    second.when.after_fault = "first";
    second.when.after_ms = 10;
    add(second);
    EXPECT_EQ(acting(), "");
    RequestFacts fetch = request_;
    fetch.api = ApiKey::fetch;
    EXPECT_NE(table_.decide(fetch, now_), nullptr);
    EXPECT_EQ(acting(), "");
    wait(10);
    EXPECT_EQ(acting(), "fault-1");
}

TEST_F(FaultTableTest, NotesTellWhichRequestsAgreed) {
    Rule rule = rule_of(ApiKey::produce);
    rule.when.nth = 2;
    add(rule);
    for (std::size_t request = 0; request < FaultTable::kNotesMax; ++request) {
        (void)acting();
    }
    const FaultTable::Entry* entry = table_.find("fault-1");
    ASSERT_EQ(entry->notes.size(), FaultTable::kNotesMax);
    EXPECT_FALSE(entry->notes.front().has_acted);
    EXPECT_EQ(entry->notes.front().client_id, "shop");
    EXPECT_EQ(entry->notes.front().client_address, "127.0.0.1:4711");
    EXPECT_EQ(entry->notes.front().correlation_id, 17);
    EXPECT_EQ(entry->notes.front().time, TimestampMs{5'000'000});
    (void)acting();
    EXPECT_EQ(entry->notes.size(), FaultTable::kNotesMax) << "the oldest one makes room";
    EXPECT_TRUE(entry->notes.front().has_acted);
}

TEST_F(FaultTableTest, BadRulesAreRefusedWithASentence) {
    EXPECT_EQ(refusal_of({}), "\"do\" of a rule names no action");
    const auto changed = [&](auto change) {
        Rule rule = rule_of(ApiKey::produce);
        change(rule);
        return refusal_of(rule);
    };
    EXPECT_EQ(changed([](Rule& rule) { rule.id = "a b"; }), "\"id\" may have letters, digits, '.', '_' and '-'");
    EXPECT_EQ(changed([](Rule& rule) { rule.match.topic = std::string(Rule::kTextBytesMax + 1, 't'); }),
              "a text of a rule may have 1024 bytes");
    EXPECT_EQ(changed([](Rule& rule) { rule.action.disconnect = true; }),
              "a rule does one of \"error\", \"drop_request\", \"drop_response\", \"disconnect\", \"throttle_ms\", "
              "\"corrupt_records\", \"truncate_records\", \"stale_metadata\" and \"log_start\"");
    EXPECT_EQ(changed([](Rule& rule) { rule.action = {.log_start = 1}; }),
              "\"log_start\" concerns only the apis Fetch and ListOffsets");
    EXPECT_EQ(changed([](Rule& rule) { rule = {.action = {.log_start = -1}}; }), "\"log_start\" must not be negative");
    const auto stale = [&](StaleMetadata metadata) {
        return changed([&](Rule& rule) { rule = {.action = {.stale_metadata = metadata}}; });
    };
    for (const StaleMetadata& bad : {StaleMetadata{}, StaleMetadata{.partitions = 1, .missing = true}}) {
        EXPECT_EQ(stale(bad), "\"stale_metadata\" has \"missing\", or some of \"partitions\", \"shuffled\" and \"leader\"");
    }
    EXPECT_EQ(stale({.partitions = 0}), "\"partitions\" of \"stale_metadata\" counts from 1");
    EXPECT_EQ(stale({.leader = -2}), "\"leader\" of \"stale_metadata\" is -1 or the id of a broker");
    EXPECT_EQ(changed([](Rule& rule) { rule.action = {.stale_metadata = StaleMetadata{.missing = true}}; }),
              "\"stale_metadata\" concerns only the apis Metadata and DescribeTopicPartitions");
    EXPECT_EQ(changed([](Rule& rule) { rule.action = {.corrupt_records = true}; }),
              "\"corrupt_records\" and \"truncate_records\" concern only the api Fetch");
    EXPECT_EQ(changed([](Rule& rule) { rule.action.error = ErrorCode::none; }), "NONE is no error");
    EXPECT_EQ(changed([](Rule& rule) { rule.action.delay_ms = Rule::kWaitMsMax + 1; }),
              "\"delay_ms\" and \"throttle_ms\" lie between 0 and 3600000");
    EXPECT_EQ(changed([](Rule& rule) { rule.action.slow_bytes_per_s = Rule::kBytesPerSMax + 1; }),
              "\"slow_bytes_per_s\" lies between 0 and 1000000000");
    EXPECT_EQ(changed([](Rule& rule) { rule.action.reset_after_bytes = -1; }), "\"reset_after_bytes\" must not be negative");
    EXPECT_EQ(changed([](Rule& rule) { rule.action = {.drop_response = true, .reset_after_bytes = 0}; }),
              "\"slow_bytes_per_s\", \"reset_after_bytes\" and \"duplicate_response\" need an answer, so they do not go with "
              "\"drop_request\", \"drop_response\" and \"disconnect\"");
    EXPECT_EQ(changed([](Rule& rule) { rule.when.nth = 0; }), "\"nth\" and \"every\" count from 1");
    EXPECT_EQ(changed([](Rule& rule) { rule.when.for_ms = -1; }), "\"times\", \"after_ms\" and \"for_ms\" must not be negative");
    EXPECT_EQ(changed([](Rule& rule) { rule.when.probability = 1.5; }), "\"probability\" must lie between 0 and 1");
    EXPECT_EQ(changed([](Rule& rule) { rule.when.after_fault = "none"; }), "there is no rule \"none\" for \"after_fault\"");
    EXPECT_EQ(changed([](Rule& rule) {
                  rule.match.api.reset();
                  rule.match.version = 3;
              }),
              "\"version\" of a rule needs its \"api\"");
    EXPECT_TRUE(table_.empty());
}

TEST_F(FaultTableTest, AllRulesOfAListAreAddedOrNone) {
    Rule named = rule_of(ApiKey::produce);
    named.id = "mine";
    EXPECT_EQ(table_.add({named, rule_of(ApiKey::fetch), named}, now_).error(), "there is a rule \"mine\" already");
    EXPECT_TRUE(table_.empty());
    EXPECT_EQ(table_.add({named, rule_of(ApiKey::fetch)}, now_)->size(), 2u);
    EXPECT_TRUE(table_.remove("mine"));
    EXPECT_FALSE(table_.remove("mine"));
    EXPECT_EQ(table_.add(std::vector<Rule>(FaultTable::kRulesMax, rule_of(ApiKey::fetch)), now_).error(),
              "there may be 1024 rules");
}

TEST_F(FaultTableTest, OnlyRulesThatAskForNamesNeedThem) {
    add(rule_of(ApiKey::produce));
    EXPECT_FALSE(table_.needs_names(ApiKey::produce, 9));
    Rule rule = rule_of(ApiKey::fetch);
    rule.match.topic = "orders";
    add(rule);
    EXPECT_FALSE(table_.needs_names(ApiKey::produce, 9));
    EXPECT_TRUE(table_.needs_names(ApiKey::fetch, 12));
}

TEST_F(FaultTableTest, ARuleAboutRecordsMeetsOnlyFetchesAndThoseThatMayReturnItsTopic) {
    Rule rule;
    rule.match.topic = "elsewhere";
    rule.action = {.corrupt_records = true};
    const std::string id = add(rule);
    request_.names_incompletely = true;
    EXPECT_EQ(acting(), "");
    request_.api = ApiKey::fetch;
    EXPECT_EQ(acting(), id);
    request_.names_incompletely = false;
    EXPECT_EQ(acting(), "");
}

TEST_F(FaultTableTest, ARuleAboutMetadataMeetsRequestsForItsTopicWhateverItsPartition) {
    Rule rule;
    rule.match.topic = "orders";
    rule.match.partition = 99;
    rule.action.stale_metadata = {.leader = 7};
    const std::string id = add(rule);
    EXPECT_EQ(acting(), "");
    for (const ApiKey api : {ApiKey::metadata, ApiKey::describe_topic_partitions}) {
        request_.api = api;
        EXPECT_EQ(acting(), id);
    }
    const NamedPartition other{.topic = "other", .partition = std::nullopt};
    request_.partitions = {&other, 1};
    EXPECT_EQ(acting(), "");
}

TEST_F(FaultTableTest, ADeedThatIsTakenBackCountsNoLonger) {
    Rule rule = rule_of(ApiKey::produce);
    rule.when.times = 1;
    const std::string id = add(rule);
    Rule after = rule_of(ApiKey::fetch);
    after.when.after_fault = id;
    add(after);
    EXPECT_EQ(acting(), id);
    request_.correlation_id = 18;
    EXPECT_EQ(acting(), "");
    table_.take_back(id, request_.client_address, 17);
    EXPECT_EQ(table_.find(id)->acted, 0);
    EXPECT_FALSE(table_.find(id)->first_acted_at.has_value());
    EXPECT_FALSE(table_.find(id)->notes.front().has_acted);
    EXPECT_EQ(acting(), id);
    table_.take_back("unknown", request_.client_address, request_.correlation_id);
}

TEST_F(FaultTableTest, ARuleAboutTheDiskMatchesFilesAndNoRequests) {
    Rule full;
    full.match.topic = "orders";
    full.match.partition = 3;
    full.action.disk_full = true;
    full.when.times = 2;
    const std::string id = add(full);
    EXPECT_EQ(acting(), "") << "the request names that partition";
    EXPECT_FALSE(table_.needs_names(ApiKey::produce, 9));
    EXPECT_TRUE(table_.has_disk_rules());
    const DiskFacts write{.operation = DiskOperation::write, .file = "orders-3/0.log", .topic = "orders", .partition = 3};
    DiskFacts other_partition = write;
    other_partition.partition = 4;
    DiskFacts other_file{.operation = DiskOperation::write, .file = "recovery-point-offset-checkpoint"};
    DiskFacts sync = write;
    sync.operation = DiskOperation::sync;
    EXPECT_FALSE(table_.fails(other_partition, now_));
    EXPECT_FALSE(table_.fails(other_file, now_));
    EXPECT_FALSE(table_.fails(sync, now_));
    EXPECT_TRUE(table_.fails(write, now_));
    EXPECT_TRUE(table_.fails(write, now_));
    EXPECT_FALSE(table_.fails(write, now_)) << "\"times\" is over";
    const FaultTable::Entry* entry = table_.find(id);
    EXPECT_EQ(entry->matched, 3);
    EXPECT_EQ(entry->acted, 2);
    EXPECT_EQ(entry->notes.front().file, "orders-3/0.log");
    EXPECT_TRUE(entry->notes.front().has_acted);
    EXPECT_FALSE(entry->notes.back().has_acted);
}

TEST_F(FaultTableTest, OnlyAnErrorTakesEffectBesides) {
    Rule rule = rule_of(ApiKey::produce);
    rule.action.takes_effect = true;
    EXPECT_EQ(refusal_of(rule), "");
    rule.action = {.takes_effect = true, .drop_request = true};
    EXPECT_EQ(refusal_of(rule), "\"takes_effect\" needs an \"error\"");
}

TEST_F(FaultTableTest, ARuleAboutTheDiskBeginsWhenARequestMetAnotherRule) {
    Rule first = rule_of(ApiKey::produce);
    first.id = "first";
    first.when.times = 1;
    add(first);
    Rule fails;
    fails.action.sync_fails = true;
    fails.when.after_fault = "first";
    fails.when.for_ms = 1000;
    add(fails);
    const DiskFacts sync{.operation = DiskOperation::sync, .file = "orders-3/0.log", .topic = "orders", .partition = 3};
    EXPECT_FALSE(table_.fails(sync, now_));
    EXPECT_EQ(acting(), "first");
    EXPECT_TRUE(table_.fails(sync, now_));
    wait(1000);
    EXPECT_FALSE(table_.fails(sync, now_));
}

TEST_F(FaultTableTest, ARuleAboutTheDiskHasNoMemberThatOnlyARequestHas) {
    Rule rule;
    rule.action.disk_full = true;
    rule.match.client_id = "shop";
    EXPECT_EQ(refusal_of(rule),
              "\"disk_full\" and \"sync_fails\" match files, so \"match\" may have only \"topic\" and \"partition\"");
    rule.match = {.api = ApiKey::fetch};
    EXPECT_NE(refusal_of(rule), "");
    rule.match = {.partition = 1};
    EXPECT_EQ(refusal_of(rule), "\"partition\" needs its \"topic\" in a rule about files");
    rule.match = {};
    for (const auto change : {+[](Action& action) { action.sync_fails = true; }, +[](Action& action) { action.hold = true; },
                              +[](Action& action) { action.error = ErrorCode::kafka_storage_error; },
                              +[](Action& action) { action.slow_bytes_per_s = 10; }}) {
        Rule mixed = rule;
        change(mixed.action);
        EXPECT_EQ(refusal_of(mixed), "\"disk_full\" and \"sync_fails\" are each alone in \"do\" of a rule");
    }
    EXPECT_EQ(refusal_of(rule), "");
}

}  // namespace
}  // namespace partita::faults
