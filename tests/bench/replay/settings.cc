#include "tests/bench/replay/settings.h"

#include <cstdio>
#include <cstdlib>
#include <functional>
#include <map>
#include <type_traits>

namespace partita::bench {

void give_up(const std::string& message) {
    std::fprintf(stderr, "replay_client: %s\n", message.c_str());
    std::exit(1);
}

Settings parse_settings(int count, char** values) {
    if (count < 2) {
        give_up("a mode is missing");
    }
    Settings settings{.mode = values[1]};
    const auto number = [](auto& field) {
        return [&field](const std::string& text) {
            char* end = nullptr;
            const double value = std::strtod(text.c_str(), &end);
            if (text.empty() || *end != '\0' || value < 0) {
                give_up("'" + text + "' is no number");
            }
            field = static_cast<std::remove_reference_t<decltype(field)>>(value);
        };
    };
    const std::map<std::string, std::function<void(const std::string&)>> options = {
        {"--topic", [&](const std::string& text) { settings.topic = text; }},
        {"--port", number(settings.port)},
        {"--pid", number(settings.pid)},
        {"--partitions", number(settings.partitions)},
        {"--batches-per-request", number(settings.batches_per_request)},
        {"--in-flight", number(settings.in_flight)},
        {"--connections", number(settings.connections)},
        {"--groups", number(settings.groups)},
        {"--members", number(settings.members)},
        {"--rounds", number(settings.rounds)},
        {"--record-bytes", number(settings.record_bytes)},
        {"--batch-bytes", number(settings.batch_bytes)},
        {"--fetch-bytes", number(settings.fetch_bytes)},
        {"--megabytes", number(settings.megabytes)},
        {"--requests", number(settings.requests)},
        {"--transaction-bytes", number(settings.transaction_bytes)},
        {"--touch-megabytes", number(settings.touch_megabytes)},
        {"--rate", number(settings.rate_per_s)},
        {"--seconds", number(settings.seconds)},
        {"--warmup-seconds", number(settings.warmup_seconds)},
    };
    const std::map<std::string, bool*> flags = {{"--keyed", &settings.keyed},
                                                {"--idempotent", &settings.idempotent},
                                                {"--transactional", &settings.transactional},
                                                {"--transaction-rhythm", &settings.transaction_rhythm},
                                                {"--read-committed", &settings.read_committed},
                                                {"--bursts", &settings.bursts}};
    for (int i = 2; i < count; ++i) {
        const std::string name = values[i];
        if (const auto flag = flags.find(name); flag != flags.end()) {
            *flag->second = true;
            continue;
        }
        const auto option = options.find(name);
        if (option == options.end()) {
            give_up("unknown option " + name);
        }
        if (++i == count) {
            give_up(name + " needs a value");
        }
        option->second(values[i]);
    }
    if (settings.partitions < 1 || settings.connections < 1 || settings.in_flight < 1 || settings.batches_per_request < 1 ||
        settings.batches_per_request > settings.partitions) {
        give_up("counts must be at least 1, and a request has at most one batch for a partition");
    }
    return settings;
}

}  // namespace partita::bench
