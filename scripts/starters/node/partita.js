// Starts a Partita broker: `const broker = await startPartita({ "num.partitions": 3 })`.
//
// The program is PARTITA_BINARY, or `partita` in the path. It keeps its data in memory and takes free ports. It serves when the promise
// resolves, and ends with `await broker.stop()`, at the latest with this process.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { closeSync, openSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const READY = "partita serves";
const START_LIMIT_MS = 30_000;
const STOP_LIMIT_MS = 10_000;

export async function startPartita(settings = {}) {
  const directory = await mkdtemp(join(tmpdir(), "partita-"));
  const logFile = join(directory, "log");
  const portFile = join(directory, "port");
  const arguments_ = ["serve", "--ephemeral", "--port", "0", "--http-port", "0", "--port-file", portFile];
  for (const [key, value] of Object.entries({ ...settings, "partita.start.message": READY })) {
    arguments_.push("--override", `${key}=${value}`);
  }
  const log = openSync(logFile, "w");
  const child = spawn(process.env.PARTITA_BINARY ?? "partita", arguments_, { cwd: directory, stdio: ["ignore", "pipe", log] });
  closeSync(log);
  const kill = () => child.kill("SIGKILL");
  process.once("exit", kill);
  const ended = once(child, "exit").catch((error) => [error]);
  const stop = async () => {
    const alarm = setTimeout(kill, STOP_LIMIT_MS);
    child.kill("SIGTERM");
    await ended;
    clearTimeout(alarm);
    process.off("exit", kill);
    await rm(directory, { recursive: true, force: true });
  };

  const alarm = setTimeout(kill, START_LIMIT_MS);
  let said = "";
  const ready = new Promise((resolve) => {
    child.stdout.on("data", (text) => {
      said += text;
      if (said.startsWith(`${READY}\n`)) resolve(true);
    });
  });
  const served = await Promise.race([ready, ended.then(() => false)]);
  clearTimeout(alarm);
  if (!served) {
    const why = (await ended)[0] instanceof Error ? (await ended)[0].message : await readFile(logFile, "utf8");
    await stop();
    throw new Error(`partita did not start:\n${why}`);
  }
  const port = (await readFile(portFile, "utf8")).trim();
  return { bootstrapServers: `127.0.0.1:${port}`, pid: child.pid, log: () => readFileSync(logFile, "utf8"), stop };
}
