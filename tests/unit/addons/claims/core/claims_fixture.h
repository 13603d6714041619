#pragma once

#include <gmock/gmock.h>

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "broker/addons/claims/core/claim_coordinator.h"
#include "broker/addons/claims/core/claim_record_codec.h"

namespace partita::claims {

inline const TopicId kOrders{{1}};

/// A coordinator with the log from which it can be rebuilt.
class ClaimsStore {
  public:
    Now now{Instant{5'000}, TimestampMs{1'700'000'000'000}};
    std::size_t records_of_last_call = 0;

    void pass(std::int64_t ms) {
        now.monotonic = now.monotonic + ms;
        now.wall = {now.wall.value + ms};
    }
    [[nodiscard]] const ClaimCoordinator& core() const { return *core_; }

    template <class Command>
    typename Command::Result decide(Command command) {
        command.reply_to = {7};
        ClaimsEffects effects;
        core_->decide(command, now, effects);
        persist(effects);
        EXPECT_EQ(effects.replies.size(), 1U);
        EXPECT_EQ(effects.replies.at(0).token.value, 7U);
        return std::get<typename Command::Result>(effects.replies.at(0).result);
    }
    void delete_topic(const TopicId& id) {
        ClaimsEffects effects;
        core_->topic_deleted({.name = "orders", .topic_id = id}, now, effects);
        persist(effects);
    }
    /// Starts a new process: it knows only what records say, and its monotonic clock begins anew.
    void restart() {
        core_ = std::make_unique<ClaimCoordinator>();
        now.monotonic = Instant{10};
        for (const auto& [key, value] : log_) {
            Arena arena;
            const auto bytes = [](const std::string& text) { return std::as_bytes(std::span(text.data(), text.size())); };
            const auto record =
                decode_claims_record(bytes(key), value ? std::optional<Bytes>(bytes(*value)) : std::nullopt, arena);
            ASSERT_TRUE(record.has_value());
            ASSERT_TRUE(record->has_value());
            core_->replay(**record);
        }
        ClaimsEffects effects;
        core_->loaded(now, effects);
        EXPECT_TRUE(effects.empty());
    }

    /// One claim of one partition of `orders`.
    struct Wish {
        std::string owner;
        std::int32_t partition = 0;
        std::optional<ClaimTag> tag = std::nullopt;
        std::optional<std::int64_t> owner_level = std::nullopt;
        std::int64_t lifetime_ms = 30'000;
        std::string group = "billing";
    };
    ClaimOutcome claim(const Wish& wish) {
        return decide(ClaimPartitions{.reply_to = {},
                                      .group = wish.group,
                                      .owner = wish.owner,
                                      .address = "/10.0.0.7",
                                      .owner_level = wish.owner_level,
                                      .lifetime_ms = wish.lifetime_ms,
                                      .wishes = {{{"orders", wish.partition}, kOrders, wish.tag}}})
            .outcomes.at(0);
    }
    ClaimOutcome release(const Wish& wish) {
        return decide(ReleasePartitions{.reply_to = {},
                                        .group = wish.group,
                                        .owner = wish.owner,
                                        .wishes = {{{"orders", wish.partition}, kOrders, wish.tag}}})
            .outcomes.at(0);
    }
    ClaimOutcome checkpoint(const std::string& owner, std::int32_t partition, std::int64_t offset) {
        return decide(WriteCheckpoints{.reply_to = {},
                                       .group = "billing",
                                       .owner = owner,
                                       .wishes = {{{"orders", partition}, kOrders, Offset{offset}, offset}}})
            .outcomes.at(0);
    }
    /// Null: no client ever claimed it.
    [[nodiscard]] const Claim* claim_of(std::int32_t partition) const {
        const ClaimCoordinator::Group* group = core_->find("billing");
        if (group == nullptr || !group->claims.contains({"orders", partition})) {
            return nullptr;
        }
        return &group->claims.at({"orders", partition});
    }
    [[nodiscard]] std::optional<std::int64_t> checkpoint_of(std::int32_t partition) const {
        const ClaimCoordinator::Group* group = core_->find("billing");
        if (group == nullptr || !group->checkpoints.contains({"orders", partition})) {
            return std::nullopt;
        }
        return group->checkpoints.at({"orders", partition}).offset.value;
    }

  private:
    void persist(const ClaimsEffects& effects) {
        records_of_last_call = effects.records.size();
        ByteBuffer buffer;
        for (const ClaimsRecord& record : effects.records) {
            const auto encoded = encode_claims_record(record, buffer);
            ASSERT_TRUE(encoded.has_value());
            const auto text = [](Bytes bytes) { return std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size()); };
            log_.emplace_back(text(encoded->key), encoded->value ? std::optional(text(*encoded->value)) : std::nullopt);
        }
    }

    std::unique_ptr<ClaimCoordinator> core_ = std::make_unique<ClaimCoordinator>();
    std::vector<std::pair<std::string, std::optional<std::string>>> log_;
};

}  // namespace partita::claims
