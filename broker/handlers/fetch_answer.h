#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "broker/fetch/fetch_sessions.h"
#include "broker/handlers/kafka_call.h"
#include "broker/logs/read_request.h"
#include "broker/runtime/loop/reply.h"
#include "protocol/arena.h"
#include "protocol/messages/01_fetch.h"
#include "protocol/recycled_blocks.h"
#include "protocol/types.h"

namespace partita::logs {
class Placement;
class Turns;
}  // namespace partita::logs

namespace partita::runtime {
class ClientFetchSessions;
}

namespace partita::handlers {

/// How a client names one partition that it fetches, and what it was told of it.
struct FetchPlace {
    std::string_view topic_name;
    TopicId topic_id;
    /// For a fetch in a session: the partition's slot in the session, and what the client was told last about the partition.
    fetch::SessionSlot slot;
    Offset sent_high_watermark = kNoOffset;
    Offset sent_log_start_offset = kNoOffset;

    [[nodiscard]] bool is_of_same_topic(const FetchPlace& other) const {
        return topic_id == other.topic_id && topic_name == other.topic_name;
    }
};

/// One Fetch request, from its targets to its answer: Kafka's side of a ReadRequest.
class FetchAnswer final : public logs::ReadRequest {
  public:
    struct Parts {
        logs::Reader& reader;
        logs::Turns& turns;
        runtime::ClientFetchSessions& sessions;
        /// Says whom clients are told as the leader.
        const logs::Placement& placement;
    };
    struct Asked {
        std::int16_t version = 0;
        logs::ReadTerms terms;
    };

    FetchAnswer(const Parts& parts, const logs::Client& client, const Asked& asked)
        : ReadRequest(parts.reader, client, asked.terms), parts_(parts), version_(asked.version), places_(take_places()) {}
    ~FetchAnswer() override { recycle_places(std::move(places_)); }
    static void* operator new(std::size_t) { return RecycledBlocks<sizeof(FetchAnswer), logs::ReadMemory::kKeptMax>::take(); }
    static void operator delete(void* memory) {
        RecycledBlocks<sizeof(FetchAnswer), logs::ReadMemory::kKeptMax>::give_back(memory);
    }

    void reserve_targets(std::size_t count) {
        reserve(count);
        places_.reserve(count);
    }
    void add_target(const FetchPlace& place, logs::Read read, logs::Turn& turn);
    [[nodiscard]] std::size_t target_count() const { return places_.size(); }
    /// A name that lives as long as this.
    [[nodiscard]] std::string_view own_name(std::string&& name);
    /// The fetch begins a session, in which its targets have these slots.
    void begin_session(const fetch::SessionTurn& session, const std::vector<fetch::SessionSlot>& slots);
    /// The fetch is a later one of a session: its answer has only what is new.
    void go_on_with_session(const fetch::SessionTurn& session);

    /// Answers what the last reading found.
    void answer_now(runtime::KafkaCall pending, logs::Turn& turn);
    /// Waits for more. `table` is where the targets were found.
    [[nodiscard]] logs::FetchWait begin_to_wait(runtime::KafkaCall pending, std::shared_ptr<const logs::TopicTable> table,
                                                Instant deadline);

  protected:
    [[nodiscard]] bool answer(logs::Turn& turn) override;
    void answer_nothing(logs::Turn& turn) override;

  private:
    static constexpr std::size_t kKeptPlacesMax = logs::ReadMemory::kKeptPartitionsMax;

    [[nodiscard]] static std::vector<FetchPlace> take_places();
    static void recycle_places(std::vector<FetchPlace>&& places);

    void set_pending(runtime::KafkaCall pending);
    void send(const FetchResponse& response, std::span<FileSlice> slices = {});
    [[nodiscard]] std::int32_t session_id() const { return session_ ? session_->session_id : 0; }
    /// Tells the session what the answer will say. False when a later fetch has moved the session on: then the answer is an
    /// error.
    [[nodiscard]] bool tell_session();
    /// True when the answer has to include the partition.
    [[nodiscard]] bool has_news(const FetchPlace& place, const logs::ReadResult& result) const;
    void fill(Arena& arena, const logs::Read& read, logs::ReadResult& result, FetchResponse::PartitionData& data,
              std::vector<FileSlice>& slices) const;

    const Parts parts_;
    const std::int16_t version_;
    runtime::KafkaCall pending_;
    /// In the order of the reads.
    std::vector<FetchPlace> places_;
    /// Names of targets that nothing else keeps: those from a session, and while the fetch waits those of unknown topics.
    std::vector<std::unique_ptr<std::string>> own_names_;
    /// Empty without a session.
    std::optional<fetch::SessionTurn> session_;
    /// True when the answer has only what is new.
    bool is_incremental_ = false;
};

}  // namespace partita::handlers
