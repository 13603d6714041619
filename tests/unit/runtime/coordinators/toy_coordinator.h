#pragma once

#include <charconv>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "broker/runtime/coordinators/coordinator_shards.h"
#include "protocol/record_batch_builder.h"

/// The smallest core that asks for everything a core can ask for. It shows how the shards answer.

namespace partita::runtime::toy {

/// A key and its number; none: the key is gone.
struct Record {
    std::string_view key;
    std::optional<std::int64_t> value;
};

struct PutResult {
    ErrorCode error = ErrorCode::none;
};
struct GetResult {
    ErrorCode error = ErrorCode::none;
    std::int64_t value = -1;
};
struct SendResult {
    ErrorCode error = ErrorCode::none;
    std::vector<ErrorCode> outcomes;
};
using Result = std::variant<PutResult, GetResult, SendResult>;
using Effects = coordination::Effects<Record, Result>;

/// Persists the number, and answers the requests that await the key.
struct Put {
    using Result = PutResult;
    std::string_view key;
    std::int64_t value = 0;
    coordination::ReplyToken reply_to;
};
/// Answered at once.
struct Get {
    using Result = GetResult;
    std::string_view key;
    coordination::ReplyToken reply_to;
};
/// Answered when a client puts the key.
struct Await {
    using Result = GetResult;
    std::string_view key;
    coordination::ReplyToken reply_to;
};
/// Persists the number when its time has come.
struct PutLater {
    using Result = PutResult;
    std::string_view key;
    std::int64_t value = 0;
    Instant due;
    coordination::ReplyToken reply_to;
};
/// Owes each of these partitions of "outward" a batch, and is answered when all were tried. A batch that failed stays owed,
/// unless the partition does not exist. The core tries it again after kRetryMs, and after a rebuild.
struct Send {
    using Result = SendResult;
    std::vector<std::int32_t> partitions;
    coordination::ReplyToken reply_to;
};

class Core {
  public:
    using Record = toy::Record;
    using Result = toy::Result;
    using Effects = toy::Effects;

    static constexpr std::int64_t kRetryMs = 100;

    static std::expected<std::optional<Record>, DecodeError> decode(Bytes key, std::optional<Bytes> value, Arena&) {
        Record record{as_text(key), std::nullopt};
        if (value) {
            const std::string_view text = as_text(*value);
            std::int64_t number = 0;
            std::from_chars(text.data(), text.data() + text.size(), number);
            record.value = number;
        }
        return record;
    }
    static std::expected<void, EncodeError> encode(const Record& record, TimestampMs timestamp, ByteBuffer&,
                                                   BatchBuilder& batch) {
        const std::string text = std::to_string(record.value.value_or(0));
        batch.append(timestamp, as_bytes(record.key), record.value ? std::optional(as_bytes(text)) : std::nullopt);
        return {};
    }

    void replay(const Record& record) {
        if (record.value) {
            values_.insert_or_assign(std::string(record.key), *record.value);
        } else {
            values_.erase(std::string(record.key));
        }
    }
    void loaded(Now now, Effects& effects) { ask_for_owed(now, effects); }

    void decide(const Put& command, Now, Effects& effects) {
        change(command.key, command.value, effects);
        for (const coordination::ReplyToken token : waiting_[std::string(command.key)]) {
            effects.replies.push_back({token, GetResult{.value = command.value}});
        }
        waiting_.erase(std::string(command.key));
        effects.replies.push_back({command.reply_to, PutResult{}});
    }
    void decide(const Get& command, Now, Effects& effects) {
        const auto found = values_.find(command.key);
        effects.replies.push_back({command.reply_to, GetResult{.value = found == values_.end() ? -1 : found->second}});
    }
    void decide(const Await& command, Now, Effects&) { waiting_[std::string(command.key)].push_back(command.reply_to); }
    void decide(const PutLater& command, Now, Effects& effects) {
        later_.emplace(command.due, std::pair(std::string(command.key), command.value));
        effects.replies.push_back({command.reply_to, PutResult{}});
    }
    void decide(const Send& command, Now now, Effects& effects) {
        for (const std::int32_t partition : command.partitions) {
            change("owed-" + std::to_string(next_write_++), partition, effects);
        }
        sender_ = command.reply_to;
        ask_for_owed(now, effects);
    }

    void written(std::span<const coordination::OutwardWriteOutcome> outcomes, Now now, Effects& effects) {
        SendResult result;
        for (const coordination::OutwardWriteOutcome& outcome : outcomes) {
            result.outcomes.push_back(outcome.error);
            if (outcome.error == ErrorCode::none || outcome.error == ErrorCode::unknown_topic_or_partition) {
                change("owed-" + std::to_string(outcome.token.value), std::nullopt, effects);
            } else {
                retry_ = now.monotonic + kRetryMs;
            }
        }
        if (sender_) {
            effects.replies.push_back({*sender_, std::move(result)});
            sender_.reset();
        }
        if (asks_when_told) {
            ask_for_owed(now, effects);
        }
    }

    void tick(Now now, Effects& effects) {
        while (!later_.empty() && later_.begin()->first <= now.monotonic) {
            change(later_.begin()->second.first, later_.begin()->second.second, effects);
            later_.erase(later_.begin());
        }
        if (retry_ && *retry_ <= now.monotonic) {
            retry_.reset();
            ask_for_owed(now, effects);
        }
    }
    [[nodiscard]] std::optional<Instant> next_deadline() const {
        std::optional<Instant> next = retry_;
        if (!later_.empty() && (!next || later_.begin()->first < *next)) {
            next = later_.begin()->first;
        }
        return next;
    }
    void fail_waiting(ErrorCode error, Effects& effects) {
        for (const auto& [key, tokens] : waiting_) {
            for (const coordination::ReplyToken token : tokens) {
                effects.replies.push_back({token, GetResult{.error = error}});
            }
        }
        waiting_.clear();
    }
    void topic_deleted(const coordination::TopicDeleted& event, Now, Effects& effects) {
        if (values_.contains(event.name)) {
            change(event.name, std::nullopt, effects);
        }
    }

    [[nodiscard]] std::size_t size() const { return values_.size(); }

    /// Breaks the rule that `written` asks for no writes.
    static inline bool asks_when_told = false;

  private:
    void change(std::string_view key, std::optional<std::int64_t> value, Effects& effects) {
        effects.records.push_back({effects.arena.copy(key), value});
        replay(effects.records.back());
    }
    void ask_for_owed(Now now, Effects& effects) {
        for (const auto& [key, partition] : values_) {
            if (!key.starts_with("owed-")) {
                continue;
            }
            BatchBuilder builder{BatchOptions()};
            builder.append(now.wall, std::nullopt, as_bytes(key));
            std::vector<std::byte> batch;
            builder.build(batch);
            const std::string_view kept = effects.arena.copy(as_text(batch));
            effects.writes.push_back(
                {.token = {std::stoull(key.substr(5))},
                 .topic = "outward",
                 .partition = PartitionIndex{static_cast<std::int32_t>(partition)},
                 .batch = {const_cast<std::byte*>(reinterpret_cast<const std::byte*>(kept.data())), kept.size()}});
        }
    }

    std::map<std::string, std::int64_t, std::less<>> values_;
    std::map<std::string, std::vector<coordination::ReplyToken>> waiting_;
    std::multimap<Instant, std::pair<std::string, std::int64_t>> later_;
    std::optional<coordination::ReplyToken> sender_;
    std::optional<Instant> retry_;
    std::uint64_t next_write_ = 100;
};

static_assert(coordination::WritesOutward<Core>);

}  // namespace partita::runtime::toy
