#pragma once

#include <cstdint>
#include <cstdlib>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "broker/catalog/catalog_core.h"
#include "tests/support/declared_settings.h"

namespace partita::catalog {

inline CatalogError error(ErrorCode code, std::string message) { return {code, std::move(message)}; }

/// A small stand-in for the real config definitions.
class TestConfigRules final : public ConfigRules {
  public:
    CatalogError validate(const ConfigResource& resource, const ConfigMap& overrides, const ConfigMap&) const override {
        for (const auto& [name, value] : overrides) {
            if (!kKnown.contains(name)) {
                return {ErrorCode::invalid_config, "Unknown " + kind(resource.type) + " config name: " + name};
            }
            if (value == "bad") {
                return {ErrorCode::invalid_config, "Invalid value bad for configuration " + name};
            }
        }
        return {};
    }
    bool is_list(ConfigResourceType, std::string_view name) const override { return name == "cleanup.policy"; }
    std::optional<std::string> default_value(ConfigResourceType, std::string_view name) const override {
        if (name == "cleanup.policy") {
            return "delete";
        }
        return std::nullopt;
    }

  private:
    static std::string kind(ConfigResourceType type) { return type == ConfigResourceType::topic ? "topic" : "other"; }
    inline static const std::set<std::string, std::less<>> kKnown{"cleanup.policy",      "compression.type",
                                                                  "min.insync.replicas", "retention.ms",
                                                                  "segment.bytes",       "unclean.leader.election.enable"};
};

/// Deterministic ids that pass for random ones.
class TestTopicIds {
  public:
    explicit TestTopicIds(std::uint64_t first = 1) : next_(first) {}
    TopicId operator()() {
        TopicId id;
        for (std::size_t byte = 0; byte < 8; ++byte) {
            id.bytes[8 + byte] = static_cast<std::uint8_t>(next_ >> (56 - 8 * byte));
        }
        id.bytes[0] = 0x10;
        ++next_;
        return id;
    }

  private:
    std::uint64_t next_;
};

/// Does the work of a shell, with a map for the log.
class TestCatalog {
  public:
    TestCatalog() { restart(); }

    /// Makes a new core from the persisted records.
    void restart() {
        core_ = std::make_unique<CatalogCore>(rules_);
        for (const auto& [key, value] : persisted) {
            const auto replayed = core_->replay(as_bytes(key), as_bytes(value));
            must(replayed.has_value());
        }
        must(core_->finish_replay().has_value());
    }

    void persist(const std::vector<Record>& records) {
        for (const Record& record : records) {
            if (record.value) {
                persisted.insert_or_assign(record.key, *record.value);
            } else {
                persisted.erase(record.key);
            }
        }
    }

    template <class Command>
    [[nodiscard]] Decision<Command> decide(const Command& command) {
        return core_->decide(command, context());
    }
    template <class Command>
    typename Command::Result carry_out(const Command& command) {
        return carry_out(decide(command));
    }
    template <class Command>
    typename Command::Result carry_out(Decision<Command> decision) {
        persist(decision.effects.records);
        core_->commit(decision.effects);
        last_effects = std::move(decision.effects);
        return std::move(decision.result);
    }

    [[nodiscard]] CatalogContext context() {
        return {.now = {Instant{time_ms}, TimestampMs{time_ms}},
                .settings = settings,
                .next_topic_id = [this] { return ids_(); },
                .log_end_offsets = [this](const Topic& topic) { return ends[topic.name]; }};
    }

    CatalogError create(std::string_view name, std::int32_t partitions = -1, std::int16_t replicas = -1,
                        std::vector<NamedConfig> configs = {}) {
        CreateTopics command;
        command.topics.push_back({name, partitions, replicas, {}, std::move(configs)});
        return carry_out(command).topics.at(0).error;
    }
    CatalogError expand(std::string_view name, std::int32_t count) {
        CreatePartitions command;
        command.topics.push_back({name, count, std::nullopt});
        return carry_out(command).topics.at(0).error;
    }

    [[nodiscard]] CatalogCore& core() { return *core_; }
    [[nodiscard]] const CatalogSnapshot& catalog() const { return *core_->snapshot(); }

    CatalogSettings settings = declared_catalog_settings();
    std::int64_t time_ms = 1000;
    std::map<std::string, std::vector<Offset>, std::less<>> ends;
    std::map<std::string, std::string> persisted;
    Effects last_effects;

  private:
    static void must(bool condition) {
        if (!condition) {
            std::abort();
        }
    }

    TestConfigRules rules_;
    TestTopicIds ids_;
    std::unique_ptr<CatalogCore> core_;
};

}  // namespace partita::catalog
