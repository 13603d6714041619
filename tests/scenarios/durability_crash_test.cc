// Kills the broker (kill -9) at any moment: everything it acknowledged is still there, be it records, offsets of groups or
// topics.

#include <gmock/gmock.h>

#include <atomic>
#include <csignal>
#include <mutex>
#include <random>
#include <set>
#include <thread>

#include "tests/support/broker_process.h"
#include "tests/support/plain_client.h"

namespace partita::test {
namespace {

constexpr int kProducers = 3;
constexpr int kPartitions = 3;

/// The broker's acknowledgements, and the requests of clients that got no answer.
struct Promised {
    /// Value to (partition, offset).
    std::map<std::string, std::pair<int, std::int64_t>> acknowledged;
    std::set<std::string> unanswered;
    /// Group to committed offset; all later attempts are higher.
    std::map<std::string, std::int64_t> committed;
    std::map<std::string, std::int64_t> attempted_commits;

    struct Topic {
        TopicId id;
        int partitions = 0;
        std::string retention_ms;
    };
    std::map<std::string, Topic> topics;
    /// Topics with a change that was not answered: either state will do.
    std::map<std::string, int> wanted_partitions;
    std::set<std::string> maybe_created;
    std::set<std::string> maybe_deleted;
    std::set<std::string> deleted;
};

/// An idempotent producer that repeats the same batch until it knows the outcome.
class IdempotentProducer {
  public:
    IdempotentProducer(int number, int partition) : number_(number), partition_(partition) {}

    void run(std::uint16_t port, const std::atomic<bool>& stop, std::mutex& mutex, Promised& promised) {
        PlainClient client(port);
        if (id_ < 0) {
            id_ = client.new_producer_id();
            if (id_ < 0) {
                return;
            }
        }
        while (!stop) {
            const std::string value = "p" + std::to_string(number_) + "-" + std::to_string(sequence_);
            const Produced produced = client.produce_value("data", partition_, value, id_, sequence_);
            const std::lock_guard lock(mutex);
            if (produced.error == ErrorCode::network_exception) {
                promised.unanswered.insert(value);
                return;
            }
            ASSERT_EQ(produced.error, ErrorCode::none) << value;
            promised.unanswered.erase(value);
            promised.acknowledged[value] = {partition_, produced.base_offset};
            ++sequence_;
        }
    }

  private:
    const int number_;
    const int partition_;
    std::int64_t id_ = -1;
    std::int32_t sequence_ = 0;
};

class CrashLoop {
  public:
    explicit CrashLoop(std::uint64_t seed) : random_(seed) {
        for (int i = 0; i < kProducers; ++i) {
            producers_.emplace_back(i, i % kPartitions);
        }
    }

    void prepare(std::uint16_t port) {
        PlainClient client(port);
        const auto created = client.create_topic("data", kPartitions);
        ASSERT_EQ(created.error, ErrorCode::none);
        promised_.topics["data"] = {created.id, kPartitions, ""};
        ASSERT_EQ(client.commit("warm-up", "data", 0, 0), ErrorCode::none);
    }

    /// Runs the load, and kills the broker after `run_ms`.
    void run_and_kill(BrokerProcess& broker, int run_ms) {
        std::atomic<bool> stop = false;
        std::vector<std::thread> threads;
        for (IdempotentProducer& producer : producers_) {
            threads.emplace_back([&] { producer.run(broker.port(), stop, mutex_, promised_); });
        }
        threads.emplace_back([&] { commit_offsets(broker.port(), stop); });
        threads.emplace_back([&] { change_topics(broker.port(), stop); });
        std::this_thread::sleep_for(std::chrono::milliseconds(run_ms));
        broker.send_signal(SIGKILL);
        (void)broker.wait();
        stop = true;
        for (std::thread& thread : threads) {
            thread.join();
        }
    }

    void check(std::uint16_t port) {
        PlainClient client(port);
        check_records(client);
        for (const auto& [group, offset] : promised_.committed) {
            const auto found = client.committed(group, "data", 0);
            ASSERT_TRUE(found) << group;
            EXPECT_GE(*found, offset) << group;
            EXPECT_LE(*found, promised_.attempted_commits[group]) << group;
        }
        check_topics(client);
    }

    [[nodiscard]] std::size_t acknowledged() const { return promised_.acknowledged.size(); }
    [[nodiscard]] std::size_t topic_changes() const { return topic_changes_; }

  private:
    void commit_offsets(std::uint16_t port, const std::atomic<bool>& stop) {
        PlainClient client(port);
        while (!stop) {
            const std::string group = "group-" + std::to_string(next_commit_ % 7);
            const std::int64_t offset = ++next_commit_;
            promised_.attempted_commits[group] = offset;
            const ErrorCode error = client.commit(group, "data", 0, offset);
            if (error == ErrorCode::network_exception) {
                return;
            }
            ASSERT_EQ(error, ErrorCode::none);
            promised_.committed[group] = offset;
        }
    }

    void change_topics(std::uint16_t port, const std::atomic<bool>& stop) {
        PlainClient client(port);
        while (!stop) {
            ++topic_changes_;
            const bool few = promised_.topics.size() < 3;
            const std::uint64_t dice = random_() % 4;
            if (few || dice == 0) {
                const std::string name = "topic-" + std::to_string(next_topic_++);
                const auto created = client.create_topic(name, 2, {{"retention.ms", "1000000"}});
                if (created.error == ErrorCode::network_exception) {
                    promised_.maybe_created.insert(name);
                    return;
                }
                ASSERT_EQ(created.error, ErrorCode::none);
                promised_.topics[name] = {created.id, 2, "1000000"};
                const auto produced = client.produce_value(name, 0, name);
                if (produced.error == ErrorCode::network_exception) {
                    return;
                }
                continue;
            }
            // Chooses any topic but "data", which is the first.
            auto topic =
                std::next(promised_.topics.begin(), 1 + static_cast<std::ptrdiff_t>(random_() % (promised_.topics.size() - 1)));
            const std::string name = topic->first;
            if (dice == 1) {
                const ErrorCode error = client.delete_topic(name);
                promised_.topics.erase(topic);
                promised_.wanted_partitions.erase(name);
                if (error == ErrorCode::network_exception) {
                    promised_.maybe_deleted.insert(name);
                    return;
                }
                ASSERT_EQ(error, ErrorCode::none);
                promised_.deleted.insert(name);
            } else if (dice == 2) {
                const int wanted = topic->second.partitions + 1;
                const ErrorCode error = client.expand_topic(name, wanted);
                if (error == ErrorCode::network_exception) {
                    promised_.wanted_partitions[name] = wanted;
                    return;
                }
                ASSERT_EQ(error, ErrorCode::none);
                topic->second.partitions = wanted;
            } else {
                const ErrorCode error = client.set_topic_config(name, "retention.ms", std::to_string(1'000'000 + topic_changes_));
                if (error == ErrorCode::network_exception) {
                    return;
                }
                ASSERT_EQ(error, ErrorCode::none);
            }
        }
    }

    void check_records(PlainClient& client) {
        std::map<std::string, std::pair<int, std::int64_t>> found;
        for (int partition = 0; partition < kPartitions; ++partition) {
            const auto records = client.read_all("data", partition);
            ASSERT_TRUE(records) << "partition " << partition;
            std::int64_t expected = 0;
            for (const ReadRecord& record : *records) {
                ASSERT_EQ(record.offset, expected++) << "offsets have a hole in partition " << partition;
                ASSERT_TRUE(found.emplace(record.value, std::pair{partition, record.offset}).second)
                    << record.value << " is there twice";
            }
        }
        for (const auto& [value, place] : promised_.acknowledged) {
            const auto at = found.find(value);
            ASSERT_NE(at, found.end()) << value << " was acknowledged and is lost";
            ASSERT_EQ(at->second, place) << value << " was acknowledged elsewhere";
        }
        for (const auto& [value, place] : found) {
            ASSERT_TRUE(promised_.acknowledged.contains(value) || promised_.unanswered.contains(value))
                << value << " was never sent";
        }
    }

    void check_topics(PlainClient& client) {
        const auto seen = client.metadata();
        ASSERT_TRUE(seen);
        for (auto& [name, topic] : promised_.topics) {
            const auto at = seen->find(name);
            ASSERT_NE(at, seen->end()) << name << " is lost";
            EXPECT_EQ(at->second.id, topic.id) << name;
            const auto wanted = promised_.wanted_partitions.find(name);
            const bool grew =
                wanted != promised_.wanted_partitions.end() && static_cast<int>(at->second.partitions) == wanted->second;
            if (grew) {
                topic.partitions = wanted->second;
            }
            EXPECT_EQ(static_cast<int>(at->second.partitions), topic.partitions) << name;
        }
        promised_.wanted_partitions.clear();
        for (const std::string& name : promised_.deleted) {
            EXPECT_FALSE(seen->contains(name)) << name << " is back";
        }
        for (const auto& [name, topic] : *seen) {
            EXPECT_TRUE(promised_.topics.contains(name) || promised_.maybe_created.contains(name) ||
                        promised_.maybe_deleted.contains(name) || name == "__consumer_offsets" || name == "__partita_expansions")
                << name << " was never wanted";
        }
    }

    std::mt19937_64 random_;
    std::vector<IdempotentProducer> producers_;
    std::mutex mutex_;
    Promised promised_;
    std::int64_t next_commit_ = 0;
    int next_topic_ = 0;
    std::size_t topic_changes_ = 0;
};

TEST(DurabilityCrash, AcknowledgedSurvivesKillsAtRandomMoments) {
    const int cycles = long_tests() ? 100 : 20;
    const auto seed = static_cast<std::uint64_t>(std::random_device{}());
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937_64 random(seed);
    TemporaryDirectory directory;
    // Checkpoints, folds and rolls are frequent, so that kills fall into them.
    BrokerProcess::Options options{
        .overrides = {"log.flush.offset.checkpoint.interval.ms=50", "log.segment.bytes=1048576", "offsets.topic.num.partitions=5",
                      "log.initial.task.delay.ms=10", "log.retention.check.interval.ms=50"},
        .data_directory = directory / "data"};
    CrashLoop loop(random());
    auto broker = BrokerProcess::start(options);
    ASSERT_NE(broker, nullptr);
    ASSERT_NO_FATAL_FAILURE(loop.prepare(broker->port()));
    for (int cycle = 0; cycle < cycles; ++cycle) {
        SCOPED_TRACE("cycle " + std::to_string(cycle));
        loop.run_and_kill(*broker, 20 + static_cast<int>(random() % 300));
        broker.reset();
        broker = BrokerProcess::start(options);
        ASSERT_NE(broker, nullptr);
        loop.check(broker->port());
        // Nothing is left of deletions that a kill interrupted.
        EXPECT_EQ(broker->count_in_output("belongs to no topic"), 0u);
        ASSERT_FALSE(::testing::Test::HasFailure());
    }
    EXPECT_EQ(broker->stop().exit_code, 0);
    broker = BrokerProcess::start(options);
    ASSERT_NE(broker, nullptr);
    loop.check(broker->port());
    EXPECT_GT(loop.acknowledged(), 100u);
    EXPECT_GT(loop.topic_changes(), 20u);
    std::printf("%d cycles: %zu records, %zu topic changes\n", cycles, loop.acknowledged(), loop.topic_changes());
}

}  // namespace
}  // namespace partita::test
