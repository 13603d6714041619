#include "broker/addons/scenarios/cli/worker.h"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "broker/addons/scenarios/cli/application.h"
#include "broker/cli/http_client.h"
#include "broker/cli/seed_writer.h"
#include "broker/client/fetch.h"
#include "broker/client/partitions.h"
#include "broker/client/tcp_network.h"
#include "broker/client/topics.h"
#include "protocol/assert.h"
#include "protocol/try.h"

namespace partita::scenarios {
namespace {

/// A move of the clock may take a minute.
constexpr std::chrono::milliseconds kHttpTimeout{100'000};

std::string text_of(Bytes bytes) { return {reinterpret_cast<const char*>(bytes.data()), bytes.size()}; }

/// Carries out one deed.
class Doer {
  public:
    Doer(const std::string& kafka, const std::string& http, int cancel, std::string report_source)
        : kafka_(kafka), http_(http), report_source_(std::move(report_source)) {
        network_.end_waits_by(cancel);
        http_.network->end_waits_by(cancel);
    }

    Event operator()(const Write& write) {
        return with_cluster([&](client::Cluster& cluster) -> Event {
            cli::SeedWriter writer(cluster, cli::ExistingTopics::append, [](std::int64_t, std::uint64_t) {});
            const auto written = cli::write_seed(writer, *write.seed);
            return written ? Event(Done{}) : Event(Failed{written.error().message});
        });
    }
    Event operator()(const Ask& ask) {
        using Method = Request::Method;
        const Request& request = ask.request;
        const cli::HttpMethod method = request.method == Method::get    ? cli::HttpMethod::get
                                       : request.method == Method::post ? cli::HttpMethod::post
                                       : request.method == Method::put  ? cli::HttpMethod::put
                                                                        : cli::HttpMethod::delete_;
        const auto answer = request.body.empty() ? cli::ask_http(http_, method, request.target, kHttpTimeout)
                                                 : cli::tell_http(http_, method, request.target, request.body, kHttpTimeout);
        return answer ? Event(Answered{answer->status, nlohmann::ordered_json::parse(answer->body, nullptr, false)})
                      : Event(Failed{answer.error().message});
    }
    Event operator()(const ReadRecords& read) {
        RecordsRead result;
        const std::string problem = read_topic(read.topic, [&](const client::FetchedRecord& record) {
            result.records.push_back({.partition = record.partition,
                                      .offset = record.offset,
                                      .timestamp_ms = record.timestamp_ms,
                                      .key = record.key ? std::optional(text_of(*record.key)) : std::nullopt});
            return result.records.size() <= kJudgedMax;
        });
        if (!problem.empty()) {
            return Failed{problem};
        }
        std::ranges::sort(result.records, [](const TopicRecord& one, const TopicRecord& other) {
            return std::pair(one.partition, one.offset) < std::pair(other.partition, other.offset);
        });
        return result.records.size() <= kJudgedMax ? Event(std::move(result)) : Event(too_many(read.topic));
    }
    Event operator()(const ReadReports& read) {
        ReportsRead result;
        const std::string problem = read_topic(read.topic, [&](const client::FetchedRecord& record) {
            auto report = record.value ? report_of(text_of(*record.value), report_source_) : std::nullopt;
            if (report) {
                // Within a partition of the reports, each is later than the one before.
                report->instance = record.partition;
                result.reports.push_back(*report);
            }
            return result.reports.size() <= kJudgedMax;
        });
        if (!problem.empty()) {
            return Failed{problem};
        }
        return result.reports.size() <= kJudgedMax ? Event(std::move(result)) : Event(too_many(read.topic));
    }
    Event operator()(const StartInstances&) { return Failed{"not a worker's deed"}; }
    Event operator()(const EndInstances&) { return Failed{"not a worker's deed"}; }

  private:
    static Failed too_many(const std::string& topic) {
        return {"topic " + topic + " has more than " + std::to_string(kJudgedMax) +
                " records, and a scenario judges at most so many"};
    }

    template <class Action>
    Event with_cluster(Action action) {
        auto settings = client::settings_of({{"bootstrap.servers", kafka_}, {"client.id", "partita-scenario"}});
        if (!settings) {
            return Failed{settings.error().message};
        }
        client::Cluster cluster(network_, std::move(*settings));
        return action(cluster);
    }

    /// Hands over the committed records from the start of each partition to its present end. Returns a problem, or nothing.
    std::string read_topic(const std::string& topic, const client::Fetcher::Taker& take) {
        const Event event = with_cluster([&](client::Cluster& cluster) -> Event {
            const auto leaders = client::find_leaders(cluster, topic, false);
            if (!leaders) {
                return Failed{"topic " + topic + ": " + leaders.error().message};
            }
            std::vector<client::TopicPartition> partitions;
            for (const auto& [partition, leader] : *leaders) {
                partitions.push_back({topic, partition});
            }
            const auto starts = client::list_offsets(cluster, partitions, client::kEarliest);
            const auto ends = client::list_offsets(cluster, partitions, client::kLatest);
            if (!starts || !ends) {
                return Failed{"topic " + topic + ": " + (starts ? ends.error() : starts.error()).message};
            }
            client::Fetcher fetcher(cluster, {.is_read_committed = true});
            std::map<client::TopicPartition, std::int64_t> left;
            for (const client::TopicPartition& partition : partitions) {
                const auto& start = starts->at(partition);
                const auto& end = ends->at(partition);
                if (!start || !end) {
                    return Failed{"topic " + topic + ": " + (start ? end.error() : start.error()).message};
                }
                if (*start < *end) {
                    fetcher.seek(partition, *start);
                    left[partition] = *end;
                }
            }
            return read_to(fetcher, topic, std::move(left), take);
        });
        const auto* failed = std::get_if<Failed>(&event);
        return failed == nullptr ? std::string() : failed->message;
    }
    static Event read_to(client::Fetcher& fetcher, const std::string& topic, std::map<client::TopicPartition, std::int64_t> left,
                         const client::Fetcher::Taker& take) {
        constexpr std::int64_t kWaitMs = 100;
        bool wants_more = true;
        while (!left.empty() && wants_more) {
            const auto polled = fetcher.poll(
                [&](const client::FetchedRecord& record) {
                    wants_more = take(record);
                    return wants_more;
                },
                kWaitMs);
            if (!polled) {
                return Failed{"topic " + topic + ": " + polled.error().message};
            }
            std::erase_if(left, [&](const auto& one) {
                // An open transaction ends it earlier: what it holds is not there yet.
                const auto end = fetcher.end(one.first);
                const bool is_read = fetcher.position(one.first) >= std::min(one.second, end.value_or(one.second));
                if (is_read) {
                    fetcher.leave(one.first);
                }
                return is_read;
            });
        }
        return Done{};
    }

    const std::string kafka_;
    cli::HttpPlace http_;
    const std::string report_source_;
    client::TcpNetwork network_;
};

void ring(const FileDescriptor& end) {
    const char byte = 0;
    // At most two bytes are ever in the pipe.
    [[maybe_unused]] const auto written = ::write(end.get(), &byte, 1);
}

}  // namespace

std::expected<std::unique_ptr<DeedWorker>, std::string> DeedWorker::make(std::string kafka, std::string http) {
    PARTITA_TRY_ASSIGN(auto done, make_pipe());
    PARTITA_TRY_ASSIGN(auto cancel, make_pipe());
    return std::unique_ptr<DeedWorker>(new DeedWorker(std::move(kafka), std::move(http), std::move(done), std::move(cancel)));
}

DeedWorker::~DeedWorker() {
    ring(cancel_.in);
    // Waits for the deed.
    worker_.reset();
}

void DeedWorker::begin(Deed deed, std::string report_source) {
    PARTITA_ASSERT(!result_.valid(), "one deed at a time");
    const auto promise = std::make_shared<std::promise<Event>>();
    result_ = promise->get_future();
    worker_ = real_schedule().executor.start("scenario-deed",
                                             [this, deed = std::move(deed), source = std::move(report_source), promise] {
                                                 Doer doer(kafka_, http_, cancel_.out.get(), source);
                                                 promise->set_value(std::visit(doer, deed));
                                                 ring(done_.in);
                                                 return kOver;
                                             });
}

std::optional<Event> DeedWorker::take() {
    pollfd wait{done_.out.get(), POLLIN, 0};
    char byte = 0;
    if (!result_.valid() || ::poll(&wait, 1, 0) != 1 || ::read(done_.out.get(), &byte, 1) != 1) {
        return std::nullopt;
    }
    return std::exchange(result_, {}).get();
}

}  // namespace partita::scenarios
