#include "broker/insight/plan/plan_text.h"

#include <algorithm>
#include <cctype>
#include <nlohmann/json.hpp>

#include "broker/insight/plan/plan_findings.h"
#include "broker/insight/plan/plan_members.h"
#include "protocol/printable.h"

namespace partita::insight {
namespace {

using nlohmann::ordered_json;

std::string size_of(const ordered_json& object, const char* name) { return size_text(static_cast<double>(number(object, name))); }

std::string right(std::string cell, std::size_t width) {
    return cell.size() < width ? std::string(width - cell.size(), ' ') + cell : cell;
}

/// Escapes the key of an example: it may contain control sequences that a terminal would obey.
std::string shown(const ordered_json& example) {
    std::string key = printable(text(example, "key"));
    if (key.empty() && example.contains("key_hex")) {
        key = "0x" + text(example, "key_hex");
    }
    if (key.empty() && example.contains("key_hash")) {
        key = "#" + text(example, "key_hash");
    }
    if (key.empty()) {
        key = "\"\"";
    }
    if (example.contains("from") && example.contains("to")) {
        key += " " + std::to_string(number(example, "from")) + ">" + std::to_string(number(example, "to"));
    } else if (example.contains("from")) {
        key += " (" + std::to_string(number(example, "from")) + ")";
    }
    return key;
}

void write_head(const ordered_json& plan, std::string& out) {
    std::string verdict = text(plan, "verdict");
    std::ranges::transform(verdict, verdict.begin(), [](char letter) { return static_cast<char>(std::toupper(letter)); });
    out += text(plan, "topic") + ": " + std::to_string(number(plan, "from")) + " to " + std::to_string(number(plan, "to")) +
           " partitions: " + verdict + "\n  " + text(plan, "summary") + "\n\n";
    if (plan.contains("broker") && plan["broker"].is_object()) {
        const ordered_json& broker = plan["broker"];
        out += "  broker       " + std::to_string(number(broker, "node_id")) + " at " + text(broker, "kafka") + ", data in " +
               text(broker, "data_directory") + "\n";
    }
    const ordered_json& scanned = plan.contains("scanned") ? plan["scanned"] : ordered_json();
    if (scanned.is_object()) {
        const double error = real(scanned, "keys_relative_error");
        out += "  read         " + grouped(number(scanned, "records")) + " records, " + size_of(scanned, "bytes") + ", " +
               (error > 0 ? "about " : "") + grouped(number(scanned, "keys")) + " distinct keys" +
               (error > 0 ? " (+- " + to_percent(error) + ")" : "") +
               (scanned.value("complete", false) ? "" : "; not the whole log") + "\n";
    }
    if (plan.contains("partitioner") && plan["partitioner"].is_object()) {
        out += "  partitioner  " + text(plan["partitioner"], "name") + ": " + text(plan["partitioner"], "evidence") + "\n";
    }
    const ordered_json& moved = plan.contains("moved") ? plan["moved"] : ordered_json();
    if (moved.is_object()) {
        out += "  moved        " + grouped(number(moved, "keys")) + " keys (" + to_percent(real(moved, "key_share")) + "), " +
               grouped(number(moved, "records")) + " records (" + to_percent(real(moved, "record_share")) + "), " +
               size_of(moved, "bytes") + " (" + to_percent(real(moved, "byte_share")) + "); " +
               grouped(number(moved, "keys_among_old")) + " keys between old partitions\n";
    } else {
        out += "  moved        unknown; " + to_percent(real(plan, "expected_key_share")) + " of evenly hashed keys would\n";
    }
    const ordered_json& better = list(plan, "better_targets");
    if (!better.empty()) {
        out += "  better       ";
        for (std::size_t index = 0; index < better.size(); ++index) {
            out += (index == 0 ? "" : " or ") + better[index].dump();
        }
        out += " partitions: no key would move between old partitions\n";
    }
}

void write_partitions(const ordered_json& plan, std::string& out) {
    const ordered_json& partitions = list(plan, "partitions");
    if (partitions.empty()) {
        return;
    }
    constexpr std::size_t kWidth = 14;
    out +=
        "\n" + right("partition", kWidth) + right("records", kWidth) + right("in", kWidth) + right("out", kWidth) + "  parents\n";
    for (std::size_t index = 0; index < std::min(partitions.size(), kShownPartitionsMax); ++index) {
        const ordered_json& partition = partitions[index];
        const auto cell = [&](const char* name) {
            return right(partition.contains(name) && partition[name].is_null() ? "?" : grouped(number(partition, name)), kWidth);
        };
        const bool is_new = number(partition, "partition") >= number(plan, "from");
        std::string parents;
        constexpr std::size_t kShownParents = 8;
        const ordered_json& all = list(partition, "parents");
        for (std::size_t parent = 0; parent < std::min(kShownParents, all.size()); ++parent) {
            parents += (parent == 0 ? "" : " ") + all[parent].dump();
        }
        if (number(partition, "parent_count") > static_cast<std::int64_t>(kShownParents)) {
            parents +=
                " and " + std::to_string(number(partition, "parent_count") - static_cast<std::int64_t>(kShownParents)) + " more";
        }
        out += right(std::to_string(number(partition, "partition")) + (is_new ? " new" : ""), kWidth) + cell("records") +
               cell("records_in") + cell("records_out") + "  " + parents + "\n";
    }
    if (partitions.size() > kShownPartitionsMax) {
        out += right("...", kWidth) + "  and " + std::to_string(partitions.size() - kShownPartitionsMax) +
               " more (--json shows all)\n";
    }
}

void write_findings(const ordered_json& plan, std::string& out) {
    const ordered_json& findings = list(plan, "findings");
    for (std::size_t index = 0; index < std::min(findings.size(), kShownFindingsMax); ++index) {
        const ordered_json& finding = findings[index];
        out += "\n" + text(finding, "id") + " " + text(finding, "severity") + ": " + text(finding, "title") + "\n  " +
               text(finding, "condition") + ".\n";
        const ordered_json& examples = list(finding, "examples");
        for (std::size_t example = 0; example < examples.size(); ++example) {
            out += (example == 0 ? "  e.g. " : ", ") + shown(examples[example]);
        }
        if (!examples.empty()) {
            out += "\n";
        }
        out += "  > " + text(finding, "advice") + "\n";
    }
    if (findings.size() > kShownFindingsMax) {
        out += "\nand " + std::to_string(findings.size() - kShownFindingsMax) + " more findings (--json shows all)\n";
    }
    for (const ordered_json& unknown : list(plan, "unknown")) {
        if (unknown.is_string()) {
            out += "\nunknown: " + unknown.get<std::string>() + "\n";
        }
    }
}

}  // namespace

std::string plan_text(const ordered_json& plan, const std::string& picture) {
    std::string out;
    write_head(plan, out);
    if (!picture.empty()) {
        out += "\n" + picture;
    }
    write_partitions(plan, out);
    write_findings(plan, out);
    return out;
}

}  // namespace partita::insight
