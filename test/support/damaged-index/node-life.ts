import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import type { PageWrite } from "./index-pages.ts";

const VICTIM = fileURLToPath(new URL("victim.mjs", import.meta.url));

export type LifeOptions = {
  readonly home: string;
  readonly dev?: boolean;
  /** By key, as flags would set them. */
  readonly flags: Readonly<Record<string, string>>;
  /** What its medium writes into the index between its opening and its check. */
  readonly writes?: readonly PageWrite[] | undefined;
  /** A file without which the check does not begin. */
  readonly gate?: string;
};

/** One life of a node that opens its index before its check. */
export class NodeLife {
  readonly exited: Promise<void>;
  readonly #child: ChildProcess;
  readonly #url: Promise<string>;
  #errors = "";
  #hasEnded = false;

  constructor(options: LifeOptions) {
    this.#child = spawn(process.execPath, [VICTIM, JSON.stringify(options)], {
      stdio: ["pipe", "pipe", "pipe"],
      env: { PATH: process.env["PATH"] },
    });
    this.#child.stdin!.on("error", () => {});
    this.#child.stderr!.on("data", (text: Buffer) => {
      this.#errors += text.toString();
    });
    this.exited = new Promise((resolve) => {
      this.#child.once("exit", () => {
        this.#hasEnded = true;
        resolve();
      });
    });
    this.#url = new Promise((resolve, reject) => {
      this.#child.stdout!.once("data", (text: Buffer) => resolve(text.toString().trim()));
      void this.exited.then(() => reject(new Error(`the node ended before it answered: ${this.#errors}`)));
    });
    this.#url.catch(() => {});
  }

  get hasEnded(): boolean {
    return this.#hasEnded;
  }

  /** What it wrote of level warn and error. */
  get errors(): string {
    return this.#errors;
  }

  async stop(): Promise<void> {
    this.#child.kill("SIGTERM");
    await this.exited;
  }

  /** Whether it says that it is ready. @throws where it does not answer */
  async isReady(): Promise<boolean> {
    return (await this.readiness()).ready;
  }

  /** @throws where it does not answer */
  async readiness(): Promise<{ readonly ready: boolean; readonly reason?: string }> {
    const response = await fetch(`${await this.#url}/readyz`);
    const answer = (await response.json()) as { readonly ready: boolean; readonly reason?: string };
    assert.equal(response.status, answer.ready ? 200 : 503);
    return answer;
  }

  /** The answers to one batch. @throws where the node does not answer it */
  async ask(batch: readonly { readonly method: string; readonly params: readonly unknown[] }[]): Promise<Answer[]> {
    const response = await fetch(await this.#url, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(batch.map((question, id) => ({ jsonrpc: "2.0", id, ...question }))),
    });
    const answers = (await response.json()) as (Answer & { readonly id: number })[];
    return answers.sort((a, b) => a.id - b.id);
  }
}

export type Answer = {
  readonly result?: unknown;
  readonly error?: { readonly code: number; readonly message: string };
};
