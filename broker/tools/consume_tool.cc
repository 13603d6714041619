// kafka-console-consumer: prints the records of topics. Besides Kafka's options: formats, JSON lines, hexadecimal, the last
// records, from a time, and an end where the topics end.

#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <limits>
#include <string>

#include "broker/client/fetch.h"
#include "broker/client/topics.h"
#include "broker/tools/record_text.h"
#include "broker/tools/text.h"
#include "broker/tools/times.h"
#include "broker/tools/tools.h"
#include "broker/tools/topic_filter.h"

namespace partita::tools {
namespace {

constexpr Option kConsumeOptions[] = {
    kBootstrapServer,
    kCommandConfig,
    kHelp,
    kVersion,
    {"topic", "topic", "The topic."},
    {"include", "regex", "Topics whose whole names match. Those that come later are not read."},
    {"partition", "partition", "Only this partition, from its end unless --offset says otherwise."},
    {"offset", "offset", "With --partition: an offset, earliest or latest.", "latest"},
    {"from-beginning", "", "From the first record on."},
    {"max-messages", "count", "End after so many records."},
    {"timeout-ms", "milliseconds", "End when nothing came for so long."},
    {"isolation-level", "level", "read_committed leaves out records of transactions that are open or aborted.",
     "read_uncommitted"},
    {"group", "group", "Not served yet: a reader here is in no group."},
    {"formatter", "class", "Only Kafka's DefaultMessageFormatter."},
    {"formatter-property",
     "key=value",
     "print.timestamp, print.partition, print.offset, print.epoch, print.headers, print.key, print.value, key.separator, "
     "line.separator, headers.separator, null.literal, key.deserializer, value.deserializer, headers.deserializer.",
     {},
     "property"},
    {"formatter-config", "file", "The same as a file of properties."},
    {"key-deserializer", "class", "How keys are shown: String, Short, Integer or LongDeserializer."},
    {"value-deserializer", "class", "How values are shown."},
    {"command-property", "key=value", "A property of the client.", {}, "consumer-property"},
    {"consumer.config", "file", "The old name of --command-config."},
    {"skip-message-on-error", "", "Nothing: a record that cannot be shown is shown in hexadecimal."},
    {"enable-systest-events", "", "Print `shutdown_complete` at the end."},
    {"format", "format",
     R"(How a record is shown: %t %p %o %T %k %s %K %S %h for topic, partition, offset, time, key, value, their sizes, )"
     R"(headers; \n, \t. "%k\t%s\n")"},
    {"json", "", "A JSON object in each line."},
    {"hex", "", "With --format: keys and values in hexadecimal."},
    {"tail", "count", "The last records of each partition, and what comes."},
    {"from-time", "time", "Since a time: milliseconds since 1970, 2026-11-21T10:00:00.000, or so long ago: PT15M."},
    {"exit", "", "End where the partitions ended when this began."},
};

constexpr Rule kConsumeRules[] = {
    {Requires::exactly_one_of, "", {"topic", "include"}},
    {Requires::all_of, "partition", {"topic"}, "The topic is required when partition is specified."},
    {Requires::none_of,
     "from-beginning",
     {"offset"},
     "Options from-beginning and offset cannot be specified together.",
     false,
     "partition"},
    {Requires::all_of, "offset", {"partition"}, "The partition is required when offset is specified."},
    {Requires::all_of, "", {"bootstrap-server"}},
    {Requires::none_of, "tail", {"from-beginning", "offset", "from-time"}},
    {Requires::none_of, "from-time", {"from-beginning", "offset"}},
    {Requires::none_of, "json", {"format", "hex"}},
    {Requires::all_of, "hex", {"format"}},
};

volatile std::sig_atomic_t is_interrupted = 0;
void interrupt(int) { is_interrupted = 1; }

/// The first signal ends the reading in good order, the second one the program.
void listen_for_interruption() {
    struct sigaction action{};
    action.sa_handler = interrupt;
    action.sa_flags = static_cast<int>(SA_RESETHAND);
    for (const int signal : {SIGINT, SIGTERM}) ::sigaction(signal, &action, nullptr);
    // Who does not want to read any more is seen when we write.
    std::signal(SIGPIPE, SIG_IGN);
}

Outcome<std::unique_ptr<RecordWriter>> make_writer(const Options& options) {
    if (options.has("json")) return json_writer();
    if (const auto format = options.find("format")) {
        auto writer = format_writer(*format, options.has("hex"));
        if (!writer) return usage(writer.error());
        return std::move(*writer);
    }
    if (options.has("formatter") && !options.value("formatter").ends_with("DefaultMessageFormatter")) {
        return refused("--formatter " + options.value("formatter") + " is not served: only DefaultMessageFormatter is");
    }
    Properties properties;
    if (const auto path = options.find("formatter-config")) {
        auto read = read_properties(*path);
        if (!read) return std::unexpected(std::move(read.error()));
        properties = std::move(*read);
    }
    for (const char* name : {"key-deserializer", "value-deserializer"}) {
        std::string property(name);
        std::ranges::replace(property, '-', '.');
        if (options.has(name)) properties[property] = options.value(name);
    }
    for (const std::string& word : options.values("formatter-property")) {
        const std::size_t equals = std::min(word.find('='), word.size());
        properties[word.substr(0, equals)] = equals < word.size() ? word.substr(equals + 1) : "";
    }
    auto writer = default_writer(properties);
    if (!writer) return refused(writer.error());
    return std::move(*writer);
}

/// Where reading begins: a time or one of the constants for it, or an offset.
struct Start {
    std::int64_t time = client::kLatest;
    std::optional<std::int64_t> offset;
    std::int64_t tail = 0;
};

Outcome<Start> parse_start(const Options& options, std::int64_t now_ms) {
    Start start;
    if (options.has("from-beginning")) start.time = client::kEarliest;
    if (options.has("offset")) {
        std::string text = options.value("offset");
        const std::string said = text;
        std::ranges::transform(text, text.begin(), [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
        const auto number = parse_integer(text);
        if (text == "earliest") {
            start.time = client::kEarliest;
        } else if (number && *number >= 0) {
            start.offset = *number;
        } else if (text != "latest") {
            return usage("The provided offset value '" + said +
                         "' is incorrect. Valid values are 'earliest', 'latest', or a non-negative long.");
        }
    }
    if (const auto text = options.find("from-time")) {
        const auto number = parse_integer(*text);
        const auto duration_ms = parse_duration(*text);
        const auto date_ms = parse_datetime(*text);
        if (!number && !duration_ms && !date_ms) {
            return usage("--from-time is " + *text + "; say milliseconds since 1970, 2026-11-21T10:00:00.000 or PT15M");
        }
        start.time = std::max<std::int64_t>(0, number ? *number : duration_ms ? now_ms - *duration_ms : *date_ms);
    }
    const auto tail = options.integer("tail", 0, std::numeric_limits<std::int32_t>::max());
    if (!tail) return usage(tail.error());
    start.tail = tail->value_or(0);
    return start;
}

Outcome<std::map<std::string, std::string>> consumer_properties(const Options& options) {
    auto properties = options.has("consumer.config") ? read_properties(options.value("consumer.config"))
                                                     : client_properties(options, "console-consumer");
    if (!properties) return properties;
    for (const std::string& word : options.values("command-property")) {
        const std::size_t equals = std::min(word.find('='), word.size());
        (*properties)[word.substr(0, equals)] = equals < word.size() ? word.substr(equals + 1) : "";
    }
    (*properties)["bootstrap.servers"] = options.value("bootstrap-server");
    if (options.has("group") || properties->contains("group.id")) {
        return refused("--group is not served yet: a reader here is in no group, and commits nothing");
    }
    const auto reset = properties->find("auto.offset.reset");
    if (options.has("from-beginning") && reset != properties->end() && reset->second != "earliest") {
        return refused("Can't simultaneously specify --from-beginning and 'auto.offset.reset=" + reset->second +
                       "', please remove one option");
    }
    return properties;
}

class Consumption {
  public:
    Consumption(client::Cluster& cluster, const Options& options, const Surroundings& surroundings, const RecordWriter& writer)
        : cluster_(cluster),
          options_(options),
          surroundings_(surroundings),
          writer_(writer),
          fetcher_(cluster, {.is_read_committed = options.value("isolation-level") == "read_committed",
                             .reset = options.has("from-beginning") ? client::kEarliest : client::kLatest}) {}

    [[nodiscard]] Outcome<void> begin(const Start& start);
    /// Prints until something ends it.
    [[nodiscard]] Outcome<void> run(std::int64_t count_max, std::int64_t timeout_ms);
    [[nodiscard]] std::int64_t count() const { return count_; }

  private:
    [[nodiscard]] Outcome<std::vector<client::TopicPartition>> partitions();
    /// Partitions that are read up to where they were to end are left.
    void leave_ended();

    client::Cluster& cluster_;
    const Options& options_;
    const Surroundings& surroundings_;
    const RecordWriter& writer_;
    client::Fetcher fetcher_;
    std::map<client::TopicPartition, std::int64_t> ends_;
    std::int64_t count_ = 0;
};

Outcome<std::vector<client::TopicPartition>> Consumption::partitions() {
    std::vector<std::string> names;
    if (const auto topic = options_.find("topic")) {
        names = {*topic};
    } else {
        const auto filter = groups::WholeMatch::compile(options_.value("include"));
        if (!filter) return refused(options_.value("include") + " is no regular expression");
        const auto topics = client::list_topics(cluster_);
        if (!topics) return failed(topics.error());
        for (const auto& listed : *topics) {
            if (!listed.is_internal && filter->matches(listed.name)) names.push_back(listed.name);
        }
    }
    if (const auto partition = options_.integer("partition"); !partition) {
        return usage(partition.error());
    } else if (*partition) {
        return std::vector<client::TopicPartition>{{names.front(), **partition}};
    }
    const auto topics = client::describe_topics(cluster_, names);
    if (!topics) return failed(topics.error());
    std::vector<client::TopicPartition> all;
    for (const auto& topic : *topics) {
        for (const auto& partition : topic.partitions) all.push_back({topic.name, partition.index});
    }
    return all;
}

Outcome<void> Consumption::begin(const Start& start) {
    const auto all = partitions();
    if (!all) return std::unexpected(all.error());
    const auto offsets = [&](std::int64_t time) -> Outcome<std::map<client::TopicPartition, std::int64_t>> {
        const auto answered = client::list_offsets(cluster_, *all, time);
        if (!answered) return failed(answered.error());
        std::map<client::TopicPartition, std::int64_t> found;
        for (const auto& [partition, offset] : *answered) {
            if (!offset) return failed(client::to_string(partition) + ": " + offset.error().message);
            found[partition] = *offset;
        }
        return found;
    };
    const auto ends = offsets(client::kLatest);
    if (!ends) return std::unexpected(ends.error());
    const auto firsts = offsets(start.tail > 0 ? client::kEarliest : start.time);
    if (!firsts) return std::unexpected(firsts.error());
    for (const auto& partition : *all) {
        const std::int64_t end = ends->at(partition);
        std::int64_t first = firsts->at(partition);
        if (start.tail > 0) first = std::max(first, end - start.tail);
        if (first < 0) first = end;
        fetcher_.seek(partition, start.offset.value_or(first));
    }
    if (options_.has("exit")) ends_ = *ends;
    return {};
}

void Consumption::leave_ended() {
    std::erase_if(ends_, [&](const auto& end) {
        const bool is_over = fetcher_.position(end.first) >= end.second;
        if (is_over) fetcher_.leave(end.first);
        return is_over;
    });
}

Outcome<void> Consumption::run(std::int64_t count_max, std::int64_t timeout_ms) {
    Clock& clock = surroundings_.network.clock();
    Instant last = clock.now().monotonic;
    std::string text;
    while (is_interrupted == 0 && (count_max < 0 || count_ < count_max)) {
        leave_ended();
        if (!fetcher_.has_partitions()) return {};
        text.clear();
        constexpr std::size_t kTextBytes = 1024 * 1024;
        const auto taken = fetcher_.poll([&](const client::FetchedRecord& record) {
            writer_.write(record, text);
            if (text.size() >= kTextBytes) surroundings_.print(std::exchange(text, {}));
            return ++count_ != count_max;
        });
        surroundings_.print(text);
        if (std::fflush(surroundings_.out) != 0) {
            surroundings_.complain("Unable to write to standard out, closing consumer.");
            return {};
        }
        if (!taken) return failed(taken.error());
        const Instant now = clock.now().monotonic;
        if (*taken > 0) last = now;
        if (now - last > timeout_ms) {
            surroundings_.log(
                "ERROR",
                "Error processing message, terminating consumer process:  org.apache.kafka.common.errors.TimeoutException",
                "org.apache.kafka.tools.consumer.ConsoleConsumer");
            return {};
        }
    }
    return {};
}

Outcome<int> run_consume(const Options& options, const Surroundings& surroundings) {
    const auto isolation = options.value("isolation-level");
    if (isolation != "read_committed" && isolation != "read_uncommitted") {
        return refused("Invalid value " + isolation +
                       " for configuration isolation.level: String must be one of: read_committed, read_uncommitted");
    }
    auto properties = consumer_properties(options);
    if (!properties) return std::unexpected(std::move(properties.error()));
    constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
    const auto count_max = options.integer("max-messages");
    if (!count_max) return refused(count_max.error());
    const auto timeout_ms = options.integer("timeout-ms", std::numeric_limits<std::int64_t>::min(), kMost);
    if (!timeout_ms) return refused(timeout_ms.error());
    const auto start = parse_start(options, surroundings.network.clock().now().wall.value);
    if (!start) return std::unexpected(start.error());
    const auto writer = make_writer(options);
    if (!writer) return std::unexpected(writer.error());
    auto cluster = open_cluster(std::move(*properties), surroundings);
    if (!cluster) return std::unexpected(std::move(cluster.error()));
    listen_for_interruption();
    Consumption consumption(*cluster, options, surroundings, **writer);
    auto outcome = consumption.begin(*start);
    const std::int64_t patience_ms = timeout_ms->value_or(-1);
    if (outcome) outcome = consumption.run(count_max->value_or(-1), patience_ms < 0 ? kMost : patience_ms);
    if (surroundings.is_kafkas_name || ::isatty(STDERR_FILENO) == 1) {
        surroundings.complain("Processed a total of " + std::to_string(consumption.count()) + " messages");
    }
    if (options.has("enable-systest-events")) surroundings.print("shutdown_complete\n");
    if (!outcome) return std::unexpected(std::move(outcome.error()));
    return 0;
}

}  // namespace

const Tool kConsumeTool{.name = "consume",
                        .kafka_name = "kafka-console-consumer",
                        .purpose = "This tool helps to read data from Kafka topics and outputs it to standard output.",
                        .options = kConsumeOptions,
                        .rules = kConsumeRules,
                        .run = run_consume};

}  // namespace partita::tools
