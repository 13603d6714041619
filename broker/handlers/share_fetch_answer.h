#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "broker/handlers/kafka_call.h"
#include "broker/handlers/share_acknowledgements.h"
#include "broker/handlers/share_groups.h"
#include "broker/logs/read_request.h"
#include "protocol/messages/78_share_fetch.h"

namespace partita::handlers {

/// One ShareFetch request, from the acknowledgements that it brought to its answer. Before each reading it asks the share
/// coordinator where to read; the records that are read are acquired only when the answer leaves.
class ShareFetchAnswer final : public logs::ReadRequest {
  public:
    struct Asked {
        std::string group_id;
        share::MemberName member;
        std::int32_t session_epoch = 0;
        share::AcquireMode mode = share::AcquireMode::batch_optimized;
        std::int64_t max_records = 0;
        std::int64_t batch_size = 0;
        ShareSettings settings;
    };

    ShareFetchAnswer(const runtime::ShareServices& services, const logs::Client& client, const logs::ReadTerms& terms,
                     Asked asked)
        : ReadRequest(services.reader, client, terms), services_(services), asked_(std::move(asked)) {}

    /// The outcomes of the acknowledgements that came with the request.
    void set_acknowledged(std::vector<Acknowledged> results) { acknowledged_ = std::move(results); }
    /// `must_answer`: the answer names the partition even if it has nothing for it.
    void add_partition(const TopicId& topic_id, bool must_answer, logs::Read read, logs::Turn& turn);
    [[nodiscard]] bool has_partitions() const { return !places_.empty(); }

    /// Asks where to read, and reads.
    void read_planned(logs::Turn& turn);
    /// Answers with the results of the last reading.
    void answer_now(runtime::KafkaCall pending, logs::Turn& turn);
    [[nodiscard]] logs::FetchWait begin_to_wait(runtime::KafkaCall pending, std::shared_ptr<const logs::TopicTable> table,
                                                Instant deadline);

    void complete(logs::Turn& turn) override;
    std::optional<logs::FetchWait> look(logs::Turn& turn) override;

  protected:
    [[nodiscard]] bool answer(logs::Turn& turn) override;
    void answer_nothing(logs::Turn& turn) override;

  private:
    struct Place {
        TopicId topic_id;
        bool must_answer = false;
        /// The share coordinator's refusal of the partition, by the last plan.
        ErrorCode error = ErrorCode::none;
        std::string message;
    };

    [[nodiscard]] share::SharePartitionKey key_of(std::size_t index) const;
    void plan(logs::Turn& turn);
    void plan_one(std::size_t index, logs::Read& read, logs::Turn& turn);
    /// Where the group begins in a partition that it has not read yet; empty if that cannot be said.
    [[nodiscard]] std::optional<Offset> first_offset(const logs::Read& read, TimestampMs now) const;
    /// Locks records of the partition for the member, and cuts the slice to the batches that hold them.
    [[nodiscard]] std::vector<share::AcquiredRange> acquire(std::size_t index, logs::ReadResult& result, logs::Turn& turn,
                                                            std::int64_t max_records);
    void send(const ShareFetchResponse& response, std::span<FileSlice> slices = {});
    /// Adds the outcomes of acknowledgements to the partitions of the answer.
    void add_acknowledged(Arena& arena, std::vector<std::pair<TopicId, ShareFetchResponse::PartitionData>>& partitions) const;
    void send_partitions(logs::Turn& turn, std::vector<std::pair<TopicId, ShareFetchResponse::PartitionData>>& partitions,
                         std::span<FileSlice> slices);

    const runtime::ShareServices& services_;
    const Asked asked_;
    runtime::KafkaCall pending_;
    /// In the order of the reads.
    std::vector<Place> places_;
    std::vector<Acknowledged> acknowledged_;
};

}  // namespace partita::handlers
