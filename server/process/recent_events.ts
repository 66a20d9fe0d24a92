/** The newest lines of the log, kept in memory for the operator's page. */
import type { Clock } from "../base/time/clock.ts";
import type { Log } from "../base/log.ts";

export interface RecentEvent {
  atMs: number;
  event: string;
  /** The fields as JSON, cut where they are long; empty without fields. */
  fields: string;
}

/** A stack trace says enough at its beginning. */
const FIELDS_CHARACTERS = 1_000;

export class RecentEvents {
  readonly #events: RecentEvent[] = [];

  /** @param limit how many are kept */
  constructor(private readonly limit: number, private readonly now: Clock) {}

  /** A log that passes every line on, and keeps it here. What a log is given holds no secret. */
  through(log: Log): Log {
    return (event, fields) => {
      this.#keep(event, fields);
      log(event, fields);
    };
  }

  newestFirst(): readonly RecentEvent[] {
    return this.#events.toReversed();
  }

  #keep(event: string, fields: Parameters<Log>[1]): void {
    const text = fields === undefined ? "" : JSON.stringify(fields);
    this.#events.push({ atMs: this.now(), event, fields: cut(text) });
    if (this.#events.length > this.limit) this.#events.shift();
  }
}

function cut(text: string): string {
  return text.length <= FIELDS_CHARACTERS ? text : `${text.slice(0, FIELDS_CHARACTERS)} ...`;
}
