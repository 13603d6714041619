#pragma once

#include <cstdint>
#include <expected>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "broker/client/fetch.h"
#include "broker/client/produce.h"
#include "broker/tools/record_text.h"
#include "broker/tools/tool.h"

namespace partita::tools {

/// Shows records of a format that an addon knows.
class RecordDecoder {
  public:
    virtual ~RecordDecoder() = default;
    /// Fails when what it needs for any record cannot be had. Called first.
    [[nodiscard]] virtual Outcome<void> begin() = 0;
    /// What cannot be decoded is told on the error stream, and shown as it is.
    [[nodiscard]] virtual Outcome<Decoded> decode(const client::FetchedRecord& record) = 0;
    /// Tells how many more there were.
    virtual void finish() const = 0;
    [[nodiscard]] virtual bool has_failed() const = 0;
};

/// Writes records in a format that an addon knows.
class RecordEncoder {
  public:
    virtual ~RecordEncoder() = default;
    /// Replaces the texts of a record by what is written of them; null stays null. The error is for people.
    [[nodiscard]] virtual std::expected<void, std::string> encode(client::OwnedRecord& record, std::int64_t line) const = 0;
    /// Which parts of a record are JSON as people give them.
    [[nodiscard]] virtual JsonMembers members() const = 0;
};

/// What an addon brings to the tools: a format of records for `consume` and `produce`. Each addon that has one defines one
/// constant of this type, `partita::NAME::kToolAddition` in broker/addons/NAME/tools/addition.cc; the build makes the list of
/// them.
struct Addition {
    std::span<const Option> consume_options = {};
    std::span<const Rule> consume_rules = {};
    std::span<const Option> produce_options = {};
    /// Null when the line does not ask for it. `formatter`: properties of the formatter; `client`: those of the consumer.
    Outcome<std::unique_ptr<RecordDecoder>> (*make_decoder)(const Options& options, const Properties& formatter,
                                                            const Properties& client, const Surroundings& surroundings) = nullptr;
    /// The same for a producer. `reader`: properties of what reads its records.
    Outcome<std::unique_ptr<RecordEncoder>> (*make_encoder)(const Options& options, const Properties& reader,
                                                            const Properties& client, const Surroundings& surroundings) = nullptr;
};

/// Those of this build; none in a build without addons.
[[nodiscard]] std::span<const Addition* const> additions();

/// A table of a tool with the rows that addons bring to it between its own.
template <class Row>
[[nodiscard]] std::vector<Row> with_additions(std::span<const Row> before, std::span<const Row> Addition::* added,
                                              std::span<const Row> behind = {}) {
    std::vector<Row> rows(before.begin(), before.end());
    for (const Addition* addition : additions()) {
        rows.insert(rows.end(), (addition->*added).begin(), (addition->*added).end());
    }
    rows.insert(rows.end(), behind.begin(), behind.end());
    return rows;
}

}  // namespace partita::tools
