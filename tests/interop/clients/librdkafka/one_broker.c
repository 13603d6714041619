/* librdkafka's tests make topics with three replicas, as their cluster has three brokers. Here is one: the linker leads their calls past
   this, so that their sources stay as they are. */
#include "rdkafka.h"

rd_kafka_NewTopic_t *__real_rd_kafka_NewTopic_new(const char *topic, int partitions, int replicas, char *error, size_t size);
rd_kafka_NewTopic_t *__wrap_rd_kafka_NewTopic_new(const char *topic, int partitions, int replicas, char *error, size_t size);

rd_kafka_NewTopic_t *__wrap_rd_kafka_NewTopic_new(const char *topic, int partitions, int replicas, char *error, size_t size) {
    return __real_rd_kafka_NewTopic_new(topic, partitions, replicas == 3 ? 1 : replicas, error, size);
}
