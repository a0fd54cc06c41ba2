import { METHODS } from "../../src/rpc/methods/methods.ts";

export type Call = { readonly method: string; readonly params: readonly unknown[] };
export type Answer =
  | { readonly result: unknown }
  | {
      readonly error: { readonly code: number; readonly message: string; readonly data?: unknown };
    };
/** Never rejects. */
export type Ask = (call: Call) => Promise<Answer>;

/** Asks a provider. */
export function asking(provider: { request(call: Call): Promise<unknown> }): Ask {
  return async (call) => {
    try {
      return { result: await provider.request(call) };
    } catch (error) {
      const { code, message, data } = error as Extract<Answer, { error: object }>["error"];
      return { error: { code, message, data } };
    }
  };
}

/** Answers that hold a time, a random value, or what is of the process: compared by whether there is a result, or by the code of the error. */
const VARYING = new Set([
  "web3_clientVersion",
  "eth_newFilter",
  "eth_newBlockFilter",
  "eth_newPendingTransactionFilter",
  "admin_nodeInfo",
  "admin_datadir",
  "personal_listWallets",
  "personal_importRawKey",
  "les_serverInfo",
  "eth_subscribe",
  "debug_subscribe",
  "shh_newFilter",
  "shh_newIdentity",
  "eth_getWork",
  "eth_sendRawTransactionSync",
]);

/** Methods of the process, of files and of listeners, which a page does not have. */
const OF_THE_PROCESS =
  /^(debug_(memStats|gcStats|stacks|verbosity|vmodule|backtraceAt|freeOSMemory|set(GCPercent|MemoryLimit|BlockProfileRate)|.*(Profile|Trace)$|.*ToFile|traceBlockFromFile)|admin_start|eth_compile|eth_getCompilers|les_benchmark)/;

/** One call of each method, of those with parameters by its example. The chain is the same on every node that is asked, until the last of them. */
export async function askEveryMethod(ask: Ask): Promise<ReadonlyMap<string, unknown>> {
  const answers = new Map<string, unknown>();
  async function note(label: string, method: string, params: readonly unknown[] = []) {
    const answer = await ask({ method, params });
    answers.set(label, VARYING.has(method) ? outlineOf(answer) : answer);
  }
  for (const tracer of ["callTracer", "prestateTracer", SCRIPT]) {
    await note(`trace by ${tracer}`, "debug_traceBlockByNumber", ["0x2", { tracer }]);
  }
  await note("steps", "debug_traceBlockByNumber", ["0x2"]);
  await note("precompiles", "eth_simulateV1", [{ blockStateCalls: [{ calls: PRECOMPILES }] }]);
  await note("dump", "debug_dumpBlock", ["latest"]);
  for (const [method, params] of PRIVATE) await note(method, method, params);
  const withoutFiles = METHODS.filter(({ name, needsConnection, isPrivate }) => {
    return !needsConnection && !isPrivate && !OF_THE_PROCESS.test(name);
  });
  // requests that make a block come last: its hash depends on the clock
  const isLast = ({ name }: { readonly name: string }) => /^eth_(send|resend)/.test(name);
  const inOrder = [...withoutFiles.filter((each) => !isLast(each)), ...withoutFiles.filter(isLast)];
  for (const { name, example = [] } of inOrder) await note(`example of ${name}`, name, example);
  return answers;
}

const SCRIPT = "{ n: 0, step(log) { this.n++ }, fault() {}, result() { return this.n } }";

/** Every precompile on empty input, and ecrecover, modexp and pairing on something. */
const PRECOMPILES = [
  ...Array.from({ length: 0x11 }, (_, i) => ({ to: address(i + 1), gas: "0x100000" })),
  { to: address(0x100), gas: "0x100000" },
  { to: address(1), input: `0x${"11".repeat(128)}`, gas: "0x100000" },
  { to: address(2), input: "0x616263", gas: "0x100000" },
  { to: address(3), input: "0x616263", gas: "0x100000" },
  { to: address(6), input: `0x${"0".repeat(63)}1${"0".repeat(63)}2`, gas: "0x100000" },
];

function address(number: number): string {
  return `0x${number.toString(16).padStart(40, "0")}`;
}

const KEY = "0x1234567812345678123456781234567812345678123456781234567812345678";
const ACCOUNT = "0x2e988a386a799f506693793c6a5af6b54dfaabfb";

/** Methods without a public example. */
const PRIVATE: readonly (readonly [string, readonly unknown[]])[] = [
  ["personal_importRawKey", [KEY.slice(2), "secret"]],
  ["personal_unlockAccount", [ACCOUNT, "wrong"]],
  ["personal_unlockAccount", [ACCOUNT, "secret"]],
  ["personal_sign", ["0x68656c6c6f", ACCOUNT, "secret"]],
  ["personal_lockAccount", [ACCOUNT]],
  ["personal_initializeWallet", ["keystore://"]],
  ["db_putString", ["notes", "greeting", "hello"]],
  ["shh_newIdentity", []],
  ["admin_peers", []],
  ["admin_exportChain", ["all.rlp"]],
  ["admin_exportChain", ["all.rlp.gz"]],
  ["admin_importChain", ["all.rlp.gz"]],
  ["admin_importChain", ["none.rlp"]],
  ["miner_setExtra", ["0x68656c6c6f"]],
  ["debug_chaindbCompact", []],
];

function outlineOf(answer: Answer): unknown {
  return "error" in answer ? answer.error.code : typeof answer.result;
}
