#pragma once

#include <string>
#include <vector>

#include "broker/insight/findings/finding.h"
#include "broker/insight/readers/look_time.h"
#include "broker/insight/readers/reader_facts.h"
#include "broker/insight/readers/reading_connections.h"

/// Hazards of clients that read in no group. Pure.
namespace partita::insight {

/// All connections of one client that belong to no group.
struct OutsideReader {
    ReadingClient client;
    std::vector<const Reading*> readings;
};
/// The client's name in a sentence, and as the subject of a finding.
[[nodiscard]] std::string name_of(const ReadingClient& client);
[[nodiscard]] Subject subject_of(const std::string& topic, const ReadingClient& client);
/// The readers that are still there and are excluded from every group.
[[nodiscard]] std::vector<OutsideReader> outside_readers(const ReadingConnections& readings, ReaderOwners& owners,
                                                         LookTime& time);

/// Their findings H07, H23, H29 and H48.
void find_outside_readers(const std::string& topic, const ReaderFacts& facts, const std::vector<OutsideReader>& readers,
                          LookTime& time, std::vector<Finding>& findings);

}  // namespace partita::insight
