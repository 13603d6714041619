#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <iostream>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "protocol/arena.h"
#include "protocol/messages/11_join_group.h"
#include "tests/simulation/broker_world_ledger.h"
#include "tests/simulation/broker_world_network.h"
#include "tests/support/wire_client.h"

namespace partita::test {

/// State that all clients of a simulation share.
struct ClientsWorld {
    Ledger& ledger;
    std::mt19937_64& random;
    Clock& clock;
    /// Null while there is no broker.
    SimulatedNetwork* network = nullptr;
    /// Requests that were sent and replies that were read.
    std::uint64_t sent = 0;
    std::uint64_t answered = 0;
    /// Digest of all replies, in order.
    std::uint64_t digest = 0;

    /// Lets the broker die within the next few changes of files, where chance would hardly ever strike.
    std::function<void()> endanger;

    /// Events that a history was meant to cause, with their counts.
    std::map<std::string, std::uint64_t> happened;

    /// Prints what happens.
    bool is_told = false;
    template <class... Words>
    void tell(const Words&... words) const {
        if (!is_told) {
            return;
        }
        std::cerr << clock.now().monotonic.value << ' ';
        (std::cerr << ... << words) << '\n';
    }

    [[nodiscard]] std::uint64_t below(std::uint64_t bound) { return random() % bound; }
    [[nodiscard]] bool one_in(std::uint64_t times) { return below(times) == 0; }
};

/// A client over one connection. Replies come in the order of requests, each once; any other reply is wrong.
class SimulatedClient {
  public:
    SimulatedClient(ClientsWorld& world, std::string name) : world_(world), name_(std::move(name)) {}
    virtual ~SimulatedClient() = default;
    SimulatedClient(const SimulatedClient&) = delete;
    SimulatedClient& operator=(const SimulatedClient&) = delete;

    /// Takes its next step, if it has one.
    virtual void act() = 0;
    /// Reads what came. True when anything came.
    bool read_replies();
    /// The broker died, or this client hung up: pending requests get no answer any more.
    void lose_connection();
    void hang_up();
    [[nodiscard]] bool waits() const { return !asked_.empty(); }
    /// Asks about what the client was told, when everything is at rest. True when there is more to ask: then it is called again
    /// after the answer. `is_first`: this is the first call since everything came to rest.
    virtual bool look_back(bool /*is_first*/) { return false; }

  protected:
    template <class Response, class Request>
    void ask(std::int16_t version, const Request& request, std::function<void(const Response&)> on_reply) {
        send(api_of<Request>(), version, &request,
             [on_reply = std::move(on_reply)](const void* response) { on_reply(*static_cast<const Response*>(response)); });
    }
    /// Finds the coordinator, as every client does before its first request to one, and when a broker answers that it is not the
    /// coordinator.
    void find_coordinator(const std::string& group);
    [[nodiscard]] static bool is_no_coordinator(ErrorCode error) {
        return error == ErrorCode::not_coordinator || error == ErrorCode::coordinator_not_available;
    }
    [[nodiscard]] std::size_t asked_count() const { return asked_.size(); }
    /// Called when the replies to pending requests are lost.
    virtual void on_lost() {}
    [[nodiscard]] Instant now() const { return world_.clock.now().monotonic; }

    ClientsWorld& world_;
    const std::string name_;

  private:
    struct Asked {
        const ApiInfo* api;
        std::int16_t version;
        std::int32_t correlation_id;
        std::function<void(const void*)> on_reply;
    };

    void send(const ApiInfo& api, std::int16_t version, const void* request, std::function<void(const void*)> on_reply);

    std::shared_ptr<SimulatedConnection> connection_;
    std::deque<Asked> asked_;
    std::int32_t next_correlation_id_ = 1;
    Arena arena_;
};

/// Makes the topics, makes them grow, and checks that they did.
class SimulatedAdmin final : public SimulatedClient {
  public:
    SimulatedAdmin(ClientsWorld& world, std::map<std::string, bool> topics, std::vector<std::string> groups);
    void act() override;
    /// Asks for all topics, and for the offsets of all groups.
    bool look_back(bool is_first) override;
    /// It waits for the answer to a growth.
    [[nodiscard]] bool is_growing() const { return is_growing_; }

  private:
    void create(const std::string& topic);
    void look(const std::string& topic);
    void grow(const std::string& topic);
    void look_at_offsets(const std::string& group, const std::string& topic);
    void on_lost() override;

    /// True: synced before it is acknowledged.
    const std::map<std::string, bool> topics_;
    const std::vector<std::string> groups_;
    bool is_growing_ = false;
};

/// An idempotent producer with several requests in flight. It sends again what was not acknowledged.
class SimulatedProducer final : public SimulatedClient {
  public:
    SimulatedProducer(ClientsWorld& world, std::string name, std::vector<std::string> topics)
        : SimulatedClient(world, std::move(name)), topics_(std::move(topics)) {}
    void act() override;

  private:
    struct Batch {
        Ledger::Place place;
        std::int32_t sequence = 0;
        std::vector<std::string> values;
    };

    void begin();
    void make_batch();
    void send_next();
    void on_answer(std::uint64_t id, ErrorCode error, std::int64_t base_offset);
    void on_lost() override;

    const std::vector<std::string> topics_;
    std::optional<std::int64_t> producer_id_;
    std::int16_t epoch_ = 0;
    int power_failures_seen_ = 0;
    std::map<Ledger::Place, std::int32_t> next_sequence_;
    std::uint64_t last_batch_ = 0;
    std::map<std::uint64_t, Batch> unsent_;
    std::map<std::uint64_t, Batch> in_flight_;
    /// A request failed: the producer sends nothing before everything in flight came back, so that batches keep their order.
    bool is_retrying_ = false;
};

/// Reads anywhere, all records or committed ones.
class SimulatedReader final : public SimulatedClient {
  public:
    SimulatedReader(ClientsWorld& world, std::string name, std::vector<std::string> topics)
        : SimulatedClient(world, std::move(name)), topics_(std::move(topics)) {}
    void act() override;

  private:
    const std::vector<std::string> topics_;
    std::map<Ledger::Place, std::int64_t> ends_;
};

/// Reads every partition from its beginning to its end, once.
class SimulatedAuditor final : public SimulatedClient {
  public:
    SimulatedAuditor(ClientsWorld& world, std::vector<Ledger::Place> places)
        : SimulatedClient(world, "auditor"), places_(std::move(places)) {}
    void act() override;
    [[nodiscard]] bool is_done() const { return places_.empty(); }

  private:
    void on_lost() override { found_.clear(); }

    std::vector<Ledger::Place> places_;
    std::map<std::int64_t, std::string> found_;
    std::int64_t next_ = 0;
};

/// A member of a classic group: it joins, takes what the leader gives it, commits, and leaves.
class SimulatedMember : public SimulatedClient {
  public:
    static constexpr std::int32_t kSessionTimeoutMs = 10'000;

    SimulatedMember(ClientsWorld& world, std::string name, std::string group, std::vector<std::string> topics)
        : SimulatedClient(world, std::move(name)), group_(std::move(group)), topics_(std::move(topics)) {}
    void act() override;

  protected:
    /// Works on the client's partitions when nothing else is due. This one commits any offset now and then.
    virtual void work();
    /// Called when it has other partitions than before.
    virtual void on_assigned() {}
    void heartbeat();
    void commit(const Ledger::Place& place, std::int64_t offset);
    /// Checks that its group's commits for its partitions are there, and passes each offset to `on_found`; -1: none.
    void look_at_commits(std::function<void(const Ledger::Place&, std::int64_t)> on_found = {});
    /// Begins anew after an error that requires it.
    void rejoin(ErrorCode error);
    void on_lost() override;
    [[nodiscard]] const std::vector<Ledger::Place>& owned() const { return owned_; }
    [[nodiscard]] const std::string& group() const { return group_; }

  private:
    enum class State : std::uint8_t { outside, joining, syncing, stable };

    void join();
    void sync(const JoinGroupResponse& joined);
    void leave();

    const std::string group_;
    const std::vector<std::string> topics_;
    State state_ = State::outside;
    bool knows_coordinator_ = false;
    std::string member_id_;
    std::int32_t generation_ = -1;
    std::vector<Ledger::Place> owned_;
    Instant next_heartbeat_{};
};

}  // namespace partita::test
