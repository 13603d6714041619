// DELETE /v1/everything    makes the cluster as it was at the first start: no topic but those of `partita.create.topics`, no
// group,
//                          offset, transaction, quota, ACL, dynamic config, finding or fault
//
// Connections stay, and so do users, tokens, features, the clock and the ids that the broker has given out. All of it is done by
// requests of the caller (local_requests.h), in one turn of the first reactor. A broker without a test bench answers 404.

#include <cstdint>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "broker/addons/faults/http/resources.h"
#include "broker/addons/faults/shell/brokers.h"
#include "broker/addons/faults/shell/faults.h"
#include "broker/addons/faults/shell/first_topics.h"
#include "broker/catalog/catalog.h"
#include "broker/config/config_definition.h"
#include "broker/handlers/extensions.h"
#include "broker/handlers/services.h"
#include "broker/http/broker_identity.h"
#include "broker/http/kafka_errors.h"
#include "broker/http/local_requests.h"
#include "broker/insight/hub/findings_hub.h"
#include "broker/logs/placement.h"
#include "broker/logs/topic_table.h"
#include "broker/logs/turns.h"
#include "broker/runtime/coordinators/group_shards.h"
#include "protocol/messages/20_delete_topics.h"
#include "protocol/messages/31_delete_acls.h"
#include "protocol/messages/32_describe_configs.h"
#include "protocol/messages/44_incremental_alter_configs.h"
#include "protocol/messages/48_describe_client_quotas.h"
#include "protocol/messages/49_alter_client_quotas.h"
#include "protocol/messages/74_list_config_resources.h"

namespace partita::faults {
namespace {

using catalog::ConfigResourceType;
using config::ConfigSource;
using http::Exchange;
using http::ExchangePointer;
using http::respond_error;
using http::respond_json;
using http::Status;
using http::Surroundings;
using nlohmann::ordered_json;

constexpr std::int32_t kTimeoutMs = 30'000;
/// The numbers of Kafka's requests: any kind, name, operation and permission of an ACL; the operations on a config.
constexpr std::int8_t kAnyAcl = 1;
constexpr std::int8_t kSetConfig = 0;
constexpr std::int8_t kDeleteConfig = 1;

/// Removes one kind of thing after the other, until a request is refused.
class Removal {
  public:
    Removal(const Surroundings& surroundings, const ExchangePointer& exchange)
        : surroundings_(surroundings), services_(surroundings.services), exchange_(exchange) {}

    void run() {
        removed_["groups"] = services_.coordinators.groups.group_count();
        remove_topics();
        remove_quotas();
        remove_configs();
        // Last, because the caller may have its permissions from them.
        remove_acls();
        if (!is_refused_) {
            finish();
        }
    }

  private:
    template <class Response, class Request, class Then>
    void ask(const Request& request, Then then) {
        if (!is_refused_) {
            surroundings_.local_requests.ask<Response>(exchange_, request, std::move(then));
        }
    }
    /// Answers the caller at the first error.
    void check(ErrorCode error, std::optional<std::string_view> message, std::string_view subject) {
        if (error != ErrorCode::none && !std::exchange(is_refused_, true)) {
            http::respond_kafka_error(*exchange_, error,
                                      "cannot remove " + std::string(subject) + ": " + std::string(message.value_or("")) +
                                          (removed_.empty() ? "" : "; what was removed before is gone: " + removed_.dump()));
        }
    }

    /// With their topics, groups, offsets and transactions go.
    void remove_topics() {
        std::vector<std::string> names;
        const auto table = services_.topics.table();
        for (const catalog::Topic& topic : table->catalog->topics()) {
            names.push_back(topic.name);
        }
        std::vector<DeleteTopicsRequest::DeleteTopicState> topics(names.size());
        for (std::size_t i = 0; i < names.size(); ++i) {
            topics[i].name = names[i];
        }
        if (!topics.empty()) {
            ask<DeleteTopicsResponse>(
                DeleteTopicsRequest{.topics = topics, .timeout_ms = kTimeoutMs}, [this](const DeleteTopicsResponse& answer) {
                    for (const auto& topic : answer.responses) {
                        check(topic.error_code, topic.error_message, "topic " + std::string(topic.name.value_or("")));
                    }
                });
        }
        removed_["topics"] = names.size();
    }

    void remove_quotas() {
        std::size_t removed = 0;
        ask<DescribeClientQuotasResponse>(DescribeClientQuotasRequest{}, [&](const DescribeClientQuotasResponse& answer) {
            check(answer.error_code, answer.error_message, "quotas");
            removed = answer.entries.count();
            // The second request lives within the first one's answer.
            std::vector<std::vector<AlterClientQuotasRequest::EntityData>> entities(answer.entries.count());
            std::vector<std::vector<AlterClientQuotasRequest::OpData>> removals(answer.entries.count());
            std::vector<AlterClientQuotasRequest::EntryData> entries(answer.entries.count());
            for (std::size_t i = 0; i < answer.entries.count(); ++i) {
                for (const auto& entity : answer.entries[i].entity) {
                    entities[i].push_back({.entity_type = entity.entity_type, .entity_name = entity.entity_name});
                }
                for (const auto& value : answer.entries[i].values) {
                    removals[i].push_back({.key = value.key, .remove = true});
                }
                entries[i] = {.entity = entities[i], .ops = removals[i]};
            }
            if (!entries.empty()) {
                ask<AlterClientQuotasResponse>(AlterClientQuotasRequest{.entries = entries},
                                               [this](const AlterClientQuotasResponse& altered) {
                                                   for (const auto& entry : altered.entries) {
                                                       check(entry.error_code, entry.error_message, "a quota");
                                                   }
                                               });
            }
        });
        removed_["quotas"] = removed;
    }

    /// Configs of brokers, of groups, and of what clients shall report.
    void remove_configs() {
        struct Resource {
            ConfigResourceType type;
            std::string name;
        };
        std::vector<Resource> resources = {{ConfigResourceType::broker, ""},
                                           {ConfigResourceType::broker, std::to_string(services_.placement.own().value)}};
        std::int8_t listed[] = {static_cast<std::int8_t>(ConfigResourceType::client_metrics),
                                static_cast<std::int8_t>(ConfigResourceType::group)};
        ask<ListConfigResourcesResponse>(ListConfigResourcesRequest{.resource_types = std::span<std::int8_t>(listed)},
                                         [&](const ListConfigResourcesResponse& answer) {
                                             check(answer.error_code, std::nullopt, "configs");
                                             for (const auto& resource : answer.config_resources) {
                                                 resources.push_back({static_cast<ConfigResourceType>(resource.resource_type),
                                                                      std::string(resource.resource_name)});
                                             }
                                         });
        std::vector<DescribeConfigsRequest::DescribeConfigsResource> described(resources.size());
        for (std::size_t i = 0; i < resources.size(); ++i) {
            described[i] = {.resource_type = static_cast<std::int8_t>(resources[i].type), .resource_name = resources[i].name};
            described[i].configuration_keys = nullptr;
        }
        std::size_t removed = 0;
        ask<DescribeConfigsResponse>(
            DescribeConfigsRequest{.resources = described, .include_synonyms = true}, [&](const DescribeConfigsResponse& answer) {
                std::vector<std::vector<IncrementalAlterConfigsRequest::AlterableConfig>> configs(answer.results.count());
                std::vector<IncrementalAlterConfigsRequest::AlterConfigsResource> altered;
                for (std::size_t i = 0; i < answer.results.count(); ++i) {
                    const auto& resource = answer.results[i];
                    check(resource.error_code, resource.error_message, "configs");
                    for (const auto& config : resource.configs) {
                        if (!is_set_on(resource, static_cast<ConfigSource>(config.config_source))) {
                            continue;
                        }
                        const auto first = first_value(config.name, answer);
                        if (first != config.value) {
                            configs[i].push_back(
                                {.name = config.name, .config_operation = first ? kSetConfig : kDeleteConfig, .value = first});
                        }
                    }
                    if (!configs[i].empty()) {
                        removed += configs[i].size();
                        altered.push_back({.resource_type = resource.resource_type,
                                           .resource_name = resource.resource_name,
                                           .configs = configs[i]});
                    }
                }
                if (!altered.empty()) {
                    ask<IncrementalAlterConfigsResponse>(IncrementalAlterConfigsRequest{.resources = altered},
                                                         [this](const IncrementalAlterConfigsResponse& done) {
                                                             for (const auto& resource : done.responses) {
                                                                 check(resource.error_code, resource.error_message,
                                                                       "configs of " + std::string(resource.resource_name));
                                                             }
                                                         });
                }
            });
        removed_["configs"] = removed;
    }
    /// The value that the config is to have; null if it is to be removed. Kafka sets `min.insync.replicas` of the cluster at its
    /// first start, and lets nobody remove it (KIP-966): it gets the value of the broker's file or Kafka's default, which only
    /// the broker's own resource shows.
    [[nodiscard]] static std::optional<std::string_view> first_value(std::string_view config,
                                                                     const DescribeConfigsResponse& all) {
        if (config != "min.insync.replicas") {
            return std::nullopt;
        }
        for (const auto& resource : all.results) {
            for (const auto& one : resource.configs) {
                for (const auto& synonym : one.synonyms) {
                    const auto source = static_cast<ConfigSource>(synonym.source);
                    if (one.name == config &&
                        (source == ConfigSource::static_broker_config || source == ConfigSource::default_config)) {
                        return synonym.value;
                    }
                }
            }
        }
        return std::nullopt;
    }
    /// A broker also shows the defaults of all brokers, which belong to the resource without a name.
    [[nodiscard]] static bool is_set_on(const DescribeConfigsResponse::DescribeConfigsResult& resource, ConfigSource source) {
        switch (source) {
            case ConfigSource::dynamic_default_broker_config:
                return resource.resource_name.empty();
            case ConfigSource::dynamic_broker_config:
            case ConfigSource::client_metrics_config:
            case ConfigSource::group_config:
                return true;
            case ConfigSource::unknown:
            case ConfigSource::topic_config:
            case ConfigSource::static_broker_config:
            case ConfigSource::default_config:
            case ConfigSource::dynamic_broker_logger_config:
                return false;
        }
        return false;
    }

    void remove_acls() {
        DeleteAclsRequest::DeleteAclsFilter all{.resource_type_filter = kAnyAcl,
                                                .resource_name_filter = std::nullopt,
                                                .pattern_type_filter = kAnyAcl,
                                                .principal_filter = std::nullopt,
                                                .host_filter = std::nullopt,
                                                .operation = kAnyAcl,
                                                .permission_type = kAnyAcl};
        ask<DeleteAclsResponse>(DeleteAclsRequest{.filters = {&all, 1}}, [this](const DeleteAclsResponse& answer) {
            for (const auto& result : answer.filter_results) {
                if (result.error_code == ErrorCode::security_disabled) {
                    return;  // A broker without an authorizer has none.
                }
                check(result.error_code, result.error_message, "ACLs");
                removed_["acls"] = result.matching_acls.count();
                for (const auto& acl : result.matching_acls) {
                    check(acl.error_code, acl.error_message, "an ACL");
                }
            }
        });
    }

    void finish() {
        const Now now = services_.turns.first().now();
        if (Faults* const faults = services_.extensions.parts.find<Faults>()) {
            removed_["faults"] = faults->list().size();
            faults->clear();
        }
        if (Brokers* const brokers = services_.extensions.parts.find<Brokers>()) {
            brokers->revive_all();
        }
        removed_["findings"] = services_.insight.findings.forget(now.wall);
        if (const auto made = services_.extensions.parts.get<FirstTopics>().make(now); !made) {
            respond_error(*exchange_, Status::internal_error, made.error().message);
            return;
        }
        ordered_json object = surroundings_.identity.begin_answer();
        object["removed"] = std::move(removed_);
        respond_json(*exchange_, object);
    }

    const Surroundings& surroundings_;
    const runtime::Services& services_;
    const ExchangePointer& exchange_;
    bool is_refused_ = false;
    ordered_json removed_ = ordered_json::object();
};

}  // namespace

void remove_everything(const Surroundings& surroundings, const ExchangePointer& exchange) {
    if (surroundings.services.extensions.parts.find<FirstTopics>() == nullptr) {
        refuse_without_bench(*exchange);
        return;
    }
    Removal(surroundings, exchange).run();
}

}  // namespace partita::faults
