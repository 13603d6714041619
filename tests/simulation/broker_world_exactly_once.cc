#include <algorithm>
#include <array>
#include <charconv>
#include <map>
#include <optional>
#include <set>

#include "protocol/messages/00_produce.h"
#include "protocol/messages/01_fetch.h"
#include "protocol/messages/09_offset_fetch.h"
#include "protocol/messages/10_find_coordinator.h"
#include "protocol/messages/19_create_topics.h"
#include "protocol/messages/22_init_producer_id.h"
#include "protocol/messages/24_add_partitions_to_txn.h"
#include "protocol/messages/25_add_offsets_to_txn.h"
#include "protocol/messages/26_end_txn.h"
#include "protocol/messages/28_txn_offset_commit.h"
#include "protocol/record_batch_builder.h"
#include "tests/simulation/broker_world_records.h"
#include "tests/simulation/broker_world_scene.h"

// Two streams of work, each like a task of Kafka Streams. A stream's position is the offset that its group committed. Each
// transaction emits the numbers behind the position and commits the position behind those. The committed records of a stream are
// therefore all numbers below its position, each once. Those of one partition ascend without a gap, whatever dies.

namespace partita::test {
namespace {

const std::string kWorkTopic = "exact";
constexpr std::int32_t kWorkPartitions = 2;
constexpr std::size_t kStreams = 2;
constexpr std::int32_t kTransactionTimeoutMs = 3'000;

struct WorkDiary {
    WorkDiary(ClientsWorld& clients_world, bool is_bumping) : world(clients_world), bumps_epochs(is_bumping) {}

    struct Stream {
        /// Numbers below it were committed, and the broker said so.
        std::int64_t acknowledged = 0;
    };
    struct Attempt {
        int run = 0;
        std::size_t stream = 0;
        /// A worker asked for its commit.
        bool may_be_committed = false;
    };

    [[nodiscard]] std::string group() const { return "exact-" + std::to_string(run); }
    /// A power failure takes from each log what that log had not synced, so that nothing is known about earlier runs.
    void begin_run() {
        ++run;
        is_made = false;
        streams = {};
    }
    void note_wrong(const std::string& what) const { world.ledger.note_wrong(kWorkTopic + ": " + what); }

    ClientsWorld& world;
    /// True when the clients end transactions by KIP-890, false when they do so as before it.
    const bool bumps_epochs;
    int run = 1;
    bool is_made = false;
    std::array<Stream, kStreams> streams;
    std::map<std::int64_t, Attempt> attempts;
    std::int64_t last_attempt = 0;
};

std::string id_of(std::size_t stream) { return "exact-" + std::to_string(stream); }

/// A record: which attempt at a transaction emitted which number.
struct Emitted {
    std::int64_t attempt = 0;
    std::int64_t number = 0;
};

std::string text_of(const Emitted& emitted) { return std::to_string(emitted.attempt) + ":" + std::to_string(emitted.number); }

std::optional<Emitted> emitted_of(const std::string& text) {
    Emitted emitted;
    const char* end = text.data() + text.size();
    const auto attempt = std::from_chars(text.data(), end, emitted.attempt);
    if (attempt.ec != std::errc() || attempt.ptr == end || *attempt.ptr != ':') {
        return std::nullopt;
    }
    const auto number = std::from_chars(attempt.ptr + 1, end, emitted.number);
    return number.ec == std::errc() && number.ptr == end ? std::optional(emitted) : std::nullopt;
}

/// One of several workers on a stream. They share its transactional id, so that the latest worker has fenced the others.
class Worker final : public SimulatedClient {
  public:
    Worker(ClientsWorld& world, WorkDiary& diary, std::size_t stream, std::string name)
        : SimulatedClient(world, std::move(name)), diary_(diary), stream_(stream), id_(id_of(stream)) {}

    void act() override {
        if (waits() || rests_until_ > now()) {
            return;
        }
        if (!diary_.is_made) {
            return make_topic();
        }
        if (run_ != diary_.run) {
            begin_anew();
        }
        // A worker takes over the work while another one is alive.
        if (world_.one_in(60)) {
            begin_anew();
        }
        switch (step_) {
            case Step::find:
                return find();
            case Step::init:
                return init();
            case Step::position:
                return ask_position();
            case Step::begin:
                return begin();
            case Step::add_partitions:
                return add_partitions();
            case Step::produce:
                return produce();
            case Step::add_offsets:
                return add_offsets();
            case Step::commit_offsets:
                return commit_offsets();
            case Step::end:
                return end();
        }
    }

  private:
    enum class Step : std::uint8_t {
        find,
        init,
        position,
        begin,
        add_partitions,
        produce,
        add_offsets,
        commit_offsets,
        end,
    };

    void make_topic() {
        std::array topics{
            CreateTopicsRequest::CreatableTopic{.name = kWorkTopic, .num_partitions = kWorkPartitions, .replication_factor = 1}};
        ask<CreateTopicsResponse>(7, CreateTopicsRequest{.topics = topics}, [this](const auto& response) {
            const ErrorCode error = response.topics[0].error_code;
            diary_.is_made = error == ErrorCode::none || error == ErrorCode::topic_already_exists;
        });
    }
    void find() {
        run_ = diary_.run;
        find_coordinator(diary_.group());
        std::array<std::string_view, 1> keys{id_};
        ask<FindCoordinatorResponse>(4, FindCoordinatorRequest{.key_type = 1, .coordinator_keys = keys},
                                     [this](const auto& response) {
                                         if (response.coordinators[0].error_code == ErrorCode::none) {
                                             step_ = Step::init;
                                         }
                                     });
    }
    void init() {
        ask<InitProducerIdResponse>(
            4, InitProducerIdRequest{.transactional_id = id_, .transaction_timeout_ms = kTransactionTimeoutMs},
            [this](const auto& response) {
                if (response.error_code != ErrorCode::none) {
                    return repeat_or_find(response.error_code);
                }
                producer_ = {response.producer_id, response.producer_epoch};
                sequences_ = {};
                step_ = Step::position;
            });
    }
    void ask_position() {
        std::array<std::int32_t, 1> partitions{static_cast<std::int32_t>(stream_)};
        std::array topics{OffsetFetchRequest::Topic{.name = kWorkTopic, .partition_indexes = partitions}};
        const std::string group = diary_.group();
        const OffsetFetchRequest request{.group_id = group, .topics = topics, .require_stable = true};
        ask<OffsetFetchResponse>(
            7, request, [this, run = diary_.run, acknowledged = diary_.streams[stream_].acknowledged](const auto& response) {
                if (response.error_code != ErrorCode::none) {
                    return repeat_or_find(response.error_code);
                }
                const auto& found = response.topics[0].partitions[0];
                if (found.error_code != ErrorCode::none) {
                    world_.happened["positions that were unstable"] += found.error_code == ErrorCode::unstable_offset_commit;
                    return;
                }
                position_ = std::max<std::int64_t>(found.committed_offset, 0);
                if (run == diary_.run && position_ < acknowledged) {
                    diary_.note_wrong("the position of stream " + std::to_string(stream_) + " was " +
                                      std::to_string(acknowledged) + ", and found is " + std::to_string(position_));
                }
                step_ = Step::begin;
            });
    }
    void begin() {
        count_ = 1 + static_cast<std::int64_t>(world_.below(4));
        attempt_ = ++diary_.last_attempt;
        diary_.attempts[attempt_] = {.run = run_, .stream = stream_};
        commits_ = !world_.one_in(4);
        step_ = diary_.bumps_epochs ? Step::produce : Step::add_partitions;
        diary_.bumps_epochs ? produce() : add_partitions();
    }
    void add_partitions() {
        std::array<std::int32_t, kWorkPartitions> partitions{0, 1};
        std::array topics{AddPartitionsToTxnRequest::AddPartitionsToTxnTopic{.name = kWorkTopic, .partitions = partitions}};
        ask<AddPartitionsToTxnResponse>(
            3,
            AddPartitionsToTxnRequest{.v3_and_below_transactional_id = id_,
                                      .v3_and_below_producer_id = producer_.id,
                                      .v3_and_below_producer_epoch = producer_.epoch,
                                      .v3_and_below_topics = topics},
            [this](const auto& response) {
                for (const auto& result : response.results_by_topic_v3_and_below[0].results_by_partition) {
                    if (result.partition_error_code == ErrorCode::concurrent_transactions) {
                        return;
                    }
                    if (result.partition_error_code != ErrorCode::none) {
                        return give_up(result.partition_error_code);
                    }
                }
                step_ = Step::produce;
            });
    }
    void produce() {
        std::vector<ProduceRequest::PartitionProduceData> partitions;
        std::array<std::vector<std::byte>, kWorkPartitions> batches;
        for (std::int32_t partition = 0; partition < kWorkPartitions; ++partition) {
            const auto index = static_cast<std::size_t>(partition);
            BatchBuilder builder({.producer_id = {producer_.id},
                                  .producer_epoch = {producer_.epoch},
                                  .base_sequence = {sequences_[index]},
                                  .transactional = true});
            for (std::int64_t number = position_; number < position_ + count_; ++number) {
                if (number % kWorkPartitions != partition) {
                    continue;
                }
                builder.append(world_.clock.now().wall, as_bytes(name_), as_bytes(text_of({attempt_, number})));
            }
            if (builder.record_count() == 0) {
                continue;
            }
            sequences_[index] += builder.record_count();
            builder.build(batches[index]);
            partitions.push_back({.index = partition, .records = Records(Bytes(batches[index]))});
        }
        std::array topics{ProduceRequest::TopicProduceData{.name = kWorkTopic, .partition_data = partitions}};
        ask<ProduceResponse>(diary_.bumps_epochs ? 12 : 11,
                             ProduceRequest{.transactional_id = id_, .acks = -1, .timeout_ms = 5'000, .topic_data = topics},
                             [this](const auto& response) {
                                 for (const auto& answered : response.responses[0].partition_responses) {
                                     world_.happened["batches that were told of another transaction under way"] +=
                                         answered.error_code == ErrorCode::concurrent_transactions;
                                     if (answered.error_code != ErrorCode::none) {
                                         return give_up(answered.error_code);
                                     }
                                 }
                                 step_ = diary_.bumps_epochs ? Step::commit_offsets : Step::add_offsets;
                             });
    }
    void add_offsets() {
        ask<AddOffsetsToTxnResponse>(3,
                                     AddOffsetsToTxnRequest{.transactional_id = id_,
                                                            .producer_id = producer_.id,
                                                            .producer_epoch = producer_.epoch,
                                                            .group_id = diary_.group()},
                                     [this](const auto& response) {
                                         if (response.error_code != ErrorCode::none) {
                                             return give_up(response.error_code);
                                         }
                                         step_ = Step::commit_offsets;
                                     });
    }
    void commit_offsets() {
        std::array partitions{TxnOffsetCommitRequest::Partition{.partition_index = static_cast<std::int32_t>(stream_),
                                                                .committed_offset = position_ + count_}};
        std::array topics{TxnOffsetCommitRequest::Topic{.name = kWorkTopic, .partitions = partitions}};
        ask<TxnOffsetCommitResponse>(diary_.bumps_epochs ? 5 : 4,
                                     TxnOffsetCommitRequest{.transactional_id = id_,
                                                            .group_id = diary_.group(),
                                                            .producer_id = producer_.id,
                                                            .producer_epoch = producer_.epoch,
                                                            .topics = topics},
                                     [this](const auto& response) {
                                         const ErrorCode error = response.topics[0].partitions[0].error_code;
                                         if (error != ErrorCode::none) {
                                             return give_up(error);
                                         }
                                         step_ = Step::end;
                                     });
    }
    void end() {
        diary_.attempts[attempt_].may_be_committed = commits_;
        was_end_asked_ = true;
        // A decision, its markers and the record that all are written are few among all changes.
        if (world_.one_in(3)) {
            world_.endanger();
        }
        ask<EndTxnResponse>(
            diary_.bumps_epochs ? 5 : 4,
            EndTxnRequest{
                .transactional_id = id_, .producer_id = producer_.id, .producer_epoch = producer_.epoch, .committed = commits_},
            [this](const auto& response) { note_end(response); });
    }
    void note_end(const EndTxnResponse& response) {
        const ErrorCode error = response.error_code;
        if (error == ErrorCode::concurrent_transactions || error == ErrorCode::coordinator_load_in_progress ||
            is_no_coordinator(error)) {
            return;  // It asks again.
        }
        was_end_asked_ = false;
        if (error != ErrorCode::none) {
            return give_up(error);
        }
        ++world_.happened[commits_ ? "transactions that were committed" : "transactions that were aborted"];
        if (commits_) {
            position_ += count_;
            diary_.streams[stream_].acknowledged = std::max(diary_.streams[stream_].acknowledged, position_);
        }
        if (diary_.bumps_epochs) {
            producer_ = {response.producer_id, response.producer_epoch};
            sequences_ = {};
        }
        step_ = Step::begin;
    }
    void repeat_or_find(ErrorCode error) {
        if (is_no_coordinator(error)) {
            step_ = Step::find;
        }
    }
    /// The next epoch ends the open transaction.
    void give_up(ErrorCode error) {
        if (error == ErrorCode::producer_fenced || error == ErrorCode::invalid_producer_epoch) {
            ++world_.happened["workers that were fenced"];
            rests_until_ = now() + 500 + static_cast<std::int64_t>(world_.below(3'000));
        }
        begin_anew();
    }
    void begin_anew() {
        run_ = diary_.run;
        was_end_asked_ = false;
        step_ = Step::find;
    }
    void on_lost() override {
        // With KIP-890 a client may ask for the end again; before, the broker could take it for the end of the next transaction.
        if (was_end_asked_ && diary_.bumps_epochs && run_ == diary_.run && world_.one_in(2)) {
            return;
        }
        begin_anew();
    }

    struct Producer {
        std::int64_t id = -1;
        std::int16_t epoch = -1;
    };

    WorkDiary& diary_;
    const std::size_t stream_;
    const std::string id_;
    int run_ = 0;
    Step step_ = Step::find;
    Instant rests_until_{};
    Producer producer_;
    std::array<std::int32_t, kWorkPartitions> sequences_{};
    /// Position in the stream.
    std::int64_t position_ = 0;
    std::int64_t attempt_ = 0;
    std::int64_t count_ = 0;
    bool commits_ = false;
    bool was_end_asked_ = false;
};

/// Reads committed records in their order, and checks in the end that none is missing.
class WorkReader final : public SimulatedClient {
  public:
    WorkReader(ClientsWorld& world, WorkDiary& diary) : SimulatedClient(world, "exact-reader"), diary_(diary) {}

    void act() override {
        if (waits() || !diary_.is_made) {
            return;
        }
        if (world_.one_in(30)) {
            forget();
        }
        read(0);
    }
    bool look_back(bool is_first) override {
        constexpr int kRoundsMax = 60;
        if (!diary_.is_made) {
            return false;
        }
        if (is_first) {
            forget();
            rounds_ = 0;
            are_positions_known_ = false;
            usable_ids_ = 0;
        }
        if (!is_at_end()) {
            if (++rounds_ > kRoundsMax) {
                diary_.note_wrong("a transaction stays open for good");
                return false;
            }
            // Time passes with this, so that the broker aborts transactions that no client ends.
            read(2'000);
            return true;
        }
        if (!are_positions_known_) {
            ask_positions();
            return true;
        }
        if (usable_ids_ < kStreams) {
            if (++rounds_ > kRoundsMax) {
                diary_.note_wrong(id_of(usable_ids_) + " cannot be used any more");
                return false;
            }
            try_id();
            return true;
        }
        for (std::size_t stream = 0; stream < kStreams; ++stream) {
            for (std::int32_t partition = 0; partition < kWorkPartitions; ++partition) {
                std::int64_t next = next_of(stream, partition);
                std::int64_t wanted = positions_[stream];
                while (wanted % kWorkPartitions != partition) {
                    ++wanted;
                }
                if (next != wanted) {
                    diary_.note_wrong("stream " + std::to_string(stream) + " stands at " + std::to_string(positions_[stream]) +
                                      ", and partition " + std::to_string(partition) + " goes on with " + std::to_string(next));
                }
            }
        }
        return false;
    }

  private:
    struct Place {
        std::int64_t offset = 0;
        /// Everything has been read.
        bool is_at_end = false;
        std::array<std::optional<std::int64_t>, kStreams> next{};
    };

    [[nodiscard]] std::int64_t next_of(std::size_t stream, std::int32_t partition) const {
        return places_[static_cast<std::size_t>(partition)].next[stream].value_or(partition);
    }
    [[nodiscard]] bool is_at_end() const { return std::ranges::all_of(places_, &Place::is_at_end); }
    void forget() {
        run_ = diary_.run;
        places_ = {};
    }
    void read(std::int32_t wait_ms) {
        if (run_ != diary_.run) {
            forget();
        }
        std::array<FetchRequest::FetchPartition, kWorkPartitions> partitions;
        for (std::int32_t index = 0; index < kWorkPartitions; ++index) {
            partitions[static_cast<std::size_t>(index)] = {.partition = index,
                                                           .fetch_offset = places_[static_cast<std::size_t>(index)].offset,
                                                           .partition_max_bytes = world_.one_in(3) ? 100 : 1 << 20};
        }
        std::array topics{FetchRequest::FetchTopic{.topic = kWorkTopic, .partitions = partitions}};
        ask<FetchResponse>(11, FetchRequest{.max_wait_ms = wait_ms, .min_bytes = 1 << 20, .isolation_level = 1, .topics = topics},
                           [this, run = run_](const auto& response) {
                               if (run != diary_.run || run != run_ || response.responses.count() == 0) {
                                   return;
                               }
                               for (const auto& data : response.responses[0].partitions) {
                                   if (data.error_code == ErrorCode::none) {
                                       note_read(data);
                                   }
                               }
                           });
    }
    void note_read(const FetchResponse::PartitionData& data) {
        Place& place = places_[static_cast<std::size_t>(data.partition_index)];
        std::vector<FetchResponse::AbortedTransaction> aborted(data.aborted_transactions.begin(),
                                                               data.aborted_transactions.end());
        std::ranges::sort(aborted, {}, &FetchResponse::AbortedTransaction::first_offset);
        std::size_t next_aborted = 0;
        std::set<std::int64_t> aborting;
        BatchCursor cursor(data.records.bytes());
        while (cursor.next()) {
            const Batch& batch = cursor.batch();
            const std::int64_t last = batch.header.last_offset().value;
            while (next_aborted < aborted.size() && aborted[next_aborted].first_offset <= last) {
                aborting.insert(aborted[next_aborted++].producer_id);
            }
            if (batch.header.attributes.is_control()) {
                aborting.erase(batch.header.producer_id.value);
            } else if (!aborting.contains(batch.header.producer_id.value)) {
                (void)for_each_record(batch, {}, [&](const RecordView& record) {
                    if (record.offset.value >= place.offset) {
                        note_record(place, data.partition_index, std::string(as_text(*record.value)));
                    }
                });
            }
            place.offset = std::max(place.offset, last + 1);
        }
        place.is_at_end = place.offset == data.high_watermark && data.last_stable_offset == data.high_watermark;
    }
    void note_record(Place& place, std::int32_t partition, const std::string& value) {
        const std::optional<Emitted> emitted = emitted_of(value);
        const auto found = emitted ? diary_.attempts.find(emitted->attempt) : diary_.attempts.end();
        if (found == diary_.attempts.end()) {
            return diary_.note_wrong(value + ", which nobody sent, is read");
        }
        const WorkDiary::Attempt& attempt = found->second;
        if (attempt.run != run_) {
            return;
        }
        if (!attempt.may_be_committed) {
            diary_.note_wrong(value + ", of which nobody asked for the commit, is read");
        }
        const std::int64_t next = next_of(attempt.stream, partition);
        if (emitted->number != next) {
            diary_.note_wrong("partition " + std::to_string(partition) + " goes on with " + value + " in stream " +
                              std::to_string(attempt.stream) + ", and not with " + std::to_string(next));
        }
        ++world_.happened["records that were read exactly once"];
        place.next[attempt.stream] = emitted->number + kWorkPartitions;
    }
    void ask_positions() {
        std::array<std::int32_t, kStreams> partitions{0, 1};
        std::array topics{OffsetFetchRequest::Topic{.name = kWorkTopic, .partition_indexes = partitions}};
        find_coordinator(diary_.group());
        const std::string group = diary_.group();
        const OffsetFetchRequest request{.group_id = group, .topics = topics, .require_stable = true};
        ask<OffsetFetchResponse>(7, request, [this](const auto& response) {
            if (response.error_code != ErrorCode::none) {
                return;
            }
            for (const auto& found : response.topics[0].partitions) {
                const auto stream = static_cast<std::size_t>(found.partition_index);
                if (found.error_code != ErrorCode::none) {
                    diary_.note_wrong("everything has ended, and a position is " + std::string(error_name(found.error_code)));
                }
                positions_[stream] = std::max<std::int64_t>(found.committed_offset, 0);
                if (positions_[stream] < diary_.streams[stream].acknowledged) {
                    diary_.note_wrong("stream " + std::to_string(stream) + " fell back to " + std::to_string(positions_[stream]));
                }
            }
            are_positions_known_ = true;
        });
    }
    /// Asks for the next transactional id. Open transactions end meanwhile, so that the broker grants the id in the end.
    void try_id() {
        const std::string id = id_of(usable_ids_);
        std::array<std::string_view, 1> keys{id};
        ask<FindCoordinatorResponse>(4, FindCoordinatorRequest{.key_type = 1, .coordinator_keys = keys}, [](const auto&) {});
        ask<InitProducerIdResponse>(
            4, InitProducerIdRequest{.transactional_id = id, .transaction_timeout_ms = kTransactionTimeoutMs},
            [this](const auto& response) { usable_ids_ += response.error_code == ErrorCode::none ? 1 : 0; });
        // Time passes with this.
        read(500);
    }
    void on_lost() override { forget(); }

    WorkDiary& diary_;
    int run_ = 0;
    std::array<Place, kWorkPartitions> places_{};
    int rounds_ = 0;
    bool are_positions_known_ = false;
    std::array<std::int64_t, kStreams> positions_{};
    /// Number of streams, from the first on, whose transactional id the broker has granted.
    std::size_t usable_ids_ = 0;
};

class ExactlyOnce final : public Scene {
  public:
    explicit ExactlyOnce(ClientsWorld& world) : diary_(world, !world.one_in(3)) {}

    std::vector<std::string> overrides() const override {
        return {"transaction.state.log.num.partitions=2", "transaction.abort.timed.out.transaction.cleanup.interval.ms=500"};
    }
    std::vector<std::unique_ptr<SimulatedClient>> clients() override {
        std::vector<std::unique_ptr<SimulatedClient>> all;
        for (std::size_t worker = 0; worker < 2 * kStreams; ++worker) {
            all.push_back(std::make_unique<Worker>(diary_.world, diary_, worker % kStreams, "x" + std::to_string(worker)));
        }
        all.push_back(std::make_unique<WorkReader>(diary_.world, diary_));
        return all;
    }
    void broker_died(Instant /*died*/, Instant /*started*/, bool is_power_failure) override {
        if (is_power_failure) {
            diary_.begin_run();
        }
    }

  private:
    WorkDiary diary_;
};

}  // namespace

std::unique_ptr<Scene> exactly_once(ClientsWorld& world) { return std::make_unique<ExactlyOnce>(world); }

}  // namespace partita::test
