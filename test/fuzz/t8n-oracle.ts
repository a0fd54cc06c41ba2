import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { T8nCase } from "../conformance/t8n.ts";

/** go-ethereum's `evm`. */
export const EVM = process.env["GETH_EVM"] ?? "evm";

/** `t8n-batch.go`, which answers many blocks in one process; see there. */
const BATCH = process.env["GETH_T8N_BATCH"];
const OUTPUT_BYTES_MAX = 1 << 30;

/** The inputs of a block, its transactions as RLP, which keeps what does not decode. */
export type T8nInput = Omit<T8nCase, "result" | "body" | "txs" | "fork"> & {
  readonly fork: string;
  readonly txs: string;
};

/** `inputs` with the answers of `evm t8n`. @throws where it refuses one as a whole */
export function answeredByGeth(inputs: readonly T8nInput[]): T8nCase[] {
  return BATCH === undefined ? inputs.map(answered) : answeredInBatch(inputs, BATCH);
}

function answered(input: T8nInput): T8nCase {
  const { fork, alloc, env, txs } = input;
  const dir = mkdtempSync(join(tmpdir(), "evmint-t8n-"));
  try {
    const file = join(dir, "txs.rlp");
    writeFileSync(file, JSON.stringify(txs));
    const inputs = ["--input.alloc", "stdin", "--input.env", "stdin", "--input.txs", file];
    const outputs = ["--output.alloc", "", "--output.result", "stdout", "--output.body", "stdout"];
    const flags = ["t8n", "--state.fork", fork, "--state.reward", "-1", ...inputs, ...outputs];
    const { status, stdout, stderr } = spawnSync(EVM, flags, {
      encoding: "utf8",
      input: JSON.stringify({ alloc, env }),
      maxBuffer: OUTPUT_BYTES_MAX,
    });
    if (status !== 0) throw new Error(`evm t8n, ${input.name}: ${stderr.slice(-2000)}`);
    const { result, body } = JSON.parse(stdout);
    return { ...input, body, result };
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}

function answeredInBatch(inputs: readonly T8nInput[], program: string): T8nCase[] {
  const lines = inputs.map(({ fork, alloc, env, txs }) => `${JSON.stringify({ fork, alloc, env, txs })}\n`);
  const { status, stdout, stderr } = spawnSync(program, [], {
    encoding: "utf8",
    input: lines.join(""),
    maxBuffer: OUTPUT_BYTES_MAX,
  });
  const answers = stdout.split("\n").filter(Boolean);
  if (status !== 0 || answers.length !== inputs.length) throw new Error(`${program}: ${stderr.slice(-2000)}`);
  return inputs.map((input, i) => {
    const { result, body, error } = JSON.parse(answers[i]!);
    if (error !== undefined) throw new Error(`evm t8n, ${input.name}: ${error}`);
    return { ...input, body, result };
  });
}
