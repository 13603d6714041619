#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <map>
#include <memory>
#include <optional>
#include <ostream>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "broker/transactions/record_codec.h"
#include "broker/transactions/transaction_coordinator.h"
#include "protocol/record_batch.h"
#include "protocol/record_batch_builder.h"

namespace partita {
inline void PrintTo(ErrorCode error, std::ostream* out) { *out << (error == ErrorCode::none ? "NONE" : error_name(error)); }
namespace transactions {
inline void PrintTo(TransactionState state, std::ostream* out) { *out << state_name(state); }
inline void PrintTo(const Producer& producer, std::ostream* out) { *out << producer.id.value << "/" << producer.epoch.value; }
}  // namespace transactions
}  // namespace partita

namespace partita::transactions::testing {

/// A marker of a partition, in words: "commit 1000/0".
inline std::string marker_text(Bytes bytes) {
    const auto batch = parse_batch(bytes);
    if (!batch) {
        return "no batch";
    }
    RecordReader reader(*batch);
    RecordView record;
    if (!reader.next(record).value_or(false)) {
        return "no record";
    }
    const auto marker = parse_end_transaction_marker(record);
    if (!marker) {
        return "no marker";
    }
    return std::string(marker->type == ControlRecordType::commit ? "commit " : "abort ") +
           std::to_string(batch->header.producer_id.value) + "/" + std::to_string(batch->header.producer_epoch.value);
}

/// A coordinator with a log, which keeps records as bytes, and partitions that take markers. After each call its durable state is
/// compared with that of a coordinator that only replays the log.
class TransactionFixture : public ::testing::Test {
  protected:
    static constexpr std::int64_t kAbortCheckMs = 10'000;
    static constexpr std::int64_t kExpiryCheckMs = 3'600'000;
    static constexpr std::int64_t kExpirationMs = 7LL * 24 * 3'600'000;
    static constexpr std::int32_t kMaxTimeoutMs = 900'000;
    static constexpr std::int32_t kTimeoutMs = 60'000;

    TransactionFixture() { begin(); }

    [[nodiscard]] static TransactionConfig config(TransactionVersion version = TransactionVersion::v2) {
        return {.max_timeout_ms = kMaxTimeoutMs,
                .id_expiration_ms = kExpirationMs,
                .abort_check_interval_ms = kAbortCheckMs,
                .id_expiry_check_interval_ms = kExpiryCheckMs,
                .version = version};
    }

    /// Starts: a new coordinator replays the log.
    void begin() {
        coordinator_ = std::make_unique<TransactionCoordinator>(config_, kCoordinatorEpoch);
        for (const Stored& stored : log_) {
            replay(stored, *coordinator_);
        }
        coordinator_->loaded(now_, effects_);
        settle();
    }
    void pass(std::int64_t duration_ms) {
        now_.monotonic = now_.monotonic + duration_ms;
        now_.wall.value += duration_ms;
    }
    /// Lets time pass from deadline to deadline, as the shell does.
    void run_for(std::int64_t duration_ms) {
        const Instant end = now_.monotonic + duration_ms;
        for (auto next = coordinator_->next_deadline(); next && *next <= end; next = coordinator_->next_deadline()) {
            pass(std::max<std::int64_t>(*next - now_.monotonic, 0));
            const std::size_t before = records_ + writes_;
            coordinator_->tick(now_, effects_);
            settle();
            ASSERT_TRUE(coordinator_->next_deadline() != next || records_ + writes_ != before) << "time stands still";
        }
        pass(end - now_.monotonic);
    }

    template <class Command>
    typename Command::Result ask(Command command) {
        command.reply_to = {++last_token_};
        coordinator_->decide(command, now_, effects_);
        settle();
        auto reply = replies_.extract(last_token_);
        EXPECT_FALSE(reply.empty()) << "a command is answered by its own call";
        return std::get<typename Command::Result>(std::move(reply.mapped()));
    }
    /// Initializes the producer; the coordinator gets a fresh producer id when it asks for one.
    InitProducerIdResult init(std::string_view id, std::optional<Producer> expected = std::nullopt,
                              std::int32_t timeout_ms = kTimeoutMs) {
        InitProducerId command{.transactional_id = id, .timeout_ms = timeout_ms, .expected = expected};
        InitProducerIdResult result = ask(command);
        if (result.needs_producer_id) {
            command.fresh_producer_id = ProducerId{next_producer_id_++};
            result = ask(command);
        }
        return result;
    }
    ErrorCode add(std::string_view id, Producer producer, std::vector<std::int32_t> partitions,
                  TransactionVersion version = TransactionVersion::v2) {
        std::vector<WrittenPartition> named;
        for (const std::int32_t partition : partitions) {
            named.push_back({"t", {partition}});
        }
        return ask(AddPartitions{.transactional_id = id, .producer = producer, .partitions = named, .client_version = version})
            .error;
    }
    EndTransactionResult end(std::string_view id, Producer producer, bool commit,
                             TransactionVersion version = TransactionVersion::v2) {
        EndTransaction command{.transactional_id = id, .producer = producer, .commit = commit, .client_version = version};
        EndTransactionResult result = ask(command);
        if (result.needs_producer_id) {
            command.fresh_producer_id = ProducerId{next_producer_id_++};
            result = ask(command);
        }
        return result;
    }
    DescribeTransactionResult describe(std::string_view id) { return ask(DescribeTransaction{.transactional_id = id}); }
    TransactionState state_of(std::string_view id) { return describe(id).state; }
    std::vector<std::string> listed(const ListTransactions& command) {
        std::vector<std::string> ids;
        for (const auto& entry : ask(command).transactions) {
            ids.push_back(entry.transactional_id);
        }
        return ids;
    }
    /// Puts a record of another broker into the log.
    void store(const Record& record) {
        ByteBuffer buffer;
        const auto encoded = encode_record(record, buffer);
        ASSERT_TRUE(encoded.has_value());
        log_.push_back(stored(*encoded));
    }

    [[nodiscard]] std::vector<std::string> markers_of(std::int32_t partition) {
        return markers_["t-" + std::to_string(partition)];
    }

    static constexpr std::int32_t kCoordinatorEpoch = 3;
    Now now_{{1'000'000}, {1'700'000'000'000}};
    TransactionConfig config_ = config();
    std::unique_ptr<TransactionCoordinator> coordinator_;
    /// Results of the next writes, by partition; writes to other partitions succeed.
    std::map<std::string, ErrorCode> failing_;
    std::size_t records_ = 0;
    std::size_t writes_ = 0;
    std::size_t largest_effect_writes_ = 0;
    std::int64_t next_producer_id_ = 1000;

  private:
    struct Stored {
        std::string key;
        std::optional<std::string> value;
    };
    static Stored stored(const coordination::EncodedRecord& encoded) {
        Stored one{std::string(as_text(encoded.key)), std::nullopt};
        if (encoded.value) {
            one.value = as_text(*encoded.value);
        }
        return one;
    }
    void replay(const Stored& stored, TransactionCoordinator& coordinator) {
        Arena arena;
        const auto record = TransactionCoordinator::decode(
            as_bytes(stored.key), stored.value ? std::optional(as_bytes(*stored.value)) : std::nullopt, arena);
        ASSERT_TRUE(record.has_value() && record->has_value());
        coordinator.replay(**record);
    }

    /// Carries out the effects, as the shell does.
    void settle() {
        while (!effects_.empty()) {
            Effects effects = std::move(effects_);
            effects_ = {};
            for (const Record& record : effects.records) {
                ByteBuffer buffer;
                const auto encoded = encode_record(record, buffer);
                ASSERT_TRUE(encoded.has_value());
                log_.push_back(stored(*encoded));
                ++records_;
            }
            std::vector<coordination::OutwardWriteOutcome> outcomes;
            largest_effect_writes_ = std::max(largest_effect_writes_, effects.writes.size());
            for (const coordination::OutwardWrite& write : effects.writes) {
                const std::string place = std::string(write.topic) + "-" + std::to_string(write.partition.value);
                const auto failing = failing_.find(place);
                const ErrorCode error = failing == failing_.end() ? ErrorCode::none : failing->second;
                if (error == ErrorCode::none) {
                    markers_[place].push_back(marker_text(write.batch));
                }
                outcomes.push_back({write.token, error});
                ++writes_;
            }
            for (auto& reply : effects.replies) {
                ASSERT_TRUE(replies_.emplace(reply.token.value, std::move(reply.result)).second) << "answered twice";
            }
            if (!outcomes.empty()) {
                coordinator_->written(outcomes, now_, effects_);
            }
        }
        TransactionCoordinator follower(config_, kCoordinatorEpoch);
        for (const Stored& stored : log_) {
            replay(stored, follower);
        }
        EXPECT_EQ(follower.dump(), coordinator_->dump());
    }

    std::vector<Stored> log_;
    std::map<std::string, std::vector<std::string>> markers_;
    std::map<std::uint64_t, Result> replies_;
    Effects effects_;
    std::uint64_t last_token_ = 0;
};

}  // namespace partita::transactions::testing
