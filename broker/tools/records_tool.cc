// kafka-delete-records: deletes the records of partitions before the offsets in a file.

#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>

#include "broker/client/partitions.h"
#include "broker/tools/tools.h"
#include "protocol/try.h"

namespace partita::tools {
namespace {

constexpr Option kRecordsOptions[] = {
    kBootstrapServer,
    kCommandConfig,
    kHelp,
    kVersion,
    {"offset-json-file", "file",
     R"(delete records before the offsets in this file: {"partitions": [{"topic": "foo", "partition": 1, "offset": 1}], "version": 1}; )"
     "an offset of -1 stands for the end"},
};
constexpr Rule kRecordsRules[] = {{Requires::all_of, "", {"bootstrap-server", "offset-json-file"}}};

using nlohmann::json;

/// An error in the content of the file.
Outcome<std::map<client::TopicPartition, std::int64_t>> parse_offsets(const std::string& text) {
    const json root = json::parse(text, nullptr, false);
    if (root.is_discarded()) {
        return failed("The input string is not a valid JSON");
    }
    if (!root.is_object()) {
        return failed("Expected JSON object, received " + root.dump());
    }
    if (const auto version = root.find("version"); version != root.end() && *version != 1) {
        return failed("Not supported version field value " + version->dump());
    }
    const auto partitions = root.find("partitions");
    if (partitions == root.end()) {
        return failed("Missing partitions field");
    }
    if (!partitions->is_array()) {
        return failed("Expected JSON array, received " + partitions->dump());
    }
    std::map<client::TopicPartition, std::int64_t> before;
    std::set<std::string> duplicates;
    for (const json& item : *partitions) {
        if (!item.is_object()) {
            return failed("Expected JSON object, received " + item.dump());
        }
        for (const char* field : {"topic", "partition", "offset"}) {
            if (!item.contains(field)) {
                return failed("No such field exists: `" + std::string(field) + "`");
            }
        }
        if (!item["topic"].is_string()) {
            return failed("Expected `String` value, received " + item["topic"].dump());
        }
        if (!item["partition"].is_number_integer()) {
            return failed("Expected `Integer` value, received " + item["partition"].dump());
        }
        if (!item["offset"].is_number_integer()) {
            return failed("Expected `Long` value, received " + item["offset"].dump());
        }
        const client::TopicPartition partition{item["topic"], item["partition"]};
        if (!before.emplace(partition, item["offset"]).second) {
            duplicates.insert(client::to_string(partition));
        }
    }
    if (duplicates.empty()) {
        return before;
    }
    std::string list;
    for (const std::string& name : duplicates) {
        list += (list.empty() ? "" : ",") + name;
    }
    return failed("Offset json file contains duplicate topic partitions: " + list);
}

Outcome<int> run_records(const Options& options, const Surroundings& surroundings) {
    PARTITA_TRY_ASSIGN(auto cluster, open_cluster(options, surroundings));
    PARTITA_TRY_ASSIGN(const auto text, read_file(options.value("offset-json-file")));
    PARTITA_TRY_ASSIGN(const auto before, parse_offsets(text));
    surroundings.print("Executing records delete operation\n");
    const auto results = client::delete_records(cluster, before);
    if (!results) {
        return failed(results.error());
    }
    surroundings.print("Records delete operation completed:\n");
    for (const auto& [partition, start] : *results) {
        surroundings.print("partition: " + client::to_string(partition) +
                           (start ? "\tlow_watermark: " + std::to_string(*start) : "\terror: " + java_text(start.error())) +
                           "\n");
    }
    return 0;
}

}  // namespace

const Tool kRecordsTool{.name = "records",
                        .kafka_name = "kafka-delete-records",
                        .summary = "delete records before offsets",
                        .purpose = "This tool helps to delete records of the given partitions down to the specified offset.",
                        .options = kRecordsOptions,
                        .rules = kRecordsRules,
                        .run = run_records};

}  // namespace partita::tools
