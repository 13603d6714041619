#include "broker/tools/coordinator_text.h"

#include <span>
#include <string>

#include "broker/authentication/crypto.h"
#include "protocol/arena.h"
#include "protocol/big_endian.h"
#include "protocol/codec.h"
#include "protocol/message_json.h"
#include "protocol/messages/group_metadata_record.h"
#include "protocol/messages/offset_commit_record.h"
#include "protocol/messages/transaction_log_record.h"
#include "protocol/try.h"

namespace partita::tools {
namespace {

/// A kind of record. Keys begin with its number, values with their version.
struct RecordType {
    std::int16_t number = 0;
    const Schema* key = nullptr;
    const Schema* value = nullptr;
};

constexpr RecordType kOffsetTypes[] = {{0, &LegacyOffsetCommitKey::schema, &LegacyOffsetCommitValue::schema},
                                       {1, &OffsetCommitKey::schema, &OffsetCommitValue::schema}};
constexpr RecordType kGroupTypes[] = {{2, &GroupMetadataKey::schema, &GroupMetadataValue::schema}};
constexpr RecordType kTransactionTypes[] = {{0, &TransactionLogKey::schema, &TransactionLogValue::schema}};

std::span<const RecordType> types_of(CoordinatorRecords records) {
    switch (records) {
        case CoordinatorRecords::offsets:
            return kOffsetTypes;
        case CoordinatorRecords::group_metadata:
            return kGroupTypes;
        case CoordinatorRecords::transactions:
            return kTransactionTypes;
    }
    return {};
}

constexpr std::size_t kNumberBytes = sizeof(std::int16_t);

std::string base64_of(Bytes bytes) { return authentication::to_base64(as_text(bytes)); }

class CoordinatorWriter final : public RecordWriter {
  public:
    explicit CoordinatorWriter(std::span<const RecordType> types) : types_(types) {}

    [[nodiscard]] std::expected<void, std::string> write(const client::FetchedRecord& record, const Decoded&,
                                                         std::string& out) const override {
        if (!record.key) {
            return {};
        }
        if (record.key->size() < kNumberBytes) {
            return std::unexpected(unreadable(record, "the key is too short"));
        }
        const auto number = load_big_endian<std::int16_t>(record.key->data());
        for (const RecordType& type : types_) {
            if (type.number != number) {
                continue;
            }
            PARTITA_TRY_ASSIGN(const auto key, json_of(*type.key, 0, *record.key, record));
            out += R"({"key":{"type":)" + std::to_string(number) + R"(,"data":)" + key + R"(},"value":)";
            PARTITA_TRY_ASSIGN(const auto value, value_of(type, record));
            out += value + "}";
        }
        return {};
    }

  private:
    [[nodiscard]] static std::string unreadable(const client::FetchedRecord& record, std::string_view why) {
        return "java.lang.RuntimeException: Could not read record at offset " + std::to_string(record.offset) +
               " due to: " + std::string(why);
    }

    [[nodiscard]] static std::expected<std::string, std::string> value_of(const RecordType& type,
                                                                          const client::FetchedRecord& record) {
        if (!record.value) {
            return "null";
        }
        if (record.value->size() < kNumberBytes) {
            return std::unexpected(unreadable(record, "the value is too short"));
        }
        const auto version = load_big_endian<std::int16_t>(record.value->data());
        PARTITA_TRY_ASSIGN(const auto data, json_of(*type.value, version, *record.value, record));
        return R"({"version":)" + std::to_string(version) + R"(,"data":)" + data + "}";
    }

    /// `bytes` begin with the number.
    [[nodiscard]] static std::expected<std::string, std::string> json_of(const Schema& schema, std::int16_t version, Bytes bytes,
                                                                         const client::FetchedRecord& record) {
        Arena arena;
        arena.reset(decode_memory_limit(bytes.size()));
        void* const message = arena.allocate_unlimited(schema.size, schema.alignment);
        const auto read = decode(schema, bytes.subspan(kNumberBytes), version, arena, message);
        if (!read) {
            return std::unexpected(unreadable(record, to_string(read.error().failure)));
        }
        return to_json(schema, message, version, base64_of);
    }

    const std::span<const RecordType> types_;
};

}  // namespace

std::unique_ptr<RecordWriter> coordinator_writer(CoordinatorRecords records) {
    return std::make_unique<CoordinatorWriter>(types_of(records));
}

}  // namespace partita::tools
