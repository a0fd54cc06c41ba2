import type { Command } from "commander";
import type { CliContext } from "../context.ts";
import { UsageError } from "../errors.ts";

/** Words that may follow a command, by the words that name it: `""` for the program, `"db check"`. */
type Words = ReadonlyMap<string, readonly string[]>;

const SHELLS: Readonly<Record<string, (words: Words) => string>> = {
  bash: bashScript,
  // zsh runs the scripts of bash.
  zsh: (words) => `autoload -U +X bashcompinit && bashcompinit\n${bashScript(words)}`,
  fish: fishScript,
};

/** Prints the script that completes the commands and flags of `program` in a shell. @throws UsageError */
export function printCompletion(shell: string, program: Command, { stdout }: CliContext): void {
  const script = SHELLS[shell];
  if (script === undefined) {
    throw new UsageError(`${shell}: supported shells are ${Object.keys(SHELLS).join(", ")}`);
  }
  stdout.write(script(wordsOf(program)));
}

function wordsOf(command: Command, path = ""): Words {
  const visible = command.createHelp().visibleOptions(command);
  const words = [...command.commands.map((each) => each.name()), ...visible.flatMap(({ long }) => long ?? [])];
  const below = command.commands.flatMap((each) => [...wordsOf(each, `${path} ${each.name()}`.trim())]);
  return new Map([[path, words], ...below]);
}

/** Other words, such as values of flags, do not change which command is completed. */
function bashScript(words: Words): string {
  const commands = [...words.keys()].filter((path) => path !== "").map((path) => `" ${path}"`);
  const cases = [...words].map(
    ([path, list]) => `    "${path === "" ? "" : ` ${path}`}") words="${list.join(" ")}" ;;`,
  );
  return `_evmintd() {
  local path="" word words
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    case "$path $word" in
    ${commands.join(" | ")}) path="$path $word" ;;
    esac
  done
  case "$path" in
${cases.join("\n")}
  esac
  COMPREPLY=($(compgen -W "$words" -- "\${COMP_WORDS[COMP_CWORD]}"))
}
complete -o default -F _evmintd evmintd
`;
}

function fishScript(words: Words): string {
  const lines = [...words].flatMap(([path, list]) =>
    list.map((word) => {
      const condition =
        path === ""
          ? "__fish_use_subcommand"
          : path
              .split(" ")
              .map((name) => `__fish_seen_subcommand_from ${name}`)
              .join("; and ");
      const what = word.startsWith("--") ? `-l ${word.slice(2)}` : `-f -a ${word}`;
      return `complete -c evmintd -n "${condition}" ${what}`;
    }),
  );
  return `${lines.join("\n")}\n`;
}
