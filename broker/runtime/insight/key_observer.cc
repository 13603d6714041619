#include "broker/runtime/insight/key_observer.h"

#include <algorithm>
#include <utility>

#include "broker/runtime/catalog/catalog.h"
#include "broker/runtime/catalog/own_changes.h"
#include "broker/runtime/clients/client_connection.h"
#include "broker/runtime/clients/connections.h"
#include "broker/runtime/partitions/published_topics.h"
#include "protocol/record_batch.h"

namespace partita::runtime {
namespace {

/// Of partita.detection.processor.percent: from here on every record is looked at.
constexpr double kEverythingPercent = 100;
/// What is earned when the broker does little: this share of one core.
constexpr double kLeastShare = 0.005;
/// Copying on the producer's thread is paid from the budget, too: a step for each record, and about 4 GB/s into memory that is
/// not in a cache.
constexpr std::int64_t kTakingRecordNs = 15;
constexpr std::int64_t kCopyBytesPerNs = 4;
/// The queue never shrinks below this.
constexpr std::size_t kLeastQueueRecords = 1'000;
/// Rounds without a sample after which the thread waits to be woken.
constexpr int kQuietRounds = 20;

std::vector<expansion::TopicEpoch> epochs_of(const topics::Topic& topic) {
    std::vector<expansion::TopicEpoch> epochs;
    epochs.reserve(topic.expansions.size() + 1);
    epochs.push_back(
        {topic.expansions.empty() ? topic.partition_count : topic.expansions.front()->old_partition_count, topic.created_time});
    for (const auto& expansion : topic.expansions) {
        epochs.push_back({expansion->new_partition_count, expansion->time});
    }
    return epochs;
}

}  // namespace

KeyObserver::KeyObserver(const config::CurrentConfig& config, const PublishedTopics& topics, Connections& connections,
                         const Outlets& outlets, const Schedule& schedule)
    : config_(config), topics_(topics), connections_(connections), outlets_(outlets), schedule_(schedule) {}

KeyObserver::~KeyObserver() { stop(); }

void KeyObserver::start() {
    refilled_ns_ = schedule_.clock.stopwatch_ns();
    has_budget_ = config_->detection_processor_percent < kEverythingPercent;
    if (!has_budget_) {
        queue_records_max_.store(kQueueRecordsMax, std::memory_order_relaxed);
    }
    worker_ = schedule_.executor.start("key-observer", [this] { return step(); });
    is_open_.store(config_->detection_enable, std::memory_order_relaxed);
}

void KeyObserver::stop() {
    {
        const MutexLock lock(queue_mutex_);
        stopping_ = true;
        is_asleep_ = false;
        // Within the lock, under which a step opens the gate: else it could do so behind this.
        is_open_.store(false, std::memory_order_relaxed);
    }
    worker_.reset();
}

void KeyObserver::offer(const TopicState& topic, PartitionIndex partition, const ClientConnection& client,
                        std::string_view client_id, Bytes batch, TimestampMs now) {
    const std::size_t slot = slot_of(topic.topic->id);
    if (const std::uint8_t interval = intervals_[slot].load(std::memory_order_relaxed); interval > 1) {
        // Reactors that count at the same time lose a count now and then, which does no harm.
        const auto count = static_cast<std::uint8_t>(counters_[slot].load(std::memory_order_relaxed) + 1);
        counters_[slot].store(count, std::memory_order_relaxed);
        if (count % interval != 0) {
            return;
        }
    }
    if (batch.size() > kBatchBytesMax || topic.topic->internal) {
        return;
    }
    const auto parsed = parse_batch(batch);
    if (!parsed || parsed->header.attributes.is_control()) {
        return;
    }
    // Reserved first: when there is no room, nothing was copied.
    const auto records = static_cast<std::size_t>(std::max(0, parsed->header.record_count));
    if (!reserve(batch.size(), records)) {
        return;
    }
    auto taken = expansion::BatchSample::take(*parsed);
    if (!taken) {
        give_back(batch.size(), records);
        undecodable_.fetch_add(1, std::memory_order_relaxed);
        return;
    }
    // From here on what is held counts. Of very small records it is more than their batch.
    queue_bytes_.fetch_add(taken->size_bytes(), std::memory_order_relaxed);
    queue_records_.fetch_add(taken->record_count(), std::memory_order_relaxed);
    give_back(batch.size(), records);
    const bool is_idempotent = parsed->header.producer_id.value >= 0;
    Sample sample{.topic = topic.topic,
                  .partition = partition,
                  .producer = {.connection = is_idempotent ? expansion::kNoConnection : client.id,
                               .client_id = std::string(client_id),
                               .address = client.host,
                               .software_name = client.software_name,
                               .software_version = client.software_version,
                               .producer_id = is_idempotent ? parsed->header.producer_id : kNoProducerId,
                               .port = is_idempotent ? std::uint16_t{0} : client.port},
                  .time = now,
                  .batch = std::move(*taken)};
    bool wake = false;
    {
        const MutexLock lock(queue_mutex_);
        if (queue_.size() >= kQueueBatchesMax) {
            give_back(sample.batch.size_bytes(), sample.batch.record_count());
            is_open_.store(false, std::memory_order_relaxed);
            return;
        }
        queue_.push_back(std::move(sample));
        taken_.fetch_add(1, std::memory_order_release);
        wake = std::exchange(is_asleep_, false);
    }
    if (wake) {
        worker_->wake();
    }
}

void KeyObserver::connection_closed(expansion::ConnectionId connection) {
    const MutexLock lock(queue_mutex_);
    if (closed_.size() < kClosedMax) {
        closed_.push_back(connection);
    }
}

void KeyObserver::note_closed(const std::vector<expansion::ConnectionId>& closed) {
    if (closed.empty()) {
        return;
    }
    const MutexLock lock(detection_mutex_);
    detection_.for_each([&](const TopicId& id, expansion::TopicWatch& watch) {
        for (const expansion::ConnectionId connection : closed) {
            watch.on_closed(connection);
        }
        watched_[id].changed = true;
    });
}

void KeyObserver::note_processes(const topics::Topic& topic, expansion::TopicWatch& watch) {
    if (topic.expansions.empty()) {
        return;
    }
    for (const expansion::ConnectionId connection : watch.unknown_processes(kProcessesMax)) {
        if (!connections_.want_process(connection)) {
            continue;
        }
        if (const auto facts = connections_.find(connection); facts && facts->process) {
            watch.on_process(connection, *facts->process);
        }
    }
}

bool KeyObserver::reserve(std::size_t bytes, std::size_t records) {
    const std::size_t bytes_before = queue_bytes_.fetch_add(bytes, std::memory_order_relaxed);
    const std::size_t records_before = queue_records_.fetch_add(records, std::memory_order_relaxed);
    // One batch finds room in any queue that is empty.
    if (records_before == 0 || (bytes_before + bytes <= kQueueBytesMax &&
                                records_before + records <= queue_records_max_.load(std::memory_order_relaxed))) {
        return true;
    }
    give_back(bytes, records);
    is_open_.store(false, std::memory_order_relaxed);
    return false;
}

void KeyObserver::give_back(std::size_t bytes, std::size_t records) {
    queue_bytes_.fetch_sub(bytes, std::memory_order_relaxed);
    queue_records_.fetch_sub(records, std::memory_order_relaxed);
}

Instant KeyObserver::step() {
    Clock& clock = schedule_.clock;
    const Now now = clock.now();
    const std::int64_t before_ns = clock.thread_processor_ns();
    work(now);
    const std::int64_t spent_ns = clock.thread_processor_ns() - before_ns;
    credit_ns_ -= spent_ns;
    busy_ns_.fetch_add(static_cast<std::uint64_t>(spent_ns), std::memory_order_relaxed);
    refill(clock.stopwatch_ns());
    update_gate();
    return rest(clock.now().monotonic);
}

Instant KeyObserver::rest(Instant now) {
    const MutexLock lock(queue_mutex_);
    const bool is_quiet = quiet_rounds_ >= kQuietRounds && queue_.empty();
    // While there is traffic nobody is woken: samples are collected.
    is_asleep_ = is_quiet && !stopping_;
    if (!is_quiet) {
        return now + kCollectMs;
    }
    // Behind a closed gate nobody would call, and the settings that closed it may change.
    return watched_.empty() && is_open_.load(std::memory_order_relaxed) ? kNever : now + kIdleMs;
}

void KeyObserver::refill(std::int64_t now_ns) {
    const std::int64_t process_ns = schedule_.clock.process_processor_ns();
    const double percent = config_->detection_processor_percent;
    has_budget_ = percent < kEverythingPercent;
    const double share = percent / 100 / (is_curious_ ? 1 : kSettledDivisor);
    const double by_work = static_cast<double>(process_ns - process_ns_) * share;
    const double by_time = static_cast<double>(now_ns - refilled_ns_) * kLeastShare;
    credit_ns_ =
        std::min(credit_ns_ + static_cast<std::int64_t>(std::max(by_work, by_time)), is_curious_ ? kBurstNs : kSettledBurstNs);
    refilled_ns_ = now_ns;
    process_ns_ = process_ns;
}

void KeyObserver::update_gate() {
    const bool may_open = (credit_ns_ > 0 || !has_budget_) && config_->detection_enable;
    // A few batches of usual size always fit: what they cost too much is a debt, which closes the gate until it is paid.
    const double paid_records = static_cast<double>(std::max<std::int64_t>(0, credit_ns_)) / record_cost_ns_;
    const std::size_t most =
        has_budget_ ? std::clamp(static_cast<std::size_t>(paid_records), kLeastQueueRecords, kQueueRecordsMax) : kQueueRecordsMax;
    queue_records_max_.store(most, std::memory_order_relaxed);
    const MutexLock lock(queue_mutex_);
    is_open_.store(may_open && !stopping_ && queue_records_.load(std::memory_order_relaxed) < most / 2 &&
                       queue_bytes_.load(std::memory_order_relaxed) < kQueueBytesMax / 2 && queue_.size() < kQueueBatchesMax / 2,
                   std::memory_order_relaxed);
}

void KeyObserver::work(Now now) {
    std::vector<Sample> samples;
    std::vector<expansion::ConnectionId> closed;
    {
        const MutexLock lock(queue_mutex_);
        samples.swap(queue_);
        closed.swap(closed_);
    }
    std::size_t taken_bytes = 0;
    std::size_t taken_records = 0;
    for (const Sample& sample : samples) {
        taken_bytes += sample.batch.size_bytes();
        taken_records += sample.batch.record_count();
    }
    give_back(taken_bytes, taken_records);
    credit_ns_ -=
        static_cast<std::int64_t>(taken_records) * kTakingRecordNs + static_cast<std::int64_t>(taken_bytes) / kCopyBytesPerNs;
    quiet_rounds_ = samples.empty() ? quiet_rounds_ + 1 : 0;
    const std::int64_t begin_ns = schedule_.clock.thread_processor_ns();
    if (const std::size_t records = observe(samples, now.wall); records > 0) {
        const double spent_ns = static_cast<double>(schedule_.clock.thread_processor_ns() - begin_ns);
        record_cost_ns_ = std::max(1.0, 0.75 * record_cost_ns_ + 0.25 * spent_ns / static_cast<double>(records));
    }
    done_.fetch_add(samples.size(), std::memory_order_release);
    note_closed(closed);
    if (now.monotonic >= next_settle_) {
        settle(now);
        next_settle_ = now.monotonic + kSettleMs;
    }
}

std::size_t KeyObserver::observe(const std::vector<Sample>& samples, TimestampMs now) {
    const std::int64_t begin_ns = schedule_.clock.thread_processor_ns();
    std::size_t records = 0;
    std::size_t looked_at = 0;
    for (const Sample& sample : samples) {
        // Beyond the budget samples are dropped: what is seen of a producer is a sample anyway.
        const std::int64_t spent_ns = schedule_.clock.thread_processor_ns() - begin_ns;
        if (has_budget_ && spent_ns > (is_curious_ ? credit_ns_ : std::min(credit_ns_, kSettledBurstNs))) {
            break;
        }
        records += observe(sample);
        if (is_curious_ && records - looked_at >= kRecordsPerLook) {
            look_for_curiosity(*topics_.table(), now);
            looked_at = records;
        }
    }
    if (is_curious_ && records > looked_at) {
        look_for_curiosity(*topics_.table(), now);
    }
    return records;
}

std::size_t KeyObserver::observe(const Sample& sample) {
    const std::vector<expansion::TopicEpoch> epochs = epochs_of(*sample.topic);
    const MutexLock lock(detection_mutex_);
    const expansion::TopicWatch* known = detection_.find(sample.topic->id);
    if (known != nullptr && known->epoch_count() > epochs.size()) {
        // Another reactor's sample overtook this one, which was sent before the topic grew: it proves nothing.
        return 0;
    }
    is_curious_ = is_curious_ || known == nullptr || known->epoch_count() < epochs.size();
    expansion::TopicWatch& watch = detection_.watch(sample.topic->id, sample.topic->name, epochs);
    watched_[sample.topic->id].changed = true;
    std::size_t records = 0;
    std::size_t bytes = 0;
    const auto read = sample.batch.for_each(sample.partition, [&](const expansion::SentRecord& record) {
        watch.observe(sample.producer, record, sample.time);
        bytes += record.size_bytes;
        ++records;
    });
    if (!read) {
        undecodable_.fetch_add(1, std::memory_order_relaxed);
    }
    detection_.keep_bounds();
    batches_.fetch_add(1, std::memory_order_relaxed);
    records_.fetch_add(records, std::memory_order_relaxed);
    bytes_.fetch_add(bytes, std::memory_order_relaxed);
    return records;
}

void KeyObserver::look_for_curiosity(const TopicTable& table, TimestampMs now) {
    for (auto& interval : intervals_) {
        interval.store(0, std::memory_order_relaxed);
    }
    is_curious_ = watched_.empty();
    const MutexLock lock(detection_mutex_);
    detection_.for_each([&](const TopicId& id, const expansion::TopicWatch& watch) {
        const TopicState* topic = table.find(id);
        if (topic == nullptr) {
            return;
        }
        const bool is_settled = !topic->config->cleanup_compact && !watch.is_curious(topic->config->expansion_window_ms, now);
        is_curious_ = is_curious_ || !is_settled;
        set_interval(*topic, is_settled);
    });
}

void KeyObserver::settle(Now now) {
    const std::shared_ptr<const TopicTable> table = topics_.table();
    look_for_curiosity(*table, now.wall);
    for (auto watched = watched_.begin(); watched != watched_.end();) {
        settle_topic(watched->first, *table, watched->second, now);
        const MutexLock lock(detection_mutex_);
        watched = detection_.find(watched->first) == nullptr ? watched_.erase(watched) : std::next(watched);
    }
}

void KeyObserver::settle_topic(const TopicId& id, const TopicTable& table, Watched& watched, Now now) {
    const TopicState* topic = table.find(id);
    std::vector<expansion::Finding> findings;
    std::vector<expansion::CountSwitch> switches;
    {
        const MutexLock lock(detection_mutex_);
        if (topic == nullptr) {
            detection_.forget(id);
        } else if (detection_.find(id) != nullptr) {
            expansion::TopicWatch& watch = detection_.watch(id, topic->topic->name, epochs_of(*topic->topic));
            // Time alone opens and closes findings of topics that grew or have some.
            if (!watched.changed && !watched.has_findings && topic->topic->expansions.empty()) {
                return;
            }
            note_processes(*topic->topic, watch);
            std::vector<Offset> starts;
            std::vector<Offset> ends;
            for (const auto& partition : topic->partitions) {
                starts.push_back(partition->log->log_start_offset());
                ends.push_back(partition->log->log_end_offset());
            }
            std::int64_t old_records = 0;
            if (!topic->topic->expansions.empty()) {
                const topics::ExpansionEpoch& last = *topic->topic->expansions.back();
                for (std::int32_t index = 0; index < last.old_partition_count; ++index) {
                    old_records += ends[static_cast<std::size_t>(index)] - last.log_end_offset({index});
                }
            }
            findings = watch.findings({.is_compacted = topic->config->cleanup_compact,
                                       .log_starts = starts,
                                       .log_ends = ends,
                                       .old_partition_records = old_records,
                                       .window_ms = topic->config->expansion_window_ms},
                                      now.wall);
            switches = watch.take_switches();
        }
    }
    watched = {.changed = false, .has_findings = !findings.empty()};
    outlets_.findings.settle(findings_source("keys", id), findings, now.wall);
    if (!switches.empty()) {
        record_switches(id, switches);
    }
}

void KeyObserver::set_interval(const TopicState& topic, bool is_settled) {
    // While the budget is full nothing needs to be left out, and a producer that is new is seen at once.
    const bool is_scarce = has_budget_ && credit_ns_ < (is_curious_ ? kBurstNs : kSettledBurstNs) / 2;
    const bool is_quiet = is_scarce && is_settled;
    std::atomic<std::uint8_t>& slot = intervals_[slot_of(topic.topic->id)];
    const std::uint8_t wanted = is_quiet ? kQuietInterval : 1;
    const std::uint8_t present = slot.load(std::memory_order_relaxed);
    slot.store(present == 0 ? wanted : std::min(present, wanted), std::memory_order_relaxed);
}

void KeyObserver::record_switches(const TopicId& id, const std::vector<expansion::CountSwitch>& switches) {
    std::map<std::int32_t, topics::RecordProducerSwitchesCommand> commands;
    for (const expansion::CountSwitch& seen : switches) {
        topics::RecordProducerSwitchesCommand& command = commands[seen.epoch];
        command.topic_id = id;
        command.epoch = seen.epoch;
        command.switches.push_back({.client_id = seen.producer.client_id,
                                    .address = seen.producer.address,
                                    .time = seen.time,
                                    .partition = seen.partition,
                                    .offset = seen.offset,
                                    .stale_records = seen.stale_records});
    }
    outlets_.changes.post("the switch of a producer to a new partition count was not recorded",
                          [commands = std::move(commands)](Turn& turn, Catalog& catalog) {
                              bool is_done = true;
                              for (const auto& [epoch, command] : commands) {
                                  const auto decide = [&](const topics::CatalogCore& core, const topics::CatalogContext&) {
                                      return core.record_producer_switches(command);
                                  };
                                  is_done &= catalog.change<topics::RecordProducerSwitchesReply>(turn, decide).has_value();
                              }
                              return is_done;
                          });
}

std::vector<expansion::ProducerReport> KeyObserver::producers(const TopicId& topic) const {
    return with_watch(topic, [](const expansion::TopicWatch* watch) {
        return watch == nullptr ? std::vector<expansion::ProducerReport>() : watch->producers();
    });
}

KeyObserver::Statistics KeyObserver::statistics() const {
    Statistics statistics{.batches = batches_.load(std::memory_order_relaxed),
                          .records = records_.load(std::memory_order_relaxed),
                          .bytes = bytes_.load(std::memory_order_relaxed),
                          .undecodable = undecodable_.load(std::memory_order_relaxed),
                          .busy_ns = busy_ns_.load(std::memory_order_relaxed)};
    const MutexLock lock(detection_mutex_);
    statistics.topics = detection_.topic_count();
    statistics.producers = detection_.producer_count();
    statistics.keys = detection_.key_count();
    return statistics;
}

}  // namespace partita::runtime
