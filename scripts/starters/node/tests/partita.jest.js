/**
 * @partita num.partitions=3
 */
import { writeAndRead } from "./write_and_read.js";

test("the broker of the file serves with its settings", async () => {
  expect(await writeAndRead(partita.bootstrapServers)).toEqual({ value: "one", partitions: 3 });
}, 60_000);

(process.env.PARTITA_STARTER_FAILS ? test : test.skip)("fails on purpose", () => {
  expect("on purpose").toBe("");
});
