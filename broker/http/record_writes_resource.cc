// POST /v1/topics/T/records  {"partition": P, "key": "...", "value": "...", "headers": {...}}: writes one record. The log service
// gets it like a record from a client of any protocol.

#include <limits>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "broker/handlers/produce_response.h"
#include "broker/handlers/services.h"
#include "broker/http/authorize.h"
#include "broker/http/broker_identity.h"
#include "broker/http/json_body.h"
#include "broker/http/kafka_errors.h"
#include "broker/http/local_client.h"
#include "broker/http/resources.h"
#include "broker/http/written_record.h"
#include "broker/logs/appender.h"
#include "broker/logs/lookup.h"
#include "broker/logs/turn.h"
#include "broker/logs/turns.h"
#include "schedule/clock.h"

namespace partita::http {
namespace {

constexpr std::int64_t kWriteTimeoutMs = 30'000;
constexpr std::string_view kRoute = "POST /v1/topics/T/records";
/// Answers use Kafka's errors in this version of Produce.
constexpr std::int16_t kProduceVersion = 12;
constexpr NumberRange kIndexes{.least = 0, .most = std::numeric_limits<std::int32_t>::max()};

/// One record on its way. It listens to its own request, which owns it until the record is written.
class RecordWrite final : public logs::AppendListener {
  public:
    RecordWrite(const Surroundings& surroundings, ExchangePointer exchange, std::vector<std::byte> batch)
        : services_(surroundings.services),
          identity_(surroundings.identity),
          exchange_(std::move(exchange)),
          client_(services_, exchange_->caller()),
          batch_(std::move(batch)) {}

    [[nodiscard]] logs::Client client() {
        return {.connection = &client_.connection(),
                .client_id = kHttpClientId,
                .usage = client_.connection().session.principal->usage()};
    }
    [[nodiscard]] MutableBytes batch() { return batch_; }

    void on_written(logs::AppendRequest& request, logs::Turn& turn) override {
        const logs::Append& append = request.appends.front();
        if (!request.needs_sync()) {
            respond(append, turn.arena());
            return;
        }
        request.appender->when_synced(request, [exchange = exchange_, &identity = identity_, partition = append.index,
                                                offset = append.staged.base_offset](bool is_synced) {
            if (is_synced) {
                respond_written(*exchange, identity, partition, offset);
            } else {
                respond_error(*exchange, Status::internal_error,
                              "the record may or may not be written; the broker's log says why");
            }
        });
    }
    void respond(const logs::Append& append, Arena& arena) const {
        if (append.outcome == logs::Outcome::ok) {
            respond_written(*exchange_, identity_, append.index, append.staged.base_offset);
            return;
        }
        const handlers::AppendAnswer answer = handlers::answer_of(append, kProduceVersion, arena);
        respond_kafka_error(*exchange_, answer.error, answer.message);
    }

  private:
    static void respond_written(Exchange& exchange, const BrokerIdentity& identity, PartitionIndex partition, Offset offset) {
        auto object = identity.begin_answer();
        object["topic"] = exchange.request().path.at(2);
        object["partition"] = partition.value;
        object["offset"] = offset.value;
        respond_json(exchange, object);
    }

    const runtime::Services& services_;
    const BrokerIdentity& identity_;
    const ExchangePointer exchange_;
    LocalClient client_;
    std::vector<std::byte> batch_;
};

}  // namespace

void write_record(const Surroundings& surroundings, const ExchangePointer& exchange) {
    JsonBody body(*exchange);
    const WrittenRecord record{.key = body.text_or_null("key"),
                               .value = body.text_or_null("value"),
                               .headers = body.texts("headers"),
                               .partition = body.number("partition", kIndexes)};
    if (body.refuse_unless_good()) {
        return;
    }
    const runtime::Services& services = surroundings.services;
    logs::Turn& turn = services.turns.first();
    const logs::TopicLookup topic =
        logs::find_topic(turn.topics(), {.name = exchange->request().path.at(2)}, [&](std::string_view name) {
            return authorize(services.authorizer, exchange->caller(), access::kWriteTopic, name, kRoute);
        });
    auto write = std::make_unique<RecordWrite>(surroundings, exchange, batch_of(record, services.clock.now().wall));
    const RecordWrite& written = *write;
    logs::AppendRequest& request = turn.append_request();
    request.client = write->client();
    request.is_first = true;
    request.timeout_ms = kWriteTimeoutMs;
    logs::Append& append = request.appends.emplace_back();
    append.topic = topic.topic;
    append.outcome = topic.outcome;
    append.batch = write->batch();
    if (topic.topic != nullptr) {
        append.index = place_of(record, topic.topic->topic->partition_count);
        const logs::PartitionLookup found = logs::find_partition(*topic.topic, append.index);
        append.partition = found.partition == nullptr ? nullptr : found.partition->get();
        append.outcome = found.outcome;
    }
    request.request_bytes = append.batch.size();
    request.listener = std::move(write);
    if (request.client.usage != nullptr) {
        request.client.usage->requests.fetch_add(1, std::memory_order_relaxed);
    }
    if (!services.records.appender.append(turn, request)) {
        written.respond(append, turn.arena());
        // Releases the exchange, which the request holds through its listener.
        request.clear();
    }
}

}  // namespace partita::http
