import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { testProgram } from "../../support/test-program.ts";
import type { LateAnswer, MajorityBlock, SampleCounts } from "./samples.ts";

export type SamplerOptions = {
  /** Of the nodes, the validators first. */
  readonly urls: readonly string[];
  readonly validators: number;
  readonly intervalMs: number;
};

export type SamplerMessage =
  | { readonly kind: "late"; readonly late: LateAnswer }
  | { readonly kind: "block"; readonly block: MajorityBlock }
  | { readonly kind: "counts"; readonly counts: SampleCounts };

type SamplerEvents = {
  readonly onLate: (late: LateAnswer) => void;
  readonly onBlock: (block: MajorityBlock) => void;
};

/** Samples the readiness of all nodes in a separate process until `stop`. */
export class Sampler {
  readonly #child: ChildProcess;
  #counts: SampleCounts | undefined;

  constructor(options: SamplerOptions, { onLate, onBlock }: SamplerEvents) {
    const { execArgv, file } = testProgram(new URL("sampler-program.ts", import.meta.url));
    this.#child = fork(file, [JSON.stringify(options)], { execArgv: [...execArgv] });
    this.#child.on("message", (message: SamplerMessage) => {
      if (message.kind === "late") onLate(message.late);
      else if (message.kind === "block") onBlock(message.block);
      else this.#counts = message.counts;
    });
  }

  /** The nodes to which something happens, until the next call. */
  setAway(nodes: readonly number[]): void {
    this.#child.send(nodes);
  }

  async stop(): Promise<SampleCounts> {
    const ended = once(this.#child, "exit");
    if (this.#child.connected) this.#child.send("stop");
    await ended;
    if (this.#counts === undefined) throw new Error("the sampler ended by itself");
    return this.#counts;
  }
}
