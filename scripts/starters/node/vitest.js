// A broker for the tests of a file, or of the enclosing `describe`: `const partita = usePartita({ "num.partitions": 3 })`, then
// `partita.bootstrapServers` in a test. A failing test prints the broker's log.
import { afterAll, beforeAll, beforeEach, onTestFailed } from "vitest";
import { startPartita } from "./partita.js";

export function usePartita(settings = {}) {
  let broker;
  beforeAll(async () => {
    broker = await startPartita(settings);
  });
  beforeEach(() => {
    onTestFailed(() => console.error(`log of partita ${broker.bootstrapServers}:\n${broker.log()}`));
  });
  afterAll(async () => {
    await broker?.stop();
  });
  return {
    get bootstrapServers() {
      return broker.bootstrapServers;
    },
    get broker() {
      return broker;
    },
  };
}
