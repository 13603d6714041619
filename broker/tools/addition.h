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

/// Shows records in the format of an addon.
class RecordDecoder {
  public:
    virtual ~RecordDecoder() = default;
    /// Called first. Fails if something that every record needs is unavailable.
    [[nodiscard]] virtual Outcome<void> begin() = 0;
    /// Decodes a record. Reports undecodable bytes on the error stream, and shows them unchanged.
    [[nodiscard]] virtual Outcome<Decoded> decode(const client::FetchedRecord& record) = 0;
    /// Reports how many further failures there were.
    virtual void finish() const = 0;
    [[nodiscard]] virtual bool has_failed() const = 0;
};

/// Writes records in the format of an addon.
class RecordEncoder {
  public:
    virtual ~RecordEncoder() = default;
    /// Replaces the texts of a record by their encoded form; null stays null. The error is for people.
    [[nodiscard]] virtual std::expected<void, std::string> encode(client::OwnedRecord& record, std::int64_t line) const = 0;
    /// Which parts of a record people give as JSON.
    [[nodiscard]] virtual JsonMembers members() const = 0;
};

/// An addon's record format for the tools `consume` and `produce`. Each addon that has one defines one constant of this type,
/// `partita::NAME::kToolAddition` in broker/addons/NAME/tools/addition.cc; the build collects them in a list.
struct Addition {
    std::span<const Option> consume_options = {};
    std::span<const Rule> consume_rules = {};
    std::span<const Option> produce_options = {};
    /// Null if the line does not ask for it. `formatter`: properties of the formatter; `client`: those of the consumer.
    Outcome<std::unique_ptr<RecordDecoder>> (*make_decoder)(const Options& options, const Properties& formatter,
                                                            const Properties& client, const Surroundings& surroundings) = nullptr;
    /// The same for a producer. `reader`: properties of the record reader.
    Outcome<std::unique_ptr<RecordEncoder>> (*make_encoder)(const Options& options, const Properties& reader,
                                                            const Properties& client, const Surroundings& surroundings) = nullptr;
};

/// The additions of this build; empty in a build without addons.
[[nodiscard]] std::span<const Addition* const> additions();

/// A tool's table: its own rows, with the rows of addons among them.
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
