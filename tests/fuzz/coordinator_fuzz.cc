#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "broker/groups/consumer_metadata.h"
#include "broker/groups/consumer_protocol.h"
#include "broker/groups/group_coordinator.h"
#include "broker/groups/group_queries.h"
#include "broker/groups/record_codec.h"
#include "tests/fuzz/fuzz_target.h"
#include "tests/fuzz/pieces.h"
#include "tests/support/declared_settings.h"
#include "tests/support/test_cluster.h"

/// Feeds the parsers of what members put into JoinGroup and SyncGroup, and of what a log holds of groups. These bytes come from
/// strangers, other programs or a damaged disk.
namespace {

using namespace partita;
using fuzz::Pieces;

enum class Input : std::uint8_t { subscription, assignment, records };
constexpr std::uint8_t kInputs = 3;

const groups::ClusterPointer& cluster() {
    static const groups::ClusterPointer one = test::TestCluster().with("t", 3)->with("u", 1);
    return one;
}

void check_subscription(Bytes metadata) {
    if (const auto topics = groups::subscribed_topics(metadata)) {
        std::size_t bytes = 0;
        for (const std::string_view topic : *topics) {
            bytes += topic.size();
        }
        FUZZ_CHECK(bytes <= metadata.size());
    }
    if (const auto read = groups::read_subscription(metadata, *cluster())) {
        FUZZ_CHECK(std::ranges::is_sorted(read->topic_names));
        FUZZ_CHECK(groups::subscribed_topics(metadata).has_value());
    }
}

void check_assignment(Bytes bytes) {
    groups::Holdings holdings;
    groups::read_holdings(bytes, holdings);
    for (const groups::Holdings::Topic& topic : holdings.topics()) {
        FUZZ_CHECK(topic.name.size() <= bytes.size());
        FUZZ_CHECK(std::ranges::is_sorted(holdings.partitions_of(topic)));
        FUZZ_CHECK(holdings.partitions_of(topic).size() <= bytes.size() / sizeof(std::int32_t));
    }
    const auto read = groups::read_assignment(bytes, *cluster());
    if (!read) {
        return;
    }
    const groups::OwnedBytes written = groups::write_assignment(read->assignment, 0, *cluster());
    const auto again = groups::read_assignment(written, *cluster());
    FUZZ_CHECK(again && again->assignment == read->assignment);
}

/// Replays the records, and lets time and a new member act on the result.
void check_records(Pieces pieces) {
    groups::GroupCoordinator coordinator{declared_group_config()};
    coordinator.cluster_changed(cluster(), true);
    while (!pieces.empty()) {
        const bool is_tombstone = pieces.next_byte() != 0;
        const Bytes key = pieces.next();
        const std::optional<Bytes> value = is_tombstone ? std::nullopt : std::optional(pieces.next());
        Arena arena;
        const auto record = groups::decode_record(key, value, arena);
        if (!record || !*record) {
            continue;
        }
        ByteBuffer buffer;
        FUZZ_CHECK(groups::encode_record(**record, buffer).has_value());
        coordinator.replay(**record);
    }
    Now now{.monotonic = {1000}, .wall = {1'000'000}};
    const auto act = [&](auto step) {
        groups::Effects effects;
        step(effects);
        ByteBuffer buffer;
        for (const groups::Record& record : effects.records) {
            (void)groups::encode_record(record, buffer);
        }
    };
    act([&](groups::Effects& effects) { coordinator.loaded(now, effects); });
    (void)coordinator.dump();
    (void)coordinator.queries().readers_of("t", cluster()->find("t")->topic_id);
    const std::array protocols{groups::JoinGroup::Protocol{.name = "range", .metadata = {}}};
    for (const std::string_view member : {"", "m"}) {
        act([&](groups::Effects& effects) {
            coordinator.decide(groups::JoinGroup{.group_id = "g",
                                                 .member_id = member,
                                                 .protocol_type = "consumer",
                                                 .protocols = protocols,
                                                 .session_timeout_ms = 10'000,
                                                 .rebalance_timeout_ms = 10'000,
                                                 .fresh_member_suffix = "fresh",
                                                 .reply_to = {1}},
                               now, effects);
        });
    }
    for (int round = 0; round < 4; ++round) {
        now.monotonic = now.monotonic + 400'000'000;
        now.wall = TimestampMs{now.wall.value + 400'000'000};
        act([&](groups::Effects& effects) { coordinator.tick(now, effects); });
    }
    (void)coordinator.dump();
}

std::vector<std::byte> record_input(const std::vector<groups::Record>& records) {
    std::vector<std::byte> input{static_cast<std::byte>(Input::records)};
    for (const groups::Record& record : records) {
        ByteBuffer buffer;
        const auto encoded = groups::encode_record(record, buffer);
        FUZZ_CHECK(encoded.has_value());
        input.push_back(encoded->value ? std::byte{0} : std::byte{1});
        Pieces::append(input, encoded->key);
        if (encoded->value) {
            Pieces::append(input, *encoded->value);
        }
    }
    return input;
}

std::vector<std::byte> bytes_of(std::string_view text) {
    const Bytes bytes = as_bytes(text);
    return {bytes.begin(), bytes.end()};
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size == 0) {
        return 0;
    }
    const Bytes rest = std::as_bytes(std::span(data, size)).subspan(1);
    switch (static_cast<Input>(data[0] % kInputs)) {
        case Input::subscription:
            check_subscription(rest);
            break;
        case Input::assignment:
            check_assignment(rest);
            break;
        case Input::records:
            check_records(Pieces(rest));
            break;
    }
    return 0;
}

std::vector<std::vector<std::byte>> fuzz_seeds() {
    using namespace std::string_view_literals;
    std::vector<std::vector<std::byte>> seeds;
    // Version 1: topics t and u, user data, owned partition t-0. Then an assignment of t-0 and t-1.
    const std::string_view subscription = "\0\0\1\0\0\0\2\0\1t\0\1u\0\0\0\2xy\0\0\0\1\0\1t\0\0\0\1\0\0\0\0"sv;
    const std::string_view assignment = "\1\0\1\0\0\0\1\0\1t\0\0\0\2\0\0\0\0\0\0\0\1\377\377\377\377"sv;
    seeds.push_back(bytes_of(subscription));
    seeds.push_back(bytes_of(assignment));
    const std::vector<std::byte> metadata = bytes_of(subscription.substr(1));
    const std::vector<std::byte> assigned = bytes_of(assignment.substr(1));

    groups::GroupMetadataRecord group{.group_id = "g",
                                      .protocol_type = "consumer",
                                      .generation = {3},
                                      .protocol = "range",
                                      .leader = "m",
                                      .current_state_timestamp = {1000}};
    group.members.push_back({.member_id = "m",
                             .group_instance_id = "i",
                             .client_id = "c",
                             .client_host = "/127.0.0.1",
                             .rebalance_timeout_ms = 10'000,
                             .session_timeout_ms = 10'000,
                             .subscription = metadata,
                             .assignment = assigned});
    const groups::OffsetCommitRecord commit{
        .group_id = "g", .topic = "t", .partition = {0}, .offset = {5}, .metadata = "note", .commit_timestamp = {1000}};
    seeds.push_back(record_input({group, commit, groups::OffsetTombstone{"g", "t", {0}}, groups::GroupTombstone{"g"}}));
    seeds.push_back(record_input({group, commit}));

    // A consumer group as its coordinator writes it.
    groups::GroupCoordinator coordinator{declared_group_config()};
    groups::Effects effects;
    coordinator.cluster_changed(cluster(), true);
    coordinator.loaded({}, effects);
    const std::array topics{std::string_view("t")};
    coordinator.decide(groups::ConsumerGroupHeartbeat{.group_id = "g",
                                                      .member_id = "m",
                                                      .member_epoch = 0,
                                                      .instance_id = "i",
                                                      .rebalance_timeout_ms = 10'000,
                                                      .topic_names = topics,
                                                      .owned = std::span<const assignors::TopicPartitions>(),
                                                      .client_id = "c",
                                                      .client_host = "/127.0.0.1",
                                                      .reply_to = {1}},
                       {.monotonic = {5}, .wall = {5}}, effects);
    FUZZ_CHECK(!effects.records.empty());
    seeds.push_back(record_input(effects.records));
    return seeds;
}
