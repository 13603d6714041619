#include "broker/insight/shell/key_observer.h"

#include <algorithm>
#include <utility>

#include "broker/insight/shell/key_news.h"
#include "broker/logs/published_topics.h"
#include "broker/runtime/clients/connections.h"

namespace partita::runtime {
namespace {

/// Copying on the producer's thread is paid from the budget, too: a step for each record, and about 4 GB/s into memory that is
/// not in a cache.
constexpr std::int64_t kTakingRecordNs = 15;
constexpr std::int64_t kCopyBytesPerNs = 4;
/// Rounds without a sample after which the worker waits to be woken.
constexpr int kQuietRounds = 20;

std::vector<insight::TopicEpoch> epochs_of(const catalog::Topic& topic) {
    std::vector<insight::TopicEpoch> epochs;
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
                         KeyNews& news, const Schedule& schedule)
    : config_(config), topics_(topics), connections_(connections), news_(news), schedule_(schedule) {}

KeyObserver::~KeyObserver() { stop(); }

void KeyObserver::start() {
    budget_.begin(schedule_.clock.stopwatch_ns(), config_->detection_processor_percent);
    // Before there is a worker, whose steps have the budget.
    update_gate();
    worker_ = schedule_.executor.start("key-observer", [this] { return step(); });
    samples_.set_observer(*worker_);
}

void KeyObserver::note_watching() {
    if (!config_->detection_enable) {
        watching_since_.store(kNotWatching, std::memory_order_relaxed);
    } else if (watching_since_.load(std::memory_order_relaxed) == kNotWatching) {
        watching_since_.store(schedule_.clock.now().monotonic, std::memory_order_relaxed);
    }
}

std::int64_t KeyObserver::watched_for_ms(Instant now) const {
    const Instant since = watching_since_.load(std::memory_order_relaxed);
    return config_->detection_enable && since != kNotWatching ? now - since : 0;
}

void KeyObserver::stop() {
    samples_.end();
    worker_.reset();
}

void KeyObserver::note_closed(std::vector<insight::ConnectionId> closed) {
    if (closed.empty()) {
        return;
    }
    std::ranges::sort(closed);
    const MutexLock lock(detection_mutex_);
    detection_.for_each([&](const TopicId& id, insight::TopicWatch& watch) {
        for (const insight::ConnectionId connection : closed) {
            watch.on_closed(connection);
        }
        watch.on_disconnected(closed);
        watched_[id].changed = true;
    });
}

void KeyObserver::note_processes(const catalog::Topic& topic, insight::TopicWatch& watch) {
    if (topic.expansions.empty()) {
        return;
    }
    for (const insight::ConnectionId connection : watch.unknown_processes(kProcessesMax)) {
        if (!connections_.want_process(connection)) {
            continue;
        }
        if (const auto facts = connections_.find(connection); facts && facts->process) {
            watch.on_process(connection, *facts->process);
        }
    }
}

Instant KeyObserver::step() {
    Clock& clock = schedule_.clock;
    const Now now = clock.now();
    const std::int64_t before_ns = clock.thread_processor_ns();
    work(now);
    const std::int64_t spent_ns = clock.thread_processor_ns() - before_ns;
    budget_.spend(spent_ns);
    busy_ns_.fetch_add(static_cast<std::uint64_t>(spent_ns), std::memory_order_relaxed);
    budget_.refill(clock.stopwatch_ns(), clock.process_processor_ns(), config_->detection_processor_percent);
    update_gate();
    return rest(clock.now().monotonic);
}

Instant KeyObserver::rest(Instant now) {
    // While there is traffic nobody is woken: samples are collected.
    if (quiet_rounds_ < kQuietRounds || !samples_.may_sleep()) {
        return now + kCollectMs;
    }
    // Behind a closed gate nobody would call, and the settings that closed it may change.
    return watched_.empty() && samples_.is_open() ? kNever : now + kIdleMs;
}

void KeyObserver::update_gate() {
    note_watching();
    // What was set while the budget was short would leave batches out until topics are looked at again, which may be a second.
    if (!budget_.is_scarce()) {
        samples_.clear_intervals();
    }
    samples_.set_gate(budget_.has_credit() && config_->detection_enable, budget_.records_max());
}

void KeyObserver::work(Now now) {
    const KeySamples::Waiting waiting = samples_.take();
    budget_.spend(static_cast<std::int64_t>(waiting.records) * kTakingRecordNs +
                  static_cast<std::int64_t>(waiting.bytes) / kCopyBytesPerNs);
    quiet_rounds_ = waiting.samples.empty() ? quiet_rounds_ + 1 : 0;
    const std::int64_t begin_ns = schedule_.clock.thread_processor_ns();
    if (const std::size_t records = observe(waiting.samples, now.wall); records > 0) {
        budget_.note_cost(schedule_.clock.thread_processor_ns() - begin_ns, records);
    }
    done_.fetch_add(waiting.samples.size(), std::memory_order_release);
    note_closed(waiting.closed);
    if (now.monotonic >= next_settle_) {
        settle(now);
        next_settle_ = now.monotonic + kSettleMs;
    }
}

std::size_t KeyObserver::observe(const std::vector<KeySample>& samples, TimestampMs now) {
    const std::int64_t begin_ns = schedule_.clock.thread_processor_ns();
    std::size_t records = 0;
    std::size_t looked_at = 0;
    for (const KeySample& sample : samples) {
        // Beyond the budget samples are dropped: what is seen of a producer is a sample anyway.
        if (!budget_.allows(schedule_.clock.thread_processor_ns() - begin_ns)) {
            break;
        }
        records += observe(sample);
        if (!budget_.is_settled() && records - looked_at >= kRecordsPerLook) {
            look_what_is_settled(*topics_.table(), now);
            looked_at = records;
        }
    }
    if (!budget_.is_settled() && records > looked_at) {
        look_what_is_settled(*topics_.table(), now);
    }
    return records;
}

std::size_t KeyObserver::observe(const KeySample& sample) {
    const std::vector<insight::TopicEpoch> epochs = epochs_of(*sample.topic);
    const MutexLock lock(detection_mutex_);
    const insight::TopicWatch* known = detection_.find(sample.topic->id);
    if (known != nullptr && known->epoch_count() > epochs.size()) {
        // Another reactor's sample overtook this one, which was sent before the topic grew: it proves nothing.
        return 0;
    }
    if (known == nullptr || known->epoch_count() < epochs.size()) {
        budget_.set_settled(false);
    }
    insight::TopicWatch& watch = detection_.watch(sample.topic->id, sample.topic->name, epochs);
    watched_[sample.topic->id].changed = true;
    std::size_t records = 0;
    std::size_t bytes = 0;
    const auto read = sample.batch.for_each(sample.partition, [&](const insight::SentRecord& record) {
        watch.observe(sample.producer, record, sample.time);
        bytes += record.size_bytes;
        ++records;
    });
    if (!read) {
        undecodable_.fetch_add(1, std::memory_order_relaxed);
    }
    if (sample.producer.producer_id != kNoProducerId) {
        watch.on_connection(sample.producer, sample.connection);
    }
    detection_.keep_bounds();
    batches_.fetch_add(1, std::memory_order_relaxed);
    records_.fetch_add(records, std::memory_order_relaxed);
    bytes_.fetch_add(bytes, std::memory_order_relaxed);
    return records;
}

void KeyObserver::look_what_is_settled(const TopicTable& table, TimestampMs now) {
    bool is_settled = !watched_.empty();
    std::vector<std::pair<catalog::TopicPointer, bool>> topics;
    {
        const MutexLock lock(detection_mutex_);
        detection_.for_each([&](const TopicId& id, const insight::TopicWatch& watch) {
            if (const TopicState* topic = table.find(id)) {
                const bool is_curious =
                    topic->config->cleanup_compact || watch.is_curious(topic->config->expansion_window_ms, now);
                topics.emplace_back(topic->topic, !is_curious);
                is_settled = is_settled && !is_curious;
            }
        });
    }
    budget_.set_settled(is_settled);
    // While there is enough nothing needs to be left out, and a producer that is new is seen at once.
    const bool is_scarce = budget_.is_scarce();
    samples_.clear_intervals();
    for (const auto& [topic, is_quiet] : topics) {
        samples_.set_interval(*topic, is_quiet && is_scarce ? kQuietInterval : 1);
    }
}

void KeyObserver::settle(Now now) {
    const std::shared_ptr<const TopicTable> table = topics_.table();
    look_what_is_settled(*table, now.wall);
    for (auto watched = watched_.begin(); watched != watched_.end();) {
        settle_topic(watched->first, *table, watched->second, now);
        const MutexLock lock(detection_mutex_);
        watched = detection_.find(watched->first) == nullptr ? watched_.erase(watched) : std::next(watched);
    }
}

void KeyObserver::settle_topic(const TopicId& id, const TopicTable& table, Watched& watched, Now now) {
    const TopicState* topic = table.find(id);
    std::vector<insight::Finding> findings;
    std::vector<insight::CountSwitch> switches;
    {
        const MutexLock lock(detection_mutex_);
        if (topic == nullptr) {
            detection_.forget(id);
        } else if (detection_.find(id) != nullptr) {
            insight::TopicWatch& watch = detection_.watch(id, topic->topic->name, epochs_of(*topic->topic));
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
                const catalog::ExpansionEpoch& last = *topic->topic->expansions.back();
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
    news_.tell(id, findings, switches, now.wall);
}

std::vector<insight::ProducerReport> KeyObserver::producers(const TopicId& topic) const {
    return with_watch(topic, [](const insight::TopicWatch* watch) {
        return watch == nullptr ? std::vector<insight::ProducerReport>() : watch->producers();
    });
}

KeyObserver::Statistics KeyObserver::statistics() const {
    Statistics statistics{.batches = batches_.load(std::memory_order_relaxed),
                          .records = records_.load(std::memory_order_relaxed),
                          .bytes = bytes_.load(std::memory_order_relaxed),
                          .undecodable = samples_.undecodable() + undecodable_.load(std::memory_order_relaxed),
                          .busy_ns = busy_ns_.load(std::memory_order_relaxed)};
    const MutexLock lock(detection_mutex_);
    statistics.topics = detection_.topic_count();
    statistics.producers = detection_.producer_count();
    statistics.keys = detection_.key_count();
    return statistics;
}

}  // namespace partita::runtime
