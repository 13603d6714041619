// kafka-producer-perf-test: writes records and shows how fast that went.

#include <algorithm>
#include <filesystem>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "broker/client/pipelined_producer.h"
#include "broker/tools/argparse_line.h"
#include "broker/tools/java_random.h"
#include "broker/tools/measurement.h"
#include "broker/tools/pipeline_settings.h"
#include "broker/tools/text.h"
#include "broker/tools/tools.h"
#include "broker/tools/write_statistics.h"
#include "protocol/random_bytes.h"
#include "protocol/try.h"

namespace partita::tools {
namespace {

constexpr Option kPerfProduceOptions[] = {
    kBootstrapServer,
    kHelp,
    {"topic", "topic", "write to this topic"},
    {"num-records", "count", "write this many records", {}, {}, false, true},
    {"record-size", "bytes", "write records of this size, in bytes", {}, {}, false, true},
    {"payload-file", "file", "write values from this file, chosen at random"},
    {"payload-monotonic", "", "write the numbers from 0 on"},
    {"payload-delimiter", "text", "with --payload-file: split values at this text; default: the end of a line"},
    {"throughput", "rate", "write about this many records per second; -1: as many as possible", {}, {}, false, true},
    repeatable({"command-property", "key=value ...", "set these properties of the producer"}),
    repeatable({"producer-props", "key=value ...", "old name of --command-property"}),
    kCommandConfig,
    {"producer.config", "file", "old name of --command-config"},
    {"print-metrics", "", "print some of the producer's metrics at the end"},
    {"transactional-id", "id", "write in transactions, with this id"},
    {"transaction-duration-ms", "ms", "write in transactions of this length, in ms; default: 3000", {}, {}, false, true},
    {"warmup-records", "count", "also report separately on the records after this many", "0", {}, false, true},
    {"reporting-interval", "ms", "print a line in each interval of this length, in ms", "5000", {}, false, true},
};

/// In the order of Kafka's tool, which names the last of several missing options.
constexpr ArgparseOption kPerfProduceLine[] = {
    {.name = "bootstrap-server"},
    {.name = "topic", .is_required = true},
    {.name = "num-records", .kind = ArgumentKind::int64, .is_required = true},
    {.name = "record-size", .kind = ArgumentKind::int32, .is_alternative = true},
    {.name = "payload-file", .is_alternative = true},
    {.name = "payload-monotonic", .kind = ArgumentKind::none, .is_alternative = true},
    {.name = "payload-delimiter"},
    {.name = "throughput", .kind = ArgumentKind::real, .is_required = true},
    {.name = "producer-props", .kind = ArgumentKind::list},
    {.name = "command-property", .kind = ArgumentKind::list},
    {.name = "producer.config"},
    {.name = "command-config"},
    {.name = "print-metrics", .kind = ArgumentKind::none},
    {.name = "transactional-id"},
    {.name = "transaction-duration-ms", .kind = ArgumentKind::int64},
    {.name = "warmup-records", .kind = ArgumentKind::int64},
    {.name = "reporting-interval", .kind = ArgumentKind::int64},
};

constexpr std::string_view kUsageSummary =
    R"(usage: kafka-producer-perf-test
       [-h] [--bootstrap-server BOOTSTRAP-SERVER] --topic TOPIC
       --num-records NUM-RECORDS [--payload-delimiter PAYLOAD-DELIMITER]
       --throughput THROUGHPUT
       [--producer-props PROP-NAME=PROP-VALUE [PROP-NAME=PROP-VALUE ...]]
       [--command-property PROP-NAME=PROP-VALUE [PROP-NAME=PROP-VALUE ...]]
       [--producer.config CONFIG-FILE] [--command-config CONFIG-FILE]
       [--print-metrics] [--transactional-id TRANSACTIONAL-ID]
       [--transaction-duration-ms TRANSACTION-DURATION]
       [--warmup-records WARMUP-RECORDS] [--reporting-interval INTERVAL-MS]
       (--record-size RECORD-SIZE | --payload-file PAYLOAD-FILE |
       --payload-monotonic)
)";

std::expected<std::vector<std::string>, std::string> read_perf_produce_line(std::span<const std::string> words) {
    return read_argparse_line(kPerfProduceLine, words);
}

/// A number that `read_argparse_line` has checked.
std::int64_t checked_number(const Options& options, std::string_view name) {
    return parse_integer(options.value(name)).value_or(0);
}

Outcome<void> check_perf_produce_line(const Options& options) {
    const std::int64_t records = checked_number(options, "num-records");
    if (records <= 0) {
        return usage("--num-records should be greater than zero.");
    }
    if (std::max<std::int64_t>(0, checked_number(options, "warmup-records")) >= records) {
        return usage(
            "The value for --warmup-records must be strictly fewer than the number of records in the test, --num-records.");
    }
    if (options.has("record-size") && checked_number(options, "record-size") <= 0) {
        return usage("--record-size should be greater than zero.");
    }
    const std::string_view sources[] = {"bootstrap-server", "command-property", "producer-props", "producer.config",
                                        "command-config"};
    if (std::ranges::none_of(sources, [&](std::string_view name) { return options.has(name); })) {
        return usage(
            "At least one of --bootstrap-server, --command-property, --producer-props, --producer.config or --command-config "
            "must be "
            "specified.");
    }
    if (options.has("command-property") && options.has("producer-props")) {
        return usage("--command-property and --producer-props cannot be specified together.");
    }
    if (options.has("command-config") && options.has("producer.config")) {
        return usage("--command-config and --producer.config cannot be specified together.");
    }
    if (options.has("transaction-duration-ms") && checked_number(options, "transaction-duration-ms") <= 0) {
        return usage("--transaction-duration-ms should be greater than zero.");
    }
    if (checked_number(options, "reporting-interval") <= 0) {
        return usage("--reporting-interval should be greater than zero.");
    }
    return {};
}

/// The text between delimiters, as java.util.Scanner finds it: it skips one delimiter before each value.
std::vector<std::string> values_between(std::string_view text, std::string_view delimiter) {
    std::vector<std::string> values;
    while (true) {
        if (text.starts_with(delimiter)) {
            text.remove_prefix(delimiter.size());
        }
        if (text.empty()) {
            return values;
        }
        const std::size_t end = std::min(text.find(delimiter), text.size());
        values.emplace_back(text.substr(0, end));
        text.remove_prefix(end);
    }
}

/// Kafka's tool takes a regular expression; this is the text that it matches, if it matches only one.
Outcome<std::string> delimiter_of(const Options& options) {
    const std::string pattern = options.has("payload-delimiter") ? options.value("payload-delimiter") : "\\n";
    std::string text;
    for (std::size_t i = 0; i < pattern.size(); ++i) {
        constexpr std::string_view kSpecial = ".[]{}()*+?^$|";
        constexpr std::string_view kEscapes = "nrt";
        constexpr std::string_view kMeanings = "\n\r\t";
        const char next = i + 1 < pattern.size() ? pattern[i + 1] : '\0';
        if (pattern[i] == '\\' && kEscapes.find(next) != std::string_view::npos) {
            text += kMeanings[kEscapes.find(next)];
            ++i;
        } else if (pattern[i] == '\\' && (next == '\\' || kSpecial.find(next) != std::string_view::npos)) {
            text += next;
            ++i;
        } else if (pattern[i] == '\\' || kSpecial.find(pattern[i]) != std::string_view::npos) {
            return refused("--payload-delimiter is " + pattern + ": regular expressions are not served; put \\ before " +
                           pattern.substr(i, 1));
        } else {
            text += pattern[i];
        }
    }
    if (text.empty()) {
        return refused("--payload-delimiter is empty");
    }
    return text;
}

/// The values of --payload-file; empty without it.
Outcome<std::vector<std::string>> read_payloads(const Options& options, const Surroundings& surroundings) {
    const auto path = options.find("payload-file");
    if (!path) {
        return {};
    }
    std::error_code error;
    surroundings.print("Reading payloads from: " + std::filesystem::absolute(*path, error).string() + "\n");
    const auto text = read_file(*path);
    if (!text && std::filesystem::exists(*path, error)) {
        return std::unexpected(text.error());
    }
    if (!text || text->empty()) {
        return refused("File does not exist or empty file provided.");
    }
    PARTITA_TRY_ASSIGN(const auto delimiter, delimiter_of(options));
    auto payloads = values_between(*text, delimiter);
    surroundings.print("Number of records read: " + std::to_string(payloads.size()) + "\n");
    if (payloads.empty()) {
        return refused("no payload File Path or record Size or payload-monotonic option provided");
    }
    return payloads;
}

Outcome<Properties> producer_properties(const Options& options, const Surroundings& surroundings) {
    const bool has_former_properties = options.has("producer-props");
    if (has_former_properties) {
        surroundings.print(
            "Option --producer-props has been deprecated and will be removed in a future version. Use --command-property "
            "instead.\n");
    }
    if (options.has("producer.config")) {
        surroundings.print(
            "Option --producer.config has been deprecated and will be removed in a future version. Use --command-config "
            "instead.\n");
    }
    Properties properties;
    for (const char* name : {"producer.config", "command-config"}) {
        if (const auto path = options.find(name)) {
            PARTITA_TRY_ASSIGN(properties, read_properties(*path));
        }
    }
    for (const std::string& word : options.values(has_former_properties ? "producer-props" : "command-property")) {
        const std::size_t equals = word.find('=');
        // Java's split drops empty parts at the end.
        const std::string value = equals == std::string::npos ? "" : word.substr(equals + 1);
        if (value.empty() || value.find('=') != std::string::npos) {
            return refused("Invalid property: " + word);
        }
        properties[word.substr(0, equals)] = value;
    }
    properties.try_emplace("client.id", "perf-producer-client");
    if (options.is_written("bootstrap-server")) {
        properties["bootstrap.servers"] = options.value("bootstrap-server");
    } else if (options.has("bootstrap-server")) {
        // The default of `partita COMMAND`.
        properties.try_emplace("bootstrap.servers", options.value("bootstrap-server"));
    }
    const bool is_transactional =
        options.has("transaction-duration-ms") || options.has("transactional-id") || properties.contains("transactional.id");
    if (is_transactional) {
        const std::string chosen = "performance-producer-" + random_value<Uuid>().to_string();
        properties.try_emplace("transactional.id", chosen);
        if (const auto id = options.find("transactional-id")) {
            properties["transactional.id"] = *id;
        }
    }
    if (!properties.contains("bootstrap.servers")) {
        return refused("Missing required configuration \"bootstrap.servers\" which has no default value.");
    }
    return properties;
}

/// The values to write, one after the other, as Kafka's tool makes them.
class Payloads {
  public:
    Payloads(std::vector<std::string> values, std::size_t record_bytes) : values_(std::move(values)), text_(record_bytes, '\0') {}

    /// Valid until the next call.
    [[nodiscard]] std::string_view next(std::int64_t number) {
        if (!values_.empty()) {
            return values_[static_cast<std::size_t>(random_.below(static_cast<std::int32_t>(values_.size())))];
        }
        if (text_.empty() || is_monotonic_) {
            is_monotonic_ = true;
            text_ = std::to_string(number);
            return text_;
        }
        for (char& letter : text_) {
            constexpr std::int32_t kLetters = 26;
            letter = static_cast<char>('A' + random_.below(kLetters));
        }
        return text_;
    }

  private:
    std::vector<std::string> values_;
    std::string text_;
    bool is_monotonic_ = false;
    SplittableRandom random_{0};
};

/// Says when the next record is due, as Kafka's ThroughputThrottler.
class Throttle {
  public:
    Throttle(double rate, std::int64_t start_ms) : rate_(rate), start_ms_(start_ms) {}

    /// How long to wait behind this many records, in ms; 0: not at all.
    [[nodiscard]] std::int64_t wait_ms(std::int64_t records, std::int64_t now_ms) {
        const double seconds = static_cast<double>(now_ms - start_ms_) / 1000.0;
        if (rate_ < 0 || seconds <= 0 || static_cast<double>(records) / seconds <= rate_) {
            return 0;
        }
        if (rate_ == 0) {
            return std::numeric_limits<std::int32_t>::max();
        }
        // Shorter waits than 2 ms are collected.
        constexpr double kLeastMs = 2.0;
        debt_ms_ += 1000.0 / rate_;
        if (debt_ms_ < kLeastMs) {
            return 0;
        }
        const auto whole_ms = static_cast<std::int64_t>(debt_ms_);
        debt_ms_ -= static_cast<double>(whole_ms);
        return whole_ms;
    }

  private:
    const double rate_;
    const std::int64_t start_ms_;
    double debt_ms_ = 0;
};

/// One run of the tool.
class WriteTest {
  public:
    WriteTest(const Options& options, const Surroundings& surroundings, client::Cluster& cluster,
              const client::PipelineSettings& settings, std::string client_id)
        : options_(options),
          client_id_(std::move(client_id)),
          surroundings_(surroundings),
          count_(checked_number(options, "num-records")),
          warmup_(std::max<std::int64_t>(0, checked_number(options, "warmup-records"))),
          interval_ms_(checked_number(options, "reporting-interval")),
          is_transactional_(!settings.transactional_id.empty()),
          all_(count_, interval_ms_, false, now_ms()),
          producer_(cluster, options.value("topic"), settings,
                    [this](std::span<const client::PipelinedProducer::Record> records, const client::Failure* failure) {
                        settle(records, failure);
                    }) {}

    [[nodiscard]] Outcome<int> run(Payloads payloads);

  private:
    [[nodiscard]] std::int64_t now_ms() const { return surroundings_.network.clock().now().wall.value; }

    void settle(std::span<const client::PipelinedProducer::Record> records, const client::Failure* failure);
    void lose(const client::Failure& failure) {
        ++lost_;
        surroundings_.complain(java_text(failure));
    }
    void write(std::string_view value, std::int64_t number);
    void print_results();

    const Options& options_;
    const std::string client_id_;
    const Surroundings& surroundings_;
    const std::int64_t count_;
    const std::int64_t warmup_;
    const std::int64_t interval_ms_;
    const bool is_transactional_;
    WriteStatistics all_;
    std::optional<WriteStatistics> steady_;
    std::int64_t lost_ = 0;
    client::PipelinedProducer producer_;
    bool is_open_ = false;
};

void WriteTest::settle(std::span<const client::PipelinedProducer::Record> records, const client::Failure* failure) {
    const std::int64_t now = now_ms();
    std::string text;
    for (const auto& record : records) {
        if (failure != nullptr) {
            lose(*failure);
            continue;
        }
        const std::int64_t latency_ms = now - record.appended_ms;
        const auto bytes = static_cast<std::int64_t>(record.bytes);
        text += all_.add(latency_ms, bytes, now);
        if (steady_ && record.number >= warmup_) {
            text += steady_->add(latency_ms, bytes, now);
        }
    }
    if (!text.empty()) {
        surroundings_.print(text);
        std::fflush(surroundings_.out);
    }
}

void WriteTest::write(std::string_view value, std::int64_t number) {
    if (!is_open_) {
        auto opened = producer_.open();
        if (!opened) {
            using Kind = client::Failure::Kind;
            auto& failure = opened.error();
            if (failure.kind == Kind::unreachable) {
                failure = {.kind = Kind::timed_out, .message = "Topic " + options_.value("topic") + " not present in metadata."};
            }
            lose(failure);
            return;
        }
        is_open_ = true;
    }
    if (const auto taken = producer_.append(as_bytes(value), number); !taken) {
        lose(taken.error());
    }
}

void WriteTest::print_results() {
    const std::int64_t now = now_ms();
    surroundings_.print(all_.total_text(now));
    if (steady_) {
        surroundings_.print(steady_->total_text(now));
    }
    if (!options_.has("print-metrics")) {
        return;
    }
    const std::string tags = ":{client-id=" + client_id_ + "}";
    const auto count = static_cast<double>(all_.count());
    surroundings_.print(metrics_text({{"producer-metrics:record-send-total" + tags, count},
                                      {"producer-metrics:record-error-total" + tags, static_cast<double>(lost_)},
                                      {"producer-metrics:record-send-rate" + tags, count / all_.seconds(now)},
                                      {"producer-metrics:record-size-avg" + tags, static_cast<double>(all_.bytes()) / count}}));
}

Outcome<int> WriteTest::run(Payloads payloads) {
    if (warmup_ > 0) {
        surroundings_.print("Warmup first " + std::to_string(warmup_) +
                            " records. Steady state results will print after the complete test summary.\n");
    }
    constexpr std::int64_t kTransactionMs = 3'000;
    const std::int64_t transaction_ms =
        options_.has("transaction-duration-ms") ? checked_number(options_, "transaction-duration-ms") : kTransactionMs;
    Throttle throttle(parse_real(options_.value("throughput")).value_or(-1), now_ms());
    std::int64_t in_transaction = 0;
    std::int64_t transaction_start_ms = 0;
    for (std::int64_t number = 0; number < count_; ++number) {
        const std::string_view value = payloads.next(number);
        if (in_transaction == 0) {
            transaction_start_ms = now_ms();
        }
        const std::int64_t now = now_ms();
        if (warmup_ > 0 && number == warmup_) {
            steady_.emplace(count_ - warmup_, interval_ms_, true, now);
            all_.be_silent();
        }
        write(value, number);
        ++in_transaction;
        if (is_transactional_ && now - transaction_start_ms >= transaction_ms) {
            if (auto committed = producer_.commit(); !committed) {
                return failed(java_text(committed.error()));
            }
            in_transaction = 0;
        }
        if (const std::int64_t wait_ms = throttle.wait_ms(number, now); wait_ms > 0) {
            producer_.wait_until(surroundings_.network.clock().now().monotonic + wait_ms);
        }
    }
    if (is_transactional_ && in_transaction != 0) {
        if (auto committed = producer_.commit(); !committed) {
            return failed(java_text(committed.error()));
        }
    }
    producer_.flush();
    print_results();
    return 0;
}

Outcome<int> run_perf_produce(const Options& options, const Surroundings& surroundings) {
    PARTITA_TRY_ASSIGN(auto values, read_payloads(options, surroundings));
    PARTITA_TRY_ASSIGN(auto properties, producer_properties(options, surroundings));
    PARTITA_TRY_ASSIGN(const auto settings, pipeline_settings_of(properties));
    PARTITA_TRY_ASSIGN(const auto block_ms, max_block_ms_of(properties));
    // Calls other than Produce take no longer than a record may wait.
    properties["request.timeout.ms"] = std::to_string(std::min(block_ms, settings.request_timeout_ms));
    properties["default.api.timeout.ms"] = std::to_string(std::min<std::int64_t>(block_ms, INT32_MAX));
    std::string client_id = properties["client.id"];
    PARTITA_TRY_ASSIGN(auto cluster, open_cluster(std::move(properties), surroundings));
    WriteTest test(options, surroundings, cluster, settings, std::move(client_id));
    return test.run(Payloads(std::move(values), static_cast<std::size_t>(checked_number(options, "record-size"))));
}

}  // namespace

const Tool kPerfProduceTool{
    .name = "perf-produce",
    .kafka_name = "kafka-producer-perf-test",
    .summary = "write records and show how fast that goes",
    .purpose =
        "This tool is used to verify the producer performance. To enable transactions, you can specify a transactional id or "
        "set a transaction duration using --transaction-duration-ms. There are three ways to specify the transactional id: "
        "set transactional.id=<id> via --command-property, set transactional.id=<id> in the config file via "
        "--command-config, or use --transactional-id <id>.",
    .options = kPerfProduceOptions,
    .repeated = Repeated::last_counts,
    .check = check_perf_produce_line,
    .run = run_perf_produce,
    .read_line = read_perf_produce_line,
    .usage_summary = kUsageSummary};

}  // namespace partita::tools
