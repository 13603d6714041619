#include "broker/addons/scenarios/core/delivery.h"

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "broker/addons/scenarios/core/counted.h"

namespace partita::scenarios {
namespace {

std::string place_of(const TopicRecord& record) {
    return "offset " + std::to_string(record.offset) + " of partition " + std::to_string(record.partition);
}

/// The newest records of a key among some reports.
class Newest {
  public:
    void add(const TopicRecord& record) {
        auto& [by_offset, by_time] = by_partition_[record.partition];
        by_offset = by_offset == nullptr || by_offset->offset < record.offset ? &record : by_offset;
        by_time = by_time == nullptr || by_time->timestamp_ms < record.timestamp_ms ? &record : by_time;
    }
    void add(const Newest& other) {
        for (const auto& [partition, newest] : other.by_partition_) {
            add(*newest.first);
            add(*newest.second);
        }
    }
    /// A record that is newer than this one; null if none is.
    [[nodiscard]] const TopicRecord* newer_than(const TopicRecord& record) const {
        for (const auto& [partition, newest] : by_partition_) {
            const auto& [by_offset, by_time] = newest;
            if (partition == record.partition && by_offset->offset > record.offset) {
                return by_offset;
            }
            if (partition != record.partition && by_time->timestamp_ms > record.timestamp_ms) {
                return by_time;
            }
        }
        return nullptr;
    }

  private:
    /// By offset and by time.
    std::map<std::int32_t, std::pair<const TopicRecord*, const TopicRecord*>> by_partition_;
};

/// The reports of one key so far.
struct KeyProgress {
    /// By instance.
    std::map<std::int32_t, Newest> own;
    /// All instances, in rounds before the current one.
    Newest earlier;
    Newest current;
    std::int64_t round = -1;
    bool is_disordered = false;
};

class Judge {
  public:
    Judge(const std::vector<TopicRecord>& records, const Beginnings& beginnings) : records_(records), beginnings_(beginnings) {
        for (std::size_t index = 0; index < records.size(); ++index) {
            auto [first, is_new] = begins_.try_emplace(records[index].partition, index, index);
            first->second.second = index + 1;
        }
        counts_.resize(records.size());
    }

    void take(const Report& report) {
        const std::optional<std::size_t> index = find(report);
        if (!index) {
            if (delivery_.unknown++ == 0) {
                delivery_.unknown_text = "offset " + std::to_string(report.offset) + " of partition " +
                                         std::to_string(report.partition) + ", which the topic does not have";
            }
            return;
        }
        const TopicRecord& record = records_[*index];
        if (counts_[*index]++ == 1 && delivery_.twice++ == 0) {
            delivery_.twice_text = place_of(record);
        }
        if (counts_[*index] == 1 && record.key) {
            judge_order(record, report);
        }
    }

    [[nodiscard]] Delivery finish() {
        for (std::size_t index = 0; index < records_.size(); ++index) {
            const TopicRecord& record = records_[index];
            const auto beginning = beginnings_.find(record.partition);
            if (beginning != beginnings_.end() && record.offset < beginning->second) {
                continue;
            }
            ++delivery_.expected;
            if (counts_[index] == 0 && delivery_.lost++ == 0) {
                delivery_.lost_text = place_of(record);
            }
        }
        const auto tell = [](std::int64_t count, const std::string& one, std::string& text, const std::string& verb) {
            text = count == 0 ? "" : counted(count, one) + verb + ", such as " + text;
        };
        tell(delivery_.lost, "record", delivery_.lost_text, " never came to the application");
        tell(delivery_.twice, "record", delivery_.twice_text, " came twice");
        tell(delivery_.disordered, "key", delivery_.disordered_text, " came out of order");
        tell(delivery_.unknown, "report", delivery_.unknown_text, delivery_.unknown == 1 ? " is wrong" : " are wrong");
        return std::move(delivery_);
    }

  private:
    [[nodiscard]] std::optional<std::size_t> find(const Report& report) const {
        const auto range = begins_.find(report.partition);
        if (range == begins_.end()) {
            return std::nullopt;
        }
        const auto begin = records_.begin() + static_cast<std::ptrdiff_t>(range->second.first);
        const auto end = records_.begin() + static_cast<std::ptrdiff_t>(range->second.second);
        const auto found = std::ranges::lower_bound(begin, end, report.offset, {}, &TopicRecord::offset);
        return found != end && found->offset == report.offset ? std::optional(static_cast<std::size_t>(found - records_.begin()))
                                                              : std::nullopt;
    }

    void judge_order(const TopicRecord& record, const Report& report) {
        KeyProgress& key = keys_[*record.key];
        if (key.round != report.round) {
            key.earlier.add(key.current);
            key.current = {};
            key.round = report.round;
        }
        const TopicRecord* newer = key.own[report.instance].newer_than(record);
        newer = newer == nullptr ? key.earlier.newer_than(record) : newer;
        if (newer != nullptr && !key.is_disordered) {
            key.is_disordered = true;
            if (delivery_.disordered++ == 0) {
                delivery_.disordered_text =
                    *record.key + ": " + place_of(*newer) + " came before " + place_of(record) + ", which is older";
            }
        }
        key.own[report.instance].add(record);
        key.current.add(record);
    }

    const std::vector<TopicRecord>& records_;
    const Beginnings& beginnings_;
    /// The records of each partition, as indices.
    std::map<std::int32_t, std::pair<std::size_t, std::size_t>> begins_;
    std::vector<std::int32_t> counts_;
    std::unordered_map<std::string, KeyProgress> keys_;
    Delivery delivery_;
};

}  // namespace

Delivery judge(const std::vector<TopicRecord>& records, const std::vector<Report>& reports, const Beginnings& beginnings) {
    Judge judge(records, beginnings);
    for (const Report& report : reports) {
        judge.take(report);
    }
    return judge.finish();
}

}  // namespace partita::scenarios
