/** Which functions of a process ran, by V8's precise coverage over its inspector, workers included. */

/** A function that ran: by its place in the module as the runtime compiled it. */
export interface RunFunction {
  /** From the project's folder. */
  file: string;
  /** "" for one without a name. */
  name: string;
  /** Differs for each function of a file. */
  offset: number;
}

interface ScriptCoverage {
  url: string;
  functions: {
    functionName: string;
    ranges: { startOffset: number; endOffset: number; count: number }[];
  }[];
}

// deno-lint-ignore no-explicit-any -- messages of the inspector protocol, each with members of its own
type Message = any;

export class PreciseCoverage implements Disposable {
  /** Of the process itself undefined, of each worker the name of its session. */
  readonly #sessions = new Set<string | undefined>();
  readonly #waiting = new Map<number, PromiseWithResolvers<Message>>();
  #lastId = 0;

  private constructor(
    private readonly socket: WebSocket,
    private readonly isWanted: (file: string) => boolean,
  ) {
    socket.onmessage = ({ data }) => this.#take(JSON.parse(data));
    socket.onclose = () => {
      for (const { reject } of this.#waiting.values()) reject(new Error("the process has ended"));
    };
  }

  /**
   * Counts from now on.
   * @param port of 127.0.0.1, as `--inspect` was given it
   * @param isWanted which files to report, from the project's folder
   */
  static async open(port: number, isWanted: (file: string) => boolean): Promise<PreciseCoverage> {
    const [target] = await (await fetch(`http://127.0.0.1:${port}/json/list`)).json();
    const socket = new WebSocket(target.webSocketDebuggerUrl);
    await new Promise((resolve, reject) => [socket.onopen, socket.onerror] = [resolve, reject]);
    const coverage = new PreciseCoverage(socket, isWanted);
    await coverage.#start(undefined);
    const attaching = { autoAttach: true, waitForDebuggerOnStart: false, flatten: true };
    await coverage.#ask("Target.setAutoAttach", attaching, undefined);
    return coverage;
  }

  /** What ran since this was asked last, module bodies left out, and starts over. */
  async take(): Promise<RunFunction[]> {
    const taken = await Promise.all([...this.#sessions].map((session) => this.#takeOf(session)));
    return taken.flat().flatMap(({ url, functions }) => {
      const file = url.startsWith(ROOT) ? url.slice(ROOT.length) : null;
      if (file === null || !this.isWanted(file)) return [];
      return functions
        .map(({ functionName, ranges }) => ({ functionName, ...ranges[0]! }))
        .filter(({ functionName, startOffset, count }) =>
          count > 0 && !(functionName === "" && startOffset === 0) && !functionName.startsWith("<")
        )
        .map(({ functionName, startOffset }) => ({
          file,
          name: functionName,
          offset: startOffset,
        }));
    });
  }

  [Symbol.dispose](): void {
    this.socket.close();
  }

  async #start(session: string | undefined): Promise<void> {
    await this.#ask("Profiler.enable", {}, session);
    const counting = { callCount: true, detailed: false };
    await this.#ask("Profiler.startPreciseCoverage", counting, session);
    this.#sessions.add(session);
  }

  /** A worker that has ended says nothing more: what it did last is not known. */
  async #takeOf(session: string | undefined): Promise<ScriptCoverage[]> {
    const taken = this.#ask("Profiler.takePreciseCoverage", {}, session);
    const timer = Promise.withResolvers<null>();
    const timeout = setTimeout(() => timer.resolve(null), ANSWER_MS);
    const answer = await Promise.race([taken, timer.promise]).finally(() => clearTimeout(timeout));
    if (answer !== null) return answer.result;
    if (session === undefined) throw new Error("the inspector does not answer");
    this.#sessions.delete(session);
    return [];
  }

  #ask(method: string, params: object, sessionId: string | undefined): Promise<Message> {
    const id = ++this.#lastId;
    const answer = Promise.withResolvers<Message>();
    this.#waiting.set(id, answer);
    this.socket.send(JSON.stringify({ id, method, params, sessionId }));
    return answer.promise;
  }

  #take(message: Message): void {
    const { id, method, params, result, error } = message;
    if (method === "Target.attachedToTarget") void this.#start(params.sessionId).catch(() => {});
    const answer = this.#waiting.get(id);
    this.#waiting.delete(id);
    if (error !== undefined) answer?.reject(new Error(`the inspector: ${error.message}`));
    else answer?.resolve(result);
  }
}

/** Of a process that is busy; one that answers does so within some milliseconds. */
const ANSWER_MS = 2_000;

const ROOT = new URL("../", import.meta.url).href;
