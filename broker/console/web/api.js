// Asks the broker. Everything that the console shows or changes goes through here, to the JSON API.

import { headers, logIn, protocols } from "./login.js";

/** The broker's limit: broker/http/session.h. */
const kBodyBytesMax = 1 << 20;

/** Parts of a path, each of them any text: path("topics", name). */
export const path = (...parts) => `/v1/${parts.map(encodeURIComponent).join("/")}`;
/** A page of the console. */
export const page = (...parts) => `#/${parts.map(encodeURIComponent).join("/")}`;

async function answer(response) {
  const text = await response.text();
  let object = {};
  try {
    object = JSON.parse(text);
  } catch {
    object = { error: text.trim() };
  }
  if (response.status === 401) logIn();
  if (!response.ok) throw new Error(object.error || `the broker answered ${response.status}`);
  return object;
}

async function ask(where, how) {
  let response;
  try {
    response = await fetch(where, { cache: "no-store", ...how, headers: { ...how.headers, ...headers() } });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Error("the broker does not answer");
  }
  return answer(response);
}

export const get = (where, parameters, signal) => {
  const wanted = Object.entries(parameters || {}).filter(([, value]) => value !== undefined && value !== "");
  return ask(wanted.length ? `${where}?${new URLSearchParams(wanted)}`.replaceAll("+", "%20") : where, { signal });
};
const tell = (method) => (where, body) => {
  const text = JSON.stringify(body);
  if (new Blob([text]).size > kBodyBytesMax) throw new Error("the request is larger than a megabyte: write to Kafka's port instead");
  return ask(where, { method, headers: { "Content-Type": "application/json" }, body: text });
};
export const post = tell("POST");
export const put = tell("PUT");
export const remove = (where) => ask(where, { method: "DELETE" });

// The open findings about expansions, kept up to date by the broker's event stream.

const kEventsKept = 200;
const kRetryMs = [500, 1000, 2000, 5000, 10000];

// Harm from before a restart stands beside what was found anew about the same subject.
const key = (event) => JSON.stringify([event.finding.id, event.finding.subject, event.opened_ms]);

/** Open findings and the latest events, for all watchers. A tab that stays open for a million events keeps 200 of them. */
export const live = {
  open: new Map(),
  events: [],
  connected: false,
  watchers: new Set(),
  attempts: 0,

  start() {
    const socket = new WebSocket(`${location.protocol === "https:" ? "wss" : "ws"}://${location.host}/v1/events`, protocols());
    socket.onopen = () => {
      this.attempts = 0;
      this.connected = true;
      // The stream begins with everything that is open.
      this.open.clear();
      this.changed();
    };
    socket.onmessage = (message) => this.take(JSON.parse(message.data));
    socket.onclose = () => {
      this.connected = false;
      this.changed();
      const wait = kRetryMs[Math.min(this.attempts, kRetryMs.length - 1)];
      this.attempts += 1;
      setTimeout(() => this.start(), wait);
    };
  },

  take(event) {
    if (event.event === "closed") this.open.delete(key(event));
    else this.open.set(key(event), { ...event.finding, opened_ms: event.opened_ms });
    if (event.sequence > 0) {
      this.events.unshift(event);
      this.events.length = Math.min(this.events.length, kEventsKept);
    }
    this.changed();
  },

  /** Watchers draw once in a frame, however many events came; a hidden tab has no frames. */
  changed() {
    if (this.isDrawing) return;
    this.isDrawing = true;
    requestAnimationFrame(() => {
      this.isDrawing = false;
      for (const watcher of this.watchers) watcher();
    });
  },

  findings() {
    const order = { block: 0, warn: 1, info: 2 };
    return [...this.open.values()].sort((one, other) => order[one.severity] - order[other.severity] || other.opened_ms - one.opened_ms);
  },
};
