/** Webhooks: how fast events reach their receivers, and what a receiver that is dead costs messaging. */
import { createHmac } from "node:crypto";
import { request } from "node:https";
import { registerAgents } from "../agents.ts";
import { drive, type LoadedServer } from "../load.ts";
import { inboundRequest, type MailBox, openMailBox, sampleMail } from "../mail_box.ts";
import { type Context, NotMeasured, type Row } from "../row.ts";
import { type Child, startChild } from "../servers/child.ts";
import type { HookReceiversArgument } from "../servers/hook_receivers.ts";
import { cpuPerRequest, readThreadCpu } from "../thread_cpu.ts";
import { sendsP99 } from "./sends_beside.ts";

const RECEIVERS = 10;
const MAILS = 60;
/** As many requests at one time as the relay makes for one org. */
const AT_ONE_TIME = 16;
const WAITING = 5_000;
const AGENTS = 50;

type Relay = Child<{ port: number }>;
type Receivers = Child<{ ports: number[] }>;

/** A certificate for 127.0.0.1; `path` is that of its issuer's, since no server may use that one. */
async function makeCertificate(
  folder: string,
): Promise<Pick<HookReceiversArgument, "cert" | "key"> & { path: string }> {
  const path = `${folder}/issuer.pem`;
  const issue = async (name: string, subject: string, further: readonly string[]) => {
    const args = "req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2"
      .split(" ")
      .concat(["-subj", `/CN=${subject}`, "-keyout", `${folder}/${name}_key.pem`])
      .concat(["-out", `${folder}/${name}.pem`, ...further]);
    const openssl = new Deno.Command("openssl", { args, stdout: "null", stderr: "null" });
    const made = await openssl.output().catch(() => null);
    if (made?.success !== true) throw new NotMeasured("openssl 3 is not there for a certificate");
  };
  await issue("issuer", "issuer", []);
  await issue("hooks", "127.0.0.1", [
    ...["-CA", path, "-CAkey", `${folder}/issuer_key.pem`],
    ...["-addext", "subjectAltName=IP:127.0.0.1", "-addext", "basicConstraints=CA:FALSE"],
  ]);
  return {
    path,
    cert: await Deno.readTextFile(`${folder}/hooks.pem`),
    key: await Deno.readTextFile(`${folder}/hooks_key.pem`),
  };
}

/** Over `apiKey`, an org's webhook for received messages. */
async function createWebhook(relay: Relay, { apiKey }: MailBox, url: string): Promise<string> {
  const answer = await fetch(`http://127.0.0.1:${relay.ready.port}/v1/mail/webhooks`, {
    method: "POST",
    headers: { authorization: `Bearer ${apiKey}` },
    body: JSON.stringify({ url, events: ["message.received"] }),
  });
  if (answer.status !== 201) throw new Error(await answer.text());
  return (await answer.json()).secret;
}

async function handIn(relay: Relay, box: MailBox, mails: number): Promise<void> {
  const requests = Array.from(
    { length: mails },
    () => inboundRequest(box.address, sampleMail().raw),
  );
  await drive(relay, requests, { connections: 8, status: 200 });
}

async function until(isTrue: () => Promise<boolean>): Promise<void> {
  while (!await isTrue()) await new Promise((resolve) => setTimeout(resolve, 10));
}

const deliveries: Row = {
  id: "webhooks",
  title:
    "queued events of 8 KB delivered to ten receivers over HTTPS, each attempt logged, against " +
    "bare requests of node:https with the same signature",
  unit: "/s",
  target: { rule: "at least", ratio: 0.4 },
  async prepare({ temporaryFolder: folder, count }) {
    const { path, cert, key } = await makeCertificate(folder);
    const argument: HookReceiversArgument = { receivers: RECEIVERS, cert, key };
    const receivers: Receivers = await startChild("hook_receivers.ts", argument);
    const relay: Relay = await withTrust(
      path,
      () => startChild("relay.ts", { folder, mail: true }),
    );
    const box = await openMailBox(relay.ready.port);
    const urls = receivers.ready.ports.map((port) => `https://127.0.0.1:${port}/hook`);
    for (const url of urls) await createWebhook(relay, box, url);
    const mails = count(MAILS);
    const all = mails * RECEIVERS;
    return {
      async ours() {
        await receivers.ask("reset");
        await receivers.ask("hold");
        await handIn(relay, box, mails);
        await until(async () => await receivers.ask<number>("held") > 0);
        const before = readThreadCpu(relay.pid);
        const beganMs = performance.now();
        await receivers.ask("release");
        await until(async () => await receivers.ask<number>("taken") >= all);
        const value = all / ((performance.now() - beganMs) / 1000);
        return { value, cpuUs: cpuPerRequest(before, readThreadCpu(relay.pid), all) };
      },
      async reference() {
        await receivers.ask("reset");
        const body = new TextEncoder().encode("x".repeat(8 * 1024));
        const ca = await Deno.readTextFile(path);
        const hmacKey = crypto.getRandomValues(new Uint8Array(32));
        let next = 0;
        const lane = async () => {
          while (next < all) await post(urls[next++ % RECEIVERS]!, body, { hmacKey, ca });
        };
        const beganMs = performance.now();
        await Promise.all(Array.from({ length: AT_ONE_TIME }, lane));
        return all / ((performance.now() - beganMs) / 1000);
      },
      async close() {
        await relay.stop();
        await receivers.stop();
      },
    };
  },
};

/** Children that are started meanwhile trust the certificate of a path. */
async function withTrust<T>(path: string, work: () => Promise<T>): Promise<T> {
  Deno.env.set("NODE_EXTRA_CA_CERTS", path);
  try {
    return await work();
  } finally {
    Deno.env.delete("NODE_EXTRA_CA_CERTS");
  }
}

/** One delivery as its least: a signature, a connection of its own, the answer. */
function post(
  url: string,
  body: Uint8Array,
  { hmacKey, ca }: { hmacKey: Uint8Array; ca: string },
): Promise<void> {
  const id = `evt_${crypto.randomUUID()}`;
  const timestamp = String(Math.floor(Date.now() / 1000));
  const signature = createHmac("sha256", hmacKey)
    .update(`${id}.${timestamp}.`).update(body).digest("base64");
  return new Promise((resolve, reject) => {
    const asked = request(url, {
      method: "POST",
      agent: false,
      ca,
      headers: {
        "content-type": "application/json",
        "content-length": body.length,
        "webhook-id": id,
        "webhook-timestamp": timestamp,
        "webhook-signature": `v1,${signature}`,
      },
    }, (answer) => {
      answer.resume();
      answer.on("end", resolve);
    });
    asked.on("error", reject);
    asked.end(body);
  });
}

const sendsBesideDeadHost: Row = {
  id: "beside-webhooks",
  title: "p99 of signed sends while 5,000 deliveries wait for a receiver that never answers, " +
    "against quiet",
  unit: "ms",
  target: { rule: "at most", ratio: 1.5 },
  async prepare({ temporaryFolder, count, random }: Context) {
    const dead = Deno.listen({ hostname: "127.0.0.1", port: 0 }); // takes connections, reads nothing
    const start = async (name: string) => {
      const folder = `${temporaryFolder}/${name}`;
      await Deno.mkdir(folder);
      return await startChild<{ port: number }>("relay.ts", { folder, mail: true });
    };
    const [relay, quiet] = [await start("beside"), await start("quiet")];
    const box = await openMailBox(relay.ready.port);
    const url = `http://127.0.0.1:${dead.addr.port}/hook`;
    const hooks = 10;
    for (let i = 0; i < hooks; i++) await createWebhook(relay, box, `${url}/${i}`);
    const mails = Math.ceil(count(WAITING) / hooks);
    await handIn(relay, box, mails);
    // The same mails, of which nobody hears: both processes are as warm.
    await handIn(quiet, await openMailBox(quiet.ready.port), mails);
    const [ours, reference] = await Promise.all([relay, quiet].map(async (one) => {
      const agents = await registerAgents(one.ready.port, AGENTS);
      return sendsP99(one as LoadedServer, agents, { count, random });
    }));
    return {
      ours: ours!,
      reference: reference!,
      async close() {
        await relay.stop();
        await quiet.stop();
        dead.close();
      },
    };
  },
};

export const webhookRows: readonly Row[] = [deliveries, sendsBesideDeadHost];
