#pragma once

#include <string>
#include <vector>

#include "broker/insight/findings/finding.h"
#include "broker/insight/readers/look_time.h"
#include "broker/insight/readers/reader_facts.h"
#include "broker/insight/readers/reading_connections.h"

/// Hazards of clients that read in no group. Pure.
namespace partita::insight {

/// All connections of one client id, address, principal and process that belong to no group. These names do not tell them apart.
struct OutsideReader {
    ClientIdentity client;
    std::optional<ProcessIdentity> process;
    /// The authenticated principal; empty if the client did not have to authenticate.
    std::string principal;
    std::vector<const Reading*> readings;
};
/// The readers that are still there and are excluded from every group.
[[nodiscard]] std::vector<OutsideReader> outside_readers(const ReadingConnections& readings, ReaderOwners& owners,
                                                         LookTime& time);

/// Their findings H07, H23, H29 and H48.
void find_outside_readers(const std::string& topic, const ReaderFacts& facts, const std::vector<OutsideReader>& readers,
                          LookTime& time, std::vector<Finding>& findings);

}  // namespace partita::insight
