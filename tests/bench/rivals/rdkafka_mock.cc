// rdkafka_mock: librdkafka's mock cluster of one broker, as a separate process. It chooses its port and prints it, and makes a
// topic for every line NAME PARTITIONS of its standard input. It exits when its input ends.

#include <librdkafka/rdkafka.h>
#include <librdkafka/rdkafka_mock.h>

#include <cstdio>

int main() {
    char error[512];
    rd_kafka_t* const handle = rd_kafka_new(RD_KAFKA_PRODUCER, rd_kafka_conf_new(), error, sizeof error);
    if (handle == nullptr) {
        std::fprintf(stderr, "%s\n", error);
        return 1;
    }
    rd_kafka_mock_cluster_t* const cluster = rd_kafka_mock_cluster_new(handle, 1);
    if (cluster == nullptr) {
        std::fprintf(stderr, "no mock cluster\n");
        return 1;
    }
    std::printf("serving %s\n", rd_kafka_mock_cluster_bootstraps(cluster));
    std::fflush(stdout);
    char name[256];
    int partitions = 0;
    while (std::scanf("%255s %d", name, &partitions) == 2) {
        const rd_kafka_resp_err_t made = rd_kafka_mock_topic_create(cluster, name, partitions, 1);
        std::printf("topic %s: %s\n", name, rd_kafka_err2str(made));
        std::fflush(stdout);
    }
    rd_kafka_mock_cluster_destroy(cluster);
    rd_kafka_destroy(handle);
}
