#pragma once

#include <map>
#include <string>
#include <vector>

#include "broker/insight/findings/finding.h"
#include "broker/insight/readers/inversions.h"
#include "broker/insight/readers/order_watch.h"
#include "broker/insight/readers/reader_facts.h"
#include "broker/insight/readers/reading_connections.h"

namespace partita::insight {

/// H06: what a reader was handed in wrong order, and what a group finished in wrong order. A key that both sources know counts
/// once. Remembers the keys of examples, so that it reads them once.
class OrderFindings {
  public:
    /// Most records that it reads for the examples of a group. Some may not exist any more.
    static constexpr int kLooksMax = 100;

    /// `order`: by what the broker sent; `proven`: by commits. `has_left_out`: some proofs were not counted.
    void find(const std::string& topic, const ReaderFacts& facts, const OrderWatch& order,
              const std::map<std::string, std::vector<Inversions::Proven>>& proven, bool has_left_out,
              std::vector<Finding>& findings);

  private:
    struct Examples {
        /// The number of keys when the examples were read.
        std::size_t keys = 0;
        std::vector<ExampleKey> keys_with_places;
    };
    void find_outside(const std::string& topic, const ReaderFacts& facts, const std::map<ReadingClient, OrderWatch::Told>& handed,
                      std::vector<Finding>& findings);
    /// Reads further examples of one reader, unless `known` are enough.
    static void read_examples(Examples& known, const OrderWatch::Told& told, const ReaderFacts& facts);

    std::map<std::string, Examples> of_groups_;
    std::map<ReadingClient, Examples> of_outsiders_;
};

}  // namespace partita::insight
