#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <span>
#include <vector>

#include "broker/insight/order/cut_table.h"
#include "broker/insight/order/delivery_order.h"
#include "broker/insight/order/growth_scan.h"
#include "broker/insight/readers/reader_facts.h"
#include "protocol/types.h"

namespace partita::insight {

/// One pass of a client in no group over a topic that has grown: from where it began to read until some time after it was handed
/// everything from before the growth, or until it stopped or began again. Pure; one caller at a time.
///
/// A client in no group commits nothing, so nobody knows where it was before the growth. Most such clients read what is new, and
/// no order concerns them. So a pass first notes what the client is handed, and reads no log. It is judged from the moment on
/// when the client is handed a record from before the growth; what was noted counts as handed out before that.
class OutsidePass {
  public:
    /// Most hand-outs that are noted. Beyond this, those of one partition that follow each other become one, and after that the
    /// oldest ones are forgotten.
    static constexpr std::size_t kNotedMax = 256;
    /// Most connections of the client of which it remembers whether they are open.
    static constexpr std::size_t kConnectionsMax = 64;

    /// The client is handed a record from before the growth: from now on, call `judge` and not `note`.
    void begin_judging(TimestampMs now) {
        is_judged_ = true;
        last_before_ = now;
    }
    [[nodiscard]] bool is_judged() const { return is_judged_; }

    /// The connection over which the client goes on. It continues the one before it if no other is open, and if it was opened
    /// after everything that was handed out. `born`: kNoTimestamp if that is not known.
    void use(ConnectionId connection, TimestampMs born, const ConnectionDirectory& directory);
    [[nodiscard]] bool uses(ConnectionId connection) const;
    /// True if one of its connections is open.
    [[nodiscard]] bool is_open(const ConnectionDirectory& directory) const;
    void note(const HandOut& handed);
    /// The hand-outs that were noted and not judged yet, oldest first. The caller lets the scan read all of it before `judge`.
    [[nodiscard]] const std::deque<HandOut>& noted() const { return noted_; }
    /// `cuts` covers `handed` and all that was noted.
    void judge(const HandOut& handed, const CutTable& cuts);
    /// Something was handed out that the pass did not see: its numbers are lower bounds.
    void lose() { has_lost_ = true; }
    void forget_before(PartitionIndex partition, Offset offset) { order_.forget_before(partition, offset); }

    /// Ends the pass. `is_early`: the client was not handed everything from before the growth.
    void end(bool is_early);
    [[nodiscard]] bool is_over() const { return is_over_; }
    [[nodiscard]] bool has_stopped_early() const { return has_stopped_early_; }
    /// True if a hand-out from there on does not go on where the pass stopped.
    [[nodiscard]] bool is_left_by(PartitionIndex partition, Offset from) const;
    /// True if a hand-out from there on begins where this pass began, or before.
    [[nodiscard]] bool is_preceded_by(PartitionIndex partition, Offset from) const;
    /// True if it was handed everything in `[log start, end)` of each old partition.
    [[nodiscard]] bool has_all(const GrowthCut& cut, std::span<const Offset> log_starts) const;

    [[nodiscard]] const DeliveryOrder& order() const { return order_; }
    [[nodiscard]] bool is_exact() const { return !has_lost_; }
    [[nodiscard]] TimestampMs last() const { return last_; }
    /// When the client was last handed a record from before the growth; kNoTimestamp before that.
    [[nodiscard]] TimestampMs last_before() const { return last_before_; }

  private:
    /// By partition: where the first hand-out began, and behind all hand-outs.
    struct Span {
        Offset begin;
        Offset end;
    };

    void keep_span(const HandOut& handed);
    void make_room();

    DeliveryOrder order_;
    std::deque<HandOut> noted_;
    std::map<PartitionIndex, Span> spans_;
    std::vector<ConnectionId> connections_;
    TimestampMs last_ = kNoTimestamp;
    TimestampMs last_before_ = kNoTimestamp;
    bool is_judged_ = false;
    bool is_over_ = false;
    bool has_stopped_early_ = false;
    bool has_lost_ = false;
};

}  // namespace partita::insight
