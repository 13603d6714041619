#include <string>
#include <vector>

#include "broker/config/broker_config.h"
#include "broker/config/properties.h"
#include "broker/http/exchange.h"
#include "storage/checkpoint_text.h"
#include "storage/leader_epochs.h"
#include "storage/partition_log_state.h"
#include "tests/fuzz/fuzz_target.h"

/// Feeds texts that people, browsers and other programs hand over: server.properties, overrides, paths of HTTP requests, the
/// small text files of a data directory.
namespace {

using namespace partita;

enum class Input : std::uint8_t { properties, override, target, checkpoint, epochs, metadata };
constexpr std::uint8_t kInputs = 6;

void check_config(const config::ConfigInputs& inputs) {
    const auto loaded = config::load_broker_config(inputs);
    if (!loaded) {
        FUZZ_CHECK(!loaded.error().message.empty());
        return;
    }
    FUZZ_CHECK(!loaded->config.log_dirs.empty() && !loaded->config.listeners.listeners.empty());
}

void check_target(std::string_view text) {
    const std::size_t line = std::min(text.find('\n'), text.size());
    (void)http::is_of_foreign_page(text.substr(line), text.substr(0, line));
    const auto request = http::parse_target(text);
    if (!request) {
        return;
    }
    std::size_t bytes = 0;
    for (const std::string& part : request->path) {
        bytes += part.size();
    }
    for (const auto& [name, value] : request->query) {
        bytes += name.size() + value.size();
    }
    FUZZ_CHECK(bytes <= text.size());
}

std::vector<std::byte> seed(Input input, std::string_view text) {
    std::vector<std::byte> bytes{static_cast<std::byte>(input)};
    for (const char c : text) {
        bytes.push_back(static_cast<std::byte>(c));
    }
    return bytes;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size == 0) {
        return 0;
    }
    const std::string text(reinterpret_cast<const char*>(data) + 1, size - 1);
    switch (static_cast<Input>(data[0] % kInputs)) {
        case Input::properties:
            check_config({.properties = text, .environment = {}, .overrides = {}});
            break;
        case Input::override:
            check_config({.properties = {}, .environment = {"KAFKA_" + text}, .overrides = {text}});
            break;
        case Input::target:
            check_target(text);
            break;
        case Input::checkpoint:
            if (const auto checkpoint = parse_offset_checkpoint(text)) {
                FUZZ_CHECK(parse_offset_checkpoint(to_text(*checkpoint)) == checkpoint);
            }
            break;
        case Input::epochs:
            if (const auto epochs = LeaderEpochs::parse(text)) {
                FUZZ_CHECK(LeaderEpochs::parse(epochs->to_text())->entries() == epochs->entries());
            }
            break;
        case Input::metadata:
            if (const auto id = parse_partition_metadata(text)) {
                FUZZ_CHECK(parse_partition_metadata(partition_metadata_text(*id)) == id);
            }
            break;
    }
    return 0;
}

std::vector<std::vector<std::byte>> fuzz_seeds() {
    return {
        seed(Input::properties,
             "# x\nlisteners=PLAINTEXT://:9092,INSIDE://[::1]:19092\n"
             "listener.security.protocol.map=PLAINTEXT:PLAINTEXT,INSIDE:PLAINTEXT\n"
             "advertised.listeners=PLAINTEXT://h:9092,INSIDE://h:1\nlog.dirs=/tmp/a,\\\n /tmp/b\n"
             "num.partitions : 3\nmax.connections.per.ip.overrides=127.0.0.1:5\nk\\u0041\\tx = v\\\\\n"),
        seed(Input::properties,
             "log.retention.hours=168\nlog.cleaner.delete.retention.ms=1\ncompression.type=zstd\n"
             "log.message.timestamp.type=LogAppendTime\ngroup.consumer.assignors=uniform,range\n"),
        seed(Input::override, "listeners=PLAINTEXT://localhost:0"),
        seed(Input::override, "controller.quorum.voters=1@localhost:9093"),
        seed(Input::target, "/v1/topics/a%2Fb/expansion?to=12&partitioner=java%2B&keys"),
        seed(Input::target, "localhost:8092\nhttp://[::1]:3000"),
        seed(Input::checkpoint, "0\n2\na 0 5\nb-c 12 7\n"),
        seed(Input::epochs, "0\n2\n1 0\n4 10\n"),
        seed(Input::metadata, "version: 0\ntopic_id: OB4qqEFMQCmc8CLPf8hLtw\n"),
    };
}
