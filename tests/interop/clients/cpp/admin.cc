#include "tests/interop/clients/cpp/admin.h"

#include <librdkafka/rdkafka.h>

#include <array>

#include "tests/interop/clients/cpp/library.h"

namespace admin {
namespace {

using agent::Failure;
using agent::Json;
using library::kTimeoutMs;

template <auto Destroy>
struct Destroys {
    template <class T>
    void operator()(T* object) const {
        Destroy(object);
    }
};
template <class T, auto Destroy>
using Owned = std::unique_ptr<T, Destroys<Destroy>>;

using Event = Owned<rd_kafka_event_t, rd_kafka_event_destroy>;
using Options = Owned<rd_kafka_AdminOptions_t, rd_kafka_AdminOptions_destroy>;
using Queue = Owned<rd_kafka_queue_t, rd_kafka_queue_destroy>;
using NewTopic = Owned<rd_kafka_NewTopic_t, rd_kafka_NewTopic_destroy>;
using NewPartitions = Owned<rd_kafka_NewPartitions_t, rd_kafka_NewPartitions_destroy>;
using DeleteTopic = Owned<rd_kafka_DeleteTopic_t, rd_kafka_DeleteTopic_destroy>;
using DeleteGroup = Owned<rd_kafka_DeleteGroup_t, rd_kafka_DeleteGroup_destroy>;
using DeleteRecords = Owned<rd_kafka_DeleteRecords_t, rd_kafka_DeleteRecords_destroy>;
using Places = Owned<rd_kafka_topic_partition_list_t, rd_kafka_topic_partition_list_destroy>;
using Resource = Owned<rd_kafka_ConfigResource_t, rd_kafka_ConfigResource_destroy>;

void check(rd_kafka_resp_err_t code, const char* text) {
    if (code != RD_KAFKA_RESP_ERR_NO_ERROR) {
        throw Failure(code, text != nullptr ? text : rd_kafka_err2str(code));
    }
}

void check(const rd_kafka_error_t* error) {
    if (error != nullptr) {
        throw Failure(rd_kafka_error_code(error), rd_kafka_error_string(error));
    }
}

/// A client for one call.
class Admin {
  public:
    Admin() : client_(library::make_producer(Json::object())), queue_(rd_kafka_queue_new(handle())) {}

    [[nodiscard]] rd_kafka_t* handle() { return client_->c_ptr(); }
    [[nodiscard]] RdKafka::Handle& client() { return *client_; }

    /// `begin` is given the handle, the options and the queue of a call. The event that answers it.
    template <class Begin>
    [[nodiscard]] Event call(Begin&& begin) {
        const Options options(rd_kafka_AdminOptions_new(handle(), RD_KAFKA_ADMIN_OP_ANY));
        std::array<char, 512> text{};
        check(rd_kafka_AdminOptions_set_request_timeout(options.get(), kTimeoutMs, text.data(), text.size()), text.data());
        begin(handle(), options.get(), queue_.get());
        Event event(rd_kafka_queue_poll(queue_.get(), 2 * kTimeoutMs));
        if (!event) {
            throw Failure(RD_KAFKA_RESP_ERR__TIMED_OUT, "no answer");
        }
        check(rd_kafka_event_error(event.get()), rd_kafka_event_error_string(event.get()));
        return event;
    }

  private:
    std::unique_ptr<RdKafka::Producer> client_;
    Queue queue_;
};

std::string topic_of(const Json& request) { return request.at("topic"); }

/// The result of the one topic that was asked about.
void check_topics(const rd_kafka_topic_result_t** results) {
    check(rd_kafka_topic_result_error(results[0]), rd_kafka_topic_result_error_string(results[0]));
}

Json create_topic(const Json& request) {
    Admin admin;
    const NewTopic topic(rd_kafka_NewTopic_new(topic_of(request).c_str(), request.at("partitions"), 1, nullptr, 0));
    const Json configs = request.value("configs", Json::object());
    for (const auto& [name, value] : configs.items()) {
        rd_kafka_NewTopic_set_config(topic.get(), name.c_str(), value.get<std::string>().c_str());
    }
    rd_kafka_NewTopic_t* topics[] = {topic.get()};
    const Event event =
        admin.call([&](auto* client, auto* options, auto* queue) { rd_kafka_CreateTopics(client, topics, 1, options, queue); });
    std::size_t count = 0;
    check_topics(rd_kafka_CreateTopics_result_topics(rd_kafka_event_CreateTopics_result(event.get()), &count));
    return Json::object();
}

Json create_partitions(const Json& request) {
    Admin admin;
    std::array<char, 512> text{};
    const NewPartitions wanted(
        rd_kafka_NewPartitions_new(topic_of(request).c_str(), request.at("count"), text.data(), text.size()));
    if (!wanted) {
        throw Failure(-1, text.data());
    }
    rd_kafka_NewPartitions_t* all[] = {wanted.get()};
    const Event event =
        admin.call([&](auto* client, auto* options, auto* queue) { rd_kafka_CreatePartitions(client, all, 1, options, queue); });
    std::size_t count = 0;
    check_topics(rd_kafka_CreatePartitions_result_topics(rd_kafka_event_CreatePartitions_result(event.get()), &count));
    return Json::object();
}

Json delete_topic(const Json& request) {
    Admin admin;
    const DeleteTopic topic(rd_kafka_DeleteTopic_new(topic_of(request).c_str()));
    rd_kafka_DeleteTopic_t* topics[] = {topic.get()};
    const Event event =
        admin.call([&](auto* client, auto* options, auto* queue) { rd_kafka_DeleteTopics(client, topics, 1, options, queue); });
    std::size_t count = 0;
    check_topics(rd_kafka_DeleteTopics_result_topics(rd_kafka_event_DeleteTopics_result(event.get()), &count));
    return Json::object();
}

Json delete_records(const Json& request) {
    Admin admin;
    const Places places(rd_kafka_topic_partition_list_new(1));
    rd_kafka_topic_partition_list_add(places.get(), topic_of(request).c_str(), request.at("partition"))->offset =
        request.at("offset");
    const DeleteRecords wanted(rd_kafka_DeleteRecords_new(places.get()));
    rd_kafka_DeleteRecords_t* all[] = {wanted.get()};
    const Event event =
        admin.call([&](auto* client, auto* options, auto* queue) { rd_kafka_DeleteRecords(client, all, 1, options, queue); });
    const rd_kafka_topic_partition_t& answer =
        rd_kafka_DeleteRecords_result_offsets(rd_kafka_event_DeleteRecords_result(event.get()))->elems[0];
    check(answer.err, nullptr);
    return {{"low_watermark", answer.offset}};
}

Resource topic_resource(const Json& request) {
    return Resource(rd_kafka_ConfigResource_new(RD_KAFKA_RESOURCE_TOPIC, topic_of(request).c_str()));
}

const rd_kafka_ConfigResource_t* checked(const rd_kafka_ConfigResource_t** resources) {
    check(rd_kafka_ConfigResource_error(resources[0]), rd_kafka_ConfigResource_error_string(resources[0]));
    return resources[0];
}

Json topic_config(const Json& request) {
    Admin admin;
    const Resource topic = topic_resource(request);
    rd_kafka_ConfigResource_t* all[] = {topic.get()};
    const Event event =
        admin.call([&](auto* client, auto* options, auto* queue) { rd_kafka_DescribeConfigs(client, all, 1, options, queue); });
    std::size_t count = 0;
    const auto* found =
        checked(rd_kafka_DescribeConfigs_result_resources(rd_kafka_event_DescribeConfigs_result(event.get()), &count));
    const rd_kafka_ConfigEntry_t** entries = rd_kafka_ConfigResource_configs(found, &count);
    for (std::size_t i = 0; i < count; ++i) {
        if (rd_kafka_ConfigEntry_name(entries[i]) == request.at("config").get<std::string>()) {
            return {{"value", rd_kafka_ConfigEntry_value(entries[i])}};
        }
    }
    return {{"value", nullptr}};
}

Json set_topic_config(const Json& request) {
    Admin admin;
    const Resource topic = topic_resource(request);
    rd_kafka_ConfigResource_set_config(topic.get(), request.at("config").get<std::string>().c_str(),
                                       request.at("value").get<std::string>().c_str());
    rd_kafka_ConfigResource_t* all[] = {topic.get()};
    const Event event =
        admin.call([&](auto* client, auto* options, auto* queue) { rd_kafka_AlterConfigs(client, all, 1, options, queue); });
    std::size_t count = 0;
    checked(rd_kafka_AlterConfigs_result_resources(rd_kafka_event_AlterConfigs_result(event.get()), &count));
    return Json::object();
}

Json list_topics(const Json&) {
    Admin admin;
    RdKafka::Metadata* raw = nullptr;
    library::check(admin.client().metadata(true, nullptr, &raw, kTimeoutMs));
    const std::unique_ptr<RdKafka::Metadata> metadata(raw);
    Json names = Json::array();
    for (const RdKafka::TopicMetadata* topic : *metadata->topics()) {
        names.push_back(topic->topic());
    }
    return {{"topics", names}};
}

Json list_groups(const Json&) {
    Admin admin;
    const Event event =
        admin.call([&](auto* client, auto* options, auto* queue) { rd_kafka_ListConsumerGroups(client, options, queue); });
    std::size_t count = 0;
    const auto** groups = rd_kafka_ListConsumerGroups_result_valid(rd_kafka_event_ListConsumerGroups_result(event.get()), &count);
    Json names = Json::array();
    for (std::size_t i = 0; i < count; ++i) {
        names.push_back(rd_kafka_ConsumerGroupListing_group_id(groups[i]));
    }
    return {{"groups", names}};
}

Json describe_group(const Json& request) {
    Admin admin;
    const std::string name = request.at("group");
    const char* names[] = {name.c_str()};
    const Event event = admin.call(
        [&](auto* client, auto* options, auto* queue) { rd_kafka_DescribeConsumerGroups(client, names, 1, options, queue); });
    std::size_t count = 0;
    const auto** groups =
        rd_kafka_DescribeConsumerGroups_result_groups(rd_kafka_event_DescribeConsumerGroups_result(event.get()), &count);
    check(rd_kafka_ConsumerGroupDescription_error(groups[0]));
    return {{"state", rd_kafka_consumer_group_state_name(rd_kafka_ConsumerGroupDescription_state(groups[0]))},
            {"members", rd_kafka_ConsumerGroupDescription_member_count(groups[0])}};
}

Json delete_group(const Json& request) {
    Admin admin;
    const DeleteGroup group(rd_kafka_DeleteGroup_new(request.at("group").get<std::string>().c_str()));
    rd_kafka_DeleteGroup_t* groups[] = {group.get()};
    const Event event =
        admin.call([&](auto* client, auto* options, auto* queue) { rd_kafka_DeleteGroups(client, groups, 1, options, queue); });
    std::size_t count = 0;
    check(rd_kafka_group_result_error(
        rd_kafka_DeleteGroups_result_groups(rd_kafka_event_DeleteGroups_result(event.get()), &count)[0]));
    return Json::object();
}

}  // namespace

void add_calls(agent::Operations& operations) {
    operations.calls.insert({{"create_topic", create_topic},
                             {"create_partitions", create_partitions},
                             {"delete_topic", delete_topic},
                             {"delete_records", delete_records},
                             {"topic_config", topic_config},
                             {"set_topic_config", set_topic_config},
                             {"list_topics", list_topics},
                             {"list_groups", list_groups},
                             {"describe_group", describe_group},
                             {"delete_group", delete_group}});
}

}  // namespace admin
