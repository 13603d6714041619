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
#include "broker/handlers/shown_nodes.h"
#include "broker/logs/read_request.h"
#include "broker/runtime/loop/reply.h"
#include "protocol/arena.h"
#include "protocol/messages/01_fetch.h"
#include "protocol/recycled_blocks.h"
#include "protocol/types.h"

namespace partita::config {
class CurrentConfig;
}

namespace partita::logs {
class Placement;
class Turns;
}  // namespace partita::logs

namespace partita::runtime {
class ClientFetchSessions;
}

namespace partita::handlers {

/// The names that a client uses for one fetched partition, and the offsets last sent to it.
struct FetchPlace {
    std::string_view topic_name;
    TopicId topic_id;
    /// For a fetch in a session: the partition's slot in the session, and the values for this partition in the last answer to the
    /// client.
    fetch::SessionSlot slot;
    Offset sent_high_watermark = kNoOffset;
    Offset sent_log_start_offset = kNoOffset;
    /// The replica from which the client should read instead (KIP-392); kNoBroker for this one.
    BrokerId preferred_replica = kNoBroker;

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
        /// Tells which node to report as the leader.
        const logs::Placement& placement;
        const config::CurrentConfig& config;
    };
    struct Asked {
        std::int16_t version = 0;
        logs::ReadTerms terms;
        /// Where the client asked. It belongs to the connection, whose end cancels the fetch.
        const runtime::ListenerView* listener = nullptr;
    };

    FetchAnswer(const Parts& parts, const logs::Client& client, const Asked& asked)
        : ReadRequest(parts.reader, client, asked.terms),
          parts_(parts),
          version_(asked.version),
          listener_(*asked.listener),
          places_(take_places()) {}
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
    /// True if the client should read a partition elsewhere: it learns so at once.
    [[nodiscard]] bool names_preferred_replica() const { return names_preferred_replica_; }
    /// Stores a name for as long as this object lives.
    [[nodiscard]] std::string_view own_name(std::string&& name);
    /// Makes the fetch the first of a session, in which its targets have these slots.
    void begin_session(const fetch::SessionTurn& session, const std::vector<fetch::SessionSlot>& slots);
    /// Makes the fetch a later one of a session: its answer has only news.
    void go_on_with_session(const fetch::SessionTurn& session);

    /// Answers with the results of the last reading.
    void answer_now(runtime::KafkaCall pending, logs::Turn& turn);
    /// Prepares the fetch to wait for more data. `table` is the table in which the targets were found.
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
    /// Records in the session what the answer will contain. False if a later fetch has advanced the session: then the answer must
    /// be an error.
    [[nodiscard]] bool tell_session();
    /// True if the answer must include the partition.
    [[nodiscard]] bool has_news(const FetchPlace& place, const logs::ReadResult& result) const;
    /// Adds the leader to `leaders` if the client has to learn it.
    void fill(Arena& arena, const FetchPlace& place, const logs::Read& read, logs::ReadResult& result,
              FetchResponse::PartitionData& data, std::vector<FileSlice>& slices, ArenaVector<LeaderHint>& leaders) const;

    const Parts parts_;
    const std::int16_t version_;
    const runtime::ListenerView& listener_;
    runtime::KafkaCall pending_;
    /// In the order of the reads.
    std::vector<FetchPlace> places_;
    /// Names that nothing else keeps: those of targets from a session and, while the fetch waits, those of unknown topics.
    std::vector<std::unique_ptr<std::string>> own_names_;
    /// Empty without a session.
    std::optional<fetch::SessionTurn> session_;
    /// True if the answer has only news.
    bool is_incremental_ = false;
    bool names_preferred_replica_ = false;
};

}  // namespace partita::handlers
