#include "broker/addons/faults/core/request_names.h"

#include <algorithm>

#include "protocol/codec_member.h"
#include "protocol/messages/01_fetch.h"
#include "protocol/messages/03_metadata.h"
#include "protocol/messages/75_describe_topic_partitions.h"

namespace partita::faults {
namespace {

using codec_detail::as;
using codec_detail::member;
using codec_detail::text_of;
using codec_detail::value_size;

bool is_one_of(std::string_view name, std::initializer_list<std::string_view> names) {
    return std::ranges::find(names, name) != names.end();
}

class Collector {
  public:
    explicit Collector(std::int16_t version) : version_(version) {}

    /// `list`: the list of the message in which this struct stands; empty for the message itself.
    void look(const Schema& schema, const void* message, std::string_view list, RequestNames::Partition topic) {
        const bool lists_topics = list.starts_with("Topic") || list == "ForgottenTopicsData";
        bool is_topic = false;
        bool has_partitions = false;
        for (const Field& field : schema.fields) {
            if (!field.versions.contains(version_) || field.is_array) {
                continue;
            }
            const void* place = member(message, field);
            if (field.kind == Kind::string || field.kind == Kind::nullable_string) {
                const bool is_sought = field.name == "Key" && schema.name == "FindCoordinatorRequest";
                if (is_sought || is_one_of(field.name, {"GroupId", "TransactionalId"})) {
                    add_group(text_of(field.kind, place).value_or(std::string_view()));
                } else if (field.name == "Topic" || field.name == "TopicName" || (field.name == "Name" && lists_topics)) {
                    topic.topic = text_of(field.kind, place).value_or(std::string_view());
                    is_topic = true;
                }
            } else if (field.kind == Kind::uuid && field.name == "TopicId") {
                topic.topic_id = as<Uuid>(place);
                is_topic = true;
            } else if (field.kind == Kind::int32 && is_one_of(field.name, {"Partition", "PartitionIndex", "Index"})) {
                topic.partition = as<std::int32_t>(place);
                is_topic = true;
            }
        }
        for (const Field& field : schema.fields) {
            if (!field.versions.contains(version_) || !field.is_array) {
                continue;
            }
            const auto array = as<ArrayBase>(member(message, field));
            const auto* element = static_cast<const std::byte*>(array.data);
            const std::size_t step = value_size(field.kind, field.nested);
            for (std::int32_t index = 0; index < array.size; ++index, element += step) {
                if (field.kind == Kind::structure) {
                    const bool is_of_topic = is_topic && field.name.starts_with("Partition");
                    has_partitions = has_partitions || is_of_topic;
                    look(*field.nested, element, field.name, topic);
                } else if (field.kind == Kind::int32 && field.name.starts_with("Partition")) {
                    has_partitions = true;
                    topic.partition = as<std::int32_t>(element);
                    add_partition(topic);
                } else if (field.kind == Kind::string) {
                    const auto text = as<std::string_view>(element);
                    if (field.name.starts_with("Topic")) {
                        add_partition({.topic = text, .topic_id = {}, .partition = std::nullopt});
                    } else if (is_one_of(field.name,
                                         {"Groups", "GroupIds", "GroupsNames", "CoordinatorKeys", "TransactionalIds"})) {
                        add_group(text);
                    }
                }
            }
        }
        if (is_topic && !has_partitions) {
            add_partition(topic);
        }
    }

    [[nodiscard]] RequestNames take() { return std::move(names_); }

  private:
    void add_group(std::string_view name) {
        if (!name.empty() && names_.groups.size() < RequestNames::kNamesMax) {
            names_.groups.push_back(name);
        }
    }
    void add_partition(const RequestNames::Partition& partition) {
        if (names_.partitions.size() < RequestNames::kNamesMax) {
            names_.partitions.push_back(partition);
        }
    }

    std::int16_t version_;
    RequestNames names_;
};

}  // namespace

RequestNames names_in(const Schema& schema, std::int16_t version, const void* request) {
    Collector collector(version);
    collector.look(schema, request, "", {});
    return collector.take();
}

bool names_incompletely(ApiKey api, std::int16_t version, const void* request) {
    if (api == ApiKey::fetch) {
        return static_cast<const FetchRequest*>(request)->session_epoch > 0;
    }
    if (api == ApiKey::metadata) {
        // Version 0 has no null.
        const auto& topics = static_cast<const MetadataRequest*>(request)->topics;
        return topics.is_null() || (version == 0 && topics.empty());
    }
    return api == ApiKey::describe_topic_partitions &&
           static_cast<const DescribeTopicPartitionsRequest*>(request)->topics.empty();
}

bool names_ids(ApiKey api, const void* request) {
    return api == ApiKey::metadata && std::ranges::any_of(static_cast<const MetadataRequest*>(request)->topics,
                                                          [](const auto& topic) { return !topic.topic_id.is_zero(); });
}

}  // namespace partita::faults
