#include "broker/insight/fence/held_reader.h"

#include <string>

namespace partita::insight {

Finding held_reader_finding(const HeldReader& held) {
    Finding finding =
        make_finding(HazardId::held_reader,
                     {.topic = std::string(held.topic),
                      .client_id = held.client.client_id,
                      .client_address = held.client.address,
                      .client_port = held.client.port,
                      .program = held.client.process ? to_string(*held.client.process) : std::string(),
                      .principal = held.client.principal},
                     to_string(held.client) + " is " + std::string(held.held_as) +
                         "; until the broker knows which, it gets records of new partitions when the last of these groups does",
                     held.partitions);
    finding.numbers = {{"held_partitions", held.partitions}, {"groups", held.groups}};
    return finding;
}

}  // namespace partita::insight
