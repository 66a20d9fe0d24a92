/** A search of mail that covers a large inbox. */
import { openMailBox } from "../mail_box.ts";
import { quantile } from "../statistics.ts";
import type { Row } from "../row.ts";
import { startChild } from "../servers/child.ts";
import { fillInbox } from "../stored_mail.ts";

const MAILS = 100_000;
const WORDS = 20_000;
const WORDS_A_MAIL = 80;
const SEARCHES = 400;
const PROMISED_MS = 20;
const RETRY_MS = 500;

export const mailSearch: Row = {
  id: "mail-search-100k",
  title: "p99 of a search for any word among 100,000 mails of an inbox, against 20 ms",
  unit: "ms",
  target: { rule: "at most", ratio: 1 },
  slow: true,
  async prepare({ temporaryFolder: folder, count, random, progress }) {
    const start = () => startChild<{ port: number }>("relay.ts", { folder, mail: true });
    let relay = await start();
    const box = await openMailBox(relay.ready.port);
    await relay.stop();
    const mails = count(MAILS);
    progress(`writing ${mails} mails`);
    // The first words stand in half of all mails, the last ones in a few.
    const anyWord = () => `w${Math.floor(WORDS * random() ** 4).toString(36)}`;
    await fillInbox(folder, box, mails, (i) => {
      const words = Array.from({ length: WORDS_A_MAIL }, anyWord);
      return `hello no${i} ${words.join(" ")}`;
    });
    const beganMs = performance.now();
    relay = await start();
    const startedMs = performance.now() - beganMs;
    const search = async (q: string): Promise<{ partial?: true }> => {
      const url = `http://127.0.0.1:${relay.ready.port}/v1/mail/search?q=${q}`;
      const answer = await fetch(url, { headers: { authorization: `Bearer ${box.apiKey}` } });
      if (answer.status !== 200) throw new Error(await answer.text());
      return await answer.json();
    };
    progress("waiting for the index");
    let waited = 0;
    while ((await search("no0")).partial) {
      await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
      if (++waited === 2_400) throw new Error("the index was not ready within twenty minutes");
    }
    const indexedMs = performance.now() - beganMs;
    const queries = [
      () => "hello",
      anyWord,
      anyWord,
      () => `no${Math.floor(random() * mails)}`,
      () => `absent${Math.floor(random() * mails)}`,
    ];
    return {
      async ours() {
        const tookMs: number[] = [];
        for (let i = 0; i < SEARCHES; i++) {
          const sentMs = performance.now();
          const { partial } = await search(queries[i % queries.length]!());
          tookMs.push(performance.now() - sentMs);
          if (partial) throw new Error("a search was partial");
        }
        tookMs.sort((a, b) => a - b);
        const p99Ms = quantile(tookMs, 0.99);
        return { value: p99Ms, p50Ms: quantile(tookMs, 0.5), p99Ms };
      },
      reference: () => Promise.resolve(PROMISED_MS),
      note: () =>
        `${mails} mails, the relay started in ${
          Math.round(startedMs)
        } ms, and had all of them in its ` +
        `index ${Math.round(indexedMs / 1_000)} s after that`,
      close: () => relay.stop(),
    };
  },
};
