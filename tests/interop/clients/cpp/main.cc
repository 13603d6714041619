// librdkafka++ of Debian 12, the C++ interface of librdkafka, as an agent: the requests and events are described in
// clients.py.

#include <chrono>
#include <iostream>
#include <thread>

#include "tests/interop/clients/cpp/admin.h"
#include "tests/interop/clients/cpp/agent.h"
#include "tests/interop/clients/cpp/library.h"
#include "tests/interop/clients/cpp/member.h"

namespace {

using agent::Failure;
using agent::Json;
using Clock = std::chrono::steady_clock;

constexpr int kStreamRecordsMax = 1'000'000;

/// A null pointer stands for null, so what is empty needs another one.
const char* pointer(const std::optional<std::string>& value) { return value ? value->c_str() : nullptr; }
std::size_t size(const std::optional<std::string>& value) { return value ? value->size() : 0; }

/// The code with which the library takes a record, or refuses it at once.
RdKafka::ErrorCode send(RdKafka::Producer& producer, const std::string& topic, const Json& record, void* opaque) {
    const auto key = agent::text(record, "key");
    const auto value = agent::text(record, "value");
    std::unique_ptr<RdKafka::Headers> headers;
    if (record.contains("headers") && !record["headers"].empty()) {
        headers.reset(RdKafka::Headers::create());
        for (const Json& header : record["headers"]) {
            std::optional<std::string> content;
            if (!header.at(1).is_null()) {
                content = header.at(1).get<std::string>();
            }
            headers->add(header.at(0).get<std::string>(), pointer(content), size(content));
        }
    }
    const RdKafka::ErrorCode code =
        producer.produce(topic, record.value("partition", RdKafka::Topic::PARTITION_UA), RdKafka::Producer::RK_MSG_COPY,
                         const_cast<char*>(pointer(value)), size(value), pointer(key), size(key),
                         record.value("timestamp", std::int64_t{0}), headers.get(), opaque);
    if (code == RdKafka::ERR_NO_ERROR) {
        headers.release();  // The record has them now.
    }
    return code;
}

/// Fills the acknowledgements of one produce; the opaque of a record is its place among them.
class Acks final : public RdKafka::DeliveryReportCb {
  public:
    explicit Acks(std::size_t count) : places_(count) {}

    void dr_cb(RdKafka::Message& message) override {
        Json& place = *static_cast<Json*>(message.msg_opaque());
        if (message.err() != RdKafka::ERR_NO_ERROR) {
            place = library::failure(message.err()).fields();
        } else {
            place = {{"partition", message.partition()}, {"offset", message.offset()}};
        }
    }
    [[nodiscard]] Json& place(std::size_t index) { return places_[index]; }
    [[nodiscard]] Json reply() const { return {{"acks", places_}}; }

  private:
    std::vector<Json> places_;
};

Json produce(const Json& request) {
    const Json& records = request.at("records");
    Acks acks(records.size());
    const auto producer = library::make_producer(request, &acks);
    for (std::size_t i = 0; i < records.size(); ++i) {
        const RdKafka::ErrorCode code = send(*producer, request.at("topic"), records[i], &acks.place(i));
        if (code != RdKafka::ERR_NO_ERROR) {
            acks.place(i) = library::failure(code).fields();
        }
    }
    library::check(producer->flush(2 * library::kTimeoutMs));
    return acks.reply();
}

Json read_topic(const Json& request) {
    const auto consumer = library::make_consumer(request);
    library::Places places;
    places.add_everywhere(*consumer, request.at("topic"), RdKafka::Topic::OFFSET_BEGINNING);
    library::check(consumer->assign(places.list()));
    Json records = Json::array();
    const auto deadline = Clock::now() + std::chrono::milliseconds(request.at("timeout_ms"));
    while (records.size() < request.at("count") && Clock::now() < deadline) {
        const std::unique_ptr<RdKafka::Message> message(consumer->consume(100));
        if (message->err() == RdKafka::ERR__TIMED_OUT) {
            continue;
        }
        library::check(message->err());
        records.push_back(library::describe(*message));
    }
    consumer->close();
    return {{"records", records}};
}

/// Offsets by partition, those below `least` left out.
Json offsets(library::Places& places, std::int64_t least) {
    Json found = Json::object();
    for (const RdKafka::TopicPartition* place : places.list()) {
        library::check(place->err());
        if (place->offset() >= least) {
            found[std::to_string(place->partition())] = place->offset();
        }
    }
    return {{"offsets", found}};
}

Json offsets_for_time(const Json& request) {
    const auto consumer = library::make_consumer(request);
    library::Places places;
    places.add_everywhere(*consumer, request.at("topic"), request.at("timestamp"));
    library::check(consumer->offsetsForTimes(places.list(), library::kTimeoutMs));
    // It says "end" (-1) where no record is as late as asked for.
    return offsets(places, RdKafka::Topic::OFFSET_END);
}

Json committed(const Json& request) {
    const auto consumer = library::make_consumer(request);
    library::Places places;
    places.add_everywhere(*consumer, request.at("topic"), RdKafka::Topic::OFFSET_INVALID);
    library::check(consumer->committed(places.list(), library::kTimeoutMs));
    return offsets(places, 0);
}

Json partitions(const Json& request) {
    const auto client = library::make_producer(request);
    return {{"partitions", library::partition_ids(*client, request.at("topic"))}};
}

Json version(const Json&) { return {{"version", RdKafka::version_str()}}; }

/// Writes the numbers 0, 1, 2 ... as values until it is stopped, and remembers what was acknowledged.
class Stream final : public agent::Running, private RdKafka::DeliveryReportCb {
  public:
    explicit Stream(const Json& request)
        : topic_(request.at("topic")),
          keys_(request.value("keys", 97)),
          interval_(std::chrono::microseconds(request.value("interval_us", 2000))),
          progress_(request.at("name")),
          producer_(library::make_producer(request, this)),
          thread_([this] { run(); }) {}

    [[nodiscard]] Json finish() override {
        stop_ = true;
        thread_.join();
        library::check(producer_->flush(library::kTimeoutMs));
        return progress_.reply();
    }

  private:
    void dr_cb(RdKafka::Message& message) override {
        const int n = static_cast<int>(reinterpret_cast<std::intptr_t>(message.msg_opaque()));
        if (message.err() != RdKafka::ERR_NO_ERROR) {
            progress_.fail(n, message.errstr());
        } else {
            progress_.add(n, message.partition(), message.offset());
        }
    }

    void run() {
        for (int n = 0; n < kStreamRecordsMax && !stop_; ++n) {
            const auto next = Clock::now() + interval_;
            const Json record = {{"key", "k" + std::to_string(n % keys_)}, {"value", std::to_string(n)}};
            RdKafka::ErrorCode code = RdKafka::ERR__QUEUE_FULL;
            while ((code = send(*producer_, topic_, record, reinterpret_cast<void*>(std::intptr_t{n}))) ==
                   RdKafka::ERR__QUEUE_FULL) {
                producer_->poll(100);
            }
            if (code != RdKafka::ERR_NO_ERROR) {
                progress_.fail(n, RdKafka::err2str(code));
            }
            producer_->poll(0);
            std::this_thread::sleep_until(next);
        }
    }

    const std::string topic_;
    const int keys_;
    const std::chrono::microseconds interval_;
    agent::Progress progress_;
    std::atomic<bool> stop_ = false;
    std::unique_ptr<RdKafka::Producer> producer_;
    std::thread thread_;
};

}  // namespace

int main(int argc, char** argv) {
    if (argc != 2) {
        std::cerr << "usage: librdkafka++-agent BOOTSTRAP\n";
        return 2;
    }
    library::bootstrap = argv[1];
    agent::Operations operations;
    operations.calls = {{"produce", produce},     {"read", read_topic},       {"offsets_for_time", offsets_for_time},
                        {"committed", committed}, {"partitions", partitions}, {"version", version}};
    operations.starts = {
        {"stream_start", [](const Json& request) { return std::make_unique<Stream>(request); }},
        {"member_start", [](const Json& request) { return std::make_unique<Member>(request); }},
    };
    admin::add_calls(operations);
    agent::serve(operations);
    return 0;
}
