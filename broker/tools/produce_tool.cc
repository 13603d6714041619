// kafka-console-producer: writes lines of the standard input to a topic. Beyond Kafka's options: JSON lines, one key, headers, a
// partition.

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <limits>
#include <string>
#include <system_error>

#include "broker/client/produce.h"
#include "broker/tools/addition.h"
#include "broker/tools/progress.h"
#include "broker/tools/record_text.h"
#include "broker/tools/text.h"
#include "broker/tools/tools.h"
#include "protocol/try.h"

namespace partita::tools {
namespace {

constexpr Option kOwnOptions[] = {
    {kBootstrapServer.name, kBootstrapServer.argument, kBootstrapServer.help, {}, "b"},
    kCommandConfig,
    kHelp,
    kVersion,
    {"topic", "topic", "name the topic", {}, "t"},
    {"sync", "", "send each record by itself and wait until it is acknowledged"},
    one_of(
        {"compression-codec", "codec", "compress with none, gzip, snappy, lz4 or zstd; gzip if no value follows", {}, {}, true},
        "none gzip snappy lz4 zstd"),
    {"batch-size", "bytes", "send a batch of a partition when it reaches this size, in bytes", "16384"},
    {"max-partition-memory-bytes", "bytes", "old name of --batch-size, in bytes; wins if both are given"},
    {"timeout", "milliseconds", "let a record wait this long for others of its batch, in milliseconds", "1000"},
    one_of({"request-required-acks", "acks", "wait for acknowledgements: all (-1), 1 or 0", "-1"}, "all -1 0 1"),
    {"request-timeout-ms", "milliseconds", "wait this long for an acknowledgement, in milliseconds", "1500"},
    {"max-block-ms", "milliseconds", "wait this long for the topic, in milliseconds", "60000"},
    {"message-send-max-retries", "times", "ignored: the producer retries a batch for two minutes", "3"},
    {"retry-backoff-ms", "milliseconds", "wait this long before a retry of a batch, in milliseconds", "100"},
    {"metadata-expiry-ms", "milliseconds", "ignored: the producer asks for leaders when they move"},
    {"max-memory-bytes", "bytes", "ignored: at most one batch of each partition waits"},
    {"socket-buffer-size", "bytes", "accepted and ignored: the kernel chooses the size"},
    {"line-reader", "class", "use this reader; only Kafka's LineMessageReader, which makes a record of each line, is served"},
    repeatable({"reader-property",
                "key=value",
                "set parse.key, key.separator, parse.headers, headers.delimiter, headers.separator, headers.key.separator, "
                "ignore.error or "
                "null.marker",
                {},
                "property"}),
    {"reader-config", "file", "read these properties from a file"},
    repeatable({"command-property", "key=value", "set this property of the client", {}, "producer-property"}),
    {"producer.config", "file", "old name of --command-config"},
    {"json", "", "read each line as a JSON object with key, value, headers, partition, timestamp, as `consume --json` writes it"},
    {"key", "key", "give all records this key", {}, "k"},
    repeatable({"header", "name=value", "give all records this header; repeatable", {}, "H"}),
    {"partition", "partition", "send all records to this partition", {}, "p"},
};

const std::vector<Option> kProduceOptions = with_additions<Option>(kOwnOptions, &Addition::produce_options);

constexpr FormerName kFormerNames[] = {
    {"producer.config", "command-config"}, {"producer-property", "command-property"}, {"property", "reader-property"}};

/// There is one reader. The second name was its own before Kafka 4.0, which refuses it.
Outcome<void> check_line_reader(const Options& options, const Surroundings& surroundings) {
    constexpr std::string_view kReader = "org.apache.kafka.tools.LineMessageReader";
    constexpr std::string_view kFormerReader = "kafka.tools.ConsoleProducer$LineMessageReader";
    const std::string reader = options.has("line-reader") ? options.value("line-reader") : std::string(kReader);
    if (reader == kFormerReader) {
        surroundings.complain("Kafka 4 refuses --line-reader " + reader + ": use " + std::string(kReader));
    } else if (reader != kReader) {
        return refused(surroundings.is_kafkas_name
                           ? "java.lang.ClassNotFoundException: " + reader
                           : "--line-reader is " + reader + ", and only " + std::string(kReader) + " is served");
    }
    return {};
}

constexpr Rule kProduceRules[] = {{Requires::all_of, "", {"topic"}}};

/// Properties of the line: KEY=VALUE, or KEY for an empty value.
void add_properties(const std::vector<std::string>& words, Properties& properties) {
    for (const std::string& word : words) {
        const std::size_t equals = std::min(word.find('='), word.size());
        properties[word.substr(0, equals)] = equals < word.size() ? word.substr(equals + 1) : "";
    }
}

Outcome<Codec> parse_codec(const Options& options) {
    if (!options.has("compression-codec")) {
        return Codec::none;
    }
    const std::string name = options.value("compression-codec");
    if (name.empty()) {
        return Codec::gzip;
    }
    constexpr std::pair<std::string_view, Codec> kCodecs[] = {
        {"none", Codec::none}, {"gzip", Codec::gzip}, {"snappy", Codec::snappy}, {"lz4", Codec::lz4}, {"zstd", Codec::zstd}};
    for (const auto& [known, codec] : kCodecs) {
        if (name == known) {
            return codec;
        }
    }
    return refused("Invalid value " + name + " for configuration compression.type: Unknown compression name: " + name);
}

Outcome<std::int16_t> parse_acks(const std::string& text) {
    if (text == "all" || text == "-1") {
        return std::int16_t{-1};
    }
    if (text == "0") {
        return std::int16_t{0};
    }
    if (text == "1") {
        return std::int16_t{1};
    }
    return refused("Invalid value " + text + " for configuration acks: String must be one of: all, -1, 0, 1");
}

/// Reads lines from a descriptor, with a limit on the wait for the next one.
class LineSource {
  public:
    enum class Got { line, nothing, end };
    static constexpr std::size_t kLineBytesMax = 256 * 1024 * 1024;

    explicit LineSource(int descriptor) : descriptor_(descriptor) {}

    /// `wait_ms` below 0: no limit. A last line without a line end counts.
    [[nodiscard]] Outcome<Got> next(std::string& line, std::int64_t wait_ms) {
        while (true) {
            const std::size_t end = buffer_.find('\n', looked_at_);
            if (end != std::string::npos || (is_over_ && at_ < buffer_.size())) {
                const std::size_t stop = std::min(end, buffer_.size());
                line = buffer_.substr(at_, stop - at_);
                if (line.ends_with('\r')) {
                    line.pop_back();
                }
                at_ = looked_at_ = std::min(stop + 1, buffer_.size());
                return Got::line;
            }
            if (is_over_) {
                return Got::end;
            }
            looked_at_ = buffer_.size();
            if (looked_at_ - at_ > kLineBytesMax) {
                return failed("a line is longer than 256 MiB");
            }
            pollfd waited{descriptor_, POLLIN, 0};
            const int ready =
                ::poll(&waited, 1, static_cast<int>(std::min<std::int64_t>(wait_ms, std::numeric_limits<int>::max())));
            if (ready == 0) {
                return Got::nothing;
            }
            if (ready < 0 && errno != EINTR) {
                return failed(std::generic_category().message(errno));
            }
            if (ready > 0) {
                PARTITA_TRY(fill());
            }
        }
    }

  private:
    [[nodiscard]] Outcome<void> fill() {
        constexpr std::size_t kPieceBytes = 64 * 1024;
        buffer_.erase(0, at_);
        looked_at_ -= at_;
        at_ = 0;
        const std::size_t had = buffer_.size();
        buffer_.resize(had + kPieceBytes);
        const ssize_t got = ::read(descriptor_, buffer_.data() + had, kPieceBytes);
        buffer_.resize(had + static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
        if (got < 0 && errno != EINTR) {
            return failed(std::generic_category().message(errno));
        }
        is_over_ = got == 0;
        return {};
    }

    const int descriptor_;
    std::string buffer_;
    std::size_t at_ = 0;
    std::size_t looked_at_ = 0;
    bool is_over_ = false;
};

/// The options that apply to every record.
struct Common {
    std::optional<std::string> key;
    std::optional<std::int32_t> partition;
    std::vector<std::pair<std::string, std::optional<std::string>>> headers;

    void apply(client::OwnedRecord& record) const {
        if (key && !record.key) {
            record.key = key;
        }
        if (partition && !record.partition) {
            record.partition = partition;
        }
        record.headers.insert(record.headers.end(), headers.begin(), headers.end());
    }
};

Outcome<Common> parse_common(const Options& options) {
    Common common{.key = options.find("key")};
    const auto partition = options.integer("partition");
    if (!partition) {
        return usage(partition.error());
    }
    common.partition = *partition;
    for (const std::string& header : options.values("header")) {
        const std::size_t equals = std::min(header.find('='), header.size());
        common.headers.emplace_back(header.substr(0, equals),
                                    equals < header.size() ? std::optional(header.substr(equals + 1)) : std::nullopt);
    }
    return common;
}

Outcome<Properties> reader_properties(const Options& options) {
    Properties properties;
    if (const auto path = options.find("reader-config")) {
        PARTITA_TRY_ASSIGN(properties, read_properties(*path));
    }
    add_properties(options.values("reader-property"), properties);
    return properties;
}

Outcome<std::unique_ptr<RecordParser>> make_reader(const Options& options, const Properties& properties,
                                                   const JsonMembers& members) {
    if (options.has("json")) {
        return json_reader(members);
    }
    auto reader = line_reader(properties);
    if (!reader) {
        return refused("org.apache.kafka.common.KafkaException: " + reader.error());
    }
    return std::move(*reader);
}

/// Null if the line asks for no addon's format.
Outcome<std::unique_ptr<RecordEncoder>> make_encoder(const Options& options, const Properties& reader, const Properties& client,
                                                     const Surroundings& surroundings) {
    for (const Addition* addition : additions()) {
        if (addition->make_encoder == nullptr) {
            continue;
        }
        if (auto encoder = addition->make_encoder(options, reader, client, surroundings); !encoder || *encoder) {
            return encoder;
        }
    }
    return nullptr;
}

/// The inputs of a producer.
struct ProducePlan {
    client::ProducerSettings producer;
    std::map<std::string, std::string> client;
    std::int64_t linger_ms = 0;
    bool is_sync = false;
};

Outcome<ProducePlan> make_plan(const Options& options) {
    ProducePlan plan{.is_sync = options.has("sync")};
    PARTITA_TRY_ASSIGN(const auto codec, parse_codec(options));
    plan.producer.codec = codec;
    PARTITA_TRY_ASSIGN(auto properties, options.has("producer.config") ? read_properties(options.value("producer.config"))
                                                                       : client_properties(options, "console-producer"));
    add_properties(options.values("command-property"), properties);
    properties["bootstrap.servers"] = options.value("bootstrap-server");
    const bool says_acks = options.has("request-required-acks") || !properties.contains("acks");
    PARTITA_TRY_ASSIGN(const auto acks, parse_acks(says_acks ? options.value("request-required-acks") : properties["acks"]));
    plan.producer.acks = acks;
    constexpr std::int64_t kMost = std::numeric_limits<std::int32_t>::max();
    const auto linger = options.integer("timeout", 0, kMost);
    const auto batch =
        options.integer(options.has("max-partition-memory-bytes") ? "max-partition-memory-bytes" : "batch-size", 0, kMost);
    const auto block = options.integer("max-block-ms", 0, kMost);
    const auto backoff = options.integer("retry-backoff-ms", 0, kMost);
    const auto request = options.integer("request-timeout-ms", 1, kMost);
    for (const auto* number : {&linger, &batch, &block, &backoff, &request}) {
        if (!*number) {
            return refused(number->error());
        }
    }
    plan.linger_ms = **linger;
    plan.producer.batch_bytes = static_cast<std::size_t>(**batch);
    if (!properties.contains("request.timeout.ms") || options.has("request-timeout-ms")) {
        properties["request.timeout.ms"] = std::to_string(**request);
    }
    properties["default.api.timeout.ms"] = std::to_string(std::max(**block, **request));
    properties["retry.backoff.ms"] = std::to_string(**backoff);
    plan.client = std::move(properties);
    return plan;
}

/// Reports which records were lost, as Kafka's tool does, and goes on.
void tell_lost(const Surroundings& surroundings, const std::string& topic, const client::Failure& failure) {
    surroundings.log("ERROR", "Error when sending message to topic " + topic + " with error: " + java_text(failure),
                     "org.apache.kafka.clients.producer.internals.ErrorLoggingCallback");
}

Outcome<int> run_produce(const Options& options, const Surroundings& surroundings) {
    if (!client::parse_bootstrap(options.value("bootstrap-server"))) {
        return usage(options.has("bootstrap-server") ? "Please provide valid host:port like host1:9091,host2:9092\n"
                                                     : "Error while validating the bootstrap address\n");
    }
    PARTITA_TRY(check_former_names(options, surroundings, kFormerNames, {.now_first = true, .warning = "Warning: --"}));
    if (options.has("max-partition-memory-bytes") && surroundings.is_kafkas_name) {
        surroundings.print(
            "Warning: --max-partition-memory-bytes is deprecated and will be removed in Apache Kafka 5.0. Use --batch-size "
            "instead.\n");
    }
    PARTITA_TRY(check_line_reader(options, surroundings));
    PARTITA_TRY_ASSIGN(auto plan, make_plan(options));
    PARTITA_TRY_ASSIGN(const auto read_by, reader_properties(options));
    PARTITA_TRY_ASSIGN(const auto encoder, make_encoder(options, read_by, plan.client, surroundings));
    PARTITA_TRY_ASSIGN(auto reader, make_reader(options, read_by, encoder ? encoder->members() : JsonMembers{}));
    PARTITA_TRY_ASSIGN(const auto common, parse_common(options));
    PARTITA_TRY_ASSIGN(auto cluster, open_cluster(std::move(plan.client), surroundings));
    const std::string topic = options.value("topic");
    client::Producer producer(cluster, topic, plan.producer);
    bool is_open = false;
    LineSource lines(::fileno(surroundings.in));
    const bool is_prompting = ::isatty(::fileno(surroundings.in)) == 1;
    bool has_lost = false;
    Progress progress(surroundings, surroundings.in);
    std::uint64_t bytes = 0;
    const auto note = [&](const client::Result<void>& sent) {
        if (sent) {
            return;
        }
        has_lost = true;
        progress.clear();
        tell_lost(surroundings, topic, sent.error());
    };
    std::string line;
    for (std::int64_t number = 1;; ++number) {
        if (is_prompting) {
            surroundings.print(">");
        }
        std::fflush(surroundings.out);
        auto got = lines.next(line, producer.is_empty() ? -1 : plan.linger_ms);
        if (got && *got == LineSource::Got::nothing) {
            note(producer.flush());
            got = lines.next(line, -1);
        }
        if (!got || *got == LineSource::Got::end) {
            note(producer.flush());
            PARTITA_TRY(got);
            break;
        }
        auto record = reader->read(line, number);
        if (record && encoder) {
            if (auto encoded = encoder->encode(*record, number); !encoded) {
                record = std::unexpected(std::move(encoded.error()));
            }
        }
        if (!record) {
            note(producer.flush());
            return failed("org.apache.kafka.common.KafkaException: " + record.error());
        }
        common.apply(*record);
        bytes += line.size();
        progress.show(number, bytes);
        if (!is_open) {
            if (auto opened = producer.open(); !opened) {
                if (plan.is_sync) {
                    return failed(java_text(opened.error()));
                }
                note(opened);
                break;
            }
            is_open = true;
        }
        note(producer.append(std::move(*record)));
        if (plan.is_sync) {
            note(producer.flush());
        }
        if (plan.is_sync && has_lost) {
            return 1;
        }
    }
    // Kafka's tool exits with 0 even if records were lost; under our own name the exit code shows the loss.
    return has_lost && !surroundings.is_kafkas_name ? 1 : 0;
}

}  // namespace

const Tool kProduceTool{.name = "produce",
                        .kafka_name = "kafka-console-producer",
                        .summary = "write lines of the input to a topic",
                        .purpose = "This tool helps to read data from standard input and publish it to Kafka.",
                        .options = kProduceOptions,
                        .rules = kProduceRules,
                        .run = run_produce};

}  // namespace partita::tools
