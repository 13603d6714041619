#include "broker/runtime/catalog/repair_hints.h"

#include <gtest/gtest.h>

namespace partita::runtime {
namespace {

TEST(RepairHints, ADamagedMetadataFileSaysWhatToDo) {
    const std::string store =
        with_repair_hint(corrupt_error("/data/partita-metadata/data.mdb", "byte 0 is not a meta page of LMDB"));
    EXPECT_TRUE(
        store.starts_with("/data/partita-metadata/data.mdb: byte 0 is not a meta page of LMDB; nothing was changed. What to do: "
                          "move the directory partita-metadata away and start again"))
        << store;
    for (const char* file :
         {"/data/log-start-offset-checkpoint", "/data/recovery-point-offset-checkpoint", "/data/partita.properties"}) {
        EXPECT_NE(with_repair_hint(corrupt_error(file, "is not a checkpoint file")).find("What to do: "), std::string::npos)
            << file;
    }
}

TEST(RepairHints, WhatTheDeviceRefusedIsNotTakenForDamage) {
    const StorageError full = io_error("cannot write", "/data/partita-metadata/data.mdb", ENOSPC);
    EXPECT_EQ(with_repair_hint(full), full.message);
}

}  // namespace
}  // namespace partita::runtime
