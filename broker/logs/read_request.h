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

/// One partition that a request reads.
struct Read {
    /// Another one than `ok`: the partition was not found, and is not read.
    Outcome lookup = Outcome::ok;
    std::shared_ptr<Partition> partition;
    /// False: the request reached another node than the leader, and is told so.
    bool is_led_here = true;
    /// Lives as long as the request (ReadRequest::prepare_to_wait).
    const TopicState* topic = nullptr;
    PartitionIndex index;
    /// Which of the request's topics it belongs to, counted from 0.
    std::uint32_t topic_place = 0;
    /// kNoLeaderEpoch: the reader does not say.
    LeaderEpoch current_leader_epoch = kNoLeaderEpoch;
    Offset from;
    LeaderEpoch last_fetched_epoch = kNoLeaderEpoch;
    std::int32_t max_bytes = 0;
};

/// What the last reading of a partition has found.
struct ReadResult {
    Outcome outcome = Outcome::ok;
    Offset high_watermark = kNoOffset;
    Offset last_stable_offset = kNoOffset;
    Offset log_start_offset = kNoOffset;
    /// Set when the reader's log and ours differ: where they part.
    EpochEnd diverging{kNoLeaderEpoch, kNoOffset};
    FileSlice slice;
    /// The records in it, where a step has counted them.
    std::int64_t record_count = 0;
    /// Where the log ended, whatever the reader is shown.
    Offset seen_end = kNoOffset;
    /// True when a step keeps records from the reader that it could be given otherwise. Appends, and the ends of transactions in
    /// the partition, do not change that; whatever does wakes the request.
    bool is_held = false;
    /// True when it will be known in a moment whether a step does so.
    bool is_undecided = false;

    [[nodiscard]] bool is_diverging() const { return diverging.leader_epoch != kNoLeaderEpoch; }
};

/// What a request asks of all its partitions.
struct ReadTerms {
    std::int32_t min_bytes = 0;
    std::int32_t max_bytes = 0;
    /// Nothing of a transaction that is open.
    bool is_committed = false;
    /// The reader is a broker that wants to follow. This broker has no followers: each read is refused.
    bool is_follower = false;
    /// The first request that reads over its connection.
    bool is_first = false;
};

/// The client of a request that may wait for longer than its connection, for the steps that need to know it then.
struct KeptClient {
    access::PrincipalPointer principal;
    std::string client_id;
    std::string address;
    std::uint64_t connection = 0;
};

/// The memory of a read while it is served. Each thread keeps that of earlier ones, so that the next one allocates nothing.
struct ReadMemory {
    static constexpr std::size_t kKeptMax = 16;
    static constexpr std::size_t kKeptPartitionsMax = 1024;

    std::vector<Read> reads;
    std::vector<ReadResult> results;

    [[nodiscard]] static ReadMemory take();
    static void recycle(ReadMemory&& memory);
};

/// The way for a client's reads to partitions, whatever protocol the client speaks: the steps that they pass.
class Reader {
  public:
    explicit Reader(runtime::Counters& counters) : counters_(counters) {}
    Reader(const Reader&) = delete;
    Reader& operator=(const Reader&) = delete;

    /// The steps that every read passes. Only to be changed before the first request.
    [[nodiscard]] ReadSteps& steps() { return steps_; }

  private:
    friend class ReadRequest;

    runtime::Counters& counters_;
    ReadSteps steps_;
};

/// One request that reads, from its admission to its answer: what it asks, what it has found, and what it still waits for. A
/// front derives its own from it, which makes the answer. Only the thread of its reactor calls it.
///
/// A front calls `admit`, then `add` for each partition, in the order in which they are to be read, then `read`. The byte budget
/// is spent in that order; the first partition with data gives its first batch whole, whatever the limits. While there is not
/// enough data (`is_due`) the request may be given to the turn, to wait (Turn::park_fetch); otherwise the front calls `finish`.
class ReadRequest : public WaitingFetch {
  public:
    ReadRequest(Reader& reader, const Client& client, const ReadTerms& terms)
        : reader_(reader), client_(client), terms_(terms), memory_(ReadMemory::take()) {}
    ~ReadRequest() override { ReadMemory::recycle(std::move(memory_)); }
    ReadRequest(const ReadRequest&) = delete;
    ReadRequest& operator=(const ReadRequest&) = delete;

    /// Takes the request through the admission of the steps.
    void admit(Turn& turn);
    void reserve(std::size_t reads) { memory_.reads.reserve(reads); }
    Read& add(Read read, Turn& turn);
    /// Reads every partition, as far as the byte limits go.
    void read(Turn& turn);
    /// True when the answer is due now by what the last reading found, and not only at the deadline.
    [[nodiscard]] bool is_due() const;
    /// Answers with what the last reading found. Once.
    void finish(Turn& turn);

    /// Before it waits: keeps what reads point to alive, and says until when it waits. From then on the client is what the steps
    /// have kept of it.
    void prepare_to_wait(std::shared_ptr<const TopicTable> table, Instant deadline);
    /// What the request has to wait for, by what the last reading found.
    [[nodiscard]] FetchWait wait_terms() const;
    void complete(Turn& turn) override;
    std::optional<FetchWait> look(Turn& turn) override;

    // For the steps and the front -----------------------------------------------------------------

    /// Its connection is null once the request waits.
    [[nodiscard]] const Client& client() const { return client_; }
    [[nodiscard]] const ReadTerms& terms() const { return terms_; }
    [[nodiscard]] const std::vector<Read>& reads() const { return memory_.reads; }
    /// In the order of the reads.
    [[nodiscard]] std::vector<ReadResult>& results() { return memory_.results; }
    [[nodiscard]] const std::vector<ReadResult>& results() const { return memory_.results; }
    [[nodiscard]] std::int64_t total_bytes() const { return total_bytes_; }
    /// For a step that has cut results.
    void set_total_bytes(std::int64_t bytes) { total_bytes_ = bytes; }
    void lower_max_bytes(std::int64_t bytes) {
        terms_.max_bytes = static_cast<std::int32_t>(std::min<std::int64_t>(terms_.max_bytes, bytes));
    }
    [[nodiscard]] bool has_errors() const { return has_errors_; }
    /// For how long the client has to wait before its next request, which its front tells it.
    [[nodiscard]] std::int64_t wait_ms() const { return wait_ms_; }
    void wait(std::int64_t ms) { wait_ms_ = std::max(wait_ms_, ms); }

    /// Set by a step, at its admission or when it finds a partition, that has to know the client later.
    std::optional<KeptClient> kept_client;

  protected:
    /// Answers with the results, or, when it answers with none of them after all, returns false.
    [[nodiscard]] virtual bool answer(Turn& turn) = 0;
    /// Answers with nothing, because the client has to wait.
    virtual void answer_nothing(Turn& turn) = 0;

  private:
    [[nodiscard]] ReadResult read_one(const Read& read, std::int64_t budget, bool minimum_one_batch, Now now) const;
    /// False: the result says why not.
    [[nodiscard]] bool check_epochs(const Read& read, ReadResult& result) const;
    /// Where the reader has to stop by the steps, at or below `bound`.
    [[nodiscard]] Offset judge(const Read& read, ReadResult& result, Offset bound, Now now) const;
    /// The steps that the request passes now.
    [[nodiscard]] std::uint32_t passed() const;

    Reader& reader_;
    Client client_;
    ReadTerms terms_;
    ReadMemory memory_;
    /// The steps that it passes until it is settled: those of its admission.
    std::uint32_t steps_ = 0;
    /// While it waits.
    std::shared_ptr<const TopicTable> table_;
    Instant deadline_;
    std::int64_t wait_ms_ = 0;
    std::int64_t total_bytes_ = 0;
    bool has_errors_ = false;
    bool is_on_older_segment_ = false;
    bool is_undecided_ = false;
};

}  // namespace partita::logs
