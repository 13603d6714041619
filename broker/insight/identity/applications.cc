#include "broker/insight/identity/applications.h"

#include <algorithm>
#include <string>

namespace partita::insight {
namespace {

std::string lower(std::string_view text) {
    std::string lowered(text);
    std::ranges::transform(lowered, lowered.begin(), [](char letter) {
        return letter >= 'A' && letter <= 'Z' ? static_cast<char>(letter - 'A' + 'a') : letter;
    });
    return lowered;
}

/// The Java client's default client.id is "consumer-<group>-<number>".
std::string_view without_consumer_prefix(std::string_view name) {
    constexpr std::string_view kPrefix = "consumer-";
    return name.starts_with(kPrefix) ? name.substr(kPrefix.size()) : name;
}

}  // namespace

std::string_view engine_with_own_offsets(std::string_view group_or_client) {
    const std::string_view name = without_consumer_prefix(group_or_client);
    if (name.starts_with("spark-kafka-source-") || name.starts_with("spark-kafka-relation-") ||
        name.starts_with("spark-executor-")) {
        return "Spark";
    }
    return name.starts_with("KafkaSource-") ? "Flink" : "";
}

std::string_view mirroring_program(std::string_view group_or_client) {
    if (group_or_client.ends_with("|replication-consumer")) {
        return "MirrorMaker 2";
    }
    const std::string name = lower(group_or_client);
    for (const std::string_view part : {"mirrormaker", "mirror-maker", "mirror_maker"}) {
        if (name.find(part) != std::string::npos) {
            return "MirrorMaker";
        }
    }
    return name.find("replicator") != std::string::npos ? "Confluent Replicator" : "";
}

bool is_mirror_topic(std::string_view topic) { return topic.starts_with("mm2-offset-syncs.") && topic.ends_with(".internal"); }

}  // namespace partita::insight
