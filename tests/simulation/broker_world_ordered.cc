#include <algorithm>
#include <array>
#include <deque>
#include <map>
#include <optional>
#include <set>

#include "protocol/messages/00_produce.h"
#include "protocol/messages/01_fetch.h"
#include "protocol/messages/03_metadata.h"
#include "protocol/messages/19_create_topics.h"
#include "protocol/messages/22_init_producer_id.h"
#include "protocol/messages/37_create_partitions.h"
#include "protocol/record_batch_builder.h"
#include "tests/simulation/broker_world_records.h"
#include "tests/simulation/broker_world_scene.h"

namespace partita::test {
namespace {

const std::string kTopic = "ordered";
const std::string kGroup = "readers";
constexpr std::int32_t kMostPartitions = 8;
constexpr std::int64_t kDayMs = 86'400'000;
/// partita.expansion.guard.quiet.ms.
constexpr std::int64_t kQuietMs = 30'000;
/// Within it a second request confirms the first.
constexpr std::int64_t kConfirmationMs = 60'000;
/// A group that fetches for this long and commits nothing counts as having done what it fetched.
constexpr std::int64_t kCommitGraceMs = 15'000;
/// A producer gives up a record after this: Java's delivery.timeout.ms.
constexpr std::int64_t kDeliveryMs = 110'000;
/// The greatest age of a producer's partition count when it places a record by it: below `kQuietMs`.
constexpr std::int64_t kMetadataAgeMs = 20'000;

Ledger::Place place_of(std::int32_t partition) { return {kTopic, partition}; }

/// The knowledge of the topic's producers and readers. The diary numbers events, so that it knows which of any two came first.
class Diary {
  public:
    Diary(ClientsWorld& clients_world, bool fenced) : world(clients_world), is_fenced(fenced) {}

    struct Sent {
        std::string value;
        std::int64_t producer_id = 0;
        int key = 0;
        std::int32_t partition = 0;
        std::uint64_t sent_at = 0;
        /// 0: never, as far as its producer knows.
        std::uint64_t acknowledged_at = 0;
        std::int64_t offset = -1;
    };

    void note_sent(Sent sent) {
        sent.sent_at = ++events_;
        by_value_.emplace(sent.value, records.size());
        records.push_back(std::move(sent));
        note_write();
    }
    void note_acknowledged(const Sent& sent, std::int64_t offset) {
        note_write();
        world.ledger.note_acknowledged(place_of(sent.partition), offset, sent.value);
        const auto known = by_value_.find(sent.value);
        if (known == by_value_.end()) {
            return;  // It was sent before a power failure.
        }
        records[known->second].acknowledged_at = ++events_;
        records[known->second].offset = offset;
    }
    void note_write() { last_write = world.clock.now().monotonic; }
    void note_commit_asked(std::int32_t partition, std::int64_t offset) {
        Progress& progress = progress_[partition];
        progress.committed = std::max(progress.committed, offset);
        progress.since = world.clock.now().monotonic;
    }
    void note_fetch_asked(std::int32_t partition) {
        progress_.try_emplace(partition, Progress{.since = world.clock.now().monotonic});
    }
    /// Notes that a member of the group was given the record.
    void note_given(std::int32_t partition, const ReadRecord& record) {
        Progress& progress = progress_[partition];
        progress.fetched = std::max(progress.fetched, record.offset + 1);
        given_.insert(record.value);
        world.ledger.note_seen(place_of(partition), record.offset, record.value, false);
        const auto found = by_value_.find(record.value);
        if (found == by_value_.end() || !order_is_promised) {
            return;
        }
        const Sent& later = records[found->second];
        for (const Sent& earlier : records) {
            const bool comes_before = earlier.key == later.key && earlier.producer_id == later.producer_id &&
                                      earlier.acknowledged_at != 0 && earlier.acknowledged_at < later.sent_at;
            if (!comes_before || is_done(earlier)) {
                continue;
            }
            if (earlier.partition == partition && earlier.offset < record.offset) {
                continue;
            }
            world.ledger.note_wrong(record.value + " of " + kTopic + "-" + std::to_string(partition) + " is read before " +
                                    earlier.value + " of partition " + std::to_string(earlier.partition) + " at " +
                                    std::to_string(earlier.offset) + " is done");
        }
    }
    /// A record that was acknowledged before that event is not committed yet.
    [[nodiscard]] bool has_backlog(std::uint64_t before) {
        return std::ranges::any_of(records, [&](const Sent& sent) {
            return sent.acknowledged_at != 0 && sent.acknowledged_at < before &&
                   progress_[sent.partition].committed <= sent.offset;
        });
    }
    /// True unless everything that was ever sent, and may be in the log, is committed, as the group was told.
    [[nodiscard]] bool may_have_backlog() const {
        return has_forgotten || std::ranges::any_of(records, [&](const Sent& sent) {
                   return sent.acknowledged_at == 0 || world.ledger.committed(kGroup, place_of(sent.partition)) <= sent.offset;
               });
    }
    /// True when no client knows of a record.
    [[nodiscard]] bool may_be_empty() const {
        return std::ranges::none_of(records, [](const Sent& sent) { return sent.acknowledged_at != 0; });
    }
    [[nodiscard]] std::uint64_t event() { return ++events_; }
    [[nodiscard]] bool is_everything_given() const {
        return std::ranges::all_of(records,
                                   [&](const Sent& sent) { return sent.acknowledged_at == 0 || given_.contains(sent.value); });
    }
    [[nodiscard]] std::int32_t count() const { return world.ledger.count_of(kTopic); }
    /// After a power failure, earlier answers are no promise any more.
    void forget() {
        records.clear();
        by_value_.clear();
        progress_.clear();
        has_forgotten = true;
    }

    ClientsWorld& world;
    const bool is_fenced;
    std::vector<Sent> records;
    Instant last_write{};
    Instant life_began{};
    /// Producers rest until this time.
    Instant quiet_until{};
    /// False when a client grew the topic against the guard's advice, or when it had no records: then the guard lets the topic
    /// grow at any time. Producers that know the old count write the first records after that.
    bool order_is_promised = true;
    bool has_forgotten = false;

  private:
    /// Progress of the group in a partition.
    struct Progress {
        std::int64_t committed = 0;
        std::int64_t fetched = 0;
        /// The last commit, or the first fetch.
        Instant since{};
    };
    [[nodiscard]] bool is_done(const Sent& sent) {
        const Progress& progress = progress_[sent.partition];
        if (progress.committed > sent.offset) {
            return true;
        }
        return progress.fetched > sent.offset && world.clock.now().monotonic - progress.since >= kCommitGraceMs;
    }

    std::uint64_t events_ = 0;
    std::map<std::string, std::size_t> by_value_;
    std::map<std::int32_t, Progress> progress_;
    std::set<std::string> given_;
};

/// Makes the topic and grows it, by its mode's rules and against them.
class Grower final : public SimulatedClient {
  public:
    Grower(ClientsWorld& world, Diary& diary) : SimulatedClient(world, "grower"), diary_(diary) {}

    void act() override {
        if (waits()) {
            return;
        }
        if (diary_.count() == 0) {
            return create();
        }
        if (next_growth_ <= now() && diary_.count() < kMostPartitions && world_.one_in(4)) {
            return grow();
        }
        look();
    }

  private:
    void create() {
        const std::string day = std::to_string(kDayMs);
        std::array configs{CreateTopicsRequest::CreatableTopicConfig{.name = "flush.messages", .value = "1"},
                           CreateTopicsRequest::CreatableTopicConfig{.name = "partita.expansion.mode",
                                                                     .value = diary_.is_fenced ? "fenced" : "guarded"},
                           CreateTopicsRequest::CreatableTopicConfig{.name = "partita.expansion.window.ms", .value = day},
                           CreateTopicsRequest::CreatableTopicConfig{.name = "partita.expansion.fence.timeout.ms", .value = day}};
        std::array topics{CreateTopicsRequest::CreatableTopic{.name = kTopic,
                                                              .num_partitions = 1 + static_cast<std::int32_t>(world_.below(2)),
                                                              .replication_factor = 1,
                                                              .configs = configs}};
        ask<CreateTopicsResponse>(7, CreateTopicsRequest{.topics = topics},
                                  [this, count = topics[0].num_partitions](const auto& response) {
                                      const ErrorCode error = response.topics[0].error_code;
                                      if (error == ErrorCode::none) {
                                          world_.ledger.note_count(kTopic, count);
                                      }
                                      if (error == ErrorCode::topic_already_exists) {
                                          look();
                                      }
                                      if (error == ErrorCode::invalid_config) {
                                          world_.ledger.note_wrong("the configs of " + kTopic);
                                      }
                                  });
    }
    void look() {
        std::array topics{MetadataRequest::Topic{.name = kTopic}};
        ask<MetadataResponse>(12, MetadataRequest{.topics = topics, .allow_auto_topic_creation = false},
                              [this](const auto& response) {
                                  const auto& shown = response.topics[0];
                                  if (shown.error_code == ErrorCode::none) {
                                      world_.ledger.note_count(kTopic, static_cast<std::int32_t>(shown.partitions.count()));
                                  } else if (diary_.count() > 0) {
                                      note_wrong("was acknowledged and is not there");
                                  }
                              });
    }
    void grow() {
        // How late the broker may judge a request whose client hung up before the answer.
        constexpr std::int64_t kSlackMs = 10'000;
        wanted_ = diary_.count() * 2;
        if (world_.one_in(4)) {
            wanted_ = diary_.count() + 1;
        }
        const bool is_confirmation = refused_ == wanted_ && now() - refused_at_ <= kConfirmationMs + kSlackMs;
        const std::int32_t from = diary_.count();
        const std::size_t growth = world_.ledger.note_growth_wanted(kTopic, from, wanted_, true);
        std::array topics{
            CreatePartitionsRequest::CreatePartitionsTopic{.name = kTopic, .count = wanted_, .assignments = nullptr}};
        is_growing_ = true;
        may_be_confirmed_ = is_confirmation;
        ask<CreatePartitionsResponse>(
            3, CreatePartitionsRequest{.topics = topics, .timeout_ms = 30'000},
            [this, from, growth, is_confirmation, asked = diary_.event(), when = now()](const auto& response) {
                is_growing_ = false;
                const auto& result = response.results[0];
                if (result.error_code == ErrorCode::none) {
                    has_grown(from, is_confirmation, asked, when);
                } else {
                    world_.ledger.note_growth_refused(growth);
                    if (result.error_code == ErrorCode::policy_violation) {
                        is_refused(from, std::string(result.error_message.value_or("")));
                    } else if (result.error_code == ErrorCode::invalid_partitions) {
                        look();
                    }
                }
            });
    }
    void has_grown(std::int32_t from, bool is_confirmation, std::uint64_t asked, Instant when) {
        if (diary_.is_fenced && wanted_ % from != 0) {
            note_wrong("grew to what is no multiple");
        }
        if (!diary_.is_fenced && (is_confirmation || diary_.may_be_empty())) {
            diary_.order_is_promised = false;
        }
        if (!diary_.is_fenced && !is_confirmation) {
            if (diary_.has_backlog(asked)) {
                note_wrong("grew while a group had not read everything");
            }
            const bool is_loud = diary_.last_write < when && when - diary_.last_write < kQuietMs;
            // A connection may have been lost before the broker heard of a producer that writes to an empty topic.
            if (is_loud && !diary_.may_be_empty()) {
                note_wrong("grew while producers wrote");
            }
        }
        ++world_.happened[diary_.is_fenced  ? "growths of fenced topics"
                          : is_confirmation ? "growths of guarded topics, confirmed"
                                            : "growths of guarded topics"];
        world_.ledger.note_count(kTopic, wanted_);
        next_growth_ = now() + 20'000;
    }
    void is_refused(std::int32_t from, const std::string& text) {
        const std::string mode = diary_.is_fenced ? "fenced" : "guarded";
        if (!text.starts_with("Topic " + kTopic + " is " + mode + " (partita.expansion.mode), and growing from " +
                              std::to_string(from) + " to " + std::to_string(wanted_) + " partitions is refused: ")) {
            note_wrong("is refused to grow in the words \"" + text + "\"");
        }
        ++world_.happened["growths refused by " + mode + " topics"];
        if (diary_.is_fenced) {
            return;
        }
        const bool is_loud = now() - diary_.last_write < kQuietMs || now() - diary_.life_began < kQuietMs;
        if (!is_loud && !diary_.may_have_backlog()) {
            note_wrong("is drained and silent, and refused to grow: " + text);
        }
        refused_ = wanted_;
        refused_at_ = now();
        if (world_.one_in(6)) {
            return;  // The grower confirms it soon.
        }
        next_growth_ = now() + kConfirmationMs + 15'000;
        diary_.quiet_until = next_growth_ + 30'000;
    }
    void note_wrong(const std::string& what) { world_.ledger.note_wrong(kTopic + " " + what); }
    void on_lost() override {
        if (!is_growing_) {
            return;
        }
        world_.ledger.note_growth_lost();
        // The topic may have grown, and by a confirmation.
        if (may_be_confirmed_ || (!diary_.is_fenced && diary_.may_be_empty())) {
            diary_.order_is_promised = false;
        }
        // Or the broker refused, and the grower may confirm.
        refused_ = wanted_;
        refused_at_ = now();
        is_growing_ = false;
    }

    Diary& diary_;
    std::int32_t wanted_ = 0;
    std::int32_t refused_ = 0;
    Instant refused_at_{};
    Instant next_growth_{};
    bool is_growing_ = false;
    bool may_be_confirmed_ = false;
};

/// Places each record by its key and by the count that it knew last, which may be an old one. It sends the next record when the
/// broker has answered the one before.
class KeyedProducer final : public SimulatedClient {
  public:
    KeyedProducer(ClientsWorld& world, Diary& diary, std::string name, int first_key)
        : SimulatedClient(world, std::move(name)), diary_(diary), first_key_(first_key) {}

    void act() override {
        if (waits()) {
            return;
        }
        if (!producer_id_) {
            return begin();
        }
        if (unsent_) {
            if (now() - unsent_->begun < kDeliveryMs) {
                return send();
            }
            // It stays unknown whether the record is there.
            return begin();
        }
        if (now() < diary_.quiet_until) {
            return;
        }
        if (count_ == 0 || now() - known_since_ > age_ms_) {
            return look();
        }
        make();
        send();
    }

  private:
    struct Batch {
        Diary::Sent sent;
        std::int32_t sequence = 0;
        Instant begun;
    };

    void begin() {
        unsent_.reset();
        ask<InitProducerIdResponse>(4, InitProducerIdRequest{.transactional_id = std::nullopt}, [this](const auto& response) {
            if (response.error_code != ErrorCode::none) {
                return;
            }
            producer_id_ = response.producer_id;
            next_sequence_.clear();
        });
    }
    void look() {
        std::array topics{MetadataRequest::Topic{.name = kTopic}};
        ask<MetadataResponse>(12, MetadataRequest{.topics = topics, .allow_auto_topic_creation = false},
                              [this](const auto& response) {
                                  const auto& shown = response.topics[0];
                                  if (shown.error_code != ErrorCode::none) {
                                      return;
                                  }
                                  count_ = static_cast<std::int32_t>(shown.partitions.count());
                                  world_.ledger.note_count(kTopic, count_);
                                  known_since_ = now();
                                  age_ms_ = static_cast<std::int64_t>(world_.below(kMetadataAgeMs));
                              });
    }
    void make() {
        constexpr std::uint64_t kKeys = 3;
        const int key = first_key_ + static_cast<int>(world_.below(kKeys));
        const auto partition = static_cast<std::int32_t>(key) % count_;
        unsent_ = Batch{
            .sent = {.value = world_.ledger.fresh_value(), .producer_id = *producer_id_, .key = key, .partition = partition},
            .sequence = next_sequence_[partition]++,
            .begun = now()};
        diary_.note_sent(unsent_->sent);
    }
    void send() {
        BatchBuilder builder({.producer_id = {*producer_id_}, .producer_epoch = {0}, .base_sequence = {unsent_->sequence}});
        const std::string key = "k" + std::to_string(unsent_->sent.key);
        builder.append(world_.clock.now().wall, as_bytes(key), as_bytes(unsent_->sent.value));
        std::vector<std::byte> records;
        builder.build(records);
        std::array partitions{
            ProduceRequest::PartitionProduceData{.index = unsent_->sent.partition, .records = Records(Bytes(records))}};
        std::array topics{ProduceRequest::TopicProduceData{.name = kTopic, .partition_data = partitions}};
        diary_.note_write();
        ask<ProduceResponse>(9, ProduceRequest{.acks = -1, .timeout_ms = 5'000, .topic_data = topics},
                             [this](const auto& response) {
                                 const auto& answered = response.responses[0].partition_responses[0];
                                 diary_.note_write();
                                 if (!unsent_ || answered.error_code == ErrorCode::not_leader_or_follower) {
                                     return;
                                 }
                                 if (answered.error_code == ErrorCode::none) {
                                     diary_.note_acknowledged(unsent_->sent, answered.base_offset);
                                     unsent_.reset();
                                 } else if (answered.error_code != ErrorCode::kafka_storage_error) {
                                     // The record is there and the broker does not say where, or a power failure took what was
                                     // before it.
                                     producer_id_.reset();
                                     count_ = 0;
                                 }
                             });
    }
    void on_lost() override {
        count_ = 0;
        // The record may still arrive.
        if (unsent_) {
            diary_.note_write();
        }
    }

    Diary& diary_;
    const int first_key_;
    std::optional<std::int64_t> producer_id_;
    std::map<std::int32_t, std::int32_t> next_sequence_;
    std::optional<Batch> unsent_;
    std::int32_t count_ = 0;
    Instant known_since_{};
    std::int64_t age_ms_ = 0;
};

/// A member that reads its partitions from its group's committed offsets, and commits what it has done.
class OrderedReader final : public SimulatedMember {
  public:
    OrderedReader(ClientsWorld& world, Diary& diary, std::string name)
        : SimulatedMember(world, std::move(name), kGroup, {kTopic}), diary_(diary) {}

    bool look_back(bool /*is_first*/) override {
        if (diary_.is_everything_given()) {
            return false;
        }
        act();
        return true;
    }

  private:
    struct Reading {
        std::int64_t next = 0;
        std::deque<std::int64_t> given;
        /// The offset behind the records that are done, and the offset that is committed.
        std::int64_t done = 0;
        std::int64_t committed = 0;
    };

    void work() override {
        if (is_new_connection_) {
            // The heartbeat comes before the first fetch over the connection, so that the broker knows whose fetches these are.
            is_new_connection_ = false;
            return heartbeat();
        }
        if (owned().empty()) {
            return;
        }
        if (readings_.empty()) {
            return look_up_commits();
        }
        const Ledger::Place& place = owned()[world_.below(owned().size())];
        const auto reading = readings_.find(place.second);
        if (reading == readings_.end()) {
            return;
        }
        Reading& there = reading->second;
        if (!there.given.empty()) {
            there.done = there.given.front() + 1;
            there.given.pop_front();
        }
        if (there.done > there.committed && world_.one_in(2)) {
            there.committed = there.done;
            if (there.done <= world_.ledger.committed(group(), place)) {
                return;
            }
            diary_.note_commit_asked(place.second, there.done);
            return commit(place, there.done);
        }
        if (there.given.empty()) {
            fetch(place.second, there.next);
        }
    }
    void look_up_commits() {
        look_at_commits([this](const Ledger::Place& place, std::int64_t committed) {
            const std::int64_t begin = std::max<std::int64_t>(committed, 0);
            readings_[place.second] = {.next = begin, .given = {}, .done = begin, .committed = begin};
        });
    }
    void fetch(std::int32_t partition, std::int64_t from) {
        std::array partitions{
            FetchRequest::FetchPartition{.partition = partition, .fetch_offset = from, .partition_max_bytes = 1 << 20}};
        std::array topics{FetchRequest::FetchTopic{.topic = kTopic, .partitions = partitions}};
        const auto wait_ms = static_cast<std::int32_t>(world_.below(3) * 100);
        diary_.note_fetch_asked(partition);
        ask<FetchResponse>(11, FetchRequest{.max_wait_ms = wait_ms, .min_bytes = 1, .topics = topics},
                           [this, partition](const auto& response) {
                               if (response.responses.count() == 0) {
                                   return;
                               }
                               const auto& data = response.responses[0].partitions[0];
                               if (data.error_code == ErrorCode::offset_out_of_range) {
                                   readings_.clear();
                               }
                               const auto reading = readings_.find(partition);
                               if (reading == readings_.end()) {
                                   return;
                               }
                               for_each_record_of(data, [&](const ReadRecord& record) {
                                   if (record.offset < reading->second.next) {
                                       return;
                                   }
                                   diary_.note_given(partition, record);
                                   reading->second.given.push_back(record.offset);
                               });
                               if (const auto end = end_of(data)) {
                                   reading->second.next = *end;
                               }
                           });
    }
    void on_assigned() override {
        readings_.clear();
        is_new_connection_ = false;
    }
    void on_lost() override {
        SimulatedMember::on_lost();
        is_new_connection_ = true;
    }

    Diary& diary_;
    std::map<std::int32_t, Reading> readings_;
    bool is_new_connection_ = false;
};

class OrderedTopic final : public Scene {
  public:
    OrderedTopic(ClientsWorld& world, bool is_fenced) : diary_(world, is_fenced) { world.ledger.synced_topics.insert(kTopic); }

    std::vector<std::unique_ptr<SimulatedClient>> clients() override {
        ClientsWorld& world = diary_.world;
        std::vector<std::unique_ptr<SimulatedClient>> all;
        all.push_back(std::make_unique<Grower>(world, diary_));
        int first_key = 0;
        for (const char* name : {"k1", "k2", "k3"}) {
            all.push_back(std::make_unique<KeyedProducer>(world, diary_, name, first_key));
            first_key += 5;
        }
        for (const char* name : {"o1", "o2"}) {
            all.push_back(std::make_unique<OrderedReader>(world, diary_, name));
        }
        return all;
    }
    void broker_died(Instant /*died*/, Instant started, bool is_power_failure) override {
        diary_.life_began = started;
        if (is_power_failure) {
            diary_.forget();
        }
    }
    std::vector<Ledger::Place> places() const override {
        std::vector<Ledger::Place> all;
        for (std::int32_t partition = 0; partition < diary_.count(); ++partition) {
            all.push_back(place_of(partition));
        }
        return all;
    }

  private:
    Diary diary_;
};

}  // namespace

std::unique_ptr<Scene> ordered_topic(ClientsWorld& world, bool is_fenced) {
    return std::make_unique<OrderedTopic>(world, is_fenced);
}

}  // namespace partita::test
