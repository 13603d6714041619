#include "broker/expansion/record_count.h"

#include "broker/expansion/counted.h"

namespace partita::expansion {

std::string counted(const RecordCount& count, std::string_view singular) {
    return (count.is_exact ? "" : "up to ") + counted(count.records, singular);
}

}  // namespace partita::expansion
