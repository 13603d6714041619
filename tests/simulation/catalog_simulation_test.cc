#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "broker/catalog/catalog_core.h"
#include "tests/support/declared_settings.h"
#include "tests/unit/catalog/catalog_fixture.h"

// Runs random commands against the catalog core, with a crash after any step: before the records are persisted, between persist
// and commit, between commit and reply. A seed reproduces a run: FIRST_SEED and SEEDS (their number) in the environment choose
// the runs.

namespace partita::catalog {
namespace {

enum class Crash { none, before_persist, after_persist, after_commit };

/// The answers that a client got: the oracle for "acknowledged changes are never lost".
struct Acknowledged {
    TopicId id;
    std::int32_t partitions = 0;
    ConfigMap configs;
    std::vector<std::pair<std::int32_t, std::int32_t>> expansions;
};

/// Deliberate faults, to see that the checks notice.
enum class Canary { none, lose_acknowledged_group, tear_group, reuse_topic_ids };

std::string describe(const ExpansionCircumstances& known) {
    const RequestOrigin& origin = known.requested_by;
    std::string text = " by " + origin.client_id + "|" + origin.software_name + "|" + origin.software_version + "|" +
                       origin.address + "|" + origin.principal + " " + known.mode + " " + known.verdict + " " +
                       known.override_used + " groups " + std::to_string(known.group_count);
    for (const std::string& finding : known.findings) {
        text += " " + finding;
    }
    for (const GroupAtCut& group : known.groups) {
        text += " <" + group.group_id + " " + group.state + " " + std::to_string(group.members) + " " +
                std::to_string(group.committed_partitions) + " " + std::to_string(group.lag) + ">";
    }
    for (const std::string& group : known.seeded_groups) {
        text += " seeded:" + group;
    }
    return text;
}

std::string describe(const Topic& topic) {
    std::string text = topic.name + " " + topic.id.to_string() + " x" + std::to_string(topic.partition_count) + " rf" +
                       std::to_string(topic.replication_factor) + " @" + std::to_string(topic.created_time.value) +
                       (topic.internal ? " internal" : "");
    for (const auto& [name, value] : topic.configs) {
        text += " " + name + "=" + value;
    }
    for (const auto& expansion : topic.expansions) {
        text += " [" + std::to_string(expansion->epoch) + ": " + std::to_string(expansion->old_partition_count) + "->" +
                std::to_string(expansion->new_partition_count) + " @" + std::to_string(expansion->time.value) + " #" +
                std::to_string(expansion->catalog_sequence);
        for (const Offset end : expansion->log_end_offsets) {
            text += " " + std::to_string(end.value);
        }
        if (const ExpansionCircumstances* known = expansion->circumstances.get()) {
            text += describe(*known);
        }
        for (const ProducerSwitch& producer : expansion->producer_switches) {
            text += " (" + producer.client_id + "@" + producer.address + " " + std::to_string(producer.time.value) + " " +
                    std::to_string(producer.partition.value) + ":" + std::to_string(producer.offset.value) + " " +
                    std::to_string(producer.stale_records) + ")";
        }
        text += "]";
    }
    return text;
}

std::string describe(const CatalogSnapshot& snapshot) {
    std::string text = snapshot.cluster_id() + " seq " + std::to_string(snapshot.sequence()) + " pid " +
                       std::to_string(snapshot.next_producer_id().value) + " partitions " +
                       std::to_string(snapshot.partition_count()) + "\n";
    for (const auto& [name, level] : snapshot.finalized_features()) {
        text += name + "=" + std::to_string(level) + "\n";
    }
    for (const Topic& topic : snapshot.topics()) {
        text += describe(topic) + "\n";
    }
    for (const auto* all :
         {&snapshot.all_broker_configs(), &snapshot.all_group_configs(), &snapshot.all_client_metrics_configs()}) {
        for (const auto& [resource, configs] : *all) {
            text += "<" + resource + ">";
            for (const auto& [name, value] : configs) {
                text += " " + name + "=" + value;
            }
            text += "\n";
        }
    }
    return text;
}

class Simulation {
  public:
    Simulation(std::uint64_t seed, Canary canary) : random_(seed), canary_(canary), ids_(1) { restart(); }

    /// Empty when every check held; otherwise the failure.
    std::string run(int steps) {
        for (int step = 0; step < steps && problem_.empty(); ++step) {
            time_ms_ += pick(1000);
            act();
            if (problem_.empty()) {
                check();
            }
        }
        return problem_;
    }

    [[nodiscard]] const std::map<std::string, int>& coverage() const { return coverage_; }

  private:
    std::uint64_t pick(std::uint64_t bound) { return random_() % bound; }
    bool one_in(std::uint64_t n) { return pick(n) == 0; }
    std::string any_name() {
        static const char* const kNames[] = {"a", "b.c", "b_c", "orders", "wide", "x-1", "bad name", "__consumer_offsets"};
        return kNames[pick(std::size(kNames))];
    }
    void fail(const std::string& what) {
        if (problem_.empty()) {
            problem_ = what;
        }
    }

    CatalogContext context() {
        return {.now = {Instant{time_ms_}, TimestampMs{time_ms_}},
                .settings = settings_,
                .next_topic_id =
                    [this] {
                        if (canary_ == Canary::reuse_topic_ids && !all_ids_.empty() && one_in(3)) {
                            return *all_ids_.begin();
                        }
                        return ids_();
                    },
                .log_end_offsets =
                    [this](const Topic& topic) {
                        std::vector<Offset> ends(static_cast<std::size_t>(topic.partition_count));
                        for (Offset& end : ends) {
                            end = Offset{static_cast<std::int64_t>(pick(3) * pick(100))};
                        }
                        return ends;
                    }};
    }

    /// Makes a new core from the persisted records. When that fails the old core stays, so that the run can end.
    void restart() {
        auto core = std::make_unique<CatalogCore>(rules_);
        // The core must accept any order of keys: LMDB's order is not the order of writing.
        std::vector<const std::pair<const std::string, std::string>*> records;
        for (const auto& record : log_) {
            records.push_back(&record);
        }
        std::shuffle(records.begin(), records.end(), random_);
        for (const auto* record : records) {
            if (const auto done = core->replay(as_bytes(record->first), as_bytes(record->second)); !done) {
                return fail("replay: " + done.error().message);
            }
        }
        if (const auto done = core->finish_replay(); !done) {
            return fail("finish_replay: " + done.error().message);
        }
        core_ = std::move(core);
        ++coverage_["restart"];
    }

    void persist(const std::vector<Record>& records) {
        for (std::size_t index = 0; index < records.size(); ++index) {
            if (canary_ == Canary::tear_group && records.size() > 2 && index == 1 && one_in(4)) {
                return;
            }
            const Record& record = records[index];
            if (record.value) {
                log_.insert_or_assign(record.key, *record.value);
            } else {
                log_.erase(record.key);
            }
        }
    }

    /// The shell's three steps with a crash after any of them. True when the reply left.
    template <class Command>
    bool carry_out(const Decision<Command>& decision) {
        const auto crash = one_in(6) ? static_cast<Crash>(1 + pick(3)) : Crash::none;
        const std::string before = describe(*core_->snapshot());
        if (!decision.effects.empty() && decision.effects.records.empty()) {
            fail("a change without records");
        }
        if (decision.effects.empty() && !decision.effects.records.empty()) {
            fail("records without a change");
        }
        if (crash == Crash::before_persist) {
            restart();
            ++coverage_["crash before persist"];
            if (problem_.empty() && describe(*core_->snapshot()) != before) {
                fail("a crash before persist changed the catalog");
            }
            return false;
        }
        if (!(canary_ == Canary::lose_acknowledged_group && one_in(10))) {
            persist(decision.effects.records);
        }
        const std::string after = decision.effects.empty() ? before : describe(*decision.effects.next);
        if (crash == Crash::none || crash == Crash::after_commit) {
            core_->commit(decision.effects);
            if (describe(*core_->snapshot()) != after) {
                fail("commit gave another snapshot");
            }
        }
        if (crash != Crash::none) {
            restart();
            ++coverage_[crash == Crash::after_persist ? "crash after persist" : "crash after commit"];
            if (problem_.empty() && describe(*core_->snapshot()) != after) {
                fail("after a restart the catalog is\n" + describe(*core_->snapshot()) + "instead of\n" + after);
            }
        }
        // The oracle learns what the records did even if the reply was lost: the change happened.
        for (const CatalogChange& change : decision.effects.changes) {
            learn(change);
        }
        return crash == Crash::none;
    }

    template <class Command>
    void decide(const Command& command) {
        carry_out(core_->decide(command, context()));
    }

    void learn(const CatalogChange& change) {
        switch (change.kind) {
            case CatalogChange::Kind::topic_created:
                if (!all_ids_.insert(change.after->id).second) {
                    fail("topic id " + change.after->id.to_string() + " was used twice");
                }
                acknowledged_[change.after->name] = {change.after->id, change.after->partition_count, change.after->configs, {}};
                ++coverage_["created"];
                break;
            case CatalogChange::Kind::topic_deleted:
                acknowledged_.erase(change.before->name);
                ++coverage_["deleted"];
                break;
            case CatalogChange::Kind::topic_expanded: {
                Acknowledged& topic = acknowledged_[change.after->name];
                if (change.after->partition_count <= topic.partitions) {
                    fail("a partition count shrank");
                }
                topic.expansions.emplace_back(topic.partitions, change.after->partition_count);
                topic.partitions = change.after->partition_count;
                ++coverage_["expanded"];
                break;
            }
            case CatalogChange::Kind::expansion_annotated: {
                const Topic& before = *change.before;
                const Topic& after = *change.after;
                if (before.partition_count != after.partition_count) {
                    fail("an annotation changed a count");
                }
                for (std::size_t index = 0; index < before.expansions.size(); ++index) {
                    if (before.expansions[index]->producer_switches.size() > after.expansions[index]->producer_switches.size()) {
                        fail("a producer's switch was forgotten");
                    }
                }
                ++coverage_["annotated"];
                break;
            }
            case CatalogChange::Kind::topic_reconfigured:
                acknowledged_[change.after->name].configs = change.after->configs;
                ++coverage_["reconfigured"];
                break;
            case CatalogChange::Kind::configs_changed:
                ++coverage_["configs changed"];
                break;
            case CatalogChange::Kind::acls_changed:
                ++coverage_["acls changed"];
                break;
            case CatalogChange::Kind::delegation_tokens_changed:
                ++coverage_["delegation tokens changed"];
                break;
            case CatalogChange::Kind::identity_changed:
                ++coverage_["identity changed"];
                break;
        }
    }

    void act() {
        switch (pick(11)) {
            case 0:
            case 1:
                return create();
            case 2:
                return remove();
            case 3:
            case 4:
            case 5:
                return expand();
            case 6:
            case 7:
                return alter();
            case 8:
                return allocate();
            case 9:
                return annotate();
            default: {
                const std::string name = any_name();
                decide(AutoCreateTopic{one_in(3) ? kOffsetsTopicName : name});
                if (one_in(4)) {
                    decide(Initialise{"cluster", {{"f", static_cast<std::int16_t>(pick(3))}}});
                }
            }
        }
    }

    void create() {
        std::vector<std::string> names(1 + pick(3));
        CreateTopics command;
        for (std::string& name : names) {
            name = any_name();
            TopicToCreate topic{name, static_cast<std::int32_t>(pick(12)) - 1};
            if (one_in(3)) {
                topic.configs.push_back({"retention.ms", one_in(5) ? "bad" : "77"});
            }
            if (one_in(50)) {
                topic.num_partitions = 9999;
            }
            command.topics.push_back(std::move(topic));
        }
        command.validate_only = one_in(8);
        decide(command);
    }

    void remove() {
        const std::string name = any_name();
        DeleteTopics command;
        const Topic* topic = core_->snapshot()->find_topic(name);
        if (topic != nullptr && one_in(2)) {
            command.topics.push_back({std::nullopt, topic->id});
        } else {
            command.topics.push_back({name, {}});
        }
        decide(command);
    }

    void expand() {
        std::vector<std::string> names(1 + pick(2));
        CreatePartitions command;
        for (std::string& name : names) {
            name = any_name();
            command.topics.push_back({name, static_cast<std::int32_t>(pick(60)), std::nullopt});
        }
        command.validate_only = one_in(8);
        const JudgedExpansion judged{.refusal = {}, .circumstances = bounded_circumstances(any_circumstances())};
        for (TopicToExpand& wish : command.topics) {
            if (!one_in(4)) {
                wish.judged = &judged;
            }
        }
        decide(command);
    }

    ExpansionCircumstances any_circumstances() {
        ExpansionCircumstances known;
        known.requested_by = {"client-" + std::to_string(pick(5)), "software", "1." + std::to_string(pick(9)), "::1", "User:a"};
        known.mode = one_in(2) ? "faithful" : "guarded";
        known.verdict = one_in(2) ? "safe" : "findings";
        known.findings = {"H49", "H01"};
        if (one_in(3)) {
            known.override_used = "allow";
        }
        known.groups.resize(one_in(20) ? ExpansionCircumstances::kGroupsMax + 1 : pick(3));
        for (GroupAtCut& group : known.groups) {
            group = {"group-" + std::to_string(pick(100)), "Stable", static_cast<std::int32_t>(pick(9)), 3,
                     static_cast<std::int64_t>(pick(1000))};
            known.seeded_groups.push_back(group.group_id);
        }
        return known;
    }

    /// Producers switch some time after an expansion, some of them seen more than once.
    void annotate() {
        const Topic* topic = core_->snapshot()->find_topic(any_name());
        if (topic == nullptr) {
            return;
        }
        RecordProducerSwitches command;
        command.topic_id = topic->id;
        command.epoch = static_cast<std::int32_t>(pick(topic->expansions.size() + 2));
        for (std::uint64_t count = pick(4); count > 0; --count) {
            command.switches.push_back({"producer-" + std::to_string(pick(6)), one_in(2) ? "10.0.0.1" : "10.0.0.2",
                                        TimestampMs{time_ms_}, PartitionIndex{static_cast<std::int32_t>(pick(9))},
                                        Offset{static_cast<std::int64_t>(pick(99))}, static_cast<std::int64_t>(pick(7))});
        }
        const auto decision = core_->decide(command, context());
        carry_out(decision);
        coverage_["producers switched"] += decision.result.recorded;
    }

    void alter() {
        static constexpr ConfigResourceType kTypes[] = {ConfigResourceType::topic, ConfigResourceType::topic,
                                                        ConfigResourceType::broker, ConfigResourceType::group};
        const ConfigResourceType type = kTypes[pick(4)];
        const std::string name = type == ConfigResourceType::broker ? (one_in(2) ? "" : "1") : any_name();
        const std::string value = std::to_string(pick(5));
        IncrementalAlterConfigs command;
        command.resources.push_back({{type, name}, {}});
        command.resources[0].changes.push_back(
            {one_in(3) ? "segment.bytes" : "retention.ms", static_cast<std::int8_t>(one_in(3) ? 1 : 0), value});
        if (one_in(3)) {
            command.resources[0].changes.push_back({"cleanup.policy", static_cast<std::int8_t>(2 + pick(2)), "compact"});
        }
        decide(command);
    }

    void allocate() {
        const auto decision = core_->decide(AllocateProducerIds(), context());
        const std::int64_t first = decision.result.first.value;
        // Only ids that the broker told a client must not come again.
        if (carry_out(decision)) {
            if (first < next_free_producer_id_) {
                fail("producer ids were given out twice");
            }
            next_free_producer_id_ = first + decision.result.count;
            ++coverage_["producer ids"];
        }
    }

    void check() {
        const CatalogSnapshot& catalog = *core_->snapshot();
        if (catalog.topic_count() != acknowledged_.size()) {
            fail("topics were lost or came from nowhere");
        }
        for (const auto& [name, expected] : acknowledged_) {
            const Topic* topic = catalog.find_topic(name);
            if (topic == nullptr) {
                return fail("topic " + name + " was acknowledged and is gone");
            }
            if (topic->id != expected.id || catalog.find_topic(expected.id) != topic) {
                fail("id of " + name);
            }
            if (topic->partition_count != expected.partitions) {
                fail("partition count of " + name);
            }
            if (topic->configs != expected.configs) {
                fail("configs of " + name);
            }
            if (topic->expansions.size() != expected.expansions.size()) {
                return fail("expansion epochs of " + name);
            }
            for (std::size_t index = 0; index < expected.expansions.size(); ++index) {
                const ExpansionEpoch& expansion = *topic->expansions[index];
                if (expansion.epoch != static_cast<std::int32_t>(index) + 1 ||
                    expansion.old_partition_count != expected.expansions[index].first ||
                    expansion.new_partition_count != expected.expansions[index].second) {
                    fail("expansion epoch of " + name);
                }
            }
        }
    }

    std::mt19937_64 random_;
    const Canary canary_;
    TestTopicIds ids_;
    TestConfigRules rules_;
    CatalogSettings settings_ = declared_catalog_settings();
    std::unique_ptr<CatalogCore> core_;
    std::map<std::string, std::string> log_;
    std::map<std::string, Acknowledged> acknowledged_;
    std::set<TopicId> all_ids_;
    std::int64_t next_free_producer_id_ = 0;
    std::int64_t time_ms_ = 1;
    std::string problem_;
    std::map<std::string, int> coverage_;
};

std::uint64_t from_environment(const char* name, std::uint64_t otherwise) {
    const char* text = std::getenv(name);
    return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

constexpr int kSteps = 300;

TEST(CatalogSimulation, CrashAtAnyStepLosesNothingAcknowledged) {
    const std::uint64_t first = from_environment("FIRST_SEED", 1);
    const std::uint64_t seeds = from_environment("SEEDS", 200);
    std::map<std::string, int> coverage;
    for (std::uint64_t seed = first; seed < first + seeds; ++seed) {
        Simulation simulation(seed, Canary::none);
        const std::string problem = simulation.run(kSteps);
        ASSERT_EQ(problem, "") << "run again with FIRST_SEED=" << seed << " SEEDS=1";
        for (const auto& [what, count] : simulation.coverage()) {
            coverage[what] += count;
        }
    }
    std::cout << "seeds " << first << " to " << first + seeds - 1 << ", " << kSteps << " commands each:";
    for (const auto& [what, count] : coverage) {
        std::cout << " " << what << " " << count << ";";
    }
    std::cout << "\n";
    if (seeds < 50) {
        return;  // A few runs need not reach everything.
    }
    for (const char* what :
         {"created", "deleted", "expanded", "annotated", "producers switched", "reconfigured", "configs changed",
          "identity changed", "producer ids", "crash before persist", "crash after persist", "crash after commit"}) {
        EXPECT_GT(coverage[what], 0) << "the simulation never reached: " << what;
    }
}

/// The checks above must be able to fail: each planted fault is found within a few seeds.
class CatalogSimulationCanary : public ::testing::TestWithParam<Canary> {};

TEST_P(CatalogSimulationCanary, PlantedFaultIsFound) {
    int found = 0;
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
        found += Simulation(seed, GetParam()).run(kSteps).empty() ? 0 : 1;
    }
    EXPECT_GE(found, 15);
}

INSTANTIATE_TEST_SUITE_P(Faults, CatalogSimulationCanary,
                         ::testing::Values(Canary::lose_acknowledged_group, Canary::tear_group, Canary::reuse_topic_ids));

}  // namespace
}  // namespace partita::catalog
