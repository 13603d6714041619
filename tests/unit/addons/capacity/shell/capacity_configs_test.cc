// Tests that a running broker acts on the configs of capacity as soon as they change.

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "broker/config/addition.h"
#include "broker/config/current_config.h"
#include "broker/handlers/services.h"
#include "protocol/messages/01_fetch.h"
#include "protocol/messages/08_offset_commit.h"
#include "protocol/messages/10_find_coordinator.h"
#include "protocol/record_batch_builder.h"
#include "tests/unit/assembly/configured_broker.h"

namespace partita::capacity {

extern const config::Addition kConfigAddition;

namespace {

using test::ConfigChange;

/// A simulated broker whose behaviour shows which configs of capacity act.
class MeteredBroker : public test::ConfiguredBroker {
  public:
    using ConfiguredBroker::ConfiguredBroker;

    /// Small beside what one unit lets pass by default, in bytes and in records.
    static constexpr int kFewRecords = 50;
    static constexpr std::size_t kValueBytes = 1'000;

    /// Whether the broker tells a producer of a few records to wait.
    bool delays_producers() { return produce_few(make_topic(1, {}), kFewRecords) > 0; }
    /// Whether the broker tells a reader of a few records to wait afterwards.
    bool delays_consumers() {
        const std::string topic = make_topic(1, {});
        produce_few(topic, kFewRecords);
        std::array partitions{
            FetchRequest::FetchPartition{.partition = 0, .fetch_offset = 0, .partition_max_bytes = kFetchBytes}};
        std::array topics{FetchRequest::FetchTopic{.topic = topic, .partitions = partitions}};
        std::int32_t wait_ms = 0;
        called().ask<FetchResponse>(
            11,
            FetchRequest{
                .max_wait_ms = 0, .min_bytes = 0, .max_bytes = kFetchBytes, .topics = topics, .forgotten_topics_data = {}},
            [&](const auto& response) {
                EXPECT_EQ(response.error_code, ErrorCode::none);
                wait_ms = response.throttle_time_ms;
            });
        return wait_ms > 0;
    }
    /// Whether the broker tells a client to wait when it commits twice at once.
    bool delays_commits() {
        const std::string topic = make_topic(1, {});
        const std::string group = fresh("group");
        std::array<std::string_view, 1> keys{group};
        called().ask<FindCoordinatorResponse>(4, FindCoordinatorRequest{.coordinator_keys = keys}, [](const auto& response) {
            EXPECT_EQ(response.coordinators[0].error_code, ErrorCode::none);
        });
        called().rest(1'000);
        std::array partitions{OffsetCommitRequest::Partition{.partition_index = 0, .committed_offset = 0}};
        std::array topics{OffsetCommitRequest::Topic{.name = topic, .partitions = partitions}};
        std::int32_t wait_ms = 0;
        for (int count = 0; count < 2; ++count) {
            called().ask<OffsetCommitResponse>(8, OffsetCommitRequest{.group_id = group, .topics = topics},
                                               [&](const auto& response) {
                                                   EXPECT_EQ(response.topics[0].partitions[0].error_code, ErrorCode::none);
                                                   wait_ms = response.throttle_time_ms;
                                               });
        }
        return wait_ms > 0;
    }
    /// Whether the units of capacity rise when a producer has to wait for two or three seconds.
    bool raises_capacity() {
        const auto units = [this] {
            return std::get<std::int32_t>(called().broker().services().config.get()->value("partita.capacity.units"));
        };
        const std::int32_t before = units();
        const std::string topic = make_topic(1, {});
        const std::int32_t wait_ms = produce_few(topic, kFewRecords);
        EXPECT_GT(wait_ms, 0);
        called().rest(wait_ms);
        // The next request makes the broker look at the wait.
        produce_few(topic, 1);
        called().rest(1'000);
        return units() > before;
    }

  private:
    static constexpr std::int32_t kFetchBytes = 10'000'000;

    /// One batch of records of `kValueBytes`. Returns for how many milliseconds its producer has to wait.
    std::int32_t produce_few(const std::string& topic, int records) {
        const std::string value(kValueBytes, 'v');
        BatchBuilder builder;
        for (int record = 0; record < records; ++record) {
            builder.append(called().now().wall, std::nullopt, as_bytes(value));
        }
        return produce(topic, 1, builder);
    }
};

const std::map<std::string_view, ConfigChange<MeteredBroker>>& changes() {
    static constexpr const char* kOneUnit = "partita.capacity.units=1";
    // A few records take between two and three seconds.
    static constexpr const char* kSmallIngress = "partita.capacity.unit.ingress.events=20";
    static const std::map<std::string_view, ConfigChange<MeteredBroker>> kChanges{
        {"partita.capacity.commits", {"1", [](MeteredBroker& broker) { return broker.delays_commits(); }, {kOneUnit}}},
        {"partita.capacity.inflate.after.ms",
         {"1000",
          [](MeteredBroker& broker) { return broker.raises_capacity(); },
          {kOneUnit, "partita.capacity.units.max=10", kSmallIngress}}},
        {"partita.capacity.unit.egress.bytes",
         {"20000", [](MeteredBroker& broker) { return broker.delays_consumers(); }, {kOneUnit}}},
        {"partita.capacity.unit.egress.events",
         {"20", [](MeteredBroker& broker) { return broker.delays_consumers(); }, {kOneUnit}}},
        {"partita.capacity.unit.ingress.bytes",
         {"20000", [](MeteredBroker& broker) { return broker.delays_producers(); }, {kOneUnit}}},
        {"partita.capacity.unit.ingress.events",
         {"20", [](MeteredBroker& broker) { return broker.delays_producers(); }, {kOneUnit}}},
        {"partita.capacity.units", {"1", [](MeteredBroker& broker) { return broker.delays_producers(); }, {kSmallIngress}}},
        {"partita.capacity.units.max",
         {"10",
          [](MeteredBroker& broker) { return broker.raises_capacity(); },
          {kOneUnit, "partita.capacity.inflate.after.ms=1000", kSmallIngress}}},
    };
    return kChanges;
}

TEST(CapacityConfigs, EachThatIsDeclaredToActAtOnceIsSeenToAct) {
    std::size_t seen = 0;
    for (const config::ConfigDefinition& definition : kConfigAddition.broker) {
        if (definition.update_mode == config::UpdateMode::read_only || definition.effect != config::ConfigEffect::at_once) {
            continue;
        }
        SCOPED_TRACE(definition.name);
        const auto change = changes().find(definition.name);
        ASSERT_NE(change, changes().end()) << "it is declared to act when it is changed, and nobody says how one sees that";
        test::expect_acts_at_once(definition.name, change->second);
        ++seen;
    }
    EXPECT_EQ(seen, changes().size());
}

}  // namespace
}  // namespace partita::capacity
