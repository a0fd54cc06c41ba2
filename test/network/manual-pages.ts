import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { ROOT } from "../../scripts/reference/page.ts";
import { PATIENT_ENVIRONMENT } from "../support/patient.ts";

/** Longer than any of the waits of a procedure takes on a machine that does other work too. */
const BLOCK_MS_MAX = 240_000;
/** A node ends within five seconds. */
const STOP_POLL_MS = 100;

/** Shell lines of a page of docs/operations that are to be run: the fence says ```sh run on=ROLE. */
export type ManualBlock = { readonly section: string; readonly role: string; readonly text: string };

/** The blocks of a page in their order, without the indentation of a list. */
export function manualBlocks(page: string): readonly ManualBlock[] {
  const lines = readFileSync(join(ROOT, page), "utf8").split("\n");
  const blocks: ManualBlock[] = [];
  let section = "";
  for (let at = 0; at < lines.length; at++) {
    section = /^#+ (.*)/.exec(lines[at]!)?.[1] ?? section;
    const [, indent, role] = /^( *)```sh run on=(\S+)$/.exec(lines[at]!) ?? [];
    if (role === undefined) continue;
    const end = lines.indexOf(`${indent}\`\`\``, at);
    assert.ok(end > at, `${page}: a block without an end`);
    blocks.push({
      section,
      role,
      text: lines
        .slice(at + 1, end)
        .map((line) => line.slice(indent!.length))
        .join("\n"),
    });
    at = end;
  }
  return blocks;
}

export type MachineOptions = {
  /** Of all files of the machine. */
  readonly folder: string;
  readonly home: string;
  /** `host:port` of its JSON-RPC. */
  readonly http: string;
  /** A folder that all machines have. */
  readonly shared: string;
  /** Settings of its node besides those of the home, by their environment variables. */
  readonly environment?: Readonly<Record<string, string>>;
};

/** A machine of an operator: commands find its home, its address and a `systemctl` under the names that the manual has for them. */
export class Machine {
  readonly home: string;
  readonly http: string;
  readonly #options: MachineOptions;
  readonly #pidFile: string;

  constructor(options: MachineOptions) {
    this.#options = options;
    this.home = options.home;
    this.http = options.http;
    this.#pidFile = join(options.folder, "evmint.pid");
    const programs = join(options.folder, "bin");
    for (const name of [programs, join(options.folder, "systemd"), join(options.folder, "backups")]) {
      mkdirSync(name, { recursive: true });
    }
    symlinkSync(join(ROOT, "bin/evmintd.js"), join(programs, "evmintd"));
    writeFileSync(join(programs, "systemctl"), this.#systemctl());
    chmodSync(join(programs, "systemctl"), 0o755);
  }

  get log(): string {
    const path = join(this.#options.folder, "node.log");
    return existsSync(path) ? readFileSync(path, "utf8") : "";
  }

  /**
   * Runs lines of the manual, and returns what they print.
   * @param values what a reader puts in for the words in capitals
   */
  async run(text: string, values: Readonly<Record<string, string>> = {}): Promise<string> {
    const { folder, shared } = this.#options;
    const names: Readonly<Record<string, string>> = {
      "/etc/systemd/system": join(folder, "systemd"),
      "/var/backups": join(folder, "backups"),
      "/var/lib/evmint": this.home,
      "/backup": shared,
      "127.0.0.1:8545": this.http,
      ...values,
    };
    // The longest first: one may be a part of another.
    const patterns = Object.keys(names).sort((a, b) => b.length - a.length);
    const pattern = new RegExp(patterns.map((each) => each.replace(/[.]/g, "\\.")).join("|"), "g");
    const lines = text.replace(pattern, (name) => names[name]!);
    const path = [join(folder, "bin"), dirname(process.execPath), process.env["PATH"]].join(delimiter);
    const shell = spawn("sh", ["-e", "-c", lines], {
      cwd: folder,
      env: { PATH: path, HOME: folder },
      timeout: BLOCK_MS_MAX,
      stdio: ["ignore", "pipe", "pipe"],
    });
    let output = "";
    for (const stream of [shell.stdout, shell.stderr]) {
      stream.setEncoding("utf8").on("data", (chunk: string) => {
        output += chunk;
      });
    }
    const code = await new Promise((resolve) => shell.once("close", resolve));
    assert.equal(code, 0, `${lines}\n${output}\n${this.log.slice(-3_000)}`);
    return output;
  }

  /** Pulls the plug: the node and CometBFT end at once. */
  async kill(): Promise<void> {
    const pid = this.#pid();
    if (pid === undefined) return;
    const children = readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").split(" ").filter(Boolean);
    for (const each of [pid, ...children.map(Number)]) process.kill(each, "SIGKILL");
    await this.#ended(pid);
  }

  async stop(): Promise<void> {
    const pid = this.#pid();
    if (pid === undefined) return;
    process.kill(pid, "SIGTERM");
    await this.#ended(pid);
  }

  /** Of its node; undefined where none runs. */
  #pid(): number | undefined {
    if (!existsSync(this.#pidFile)) return undefined;
    const pid = Number(readFileSync(this.#pidFile, "utf8"));
    return isRunning(pid) ? pid : undefined;
  }

  async #ended(pid: number): Promise<void> {
    while (isRunning(pid)) await setTimeout(STOP_POLL_MS);
  }

  /** `start`, `stop` and `restart` of the unit, with the `Environment=` lines of its drop-ins. */
  #systemctl(): string {
    const { folder, home, environment = {} } = this.#options;
    const variables = Object.entries({ EVMINT_JSON_RPC_PROCESSES: "0", ...PATIENT_ENVIRONMENT, ...environment });
    return `#!/bin/sh
cd '${folder}'
${variables.map(([name, value]) => `export ${name}='${value}'`).join("\n")}
runs() { [ -s evmint.pid ] && grep -q '^State:.[^Z]' "/proc/$(cat evmint.pid)/status" 2>/dev/null; }
start() {
  for line in $(cat systemd/evmint.service.d/*.conf 2>/dev/null | sed -n 's/^Environment=//p'); do export "$line"; done
  evmintd start --home '${home}' >> node.log 2>&1 < /dev/null &
  echo $! > evmint.pid
}
stop() {
  runs || return 0
  kill "$(cat evmint.pid)"
  while runs; do sleep 0.1; done
}
case "$1" in
  start) runs || start ;;
  stop) stop ;;
  restart) stop; start ;;
  enable | disable | daemon-reload) ;;
  *) exit 1 ;;
esac
`;
  }
}

/** Counts a zombie, a process that ended but was not reaped, as ended. */
function isRunning(pid: number): boolean {
  try {
    return /^State:\s[^Z]/m.test(readFileSync(`/proc/${pid}/status`, "utf8"));
  } catch {
    return false;
  }
}
