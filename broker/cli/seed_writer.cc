#include "broker/cli/seed_writer.h"

#include <utility>

#include "broker/cli/command.h"
#include "broker/client/groups.h"
#include "broker/client/partitions.h"
#include "broker/client/topics.h"
#include "protocol/try.h"

namespace partita::cli {
namespace {

std::unexpected<SeedFailure> refused(std::string message) { return std::unexpected(SeedFailure{kExitUsage, std::move(message)}); }

std::string counted(std::int64_t count, const char* one) { return std::to_string(count) + " " + one + (count == 1 ? "" : "s"); }

}  // namespace

SeedFailure SeedWriter::failed(const std::string& what, const client::Failure& failure) const {
    return {kExitBroken, what + ": " + failure.message +
                             (records_ > 0 ? "; " + counted(records_, "record") + " may have been written before" : "")};
}

SeedWriter::Outcome<void> SeedWriter::learn_topics() {
    if (has_learnt_) {
        return {};
    }
    const auto topics = client::list_topics(cluster_);
    if (!topics) {
        return std::unexpected(failed("cannot list the topics", topics.error()));
    }
    for (const client::ListedTopic& topic : *topics) {
        counts_[topic.name] = topic.partition_count;
    }
    has_learnt_ = true;
    return {};
}

SeedWriter::Outcome<void> SeedWriter::check(std::span<const seed::SeedTopic> topics) {
    PARTITA_TRY(learn_topics());
    for (const seed::SeedTopic& topic : topics) {
        const auto found = counts_.find(topic.name);
        if (found == counts_.end()) {
            continue;
        }
        if (existing_ == ExistingTopics::refuse) {
            return refused("topic " + topic.name +
                           " exists; --existing skip leaves it as it is, and --existing append adds records");
        }
        if (topic.partitions && *topic.partitions != found->second) {
            return refused("topic " + topic.name + " exists with " + counted(found->second, "partition") +
                           ", and the seed says " + std::to_string(*topic.partitions));
        }
    }
    return {};
}

SeedWriter::Outcome<void> SeedWriter::create(std::span<const seed::SeedTopic> topics) {
    PARTITA_TRY(check(topics));
    for (const seed::SeedTopic& topic : topics) {
        if (counts_.contains(topic.name)) {
            if (existing_ == ExistingTopics::skip) {
                skipped_.insert(topic.name);
            }
            continue;
        }
        const client::NewTopic created{.name = topic.name,
                                       .partition_count = topic.partitions.value_or(-1),
                                       .replication_factor = topic.replication_factor,
                                       .assignments = {},
                                       .configs = topic.configs};
        if (const auto done = client::create_topic(cluster_, created); !done) {
            return std::unexpected(failed("cannot create topic " + topic.name, done.error()));
        }
        const auto leaders = client::await_topic(cluster_, topic.name);
        if (!leaders) {
            return std::unexpected(failed("topic " + topic.name, leaders.error()));
        }
        counts_[topic.name] = static_cast<std::int32_t>(leaders->size());
        ++created_;
    }
    return {};
}

SeedWriter::Outcome<std::int32_t> SeedWriter::partitions_of(const std::string& topic) {
    PARTITA_TRY(learn_topics());
    const auto found = counts_.find(topic);
    if (found == counts_.end()) {
        return refused("topic " + topic + " does not exist, and the seed does not create it: name it under topics");
    }
    return found->second;
}

SeedWriter::Outcome<void> SeedWriter::write(const seed::SeedRecord& record) {
    if (skipped_.contains(record.topic)) {
        return {};
    }
    PARTITA_TRY_ASSIGN(const auto count, partitions_of(record.topic));
    const auto partition = placer_.place(record, count);
    if (!partition) {
        return refused(partition.error());
    }
    auto& producer = producers_[record.topic];
    if (!producer) {
        producer = std::make_unique<client::Producer>(cluster_, record.topic, client::ProducerSettings{});
        if (const auto opened = producer->open(); !opened) {
            return std::unexpected(failed("topic " + record.topic, opened.error()));
        }
    }
    const std::size_t bytes = (record.key ? record.key->size() : 0) + (record.value ? record.value->size() : 0);
    const auto appended = producer->append({.key = record.key,
                                            .value = record.value,
                                            .headers = record.headers,
                                            .partition = *partition,
                                            .timestamp_ms = record.timestamp_ms});
    if (!appended) {
        return std::unexpected(failed("topic " + record.topic, appended.error()));
    }
    ++records_;
    bytes_ += bytes;
    progress_(records_, bytes_);
    return {};
}

SeedWriter::Outcome<void> SeedWriter::write(const seed::SeedGenerator& generator) {
    for (std::int64_t number = 0; number < generator.count; ++number) {
        PARTITA_TRY(write(generator.record(number)));
    }
    return {};
}

SeedWriter::Outcome<void> SeedWriter::flush() {
    for (const auto& [topic, producer] : producers_) {
        if (const auto flushed = producer->flush(); !flushed) {
            return std::unexpected(failed("topic " + topic, flushed.error()));
        }
    }
    return {};
}

SeedWriter::Outcome<void> SeedWriter::commit(std::span<const seed::SeedCommit> commits) {
    for (std::size_t begin = 0; begin < commits.size();) {
        std::size_t end = begin + 1;
        while (end < commits.size() && commits[end].group == commits[begin].group) {
            ++end;
        }
        PARTITA_TRY(commit_group(commits[begin].group, commits.subspan(begin, end - begin)));
        begin = end;
    }
    return {};
}

SeedWriter::Outcome<void> SeedWriter::commit_group(const std::string& group, std::span<const seed::SeedCommit> commits) {
    std::map<client::TopicPartition, seed::SeedOffset> wanted;
    for (const seed::SeedCommit& commit : commits) {
        if (skipped_.contains(commit.topic)) {
            continue;
        }
        PARTITA_TRY_ASSIGN(const auto count, partitions_of(commit.topic));
        if (commit.partition && *commit.partition >= count) {
            return refused("group " + group + ": topic " + commit.topic + " has " + counted(count, "partition") +
                           ", and none with the number " + std::to_string(*commit.partition));
        }
        for (std::int32_t partition = commit.partition.value_or(0);
             partition < (commit.partition ? *commit.partition + 1 : count); ++partition) {
            wanted[{commit.topic, partition}] = commit.offset;
        }
    }
    std::vector<client::TopicPartition> partitions;
    for (const auto& [partition, offset] : wanted) {
        partitions.push_back(partition);
    }
    const auto starts = client::list_offsets(cluster_, partitions, client::kEarliest);
    const auto ends = client::list_offsets(cluster_, partitions, client::kLatest);
    if (!starts || !ends) {
        return std::unexpected(failed("cannot list offsets for group " + group, starts ? ends.error() : starts.error()));
    }
    std::map<client::TopicPartition, std::int64_t> offsets;
    for (const auto& [partition, offset] : wanted) {
        const auto& start = starts->at(partition);
        const auto& end = ends->at(partition);
        if (!start || !end) {
            return std::unexpected(failed("offsets of " + client::to_string(partition), start ? end.error() : start.error()));
        }
        offsets[partition] = offset.within(*start, *end);
        if (offsets[partition] > *end) {
            return refused("group " + group + ": " + client::to_string(partition) + " ends at " + std::to_string(*end) +
                           ", so no group has read up to " + std::to_string(offsets[partition]));
        }
    }
    if (offsets.empty()) {
        return {};
    }
    if (const auto committed = client::commit_offsets(cluster_, group, offsets); !committed) {
        return std::unexpected(failed("cannot commit offsets of group " + group, committed.error()));
    }
    offsets_ += static_cast<std::int64_t>(offsets.size());
    groups_.insert(group);
    return {};
}

SeedWriter::Outcome<void> write_seed(SeedWriter& writer, const seed::Seed& seed) {
    PARTITA_TRY(writer.create(seed.topics));
    for (const auto& record : seed.records) {
        PARTITA_TRY(std::visit([&](const auto& one) { return writer.write(one); }, record));
    }
    PARTITA_TRY(writer.flush());
    return writer.commit(seed.commits);
}

std::string SeedWriter::summary() const {
    std::string text = "created " + counted(created_, "topic") + ", wrote " + counted(records_, "record");
    if (offsets_ > 0) {
        text +=
            ", committed " + counted(offsets_, "offset") + " of " + counted(static_cast<std::int64_t>(groups_.size()), "group");
    }
    for (const std::string& topic : skipped_) {
        text += "; skipped topic " + topic;
    }
    return text;
}

}  // namespace partita::cli
