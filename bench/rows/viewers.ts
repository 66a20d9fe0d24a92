/**
 * A thousand people who watch the network page while messages come, against as many agents that poll
 * once a second: the CPU time that the relay takes for a second of it. A lower ratio is better.
 */
import { registerAgents, sendRequest, signedRequest } from "../agents.ts";
import { drive, httpRequest } from "../load.ts";
import { NotMeasured, type Row } from "../row.ts";
import { startChild } from "../servers/child.ts";
import { readThreadCpu } from "../thread_cpu.ts";

const VIEWERS = 1_000;
/** Each looks every five seconds. */
const LOOKS_A_SECOND = VIEWERS / 5;
const SECONDS = 3;
const AGENTS = 60;
/** As a browser asks; its tag never matches the current page, as if a message had come since. */
const LOOK = httpRequest("GET", "/network", {
  accept: "text/html",
  "accept-encoding": "gzip, deflate, br, zstd",
  "if-none-match": '"0123456789abcdef-gzip"',
});

export const viewers: Row = {
  id: "page-viewers",
  title:
    "1,000 viewers of /network with a new message each second, against 1,000 signed polls a second",
  unit: "ms of CPU a second",
  target: { rule: "at most", ratio: 0.5 },
  async prepare({ temporaryFolder: folder }) {
    const relay = await startChild<{ port: number }>("relay.ts", { folder });
    const agents = await registerAgents(relay.ready.port, AGENTS);
    const cpuMs = () => {
      const cpu = readThreadCpu(relay.pid);
      if (cpu === null) throw new NotMeasured("this system has no /proc");
      return (cpu.main + cpu.store + cpu.workers) / 1_000;
    };
    cpuMs(); // or it is not measured
    const send = () =>
      drive(
        relay,
        [sendRequest(agents[0]!, agents[1]!)],
        { connections: 1, status: 201 },
      );
    for (let i = 0; i < AGENTS; i++) await send(); // a page of the feed is full
    const looks = Array.from({ length: LOOKS_A_SECOND }, () => LOOK);
    const atWork = async (work: () => Promise<unknown>) => {
      const before = cpuMs();
      await work();
      return (cpuMs() - before) / SECONDS;
    };
    return {
      ours: () =>
        atWork(async () => {
          for (let second = 0; second < SECONDS; second++) {
            const nextMs = performance.now() + 1_000;
            await send();
            await drive(relay, looks, { connections: LOOKS_A_SECOND, status: 200 });
            await new Promise((resolve) => setTimeout(resolve, nextMs - performance.now()));
          }
        }),
      reference: () =>
        atWork(() =>
          drive(
            relay,
            Array.from(
              { length: VIEWERS * SECONDS },
              (_, i) => signedRequest(agents[i % AGENTS]!, "GET", "/v1/inbox"),
            ),
            { connections: AGENTS, status: 200 },
          )
        ),
      note: () => `${LOOKS_A_SECOND} looks a second, each given the whole page`,
      close: () => relay.stop(),
    };
  },
};
