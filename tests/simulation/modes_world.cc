#include "tests/simulation/modes_world.h"
#include "broker/groups/group_queries.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <limits>

#include "broker/groups/topic_readers.h"
#include "tests/support/declared_settings.h"

namespace partita::insight::simulation {
namespace {

constexpr std::string_view kTopic = "orders";
constexpr TopicId kTopicId{{7}};

/// Keys are spread evenly, as a hash does it.
std::uint32_t hash_of(int key) {
    std::uint64_t state = static_cast<std::uint64_t>(key) + 0x9e3779b97f4a7c15ULL;
    state = (state ^ (state >> 30)) * 0xbf58476d1ce4e5b9ULL;
    state = (state ^ (state >> 27)) * 0x94d049bb133111ebULL;
    return static_cast<std::uint32_t>(state >> 33);
}

Writer writer_of(ConnectionId connection) {
    return {.client = {"rdkafka", "/127.0.0.1"}, .connection = connection, .process = std::nullopt};
}

}  // namespace

World::World(const Options& options)
    : options_(options), random_(options.seed), logs_(static_cast<std::size_t>(options.old_count)) {
    for (int index = 0; index < kProducers; ++index) {
        // All producers learn of the growth within the age of their metadata; one of them stops before and never does.
        producers_.push_back({.connection = ConnectionId{++last_connection_},
                              .id = ProducerId{index % 3 == 0 ? index : -1},
                              .switches_at = kExpandAt + between(1, kMetadataAgeSteps),
                              .stops = index == 0 && between(0, 1) == 1});
    }
    // A producer that comes back unproven keeps the window open, so that worlds with it see no proof.
    producers_reconnect_ = between(0, 1) == 1;
    for (const char* group : {"slow", "fast"}) {
        Reader reader{.group = group, .switches_at = kExpandAt + between(1, kMetadataAgeSteps)};
        for (std::int32_t partition = 0; partition < options_.new_count; ++partition) {
            const bool is_slow = reader.group == "slow" && partition < options_.old_count && partition % 2 == 0;
            reader.speeds[partition] = is_slow ? between(1, 3) : 40;
        }
        readers_.push_back(std::move(reader));
    }
    start_coordinator();
    for (Reader& reader : readers_) {
        for (std::int32_t partition = 0; partition < options_.old_count; ++partition) {
            reader.positions[partition] = 0;
        }
        commit(reader);
    }
}

Outcome World::run() {
    for (step_ = 1; step_ <= kSteps || (!everything_is_read() && step_ < 40 * kSteps); ++step_) {
        if (step_ == kExpandAt) {
            expand();
        }
        if (step_ <= kSteps) {
            produce();
        }
        for (Reader& reader : readers_) {
            read(reader);
            if (step_ % kCommitEvery == 0) {
                commit(reader);
            }
            if (step_ <= kSteps && between(1, 400) == 1) {
                restart_reader(reader);
            }
        }
        keep_fence();
        if (options_.loses_power && step_ % kSyncEvery == 0) {
            durable_.clear();
            std::ranges::transform(logs_, std::back_inserter(durable_), &std::vector<Record>::size);
        }
        if (step_ <= kSteps && between(1, options_.loses_power ? 100 : 300) == 1) {
            crash_broker();
        }
    }
    outcome_.drained = everything_is_read();
    outcome_.timeouts = fence_.timeouts();
    outcome_.held = fence_.held_fetches();
    return outcome_;
}

void World::start_coordinator() {
    coordinator_.emplace(declared_group_config());
    for (const groups::Record& record : records_) {
        coordinator_->replay(record);
    }
    groups::Effects effects;
    coordinator_->loaded(now(), effects);
}

template <class Call>
void World::with_coordinator(Call&& call) {
    groups::Effects effects;
    call(*coordinator_, effects);
    for (const groups::Record& record : effects.records) {
        auto commit = std::get<groups::OffsetCommitRecord>(record);
        commit.group_id = texts_.emplace_back(commit.group_id);
        commit.topic = kTopic;
        commit.metadata = texts_.emplace_back(commit.metadata);
        records_.emplace_back(commit);
    }
}

std::int64_t World::committed(const Reader& reader, std::int32_t partition) {
    for (const groups::TopicReader& known : coordinator_->queries().readers_of(kTopic, kTopicId)) {
        if (known.group_id == reader.group) {
            const auto found = known.committed.find(PartitionIndex{partition});
            return found == known.committed.end() ? -1 : found->second.value;
        }
    }
    return -1;
}

void World::commit(Reader& reader) {
    std::vector<groups::OffsetCommit::Partition> partitions;
    for (const auto& [partition, position] : reader.positions) {
        partitions.push_back({PartitionIndex{partition}, Offset{position}, LeaderEpoch{0}, ""});
    }
    const groups::OffsetCommit::Topic topic{kTopic, kTopicId, partitions};
    with_coordinator([&](groups::GroupCoordinator& coordinator, groups::Effects& effects) {
        coordinator.decide(groups::OffsetCommit{.group_id = reader.group, .topics = {&topic, 1}, .reply_to = {1}}, now(),
                           effects);
    });
}

void World::expand() {
    for (std::int32_t partition = 0; partition < options_.old_count; ++partition) {
        cut_.push_back(end(PartitionIndex{partition}));
    }
    const std::string metadata = groups::seed_metadata(1);
    if (options_.mode != Mode::faithful && options_.sabotage != Sabotage::no_seeds) {
        for (const groups::TopicReader& reader : coordinator_->queries().readers_of(kTopic, kTopicId)) {
            with_coordinator([&](groups::GroupCoordinator& coordinator, groups::Effects& effects) {
                coordinator.seed_offsets({.group_id = reader.group_id,
                                          .topic = kTopic,
                                          .topic_id = kTopicId,
                                          .first = PartitionIndex{options_.old_count},
                                          .end = PartitionIndex{options_.new_count},
                                          .metadata = metadata},
                                         now(), effects);
            });
        }
    }
    if (options_.mode == Mode::fenced) {
        std::vector<ProducerWindow::Unproven> producers;
        for (const Producer& producer : producers_) {
            producers.push_back({instance_of(producer), writer_of(producer.connection)});
        }
        fence_.open(1, options_.old_count, options_.new_count, now().wall, producers, TimestampMs{0});
        stored_fence_ = fence_.encode();
    }
    logs_.resize(static_cast<std::size_t>(options_.new_count));
    expanded_ = true;
}

void World::produce() {
    for (int index = 0; index < kProducers; ++index) {
        Producer& producer = producers_[static_cast<std::size_t>(index)];
        if (producer.stops && step_ > kExpandAt) {
            continue;
        }
        if (producers_reconnect_ && between(1, 200) == 1) {
            reconnect(producer);
        }
        for (int records = between(0, 2); records > 0; --records) {
            append(producer, index);
        }
    }
}

ProducerInstance World::instance_of(const Producer& producer) const {
    return options_.sabotage == Sabotage::producers_by_name ? ProducerInstance::of(kNoProducerId, ConnectionId{1})
                                                            : ProducerInstance::of(producer.id, producer.connection);
}

/// Reconnects the producer with its old metadata.
void World::reconnect(Producer& producer) {
    fence_.producers().on_closed(producer.connection, std::nullopt);
    producer.connection = ConnectionId{++last_connection_};
}

void World::append(Producer& producer, int index) {
    const int key = between(1, kKeys);
    const auto count = static_cast<std::uint32_t>(count_known_at(producer.switches_at));
    const PartitionIndex partition{static_cast<std::int32_t>(hash_of(key) % count)};
    if (fence_.is_open()) {
        fence_.on_produce(instance_of(producer), writer_of(producer.connection), partition, now().wall);
        if (const auto parent = fence_.parent_of(partition)) {
            const Offset boundary = options_.sabotage == Sabotage::one_boundary_for_all
                                        ? cut_[static_cast<std::size_t>(parent->value)]
                                        : end(*parent);
            fence_.mark(partition, end(partition), boundary);
        }
    }
    logs_[static_cast<std::size_t>(partition.value)].push_back({index, key, producer.next_number++});
    ++outcome_.produced;
}

void World::assign_new_partitions(Reader& reader) {
    for (std::int32_t partition = options_.old_count; partition < options_.new_count; ++partition) {
        if (reader.positions.contains(partition)) {
            continue;
        }
        const std::int64_t from = committed(reader, partition);
        // auto.offset.reset=latest.
        reader.positions[partition] = from >= 0 ? from : end(PartitionIndex{partition}).value;
        outcome_.skipped += from >= 0 ? 0 : static_cast<std::uint64_t>(end(PartitionIndex{partition}).value);
    }
}

void World::read(Reader& reader) {
    if (expanded_ && step_ >= reader.switches_at) {
        assign_new_partitions(reader);
    }
    for (auto& [partition, position] : reader.positions) {
        const PartitionIndex index{partition};
        Offset limit = end(index);
        if (const auto parent = fence_.parent_of(index)) {
            const std::int64_t done = std::max<std::int64_t>(0, committed(reader, parent->value));
            limit = fence_.judge(reader.group, index, {.drained = Offset{done}}, end(index), settings_, now().monotonic).limit;
        }
        for (int given = 0; given < reader.speeds[partition] && position < limit.value; ++given) {
            give(reader, partition, position++);
        }
    }
}

void World::give(Reader& reader, std::int32_t partition, std::int64_t offset) {
    ++outcome_.delivered;
    const Record& record = logs_[static_cast<std::size_t>(partition)][static_cast<std::size_t>(offset)];
    // Everything earlier of this key and producer must be done: committed, when it lies in another partition.
    for (std::int32_t other = 0; other < options_.old_count; ++other) {
        if (other == partition) {
            continue;
        }
        const std::vector<Record>& log = logs_[static_cast<std::size_t>(other)];
        // A key lies in one old partition until its producer learns of the new count.
        if (hash_of(record.key) % static_cast<std::uint32_t>(options_.old_count) != static_cast<std::uint32_t>(other)) {
            continue;
        }
        const std::int64_t done = std::max<std::int64_t>(0, committed(reader, other));
        for (std::size_t at = static_cast<std::size_t>(done); at < log.size(); ++at) {
            const Record& earlier = log[at];
            if (earlier.key == record.key && earlier.producer == record.producer && earlier.number < record.number) {
                ++outcome_.overtaken;
                return;
            }
        }
    }
}

void World::keep_fence() {
    if (options_.mode != Mode::fenced || !expanded_) {
        return;
    }
    const bool at_once = options_.sabotage == Sabotage::window_closes_at_once && fence_.is_open();
    if (const auto due =
            at_once ? std::optional(Fence::WindowState::closed_by_time) : fence_.due_to_close(settings_, now().wall)) {
        fence_.close(*due,
                     [&](PartitionIndex partition, PartitionIndex parent) { return std::pair(end(partition), end(parent)); });
        outcome_.window_closed_by_proof = *due == Fence::WindowState::closed_by_proof;
        stored_fence_ = fence_.encode();
    }
    // The world stores marks from time to time; when it never does, crashes have more to lose.
    if (step_ % 60 == 0 && options_.sabotage != Sabotage::no_cover_after_a_crash) {
        stored_fence_ = fence_.encode();
    }
}

void World::crash_broker() {
    ++outcome_.crashes;
    if (options_.loses_power) {
        lose_power();
    }
    start_coordinator();
    if (options_.mode == Mode::fenced && expanded_) {
        fence_ = std::move(*Fence::decode(stored_fence_, now().wall));
        if (options_.sabotage != Sabotage::no_cover_after_a_crash) {
            fence_.cover_unknown([&](PartitionIndex partition, PartitionIndex parent) {
                const bool looks = options_.sabotage != Sabotage::marks_beyond_the_end;
                return FenceMarks::Found{.start = Offset{0},
                                         .end = looks ? end(partition) : Offset{std::numeric_limits<std::int64_t>::max()},
                                         .parent_end = end(parent)};
            });
            stored_fence_ = fence_.encode();
        }
    }
    if (options_.loses_power) {
        std::ranges::for_each(readers_, [&](Reader& reader) { commit(reader); });
    }
}

/// Each log keeps its durable records, and some of the rest. Readers find that the log ends before their positions, and go on
/// from its end.
void World::lose_power() {
    durable_.resize(logs_.size());
    for (std::size_t index = 0; index < logs_.size(); ++index) {
        const std::size_t not_durable = logs_[index].size() - durable_[index];
        const std::size_t kept = durable_[index] + (between(0, 1) == 1 ? not_durable : random_() % (not_durable + 1));
        outcome_.lost += logs_[index].size() - kept;
        logs_[index].resize(kept);
        for (Reader& reader : readers_) {
            if (const auto position = reader.positions.find(static_cast<std::int32_t>(index));
                position != reader.positions.end()) {
                position->second = std::min(position->second, static_cast<std::int64_t>(kept));
            }
        }
    }
}

void World::restart_reader(Reader& reader) {
    reader.positions.clear();
    for (std::int32_t partition = 0; partition < options_.old_count; ++partition) {
        reader.positions[partition] = std::max<std::int64_t>(0, committed(reader, partition));
    }
}

bool World::everything_is_read() const {
    return std::ranges::all_of(readers_, [&](const Reader& reader) {
        return std::ranges::all_of(reader.positions,
                                   [&](const auto& entry) { return entry.second == end(PartitionIndex{entry.first}).value; });
    });
}

}  // namespace partita::insight::simulation
