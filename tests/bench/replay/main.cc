// A client that costs little, so that the figures show the broker. It encodes batches before, checks every answer, and lets the
// kernel throw fetched records away. It prints one line of JSON, and ends with 1 when an answer is wrong. `replay_client` without
// arguments lists the modes; Settings names the options.
//
//   replay_client produce --port 9092 --topic t --partitions 16 --record-bytes 100 --batch-bytes 16384 --keyed --pid PID

#include <cstdio>
#include <map>

#include "tests/bench/replay/modes.h"

int main(int count, char** values) {
    using namespace partita::bench;
    const std::map<std::string, void (*)(const Settings&)> modes = {{"produce", produce},
                                                                    {"fetch", fetch},
                                                                    {"end_to_end", end_to_end},
                                                                    {"transactions", transactions},
                                                                    {"rejoin", rejoin},
                                                                    {"consumer_group", consumer_group},
                                                                    {"offset_commits", offset_commits}};
    if (count < 2 || !modes.contains(values[1])) {
        std::fprintf(stderr, "usage: replay_client MODE [--OPTION VALUE]...\nmodes:");
        for (const auto& [name, run] : modes) {
            std::fprintf(stderr, " %s", name.c_str());
        }
        std::fprintf(stderr, "\n");
        return 2;
    }
    modes.at(values[1])(parse_settings(count, values));
}
