// rdkafka_client produce|consume PORT TOPIC PARTITIONS RECORDS RECORD_BYTES: what a program sees that uses librdkafka with its
// defaults. Prints {"records": N, "seconds": S}; ends with 1 when a record was not acknowledged or did not come.
//
// rdkafka_client idempotent|rhythm|exchange|transactional PORT TOPIC PARTITIONS RECORDS RECORD_BYTES RECORDS_OF_PART: an
// idempotent producer that waits at its end; one that waits for each part; one that also sends the last record of each part
// behind the others, and waits for it; one that commits each part. The clock begins when a first part is acknowledged. Prints the
// same, how many records were written in all, and, where parts are waited for, the median of their times:
// {"records": N, "seconds": S, "written": N + RECORDS_OF_PART, "part_p50_us": U}.

#include <librdkafka/rdkafka.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace {

using Clock = std::chrono::steady_clock;
using Settings = std::vector<std::pair<const char*, std::string>>;

constexpr std::size_t kBytesOfDifferentRecords = 64'000'000;  // More than any cache holds.
constexpr int kPatienceMs = 60'000;
constexpr std::size_t kRecordsOfOnePoll = 10'000;

[[noreturn]] void give_up(const std::string& what) {
    std::fprintf(stderr, "rdkafka_client: %s\n", what.c_str());
    std::exit(1);
}

double seconds_since(Clock::time_point began) { return std::chrono::duration<double>(Clock::now() - began).count(); }

struct Delivered {
    long acknowledged = 0;
    long failed = 0;
};

void on_delivery(rd_kafka_t*, const rd_kafka_message_t* message, void* opaque) {
    auto& delivered = *static_cast<Delivered*>(opaque);
    ++(message->err == RD_KAFKA_RESP_ERR_NO_ERROR ? delivered.acknowledged : delivered.failed);
}

rd_kafka_t* make_client(rd_kafka_type_t type, const std::string& port, const Settings& more, Delivered* delivered) {
    char error[512];
    rd_kafka_conf_t* const conf = rd_kafka_conf_new();
    Settings settings{{"bootstrap.servers", "127.0.0.1:" + port}};
    settings.insert(settings.end(), more.begin(), more.end());
    for (const auto& [name, value] : settings) {
        if (rd_kafka_conf_set(conf, name, value.c_str(), error, sizeof error) != RD_KAFKA_CONF_OK) {
            give_up(error);
        }
    }
    if (delivered != nullptr) {
        rd_kafka_conf_set_dr_msg_cb(conf, on_delivery);
        rd_kafka_conf_set_opaque(conf, delivered);
    }
    rd_kafka_t* const client = rd_kafka_new(type, conf, error, sizeof error);
    if (client == nullptr) {
        give_up(error);
    }
    return client;
}

/// A producer of values that a compressor cannot shorten, more of them than any cache holds.
class Producer {
  public:
    Producer(const std::string& port, const char* topic, std::size_t record_bytes, Settings settings)
        : record_bytes_(record_bytes), different_(kBytesOfDifferentRecords / record_bytes), values_(different_ * record_bytes) {
        settings.emplace_back("queue.buffering.max.messages", "1000000");
        client_ = make_client(RD_KAFKA_PRODUCER, port, settings, &delivered_);
        handle_ = rd_kafka_topic_new(client_, topic, nullptr);
        std::mt19937_64 random;
        for (std::size_t i = 0; i + sizeof(std::uint64_t) <= values_.size(); i += sizeof(std::uint64_t)) {
            const std::uint64_t number = random();
            std::memcpy(values_.data() + i, &number, sizeof number);
        }
    }
    Producer(const Producer&) = delete;
    Producer& operator=(const Producer&) = delete;
    ~Producer() {
        rd_kafka_topic_destroy(handle_);
        rd_kafka_destroy(client_);
    }

    /// Hands over `records` more records.
    void send(long records) {
        for (const long end = sent_ + records; sent_ < end;) {
            char* const value = values_.data() + static_cast<std::size_t>(sent_) % different_ * record_bytes_;
            if (rd_kafka_produce(handle_, RD_KAFKA_PARTITION_UA, 0, value, record_bytes_, nullptr, 0, nullptr) == 0) {
                ++sent_;
                if (sent_ % 1000 == 0) {
                    rd_kafka_poll(client_, 0);
                }
            } else if (rd_kafka_last_error() == RD_KAFKA_RESP_ERR__QUEUE_FULL) {
                rd_kafka_poll(client_, 10);
            } else {
                give_up(rd_kafka_err2str(rd_kafka_last_error()));
            }
        }
    }

    /// Waits until all that was sent is acknowledged.
    void wait() {
        rd_kafka_flush(client_, kPatienceMs);
        check_delivered();
    }

    void init_transactions() { check(rd_kafka_init_transactions(client_, kPatienceMs)); }
    void begin_transaction() { check(rd_kafka_begin_transaction(client_)); }
    void commit_transaction() {
        check(rd_kafka_commit_transaction(client_, kPatienceMs));
        check_delivered();
    }

  private:
    static void check(rd_kafka_error_t* error) {
        if (error != nullptr) {
            give_up(rd_kafka_error_string(error));
        }
    }
    void check_delivered() const {
        if (delivered_.acknowledged != sent_) {
            give_up(std::to_string(delivered_.acknowledged) + " acknowledged, " + std::to_string(delivered_.failed) + " failed");
        }
    }

    std::size_t record_bytes_;
    std::size_t different_;
    std::vector<char> values_;
    Delivered delivered_;
    rd_kafka_t* client_ = nullptr;
    rd_kafka_topic_t* handle_ = nullptr;
    long sent_ = 0;
};

void produce(const std::string& port, const char* topic, long records, std::size_t record_bytes) {
    Producer producer(port, topic, record_bytes, {});
    producer.send(records);
    producer.wait();
}

struct Times {
    double seconds = 0;
    std::vector<double> parts_s;  // Times until each part is acknowledged or committed; empty when the client does not wait.
};

/// `part(count)` sends `count` records. Sends one part that is not in the times, waits, then sends all others and waits again.
template <typename Part>
Times send_in_parts(Producer& producer, long records, long records_of_part, bool waits_for_parts, Part part) {
    part(records_of_part);
    producer.wait();
    Times times;
    const auto began = Clock::now();
    for (long left = records; left > 0; left -= records_of_part) {
        const auto part_began = Clock::now();
        part(std::min(left, records_of_part));
        if (waits_for_parts) {
            times.parts_s.push_back(seconds_since(part_began));
        }
    }
    producer.wait();
    times.seconds = seconds_since(began);
    return times;
}

Times produce_idempotently(const std::string& port, const char* topic, long records, std::size_t record_bytes,
                           long records_of_part, const std::string& what) {
    Producer producer(port, topic, record_bytes, {{"enable.idempotence", "true"}});
    return send_in_parts(producer, records, records_of_part, what != "idempotent", [&](long count) {
        const long behind = what == "exchange" ? 1 : 0;
        producer.send(count - behind);
        if (what != "idempotent") {
            producer.wait();
        }
        if (behind == 0) {
            return;
        }
        producer.send(behind);
        producer.wait();
    });
}

Times produce_transactions(const std::string& port, const char* topic, long records, std::size_t record_bytes,
                           long records_of_part) {
    Producer producer(port, topic, record_bytes, {{"transactional.id", topic}});
    producer.init_transactions();
    return send_in_parts(producer, records, records_of_part, true, [&](long count) {
        producer.begin_transaction();
        producer.send(count);
        producer.commit_transaction();
    });
}

void consume(const std::string& port, const char* topic, int partitions, long records, std::size_t record_bytes) {
    rd_kafka_t* const client =
        make_client(RD_KAFKA_CONSUMER, port, {{"group.id", "users"}, {"enable.auto.commit", "false"}}, nullptr);
    rd_kafka_poll_set_consumer(client);
    rd_kafka_topic_partition_list_t* const all = rd_kafka_topic_partition_list_new(partitions);
    for (int i = 0; i < partitions; ++i) {
        rd_kafka_topic_partition_list_add(all, topic, i)->offset = 0;
    }
    rd_kafka_assign(client, all);
    rd_kafka_topic_partition_list_destroy(all);
    rd_kafka_queue_t* const queue = rd_kafka_queue_get_consumer(client);
    std::vector<rd_kafka_message_t*> some(kRecordsOfOnePoll);
    for (long seen = 0; seen < records;) {
        const ssize_t count = rd_kafka_consume_batch_queue(queue, kPatienceMs, some.data(), some.size());
        if (count <= 0) {
            give_up("no more records after " + std::to_string(seen));
        }
        for (ssize_t i = 0; i < count; ++i) {
            rd_kafka_message_t* const message = some[static_cast<std::size_t>(i)];
            if (message->err != RD_KAFKA_RESP_ERR_NO_ERROR) {
                give_up(rd_kafka_message_errstr(message));
            }
            if (message->len != record_bytes) {
                give_up("a record of another size");
            }
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
    const std::string what = count > 1 ? values[1] : "";
    const bool in_parts = what == "idempotent" || what == "rhythm" || what == "exchange" || what == "transactional";
    if (count != (in_parts ? 8 : 7)) {
        std::fprintf(stderr,
                     "usage: rdkafka_client produce|consume PORT TOPIC PARTITIONS RECORDS RECORD_BYTES\n"
                     "       rdkafka_client idempotent|rhythm|exchange|transactional PORT TOPIC PARTITIONS RECORDS RECORD_BYTES "
                     "RECORDS_OF_PART\n");
        return 2;
    }
    const std::string port = values[2];
    const char* const topic = values[3];
    const long records = std::atol(values[5]);
    const auto record_bytes = static_cast<std::size_t>(std::atol(values[6]));
    if (in_parts) {
        const long of_part = std::atol(values[7]);
        Times times = what == "transactional" ? produce_transactions(port, topic, records, record_bytes, of_part)
                                              : produce_idempotently(port, topic, records, record_bytes, of_part, what);
        std::printf("{\"records\": %ld, \"seconds\": %.6f, \"written\": %ld", records, times.seconds, records + of_part);
        if (!times.parts_s.empty()) {
            std::ranges::sort(times.parts_s);
            std::printf(", \"part_p50_us\": %.1f", times.parts_s[times.parts_s.size() / 2] * 1e6);
        }
        std::printf("}\n");
        return 0;
    }
    const auto began = Clock::now();
    if (what == "produce") {
        produce(port, topic, records, record_bytes);
    } else {
        consume(port, topic, std::atoi(values[4]), records, record_bytes);
    }
    std::printf("{\"records\": %ld, \"seconds\": %.6f}\n", records, seconds_since(began));
}
