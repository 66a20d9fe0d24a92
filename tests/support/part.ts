/** Programs that some tests need and that some machines lack; .ci/run installs them in CI. */
export type Part =
  | "bun"
  | "caddy"
  | "chromium"
  | "curl"
  | "exim4"
  | "faketime"
  | "git"
  | "msmtp"
  | "nginx"
  | "node"
  | "node22"
  | "npm"
  | "openssl"
  | "postfix"
  | "python3"
  | "swaks";

interface Candidates {
  programs: string[];
  minMajor: number;
  install: string;
  /** Arguments that make it print its version, with a blank between; `--version` unless given. */
  versionArgument?: string;
}

const candidates: Record<Part, Candidates> = {
  bun: { programs: ["bun"], minMajor: 1, install: "Bun 1.2 or later" },
  caddy: {
    programs: ["caddy"],
    minMajor: 2,
    install: "the caddy package",
    versionArgument: "version",
  },
  chromium: {
    programs: ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"],
    minMajor: 100,
    install: "the chromium package",
  },
  curl: { programs: ["curl"], minMajor: 7, install: "the curl package" },
  exim4: {
    programs: ["exim4", "/usr/sbin/exim4"],
    minMajor: 4,
    install: "exim4-daemon-light, which has not to be set up",
    versionArgument: "-C /dev/null -bV",
  },
  // Its library is what tests use; the program says where that lies.
  faketime: { programs: ["faketime"], minMajor: 0, install: "the faketime package" },
  git: { programs: ["git"], minMajor: 2, install: "git" },
  msmtp: { programs: ["msmtp"], minMajor: 1, install: "the msmtp package" },
  nginx: {
    // Debian installs it where only root looks for programs.
    programs: ["nginx", "/usr/sbin/nginx"],
    minMajor: 1,
    install: "the nginx-light package",
    versionArgument: "-v",
  },
  node: { programs: ["node", "nodejs", "node22"], minMajor: 20, install: "Node.js 20 or later" },
  node22: { programs: ["node", "nodejs", "node22"], minMajor: 22, install: "Node.js 22 or later" },
  npm: { programs: ["npm"], minMajor: 9, install: "npm, which comes with Node.js" },
  openssl: {
    programs: ["openssl"],
    minMajor: 3,
    install: "the openssl package",
    versionArgument: "version",
  },
  postfix: {
    programs: ["postconf", "/usr/sbin/postconf"],
    minMajor: 3,
    install: "the postfix package",
    versionArgument: "mail_version",
  },
  python3: { programs: ["python3"], minMajor: 3, install: "Python 3" },
  swaks: { programs: ["swaks"], minMajor: 0, install: "the swaks package" },
};

/** The body of a test; it gets the program it needs. */
export type PartTest = (program: string, t: Deno.TestContext) => void | Promise<void>;

/**
 * Registers a test that needs a program. If the program is missing, the test is skipped by name. In
 * CI (`CI=true`) nothing is skipped: the test fails and says what to install.
 */
export function partOrSkip(part: Part, name: string, fn: PartTest): void {
  const program = findPart(part);
  Deno.test({
    name: `${name} (needs ${part})`,
    ignore: program === null && !isCi(),
    fn: async (t) => {
      if (program === null) {
        throw new Error(
          `${part} is missing: in CI every test runs; install ${candidates[part].install}`,
        );
      }
      await fn(program, t);
    },
  });
}

const found = new Map<Part, string | null>();

/**
 * Name of a program for this part that can be started and is new enough; null when there is none.
 */
export function findPart(part: Part): string | null {
  if (!found.has(part)) {
    const { programs, minMajor, versionArgument = "--version" } = candidates[part];
    const isNewEnough = (program: string) => majorVersion(program, versionArgument) >= minMajor;
    found.set(part, programs.find(isNewEnough) ?? null);
  }
  return found.get(part)!;
}

/** -1 where it cannot be started. */
function majorVersion(program: string, argument: string): number {
  try {
    // Not node:child_process: where Node.js is missing, it starts Deno when asked for node.
    const { success, stdout, stderr } = new Deno.Command(program, {
      args: argument.split(" "),
      stdout: "piped",
      stderr: "piped",
    }).outputSync();
    const decoder = new TextDecoder();
    // nginx prints its version to stderr.
    return success ? majorVersionIn(decoder.decode(stdout) || decoder.decode(stderr)) : -1;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return -1;
    throw error;
  }
}

/** The first number that a program prints for `--version`; 0 when there is none. */
export function majorVersionIn(text: string): number {
  return Number(/(\d+)\.\d+/.exec(text)?.[1] ?? 0);
}

function isCi(): boolean {
  return Deno.env.get("CI") === "true";
}

/** @param name as a test of it is given; exim4 starts itself again by its whole path */
export async function pathOfProgram(name: string): Promise<string> {
  if (name.startsWith("/")) return name;
  const { stdout } = await new Deno.Command("sh", { args: ["-c", `command -v ${name}`] }).output();
  return new TextDecoder().decode(stdout).trim();
}
