#include <array>
#include <map>
#include <optional>
#include <set>

#include "protocol/messages/00_produce.h"
#include "protocol/messages/01_fetch.h"
#include "protocol/messages/03_metadata.h"
#include "protocol/messages/08_offset_commit.h"
#include "protocol/messages/09_offset_fetch.h"
#include "protocol/messages/19_create_topics.h"
#include "protocol/messages/20_delete_topics.h"
#include "protocol/record_batch_builder.h"
#include "tests/simulation/broker_world_records.h"
#include "tests/simulation/broker_world_scene.h"

namespace partita::test {
namespace {

const std::string kTopic = "passing";
const std::string kGroup = "passers";
constexpr std::int32_t kPartitions = 2;

Ledger::Place place_of(const Uuid& id, std::int32_t partition) { return {kTopic + "/" + id.to_string(), partition}; }

struct Diary {
    explicit Diary(ClientsWorld& clients_world) : world(clients_world) {}

    void note_there(const Uuid& id) {
        told.emplace(id, world.clock.now().monotonic);
        current = there = id;
        told_at = world.clock.now().monotonic;
        is_known = true;
        world.ledger.note_count(place_of(id, 0).first, kPartitions);
    }
    void note_gone(const Uuid& id) {
        ++world.happened["topics that were deleted"];
        gone[id] = world.clock.now().monotonic;
        current.reset();
        is_known = true;
        committed.clear();
        are_commits_known = !may_have_orphans;
    }
    [[nodiscard]] bool is_gone(const Uuid& id) const { return gone.contains(id); }
    [[nodiscard]] std::set<Uuid> all_gone() const {
        std::set<Uuid> ids;
        for (const auto& [id, when] : gone) {
            ids.insert(id);
        }
        return ids;
    }
    void note_wrong(const std::string& what) const { world.ledger.note_wrong(kTopic + ": " + what); }
    [[nodiscard]] std::optional<Uuid> some_id() const {
        if (told.empty()) {
            return std::nullopt;
        }
        if (current && !world.one_in(4)) {
            return current;
        }
        return std::next(told.begin(), static_cast<std::ptrdiff_t>(world.below(told.size())))->first;
    }

    ClientsWorld& world;
    /// The topic's present id, as far as the broker told anybody; unknown while an answer is missing.
    std::optional<Uuid> current;
    bool is_known = false;
    /// The topic whose making was answered, until a client asks for its deletion.
    std::optional<Uuid> there;
    Instant told_at{};
    /// All ids that the broker ever told, and since when.
    std::map<Uuid, Instant> told;
    /// Topics whose making or deletion a power failure may have taken in part. The broker syncs the catalog and the directories
    /// one after the other, so their remains can be in the topic before or the topic after.
    std::set<Uuid> lost;
    /// Topics whose deletion a client requested.
    std::set<Uuid> condemned;
    /// Topics whose deletion was answered, and when.
    std::map<Uuid, Instant> gone;
    /// Topics of the sent records, by value.
    std::map<std::string, Uuid> sent_to;
    /// The last acknowledged offset of `current`, for each partition. Clients ask for ascending offsets.
    std::map<std::int32_t, std::int64_t> committed;
    /// False after a power failure, which may have brought back what a deletion had taken away.
    bool are_commits_known = true;
    /// A commit came within a moment of a deletion. Commits of the deleted topic may then exist again, and no deletion takes them
    /// any more.
    bool may_have_orphans = false;
    /// No commit was asked for since the last deletion.
    bool is_uncommitted = true;
};

/// Makes the topic, commits to it, and deletes it.
class Owner final : public SimulatedClient {
  public:
    Owner(ClientsWorld& world, Diary& diary) : SimulatedClient(world, "owner"), diary_(diary) {}

    void act() override {
        if (waits()) {
            return;
        }
        if (!knows_coordinator_) {
            knows_coordinator_ = true;
            return find_coordinator(kGroup);
        }
        if (!diary_.is_known) {
            return look();
        }
        if (world_.one_in(3)) {
            return look_at_commits();
        }
        if (!diary_.current) {
            return create();
        }
        if (world_.one_in(6)) {
            return remove();
        }
        if (world_.one_in(2)) {
            return commit();
        }
        look();
    }
    bool look_back(bool is_first) override {
        if (diary_.is_known && is_first) {
            look();
            look_at_commits();
        }
        return false;
    }

  private:
    void create() {
        diary_.is_known = false;
        std::array topics{
            CreateTopicsRequest::CreatableTopic{.name = kTopic, .num_partitions = kPartitions, .replication_factor = 1}};
        ask<CreateTopicsResponse>(7, CreateTopicsRequest{.topics = topics}, [this](const auto& response) {
            const auto& made = response.topics[0];
            if (made.error_code != ErrorCode::none) {
                return look();
            }
            if (diary_.told.contains(made.topic_id)) {
                diary_.note_wrong("its id was given before");
            }
            diary_.note_there(made.topic_id);
        });
    }
    void look() {
        std::array topics{MetadataRequest::Topic{.name = kTopic}};
        ask<MetadataResponse>(12, MetadataRequest{.topics = topics, .allow_auto_topic_creation = false},
                              [this](const auto& response) { note_look(response.topics[0]); });
    }
    void note_look(const MetadataResponse::Topic& shown) {
        if (shown.error_code == ErrorCode::none) {
            if (diary_.is_gone(shown.topic_id)) {
                diary_.note_wrong("it was deleted, and is shown again");
            }
            if (diary_.there && *diary_.there != shown.topic_id) {
                diary_.note_wrong("it is another one, and nobody deleted it");
            }
            if (diary_.there != shown.topic_id) {
                diary_.note_there(shown.topic_id);
            }
        } else if (diary_.there) {
            diary_.note_wrong("it is not there, and nobody deleted it");
        } else {
            diary_.current.reset();
        }
        diary_.is_known = true;
    }
    void remove() {
        diary_.is_known = false;
        diary_.there.reset();
        diary_.committed.clear();
        const Uuid id = *diary_.current;
        diary_.condemned.insert(id);
        const bool by_id = world_.one_in(2);
        std::array topics{DeleteTopicsRequest::DeleteTopicState{.name = kTopic}};
        if (by_id) {
            topics[0] = {.name = std::nullopt, .topic_id = id};
        }
        ask<DeleteTopicsResponse>(6, DeleteTopicsRequest{.topics = topics, .timeout_ms = 5'000},
                                  [this, id](const auto& response) {
                                      if (response.responses[0].error_code != ErrorCode::none) {
                                          return look();
                                      }
                                      diary_.note_gone(id);
                                      diary_.is_uncommitted = true;
                                  });
    }
    void commit() {
        const auto partition = static_cast<std::int32_t>(world_.below(kPartitions));
        const std::int64_t offset = world_.ledger.fresh_offset();
        std::array partitions{OffsetCommitRequest::Partition{.partition_index = partition, .committed_offset = offset}};
        std::array topics{OffsetCommitRequest::Topic{.name = kTopic, .partitions = partitions}};
        diary_.is_uncommitted = false;
        ask<OffsetCommitResponse>(9, OffsetCommitRequest{.group_id = kGroup, .topics = topics},
                                  [this, partition, offset](const auto& response) {
                                      const ErrorCode error = response.topics[0].partitions[0].error_code;
                                      if (error == ErrorCode::none) {
                                          diary_.committed[partition] = offset;
                                      }
                                      if (is_no_coordinator(error)) {
                                          knows_coordinator_ = false;
                                      }
                                  });
    }
    void look_at_commits() {
        std::array<std::int32_t, kPartitions> partitions{0, 1};
        std::array topics{OffsetFetchRequest::Topic{.name = kTopic, .partition_indexes = partitions}};
        ask<OffsetFetchResponse>(7, OffsetFetchRequest{.group_id = kGroup, .topics = topics}, [this](const auto& response) {
            if (response.error_code != ErrorCode::none || !diary_.are_commits_known) {
                return;
            }
            for (const auto& found : response.topics[0].partitions) {
                if (found.error_code != ErrorCode::none) {
                    continue;
                }
                const auto known = diary_.committed.find(found.partition_index);
                if (known != diary_.committed.end() && found.committed_offset < known->second) {
                    diary_.note_wrong("a commit of " + std::to_string(known->second) + " is gone, and found is " +
                                      std::to_string(found.committed_offset));
                }
                if (diary_.is_uncommitted && found.committed_offset >= 0) {
                    diary_.note_wrong("the commit " + std::to_string(found.committed_offset) + " outlived its topic");
                }
            }
        });
    }
    void on_lost() override { diary_.is_known = false; }

    Diary& diary_;
    bool knows_coordinator_ = false;
};

class Writer final : public SimulatedClient {
  public:
    Writer(ClientsWorld& world, Diary& diary, std::string name) : SimulatedClient(world, std::move(name)), diary_(diary) {}

    void act() override {
        const auto id = diary_.some_id();
        if (waits() || !id) {
            return;
        }
        const std::string value = world_.ledger.fresh_value();
        diary_.sent_to.emplace(value, *id);
        const auto partition = static_cast<std::int32_t>(world_.below(kPartitions));
        BatchBuilder builder;
        builder.append(world_.clock.now().wall, std::nullopt, as_bytes(value));
        std::vector<std::byte> records;
        builder.build(records);
        std::array partitions{ProduceRequest::PartitionProduceData{.index = partition, .records = Records(Bytes(records))}};
        std::array topics{ProduceRequest::TopicProduceData{.topic_id = *id, .partition_data = partitions}};
        const bool was_there = diary_.there == *id;
        ask<ProduceResponse>(13, ProduceRequest{.acks = -1, .timeout_ms = 5'000, .topic_data = topics},
                             [this, id = *id, partition, value, was_gone = diary_.is_gone(*id), was_there](const auto& response) {
                                 const auto& answered = response.responses[0].partition_responses[0];
                                 if (answered.error_code == ErrorCode::unknown_topic_id && was_there && diary_.there == id) {
                                     diary_.note_wrong("it is there, and a producer is told that it is not");
                                 }
                                 if (answered.error_code != ErrorCode::none) {
                                     return;
                                 }
                                 if (was_gone) {
                                     diary_.note_wrong("a record was written after it was deleted");
                                 }
                                 world_.ledger.note_acknowledged(place_of(id, partition), answered.base_offset, value);
                             });
    }

  private:
    Diary& diary_;
};

class Reader final : public SimulatedClient {
  public:
    Reader(ClientsWorld& world, Diary& diary, std::string name) : SimulatedClient(world, std::move(name)), diary_(diary) {}

    void act() override {
        const auto id = diary_.some_id();
        if (waits() || !id) {
            return;
        }
        const auto partition = static_cast<std::int32_t>(world_.below(kPartitions));
        std::array partitions{
            FetchRequest::FetchPartition{.partition = partition, .fetch_offset = 0, .partition_max_bytes = 1 << 20}};
        const bool by_id = world_.one_in(2);
        std::array topics{FetchRequest::FetchTopic{.topic = kTopic, .partitions = partitions}};
        if (by_id) {
            topics[0] = {.topic_id = *id, .partitions = partitions};
        }
        const auto wait_ms = static_cast<std::int32_t>(world_.below(3) * 400);
        ask<FetchResponse>(by_id ? 13 : 11, FetchRequest{.max_wait_ms = wait_ms, .min_bytes = 1, .topics = topics},
                           [this, asked = by_id ? id : std::nullopt, partition, gone = diary_.all_gone()](const auto& response) {
                               if (response.responses.count() == 0) {
                                   return;
                               }
                               const auto& data = response.responses[0].partitions[0];
                               if (asked && gone.contains(*asked) && data.error_code == ErrorCode::none) {
                                   diary_.note_wrong("it can be read after it was deleted");
                               }
                               note_read(data, asked, partition, gone);
                           });
    }

  private:
    void note_read(const FetchResponse::PartitionData& data, const std::optional<Uuid>& asked, std::int32_t partition,
                   const std::set<Uuid>& gone) {
        for_each_record_of(data, [&](const ReadRecord& record) {
            const auto sent = diary_.sent_to.find(record.value);
            if (sent == diary_.sent_to.end()) {
                return diary_.note_wrong(record.value + ", which nobody sent, is read");
            }
            if (asked && *asked != sent->second) {
                diary_.note_wrong(record.value + " was sent to another topic of this name");
            }
            if (diary_.lost.contains(sent->second)) {
                return;
            }
            if (gone.contains(sent->second)) {
                diary_.note_wrong(record.value + " of a topic that was deleted is read");
            }
            world_.ledger.note_seen(place_of(sent->second, partition), record.offset, record.value, false);
        });
    }

    Diary& diary_;
};

class PassingTopic final : public Scene {
  public:
    explicit PassingTopic(ClientsWorld& world) : diary_(world) {}

    std::vector<std::unique_ptr<SimulatedClient>> clients() override {
        std::vector<std::unique_ptr<SimulatedClient>> all;
        all.push_back(std::make_unique<Owner>(diary_.world, diary_));
        for (const char* name : {"pw1", "pw2"}) {
            all.push_back(std::make_unique<Writer>(diary_.world, diary_, name));
        }
        for (const char* name : {"pr1", "pr2"}) {
            all.push_back(std::make_unique<Reader>(diary_.world, diary_, name));
        }
        return all;
    }
    void broker_died(Instant died, Instant started, bool is_power_failure) override {
        diary_.is_known = false;
        const auto is_unsynced = [&](Instant told) { return died - told < Ledger::kUnsyncedMs; };
        if (!is_power_failure) {
            if (is_unsynced(diary_.told_at)) {
                diary_.told_at = started;
            }
            for (auto* times : {&diary_.gone, &diary_.told}) {
                for (auto& [id, told] : *times) {
                    if (is_unsynced(told)) {
                        told = started;
                    }
                }
            }
            return;
        }
        if (is_unsynced(diary_.told_at)) {
            diary_.there.reset();
        }
        for (const auto& [id, told] : diary_.told) {
            if (is_unsynced(told)) {
                diary_.lost.insert(id);
            }
        }
        for (const Uuid& id : diary_.condemned) {
            diary_.world.ledger.forget_records(place_of(id, 0).first);
            const auto gone = diary_.gone.find(id);
            if (gone != diary_.gone.end() && !is_unsynced(gone->second)) {
                continue;
            }
            diary_.lost.insert(id);
            diary_.may_have_orphans = true;
        }
        std::erase_if(diary_.gone, [&](const auto& one) { return is_unsynced(one.second); });
        diary_.committed.clear();
        diary_.are_commits_known = false;
    }
    std::vector<Ledger::Place> places() const override {
        std::vector<Ledger::Place> all;
        for (std::int32_t partition = 0; diary_.there && partition < kPartitions; ++partition) {
            all.push_back(place_of(*diary_.there, partition));
        }
        return all;
    }

  private:
    Diary diary_;
};

}  // namespace

std::unique_ptr<Scene> passing_topic(ClientsWorld& world) { return std::make_unique<PassingTopic>(world); }

}  // namespace partita::test
