#include "broker/tools/record_source.h"

#include <algorithm>
#include <array>
#include <limits>

#include "broker/client/topics.h"
#include "broker/groups/topic_regex.h"
#include "broker/tools/text.h"
#include "broker/tools/times.h"
#include "broker/tools/topic_filter.h"
#include "protocol/try.h"

namespace partita::tools {
namespace {

using client::OffsetReset;
using client::TopicPartition;
using Offsets = std::map<TopicPartition, std::int64_t>;

std::unexpected<Ending> invalid(const std::string& name, const std::string& value, const std::string& why) {
    return refused("Invalid value " + value + " for configuration " + name + ": " + why);
}

/// One of Kafka's durations, with its default.
struct Milliseconds {
    const char* name;
    std::int64_t client::MemberSettings::* member;
};
constexpr std::array<Milliseconds, 3> kDurations{{
    {"session.timeout.ms", &client::MemberSettings::session_timeout_ms},
    {"heartbeat.interval.ms", &client::MemberSettings::heartbeat_interval_ms},
    {"max.poll.interval.ms", &client::MemberSettings::rebalance_timeout_ms},
}};

Outcome<std::optional<std::int64_t>> integer_of(const Properties& properties, const std::string& name, std::int64_t least) {
    const auto found = properties.find(name);
    if (found == properties.end()) {
        return std::nullopt;
    }
    const auto number = parse_integer(trimmed(found->second));
    if (!number || *number > std::numeric_limits<std::int32_t>::max()) {
        return invalid(name, found->second, "Not a number of type INT");
    }
    if (*number < least) {
        return invalid(name, found->second, "Value must be at least " + std::to_string(least));
    }
    return *number;
}

Outcome<std::optional<bool>> boolean_of(const Properties& properties, const std::string& name) {
    const auto found = properties.find(name);
    if (found == properties.end()) {
        return std::nullopt;
    }
    const std::string text = trimmed(found->second);
    if (text == "true") {
        return true;
    }
    if (text == "false") {
        return false;
    }
    return invalid(name, found->second, "Expected value to be either true or false");
}

Outcome<OffsetReset> reset_of(const Properties& properties) {
    const auto found = properties.find("auto.offset.reset");
    if (found == properties.end() || found->second == "latest") {
        return OffsetReset{};
    }
    if (found->second == "earliest") {
        return OffsetReset{OffsetReset::Kind::earliest};
    }
    if (found->second == "none") {
        return OffsetReset{OffsetReset::Kind::none};
    }
    constexpr std::string_view kByDuration = "by_duration:";
    if (found->second.starts_with(kByDuration)) {
        const auto duration_ms = parse_duration(found->second.substr(kByDuration.size()));
        if (duration_ms && *duration_ms >= 0) {
            return OffsetReset{OffsetReset::Kind::by_duration, *duration_ms};
        }
    }
    return invalid("auto.offset.reset", found->second,
                   "Invalid value `" + found->second +
                       "` for configuration auto.offset.reset. The value must be either 'earliest', 'latest', 'none' or of the "
                       "format 'by_duration:<PnDTnHnMn.nS.>'.");
}

Outcome<client::MemberSettings> member_of(const Properties& properties) {
    client::MemberSettings member;
    const auto text_of = [&](const char* name) -> std::optional<std::string> {
        const auto found = properties.find(name);
        return found == properties.end() ? std::nullopt : std::optional(found->second);
    };
    member.group = text_of("group.id").value_or("");
    if (properties.contains("group.id") && trimmed(member.group).empty()) {
        return refused("The configured group.id should not be an empty string or whitespace.");
    }
    member.instance_id = text_of("group.instance.id");
    member.rack = text_of("client.rack");
    member.remote_assignor = text_of("group.remote.assignor");
    if (auto protocol = text_of("group.protocol")) {
        const std::string said = *protocol;
        std::ranges::transform(*protocol, protocol->begin(),
                               [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
        if (*protocol == "consumer") {
            member.protocol = client::GroupProtocol::consumer;
        } else if (*protocol != "classic") {
            return invalid("group.protocol", said, "String must be one of (case insensitive): CLASSIC, CONSUMER");
        }
    }
    const bool is_new = member.protocol == client::GroupProtocol::consumer;
    for (const char* name : {"session.timeout.ms", "heartbeat.interval.ms", "partition.assignment.strategy"}) {
        if (is_new && properties.contains(name)) {
            return refused(std::string(name) + " cannot be set when group.protocol=CONSUMER");
        }
    }
    if (!is_new && member.remote_assignor) {
        return refused("group.remote.assignor cannot be set when group.protocol=CLASSIC");
    }
    for (const Milliseconds& duration : kDurations) {
        PARTITA_TRY_ASSIGN(const auto number, integer_of(properties, duration.name, duration.name == kDurations[2].name ? 1 : 0));
        if (number) {
            member.*duration.member = *number;
        }
    }
    if (const auto strategies = text_of("partition.assignment.strategy")) {
        member.assignors.clear();
        for (const std::string& name : split(*strategies, ',')) {
            const auto assignor = client::parse_classic_assignor(trimmed(name));
            if (!assignor) {
                return refused("partition.assignment.strategy=" + name +
                               " is not served: range, roundrobin and cooperative-sticky are");
            }
            member.assignors.push_back(*assignor);
        }
    }
    return member;
}

/// The partitions' offsets for a time; all of them, or a failure.
Outcome<Offsets> offsets_at(client::Cluster& cluster, const std::vector<TopicPartition>& partitions, std::int64_t time) {
    const auto answered = client::list_offsets(cluster, partitions, time);
    if (!answered) {
        return failed(answered.error());
    }
    Offsets found;
    for (const auto& [partition, offset] : *answered) {
        if (!offset) {
            return failed(client::to_string(partition) + ": " + offset.error().message);
        }
        found[partition] = *offset;
    }
    return found;
}

/// Reads all present partitions of the topics, or the selected one.
class PartitionSource final : public RecordSource {
  public:
    PartitionSource(client::Cluster& cluster, Reading reading, const Start& start)
        : cluster_(cluster), reading_(std::move(reading)), start_(start), fetcher_(cluster, reading_.settings.fetch) {}

    client::Result<std::int64_t> poll(const client::Fetcher::Taker& take, std::int64_t wait_ms) override {
        return fetcher_.poll(take, wait_ms);
    }
    Outcome<bool> is_over() override {
        if (!has_begun_) {
            has_begun_ = true;
            PARTITA_TRY(begin());
        }
        std::erase_if(ends_, [&](const auto& end) {
            const bool is_read = fetcher_.position(end.first) >= end.second;
            if (is_read) {
                fetcher_.leave(end.first);
            }
            return is_read;
        });
        return !fetcher_.has_partitions();
    }
    client::Result<void> close() override { return {}; }

  private:
    [[nodiscard]] Outcome<std::vector<TopicPartition>> partitions() {
        std::vector<std::string> names = reading_.settings.topics;
        if (reading_.partition) {
            return std::vector<TopicPartition>{{names.front(), *reading_.partition}};
        }
        if (reading_.settings.matches) {
            const auto topics = client::list_topics(cluster_);
            if (!topics) {
                return failed(topics.error());
            }
            for (const auto& listed : *topics) {
                if (reading_.settings.matches(listed.name)) {
                    names.push_back(listed.name);
                }
            }
        }
        const auto topics = client::describe_topics(cluster_, names);
        if (!topics && topics.error().code == ErrorCode::unknown_topic_or_partition && !reading_.settings.matches) {
            return failed("there is no topic " + names.front());
        }
        if (!topics) {
            return failed(topics.error());
        }
        std::vector<TopicPartition> all;
        for (const auto& topic : *topics) {
            for (const auto& partition : topic.partitions) {
                all.push_back({topic.name, partition.index});
            }
        }
        return all;
    }

    [[nodiscard]] Outcome<void> begin() {
        PARTITA_TRY_ASSIGN(const auto all, partitions());
        PARTITA_TRY_ASSIGN(const auto ends, offsets_at(cluster_, all, client::kLatest));
        PARTITA_TRY_ASSIGN(const auto firsts, offsets_at(cluster_, all, start_.tail > 0 ? client::kEarliest : start_.time));
        for (const auto& partition : all) {
            const std::int64_t end = ends.at(partition);
            std::int64_t first = firsts.at(partition);
            if (start_.tail > 0) {
                first = std::max(first, end - start_.tail);
            }
            if (first < 0) {
                first = end;
            }
            fetcher_.seek(partition, start_.offset.value_or(first));
        }
        if (reading_.ends) {
            ends_ = ends;
        }
        return {};
    }

    client::Cluster& cluster_;
    const Reading reading_;
    const Start start_;
    client::Fetcher fetcher_;
    bool has_begun_ = false;
    Offsets ends_;
};

class GroupSource final : public RecordSource {
  public:
    GroupSource(client::Cluster& cluster, Reading reading)
        : cluster_(cluster), ends_when_read_(reading.ends), consumer_(cluster, std::move(reading.settings)) {}

    client::Result<std::int64_t> poll(const client::Fetcher::Taker& take, std::int64_t wait_ms) override {
        return consumer_.poll(take, wait_ms);
    }
    /// With --exit: true when this member has read its partitions up to the ends that it saw first.
    Outcome<bool> is_over() override {
        if (!ends_when_read_) {
            return false;
        }
        std::vector<TopicPartition> unknown;
        for (const TopicPartition& partition : consumer_.assigned()) {
            if (!ends_.contains(partition)) {
                unknown.push_back(partition);
            }
        }
        if (!unknown.empty()) {
            PARTITA_TRY_ASSIGN(const auto ends, offsets_at(cluster_, unknown, client::kLatest));
            ends_.insert(ends.begin(), ends.end());
        }
        return !consumer_.assigned().empty() && std::ranges::all_of(consumer_.assigned(), [&](const TopicPartition& partition) {
            return consumer_.position(partition) >= ends_.at(partition);
        });
    }
    client::Result<void> close() override { return consumer_.close(); }

  private:
    client::Cluster& cluster_;
    const bool ends_when_read_;
    client::GroupConsumer consumer_;
    Offsets ends_;
};

}  // namespace

Outcome<Reading> reading_of(const Properties& properties, const Options& options, const Surroundings& surroundings) {
    Reading reading{.ends = options.has("exit")};
    client::GroupConsumerSettings& settings = reading.settings;
    const std::string isolation = properties.at("isolation.level");
    if (isolation != "read_committed" && isolation != "read_uncommitted") {
        return invalid("isolation.level", isolation, "String must be one of: read_committed, read_uncommitted");
    }
    settings.fetch.is_read_committed = isolation == "read_committed";
    PARTITA_TRY_ASSIGN(auto reset, reset_of(properties));
    settings.fetch.reset = reset;
    PARTITA_TRY_ASSIGN(auto member, member_of(properties));
    settings.member = std::move(member);
    PARTITA_TRY_ASSIGN(const auto commits, boolean_of(properties, "enable.auto.commit"));
    settings.commits = commits.value_or(true);
    PARTITA_TRY_ASSIGN(const auto creates, boolean_of(properties, "allow.auto.create.topics"));
    settings.may_create_topics = creates.value_or(true);
    for (const auto& [name, place] : {std::pair("auto.commit.interval.ms", &settings.commit_interval_ms),
                                      std::pair("metadata.max.age.ms", &settings.metadata_max_age_ms)}) {
        PARTITA_TRY_ASSIGN(const auto number, integer_of(properties, name, 0));
        if (number) {
            *place = *number;
        }
    }
    const auto partition = options.integer("partition");
    if (!partition) {
        return usage(partition.error());
    }
    reading.partition = *partition;
    if (const auto topic = options.find("topic")) {
        settings.topics = {*topic};
    } else {
        auto filter = groups::WholeMatch::compile(options.value("include"));
        if (!filter) {
            return refused(options.value("include") + " is not a regular expression");
        }
        const auto shared = std::make_shared<groups::WholeMatch>(std::move(*filter));
        const bool shows_internal =
            properties.contains("exclude.internal.topics") && properties.at("exclude.internal.topics") == "false";
        settings.matches = [shared, shows_internal](const std::string& name) {
            return (shows_internal || !catalog::is_internal_topic(name)) && shared->matches(name);
        };
    }
    settings.warn = [&surroundings](const std::string& line) {
        surroundings.warn(line, "org.apache.kafka.clients.consumer.KafkaConsumer");
    };
    return reading;
}

std::unique_ptr<RecordSource> make_source(client::Cluster& cluster, Reading reading, const Start& start) {
    if (reading.settings.member.group.empty()) {
        return std::make_unique<PartitionSource>(cluster, std::move(reading), start);
    }
    return std::make_unique<GroupSource>(cluster, std::move(reading));
}

}  // namespace partita::tools
