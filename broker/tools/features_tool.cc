// kafka-features: shows and changes the feature levels of a cluster.

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <string>

#include "broker/client/quorum.h"
#include "broker/tools/text.h"
#include "broker/tools/tools.h"
#include "protocol/try.h"

namespace partita::tools {
namespace {

constexpr Option kFeaturesOptions[] = {
    kBootstrapServer,
    {"bootstrap-controller", "HOST:PORT,...", "not served: ask a broker"},
    kCommandConfig,
    {"help", "", "print this help", {}, "h"},
    {"node-id", "id", "with describe: ask this broker"},
    repeatable({"feature", "name=level",
                "with upgrade and downgrade: set the feature to a level; with disable: name the feature; repeatable"}),
    {"release-version", "version", "instead of --feature: set the levels of a release, as version-mapping shows them"},
    {"metadata", "version", "old way to set the level of metadata.version: 3.3-IV3"},
    {"unsafe", "", "with downgrade and disable: continue even if metadata may be lost"},
    {"dry-run", "", "check the change without making it"},
};

constexpr std::string_view kMetadata = "metadata.version";

/// Kafka's names of the levels of metadata.version, from kFirstLevel on, as far as the tool of 4.3.1 knows them.
constexpr std::int16_t kFirstLevel = 7;
constexpr std::array<std::string_view, 25> kMetadataVersions{
    "3.3-IV3", "3.4-IV0", "3.5-IV0", "3.5-IV1", "3.5-IV2", "3.6-IV0", "3.6-IV1", "3.6-IV2", "3.7-IV0",
    "3.7-IV1", "3.7-IV2", "3.7-IV3", "3.7-IV4", "3.8-IV0", "3.9-IV0", "4.0-IV0", "4.0-IV1", "4.0-IV2",
    "4.0-IV3", "4.1-IV0", "4.1-IV1", "4.2-IV0", "4.2-IV1", "4.3-IV0", "4.4-IV0"};
constexpr std::string_view kLatestRelease = "4.3-IV0";

/// The level of metadata.version from which a new cluster has a feature at a level; the later line wins.
struct Beginning {
    std::string_view feature;
    std::int16_t level;
    std::int16_t since;
};
constexpr std::array<Beginning, 6> kBeginnings{{{"kraft.version", 1, 21},
                                                {"transaction.version", 2, 24},
                                                {"group.version", 1, 22},
                                                {"eligible.leader.replicas.version", 1, 26},
                                                {"share.version", 1, 28},
                                                {"streams.version", 1, 29}}};

std::string shown_level(std::string_view feature, std::int16_t level) {
    if (feature != kMetadata) {
        return std::to_string(level);
    }
    const auto at = static_cast<std::size_t>(level - kFirstLevel);
    if (level < kFirstLevel || at >= kMetadataVersions.size()) {
        return "UNKNOWN [" + std::to_string(level) + "]";
    }
    return std::string(kMetadataVersions[at]);
}

/// Accepts "4.0-IV3", or "4.0" for the last level of that release.
Outcome<std::int16_t> metadata_level(const std::string& version) {
    std::optional<std::size_t> found;
    for (std::size_t i = 0; i < kMetadataVersions.size(); ++i) {
        if (kMetadataVersions[i] == version || kMetadataVersions[i].substr(0, kMetadataVersions[i].find('-')) == version) {
            found = i;
        }
    }
    if (found) {
        return static_cast<std::int16_t>(kFirstLevel + static_cast<std::int16_t>(*found));
    }
    const std::vector<std::string> all(kMetadataVersions.begin(), kMetadataVersions.end());
    return refused("Unknown metadata.version '" + version + "'. Supported metadata.version are: " + joined(all, ", "));
}

std::int16_t level_in(const Beginning& beginning, std::int16_t metadata) {
    return metadata >= beginning.since ? beginning.level : std::int16_t{0};
}

Outcome<std::pair<std::string, std::int16_t>> name_and_level(const std::string& text) {
    const std::size_t equals = text.find('=');
    if (equals == std::string::npos) {
        return refused("Can't parse feature=level string " + text + ": equals sign not found.");
    }
    const std::string level = trimmed(text.substr(equals + 1));
    const auto number = parse_integer(level);
    using Limits = std::numeric_limits<std::int16_t>;
    if (!number || *number < Limits::min() || *number > Limits::max()) {
        return refused("Can't parse feature=level string " + text + ": unable to parse " + level + " as a short.");
    }
    return std::pair(trimmed(text.substr(0, equals)), static_cast<std::int16_t>(*number));
}

Outcome<int> describe(client::Cluster& cluster, const Options& options, const Surroundings& surroundings) {
    const auto node = options.integer("node-id");
    if (!node) {
        return usage(node.error());
    }
    const auto features = client::describe_features(cluster, *node);
    if (!features) {
        return failed(java_text(features.error()));
    }
    for (const auto& feature : features->levels) {
        const auto column = [](const std::string& text) { return padded(text, 15) + "  "; };
        surroundings.print("Feature: " + padded(feature.name, 40) +
                           "  SupportedMinVersion: " + column(shown_level(feature.name, feature.least)) +
                           "SupportedMaxVersion: " + column(shown_level(feature.name, feature.most)) +
                           "FinalizedVersionLevel: " + column(shown_level(feature.name, feature.finalized)) +
                           "Epoch: " + (features->epoch < 0 ? "-" : std::to_string(features->epoch)) + "\n");
    }
    return 0;
}

Outcome<int> show_mapping(const Options& options, const Surroundings& surroundings) {
    const std::string version = options.find("release-version").value_or(std::string(kLatestRelease));
    PARTITA_TRY_ASSIGN(const auto level, metadata_level(version));
    surroundings.print("metadata.version=" + std::to_string(level) + " (" + version + ")\n");
    for (const Beginning& beginning : kBeginnings) {
        surroundings.print(std::string(beginning.feature) + "=" + std::to_string(level_in(beginning, level)) + "\n");
    }
    return 0;
}

Outcome<int> show_dependencies(const Options& options, const Surroundings& surroundings) {
    const auto words = options.values("feature");
    if (words.empty()) {
        return usage("argument --feature is required");
    }
    for (const std::string& word : words) {
        PARTITA_TRY_ASSIGN(const auto wanted, name_and_level(word));
        const auto& [name, level] = wanted;
        std::string shown = name + "=" + std::to_string(level);
        if (name == kMetadata) {
            const std::string version = shown_level(name, level);
            if (version.starts_with("UNKNOWN")) {
                return refused("No metadata.version with feature level " + std::to_string(level));
            }
            shown += " (" + version + ")";
        } else {
            const auto* known = std::ranges::find(kBeginnings, name, &Beginning::feature);
            if (known == kBeginnings.end()) {
                return refused("Unknown feature: " + name);
            }
            if (level < 0 || level > known->level) {
                return refused("No feature:" + name + " with feature level " + std::to_string(level));
            }
        }
        surroundings.print(shown + " has no dependencies.\n");
    }
    return 0;
}

/// The levels that the line requests.
Outcome<std::map<std::string, std::int16_t>> wanted_levels(const std::string& action, const Options& options,
                                                           const Surroundings& surroundings) {
    std::map<std::string, std::int16_t> levels;
    const auto add = [&](const std::string& name, std::int16_t level) -> Outcome<void> {
        if (!levels.emplace(name, level).second) {
            return refused("Feature " + name + " was specified more than once.");
        }
        return {};
    };
    if (const auto version = options.find("release-version")) {
        if (options.has("metadata") || options.has("feature")) {
            return refused("Can not specify `release-version` with other feature flags.");
        }
        PARTITA_TRY_ASSIGN(const auto level, metadata_level(*version));
        levels.emplace(kMetadata, level);
        // An upgrade skips features that the release does not have yet.
        for (const Beginning& beginning : kBeginnings) {
            const std::int16_t wanted = level_in(beginning, level);
            if (wanted > 0 || action != "upgrade") {
                levels.emplace(beginning.feature, wanted);
            }
        }
        return levels;
    }
    if (const auto version = options.find("metadata")) {
        surroundings.print(" `metadata` flag is deprecated and may be removed in a future release.\n");
        PARTITA_TRY_ASSIGN(const auto level, metadata_level(*version));
        levels.emplace(kMetadata, level);
    }
    for (const std::string& word : options.values("feature")) {
        PARTITA_TRY_ASSIGN(auto wanted, action == "disable"
                                            ? Outcome<std::pair<std::string, std::int16_t>>(std::pair(word, std::int16_t{0}))
                                            : name_and_level(word));
        PARTITA_TRY(add(wanted.first, wanted.second));
    }
    if (levels.empty()) {
        return refused("You must specify at least one feature to " + action);
    }
    return levels;
}

Outcome<int> change(client::Cluster& cluster, const std::string& action, const std::map<std::string, std::int16_t>& levels,
                    const Options& options, const Surroundings& surroundings) {
    const auto type = action == "upgrade"     ? client::UpgradeType::upgrade
                      : options.has("unsafe") ? client::UpgradeType::unsafe_downgrade
                                              : client::UpgradeType::safe_downgrade;
    const bool is_dry = options.has("dry-run");
    const auto done = client::update_features(cluster, levels, type, is_dry);
    const bool disables = action == "disable";
    for (const auto& [name, level] : levels) {
        const std::string to = disables ? "" : " to " + std::to_string(level);
        if (done) {
            surroundings.print(name + (is_dry ? " can be " : " was ") + action + "d" + to + ".\n");
        } else {
            surroundings.print((is_dry ? "Can not " : "Could not ") + action + " " + name + to + ". " + done.error().message +
                               "\n");
        }
    }
    if (done) {
        return 0;
    }
    const std::string count = std::to_string(levels.size());
    return refused(count + " out of " + count + " operation(s) failed.");
}

Outcome<int> run_features(const Options& options, const Surroundings& surroundings) {
    constexpr std::string_view kActions[] = {"describe", "upgrade",         "downgrade",
                                             "disable",  "version-mapping", "feature-dependencies"};
    const std::string action = options.rest().empty() ? "" : options.rest().front();
    if (options.rest().size() != 1 || std::ranges::find(kActions, action) == std::end(kActions)) {
        return usage("use one of: describe, upgrade, downgrade, disable, version-mapping, feature-dependencies");
    }
    if (action == "version-mapping") {
        return show_mapping(options, surroundings);
    }
    if (action == "feature-dependencies") {
        return show_dependencies(options, surroundings);
    }
    if (options.has("bootstrap-controller")) {
        return refused("--bootstrap-controller is not served: give a broker's address");
    }
    if (!options.has("bootstrap-server")) {
        return usage("--bootstrap-server is required");
    }
    std::map<std::string, std::int16_t> levels;
    if (action != "describe") {
        PARTITA_TRY_ASSIGN(levels, wanted_levels(action, options, surroundings));
    }
    PARTITA_TRY_ASSIGN(auto cluster, open_cluster(options, surroundings));
    if (action == "describe") {
        return describe(cluster, options, surroundings);
    }
    return change(cluster, action, levels, options, surroundings);
}

}  // namespace

const Tool kFeaturesTool{.name = "features",
                         .kafka_name = "kafka-features",
                         .summary = "show and change feature levels",
                         .purpose =
                             "This tool manages feature flags in Kafka: describe, upgrade, downgrade, disable, "
                             "version-mapping, feature-dependencies.",
                         .options = kFeaturesOptions,
                         .repeated = Repeated::last_counts,
                         .run = run_features,
                         .words = "describe upgrade downgrade disable version-mapping feature-dependencies"};

}  // namespace partita::tools
