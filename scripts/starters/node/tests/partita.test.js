import { expect, test } from "vitest";
import { startPartita } from "../partita.js";
import { usePartita } from "../vitest.js";
import { writeAndRead } from "./write_and_read.js";

const partita = usePartita({ "num.partitions": 3 });
const LIMIT_MS = 60_000;

test("the broker of the file serves with its settings", { timeout: LIMIT_MS }, async () => {
  expect(await writeAndRead(partita.bootstrapServers)).toEqual({ value: "one", partitions: 3 });
});

test("it ends with its owner", { timeout: LIMIT_MS }, async () => {
  const broker = await startPartita();
  expect(broker.bootstrapServers).not.toBe(partita.bootstrapServers);
  process.kill(broker.pid, 0);
  await broker.stop();
  expect(() => process.kill(broker.pid, 0)).toThrow("ESRCH");
});

test("a start that is refused says why", { timeout: LIMIT_MS }, async () => {
  await expect(startPartita({ "num.partitions": "none" })).rejects.toThrow("num.partitions");
});

test.runIf(process.env.PARTITA_STARTER_FAILS)("fails on purpose", () => {
  expect("on purpose").toBe("");
});
