#include "broker/addons/capture/shell/capture.h"

#include <algorithm>
#include <atomic>
#include <limits>
#include <utility>

#include "broker/addons/capture/core/name_format.h"
#include "broker/addons/capture/shell/window_file.h"
#include "broker/catalog/internal_topics.h"
#include "broker/logs/published_topics.h"
#include "protocol/assert.h"
#include "protocol/random_bytes.h"

namespace partita::capture {
namespace {

WindowSettings window_settings(const CaptureConfig& config) {
    return {.interval_ms = config.interval_ms, .size_bytes = config.size_bytes};
}

void add(std::atomic<std::uint64_t>& counter, std::uint64_t more) { counter.fetch_add(more, std::memory_order_relaxed); }

/// About the bytes of [next, end) in the log. A segment that goes on behind the end counts as a whole, unless it is the segment
/// of `next`.
std::int64_t owed_bytes(const PartitionLog& log, Offset next, Offset end) {
    if (next >= end) {
        return 0;
    }
    std::uint64_t bytes = 0;
    for (const SegmentSummary& segment : log.segments()) {
        bytes += segment.base_offset > next && segment.base_offset < end ? segment.size_bytes : 0;
    }
    if (const auto slice = log.read(next, {.upper_bound = end, .max_bytes = 1, .minimum_one_batch = true})) {
        bytes += slice->available_bytes;
    }
    return static_cast<std::int64_t>(std::min<std::uint64_t>(bytes, std::numeric_limits<std::int64_t>::max()));
}

}  // namespace

Capture::Capture(const config::CurrentConfig& config, const logs::PublishedTopics& topics, FileSystem& file_system,
                 CaptureCounters& counters, const Schedule& schedule)
    : config_(config),
      topics_(topics),
      schedule_(schedule),
      counters_(counters),
      files_(file_system, capture_directory(*config.get())) {}

CaptureConfig Capture::config_of(const logs::TopicState& topic, const CaptureConfig& defaults) const {
    CaptureConfig config = capture_config(topic.topic->configs, defaults);
    config.enable = config.enable && catalog::find_internal_topic(topic.topic->name) == nullptr;
    return config;
}

void Capture::start() {
    const CaptureConfig defaults = capture_defaults(*config_.get());
    if (!capture_directory(*config_.get()).empty()) {
        next_look_ = schedule_.clock.now().monotonic;
        worker_ = schedule_.executor.start("capture", [this] { return step(); });
        return;
    }
    topics_.table()->for_each([&](const logs::TopicState& state) {
        if (config_of(state, defaults).enable) {
            log::warning("capture", "a topic is not captured, because partita.capture.directory is not set",
                         {{"topic", state.topic->name}});
        }
    });
}

void Capture::stop() {
    stopping_ = true;
    worker_.reset();
}

void Capture::on_topics_changed(const logs::TopicsChange&) {
    if (worker_) {
        worker_->wake();
    }
}

Instant Capture::step() {
    const Now now = schedule_.clock.now();
    if (!due_.empty()) {
        const Key key = due_.front();
        due_.pop_front();
        capture(key, now);
        return due_.empty() ? next_look_ : kAtOnce;
    }
    if (next_look_ > now.monotonic && looked_version_ == topics_.version()) {
        return next_look_;
    }
    look(now);
    return due_.empty() ? next_look_ : kAtOnce;
}

void Capture::look(Now now) {
    looked_version_ = topics_.version();
    next_look_ = kNever;
    const std::shared_ptr<const logs::TopicTable> table = topics_.table();
    const CaptureConfig defaults = capture_defaults(*config_.get());
    drop_deleted(*table, defaults);
    std::uint64_t backlog = 0;
    std::uint64_t failing = 0;
    table->for_each([&](const logs::TopicState& topic) {
        const CaptureConfig config = config_of(topic, defaults);
        if (!config.enable || is_stopping()) {
            return;
        }
        const bool is_usable = open_directory(now);
        for (std::size_t index = 0; index < topic.partitions.size(); ++index) {
            const PartitionLog& partition_log = *topic.partitions[index]->log;
            Offset next = partition_log.log_start_offset();
            if (is_usable) {
                const Key key{topic.topic->id, PartitionIndex{static_cast<std::int32_t>(index)}};
                State& state = states_[key];
                next_look_ = std::min(next_look_, look_at(topic, config, key, state, now));
                next = std::max(next, state.progress.next);
                failing += state.is_failing ? 1 : 0;
            } else {
                ++failing;
            }
            backlog += static_cast<std::uint64_t>(std::max<std::int64_t>(partition_log.log_end_offset() - next, 0));
        }
    });
    counters_.backlog_messages.store(backlog, std::memory_order_relaxed);
    counters_.failing_partitions.store(failing, std::memory_order_relaxed);
}

bool Capture::open_directory(Now now) {
    if (files_.is_open()) {
        return true;
    }
    next_look_ = std::min(next_look_, now.monotonic + kRetryMs);
    const auto opened = now.monotonic < opens_at_ ? std::unexpected(open_failure_) : files_.open();
    if (!opened) {
        if (opens_at_ <= now.monotonic) {
            opens_at_ = now.monotonic + kRetryMs;
            open_failure_ = opened.error();
            log::error("capture", "cannot use the capture directory; captured topics wait for it",
                       {{"directory", capture_directory(*config_.get())}, {"reason", opened.error().message}});
            add(counters_.failures, 1);
        }
    }
    return opened.has_value();
}

void Capture::drop_deleted(const logs::TopicTable& table, const CaptureConfig& defaults) {
    for (auto at = states_.begin(); at != states_.end();) {
        const logs::TopicState* topic = table.find(at->first.topic);
        if (topic != nullptr && config_of(*topic, defaults).enable) {
            ++at;
            continue;
        }
        if (topic == nullptr) {
            if (auto forgotten = files_.forget(at->second.id, at->second.progress); !forgotten) {
                log::warning("capture", "could not remove the unfinished files of a deleted topic",
                             {{"topic", at->second.topic}, {"reason", forgotten.error().message}});
            }
        }
        at = states_.erase(at);
    }
}

Instant Capture::look_at(const logs::TopicState& topic, const CaptureConfig& config, const Key& key, State& state, Now now) {
    const logs::Partition& partition = *topic.partition(key.partition.value);
    if (state.id.empty()) {
        state.id = key.topic.to_string() + "-" + std::to_string(key.partition.value);
        state.topic = topic.topic->name;
    }
    if (state.rests_until > now.monotonic) {
        return state.rests_until;
    }
    if (!state.window && !load(partition, config, state, now)) {
        return state.rests_until;
    }
    const WindowSettings settings = window_settings(config);
    const Offset end = partition.log->last_stable_offset();
    const Offset next = std::max(state.progress.next, partition.log->log_start_offset());
    const bool is_due = state.sealed || state.window->due(settings, state.progress.next, end,
                                                          owed_bytes(*partition.log, next, end), now.monotonic);
    if (!is_due) {
        return std::min(state.window->ends(settings), now.monotonic + kLookMs);
    }
    if (const auto second = state.window->name_time(now); !second && !state.sealed) {
        return second.error();
    }
    due_.push_back(key);
    return now.monotonic + kLookMs;
}

bool Capture::load(const logs::Partition& partition, const CaptureConfig& config, State& state, Now now) {
    auto progress = files_.load(state.id);
    if (!progress) {
        fail(state, "cannot read the capture progress", progress.error(), now);
        return false;
    }
    state.progress = std::move(*progress);
    if (state.progress.files == 0) {
        state.progress.next = partition.log->log_start_offset();
    }
    state.window.emplace(state.progress, window_settings(config), now);
    return true;
}

void Capture::capture(const Key& key, Now now) {
    const auto found = states_.find(key);
    const std::shared_ptr<const logs::TopicState> topic = topics_.table()->share(key.topic);
    if (found == states_.end() || !topic) {
        return;
    }
    const CaptureConfig config = config_of(*topic, capture_defaults(*config_.get()));
    if (!config.enable) {
        return;
    }
    State& state = found->second;
    const logs::Partition& partition = *topic->partition(key.partition.value);
    if (state.sealed) {
        finish(state, now);
        return;
    }
    const Offset end = partition.log->last_stable_offset();
    const Offset next = std::max(state.progress.next, partition.log->log_start_offset());
    const auto due = state.window->due(window_settings(config), state.progress.next, end, owed_bytes(*partition.log, next, end),
                                       now.monotonic);
    if (!due) {
        return;  // Its settings changed meanwhile.
    }
    write(config, partition, state, *due, now);
    next_look_ = std::min(next_look_, now.monotonic);
}

void Capture::write(const CaptureConfig& config, const logs::Partition& partition, State& state, const Window::Due& due,
                    Now now) {
    const WindowRange range{.from = state.progress.next,
                            .until = std::max(due.until, state.progress.next),
                            .bytes_max = due.bytes_max,
                            .writes_empty = due.by_time && !config.skip_empty,
                            .leaves_out_damage = state.damage_attempts >= kDamageAttempts};
    const std::string part = files_.part(state.id, state.progress.files + 1);
    const auto written = write_window(files_.file_system(), part, *partition.log, range, random_value<SyncMarker>(),
                                      [this] { return !is_stopping(); });
    if (!written) {
        if (written.error().kind == StorageError::Kind::corrupt) {
            ++state.damage_attempts;
        }
        if (auto removed = files_.file_system().remove(part); !removed) {
            log::warning("capture", "could not remove an unfinished file", {{"reason", removed.error().message}});
        }
        if (!is_stopping()) {
            fail(state, "could not write a file", written.error(), now);
        }
        return;
    }
    state.damage_attempts = 0;
    Sealed sealed{.progress = state.progress, .due = due};
    sealed.progress.next = written->next;
    if (written->bytes == 0) {
        tell_losses(state, *written);
        state.progress.next = written->next;
        state.window->close(due, written->next, std::nullopt, now.monotonic);
        state.is_failing = false;
        return;
    }
    sealed.records = static_cast<std::uint64_t>(written->records);
    sealed.bytes = static_cast<std::uint64_t>(written->bytes);
    sealed.progress.files = state.progress.files + 1;
    sealed.progress.closed_at = std::max(now.wall, TimestampMs{0});
    if (!name(config, partition.log->partition(), state, sealed.progress, now)) {
        return;
    }
    tell_losses(state, *written);
    state.sealed = std::move(sealed);
    finish(state, now);
}

bool Capture::name(const CaptureConfig& config, PartitionIndex partition, State& state, Progress& progress, Now now) {
    const auto format = NameFormat::parse(config.name_format);
    if (!format) {
        fail(state, "cannot use partita.capture.name.format", {.message = format.error()}, now);
        return false;
    }
    const std::string name_space = capture_namespace(*config_.get());
    for (int attempt = 0; attempt < kNameAttempts; ++attempt) {
        const auto second = state.window->name_time(now);
        if (!second) {
            state.rests_until = second.error();
            return false;
        }
        progress.named_at = *second;
        progress.path = format->path({.name_space = name_space, .topic = state.topic, .partition = partition, .time = *second});
        const auto taken = files_.is_taken(progress.path);
        if (!taken) {
            fail(state, "cannot name a file", taken.error(), now);
            return false;
        }
        if (!*taken) {
            return true;
        }
        state.window->pass_over(*second, now.monotonic);
    }
    fail(state, "cannot name a file", {.message = "other programs have files with such names: " + progress.path}, now);
    return false;
}

void Capture::finish(State& state, Now now) {
    Sealed& sealed = *state.sealed;
    if (!sealed.is_stored) {
        if (auto stored = files_.store(state.id, sealed.progress); !stored) {
            fail(state, "could not write the capture progress", stored.error(), now);
            return;
        }
        sealed.is_stored = true;
    }
    if (auto published = files_.publish(state.id, sealed.progress); !published) {
        fail(state, "could not rename a finished file", published.error(), now);
        return;
    }
    if (std::exchange(state.is_failing, false)) {
        log::info("capture", "capture recovered", {{"topic", state.topic}, {"file", sealed.progress.path}});
    }
    log::debug("capture", "wrote a file",
               {{"file", sealed.progress.path}, {"records", sealed.records}, {"next_offset", sealed.progress.next.value}});
    add(counters_.messages, sealed.records);
    add(counters_.bytes, sealed.bytes);
    add(counters_.files, 1);
    state.progress = sealed.progress;
    state.window->close(sealed.due, sealed.progress.next, sealed.progress.named_at, now.monotonic);
    state.sealed.reset();
}

void Capture::tell_losses(const State& state, const WrittenWindow& written) {
    for (const auto& [first, behind] : written.lost) {
        log::warning("capture", "retention or DeleteRecords removed records before capture wrote them",
                     {{"topic", state.topic}, {"partition", state.id}, {"from", first.value}, {"until", behind.value}});
        add(counters_.lost_messages, static_cast<std::uint64_t>(behind - first));
    }
    for (const auto& [offset, reason] : written.damage) {
        log::error("capture", "left out records that cannot be read",
                   {{"topic", state.topic}, {"partition", state.id}, {"about_offset", offset.value}, {"reason", reason}});
    }
}

void Capture::fail(State& state, std::string_view what, const StorageError& error, Now now) {
    state.rests_until = now.monotonic + kRetryMs;
    state.is_failing = true;
    add(counters_.failures, 1);
    if (const auto left_out = lines_.admit(what, now.monotonic)) {
        log::error("capture", what,
                   {{"topic", state.topic},
                    {"partition", state.id},
                    {"reason", error.message},
                    {"tried_again_after_ms", kRetryMs},
                    {"lines_left_out", *left_out}});
    }
}

}  // namespace partita::capture
