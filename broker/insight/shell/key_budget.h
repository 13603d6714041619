#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace partita::insight {

/// The processor time that the observer of keys may use. It earns a share of what the whole broker uses, or a small share of one
/// core if that is more. It may save up to a burst and spend that at once. So it sees every record with little traffic, and a
/// sample with much traffic. While all topics are settled (see KeyObserver) it earns and saves less.
///
/// Pure: the caller passes the readings of the clocks. Not thread-safe.
class KeyBudget {
  public:
    static constexpr std::int64_t kBurstNs = 10'000'000;
    static constexpr double kSettledDivisor = 5;
    static constexpr std::int64_t kSettledBurstNs = 2'000'000;
    static constexpr std::int64_t kScarceNs = kSettledBurstNs / 2;
    /// The least that it earns, when the broker does little: this share of one core.
    static constexpr double kLeastShare = 0.005;
    /// At this value of partita.detection.processor.percent nothing is limited.
    static constexpr double kEverythingPercent = 100;
    /// Bounds of `records_max`. A few batches of usual size always fit: if they cost too much, the excess is a debt.
    static constexpr std::size_t kLeastRecords = 1'000;
    static constexpr std::size_t kMostRecords = 100'000;

    /// Begins with the reading of a stopwatch and the share in percent.
    void begin(std::int64_t now_ns, double percent) {
        refilled_ns_ = now_ns;
        is_limited_ = percent < kEverythingPercent;
    }
    /// Earns what is due since the last call. `process_ns`: processor time of the broker since its start.
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
    /// Learns the cost of looking at a record.
    void note_cost(std::int64_t spent_ns, std::size_t records) {
        const double one_ns = static_cast<double>(spent_ns) / static_cast<double>(records);
        record_cost_ns_ = std::max(1.0, 0.75 * record_cost_ns_ + 0.25 * one_ns);
    }

    /// Tells whether all topics are settled.
    void set_settled(bool is_settled) { is_settled_ = is_settled; }
    [[nodiscard]] bool is_settled() const { return is_settled_; }

    [[nodiscard]] bool has_credit() const { return !is_limited_ || credit_ns_ > 0; }
    /// True if so little is left that the observer should leave batches out. The limit is half of what it may save while all
    /// topics are settled. So it has enough left for the first batches of a topic that is not settled any more.
    [[nodiscard]] bool is_scarce() const { return is_limited_ && credit_ns_ < kScarceNs; }
    /// True if a step that has used this much time may look at another batch.
    [[nodiscard]] bool allows(std::int64_t spent_ns) const {
        return !is_limited_ || spent_ns <= (is_settled_ ? std::min(credit_ns_, kSettledBurstNs) : credit_ns_);
    }
    /// Most records that may wait for a look: a copy that the observer never looks at is useless.
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
