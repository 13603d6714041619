#include "broker/client/classic_assignment.h"

#include <algorithm>
#include <array>
#include <set>
#include <utility>

#include "broker/assignors/assignor.h"
#include "protocol/assert.h"
#include "protocol/big_endian.h"
#include "protocol/byte_buffer.h"
#include "protocol/codec.h"
#include "protocol/cursor.h"
#include "protocol/messages/consumer_protocol.h"
#include "protocol/try.h"

namespace partita::client {
namespace {

struct Names {
    ClassicAssignor assignor;
    std::string_view protocol;
    std::string_view java_class;
};
constexpr std::array<Names, 3> kNames{{
    {ClassicAssignor::range, "range", "org.apache.kafka.clients.consumer.RangeAssignor"},
    {ClassicAssignor::round_robin, "roundrobin", "org.apache.kafka.clients.consumer.RoundRobinAssignor"},
    {ClassicAssignor::cooperative_sticky, "cooperative-sticky", "org.apache.kafka.clients.consumer.CooperativeStickyAssignor"},
}};

/// Groups partitions by topic, as messages do. The names are borrowed.
template <class Topic>
class ByTopic {
  public:
    explicit ByTopic(const std::vector<TopicPartition>& partitions) {
        std::map<std::string_view, std::vector<std::int32_t>> lists;
        for (const TopicPartition& partition : partitions) {
            lists[partition.topic].push_back(partition.partition);
        }
        for (auto& [name, list] : lists) {
            lists_.push_back(std::move(list));
            topics_.push_back({.topic = name});
        }
        for (std::size_t i = 0; i < topics_.size(); ++i) {
            topics_[i].partitions = lists_[i];
        }
    }
    [[nodiscard]] Array<Topic> array() { return topics_; }

  private:
    std::vector<std::vector<std::int32_t>> lists_;
    std::vector<Topic> topics_;
};

template <class Topics>
std::vector<TopicPartition> flattened(const Topics& topics) {
    std::vector<TopicPartition> partitions;
    for (const auto& topic : topics) {
        for (const std::int32_t partition : topic.partitions) {
            partitions.push_back({std::string(topic.topic), partition});
        }
    }
    std::ranges::sort(partitions);
    return partitions;
}

template <class Message>
std::vector<std::byte> with_version(const Message& message) {
    const std::int16_t version = Message::schema.versions.last;
    ByteBuffer out;
    out.append_big_endian(version);
    PARTITA_ASSERT(encode(message, version, out).has_value(), "what members tell each other can be encoded");
    return {out.data(), out.data() + out.size()};
}

/// Our layout is a prefix of every newer version's: decode newer versions as the newest one that we know.
template <class Message>
Result<Message> without_version(Bytes bytes, Arena& arena, const char* what) {
    Cursor in(bytes);
    std::int16_t version = 0;
    arena.reset(decode_memory_limit(bytes.size()));
    if (in.read(version) && version >= 0) {
        auto decoded = decode<Message>(bytes.subspan(in.position()), std::min(version, Message::schema.versions.last), arena);
        if (decoded) {
            return *decoded;
        }
    }
    return std::unexpected(Failure{.kind = Failure::Kind::malformed, .message = std::string(what) + " that cannot be read"});
}

/// The topics of a rebalance, with ids that only this class knows, and their subscribers, in the form that the assignors take.
class Spec {
  public:
    Spec(std::span<const ClassicMember* const> members, const std::map<std::string, std::int32_t>& partition_counts) {
        for (const auto& [name, count] : partition_counts) {
            numbers_[name] = static_cast<std::uint32_t>(names_.size());
            names_.push_back(name);
            topics_.push_back({id_of(static_cast<std::uint32_t>(names_.size())), count});
        }
        for (const ClassicMember* member : members) {
            std::vector<std::uint32_t>& wanted = wanted_.emplace_back();
            for (const std::string& topic : member->subscription.topics) {
                if (const auto found = numbers_.find(topic); found != numbers_.end()) {
                    wanted.push_back(found->second);
                }
            }
            std::ranges::sort(wanted);
            const auto repeated = std::ranges::unique(wanted);
            wanted.erase(repeated.begin(), repeated.end());
        }
        previous_.resize(members.size());
    }

    void set_previous(std::size_t member, const std::set<TopicPartition>& partitions) {
        assignors::Assignment assignment;
        for (const TopicPartition& partition : partitions) {
            const auto topic = numbers_.find(partition.topic);
            if (topic == numbers_.end()) {
                continue;
            }
            const TopicId id = topics_[topic->second].topic_id;
            if (assignment.empty() || assignment.back().topic_id != id) {
                assignment.push_back({id, {}});
            }
            assignment.back().partitions.push_back(partition.partition);
        }
        previous_[member] = assignors::normalized(std::move(assignment));
    }

    [[nodiscard]] std::vector<std::vector<TopicPartition>> assign(assignors::Assignor assignor) const {
        std::vector<assignors::GroupSpec::Member> members;
        for (std::size_t i = 0; i < wanted_.size(); ++i) {
            members.push_back({.topics = wanted_[i], .previous = &previous_[i]});
        }
        // The assignors get only topics that a member subscribes to.
        std::set<std::uint32_t> used;
        for (const auto& wanted : wanted_) {
            used.insert(wanted.begin(), wanted.end());
        }
        PARTITA_ASSERT(used.size() == topics_.size(), "counts are of topics that somebody wants");
        const bool is_homogeneous = std::ranges::all_of(wanted_, [&](const auto& wanted) { return wanted == wanted_.front(); });
        const auto assigned = assignor({.topics = topics_, .members = members, .is_homogeneous = is_homogeneous});
        std::vector<std::vector<TopicPartition>> result;
        for (const auto& assignment : assigned) {
            auto& partitions = result.emplace_back();
            for (const auto& topic : assignment) {
                const auto found = std::ranges::lower_bound(topics_, topic.topic_id, {}, &assignors::GroupSpec::Topic::topic_id);
                const std::string& name = names_[static_cast<std::size_t>(found - topics_.begin())];
                for (const std::int32_t partition : topic.partitions) {
                    partitions.push_back({name, partition});
                }
            }
            std::ranges::sort(partitions);
        }
        return result;
    }

  private:
    static TopicId id_of(std::uint32_t number) {
        TopicId id;
        for (int i = 0; i < 4; ++i) {
            id.bytes[static_cast<std::size_t>(i)] = static_cast<std::uint8_t>(number >> (24 - 8 * i));
        }
        return id;
    }

    std::map<std::string, std::uint32_t> numbers_;
    std::vector<std::string> names_;
    std::vector<assignors::GroupSpec::Topic> topics_;
    std::vector<std::vector<std::uint32_t>> wanted_;
    std::vector<assignors::Assignment> previous_;
};

std::vector<std::vector<TopicPartition>> assign_in_turn(std::span<const ClassicMember* const> members,
                                                        const std::map<std::string, std::int32_t>& partition_counts) {
    std::vector<std::vector<TopicPartition>> result(members.size());
    std::size_t next = 0;
    const auto wants = [&](std::size_t member, const std::string& topic) {
        return std::ranges::binary_search(members[member]->subscription.topics, topic);
    };
    for (const auto& [topic, count] : partition_counts) {
        for (std::int32_t partition = 0; partition < count; ++partition) {
            while (!wants(next, topic)) {
                next = (next + 1) % members.size();
            }
            result[next].push_back({topic, partition});
            next = (next + 1) % members.size();
        }
    }
    return result;
}

/// The partitions that each member claims. If two members claim a partition, the younger generation wins; if both have the same
/// generation, neither does.
std::vector<std::set<TopicPartition>> claims_of(std::span<const ClassicMember* const> members,
                                                const std::map<std::string, std::int32_t>& partition_counts) {
    std::map<TopicPartition, std::pair<std::int32_t, std::optional<std::size_t>>> holders;
    for (std::size_t i = 0; i < members.size(); ++i) {
        const ClassicSubscription& subscription = members[i]->subscription;
        for (const TopicPartition& partition : subscription.owned) {
            const auto count = partition_counts.find(partition.topic);
            if (count == partition_counts.end() || partition.partition < 0 || partition.partition >= count->second) {
                continue;
            }
            const auto [holder, is_first] = holders.try_emplace(partition, subscription.generation, i);
            if (is_first || holder->second.second == i) {
                continue;
            }
            if (subscription.generation > holder->second.first) {
                holder->second = {subscription.generation, i};
            } else if (subscription.generation == holder->second.first) {
                holder->second.second.reset();
            }
        }
    }
    std::vector<std::set<TopicPartition>> claims(members.size());
    for (const auto& [partition, holder] : holders) {
        if (holder.second) {
            claims[*holder.second].insert(partition);
        }
    }
    return claims;
}

std::vector<std::vector<TopicPartition>> assign_cooperatively(std::span<const ClassicMember* const> members,
                                                              const std::map<std::string, std::int32_t>& partition_counts) {
    const auto claims = claims_of(members, partition_counts);
    Spec spec(members, partition_counts);
    for (std::size_t i = 0; i < members.size(); ++i) {
        spec.set_previous(i, claims[i]);
    }
    auto assigned = spec.assign(assignors::assign_uniformly);
    for (std::size_t i = 0; i < members.size(); ++i) {
        std::erase_if(assigned[i], [&](const TopicPartition& partition) {
            for (std::size_t other = 0; other < members.size(); ++other) {
                if (other != i && claims[other].contains(partition)) {
                    return true;
                }
            }
            return false;
        });
    }
    return assigned;
}

/// Static members come first, ordered by their names: their partitions must not depend on member ids, which change with every
/// start.
bool comes_before(const ClassicMember* one, const ClassicMember* other) {
    if (one->instance_id && other->instance_id) {
        return *one->instance_id < *other->instance_id;
    }
    if (one->instance_id.has_value() != other->instance_id.has_value()) {
        return one->instance_id.has_value();
    }
    return one->id < other->id;
}

}  // namespace

std::optional<ClassicAssignor> parse_classic_assignor(std::string_view name) {
    const auto* found = std::ranges::find_if(kNames, [&](const Names& n) { return n.protocol == name || n.java_class == name; });
    return found == kNames.end() ? std::nullopt : std::optional(found->assignor);
}

std::string_view to_string(ClassicAssignor assignor) { return std::ranges::find(kNames, assignor, &Names::assignor)->protocol; }

std::vector<std::byte> encode_subscription(const ClassicSubscription& subscription, ClassicAssignor assignor) {
    ConsumerProtocolSubscription message;
    const std::vector<std::string_view> topics(subscription.topics.begin(), subscription.topics.end());
    message.topics = topics;
    message.generation_id = subscription.generation;
    ByTopic<ConsumerProtocolSubscription::TopicPartition> owned(subscription.owned);
    message.owned_partitions = owned.array();
    // Leaders before Kafka 3.2 look for the generation here.
    std::array<std::byte, sizeof(std::int32_t)> generation{};
    store_big_endian(generation.data(), subscription.generation);
    if (assignor == ClassicAssignor::cooperative_sticky) {
        message.user_data = Bytes(generation);
    }
    return with_version(message);
}

Result<ClassicSubscription> decode_subscription(Bytes metadata) {
    Arena arena;
    PARTITA_TRY_ASSIGN(const auto message, without_version<ConsumerProtocolSubscription>(metadata, arena, "a subscription"));
    ClassicSubscription subscription{.topics = {message.topics.begin(), message.topics.end()},
                                     .owned = flattened(message.owned_partitions),
                                     .generation = message.generation_id};
    std::ranges::sort(subscription.topics);
    return subscription;
}

std::vector<std::byte> encode_assignment(const std::vector<TopicPartition>& partitions) {
    ByTopic<ConsumerProtocolAssignment::TopicPartition> topics(partitions);
    return with_version(ConsumerProtocolAssignment{.assigned_partitions = topics.array()});
}

Result<std::vector<TopicPartition>> decode_assignment(Bytes assignment) {
    if (assignment.empty()) {
        return std::vector<TopicPartition>();
    }
    Arena arena;
    PARTITA_TRY_ASSIGN(const auto message, without_version<ConsumerProtocolAssignment>(assignment, arena, "an assignment"));
    return flattened(message.assigned_partitions);
}

std::map<std::string, std::vector<TopicPartition>> assign_classic(ClassicAssignor assignor,
                                                                  std::span<const ClassicMember> members,
                                                                  const std::map<std::string, std::int32_t>& partition_counts) {
    std::vector<const ClassicMember*> ordered;
    for (const ClassicMember& member : members) {
        ordered.push_back(&member);
    }
    std::ranges::sort(ordered, comes_before);
    std::map<std::string, std::int32_t> wanted;
    for (const ClassicMember& member : members) {
        for (const std::string& topic : member.subscription.topics) {
            if (const auto count = partition_counts.find(topic); count != partition_counts.end()) {
                wanted.insert(*count);
            }
        }
    }
    std::vector<std::vector<TopicPartition>> assigned(ordered.size());
    if (!wanted.empty()) {
        switch (assignor) {
            case ClassicAssignor::range:
                assigned = Spec(ordered, wanted).assign(assignors::assign_ranges);
                break;
            case ClassicAssignor::round_robin:
                assigned = assign_in_turn(ordered, wanted);
                break;
            case ClassicAssignor::cooperative_sticky:
                assigned = assign_cooperatively(ordered, wanted);
                break;
        }
    }
    std::map<std::string, std::vector<TopicPartition>> result;
    for (std::size_t i = 0; i < ordered.size(); ++i) {
        result[ordered[i]->id] = std::move(assigned[i]);
    }
    return result;
}

}  // namespace partita::client
