#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace partita::insight {

/// How much processor time the observer of keys may use. It earns a share of what the whole broker uses, or a small share of one
/// core where that is more, and may save up to a burst and spend that at once: so with little traffic it sees every record, and
/// with much traffic a sample. While all topics are settled (see KeyObserver) it earns and saves less.
///
/// Pure: it is told what the clocks say. Not thread-safe.
class KeyBudget {
  public:
    static constexpr std::int64_t kBurstNs = 10'000'000;
    static constexpr double kSettledDivisor = 5;
    static constexpr std::int64_t kSettledBurstNs = 2'000'000;
    static constexpr std::int64_t kScarceNs = kSettledBurstNs / 2;
    /// What is earned when the broker does little: this share of one core.
    static constexpr double kLeastShare = 0.005;
    /// With this share, of partita.detection.processor.percent, nothing is limited.
    static constexpr double kEverythingPercent = 100;
    /// Bounds of `records_max`. A few batches of usual size always fit: what they cost too much is a debt.
    static constexpr std::size_t kLeastRecords = 1'000;
    static constexpr std::size_t kMostRecords = 100'000;

    /// When it begins, by a stopwatch, and its share.
    void begin(std::int64_t now_ns, double percent) {
        refilled_ns_ = now_ns;
        is_limited_ = percent < kEverythingPercent;
    }
    /// Earns what is due since the last call. `process_ns`: what the broker has used since its start.
    void refill(std::int64_t now_ns, std::int64_t process_ns, double percent) {
        is_limited_ = percent < kEverythingPercent;
        const double share = percent / 100 / (is_settled_ ? kSettledDivisor : 1);
        const double by_work = static_cast<double>(process_ns - process_ns_) * share;
        const double by_time = static_cast<double>(now_ns - refilled_ns_) * kLeastShare;
        credit_ns_ = std::min(credit_ns_ + static_cast<std::int64_t>(std::max(by_work, by_time)), burst_ns());
        refilled_ns_ = now_ns;
        process_ns_ = process_ns;
    }
    void spend(std::int64_t ns) { credit_ns_ -= ns; }
    /// Learns what looking at a record costs.
    void note_cost(std::int64_t spent_ns, std::size_t records) {
        const double one_ns = static_cast<double>(spent_ns) / static_cast<double>(records);
        record_cost_ns_ = std::max(1.0, 0.75 * record_cost_ns_ + 0.25 * one_ns);
    }

    /// All topics are settled, or some are not.
    void set_settled(bool is_settled) { is_settled_ = is_settled; }
    [[nodiscard]] bool is_settled() const { return is_settled_; }

    [[nodiscard]] bool has_credit() const { return !is_limited_ || credit_ns_ > 0; }
    /// So little is left that something should be left out. While all topics are settled more than this is saved, so that the
    /// first batches of one that is not are not left out for what the others may save.
    [[nodiscard]] bool is_scarce() const { return is_limited_ && credit_ns_ < kScarceNs; }
    /// True when a step that has used so much already may look at another batch.
    [[nodiscard]] bool allows(std::int64_t spent_ns) const {
        return !is_limited_ || spent_ns <= (is_settled_ ? std::min(credit_ns_, kSettledBurstNs) : credit_ns_);
    }
    /// How many records may wait to be looked at: a copy that nobody looks at is of no use.
    [[nodiscard]] std::size_t records_max() const {
        if (!is_limited_) {
            return kMostRecords;
        }
        const double paid = static_cast<double>(std::max<std::int64_t>(0, credit_ns_)) / record_cost_ns_;
        return std::clamp(static_cast<std::size_t>(paid), kLeastRecords, kMostRecords);
    }

  private:
    [[nodiscard]] std::int64_t burst_ns() const { return is_settled_ ? kSettledBurstNs : kBurstNs; }

    bool is_limited_ = true;
    bool is_settled_ = false;
    std::int64_t credit_ns_ = kBurstNs;
    double record_cost_ns_ = 300;
    std::int64_t refilled_ns_ = 0;
    std::int64_t process_ns_ = 0;
};

}  // namespace partita::insight
