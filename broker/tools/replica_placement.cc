#include "broker/tools/replica_placement.h"

#include <algorithm>
#include <map>

#include "broker/tools/java_order.h"
#include "protocol/try.h"

namespace partita::tools {
namespace {

using Rack = std::optional<std::string>;

/// The brokers of a rack. Each round returns them in turn, and starts one broker further than the round before.
class BrokersOfRack {
  public:
    void add(std::int32_t broker) { brokers_.push_back(broker); }

    void start(JavaRandom& random) {
        std::ranges::sort(brokers_);
        first_ = static_cast<std::size_t>(random.below(static_cast<std::int32_t>(brokers_.size())));
    }

    void shuffle(JavaRandom& random) { random.shuffle(brokers_); }

    /// Null: this round has returned all brokers.
    [[nodiscard]] std::optional<std::int32_t> next(std::int32_t round) {
        if (round_ != round) {
            round_ = round;
            taken_ = 0;
            first_ = (first_ + 1) % brokers_.size();
        }
        if (taken_ >= brokers_.size()) {
            return std::nullopt;
        }
        return brokers_[(taken_++ + first_) % brokers_.size()];
    }

  private:
    std::vector<std::int32_t> brokers_;
    std::size_t taken_ = 0;
    std::size_t first_ = 0;
    std::int32_t round_ = 0;
};

class Racks {
  public:
    Racks(std::span<const UsableBroker> brokers, JavaRandom& random)
        : random_(random), broker_count_(static_cast<std::int32_t>(brokers.size())) {
        for (const UsableBroker& broker : brokers) {
            if (!racks_.contains(broker.rack)) {
                names_.push_back(broker.rack);
            }
            racks_[broker.rack].add(broker.id);
        }
        shuffle_order_ = in_java_order(names_, 16, [](const Rack& rack) { return rack ? java_hash(*rack) : 0; });
        for (const Rack& name : shuffle_order_) {
            racks_[name].start(random_);
        }
        std::ranges::sort(names_);
        first_ = static_cast<std::size_t>(random_.below(static_cast<std::int32_t>(names_.size())));
    }

    [[nodiscard]] std::expected<std::vector<std::int32_t>, std::string> place(std::int32_t replicas) {
        // As many partitions as brokers: other neighbours from here on.
        if (round_ == broker_count_ && broker_count_ > 1) {
            random_.shuffle(names_);
            for (const Rack& name : shuffle_order_) {
                racks_[name].shuffle(random_);
            }
            round_ = 0;
        }
        if (first_ == names_.size()) {
            first_ = 0;
        }
        std::vector<std::int32_t> placed;
        std::size_t leaders_rack = first_;
        PARTITA_TRY_ASSIGN(const std::int32_t leader, next_of(leaders_rack));
        placed.push_back(leader);
        bool is_leaders_turn_over = false;
        std::size_t rack = first_;
        std::size_t tries = 0;
        while (placed.size() < static_cast<std::size_t>(replicas)) {
            std::optional<std::int32_t> broker;
            if (!is_leaders_turn_over && rack == leaders_rack) {
                is_leaders_turn_over = true;
            } else {
                broker = racks_[names_[rack]].next(round_);
            }
            rack = (rack + 1) % names_.size();
            if (broker) {
                placed.push_back(*broker);
                tries = 0;
            } else if (++tries > kTurnsMax * names_.size()) {
                return std::unexpected(kNoBroker);
            }
        }
        ++round_;
        ++first_;
        return placed;
    }

  private:
    /// Kafka's placer would look for ever; no input is known for which either finds nothing.
    static constexpr std::size_t kTurnsMax = 2;
    static constexpr const char* kNoBroker = "No rack has a broker left for a replica.";

    /// The next broker of the first rack from `rack` on that has one.
    [[nodiscard]] std::expected<std::int32_t, std::string> next_of(std::size_t& rack) {
        for (std::size_t tries = 0; tries < names_.size(); ++tries) {
            if (const auto broker = racks_[names_[rack]].next(round_)) {
                return *broker;
            }
            rack = (rack + 1) % names_.size();
        }
        return std::unexpected(kNoBroker);
    }

    JavaRandom& random_;
    const std::int32_t broker_count_;
    std::map<Rack, BrokersOfRack> racks_;
    std::vector<Rack> names_;
    /// The order of Java's map of the racks, in which they take random numbers.
    std::vector<Rack> shuffle_order_;
    std::size_t first_ = 0;
    std::int32_t round_ = 0;
};

}  // namespace

std::expected<std::vector<std::vector<std::int32_t>>, std::string> place_replicas(std::span<const UsableBroker> brokers,
                                                                                  std::int32_t partitions, std::int32_t replicas,
                                                                                  JavaRandom& random) {
    if (replicas <= 0) {
        return std::unexpected("Invalid replication factor " + std::to_string(replicas) +
                               ": the replication factor must be positive.");
    }
    if (brokers.empty()) {
        return std::unexpected("All brokers are currently fenced, or have all their log directories cordoned.");
    }
    if (static_cast<std::size_t>(replicas) > brokers.size()) {
        return std::unexpected("The target replication factor of " + std::to_string(replicas) +
                               " cannot be reached because only " + std::to_string(brokers.size()) +
                               " broker(s) are registered or some brokers have all their log directories cordoned.");
    }
    Racks racks(brokers, random);
    std::vector<std::vector<std::int32_t>> placements;
    for (std::int32_t partition = 0; partition < partitions; ++partition) {
        PARTITA_TRY_ASSIGN(auto placed, racks.place(replicas));
        placements.push_back(std::move(placed));
    }
    return placements;
}

}  // namespace partita::tools
