// kafka-console-consumer: prints the records of topics. Beyond Kafka's options: formats, JSON lines, hexadecimal, the last
// records, a start time, and stopping at the end of the topics.

#include <unistd.h>

#include <algorithm>
#include <limits>
#include <string>

#include "broker/tools/addition.h"
#include "broker/tools/coordinator_text.h"
#include "broker/tools/deserializers.h"
#include "broker/tools/interruption.h"
#include "broker/tools/java_order.h"
#include "broker/tools/progress.h"
#include "broker/tools/record_source.h"
#include "broker/tools/record_text.h"
#include "broker/tools/text.h"
#include "broker/tools/times.h"
#include "broker/tools/tools.h"
#include "protocol/try.h"

namespace partita::tools {
namespace {

constexpr Option kFirstOptions[] = {
    {kBootstrapServer.name, kBootstrapServer.argument, kBootstrapServer.help, {}, "b"},
    kCommandConfig,
    kHelp,
    kVersion,
    {"topic", "topic", "name the topic", {}, "t"},
    {"include", "regex", "read topics whose whole names match; with --group, also topics created later"},
    {"partition", "partition", "read only this partition, from its end unless --offset says otherwise", {}, "p"},
    {"offset", "offset", "with --partition: begin at an offset, earliest or latest", "latest"},
    {"from-beginning", "", "begin with the first record"},
    {"max-messages", "count", "end after this number of records", {}, "c"},
    {"timeout-ms", "milliseconds", "end when no record comes for this time, in milliseconds"},
    one_of({"isolation-level", "level", "read all records, or with read_committed no records of open or aborted transactions",
            "read_uncommitted"},
           "read_uncommitted read_committed"),
    {"group", "group", "read as a member of this group: continue at its committed offsets, share the partitions, commit"},
    {"formatter", "class",
     "use this class of org.apache.kafka.tools.consumer: DefaultMessageFormatter, LoggingMessageFormatter (the same), "
     "NoOpMessageFormatter (shows nothing), OffsetsMessageFormatter, GroupMetadataMessageFormatter, "
     "TransactionLogMessageFormatter",
     "DefaultMessageFormatter"},
    repeatable(
        {"formatter-property",
         "key=value",
         "set print.timestamp, print.partition, print.offset, print.epoch, print.headers, print.key, print.value, key.separator, "
         "line.separator, headers.separator, null.literal, key.deserializer, value.deserializer or headers.deserializer",
         {},
         "property"}),
    {"formatter-config", "file", "read these properties from a file"},
    {"key-deserializer", "class",
     "decode keys with this class of org.apache.kafka.common.serialization: Boolean, ByteArray, ByteBuffer, Bytes, Double, "
     "Float, "
     "Integer, Long, Short, String, UUID or VoidDeserializer"},
    {"value-deserializer", "class", "decode values with this class; the classes are those of --key-deserializer"},
    repeatable({"command-property", "key=value", "set this property of the client", {}, "consumer-property"}),
    {"consumer.config", "file", "old name of --command-config"},
    {"skip-message-on-error", "", "skip a record whose bytes a deserializer cannot decode, instead of ending"},
    {"enable-systest-events", "", "print `shutdown_complete` at the end"},
    {"format",
     "format",
     R"(show records in this format: %t %p %o %T %k %s %K %S %h for topic, partition, offset, time, key, value, their sizes, )"
     R"(headers; escapes such as \n, \t and \x1f; example: "%k\t%s\n")",
     {},
     "f"},
    {"json", "", "print a JSON object in each line", {}, "J"},
    {"hex", "", "with --format: show keys and values in hexadecimal"},
};
constexpr Option kLastOptions[] = {
    {"tail", "count", "begin with the last COUNT records of each partition"},
    {"from-time", "time", "begin at a time: milliseconds since 1970, 2026-11-21T10:00:00.000, or a duration ago: PT15M"},
    {"exit", "", "end at the offsets where the partitions end now", {}, "e"},
};

const std::vector<Option> kConsumeOptions = with_additions<Option>(kFirstOptions, &Addition::consume_options, kLastOptions);

constexpr Rule kOwnRules[] = {
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
    {Requires::none_of, "tail", {"from-beginning", "offset", "from-time", "group"}},
    {Requires::none_of, "from-time", {"from-beginning", "offset", "group"}},
    {Requires::none_of, "json", {"format", "hex"}},
    {Requires::all_of, "hex", {"format"}},
};

const std::vector<Rule> kConsumeRules = with_additions<Rule>(kOwnRules, &Addition::consume_rules);

/// Properties of the formatter: from its file and from the line. `takes_short_names`: a class may lack its package.
Outcome<Properties> formatter_properties(const Options& options, bool takes_short_names) {
    Properties properties;
    if (const auto path = options.find("formatter-config")) {
        PARTITA_TRY_ASSIGN(properties, read_properties(*path));
    }
    for (const char* name : {"key-deserializer", "value-deserializer"}) {
        std::string property(name);
        std::ranges::replace(property, '-', '.');
        if (options.has(name)) {
            properties[property] = options.value(name);
        }
    }
    for (const std::string& word : options.values("formatter-property")) {
        const std::size_t equals = std::min(word.find('='), word.size());
        properties[word.substr(0, equals)] = equals < word.size() ? word.substr(equals + 1) : "";
    }
    for (const char* name : {"key.deserializer", "value.deserializer", "headers.deserializer"}) {
        const auto found = properties.find(name);
        if (takes_short_names && found != properties.end() && !found->second.empty() && !found->second.contains('.')) {
            found->second.insert(0, kDeserializerPackage);
        }
    }
    return properties;
}

constexpr FormerName kFormerNames[] = {
    {"property", "formatter-property"}, {"consumer-property", "command-property"}, {"consumer.config", "command-config"}};
constexpr std::string_view kConsoleConsumer = "org.apache.kafka.tools.consumer.ConsoleConsumer";
constexpr std::string_view kFormatterPackage = "org.apache.kafka.tools.consumer.";
/// In the package, without the word MessageFormatter at the end.
struct Formatter {
    std::string_view name;
    /// The whole name before Kafka 4.0, which refuses it. Scripts have it still.
    std::string_view former_name;
    std::unique_ptr<RecordWriter> (*make)() = nullptr;  ///< Null: the default one.
};
template <CoordinatorRecords records>
std::unique_ptr<RecordWriter> make_coordinator_writer() {
    return coordinator_writer(records);
}
constexpr Formatter kFormatters[] = {
    {"DefaultMessageFormatter", "kafka.tools.DefaultMessageFormatter"},
    // It also logs each record, at a level that Kafka's tools do not show.
    {"LoggingMessageFormatter", "kafka.tools.LoggingMessageFormatter"},
    {"NoOpMessageFormatter", "kafka.tools.NoOpMessageFormatter", silent_writer},
    {"OffsetsMessageFormatter", "kafka.coordinator.group.GroupMetadataManager$OffsetsMessageFormatter",
     make_coordinator_writer<CoordinatorRecords::offsets>},
    {"GroupMetadataMessageFormatter", "kafka.coordinator.group.GroupMetadataManager$GroupMetadataMessageFormatter",
     make_coordinator_writer<CoordinatorRecords::group_metadata>},
    {"TransactionLogMessageFormatter", "kafka.coordinator.transaction.TransactionLog$TransactionLogMessageFormatter",
     make_coordinator_writer<CoordinatorRecords::transactions>},
};

/// Our own command also takes a name without its package.
Outcome<const Formatter*> find_formatter(const std::string& name, const Surroundings& surroundings) {
    for (const Formatter& formatter : kFormatters) {
        const std::string full = std::string(kFormatterPackage) + std::string(formatter.name);
        if (name == formatter.former_name) {
            surroundings.complain("Kafka 4 refuses --formatter " + name + ": use " + full);
            return &formatter;
        }
        if (name == full || (!surroundings.is_kafkas_name && name == formatter.name)) {
            return &formatter;
        }
    }
    if (surroundings.is_kafkas_name) {
        return usage(name);
    }
    std::vector<std::string> names;
    for (const Formatter& formatter : kFormatters) {
        names.emplace_back(formatter.name);
    }
    return refused("--formatter is " + name + ", and only these are served: " + joined(names, ", "));
}

/// Like Kafka's tool, which goes on with the bytes when it does not find a class.
Outcome<std::unique_ptr<RecordWriter>> make_default_writer(const Properties& properties, const Surroundings& surroundings) {
    std::vector<std::string> unknown;
    auto writer = default_writer(properties, unknown);
    if (!unknown.empty() && !surroundings.is_kafkas_name) {
        return refused("unknown deserializer " + unknown.front() + "; Kafka has " + std::string(kDeserializerNames));
    }
    for (const std::string& name : unknown) {
        surroundings.log("ERROR", "Unable to instantiate a deserializer from " + name,
                         "org.apache.kafka.tools.consumer.DefaultMessageFormatter");
        surroundings.complain("java.lang.ClassNotFoundException: " + name);
    }
    return writer;
}

Outcome<std::unique_ptr<RecordWriter>> make_writer(const Options& options, const Properties& properties,
                                                   const Surroundings& surroundings) {
    if (options.has("json")) {
        return json_writer();
    }
    if (const auto format = options.find("format")) {
        auto writer = format_writer(*format, options.has("hex"));
        if (!writer) {
            return usage(writer.error());
        }
        return std::move(*writer);
    }
    if (const auto name = options.find("formatter")) {
        PARTITA_TRY_ASSIGN(const auto formatter, find_formatter(*name, surroundings));
        if (formatter->make != nullptr) {
            return formatter->make();
        }
    }
    return make_default_writer(properties, surroundings);
}

Outcome<Start> parse_start(const Options& options, std::int64_t now_ms) {
    Start start;
    if (options.has("from-beginning")) {
        start.time = client::kEarliest;
    }
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
            return usage("--from-time is " + *text + "; use milliseconds since 1970, 2026-11-21T10:00:00.000 or PT15M");
        }
        start.time = std::max<std::int64_t>(0, number ? *number : duration_ms ? now_ms - *duration_ms : *date_ms);
    }
    const auto tail = options.integer("tail", 0, std::numeric_limits<std::int32_t>::max());
    if (!tail) {
        return usage(tail.error());
    }
    start.tail = tail->value_or(0);
    return start;
}

/// Properties of the consumer: from the file, from the line, and from options that set some.
Outcome<Properties> consumer_properties(const Options& options) {
    PARTITA_TRY_ASSIGN(auto properties, options.has("consumer.config") ? read_properties(options.value("consumer.config"))
                                                                       : client_properties(options, "console-consumer"));
    std::vector<std::string> groups = options.values("group");
    const auto add_group = [&](const Properties& from) {
        const auto group = from.find("group.id");
        if (group != from.end() && std::ranges::find(groups, group->second) == groups.end()) {
            groups.push_back(group->second);
        }
    };
    groups.resize(std::min<std::size_t>(groups.size(), 1));
    add_group(properties);
    Properties extra;
    for (const std::string& word : options.values("command-property")) {
        const std::size_t equals = std::min(word.find('='), word.size());
        extra[word.substr(0, equals)] = equals < word.size() ? word.substr(equals + 1) : "";
    }
    add_group(extra);
    if (groups.size() > 1) {
        return usage(
            "The group ids provided in different places (directly using '--group', via '--consumer-property', or via "
            "'--consumer.config') do not match. Detected group ids: '" +
            joined(in_java_order(groups), "', '") + "'");
    }
    if (!groups.empty() && options.has("partition")) {
        return usage("Options group and partition cannot be specified together.");
    }
    for (const auto& [name, value] : extra) {
        properties[name] = value;
    }
    properties["bootstrap.servers"] = options.value("bootstrap-server");
    if (!groups.empty()) {
        properties["group.id"] = groups.front();
    }
    const auto reset = properties.find("auto.offset.reset");
    if (options.has("from-beginning") && reset != properties.end() && reset->second != "earliest") {
        return refused("Can't simultaneously specify --from-beginning and 'auto.offset.reset=" + reset->second +
                       "', please remove one option");
    }
    if (reset == properties.end()) {
        properties["auto.offset.reset"] = options.has("from-beginning") ? "earliest" : "latest";
    }
    // An explicit option wins; its default applies only if the properties lack the setting.
    if (options.has("isolation-level") || !properties.contains("isolation.level")) {
        properties["isolation.level"] = options.value("isolation-level");
    }
    return properties;
}

/// Prints records until something ends the reading.
class Consumption {
  public:
    /// `decoder` may be null.
    Consumption(RecordSource& source, const Surroundings& surroundings, const RecordWriter& writer, RecordDecoder* decoder,
                const Interruption& interruption, bool skips_unshown)
        : source_(source),
          surroundings_(surroundings),
          writer_(writer),
          decoder_(decoder),
          interruption_(interruption),
          skips_unshown_(skips_unshown),
          progress_(surroundings, surroundings.out) {}

    [[nodiscard]] Outcome<void> run(std::int64_t count_max, std::int64_t timeout_ms);
    /// Those that could not be shown count, too.
    [[nodiscard]] std::int64_t count() const { return count_; }
    /// The exception of the record that ended the reading; empty if none did.
    [[nodiscard]] const std::string& exception() const { return exception_; }

  private:
    void tell_skipped(const client::FetchedRecord& record, const std::string& exception) const;

    RecordSource& source_;
    const Surroundings& surroundings_;
    const RecordWriter& writer_;
    RecordDecoder* const decoder_;
    /// Counts what it writes.
    void print(const std::string& text) {
        bytes_ += text.size();
        surroundings_.print(text);
    }

    const Interruption& interruption_;
    const bool skips_unshown_;
    Progress progress_;
    std::int64_t count_ = 0;
    std::uint64_t bytes_ = 0;
    std::string exception_;
};

std::string unshown(const client::FetchedRecord& record, const std::string& exception) {
    return "the record of " + std::string(record.topic) + "-" + std::to_string(record.partition) + " at offset " +
           std::to_string(record.offset) + " cannot be shown: " + exception.substr(exception.find(": ") + 2);
}

void Consumption::tell_skipped(const client::FetchedRecord& record, const std::string& exception) const {
    if (surroundings_.is_kafkas_name) {
        surroundings_.log("ERROR", "Error processing message, skipping this message: ", kConsoleConsumer);
        surroundings_.complain(exception);
    } else {
        surroundings_.complain(unshown(record, exception));
    }
}

Outcome<void> Consumption::run(std::int64_t count_max, std::int64_t timeout_ms) {
    Clock& clock = surroundings_.network.clock();
    Instant last = clock.now().monotonic;
    std::string text;
    while (!interruption_.is_asked() && (count_max < 0 || count_ < count_max)) {
        const auto is_over = source_.is_over();
        if (!is_over && interruption_.is_asked()) {
            return {};
        }
        PARTITA_TRY(is_over);
        if (*is_over) {
            return {};
        }
        text.clear();
        constexpr std::size_t kTextBytes = 1024 * 1024;
        std::optional<Ending> undecodable;
        const auto taken = source_.poll(
            [&](const client::FetchedRecord& record) {
                auto decoded = decoder_ == nullptr ? Outcome<Decoded>() : decoder_->decode(record);
                if (!decoded) {
                    undecodable = std::move(decoded.error());
                    return false;
                }
                if (const auto written = writer_.write(record, *decoded, text); !written) {
                    if (!skips_unshown_) {
                        ++count_;
                        exception_ = surroundings_.is_kafkas_name ? written.error() : unshown(record, written.error());
                        return false;
                    }
                    tell_skipped(record, written.error());
                }
                if (text.size() >= kTextBytes) {
                    print(std::exchange(text, {}));
                }
                return ++count_ != count_max && !interruption_.is_asked();
            },
            std::max<std::int64_t>(0, timeout_ms - (clock.now().monotonic - last)));
        print(text);
        progress_.show(count_, bytes_);
        if (std::fflush(surroundings_.out) != 0) {
            surroundings_.complain("Unable to write to standard out, closing consumer.");
            return {};
        }
        if (undecodable) {
            return std::unexpected(std::move(*undecodable));
        }
        if (!exception_.empty()) {
            return {};
        }
        if (!taken && taken.error().kind == client::Failure::Kind::interrupted) {
            return {};
        }
        if (!taken) {
            return failed(taken.error());
        }
        const Instant now = clock.now().monotonic;
        if (*taken > 0) {
            last = now;
        }
        if (now - last > timeout_ms) {
            surroundings_.log(
                "ERROR",
                "Error processing message, terminating consumer process:  org.apache.kafka.common.errors.TimeoutException",
                kConsoleConsumer);
            return {};
        }
    }
    return {};
}

/// Null if the line asks for no addon's format.
Outcome<std::unique_ptr<RecordDecoder>> make_decoder(const Options& options, const Properties& formatter,
                                                     const Properties& client, const Surroundings& surroundings) {
    for (const Addition* addition : additions()) {
        if (addition->make_decoder == nullptr) {
            continue;
        }
        auto decoder = addition->make_decoder(options, formatter, client, surroundings);
        PARTITA_TRY(decoder);
        if (*decoder == nullptr) {
            continue;
        }
        PARTITA_TRY((*decoder)->begin());
        return decoder;
    }
    return nullptr;
}

Outcome<int> run_consume(const Options& options, const Surroundings& surroundings) {
    PARTITA_TRY(check_former_names(options, surroundings, kFormerNames, {.warning = "Option --"}));
    PARTITA_TRY_ASSIGN(auto properties, consumer_properties(options));
    constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
    const auto count_max = options.integer("max-messages");
    if (!count_max) {
        return refused(count_max.error());
    }
    const auto timeout_ms = options.integer("timeout-ms", std::numeric_limits<std::int64_t>::min(), kMost);
    if (!timeout_ms) {
        return refused(timeout_ms.error());
    }
    PARTITA_TRY_ASSIGN(const auto start, parse_start(options, surroundings.network.clock().now().wall.value));
    PARTITA_TRY_ASSIGN(const auto shown_by, formatter_properties(options, !surroundings.is_kafkas_name));
    PARTITA_TRY_ASSIGN(const auto writer, make_writer(options, shown_by, surroundings));
    PARTITA_TRY_ASSIGN(const auto decoder, make_decoder(options, shown_by, properties, surroundings));
    PARTITA_TRY_ASSIGN(auto reading, reading_of(properties, options, surroundings));
    PARTITA_TRY_ASSIGN(auto cluster, open_cluster(std::move(properties), surroundings));
    const Interruption interruption;
    surroundings.network.end_waits_by(interruption.descriptor());
    const auto source = make_source(cluster, std::move(reading), start);
    Consumption consumption(*source, surroundings, *writer, decoder.get(), interruption, options.has("skip-message-on-error"));
    const std::int64_t patience_ms = timeout_ms->value_or(-1);
    auto outcome = consumption.run(count_max->value_or(-1), patience_ms < 0 ? kMost : patience_ms);
    surroundings.network.end_waits_by(-1);
    if (const auto closed = source->close(); !closed && outcome) {
        outcome = failed(closed.error());
    }
    if (surroundings.is_kafkas_name || ::isatty(STDERR_FILENO) == 1) {
        surroundings.complain("Processed a total of " + std::to_string(consumption.count()) + " messages");
    }
    if (options.has("enable-systest-events")) {
        surroundings.print("shutdown_complete\n");
    }
    PARTITA_TRY(outcome);
    if (!consumption.exception().empty()) {
        if (!surroundings.is_kafkas_name) {
            return failed(consumption.exception() + "; --skip-message-on-error goes on");
        }
        surroundings.log("ERROR", "Unknown error when running consumer: ", kConsoleConsumer);
        return failed(consumption.exception());
    }
    if (decoder) {
        decoder->finish();
    }
    return decoder && decoder->has_failed() ? 1 : 0;
}

}  // namespace

const Tool kConsumeTool{.name = "consume",
                        .kafka_name = "kafka-console-consumer",
                        .summary = "print the records of topics",
                        .purpose = "This tool helps to read data from Kafka topics and outputs it to standard output.",
                        .options = kConsumeOptions,
                        .rules = kConsumeRules,
                        .run = run_consume};

}  // namespace partita::tools
