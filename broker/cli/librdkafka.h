#pragma once

#include <librdkafka/rdkafka.h>

#include <expected>
#include <memory>
#include <string>

namespace partita::cli {

/// The functions of librdkafka, which is loaded only when a command needs it, so that the broker's start and size do not pay
/// for it. The build needs only its header.
///
/// Each member is the library's function of the same name without `rd_kafka_`.
struct Librdkafka {
    // clang-format off: a list, not calls.
#define PARTITA_LIBRDKAFKA_FUNCTIONS(FUNCTION)                                                                        \
    FUNCTION(conf_new) FUNCTION(conf_set) FUNCTION(conf_destroy) FUNCTION(destroy) FUNCTION(err2str)     \
    FUNCTION(conf_set_error_cb) FUNCTION(conf_set_opaque) FUNCTION(poll)                                               \
    FUNCTION(metadata) FUNCTION(metadata_destroy) FUNCTION(query_watermark_offsets) FUNCTION(offsets_for_times)        \
    FUNCTION(topic_partition_list_new) FUNCTION(topic_partition_list_add) FUNCTION(topic_partition_list_destroy)       \
    FUNCTION(assign) FUNCTION(queue_get_consumer) FUNCTION(queue_destroy) FUNCTION(consume_batch_queue)                \
    FUNCTION(message_destroy) FUNCTION(message_errstr) FUNCTION(list_groups) FUNCTION(group_list_destroy)              \
    FUNCTION(queue_new) FUNCTION(queue_poll) FUNCTION(event_destroy) FUNCTION(event_error) FUNCTION(event_error_string) \
    FUNCTION(ConfigResource_new) FUNCTION(ConfigResource_destroy) FUNCTION(DescribeConfigs)                            \
    FUNCTION(event_DescribeConfigs_result) FUNCTION(DescribeConfigs_result_resources) FUNCTION(ConfigResource_configs) \
    FUNCTION(clusterid) FUNCTION(mem_free) FUNCTION(ConfigResource_error) FUNCTION(ConfigEntry_name) FUNCTION(ConfigEntry_value)                              \
    FUNCTION(ListConsumerGroupOffsets_new) FUNCTION(ListConsumerGroupOffsets_destroy) FUNCTION(ListConsumerGroupOffsets) \
    FUNCTION(event_ListConsumerGroupOffsets_result) FUNCTION(ListConsumerGroupOffsets_result_groups)                   \
    FUNCTION(group_result_partitions) FUNCTION(group_result_error) FUNCTION(error_string)
    // clang-format on

#define PARTITA_DECLARE(name) decltype(&::rd_kafka_##name) name = nullptr;
    PARTITA_LIBRDKAFKA_FUNCTIONS(PARTITA_DECLARE)
#undef PARTITA_DECLARE
    /// rd_kafka_new, whose short name is a keyword of C++.
    decltype(&::rd_kafka_new) new_handle = nullptr;

    /// Loads the library. The error says what to install.
    [[nodiscard]] static std::expected<std::unique_ptr<Librdkafka>, std::string> load();
};

}  // namespace partita::cli
