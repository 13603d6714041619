// An environment of jest with a broker for each file of tests: `partita.bootstrapServers` is a global. Settings are the docblock's
// `@partita key=value`. A test that fails prints what the broker wrote.
const { TestEnvironment } = require("jest-environment-node");

class PartitaEnvironment extends TestEnvironment {
  constructor(config, context) {
    super(config, context);
    const given = [context.docblockPragmas.partita ?? []].flat();
    this.settings = Object.fromEntries(given.map((setting) => setting.split(/=(.*)/s).slice(0, 2)));
  }

  async setup() {
    await super.setup();
    const { startPartita } = await import("./partita.js");
    this.broker = await startPartita(this.settings);
    this.global.partita = this.broker;
  }

  async teardown() {
    await this.broker?.stop();
    await super.teardown();
  }

  handleTestEvent(event) {
    if (event.name === "test_fn_failure") {
      console.error(`log of partita ${this.broker.bootstrapServers}:\n${this.broker.log()}`);
    }
  }
}

module.exports = PartitaEnvironment;
