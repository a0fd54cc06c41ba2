/** Run by vitest before each test file, in the file's worker. */
import { createNode } from "../../index.ts";
import { OPTIONS_VARIABLE, setChainOfFile } from "./file-chain.ts";
import type { EvmintVitestOptions } from "./vitest.ts";

/** The parts of vitest in use, declared here so that its types are not required. */
type Hooks = Readonly<Record<"afterAll" | "afterEach" | "beforeEach", (run: () => Promise<void>) => void>>;
const MODULE: string = "vitest";
const { afterAll, afterEach, beforeEach } = (await import(MODULE)) as Hooks;

const { restores, ...options } = JSON.parse(process.env[OPTIONS_VARIABLE] ?? "{}") as EvmintVitestOptions;
const node = await createNode(options);
setChainOfFile(node);

if (restores === true) {
  let before: `0x${string}`;
  beforeEach(async () => {
    before = await node.snapshot();
  });
  afterEach(async () => {
    await node.revert(before);
  });
}
afterAll(async () => {
  setChainOfFile(undefined);
  await node.stop();
});
