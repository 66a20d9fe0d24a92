import { UsageError } from "./failure.ts";
import { defineVerb, flagsOf, type Verb } from "./verb.ts";

/**
 * `relay completions`.
 *
 * @param verbs what is completed; a function, for this verb is one of them
 */
export function completionsVerb(verbs: () => readonly Verb[]): Verb {
  return defineVerb({
    name: "completions",
    summary: "print a completion script for your shell",
    args: "SHELL",
    hint: "bash, zsh or fish",
    usage: "(bash | zsh | fish)",
    about: `
Load it in the shell's start-up file:
  bash    source <(relay completions bash)                        in ~/.bashrc
  zsh     source <(relay completions zsh)                         in ~/.zshrc, after compinit
  fish    relay completions fish > ~/.config/fish/completions/relay.fish`,
    options: {},
    exit: "0, or 2 for another shell",
    async run({ host, args: [shell] }) {
      const script = SCRIPTS.get(shell);
      if (script === undefined) {
        throw new UsageError("for which shell? bash, zsh or fish");
      }
      await host.stdout(script(verbs()));
    },
  });
}

const SCRIPTS = new Map([["bash", bashScript], ["zsh", zshScript], ["fish", fishScript]]);

/** What may stand first, with the verbs that begin so: `mail` stands for several. */
function byFirstWord(verbs: readonly Verb[]): Map<string, Verb[]> {
  const found = new Map<string, Verb[]>();
  for (const verb of verbs) {
    const [first] = verb.name.split(" ") as [string];
    found.set(first, [...found.get(first) ?? [], verb]);
  }
  return found;
}

/** First words that begin verbs of two words. */
function halves(verbs: readonly Verb[]): string[] {
  return [...byFirstWord(verbs)].filter(([, named]) => secondWords(named).length > 0)
    .map(([first]) => first);
}

function secondWords(verbs: readonly Verb[]): string[] {
  return verbs.flatMap(({ name }) => name.split(" ").slice(1));
}

function firstWords(verbs: readonly Verb[]): string {
  return [...byFirstWord(verbs).keys(), "help"].join(" ");
}

/** What may follow a word or two: second words, or options. */
function followers(verbs: readonly Verb[]): [string, string][] {
  const all = [...byFirstWord(verbs)].flatMap(([first, named]): [string, string][] => {
    const own = named.map(({ name, options }): [string, string] => [
      name,
      flagsOf(options).join(" "),
    ]);
    const second = secondWords(named).join(" ");
    return second === "" ? own : [[first, second], ...own];
  });
  return [...all, ["help", firstWords(verbs)]];
}

function bashScript(verbs: readonly Verb[]): string {
  const cases = followers(verbs).map(([name, words]) => `    "${name}") words="${words}" ;;`);
  return `_relay() {
  local current="\${COMP_WORDS[COMP_CWORD]}" verb="\${COMP_WORDS[1]}" words=""
  if [ "$COMP_CWORD" -eq 1 ]; then
    COMPREPLY=($(compgen -W "${firstWords(verbs)}" -- "$current"))
    return
  fi
  case "$verb" in
    ${halves(verbs).join("|")}) [ "$COMP_CWORD" -gt 2 ] && verb="$verb \${COMP_WORDS[2]}" ;;
  esac
  case "$verb" in
${cases.join("\n")}
  esac
  case "$current" in
    -*) COMPREPLY=($(compgen -W "$words" -- "$current")) ;;
    *)
      case "$words" in
        -*)
          compopt -o filenames 2>/dev/null
          COMPREPLY=($(compgen -f -- "$current")) ;;
        *) COMPREPLY=($(compgen -W "$words" -- "$current")) ;;
      esac ;;
  esac
}
complete -F _relay relay
`;
}

function zshScript(verbs: readonly Verb[]): string {
  const cases = followers(verbs).map(([name, words]) => `    "${name}") words_of=(${words}) ;;`);
  return `_relay() {
  local verb="\${words[2]}"
  local -a words_of
  if (( CURRENT == 2 )); then
    compadd -- ${firstWords(verbs)}
    return
  fi
  if (( CURRENT > 3 )) && [[ "$verb" == (${
    halves(verbs).join("|")
  }) ]]; then verb="$verb \${words[3]}"; fi
  case "$verb" in
${cases.join("\n")}
  esac
  if [[ "\${words_of[1]}" == -* && "\${words[CURRENT]}" != -* ]]; then
    _files
  else
    compadd -- $words_of
  fi
}
compdef _relay relay
`;
}

function fishScript(verbs: readonly Verb[]): string {
  const lines = ["complete -c relay -n __fish_use_subcommand -f -a help -d 'explain a verb'"];
  for (const [first, named] of byFirstWord(verbs)) {
    const summary = secondWords(named).join(", ") || named[0]!.summary;
    lines.push(`complete -c relay -n __fish_use_subcommand -f -a ${first} -d '${summary}'`);
  }
  for (const verb of verbs) {
    const words = verb.name.split(" ");
    const seen = words.map((word) => `__fish_seen_subcommand_from ${word}`).join("; and ");
    if (words[1] !== undefined) {
      lines.push(
        `complete -c relay -n '__fish_seen_subcommand_from ${words[0]}' -f -a ${words[1]} ` +
          `-d '${verb.summary}'`,
      );
    }
    for (const [name, { value }] of Object.entries(verb.options)) {
      lines.push(`complete -c relay -n '${seen}' -l ${name}${value === undefined ? "" : " -r"}`);
    }
  }
  return `${lines.join("\n")}\n`;
}
