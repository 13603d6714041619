// rdkafka_client produce|consume PORT TOPIC PARTITIONS RECORDS RECORD_BYTES: what a program sees that uses librdkafka with its
// defaults. Prints {"records": N, "seconds": S}; ends with 1 when a record was not acknowledged or did not come.

#include <librdkafka/rdkafka.h>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>
#include <string>
#include <vector>

namespace {

constexpr std::size_t kBytesOfDifferentRecords = 64'000'000;  // More than any cache holds.
constexpr int kPatienceMs = 60'000;
constexpr std::size_t kRecordsOfOnePoll = 10'000;

[[noreturn]] void give_up(const std::string& what) {
    std::fprintf(stderr, "rdkafka_client: %s\n", what.c_str());
    std::exit(1);
}

struct Delivered {
    long acknowledged = 0;
    long failed = 0;
};

void on_delivery(rd_kafka_t*, const rd_kafka_message_t* message, void* opaque) {
    auto& delivered = *static_cast<Delivered*>(opaque);
    ++(message->err == RD_KAFKA_RESP_ERR_NO_ERROR ? delivered.acknowledged : delivered.failed);
}

rd_kafka_t* make_client(rd_kafka_type_t type, const std::string& port,
                        const std::vector<std::pair<const char*, std::string>>& more, Delivered* delivered) {
    char error[512];
    rd_kafka_conf_t* const conf = rd_kafka_conf_new();
    std::vector<std::pair<const char*, std::string>> settings{{"bootstrap.servers", "127.0.0.1:" + port}};
    settings.insert(settings.end(), more.begin(), more.end());
    for (const auto& [name, value] : settings) {
        if (rd_kafka_conf_set(conf, name, value.c_str(), error, sizeof error) != RD_KAFKA_CONF_OK) give_up(error);
    }
    if (delivered != nullptr) {
        rd_kafka_conf_set_dr_msg_cb(conf, on_delivery);
        rd_kafka_conf_set_opaque(conf, delivered);
    }
    rd_kafka_t* const client = rd_kafka_new(type, conf, error, sizeof error);
    if (client == nullptr) give_up(error);
    return client;
}

void produce(const std::string& port, const char* topic, long records, std::size_t record_bytes) {
    Delivered delivered;
    rd_kafka_t* const client = make_client(RD_KAFKA_PRODUCER, port, {{"queue.buffering.max.messages", "1000000"}}, &delivered);
    rd_kafka_topic_t* const handle = rd_kafka_topic_new(client, topic, nullptr);
    const std::size_t different = kBytesOfDifferentRecords / record_bytes;
    std::vector<char> values(different * record_bytes);
    std::mt19937_64 random;  // Nothing for a compressor.
    for (std::size_t i = 0; i + sizeof(std::uint64_t) <= values.size(); i += sizeof(std::uint64_t)) {
        const std::uint64_t number = random();
        std::memcpy(values.data() + i, &number, sizeof number);
    }
    for (long sent = 0; sent < records;) {
        char* const value = values.data() + static_cast<std::size_t>(sent) % different * record_bytes;
        if (rd_kafka_produce(handle, RD_KAFKA_PARTITION_UA, 0, value, record_bytes, nullptr, 0, nullptr) == 0) {
            ++sent;
            if (sent % 1000 == 0) rd_kafka_poll(client, 0);
        } else if (rd_kafka_last_error() == RD_KAFKA_RESP_ERR__QUEUE_FULL) {
            rd_kafka_poll(client, 10);
        } else {
            give_up(rd_kafka_err2str(rd_kafka_last_error()));
        }
    }
    rd_kafka_flush(client, kPatienceMs);
    if (delivered.acknowledged != records) {
        give_up(std::to_string(delivered.acknowledged) + " acknowledged, " + std::to_string(delivered.failed) + " failed");
    }
    rd_kafka_topic_destroy(handle);
    rd_kafka_destroy(client);
}

void consume(const std::string& port, const char* topic, int partitions, long records, std::size_t record_bytes) {
    rd_kafka_t* const client =
        make_client(RD_KAFKA_CONSUMER, port, {{"group.id", "users"}, {"enable.auto.commit", "false"}}, nullptr);
    rd_kafka_poll_set_consumer(client);
    rd_kafka_topic_partition_list_t* const all = rd_kafka_topic_partition_list_new(partitions);
    for (int i = 0; i < partitions; ++i) rd_kafka_topic_partition_list_add(all, topic, i)->offset = 0;
    rd_kafka_assign(client, all);
    rd_kafka_topic_partition_list_destroy(all);
    rd_kafka_queue_t* const queue = rd_kafka_queue_get_consumer(client);
    std::vector<rd_kafka_message_t*> some(kRecordsOfOnePoll);
    for (long seen = 0; seen < records;) {
        const ssize_t count = rd_kafka_consume_batch_queue(queue, kPatienceMs, some.data(), some.size());
        if (count <= 0) give_up("no more records after " + std::to_string(seen));
        for (ssize_t i = 0; i < count; ++i) {
            rd_kafka_message_t* const message = some[static_cast<std::size_t>(i)];
            if (message->err != RD_KAFKA_RESP_ERR_NO_ERROR) give_up(rd_kafka_message_errstr(message));
            if (message->len != record_bytes) give_up("a record of another size");
            rd_kafka_message_destroy(message);
        }
        seen += count;
    }
    rd_kafka_queue_destroy(queue);
    rd_kafka_consumer_close(client);
    rd_kafka_destroy(client);
}

}  // namespace

int main(int count, char** values) {
    if (count != 7) {
        std::fprintf(stderr, "usage: rdkafka_client produce|consume PORT TOPIC PARTITIONS RECORDS RECORD_BYTES\n");
        return 2;
    }
    const long records = std::atol(values[5]);
    const auto record_bytes = static_cast<std::size_t>(std::atol(values[6]));
    const auto began = std::chrono::steady_clock::now();
    if (std::string(values[1]) == "produce") {
        produce(values[2], values[3], records, record_bytes);
    } else {
        consume(values[2], values[3], std::atoi(values[4]), records, record_bytes);
    }
    const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - began;
    std::printf("{\"records\": %ld, \"seconds\": %.6f}\n", records, passed.count());
}
