import type { World } from "./world.ts";

type Level = "debug" | "info" | "warn" | "error";
type LogFields = Readonly<Record<string, string | number | boolean>>;

/** CometBFT's log: one JSON object per line. The real one's lines per block, which are not read, are omitted. */
export class Log {
  readonly #write: (line: string) => void;
  readonly #now: () => number;

  constructor(world: Pick<World, "stdout">, now: () => number) {
    this.#write = world.stdout;
    this.#now = now;
  }

  info(module: string, message: string, fields: LogFields = {}): void {
    this.#line("info", module, message, fields);
  }

  error(module: string, message: string, fields: LogFields = {}): void {
    this.#line("error", module, message, fields);
  }

  #line(level: Level, module: string, _msg: string, fields: LogFields): void {
    this.#write(JSON.stringify({ level, ts: new Date(this.#now()).toISOString(), _msg, module, ...fields }));
  }
}
