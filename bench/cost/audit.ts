import { readFileSync } from "node:fs";
import { engineAttacks, startApplicationUnderAudit } from "./application-under-audit.ts";
import { InputGenerator, type Parameter, randomOf, type Schema } from "./inputs.ts";
import { messages } from "./messages.ts";
import { type Attack, type Cost, type NodeUnderAudit, startNodeUnderAudit } from "./node-under-audit.ts";
import { routes } from "./routes.ts";
import { buildWorld, type World } from "./world.ts";

/** The dearest input that was found for one door. */
export type AuditRow = Cost & {
  readonly name: string;
  /** CPU milliseconds that one turn may take. */
  readonly budgetMs: number;
  readonly requestBytes: number;
  readonly input: string;
};

type Method = {
  readonly name: string;
  readonly params: readonly Parameter[];
  readonly "x-needs-credential"?: boolean;
};

/** Served to everybody where nothing else is configured. */
const DEFAULT_NAMESPACES = new Set(["eth", "net", "web3"]);
const STRANGER_BUDGET_MS = 10;
const OPERATOR_BUDGET_MS = 20;
/** A proposal is executed in one piece: consensus waits for it, and the gas and bytes of a block bound it. */
const PROPOSAL_BUDGET_MS = 250;
const BODY_BYTES_MAX = 5 * 2 ** 20 - 1000;
/** Items of all lists, and bytes of each piece of data. */
const SIZES: readonly (readonly [number, number])[] = [
  [1, 32],
  [10, 2_000],
  [300, 100_000],
  [4_000, 400],
  [30_000, 32],
  [100, 2_000_000],
];
const TRIALS_PER_SIZE = 3;
const BATCH_CALLS = 40;
/** Of what may be above its budget, the least of so many is the cost: a collection of garbage comes to some of them only. */
const REPEATS = 3;

/** A method whose calls take long is called fewer times. */
const SUBJECT_MS_MAX = 5_000;

/** Methods that are left out, and why. */
export const LEFT_OUT: Readonly<Record<string, string>> = {
  admin_stopHTTP: "ends the server that is asked",
  admin_stopRPC: "ends the server that is asked",
  admin_startHTTP: "the server is started already",
  admin_startRPC: "the server is started already",
  debug_cpuProfile: "measures for the time that its caller names",
  debug_goTrace: "measures for the time that its caller names",
  debug_blockProfile: "measures for the time that its caller names",
  debug_mutexProfile: "measures for the time that its caller names",
  debug_startCPUProfile: "slows the node until it is stopped",
  debug_startGoTrace: "slows the node until it is stopped",
  debug_setBlockProfileRate: "starts V8's profiler, which reads all code first: 70 ms",
  debug_writeBlockProfile: "starts V8's profiler, which reads all code first: 70 ms",
  debug_setMemoryLimit: "changes what the node may use",
  debug_setGCPercent: "changes what the node may use",
  debug_freezeClient: "stops the node on purpose",
  les_benchmark: "works for the time that its caller names",
};

/** They change the chain that the others are measured on. */
const LAST =
  /^(anvil|hardhat|evm|dev|tenderly)_|reset|rollback|reorg|revert|setHead|loadState|drop|Mine|mine|remove|import|commit|setBlockGasLimit|setIntervalMining|setAutomine|Time/;

export type AuditOptions = {
  /** Parts of names; none: all. */
  readonly parts: readonly string[];
  readonly seed: number;
  onRow(row: AuditRow): void;
};

/** Looks for the input of each method and route that keeps the chain's thread longest in one piece. */
export async function audit({ parts, seed, onRow }: AuditOptions): Promise<readonly AuditRow[]> {
  const isChosen = (name: string) => parts.length === 0 || parts.some((part) => name.includes(part));
  const rows: AuditRow[] = [];
  const look = async <A extends object>(
    subject: Audited<A>,
    name: string,
    budgetMs: number,
    attacks: Iterable<A>,
  ): Promise<void> => {
    const row = { name, budgetMs, ...(await dearest(subject, name, budgetMs, attacks)) };
    rows.push(row);
    onRow(row);
  };
  const ofEngines = Object.entries(engineAttacks()).filter(([name]) => isChosen(name));
  if (ofEngines.length > 0) {
    const application = await startApplicationUnderAudit();
    for (const [name, attacks] of ofEngines) {
      await look(application, name, engineBudgetOf(name), attacks);
    }
    await application.stop();
  }
  if (parts.length > 0 && parts.every((part) => part.startsWith("ABCI"))) return rows;
  const node = await startNodeUnderAudit();
  try {
    const world = await buildWorld(node);
    for (const [name, attacks] of Object.entries({ ...routes(world), ...messages(world) })) {
      if (isChosen(name)) await look(node, name, STRANGER_BUDGET_MS, attacks);
    }
    for (const method of await methodsOf(node)) {
      const { name } = method;
      if (!isChosen(name) || LEFT_OUT[name]) continue;
      await look(node, name, budgetOf(method), inputsOf(method, world, seed));
    }
    return rows;
  } finally {
    await node.stop();
  }
}

/** Transactions are of any peer; frames are of the engine, a program of the operator. */
function engineBudgetOf(name: string): number {
  if (name.includes("Proposal")) return PROPOSAL_BUDGET_MS;
  return name.includes("frames") ? OPERATOR_BUDGET_MS : STRANGER_BUDGET_MS;
}

export function budgetOf({ name, "x-needs-credential": needsCredential }: Method): number {
  const isStrangers = DEFAULT_NAMESPACES.has(name.split("_")[0]!) && !needsCredential;
  return isStrangers ? STRANGER_BUDGET_MS : OPERATOR_BUDGET_MS;
}

export async function methodsOf(node: Pick<NodeUnderAudit, "call">): Promise<readonly Method[]> {
  const { methods } = (await node.call("rpc_discover")) as { readonly methods: readonly Method[] };
  return [...methods.filter(({ name }) => !LAST.test(name)), ...methods.filter(({ name }) => LAST.test(name))];
}

/** Bodies of one method, from small to as large as a body may be; the last ones are batches. */
export function* inputsOf({ name, params }: Method, world: World, seed: number): Generator<Attack> {
  const generator = new InputGenerator(world, randomOf(seed));
  const call = (values: readonly unknown[]) => JSON.stringify({ jsonrpc: "2.0", id: 1, method: name, params: values });
  const small: string[] = [];
  for (const values of [recordedExample(name)]) if (values) small.push(call(values));
  for (const body of small) yield { path: "/", body };
  // Each block, transaction and account of the world once: what is dear is one of them.
  const first = params[0];
  for (const value of first === undefined ? [] : valuesOf(first.schema, world)) {
    const [, ...others] = generator.parameters(params, 1, 32);
    yield { path: "/", body: call([value, ...others]) };
  }
  for (const [items, bytes] of params.length === 0 ? SIZES.slice(0, 1) : SIZES) {
    for (let trial = 0; trial < TRIALS_PER_SIZE; trial++) {
      const body = call(generator.parameters(params, items, bytes));
      if (body.length > BODY_BYTES_MAX) continue;
      if (body.length < 2_000) small.push(body);
      yield { path: "/", body };
    }
  }
  for (const body of small.slice(-3)) yield { path: "/", body: `[${Array(BATCH_CALLS).fill(body).join(",")}]` };
}

function valuesOf({ title, pattern, oneOf }: Schema, world: World): readonly string[] {
  if (oneOf) return [...new Set(oneOf.flatMap((each) => valuesOf(each, world)))];
  const { addresses, blockHashes, blockNumbers, transactionHashes } = world;
  if (title === "address" || pattern?.includes("{40}")) return addresses;
  if (title === "block number or tag") return [...blockNumbers, "pending"];
  if (title === "block") return [...blockNumbers, ...blockHashes];
  return title === "hash" || pattern?.includes("{64}") ? [...blockHashes, ...transactionHashes] : [];
}

type Example = { readonly params?: readonly unknown[] };
let examples: Readonly<Record<string, Example>> | undefined;

/** Parameters that were recorded for the documentation; undefined where a value is cut. */
function recordedExample(name: string): readonly unknown[] | undefined {
  examples ??= JSON.parse(
    readFileSync(new URL("../../scripts/examples/answers.json", import.meta.url), "utf8"),
  ) as Readonly<Record<string, Example>>;
  const params = examples[name]?.params;
  return params === undefined || JSON.stringify(params).includes("…") ? undefined : params;
}

type Audited<A> = { cost(attack: A): Promise<Cost> };

async function dearest<A extends object>(
  subject: Audited<A>,
  name: string,
  budgetMs: number,
  attacks: Iterable<A>,
): Promise<Omit<AuditRow, "name" | "budgetMs">> {
  let worst: { readonly attack: A; readonly cost: Cost } | undefined;
  const end = performance.now() + SUBJECT_MS_MAX;
  for (const attack of attacks) {
    if (performance.now() > end) break;
    const cost = await subject.cost(attack);
    if (worst === undefined || cost.longestMs > worst.cost.longestMs) worst = { attack, cost };
  }
  if (worst === undefined) throw new Error(`${name} has no input`);
  const { attack } = worst;
  let { cost } = worst;
  for (let i = 1; i < REPEATS && cost.longestMs > budgetMs / 2; i++) {
    const again = await subject.cost(attack);
    if (again.longestMs < cost.longestMs) cost = again;
  }
  return { ...inputOf(attack), ...cost };
}

/** Bytes of all that is sent, and the beginning of the first piece. */
function inputOf(attack: object): Pick<AuditRow, "requestBytes" | "input"> {
  const pieces = Object.values(attack)
    .flat()
    .map((piece: string | Uint8Array) => (typeof piece === "string" ? piece : Buffer.from(piece).toString("hex")));
  const requestBytes = pieces.reduce((sum, { length }) => sum + length, 0);
  return { requestBytes, input: pieces.at(-1)!.slice(0, 300) };
}
