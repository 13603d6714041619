#pragma once

#include <atomic>
#include <compare>
#include <deque>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "broker/addons/capture/config/capture_config.h"
#include "broker/addons/capture/core/window.h"
#include "broker/addons/capture/shell/capture_counters.h"
#include "broker/addons/capture/shell/capture_files.h"
#include "broker/config/current_config.h"
#include "broker/config/log_setup.h"
#include "broker/logs/topics_listener.h"
#include "schedule/executor.h"

namespace partita::logs {
class PublishedTopics;
class TopicTable;
struct Partition;
struct TopicState;
}  // namespace partita::logs

namespace partita::capture {
struct WrittenWindow;

/// Writes the records of topics with `partita.capture.enable` to Avro files below `partita.capture.directory`, as the managed
/// event service's capture does: docs/capture.md.
///
/// Each record that a reader of committed records gets is in exactly one file, even after a crash of the process or machine
/// (CaptureFiles). Capture logs and counts records that retention or DeleteRecords removed before it could write them. Capture
/// reports failures, above all a full disk, and tries again every `kRetryMs`; until then the records wait in the log. It begins
/// with the oldest record of a topic. If it was switched off for a while, it continues where it stopped.
///
/// It runs as a worker of its own. A step looks at all partitions, at most once in `kLookMs` (`Window` decides which window
/// ends), or writes one file. It keeps no records between two files, and a few hundred bytes for each partition. Without a
/// directory there is no worker, and nothing costs anything. Without a captured topic it rests until one comes.
class Capture final : public logs::TopicsListener {
  public:
    static constexpr std::int64_t kLookMs = 1000;
    static constexpr std::int64_t kRetryMs = 5000;
    /// Number of failed reads after which unreadable records are left out: a disk with a passing fault gets a chance.
    static constexpr int kDamageAttempts = 3;
    /// Number of names that it tries if other writers' files have them.
    static constexpr int kNameAttempts = 100;

    /// The file system and the counters must outlive this object.
    Capture(const config::CurrentConfig& config, const logs::PublishedTopics& topics, FileSystem& file_system,
            CaptureCounters& counters, const Schedule& schedule);
    ~Capture() override { stop(); }
    Capture(const Capture&) = delete;
    Capture& operator=(const Capture&) = delete;

    void start();
    /// Ends the worker. It abandons a file in progress and writes it again after the next start.
    void stop();

    void on_topics_changed(const logs::TopicsChange& change) override;

  private:
    struct Key {
        TopicId topic;
        PartitionIndex partition;
        friend auto operator<=>(const Key&, const Key&) = default;
    };
    /// A file that is written and still needs its name.
    struct Sealed {
        Progress progress;
        Window::Due due;
        std::uint64_t records = 0;
        std::uint64_t bytes = 0;
        bool is_stored = false;
    };
    struct State {
        std::string id;
        std::string topic;
        Progress progress;
        /// Set once the progress is loaded.
        std::optional<Window> window;
        std::optional<Sealed> sealed;
        /// No attempt before this time.
        Instant rests_until{std::numeric_limits<std::int64_t>::min()};
        bool is_failing = false;
        int damage_attempts = 0;
        bool is_queued = false;
    };

    [[nodiscard]] Instant step();
    void look(Now now);
    /// True if there is a directory to write to; otherwise it tries again after a while.
    [[nodiscard]] bool open_directory(Now now);
    /// Returns when the partition wants the next look; queues it if its window ends now.
    [[nodiscard]] Instant look_at(const logs::TopicState& topic, const CaptureConfig& config, const Key& key, State& state,
                                  Now now);
    [[nodiscard]] bool load(const logs::Partition& partition, const CaptureConfig& config, State& state, Now now);
    void drop_deleted(const logs::TopicTable& table, const CaptureConfig& defaults);
    void capture(const Key& key, Now now);
    void write(const CaptureConfig& config, const logs::Partition& partition, State& state, const Window::Due& due, Now now);
    /// False if no name is free.
    [[nodiscard]] bool name(const CaptureConfig& config, PartitionIndex partition, State& state, Progress& progress, Now now);
    void finish(State& state, Now now);
    void tell_losses(const State& state, const WrittenWindow& written);
    [[nodiscard]] CaptureConfig config_of(const logs::TopicState& topic, const CaptureConfig& defaults) const;
    void fail(State& state, std::string_view what, const StorageError& error, Now now);
    [[nodiscard]] bool is_stopping() const { return stopping_.load(std::memory_order_relaxed); }

    const config::CurrentConfig& config_;
    const logs::PublishedTopics& topics_;
    const Schedule schedule_;
    std::atomic<bool> stopping_ = false;
    CaptureCounters& counters_;

    // Only steps of the worker use these.
    CaptureFiles files_;
    std::map<Key, State> states_;
    std::deque<Key> due_;
    Instant next_look_;
    /// When it tries the directory again, and why it could not open it.
    Instant opens_at_{std::numeric_limits<std::int64_t>::min()};
    StorageError open_failure_;
    std::uint64_t looked_version_ = 0;
    log::RateLimiter lines_;

    // Must be last: its steps use all members above.
    std::unique_ptr<Worker> worker_;
};

}  // namespace partita::capture
