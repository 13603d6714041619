#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "broker/groups/group_coordinator.h"
#include "broker/insight/fence/fence.h"

/// A topic that grows while producers with stale metadata write to it and groups read it. At every record that a group gets, the
/// world checks the promise of the expansion's mode. The cores are the broker's; logs, clients and crashes are the world's.
/// Everything follows from the seed.

namespace partita::insight::simulation {

enum class Mode { faithful, safe_offsets, fenced };

/// Errors that the world can make on purpose, to show that its checks notice.
enum class Sabotage {
    none,
    one_boundary_for_all,    ///< every batch waits for the parent as it was at the expansion
    no_cover_after_a_crash,  ///< marks that were not stored are simply gone
    marks_beyond_the_end,    ///< nobody looks where the log of a new partition ends after a power failure
    no_seeds,                ///< the expansion commits nothing for groups
    window_closes_at_once,   ///< nobody proved anything
    producers_by_name,       ///< who proves the new count proves it for all of its name
};

struct Options {
    std::uint64_t seed = 0;
    Mode mode = Mode::fenced;
    Sabotage sabotage = Sabotage::none;
    std::int32_t old_count = 6;
    std::int32_t new_count = 12;
    /// Crashes take records that are not durable.
    bool loses_power = false;
};

struct Outcome {
    std::uint64_t produced = 0;
    std::uint64_t delivered = 0;
    /// Records that a group got although it had not done an earlier one of the same key and producer.
    std::uint64_t overtaken = 0;
    /// Records that a group with auto.offset.reset=latest never saw.
    std::uint64_t skipped = 0;
    std::uint64_t crashes = 0;
    /// Records that power failures took.
    std::uint64_t lost = 0;
    std::uint64_t timeouts = 0;
    std::uint64_t held = 0;
    bool window_closed_by_proof = false;
    /// Everything was read at the end; a fence that never releases would show here.
    bool drained = false;
};

class World {
  public:
    explicit World(const Options& options);
    [[nodiscard]] Outcome run();

  private:
    static constexpr std::int64_t kStepMs = 1000;
    static constexpr int kProducers = 12;
    static constexpr int kKeys = 200;
    static constexpr int kSteps = 1200;
    static constexpr int kExpandAt = 200;
    static constexpr int kMetadataAgeSteps = 300;
    static constexpr int kCommitEvery = 50;
    static constexpr int kSyncEvery = 170;

    struct Record {
        int producer = 0;
        int key = 0;
        /// Grows with every record of the producer.
        std::int64_t number = 0;
    };
    struct Producer {
        /// The producer's connection, which changes with each reconnect. All producers have one name.
        ConnectionId connection;
        /// Idempotent producers keep this.
        ProducerId id = kNoProducerId;
        std::int64_t next_number = 0;
        /// The step at which it learns of the new partitions.
        int switches_at = 0;
        bool stops = false;
    };
    struct Reader {
        std::string group;
        /// The step at which its members learn of the new partitions.
        int switches_at = 0;
        std::map<std::int32_t, std::int64_t> positions;
        /// Records given at a time, by partition: some parents are slow.
        std::map<std::int32_t, int> speeds;
    };

    [[nodiscard]] int between(int low, int high) {
        return low + static_cast<int>(random_() % static_cast<std::uint64_t>(high - low + 1));
    }
    [[nodiscard]] Now now() const { return {Instant{step_ * kStepMs}, TimestampMs{1'000'000'000 + step_ * kStepMs}}; }
    [[nodiscard]] Offset end(PartitionIndex partition) const {
        return Offset{static_cast<std::int64_t>(logs_[static_cast<std::size_t>(partition.value)].size())};
    }
    [[nodiscard]] std::int32_t count_known_at(int switches_at) const {
        return step_ > kExpandAt && step_ >= switches_at ? options_.new_count : options_.old_count;
    }

    void start_coordinator();
    template <class Call>
    void with_coordinator(Call&& call);
    [[nodiscard]] std::int64_t committed(const Reader& reader, std::int32_t partition);
    void commit(Reader& reader);

    void expand();
    void produce();
    void append(Producer& producer, int index);
    [[nodiscard]] ProducerInstance instance_of(const Producer& producer) const;
    void reconnect(Producer& producer);
    void read(Reader& reader);
    void assign_new_partitions(Reader& reader);
    void give(Reader& reader, std::int32_t partition, std::int64_t offset);
    void keep_fence();
    void crash_broker();
    void lose_power();
    void restart_reader(Reader& reader);
    [[nodiscard]] bool everything_is_read() const;

    const Options options_;
    std::mt19937_64 random_;
    std::int64_t step_ = 0;
    std::vector<std::vector<Record>> logs_;
    /// The least number of records of each log that a power failure leaves.
    std::vector<std::size_t> durable_;
    std::vector<Producer> producers_;
    std::uint64_t last_connection_ = 0;
    bool producers_reconnect_ = false;
    std::vector<Reader> readers_;
    bool expanded_ = false;
    FenceSettings settings_{.timeout_ms = 100'000'000, .window_ms = 2 * kMetadataAgeSteps * kStepMs};
    Fence fence_;
    std::string stored_fence_;
    /// The end of every old partition when the topic grew.
    std::vector<Offset> cut_;

    std::optional<groups::GroupCoordinator> coordinator_;
    std::vector<groups::Record> records_;
    std::deque<std::string> texts_;
    Outcome outcome_;
};

}  // namespace partita::insight::simulation
