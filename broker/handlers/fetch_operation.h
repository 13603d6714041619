#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "broker/expansion/client_registry.h"
#include "broker/expansion/identity.h"
#include "broker/fetch/fetch_sessions.h"
#include "broker/runtime/loop/reply.h"
#include "broker/runtime/partitions/turn.h"
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
    /// Of a fetch in a session: its place there, and what the session's client was told last.
    fetch::SessionSlot slot;
    Offset sent_high_watermark = kNoOffset;
    Offset sent_log_start_offset = kNoOffset;
};

/// What one read of a target gave.
struct FetchOutcome {
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

/// What a fetch holds while it is served. A thread keeps what earlier fetches had, so that the next one asks for no memory.
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

/// One fetch, from its request to its answer: what it reads, what it found, and what it still waits for. Its reactor's thread calls it.
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
    /// When it is answered whatever there is, once it waits.
    Instant deadline;
    /// The request names the broker that it comes from. Nobody follows the only one, so nobody is served that way.
    bool from_follower = false;
    BrokerId leader_id;
    /// Set when the growth of some topic is watched.
    std::optional<expansion::ClientIdentity> client;
    expansion::ConnectionId connection;
    /// Set when somebody has a quota on what is fetched.
    struct ThrottledClient {
        access::PrincipalPointer principal;
        std::string client_id;
    };
    std::optional<ThrottledClient> throttled_client;

    /// None without a session.
    std::optional<fetch::SessionTurn> session;
    /// The answer tells what is new only.
    bool incremental = false;

    /// Keeps topics alive that targets point into, while waiting.
    std::shared_ptr<const runtime::TopicTable> table;
    /// Names that no topic has, while waiting.
    std::vector<std::unique_ptr<std::string>> owned_names;

    [[nodiscard]] std::vector<FetchTarget>& targets() { return memory_.targets; }
    /// Reads every target, as far as the limits go.
    void read(runtime::Turn& turn);
    /// Whether the answer is due by what the last read found, and not only at the deadline.
    [[nodiscard]] bool must_answer_now() const;
    /// Makes the names of targets live as long as this.
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
    /// What is missing to an answer, by the last read.
    [[nodiscard]] runtime::FetchWait wait() const;
    /// Answers with what the last read found. Once.
    void send(runtime::Turn& turn);

  private:
    /// What the answer counts for in quotas: its records, and about what is said around them.
    [[nodiscard]] std::int64_t answer_bytes() const;
    /// True when a quota makes the client wait and the empty answer is out that says so.
    [[nodiscard]] bool throttle(runtime::Turn& turn);
    [[nodiscard]] FetchOutcome read_target(const FetchTarget& target, std::int64_t budget, bool minimum_one_batch, Now now) const;
    /// What the topic's expansion lets the reader have; the upper bound of what may be read. Sets an error when there
    /// is one.
    [[nodiscard]] Offset judge_expansion(const FetchTarget& target, Offset upper_bound, FetchOutcome& outcome, Now now) const;
    [[nodiscard]] std::int32_t session_id() const { return session ? session->session_id : 0; }
    /// Tells the session what the answer will say. False when the fetch is superseded: then the answer is an error.
    [[nodiscard]] bool tell_session();
    /// Whether the answer has the partition at all.
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
