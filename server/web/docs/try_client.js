/**
 * The script of /docs/try: Swagger UI over /openapi.json, and a key of one's own that signs what is
 * tried out. The key is made here, cannot be exported and is gone with the page.
 */
const SIGNED = /^\/(v1|mcp)\b/;

// Swagger UI has colours for the dark, and leaves it to the page to say when.
const dark = matchMedia("(prefers-color-scheme: dark)");
const followScreen = () => document.documentElement.classList.toggle("dark-mode", dark.matches);
dark.addEventListener("change", followScreen);
followScreen();

/** @type {{ address: string, key: CryptoKey } | undefined} */
let agent;
const usedTexts = new Set();

const spec = await (await fetch("/openapi.json")).json();
// Guides and the reference say the rest; here are the routes.
spec.info.description = "Requests go to this relay, and take effect.";
const page = globalThis.SwaggerUIBundle({
  spec,
  domNode: document.getElementById("reference"),
  validatorUrl: null,
  deepLinking: true,
  docExpansion: "list",
  defaultModelsExpandDepth: 0,
  defaultModelExpandDepth: 4,
  displayRequestDuration: true,
  filter: true,
  persistAuthorization: false,
  requestSnippetsEnabled: true,
  showCommonExtensions: true,
  showExtensions: true,
  tryItOutEnabled: true,
  requestInterceptor: sign,
});

const button = document.getElementById("make-key");
button.addEventListener("click", async () => {
  button.disabled = true;
  try {
    agent = await makeAgent();
    const handle = `try_${crypto.randomUUID().slice(0, 8)}`;
    fillIn(handle, agent.address);
    tell(`Requests are signed by ${agent.address} (register it first, as ${handle})`);
  } catch {
    tell("This browser cannot make Ed25519 keys: use a newer one, or a token");
  }
  button.disabled = false;
});

/** The key and a handle stand in the body of the registration, and the handle in that of a message. */
function fillIn(handle, pubkey) {
  const register = spec.paths["/v1/register"].post;
  const send = spec.paths["/v1/messages"].post;
  setExamples(register, () => ({ handle, pubkey }));
  setExamples(send, (body) => ({ ...body, to: handle }));
  // Bodies that stand open keep what was typed into them.
  page.specActions.updateSpec(JSON.stringify(spec));
  const [tag] = register.tags;
  page.layoutActions.show(["operations", tag, register.operationId], true);
}

function setExamples(operation, change) {
  const { examples } = operation.requestBody.content["application/json"];
  for (const example of Object.values(examples)) example.value = change(example.value);
}

function tell(text) {
  document.getElementById("key-status").textContent = text;
}

async function makeAgent() {
  const pair = await crypto.subtle.generateKey("Ed25519", false, ["sign", "verify"]);
  const publicKey = new Uint8Array(await crypto.subtle.exportKey("raw", pair.publicKey));
  return { address: base58(publicKey), key: pair.privateKey };
}

/** Adds the three signature headers, unless the request carries a token. */
async function sign(request) {
  const { pathname, origin } = new URL(request.url, location.href);
  const path = request.url.replace(origin, "").split("?")[0] || pathname;
  const hasToken = Object.keys(request.headers).some((name) => /^authorization$/i.test(name));
  if (agent === undefined || hasToken || !SIGNED.test(path)) return request;
  const body = new TextEncoder().encode(request.body ?? "");
  const hash = hex(await crypto.subtle.digest("SHA-256", body));
  const textAt = (seconds) => `relay:v1:${request.method}:${path}:${hash}:${seconds}`;
  let seconds = Math.floor(Date.now() / 1000);
  // Equal requests with equal timestamps are one request to the relay.
  while (usedTexts.has(textAt(seconds))) seconds++;
  usedTexts.add(textAt(seconds));
  const bytes = new TextEncoder().encode(textAt(seconds));
  const signature = new Uint8Array(await crypto.subtle.sign("Ed25519", agent.key, bytes));
  request.headers["X-Relay-Pubkey"] = agent.address;
  request.headers["X-Relay-Timestamp"] = String(seconds);
  request.headers["X-Relay-Signature"] = btoa(String.fromCharCode(...signature));
  return request;
}

function hex(buffer) {
  return [...new Uint8Array(buffer)].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}

function base58(bytes) {
  const letters = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz";
  let text = "";
  for (let number = BigInt(`0x${hex(bytes.buffer)}`); number > 0n; number /= 58n) {
    text = letters[Number(number % 58n)] + text;
  }
  const zeros = bytes.findIndex((byte) => byte !== 0);
  return "1".repeat(zeros < 0 ? bytes.length : zeros) + text;
}
