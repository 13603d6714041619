// `partita plan --bootstrap`: the same plan from any Kafka, through its protocol. The log is fetched, so the partitioner, the
// keys and the backlogs are as exact as from our own logs; what the protocol does not tell (earlier expansions, open
// transactions) is said to be unknown.

#include <sys/types.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <map>
#include <nlohmann/json.hpp>

#include "broker/catalog/internal_topics.h"
#include "broker/cli/command.h"
#include "broker/cli/librdkafka.h"
#include "broker/cli/plan_command.h"
#include "broker/groups/consumer_protocol.h"
#include "broker/insight/identity/applications.h"
#include "broker/insight/plan/plan_json.h"
#include "broker/insight/plan/plan_run.h"
#include "broker/insight/plan/streams_topics.h"
#include "schedule/executor.h"

namespace partita::cli {
namespace {

using insight::GroupFacts;
using insight::PlannedTopic;

constexpr int kRequestTimeoutMs = 15'000;
/// A range is given up when nothing comes for so long.
constexpr std::int64_t kSilenceMaxMs = 30'000;
constexpr std::size_t kGroupsMax = insight::Plan::kGroupsMax;

std::unexpected<PlanRefusal> unusable(std::string message) {
    return std::unexpected(PlanRefusal{kExitUsage, std::move(message)});
}

Bytes bytes_of(const void* data, std::size_t size) { return {static_cast<const std::byte*>(data), size}; }

/// One librdkafka consumer, and what is asked of it.
class Cluster {
  public:
    explicit Cluster(std::unique_ptr<Librdkafka> library) : api_(std::move(library)) {}
    ~Cluster() {
        if (queue_ != nullptr) {
            api_->queue_destroy(queue_);
        }
        if (handle_ != nullptr) {
            api_->destroy(handle_);
        }
    }
    Cluster(const Cluster&) = delete;
    Cluster& operator=(const Cluster&) = delete;

    [[nodiscard]] const Librdkafka& api() const { return *api_; }
    [[nodiscard]] rd_kafka_t* handle() const { return handle_; }
    [[nodiscard]] rd_kafka_queue_t* queue() const { return queue_; }

    std::expected<void, PlanRefusal> open(const PlanArguments& arguments) {
        rd_kafka_conf_t* settings = api_->conf_new();
        std::array<char, 512> reason{};
        const auto set = [&](const std::string& name, const std::string& value) {
            return api_->conf_set(settings, name.c_str(), value.c_str(), reason.data(), reason.size()) == RD_KAFKA_CONF_OK;
        };
        // The group is never joined; the name only has to be there.
        bool good = set("bootstrap.servers", arguments.bootstrap) && set("group.id", "partita-plan") &&
                    set("client.id", "partita-plan") && set("enable.auto.commit", "false") &&
                    set("enable.partition.eof", "true") && set("check.crcs", "true") &&
                    set("isolation.level", "read_uncommitted") && set("auto.offset.reset", "error") &&
                    set("queued.min.messages", "1000000") && set("fetch.message.max.bytes", "4194304") && set("log_level", "2");
        for (const std::string& setting : arguments.client_settings) {
            const std::size_t equals = setting.find('=');
            if (equals == std::string::npos) {
                api_->conf_destroy(settings);
                return unusable("-X " + setting + ": say KEY=VALUE");
            }
            good = good && set(setting.substr(0, equals), setting.substr(equals + 1));
        }
        if (!good) {
            api_->conf_destroy(settings);
            return unusable(reason.data());
        }
        api_->conf_set_opaque(settings, this);
        api_->conf_set_error_cb(settings, [](rd_kafka_t*, int error, const char* told, void* cluster) {
            // That no broker is left follows from what was told of each.
            if (error != RD_KAFKA_RESP_ERR__ALL_BROKERS_DOWN) {
                static_cast<Cluster*>(cluster)->trouble_ = told;
            }
        });
        handle_ = api_->new_handle(RD_KAFKA_CONSUMER, settings, reason.data(), reason.size());
        if (handle_ == nullptr) {
            api_->conf_destroy(settings);
            return unusable(reason.data());
        }
        queue_ = api_->queue_get_consumer(handle_);
        return {};
    }

    [[nodiscard]] std::string text(rd_kafka_resp_err_t error) const { return api_->err2str(error); }

    /// Name and partition count of all topics.
    std::expected<std::map<std::string, std::int32_t>, std::string> topics() const {
        const rd_kafka_metadata_t* metadata = nullptr;
        const auto error = api_->metadata(handle_, 1, nullptr, &metadata, kRequestTimeoutMs);
        if (error != RD_KAFKA_RESP_ERR_NO_ERROR) {
            return std::unexpected(text(error) + trouble());
        }
        std::map<std::string, std::int32_t> counts;
        for (int index = 0; index < metadata->topic_cnt; ++index) {
            if (metadata->topics[index].err == RD_KAFKA_RESP_ERR_NO_ERROR) {
                counts[metadata->topics[index].topic] = metadata->topics[index].partition_cnt;
            }
        }
        api_->metadata_destroy(metadata);
        return counts;
    }

    /// The id of the only broker; null where there are several, which no Partita is.
    std::optional<std::int32_t> only_broker() const {
        const rd_kafka_metadata_t* metadata = nullptr;
        if (api_->metadata(handle_, 0, nullptr, &metadata, kRequestTimeoutMs) != RD_KAFKA_RESP_ERR_NO_ERROR) {
            return std::nullopt;
        }
        const auto broker = metadata->broker_cnt == 1 ? std::optional(metadata->brokers[0].id) : std::nullopt;
        api_->metadata_destroy(metadata);
        return broker;
    }
    std::string cluster_id() const {
        char* id = api_->clusterid(handle_, kRequestTimeoutMs);
        std::string text = id == nullptr ? "" : id;
        if (id != nullptr) {
            api_->mem_free(handle_, id);
        }
        return text;
    }

    /// Waits for the one event of an administrative request; null after the time limit.
    rd_kafka_event_t* await(rd_kafka_queue_t* queue) const { return api_->queue_poll(queue, kRequestTimeoutMs); }

  private:
    /// What the connections met last, which says more than the error of a request that found none: a certificate that is
    /// not trusted, a listener that wants TLS.
    [[nodiscard]] std::string trouble() const {
        while (api_->poll(handle_, 0) > 0) {
        }
        return trouble_.empty() ? "" : "; " + trouble_;
    }

    std::unique_ptr<Librdkafka> api_;
    rd_kafka_t* handle_ = nullptr;
    rd_kafka_queue_t* queue_ = nullptr;
    /// Set by the library's callback, within `poll`.
    std::string trouble_;
};

/// Settings of a topic, or of a broker by its id.
std::expected<std::map<std::string, std::string>, std::string> settings_of(const Cluster& cluster, rd_kafka_ResourceType_t type,
                                                                           const std::string& name) {
    const Librdkafka& api = cluster.api();
    rd_kafka_ConfigResource_t* resource = api.ConfigResource_new(type, name.c_str());
    rd_kafka_queue_t* queue = api.queue_new(cluster.handle());
    api.DescribeConfigs(cluster.handle(), &resource, 1, nullptr, queue);
    std::map<std::string, std::string> settings;
    std::string problem;
    rd_kafka_event_t* event = cluster.await(queue);
    if (event == nullptr) {
        problem = "no answer in time";
    } else if (api.event_error(event) != RD_KAFKA_RESP_ERR_NO_ERROR) {
        problem = api.event_error_string(event);
    } else {
        std::size_t count = 0;
        const auto* described = api.event_DescribeConfigs_result(event);
        const rd_kafka_ConfigResource_t** resources = api.DescribeConfigs_result_resources(described, &count);
        if (count == 1 && api.ConfigResource_error(resources[0]) == RD_KAFKA_RESP_ERR_NO_ERROR) {
            std::size_t entries = 0;
            const rd_kafka_ConfigEntry_t** configs = api.ConfigResource_configs(resources[0], &entries);
            for (std::size_t index = 0; index < entries; ++index) {
                const char* value = api.ConfigEntry_value(configs[index]);
                if (value != nullptr) {
                    settings[api.ConfigEntry_name(configs[index])] = value;
                }
            }
        } else {
            problem = count == 1 ? cluster.text(api.ConfigResource_error(resources[0])) : "an empty answer";
        }
    }
    if (event != nullptr) {
        api.event_destroy(event);
    }
    api.queue_destroy(queue);
    api.ConfigResource_destroy(resource);
    if (!problem.empty()) {
        return std::unexpected(problem);
    }
    return settings;
}

/// What the group committed for the topic; empty when nothing.
std::expected<std::vector<Offset>, std::string> committed_offsets(const Cluster& cluster, const char* group,
                                                                  const PlannedTopic& topic) {
    const Librdkafka& api = cluster.api();
    rd_kafka_topic_partition_list_t* wanted = api.topic_partition_list_new(topic.old_count);
    for (std::int32_t partition = 0; partition < topic.old_count; ++partition) {
        api.topic_partition_list_add(wanted, topic.name.c_str(), partition);
    }
    rd_kafka_ListConsumerGroupOffsets_t* request = api.ListConsumerGroupOffsets_new(group, wanted);
    rd_kafka_queue_t* queue = api.queue_new(cluster.handle());
    api.ListConsumerGroupOffsets(cluster.handle(), &request, 1, nullptr, queue);
    std::vector<Offset> committed;
    std::string problem;
    rd_kafka_event_t* event = cluster.await(queue);
    if (event == nullptr) {
        problem = "no answer in time";
    } else if (api.event_error(event) != RD_KAFKA_RESP_ERR_NO_ERROR) {
        problem = api.event_error_string(event);
    } else {
        std::size_t count = 0;
        const auto* listed = api.event_ListConsumerGroupOffsets_result(event);
        const rd_kafka_group_result_t** groups = api.ListConsumerGroupOffsets_result_groups(listed, &count);
        const rd_kafka_error_t* failed = count == 1 ? api.group_result_error(groups[0]) : nullptr;
        const rd_kafka_topic_partition_list_t* found =
            count == 1 && failed == nullptr ? api.group_result_partitions(groups[0]) : nullptr;
        if (failed != nullptr) {
            problem = api.error_string(failed);
        }
        for (int index = 0; found != nullptr && index < found->cnt; ++index) {
            const rd_kafka_topic_partition_t& partition = found->elems[index];
            if (partition.offset < 0 || partition.partition < 0 || partition.partition >= topic.old_count) {
                continue;
            }
            committed.resize(static_cast<std::size_t>(topic.old_count), kNoOffset);
            committed[static_cast<std::size_t>(partition.partition)] = Offset{partition.offset};
        }
    }
    if (event != nullptr) {
        api.event_destroy(event);
    }
    api.queue_destroy(queue);
    api.ListConsumerGroupOffsets_destroy(request);
    api.topic_partition_list_destroy(wanted);
    if (!problem.empty()) {
        return std::unexpected(problem);
    }
    return committed;
}

/// Members and subscriptions as the group's description shows them. Nothing for a group without the topic.
std::optional<GroupFacts> group_facts(const rd_kafka_group_info& info, const PlannedTopic& topic,
                                      const std::map<std::string, std::int32_t>& counts) {
    GroupFacts group;
    group.group_id = info.group;
    group.state = info.state;
    group.protocol_type = info.protocol_type;
    group.protocol = info.protocol;
    struct Seen {
        std::int32_t aligned = 0;
        std::int32_t members = 0;
    };
    std::map<std::string, Seen> others;
    bool reads = false;
    for (int index = 0; index < info.member_cnt; ++index) {
        const rd_kafka_group_member_info& member = info.members[index];
        const Bytes assignment = bytes_of(member.member_assignment, static_cast<std::size_t>(member.member_assignment_size));
        groups::Holdings holdings;
        groups::read_holdings(assignment, holdings);
        std::map<std::string_view, std::vector<PartitionIndex>> held;
        for (const groups::Holdings::Topic& one : holdings.topics()) {
            const auto partitions = holdings.partitions_of(one);
            held[one.name].assign(partitions.begin(), partitions.end());
        }
        GroupFacts::Member facts{member.client_id, member.client_host, held[topic.name]};
        const auto subscribed =
            groups::subscribed_topics(bytes_of(member.member_metadata, static_cast<std::size_t>(member.member_metadata_size)));
        bool has_topic = !facts.assigned.empty();
        for (const std::string_view name : subscribed.value_or(std::vector<std::string_view>{})) {
            has_topic = has_topic || name == topic.name;
            if (name == topic.name) {
                continue;
            }
            Seen& seen = others[std::string(name)];
            ++seen.members;
            if (held[name] == facts.assigned) {
                ++seen.aligned;
            }
        }
        if (has_topic) {
            group.members.push_back(std::move(facts));
        }
        reads = reads || has_topic;
    }
    for (const auto& [name, seen] : others) {
        const auto count = counts.find(name);
        if (count == counts.end()) {
            continue;
        }
        const bool is_aligned = count->second == topic.old_count && count->second > 1 && seen.aligned == seen.members;
        group.other_topics.push_back({name, count->second, is_aligned});
    }
    if (group.protocol == insight::kStreamsAssignor) {
        for (auto other = counts.lower_bound(group.group_id + "-"); other != counts.end(); ++other) {
            if (!other->first.starts_with(group.group_id + "-")) {
                break;
            }
            if (insight::is_streams_internal_topic(other->first) && other->second == topic.old_count) {
                group.internal_topics.push_back(other->first);
            }
        }
    }
    if (!reads) {
        group.other_topics.clear();
        group.internal_topics.clear();
    }
    return group;
}

void add_groups(const Cluster& cluster, const std::map<std::string, std::int32_t>& counts, PlannedTopic& topic) {
    const rd_kafka_group_list* list = nullptr;
    const auto error = cluster.api().list_groups(cluster.handle(), nullptr, &list, kRequestTimeoutMs);
    if (error != RD_KAFKA_RESP_ERR_NO_ERROR) {
        topic.unknown_facts.push_back("groups: " + cluster.text(error));
    }
    std::map<std::string, std::string, std::less<>> protocols;
    for (int index = 0; list != nullptr && index < list->group_cnt; ++index) {
        if (topic.groups.size() >= kGroupsMax) {
            topic.unknown_facts.push_back("groups beyond the first " + std::to_string(kGroupsMax));
            break;
        }
        const rd_kafka_group_info& info = list->groups[index];
        protocols.emplace(info.group, info.protocol);
        auto group = group_facts(info, topic, counts);
        auto committed = committed_offsets(cluster, info.group, topic);
        if (!committed) {
            topic.unknown_facts.push_back("offsets of group " + group->group_id + ": " + committed.error());
        } else {
            group->committed = std::move(*committed);
        }
        if (group->members.empty() && group->committed.empty()) {
            continue;
        }
        // DescribeGroups does not tell of groups of KIP-848.
        if (info.err != RD_KAFKA_RESP_ERR_NO_ERROR) {
            topic.unknown_facts.push_back("members of group " + group->group_id + ": " + cluster.text(info.err));
        }
        topic.groups.push_back(std::move(*group));
    }
    topic.owning_application =
        insight::owning_application(topic.name, [&](std::string_view group_id) -> std::optional<std::string> {
            const auto found = protocols.find(group_id);
            return found == protocols.end() ? std::nullopt : std::optional(found->second);
        });
    if (list != nullptr) {
        cluster.api().group_list_destroy(list);
    }
    std::ranges::sort(topic.groups, {}, &GroupFacts::group_id);
}

void add_settings(const Cluster& cluster, PlannedTopic& topic) {
    const auto settings = settings_of(cluster, RD_KAFKA_RESOURCE_TOPIC, topic.name);
    if (!settings) {
        topic.unknown_facts.push_back("settings of the topic: " + settings.error());
        return;
    }
    if (const auto policy = settings->find("cleanup.policy"); policy != settings->end()) {
        topic.is_compacted = policy->second.find("compact") != std::string::npos;
        topic.is_deleted_by_age = policy->second.find("delete") != std::string::npos;
    }
    if (const auto retention = settings->find("retention.ms"); retention != settings->end()) {
        const std::string& text = retention->second;
        const char* const end = text.data() + text.size();
        if (const auto read = std::from_chars(text.data(), end, topic.retention_ms); read.ptr != end || read.ec != std::errc()) {
            topic.unknown_facts.push_back("retention.ms of the topic: " + text + " is no number");
        }
    }
}

std::expected<PlannedTopic, PlanRefusal> facts(const Cluster& cluster, const PlanArguments& arguments) {
    const auto counts = cluster.topics();
    if (!counts) {
        return broken("no Kafka answers at " + arguments.bootstrap + ": " + counts.error());
    }
    const auto found = counts->find(arguments.topic);
    if (found == counts->end()) {
        return unusable("there is no topic " + arguments.topic);
    }
    if (auto problem = insight::target_problem(arguments.topic, found->second, arguments.to)) {
        return unusable(std::move(*problem));
    }
    PlannedTopic topic;
    topic.name = arguments.topic;
    topic.old_count = found->second;
    topic.new_count = static_cast<std::int32_t>(arguments.to);
    topic.is_internal = catalog::is_internal_topic(arguments.topic);
    topic.now = real_schedule().clock.now().wall;
    for (std::int32_t partition = 0; partition < topic.old_count; ++partition) {
        std::int64_t low = 0;
        std::int64_t high = 0;
        const auto error = cluster.api().query_watermark_offsets(cluster.handle(), topic.name.c_str(), partition, &low, &high,
                                                                 kRequestTimeoutMs);
        if (error != RD_KAFKA_RESP_ERR_NO_ERROR) {
            return broken("the offsets of partition " + std::to_string(partition) + " cannot be had: " + cluster.text(error));
        }
        topic.partitions.push_back({Offset{low}, Offset{high}});
    }
    add_settings(cluster, topic);
    add_groups(cluster, *counts, topic);
    for (const auto& [name, count] : *counts) {
        if (insight::is_mirror_topic(name)) {
            topic.mirror_topics.push_back(name);
        }
    }
    topic.unknown_facts.push_back("open transactions: the protocol does not tell them to a reader");
    topic.unknown_facts.push_back("single producers: the protocol does not tell a reader which of them sent what");
    return topic;
}

std::expected<std::vector<Offset>, std::string> offsets_since(const Cluster& cluster, const PlannedTopic& topic,
                                                              std::int64_t since_ms) {
    const Librdkafka& api = cluster.api();
    rd_kafka_topic_partition_list_t* list = api.topic_partition_list_new(topic.old_count);
    for (std::int32_t partition = 0; partition < topic.old_count; ++partition) {
        api.topic_partition_list_add(list, topic.name.c_str(), partition)->offset = since_ms;
    }
    const auto error = api.offsets_for_times(cluster.handle(), list, kRequestTimeoutMs);
    std::vector<Offset> offsets;
    for (int index = 0; index < list->cnt; ++index) {
        // Nothing so new: the end.
        const std::int64_t offset = list->elems[index].offset;
        offsets.push_back(offset < 0 ? topic.partitions[static_cast<std::size_t>(index)].log_end : Offset{offset});
    }
    api.topic_partition_list_destroy(list);
    if (error != RD_KAFKA_RESP_ERR_NO_ERROR) {
        return std::unexpected(cluster.text(error));
    }
    return offsets;
}

/// Fetches one partition after the other.
class KafkaSource final : public insight::RecordSource {
  public:
    KafkaSource(const Cluster& cluster, std::string topic) : cluster_(cluster), topic_(std::move(topic)), batch_(kBatch) {}

    std::expected<void, std::string> read(const insight::ScanRange& range, insight::RecordSink& sink) override {
        const Librdkafka& api = cluster_.api();
        rd_kafka_topic_partition_list_t* list = api.topic_partition_list_new(1);
        api.topic_partition_list_add(list, topic_.c_str(), range.partition.value)->offset = range.from.value;
        const auto error = api.assign(cluster_.handle(), list);
        api.topic_partition_list_destroy(list);
        if (error != RD_KAFKA_RESP_ERR_NO_ERROR) {
            return std::unexpected(cluster_.text(error));
        }
        auto heard = real_schedule().clock.now().monotonic;
        State state;
        while (!state.is_done && state.problem.empty()) {
            // The call waits for a full batch, or so long.
            constexpr int kPollMs = 20;
            const ssize_t count = api.consume_batch_queue(cluster_.queue(), kPollMs, batch_.data(), batch_.size());
            const auto now = real_schedule().clock.now().monotonic;
            if (count > 0) {
                heard = now;
            }
            for (ssize_t index = 0; index < count; ++index) {
                rd_kafka_message_t* message = batch_[static_cast<std::size_t>(index)];
                if (!state.is_done && state.problem.empty()) {
                    take(*message, range, sink, state);
                }
                api.message_destroy(message);
            }
            if (now - heard > kSilenceMaxMs) {
                state.problem = "partition " + std::to_string(range.partition.value) + " gave nothing for " +
                                std::to_string(kSilenceMaxMs / 1000) + " s";
            }
        }
        api.assign(cluster_.handle(), nullptr);
        if (!state.problem.empty()) {
            return std::unexpected(state.problem);
        }
        return {};
    }

    /// What was not read behind damage, a clause for each partition.
    [[nodiscard]] std::vector<std::string> unread() const {
        std::vector<std::string> clauses;
        for (const auto& [partition, range] : unread_) {
            clauses.push_back("records of partition " + std::to_string(partition.value) + " from offset " +
                              std::to_string(range.from.value) + " to " + std::to_string(range.end.value) +
                              ": the client cannot read on behind a damaged batch");
        }
        return clauses;
    }

  private:
    static constexpr std::size_t kBatch = 1000;
    struct Unread {
        Offset from;
        Offset end;
    };
    struct State {
        bool is_done = false;
        std::string problem;
    };

    void take(const rd_kafka_message_t& message, const insight::ScanRange& range, insight::RecordSink& sink, State& state) {
        if (message.err == RD_KAFKA_RESP_ERR__PARTITION_EOF) {
            // Of another assignment when it comes late.
            state.is_done = message.partition == range.partition.value && message.offset >= range.end.value;
            return;
        }
        if (message.err == RD_KAFKA_RESP_ERR__BAD_MSG || message.err == RD_KAFKA_RESP_ERR__BAD_COMPRESSION ||
            message.err == RD_KAFKA_RESP_ERR__NOT_IMPLEMENTED) {
            // The client does not know where the batch ends, and takes its bytes for batches when it goes on.
            sink.damage(Offset{message.offset}, cluster_.api().message_errstr(&message));
            unread_[range.partition] = {.from = Offset{message.offset}, .end = range.end};
            state.is_done = true;
            return;
        }
        if (message.err != RD_KAFKA_RESP_ERR_NO_ERROR) {
            // Lost connections heal by themselves; what does not ends with the silence.
            const bool passes = message.err == RD_KAFKA_RESP_ERR__TRANSPORT || message.err == RD_KAFKA_RESP_ERR__ALL_BROKERS_DOWN;
            if (!passes) {
                state.problem = cluster_.api().message_errstr(&message);
            }
            return;
        }
        if (message.partition != range.partition.value || message.offset < range.from.value) {
            return;
        }
        if (message.offset >= range.end.value) {
            state.is_done = true;
            return;
        }
        const bool has_key = message.key != nullptr;
        if (!sink.record({Offset{message.offset}, has_key ? std::optional(bytes_of(message.key, message.key_len)) : std::nullopt,
                          message.key_len + message.len, message.payload != nullptr})) {
            state.is_done = true;
        }
        if (message.offset + 1 >= range.end.value) {
            state.is_done = true;
        }
    }

    const Cluster& cluster_;
    const std::string topic_;
    std::vector<rd_kafka_message_t*> batch_;
    std::map<PartitionIndex, Unread> unread_;
};

/// A Partita says in its settings where its HTTP side is: it knows more of the topic than its protocol tells.
std::optional<PlanArguments> partita_behind(const Cluster& cluster, const PlanArguments& arguments) {
    const auto broker = cluster.only_broker();
    if (!broker) {
        return std::nullopt;
    }
    const auto settings = settings_of(cluster, RD_KAFKA_RESOURCE_BROKER, std::to_string(*broker));
    if (!settings) {
        return std::nullopt;
    }
    const auto http = settings->find("partita.http.advertised");
    const auto directory = settings->find("partita.data.directory");
    if (http == settings->end() || directory == settings->end()) {
        return std::nullopt;
    }
    PlanArguments asked = arguments;
    asked.http.address = http->second;
    asked.data_directory = directory->second;
    asked.cluster_id = cluster.cluster_id();
    return asked;
}

}  // namespace

std::expected<std::string, PlanRefusal> plan_over_kafka(const PlanArguments& arguments, const PlanListener& listener) {
    auto library = Librdkafka::load();
    if (!library) {
        return unusable(library.error());
    }
    Cluster cluster(std::move(*library));
    if (auto opened = cluster.open(arguments); !opened) {
        return std::unexpected(opened.error());
    }
    const auto partita = arguments.reads_over_kafka ? std::nullopt : partita_behind(cluster, arguments);
    std::optional<std::string> unasked;
    if (partita && partita->http.address == "off") {
        unasked = "what only a Partita knows: the HTTP side of this one is off";
    } else if (partita) {
        auto plan = plan_over_http(*partita, listener);
        if (plan || !plan.error().is_elsewhere) {
            return plan;
        }
        unasked = "what only a Partita knows: the HTTP side of this one, " + partita->http.address +
                  ", cannot be asked from here (" + plan.error().message + ")";
    }
    auto topic = facts(cluster, arguments);
    if (!topic) {
        return std::unexpected(topic.error());
    }
    if (unasked) {
        topic->unknown_facts.push_back(*unasked);
    }
    insight::PlanOptions options;
    options.records_max = arguments.records;
    if (!arguments.partitioner.empty()) {
        options.partitioner = partitioners::find_partitioner(arguments.partitioner);
    }
    if (arguments.since_ms) {
        auto since = offsets_since(cluster, *topic, *arguments.since_ms);
        if (!since) {
            return broken("offsets by time cannot be had: " + since.error());
        }
        options.since = std::move(*since);
    }
    KafkaSource source(cluster, topic->name);
    auto outcome = insight::run_plan(*topic, source, options, [&](std::int64_t done, std::int64_t total) {
        listener.progress(done, total);
        return true;
    });
    if (!outcome) {
        return broken(outcome.error().message);
    }
    for (std::string& clause : source.unread()) {
        outcome->plan.unknown_facts.push_back(std::move(clause));
    }
    const insight::KeyStyle style = arguments.hashes_keys ? insight::KeyStyle::hashed : insight::KeyStyle::text;
    if (arguments.lists_keys) {
        insight::write_key_lines(*outcome->census, style, listener.keys);
    }
    return insight::plan_json(outcome->plan, style).dump();
}

}  // namespace partita::cli
