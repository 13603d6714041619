#include "broker/client/pipelined_producer.h"

#include <algorithm>
#include <utility>

#include "protocol/big_endian.h"
#include "protocol/crc32c.h"
#include "protocol/messages/00_produce.h"
#include "protocol/messages/22_init_producer_id.h"
#include "protocol/messages/24_add_partitions_to_txn.h"
#include "protocol/messages/26_end_txn.h"
#include "protocol/random_bytes.h"
#include "protocol/try.h"

namespace partita::client {
namespace {

/// From version 12 on a Produce request adds its partition to the transaction by itself, and EndTxn (5) changes the epoch: the
/// producer uses the older way, which all brokers know.
constexpr Versions kTransactionalProduce{3, 11};
constexpr Versions kProducerIds{0, 4};
constexpr Versions kAddPartitions{0, 3};
constexpr Versions kEndTxn{0, 4};
/// The wait while the coordinator still ends the transaction before, as in Kafka's producer.
constexpr std::int64_t kConcurrentBackoffMs = 20;
/// A record's lengths and deltas without the length of its value, at most, as Kafka's producer counts them.
constexpr std::size_t kRecordOverheadBytes = 23;

// Places in the header of a batch.
constexpr std::size_t kCrcAt = 17;
constexpr std::size_t kAttributesAt = 21;
constexpr std::size_t kProducerIdAt = 43;
constexpr std::size_t kProducerEpochAt = 51;
constexpr std::size_t kSequenceAt = 53;

/// The size of a length as a varint, which has seven bits a byte and one bit for the sign.
std::size_t varint_bytes(std::size_t length) {
    std::size_t bytes = 1;
    for (std::size_t rest = length >> 6; rest != 0; rest >>= 7) {
        ++bytes;
    }
    return bytes;
}

}  // namespace

PipelinedProducer::PipelinedProducer(Cluster& cluster, std::string topic, PipelineSettings settings, Done done)
    : cluster_(cluster),
      topic_(std::move(topic)),
      settings_(std::move(settings)),
      done_(std::move(done)),
      builder_({.codec = settings_.codec,
                .compression_level = settings_.compression_level,
                .transactional = !settings_.transactional_id.empty()}) {}

Result<void> PipelinedProducer::open() {
    if (producer_id_ == kNoProducerId) {
        const auto got = init_producer_id();
        // Without a producer id it continues like old producers, not idempotent.
        if (!got && !settings_.transactional_id.empty()) {
            return got;
        }
    }
    PARTITA_TRY_ASSIGN(leaders_, await_topic(cluster_, topic_));
    return {};
}

Result<void> PipelinedProducer::init_producer_id() {
    const bool is_transactional = !settings_.transactional_id.empty();
    if (!is_transactional && (!settings_.is_idempotent || settings_.acks != -1)) {
        return {};
    }
    InitProducerIdRequest request{.transactional_id = std::nullopt,
                                  .transaction_timeout_ms = static_cast<std::int32_t>(settings_.transaction_timeout_ms)};
    if (is_transactional) {
        request.transactional_id = settings_.transactional_id;
    }
    const Route route =
        is_transactional ? Route::coordinator(CoordinatorOf::transaction, settings_.transactional_id) : Route::any();
    const Instant deadline = now() + cluster_.settings().default_api_timeout_ms;
    while (true) {
        PARTITA_TRY_ASSIGN(const auto reply,
                           cluster_.ask<InitProducerIdResponse>(
                               route, {.name = "initProducerId", .versions = kProducerIds}, [&](std::int16_t) { return request; },
                               [](const InitProducerIdResponse& r) { return r.error_code; }));
        if (reply->error_code == ErrorCode::none) {
            producer_id_ = {reply->producer_id};
            producer_epoch_ = {reply->producer_epoch};
            sequences_.clear();
            return {};
        }
        if (reply->error_code != ErrorCode::concurrent_transactions || now() >= deadline) {
            return std::unexpected(refusal(reply->error_code));
        }
        cluster_.network().pause(kConcurrentBackoffMs);
    }
}

Result<void> PipelinedProducer::add_partition(std::int32_t partition) {
    if (settings_.transactional_id.empty() || added_.contains(partition)) {
        return {};
    }
    AddPartitionsToTxnRequest::AddPartitionsToTxnTopic topic{.name = topic_, .partitions = {&partition, 1}};
    const AddPartitionsToTxnRequest request{.v3_and_below_transactional_id = settings_.transactional_id,
                                            .v3_and_below_producer_id = producer_id_.value,
                                            .v3_and_below_producer_epoch = producer_epoch_.value,
                                            .v3_and_below_topics = {&topic, 1}};
    const auto code_of = [](const AddPartitionsToTxnResponse& response) {
        for (const auto& answered : response.results_by_topic_v3_and_below) {
            for (const auto& result : answered.results_by_partition) {
                return result.partition_error_code;
            }
        }
        return ErrorCode::none;
    };
    const Instant deadline = now() + cluster_.settings().default_api_timeout_ms;
    while (true) {
        PARTITA_TRY_ASSIGN(const auto reply, cluster_.ask<AddPartitionsToTxnResponse>(
                                                 Route::coordinator(CoordinatorOf::transaction, settings_.transactional_id),
                                                 {.name = "addPartitionsToTxn", .versions = kAddPartitions},
                                                 [&](std::int16_t) { return request; }, code_of));
        const ErrorCode code = code_of(*reply);
        if (code == ErrorCode::none) {
            added_.insert(partition);
            return {};
        }
        const bool may_pass = code == ErrorCode::concurrent_transactions || code == ErrorCode::unknown_topic_or_partition;
        if (!may_pass || now() >= deadline) {
            return std::unexpected(refusal(code));
        }
        cluster_.network().pause(kConcurrentBackoffMs);
    }
}

Result<void> PipelinedProducer::end_transaction(bool commits) {
    if (added_.empty()) {
        return {};
    }
    const EndTxnRequest request{.transactional_id = settings_.transactional_id,
                                .producer_id = producer_id_.value,
                                .producer_epoch = producer_epoch_.value,
                                .committed = commits};
    const Instant deadline = now() + cluster_.settings().default_api_timeout_ms;
    while (true) {
        PARTITA_TRY_ASSIGN(const auto reply, cluster_.ask<EndTxnResponse>(
                                                 Route::coordinator(CoordinatorOf::transaction, settings_.transactional_id),
                                                 {.name = "endTxn", .versions = kEndTxn}, [&](std::int16_t) { return request; },
                                                 [](const EndTxnResponse& r) { return r.error_code; }));
        if (reply->error_code == ErrorCode::none) {
            added_.clear();
            return {};
        }
        if (reply->error_code != ErrorCode::concurrent_transactions || now() >= deadline) {
            return std::unexpected(refusal(reply->error_code));
        }
        cluster_.network().pause(kConcurrentBackoffMs);
    }
}

Result<void> PipelinedProducer::commit() {
    flush();
    if (lost_) {
        // The reason counts, whatever becomes of the abort: the coordinator ends the transaction when its time is over.
        static_cast<void>(end_transaction(false));
        return std::unexpected(*std::exchange(lost_, std::nullopt));
    }
    return end_transaction(true);
}

Result<void> PipelinedProducer::append(Bytes value, std::int64_t number) {
    const std::size_t bytes = value.size() + varint_bytes(value.size()) + kRecordOverheadBytes;
    if (bytes + kBatchHeaderBytes > settings_.request_bytes_max) {
        return std::unexpected(refusal(
            ErrorCode::message_too_large,
            "The message is " + std::to_string(bytes + kBatchHeaderBytes) + " bytes when serialized which is larger than " +
                std::to_string(settings_.request_bytes_max) + ", which is the value of the max.request.size configuration."));
    }
    if (current_ != nullptr && builder_.uncompressed_size_bytes() + bytes > settings_.batch_bytes) {
        close_batch();
        send_ready();
        take_answers();
    }
    while (buffered_bytes_ > settings_.buffer_bytes_max) {
        await_answer(now() + settings_.request_timeout_ms);
    }
    const Now clock = cluster_.network().clock().now();
    if (current_ == nullptr) {
        current_ = std::make_unique<Batch>();
        auto chosen = leaders_.begin();
        std::advance(chosen, random_value<std::uint32_t>() % leaders_.size());
        current_->partition = chosen->first;
        current_->opened = clock.monotonic;
    }
    builder_.append({clock.wall.value}, std::nullopt, value);
    current_->records.push_back({clock.wall.value, value.size(), number});
    return {};
}

void PipelinedProducer::close_batch() {
    builder_.build(current_->encoded);
    current_->bytes = current_->encoded.size();
    buffered_bytes_ += current_->bytes;
    ready_[current_->partition].push_back(std::move(current_));
    ++ready_count_;
}

/// Writes the producer id and the sequence into a batch.
void PipelinedProducer::stamp(Batch& batch) {
    if (producer_id_ == kNoProducerId) {
        return;
    }
    if (batch.sequence < 0) {
        std::int32_t& next = sequences_[batch.partition];
        batch.sequence = next;
        // Sequences wrap from 2^31-1 to 0.
        const std::uint32_t sum = static_cast<std::uint32_t>(next) + static_cast<std::uint32_t>(batch.records.size());
        next = static_cast<std::int32_t>(sum & 0x7fffffffu);
    }
    std::byte* header = batch.encoded.data();
    store_big_endian(header + kProducerIdAt, producer_id_.value);
    store_big_endian(header + kProducerEpochAt, producer_epoch_.value);
    store_big_endian(header + kSequenceAt, batch.sequence);
    store_big_endian(header + kCrcAt, crc32c(Bytes(batch.encoded).subspan(kAttributesAt)));
}

Result<PipelinedProducer::Broker*> PipelinedProducer::broker_of(std::int32_t leader) {
    Broker& broker = brokers_[leader];
    if (broker.connection != nullptr) {
        return &broker;
    }
    PARTITA_TRY_ASSIGN(const Membership* membership, cluster_.membership("produce"));
    const auto node = std::ranges::find(membership->nodes, leader, &Node::id);
    if (node == membership->nodes.end()) {
        return std::unexpected(refusal(ErrorCode::leader_not_available));
    }
    const Instant deadline = now() + settings_.request_timeout_ms;
    PARTITA_TRY_ASSIGN(auto connection, Connection::open(cluster_.network(), node->endpoint, cluster_.settings(), deadline));
    const Versions wanted = settings_.transactional_id.empty() ? kProduceVersions : kTransactionalProduce;
    PARTITA_TRY_ASSIGN(broker.version, connection->version_for(*find_api(ApiKey::produce), wanted));
    broker.connection = std::move(connection);
    return &broker;
}

void PipelinedProducer::send_ready() {
    if (!to_repeat_.empty() || ready_count_ == 0) {
        return;
    }
    std::set<std::int32_t> leaders;
    for (const auto& [partition, batches] : ready_) {
        const auto leader = leaders_.find(partition);
        leaders.insert(leader == leaders_.end() ? -1 : leader->second);
    }
    for (const std::int32_t leader : leaders) {
        while (to_repeat_.empty() && send_to(leader)) {
        }
    }
}

/// Sends one request to a leader: the first batch of each of its partitions. Returns false if it sent none.
bool PipelinedProducer::send_to(std::int32_t leader) {
    if (const auto broker = brokers_.find(leader);
        broker != brokers_.end() && broker->second.under_way.size() >= settings_.in_flight_max) {
        return false;
    }
    std::vector<BatchPtr> batches;
    std::size_t bytes = 0;
    for (auto place = ready_.begin(); place != ready_.end();) {
        auto& [partition, waiting] = *place;
        const auto found = leaders_.find(partition);
        const bool is_its = (found == leaders_.end() ? -1 : found->second) == leader;
        if (is_its && (batches.empty() || bytes + waiting.front()->bytes <= settings_.request_bytes_max)) {
            bytes += waiting.front()->bytes;
            batches.push_back(std::move(waiting.front()));
            waiting.pop_front();
            --ready_count_;
        }
        place = waiting.empty() ? ready_.erase(place) : std::next(place);
    }
    if (batches.empty()) {
        return false;
    }
    for (const BatchPtr& batch : batches) {
        if (auto added = add_partition(batch->partition); !added) {
            for (BatchPtr& one : batches) {
                judge(std::move(one), added.error());
            }
            return false;
        }
        stamp(*batch);
    }
    auto broker = leader < 0 ? std::unexpected(refusal(ErrorCode::leader_not_available)) : broker_of(leader);
    if (!broker) {
        for (BatchPtr& batch : batches) {
            judge(std::move(batch), broker.error());
        }
        return false;
    }
    transmit(leader, **broker, std::move(batches));
    return true;
}

void PipelinedProducer::transmit(std::int32_t leader, Broker& broker, std::vector<BatchPtr> batches) {
    std::vector<ProduceRequest::PartitionProduceData> data;
    for (const BatchPtr& batch : batches) {
        data.push_back({.index = batch->partition, .records = Bytes(batch->encoded)});
    }
    ProduceRequest::TopicProduceData topic{.name = topic_, .partition_data = data};
    const std::int64_t timeout_ms = settings_.request_timeout_ms;
    ProduceRequest request{.transactional_id = std::nullopt,
                           .acks = settings_.acks,
                           .timeout_ms = static_cast<std::int32_t>(timeout_ms),
                           .topic_data = {&topic, 1}};
    if (!settings_.transactional_id.empty()) {
        request.transactional_id = settings_.transactional_id;
    }
    const Instant deadline = now() + timeout_ms;
    const std::int32_t correlation_id = broker.connection->next_correlation_id();
    const auto sent = broker.connection->send(*find_api(ApiKey::produce), broker.version, &request, deadline);
    broker.under_way.push_back({correlation_id, deadline, std::move(batches)});
    if (!sent) {
        fail_connection(brokers_.at(leader), sent.error());
        return;
    }
    if (settings_.acks == 0) {
        for (BatchPtr& batch : broker.under_way.back().batches) {
            settle(std::move(batch), nullptr);
        }
        broker.under_way.pop_back();
    }
}

bool PipelinedProducer::has_under_way() const {
    return std::ranges::any_of(brokers_, [](const auto& broker) { return !broker.second.under_way.empty(); });
}

/// Takes the answers that are there.
void PipelinedProducer::take_answers() {
    for (auto& [leader, broker] : brokers_) {
        while (!broker.under_way.empty() && receive(broker, now())) {
        }
    }
    if (!to_repeat_.empty()) {
        recover();
    }
    send_ready();
}

/// Waits for one answer to the request that waits for the longest time.
void PipelinedProducer::await_answer(Instant deadline) {
    Broker* oldest = nullptr;
    for (auto& [leader, broker] : brokers_) {
        if (!broker.under_way.empty() &&
            (oldest == nullptr || broker.under_way.front().deadline < oldest->under_way.front().deadline)) {
            oldest = &broker;
        }
    }
    if (oldest != nullptr) {
        receive(*oldest, deadline);
    }
    take_answers();
}

/// Takes one answer; false if none came, or the connection failed.
bool PipelinedProducer::receive(Broker& broker, Instant deadline) {
    const Instant last = broker.under_way.front().deadline;
    auto reply = broker.connection->receive(*find_api(ApiKey::produce), broker.version, broker.under_way.front().correlation_id,
                                            std::min(deadline, last));
    if (!reply) {
        if (reply.error().kind != Failure::Kind::timed_out || now() >= last) {
            fail_connection(broker, reply.error());
        }
        return false;
    }
    UnderWay request = std::move(broker.under_way.front());
    broker.under_way.pop_front();
    answer(std::move(request), *reply);
    return true;
}

void PipelinedProducer::answer(UnderWay request, const RawReply& reply) {
    std::map<std::int32_t, Failure> refused;
    std::set<std::int32_t> answered;
    for (const auto& topic : static_cast<const ProduceResponse*>(reply.message)->responses) {
        for (const auto& result : topic.partition_responses) {
            answered.insert(result.index);
            if (result.error_code != ErrorCode::none && result.error_code != ErrorCode::duplicate_sequence_number) {
                refused[result.index] = refusal(result.error_code, result.error_message.value_or(""));
            }
        }
    }
    for (BatchPtr& batch : request.batches) {
        const auto failure = refused.find(batch->partition);
        if (!answered.contains(batch->partition)) {
            judge(std::move(batch), Failure{.kind = Failure::Kind::malformed,
                                            .message = "the answer to a Produce request lacks a partition of the request"});
        } else if (failure == refused.end()) {
            settle(std::move(batch), nullptr);
        } else {
            judge(std::move(batch), std::move(failure->second));
        }
    }
}

void PipelinedProducer::settle(BatchPtr batch, const Failure* failure) {
    buffered_bytes_ -= batch->bytes;
    if (failure != nullptr) {
        needs_producer_id_ = producer_id_ != kNoProducerId;
        lost_ = lost_ ? std::move(lost_) : std::optional(*failure);
    }
    done_(batch->records, failure);
}

/// A batch failed: repeats it later, or gives it up.
void PipelinedProducer::judge(BatchPtr batch, Failure failure) {
    // A batch behind one that failed is out of order.
    const bool follows = failure.code == ErrorCode::out_of_order_sequence_number;
    const bool is_of_lost_transaction = !settings_.transactional_id.empty() && lost_;
    if ((is_worth_repeating(failure) || follows) && !is_of_lost_transaction &&
        now() - batch->opened < settings_.delivery_timeout_ms) {
        to_repeat_.emplace_back(std::move(batch), std::move(failure));
    } else {
        settle(std::move(batch), &failure);
    }
}

void PipelinedProducer::fail_connection(Broker& broker, const Failure& failure) {
    broker.connection.reset();
    for (UnderWay& request : std::exchange(broker.under_way, {})) {
        for (BatchPtr& batch : request.batches) {
            judge(std::move(batch), failure);
        }
    }
}

/// Waits until nothing is under way, looks for the leaders again, and puts the batches that failed before all others, in the
/// order of their sequences.
void PipelinedProducer::recover() {
    for (auto& [leader, broker] : brokers_) {
        while (!broker.under_way.empty()) {
            receive(broker, broker.under_way.front().deadline);
        }
    }
    cluster_.network().pause(cluster_.settings().retry_backoff_ms);
    cluster_.forget_membership();
    if (auto found = find_leaders(cluster_, topic_, false)) {
        leaders_ = std::move(*found);
    }
    const bool is_renewed = std::exchange(needs_producer_id_, false) && settings_.transactional_id.empty();
    if (is_renewed && !init_producer_id()) {
        // As without idempotence: a batch may then be stored twice.
        producer_id_ = kNoProducerId;
        producer_epoch_ = {-1};
    }
    for (auto& [partition, waiting] : ready_) {
        for (const BatchPtr& batch : waiting) {
            batch->sequence = is_renewed ? -1 : batch->sequence;
        }
    }
    auto failed = std::exchange(to_repeat_, {});
    // A sequence that wraps is less than the ones before it.
    std::ranges::stable_sort(failed, [](const auto& one, const auto& other) {
        return static_cast<std::int32_t>(static_cast<std::uint32_t>(one.first->sequence) -
                                         static_cast<std::uint32_t>(other.first->sequence)) < 0;
    });
    for (auto place = failed.rbegin(); place != failed.rend(); ++place) {
        auto& [batch, failure] = *place;
        if (now() - batch->opened >= settings_.delivery_timeout_ms) {
            settle(std::move(batch), &failure);
            continue;
        }
        if (is_renewed) {
            batch->sequence = -1;
        }
        ready_[batch->partition].push_front(std::move(batch));
        ++ready_count_;
    }
}

void PipelinedProducer::wait_until(Instant until) {
    while (true) {
        Instant wake = until;
        if (current_ != nullptr) {
            const Instant lingers_until = current_->opened + settings_.linger_ms;
            if (lingers_until <= now()) {
                close_batch();
                send_ready();
                continue;
            }
            wake = std::min(wake, lingers_until);
        }
        if (has_under_way()) {
            await_answer(wake);
        } else if (const std::int64_t rest_ms = wake - now(); rest_ms > 0) {
            cluster_.network().pause(rest_ms);
        }
        if (now() >= until) {
            return;
        }
    }
}

void PipelinedProducer::flush() {
    if (current_ != nullptr) {
        close_batch();
    }
    send_ready();
    while (ready_count_ > 0 || !to_repeat_.empty() || has_under_way()) {
        await_answer(now() + settings_.request_timeout_ms);
    }
}

}  // namespace partita::client
