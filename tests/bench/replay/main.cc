// A client that costs little, so that the broker is what is measured: batches are encoded before, every answer is
// checked, and the kernel throws fetched records away. Prints one line of JSON; ends with 1 when an answer is not what it
// must be. `replay_client` without arguments tells the modes; Settings names the options.
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
