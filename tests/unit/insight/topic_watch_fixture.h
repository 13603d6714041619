#pragma once

#include <gmock/gmock.h>

#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <vector>

#include "broker/insight/keys/detection.h"
#include "broker/insight/keys/topic_watch.h"

namespace partita::insight {

using partitioners::Family;

inline constexpr std::int64_t kMinuteMs = 60'000;

inline ProducerIdentity client(std::string id, std::string software = "") {
    return {.client_id = std::move(id), .address = "/10.0.0.1", .software_name = std::move(software)};
}

/// A topic with its log, to which producers with different partition counts write.
class TopicWatchTest : public testing::Test {
  protected:
    explicit TopicWatchTest(std::int32_t count = 6) : epochs_{{count, {0}}}, watch_("orders", epochs_, 4096) {
        ends_.resize(static_cast<std::size_t>(count), Offset{0});
        starts_ = ends_;
    }

    void expand(std::int32_t count) {
        epochs_.push_back({count, now_});
        watch_.set_epochs(epochs_);
        ends_.resize(static_cast<std::size_t>(count), Offset{0});
        starts_.resize(ends_.size(), Offset{0});
        old_records_ = 0;
    }
    void wait(std::int64_t duration_ms) { now_.value += duration_ms; }

    void send_to(const ProducerIdentity& who, const std::string& key, PartitionIndex partition, bool has_value = true) {
        Offset& end = ends_[static_cast<std::size_t>(partition.value)];
        watch_.observe(
            who, {.key = as_bytes(key), .has_value = has_value, .partition = partition, .offset = end, .size_bytes = 50}, now_);
        end = end + 1;
        old_records_ += epochs_.size() > 1 && partition.value < epochs_[epochs_.size() - 2].partition_count ? 1 : 0;
    }
    void send(const ProducerIdentity& who, const std::string& key, Family family, std::int32_t count, bool has_value = true) {
        send_to(who, key, partitioners::partition_of(family, as_bytes(key), count), has_value);
    }
    void send_many(const ProducerIdentity& who, Family family, std::int32_t count, int keys = 100,
                   const std::string& prefix = "key-") {
        for (int i = 0; i < keys; ++i) {
            send(who, prefix + std::to_string(i), family, count);
        }
    }

    std::vector<Finding> findings() {
        return watch_.findings(
            {.is_compacted = is_compacted_, .log_starts = starts_, .log_ends = ends_, .old_partition_records = old_records_},
            now_);
    }
    std::optional<Finding> finding(HazardId id) {
        for (Finding& found : findings()) {
            if (found.id == id) {
                return std::move(found);
            }
        }
        return std::nullopt;
    }
    std::string ids() {
        std::string text;
        for (const Finding& found : findings()) {
            text += (text.empty() ? "" : " ") + to_string(found.id);
        }
        return text;
    }

    TimestampMs now_{1'000'000};
    std::vector<TopicEpoch> epochs_;
    TopicWatch watch_;
    std::vector<Offset> ends_;
    std::vector<Offset> starts_;
    std::int64_t old_records_ = 0;
    bool is_compacted_ = false;
    ProducerIdentity java_ = client("app", "apache-kafka-java");
};

class TopicWatchAtOne : public TopicWatchTest {
  protected:
    TopicWatchAtOne() : TopicWatchTest(1) {}
};
class TopicWatchAtEight : public TopicWatchTest {
  protected:
    TopicWatchAtEight() : TopicWatchTest(8) {}
};

}  // namespace partita::insight
