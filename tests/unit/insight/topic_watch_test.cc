#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <vector>

#include "tests/unit/insight/topic_watch_fixture.h"

namespace partita::insight {
namespace {

TEST_F(TopicWatchTest, AHealthyTopicHasNoFindings) {
    send_many(java_, Family::murmur2_pos, 6);
    EXPECT_EQ(ids(), "");
    expand(12);
    send_many(java_, Family::murmur2_pos, 12);
    EXPECT_EQ(ids(), "");
    wait(30 * kMinuteMs);
    send_many(java_, Family::murmur2_pos, 12);
    EXPECT_EQ(ids(), "");
}

TEST_F(TopicWatchTest, H04OpensWithTheFirstProofCountsExactlyAndClosesWithTheSwitch) {
    send_many(java_, Family::murmur2_pos, 6);
    expand(12);
    EXPECT_EQ(ids(), "");
    wait(42'000);
    std::int64_t moved = 0;
    for (int i = 0; i < 100; ++i) {
        const std::string key = "key-" + std::to_string(i);
        send(java_, key, Family::murmur2_pos, 6);
        moved += partitioners::partition_of(Family::murmur2_pos, as_bytes(key), 6) !=
                 partitioners::partition_of(Family::murmur2_pos, as_bytes(key), 12);
    }
    const auto stale = finding(HazardId::stale_producer);
    ASSERT_TRUE(stale);
    EXPECT_EQ(stale->count, moved);
    EXPECT_EQ(stale->subject.client_id, "app");
    EXPECT_EQ(stale->examples.size(), Finding::kExamplesMax);
    for (const ExampleKey& example : stale->examples) {
        EXPECT_EQ(example.from, partitioners::partition_of(Family::murmur2_pos, as_bytes(example.key), 6));
        EXPECT_EQ(example.to, partitioners::partition_of(Family::murmur2_pos, as_bytes(example.key), 12));
    }
    EXPECT_EQ(ids(), "H04") << "its keys in old partitions are no H09";

    send_many(java_, Family::murmur2_pos, 12);
    EXPECT_EQ(ids(), "");
    const auto switches = watch_.take_switches();
    ASSERT_EQ(switches.size(), 1u);
    EXPECT_EQ(switches[0].producer, java_);
    EXPECT_EQ(switches[0].stale_records, moved);
    EXPECT_EQ(switches[0].epoch, 1);
    EXPECT_GE(switches[0].partition.value, 6);
    EXPECT_TRUE(watch_.take_switches().empty());
}

// Under load, detection looks at a part of the batches.
TEST_F(TopicWatchTest, H04CountsAtLeastWhenRecordsSinceTheGrowthWereNotLookedAt) {
    const auto exactness = [](const std::vector<FindingNumber>& numbers) {
        return std::ranges::find(numbers, "is_exact", &FindingNumber::name)->value;
    };
    send_many(java_, Family::murmur2_pos, 6);
    expand(12);
    wait(42'000);
    send_many(java_, Family::murmur2_pos, 6);
    const auto exact = finding(HazardId::stale_producer);
    ASSERT_TRUE(exact);
    EXPECT_EQ(exactness(exact->numbers), 1);
    EXPECT_EQ(exact->condition.find("at least"), std::string::npos) << exact->condition;
    EXPECT_TRUE(watch_.stale_writers(now_, old_records_).front().is_exact);

    ends_[0] = ends_[0] + 1;
    ++old_records_;
    const auto part = finding(HazardId::stale_producer);
    ASSERT_TRUE(part);
    EXPECT_EQ(exactness(part->numbers), 0);
    EXPECT_NE(part->condition.find("at least " + std::to_string(part->count) + " records prove it"), std::string::npos)
        << part->condition;
    EXPECT_FALSE(watch_.stale_writers(now_, old_records_).front().is_exact);
    wait(TopicWatch::kNeverMs);
    send(java_, "key-0", Family::murmur2_pos, 6);
    const auto never = finding(HazardId::producer_never_learns);
    ASSERT_TRUE(never);
    EXPECT_EQ(exactness(never->numbers), 0);
}

TEST_F(TopicWatchTest, BatchesUnderWayAtTheSwitchDoNotOpenH04Again) {
    send_many(java_, Family::murmur2_pos, 6);
    expand(12);
    send_many(java_, Family::murmur2_pos, 12);
    wait(TopicWatch::kSettleMs);
    send_many(java_, Family::murmur2_pos, 6);
    EXPECT_EQ(ids(), "");
    wait(1);
    send_many(java_, Family::murmur2_pos, 6);
    EXPECT_EQ(ids(), "H04") << "a second program with an old count behind the same name";
}

/// A client with librdkafka's default name, over a separate connection.
ProducerIdentity rdkafka(std::uint64_t connection) {
    ProducerIdentity producer = client("rdkafka", "librdkafka");
    producer.connection = ConnectionId{connection};
    producer.port = static_cast<std::uint16_t>(40'000 + connection);
    return producer;
}

TEST_F(TopicWatchTest, OfTwoProducersOfOneNameTheStaleOneIsTold) {
    send_many(rdkafka(1), Family::crc32_uns, 6);
    send_many(rdkafka(2), Family::crc32_uns, 6);
    expand(12);
    for (int round = 0; round < 3; ++round) {
        send_many(rdkafka(1), Family::crc32_uns, 12);
        send_many(rdkafka(2), Family::crc32_uns, 6);
        wait(10'000);
    }
    EXPECT_EQ(ids(), "H04") << "and neither is two partitioners behind one name";
    const auto stale = finding(HazardId::stale_producer);
    ASSERT_TRUE(stale);
    EXPECT_EQ(stale->subject.client_port, 40'002);
    EXPECT_NE(stale->condition.find("port 40002"), std::string::npos) << stale->condition;
    watch_.on_process(ConnectionId{2}, {.pid = 4711, .start_ticks = 1, .name = "java", .program = "shop.jar"});
    EXPECT_NE(finding(HazardId::stale_producer)->condition.find("java (pid 4711, shop.jar)"), std::string::npos);
    EXPECT_EQ(finding(HazardId::stale_producer)->subject.program, "java (pid 4711, shop.jar)");
    for (const ProducerReport& report : watch_.producers()) {
        EXPECT_EQ(report.is_stale, report.identity.connection == ConnectionId{2});
    }
    send_many(rdkafka(2), Family::crc32_uns, 12);
    EXPECT_EQ(ids(), "");
}

TEST_F(TopicWatchTest, OfAnIdempotentProducerTheProgramIsTold) {
    ProducerIdentity idempotent = client("rdkafka", "librdkafka");
    idempotent.producer_id = ProducerId{7};
    ProducerIdentity other = idempotent;
    other.producer_id = ProducerId{8};
    send_many(idempotent, Family::crc32_uns, 6);
    send_many(other, Family::crc32_uns, 6);
    watch_.on_connection(idempotent, ConnectionId{3});
    watch_.on_connection(other, ConnectionId{4});
    expand(12);
    send_many(idempotent, Family::crc32_uns, 6);
    wait(10'000);
    send_many(idempotent, Family::crc32_uns, 6);
    EXPECT_THAT(watch_.unknown_processes(10), ::testing::ElementsAre(ConnectionId{3}, ConnectionId{4}));
    const ProcessIdentity shop{.pid = 4711, .start_ticks = 1, .name = "java", .program = "shop.jar"};
    watch_.on_process(ConnectionId{3}, shop);
    const auto told = finding(HazardId::stale_producer);
    ASSERT_TRUE(told);
    EXPECT_EQ(told->subject.program, "java (pid 4711, shop.jar)");
    EXPECT_THAT(told->condition, ::testing::HasSubstr("java (pid 4711, shop.jar) still places keys"));
    watch_.on_process(ConnectionId{4}, shop);
    EXPECT_THAT(finding(HazardId::stale_producer)->condition, ::testing::HasSubstr("shop.jar), producer id 7 still places keys"))
        << "one of two of a program";
    const std::array closed{ConnectionId{2}, ConnectionId{3}};
    watch_.on_disconnected(closed);
    EXPECT_TRUE(watch_.producers()[0].is_closed);
    EXPECT_FALSE(watch_.producers()[1].is_closed);
    EXPECT_TRUE(finding(HazardId::stale_producer)) << "it may go on over another connection";
    watch_.on_connection(idempotent, ConnectionId{5});
    EXPECT_FALSE(watch_.producers()[0].is_closed);
}

TEST_F(TopicWatchTest, AProducerThatComesBackByTheOtherProtocolIsTheSame) {
    ProducerIdentity idempotent = client("rdkafka", "librdkafka");
    idempotent.producer_id = ProducerId{7};
    for (const char* address : {"/0:0:0:0:0:0:0:1", "/127.0.0.1"}) {
        idempotent.address = address;
        send_many(idempotent, Family::crc32_uns, 6);
    }
    EXPECT_EQ(watch_.producers().size(), 1U);
    // An address to which a client was bound identifies it, also on the loopback.
    for (const std::size_t count : {2U, 3U}) {
        idempotent.address = count == 2 ? "/127.0.0.2" : "/10.0.0.9";
        send_many(idempotent, Family::crc32_uns, 6);
        EXPECT_EQ(watch_.producers().size(), count);
    }
}

TEST_F(TopicWatchTest, ProducersOfOneNameAreToldApartByWhoTheyHaveProvenToBe) {
    ProducerIdentity alice = client("billing");
    alice.producer_id = ProducerId{7};
    ProducerIdentity bob = alice;
    alice.principal = "User:alice";
    bob.principal = "User:bob";
    send_many(alice, Family::murmur2_pos, 6);
    expand(12);
    send_many(bob, Family::murmur2_pos, 12);
    // Long after the growth, the client goes on as if there were six.
    wait(kMinuteMs);
    send_many(alice, Family::murmur2_pos, 6);
    EXPECT_EQ(watch_.producers().size(), 2U);
    bool is_alice_named = false;
    for (const Finding& found : findings()) {
        EXPECT_NE(found.subject.principal, "User:bob") << found.condition;
        is_alice_named |= found.subject.principal == "User:alice" && found.condition.contains("billing (User:alice, /10.0.0.1");
    }
    EXPECT_TRUE(is_alice_named);
}

TEST_F(TopicWatchTest, AProducerThatComesBackOwesItsOwnProof) {
    send_many(rdkafka(1), Family::crc32_uns, 6);
    expand(12);
    send_many(rdkafka(1), Family::crc32_uns, 12);
    EXPECT_EQ(watch_.take_switches().size(), 1U);
    watch_.on_closed(ConnectionId{1});
    send_many(rdkafka(2), Family::crc32_uns, 12);
    EXPECT_EQ(watch_.take_switches().size(), 1U) << "a switch belongs to one connection";
    const auto reports = watch_.producers();
    ASSERT_EQ(reports.size(), 2U);
    EXPECT_EQ(reports[0].closed_connections, 1);
    EXPECT_EQ(reports[0].switched, kNoTimestamp) << "what is kept of closed connections is where they put keys";
}

TEST_F(TopicWatchTest, ConnectionsOfOneRecordEachMakeOneProducerThatIsKnown) {
    for (std::uint64_t connection = 1; connection <= 500; ++connection) {
        send(rdkafka(connection), "key-" + std::to_string(connection), Family::crc32_uns, 6);
        watch_.on_closed(ConnectionId{connection});
    }
    const auto reports = watch_.producers();
    ASSERT_EQ(reports.size(), 1U);
    EXPECT_EQ(reports[0].closed_connections, 500);
    EXPECT_EQ(reports[0].keyed_records, 500);
    EXPECT_EQ(reports[0].verdict.habit, KeyHabit::hashes);
    EXPECT_TRUE(reports[0].known_families.contains(Family::crc32_uns));
    EXPECT_FALSE(watch_.is_curious(600'000, now_));
    // The watch also notices another partitioner behind the same name.
    send_many(rdkafka(501), Family::murmur2_pos, 6);
    EXPECT_EQ(ids(), "H08 H09");
}

TEST_F(TopicWatchTest, AStaleProducerIsToldAfterItsConnectionClosed) {
    send_many(rdkafka(1), Family::crc32_uns, 6);
    expand(12);
    send_many(rdkafka(1), Family::crc32_uns, 6);
    watch_.on_closed(ConnectionId{1});
    EXPECT_EQ(ids(), "H04");
    wait(TopicWatch::kSilentMs);
    EXPECT_FALSE(finding(HazardId::stale_producer));
}

TEST_F(TopicWatchTest, H04ClosesWhenTheProducerFallsSilent) {
    send_many(java_, Family::murmur2_pos, 6);
    expand(12);
    send_many(java_, Family::murmur2_pos, 6);
    EXPECT_EQ(ids(), "H04");
    wait(TopicWatch::kSilentMs);
    EXPECT_FALSE(finding(HazardId::stale_producer));
}

TEST_F(TopicWatchTest, H05ComesWhenProofsStillArriveAfterTwentyMinutes) {
    const ProducerIdentity rust = client("rust");
    send_many(rust, Family::xxh32_uns, 6);
    expand(12);
    for (int minute = 0; minute < 20; ++minute) {
        send_many(rust, Family::xxh32_uns, 6);
        EXPECT_EQ(ids(), minute < 10 ? "H04" : "H04 H12") << minute;
        wait(kMinuteMs);
    }
    send_many(rust, Family::xxh32_uns, 6);
    EXPECT_EQ(ids(), "H04 H05 H12");
    send_many(rust, Family::xxh32_uns, 12);
    EXPECT_EQ(ids(), "") << "somebody restarted it";
}

TEST_F(TopicWatchTest, H05ComesWithoutLateProofsWhenNoNewPartitionWasEverUsed) {
    const ProducerIdentity rust = client("rust");
    std::vector<std::string> staying;
    for (int i = 0; i < 400; ++i) {
        const std::string key = "key-" + std::to_string(i);
        const bool stays = partitioners::partition_of(Family::xxh32_uns, as_bytes(key), 6) ==
                           partitioners::partition_of(Family::xxh32_uns, as_bytes(key), 12);
        if (stays) {
            staying.push_back(key);
        }
    }
    send_many(rust, Family::xxh32_uns, 6);
    expand(12);
    send_many(rust, Family::xxh32_uns, 6);
    EXPECT_TRUE(finding(HazardId::stale_producer));
    // From now on the producer sends keys that prove nothing.
    for (int minute = 0; minute < 20; ++minute) {
        wait(kMinuteMs);
        for (const std::string& key : staying) {
            send(rust, key, Family::xxh32_uns, 12);
        }
        EXPECT_EQ(finding(HazardId::producer_never_learns).has_value(), minute == 19) << minute;
    }
    send_many(rust, Family::xxh32_uns, 12);
    EXPECT_FALSE(finding(HazardId::producer_never_learns)) << "it uses new partitions";
}

TEST_F(TopicWatchTest, AProducerThatCameAfterTheExpansionWithTheOldCountIsFound) {
    expand(12);
    send_many(client("late"), Family::fnv1a_sabs, 6);
    EXPECT_EQ(ids(), "H04");
}

TEST_F(TopicWatchTest, H08NamesBothPartitionersAndEndsWithTheSilenceOfOne) {
    const ProducerIdentity go = client("go", "sarama");
    send_many(java_, Family::murmur2_pos, 6);
    send_many(go, Family::fnv1a_sabs, 6, 100, "other-");
    const auto mixed = finding(HazardId::mixed_partitioners);
    ASSERT_TRUE(mixed);
    EXPECT_EQ(mixed->severity, Severity::block);
    EXPECT_EQ(title_of(*mixed), "producers disagree about the hash");
    EXPECT_NE(mixed->condition.find("murmur2-pos"), std::string::npos);
    EXPECT_NE(mixed->condition.find("fnv1a-sabs"), std::string::npos);
    EXPECT_EQ(ids(), "H08") << "no key is shared";
    wait(TopicWatch::kSilentMs);
    send_many(java_, Family::murmur2_pos, 6);
    EXPECT_EQ(ids(), "");
}

TEST_F(TopicWatchTest, H09ListsKeysInTwoPartitionsAndEndsWhenTheirRecordsExpire) {
    send_many(java_, Family::murmur2_pos, 6);
    send_many(client("go"), Family::fnv1a_sabs, 6);
    std::int64_t apart = 0;
    for (int i = 0; i < 100; ++i) {
        const std::string key = "key-" + std::to_string(i);
        apart += partitioners::partition_of(Family::murmur2_pos, as_bytes(key), 6) !=
                 partitioners::partition_of(Family::fnv1a_sabs, as_bytes(key), 6);
    }
    const auto scattered = finding(HazardId::key_in_two_partitions);
    ASSERT_TRUE(scattered);
    EXPECT_EQ(scattered->count, apart);
    EXPECT_EQ(scattered->kind, HazardKind::harm);
    EXPECT_FALSE(scattered->evidence.empty());
    for (const RecordPlace& place : scattered->evidence) {
        EXPECT_LT(place.offset, ends_.at(static_cast<std::size_t>(place.partition.value)));
    }
    EXPECT_EQ(ids(), "H08 H09");
    starts_ = ends_;
    EXPECT_EQ(ids(), "H08");
}

TEST_F(TopicWatchTest, H09SaysAtLeastWhereRecordsWereNotLookedAt) {
    send_many(java_, Family::murmur2_pos, 6);
    send_many(client("go"), Family::fnv1a_sabs, 6);
    const auto all = finding(HazardId::key_in_two_partitions);
    ASSERT_TRUE(all);
    EXPECT_FALSE(all->condition.starts_with("at least")) << all->condition;
    EXPECT_EQ(all->numbers.back(), (FindingNumber{"is_exact", 1}));
    // One record that the budget did not pay for.
    ends_[0] = ends_[0] + 1;
    const auto sampled = finding(HazardId::key_in_two_partitions);
    EXPECT_EQ(sampled->condition, "at least " + all->condition);
    EXPECT_EQ(sampled->numbers.back(), (FindingNumber{"is_exact", 0}));
}

TEST_F(TopicWatchTest, H09SaysAtLeastWhereAMoveCouldExplainAKey) {
    send_many(java_, Family::murmur2_pos, 6);
    expand(12);
    // Two producers at one count each: for some keys it looks as if one had moved.
    send_many(java_, Family::murmur2_pos, 12);
    send_many(client("stale"), Family::murmur2_pos, 6, 50);
    send_many(client("go"), Family::fnv1a_sabs, 12);
    const auto scattered = finding(HazardId::key_in_two_partitions);
    ASSERT_TRUE(scattered);
    EXPECT_TRUE(scattered->condition.starts_with("at least ")) << scattered->condition;
}

TEST_F(TopicWatchTest, H09CountsKeysThatWereWrittenAtALaterCountAsWell) {
    send_many(java_, Family::murmur2_pos, 6);
    send_many(client("go"), Family::fnv1a_sabs, 6);
    const auto before = finding(HazardId::key_in_two_partitions);
    ASSERT_TRUE(before);
    expand(12);
    // Each key is written again, by either producer where the new count puts it.
    send_many(java_, Family::murmur2_pos, 12);
    send_many(client("go"), Family::fnv1a_sabs, 12);
    std::int64_t apart = 0;
    for (int i = 0; i < 100; ++i) {
        const std::string text = "key-" + std::to_string(i);
        const auto java = [&](std::int32_t count) {
            return partitioners::partition_of(Family::murmur2_pos, as_bytes(text), count);
        };
        const auto go = [&](std::int32_t count) { return partitioners::partition_of(Family::fnv1a_sabs, as_bytes(text), count); };
        const auto is_javas = [&](PartitionIndex partition) { return partition == java(6) || partition == java(12); };
        // A key that looks as if it had moved is left out.
        apart += (java(6) != go(6) || java(12) != go(12)) && !(is_javas(go(6)) && is_javas(go(12)));
    }
    const auto after = finding(HazardId::key_in_two_partitions);
    ASSERT_TRUE(after);
    EXPECT_GT(apart, before->count);
    EXPECT_EQ(after->count, apart);
    // The newest records of the first count are gone, and keys lie apart at the second one alone.
    for (std::size_t partition = 0; partition < 6; ++partition) {
        starts_[partition] = ends_[partition];
    }
    const auto later = finding(HazardId::key_in_two_partitions);
    EXPECT_LT(later ? later->count : 0, apart);
}

TEST_F(TopicWatchAtEight, ClassesThatAgreeAtEightPartAtTwelve) {
    const ProducerIdentity platformatic = client("node");
    send_many(java_, Family::murmur2_pos, 8);
    send_many(platformatic, Family::murmur2_uns, 8);
    EXPECT_EQ(ids(), "");
    expand(12);
    send_many(java_, Family::murmur2_pos, 12);
    send_many(platformatic, Family::murmur2_uns, 12);
    EXPECT_EQ(ids(), "H08 H09");
}

// At eight partitions the difference cannot be proven, but it can be expected: the class is proven, and the software's default
// belongs to it.
TEST_F(TopicWatchAtEight, DefaultsThatWillPartAreAWarningBeforeTheTopicGrows) {
    send_many(java_, Family::murmur2_pos, 8);
    send_many(client("node", "platformatic-kafka"), Family::murmur2_uns, 8);
    const auto mixed = finding(HazardId::mixed_partitioners);
    ASSERT_TRUE(mixed);
    EXPECT_EQ(mixed->severity, Severity::warn);
    EXPECT_NE(mixed->condition.find("murmur2-uns"), std::string::npos);
    expand(12);
    send_many(java_, Family::murmur2_pos, 12);
    send_many(client("node", "platformatic-kafka"), Family::murmur2_uns, 12);
    EXPECT_EQ(finding(HazardId::mixed_partitioners)->severity, Severity::block) << "now it is proven";
}

TEST_F(TopicWatchAtOne, WithOnePartitionDefaultsOfTheSoftwareAreAllThereIs) {
    send_many(java_, Family::murmur2_pos, 1);
    EXPECT_EQ(ids(), "");
    send_many(client("c", "librdkafka"), Family::crc32_uns, 1);
    const auto mixed = finding(HazardId::mixed_partitioners);
    ASSERT_TRUE(mixed);
    EXPECT_EQ(mixed->severity, Severity::warn) << "a prior is no proof";
    EXPECT_EQ(title_of(*mixed), "producers may place keys differently") << "nobody was seen to disagree";
}

TEST_F(TopicWatchTest, H11NamesTheProducerThatIgnoresKeysAndH09StaysSilent) {
    const ProducerIdentity go = client("kafka-go");
    std::int32_t next = 0;
    for (int i = 0; i < 600; ++i) {
        send_to(go, "key-" + std::to_string(i % 50), {next++ % 6});
    }
    EXPECT_EQ(ids(), "H11");
}

TEST_F(TopicWatchTest, H12ComesAfterTheWindowAndEndsWithTheFirstRecord) {
    std::int32_t next = 0;
    const ProducerIdentity fixed = client("flink");
    const auto send_old = [&] {
        for (int i = 0; i < 100; ++i) {
            send_to(fixed, "key-" + std::to_string(next), {next % 6});
            ++next;
        }
    };
    send_old();
    expand(8);
    send_old();
    EXPECT_EQ(ids(), "");
    wait(10 * kMinuteMs);
    const auto unused = finding(HazardId::new_partitions_unused);
    ASSERT_TRUE(unused);
    EXPECT_EQ(unused->count, 2);
    EXPECT_NE(unused->condition.find("while old ones were written to"), std::string::npos) << "ten minutes ago";
    send_old();
    EXPECT_NE(finding(HazardId::new_partitions_unused)->condition.find("while old ones are written to"), std::string::npos);
    wait(TopicWatch::kWritingMs);
    EXPECT_NE(finding(HazardId::new_partitions_unused)->condition.find("while old ones were written to"), std::string::npos);
    send_to(fixed, "x", {6});
    EXPECT_EQ(finding(HazardId::new_partitions_unused)->count, 1);
    send_to(fixed, "x", {7});
    EXPECT_FALSE(finding(HazardId::new_partitions_unused));
}

TEST_F(TopicWatchTest, H12NamesTheProducersThatChooseTheirPartitions) {
    expand(8);
    for (int round = 0; round < 3; ++round) {
        for (int i = 0; i < 60; ++i) {
            send_to(client("billing"), "key-" + std::to_string(i), {i % 5});
            send_to(client("fixed"), "key-" + std::to_string(i), {4});
        }
    }
    wait(10 * kMinuteMs - 1);
    send_to(client("billing"), "key-0", {0});
    send_to(client("fixed"), "key-0", {4});
    wait(1);
    const auto unused = finding(HazardId::new_partitions_unused);
    ASSERT_TRUE(unused);
    EXPECT_NE(unused->condition.find("billing (/10.0.0.1) chooses partitions explicitly"), std::string::npos)
        << unused->condition;
    EXPECT_NE(unused->condition.find("fixed (/10.0.0.1) writes to one partition"), std::string::npos) << unused->condition;
}

TEST_F(TopicWatchTest, WhatAStaleProducerWroteIsRememberedWhenItHasSwitchedAndWhenTheTopicGrowsAgain) {
    const ProducerIdentity shop{.client_id = "shop", .address = "/10.0.0.1"};
    send_many(shop, Family::murmur2_pos, 6);
    expand(8);
    wait(1000);
    send_many(shop, Family::murmur2_pos, 6);
    ASSERT_EQ(watch_.stale_writers(now_, 0).size(), 1u);
    const StaleWrites::Writer at_it = watch_.stale_writers(now_, 0).front();
    EXPECT_TRUE(at_it.is_writing);
    EXPECT_EQ(at_it.records, finding(HazardId::stale_producer)->count);
    for (const auto& [partition, last] : at_it.last) {
        EXPECT_LT(last, ends_[static_cast<std::size_t>(partition.value)]);
    }
    wait(TopicWatch::kSettleMs);
    send_many(shop, Family::murmur2_pos, 8);
    ASSERT_FALSE(finding(HazardId::stale_producer));
    EXPECT_FALSE(watch_.stale_writers(now_, 0).front().is_writing);
    expand(12);
    ASSERT_EQ(watch_.stale_writers(now_, 0).size(), 1u);
    EXPECT_EQ(watch_.stale_writers(now_, 0).front().records, at_it.records);
    EXPECT_EQ(watch_.stale_writers(now_, 0).front().new_count, 8);
}

TEST_F(TopicWatchTest, H40CountsOrphansExactlyAndEndsWithTheirTombstones) {
    is_compacted_ = true;
    send_many(java_, Family::murmur2_pos, 6);
    EXPECT_EQ(ids(), "");
    expand(8);
    std::vector<std::string> moved;
    for (int i = 0; i < 100; ++i) {
        const std::string key = "key-" + std::to_string(i);
        if (partitioners::partition_of(Family::murmur2_pos, as_bytes(key), 6) !=
            partitioners::partition_of(Family::murmur2_pos, as_bytes(key), 8)) {
            moved.push_back(key);
        }
    }
    ASSERT_TRUE(finding(HazardId::compacted_orphans));
    EXPECT_EQ(finding(HazardId::compacted_orphans)->count, static_cast<std::int64_t>(moved.size()));
    send_many(java_, Family::murmur2_pos, 8);
    EXPECT_EQ(finding(HazardId::compacted_orphans)->count, static_cast<std::int64_t>(moved.size()))
        << "a newer value elsewhere does not remove the old one";
    for (const std::string& key : moved) {
        send(client("cleaner"), key, Family::murmur2_pos, 6, false);
    }
    EXPECT_FALSE(finding(HazardId::compacted_orphans));
}

TEST_F(TopicWatchTest, H40CountsWhatAStaleProducerWroteOnceItIsWrittenThereNoMore) {
    is_compacted_ = true;
    const ProducerIdentity stale = client("stale");
    send_many(java_, Family::murmur2_pos, 6);
    send_many(stale, Family::murmur2_pos, 6);
    expand(8);
    std::vector<std::string> moved;
    for (int i = 0; i < 100; ++i) {
        const std::string key = "key-" + std::to_string(i);
        if (partitioners::partition_of(Family::murmur2_pos, as_bytes(key), 6) !=
            partitioners::partition_of(Family::murmur2_pos, as_bytes(key), 8)) {
            moved.push_back(key);
        }
    }
    ASSERT_GT(moved.size(), 20U);
    send_many(stale, Family::murmur2_pos, 6);
    EXPECT_FALSE(finding(HazardId::compacted_orphans)) << "it may replace them";
    for (std::size_t number = 0; number < 10; ++number) {
        send(java_, moved[number], Family::murmur2_pos, 8);
    }
    ASSERT_TRUE(finding(HazardId::compacted_orphans));
    EXPECT_EQ(finding(HazardId::compacted_orphans)->count, 10) << "newer values are where they belong";
    send(stale, moved[0], Family::murmur2_pos, 6);
    EXPECT_EQ(finding(HazardId::compacted_orphans)->count, 9) << "the old place has the newest value again";
    // A key that only the new count explains.
    wait(TopicWatch::kSettleMs + 1);
    send(stale, moved[0], Family::murmur2_pos, 8);
    EXPECT_EQ(finding(HazardId::compacted_orphans)->count, static_cast<std::int64_t>(moved.size()))
        << "nobody writes there any more";
}

TEST_F(TopicWatchTest, H41ProvesAMissedTombstone) {
    is_compacted_ = true;
    send_many(java_, Family::murmur2_pos, 6);
    expand(8);
    std::string moved;
    std::string staying;
    for (int i = 0; i < 100; ++i) {
        const std::string key = "key-" + std::to_string(i);
        const bool stays = partitioners::partition_of(Family::murmur2_pos, as_bytes(key), 6) ==
                           partitioners::partition_of(Family::murmur2_pos, as_bytes(key), 8);
        (stays ? staying : moved) = key;
    }
    send(java_, staying, Family::murmur2_pos, 8, false);
    EXPECT_FALSE(finding(HazardId::tombstone_miss));
    send(java_, moved, Family::murmur2_pos, 8, false);
    const auto missed = finding(HazardId::tombstone_miss);
    ASSERT_TRUE(missed);
    EXPECT_EQ(missed->count, 1);
    EXPECT_EQ(missed->examples[0].key, moved);
    EXPECT_EQ(missed->kind, HazardKind::harm);
    ASSERT_EQ(missed->evidence.size(), 1u);
    EXPECT_EQ(missed->evidence[0].partition, missed->examples[0].from);
    EXPECT_EQ(missed->examples[0].from, partitioners::partition_of(Family::murmur2_pos, as_bytes(moved), 6));
    EXPECT_EQ(missed->examples[0].to, partitioners::partition_of(Family::murmur2_pos, as_bytes(moved), 8));
    // A record that was not looked at: it may be the tombstone of the old place.
    const std::vector<Offset> seen = ends_;
    ends_.front() = ends_.front() + 1;
    const auto doubtful = finding(HazardId::tombstone_miss);
    ASSERT_TRUE(doubtful);
    EXPECT_EQ(doubtful->severity, Severity::warn);
    EXPECT_EQ(doubtful->title, "a tombstone may miss its key");
    EXPECT_TRUE(doubtful->condition.starts_with("judging from a part of the records, 1 key was deleted")) << doubtful->condition;
    ends_ = seen;
    EXPECT_EQ(finding(HazardId::tombstone_miss)->severity, Severity::block);
    send(java_, moved, Family::murmur2_pos, 6, false);
    EXPECT_FALSE(finding(HazardId::tombstone_miss)) << "deleted where it was, too";
}

TEST_F(TopicWatchTest, ATopicThatIsNotCompactedHasNeitherOrphansNorMissedTombstones) {
    send_many(java_, Family::murmur2_pos, 6);
    expand(8);
    for (int i = 0; i < 100; ++i) {
        send(java_, "key-" + std::to_string(i), Family::murmur2_pos, 8, false);
    }
    EXPECT_EQ(ids(), "");
}

TEST_F(TopicWatchTest, TheSilentProducerMakesRoomForANewOne) {
    for (std::size_t i = 0; i < TopicWatch::kProducersMax; ++i) {
        wait(1);
        send(client("p" + std::to_string(i)), "key", Family::murmur2_pos, 6);
    }
    wait(1);
    send(client("p0"), "key", Family::murmur2_pos, 6);
    wait(1);
    send(client("new"), "key", Family::murmur2_pos, 6);
    EXPECT_EQ(watch_.producer_count(), TopicWatch::kProducersMax);
    const auto reports = watch_.producers();
    const auto has = [&](const std::string& id) {
        return std::ranges::any_of(reports, [&](const ProducerReport& report) { return report.identity.client_id == id; });
    };
    EXPECT_TRUE(has("p0") && has("new"));
    EXPECT_FALSE(has("p1"));
}

TEST_F(TopicWatchTest, CuriosityEndsWhenEverybodyIsKnownAndHasSwitched) {
    send(java_, "key", Family::murmur2_pos, 6);
    EXPECT_TRUE(watch_.is_curious(600'000, now_));
    send_many(java_, Family::murmur2_pos, 6);
    EXPECT_FALSE(watch_.is_curious(600'000, now_));
    expand(12);
    EXPECT_TRUE(watch_.is_curious(600'000, now_));
    send_many(java_, Family::murmur2_pos, 12);
    EXPECT_FALSE(watch_.is_curious(600'000, now_));
}

}  // namespace
}  // namespace partita::insight
