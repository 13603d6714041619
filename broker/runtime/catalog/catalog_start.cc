// The part of the catalog that runs at the start of the broker: see catalog.h.

#include <algorithm>

#include "broker/catalog/features.h"
#include "broker/catalog/internal_topics.h"
#include "broker/config/log_setup.h"
#include "broker/logs/internal_logs.h"
#include "broker/runtime/catalog/catalog.h"
#include "broker/runtime/catalog/repair_hints.h"
#include "broker/runtime/catalog/topic_adoption.h"
#include "broker/runtime/settings/log_settings.h"
#include "protocol/assert.h"
#include "protocol/producer_ids.h"
#include "protocol/try.h"
#include "storage/keyed_log_checkpoint.h"

namespace partita::runtime {

std::expected<void, StartError> Catalog::load(const Place& place, Now now) {
    auto log_topic = std::make_shared<const LogTopic>(LogTopic{std::string(logs::kCatalogLogName), logs::kCatalogLogId});
    auto log_config = std::make_shared<LogConfig>(log_settings(config::TopicConfig(), *config_.get()));
    log_config->delete_old_segments = false;
    auto log = place.logs.claim(log_topic, PartitionIndex{0}, log_config);
    if (!log) {
        return std::unexpected(StartError{log.error().message});
    }
    partition_ = std::make_unique<logs::Partition>(std::move(*log), fetch::PartitionKey{0});

    // No request waits for this at a start.
    const MutexLock lock(mutex_);
    const auto visit = [&](const KeyedRecord& record) REQUIRES(mutex_) -> StorageResult<void> {
        if (auto done = core_.replay(record.key, record.value); !done) {
            return std::unexpected(corrupt_error(partition_->log->directory_path(), done.error().message));
        }
        return {};
    };
    const auto replayed = replay_keyed_log(*partition_->log, place.store, visit);
    if (!replayed) {
        return std::unexpected(StartError{with_repair_hint(replayed.error())});
    }
    logs::report_rewound_checkpoint(*partition_->log, replayed->rewound_records);
    if (auto done = core_.finish_replay(); !done) {
        return std::unexpected(StartError{"cannot read the catalog: " + done.error().message});
    }
    auto empty = std::make_shared<logs::TopicTable>();
    empty->catalog = core_.snapshot();
    topics_.publish(empty);

    const bool is_new = core_.snapshot()->cluster_id().empty();
    const auto config = config_.get();
    std::string fresh_cluster_id = kafka_cluster_id(place.files, place.directory).value_or(fresh_uuid().to_string());
    if (const auto given = config->given().find("partita.cluster.id"); given != config->given().end()) {
        if (Uuid parsed; !Uuid::parse(given->second, parsed)) {
            return std::unexpected(StartError{"partita.cluster.id (CLUSTER_ID) is " + given->second +
                                              "; it must be a UUID of 22 characters, as kafka-storage random-uuid gives"});
        }
        fresh_cluster_id = given->second;
    }
    // Adopt before the catalog has a cluster id, so that an interrupted start begins again. If the directory was never a Kafka's,
    // the partitions in it remain from our own topics: a power failure took their catalog. Their settings are unknown then, and
    // so is which of them were deleted.
    const bool takes_over = is_new && place.logs.was_taken_over();
    PARTITA_TRY(adopt_found_topics(place, takes_over, now));
    const catalog::Initialise initialise{.cluster_id = fresh_cluster_id,
                                         .features = catalog::started_features(core_.snapshot()->finalized_features())};
    const auto decision = decide(now, initialise);
    if ((!decision.effects.empty() && !apply(nullptr, decision.effects, now)) || (is_new && !set_initial_cluster_configs(now))) {
        return std::unexpected(StartError{"cannot write the catalog in " + place.directory +
                                          "; free some space or check the directory's permissions"});
    }
    if (takes_over) {
        // From here on the directory is ours. After a power failure, a start must not take the remains of our topics for the
        // Kafka's.
        if (auto synced = partition_->log->sync(); !synced) {
            return std::unexpected(StartError{with_repair_hint(synced.error())});
        }
    }
    cluster_id_ = decision.result.cluster_id;
    return {};
}

bool Catalog::set_initial_cluster_configs(Now now) {
    const config::ConfigMap initial = config::initial_cluster_default_configs(*config_.get());
    catalog::IncrementalAlterConfigs command;
    catalog::ResourceToAlter& resource = command.resources.emplace_back();
    resource.resource = {catalog::ConfigResourceType::broker, ""};
    for (const auto& [name, value] : initial) {
        resource.changes.push_back({.name = name, .operation = 0, .value = value});
    }
    const auto decision = decide(now, command);
    PARTITA_ASSERT(!decision.result.resources.front().error.failed(), "the configs of a new cluster are valid");
    return decision.effects.empty() || apply(nullptr, decision.effects, now);
}

std::expected<void, StartError> Catalog::adopt_found_topics(const Place& place, bool takes_over, Now now) {
    if (!takes_over && !config_->adopt_directories) {
        return {};
    }
    if (config_->adopt_directories) {
        place.logs.believe_names();
    }
    // If the directory has been ours for long, the metadata of an old Kafka no longer applies.
    auto found = find_topics(place.files, place.logs, takes_over);
    if (!found) {
        return std::unexpected(
            StartError{"cannot take over the directory " + place.directory + ", which a Kafka wrote: " + found.error().message});
    }
    const catalog::CatalogPointer snapshot = core_.snapshot();
    // Leave out topics in the catalog: they are claimed later. An interrupted adoption continues here with the rest.
    std::erase_if(found->command.topics, [&](const catalog::AdoptTopics::Topic& topic) {
        const catalog::Topic* known = snapshot->find_topic(topic.name);
        return known != nullptr && (known->id == topic.id || topic.id.is_zero());
    });
    std::size_t left_out_acls = found->unknown_acls;
    std::size_t left_out_tokens = 0;
    const auto adopt = [&](const catalog::AdoptTopics& command) REQUIRES(mutex_) {
        const auto decision = decide(now, command);
        for (const catalog::AdoptTopicsResult::Topic& topic : decision.result.topics) {
            if (topic.error.failed()) {
                log::warning("recovery", "did not adopt a topic found in the data directory",
                             {{"topic", topic.name}, {"reason", topic.error.message.value_or("")}});
            }
            for (const std::string& name : topic.left_out_configs) {
                log::warning("recovery", "left out an unknown or invalid config of an adopted topic",
                             {{"topic", topic.name}, {"config", name}});
            }
        }
        left_out_acls += decision.result.left_out_acls;
        left_out_tokens += decision.result.left_out_tokens;
        return decision.effects.empty() || apply(nullptr, decision.effects, now);
    };
    bool is_written = adopt(found->command);
    if (is_written) {
        // Adopt producers that Kafka's metadata does not cover, and those of directories without metadata.
        catalog::AdoptTopics producers;
        topics_.table()->for_each([&](const logs::TopicState& topic) {
            for (const std::shared_ptr<logs::Partition>& partition : topic.partitions) {
                for (const ProducerSummary& producer : partition->log->active_producers()) {
                    if (!may_have_been_given(producer.producer_id)) {
                        continue;
                    }
                    producers.next_producer_id = std::max(producers.next_producer_id, ProducerId{producer.producer_id.value + 1});
                }
            }
        });
        is_written = adopt(producers);
    }
    if (!is_written) {
        return std::unexpected(StartError{"cannot write the catalog in " + place.directory +
                                          "; free some space or check the directory's permissions"});
    }
    for (const std::string& directory : found->missing) {
        log::warning("recovery", "a partition of Kafka's metadata is missing from the data directory",
                     {{"partition", directory}});
    }
    if (!found->command.topics.empty()) {
        log::info("recovery", "adopted topics from Kafka",
                  {{"topics", found->command.topics.size()},
                   {"settings", found->has_settings ? "as Kafka had them" : "unknown: nothing is deleted by retention"}});
    }
    if (!found->command.scram_credentials.empty()) {
        log::info("recovery", "adopted users from Kafka with their SCRAM credentials",
                  {{"users", found->command.scram_credentials.size()}});
    }
    if (!found->command.acls.empty()) {
        log::info("recovery", "adopted ACLs from Kafka", {{"acls", found->command.acls.size()}});
    }
    if (!found->command.delegation_tokens.empty()) {
        log::info("recovery", "adopted delegation tokens from Kafka", {{"tokens", found->command.delegation_tokens.size()}});
    }
    if (left_out_acls + left_out_tokens > 0) {
        log::warning("recovery", "left out some of Kafka's ACLs or delegation tokens",
                     {{"left_out_acls", left_out_acls}, {"left_out_tokens", left_out_tokens}});
    }
    return {};
}

std::expected<void, StartError> Catalog::load_topics(const Place& place, Now now) {
    const MutexLock lock(mutex_);
    const catalog::CatalogPointer catalog = core_.snapshot();
    auto dynamic = config_->with_dynamic(
        {.cluster_default = catalog->default_broker_configs(), .this_broker = catalog->broker_configs(config_->node_id)});
    if (!dynamic) {
        return std::unexpected(StartError{"cannot apply the dynamic broker configs: " + dynamic.error().message});
    }
    config_.replace(std::make_shared<const config::BrokerConfig>(std::move(*dynamic)));
    auto table = std::make_shared<logs::TopicTable>();
    table->catalog = catalog;
    for (const auto& [directory, error] : place.logs.open_report().failed) {
        const std::size_t dash = directory.rfind('-');
        if (catalog->find_topic(std::string_view(directory).substr(0, dash)) != nullptr) {
            return std::unexpected(
                StartError{"cannot open the partition " + directory + ": " + error.message + "; nothing in it was changed"});
        }
    }
    for (const catalog::Topic& topic : catalog->topics()) {
        auto state = states_.make(catalog->share_topic(topic.id), nullptr, now);
        if (!state) {
            return std::unexpected(StartError{"cannot open a partition of " + topic.name + ": " + state.error().message +
                                              "; nothing in it was changed"});
        }
        table->put(std::move(*state));
    }
    publish(std::move(table), now);
    states_.serve();
    if (auto removed = place.logs.remove_announced(); !removed) {
        log::warning("recovery", "cannot finish an interrupted deletion", {{"reason", removed.error().message}});
    }
    for (const LogDirectory::Unclaimed& unclaimed : place.logs.unclaimed()) {
        if (unclaimed.topic != catalog::kClusterMetadataTopicName) {
            log::warning("recovery", "left alone a directory that belongs to no topic of the catalog",
                         {{"directory", unclaimed.topic + "-" + std::to_string(unclaimed.partition.value)},
                          {"if_it_holds_records", "start once with --override partita.adopt.directories=true"}});
        }
    }
    return {};
}

}  // namespace partita::runtime
