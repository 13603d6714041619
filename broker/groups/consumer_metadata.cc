#include "broker/groups/consumer_metadata.h"

#include <algorithm>
#include <utility>

#include "protocol/arena.h"
#include "protocol/assert.h"
#include "protocol/byte_buffer.h"
#include "protocol/codec.h"
#include "protocol/cursor.h"
#include "protocol/messages/consumer_protocol.h"

namespace partita::groups {
namespace {

constexpr std::int16_t kHighestVersion = 3;
/// An arena of this size holds the content of the largest allowed request, and limits the memory that malformed counts can
/// demand.
constexpr std::size_t kArenaBytes = 64 * 1024 * 1024;

struct VersionedBytes {
    std::int16_t version;
    Bytes rest;
};

std::optional<VersionedBytes> split_version(Bytes bytes) {
    Cursor cursor(bytes);
    std::int16_t version = 0;
    if (!cursor.read(version) || version < 0) {
        return std::nullopt;
    }
    // A newer version only adds fields at the end.
    return VersionedBytes{std::min(version, kHighestVersion), bytes.subspan(sizeof version)};
}

template <class NamedPartitions>
assignors::Assignment with_ids(const Array<NamedPartitions>& topics, const ClusterView& cluster) {
    assignors::Assignment result;
    for (const NamedPartitions& named : topics) {
        const auto topic = cluster.find(named.topic);
        if (!topic) {
            continue;
        }
        assignors::TopicPartitions& known = result.emplace_back();
        known.topic_id = topic->topic_id;
        std::ranges::copy_if(named.partitions, std::back_inserter(known.partitions),
                             [&](std::int32_t partition) { return partition >= 0 && partition < topic->partition_count; });
    }
    return assignors::normalized(std::move(result));
}

}  // namespace

std::optional<ClassicSubscription> read_subscription(Bytes metadata, const ClusterView& cluster) {
    const auto versioned = split_version(metadata);
    if (!versioned) {
        return std::nullopt;
    }
    Arena arena;
    arena.reset(kArenaBytes);
    const auto message = decode<ConsumerProtocolSubscription>(versioned->rest, versioned->version, arena);
    if (!message) {
        return std::nullopt;
    }
    ClassicSubscription subscription{.version = versioned->version,
                                     .owned = with_ids(message->owned_partitions, cluster),
                                     .has_user_data = message->user_data && !message->user_data->empty()};
    subscription.topic_names.assign(message->topics.begin(), message->topics.end());
    std::ranges::sort(subscription.topic_names);
    const auto repeated = std::ranges::unique(subscription.topic_names);
    subscription.topic_names.erase(repeated.begin(), repeated.end());
    if (message->rack_id && !message->rack_id->empty()) {
        subscription.rack_id = std::string(*message->rack_id);
    }
    return subscription;
}

std::optional<ClassicAssignment> read_assignment(Bytes bytes, const ClusterView& cluster) {
    if (bytes.empty()) {
        return ClassicAssignment{};
    }
    const auto versioned = split_version(bytes);
    if (!versioned) {
        return std::nullopt;
    }
    Arena arena;
    arena.reset(kArenaBytes);
    const auto message = decode<ConsumerProtocolAssignment>(versioned->rest, versioned->version, arena);
    if (!message) {
        return std::nullopt;
    }
    return ClassicAssignment{.assignment = with_ids(message->assigned_partitions, cluster),
                             .has_user_data = message->user_data && !message->user_data->empty()};
}

OwnedBytes write_assignment(const assignors::Assignment& assignment, std::int16_t version, const ClusterView& cluster) {
    std::vector<ConsumerProtocolAssignment::TopicPartition> topics;
    for (const assignors::TopicPartitions& held : assignment) {
        if (const auto topic = cluster.find(held.topic_id)) {
            topics.push_back({.topic = topic->name, .partitions = held.partitions});
        }
    }
    ConsumerProtocolAssignment message;
    message.assigned_partitions = topics;
    ByteBuffer buffer;
    buffer.append_big_endian(version);
    const auto encoded = encode(message, version, buffer);
    PARTITA_ASSERT(encoded.has_value(), "topic names and partitions can be written");
    return {buffer.data(), buffer.data() + buffer.size()};
}

}  // namespace partita::groups
