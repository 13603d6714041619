#pragma once

#include <cstdint>
#include <expected>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "broker/client/cluster.h"
#include "broker/client/produce.h"
#include "broker/seed/seed.h"

namespace partita::cli {

/// The fate of a topic that the cluster already has, with as many partitions as the seed says. With another number the seed is
/// always refused.
enum class ExistingTopics : std::uint8_t {
    refuse,  ///< the seed is refused
    skip,    ///< the topic stays as it is, and gets neither records nor offsets
    append,  ///< the topic gets the records
};

/// Why a seed ended early.
struct SeedFailure {
    int exit_code = 0;
    /// A sentence for people.
    std::string message;
};

/// Writes seeds into any cluster. Calls come in the order of this class. Memory does not grow with the number of records. One
/// thread.
class SeedWriter {
  public:
    template <class T>
    using Outcome = std::expected<T, SeedFailure>;
    /// Called after each record.
    using Progress = std::function<void(std::int64_t records, std::uint64_t bytes)>;

    /// The cluster outlives the writer.
    SeedWriter(client::Cluster& cluster, ExistingTopics existing, Progress progress)
        : cluster_(cluster), existing_(existing), progress_(std::move(progress)) {}

    /// Looks whether the cluster can take these topics, and changes nothing.
    [[nodiscard]] Outcome<void> check(std::span<const seed::SeedTopic> topics);
    /// Creates those that do not exist.
    [[nodiscard]] Outcome<void> create(std::span<const seed::SeedTopic> topics);
    [[nodiscard]] Outcome<void> write(const seed::SeedRecord& record);
    [[nodiscard]] Outcome<void> write(const seed::SeedGenerator& generator);
    /// Sends everything that `write` took.
    [[nodiscard]] Outcome<void> flush();
    [[nodiscard]] Outcome<void> commit(std::span<const seed::SeedCommit> commits);

    /// "created 2 topics, wrote 200004 records, committed 6 offsets of 1 group".
    [[nodiscard]] std::string summary() const;
    [[nodiscard]] std::int64_t records() const { return records_; }

  private:
    [[nodiscard]] Outcome<void> learn_topics();
    [[nodiscard]] Outcome<std::int32_t> partitions_of(const std::string& topic);
    [[nodiscard]] Outcome<void> commit_group(const std::string& group, std::span<const seed::SeedCommit> commits);
    [[nodiscard]] SeedFailure failed(const std::string& what, const client::Failure& failure) const;

    client::Cluster& cluster_;
    const ExistingTopics existing_;
    const Progress progress_;
    bool has_learnt_ = false;
    /// The topics of the cluster, by their names.
    std::map<std::string, std::int32_t> counts_;
    /// Declared topics that existed before, and stay as they are.
    std::set<std::string> skipped_;
    seed::Placer placer_;
    std::map<std::string, std::unique_ptr<client::Producer>> producers_;
    std::int64_t created_ = 0;
    std::int64_t records_ = 0;
    std::uint64_t bytes_ = 0;
    std::int64_t offsets_ = 0;
    std::set<std::string> groups_;
};

/// Writes a whole seed: looks first, so that a topic that exists leaves the cluster as it is.
[[nodiscard]] SeedWriter::Outcome<void> write_seed(SeedWriter& writer, const seed::Seed& seed);

}  // namespace partita::cli
