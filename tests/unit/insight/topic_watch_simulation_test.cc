// Tests that all statements about producers are true, whatever the producers do, and that the whole broker's bounds hold.

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "tests/unit/insight/topic_watch_fixture.h"

namespace partita::insight {
namespace {

// Seeded producers that refresh their metadata at different moments, several expansions, any family. Every finding must be true.
// The watch must find every stale producer that sends a moved key, and no finding may stay once all have switched.
TEST(TopicWatchSimulation, StaleProducersAreFoundAndNobodyIsAccusedWrongly) {
    std::int64_t stale_findings = 0;
    for (std::uint64_t seed = 0; seed < 60; ++seed) {
        std::mt19937_64 random(seed);
        const auto family = static_cast<Family>(random() % partitioners::kFamilyCount);
        std::vector<TopicEpoch> epochs{{3 + static_cast<std::int32_t>(random() % 10), {0}}};
        TopicWatch watch("orders", epochs, 1024);
        struct Sender {
            ProducerIdentity identity;
            std::int32_t count;
            std::int64_t refresh_at;
            bool sent_moved;
        };
        std::vector<Sender> senders;
        for (int i = 0; i < 5; ++i) {
            senders.push_back({client("p" + std::to_string(i)), epochs[0].partition_count, 0, false});
        }
        TimestampMs now{0};
        std::vector<Offset> ends(64, Offset{0});
        const auto produce = [&](Sender& sender) {
            // Long enough for the window families.
            const std::string key = "a key of a customer " + std::to_string(random() % 500);
            const PartitionIndex partition = partitioners::partition_of(family, as_bytes(key), sender.count);
            Offset& end = ends[static_cast<std::size_t>(partition.value)];
            watch.observe(sender.identity, {.key = as_bytes(key), .partition = partition, .offset = end, .size_bytes = 20}, now);
            end = end + 1;
            bool is_moved = sender.count != epochs.back().partition_count;
            partitioners::equivalence_class(family, sender.count).for_each([&](Family possible) {
                is_moved &= partitioners::partition_of(possible, as_bytes(key), epochs.back().partition_count) != partition;
            });
            sender.sent_moved |= is_moved;
        };
        for (int expansion = 0; expansion < 3; ++expansion) {
            for (int step = 0; step < 400; ++step) {
                now.value += 100;
                produce(senders[random() % senders.size()]);
            }
            epochs.push_back({epochs.back().partition_count + 1 + static_cast<std::int32_t>(random() % 12), now});
            watch.set_epochs(epochs);
            for (Sender& sender : senders) {
                sender.refresh_at = now.value + static_cast<std::int64_t>(random() % 120'000);
                sender.sent_moved = false;
            }
            for (int step = 0; step < 2500; ++step) {
                now.value += 100;
                Sender& sender = senders[random() % senders.size()];
                if (now.value >= sender.refresh_at) {
                    sender.count = epochs.back().partition_count;
                }
                produce(sender);
                if (step % 50 != 0) {
                    continue;
                }
                for (const Finding& finding : watch.findings({.log_starts = {}, .log_ends = ends}, now)) {
                    ASSERT_EQ(finding.id, HazardId::stale_producer) << seed << " " << finding.condition;
                    const auto accused = std::ranges::find_if(senders, [&](const Sender& candidate) {
                        return candidate.identity.client_id == finding.subject.client_id;
                    });
                    ASSERT_TRUE(accused->sent_moved) << seed << " " << finding.condition;
                    ++stale_findings;
                }
            }
            for (const ProducerReport& report : watch.producers()) {
                const auto sender = std::ranges::find(senders, report.identity, &Sender::identity);
                if (sender->sent_moved) {
                    EXPECT_GT(report.stale_records, 0) << seed << " a stale producer was overlooked";
                }
                EXPECT_FALSE(report.is_stale) << seed << " everybody has switched";
            }
        }
    }
    EXPECT_GT(stale_findings, 1000);
}

TEST(Detection, BoundsHoldForTheWholeBroker) {
    Detection detection;
    const std::vector<TopicEpoch> epochs{{6, {0}}};
    for (std::size_t topic = 0; topic < Detection::kTopicsMax + 5; ++topic) {
        TopicId id;
        id.bytes[0] = static_cast<std::uint8_t>(topic);
        id.bytes[1] = static_cast<std::uint8_t>(topic >> 8);
        TopicWatch& watch = detection.watch(id, "topic-" + std::to_string(topic), epochs);
        for (int key = 0; key < 600; ++key) {
            const std::string text = std::to_string(key) + "-" + std::to_string(topic);
            watch.observe(client("p" + std::to_string(key % 9)), {.key = as_bytes(text), .partition = {0}, .size_bytes = 10},
                          {1});
        }
        detection.keep_bounds();
    }
    EXPECT_EQ(detection.topic_count(), Detection::kTopicsMax);
    EXPECT_LE(detection.key_count(), Detection::kKeysMax);
    EXPECT_GT(detection.key_count(), Detection::kKeysMax / 2);
    EXPECT_EQ(detection.producer_count(), Detection::kProducersMax);
    EXPECT_EQ(detection.find(TopicId{}), nullptr) << "the first topic made room";
}

}  // namespace
}  // namespace partita::insight
