#include "broker/insight/shell/key_observer.h"

#include <algorithm>
#include <utility>

#include "broker/insight/hub/findings_hub.h"
#include "broker/insight/shell/switch_recorder.h"

namespace partita::insight {
namespace {

/// The budget also pays for copying on the producer's thread: a step for each record, and about 4 GB/s into memory that is not in
/// a cache.
constexpr std::int64_t kTakingRecordNs = 15;
constexpr std::int64_t kCopyBytesPerNs = 4;
/// Rounds without a sample after which the worker sleeps until a wake-up.
constexpr int kQuietRounds = 20;

/// The topic's counts until it had grown `growths_max` times, in order.
std::vector<TopicEpoch> epochs_of(const ObservedTopic& topic, std::size_t growths_max) {
    const std::vector<EarlierExpansion> growths = topic.growths();
    const std::size_t count = std::min(growths.size(), growths_max);
    std::vector<TopicEpoch> epochs;
    epochs.reserve(count + 1);
    epochs.push_back({growths.empty() ? topic.partition_count() : growths.front().old_count, topic.traits().created});
    for (const EarlierExpansion& growth : std::span(growths).first(count)) {
        epochs.push_back({growth.new_count, growth.time});
    }
    return epochs;
}

/// Records that were appended to old partitions since the last growth.
std::int64_t records_since_growth(const ObservedTopic& topic, std::span<const Offset> ends) {
    if (topic.ref().growths == 0) {
        return 0;
    }
    const EarlierExpansion last = topic.growths().back();
    std::int64_t records = 0;
    for (std::size_t index = 0; index < static_cast<std::size_t>(last.old_count); ++index) {
        records += ends[index] - (index < last.log_end_offsets.size() ? last.log_end_offsets[index] : Offset{0});
    }
    return records;
}

}  // namespace

KeyObserver::KeyObserver(const config::CurrentConfig& config, const ObservedCluster& cluster, FindingsHub& findings,
                         SwitchRecorder& switches, const Schedule& schedule)
    : config_(config), cluster_(cluster), findings_(findings), switches_(switches), schedule_(schedule) {}

KeyObserver::~KeyObserver() { stop(); }

void KeyObserver::start() {
    budget_.begin(schedule_.clock.stopwatch_ns(), config_->detection_processor_percent);
    // Before the worker exists, because its steps own the budget.
    update_gate();
    worker_ = schedule_.executor.start_beside_clock("key-observer", [this] { return step(); });
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

void KeyObserver::note_closed(std::vector<ConnectionId> closed) {
    if (closed.empty()) {
        return;
    }
    std::ranges::sort(closed);
    const MutexLock lock(detection_mutex_);
    detection_.for_each([&](const TopicId& id, TopicWatch& watch) {
        for (const ConnectionId connection : closed) {
            watch.on_closed(connection);
        }
        watch.on_disconnected(closed);
        watched_[id].changed = true;
    });
}

void KeyObserver::note_processes(TopicWatch& watch) {
    ObservedClients& clients = cluster_.clients();
    for (const ConnectionId connection : watch.unknown_processes(kProcessesMax)) {
        if (!clients.want_process(connection)) {
            continue;
        }
        if (const auto facts = clients.find(connection); facts && facts->process) {
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
    // While there is traffic, samples collect and do not wake the worker.
    if (quiet_rounds_ < kQuietRounds || !samples_.may_sleep()) {
        return now + kCollectMs;
    }
    // Behind a closed gate no sample would wake the worker, and the settings that closed it may change.
    return watched_.empty() && samples_.is_open() ? kNever : now + kIdleMs;
}

void KeyObserver::update_gate() {
    note_watching();
    // Intervals from when the budget was short would leave batches out until the next look at topics, which may be a second away.
    if (!budget_.is_scarce()) {
        samples_.clear_intervals();
    }
    samples_.set_gate(config_->detection_enable, budget_.has_credit(), budget_.records_max());
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
        samples_.renew_assured_shares();
        settle(now);
        next_settle_ = now.monotonic + kSettleMs;
    }
}

std::size_t KeyObserver::observe(const std::vector<KeySample>& samples, TimestampMs now) {
    if (samples.empty()) {
        return 0;
    }
    const std::int64_t begin_ns = schedule_.clock.thread_processor_ns();
    // At least as new as the topics for which the samples were sent.
    const std::shared_ptr<const ObservedTopics> topics = cluster_.topics();
    std::size_t records = 0;
    std::size_t looked_at = 0;
    for (const KeySample& sample : samples) {
        // Beyond the budget the observer drops samples: it sees only a sample of a busy producer's batches anyway.
        if (!sample.is_assured && !budget_.allows(schedule_.clock.thread_processor_ns() - begin_ns)) {
            continue;
        }
        records += observe(sample, *topics);
        if (!budget_.is_settled() && records - looked_at >= kRecordsPerLook) {
            find_settled(*cluster_.topics(), now);
            looked_at = records;
        }
    }
    if (!budget_.is_settled() && records > looked_at) {
        find_settled(*cluster_.topics(), now);
    }
    return records;
}

std::size_t KeyObserver::observe(const KeySample& sample, const ObservedTopics& topics) {
    const MutexLock lock(detection_mutex_);
    const std::size_t epoch_count = sample.topic.growths + 1;
    TopicWatch* watch = detection_.use(sample.topic.id);
    if (watch != nullptr && watch->epoch_count() > epoch_count) {
        // Another reactor's sample overtook this one, which was sent before the topic grew: it proves nothing.
        return 0;
    }
    if (watch == nullptr || watch->epoch_count() < epoch_count) {
        const std::unique_ptr<ObservedTopic> topic = topics.find(sample.topic.id);
        if (topic == nullptr) {
            // The topic was deleted meanwhile.
            return 0;
        }
        budget_.set_settled(false);
        watch = &detection_.watch(sample.topic.id, topic->name(), epochs_of(*topic, sample.topic.growths));
    }
    watched_[sample.topic.id].changed = true;
    std::size_t records = 0;
    std::size_t bytes = 0;
    const auto read = sample.batch.for_each(sample.partition, [&](const SentRecord& record) {
        watch->observe(sample.producer, record, sample.time);
        bytes += record.size_bytes;
        ++records;
    });
    if (!read) {
        undecodable_.fetch_add(1, std::memory_order_relaxed);
    }
    if (sample.producer.producer_id != kNoProducerId) {
        watch->on_connection(sample.producer, sample.connection);
    }
    detection_.keep_bounds();
    batches_.fetch_add(1, std::memory_order_relaxed);
    records_.fetch_add(records, std::memory_order_relaxed);
    bytes_.fetch_add(bytes, std::memory_order_relaxed);
    return records;
}

void KeyObserver::find_settled(const ObservedTopics& topics, TimestampMs now) {
    bool is_settled = !watched_.empty();
    std::vector<std::pair<TopicRef, bool>> quiet;
    {
        const MutexLock lock(detection_mutex_);
        detection_.for_each([&](const TopicId& id, const TopicWatch& watch) {
            if (const std::unique_ptr<ObservedTopic> topic = topics.find(id)) {
                const TopicTraits traits = topic->traits();
                const bool is_curious = traits.is_compacted || watch.is_curious(traits.window_ms, now);
                quiet.emplace_back(topic->ref(), !is_curious);
                is_settled = is_settled && !is_curious;
            }
        });
    }
    budget_.set_settled(is_settled);
    // While the budget is not scarce, the observer takes every batch and sees a new producer at once.
    const bool is_scarce = budget_.is_scarce();
    samples_.clear_intervals();
    for (const auto& [topic, is_quiet] : quiet) {
        samples_.set_interval(topic, is_quiet && is_scarce ? kQuietInterval : 1);
    }
}

void KeyObserver::settle(Now now) {
    const std::shared_ptr<const ObservedTopics> topics = cluster_.topics();
    find_settled(*topics, now.wall);
    for (auto watched = watched_.begin(); watched != watched_.end();) {
        settle_topic(watched->first, *topics, watched->second, now);
        const MutexLock lock(detection_mutex_);
        watched = detection_.find(watched->first) == nullptr ? watched_.erase(watched) : std::next(watched);
    }
}

TopicWatch& KeyObserver::watch_of(const ObservedTopic& topic) {
    const TopicRef ref = topic.ref();
    TopicWatch* watch = detection_.use(ref.id);
    if (watch != nullptr && watch->epoch_count() == ref.growths + 1) {
        return *watch;
    }
    return detection_.watch(ref.id, topic.name(), epochs_of(topic, ref.growths));
}

void KeyObserver::settle_topic(const TopicId& id, const ObservedTopics& topics, Watched& watched, Now now) {
    const std::unique_ptr<ObservedTopic> topic = topics.find(id);
    std::vector<Finding> findings;
    std::vector<CountSwitch> switches;
    {
        const MutexLock lock(detection_mutex_);
        if (topic == nullptr) {
            detection_.forget(id);
        } else if (detection_.find(id) != nullptr) {
            TopicWatch& watch = watch_of(*topic);
            const bool has_grown = topic->ref().growths > 0;
            // Time alone opens and closes findings of topics that grew or have findings.
            if (!watched.changed && !watched.has_findings && !has_grown) {
                return;
            }
            if (has_grown) {
                note_processes(watch);
            }
            std::vector<Offset> starts;
            std::vector<Offset> ends;
            for (const LogEdges& log : topic->logs()) {
                starts.push_back(log.start);
                ends.push_back(log.end);
            }
            const TopicTraits traits = topic->traits();
            findings = watch.findings({.is_compacted = traits.is_compacted,
                                       .log_starts = starts,
                                       .log_ends = ends,
                                       .old_partition_records = records_since_growth(*topic, ends),
                                       .window_ms = traits.window_ms},
                                      now.wall);
            switches = watch.take_switches();
        }
    }
    watched = {.changed = false, .has_findings = !findings.empty()};
    findings_.settle(findings_source("keys", id), findings, now.wall);
    if (!switches.empty()) {
        switches_.record(id, switches);
    }
}

std::vector<ProducerReport> KeyObserver::producers(const TopicId& topic) const {
    return with_watch(
        topic, [](const TopicWatch* watch) { return watch == nullptr ? std::vector<ProducerReport>() : watch->producers(); });
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

}  // namespace partita::insight
