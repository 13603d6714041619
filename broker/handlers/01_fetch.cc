// Fetch: v4-18.
//
//   v5: log start offset; v7: sessions (KIP-227); v9: leader epoch of the client; v11: rack; v12: flexible,
//   last fetched epoch; v13: topics by id; v15, v17, v18: fields of followers, which this broker has none of; v16: the
//   current leader beside an error that says that it is another one.
//
// The byte budget is spent on the partitions in the order of the request (or session). The first one with
// data gives its first batch whole, whatever the limits. Without enough data the fetch waits, and what it
// answers is decided by reading again. A client above its quota gets an empty answer instead, at once (KIP-219).

#include <sys/random.h>

#include <algorithm>
#include <vector>

#include "broker/assembly/broker.h"
#include "broker/handlers/aborted_transactions.h"
#include "broker/handlers/client_roles.h"
#include "broker/handlers/registry.h"
#include "broker/handlers/topic_lookup.h"
#include "broker/runtime/partitions/turn.h"
#include "protocol/assert.h"
#include "protocol/messages/01_fetch.h"
#include "protocol/recycled_blocks.h"

namespace partita::handlers {
namespace {

using fetch::FetchSession;
using fetch::SessionPartition;
using fetch::TopicPartitionName;
using runtime::Partition;
using runtime::TopicState;
using runtime::Turn;

// Below this, copying costs less than a sendfile of its own: measured, they cross between 2 and 4 KiB.
constexpr std::uint32_t kCopiedBytesMax = 4096;

constexpr std::int32_t kFinalEpoch = -1;

/// One partition that a fetch reads.
struct Target {
    std::string_view topic_name;
    TopicId topic_id;
    std::int32_t index = 0;
    std::shared_ptr<Partition> partition;
    ErrorCode lookup_error = ErrorCode::none;
    LeaderEpoch current_leader_epoch = kNoLeaderEpoch;
    Offset fetch_offset;
    LeaderEpoch last_fetched_epoch = kNoLeaderEpoch;
    std::int32_t max_bytes = 0;
    /// Null unless the growth of the topic is watched.
    const TopicState* watched_topic = nullptr;
    /// Valid while the session is at the epoch that this fetch was served at.
    FetchSession::Partitions::iterator in_session;
};

/// What one read of a target gave.
struct Outcome {
    ErrorCode error = ErrorCode::none;
    Offset high_watermark = kNoOffset;
    Offset last_stable_offset = kNoOffset;
    Offset log_start_offset = kNoOffset;
    EpochEnd diverging{kNoLeaderEpoch, kNoOffset};
    FileSlice slice;
    /// A fence keeps records from the reader: see TopicExpansion. Appends do not change that, commits do.
    bool held = false;
    /// Whether it does is known in a moment.
    bool is_undecided = false;
};

ErrorCode read_error_code(ReadError error) {
    switch (error) {
        case ReadError::out_of_range:
            return ErrorCode::offset_out_of_range;
        case ReadError::storage_error:
            return ErrorCode::kafka_storage_error;
        case ReadError::closed:
            return ErrorCode::unknown_topic_or_partition;
    }
    return ErrorCode::unknown_server_error;
}

/// What a fetch holds while it is served. A thread keeps what earlier fetches had, so that the next one asks for no memory.
struct FetchMemory {
    static constexpr std::size_t kKeptMax = 16;
    static constexpr std::size_t kKeptPartitionsMax = 1024;

    std::vector<Target> targets;
    std::vector<Outcome> outcomes;

    [[nodiscard]] static FetchMemory take() {
        if (kept().empty()) {
            return {};
        }
        FetchMemory memory = std::move(kept().back());
        kept().pop_back();
        return memory;
    }
    static void recycle(FetchMemory&& memory) {
        memory.targets.clear();
        memory.outcomes.clear();
        if (memory.targets.capacity() <= kKeptPartitionsMax && kept().size() < kKeptMax) {
            kept().push_back(std::move(memory));
        }
    }

  private:
    static std::vector<FetchMemory>& kept() {
        thread_local std::vector<FetchMemory> kept;
        return kept;
    }
};

/// From here on a client is told who leads instead.
constexpr std::int16_t kCurrentLeaderSince = 16;

class FetchOperation final : public runtime::WaitingFetch {
  public:
    FetchOperation() : memory_(FetchMemory::take()) {}
    ~FetchOperation() override { FetchMemory::recycle(std::move(memory_)); }
    static void* operator new(std::size_t) { return RecycledBlocks<sizeof(FetchOperation), FetchMemory::kKeptMax>::take(); }
    static void operator delete(void* memory) {
        RecycledBlocks<sizeof(FetchOperation), FetchMemory::kKeptMax>::give_back(memory);
    }

    std::int16_t version = 0;
    runtime::PendingReply pending;
    std::int32_t min_bytes = 0;
    std::int32_t max_bytes = 0;
    bool read_committed = false;
    /// The request names the broker that it comes from. Nobody follows the only one, so nobody is served that way.
    bool from_follower = false;
    BrokerId leader_id;
    /// Set when the growth of some topic is watched.
    std::optional<expansion::ClientIdentity> client;
    expansion::ConnectionId connection;
    /// Set when somebody has a quota on what is fetched.
    std::optional<std::string> throttled_client;

    std::shared_ptr<FetchSession> session;
    std::int32_t session_epoch = 0;  ///< The session's next epoch while this fetch is the latest.
    bool incremental = false;
    std::int32_t session_id = 0;

    /// Keeps topics alive that targets point into, while waiting.
    std::shared_ptr<const runtime::TopicTable> table;
    /// Names that no topic has, while waiting.
    std::vector<std::unique_ptr<std::string>> owned_names;

    [[nodiscard]] std::vector<Target>& targets() { return memory_.targets; }
    void read(Turn& turn);
    [[nodiscard]] bool must_answer_now() const;
    [[nodiscard]] bool is_undecided() const { return any_undecided_; }
    [[nodiscard]] std::int64_t total_bytes() const { return total_bytes_; }
    [[nodiscard]] const std::vector<Outcome>& outcomes() const { return memory_.outcomes; }
    void own_names();
    void complete(Turn& turn) override {
        read(turn);
        send(turn);
    }
    void send(Turn& turn);

  private:
    /// What the answer counts for in quotas: its records, and about what is said around them.
    [[nodiscard]] std::int64_t answer_bytes() const;
    /// True when a quota makes the client wait and the empty answer is out that says so.
    [[nodiscard]] bool throttle(Turn& turn);
    [[nodiscard]] Outcome read_target(const Target& target, std::int64_t budget, bool minimum_one_batch, Now now) const;
    /// What the topic's expansion lets the reader have; the upper bound of what may be read. Sets an error when there
    /// is one.
    [[nodiscard]] Offset judge_expansion(const Target& target, Offset upper_bound, Outcome& outcome, Now now) const;
    [[nodiscard]] bool has_news(const Target& target, const Outcome& outcome) const;
    void fill(Arena& arena, const Target& target, Outcome& outcome, FetchResponse::PartitionData& data,
              std::vector<FileSlice>& slices) const;

    FetchMemory memory_;
    std::int64_t total_bytes_ = 0;
    bool any_error_ = false;
    bool any_on_older_segment_ = false;
    bool any_undecided_ = false;
};

void FetchOperation::read(Turn& turn) {
    std::vector<Outcome>& outcomes = memory_.outcomes;
    outcomes.clear();
    outcomes.reserve(memory_.targets.size());
    total_bytes_ = 0;
    any_error_ = false;
    any_on_older_segment_ = false;
    any_undecided_ = false;
    std::int64_t budget = max_bytes;
    for (const Target& target : memory_.targets) {
        outcomes.push_back(read_target(target, budget, total_bytes_ == 0, turn.now()));
        const Outcome& outcome = outcomes.back();
        total_bytes_ += outcome.slice.size;
        budget = std::max<std::int64_t>(0, budget - outcome.slice.size);
        any_undecided_ |= outcome.is_undecided;
        if (outcome.error != ErrorCode::none || outcome.diverging.leader_epoch != kNoLeaderEpoch) {
            any_error_ = true;
            if (outcome.error == ErrorCode::kafka_storage_error) {
                turn.broker().counters().failed_fetches.fetch_add(1, std::memory_order_relaxed);
            }
        } else if (target.partition && target.fetch_offset < target.partition->log->active_segment_base()) {
            any_on_older_segment_ = true;
        }
    }
}

Offset FetchOperation::judge_expansion(const Target& target, Offset upper_bound, Outcome& outcome, Now now) const {
    const TopicState& topic = *target.watched_topic;
    const runtime::TopicExpansion::FetchVerdict verdict =
        topic.expansion->on_fetch(topic, PartitionIndex{target.index},
                                  {client->client_id, client->address, connection, read_committed}, target.fetch_offset,
                                  outcome.high_watermark, now);
    outcome.error = verdict.error;
    if (!verdict.limit) {
        return upper_bound;
    }
    outcome.held = true;
    outcome.is_undecided = verdict.is_undecided;
    if (!verdict.shows_end) {
        outcome.high_watermark = std::min(outcome.high_watermark, *verdict.limit);
        outcome.last_stable_offset = std::min(outcome.last_stable_offset, *verdict.limit);
    }
    return std::min(upper_bound, *verdict.limit);
}

Outcome FetchOperation::read_target(const Target& target, std::int64_t budget, bool minimum_one_batch, Now now) const {
    Outcome outcome;
    if (target.lookup_error != ErrorCode::none) {
        outcome.error = target.lookup_error;
        return outcome;
    }
    outcome.error = target.partition->judge_leader_epoch(target.current_leader_epoch);
    if (outcome.error == ErrorCode::none && from_follower) [[unlikely]] {
        outcome.error = ErrorCode::not_leader_or_follower;
    }
    if (outcome.error != ErrorCode::none) {
        return outcome;
    }
    const PartitionLog& log = *target.partition->log;
    outcome.high_watermark = log.high_watermark();
    outcome.last_stable_offset = log.last_stable_offset();
    outcome.log_start_offset = log.log_start_offset();
    if (target.last_fetched_epoch > kNoLeaderEpoch) {
        const EpochEnd end = log.offset_for_leader_epoch(target.last_fetched_epoch);
        if (end.leader_epoch == kNoLeaderEpoch || end.end_offset == kNoOffset) {
            return {.error = ErrorCode::offset_out_of_range};
        }
        if (end.leader_epoch < target.last_fetched_epoch || end.end_offset < target.fetch_offset) {
            outcome.diverging = end;
            return outcome;
        }
    }
    Offset upper_bound = read_committed ? outcome.last_stable_offset : outcome.high_watermark;
    if (target.watched_topic != nullptr) [[unlikely]] {
        upper_bound = judge_expansion(target, upper_bound, outcome, now);
        if (outcome.error != ErrorCode::none) {
            return {.error = outcome.error};
        }
    }
    const std::int64_t limit = std::min<std::int64_t>(target.max_bytes, budget);
    if (limit < 0) {
        return {.error = ErrorCode::unknown_server_error};
    }
    auto slice = log.read(target.fetch_offset,
                          {.upper_bound = upper_bound,
                           .max_bytes = static_cast<std::uint32_t>(limit),
                           .minimum_one_batch = minimum_one_batch});
    if (!slice) {
        return {.error = read_error_code(slice.error().error)};
    }
    outcome.slice = std::move(*slice);
    return outcome;
}

bool FetchOperation::must_answer_now() const {
    if (any_undecided_ && !any_error_) [[unlikely]] {
        return false;
    }
    return memory_.targets.empty() || any_error_ || any_on_older_segment_ || total_bytes_ >= min_bytes;
}

void FetchOperation::own_names() {
    for (Target& target : memory_.targets) {
        if (!target.partition && !target.topic_name.empty()) {
            owned_names.push_back(std::make_unique<std::string>(target.topic_name));
            target.topic_name = *owned_names.back();
        }
    }
}

bool FetchOperation::has_news(const Target& target, const Outcome& outcome) const {
    return outcome.error != ErrorCode::none || outcome.slice.size > 0 ||
           outcome.diverging.leader_epoch != kNoLeaderEpoch ||
           outcome.high_watermark != target.in_session->sent_high_watermark ||
           outcome.log_start_offset != target.in_session->sent_log_start_offset;
}

void FetchOperation::fill(Arena& arena, const Target& target, Outcome& outcome, FetchResponse::PartitionData& data,
                          std::vector<FileSlice>& slices) const {
    data.partition_index = target.index;
    data.error_code = outcome.error;
    data.high_watermark = outcome.high_watermark.value;
    data.last_stable_offset = outcome.last_stable_offset.value;
    data.log_start_offset = outcome.log_start_offset.value;
    // None, but for partitions that could not be looked at: their answer comes from elsewhere in Kafka.
    data.aborted_transactions = target.lookup_error == ErrorCode::none
                                    ? Array<FetchResponse::AbortedTransaction>(nullptr)
                                    : Array<FetchResponse::AbortedTransaction>();
    if (version >= kCurrentLeaderSince && (outcome.error == ErrorCode::not_leader_or_follower ||
                                           outcome.error == ErrorCode::fenced_leader_epoch)) [[unlikely]] {
        data.current_leader = {.leader_id = leader_id.value, .leader_epoch = target.partition->leader_epoch().value};
    }
    if (outcome.diverging.leader_epoch != kNoLeaderEpoch) {
        data.diverging_epoch = {.epoch = outcome.diverging.leader_epoch.value,
                                .end_offset = outcome.diverging.end_offset.value};
    }
    if (read_committed && outcome.error == ErrorCode::none) {
        data.aborted_transactions =
            aborted_transactions_of(arena, *target.partition->log, target.fetch_offset, outcome.slice, outcome.last_stable_offset);
    }
    FileSlice& slice = outcome.slice;
    if (slice.size == 0) {
        data.records = Records(Bytes());
        return;
    }
    if (slice.size >= kCopiedBytesMax && slice.file->descriptor() >= 0) {
        data.records = Records::external(static_cast<std::int32_t>(slices.size()), static_cast<std::int32_t>(slice.size));
        slices.push_back(std::move(slice));
        return;
    }
    auto* copied = static_cast<std::byte*>(arena.allocate_unlimited(slice.size, 1));
    const auto read = slice.file->read_at(slice.position, {copied, slice.size});
    if (!read || *read != slice.size) {
        data.error_code = ErrorCode::kafka_storage_error;
        data.records = Records(Bytes());
        return;
    }
    data.records = Records(Bytes(copied, slice.size));
}

std::int64_t FetchOperation::answer_bytes() const {
    constexpr std::int64_t kAroundTheAnswer = 20;
    constexpr std::int64_t kAroundAPartition = 60;
    return total_bytes_ + kAroundTheAnswer +
           kAroundAPartition * std::ranges::count_if(memory_.outcomes, [](const Outcome& outcome) { return outcome.slice.size > 0; });
}

bool FetchOperation::throttle(Turn& turn) {
    runtime::Broker& broker = turn.broker();
    // Nothing is fetched by who has to wait for another reason.
    if (throttled_client && pending.throttle_ms == 0) {
        const std::int64_t wait_ms =
            broker.throttles().use_or_leave(runtime::Throttled::fetched_bytes, *throttled_client,
                                            static_cast<double>(answer_bytes()), turn.now());
        pending.throttle_ms = static_cast<std::int32_t>(wait_ms);
    }
    if (pending.throttle_ms == 0) {
        return false;
    }
    FetchResponse empty;
    if (incremental) {
        empty.session_id = session_id;
    } else if (session) {
        // It begins with a full answer, and this is none.
        const std::scoped_lock lock(broker.fetch_sessions_mutex());
        broker.fetch_sessions().remove(session_id);
    }
    broker.deliver(pending.target, runtime::encode_reply(pending, empty));
    return true;
}

void FetchOperation::send(Turn& turn) {
    if ((throttled_client || pending.throttle_ms > 0) && throttle(turn)) [[unlikely]] {
        return;
    }
    Arena& arena = turn.arena();
    const std::vector<Target>& targets = memory_.targets;
    thread_local std::vector<FileSlice> slices;
    slices.clear();
    FetchResponse response;
    response.session_id = session_id;
    ArenaVector<FetchResponse::PartitionData> partitions(arena, targets.size());
    ArenaVector<FetchResponse::FetchableTopicResponse> topics(arena);
    ArenaVector<std::size_t> starts(arena);

    std::unique_lock<std::mutex> lock;
    bool session_is_current = false;
    if (session) {
        lock = std::unique_lock(turn.broker().fetch_sessions_mutex());
        session_is_current = session->next_epoch() == session_epoch;
    }
    const Target* previous = nullptr;
    // What could not be looked up comes last, as from Kafka.
    const std::size_t rounds = any_error_ ? 2 : 1;
    for (std::size_t step = 0; step < rounds * targets.size(); ++step) {
        const std::size_t i = step % targets.size();
        const Target& target = targets[i];
        Outcome& outcome = memory_.outcomes[i];
        if (any_error_ && (target.lookup_error != ErrorCode::none) != (step >= targets.size())) {
            continue;
        }
        if (session_is_current) {
            if (incremental && !has_news(target, outcome)) {
                continue;
            }
            target.in_session->sent_high_watermark = outcome.high_watermark;
            target.in_session->sent_log_start_offset = outcome.log_start_offset;
            if (outcome.slice.size > 0) {
                session->move_to_end(target.in_session);
            }
        }
        if (previous == nullptr || previous->topic_id != target.topic_id || previous->topic_name != target.topic_name) {
            FetchResponse::FetchableTopicResponse& topic = topics.emplace_back();
            topic.topic = target.topic_name;
            topic.topic_id = target.topic_id;
            starts.push_back(partitions.size());
        }
        previous = &target;
        fill(arena, target, outcome, partitions.emplace_back(), slices);
    }
    if (lock.owns_lock()) {
        lock.unlock();
    }
    for (std::size_t i = 0; i < topics.size(); ++i) {
        const std::size_t end = i + 1 < starts.size() ? starts[i + 1] : partitions.size();
        topics[i].partitions =
            Array<FetchResponse::PartitionData>(partitions.begin() + starts[i], end - starts[i]);
    }
    response.responses = topics;
    turn.broker().counters().fetched_bytes.fetch_add(static_cast<std::uint64_t>(total_bytes_), std::memory_order_relaxed);
    turn.broker().deliver(pending.target, runtime::encode_reply(pending, response, slices));
}

/// Anything below zero means that the client does not know the epoch.
LeaderEpoch epoch_to_check(std::int32_t epoch) { return epoch < 0 ? kNoLeaderEpoch : LeaderEpoch{epoch}; }

SessionPartition session_partition(const FetchRequest::FetchTopic& topic, const FetchRequest::FetchPartition& partition,
                                   bool by_id) {
    SessionPartition result;
    result.name.topic_id = topic.topic_id;
    if (!by_id) {
        result.name.topic = topic.topic;
    }
    result.name.partition = PartitionIndex{partition.partition};
    result.current_leader_epoch = epoch_to_check(partition.current_leader_epoch);
    result.fetch_offset = Offset{partition.fetch_offset};
    result.last_fetched_epoch = LeaderEpoch{partition.last_fetched_epoch};
    result.max_bytes = partition.partition_max_bytes;
    return result;
}

void resolve(runtime::RequestContext& context, Target& target, bool by_id) {
    const TopicLookup topic = find_topic(context, target.topic_name, target.topic_id, by_id);
    if (topic.state == nullptr) {
        target.lookup_error = topic.error;
        return;
    }
    if (topic.state->partition(target.index) == nullptr) {
        target.lookup_error = ErrorCode::unknown_topic_or_partition;
        return;
    }
    target.partition = topic.state->partitions[static_cast<std::size_t>(target.index)];
    target.watched_topic = topic.state->expansion ? topic.state : nullptr;
    if (runtime::ReaderObserver::watches(*topic.state)) [[unlikely]] {
        context.broker.reader_observer().on_fetch(context.turn.reactor().index(), *topic.state, context.client_id, context.client,
                                                  PartitionIndex{target.index}, target.fetch_offset, context.now().wall);
    }
    if (!by_id) {
        target.topic_name = topic.state->topic->name;
    }
}

Target target_of(runtime::RequestContext& context, const SessionPartition& partition, bool by_id) {
    Target target;
    target.topic_name = partition.name.topic;
    target.topic_id = partition.name.topic_id;
    target.index = partition.name.partition.value;
    target.current_leader_epoch = partition.current_leader_epoch;
    target.fetch_offset = partition.fetch_offset;
    target.last_fetched_epoch = partition.last_fetched_epoch;
    target.max_bytes = partition.max_bytes;
    resolve(context, target, by_id);
    return target;
}

std::int32_t random_session_id() {
    std::int32_t id = 0;
    while (id <= 0) {
        const ssize_t filled = ::getrandom(&id, sizeof id, 0);
        PARTITA_ASSERT(filled == sizeof id, "the kernel gives four random bytes");
        id &= 0x7fffffff;
    }
    return id;
}

/// Fills the targets from a request that names all of them.
void take_full_request(runtime::RequestContext& context, const FetchRequest& request, FetchOperation& operation,
                       bool by_id) {
    std::size_t count = 0;
    for (const FetchRequest::FetchTopic& topic : request.topics) {
        count += topic.partitions.count();
    }
    operation.targets().reserve(count);
    for (const FetchRequest::FetchTopic& topic : request.topics) {
        for (const FetchRequest::FetchPartition& partition : topic.partitions) {
            Target& target = operation.targets().emplace_back();
            target.topic_name = by_id ? std::string_view() : topic.topic;
            target.topic_id = by_id ? topic.topic_id : TopicId{};
            target.index = partition.partition;
            target.current_leader_epoch = epoch_to_check(partition.current_leader_epoch);
            target.fetch_offset = Offset{partition.fetch_offset};
            target.last_fetched_epoch = LeaderEpoch{partition.last_fetched_epoch};
            target.max_bytes = partition.partition_max_bytes;
            resolve(context, target, by_id);
        }
    }
}

/// Serves the session part of a request: which partitions are meant. A top-level error otherwise.
ErrorCode take_session(runtime::RequestContext& context, const FetchRequest& request, FetchOperation& operation,
                       bool by_id) {
    runtime::Broker& broker = context.broker;
    const Instant now = context.now().monotonic;
    if (request.session_epoch == 0 || request.session_epoch == kFinalEpoch) {
        take_full_request(context, request, operation, by_id);
        if (context.version() < 7) {
            return ErrorCode::none;
        }
        const std::scoped_lock lock(broker.fetch_sessions_mutex());
        if (request.session_id != 0) {
            broker.fetch_sessions().remove(request.session_id);
        }
        if (request.session_epoch == kFinalEpoch) {
            return ErrorCode::none;
        }
        operation.session = broker.fetch_sessions().create(random_session_id(), by_id, operation.targets().size(), now);
        if (operation.session) {
            operation.session_id = operation.session->id();
            std::size_t i = 0;
            for (const FetchRequest::FetchTopic& topic : request.topics) {
                for (const FetchRequest::FetchPartition& partition : topic.partitions) {
                    operation.targets()[i++].in_session = operation.session->put(session_partition(topic, partition, by_id));
                }
            }
            operation.session_epoch = operation.session->next_epoch();
        }
        return ErrorCode::none;
    }
    const std::scoped_lock lock(broker.fetch_sessions_mutex());
    const fetch::FetchSessions::Found found =
        broker.fetch_sessions().use(request.session_id, request.session_epoch, by_id, now);
    if (found.error != ErrorCode::none) {
        return found.error;
    }
    operation.session = found.session;
    operation.session_id = found.session->id();
    operation.incremental = true;
    for (const FetchRequest::ForgottenTopic& topic : request.forgotten_topics_data) {
        for (const std::int32_t partition : topic.partitions) {
            found.session->forget({.topic_id = topic.topic_id,
                                   .topic = by_id ? std::string() : std::string(topic.topic),
                                   .partition = PartitionIndex{partition}});
        }
    }
    for (const FetchRequest::FetchTopic& topic : request.topics) {
        for (const FetchRequest::FetchPartition& partition : topic.partitions) {
            found.session->put(session_partition(topic, partition, by_id));
        }
    }
    operation.session_epoch = found.session->next_epoch();
    operation.targets().reserve(found.session->partition_count());
    for (auto partition = found.session->partitions().begin(); partition != found.session->partitions().end();
         ++partition) {
        operation.targets().push_back(target_of(context, *partition, by_id));
        operation.targets().back().in_session = partition;
        if (!operation.targets().back().partition) {
            // The name belongs to the session, which others may change meanwhile.
            operation.owned_names.push_back(std::make_unique<std::string>(partition->name.topic));
            operation.targets().back().topic_name = *operation.owned_names.back();
        }
    }
    return ErrorCode::none;
}

void park(runtime::RequestContext& context, std::unique_ptr<FetchOperation> operation, std::int32_t max_wait_ms) {
    std::vector<Turn::WaitFor> waits;
    waits.reserve(operation->targets().size());
    for (std::size_t i = 0; i < operation->targets().size(); ++i) {
        const Target& target = operation->targets()[i];
        const Outcome& outcome = operation->outcomes()[i];
        // Who waits to be known waits for that alone.
        const std::int64_t countable = outcome.held || operation->is_undecided() ? 0 : std::max<std::int64_t>(1, target.max_bytes) - outcome.slice.size;
        waits.push_back({.partition = target.partition,
                         .seen_end = outcome.held ? target.partition->log->high_watermark() : outcome.high_watermark,
                         .countable_bytes = std::max<std::int64_t>(0, countable)});
    }
    const std::int64_t missing = operation->is_undecided() ? 1 : operation->min_bytes - operation->total_bytes();
    operation->pending = context.park();
    operation->table = context.turn.shared_topics();
    operation->own_names();
    const Instant deadline = context.now().monotonic + max_wait_ms + fetch::grace_ms(max_wait_ms);
    context.client.parked_fetch = context.turn.park_fetch(std::move(operation), waits, missing, deadline);
}

}  // namespace

void fetch(runtime::RequestContext& context) {
    const FetchRequest* request = context.decode<FetchRequest>();
    if (request == nullptr) {
        return;
    }
    note_consumer(context);
    const bool by_id = context.version() >= 13;
    auto operation = std::make_unique<FetchOperation>();
    operation->version = context.version();
    operation->read_committed = request->isolation_level == 1;
    operation->leader_id = context.broker.node_id();
    operation->from_follower = (context.version() >= 15 ? request->replica_state.replica_id : request->replica_id) >= 0;
    operation->max_bytes = std::min(request->max_bytes, context.broker.config()->fetch_max_bytes);
    if (context.broker.throttles().limits(runtime::Throttled::fetched_bytes)) [[unlikely]] {
        // More could never be had without waiting.
        operation->throttled_client = context.client_id;
        operation->max_bytes = std::min(
            operation->max_bytes, context.broker.throttles().most_bytes_at_once(runtime::Throttled::fetched_bytes, context.client_id));
    }
    operation->min_bytes = std::min(request->min_bytes, operation->max_bytes);

    if (const ErrorCode error = take_session(context, *request, *operation, by_id); error != ErrorCode::none) {
        FetchResponse response;
        response.error_code = error;
        context.reply(response);
        return;
    }
    if (std::ranges::any_of(operation->targets(), [](const Target& target) { return target.watched_topic != nullptr; })) {
        operation->client = client_identity(context);
        operation->connection = context.client.id;
        for (const Target& target : operation->targets()) {
            if (target.watched_topic != nullptr) {
                tell_when_closed(context, target.watched_topic->expansion);
            }
        }
    }
    operation->read(context.turn);
    if (request->max_wait_ms <= 0 || operation->must_answer_now()) {
        operation->pending = context.defer();
        operation->send(context.turn);
        return;
    }
    park(context, std::move(operation), request->max_wait_ms);
}

}  // namespace partita::handlers
