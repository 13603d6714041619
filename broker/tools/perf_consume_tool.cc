// kafka-consumer-perf-test: reads records as a member of a group and shows how fast that went.

#include <algorithm>
#include <set>
#include <string>

#include "broker/tools/interruption.h"
#include "broker/tools/measurement.h"
#include "broker/tools/record_source.h"
#include "broker/tools/simple_date_format.h"
#include "broker/tools/tools.h"
#include "protocol/random_bytes.h"
#include "protocol/try.h"

namespace partita::tools {
namespace {

using client::TopicPartition;

constexpr std::int64_t kTimeoutMs = 10'000;
constexpr std::int64_t kReportingMs = 5'000;
constexpr std::int64_t kFetchBytes = 1024 * 1024;
constexpr std::int64_t kSocketBytes = 2 * 1024 * 1024;
/// The wait of Kafka's tool for records; between two waits it looks at the time.
constexpr std::int64_t kPollMs = 100;
/// max.poll.records: Kafka's tool counts all records of a poll.
constexpr std::int64_t kPollRecords = 500;
constexpr double kMegabyte = 1024.0 * 1024.0;

constexpr Option kPerfConsumeOptions[] = {
    kBootstrapServer,
    kCommandConfig,
    {"consumer.config", "file", "old name of --command-config"},
    repeatable({"command-property", "key=value", "set this property of the consumer"}),
    kHelp,
    kVersion,
    {"topic", "topic", "read this topic"},
    {"include", "regex", "read the topics that match this expression"},
    {"num-records", "count", "read this many records", {}, {}, false, true},
    {"messages", "count", "old name of --num-records", {}, {}, false, true},
    {"group", "group", "read as a member of this group; default: perf-consumer- and a random number"},
    {"from-latest", "", "start at the end of partitions for which the group has no offset; default: at their beginning"},
    {"timeout", "ms", "end if no record comes for this long, in ms; default: 10000", {}, {}, true, true},
    {"fetch-size", "bytes", "fetch at most this much of a partition at once, in bytes", "1048576"},
    {"socket-buffer-size", "bytes", "accepted and ignored: the kernel chooses the size"},
    {"show-detailed-stats", "", "print a line at the end of each interval"},
    {"reporting-interval", "ms", "print in intervals of this length, in ms", "5000"},
    {"date-format", "pattern", "format times by this pattern of Java's SimpleDateFormat", "yyyy-MM-dd HH:mm:ss:SSS"},
    {"hide-header", "", "print no header"},
    {"print-metrics", "", "print some of the consumer's metrics at the end"},
};

constexpr Rule kPerfConsumeRules[] = {{Requires::all_of, "", {"bootstrap-server"}},
                                      {Requires::exactly_one_of, "", {"topic", "include"}},
                                      {Requires::exactly_one_of, "", {"messages", "num-records"}},
                                      {Requires::none_of, "consumer.config", {"command-config"}}};

/// A number of the line, or its default.
Outcome<std::int64_t> number_of(const Options& options, std::string_view name, std::int64_t otherwise, std::int64_t most) {
    const auto number = options.integer(name, -most - 1, most);
    if (!number) {
        return failed("Cannot parse argument '" + options.value(name) + "' of option " + std::string(name));
    }
    return number->value_or(otherwise);
}

Outcome<Properties> perf_consumer_properties(const Options& options) {
    Properties properties;
    for (const char* name : {"consumer.config", "command-config"}) {
        if (const auto path = options.find(name)) {
            auto read = read_properties(*path);
            if (!read) {
                return failed(std::move(read.error().message));
            }
            properties = std::move(*read);
        }
    }
    for (const std::string& word : options.values("command-property")) {
        const std::size_t equals = std::min(word.find('='), word.size());
        properties[word.substr(0, equals)] = equals < word.size() ? word.substr(equals + 1) : "";
    }
    constexpr std::uint32_t kGroups = 100'000;
    properties["bootstrap.servers"] = options.value("bootstrap-server");
    properties["group.id"] = options.has("group") ? options.value("group")
                                                  : "perf-consumer-" + std::to_string(random_value<std::uint32_t>() % kGroups);
    properties["auto.offset.reset"] = options.has("from-latest") ? "latest" : "earliest";
    properties.try_emplace("isolation.level", "read_uncommitted");
    properties.try_emplace("client.id", "perf-consumer-client");
    return properties;
}

/// How long the consumer waited for partitions.
class RebalanceTime {
  public:
    explicit RebalanceTime(Clock& clock) : clock_(clock), began_(clock.now().wall.value) {}

    void assigned(const std::set<TopicPartition>& partitions) {
        if (held_.empty()) {
            const std::int64_t took_ms = clock_.now().wall.value - began_;
            total_ms += took_ms;
            interval_ms += took_ms;
        }
        held_.insert(partitions.begin(), partitions.end());
    }
    void revoked(const std::set<TopicPartition>& partitions) {
        for (const TopicPartition& partition : partitions) {
            held_.erase(partition);
        }
        if (held_.empty()) {
            began_ = clock_.now().wall.value;
        }
    }

    std::int64_t total_ms = 0;
    /// Since the last line of --show-detailed-stats.
    std::int64_t interval_ms = 0;

  private:
    Clock& clock_;
    std::set<TopicPartition> held_;
    std::int64_t began_;
};

struct ReadSoFar {
    std::int64_t records = 0;
    std::int64_t bytes = 0;
};

/// The line and its limits.
struct PerfReading {
    std::int64_t records = 0;
    std::int64_t timeout_ms = kTimeoutMs;
    std::int64_t reporting_ms = kReportingMs;
    SimpleDateFormat dates;
    bool is_detailed = false;
};

Outcome<PerfReading> plan_of(const Options& options) {
    PARTITA_TRY_ASSIGN(const auto records,
                       number_of(options, options.has("messages") ? "messages" : "num-records", 0, INT64_MAX));
    // Kafka's tool takes a word that is no number for another word of the line.
    const auto timeout = options.integer("timeout", INT64_MIN, INT64_MAX);
    PARTITA_TRY_ASSIGN(const auto reporting_ms, number_of(options, "reporting-interval", kReportingMs, INT64_MAX));
    if (reporting_ms <= 0) {
        return failed("Reporting interval must be greater than 0.");
    }
    auto dates = SimpleDateFormat::parse(options.value("date-format"));
    if (!dates) {
        return failed(std::move(dates.error()));
    }
    return PerfReading{.records = records,
                       .timeout_ms = timeout ? timeout->value_or(kTimeoutMs) : kTimeoutMs,
                       .reporting_ms = reporting_ms,
                       .dates = std::move(*dates),
                       .is_detailed = options.has("show-detailed-stats")};
}

/// Prints the line of an interval that ends now.
void print_interval(const Surroundings& surroundings, const PerfReading& plan, const ReadSoFar& read, const ReadSoFar& before,
                    std::int64_t from_ms, std::int64_t now_ms, std::int64_t rebalance_ms) {
    const auto elapsed_ms = static_cast<double>(now_ms - from_ms);
    const double megabytes = static_cast<double>(read.bytes - before.bytes) / kMegabyte;
    const auto records = static_cast<double>(read.records - before.records);
    const std::int64_t fetch_ms = now_ms - from_ms - rebalance_ms;
    const auto per_second = [&](double amount) { return fetch_ms <= 0 ? 0.0 : 1000.0 * amount / static_cast<double>(fetch_ms); };
    surroundings.print(plan.dates.format(now_ms) + ", 0, " + decimal(static_cast<double>(read.bytes) / kMegabyte, 4) + ", " +
                       decimal(1000.0 * megabytes / elapsed_ms, 4) + ", " + std::to_string(read.records) + ", " +
                       decimal(records / elapsed_ms * 1000.0, 4) + ", " + std::to_string(rebalance_ms) + ", " +
                       std::to_string(fetch_ms) + ", " + decimal(per_second(megabytes), 4) + ", " +
                       decimal(per_second(records), 4) + "\n");
    std::fflush(surroundings.out);
}

/// Reads until enough records came, or none for too long.
Outcome<ReadSoFar> read_records(RecordSource& source, const Surroundings& surroundings, const PerfReading& plan,
                                RebalanceTime& rebalances, const Interruption& interruption) {
    Clock& clock = surroundings.network.clock();
    ReadSoFar read;
    ReadSoFar before;
    std::int64_t now_ms = clock.now().wall.value;
    std::int64_t reported_ms = now_ms;
    std::int64_t last_ms = now_ms;
    while (read.records < plan.records && now_ms - last_ms <= plan.timeout_ms && !interruption.is_asked()) {
        bool is_first = true;
        const auto taken = source.poll(
            [&](const client::FetchedRecord& record) {
                if (is_first || read.records % kPollRecords == 0) {
                    is_first = false;
                    now_ms = clock.now().wall.value;
                }
                ++read.records;
                read.bytes +=
                    static_cast<std::int64_t>((record.key ? record.key->size() : 0) + (record.value ? record.value->size() : 0));
                if (now_ms - reported_ms >= plan.reporting_ms) {
                    if (plan.is_detailed) {
                        print_interval(surroundings, plan, read, before, reported_ms, now_ms, rebalances.interval_ms);
                    }
                    rebalances.interval_ms = 0;
                    reported_ms = now_ms;
                    before = read;
                }
                return read.records < plan.records || read.records % kPollRecords != 0;
            },
            kPollMs);
        now_ms = clock.now().wall.value;
        using Kind = client::Failure::Kind;
        if (!taken && taken.error().kind == Kind::interrupted) {
            break;
        }
        // Like Kafka's consumer, which waits for a broker until the time is over.
        if (!taken && taken.error().kind != Kind::unreachable && taken.error().kind != Kind::timed_out) {
            return failed(taken.error());
        }
        last_ms = taken && *taken > 0 ? now_ms : last_ms;
    }
    return read;
}

Outcome<int> run_perf_consume(const Options& options, const Surroundings& surroundings) {
    if (options.has("messages")) {
        surroundings.print("Warning: --messages is deprecated. Use --num-records instead.\n");
    }
    if (options.has("consumer.config")) {
        surroundings.print("Warning: --consumer.config is deprecated. Use --command-config instead.\n");
    }
    const bool is_detailed = options.has("show-detailed-stats");
    if (!options.has("hide-header")) {
        surroundings.print(std::string(is_detailed ? "time, threadId" : "start.time, end.time") +
                           ", data.consumed.in.MB, MB.sec, data.consumed.in.nMsg, nMsg.sec, rebalance.time.ms, fetch.time.ms, "
                           "fetch.MB.sec, fetch.nMsg.sec\n");
    }
    if (const auto twice = options.repeated(); !twice.empty()) {
        return failed(repeated_text(twice));
    }
    PARTITA_TRY_ASSIGN(auto properties, perf_consumer_properties(options));
    PARTITA_TRY(number_of(options, "socket-buffer-size", kSocketBytes, INT32_MAX));
    PARTITA_TRY_ASSIGN(const auto fetch_bytes, number_of(options, "fetch-size", kFetchBytes, INT32_MAX));
    PARTITA_TRY_ASSIGN(const auto plan, plan_of(options));
    PARTITA_TRY_ASSIGN(auto reading, reading_of(properties, options, surroundings));
    reading.settings.fetch.partition_bytes = static_cast<std::int32_t>(fetch_bytes);
    // A broker that cannot be reached must not hold up the end.
    const std::int64_t call_ms = std::clamp<std::int64_t>(plan.timeout_ms, 1'000, 60'000);
    if (!properties.contains("default.api.timeout.ms")) {
        properties.try_emplace("request.timeout.ms", std::to_string(std::min<std::int64_t>(call_ms, 30'000)));
        properties["default.api.timeout.ms"] = std::to_string(call_ms);
    }
    const std::string client_id = properties["client.id"];
    PARTITA_TRY_ASSIGN(auto cluster, open_cluster(std::move(properties), surroundings));
    Clock& clock = surroundings.network.clock();
    const Interruption interruption;
    surroundings.network.end_waits_by(interruption.descriptor());
    const std::int64_t start_ms = clock.now().wall.value;
    RebalanceTime rebalances(clock);
    reading.settings.on_assigned = [&](const std::set<TopicPartition>& partitions) { rebalances.assigned(partitions); };
    reading.settings.on_revoked = [&](const std::set<TopicPartition>& partitions) { rebalances.revoked(partitions); };
    const auto source = make_source(cluster, std::move(reading), {});
    const auto outcome = read_records(*source, surroundings, plan, rebalances, interruption);
    const std::int64_t end_ms = clock.now().wall.value;
    const std::int64_t rebalance_ms = rebalances.total_ms;
    surroundings.network.end_waits_by(-1);
    if (outcome) {
        const double megabytes = static_cast<double>(outcome->bytes) / kMegabyte;
        const auto records = static_cast<double>(outcome->records);
        const double seconds = static_cast<double>(end_ms - start_ms) / 1000.0;
        const std::int64_t fetch_ms = end_ms - start_ms - rebalance_ms;
        const double fetch_seconds = static_cast<double>(fetch_ms) / 1000.0;
        if (outcome->records < plan.records && !interruption.is_asked()) {
            surroundings.print("WARNING: Exiting before consuming the expected number of records: timeout (" +
                               std::to_string(plan.timeout_ms) +
                               " ms) exceeded. You can use the --timeout option to increase the timeout.\n");
        }
        if (!is_detailed) {
            surroundings.print(plan.dates.format(start_ms) + ", " + plan.dates.format(end_ms) + ", " + decimal(megabytes, 4) +
                               ", " + decimal(megabytes / seconds, 4) + ", " + std::to_string(outcome->records) + ", " +
                               decimal(records / seconds, 4) + ", " + std::to_string(rebalance_ms) + ", " +
                               std::to_string(fetch_ms) + ", " + decimal(megabytes / fetch_seconds, 4) + ", " +
                               decimal(records / fetch_seconds, 4) + "\n");
        }
        if (options.has("print-metrics")) {
            const std::string group = "consumer-fetch-manager-metrics:";
            const std::string tags = ":{client-id=" + client_id + "}";
            surroundings.print(metrics_text({{group + "bytes-consumed-total" + tags, static_cast<double>(outcome->bytes)},
                                             {group + "records-consumed-total" + tags, records},
                                             {group + "bytes-consumed-rate" + tags, megabytes * kMegabyte / seconds},
                                             {group + "records-consumed-rate" + tags, records / seconds}}));
        }
        std::fflush(surroundings.out);
    }
    if (const auto closed = source->close(); !closed && outcome) {
        surroundings.warn(closed.error().message, "org.apache.kafka.clients.consumer.KafkaConsumer");
    }
    PARTITA_TRY(outcome);
    return 0;
}

}  // namespace

const Tool kPerfConsumeTool{.name = "perf-consume",
                            .kafka_name = "kafka-consumer-perf-test",
                            .summary = "read records and show how fast that goes",
                            .purpose = "This tool is used to verify the consumer performance.",
                            .options = kPerfConsumeOptions,
                            .rules = kPerfConsumeRules,
                            .repeated = Repeated::tool_checks,
                            .run = run_perf_consume};

}  // namespace partita::tools
