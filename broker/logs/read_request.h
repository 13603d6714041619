#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "broker/access/session.h"
#include "broker/logs/append.h"
#include "broker/logs/outcome.h"
#include "broker/logs/read_steps.h"
#include "broker/logs/turn.h"
#include "storage/partition_log.h"

namespace partita::runtime {
struct Counters;
}

namespace partita::logs {

/// One partition of a request that reads.
struct Read {
    /// Any outcome but `ok` means that the look-up failed; the partition is then not read.
    Outcome lookup = Outcome::ok;
    std::shared_ptr<Partition> partition;
    /// False: the request reached a node that is not the leader, and the answer says so.
    bool is_led_here = true;
    /// Lives as long as the request; see ReadRequest::prepare_to_wait.
    const TopicState* topic = nullptr;
    PartitionIndex index;
    /// The index of the topic within the request, counted from 0.
    std::uint32_t topic_place = 0;
    /// kNoLeaderEpoch: the reader names no epoch.
    LeaderEpoch current_leader_epoch = kNoLeaderEpoch;
    Offset from;
    LeaderEpoch last_fetched_epoch = kNoLeaderEpoch;
    std::int32_t max_bytes = 0;
    /// The request reads nothing of the partition now, but a change of it may alter that.
    bool is_paused = false;

    /// True if the look-up found no partition at all. The error then does not end the wait for the other partitions. (Kafka's
    /// ReplicaManager never sees such a partition, but it sees one whose topic was made again.)
    [[nodiscard]] bool is_left_out() const { return lookup != Outcome::ok && lookup != Outcome::inconsistent_topic_id; }
};

/// The result of the last reading of a partition.
struct ReadResult {
    Outcome outcome = Outcome::ok;
    Offset high_watermark = kNoOffset;
    Offset last_stable_offset = kNoOffset;
    Offset log_start_offset = kNoOffset;
    /// Set if the reader's log and ours differ: the point where they part.
    EpochEnd diverging{kNoLeaderEpoch, kNoOffset};
    FileSlice slice;
    /// The number of records in the slice, if a step has counted them.
    std::int64_t record_count = 0;
    /// The log end offset at the time of the read, even if the reader may see less.
    Offset seen_end = kNoOffset;
    /// True if a step holds back records that the reader could otherwise receive. Appends and ends of transactions in the
    /// partition do not change that. Any event that changes it wakes the request.
    bool is_held = false;
    /// True if a step cannot decide yet whether to hold records back, but soon can.
    bool is_undecided = false;

    [[nodiscard]] bool is_diverging() const { return diverging.leader_epoch != kNoLeaderEpoch; }
};

/// The terms of a request, common to all its partitions.
struct ReadTerms {
    std::int32_t min_bytes = 0;
    std::int32_t max_bytes = 0;
    /// Read nothing of an open transaction.
    bool is_committed = false;
    /// The reader claims to be a follower replica. This broker has no followers and refuses each such read.
    bool is_follower = false;
    /// This is the first reading request of its connection.
    bool is_first = false;
};

/// A copy of the client of a request that may outlive its connection, for the steps that need the client then.
struct KeptClient {
    access::PrincipalPointer principal;
    std::string client_id;
    std::string address;
    std::uint64_t connection = 0;
};

/// The memory of a read in progress. Each thread keeps memory of earlier reads, so that the next read allocates nothing.
struct ReadMemory {
    static constexpr std::size_t kKeptMax = 16;
    static constexpr std::size_t kKeptPartitionsMax = 1024;

    std::vector<Read> reads;
    std::vector<ReadResult> results;

    [[nodiscard]] static ReadMemory take();
    static void recycle(ReadMemory&& memory);
};

/// The way for a client's reads to partitions, in any protocol: it holds the steps that reads pass.
class Reader {
  public:
    explicit Reader(runtime::Counters& counters) : counters_(counters) {}
    Reader(const Reader&) = delete;
    Reader& operator=(const Reader&) = delete;

    /// The steps that every read passes. Add steps only before the first request.
    [[nodiscard]] ReadSteps& steps() { return steps_; }

  private:
    friend class ReadRequest;

    runtime::Counters& counters_;
    ReadSteps steps_;
};

/// One request that reads, from its admission to its answer: its terms, its results, and what it still waits for. A front derives
/// a class from it to make the answer. Only the thread of its reactor calls it.
///
/// A front calls `admit`, then `add` for each partition in reading order, then `read`. `read` spends the byte budget in that
/// order; the first partition with data gives its first batch whole, regardless of limits. If there is not enough data yet
/// (`is_due`), the front may pass the request to the turn to wait (Turn::park_fetch). Otherwise the front calls `finish`. A
/// partition that cannot be read makes the answer due. One that was not found does so only if no other one is read: else a client
/// that goes on naming a deleted topic would ask again and again without a pause.
class ReadRequest : public WaitingFetch {
  public:
    ReadRequest(Reader& reader, const Client& client, const ReadTerms& terms)
        : reader_(reader), client_(client), terms_(terms), memory_(ReadMemory::take()) {}
    ~ReadRequest() override { ReadMemory::recycle(std::move(memory_)); }
    ReadRequest(const ReadRequest&) = delete;
    ReadRequest& operator=(const ReadRequest&) = delete;

    /// Passes the request through the admission of the steps.
    void admit(Turn& turn);
    void reserve(std::size_t reads) { memory_.reads.reserve(reads); }
    Read& add(Read read, Turn& turn);
    /// Reads every partition, within the byte limits.
    void read(Turn& turn);
    /// True if, by the last reading, the answer is due now and not only at the deadline.
    [[nodiscard]] bool is_due() const;
    /// Answers with the results of the last reading. Call this once.
    void finish(Turn& turn);

    /// Prepares the request to wait until `deadline`: keeps the topics of its reads alive. From then on the steps have only the
    /// copy of the client that they kept.
    void prepare_to_wait(std::shared_ptr<const TopicTable> table, Instant deadline);
    /// The conditions that the request waits for, by the last reading.
    [[nodiscard]] FetchWait wait_terms() const;
    void complete(Turn& turn) override;
    std::optional<FetchWait> look(Turn& turn) override;

    // For the steps and the front -----------------------------------------------------------------

    /// The client's connection is null once the request waits.
    [[nodiscard]] const Client& client() const { return client_; }
    [[nodiscard]] const ReadTerms& terms() const { return terms_; }
    [[nodiscard]] const std::vector<Read>& reads() const { return memory_.reads; }
    /// In the order of the reads.
    [[nodiscard]] std::vector<ReadResult>& results() { return memory_.results; }
    [[nodiscard]] const std::vector<ReadResult>& results() const { return memory_.results; }
    [[nodiscard]] std::int64_t total_bytes() const { return total_bytes_; }
    /// For a step that has shortened results.
    void set_total_bytes(std::int64_t bytes) { total_bytes_ = bytes; }
    void lower_max_bytes(std::int64_t bytes) {
        terms_.max_bytes = static_cast<std::int32_t>(std::min<std::int64_t>(terms_.max_bytes, bytes));
    }
    /// True if a read is left out.
    [[nodiscard]] bool leaves_out() const { return left_out_ > 0; }
    /// When the request came.
    [[nodiscard]] TimestampMs came() const { return came_; }
    /// How long the client must wait before its next request. The front tells the client.
    [[nodiscard]] std::int64_t wait_ms() const { return wait_ms_; }
    void wait(std::int64_t ms) { wait_ms_ = std::max(wait_ms_, ms); }

    /// A step that needs the client later sets this, in `admit` or `on_found`.
    std::optional<KeptClient> kept_client;

  protected:
    /// For a front that decides before each reading what it reads. It may change everything but partition and topic.
    [[nodiscard]] std::vector<Read>& reads_to_plan() { return memory_.reads; }
    /// Answers with the results. Returns false if it sends an answer without them after all.
    [[nodiscard]] virtual bool answer(Turn& turn) = 0;
    /// Answers with no records, because the client must wait.
    virtual void answer_nothing(Turn& turn) = 0;

  private:
    [[nodiscard]] ReadResult read_one(const Read& read, std::int64_t budget, bool minimum_one_batch, Now now) const;
    /// Returns false if a check fails; the result then has the reason.
    [[nodiscard]] bool check_epochs(const Read& read, ReadResult& result) const;
    /// The offset at which the steps stop the reader, at or below `bound`.
    [[nodiscard]] Offset judge(const Read& read, ReadResult& result, Offset bound, Now now) const;
    /// The steps that the request passes now.
    [[nodiscard]] std::uint32_t passed() const;
    /// Calls `tell_topic` of the steps of each topic with records in the answer.
    void tell_topics(Turn& turn) const;
    /// Calls `tell_changed_topic` of the steps of each topic that changed while the request waited.
    void tell_changed_topics(Turn& turn) const;

    Reader& reader_;
    Client client_;
    ReadTerms terms_;
    ReadMemory memory_;
    /// The steps that the request passes until it is settled, as determined at its admission.
    std::uint32_t steps_ = 0;
    /// Set only while the request waits.
    std::shared_ptr<const TopicTable> table_;
    Instant deadline_;
    TimestampMs came_ = kNoTimestamp;
    std::int64_t wait_ms_ = 0;
    std::int64_t total_bytes_ = 0;
    /// The number of reads that are left out.
    std::size_t left_out_ = 0;
    /// True if another one failed.
    bool has_failed_ = false;
    bool is_on_older_segment_ = false;
    bool has_topic_steps_ = false;
    bool is_undecided_ = false;
};

}  // namespace partita::logs
