#include "broker/insight/plan/plan_run.h"

#include <algorithm>
#include <array>
#include <span>
#include <utility>

#include "protocol/try.h"

namespace partita::insight {
namespace {

std::vector<ScanRange> full_ranges(const PlannedTopic& topic) {
    std::vector<ScanRange> ranges;
    for (std::size_t index = 0; index < topic.partitions.size(); ++index) {
        const PartitionFacts& partition = topic.partitions[index];
        ranges.push_back({PartitionIndex{static_cast<std::int32_t>(index)}, partition.log_start, partition.log_end});
    }
    return ranges;
}

std::int64_t offsets_in(const std::vector<ScanRange>& ranges) {
    std::int64_t total = 0;
    for (const ScanRange& range : ranges) {
        total += std::max<std::int64_t>(0, range.end - range.from);
    }
    return total;
}

/// Feeds a census, and knows the epoch of each record.
class CensusSink final : public ScanSink {
  public:
    CensusSink(const PlannedTopic& topic, KeyCensus& census, ScanFacts& scan, const PlanProgress& progress, std::int64_t done,
               std::int64_t total)
        : topic_(topic), census_(census), scan_(scan), progress_(progress), done_(done), total_(total) {}

    void begin(const ScanRange& range) {
        range_ = range;
        boundaries_.clear();
        for (const EarlierExpansion& earlier : topic_.earlier) {
            const auto index = static_cast<std::size_t>(range.partition.value);
            // A partition that this expansion added has no records from before it.
            boundaries_.push_back(index < earlier.log_end_offsets.size() ? earlier.log_end_offsets[index] : Offset{0});
        }
    }
    void end() {
        flush();
        done_ += std::max<std::int64_t>(0, range_.end - range_.from);
    }

    bool record(const ScannedRecord& record) override {
        std::optional<Bytes> key = record.key;
        if (key) {
            if (key->size() > key_bytes_.size() - key_bytes_used_) {
                flush();
            }
            if (key->size() <= key_bytes_.size()) {
                key = keep(*key);
            }
        }
        waiting_[waiting_count_++] = {.partition = range_.partition,
                                      .epoch = epoch_of(record.offset),
                                      .offset = record.offset,
                                      .key = key,
                                      .size_bytes = record.size_bytes,
                                      .has_value = record.has_value};
        ++scan_.records;
        scan_.bytes += static_cast<std::int64_t>(record.size_bytes);
        // A key that is too long to be kept is gone with the next record.
        const bool is_kept = !key || key->size() <= key_bytes_.size();
        if (waiting_count_ == waiting_.size() || !is_kept) {
            flush();
        }
        if (++since_progress_ < kProgressEvery) {
            return true;
        }
        since_progress_ = 0;
        return report(record.offset - range_.from);
    }

    void damage(Offset offset, std::string_view reason) override {
        if (scan_.damaged_batches++ == 0) {
            scan_.first_damage = "partition " + std::to_string(range_.partition.value) + " at offset " +
                                 std::to_string(offset.value) + ": " + std::string(reason);
        }
    }

    [[nodiscard]] bool report(std::int64_t in_range = 0) {
        if (progress_ && !progress_(done_ + in_range, total_)) {
            cancelled_ = true;
        }
        return !cancelled_;
    }
    [[nodiscard]] bool is_cancelled() const { return cancelled_; }

  private:
    [[nodiscard]] std::int32_t epoch_of(Offset offset) const {
        std::size_t epoch = 0;
        while (epoch < boundaries_.size() && offset >= boundaries_[epoch]) {
            ++epoch;
        }
        return static_cast<std::int32_t>(epoch);
    }

    [[nodiscard]] Bytes keep(Bytes key) {
        const MutableBytes place = MutableBytes(key_bytes_).subspan(key_bytes_used_, key.size());
        std::ranges::copy(key, place.begin());
        key_bytes_used_ += key.size();
        return place;
    }

    void flush() {
        census_.add(std::span(waiting_).first(waiting_count_));
        waiting_count_ = 0;
        key_bytes_used_ = 0;
    }

    static constexpr std::int64_t kProgressEvery = 4096;
    /// Number of records, with the bytes of their keys, that go into the census together: enough to look them up at the same
    /// time.
    static constexpr std::size_t kTogether = 64;
    static constexpr std::size_t kKeyBytesTogether = 8192;

    const PlannedTopic& topic_;
    KeyCensus& census_;
    ScanFacts& scan_;
    const PlanProgress& progress_;
    std::int64_t done_;
    const std::int64_t total_;
    std::int64_t since_progress_ = 0;
    ScanRange range_;
    std::vector<Offset> boundaries_;
    std::array<CensusRecord, kTogether> waiting_;
    std::size_t waiting_count_ = 0;
    std::array<std::byte, kKeyBytesTogether> key_bytes_;
    std::size_t key_bytes_used_ = 0;
    bool cancelled_ = false;
};

std::vector<std::vector<ReadingPosition>> positions_of(const PlannedTopic& topic) {
    std::vector<std::vector<ReadingPosition>> positions(topic.partitions.size());
    const std::size_t groups = std::min(topic.groups.size(), Plan::kGroupsMax);
    for (std::size_t index = 0; index < groups; ++index) {
        for (std::size_t partition = 0; partition < positions.size(); ++partition) {
            const PartitionFacts& facts = topic.partitions[partition];
            const Offset position =
                position_of(topic.groups[index], {static_cast<std::int32_t>(partition)}).value_or(facts.log_start);
            if (position < facts.log_end) {
                positions[partition].push_back({position, index});
            }
        }
    }
    return positions;
}

/// One plan being made.
class PlanRun {
  public:
    PlanRun(const PlannedTopic& topic, ScanSource& source, const PlanOptions& options, const PlanProgress& progress)
        : topic_(topic), source_(source), options_(options), progress_(progress) {
        for (const EarlierExpansion& earlier : topic.earlier) {
            counts_.push_back(earlier.old_count);
        }
        counts_.push_back(topic.old_count);
    }

    std::expected<PlanOutcome, PlanError> run() {
        std::vector<ScanRange> ranges = full_ranges(topic_);
        const std::vector<ScanRange> everything = ranges;
        for (std::size_t index = 0; index < std::min(options_.since.size(), ranges.size()); ++index) {
            ranges[index].from = std::clamp(options_.since[index], ranges[index].from, ranges[index].end);
        }
        if (options_.records_max) {
            limit_ranges(ranges, *options_.records_max);
        }
        const bool is_whole = ranges == everything;

        std::optional<PlacementEvidence> given = given_evidence();
        PlacementEvidence evidence;
        if (given) {
            evidence = *given;
        } else {
            std::vector<ScanRange> sample = ranges;
            limit_ranges(sample, kSampleRecords);
            PARTITA_TRY(scan(sample, std::nullopt, 0, 0));
            evidence = judge_placements(census_->keys(), counts_);
        }
        // Reads everything with the partitioner that the newest records show, and once more if all records show another one.
        constexpr int kAttempts = 2;
        for (int attempt = 0; attempt < kAttempts; ++attempt) {
            const auto family = evidence.has_family() ? evidence.family : std::nullopt;
            PARTITA_TRY(scan(ranges, family, 0, offsets_in(ranges)));
            if (given) {
                break;
            }
            evidence = judge_placements(census_->keys(), counts_);
            if (!evidence.has_family() || evidence.family == family) {
                break;
            }
        }
        scanned_.is_complete = is_whole && scanned_.damaged_batches == 0;
        if (!is_whole) {
            scanned_.limited_by = options_.records_max ? "records" : "since";
        }
        Plan plan = make_plan(topic_, *census_, evidence, scanned_);
        return PlanOutcome{std::move(plan), std::move(census_)};
    }

  private:
    [[nodiscard]] std::optional<PlacementEvidence> given_evidence() const {
        if (!options_.partitioner) {
            return std::nullopt;
        }
        PlacementEvidence evidence;
        evidence.kind = options_.partitioner->family ? PlacementKind::given : PlacementKind::keys_ignored;
        evidence.family = options_.partitioner->family;
        return evidence;
    }
    [[nodiscard]] bool empty_key_is_none(std::optional<partitioners::Family> family) const {
        if (options_.partitioner) {
            return options_.partitioner->empty_key != partitioners::KeylessRule::hashed;
        }
        // librdkafka's default treats an empty key as no key, and is by far the most likely partitioner of its family.
        return family == partitioners::Family::crc32_uns;
    }

    std::expected<void, PlanError> scan(const std::vector<ScanRange>& ranges, std::optional<partitioners::Family> family,
                                        std::int64_t done, std::int64_t total) {
        CensusOptions census;
        census.old_count = topic_.old_count;
        census.new_count = topic_.new_count;
        census.family = family;
        census.empty_key_is_none = empty_key_is_none(family);
        census.epoch_counts = counts_;
        census.positions = positions_of(topic_);
        census.group_count = std::min(topic_.groups.size(), Plan::kGroupsMax);
        census.limits = options_.limits;
        // The old one goes first, so that only one table of keys is in memory.
        census_.reset();
        census_ = std::make_unique<KeyCensus>(std::move(census));
        scanned_ = {};
        CensusSink sink(topic_, *census_, scanned_, progress_, done, total);
        if (!sink.report()) {
            return std::unexpected(PlanError{PlanFailure::cancelled, "cancelled"});
        }
        for (const ScanRange& range : ranges) {
            if (range.from >= range.end) {
                continue;
            }
            sink.begin(range);
            if (auto read = source_.read(range, sink); !read) {
                return std::unexpected(PlanError{PlanFailure::source_failed, std::move(read.error())});
            }
            sink.end();
            if (sink.is_cancelled() || !sink.report()) {
                return std::unexpected(PlanError{PlanFailure::cancelled, "cancelled"});
            }
        }
        return {};
    }

    const PlannedTopic& topic_;
    ScanSource& source_;
    const PlanOptions& options_;
    const PlanProgress& progress_;
    std::vector<std::int32_t> counts_;
    std::unique_ptr<KeyCensus> census_;
    ScanFacts scanned_;
};

void append_escaped(std::string& line, std::string_view key) {
    const bool is_text = is_valid_utf8(key);
    for (const char byte : key) {
        const auto code = static_cast<unsigned char>(byte);
        if (code < 0x20 || code == 0x7f || code == '\\' || (!is_text && code >= 0x80)) {
            line += "\\x" + to_hex({&byte, 1});
        } else {
            line += byte;
        }
    }
}

}  // namespace

void limit_ranges(std::vector<ScanRange>& ranges, std::int64_t records) {
    // Find the greatest cap with which the capped lengths still fit. The first ranges get the remainder of the division.
    std::vector<std::size_t> order(ranges.size());
    for (std::size_t index = 0; index < order.size(); ++index) {
        order[index] = index;
    }
    const auto length = [&](std::size_t index) { return std::max<std::int64_t>(0, ranges[index].end - ranges[index].from); };
    std::ranges::stable_sort(order, {}, length);
    std::int64_t left = std::max<std::int64_t>(0, records);
    for (std::size_t position = 0; position < order.size(); ++position) {
        const auto remaining = static_cast<std::int64_t>(order.size() - position);
        const std::int64_t fair = (left + remaining - 1) / remaining;
        const std::int64_t taken = std::min({length(order[position]), fair, left});
        ScanRange& range = ranges[order[position]];
        range.from = Offset{range.end.value - taken};
        left -= taken;
    }
}

std::expected<PlanOutcome, PlanError> run_plan(const PlannedTopic& topic, ScanSource& source, const PlanOptions& options,
                                               const PlanProgress& progress) {
    return PlanRun(topic, source, options, progress).run();
}

void write_key_lines(const KeyCensus& census, KeyStyle style, FunctionRef<bool(std::string_view)> write) {
    std::string lines;
    constexpr std::size_t kFlushBytes = 64 * 1024;
    for (const KeyEntry& entry : census.keys().entries()) {
        if (style == KeyStyle::hashed) {
            lines += key_hash(entry.key);
        } else {
            append_escaped(lines, entry.key);
        }
        const auto move = census.move_of(as_bytes(entry.key));
        lines +=
            '\t' + (move ? std::to_string(move->from.value) : "?") + '\t' + (move ? std::to_string(move->to.value) : "?") + '\n';
        if (lines.size() < kFlushBytes) {
            continue;
        }
        if (!write(lines)) {
            return;
        }
        lines.clear();
    }
    if (!lines.empty()) {
        write(lines);
    }
}

}  // namespace partita::insight
