// kafka-transactions: shows transactions and producers, and ends hanging transactions.

#include <algorithm>
#include <limits>
#include <map>
#include <set>
#include <string>

#include "broker/client/topics.h"
#include "broker/client/transactions.h"
#include "broker/tools/java_order.h"
#include "broker/tools/text.h"
#include "broker/tools/tools.h"
#include "protocol/try.h"

namespace partita::tools {
namespace {

using client::ActiveProducer;
using client::TopicPartition;

constexpr Option kTransactionsOptions[] = {
    kBootstrapServer,
    kCommandConfig,
    {"help", "", "print this help", {}, "h"},
    {"version", "", "print the version of Kafka that these tools match", {}, "v"},
    {"duration-filter", "milliseconds", "with list: show only transactions open for longer than this, in milliseconds"},
    {"transactional-id-pattern", "regex", "with list: show only transactional ids that match as a whole"},
    {"transactional-id", "id", "with describe: name the id"},
    {"transactionalId", "id", "with forceTerminateTransaction: name the id"},
    {"broker-id", "id", "with describe-producers: ask this broker; with find-hanging: look only at this broker's partitions"},
    {"topic", "topic", "with describe-producers, abort and find-hanging: name the topic"},
    {"partition", "number", "with describe-producers, abort and find-hanging: name the partition"},
    {"start-offset", "offset", "with abort: name the offset where the transaction begins"},
    {"producer-id", "id", "with abort, for brokers before 3.0: name the producer"},
    {"producer-epoch", "epoch", "with abort, for brokers before 3.0: name its epoch"},
    {"coordinator-epoch", "epoch", "with abort, for brokers before 3.0: name the epoch of the coordinator"},
    {"max-transaction-timeout", "minutes", "with find-hanging: show only transactions open for longer than this, in minutes",
     "15"},
};

/// A failure in the middle of a command, in the words of Kafka's tool.
std::unexpected<Ending> failed_to(const std::string& what, const client::Failure& failure) {
    return failed("Failed to " + what + ": " + failure.message + ". Enable debug logging for additional detail.");
}

class Transactions {
  public:
    Transactions(client::Cluster& cluster, const Options& options, const Surroundings& surroundings)
        : cluster_(cluster), options_(options), surroundings_(surroundings) {}

    [[nodiscard]] Outcome<int> list();
    [[nodiscard]] Outcome<int> describe();
    [[nodiscard]] Outcome<int> describe_producers();
    [[nodiscard]] Outcome<int> abort();
    [[nodiscard]] Outcome<int> terminate();
    [[nodiscard]] Outcome<int> find_hanging();

  private:
    struct Open {
        TopicPartition partition;
        ActiveProducer producer;
    };

    [[nodiscard]] Outcome<TopicPartition> partition() const;
    /// A required number of the line.
    [[nodiscard]] Outcome<std::int64_t> number(const std::string& option, std::int64_t most) const;
    [[nodiscard]] Outcome<std::set<TopicPartition>> places_to_search(std::optional<std::int32_t> broker) const;
    [[nodiscard]] Outcome<std::vector<Open>> open_for_long(std::optional<std::int32_t> broker, std::int64_t longer_than_ms) const;
    [[nodiscard]] Outcome<std::vector<Open>> without_coordinator(const std::vector<Open>& candidates) const;

    client::Cluster& cluster_;
    const Options& options_;
    const Surroundings& surroundings_;
};

Outcome<std::int64_t> Transactions::number(const std::string& option, std::int64_t most) const {
    const auto found = options_.integer(option, std::numeric_limits<std::int64_t>::min(), most);
    if (!found) {
        return usage(found.error());
    }
    if (!*found) {
        return failed("Missing required argument --" + option);
    }
    return **found;
}

Outcome<TopicPartition> Transactions::partition() const {
    const auto index = options_.integer("partition");
    if (!index) {
        return usage(index.error());
    }
    if (!options_.has("topic")) {
        return usage("argument --topic is required");
    }
    if (!*index) {
        return usage("argument --partition is required");
    }
    return TopicPartition{options_.value("topic"), **index};
}

Outcome<int> Transactions::list() {
    client::TransactionFilter filter;
    const auto duration =
        options_.integer("duration-filter", std::numeric_limits<std::int64_t>::min(), std::numeric_limits<std::int64_t>::max());
    if (!duration) {
        return usage(duration.error());
    }
    filter.duration_ms = duration->value_or(-1);
    filter.id_pattern = options_.find("transactional-id-pattern");
    const auto listed = client::list_transactions(cluster_, filter);
    if (!listed) {
        return failed_to("list transactions", listed.error());
    }
    std::vector<std::vector<std::string>> rows;
    for (const auto& one : *listed) {
        rows.push_back({one.transactional_id, std::to_string(one.coordinator), std::to_string(one.producer_id), one.state});
    }
    surroundings_.print(table({"TransactionalId", "Coordinator", "ProducerId", "TransactionState"}, rows));
    return 0;
}

Outcome<int> Transactions::describe() {
    const auto id = options_.find("transactional-id");
    if (!id) {
        return usage("argument --transactional-id is required");
    }
    const auto found = client::describe_transaction(cluster_, *id);
    if (!found) {
        return failed_to("describe transaction state of transactional-id `" + *id + "`", found.error());
    }
    const std::int64_t now_ms = surroundings_.network.clock().now().wall.value;
    std::vector<std::string> names;
    const auto ordered =
        in_java_order(found->partitions, found->partitions.size(), [](const TopicPartition& one) { return java_hash(one); });
    for (const TopicPartition& partition : ordered) {
        names.push_back(client::to_string(partition));
    }
    const auto started = found->started_at_ms;
    surroundings_.print(table(
        {"CoordinatorId", "TransactionalId", "ProducerId", "ProducerEpoch", "TransactionState", "TransactionTimeoutMs",
         "CurrentTransactionStartTimeMs", "TransactionDurationMs", "TopicPartitions"},
        {{std::to_string(found->coordinator), *id, std::to_string(found->producer_id), std::to_string(found->producer_epoch),
          found->state, std::to_string(found->timeout_ms), started ? std::to_string(*started) : "None",
          started ? std::to_string(now_ms - *started) : "None", joined(names, ",")}}));
    return 0;
}

Outcome<int> Transactions::describe_producers() {
    PARTITA_TRY_ASSIGN(const auto place, partition());
    const auto broker = options_.integer("broker-id");
    if (!broker) {
        return usage(broker.error());
    }
    const auto found = client::describe_producers(cluster_, {place}, *broker);
    const std::string what = "describe producers for partition " + client::to_string(place) + " on " +
                             (*broker ? "broker " + std::to_string(**broker) : std::string("leader"));
    if (!found) {
        return failed_to(what, found.error());
    }
    const auto producers = found->find(place);
    if (producers == found->end()) {
        return failed_to(what, client::refusal(ErrorCode::unknown_server_error));
    }
    if (!producers->second) {
        return failed_to(what, producers->second.error());
    }
    std::vector<std::vector<std::string>> rows;
    for (const ActiveProducer& producer : *producers->second) {
        const auto start = producer.transaction_start_offset;
        rows.push_back({std::to_string(producer.id), std::to_string(producer.epoch), std::to_string(producer.coordinator_epoch),
                        std::to_string(producer.last_sequence), std::to_string(producer.last_timestamp_ms),
                        start ? std::to_string(*start) : "None"});
    }
    surroundings_.print(table({"ProducerId", "ProducerEpoch", "LatestCoordinatorEpoch", "LastSequence", "LastTimestamp",
                               "CurrentTransactionStartOffset"},
                              rows));
    return 0;
}

Outcome<int> Transactions::abort() {
    PARTITA_TRY_ASSIGN(const auto place, partition());
    if (!options_.has("start-offset") && !options_.has("producer-id")) {
        return failed(
            "The transaction to abort must be identified either with --start-offset (for brokers on 3.0 or above) or with "
            "--producer-id, --producer-epoch, and --coordinator-epoch (for older brokers)");
    }
    client::HangingTransaction hanging{.partition = place};
    if (options_.has("start-offset")) {
        PARTITA_TRY_ASSIGN(const auto offset, number("start-offset", std::numeric_limits<std::int64_t>::max()));
        const auto found = client::describe_producers(cluster_, {place}, std::nullopt);
        const std::string what = "validate producer state for partition " + client::to_string(place);
        if (!found) {
            return failed_to(what, found.error());
        }
        const auto producers = found->find(place);
        if (producers == found->end()) {
            return failed_to(what, client::refusal(ErrorCode::unknown_server_error));
        }
        if (!producers->second) {
            return failed_to(what, producers->second.error());
        }
        const auto producer =
            std::ranges::find(*producers->second, std::optional(offset), &ActiveProducer::transaction_start_offset);
        if (producer == producers->second->end()) {
            return failed("Could not find any open transactions starting at offset " + std::to_string(offset) + " on partition " +
                          client::to_string(place));
        }
        hanging.producer_id = producer->id;
        hanging.producer_epoch = static_cast<std::int16_t>(producer->epoch);
        // A coordinator that never decided on this transaction has no epoch there: 0 is the lowest.
        hanging.coordinator_epoch = std::max(producer->coordinator_epoch, 0);
    } else {
        PARTITA_TRY_ASSIGN(const auto id, number("producer-id", std::numeric_limits<std::int64_t>::max()));
        PARTITA_TRY_ASSIGN(const auto epoch, number("producer-epoch", std::numeric_limits<std::int16_t>::max()));
        PARTITA_TRY_ASSIGN(const auto coordinator_epoch, number("coordinator-epoch", std::numeric_limits<std::int32_t>::max()));
        hanging.producer_id = id;
        hanging.producer_epoch = static_cast<std::int16_t>(epoch);
        hanging.coordinator_epoch = static_cast<std::int32_t>(std::max<std::int64_t>(coordinator_epoch, 0));
    }
    if (const auto done = client::abort_transaction(cluster_, hanging); !done) {
        return failed_to("abort transaction AbortTransactionSpec(topicPartition=" + client::to_string(place) + ", producerId=" +
                             std::to_string(hanging.producer_id) + ", producerEpoch=" + std::to_string(hanging.producer_epoch) +
                             ", coordinatorEpoch=" + std::to_string(hanging.coordinator_epoch) + ")",
                         done.error());
    }
    return 0;
}

Outcome<int> Transactions::terminate() {
    const auto id = options_.find("transactionalId");
    if (!id) {
        return usage("argument --transactionalId is required");
    }
    if (const auto done = client::terminate_transaction(cluster_, *id); !done) {
        return failed_to("force terminate transactionalId `" + *id + "`", done.error());
    }
    return 0;
}

Outcome<std::set<TopicPartition>> Transactions::places_to_search(std::optional<std::int32_t> broker) const {
    if (options_.has("partition")) {
        PARTITA_TRY_ASSIGN(const auto place, partition());
        return std::set<TopicPartition>{place};
    }
    std::vector<std::string> names;
    if (const auto topic = options_.find("topic")) {
        names.push_back(*topic);
    } else {
        const auto listed = client::list_topics(cluster_);
        if (!listed) {
            return failed_to("list topics", listed.error());
        }
        for (const auto& one : *listed) {
            if (!one.is_internal) {
                names.push_back(one.name);
            }
        }
    }
    const auto topics = client::describe_topics(cluster_, names);
    if (!topics) {
        return failed_to("describe " + std::to_string(names.size()) + " topics", topics.error());
    }
    std::set<TopicPartition> places;
    for (const auto& topic : *topics) {
        for (const auto& one : topic.partitions) {
            const bool is_there = !broker || std::ranges::find(one.replicas, *broker) != one.replicas.end();
            if (is_there) {
                places.insert({topic.name, one.index});
            }
        }
    }
    return places;
}

Outcome<std::vector<Transactions::Open>> Transactions::open_for_long(std::optional<std::int32_t> broker,
                                                                     std::int64_t longer_than_ms) const {
    PARTITA_TRY_ASSIGN(const auto places, places_to_search(broker));
    // Limit of partitions in one request.
    constexpr std::size_t kPartitionsMax = 500;
    std::vector<Open> candidates;
    const std::int64_t now_ms = surroundings_.network.clock().now().wall.value;
    for (auto at = places.begin(); at != places.end();) {
        std::set<TopicPartition> some;
        while (at != places.end() && some.size() < kPartitionsMax) {
            some.insert(*at++);
        }
        const std::string what = "describe producers for " + std::to_string(some.size()) + " partitions on broker " +
                                 (broker ? "Optional[" + std::to_string(*broker) + "]" : std::string("Optional.empty"));
        const auto found = client::describe_producers(cluster_, some, broker);
        if (!found) {
            return failed_to(what, found.error());
        }
        for (const auto& [partition, producers] : *found) {
            if (!producers) {
                return failed_to(what, producers.error());
            }
            for (const ActiveProducer& producer : *producers) {
                if (producer.transaction_start_offset && now_ms - producer.last_timestamp_ms > longer_than_ms) {
                    candidates.push_back({partition, producer});
                }
            }
        }
    }
    return candidates;
}

Outcome<std::vector<Transactions::Open>> Transactions::without_coordinator(const std::vector<Open>& candidates) const {
    std::set<std::int64_t> producers;
    for (const Open& open : candidates) {
        producers.insert(open.producer.id);
    }
    const auto listed = client::list_transactions(cluster_, {.producer_ids = {producers.begin(), producers.end()}});
    if (!listed) {
        return failed_to("list transactions for " + std::to_string(producers.size()) + " producers", listed.error());
    }
    // The partitions of each producer for which its coordinator still has to write a marker.
    std::map<std::int64_t, std::vector<TopicPartition>> expected;
    for (const auto& one : *listed) {
        const auto description = client::describe_transaction(cluster_, one.transactional_id);
        if (description) {
            expected[one.producer_id] = description->partitions;
        } else if (description.error().code != ErrorCode::transactional_id_not_found) {
            return failed_to("describe " + std::to_string(listed->size()) + " transactions", description.error());
        }
    }
    std::vector<Open> hanging;
    for (const Open& open : candidates) {
        const auto found = expected.find(open.producer.id);
        if (found == expected.end() || std::ranges::find(found->second, open.partition) == found->second.end()) {
            hanging.push_back(open);
        }
    }
    return hanging;
}

Outcome<int> Transactions::find_hanging() {
    const auto broker = options_.integer("broker-id");
    if (!broker) {
        return usage(broker.error());
    }
    if (!options_.has("topic") && !*broker) {
        return failed("The `find-hanging` command requires either --topic or --broker-id to limit the scope of the search");
    }
    if (options_.has("partition") && !options_.has("topic")) {
        return failed("The --partition argument requires --topic to be provided");
    }
    const auto minutes = options_.integer("max-transaction-timeout");
    if (!minutes) {
        return usage(minutes.error());
    }
    constexpr std::int64_t kMinuteMs = 60'000;
    auto open = open_for_long(*broker, minutes->value_or(0) * kMinuteMs);
    PARTITA_TRY(open);
    PARTITA_TRY_ASSIGN(const auto hanging, open->empty() ? std::move(open) : without_coordinator(*open));
    const std::int64_t now_ms = surroundings_.network.clock().now().wall.value;
    std::vector<std::vector<std::string>> rows;
    for (const auto& [place, producer] : hanging) {
        rows.push_back(
            {place.topic, std::to_string(place.partition), std::to_string(producer.id), std::to_string(producer.epoch),
             std::to_string(producer.coordinator_epoch), std::to_string(producer.transaction_start_offset.value_or(-1)),
             std::to_string(producer.last_timestamp_ms), std::to_string((now_ms - producer.last_timestamp_ms) / kMinuteMs)});
    }
    surroundings_.print(table({"Topic", "Partition", "ProducerId", "ProducerEpoch", "CoordinatorEpoch", "StartOffset",
                               "LastTimestamp", "Duration(min)"},
                              rows));
    return 0;
}

constexpr std::pair<std::string_view, Outcome<int> (Transactions::*)()> kActions[] = {
    {"list", &Transactions::list},
    {"describe", &Transactions::describe},
    {"describe-producers", &Transactions::describe_producers},
    {"abort", &Transactions::abort},
    {"find-hanging", &Transactions::find_hanging},
    {"forceTerminateTransaction", &Transactions::terminate},
};

Outcome<int> run_transactions(const Options& options, const Surroundings& surroundings) {
    std::vector<std::string> names;
    for (const auto& [name, run] : kActions) {
        names.emplace_back(name);
    }
    const std::string action = options.rest().empty() ? "" : options.rest().front();
    const auto* found = std::ranges::find(kActions, action, [](const auto& one) { return one.first; });
    if (options.rest().size() != 1 || found == std::end(kActions)) {
        return usage("use one of: " + joined(names, ", "));
    }
    if (!options.has("bootstrap-server")) {
        return usage("argument --bootstrap-server is required");
    }
    PARTITA_TRY_ASSIGN(auto cluster, open_cluster(options, surroundings));
    Transactions transactions(cluster, options, surroundings);
    return (transactions.*found->second)();
}

}  // namespace

const Tool kTransactionsTool{
    .name = "transactions",
    .kafka_name = "kafka-transactions",
    .summary = "show transactions and producers; abort hanging transactions",
    .purpose =
        "This tool is used to analyze the transactional state of producers in the cluster: list, describe, "
        "describe-producers, abort, find-hanging, forceTerminateTransaction.",
    .options = kTransactionsOptions,
    .repeated = Repeated::last_counts,
    .run = run_transactions,
    .words = "list describe describe-producers abort find-hanging forceTerminateTransaction"};

}  // namespace partita::tools
