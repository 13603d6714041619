#include <algorithm>
#include <array>
#include <map>
#include <optional>

#include "protocol/messages/00_produce.h"
#include "protocol/messages/01_fetch.h"
#include "protocol/messages/02_list_offsets.h"
#include "protocol/messages/03_metadata.h"
#include "protocol/messages/19_create_topics.h"
#include "protocol/record_batch_builder.h"
#include "tests/simulation/broker_world_records.h"
#include "tests/simulation/broker_world_scene.h"

namespace partita::test {
namespace {

constexpr std::int32_t kPartitions = 2;
constexpr std::int64_t kRetentionMs = 4'000;
/// delete.retention.ms: a reader that takes longer than this may miss a tombstone.
constexpr std::int64_t kTombstonesMs = 2'000;

/// Whether records go because newer ones of their key came, or because they are old.
enum class Policy : std::uint8_t { compact, expire };

class Diary {
  public:
    Diary(ClientsWorld& clients_world, Policy kept) : world(clients_world), policy(kept) {}

    struct Written {
        std::string key;
        /// Empty: a tombstone.
        std::string value;
        std::int64_t written_ms = 0;
        std::uint64_t acknowledged_at = 0;
    };
    using Found = std::map<std::int64_t, ReadRecord>;

    [[nodiscard]] std::string topic() const { return policy == Policy::compact ? "compacted" : "expiring"; }
    [[nodiscard]] std::uint64_t event() { return ++events_; }
    void note_acknowledged(std::int32_t partition, std::int64_t offset, Written written) {
        written.acknowledged_at = event();
        world.ledger.note_synced({topic(), partition});
        if (written.value.empty()) {
            --tombstones_unheard_[{partition, written.key}];
        }
        if (!logs_[partition].emplace(offset, written).second) {
            note_wrong(partition, offset, "was acknowledged twice");
        }
    }
    /// A tombstone that was sent and not acknowledged may be there.
    void note_tombstone_sent(std::int32_t partition, const std::string& key) { ++tombstones_unheard_[{partition, key}]; }
    void note_start(std::int32_t partition, std::int64_t start) {
        std::int64_t& known = starts_[partition];
        if (start < known) {
            note_wrong(partition, start, "begins the log again, which began at " + std::to_string(known));
        }
        known = std::max(known, start);
    }
    /// A power failure may have brought back files that were removed, and may have taken a young topic.
    void note_power_failure() {
        starts_.clear();
        if (world.ledger.count_of(topic()) == 0) {
            logs_.clear();
        }
    }
    /// Checks what a reader found between `start` and the end, since that event and that moment.
    void check(std::int32_t partition, const Found& found, std::int64_t start, std::uint64_t since, Instant began) {
        for (const auto& [offset, record] : found) {
            const auto known = logs_[partition].find(offset);
            if (known == logs_[partition].end()) {
                continue;
            }
            if (known->second.key != record.key || known->second.value != record.value) {
                note_wrong(partition, offset, "is " + record.value + ", and was acknowledged as " + known->second.value);
            }
        }
        if (policy == Policy::expire) {
            return check_expired(partition, found, start, since);
        }
        if (world.clock.now().monotonic - began >= kTombstonesMs) {
            return;
        }
        check_compacted(partition, found, since);
    }

    ClientsWorld& world;
    const Policy policy;

  private:
    void check_expired(std::int32_t partition, const Found& found, std::int64_t start, std::uint64_t since) {
        const std::int64_t now_ms = world.clock.now().wall.value;
        for (const auto& [offset, written] : logs_[partition]) {
            if (written.acknowledged_at >= since || found.contains(offset)) {
                continue;
            }
            if (offset < start && now_ms - written.written_ms >= kRetentionMs) {
                ++world.happened["records that expired"];
            } else {
                note_wrong(partition, offset, "is gone before its time");
            }
        }
    }
    void check_compacted(std::int32_t partition, const Found& found, std::uint64_t since) {
        std::map<std::string, std::int64_t> newest_found;
        for (const auto& [offset, record] : found) {
            newest_found[record.key] = offset;
        }
        std::map<std::string, std::int64_t> newest;
        for (const auto& [offset, written] : logs_[partition]) {
            if (written.acknowledged_at >= since) {
                continue;
            }
            newest[written.key] = offset;
            if (!found.contains(offset)) {
                ++world.happened["records that were compacted away"];
            }
        }
        for (const auto& [key, offset] : newest) {
            const auto there = newest_found.find(key);
            if (there != newest_found.end()) {
                if (there->second < offset) {
                    note_wrong(partition, there->second,
                               "is the newest of " + key + ", and there was one at " + std::to_string(offset));
                }
            } else if (const Written& written = logs_[partition].at(offset);
                       written.value.empty() && world.clock.now().wall.value - written.written_ms >= kTombstonesMs) {
                ++world.happened["keys that were deleted"];
            } else if (tombstones_unheard_[{partition, key}] == 0) {
                note_wrong(partition, offset, "is the newest of " + key + ", and is gone");
            }
        }
    }
    void note_wrong(std::int32_t partition, std::int64_t offset, const std::string& what) const {
        world.ledger.note_wrong("offset " + std::to_string(offset) + " of " + topic() + "-" + std::to_string(partition) + " " +
                                what);
    }

    std::uint64_t events_ = 0;
    std::map<std::int32_t, std::map<std::int64_t, Written>> logs_;
    std::map<std::int32_t, std::int64_t> starts_;
    std::map<std::pair<std::int32_t, std::string>, int> tombstones_unheard_;
};

/// Makes the topic and writes to it, one record at a time, each with some key.
class KeyWriter final : public SimulatedClient {
  public:
    KeyWriter(ClientsWorld& world, Diary& diary, std::string name) : SimulatedClient(world, std::move(name)), diary_(diary) {}

    void act() override {
        if (waits()) {
            return;
        }
        if (world_.ledger.count_of(diary_.topic()) == 0) {
            return create();
        }
        write();
    }

  private:
    void create() {
        using Config = CreateTopicsRequest::CreatableTopicConfig;
        const std::string tombstones = std::to_string(kTombstonesMs);
        const std::string retention = std::to_string(kRetentionMs);
        std::vector<Config> configs{{.name = "flush.messages", .value = "1"}, {.name = "segment.ms", .value = "500"}};
        if (diary_.policy == Policy::compact) {
            configs.push_back({.name = "cleanup.policy", .value = "compact"});
            configs.push_back({.name = "min.cleanable.dirty.ratio", .value = "0.01"});
            configs.push_back({.name = "delete.retention.ms", .value = tombstones});
        } else {
            configs.push_back({.name = "retention.ms", .value = retention});
        }
        const std::string name = diary_.topic();
        std::array topics{CreateTopicsRequest::CreatableTopic{
            .name = name, .num_partitions = kPartitions, .replication_factor = 1, .configs = configs}};
        ask<CreateTopicsResponse>(7, CreateTopicsRequest{.topics = topics}, [this](const auto& response) {
            const ErrorCode error = response.topics[0].error_code;
            if (error == ErrorCode::none || error == ErrorCode::topic_already_exists) {
                world_.ledger.note_count(diary_.topic(), kPartitions);
            }
            if (error == ErrorCode::invalid_config) {
                world_.ledger.note_wrong("the configs of " + diary_.topic());
            }
        });
    }
    void write() {
        const auto partition = static_cast<std::int32_t>(world_.below(kPartitions));
        Diary::Written written{.key = "k" + std::to_string(world_.below(4)), .written_ms = world_.clock.now().wall.value};
        const bool is_tombstone = diary_.policy == Policy::compact && world_.one_in(5);
        if (is_tombstone) {
            diary_.note_tombstone_sent(partition, written.key);
        } else {
            written.value = world_.ledger.fresh_value();
        }
        BatchBuilder builder;
        builder.append(world_.clock.now().wall, as_bytes(written.key),
                       is_tombstone ? std::nullopt : std::optional(as_bytes(written.value)));
        std::vector<std::byte> records;
        builder.build(records);
        const std::string name = diary_.topic();
        std::array partitions{ProduceRequest::PartitionProduceData{.index = partition, .records = Records(Bytes(records))}};
        std::array topics{ProduceRequest::TopicProduceData{.name = name, .partition_data = partitions}};
        ask<ProduceResponse>(9, ProduceRequest{.acks = -1, .timeout_ms = 5'000, .topic_data = topics},
                             [this, partition, written](const auto& response) {
                                 const auto& answered = response.responses[0].partition_responses[0];
                                 if (answered.error_code == ErrorCode::none) {
                                     diary_.note_acknowledged(partition, answered.base_offset, written);
                                 }
                             });
    }

    Diary& diary_;
};

/// Reads a partition from where it begins to its end, again and again.
class WholeReader final : public SimulatedClient {
  public:
    WholeReader(ClientsWorld& world, Diary& diary, std::string name) : SimulatedClient(world, std::move(name)), diary_(diary) {}

    void act() override {
        if (waits() || world_.ledger.count_of(diary_.topic()) == 0) {
            return;
        }
        if (next_) {
            return fetch();
        }
        partition_ = static_cast<std::int32_t>(world_.below(kPartitions));
        begin();
    }
    /// Looks back twice, to look for what expires meanwhile, too.
    bool look_back(bool is_first) override {
        if (world_.ledger.count_of(diary_.topic()) == 0) {
            return false;
        }
        if (is_first) {
            to_look_back_ = 2 * kPartitions;
        }
        if (to_look_back_ == 0) {
            return false;
        }
        if (next_) {
            fetch();
        } else {
            partition_ = to_look_back_ % kPartitions;
            begin();
        }
        return true;
    }

  private:
    void begin() {
        found_.clear();
        since_ = diary_.event();
        began_ = now();
        const std::string name = diary_.topic();
        constexpr std::int64_t kEarliest = -2;
        std::array partitions{ListOffsetsRequest::ListOffsetsPartition{.partition_index = partition_, .timestamp = kEarliest}};
        std::array topics{ListOffsetsRequest::ListOffsetsTopic{.name = name, .partitions = partitions}};
        ask<ListOffsetsResponse>(6, ListOffsetsRequest{.topics = topics}, [this](const auto& response) {
            const auto& answered = response.topics[0].partitions[0];
            if (answered.error_code != ErrorCode::none) {
                return;
            }
            start_ = answered.offset;
            next_ = start_;
            diary_.note_start(partition_, start_);
        });
    }
    void fetch() {
        const std::string name = diary_.topic();
        std::array partitions{
            FetchRequest::FetchPartition{.partition = partition_, .fetch_offset = *next_, .partition_max_bytes = 1 << 20}};
        std::array topics{FetchRequest::FetchTopic{.topic = name, .partitions = partitions}};
        ask<FetchResponse>(11, FetchRequest{.topics = topics}, [this](const auto& response) {
            const auto& data = response.responses[0].partitions[0];
            if (data.error_code != ErrorCode::none) {
                next_.reset();
                return;
            }
            for_each_record_of(data, [&](const ReadRecord& record) { found_.emplace(record.offset, record); });
            if (const auto end = end_of(data)) {
                next_ = *end;
                return;
            }
            next_.reset();
            if (to_look_back_ > 0) {
                --to_look_back_;
            }
            diary_.check(partition_, found_, start_, since_, began_);
        });
    }
    void on_lost() override { next_.reset(); }

    Diary& diary_;
    std::int32_t partition_ = 0;
    std::int64_t start_ = 0;
    std::optional<std::int64_t> next_;
    Diary::Found found_;
    std::uint64_t since_ = 0;
    Instant began_{};
    /// How many more times it reads a partition to look back.
    std::int32_t to_look_back_ = 0;
};

class KeptTopic final : public Scene {
  public:
    KeptTopic(ClientsWorld& world, Policy policy) : diary_(world, policy) {}

    std::vector<std::string> overrides() const override {
        return {"log.cleaner.backoff.ms=500", "log.retention.check.interval.ms=1000", "log.initial.task.delay.ms=0"};
    }
    std::vector<std::unique_ptr<SimulatedClient>> clients() override {
        std::vector<std::unique_ptr<SimulatedClient>> all;
        for (const char* name : {"w1", "w2"}) {
            all.push_back(std::make_unique<KeyWriter>(diary_.world, diary_, name));
        }
        for (const char* name : {"a1", "a2"}) {
            all.push_back(std::make_unique<WholeReader>(diary_.world, diary_, name));
        }
        return all;
    }
    void broker_died(Instant /*died*/, Instant /*started*/, bool is_power_failure) override {
        if (is_power_failure) {
            diary_.note_power_failure();
        }
    }

  private:
    Diary diary_;
};

}  // namespace

std::unique_ptr<Scene> compacted_topic(ClientsWorld& world) { return std::make_unique<KeptTopic>(world, Policy::compact); }
std::unique_ptr<Scene> expiring_topic(ClientsWorld& world) { return std::make_unique<KeptTopic>(world, Policy::expire); }

}  // namespace partita::test
