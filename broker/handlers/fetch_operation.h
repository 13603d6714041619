#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "broker/fetch/fetch_sessions.h"
#include "broker/insight/identity/client_registry.h"
#include "broker/insight/identity/identity.h"
#include "broker/logs/turn.h"
#include "broker/runtime/loop/reply.h"
#include "protocol/arena.h"
#include "protocol/messages/01_fetch.h"
#include "protocol/recycled_blocks.h"
#include "storage/partition_log.h"

namespace partita::runtime {
struct Services;
}

namespace partita::handlers {

/// One partition that a fetch reads.
struct FetchTarget {
    std::string_view topic_name;
    TopicId topic_id;
    std::int32_t index = 0;
    std::shared_ptr<runtime::Partition> partition;
    ErrorCode lookup_error = ErrorCode::none;
    LeaderEpoch current_leader_epoch = kNoLeaderEpoch;
    Offset fetch_offset;
    LeaderEpoch last_fetched_epoch = kNoLeaderEpoch;
    std::int32_t max_bytes = 0;
    /// Null unless the growth of the topic is watched.
    const runtime::TopicState* watched_topic = nullptr;
    /// For a fetch in a session: the partition's slot in the session, and what the client was told last about the partition.
    fetch::SessionSlot slot;
    Offset sent_high_watermark = kNoOffset;
    Offset sent_log_start_offset = kNoOffset;
};

/// What one read of a target has found.
struct FetchOutcome {
    ErrorCode error = ErrorCode::none;
    Offset high_watermark = kNoOffset;
    Offset last_stable_offset = kNoOffset;
    Offset log_start_offset = kNoOffset;
    EpochEnd diverging{kNoLeaderEpoch, kNoOffset};
    FileSlice slice;
    /// The records in it, while capacity is counted.
    std::int64_t record_count = 0;
    /// Where the log ended, whatever the reader is shown.
    Offset seen_end = kNoOffset;
    /// True when a fence keeps records from the reader that it could be given otherwise: see TopicExpansion. Commits change that,
    /// and the ends of transactions in the parent, of which FenceWakes tells; appends, and the ends of transactions in the
    /// partition itself, do not.
    bool held = false;
    /// True when it will be known in a moment whether the fence does so.
    bool is_undecided = false;
};

/// The memory of a fetch while it is served. Each thread keeps that of earlier fetches, so that the next one allocates nothing.
struct FetchMemory {
    static constexpr std::size_t kKeptMax = 16;
    static constexpr std::size_t kKeptPartitionsMax = 1024;

    std::vector<FetchTarget> targets;
    std::vector<FetchOutcome> outcomes;

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

/// One fetch, from its request to its answer: what it reads, what it has found, and what it still waits for. Only the thread of
/// its reactor calls it.
class FetchOperation final : public runtime::WaitingFetch {
  public:
    explicit FetchOperation(runtime::Services& services) : services_(services), memory_(FetchMemory::take()) {}
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
    /// When a waiting fetch is answered with whatever there is.
    Instant deadline;
    /// True when the request comes from a broker that wants to follow (it names its id). This broker has no followers, so such a
    /// request is refused.
    bool from_follower = false;
    BrokerId leader_id;
    /// Set when the growth of some topic is watched.
    std::optional<insight::ClientIdentity> client;
    insight::ConnectionId connection;
    /// The client, when somebody has a quota on fetched bytes.
    struct ThrottledClient {
        access::PrincipalPointer principal;
        std::string client_id;
    };
    std::optional<ThrottledClient> throttled_client;

    /// Of the client's principal, if that is counted. What is counted stays as long as the broker.
    access::Usage* usage = nullptr;

    /// Empty without a session.
    std::optional<fetch::SessionTurn> session;
    /// True when the answer has only what is new.
    bool incremental = false;

    /// Keeps the topics alive into which targets point, while the fetch waits.
    std::shared_ptr<const runtime::TopicTable> table;
    /// Names of targets that nothing else keeps: those from a session, and while the fetch waits those of unknown topics.
    std::vector<std::unique_ptr<std::string>> owned_names;

    [[nodiscard]] std::vector<FetchTarget>& targets() { return memory_.targets; }
    /// Reads every target, as far as the byte limits go.
    void read(runtime::Turn& turn);
    /// True when the answer is due now by what the last read found, and not only at the deadline.
    [[nodiscard]] bool must_answer_now() const;
    /// Makes the names of unknown topics live as long as this operation. Called before the fetch waits.
    void own_names();
    void complete(runtime::Turn& turn) override {
        read(turn);
        send(turn);
    }
    std::optional<runtime::FetchWait> look(runtime::Turn& turn) override {
        read(turn);
        if (!must_answer_now()) {
            return wait();
        }
        send(turn);
        return std::nullopt;
    }
    /// What the fetch has to wait for, by what the last read found.
    [[nodiscard]] runtime::FetchWait wait() const;
    /// Answers with what the last read found. Call it once.
    void send(runtime::Turn& turn);

  private:
    /// What the answer counts in quotas, in bytes: its records, and about as much as the fields around them take.
    [[nodiscard]] std::int64_t answer_bytes() const;
    /// True when a quota makes the client wait: then the empty answer that says so was sent.
    [[nodiscard]] bool throttle(runtime::Turn& turn);
    /// The same when there is no capacity left for what was read. Otherwise cuts the answer to what passes at once, charges it,
    /// and notes for how long the client has to wait.
    [[nodiscard]] bool lacks_capacity(runtime::Turn& turn);
    void send_nothing();
    /// Counts the request, for each topic of which it tells something.
    void note_traffic(runtime::Turn& turn, bool is_refused);
    [[nodiscard]] FetchOutcome read_target(const FetchTarget& target, std::int64_t budget, bool minimum_one_batch, Now now) const;
    /// Asks the topic's expansion what the reader may have. Returns the upper bound of what may be read, and sets the error of
    /// `outcome` if there is one.
    [[nodiscard]] Offset judge_expansion(const FetchTarget& target, Offset upper_bound, FetchOutcome& outcome, Now now) const;
    [[nodiscard]] std::int32_t session_id() const { return session ? session->session_id : 0; }
    /// Tells the session what the answer will say. False when a later fetch has moved the session on: then the answer is an
    /// error.
    [[nodiscard]] bool tell_session();
    /// True when the answer has to include the partition.
    [[nodiscard]] bool has_news(const FetchTarget& target, const FetchOutcome& outcome) const;
    void fill(Arena& arena, const FetchTarget& target, FetchOutcome& outcome, FetchResponse::PartitionData& data,
              std::vector<FileSlice>& slices) const;

    runtime::Services& services_;
    FetchMemory memory_;
    std::int64_t total_bytes_ = 0;
    bool any_error_ = false;
    bool any_on_older_segment_ = false;
    bool any_undecided_ = false;
};

}  // namespace partita::handlers
