/** Every program on a page of the documentation is run, in its language, against the relay that shows it. */
import assert from "node:assert/strict";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { ask } from "../../support/answer.ts";
import { ADMIN_TOKEN } from "../../support/figures.ts";
import { newestLink } from "../../support/mail_links.ts";
import { askMail, registerOrg, startMailRelay } from "../../support/mail_relay.ts";
import { findPart, partOrSkip } from "../../support/part.ts";
import { pythonOrSkip } from "../../support/python_program.ts";
import type { TestRelay } from "../../support/relay.ts";
import { registerAgent } from "../../support/test_agent.ts";
import { callTool } from "../../support/tool_client.ts";
import { runInShell } from "../site/shown_samples.ts";

const ROOT = fileURLToPath(new URL("../../..", import.meta.url));
const REQUIREMENTS = join(ROOT, "tests/base/description/python_example_requirements.txt");
const SEED_HEX = "6".repeat(64);

/** Configurations are covered by the tests of the programs they are for. */
const PROGRAMS = ["sh", "bash", "python", "js", "javascript", "ts", "typescript"];

interface Block {
  language: string;
  text: string;
}

/** The blocks of code of a page, in order, from its Markdown. */
async function blocksOf(relay: TestRelay, page: string): Promise<Block[]> {
  const { status, text } = await ask(`${relay.url}${page}.md`);
  assert.equal(status, 200, page);
  return [...text.matchAll(/^```(\w*)[^\n]*\n([^]*?)^```$/gm)].map(([, language, text]) => ({
    language: language!,
    text: text!,
  }));
}

const shells = async (relay: TestRelay, page: string) =>
  (await blocksOf(relay, page)).filter(({ language }) => language === "sh").map(({ text }) => text);

async function withRelay(fn: (relay: TestRelay, home: string) => Promise<void>): Promise<void> {
  await using relay = await startMailRelay({
    clockStartMs: "real",
    limits: {
      inboxPollIntervalMs: 0,
      registrationsPerIpPerHour: 100,
      toolRegistrationsPerIpPerHour: 100,
      mailRegistrationsPerIpPerHour: 100,
      mailMagicPerIpPerHour: 100,
      mailInboxesPerTrial: 10,
    },
    config: { adminToken: ADMIN_TOKEN },
  });
  const home = await Deno.makeTempDir({ prefix: "relay-docs-" });
  try {
    await fn(relay, home);
  } finally {
    await Deno.remove(home, { recursive: true });
  }
}

Deno.test("every program of the guides is one that a test runs", async () => {
  await withRelay(async (relay) => {
    const counts: Record<string, string> = {};
    const index = (await ask(`${relay.url}/llms.txt`)).text;
    const guides = [...index.matchAll(/\/docs\/([a-z-]+)\.md/g)].map(([, slug]) => slug!);
    for (const slug of guides) {
      const languages = (await blocksOf(relay, `/docs/${slug}`)).map(({ language }) => language)
        .filter((language) => PROGRAMS.includes(language));
      if (languages.length > 0) counts[slug] = languages.join(" ");
    }
    assert.deepEqual(counts, {
      start: "sh sh python js js ts",
      verify: "ts ts ts", // documentation tests
      mcp: "sh sh",
      client: "ts ts ts", // documentation tests
      // The first starts a relay: tests/web/dev/local_process_test.ts; nine read mail: reading_examples_test.ts;
      // six send it: sending_examples_test.ts; two write drafts: draft_examples_test.ts; two are for
      // operators: setup_examples_test.ts. One is a tour of webhooks: tests/process/readme_tour_test.ts.
      mail: Array(25).fill("sh").join(" "),
      operate: "sh sh sh", // the first is a tour: tests/process/readme_tour_test.ts
    }, "a program was added or removed: have a test run it, and count it here");
  });
});

partOrSkip("curl", "the start by curl registers, sends and receives", async () => {
  await withRelay(async (relay, home) => {
    const [script] = await shells(relay, "/docs/start");
    const { code, out } = await runInShell(`set -e\n${script}`, { cwd: home, home });
    assert.equal(code, 0, out);
    assert.match(out, /"body":\{"text":"Hello"\}/);
  });
});

Deno.test("the start in JavaScript and in TypeScript registers, sends and receives", async () => {
  await withRelay(async (relay, home) => {
    const blocks = await blocksOf(relay, "/docs/start");
    const [library, agent] = blocks.filter(({ language }) => language === "js");
    const [typescript] = blocks.filter(({ language }) => language === "ts");
    await Deno.writeTextFile(join(home, "relay.mjs"), library!.text);
    await Deno.writeTextFile(join(home, "agent.mjs"), agent!.text);
    await Deno.writeTextFile(join(home, "agent.ts"), typescript!.text);
    const env = { RELAY_PRIVATE_KEY_HEX: SEED_HEX };
    const deno =
      `${Deno.execPath()} run --quiet --allow-env --allow-net --config=${ROOT}/deno.json`;
    const node = findPart("node22");
    const runs = [
      [`${deno} agent.mjs`, /^Hello$/m],
      [`${deno} --check agent.ts`, /^proven \{ text: "Hello" \}$/m],
      ...(node === null ? [] : [[`${node} agent.mjs`, /^Hello$/m] as const]),
    ] as const;
    assert.ok(runs.length >= 2);
    for (const [index, [command, said]] of runs.entries()) {
      const seed = { ...env, RELAY_PRIVATE_KEY_HEX: String(index + 1).repeat(64) };
      const { code, out } = await runInShell(command, { cwd: home, home, env: seed });
      assert.equal(code, 0, out);
      assert.match(out, said);
    }
  });
});

await pythonOrSkip(
  REQUIREMENTS,
  ["cryptography"],
  "the start in Python registers, sends and receives",
  async (_, python) => {
    await withRelay(async (relay, home) => {
      const other = await registerAgent(relay, "other_handle");
      await other.send({ to: "other_handle", body: "earlier" });
      const blocks = await blocksOf(relay, "/docs/start");
      const program = blocks.find(({ language }) => language === "python")!.text;
      await Deno.writeTextFile(join(home, "relay.py"), program);
      const run = blocks.filter(({ language }) => language === "sh")[1]!.text;
      assert.match(run, /^python3 relay\.py/m);
      const { out } = await runInShell(run.replace(/^python3 /m, "exec python3 "), {
        cwd: home,
        home,
        programs: { openssl: `echo ${SEED_HEX}` },
        env: python,
        until: /content_hash/,
      });
      assert.match(out, /"handle":"some_handle"/);
      const messages = await other.inbox();
      assert.deepEqual(messages.at(-1).body, { text: "Hello" });
    });
  },
);

partOrSkip(
  "curl",
  "the commands of the guide for tool clients list the tools and take a key",
  async () => {
    await withRelay(async (relay, home) => {
      const [list, take] = await shells(relay, "/docs/mcp");
      const { structured: { token } } = await callTool(relay.url, "register", {
        handle: "my_agent",
      });
      const script = `set -e\n${list}\n${take}`;
      const { code, out } = await runInShell(script, { cwd: home, home, env: { TOKEN: token } });
      assert.equal(code, 0, out);
      assert.match(out, /"name":"send_message"/);
      assert.match(out, /"handle":"my_agent".*"private_key_hex":"[0-9a-f]{64}"/);
    });
  },
);

partOrSkip("curl", "the operator's commands ban, list, lift and purge", async () => {
  await withRelay(async (relay, home) => {
    const bob = await registerAgent(relay, "bob");
    const [bans, purge] = (await shells(relay, "/docs/operate")).slice(-2);
    const again = `admin -d '{"handle":"bob"}' ${relay.url}/v1/admin/ban`;
    const script = `set -e\n${bans}\n${again}\n${purge!.replace("KEY", bob.address)}`
      .replaceAll("https://relay.example.org", relay.url);
    const env = { RELAY_ADMIN_TOKEN: ADMIN_TOKEN };
    const { code, out } = await runInShell(script, { cwd: home, home, env });
    assert.equal(code, 0, out);
    assert.match(out, /"handle":"bob","reason":"sends spam"/);
    assert.match(out, /"status":"purging"/);
    assert.doesNotMatch(out, /"error"/);
  });
});

partOrSkip(
  "curl",
  "the commands of the guide for mail make an org with an inbox, and mail links",
  async () => {
    await withRelay(async (relay, home) => {
      const blocks = await shells(relay, "/docs/mail");
      // The others start a relay, and take a token of Google's: tests/mail has both.
      const run = [/relay keygen/, /\/org\/claim/, /\/org\/magic/].map((what) =>
        blocks.find((block) => what.test(block))!
      );
      const script = `set -e\n${run.join("\n")}`
        .replaceAll("http://127.0.0.1:8000", relay.url)
        // A task runs in the folder of the checkout, which stays as it is.
        .replaceAll(/\b(agent|org)\.json/g, `${home}/$1.json`);
      const env = { PATH: `${dirname(Deno.execPath())}:${Deno.env.get("PATH")}` };
      const { code, out } = await runInShell(script, { cwd: ROOT, home, env });
      assert.equal(code, 0, out);
      assert.match(out, /"address":"bot@agents\.test"/);
      assert.match(out, /"sent":true/);
      assert.doesNotMatch(out, /"error"/);
    });
  },
);

/** What the reference's commands find on the relay: each operation of mail has an org of its own. */
async function world(relay: TestRelay, id: string): Promise<Record<string, string>> {
  const base = { RELAY_ADMIN_TOKEN: ADMIN_TOKEN, LINK_TOKEN: "none", ID_TOKEN: "none", ID: "none" };
  const { url } = relay;
  if (!/Mail|Link|Google/.test(id)) {
    const handle = `a_${id.toLowerCase()}`;
    const { structured: { token } } = await callTool(url, "register", { handle });
    // To itself, so that its inbox does not wait for one.
    const sent = await callTool(url, "send_message", { token, to: handle, body: "Hi" });
    return { ...base, TOKEN: token, ID: String(sent.structured.id), LINK_TOKEN: "A".repeat(43) };
  }
  const { orgId, apiKey: key } = await registerOrg(relay);
  const made = async (path: string, body: Record<string, unknown>) =>
    (await askMail(url, "POST", path, { key, body })).body.id;
  const object = /Inbox/.test(id)
    ? await made("/v1/mail/inboxes", {})
    : /Key/.test(id)
    ? await made("/v1/mail/api-keys", { name: "second" })
    : orgId;
  return {
    ...base,
    MAIL_KEY: key,
    ORG_ID: orgId,
    ID: object,
    ...(LINKS[id] === undefined ? {} : { LINK_TOKEN: await linkToken(relay, LINKS[id], key) }),
  };
}

/** Which mail brings the link that an operation takes. */
const LINKS: Readonly<Record<string, string>> = {
  followMagicLink: "magic",
  confirmMagicLink: "magic",
  followClaimLink: "claim",
  confirmClaimLink: "claim",
};

async function linkToken(relay: TestRelay, kind: string, key: string): Promise<string> {
  const email = `${crypto.randomUUID()}@example.org`;
  await askMail(relay.url, "POST", `/v1/mail/org/${kind}`, { key, body: { email } });
  return (await newestLink(relay, email)).token;
}

/** What cannot succeed here, with the code that its page names. */
const REFUSED: Readonly<Record<string, string>> = {
  signInWithGoogle: "google_signin_disabled",
  attachGoogle: "google_signin_disabled",
  unlinkGoogle: "last_identity",
};

/** What the world above has all of; a later operation of mail may be refused by a code of its page. */
const OF_MAIL =
  /^(?:(?:read|delete)MailOrg|(?:create|list|read|update|delete)Mail(?:Inbox|Inboxes|Key|Keys)|.*MagicLink|.*ClaimLink|claimMailOrg|.*suspendMailOrg)$/;

/** Operations that others need, and that end what others need. */
const ORDER = ["register", "sendMessage", "banAgent", "purgeAgent", "unbanAgent"];

partOrSkip("curl", "each command of the reference is answered as its page says", async () => {
  await withRelay(async (relay, home) => {
    const bob = await registerAgent(relay, "bob");
    assert.equal(bob.handle, "bob");
    const index = (await ask(`${relay.url}/llms.txt`)).text;
    const ids = [...index.matchAll(/\/docs\/reference\/(\w+)\.md/g)].map(([, id]) => id!)
      .toSorted((a, b) => rank(a) - rank(b));
    assert.ok(ids.length > 40, String(ids.length));
    const without: string[] = [];
    for (const id of ids) {
      const page = (await ask(`${relay.url}/docs/reference/${id}.md`)).text;
      const command = /^## Example\n\n```sh\n([^]*?)^```/m.exec(page)?.[1];
      if (command === undefined) {
        without.push(id);
        continue;
      }
      const { code, out } = await runInShell(
        `curl() { command curl -m 20 -w '\\nstatus %{http_code}' "$@"; }\n${command}`,
        { cwd: home, home, env: await world(relay, id) },
      );
      assert.equal(code, 0, `${id}: ${out}`);
      const refused = /"code":"([a-z_]+)"/.exec(out)?.[1];
      const status = Number(/status (\d+)$/.exec(out)![1]);
      // Pages of a session lead to the one that begins one.
      const isPage = /^`[A-Z]+ \/mail/m.test(page);
      if (status < 300 || status === 303 && isPage) continue;
      const isLater = /^`[A-Z]+ \/(?:v1|mcp)\/(?:admin\/)?mail/m.test(page) && !OF_MAIL.test(id);
      if (!isLater) assert.equal(refused, REFUSED[id], `${id}: ${out}`);
      assert.ok(page.includes(`\`${refused}\``), `${id} says nothing of ${refused}`);
    }
    // Bodies that only a key can sign; later operations of mail may have no example.
    for (const id of ["registerMail", "registerMailTrial", "rotateOwnerToken"]) {
      assert.ok(without.includes(id), id);
    }
    assert.deepEqual(without.filter((id) => OF_MAIL.test(id)), []);
    assert.ok(ids.length - without.length > 35);
  });
});

function rank(id: string): number {
  const place = ORDER.indexOf(id);
  return place < 0 ? 2.5 : place < 2 ? place : place + 1;
}
